/* SPDX-License-Identifier: MIT */
#include "check.h"

#include "rng.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_seed(void)
{
    print_error("seed: %" PRIu64 " (run again with %s=%" PRIu64 ")\n", rng_seed(),
                RNG_SEED_VARIABLE, rng_seed());
}

void check_fail(const char *file, int line, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_error("%s\n", text);
    print_seed();
    _fail(file, line);
}

void check_status(gstride_status wanted, gstride_status got, const char *call, const char *file,
                  int line)
{
    const gstride_error *error = gstride_last_error();
    if (got != wanted) {
        print_error("%s\n  gave %s, wanted %s\n", call, gstride_status_name(got),
                    gstride_status_name(wanted));
        if (got != GSTRIDE_OK)
            print_error("  %s\n%s\n", error->message, error->build_log);
        print_seed();
        _fail(file, line);
    }
    if (wanted != GSTRIDE_OK && (error->status != wanted || !error->message[0])) {
        print_error("%s\n  failed as wanted, but the error record says %s: \"%s\"\n", call,
                    gstride_status_name(error->status), error->message);
        _fail(file, line);
    }
}

void check_message(const char *text, const char *file, int line)
{
    const char *message = gstride_last_error()->message;
    if (strstr(message, text))
        return;
    print_error("the message does not mention \"%s\": %s\n", text, message);
    _fail(file, line);
}

void check_bits(gstride_type type, const void *got, const void *want, uint64_t n, const char *file,
                int line, const char *format, ...)
{
    size_t bytes = gstride_type_bytes(type);
    if (n == 0 || memcmp(got, want, (size_t)n * bytes) == 0)
        return;
    uint64_t bad = 0, at = n;
    for (uint64_t i = n; i-- > 0;) {
        if (memcmp((const char *)got + i * bytes, (const char *)want + i * bytes, bytes) != 0) {
            at = i;
            ++bad;
        }
    }
    char label[256], shown_got[VALUE_TEXT], shown_want[VALUE_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(label, sizeof label, format, args);
    va_end(args);
    value_show(type, got, at, shown_got);
    value_show(type, want, at, shown_want);
    print_error("%s: %" PRIu64 " of %" PRIu64 " %s elements differ, first [%" PRIu64 "]\n"
                "  got  %s\n  want %s\n",
                label, bad, n, gstride_type_name(type), at, shown_got, shown_want);
    print_seed();
    _fail(file, line);
}
