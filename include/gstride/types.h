/* SPDX-License-Identifier: MIT */
/**
 * \file
 * Element types and the OpenCL handle types that the interface passes through.
 */
#ifndef GSTRIDE_TYPES_H
#define GSTRIDE_TYPES_H

#include <gstride/status.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The same declarations as CL/cl.h makes, so that neither header needs the other. */
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_kernel *cl_kernel;

/**
 * Element types. F16 is a storage type (IEEE binary16): values are converted to F32 when loaded and
 * rounded once, to nearest even, when stored; all arithmetic is F32. F64 needs a device with fp64.
 * \since 0.1
 */
#define GSTRIDE_TYPE_LIST(X)                                                                       \
    X(I8, 0, "i8", 1)                                                                              \
    X(U8, 1, "u8", 1)                                                                              \
    X(I16, 2, "i16", 2)                                                                            \
    X(U16, 3, "u16", 2)                                                                            \
    X(I32, 4, "i32", 4)                                                                            \
    X(U32, 5, "u32", 4)                                                                            \
    X(I64, 6, "i64", 8)                                                                            \
    X(U64, 7, "u64", 8)                                                                            \
    X(F16, 8, "f16", 2)                                                                            \
    X(F32, 9, "f32", 4)                                                                            \
    X(F64, 10, "f64", 8)

typedef enum gstride_type {
#define GSTRIDE_TYPE_ENUM(name, value, text, bytes) GSTRIDE_##name = (value),
    GSTRIDE_TYPE_LIST(GSTRIDE_TYPE_ENUM)
#undef GSTRIDE_TYPE_ENUM
} gstride_type;

/** Number of element types: valid values are 0 to GSTRIDE_NUM_TYPES - 1. \since 0.1 */
#define GSTRIDE_NUM_TYPES 11

/** Bytes of one element; 0 for a number that is no type. \since 0.1 */
GSTRIDE_API size_t gstride_type_bytes(gstride_type type);

/** "i8" ... "f64"; "?" for a number that is no type. \since 0.1 */
GSTRIDE_API const char *gstride_type_name(gstride_type type);

/** Parse "i8" ... "f64". \return GSTRIDE_OK or GSTRIDE_ERROR_ARGUMENT. \since 0.1 */
GSTRIDE_API gstride_status gstride_type_from_name(const char *name, gstride_type *type);

#ifdef __cplusplus
}
#endif
#endif
