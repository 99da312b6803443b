/* SPDX-License-Identifier: MIT */
/* host_cost.c - what a cached call costs the host beside the bare OpenCL calls that it makes:
 * clSetKernelArg and clEnqueueNDRangeKernel with as many arguments and the same shape; and what the
 * driver's enqueue alone costs, the floor of any library. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <gstride.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ELEMENTS = 1024, CALLS = 500, ROUNDS = 41 };

static void check(gstride_status status)
{
    if (status == GSTRIDE_OK)
        return;
    fprintf(stderr, "%s\n", gstride_last_error()->message);
    exit(EXIT_FAILURE);
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const char twin[] =
    "__kernel void axpy(const ulong n, const ulong first, const ulong end, const uint tile,\n"
    "    const float a, __global const float *restrict x, const ulong ox,\n"
    "    __global float *restrict y, const ulong oy)\n"
    "{ for (ulong i = get_global_id(0); i < n; i += get_global_size(0))\n"
    "    y[oy + i] += a * x[ox + i]; }\n";

static void bare_call(cl_command_queue queue, cl_kernel kernel, cl_mem x, cl_mem y,
                      gstride_shape shape)
{
    cl_ulong n = ELEMENTS, zero = 0, one = 1;
    cl_uint tile = 1;
    cl_float a = 0.5f;
    size_t local = shape.group_size, global = local * (size_t)shape.groups;
    clSetKernelArg(kernel, 0, sizeof n, &n);
    clSetKernelArg(kernel, 1, sizeof zero, &zero);
    clSetKernelArg(kernel, 2, sizeof one, &one);
    clSetKernelArg(kernel, 3, sizeof tile, &tile);
    clSetKernelArg(kernel, 4, sizeof a, &a);
    clSetKernelArg(kernel, 5, sizeof x, &x);
    clSetKernelArg(kernel, 6, sizeof zero, &zero);
    clSetKernelArg(kernel, 7, sizeof y, &y);
    clSetKernelArg(kernel, 8, sizeof zero, &zero);
    if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL) !=
        CL_SUCCESS)
        exit(EXIT_FAILURE);
}

int main(void)
{
    gstride_device *device;
    gstride_stream *stream;
    gstride_span x, y;
    check(gstride_device_open(NULL, &device));
    check(gstride_stream_create(device, &stream));
    check(gstride_alloc(device, GSTRIDE_F32, ELEMENTS, &x));
    check(gstride_alloc(device, GSTRIDE_F32, ELEMENTS, &y));
    check(gstride_iota(stream, x, 0, 1));
    check(gstride_iota(stream, y, 0, 1));
    check(gstride_axpy(stream, 0.5, x, y));
    gstride_shape shape = gstride_stream_last_shape(stream);

    cl_device_id id = gstride_device_cl_id(device);
    cl_command_queue queue = gstride_stream_cl_queue(stream);
    const char *source = twin;
    cl_program program =
        clCreateProgramWithSource(gstride_device_cl_context(device), 1, &source, NULL, NULL);
    if (clBuildProgram(program, 1, &id, "", NULL, NULL) != CL_SUCCESS)
        return EXIT_FAILURE;
    cl_kernel kernel = clCreateKernel(program, "axpy", NULL);
    bare_call(queue, kernel, x.mem, y.mem, shape);
    clFinish(queue);

    double mine[ROUNDS], bare[ROUNDS], floor[ROUNDS];
    size_t local = shape.group_size, global = local * (size_t)shape.groups;
    for (int r = 0; r < ROUNDS; ++r) {
        double start = now_us();
        for (int k = 0; k < CALLS; ++k)
            check(gstride_axpy(stream, 0.5, x, y));
        mine[r] = (now_us() - start) / CALLS;
        clFinish(queue);
        start = now_us();
        for (int k = 0; k < CALLS; ++k)
            bare_call(queue, kernel, x.mem, y.mem, shape);
        bare[r] = (now_us() - start) / CALLS;
        clFinish(queue);
        start = now_us();
        for (int k = 0; k < CALLS; ++k)
            clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
        floor[r] = (now_us() - start) / CALLS;
        clFinish(queue);
    }
    qsort(mine, ROUNDS, sizeof mine[0], ascending);
    qsort(bare, ROUNDS, sizeof bare[0], ascending);
    qsort(floor, ROUNDS, sizeof floor[0], ascending);
    printf("# %s: host time per enqueued call, medians of %d batches of %d\n",
           gstride_device_get_info(device)->name, ROUNDS, CALLS);
    printf("gstride_axpy %.3f us, bare OpenCL calls %.3f us, difference %.3f us; "
           "enqueue alone %.3f us\n",
           mine[ROUNDS / 2], bare[ROUNDS / 2], mine[ROUNDS / 2] - bare[ROUNDS / 2],
           floor[ROUNDS / 2]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    gstride_free(&x);
    gstride_free(&y);
    gstride_stream_destroy(stream);
    gstride_device_close(device);
    return EXIT_SUCCESS;
}
