/* SPDX-License-Identifier: MIT */
/* synthetic.c - imaginary devices from a text, so that planning is tested without a device. */
#include "base/error.h"

#include <errno.h>
#include <gstride/device.h>
#include <stdlib.h>
#include <string.h>

/* "48K" -> 49152. False if it is no number or has more than 64 bits. */
static bool parse_number(const char *text, uint64_t *value)
{
    static const char suffixes[] = "KMG";
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
    if (errno == ERANGE || number > UINT64_MAX >> shift)
        return false;
    *value = number << shift;
    return end[suffix != NULL] == '\0';
}

static bool apply_flag(gstride_device_info *info, const char *word)
{
    if (strcmp(word, "fp64") == 0)
        info->fp64 = true;
    else if (strcmp(word, "int64_atomics") == 0)
        info->int64_atomics = true;
    else if (strcmp(word, "shuffle") == 0)
        info->subgroup_shuffle = true;
    else
        return false;
    return true;
}

static bool apply_type(gstride_device_info *info, const char *value)
{
    if (strcmp(value, "cpu") == 0)
        info->type = GSTRIDE_DEVICE_CPU;
    else if (strcmp(value, "gpu") == 0)
        info->type = GSTRIDE_DEVICE_GPU;
    else if (strcmp(value, "accelerator") == 0)
        info->type = GSTRIDE_DEVICE_ACCELERATOR;
    else
        return false;
    return true;
}

static bool apply_word(gstride_device_info *info, char *word)
{
    char *value = strchr(word, '=');
    if (!value)
        return apply_flag(info, word);
    *value++ = '\0';
    if (strcmp(word, "type") == 0)
        return apply_type(info, value);
    uint64_t number;
    if (!parse_number(value, &number))
        return false;
    const struct {
        const char *key;
        uint32_t *narrow;
        uint64_t *wide;
    } keys[] = {
        {"cu", &info->compute_units, NULL},        {"wg", &info->max_group_size, NULL},
        {"bits", &info->address_bits, NULL},       {"clock", &info->clock_mhz, NULL},
        {"align", &info->base_alignment, NULL},    {"loop", &info->probe.loop_bound, NULL},
        {"items", NULL, &info->max_item_sizes[0]}, {"local", NULL, &info->local_memory},
        {"global", NULL, &info->global_memory},    {"alloc", NULL, &info->max_allocation},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        if (strcmp(word, keys[i].key) != 0)
            continue;
        if (keys[i].wide)
            *keys[i].wide = number;
        else if (number <= UINT32_MAX)
            *keys[i].narrow = (uint32_t)number;
        else
            return false;
        return true;
    }
    return false;
}

gstride_status gstride_device_info_from_text(const char *text, gstride_device_info *info)
{
    if (!text || !info)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_device_info_from_text: %s is NULL",
                        text ? "info" : "text");
    gstride_device_info made = {
        .type = GSTRIDE_DEVICE_GPU,
        .platform = "synthetic",
        .vendor = "synthetic",
        .name = "synthetic",
        .compute_units = 1,
        .clock_mhz = 1000,
        .address_bits = 64,
        .max_group_size = 256,
        .max_item_sizes = {1024, 1024, 64},
        .local_memory = 32768,
        .global_memory = 1u << 30,
        .max_allocation = 1u << 28,
        .base_alignment = 128,
        .probe = {.done = true,
                  .passed = true,
                  .atomics = true,
                  .int64 = true,
                  .no_contraction = true,
                  .denormals = true,
                  .half_storage = true},
    };
    char word[128];
    static const char blanks[] = " \t";
    for (const char *at = text + strspn(text, blanks); *at; at += strspn(at, blanks)) {
        size_t length = strcspn(at, blanks);
        bool known = length < sizeof word;
        if (known) {
            memcpy(word, at, length);
            word[length] = '\0';
            known = apply_word(&made, word);
        }
        if (!known)
            return gsi_fail(GSTRIDE_ERROR_DEVICE_SPEC,
                            "synthetic device: cannot use the word \"%.*s\"", (int)length, at);
        at += length;
    }
    *info = made;
    return GSTRIDE_OK;
}
