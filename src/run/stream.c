/* SPDX-License-Identifier: MIT */
#include "run/stream.h"

#include "base/env.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COUNTER_BYTES = 256 };
static const uint64_t least_scratch = 64 * 1024;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

gstride_status gsi_stream_check(const gstride_stream *stream, const char *function)
{
    if (!stream)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: stream is NULL", function);
    if (stream->pid != getpid())
        return gsi_fail(GSTRIDE_ERROR_FORKED,
                        "%s: the stream was created by process %ld; make a new device and stream "
                        "after fork()",
                        function, (long)stream->pid);
    if (stream->sticky != GSTRIDE_OK)
        return gsi_fail(stream->sticky,
                        "%s: %s was lost earlier; destroy the stream and the device", function,
                        stream->device->info.name);
    return GSTRIDE_OK;
}

static gstride_status read_forced_launch(gstride_stream *stream)
{
    const char *text = gsi_env(GSI_ENV_LAUNCH);
    if (!text)
        return GSTRIDE_OK;
    gstride_status status = gstride_launch_from_text(text, &stream->forced_by_environment);
    if (status != GSTRIDE_OK)
        return gsi_fail(GSTRIDE_ERROR_LAUNCH_SPEC,
                        "GSTRIDE_LAUNCH=\"%s\" is malformed; write groups=G,local=L", text);
    return GSTRIDE_OK;
}

/* GSTRIDE_FORCE: which of several forms of a kernel is used. They all give the same bits. */
static gstride_status read_forced_form(gstride_stream *stream)
{
    const char *text = gsi_env(GSI_ENV_FORCE);
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, ",");
        if (length == 5 && strncmp(at, "plain", length) == 0)
            stream->force_plain = true;
        else if (length == 5 && strncmp(at, "fixed", length) == 0)
            stream->force_fixed = true;
        else
            return gsi_fail(
                GSTRIDE_ERROR_LAUNCH_SPEC,
                "GSTRIDE_FORCE=\"%.64s\" knows no word \"%.*s\"; there are plain, fixed", text,
                (int)(length < 32 ? length : 32), at);
        at += length + (at[length] == ',');
    }
    return GSTRIDE_OK;
}

static gstride_status make_stream(gstride_device *device, cl_command_queue queue, bool timed,
                                  gstride_stream **out)
{
    gstride_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "no memory for a stream");
    gstride_status status = read_forced_launch(stream);
    if (status == GSTRIDE_OK)
        status = read_forced_form(stream);
    if (status != GSTRIDE_OK) {
        free(stream);
        return status;
    }
    stream->device = device;
    gsi_device_retain(device);
    stream->queue = queue;
    clRetainCommandQueue(queue);
    stream->pid = getpid();
    stream->timed = timed;
    stream->host_clock = timed && !device->info.probe.event_timing;
    *out = stream;
    return GSTRIDE_OK;
}

static gstride_status create(gstride_device *device, bool timed, gstride_stream **stream,
                             const char *function)
{
    if (!stream)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: stream is NULL", function);
    *stream = NULL;
    gstride_status status = gsi_device_check(device, function);
    if (status != GSTRIDE_OK)
        return status;
    cl_int code;
    cl_command_queue queue = clCreateCommandQueue(device->context, device->id,
                                                  timed ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clCreateCommandQueue", "%s on %s", function, device->info.name);
    status = make_stream(device, queue, timed, stream);
    clReleaseCommandQueue(queue);
    return status;
}

gstride_status gstride_stream_create(gstride_device *device, gstride_stream **stream)
{
    return create(device, false, stream, "gstride_stream_create");
}

gstride_status gstride_stream_create_timed(gstride_device *device, gstride_stream **stream)
{
    return create(device, true, stream, "gstride_stream_create_timed");
}

gstride_status gstride_stream_from_cl(gstride_device *device, cl_command_queue queue,
                                      gstride_stream **stream)
{
    if (!queue || !stream)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_stream_from_cl: %s is NULL",
                        queue ? "stream" : "queue");
    *stream = NULL;
    gstride_status status = gsi_device_check(device, "gstride_stream_from_cl");
    if (status != GSTRIDE_OK)
        return status;
    cl_context context = NULL;
    cl_device_id id = NULL;
    cl_command_queue_properties properties = 0;
    cl_int code = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (code == CL_SUCCESS)
        code = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    if (code == CL_SUCCESS)
        code =
            clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clGetCommandQueueInfo", "gstride_stream_from_cl");
    if (context != device->context || id != device->id)
        return gsi_fail(GSTRIDE_ERROR_WRONG_DEVICE,
                        "gstride_stream_from_cl: the queue belongs to another %s",
                        context != device->context ? "context" : "device");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT,
                        "gstride_stream_from_cl: the queue executes out of order");
    return make_stream(device, queue, (properties & CL_QUEUE_PROFILING_ENABLE) != 0, stream);
}

