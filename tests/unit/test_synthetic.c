/* SPDX-License-Identifier: MIT */
/* Imaginary devices from texts. */
#include "rows.h"

#include <gstride/device.h>
#include <stdio.h>
#include <string.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static gstride_device_info made(const char *text)
{
    gstride_device_info info;
    memset(&info, 0xa5, sizeof info);
    assert_int_equal(gstride_device_info_from_text(text, &info), GSTRIDE_OK);
    return info;
}

static void defaults_can_be_used(void **state)
{
    (void)state;
    gstride_device_info info = made("");
    assert_int_equal(info.type, GSTRIDE_DEVICE_GPU);
    assert_true(info.compute_units > 0);
    assert_true(info.max_group_size > 0);
    assert_true(info.max_item_sizes[0] > 0);
    assert_true(info.max_allocation <= info.global_memory);
    assert_true(info.local_memory > 0);
    assert_int_equal(info.address_bits, 64);
    assert_true(info.base_alignment > 0);
    assert_true(info.name[0] && info.platform[0] && info.vendor[0]);
    assert_true(info.probe.done && info.probe.passed);
    assert_int_equal(info.probe.loop_bound, 0);
    assert_false(info.fp64 || info.int64_atomics || info.subgroup_shuffle);
    assert_string_equal(info.uuid, "");
    assert_string_equal(info.pci, "");
    assert_string_equal(info.probe.failure, "");
}

/* One number of an info, so that rows can name it. */
enum fact {
    TYPE,
    UNITS,
    GROUP,
    ITEMS,
    LOCAL,
    GLOBAL,
    ALLOCATION,
    ALIGNMENT,
    BITS,
    CLOCK,
    LOOP,
    FP64,
    ATOMICS,
    SHUFFLE
};

static uint64_t fact_of(const gstride_device_info *info, enum fact fact)
{
    switch (fact) {
    case TYPE:
        return info->type;
    case UNITS:
        return info->compute_units;
    case GROUP:
        return info->max_group_size;
    case ITEMS:
        return info->max_item_sizes[0];
    case LOCAL:
        return info->local_memory;
    case GLOBAL:
        return info->global_memory;
    case ALLOCATION:
        return info->max_allocation;
    case ALIGNMENT:
        return info->base_alignment;
    case BITS:
        return info->address_bits;
    case CLOCK:
        return info->clock_mhz;
    case LOOP:
        return info->probe.loop_bound;
    case FP64:
        return info->fp64;
    case ATOMICS:
        return info->int64_atomics;
    default:
        return info->subgroup_shuffle;
    }
}

struct good_row {
    const char *name;
    const char *text;
    enum fact fact;
    uint64_t value;
};

static const struct good_row good[] = {
    {"cpu", "type=cpu", TYPE, GSTRIDE_DEVICE_CPU},
    {"gpu", "type=gpu", TYPE, GSTRIDE_DEVICE_GPU},
    {"accelerator", "type=accelerator", TYPE, GSTRIDE_DEVICE_ACCELERATOR},
    {"compute units", "cu=132", UNITS, 132},
    {"work-group", "wg=100", GROUP, 100},
    {"items", "items=64", ITEMS, 64},
    {"items beyond 32 bits", "items=5000000000", ITEMS, 5000000000},
    {"local, plain", "local=49151", LOCAL, 49151},
    {"local, K", "local=48K", LOCAL, 48 * KIB},
    {"global, G", "global=139G", GLOBAL, 139 * GIB},
    {"allocation, M", "alloc=300M", ALLOCATION, 300 * MIB},
    {"zero bytes", "local=0K", LOCAL, 0},
    {"most bytes", "global=18446744073709551615", GLOBAL, UINT64_MAX},
    {"most gibibytes", "global=17179869183G", GLOBAL, 17179869183 * GIB},
    {"alignment", "align=512", ALIGNMENT, 512},
    {"address bits", "bits=32", BITS, 32},
    {"clock", "clock=1980", CLOCK, 1980},
    {"loop bound", "loop=65535", LOOP, 65535},
    {"largest narrow number", "loop=4294967295", LOOP, UINT32_MAX},
    {"fp64", "fp64", FP64, 1},
    {"int64_atomics", "int64_atomics", ATOMICS, 1},
    {"shuffle", "shuffle", SHUFFLE, 1},
    {"leading zeros are decimal", "cu=010", UNITS, 10},
    {"the last of several", "cu=1 cu=2 cu=3", UNITS, 3},
    {"blanks around", "   cu=7   ", UNITS, 7},
    {"tabs between", "\tfp64\tcu=7\t", UNITS, 7},
    {"first of many", "cu=5 wg=64 fp64 shuffle", UNITS, 5},
    {"last of many", "cu=5 wg=64 fp64 shuffle", SHUFFLE, 1},
};

