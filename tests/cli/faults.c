/* SPDX-License-Identifier: MIT */
/* faults.c - functions that take the place of the library's, so that the program meets failures
 * which a healthy machine does not show. Built and preloaded by test_cli.sh; the variable CLI_FAULT
 * chooses the failure. */
#include <gstride.h>
#include <stdlib.h>
#include <string.h>

static gstride_error fault = {.cl_name = "", .message = "", .build_log = ""};

static bool wanted(const char *name)
{
    const char *value = getenv("CLI_FAULT");
    return value && strcmp(value, name) == 0;
}

GSTRIDE_API const gstride_error *gstride_last_error(void)
{
    return &fault;
}

GSTRIDE_API gstride_status gstride_device_open(const char *spec, gstride_device **device)
{
    (void)spec;
    *device = NULL;
    fault.status = GSTRIDE_OK;
    if (wanted("probe")) {
        fault.status = GSTRIDE_ERROR_PROBE;
        fault.message = "planted: atomics lose counts";
    } else if (wanted("opencl")) {
        fault.status = GSTRIDE_ERROR_OUT_OF_DEVICE_MEMORY;
        fault.cl_code = -5;
        fault.cl_name = "CL_OUT_OF_RESOURCES";
        fault.message = "planted: clCreateContext failed";
    } else if (wanted("build")) {
        fault.status = GSTRIDE_ERROR_BUILD;
        fault.message = "planted: the compiler refused it";
        fault.build_log = "line 7: planted log";
    }
    return fault.status;
}

/* With the faults below the device is no device, and must not reach the library. */
GSTRIDE_API gstride_status gstride_stream_create(gstride_device *device, gstride_stream **stream)
{
    (void)device;
    *stream = NULL;
    return GSTRIDE_OK;
}

GSTRIDE_API const gstride_device_info *gstride_device_get_info(const gstride_device *device)
{
    static const gstride_device_info info = {.name = "planted device"};
    (void)device;
    return &info;
}

GSTRIDE_API gstride_status gstride_digest(gstride_stream *stream, gstride_digest_set set,
                                          gstride_digest_line *line, void *user)
{
    (void)stream;
    line(user, set == GSTRIDE_DIGEST_FULL ? "planted full line" : "planted quick line");
    if (!wanted("wrong-bits"))
        return GSTRIDE_OK;
    fault.status = GSTRIDE_ERROR_DEVICE_LOST;
    fault.message = "planted: the device was lost";
    return fault.status;
}

GSTRIDE_API gstride_status gstride_selftest(gstride_stream *stream, gstride_digest_set set,
                                            uint64_t *cases)
{
    enum { QUICK_CASES = 11, FULL_CASES = 22 };
    (void)stream;
    *cases = wanted("no-cases") ? 0 : set == GSTRIDE_DIGEST_FULL ? FULL_CASES : QUICK_CASES;
    if (!wanted("wrong-bits"))
        return GSTRIDE_OK;
    fault.status = GSTRIDE_ERROR_SELFTEST;
    fault.message = "planted: wrong bits in reduce f32 sum 129";
    return fault.status;
}
