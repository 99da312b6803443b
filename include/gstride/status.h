/* SPDX-License-Identifier: MIT */
/**
 * \file
 * Status codes and the error record.
 *
 * Every function that can fail returns a gstride_status: 0 is success, every failure is negative.
 * The library never prints unless GSTRIDE_LOG asks, never exits and never aborts. Caller mistakes
 * are found before the first command is enqueued and leave every output untouched; a failure of
 * OpenCL in mid-sequence (GSTRIDE_ERROR_OPENCL, _OUT_OF_DEVICE_MEMORY, _DEVICE_LOST) is the only
 * one that may leave the outputs of that call undefined.
 */
#ifndef GSTRIDE_STATUS_H
#define GSTRIDE_STATUS_H

#include <gstride/version.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One row per status: name, value, meaning. \since 0.1 */
#define GSTRIDE_STATUS_LIST(X)                                                                     \
    X(OK, 0, "success")                                                                            \
    /* the caller's mistakes */                                                                    \
    X(ERROR_ARGUMENT, -1, "an argument is NULL, out of range or malformed")                        \
    X(ERROR_SPAN, -2, "a span does not lie inside its buffer or has the wrong length")             \
    X(ERROR_OVERLAP, -3, "spans overlap in a way that would give wrong results")                   \
    X(ERROR_TYPE, -4, "the element types do not fit the operation")                                \
    X(ERROR_EXPRESSION, -5, "an expression was refused or does not compile")                       \
    X(ERROR_WRONG_DEVICE, -6, "an object belongs to another device or context")                    \
    X(ERROR_FORKED, -7, "the object was created before fork() and cannot be used in the child")    \
    X(ERROR_EMPTY, -8, "the result of an empty input is not defined")                              \
    /* choosing and using a device */                                                              \
    X(ERROR_NO_PLATFORM, -20, "no OpenCL platform is installed")                                   \
    X(ERROR_NO_DEVICE, -21, "no device matches")                                                   \
    X(ERROR_DEVICE_SPEC, -22, "the device specification is malformed")                             \
    X(ERROR_PROBE, -23, "the device failed its probe")                                             \
    X(ERROR_DEVICE_LACKS, -24, "the device lacks a needed capability")                             \
    X(ERROR_DEVICE_LOST, -25, "the device was lost; destroy the stream and the device")            \
    X(ERROR_LAUNCH_SPEC, -30, "the launch specification is malformed")                             \
    X(ERROR_LAUNCH_SHAPE, -31, "the kernel cannot take this launch shape")                         \
    /* resources */                                                                                \
    X(ERROR_OUT_OF_HOST_MEMORY, -40, "out of host memory")                                         \
    X(ERROR_OUT_OF_DEVICE_MEMORY, -41, "out of device memory")                                     \
    X(ERROR_ALLOCATION_LIMIT, -42, "the allocation exceeds a limit of the device")                 \
    X(ERROR_IO, -43, "a file could not be read or written")                                        \
    /* the rest */                                                                                 \
    X(ERROR_BUILD, -50, "the device's compiler refused a program of the library")                  \
    X(ERROR_OPENCL, -51, "an OpenCL call failed")                                                  \
    X(ERROR_SELFTEST, -52, "the device gives other bits than the known answers")                   \
    X(ERROR_INTERNAL, -99, "a defect of gstride; please report it")

typedef enum gstride_status {
#define GSTRIDE_STATUS_ENUM(name, value, text) GSTRIDE_##name = (value),
    GSTRIDE_STATUS_LIST(GSTRIDE_STATUS_ENUM)
#undef GSTRIDE_STATUS_ENUM
} gstride_status;

/**
 * The last failure of the calling thread.
 *
 * message     one line naming the function, the argument, the value and the device concerned
 * cl_code     the OpenCL error code behind it, 0 if none; cl_name is its name ("CL_...") or ""
 * build_log   the device compiler's log for _EXPRESSION and _BUILD, otherwise ""
 * line,column position in the user's expression or source, 1-based; 0 if unknown
 *
 * The strings belong to the library and live until the thread's next failing call. \since 0.1
 */
typedef struct gstride_error {
    gstride_status status;
    int cl_code;
    const char *cl_name;
    const char *message;
    const char *build_log;
    unsigned line;
    unsigned column;
} gstride_error;

/** Never NULL. Successful calls leave the record as it was. \since 0.1 */
GSTRIDE_API const gstride_error *gstride_last_error(void);

/** "GSTRIDE_ERROR_SPAN" for that status; "GSTRIDE_UNKNOWN" for a foreign number. \since 0.1 */
GSTRIDE_API const char *gstride_status_name(gstride_status status);

/** One line of English for a status; never NULL. \since 0.1 */
GSTRIDE_API const char *gstride_status_text(gstride_status status);

#ifdef __cplusplus
}
#endif
#endif
