/* SPDX-License-Identifier: MIT */
/* The device grammar and the default order, on lists made by hand. */
#include "rows.h"

#include "device/device_list.h"

#include <stdio.h>
#include <string.h>

/* Devices as drivers describe them. The order is not the default's. */
static struct gsi_device_entry workstation[] = {
    {.info = {.index = 0,
              .type = GSTRIDE_DEVICE_CPU | GSTRIDE_DEVICE_GPU | GSTRIDE_DEVICE_ACCELERATOR,
              .platform = "Oclgrind",
              .vendor = "University of Bristol",
              .name = "Oclgrind Simulator",
              .compute_units = 1,
              .clock_mhz = 1000000}},
    {.info = {.index = 1,
              .type = GSTRIDE_DEVICE_CPU,
              .platform = "Portable Computing Language",
              .vendor = "GenuineIntel",
              .name = "pthread-Intel(R) Core(TM) i7",
              .compute_units = 8,
              .clock_mhz = 4000,
              .unified_memory = true}},
    {.info = {.index = 2,
              .type = GSTRIDE_DEVICE_ACCELERATOR,
              .platform = "Example FPGA SDK",
              .vendor = "Example",
              .name = "Board 7",
              .compute_units = 1,
              .clock_mhz = 200}},
    {.info = {.index = 3,
              .type = GSTRIDE_DEVICE_GPU,
              .platform = "Intel(R) OpenCL HD Graphics",
              .vendor = "Intel(R) Corporation",
              .name = "Intel(R) UHD Graphics 770",
              .uuid = "86808046000000000000000000000000",
              .pci = "0000:00:02.0",
              .compute_units = 3200,
              .clock_mhz = 3000,
              .unified_memory = true}},
    {.info = {.index = 4,
              .type = GSTRIDE_DEVICE_GPU,
              .platform = "NVIDIA CUDA",
              .vendor = "NVIDIA Corporation",
              .name = "NVIDIA RTX A2000",
              .uuid = "0123456789abcdef0011223344556677",
              .pci = "0000:3b:00.0",
              .compute_units = 26,
              .clock_mhz = 1200}},
    {.info = {.index = 5,
              .type = GSTRIDE_DEVICE_GPU,
              .platform = "NVIDIA CUDA",
              .vendor = "NVIDIA Corporation",
              .name = "NVIDIA H200",
              .uuid = "0123456789abcdef0011223344556688",
              .pci = "000a:3c:00.1",
              .compute_units = 132,
              .clock_mhz = 1980}},
};

static const gstride_device_list list = {.entries = workstation, .count = COUNT(workstation)};
static const gstride_device_list empty_list = {0};

enum { SIMULATOR, POCL, FPGA, INTEL_GPU, A2000, H200 };
enum { UNTOUCHED = 77 };

static void name_spec(const char *spec)
{
    print_message("spec \"%.100s\"\n", spec ? spec : "(null)");
}

struct match_row {
    const char *name;
    const char *spec;
    size_t index;
};

