/* SPDX-License-Identifier: MIT */
/* probe.c - tiny kernels that tell what no query tells: cl/probe.cl. */
#include "base/log.h"
#include "program/sources.h"
#include "run/device.h"

#include <stdio.h>
#include <string.h>

enum { LOOPS = 100000, WORDS = 16, HALVES = 4, ATOMIC_GROUPS = 32, ATOMIC_GROUP_SIZE_MOST = 32 };

struct probe_run {
    gstride_device *device;
    cl_command_queue queue;
    cl_program program;
    cl_kernel main_kernel, atomics_kernel;
    cl_mem words, halves;
    cl_uint out[WORDS];
};

static const float probe_a = 1.0f + 1.0f / 4096;    /* 1 + 2^-12 */
static const float probe_c = -(1.0f + 1.0f / 2048); /* -(1 + 2^-11) */
static const float probe_tiny = 1e-39f;             /* subnormal in binary32 */
static const uint64_t probe_wide = 0x123456789abcdefULL;

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Some drivers count 1, 2, 3 instead of telling the time. No device makes 100 trips in 1 ns. */
static const cl_ulong shortest_ns = LOOPS / 100;

/* After how many trips does the chain of cl/probe.cl end at x? LOOPS if it was never cut. */
static uint32_t trips_done(uint32_t x)
{
    uint32_t chain = 1;
    for (uint32_t trips = 0; trips < LOOPS; ++trips) {
        if (chain == x)
            return trips;
        chain = chain * 1664525u + 1013904223u;
    }
    return LOOPS;
}

static uint32_t chain_end(void)
{
    uint32_t chain = 1;
    for (uint32_t trips = 0; trips < LOOPS; ++trips)
        chain = chain * 1664525u + 1013904223u;
    return chain;
}

static void write_source(struct gsi_strbuf *text)
{
    gsi_strbuf_puts(text, "#define GS_VARIANT 3\n#define GS_PTX 0\n");
    gsi_append_source(text, "prelude.cl");
    gsi_append_source(text, "probe.cl");
}

static gstride_status make_program(struct probe_run *run)
{
    struct gsi_strbuf text = {0};
    write_source(&text);
    if (!text.text)
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "no memory for the probe");
    gstride_status status =
        gsi_program_build(&run->device->programs, text.text, NULL, &run->program);
    gsi_strbuf_free(&text);
    return status;
}

static cl_int make_objects(struct probe_run *run)
{
    cl_int code;
    cl_context context = run->device->context;
    run->queue = clCreateCommandQueue(context, run->device->id, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code == CL_SUCCESS)
        run->main_kernel = clCreateKernel(run->program, "gstride_probe", &code);
    if (code == CL_SUCCESS)
        run->atomics_kernel = clCreateKernel(run->program, "gstride_probe_atomics", &code);
    if (code == CL_SUCCESS)
        run->words = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof run->out, NULL, &code);
    if (code == CL_SUCCESS)
        run->halves =
            clCreateBuffer(context, CL_MEM_READ_WRITE, HALVES * sizeof(cl_half), NULL, &code);
    return code;
}

static cl_int run_main(struct probe_run *run)
{
    cl_uint loops = LOOPS;
    cl_ulong wide = probe_wide;
    size_t one = 1;
    cl_event event = NULL;
    clSetKernelArg(run->main_kernel, 0, sizeof loops, &loops);
    clSetKernelArg(run->main_kernel, 1, sizeof probe_a, &probe_a);
    clSetKernelArg(run->main_kernel, 2, sizeof probe_c, &probe_c);
    clSetKernelArg(run->main_kernel, 3, sizeof probe_tiny, &probe_tiny);
    clSetKernelArg(run->main_kernel, 4, sizeof wide, &wide);
    clSetKernelArg(run->main_kernel, 5, sizeof run->halves, &run->halves);
    cl_int code = clSetKernelArg(run->main_kernel, 6, sizeof run->words, &run->words);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(run->queue, run->main_kernel, 1, NULL, &one, &one, 0, NULL,
                                      &event);
    if (code == CL_SUCCESS)
        code = clEnqueueReadBuffer(run->queue, run->words, CL_TRUE, 0, sizeof run->out, run->out, 0,
                                   NULL, NULL);
    if (event) {
        cl_ulong start = 0, end = 0;
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
        run->device->info.probe.event_timing = end > start && end - start >= shortest_ns;
        clReleaseEvent(event);
    }
    return code;
}

