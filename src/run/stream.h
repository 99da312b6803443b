/* SPDX-License-Identifier: MIT */
/* stream.h - a queue with its kernels, scratch and clock. */
#ifndef GSI_RUN_STREAM_H
#define GSI_RUN_STREAM_H

#include "plan/plan.h"
#include "run/device.h"

#include <gstride/span.h>

/* Arguments that a kernel object already holds need not be set again: setting one costs a driver
 * call. Only values are remembered, and buffers that live as long as the stream; a caller's buffer
 * may have been freed and its handle given to another. */
enum { GSI_KNOWN_ARGS = 32, GSI_KNOWN_BYTES = 8 };
struct gsi_known_arg {
    unsigned char size; /* 0: not known */
    unsigned char value[GSI_KNOWN_BYTES];
};

/* A kernel object of one stream: cl_kernel holds arguments, so streams do not share them. */
struct gsi_stream_kernel {
    struct gsi_stream_kernel *next;
    struct gsi_key key;
    cl_kernel kernel;
    uint64_t max_group_size; /* what the driver says this kernel can take */
    uint64_t local_bytes;
    struct gsi_known_arg known[GSI_KNOWN_ARGS];
};

/* Set a scalar argument, unless the kernel has it already. */
cl_int gsi_set_value(struct gsi_stream_kernel *kernel, cl_uint index, size_t size,
                     const void *value);

/* Set a buffer argument. */
cl_int gsi_set_buffer(struct gsi_stream_kernel *kernel, cl_uint index, cl_mem mem);

/* Set a buffer of the stream's own. `serial` is one of a kind among all that this argument ever
 * had. */
cl_int gsi_set_own_buffer(struct gsi_stream_kernel *kernel, cl_uint index, cl_mem mem,
                          uint64_t serial);

enum { GSI_STREAM_BUCKETS = 256 };

struct gstride_stream {
    gstride_device *device;
    cl_command_queue queue;
    pid_t pid;
    gstride_status sticky; /* GSTRIDE_ERROR_DEVICE_LOST once seen, else OK */
    gstride_launch forced; /* of this stream */
    gstride_launch forced_by_environment;
    bool force_plain; /* GSTRIDE_FORCE=plain: no vendor code in kernels */
    bool force_fixed; /* GSTRIDE_FORCE=fixed: forced group sizes are compiled in too */
    gstride_shape last_shape;
    struct gsi_strbuf key; /* where each call spells its specialisation */
    struct gsi_stream_kernel *kernels[GSI_STREAM_BUCKETS];

    cl_mem scratch;
    uint64_t scratch_bytes, scratch_high_water;
    uint64_t scratch_serial; /* counts the buffers it has been; see gsi_set_own_buffer */
    cl_mem counter;          /* words that are 0 between calls */
    bool counter_dirty;

    unsigned open_calls; /* public calls that run now: one may be made of others */
    bool timed;          /* elapsed times are kept */
    bool host_clock;     /* because events report nothing */
    uint64_t begin_ns;   /* host clock at the start of the call, then the call's time */
    uint64_t call_ns;
    cl_event first_event, last_event;
};

/* Start of every public call on a stream. \return OK, _ARGUMENT, _FORKED, _DEVICE_LOST */
gstride_status gsi_stream_check(const gstride_stream *stream, const char *function);

/* Bracket the commands of one call, for timing; brackets may nest. gsi_call_end passes `status`
 * through and makes a lost device sticky. */
void gsi_call_begin(gstride_stream *stream);
gstride_status gsi_call_end(gstride_stream *stream, gstride_status status);
/* A good call that enqueues nothing: its time is 0, not that of the call before. */
gstride_status gsi_call_of_nothing(gstride_stream *stream);

/* Where to put a command's event: NULL unless the stream is timed by events. */
cl_event *gsi_event_slot(gstride_stream *stream, cl_event *event);
void gsi_event_keep(gstride_stream *stream, cl_event *event);

/* The forced shape in force: the stream's, else GSTRIDE_LAUNCH's. */
gstride_launch gsi_stream_launch(const gstride_stream *stream);

/* Scratch of at least `bytes`, valid until the next call on the stream. */
gstride_status gsi_stream_scratch_get(gstride_stream *stream, uint64_t bytes, cl_mem *mem);

/* Zeroed words for counting arrivals. */
gstride_status gsi_stream_counter(gstride_stream *stream, cl_mem *mem);

/* Find or make the kernel of a key. */
gstride_status gsi_stream_kernel_get(gstride_stream *stream, const struct gsi_key *key,
                                     gsi_source_writer *write_source, const void *request,
                                     const char *name, struct gsi_stream_kernel **kernel);

#endif