static const struct match_row matches[] = {
    {"NULL takes the best", NULL, H200},
    {"empty takes the best", "", H200},
    {"accelerator", "accelerator:board", FPGA},
    {"a type and a name", "gpu:a2000", A2000},
    {"a name and a type", "a2000:gpu", A2000},
    {"cpu but no simulator", "cpu:!oclgrind", POCL},
    {"cpu and nothing else", "cpu:!gpu", POCL},
    {"no cpu", "!cpu:gpu", H200},
    {"the best of a type", "gpu", H200},
    {"a type in capitals", "CPU:!GPU", POCL},
    {"no cpu, no vendor", "!cpu:gpu:!nvidia", INTEL_GPU},
    {"double negation", "!!h200", H200},
    {"double negation of a type", "!!accelerator:!gpu", FPGA},
    {"triple negation", "!!!cpu:!!!gpu", FPGA},
    {"#0", "#0", SIMULATOR},
    {"#5", "#5", H200},
    {"leading zeros", "#005", H200},
    {"index and type", "#4:gpu", A2000},
    {"not the index", "!#5:!#4:!#3", FPGA},
    {"part of the platform", "FPGA", FPGA},
    {"part of the vendor", "bristol", SIMULATOR},
    {"part of the name", "UHD", INTEL_GPU},
    {"any case of the text", "nViDiA h200", H200},
    {"a text with blanks", "Core(TM) i7", POCL},
    {"parentheses are text", "intel(r) core", POCL},
    {"one character", "7:cpu", POCL},
    {"several texts", "nvidia:a2000", A2000},
    {"end of a name", "770", INTEL_GPU},
    {"whole name", "NVIDIA H200", H200},
    {"first alternative wins", "h200,a2000", H200},
    {"first alternative wins, reversed", "a2000,h200", A2000},
    {"second alternative", "radeon,a2000", A2000},
    {"last alternative", "radeon,arc,voodoo,h200", H200},
    {"alternatives of several words", "nvidia:cpu,gpu:intel", INTEL_GPU},
    {"an earlier alternative beats a lower index", "h200,#0", H200},
    {"uuid", "uuid=0123456789abcdef0011223344556688", H200},
    {"uuid with dashes", "uuid=01234567-89ab-cdef-0011-223344556688", H200},
    {"uuid in capitals", "uuid=0123456789ABCDEF0011223344556688", H200},
    {"uuid prefix", "uuid=8680", INTEL_GPU},
    {"uuid prefix of two", "uuid=0123", H200},
    {"uuid prefix and a name", "uuid=0123:h200", H200},
    {"not a uuid", "uuid=0123:!uuid=0123456789abcdef0011223344556677", H200},
    {"uuid alternative", "uuid=ffff,uuid=8680", INTEL_GPU},
    {"pci", "pci=0000:3b:00.0", A2000},
    {"pci without function", "pci=0000:3b:00", A2000},
    {"pci bus", "pci=0000:3b", A2000},
    {"pci half a bus", "pci=0000:3", A2000},
    {"pci domain", "pci=000a", H200},
    {"pci in capitals", "pci=000A:3C", H200},
    {"pci and a type", "pci=0000:gpu", A2000},
    {"pci and a name", "pci=0000:3b:00.0:nvidia", A2000},
    {"pci and a type that starts with hex digits", "pci=0000:!accelerator:!intel", A2000},
    {"pci bus and a name that starts with hex digits", "pci=0000:3b:a2000", A2000},
    {"pci in the middle", "gpu:pci=000a:3c:00.1:nvidia", H200},
    {"not a pci address", "nvidia:!pci=0000:3b", H200},
    {"pci alternatives", "pci=0000:99,pci=0000:00:02.0", INTEL_GPU},
};

static void spec_matches(void **state)
{
    const struct match_row *row = *state;
    size_t index = UNTOUCHED;
    name_spec(row->spec);
    assert_int_equal(gstride_device_list_select(&list, row->spec, &index), GSTRIDE_OK);
    assert_int_equal(index, row->index);
}

struct spec_row {
    const char *name;
    const char *spec;
};

static const struct spec_row unmatched[] = {
    {"unknown name", "radeon"},
    {"contradiction", "gpu:!gpu"},
    {"types that exclude each other", "accelerator:h200"},
    {"index behind the end", "#6"},
    {"large index", "#999999"},
    {"unknown uuid", "uuid=ffff"},
    {"uuid longer than a uuid", "uuid=0123456789abcdef001122334455668800"},
    {"unknown pci", "pci=0000:ff"},
    {"part of an address, but no prefix", "pci=3b:00.0"},
    {"several alternatives", "radeon,arc,#6"},
    {"text longer than every name", "NVIDIA H200 and more"},
    {"platform and vendor are not one text", "NVIDIA CUDANVIDIA"},
    {"non-ASCII", "caf\xc3\xa9"},
    {"bytes that are no UTF-8", "\xff\xfe\x80"},
    {"percent signs", "%s%n%d"},
};

static void spec_is_unmatched(void **state)
{
    const struct spec_row *row = *state;
    size_t index = UNTOUCHED;
    name_spec(row->spec);
    assert_int_equal(gstride_device_list_select(&list, row->spec, &index), GSTRIDE_ERROR_NO_DEVICE);
    assert_int_equal(index, UNTOUCHED);
    const char *message = gstride_last_error()->message;
    assert_non_null(strstr(message, row->spec));
    for (size_t i = 0; i < COUNT(workstation); ++i) {
        char number[8];
        snprintf(number, sizeof number, "#%zu ", i);
        assert_non_null(strstr(message, number));
        assert_non_null(strstr(message, workstation[i].info.name));
    }
}

struct malformed_row {
    const char *name;
    const char *spec;
    unsigned character; /* 1-based, of the bad word */
};

