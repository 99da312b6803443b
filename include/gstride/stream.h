/* SPDX-License-Identifier: MIT */
/**
 * \file
 * Streams: in-order command queues with a scratch pool and a set of kernels.
 *
 * A stream belongs to one host thread at a time; make one per thread, they share the device's
 * compiled programs. Calls enqueue and return unless they say that they wait. After fork() a child
 * gets GSTRIDE_ERROR_FORKED from every call on a stream of its parent.
 */
#ifndef GSTRIDE_STREAM_H
#define GSTRIDE_STREAM_H

#include <gstride/launch.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gstride_stream gstride_stream;

/** Create an in-order stream on a device. \since 0.1 */
GSTRIDE_API gstride_status gstride_stream_create(gstride_device *device, gstride_stream **stream);

/** The same with a queue that can time its commands (see gstride_stream_elapsed). \since 0.1 */
GSTRIDE_API gstride_status gstride_stream_create_timed(gstride_device *device,
                                                       gstride_stream **stream);

/**
 * Use a queue of the caller, which is retained. The queue must be in order and belong to the
 * device's context and id.
 * \return GSTRIDE_ERROR_WRONG_DEVICE, GSTRIDE_ERROR_ARGUMENT (out-of-order queue)
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_stream_from_cl(gstride_device *device, cl_command_queue queue,
                                                  gstride_stream **stream);

/** Wait for all commands and release everything. NULL is allowed. \since 0.1 */
GSTRIDE_API void gstride_stream_destroy(gstride_stream *stream);

/** Wait until every enqueued command has ended; reports what failed since. \since 0.1 */
GSTRIDE_API gstride_status gstride_stream_finish(gstride_stream *stream);

/** The OpenCL queue, not retained for the caller; NULL for NULL. \since 0.1 */
GSTRIDE_API cl_command_queue gstride_stream_cl_queue(const gstride_stream *stream);
GSTRIDE_API gstride_device *gstride_stream_device(const gstride_stream *stream);

/**
 * Device time of the last call on a timed stream, in nanoseconds; waits for it. 0 for a call that
 * enqueued nothing. Where the driver reports no interval, host time around the call is used and
 * *from_host (if not NULL) is set: such a stream runs each call to its end before it returns.
 * \return GSTRIDE_ERROR_ARGUMENT if the stream was not made for timing
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_stream_elapsed(gstride_stream *stream, uint64_t *ns,
                                                  bool *from_host);

/**
 * Force the launch shape of the following calls; NULL returns to GSTRIDE_LAUNCH or the planner.
 * A shape that a kernel cannot take makes the call fail with GSTRIDE_ERROR_LAUNCH_SHAPE.
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_stream_force_launch(gstride_stream *stream,
                                                       const gstride_launch *launch);

/** The shape of the last call that launched a kernel; zeros before the first. \since 0.1 */
GSTRIDE_API gstride_shape gstride_stream_last_shape(const gstride_stream *stream);

/** Scratch held now and at most so far, in bytes. \since 0.1 */
typedef struct gstride_scratch_stats {
    uint64_t held;
    uint64_t high_water;
} gstride_scratch_stats;
GSTRIDE_API gstride_scratch_stats gstride_stream_scratch(const gstride_stream *stream);

/** Wait and give the scratch back to the device; the next call allocates anew. \since 0.1 */
GSTRIDE_API gstride_status gstride_stream_trim(gstride_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