static cl_int run_atomics(struct probe_run *run, cl_uint *count)
{
    size_t local = run->device->info.max_group_size;
    if (local > ATOMIC_GROUP_SIZE_MOST)
        local = ATOMIC_GROUP_SIZE_MOST;
    size_t global = local * ATOMIC_GROUPS;
    cl_uint zero = 0;
    cl_int code =
        clEnqueueWriteBuffer(run->queue, run->words, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(run->atomics_kernel, 0, sizeof run->words, &run->words);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(run->queue, run->atomics_kernel, 1, NULL, &global, &local, 0,
                                      NULL, NULL);
    if (code == CL_SUCCESS)
        code = clEnqueueReadBuffer(run->queue, run->words, CL_TRUE, 0, sizeof *count, count, 0,
                                   NULL, NULL);
    *count = *count == global ? 1 : 0;
    return code;
}

static void release_objects(struct probe_run *run)
{
    if (run->queue)
        clFinish(run->queue);
    if (run->halves)
        clReleaseMemObject(run->halves);
    if (run->words)
        clReleaseMemObject(run->words);
    if (run->atomics_kernel)
        clReleaseKernel(run->atomics_kernel);
    if (run->main_kernel)
        clReleaseKernel(run->main_kernel);
    if (run->program)
        clReleaseProgram(run->program);
    if (run->queue)
        clReleaseCommandQueue(run->queue);
}

/* binary16 of the four values: 1 + 2^-12 -> 1; 2049 (1 + 2^-12) -> 2050; 1e-5 -> a subnormal;
 * 65520 (1 + 2^-12) -> infinity. */
static bool halves_are_right(const cl_uint *out)
{
    return out[0] == bits_of(1.0f) && out[1] == bits_of(2050.0f) && out[2] == bits_of(0x1.5p-17f) &&
           out[3] == 0x7f800000u;
}

static void judge(gstride_probe *probe, const cl_uint *out, bool atomics)
{
    uint64_t product = probe_wide * probe_wide;
    uint32_t trips = out[0] == chain_end() ? LOOPS : trips_done(out[0]);
    probe->loop_bound = trips < LOOPS ? trips : 0;
    probe->no_contraction = out[1] == 0;
    probe->denormals = out[2] == bits_of(probe_tiny * 0.5f);
    probe->int64 = out[3] == (uint32_t)product && out[4] == (uint32_t)(product >> 32);
    probe->half_storage = halves_are_right(out + 5);
    probe->atomics = atomics;
    const char *failure = !probe->atomics          ? "32-bit atomics lose counts"
                          : !probe->int64          ? "64-bit integers are wrong"
                          : !probe->no_contraction ? "FP_CONTRACT OFF is ignored"
                          : trips == 0             ? "loops do not run"
                                                   : "";
    snprintf(probe->failure, sizeof probe->failure, "%s", failure);
    probe->passed = !failure[0];
    probe->done = true;
}

gstride_status gsi_probe_device(gstride_device *device)
{
    struct probe_run run = {.device = device};
    gstride_probe *probe = &device->info.probe;
    *probe = (gstride_probe){.done = true};
    gstride_status status = make_program(&run);
    if (status != GSTRIDE_OK) {
        snprintf(probe->failure, sizeof probe->failure, "it builds no program: %.100s",
                 gstride_last_error()->message);
        release_objects(&run);
        return status;
    }
    cl_uint atomics = 0;
    cl_int code = make_objects(&run);
    if (code == CL_SUCCESS)
        code = run_main(&run);
    if (code == CL_SUCCESS)
        code = run_atomics(&run, &atomics);
    if (code == CL_SUCCESS)
        judge(probe, run.out, atomics != 0);
    else
        snprintf(probe->failure, sizeof probe->failure, "a probe kernel failed with %s (%d)",
                 gsi_cl_code_name(code), code);
    release_objects(&run);
    gsi_log(GSI_LOG_INFO, "probe of %s: %s", device->info.name,
            probe->passed ? "passed" : probe->failure);
    return GSTRIDE_OK;
}
