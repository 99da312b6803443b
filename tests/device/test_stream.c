/* SPDX-License-Identifier: MIT */
/* test_stream.c - streams, the caller's own OpenCL objects, spans, timing, host threads and fork.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include "fixture.h"
#include "run/stream.h"

#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 5000 };

static void add_one(gstride_stream *stream, gstride_span x)
{
    OK(gstride_map(stream, x.count, "x = x + 1", GSTRIDE_ARGS(gstride_inout("x", x))));
}

static void check_all(gstride_stream *stream, gstride_span x, uint32_t value)
{
    uint32_t *got = must_alloc(x.count * sizeof *got);
    OK(gstride_read(stream, x, got, x.count));
    for (uint64_t i = 0; i < x.count; ++i)
        assert_int_equal(got[i], value);
    free(got);
}

static gstride_span filled(const struct fixture *f, uint64_t n, uint32_t value)
{
    gstride_span x;
    OK(gstride_alloc(f->device, GSTRIDE_U32, n, &x));
    OK(gstride_fill(f->stream, x, &value));
    return x;
}

static cl_uint references(cl_context context)
{
    cl_uint count = 0;
    clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL);
    return count;
}

/* The caller's context, queue and buffer; ours are handed back. */
static void own_opencl_objects(void **state)
{
    const struct fixture *f = *state;
    cl_device_id id = gstride_device_cl_id(f->device);
    cl_int code;
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    cl_command_queue queue = clCreateCommandQueue(context, id, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, N * sizeof(cl_uint), NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    uint32_t values[N] = {0};
    assert_int_equal(
        clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof values, values, 0, NULL, NULL), 0);
    gstride_device *device;
    gstride_stream *stream;
    gstride_span x;
    cl_uint before = references(context);
    OK(gstride_device_from_cl(context, id, &device));
    OK(gstride_stream_from_cl(device, queue, &stream));
    assert_ptr_equal(gstride_device_cl_context(device), context);
    assert_ptr_equal(gstride_device_cl_id(device), id);
    assert_ptr_equal(gstride_stream_cl_queue(stream), queue);
    assert_ptr_equal(gstride_stream_device(stream), device);
    assert_string_equal(gstride_device_get_info(device)->name, f->info->name);
    OK(gstride_span_wrap(device, mem, GSTRIDE_U32, 7, N - 10, &x));
    add_one(stream, x);
    /* in order with the caller's own commands */
    assert_int_equal(
        clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL), 0);
    for (unsigned i = 0; i < N; ++i)
        assert_int_equal(values[i], i >= 7 && i < N - 3);
    gstride_device_close(device); /* the stream keeps it alive */
    add_one(stream, x);
    OK(gstride_stream_finish(stream));
    gstride_stream_destroy(stream);
    if (before) /* some drivers count more */
        assert_true(references(context) <= before + 1);
    clReleaseMemObject(mem);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