static void drop_events(gstride_stream *stream)
{
    if (stream->last_event && stream->last_event != stream->first_event)
        clReleaseEvent(stream->last_event);
    if (stream->first_event)
        clReleaseEvent(stream->first_event);
    stream->first_event = stream->last_event = NULL;
}

static void release_mem(cl_mem *mem)
{
    if (*mem)
        clReleaseMemObject(*mem);
    *mem = NULL;
}

/* Objects go in the order that drivers expect: memory, kernels, queue, and the context last. */
static void release_objects(gstride_stream *stream)
{
    clFinish(stream->queue);
    drop_events(stream);
    release_mem(&stream->scratch);
    release_mem(&stream->counter);
    for (size_t i = 0; i < GSI_STREAM_BUCKETS; ++i)
        for (struct gsi_stream_kernel *k = stream->kernels[i]; k; k = k->next)
            clReleaseKernel(k->kernel);
    clReleaseCommandQueue(stream->queue);
}

void gstride_stream_destroy(gstride_stream *stream)
{
    if (!stream)
        return;
    if (stream->pid == getpid())
        release_objects(stream);
    for (size_t i = 0; i < GSI_STREAM_BUCKETS; ++i) {
        for (struct gsi_stream_kernel *k = stream->kernels[i], *next; k; k = next) {
            next = k->next;
            free(k);
        }
    }
    gsi_strbuf_free(&stream->key);
    gstride_device_close(stream->device);
    free(stream);
}

gstride_status gstride_stream_finish(gstride_stream *stream)
{
    gstride_status status = gsi_stream_check(stream, "gstride_stream_finish");
    if (status != GSTRIDE_OK)
        return status;
    cl_int code = clFinish(stream->queue);
    if (code != CL_SUCCESS) {
        status =
            gsi_fail_cl(code, "clFinish", "gstride_stream_finish on %s", stream->device->info.name);
        if (status == GSTRIDE_ERROR_DEVICE_LOST)
            stream->sticky = status;
    }
    return status;
}

cl_command_queue gstride_stream_cl_queue(const gstride_stream *stream)
{
    return stream ? stream->queue : NULL;
}

gstride_device *gstride_stream_device(const gstride_stream *stream)
{
    return stream ? stream->device : NULL;
}

void gsi_call_begin(gstride_stream *stream)
{
    if (stream->open_calls++ > 0 || !stream->timed)
        return;
    drop_events(stream);
    stream->call_ns = 0;
    if (stream->host_clock)
        clFinish(stream->queue);
    stream->begin_ns = now_ns();
}

gstride_status gsi_call_end(gstride_stream *stream, gstride_status status)
{
    if (status == GSTRIDE_ERROR_DEVICE_LOST)
        stream->sticky = status;
    if (--stream->open_calls == 0 && stream->host_clock && status == GSTRIDE_OK) {
        clFinish(stream->queue);
        stream->call_ns = now_ns() - stream->begin_ns;
    }
    return status;
}

gstride_status gsi_call_of_nothing(gstride_stream *stream)
{
    if (stream->open_calls > 0)
        return GSTRIDE_OK;
    if (stream->timed)
        drop_events(stream);
    stream->call_ns = 0;
    return GSTRIDE_OK;
}

cl_event *gsi_event_slot(gstride_stream *stream, cl_event *event)
{
    *event = NULL;
    return stream->timed && !stream->host_clock ? event : NULL;
}

void gsi_event_keep(gstride_stream *stream, cl_event *event)
{
    if (!*event)
        return;
    if (!stream->first_event)
        stream->first_event = *event;
    else if (stream->last_event != stream->first_event)
        clReleaseEvent(stream->last_event);
    stream->last_event = *event;
}

