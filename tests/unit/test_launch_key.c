/* SPDX-License-Identifier: MIT */
/* The key of a call: a want of memory ends with the call that met it. */
#include "rows.h"

#include "run/launch.h"

static void a_failed_key_is_forgotten(void **state)
{
    (void)state;
    static gstride_stream stream;
    stream.key.failed = true;
    gsi_key_begin(&stream);
    assert_false(stream.key.failed);
    assert_int_equal(stream.key.length, sizeof(struct gsi_specialisation));
    gsi_strbuf_free(&stream.key);
}

int main(void)
{
    static struct suite suite;
    ADD_TEST(&suite, a_failed_key_is_forgotten);
    return RUN_SUITE(suite);
}
