/* SPDX-License-Identifier: MIT */
/* test_wide.c - more than 2^32 elements, without memory for them. Slow on a CPU. */
#include "fixture.h"

#define WIDE ((1ull << 32) + 7)

static void skip_on_simulator(const struct fixture *f)
{
    if (f->simulator)
        SKIP("%s is too slow for %llu elements", f->info->platform, WIDE);
}

static void count_past_32_bits(void **state)
{
    const struct fixture *f = *state;
    uint64_t count = 0;
    skip_on_simulator(f);
    OK(gstride_map_reduce_to_host(f->stream, GSTRIDE_COUNT, WIDE, GSTRIDE_U8, "1", NULL, 0,
                                  GSTRIDE_U64, &count));
    assert_int_equal(count, WIDE);
}

static void index_past_32_bits(void **state)
{
    const struct fixture *f = *state;
    uint64_t index = 0;
    skip_on_simulator(f);
    OK(gstride_map_reduce_to_host(f->stream, GSTRIDE_ARGMAX, WIDE, GSTRIDE_U8, "i == 4294967298ul",
                                  NULL, 0, GSTRIDE_U64, &index));
    assert_int_equal(index, 4294967298u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(count_past_32_bits),
        DEVICE_TEST(index_past_32_bits),
    };
    return RUN_DEVICE_TESTS(tests);
}