static const struct malformed_row malformed[] = {
    {"comma", ",", 1},
    {"commas", ",,,", 1},
    {"colon", ":", 1},
    {"comma first", ",gpu", 1},
    {"comma last", "gpu,", 5},
    {"two commas", "gpu,,cpu", 5},
    {"colon first", ":gpu", 1},
    {"colon last", "gpu:", 5},
    {"two colons", "gpu::cpu", 5},
    {"colon and comma", "gpu:,cpu", 5},
    {"negated nothing", "!", 1},
    {"negated nothing twice", "!!", 1},
    {"negated nothing in the middle", "gpu:!:cpu", 5},
    {"blank", " ", 1},
    {"blanks", "gpu:   ", 5},
    {"tab", "\t", 1},
    {"index without digits", "#", 1},
    {"index with a sign", "#-1", 1},
    {"index with letters", "gpu,#1a", 5},
    {"index in hex", "#0x1", 1},
    {"huge index", "#99999999999999999999", 1},
    {"uuid without digits", "uuid=", 1},
    {"uuid of dashes", "uuid=---", 1},
    {"uuid with other letters", "gpu:uuid=12xy", 5},
    {"pci without address", "pci=", 1},
    {"pci of separators", "pci=.", 1},
    {"pci with other letters", "pci=0000.zz", 1},
    {"pci that ends in a colon", "pci=0000:", 10},
    {"bad word behind a good match", "gpu,#", 5},
    {"bad word behind an address", "pci=0000:3b:00.0:#", 18},
};

static void spec_is_malformed(void **state)
{
    const struct malformed_row *row = *state;
    size_t index = UNTOUCHED;
    name_spec(row->spec);
    assert_int_equal(gstride_device_list_select(&list, row->spec, &index),
                     GSTRIDE_ERROR_DEVICE_SPEC);
    assert_int_equal(index, UNTOUCHED);
    char position[32];
    snprintf(position, sizeof position, "at character %u;", row->character);
    print_message("message: %s\n", gstride_last_error()->message);
    assert_non_null(strstr(gstride_last_error()->message, position));
    assert_non_null(strstr(gstride_last_error()->message, row->spec));
}

static void long_unmatched_spec_still_lists_devices(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    char *spec = malloc(BYTES + 1);
    assert_non_null(spec);
    memset(spec, 'z', BYTES);
    spec[BYTES] = '\0';
    size_t index = UNTOUCHED;
    assert_int_equal(gstride_device_list_select(&list, spec, &index), GSTRIDE_ERROR_NO_DEVICE);
    assert_non_null(strstr(gstride_last_error()->message, "NVIDIA H200"));
    free(spec);
}

static void long_malformed_spec_still_tells_where(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    char *spec = malloc(BYTES + 1);
    assert_non_null(spec);
    memset(spec, 'z', BYTES);
    spec[BYTES] = '\0';
    spec[BYTES - 1] = '#';
    spec[BYTES - 2] = ':';
    size_t index = UNTOUCHED;
    assert_int_equal(gstride_device_list_select(&list, spec, &index), GSTRIDE_ERROR_DEVICE_SPEC);
    assert_non_null(strstr(gstride_last_error()->message, "at character 1048576;"));
    free(spec);
}

static void many_alternatives(void **state)
{
    (void)state;
    enum { ALTERNATIVES = 100000 };
    char *spec = malloc(ALTERNATIVES * 2 + 8);
    assert_non_null(spec);
    for (size_t i = 0; i < ALTERNATIVES; ++i)
        memcpy(spec + 2 * i, "~,", 2);
    memcpy(spec + 2 * ALTERNATIVES, "h200", 5);
    size_t index = UNTOUCHED;
    assert_int_equal(gstride_device_list_select(&list, spec, &index), GSTRIDE_OK);
    assert_int_equal(index, H200);
    free(spec);
}

static void every_byte_alone(void **state)
{
    (void)state;
    for (int byte = 1; byte < 256; ++byte) {
        const char spec[] = {(char)byte, '\0'};
        size_t index = UNTOUCHED;
        gstride_status status = gstride_device_list_select(&list, spec, &index);
        if (status == GSTRIDE_OK)
            assert_in_range(index, 0, COUNT(workstation) - 1);
        else
            assert_true(status == GSTRIDE_ERROR_NO_DEVICE || status == GSTRIDE_ERROR_DEVICE_SPEC);
    }
}

