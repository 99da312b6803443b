/* SPDX-License-Identifier: MIT */
/* device.h - an open device: context, facts, programs. */
#ifndef GSI_RUN_DEVICE_H
#define GSI_RUN_DEVICE_H

#include "program/program.h"

#include <gstride/device.h>
#include <stdatomic.h>
#include <sys/types.h>

struct gstride_device {
    atomic_uint references;
    pid_t pid; /* of the process that opened it: drivers do not survive fork() */
    cl_context context;
    cl_device_id id;
    gstride_device_info info;
    struct gsi_programs programs;
};

void gsi_device_retain(gstride_device *device);

/* Check a device argument. \return GSTRIDE_OK, _ERROR_ARGUMENT (NULL), _ERROR_FORKED */
gstride_status gsi_device_check(const gstride_device *device, const char *function);

/* Run the probe and fill device->info.probe. A status other than OK means that the probe could not
 * be built; what it found otherwise, good or bad, is in the probe. */
gstride_status gsi_probe_device(gstride_device *device);

#endif
