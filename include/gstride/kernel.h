/* SPDX-License-Identifier: MIT */
/**
 * \file
 * User kernels: the caller's OpenCL C with gstride's tile loop and capped launches.
 *
 * The library puts gstride.clh before the source. It defines
 *
 *   GSTRIDE_FOR(i, n) { ... }        every i (ulong) in [0, n) once, whatever the launch
 *   GSTRIDE_FOR_TILES(base, n) { ... GSTRIDE_FOR_ITEMS(i, base, n) { ... } barrier(...); ... }
 *                                    the same in two steps; the outer trips are the same for a
 *                                    whole group, so barriers may stand between the inner loops
 *   GSTRIDE_TILE                     elements per tile, a constant
 *
 * n must be the number given to gstride_kernel_launch.
 */
#ifndef GSTRIDE_KERNEL_H
#define GSTRIDE_KERNEL_H

#include <gstride/span.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gstride_kernel gstride_kernel;

/**
 * Build a kernel of the caller's for a device.
 *
 * \param source  OpenCL C text, or NULL to read it from the file `path`
 * \param path    the name that build messages show; may be NULL if source is given
 * \param name    the kernel function
 * \param options extra build options, or NULL
 * \return GSTRIDE_ERROR_EXPRESSION with the position and log if it does not compile or has no such
 *         kernel, GSTRIDE_ERROR_IO if the file cannot be read
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_kernel_build(gstride_device *device, const char *source,
                                                const char *path, const char *name,
                                                const char *options, gstride_kernel **kernel);
GSTRIDE_API void gstride_kernel_free(gstride_kernel *kernel);

/** One kernel argument; make it with the functions below. \since 0.1 */
typedef struct gstride_kernel_arg {
    unsigned kind;     /**< set by the functions */
    gstride_span span; /**< passed as its cl_mem; give the offset as an argument if it is not 0 */
    gstride_type type;
    size_t bytes;
    unsigned char value[16];
} gstride_kernel_arg;

GSTRIDE_API gstride_kernel_arg gstride_arg_span(gstride_span span);
GSTRIDE_API gstride_kernel_arg gstride_arg_i32(int32_t value);
GSTRIDE_API gstride_kernel_arg gstride_arg_u32(uint32_t value);
GSTRIDE_API gstride_kernel_arg gstride_arg_i64(int64_t value);
GSTRIDE_API gstride_kernel_arg gstride_arg_u64(uint64_t value);
GSTRIDE_API gstride_kernel_arg gstride_arg_f32(float value);
GSTRIDE_API gstride_kernel_arg gstride_arg_f64(double value);
/** Local memory: bytes for each work-group. \since 0.1 */
GSTRIDE_API gstride_kernel_arg gstride_arg_local(size_t bytes);

/**
 * Launch a kernel over n elements with a planned, capped shape.
 *
 * The number of arguments is checked; size, address space and type too where the driver can tell.
 * Local memory (static and dynamic) is compared with the device's limit before the driver sees it.
 * n = 0 enqueues nothing. One kernel object may be launched from one thread at a time.
 * \return GSTRIDE_ERROR_ARGUMENT naming the argument, GSTRIDE_ERROR_LAUNCH_SHAPE, ...
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_kernel_launch(gstride_stream *stream, gstride_kernel *kernel,
                                                 uint64_t n, const gstride_kernel_arg *args,
                                                 size_t num_args);

/** The OpenCL kernel, not retained for the caller. \since 0.1 */
GSTRIDE_API cl_kernel gstride_kernel_cl(const gstride_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