gstride_status gstride_stream_elapsed(gstride_stream *stream, uint64_t *ns, bool *from_host)
{
    gstride_status status = gsi_stream_check(stream, "gstride_stream_elapsed");
    if (status != GSTRIDE_OK)
        return status;
    if (!ns || !stream->timed)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_stream_elapsed: %s",
                        ns ? "the stream was not created for timing" : "ns is NULL");
    *ns = stream->call_ns;
    if (from_host)
        *from_host = stream->host_clock;
    if (!stream->last_event)
        return GSTRIDE_OK;
    cl_ulong start = 0, end = 0;
    cl_int code = clWaitForEvents(1, &stream->last_event);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clWaitForEvents", "gstride_stream_elapsed");
    clGetEventProfilingInfo(stream->first_event, CL_PROFILING_COMMAND_START, sizeof start, &start,
                            NULL);
    clGetEventProfilingInfo(stream->last_event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    if (start > 0 && end >= start) { /* equal: shorter than the device's clock tells */
        *ns = end - start;
        return GSTRIDE_OK;
    }
    /* This driver's events tell nothing after all: the time until now, and the host's from now on.
     */
    *ns = now_ns() - stream->begin_ns;
    stream->host_clock = true;
    if (from_host)
        *from_host = true;
    return GSTRIDE_OK;
}

gstride_status gstride_stream_force_launch(gstride_stream *stream, const gstride_launch *launch)
{
    gstride_status status = gsi_stream_check(stream, "gstride_stream_force_launch");
    if (status == GSTRIDE_OK)
        stream->forced = launch ? *launch : (gstride_launch){0};
    return status;
}

gstride_launch gsi_stream_launch(const gstride_stream *stream)
{
    bool own = stream->forced.groups || stream->forced.local;
    return own ? stream->forced : stream->forced_by_environment;
}

gstride_shape gstride_stream_last_shape(const gstride_stream *stream)
{
    return stream ? stream->last_shape : (gstride_shape){0};
}

gstride_scratch_stats gstride_stream_scratch(const gstride_stream *stream)
{
    if (!stream)
        return (gstride_scratch_stats){0};
    return (gstride_scratch_stats){.held = stream->scratch_bytes,
                                   .high_water = stream->scratch_high_water};
}

gstride_status gstride_stream_trim(gstride_stream *stream)
{
    gstride_status status = gstride_stream_finish(stream);
    if (status == GSTRIDE_OK) {
        release_mem(&stream->scratch);
        stream->scratch_bytes = 0;
    }
    return status;
}

gstride_status gsi_stream_scratch_get(gstride_stream *stream, uint64_t bytes, cl_mem *mem)
{
    if (bytes > stream->scratch_bytes) {
        uint64_t wanted = bytes < least_scratch ? least_scratch : bytes + bytes / 4;
        cl_int code;
        cl_mem made =
            clCreateBuffer(stream->device->context, CL_MEM_READ_WRITE, (size_t)wanted, NULL, &code);
        if (code != CL_SUCCESS)
            return gsi_fail_cl(code, "clCreateBuffer", "%llu bytes of scratch on %s",
                               (unsigned long long)wanted, stream->device->info.name);
        release_mem(&stream->scratch); /* commands that still use it keep it alive */
        stream->scratch = made;
        stream->scratch_bytes = wanted;
        ++stream->scratch_serial;
        if (wanted > stream->scratch_high_water)
            stream->scratch_high_water = wanted;
    }
    *mem = stream->scratch;
    return GSTRIDE_OK;
}

