/* SPDX-License-Identifier: MIT */
/* test_wide.c - more than 2^32 elements: without memory for them, and on devices with much memory
 * also in buffers beyond 4 GiB. */
#include "fixture.h"

#define WIDE ((1ull << 32) + 7)

static void skip_on_simulator(const struct fixture *f)
{
    if (f->simulator)
        SKIP("%s is too slow for %llu elements", f->info->platform, WIDE);
}

/* Where loops are cut off, so many tile results cannot be folded, which must be said. */
static bool refuses(const struct fixture *f, gstride_status status)
{
    if (f->info->probe.loop_bound == 0) {
        OK(status);
        return false;
    }
    REFUSED(GSTRIDE_ERROR_LAUNCH_SHAPE, status);
    return true;
}

static void count_past_32_bits(void **state)
{
    const struct fixture *f = *state;
    uint64_t count = 0;
    skip_on_simulator(f);
    gstride_status status = gstride_map_reduce_to_host(f->stream, GSTRIDE_COUNT, WIDE, GSTRIDE_U8,
                                                       "1", NULL, 0, GSTRIDE_U64, &count);
    if (!refuses(f, status))
        assert_int_equal(count, WIDE);
}

static void index_past_32_bits(void **state)
{
    const struct fixture *f = *state;
    uint64_t index = 0;
    skip_on_simulator(f);
    gstride_status status =
        gstride_map_reduce_to_host(f->stream, GSTRIDE_ARGMAX, WIDE, GSTRIDE_U8, "i == 4294967298ul",
                                   NULL, 0, GSTRIDE_U64, &index);
    if (!refuses(f, status))
        assert_int_equal(index, 4294967298u);
}

static void skip_without_room(const struct fixture *f, uint64_t bytes)
{
    if (f->simulator || f->info->max_allocation < bytes)
        SKIP("%s has no room for %llu bytes in one buffer", f->info->name,
             (unsigned long long)bytes);
}

/* Bytes: every index of a buffer of more than 2^32 elements is written once and counted once. */
static void buffer_of_wide_bytes(void **state)
{
    const struct fixture *f = *state;
    enum { PERIOD = 251 }; /* a prime, so that lost or doubled parts shift the values */
    uint64_t sum = 0, want = 0, last = 0;
    skip_without_room(f, WIDE);
    gstride_span x, end;
    OK(gstride_alloc(f->device, GSTRIDE_U8, WIDE, &x));
    OK(gstride_map(f->stream, WIDE, "x = (uchar)(i % 251)", GSTRIDE_ARGS(gstride_out("x", x))));
    OK(gstride_reduce_to_host(f->stream, GSTRIDE_SUM, x, GSTRIDE_U64, &sum));
    for (uint64_t i = 0; i < WIDE % PERIOD; ++i)
        want += i;
    want += WIDE / PERIOD * (PERIOD * (PERIOD - 1) / 2);
    assert_int_equal(sum, want);
    uint8_t most = 255;
    OK(gstride_slice(x, WIDE - 1, 1, &end));
    OK(gstride_write(f->stream, end, &most, 1));
    OK(gstride_reduce_to_host(f->stream, GSTRIDE_ARGMAX, x, GSTRIDE_U64, &last));
    assert_int_equal(last, WIDE - 1);
    gstride_free(&x);
}

/* Words: fewer than 2^32 elements, more than 4 GiB; a byte offset of 32 bits would wrap. */
static void buffer_beyond_4_gib(void **state)
{
    const struct fixture *f = *state;
    const uint64_t n = (1ull << 30) + 4099;
    uint64_t sum = 0;
    uint32_t ends[2] = {0, 0};
    skip_without_room(f, n * sizeof(uint32_t));
    gstride_span x, end;
    OK(gstride_alloc(f->device, GSTRIDE_U32, n, &x));
    OK(gstride_iota(f->stream, x, 5, 1));
    OK(gstride_reduce_to_host(f->stream, GSTRIDE_SUM, x, GSTRIDE_U64, &sum));
    assert_int_equal(sum, n * (n - 1) / 2 + 5 * n);
    OK(gstride_slice(x, n - 1, 1, &end));
    OK(gstride_read(f->stream, x, &ends[0], 1));
    OK(gstride_read(f->stream, end, &ends[1], 1));
    assert_int_equal(ends[0], 5);
    assert_int_equal(ends[1], 5 + n - 1);
    gstride_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(count_past_32_bits),
        DEVICE_TEST(index_past_32_bits),
        DEVICE_TEST(buffer_of_wide_bytes),
        DEVICE_TEST(buffer_beyond_4_gib),
    };
    return RUN_DEVICE_TESTS(tests);
}
