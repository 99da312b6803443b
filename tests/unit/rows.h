/* SPDX-License-Identifier: MIT */
/* rows.h - tables of named rows as cmocka tests: a failure shows the row's name. */
#ifndef ROWS_H
#define ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { MOST_TESTS = 512 };

/* The tests of a program, collected from its tables. */
struct suite {
    struct CMUnitTest tests[MOST_TESTS];
    size_t count;
};

static inline void add_test(struct suite *suite, const char *name, CMUnitTestFunction function,
                            const void *row)
{
    if (suite->count == MOST_TESTS)
        abort();
    suite->tests[suite->count++] = (struct CMUnitTest){
        .name = name, .test_func = function, .initial_state = (void *)(uintptr_t)row};
}

static inline void add_table(struct suite *suite, CMUnitTestFunction function, const void *rows,
                             size_t count, size_t row_bytes)
{
    for (size_t i = 0; i < count; ++i) {
        const char *row = (const char *)rows + i * row_bytes;
        add_test(suite, *(const char *const *)row, function, row);
    }
}

/* Every row starts with its name; `function` gets the row as *state. */
#define ADD_TABLE(suite, function, rows)                                                           \
    add_table(suite, function, rows, COUNT(rows), sizeof(rows)[0])

#define ADD_TEST(suite, function) add_test(suite, #function, function, NULL)

/* Rows beyond the count are empty, and cmocka passes over those. */
#define RUN_SUITE(suite) cmocka_run_group_tests((suite).tests, NULL, NULL)

#endif