static void an_out_of_order_queue_is_refused(void **state)
{
    const struct fixture *f = *state;
    cl_int code;
    cl_command_queue queue =
        clCreateCommandQueue(gstride_device_cl_context(f->device), gstride_device_cl_id(f->device),
                             CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    if (code != CL_SUCCESS)
        SKIP("%s makes no out-of-order queues", f->info->name);
    gstride_stream *stream;
    REFUSED(GSTRIDE_ERROR_ARGUMENT, gstride_stream_from_cl(f->device, queue, &stream));
    assert_null(stream);
    clReleaseCommandQueue(queue);
}

/* Two sub-buffers of one buffer are different objects over the same memory. */
static void sub_buffers_overlap(void **state)
{
    const struct fixture *f = *state;
    cl_int code;
    size_t unit = f->info->base_alignment ? f->info->base_alignment : 1;
    while (unit < 4096)
        unit *= 2;
    gstride_span whole, a, b, other;
    OK(gstride_alloc(f->device, GSTRIDE_U8, 4 * unit, &whole));
    cl_buffer_region low = {0, 2 * unit}, high = {unit, 2 * unit}, last = {3 * unit, unit};
    cl_mem sub[3];
    const cl_buffer_region *const regions[] = {&low, &high, &last};
    for (int k = 0; k < 3; ++k) {
        sub[k] = clCreateSubBuffer(whole.mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                   regions[k], &code);
        assert_int_equal(code, CL_SUCCESS);
    }
    OK(gstride_span_wrap(f->device, sub[0], GSTRIDE_U8, 0, 2 * unit, &a));
    OK(gstride_span_wrap(f->device, sub[1], GSTRIDE_U8, 0, 2 * unit, &b));
    OK(gstride_span_wrap(f->device, sub[2], GSTRIDE_U8, 0, unit, &other));
    REFUSED(GSTRIDE_ERROR_OVERLAP,
            gstride_map(f->stream, 2 * unit, "y = x",
                        GSTRIDE_ARGS(gstride_in("x", a), gstride_out("y", b))));
    REFUSED(GSTRIDE_ERROR_OVERLAP, gstride_copy(f->stream, a, b));
    gstride_span part = whole;
    part.offset = 5;
    part.count = 10;
    REFUSED(GSTRIDE_ERROR_OVERLAP,
            gstride_map(f->stream, 10, "y = x",
                        GSTRIDE_ARGS(gstride_in("x", a), gstride_out("y", part))));
    /* no overlap: the first half of one and the second of the other */
    OK(gstride_fill(f->stream, whole, "\x11"));
    gstride_span front, back;
    OK(gstride_slice(a, 0, unit, &front));
    OK(gstride_slice(b, unit, unit, &back));
    OK(gstride_map(f->stream, unit, "y = x + 1",
                   GSTRIDE_ARGS(gstride_in("x", front), gstride_out("y", back))));
    OK(gstride_map(f->stream, unit, "y = x + 2",
                   GSTRIDE_ARGS(gstride_in("x", front), gstride_out("y", other))));
    unsigned char got[1];
    part.offset = 2 * unit;
    OK(gstride_read(f->stream, part, got, 1));
    assert_int_equal(got[0], 0x12);
    part.offset = 3 * unit;
    OK(gstride_read(f->stream, part, got, 1));
    assert_int_equal(got[0], 0x13);
    for (int k = 0; k < 3; ++k)
        clReleaseMemObject(sub[k]);
    gstride_free(&whole);
}

static void timing(void **state)
{
    const struct fixture *f = *state;
    gstride_stream *stream;
    uint64_t ns = 77;
    bool from_host = true;
    REFUSED(GSTRIDE_ERROR_ARGUMENT, gstride_stream_elapsed(f->stream, &ns, NULL));
    OK(gstride_stream_create_timed(f->device, &stream));
    REFUSED(GSTRIDE_ERROR_ARGUMENT, gstride_stream_elapsed(stream, NULL, NULL));
    gstride_span x = filled(f, fixture_size(f, 1000000), 1), sum;
    OK(gstride_stream_finish(f->stream));
    OK(gstride_alloc(f->device, GSTRIDE_U64, 1, &sum));
    add_one(stream, x);
    OK(gstride_stream_elapsed(stream, &ns, &from_host));
    assert_true(ns > 0);
    if (!f->info->probe.event_timing)
        assert_true(from_host);
    OK(gstride_reduce(stream, GSTRIDE_SUM, x, sum));
    OK(gstride_stream_elapsed(stream, &ns, NULL));
    assert_true(ns > 0);
    OK(gstride_copy(stream, x, x)); /* nothing to do */
    OK(gstride_map(stream, 0, "x = 1", GSTRIDE_ARGS(gstride_inout("x", x))));
    uint64_t result;
    OK(gstride_read(stream, sum, &result, 1));
    assert_int_equal(result, 2 * x.count);
    gstride_stream_destroy(stream);
    gstride_free(&x);
    gstride_free(&sum);
}

static void timing_of_nothing(void **state)
{
    const struct fixture *f = *state;
    gstride_stream *stream;
    uint64_t ns = 77;
    OK(gstride_stream_create_timed(f->device, &stream));
    OK(gstride_stream_elapsed(stream, &ns, NULL));
    assert_int_equal(ns, 0);
    gstride_span x = filled(f, 100, 1);
    OK(gstride_stream_finish(f->stream));
    add_one(stream, x);
    OK(gstride_map(stream, 0, "x = x + 1", GSTRIDE_ARGS(gstride_inout("x", x))));
    OK(gstride_stream_elapsed(stream, &ns, NULL));
    assert_int_equal(ns, 0); /* the last call enqueued nothing */
    gstride_stream_destroy(stream);
    gstride_free(&x);
}

static void scratch_and_trim(void **state)
{
    const struct fixture *f = *state;
    gstride_stream *stream;
    OK(gstride_stream_create(f->device, &stream));
    assert_int_equal(gstride_stream_scratch(stream).held, 0);
    assert_int_equal(gstride_stream_scratch(stream).high_water, 0);
    gstride_span x = filled(f, 20000, 3);
    OK(gstride_stream_finish(f->stream));
    uint64_t sum;
    OK(gstride_reduce_to_host(stream, GSTRIDE_SUM, x, GSTRIDE_U64, &sum));
    assert_int_equal(sum, 60000);
    gstride_scratch_stats used = gstride_stream_scratch(stream);
    assert_true(used.held > 0 && used.high_water == used.held);
    OK(gstride_stream_trim(stream));
    assert_int_equal(gstride_stream_scratch(stream).held, 0);
    assert_int_equal(gstride_stream_scratch(stream).high_water, used.high_water);
    OK(gstride_reduce_to_host(stream, GSTRIDE_SUM, x, GSTRIDE_U64, &sum));
    assert_int_equal(sum, 60000);
    assert_true(gstride_stream_scratch(stream).held > 0);
    gstride_stream_destroy(stream);
    gstride_free(&x);
}

static void mapped_spans(void **state)
{
    const struct fixture *f = *state;
    gstride_span x = filled(f, N, 5), part;
    void *host = NULL;
    OK(gstride_slice(x, 3, 100, &part));
    OK(gstride_span_map(f->stream, part, GSTRIDE_READ_WRITE, &host));
    uint32_t *values = host;
    for (unsigned i = 0; i < 100; ++i) {
        assert_int_equal(values[i], 5);
        values[i] = i;
    }
    OK(gstride_span_unmap(f->stream, part, host));
    uint32_t got[N];
    OK(gstride_read(f->stream, x, got, N));
    for (unsigned i = 0; i < N; ++i)
        assert_int_equal(got[i], i >= 3 && i < 103 ? i - 3 : 5);
    OK(gstride_span_map(f->stream, part, GSTRIDE_WRITE, &host));
    memset(host, 0, 100 * sizeof *values);
    OK(gstride_span_unmap(f->stream, part, host));
    OK(gstride_span_map(f->stream, part, GSTRIDE_READ, &host));
    assert_int_equal(((uint32_t *)host)[99], 0);
    OK(gstride_span_unmap(f->stream, part, host));
    host = got;
    gstride_span empty = {.type = GSTRIDE_U32};
    OK(gstride_span_map(f->stream, empty, GSTRIDE_READ, &host));
    assert_null(host);
    OK(gstride_span_unmap(f->stream, empty, host));
    gstride_free(&x);
}

static void slices_and_transfers(void **state)
{
    const struct fixture *f = *state;
    gstride_span x = filled(f, 100, 0), middle, inner, end;
    OK(gstride_slice(x, 10, 50, &middle));
    OK(gstride_slice(middle, 5, 20, &inner));
    assert_int_equal(inner.offset, 15);
    assert_int_equal(inner.count, 20);
    OK(gstride_slice(x, 100, 0, &end));
    OK(gstride_read(f->stream, end, NULL, 0));
    OK(gstride_write(f->stream, x, NULL, 0));
    unsigned char bytes[20 * sizeof(uint32_t) + 1]; /* host memory of any alignment */
    uint32_t values[20], got[100];
    for (uint32_t k = 0; k < 20; ++k)
        values[k] = k + 1;
    memcpy(bytes + 1, values, sizeof values);
    OK(gstride_write(f->stream, inner, bytes + 1, 20));
    OK(gstride_read(f->stream, x, got, 100));
    for (unsigned i = 0; i < 100; ++i)
        assert_int_equal(got[i], i >= 15 && i < 35 ? i - 14 : 0);
    memset(bytes, 0, sizeof bytes);
    OK(gstride_read(f->stream, inner, bytes + 1, 20));
    assert_memory_equal(bytes + 1, values, sizeof values);
    gstride_free(&x);
}

static void copies(void **state)
{
    const struct fixture *f = *state;
    uint32_t values[100], got[100];
    for (uint32_t k = 0; k < 100; ++k)
        values[k] = k;
    gstride_span x = span_of(f, GSTRIDE_U32, values, 100), left, right;
    OK(gstride_slice(x, 0, 40, &left));
    OK(gstride_slice(x, 60, 40, &right));
    OK(gstride_copy(f->stream, left, right));
    OK(gstride_copy(f->stream, left, left));
    OK(gstride_copy(f->stream, (gstride_span){.type = GSTRIDE_U32}, right));
    OK(gstride_read(f->stream, x, got, 100));
    for (unsigned i = 0; i < 100; ++i)
        assert_int_equal(got[i], i < 60 ? i : i - 60);
    gstride_free(&x);
}

static void two_streams_on_one_device(void **state)
{
    const struct fixture *f = *state;
    gstride_stream *other;
    OK(gstride_stream_create(f->device, &other));
    gstride_span x = filled(f, N, 0), y = filled(f, N, 100);
    OK(gstride_stream_finish(f->stream));
    for (int k = 0; k < 10; ++k) {
        add_one(f->stream, x);
        add_one(other, y);
    }
    check_all(f->stream, x, 10);
    check_all(other, y, 110);
    gstride_stream_destroy(other);
    gstride_free(&x);
    gstride_free(&y);
}

static void two_devices_on_one_id(void **state)
{
    const struct fixture *f = *state;
    gstride_device *second;
    gstride_stream *stream;
    gstride_span x;
    uint32_t value = 4;
    OK(gstride_device_open(NULL, &second));
    OK(gstride_stream_create(second, &stream));
    OK(gstride_alloc(second, GSTRIDE_U32, N, &x));
    OK(gstride_fill(stream, x, &value));
    REFUSED(GSTRIDE_ERROR_WRONG_DEVICE, gstride_fill(f->stream, x, &value));
    add_one(stream, x);
    check_all(stream, x, 5);
    gstride_free(&x);
    gstride_stream_destroy(stream);
    gstride_device_close(second);
}

/* What a child of fork() sees; its exit status is the number of the first thing that is wrong. */
static int child_checks(const struct fixture *f, gstride_span x)
{
    uint32_t value = 0;
    gstride_stream *stream;
    gstride_span span;
    gstride_kernel *kernel;
    const gstride_arg arg = gstride_inout("x", x);
    const gstride_status refused[] = {
        gstride_stream_finish(f->stream),
        gstride_map(f->stream, x.count, "x = x + 1", &arg, 1),
        gstride_reduce_to_host(f->stream, GSTRIDE_SUM, x, GSTRIDE_U32, &value),
        gstride_read(f->stream, x, &value, 1),
        gstride_write(f->stream, x, &value, 1),
        gstride_stream_trim(f->stream),
        gstride_stream_create(f->device, &stream),
        gstride_alloc(f->device, GSTRIDE_U32, 10, &span),
        gstride_kernel_build(f->device, "", NULL, "k", NULL, &kernel),
    };
    for (size_t k = 0; k < COUNT_OF(refused); ++k)
        if (refused[k] != GSTRIDE_ERROR_FORKED)
            return (int)k + 1;
    gstride_stream_destroy(f->stream); /* must neither hang nor crash */
    gstride_device_close(f->device);
    return 0;
}

static void forked_children(void **state)
{
    const struct fixture *f = *state;
    gstride_span x = filled(f, N, 1);
    OK(gstride_stream_finish(f->stream));
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        enum { SECONDS = 60 };
        alarm(SECONDS); /* a child that hangs dies by a signal */
        _exit(child_checks(f, x));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        FAIL("the child ended with %s %d", WIFEXITED(status) ? "status" : "signal",
             WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    add_one(f->stream, x);
    check_all(f->stream, x, 2);
    gstride_free(&x);
}

/* Programs live with the device, kernels with the stream: nothing is built twice. */
static void programs_are_kept(void **state)
{
    const struct fixture *f = *state;
    gstride_span x = filled(f, 100, 0);
    add_one(f->stream, x);
    OK(gstride_stream_finish(f->stream));
    uint64_t built = gstride_cache_get_stats().source_builds;
    for (int k = 0; k < 50; ++k) {
        gstride_stream *stream;
        OK(gstride_stream_create(f->device, &stream));
        add_one(stream, x);
        OK(gstride_map(stream, 100, "x = x + s",
                       GSTRIDE_ARGS(gstride_inout("x", x), gstride_u32("s", (uint32_t)k))));
        gstride_stream_destroy(stream);
    }
    assert_true(gstride_cache_get_stats().source_builds <= built + 1);
    check_all(f->stream, x, 1 + 50 + 49 * 50 / 2);
    gstride_free(&x);
}

/* A call made of several commands is timed from the first to the last of them. */
static void a_call_of_several_commands_is_timed_whole(void **state)
{
    const struct fixture *f = *state;
    static const uint32_t values[] = {1, 2, 3};
    gstride_span x = span_of(f, GSTRIDE_U32, values, 3);
    gstride_stream *stream;
    uint32_t got = 0;
    OK(gstride_stream_create_timed(f->device, &stream));
    for (int round = 0; round < 2; ++round) {
        OK(gstride_reduce_to_host(stream, GSTRIDE_SUM, x, GSTRIDE_U32, &got));
        assert_int_equal(got, 6);
        assert_int_equal(stream->open_calls, 0);
        if (!stream->host_clock)
            assert_ptr_not_equal(stream->first_event, stream->last_event);
        REFUSED(GSTRIDE_ERROR_TYPE,
                gstride_reduce_to_host(stream, GSTRIDE_MIN, x, GSTRIDE_F32, &got));
        assert_int_equal(stream->open_calls, 0);
        OK(gstride_read(stream, x, &got, 1));
        assert_ptr_equal(stream->first_event, stream->last_event);
    }
    gstride_stream_destroy(stream);
    gstride_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(own_opencl_objects),
        DEVICE_TEST(an_out_of_order_queue_is_refused),
        DEVICE_TEST(sub_buffers_overlap),
        DEVICE_TEST(timing),
        DEVICE_TEST(timing_of_nothing),
        DEVICE_TEST(scratch_and_trim),
        DEVICE_TEST(mapped_spans),
        DEVICE_TEST(slices_and_transfers),
        DEVICE_TEST(copies),
        DEVICE_TEST(two_streams_on_one_device),
        DEVICE_TEST(two_devices_on_one_id),
        DEVICE_TEST(forked_children),
        DEVICE_TEST(programs_are_kept),
        DEVICE_TEST(a_call_of_several_commands_is_timed_whole),
    };
    return RUN_DEVICE_TESTS(tests);
}
