/* SPDX-License-Identifier: MIT */
/**
 * \file
 * Spans: typed ranges of elements inside an OpenCL buffer, and moving data in and out of them.
 */
#ifndef GSTRIDE_SPAN_H
#define GSTRIDE_SPAN_H

#include <gstride/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * `count` elements of `type`, starting `offset` elements into `mem`. A plain value: copying it
 * copies no data and owns nothing. A span of no elements may have a NULL mem. \since 0.1
 */
typedef struct gstride_span {
    cl_mem mem;
    uint64_t offset;
    uint64_t count;
    gstride_type type;
} gstride_span;

/**
 * Allocate a buffer of n elements (not cleared); free it with gstride_free. n = 0 makes no buffer.
 * \return GSTRIDE_ERROR_ALLOCATION_LIMIT beyond what the device allows for one buffer,
 *         GSTRIDE_ERROR_DEVICE_LACKS for F64 without fp64, GSTRIDE_ERROR_OUT_OF_DEVICE_MEMORY
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_alloc(gstride_device *device, gstride_type type, uint64_t n,
                                         gstride_span *span);

/** Release the buffer that gstride_alloc made and clear the span. NULL and empty are allowed. */
GSTRIDE_API void gstride_free(gstride_span *span);

/**
 * View n elements of a caller's buffer, starting `offset` elements into it. The buffer is not
 * retained. \return GSTRIDE_ERROR_SPAN, GSTRIDE_ERROR_WRONG_DEVICE \since 0.1
 */
GSTRIDE_API gstride_status gstride_span_wrap(gstride_device *device, cl_mem mem, gstride_type type,
                                             uint64_t offset, uint64_t n, gstride_span *span);

/** View n elements of a span from element `first`. \return GSTRIDE_ERROR_SPAN \since 0.1 */
GSTRIDE_API gstride_status gstride_slice(gstride_span whole, uint64_t first, uint64_t n,
                                         gstride_span *part);

/**
 * Copy the first n elements between host memory and a span. The host pointer may have any
 * alignment. Both wait until the host memory may be reused or read. n = 0 does nothing.
 * \return GSTRIDE_ERROR_SPAN if n is more than the span has
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_write(gstride_stream *stream, gstride_span span,
                                         const void *host, uint64_t n);
GSTRIDE_API gstride_status gstride_read(gstride_stream *stream, gstride_span span, void *host,
                                        uint64_t n);

/**
 * Copy all elements of `from` to the front of `to`: same type, `to` at least as long, no overlap
 * unless they start at the same element (then nothing is done). Asynchronous. \since 0.1
 */
GSTRIDE_API gstride_status gstride_copy(gstride_stream *stream, gstride_span from, gstride_span to);

/** How the host will use mapped memory. \since 0.1 */
typedef enum gstride_access {
    GSTRIDE_READ = 1,
    GSTRIDE_WRITE = 2,
    GSTRIDE_READ_WRITE = 3
} gstride_access;

/**
 * Map a span into host memory and wait for it; on devices with unified memory no copy is made.
 * Between map and unmap the device must not use the span. *host is NULL for an empty span.
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_span_map(gstride_stream *stream, gstride_span span,
                                            gstride_access access, void **host);
GSTRIDE_API gstride_status gstride_span_unmap(gstride_stream *stream, gstride_span span,
                                              void *host);

#ifdef __cplusplus
}
#endif
#endif
