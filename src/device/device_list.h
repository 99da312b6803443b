/* SPDX-License-Identifier: MIT */
/* device_list.h - every OpenCL device of the machine, as plain structs beside their handles. */
#ifndef GSI_DEVICE_LIST_H
#define GSI_DEVICE_LIST_H

#include "base/strbuf.h"

#include <gstride/device.h>

struct gsi_device_entry {
    gstride_device_info info;
    cl_device_id id;
};

struct gstride_device_list {
    struct gsi_device_entry *entries;
    size_t count;
    size_t capacity;
    struct gsi_strbuf problems;
};

/* Fill an info from an OpenCL device. False if the device does not even tell its name and type. */
bool gsi_describe_device(cl_device_id id, gstride_device_info *info);

/* Facts that depend on who made the platform: see quirks.c. */
void gsi_apply_quirks(gstride_device_info *info);

/* Build options that the platform's compiler needs, "" or with a leading blank. */
const char *gsi_platform_build_options(const gstride_device_info *info);

/* Order for the default choice: indices of list entries, best first; `order` has list->count. */
void gsi_rank_devices(const gstride_device_list *list, size_t *order);

#endif
