/* SPDX-License-Identifier: MIT */
/* describe.c - cl_device_id -> gstride_device_info. Every query may fail; then its fact keeps a
 * value that restricts us most. */
#include "device/cl.h"
#include "device/device_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Queries of extensions, which the 1.2 headers do not declare. */
enum {
    QUERY_UUID_KHR = 0x106A,
    QUERY_PCI_BUS_INFO_KHR = 0x410F,
    QUERY_COMPUTE_CAPABILITY_MAJOR_NV = 0x4000,
    QUERY_PCI_BUS_ID_NV = 0x4008,
    QUERY_PCI_SLOT_ID_NV = 0x4009
};

static void query_text(cl_device_id id, cl_device_info what, char *text, size_t bytes)
{
    size_t needed = 0;
    text[0] = '\0';
    if (clGetDeviceInfo(id, what, 0, NULL, &needed) != CL_SUCCESS || needed == 0)
        return;
    char *full = malloc(needed + 1);
    if (!full)
        return;
    if (clGetDeviceInfo(id, what, needed, full, NULL) == CL_SUCCESS) {
        full[needed] = '\0';
        const char *start = full;
        while (isspace((unsigned char)*start))
            ++start;
        snprintf(text, bytes, "%s", start);
        for (size_t end = strlen(text); end > 0 && isspace((unsigned char)text[end - 1]); --end)
            text[end - 1] = '\0';
    }
    free(full);
}

static uint32_t query_u32(cl_device_id id, cl_device_info what, uint32_t otherwise)
{
    cl_uint value = otherwise;
    return clGetDeviceInfo(id, what, sizeof value, &value, NULL) == CL_SUCCESS ? value : otherwise;
}

static uint64_t query_u64(cl_device_id id, cl_device_info what, uint64_t otherwise)
{
    cl_ulong value = otherwise;
    return clGetDeviceInfo(id, what, sizeof value, &value, NULL) == CL_SUCCESS ? value : otherwise;
}

static uint64_t query_size(cl_device_id id, cl_device_info what, uint64_t otherwise)
{
    size_t value = 0;
    return clGetDeviceInfo(id, what, sizeof value, &value, NULL) == CL_SUCCESS ? value : otherwise;
}

static void query_item_sizes(cl_device_id id, gstride_device_info *info)
{
    enum { MOST_DIMENSIONS = 16 };
    size_t sizes[MOST_DIMENSIONS] = {1, 1, 1};
    if (clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL) != CL_SUCCESS)
        sizes[0] = sizes[1] = sizes[2] = 1;
    for (int i = 0; i < 3; ++i)
        info->max_item_sizes[i] = sizes[i];
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static void query_identity(cl_device_id id, const char *extensions, gstride_device_info *info)
{
    unsigned char uuid[16];
    if (has_word(extensions, "cl_khr_device_uuid") &&
        clGetDeviceInfo(id, QUERY_UUID_KHR, sizeof uuid, uuid, NULL) == CL_SUCCESS)
        for (int i = 0; i < 16; ++i)
            snprintf(info->uuid + 2 * i, 3, "%02x", uuid[i]);
    cl_uint pci[4]; /* domain, bus, device, function */
    if (has_word(extensions, "cl_khr_pci_bus_info") &&
        clGetDeviceInfo(id, QUERY_PCI_BUS_INFO_KHR, sizeof pci, pci, NULL) == CL_SUCCESS) {
        snprintf(info->pci, sizeof info->pci, "%04x:%02x:%02x.%x", pci[0] & 0xffff, pci[1] & 0xff,
                 pci[2] & 0xff, pci[3] & 0xf);
    } else if (has_word(extensions, "cl_nv_device_attribute_query")) {
        uint32_t bus = query_u32(id, QUERY_PCI_BUS_ID_NV, 0);
        uint32_t slot = query_u32(id, QUERY_PCI_SLOT_ID_NV, 0);
        snprintf(info->pci, sizeof info->pci, "0000:%02x:%02x.%x", bus & 0xff, (slot >> 3) & 0xff,
                 slot & 7);
    }
}

static void query_platform(cl_device_id id, gstride_device_info *info)
{
    cl_platform_id platform = NULL;
    if (clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS)
        return;
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof info->platform, info->platform, NULL))
        info->platform[0] = '\0';
    if (clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof info->platform_version,
                          info->platform_version, NULL))
        info->platform_version[0] = '\0';
}

bool gsi_describe_device(cl_device_id id, gstride_device_info *info)
{
    *info = (gstride_device_info){0};
    cl_device_type type = 0;
    if (clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL) != CL_SUCCESS)
        return false;
    info->type = (type & CL_DEVICE_TYPE_CPU ? GSTRIDE_DEVICE_CPU : 0u) |
                 (type & CL_DEVICE_TYPE_GPU ? GSTRIDE_DEVICE_GPU : 0u) |
                 (type & CL_DEVICE_TYPE_ACCELERATOR ? GSTRIDE_DEVICE_ACCELERATOR : 0u);
    if (!info->type)
        info->type = GSTRIDE_DEVICE_ACCELERATOR;
    query_platform(id, info);
    query_text(id, CL_DEVICE_NAME, info->name, sizeof info->name);
    query_text(id, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
    query_text(id, CL_DEVICE_VERSION, info->device_version, sizeof info->device_version);
    query_text(id, CL_DRIVER_VERSION, info->driver_version, sizeof info->driver_version);
    if (!info->name[0])
        return false;

    info->compute_units = query_u32(id, CL_DEVICE_MAX_COMPUTE_UNITS, 1);
    info->clock_mhz = query_u32(id, CL_DEVICE_MAX_CLOCK_FREQUENCY, 0);
    info->address_bits = query_u32(id, CL_DEVICE_ADDRESS_BITS, 32);
    uint64_t group = query_size(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1);
    info->max_group_size = group > UINT32_MAX ? UINT32_MAX : (uint32_t)group;
    query_item_sizes(id, info);
    info->local_memory = query_u64(id, CL_DEVICE_LOCAL_MEM_SIZE, 0);
    info->global_memory = query_u64(id, CL_DEVICE_GLOBAL_MEM_SIZE, 0);
    info->max_allocation = query_u64(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0);
    info->base_alignment = query_u32(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8;
    info->unified_memory = query_u32(id, CL_DEVICE_HOST_UNIFIED_MEMORY, 0) != 0;

    char extensions[8192];
    query_text(id, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    info->fp64 = has_word(extensions, "cl_khr_fp64");
    info->int64_atomics = has_word(extensions, "cl_khr_int64_base_atomics") &&
                          has_word(extensions, "cl_khr_int64_extended_atomics");
    query_identity(id, extensions, info);
    gsi_apply_quirks(info);
    /* The prelude's shuffles and memory orders need this compute capability. */
    if (info->subgroup_shuffle && query_u32(id, QUERY_COMPUTE_CAPABILITY_MAJOR_NV, 0) < 7)
        info->subgroup_shuffle = false;
    return true;
}