static void empty_list_has_nothing(void **state)
{
    (void)state;
    const char *const specs[] = {NULL, "", "gpu", "#0", "!gpu"};
    for (size_t i = 0; i < COUNT(specs); ++i) {
        size_t index = UNTOUCHED;
        name_spec(specs[i]);
        assert_int_equal(gstride_device_list_select(&empty_list, specs[i], &index),
                         GSTRIDE_ERROR_NO_DEVICE);
        assert_int_equal(index, UNTOUCHED);
        assert_non_null(strstr(gstride_last_error()->message, "nothing"));
    }
}

static void null_arguments_are_refused(void **state)
{
    (void)state;
    size_t index = UNTOUCHED;
    assert_int_equal(gstride_device_list_select(NULL, "gpu", &index), GSTRIDE_ERROR_ARGUMENT);
    assert_int_equal(gstride_device_list_select(&list, "gpu", NULL), GSTRIDE_ERROR_ARGUMENT);
}

static void index_is_the_listed_one(void **state)
{
    (void)state;
    /* A part of a list: "#N" means the number that `gstride devices` prints. */
    const gstride_device_list part = {.entries = workstation + 2, .count = 2};
    size_t index = UNTOUCHED;
    assert_int_equal(gstride_device_list_select(&part, "#3", &index), GSTRIDE_OK);
    assert_int_equal(index, 1);
    assert_int_equal(gstride_device_list_select(&part, "#0", &index), GSTRIDE_ERROR_NO_DEVICE);
}

static void default_order(void **state)
{
    (void)state;
    static const size_t expected[] = {H200, A2000, INTEL_GPU, FPGA, POCL, SIMULATOR};
    size_t order[COUNT(workstation)];
    gsi_rank_devices(&list, order);
    for (size_t i = 0; i < COUNT(expected); ++i)
        assert_int_equal(order[i], expected[i]);
}

static void default_is_the_first_of_the_order(void **state)
{
    (void)state;
    /* Every part of the list, so that each kind of device is the best one of some. */
    for (size_t first = 0; first < COUNT(workstation); ++first) {
        for (size_t end = first + 1; end <= COUNT(workstation); ++end) {
            const gstride_device_list part = {.entries = workstation + first, .count = end - first};
            size_t order[COUNT(workstation)], index = UNTOUCHED;
            gsi_rank_devices(&part, order);
            assert_int_equal(gstride_device_list_select(&part, NULL, &index), GSTRIDE_OK);
            assert_int_equal(index, order[0]);
        }
    }
}

static void twins_keep_their_order(void **state)
{
    (void)state;
    struct gsi_device_entry twins[3] = {workstation[H200], workstation[H200], workstation[H200]};
    const gstride_device_list part = {.entries = twins, .count = COUNT(twins)};
    size_t order[COUNT(twins)];
    gsi_rank_devices(&part, order);
    for (size_t i = 0; i < COUNT(twins); ++i)
        assert_int_equal(order[i], i);
}

static void list_access(void **state)
{
    (void)state;
    assert_int_equal(gstride_device_list_count(&list), COUNT(workstation));
    assert_int_equal(gstride_device_list_count(NULL), 0);
    assert_ptr_equal(gstride_device_list_get(&list, H200), &workstation[H200].info);
    assert_null(gstride_device_list_get(&list, COUNT(workstation)));
    assert_null(gstride_device_list_get(NULL, 0));
    assert_string_equal(gstride_device_list_problems(&list), "");
    assert_string_equal(gstride_device_list_problems(NULL), "");
    gstride_device_list_free(NULL);
}

int main(void)
{
    static struct suite suite;
    ADD_TABLE(&suite, spec_matches, matches);
    ADD_TABLE(&suite, spec_is_unmatched, unmatched);
    ADD_TABLE(&suite, spec_is_malformed, malformed);
    ADD_TEST(&suite, long_unmatched_spec_still_lists_devices);
    ADD_TEST(&suite, long_malformed_spec_still_tells_where);
    ADD_TEST(&suite, many_alternatives);
    ADD_TEST(&suite, every_byte_alone);
    ADD_TEST(&suite, empty_list_has_nothing);
    ADD_TEST(&suite, null_arguments_are_refused);
    ADD_TEST(&suite, index_is_the_listed_one);
    ADD_TEST(&suite, default_order);
    ADD_TEST(&suite, default_is_the_first_of_the_order);
    ADD_TEST(&suite, twins_keep_their_order);
    ADD_TEST(&suite, list_access);
    return RUN_SUITE(suite);
}