static void text_sets_fact(void **state)
{
    const struct good_row *row = *state;
    gstride_device_info info = made(row->text);
    assert_int_equal(fact_of(&info, row->fact), row->value);
}

static void text_sets_nothing_else(void **state)
{
    const struct good_row *row = *state;
    if (strchr(row->text, ' ') || strchr(row->text, '\t'))
        return; /* rows of several words set several facts */
    gstride_device_info info = made(row->text), plain = made("");
    for (enum fact fact = TYPE; fact <= SHUFFLE; ++fact)
        if (fact != row->fact)
            assert_int_equal(fact_of(&info, fact), fact_of(&plain, fact));
}

struct bad_row {
    const char *name;
    const char *text;
    const char *word; /* what the message must show */
};

static const struct bad_row bad[] = {
    {"unknown flag", "cu=1 teleport", "teleport"},
    {"unknown key", "gpus=4", "gpus=4"},
    {"no key", "=4", "=4"},
    {"key without value", "cu=", "cu="},
    {"key as a flag", "cu", "cu"},
    {"flag with a value", "fp64=1", "fp64=1"},
    {"unknown type", "type=tpu", "type=tpu"},
    {"no type", "type=", "type="},
    {"negative", "cu=-1", "cu=-1"},
    {"signed", "cu=+1", "cu=+1"},
    {"fraction", "cu=1.5", "cu=1.5"},
    {"hex", "cu=0x10", "cu=0x10"},
    {"letters", "wg=many", "wg=many"},
    {"unknown suffix", "local=4Q", "local=4Q"},
    {"suffix alone", "local=K", "local=K"},
    {"two suffixes", "local=4KK", "local=4KK"},
    {"suffix, then digits", "local=4K1", "local=4K1"},
    {"beyond 32 bits", "cu=4294967296", "cu=4294967296"},
    {"beyond 32 bits by suffix", "wg=4G", "wg=4G"},
    {"beyond 64 bits", "global=18446744073709551616", "global=18446744073709551616"},
    {"beyond 64 bits by suffix", "global=17179869184G", "global=17179869184G"},
    {"comma", "cu=1,wg=2", "cu=1,wg=2"},
    {"capitals", "CU=1", "CU=1"},
    {"newline", "cu=1\nwg=2", "cu=1\nwg=2"},
    {"non-ASCII", "cu=\xc3\xa9", "cu=\xc3\xa9"},
    {"percent", "%n%s", "%n%s"},
};

static void text_is_refused(void **state)
{
    const struct bad_row *row = *state;
    gstride_device_info info, before;
    memset(&info, 0x5a, sizeof info);
    before = info;
    assert_int_equal(gstride_device_info_from_text(row->text, &info), GSTRIDE_ERROR_DEVICE_SPEC);
    assert_memory_equal(&info, &before, sizeof info);
    assert_non_null(strstr(gstride_last_error()->message, row->word));
}

static void long_words_are_refused(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    gstride_device_info info;
    for (size_t length = 100; length <= BYTES; length = length < 300 ? length + 1 : 2 * length) {
        memset(text, 'z', length);
        text[length] = '\0';
        assert_int_equal(gstride_device_info_from_text(text, &info), GSTRIDE_ERROR_DEVICE_SPEC);
        assert_non_null(strstr(gstride_last_error()->message, "zzz"));
    }
    free(text);
}

static void null_arguments_are_refused(void **state)
{
    (void)state;
    gstride_device_info info;
    assert_int_equal(gstride_device_info_from_text(NULL, &info), GSTRIDE_ERROR_ARGUMENT);
    assert_int_equal(gstride_device_info_from_text("", NULL), GSTRIDE_ERROR_ARGUMENT);
}

int main(void)
{
    static struct suite suite;
    ADD_TABLE(&suite, text_sets_fact, good);
    ADD_TABLE(&suite, text_sets_nothing_else, good);
    ADD_TABLE(&suite, text_is_refused, bad);
    ADD_TEST(&suite, defaults_can_be_used);
    ADD_TEST(&suite, long_words_are_refused);
    ADD_TEST(&suite, null_arguments_are_refused);
    return RUN_SUITE(suite);
}
