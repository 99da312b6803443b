/* SPDX-License-Identifier: MIT */
/* check.h - cmocka, and the checks that every test uses. Each prints what a reader needs. */
#ifndef SUPPORT_CHECK_H
#define SUPPORT_CHECK_H

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gstride.h>

/* A call that must succeed; prints the error record otherwise. */
#define OK(call) check_status(GSTRIDE_OK, (call), #call, __FILE__, __LINE__)

/* A call that must be refused with this status, and must say why. */
#define REFUSED(status, call) check_status((status), (call), #call, __FILE__, __LINE__)

void check_status(gstride_status wanted, gstride_status got, const char *call, const char *file,
                  int line);

/* The record of the last failure must mention a text. */
#define MENTIONED(text) check_message((text), __FILE__, __LINE__)
void check_message(const char *text, const char *file, int line);

/* End the test as failed, with a message and the seed. */
#define FAIL(...) check_fail(__FILE__, __LINE__, __VA_ARGS__)
void check_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Compare n elements by their bits; prints the first that differs. The label is a format. */
#define SAME_BITS(type, got, want, n, ...)                                                         \
    check_bits((type), (got), (want), (n), __FILE__, __LINE__, __VA_ARGS__)
void check_bits(gstride_type type, const void *got, const void *want, uint64_t n, const char *file,
                int line, const char *format, ...) __attribute__((format(printf, 7, 8)));

/* Print why a test does not run here, and skip it. */
#define SKIP(...)                                                                                  \
    do {                                                                                           \
        print_message("skipped: " __VA_ARGS__);                                                    \
        print_message("\n");                                                                       \
        skip();                                                                                    \
    } while (0)

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#endif
