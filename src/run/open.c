/* SPDX-License-Identifier: MIT */
/* open.c - choosing, opening and closing devices. */
#include "base/env.h"
#include "base/log.h"
#include "device/device_list.h"
#include "run/device.h"

#include <stdlib.h>
#include <unistd.h>

static gstride_status open_in_context(cl_context context, cl_device_id id,
                                      const gstride_device_info *info, gstride_device **out)
{
    gstride_device *device = calloc(1, sizeof *device);
    if (!device)
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "no memory for a device");
    atomic_init(&device->references, 1);
    device->pid = getpid();
    device->id = id;
    device->info = *info;
    device->context = context;
    clRetainContext(context);
    gstride_status status = gsi_programs_init(&device->programs, context, id, &device->info);
    if (status == GSTRIDE_OK)
        status = gsi_probe_device(device);
    if (status == GSTRIDE_OK && !device->info.probe.passed)
        status =
            gsi_fail(GSTRIDE_ERROR_PROBE, "%s (%s, driver %s) failed its probe: %s", info->name,
                     info->platform, info->driver_version, device->info.probe.failure);
    if (status != GSTRIDE_OK) {
        gstride_device_close(device);
        return status;
    }
    *out = device;
    return GSTRIDE_OK;
}

static gstride_status open_entry(const struct gsi_device_entry *entry, gstride_device **device)
{
    cl_platform_id platform = NULL;
    cl_int code = clGetDeviceInfo(entry->id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clGetDeviceInfo", "device %s", entry->info.name);
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_context context = clCreateContext(properties, 1, &entry->id, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clCreateContext", "device %s", entry->info.name);
    gstride_status status = open_in_context(context, entry->id, &entry->info, device);
    clReleaseContext(context);
    return status;
}

/* The best device that opens; if none does, the last failure is told. */
static gstride_status open_best(const gstride_device_list *list, gstride_device **device)
{
    size_t *order = malloc((list->count + 1) * sizeof *order);
    if (!order)
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "no memory for the device list");
    gsi_rank_devices(list, order);
    gstride_status status = GSTRIDE_OK;
    if (list->count == 0)
        status = gsi_fail(GSTRIDE_ERROR_NO_DEVICE,
                          "OpenCL is installed, but no platform has a device: %s",
                          gstride_device_list_problems(list));
    for (size_t i = 0; i < list->count; ++i) {
        status = open_entry(&list->entries[order[i]], device);
        if (status == GSTRIDE_OK)
            break;
        gsi_log(GSI_LOG_INFO, "passing over %s: %s", list->entries[order[i]].info.name,
                gstride_last_error()->message);
    }
    free(order);
    return status;
}

gstride_status gstride_device_open(const char *spec, gstride_device **device)
{
    if (!device)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_device_open: device is NULL");
    *device = NULL;
    if (!spec)
        spec = gsi_env(GSI_ENV_DEVICE);
    gstride_device_list *list;
    gstride_status status = gstride_device_list_create(&list);
    if (status != GSTRIDE_OK)
        return status;
    if (spec && spec[0]) {
        size_t index;
        status = gstride_device_list_select(list, spec, &index);
        if (status == GSTRIDE_OK)
            status = open_entry(&list->entries[index], device);
    } else {
        status = open_best(list, device);
    }
    gstride_device_list_free(list);
    return status;
}

static bool context_has_device(cl_context context, cl_device_id id)
{
    enum { MOST_DEVICES = 64 };
    cl_device_id ids[MOST_DEVICES];
    size_t bytes = 0;
    if (clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof ids, ids, &bytes) != CL_SUCCESS)
        return false;
    for (size_t i = 0; i < bytes / sizeof ids[0]; ++i)
        if (ids[i] == id)
            return true;
    return false;
}

gstride_status gstride_device_from_cl(cl_context context, cl_device_id id, gstride_device **device)
{
    if (!context || !id || !device)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_device_from_cl: %s is NULL",
                        !context ? "context"
                        : !id    ? "id"
                                 : "device");
    *device = NULL;
    if (!context_has_device(context, id))
        return gsi_fail(GSTRIDE_ERROR_WRONG_DEVICE,
                        "gstride_device_from_cl: the device is not one of the context's");
    gstride_device_info info;
    if (!gsi_describe_device(id, &info))
        return gsi_fail(GSTRIDE_ERROR_OPENCL,
                        "gstride_device_from_cl: the device does not describe itself");
    return open_in_context(context, id, &info, device);
}

void gsi_device_retain(gstride_device *device)
{
    atomic_fetch_add(&device->references, 1);
}

void gstride_device_close(gstride_device *device)
{
    if (!device || atomic_fetch_sub(&device->references, 1) != 1)
        return;
    if (device->pid == getpid()) { /* in a forked child the driver must not be touched */
        gsi_programs_destroy(&device->programs);
        clReleaseContext(device->context);
    }
    free(device);
}

gstride_status gsi_device_check(const gstride_device *device, const char *function)
{
    if (!device)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: device is NULL", function);
    if (device->pid != getpid())
        return gsi_fail(GSTRIDE_ERROR_FORKED,
                        "%s: the device was opened by process %ld; open it again after fork()",
                        function, (long)device->pid);
    return GSTRIDE_OK;
}

const gstride_device_info *gstride_device_get_info(const gstride_device *device)
{
    return device ? &device->info : NULL;
}

cl_context gstride_device_cl_context(const gstride_device *device)
{
    return device ? device->context : NULL;
}

cl_device_id gstride_device_cl_id(const gstride_device *device)
{
    return device ? device->id : NULL;
}