gstride_status gsi_stream_counter(gstride_stream *stream, cl_mem *mem)
{
    cl_int code = CL_SUCCESS;
    if (!stream->counter) {
        stream->counter =
            clCreateBuffer(stream->device->context, CL_MEM_READ_WRITE, COUNTER_BYTES, NULL, &code);
        if (code != CL_SUCCESS) {
            stream->counter = NULL;
            return gsi_fail_cl(code, "clCreateBuffer", "%d bytes for counters on %s", COUNTER_BYTES,
                               stream->device->info.name);
        }
        stream->counter_dirty = true;
    }
    if (stream->counter_dirty) {
        cl_uint zero = 0;
        code = clEnqueueFillBuffer(stream->queue, stream->counter, &zero, sizeof zero, 0,
                                   COUNTER_BYTES, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            return gsi_fail_cl(code, "clEnqueueFillBuffer", "clearing the counters on %s",
                               stream->device->info.name);
        stream->counter_dirty = false;
    }
    *mem = stream->counter;
    return GSTRIDE_OK;
}

cl_int gsi_set_value(struct gsi_stream_kernel *kernel, cl_uint index, size_t size,
                     const void *value)
{
    if (index >= GSI_KNOWN_ARGS || size > GSI_KNOWN_BYTES)
        return clSetKernelArg(kernel->kernel, index, size, value);
    struct gsi_known_arg *known = &kernel->known[index];
    if (known->size == size && memcmp(known->value, value, size) == 0)
        return CL_SUCCESS;
    cl_int code = clSetKernelArg(kernel->kernel, index, size, value);
    known->size = code == CL_SUCCESS ? (unsigned char)size : 0;
    memcpy(known->value, value, size);
    return code;
}

cl_int gsi_set_buffer(struct gsi_stream_kernel *kernel, cl_uint index, cl_mem mem)
{
    if (index < GSI_KNOWN_ARGS)
        kernel->known[index].size = 0;
    return clSetKernelArg(kernel->kernel, index, sizeof mem, &mem);
}

cl_int gsi_set_own_buffer(struct gsi_stream_kernel *kernel, cl_uint index, cl_mem mem,
                          uint64_t serial)
{
    if (index >= GSI_KNOWN_ARGS)
        return gsi_set_buffer(kernel, index, mem);
    struct gsi_known_arg *known = &kernel->known[index];
    if (known->size == sizeof serial && memcmp(known->value, &serial, sizeof serial) == 0)
        return CL_SUCCESS;
    cl_int code = gsi_set_buffer(kernel, index, mem);
    if (code == CL_SUCCESS) {
        known->size = sizeof serial;
        memcpy(known->value, &serial, sizeof serial);
    }
    return code;
}

static gstride_status make_kernel(gstride_stream *stream, const struct gsi_key *key,
                                  cl_program program, const char *name,
                                  struct gsi_stream_kernel **out)
{
    struct gsi_stream_kernel *k = malloc(sizeof *k + key->length);
    if (!k)
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "no memory for a kernel");
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    if (code != CL_SUCCESS) {
        free(k);
        return gsi_fail_cl(code, "clCreateKernel", "%s on %s", name, stream->device->info.name);
    }
    size_t group = 0;
    cl_ulong local = 0;
    cl_device_id id = stream->device->id;
    if (clGetKernelWorkGroupInfo(kernel, id, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group,
                                 NULL) != CL_SUCCESS ||
        group == 0)
        group = 1;
    if (clGetKernelWorkGroupInfo(kernel, id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local,
                                 NULL) != CL_SUCCESS)
        local = 0;
    char *bytes = (char *)(k + 1);
    memcpy(bytes, key->bytes, key->length);
    struct gsi_stream_kernel **bucket = &stream->kernels[key->hash % GSI_STREAM_BUCKETS];
    *k = (struct gsi_stream_kernel){.next = *bucket,
                                    .key = {bytes, key->length, key->hash},
                                    .kernel = kernel,
                                    .max_group_size = group,
                                    .local_bytes = local};
    *bucket = k;
    *out = k;
    return GSTRIDE_OK;
}

gstride_status gsi_stream_kernel_get(gstride_stream *stream, const struct gsi_key *key,
                                     gsi_source_writer *write_source, const void *request,
                                     const char *name, struct gsi_stream_kernel **kernel)
{
    for (struct gsi_stream_kernel *k = stream->kernels[key->hash % GSI_STREAM_BUCKETS]; k;
         k = k->next) {
        if (gsi_key_equal(&k->key, key)) {
            *kernel = k;
            return GSTRIDE_OK;
        }
    }
    cl_program program;
    gstride_status status =
        gsi_program_get(&stream->device->programs, key, write_source, request, &program);
    return status == GSTRIDE_OK ? make_kernel(stream, key, program, name, kernel) : status;
}
