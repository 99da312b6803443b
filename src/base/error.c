/* SPDX-License-Identifier: MIT */
/* error.c - the error record of each thread, and the names of statuses and OpenCL codes. */
#include "base/error.h"

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 1024, LOG_BYTES = 8192 };

struct record {
    gstride_error error;
    char message[MESSAGE_BYTES];
    char log[LOG_BYTES];
};

static _Thread_local struct record record;

static void clear_record(void)
{
    record.message[0] = '\0';
    record.log[0] = '\0';
    record.error =
        (gstride_error){.cl_name = "", .message = record.message, .build_log = record.log};
}

const gstride_error *gstride_last_error(void)
{
    if (!record.error.message)
        clear_record();
    return &record.error;
}

static gstride_status finish_record(gstride_status status, int cl_code)
{
    record.error.status = status;
    record.error.cl_code = cl_code;
    record.error.cl_name = gsi_cl_code_name(cl_code);
    gsi_log(GSI_LOG_ERROR, "%s: %s", gstride_status_name(status), record.message);
    return status;
}

gstride_status gsi_fail(gstride_status status, const char *format, ...)
{
    clear_record();
    va_list args;
    va_start(args, format);
    vsnprintf(record.message, sizeof record.message, format, args);
    va_end(args);
    return finish_record(status, 0);
}

/* OpenCL codes that this file gives a meaning of its own. */
enum {
    CODE_MEM_OBJECT_ALLOCATION_FAILURE = -4,
    CODE_OUT_OF_RESOURCES = -5,
    CODE_OUT_OF_HOST_MEMORY = -6,
    CODE_INVALID_COMMAND_QUEUE = -36,
    CODE_INVALID_BUFFER_SIZE = -61,
    CODE_NVIDIA_ILLEGAL_BUFFER_ACCESS = -9999
};

static gstride_status status_of_code(int cl_code)
{
    switch (cl_code) {
    case CODE_MEM_OBJECT_ALLOCATION_FAILURE:
    case CODE_OUT_OF_RESOURCES:
    case CODE_INVALID_BUFFER_SIZE:
        return GSTRIDE_ERROR_OUT_OF_DEVICE_MEMORY;
    case CODE_OUT_OF_HOST_MEMORY:
        return GSTRIDE_ERROR_OUT_OF_HOST_MEMORY;
    case CODE_INVALID_COMMAND_QUEUE:
    case CODE_NVIDIA_ILLEGAL_BUFFER_ACCESS:
        return GSTRIDE_ERROR_DEVICE_LOST;
    default:
        return GSTRIDE_ERROR_OPENCL;
    }
}

gstride_status gsi_fail_cl(int cl_code, const char *call, const char *format, ...)
{
    clear_record();
    int used = snprintf(record.message, sizeof record.message, "%s failed with %s (%d): ", call,
                        gsi_cl_code_name(cl_code), cl_code);
    va_list args;
    va_start(args, format);
    vsnprintf(record.message + used, sizeof record.message - (size_t)used, format, args);
    va_end(args);
    return finish_record(status_of_code(cl_code), cl_code);
}

void gsi_error_set_log(const char *log, unsigned line, unsigned column)
{
    snprintf(record.log, sizeof record.log, "%s", log ? log : "");
    record.error.line = line;
    record.error.column = column;
}

const char *gstride_status_name(gstride_status status)
{
    switch (status) {
#define STATUS_NAME(name, value, text)                                                             \
    case GSTRIDE_##name:                                                                           \
        return "GSTRIDE_" #name;
        GSTRIDE_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    }
    return "GSTRIDE_UNKNOWN";
}

const char *gstride_status_text(gstride_status status)
{
    switch (status) {
#define STATUS_TEXT(name, value, text)                                                             \
    case GSTRIDE_##name:                                                                           \
        return text;
        GSTRIDE_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "not a status of gstride";
}

const char *gsi_cl_code_name(int cl_code)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
        {0, ""},
        {-1, "CL_DEVICE_NOT_FOUND"},
        {-2, "CL_DEVICE_NOT_AVAILABLE"},
        {-3, "CL_COMPILER_NOT_AVAILABLE"},
        {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
        {-5, "CL_OUT_OF_RESOURCES"},
        {-6, "CL_OUT_OF_HOST_MEMORY"},
        {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
        {-8, "CL_MEM_COPY_OVERLAP"},
        {-9, "CL_IMAGE_FORMAT_MISMATCH"},
        {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
        {-11, "CL_BUILD_PROGRAM_FAILURE"},
        {-12, "CL_MAP_FAILURE"},
        {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
        {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
        {-15, "CL_COMPILE_PROGRAM_FAILURE"},
        {-16, "CL_LINKER_NOT_AVAILABLE"},
        {-17, "CL_LINK_PROGRAM_FAILURE"},
        {-18, "CL_DEVICE_PARTITION_FAILED"},
        {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
        {-30, "CL_INVALID_VALUE"},
        {-31, "CL_INVALID_DEVICE_TYPE"},
        {-32, "CL_INVALID_PLATFORM"},
        {-33, "CL_INVALID_DEVICE"},
        {-34, "CL_INVALID_CONTEXT"},
        {-35, "CL_INVALID_QUEUE_PROPERTIES"},
        {-36, "CL_INVALID_COMMAND_QUEUE"},
        {-37, "CL_INVALID_HOST_PTR"},
        {-38, "CL_INVALID_MEM_OBJECT"},
        {-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"},
        {-40, "CL_INVALID_IMAGE_SIZE"},
        {-41, "CL_INVALID_SAMPLER"},
        {-42, "CL_INVALID_BINARY"},
        {-43, "CL_INVALID_BUILD_OPTIONS"},
        {-44, "CL_INVALID_PROGRAM"},
        {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
        {-46, "CL_INVALID_KERNEL_NAME"},
        {-47, "CL_INVALID_KERNEL_DEFINITION"},
        {-48, "CL_INVALID_KERNEL"},
        {-49, "CL_INVALID_ARG_INDEX"},
        {-50, "CL_INVALID_ARG_VALUE"},
        {-51, "CL_INVALID_ARG_SIZE"},
        {-52, "CL_INVALID_KERNEL_ARGS"},
        {-53, "CL_INVALID_WORK_DIMENSION"},
        {-54, "CL_INVALID_WORK_GROUP_SIZE"},
        {-55, "CL_INVALID_WORK_ITEM_SIZE"},
        {-56, "CL_INVALID_GLOBAL_OFFSET"},
        {-57, "CL_INVALID_EVENT_WAIT_LIST"},
        {-58, "CL_INVALID_EVENT"},
        {-59, "CL_INVALID_OPERATION"},
        {-60, "CL_INVALID_GL_OBJECT"},
        {-61, "CL_INVALID_BUFFER_SIZE"},
        {-62, "CL_INVALID_MIP_LEVEL"},
        {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
        {-64, "CL_INVALID_PROPERTY"},
        {-65, "CL_INVALID_IMAGE_DESCRIPTOR"},
        {-66, "CL_INVALID_COMPILER_OPTIONS"},
        {-67, "CL_INVALID_LINKER_OPTIONS"},
        {-68, "CL_INVALID_DEVICE_PARTITION_COUNT"},
        {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
        {-9999, "CL_NVIDIA_ILLEGAL_BUFFER_ACCESS"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (names[i].code == cl_code)
            return names[i].name;
    return "CL_?";
}
