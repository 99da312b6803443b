/* SPDX-License-Identifier: MIT */
/* own_queue.c - a program that has an OpenCL context, queue and buffer of its own lets gstride work
 * on them. Nothing is copied, and the commands of both keep their order in the one queue. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <gstride.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 100000, MAX_PLATFORMS = 16 };

static void check(gstride_status status)
{
    if (status != GSTRIDE_OK) {
        fprintf(stderr, "own_queue: %s\n", gstride_last_error()->message);
        exit(EXIT_FAILURE);
    }
}

static void check_cl(cl_int code, const char *what)
{
    if (code != CL_SUCCESS) {
        fprintf(stderr, "own_queue: %s failed with code %d\n", what, code);
        exit(EXIT_FAILURE);
    }
}

/* What the program did before it knew gstride: the first device of the first platform with one. */
static cl_device_id first_device(void)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    check_cl(clGetPlatformIDs(MAX_PLATFORMS, platforms, &count), "clGetPlatformIDs");
    cl_device_id id = NULL;
    cl_int code = CL_DEVICE_NOT_FOUND;
    for (cl_uint p = 0; p < count && p < MAX_PLATFORMS && code != CL_SUCCESS; ++p)
        code = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 1, &id, NULL);
    check_cl(code, "clGetDeviceIDs");
    return id;
}

/* x[i] = x[i] + 1 in place, then the sum, both by gstride on the caller's queue and buffer. */
static uint32_t increment_and_sum(cl_context context, cl_device_id id, cl_command_queue queue,
                                  cl_mem buffer)
{
    gstride_device *device;
    gstride_stream *stream;
    gstride_span x;
    uint32_t sum = 0;
    check(gstride_device_from_cl(context, id, &device));
    check(gstride_stream_from_cl(device, queue, &stream));
    check(gstride_span_wrap(device, buffer, GSTRIDE_U32, 0, N, &x));

    check(gstride_map(stream, N, "x = x + 1", GSTRIDE_ARGS(gstride_inout("x", x))));
    check(gstride_reduce_to_host(stream, GSTRIDE_SUM, x, GSTRIDE_U32, &sum));
    printf("%s: sum = %u\n", gstride_device_get_info(device)->name, sum);

    /* A wrapped span owns nothing: the buffer stays the caller's, and so does the queue. */
    gstride_stream_destroy(stream);
    gstride_device_close(device);
    return sum;
}

int main(void)
{
    static cl_uint host[N];
    for (cl_uint i = 0; i < N; ++i)
        host[i] = i;

    cl_int code;
    cl_device_id id = first_device();
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    check_cl(code, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, id, 0, &code);
    check_cl(code, "clCreateCommandQueue");
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof host, NULL, &code);
    check_cl(code, "clCreateBuffer");

    /* No wait is needed between this write, gstride's kernels and the read below. */
    check_cl(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof host, host, 0, NULL, NULL),
             "clEnqueueWriteBuffer");
    uint32_t sum = increment_and_sum(context, id, queue, buffer);
    check_cl(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL),
             "clEnqueueReadBuffer");

    cl_uint wrong = 0, expected = 0;
    for (cl_uint i = 0; i < N; ++i) {
        wrong += host[i] != i + 1;
        expected += i + 1; /* modulo 2^32, as on the device */
    }
    printf("%u of %d elements are wrong, the sum is %s\n", wrong, N,
           sum == expected ? "right" : "wrong");

    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return wrong == 0 && sum == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
