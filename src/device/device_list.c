/* SPDX-License-Identifier: MIT */
/* device_list.c - enumeration: a broken or empty platform never hides the others. */
#include "device/device_list.h"

#include "device/cl.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PLATFORMS = 64, MAX_DEVICES = 256 };

static bool add_entry(gstride_device_list *list, const gstride_device_info *info, cl_device_id id)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 8;
        struct gsi_device_entry *entries = realloc(list->entries, capacity * sizeof *entries);
        if (!entries)
            return false;
        list->entries = entries;
        list->capacity = capacity;
    }
    struct gsi_device_entry *entry = &list->entries[list->count];
    entry->info = *info;
    entry->info.index = (uint32_t)list->count;
    entry->id = id;
    ++list->count;
    return true;
}

static void platform_name(cl_platform_id platform, char *name, size_t bytes)
{
    name[0] = '\0';
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, bytes, name, NULL) != CL_SUCCESS)
        strcpy(name, "(nameless platform)");
    name[bytes - 1] = '\0';
}

static bool add_platform(gstride_device_list *list, cl_platform_id platform)
{
    char name[128];
    platform_name(platform, name, sizeof name);
    cl_device_id ids[MAX_DEVICES];
    cl_uint count = 0; /* some drivers leave it untouched when they fail */
    cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &count);
    if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && count == 0)) {
        gsi_strbuf_printf(&list->problems, "%s: no devices\n", name);
        return true;
    }
    if (code != CL_SUCCESS) {
        gsi_strbuf_printf(&list->problems, "%s: clGetDeviceIDs failed with %s (%d)\n", name,
                          gsi_cl_code_name(code), code);
        return true;
    }
    if (count > MAX_DEVICES)
        count = MAX_DEVICES;
    for (cl_uint i = 0; i < count; ++i) {
        gstride_device_info info;
        if (!gsi_describe_device(ids[i], &info))
            gsi_strbuf_printf(&list->problems, "%s: device %u does not describe itself\n", name, i);
        else if (!add_entry(list, &info, ids[i]))
            return false;
    }
    return true;
}

gstride_status gstride_device_list_create(gstride_device_list **out)
{
    if (!out)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_device_list_create: list is NULL");
    *out = NULL;
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    cl_int code = clGetPlatformIDs(MAX_PLATFORMS, platforms, &count);
    if (code != CL_SUCCESS || count == 0)
        return gsi_fail(
            GSTRIDE_ERROR_NO_PLATFORM,
            "no OpenCL platform is installed (clGetPlatformIDs: %s %d); a CPU one comes "
            "with the package pocl-opencl-icd, a GPU's with its driver",
            gsi_cl_code_name(code), code);
    if (count > MAX_PLATFORMS)
        count = MAX_PLATFORMS;
    gstride_device_list *list = calloc(1, sizeof *list);
    if (!list)
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "gstride_device_list_create: no memory");
    for (cl_uint i = 0; i < count; ++i) {
        if (!add_platform(list, platforms[i])) {
            gstride_device_list_free(list);
            return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY,
                            "gstride_device_list_create: no memory");
        }
    }
    *out = list;
    return GSTRIDE_OK;
}

void gstride_device_list_free(gstride_device_list *list)
{
    if (!list)
        return;
    gsi_strbuf_free(&list->problems);
    free(list->entries);
    free(list);
}

size_t gstride_device_list_count(const gstride_device_list *list)
{
    return list ? list->count : 0;
}

const gstride_device_info *gstride_device_list_get(const gstride_device_list *list, size_t i)
{
    return list && i < list->count ? &list->entries[i].info : NULL;
}

const char *gstride_device_list_problems(const gstride_device_list *list)
{
    return list && list->problems.text ? list->problems.text : "";
}
