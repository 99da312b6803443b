/* SPDX-License-Identifier: MIT */
/* "groups=G,local=L". */
#include "rows.h"

#include <gstride/launch.h>
#include <stdio.h>
#include <string.h>

struct good_row {
    const char *name;
    const char *text;
    uint64_t groups;
    uint32_t local;
};

static const struct good_row good[] = {
    {"both", "groups=12,local=64", 12, 64},
    {"other order", "local=64,groups=12", 12, 64},
    {"groups alone", "groups=7", 7, 0},
    {"local alone", "local=100", 0, 100},
    {"one and one", "groups=1,local=1", 1, 1},
    {"max", "groups=max", UINT64_MAX, 0},
    {"max and local", "groups=max,local=32", UINT64_MAX, 32},
    {"local and max", "local=32,groups=max", UINT64_MAX, 32},
    {"groups beyond 32 bits", "groups=4294967297", 4294967297, 0},
    {"most groups", "groups=18446744073709551614", UINT64_MAX - 1, 0},
    {"most local", "local=4294967295", 0, UINT32_MAX},
    {"leading zeros are decimal", "groups=010,local=0064", 10, 64},
};

static void text_is_parsed(void **state)
{
    const struct good_row *row = *state;
    gstride_launch launch;
    memset(&launch, 0xa5, sizeof launch);
    assert_int_equal(gstride_launch_from_text(row->text, &launch), GSTRIDE_OK);
    assert_int_equal(launch.groups, row->groups);
    assert_int_equal(launch.local, row->local);
}

struct bad_row {
    const char *name;
    const char *text;
    unsigned character; /* where the message points */
};

static const struct bad_row bad[] = {
    {"empty", "", 1},
    {"blank", " ", 1},
    {"comma", ",", 1},
    {"number", "64", 1},
    {"two numbers", "12,64", 1},
    {"unknown part", "threads=4", 1},
    {"unknown second part", "groups=1,threads=4", 10},
    {"groups without number", "groups=", 8},
    {"groups without equals", "groups", 1},
    {"no groups", "groups=0", 8},
    {"no local", "local=0", 7},
    {"second is zero", "groups=1,local=0", 16},
    {"negative", "groups=-1", 8},
    {"signed", "groups=+1", 8},
    {"fraction", "groups=1.5", 8},
    {"hex", "local=0x40", 7},
    {"suffix", "groups=1K", 8},
    {"blank before number", "groups= 1", 8},
    {"blank before part", " groups=1", 1},
    {"blank behind", "groups=1 ", 8},
    {"blank behind comma", "groups=1, local=2", 10},
    {"comma first", ",groups=1", 1},
    {"comma last", "groups=1,", 10},
    {"two commas", "groups=1,,local=2", 10},
    {"three parts", "groups=1,local=2,local=3", 17},
    {"groups twice", "groups=1,groups=2", 10},
    {"max, then groups", "groups=max,groups=2", 12},
    {"local twice", "local=1,local=2", 9},
    {"longer than max", "groups=maximum", 11},
    {"local max", "local=max", 7},
    {"max in capitals", "groups=MAX", 8},
    {"capitals", "Groups=1", 1},
    {"the value that means max", "groups=18446744073709551615", 8},
    {"groups beyond 64 bits", "groups=18446744073709551616", 8},
    {"groups far beyond 64 bits", "groups=99999999999999999999999999", 8},
    {"local beyond 32 bits", "local=4294967296", 7},
    {"local that wraps to 64", "local=4294967360", 7},
    {"local beyond 64 bits", "local=18446744073709551680", 7},
    {"non-ASCII", "groups=\xef\xbc\x91", 8},
    {"percent", "%n%s", 1},
};

static void text_is_malformed(void **state)
{
    const struct bad_row *row = *state;
    gstride_launch launch = {3, 5};
    assert_int_equal(gstride_launch_from_text(row->text, &launch), GSTRIDE_ERROR_LAUNCH_SPEC);
    assert_int_equal(launch.groups, 3);
    assert_int_equal(launch.local, 5);
    char position[32];
    snprintf(position, sizeof position, "at character %u;", row->character);
    print_message("message: %s\n", gstride_last_error()->message);
    assert_non_null(strstr(gstride_last_error()->message, position));
    assert_non_null(strstr(gstride_last_error()->message, row->text));
}

static void long_text_is_malformed(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    memset(text, '7', BYTES);
    memcpy(text, "groups=", strlen("groups="));
    text[BYTES] = '\0';
    gstride_launch launch;
    assert_int_equal(gstride_launch_from_text(text, &launch), GSTRIDE_ERROR_LAUNCH_SPEC);
    assert_non_null(strstr(gstride_last_error()->message, "at character 8;"));
    free(text);
}

static void null_arguments_are_refused(void **state)
{
    (void)state;
    gstride_launch launch;
    assert_int_equal(gstride_launch_from_text(NULL, &launch), GSTRIDE_ERROR_ARGUMENT);
    assert_int_equal(gstride_launch_from_text("groups=1", NULL), GSTRIDE_ERROR_ARGUMENT);
}

int main(void)
{
    static struct suite suite;
    ADD_TABLE(&suite, text_is_parsed, good);
    ADD_TABLE(&suite, text_is_malformed, bad);
    ADD_TEST(&suite, long_text_is_malformed);
    ADD_TEST(&suite, null_arguments_are_refused);
    return RUN_SUITE(suite);
}
