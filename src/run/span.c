/* SPDX-License-Identifier: MIT */
#include "base/types.h"
#include "run/span_check.h"

static unsigned long long ull(uint64_t value)
{
    return value;
}

gstride_status gsi_check_type(const gstride_device *device, const char *function, gstride_type type)
{
    if (!gsi_type(type))
        return gsi_fail(GSTRIDE_ERROR_TYPE, "%s: %d is no element type", function, (int)type);
    if (type == GSTRIDE_F64 && !device->info.fp64)
        return gsi_fail(GSTRIDE_ERROR_DEVICE_LACKS, "%s: %s has no fp64, which F64 needs", function,
                        device->info.name);
    if (type == GSTRIDE_F16 && !device->info.probe.half_storage)
        return gsi_fail(GSTRIDE_ERROR_DEVICE_LACKS,
                        "%s: %s does not store binary16 as F16 needs it", function,
                        device->info.name);
    return GSTRIDE_OK;
}

static gstride_status check_buffer(const gstride_device *device, const char *function,
                                   const char *name, const gstride_span *span)
{
    cl_context context = NULL;
    size_t bytes = 0;
    cl_int code = clGetMemObjectInfo(span->mem, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    if (code == CL_SUCCESS)
        code = clGetMemObjectInfo(span->mem, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clGetMemObjectInfo", "%s: the buffer of %s", function, name);
    if (context != device->context)
        return gsi_fail(GSTRIDE_ERROR_WRONG_DEVICE,
                        "%s: the buffer of %s belongs to another context than %s", function, name,
                        device->info.name);
    uint64_t room = bytes / gstride_type_bytes(span->type);
    if (span->offset > room || span->count > room - span->offset)
        return gsi_fail(GSTRIDE_ERROR_SPAN,
                        "%s: %s has %llu %s elements from %llu on, its buffer only %llu", function,
                        name, ull(span->count), gstride_type_name(span->type), ull(span->offset),
                        ull(room));
    return GSTRIDE_OK;
}

gstride_status gsi_check_span(const gstride_device *device, const char *function, const char *name,
                              const gstride_span *span, uint64_t n)
{
    gstride_status status = gsi_check_type(device, function, span->type);
    if (status != GSTRIDE_OK)
        return status;
    if (n > span->count)
        return gsi_fail(GSTRIDE_ERROR_SPAN, "%s: %s has %llu elements, %llu are needed", function,
                        name, ull(span->count), ull(n));
    if (n == 0)
        return GSTRIDE_OK;
    if (!span->mem)
        return gsi_fail(GSTRIDE_ERROR_SPAN, "%s: %s has no buffer", function, name);
    return check_buffer(device, function, name, span);
}

struct extent {
    cl_mem root;
    uint64_t begin, end; /* bytes */
};

static struct extent extent_of(const gstride_span *span, uint64_t n, bool look_for_parent)
{
    uint64_t bytes = gstride_type_bytes(span->type);
    struct extent e = {span->mem, span->offset * bytes, (span->offset + n) * bytes};
    cl_mem parent = NULL;
    if (look_for_parent &&
        clGetMemObjectInfo(span->mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL) ==
            CL_SUCCESS &&
        parent) {
        size_t origin = 0;
        clGetMemObjectInfo(span->mem, CL_MEM_OFFSET, sizeof origin, &origin, NULL);
        e = (struct extent){parent, e.begin + origin, e.end + origin};
    }
    return e;
}

enum gsi_overlap gsi_spans_overlap(const gstride_span *a, uint64_t na, const gstride_span *b,
                                   uint64_t nb)
{
    if (na == 0 || nb == 0)
        return GSI_DISJOINT;
    bool look_for_parent = a->mem != b->mem;
    struct extent x = extent_of(a, na, look_for_parent);
    struct extent y = extent_of(b, nb, look_for_parent);
    if (x.root != y.root || x.end <= y.begin || y.end <= x.begin)
        return GSI_DISJOINT;
    bool same = a->mem == b->mem && x.begin == y.begin && x.end == y.end && a->type == b->type;
    return same ? GSI_SAME : GSI_OVERLAPPING;
}

gstride_status gstride_alloc(gstride_device *device, gstride_type type, uint64_t n,
                             gstride_span *span)
{
    gstride_status status = gsi_device_check(device, "gstride_alloc");
    if (status != GSTRIDE_OK)
        return status;
    if (!span)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_alloc: span is NULL");
    *span = (gstride_span){.type = type};
    status = gsi_check_type(device, "gstride_alloc", type);
    if (status != GSTRIDE_OK || n == 0)
        return status;
    uint64_t bytes = gstride_type_bytes(type), most = device->info.max_allocation;
    if (n > most / bytes || n > SIZE_MAX / bytes)
        return gsi_fail(GSTRIDE_ERROR_ALLOCATION_LIMIT,
                        "gstride_alloc: %llu %s elements are more than the %llu bytes that %s "
                        "allows for one buffer",
                        ull(n), gstride_type_name(type), ull(most), device->info.name);
    cl_int code;
    cl_mem mem =
        clCreateBuffer(device->context, CL_MEM_READ_WRITE, (size_t)(n * bytes), NULL, &code);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clCreateBuffer", "gstride_alloc of %llu bytes on %s",
                           ull(n * bytes), device->info.name);
    span->mem = mem;
    span->count = n;
    return GSTRIDE_OK;
}

void gstride_free(gstride_span *span)
{
    if (!span)
        return;
    if (span->mem)
        clReleaseMemObject(span->mem);
    *span = (gstride_span){.type = span->type};
}

gstride_status gstride_span_wrap(gstride_device *device, cl_mem mem, gstride_type type,
                                 uint64_t offset, uint64_t n, gstride_span *span)
{
    gstride_status status = gsi_device_check(device, "gstride_span_wrap");
    if (status != GSTRIDE_OK)
        return status;
    if (!span)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_span_wrap: span is NULL");
    gstride_span made = {.mem = mem, .offset = offset, .count = n, .type = type};
    status = gsi_check_span(device, "gstride_span_wrap", "the span", &made, n);
    if (status == GSTRIDE_OK)
        *span = made;
    return status;
}

gstride_status gstride_slice(gstride_span whole, uint64_t first, uint64_t n, gstride_span *part)
{
    if (!part)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_slice: part is NULL");
    if (first > whole.count || n > whole.count - first || first > UINT64_MAX - whole.offset)
        return gsi_fail(GSTRIDE_ERROR_SPAN,
                        "gstride_slice: %llu elements from %llu on do not lie in a span of %llu",
                        ull(n), ull(first), ull(whole.count));
    *part = whole;
    part->offset += first;
    part->count = n;
    return GSTRIDE_OK;
}

/* What write, read, copy and map have in common: the checks, and a command between two brackets. */
static gstride_status check_transfer(gstride_stream *stream, const char *function,
                                     const gstride_span *span, const void *host, uint64_t n)
{
    gstride_status status = gsi_stream_check(stream, function);
    if (status != GSTRIDE_OK)
        return status;
    status = gsi_check_span(stream->device, function, "the span", span, n);
    if (status == GSTRIDE_OK && n > 0 && !host)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: host is NULL", function);
    return status;
}

static gstride_status end_command(gstride_stream *stream, cl_int code, const char *call,
                                  const char *function, cl_event *event)
{
    gstride_status status = GSTRIDE_OK;
    if (code != CL_SUCCESS)
        status = gsi_fail_cl(code, call, "%s on %s", function, stream->device->info.name);
    else
        gsi_event_keep(stream, event);
    return gsi_call_end(stream, status);
}

gstride_status gstride_write(gstride_stream *stream, gstride_span span, const void *host,
                             uint64_t n)
{
    gstride_status status = check_transfer(stream, "gstride_write", &span, host, n);
    if (status != GSTRIDE_OK)
        return status;
    if (n == 0)
        return gsi_call_of_nothing(stream);
    size_t bytes = gstride_type_bytes(span.type);
    gsi_call_begin(stream);
    cl_event event, *slot = gsi_event_slot(stream, &event);
    cl_int code = clEnqueueWriteBuffer(stream->queue, span.mem, CL_TRUE, span.offset * bytes,
                                       n * bytes, host, 0, NULL, slot);
    return end_command(stream, code, "clEnqueueWriteBuffer", "gstride_write", &event);
}

gstride_status gstride_read(gstride_stream *stream, gstride_span span, void *host, uint64_t n)
{
    gstride_status status = check_transfer(stream, "gstride_read", &span, host, n);
    if (status != GSTRIDE_OK)
        return status;
    if (n == 0)
        return gsi_call_of_nothing(stream);
    size_t bytes = gstride_type_bytes(span.type);
    gsi_call_begin(stream);
    cl_event event, *slot = gsi_event_slot(stream, &event);
    cl_int code = clEnqueueReadBuffer(stream->queue, span.mem, CL_TRUE, span.offset * bytes,
                                      n * bytes, host, 0, NULL, slot);
    return end_command(stream, code, "clEnqueueReadBuffer", "gstride_read", &event);
}

gstride_status gstride_copy(gstride_stream *stream, gstride_span from, gstride_span to)
{
    static const char *const function = "gstride_copy";
    gstride_status status = gsi_stream_check(stream, function);
    if (status != GSTRIDE_OK)
        return status;
    uint64_t n = from.count;
    status = gsi_check_span(stream->device, function, "from", &from, n);
    if (status == GSTRIDE_OK)
        status = gsi_check_span(stream->device, function, "to", &to, n);
    if (status != GSTRIDE_OK)
        return status;
    if (from.type != to.type)
        return gsi_fail(GSTRIDE_ERROR_TYPE, "%s: from is %s, to is %s; use gstride_convert",
                        function, gstride_type_name(from.type), gstride_type_name(to.type));
    enum gsi_overlap overlap = gsi_spans_overlap(&from, n, &to, n);
    if (overlap == GSI_OVERLAPPING)
        return gsi_fail(GSTRIDE_ERROR_OVERLAP, "%s: from and to overlap", function);
    if (n == 0 || overlap == GSI_SAME)
        return gsi_call_of_nothing(stream);
    size_t bytes = gstride_type_bytes(from.type);
    gsi_call_begin(stream);
    cl_event event, *slot = gsi_event_slot(stream, &event);
    cl_int code = clEnqueueCopyBuffer(stream->queue, from.mem, to.mem, from.offset * bytes,
                                      to.offset * bytes, n * bytes, 0, NULL, slot);
    return end_command(stream, code, "clEnqueueCopyBuffer", function, &event);
}

gstride_status gstride_span_map(gstride_stream *stream, gstride_span span, gstride_access access,
                                void **host)
{
    gstride_status status =
        check_transfer(stream, "gstride_span_map", &span, (const void *)host, span.count);
    if (status != GSTRIDE_OK)
        return status;
    if (!host || access < GSTRIDE_READ || access > GSTRIDE_READ_WRITE)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_span_map: %s",
                        host ? "access is none of READ, WRITE, READ_WRITE" : "host is NULL");
    *host = NULL;
    if (span.count == 0)
        return gsi_call_of_nothing(stream);
    cl_map_flags flags =
        (access & GSTRIDE_READ ? CL_MAP_READ : 0u) | (access & GSTRIDE_WRITE ? CL_MAP_WRITE : 0u);
    size_t bytes = gstride_type_bytes(span.type);
    cl_int code;
    gsi_call_begin(stream);
    cl_event event, *slot = gsi_event_slot(stream, &event);
    void *mapped = clEnqueueMapBuffer(stream->queue, span.mem, CL_TRUE, flags, span.offset * bytes,
                                      span.count * bytes, 0, NULL, slot, &code);
    if (code == CL_SUCCESS)
        *host = mapped;
    return end_command(stream, code, "clEnqueueMapBuffer", "gstride_span_map", &event);
}

gstride_status gstride_span_unmap(gstride_stream *stream, gstride_span span, void *host)
{
    gstride_status status = check_transfer(stream, "gstride_span_unmap", &span, host, span.count);
    if (status != GSTRIDE_OK)
        return status;
    if (span.count == 0)
        return gsi_call_of_nothing(stream);
    gsi_call_begin(stream);
    cl_event event, *slot = gsi_event_slot(stream, &event);
    cl_int code = clEnqueueUnmapMemObject(stream->queue, span.mem, host, 0, NULL, slot);
    return end_command(stream, code, "clEnqueueUnmapMemObject", "gstride_span_unmap", &event);
}
