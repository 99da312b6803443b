/* SPDX-License-Identifier: MIT */
/* kernel.c - user kernels: built behind gstride.clh, checked, launched with a capped shape. */
#include <gstride/kernel.h>

#include "base/types.h"
#include "program/sources.h"
#include "run/launch.h"
#include "run/span_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum arg_kind { ARG_NONE, ARG_SPAN, ARG_SCALAR, ARG_LOCAL };

struct gstride_kernel {
    gstride_device *device;
    cl_program program;
    cl_kernel kernel;
    cl_uint num_args;
    uint32_t tile;
    uint64_t max_group_size, local_bytes;
    char *name;
};

static const long largest_file = 16 << 20;

static gstride_status read_file(const char *path, char **text)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    char *bytes = size >= 0 && size <= largest_file ? calloc(1, (size_t)size + 1) : NULL;
    bool good = bytes && fseek(file, 0, SEEK_SET) == 0 &&
                fread(bytes, 1, (size_t)size, file) == (size_t)size;
    bool is_text = good && strlen(bytes) == (size_t)size;
    if (file)
        fclose(file);
    if (!is_text) {
        free(bytes);
        return gsi_fail(GSTRIDE_ERROR_IO, "gstride_kernel_build: %s %s",
                        good ? "there is a NUL byte in" : "cannot read", path);
    }
    *text = bytes;
    return GSTRIDE_OK;
}

static gstride_status build_program(gstride_kernel *k, const char *source, const char *path,
                                    const char *options)
{
    struct gsi_strbuf text = {0};
    gsi_strbuf_printf(&text, "#define GSTRIDE_TILE %u\n", k->tile);
    gsi_append_source(&text, "gstride.clh");
    /* The name of the expression file makes the log's positions findable. */
    gsi_append_user_text(&text, GSI_EXPRESSION_FILE, source);
    if (!text.text)
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "gstride_kernel_build: no memory");
    gstride_status status =
        gsi_program_build(&k->device->programs, text.text, options, &k->program);
    gsi_strbuf_free(&text);
    if (status != GSTRIDE_ERROR_EXPRESSION && status != GSTRIDE_ERROR_BUILD)
        return status;
    const gstride_error *error = gstride_last_error();
    unsigned line = error->line, column = error->column;
    char *log = strdup(error->build_log);
    gsi_fail(GSTRIDE_ERROR_EXPRESSION,
             "%s does not compile on %s (line %u, column %u); see build_log",
             path ? path : "the kernel's source", k->device->info.name, line, column);
    gsi_error_set_log(log, line, column);
    free(log);
    return GSTRIDE_ERROR_EXPRESSION;
}

static gstride_status create_kernel(gstride_kernel *k)
{
    cl_int code;
    k->kernel = clCreateKernel(k->program, k->name, &code);
    /* rusticl says the latter of a source without any kernel. */
    if (code == CL_INVALID_KERNEL_NAME || code == CL_INVALID_PROGRAM_EXECUTABLE)
        return gsi_fail(GSTRIDE_ERROR_EXPRESSION, "the source has no kernel called \"%s\"",
                        k->name);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clCreateKernel", "%s on %s", k->name, k->device->info.name);
    size_t group = 1;
    cl_ulong local = 0;
    clGetKernelInfo(k->kernel, CL_KERNEL_NUM_ARGS, sizeof k->num_args, &k->num_args, NULL);
    clGetKernelWorkGroupInfo(k->kernel, k->device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof group,
                             &group, NULL);
    clGetKernelWorkGroupInfo(k->kernel, k->device->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local,
                             &local, NULL);
    k->max_group_size = group ? group : 1;
    k->local_bytes = local;
    return GSTRIDE_OK;
}

gstride_status gstride_kernel_build(gstride_device *device, const char *source, const char *path,
                                    const char *name, const char *options, gstride_kernel **kernel)
{
    gstride_status status = gsi_device_check(device, "gstride_kernel_build");
    if (status != GSTRIDE_OK)
        return status;
    if (!kernel || !name || (!source && !path))
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_kernel_build: %s is NULL",
                        !kernel ? "kernel"
                        : !name ? "name"
                                : "both source and path");
    *kernel = NULL;
    char *text = NULL;
    if (!source) {
        status = read_file(path, &text);
        if (status != GSTRIDE_OK)
            return status;
    }
    gstride_kernel *k = calloc(1, sizeof *k);
    if (!k) {
        free(text);
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "gstride_kernel_build: no memory");
    }
    k->device = device;
    gsi_device_retain(device);
    k->tile = gsi_kernel_tile(&device->info);
    k->name = strdup(name);
    status = k->name
                 ? build_program(k, source ? source : text, path, options)
                 : gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "gstride_kernel_build: no memory");
    free(text);
    if (status == GSTRIDE_OK)
        status = create_kernel(k);
    if (status != GSTRIDE_OK) {
        gstride_kernel_free(k);
        return status;
    }
    *kernel = k;
    return GSTRIDE_OK;
}

void gstride_kernel_free(gstride_kernel *kernel)
{
    if (!kernel)
        return;
    if (gsi_device_check(kernel->device, "gstride_kernel_free") == GSTRIDE_OK) {
        if (kernel->kernel)
            clReleaseKernel(kernel->kernel);
        if (kernel->program)
            clReleaseProgram(kernel->program);
    }
    gstride_device_close(kernel->device);
    free(kernel->name);
    free(kernel);
}

cl_kernel gstride_kernel_cl(const gstride_kernel *kernel)
{
    return kernel ? kernel->kernel : NULL;
}

gstride_kernel_arg gstride_arg_span(gstride_span span)
{
    return (gstride_kernel_arg){
        .kind = ARG_SPAN, .span = span, .type = span.type, .bytes = sizeof(cl_mem)};
}

gstride_kernel_arg gstride_arg_local(size_t bytes)
{
    return (gstride_kernel_arg){.kind = ARG_LOCAL, .bytes = bytes};
}

static gstride_kernel_arg scalar(gstride_type type, const void *value)
{
    gstride_kernel_arg arg = {.kind = ARG_SCALAR, .type = type, .bytes = gstride_type_bytes(type)};
    memcpy(arg.value, value, arg.bytes);
    return arg;
}

gstride_kernel_arg gstride_arg_i32(int32_t value)
{
    return scalar(GSTRIDE_I32, &value);
}

gstride_kernel_arg gstride_arg_u32(uint32_t value)
{
    return scalar(GSTRIDE_U32, &value);
}

gstride_kernel_arg gstride_arg_i64(int64_t value)
{
    return scalar(GSTRIDE_I64, &value);
}

gstride_kernel_arg gstride_arg_u64(uint64_t value)
{
    return scalar(GSTRIDE_U64, &value);
}

gstride_kernel_arg gstride_arg_f32(float value)
{
    return scalar(GSTRIDE_F32, &value);
}

gstride_kernel_arg gstride_arg_f64(double value)
{
    return scalar(GSTRIDE_F64, &value);
}

/* Signed and unsigned integers of a size may stand for each other; floats and integers may not,
 * since their bits would be taken for something else. */
static bool same_storage(const struct gsi_type_facts *a, const struct gsi_type_facts *b)
{
    return a->bytes == b->bytes && (a->kind == GSI_FLOAT) == (b->kind == GSI_FLOAT);
}

/* Compare an argument with what the driver tells of the parameter; silent where it tells nothing.
 */
static gstride_status check_declared(const gstride_kernel *k, cl_uint i,
                                     const gstride_kernel_arg *arg)
{
    cl_kernel_arg_address_qualifier space;
    char declared[64] = "";
    if (clGetKernelArgInfo(k->kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space,
                           NULL) != CL_SUCCESS)
        return GSTRIDE_OK;
    enum arg_kind wanted = space == CL_KERNEL_ARG_ADDRESS_LOCAL     ? ARG_LOCAL
                           : space == CL_KERNEL_ARG_ADDRESS_PRIVATE ? ARG_SCALAR
                                                                    : ARG_SPAN;
    static const char *const kinds[] = {"nothing", "a span", "a scalar", "local memory"};
    if (wanted != (enum arg_kind)arg->kind)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT,
                        "gstride_kernel_launch: argument %u of %s is %s, "
                        "the kernel declares %s",
                        i, k->name, kinds[arg->kind], kinds[wanted]);
    if (wanted == ARG_LOCAL || clGetKernelArgInfo(k->kernel, i, CL_KERNEL_ARG_TYPE_NAME,
                                                  sizeof declared, declared, NULL) != CL_SUCCESS)
        return GSTRIDE_OK;
    for (int t = 0; t < GSTRIDE_NUM_TYPES; ++t) {
        const char *value = gsi_type((gstride_type)t)->storage;
        size_t length = strlen(value);
        bool named = strncmp(declared, value, length) == 0 &&
                     (declared[length] == '\0' || declared[length] == '*');
        if (named && !same_storage(gsi_type((gstride_type)t), gsi_type(arg->type)))
            return gsi_fail(GSTRIDE_ERROR_TYPE,
                            "gstride_kernel_launch: argument %u of %s is %s, the kernel declares "
                            "\"%s\"",
                            i, k->name, gstride_type_name(arg->type), declared);
    }
    return GSTRIDE_OK;
}

static gstride_status check_args(const gstride_stream *stream, const gstride_kernel *k,
                                 const gstride_kernel_arg *args, size_t count, uint64_t *local)
{
    if (count != k->num_args || (count && !args))
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT,
                        "gstride_kernel_launch: %s takes %u arguments, %zu are given", k->name,
                        k->num_args, args ? count : 0);
    for (size_t i = 0; i < count; ++i) {
        char name[32];
        snprintf(name, sizeof name, "argument %zu", i);
        bool made_by_hand =
            args[i].kind < ARG_SPAN || args[i].kind > ARG_LOCAL ||
            (args[i].kind == ARG_SCALAR &&
             (!gsi_type(args[i].type) || args[i].bytes != gstride_type_bytes(args[i].type)));
        if (made_by_hand)
            return gsi_fail(GSTRIDE_ERROR_ARGUMENT,
                            "gstride_kernel_launch: %s was not made by "
                            "gstride_arg_...",
                            name);
        gstride_status status = GSTRIDE_OK;
        if (args[i].kind == ARG_SPAN)
            status = gsi_check_span(stream->device, "gstride_kernel_launch", name, &args[i].span,
                                    args[i].span.count);
        if (status == GSTRIDE_OK)
            status = check_declared(k, (cl_uint)i, &args[i]);
        if (status != GSTRIDE_OK)
            return status;
        if (args[i].kind == ARG_LOCAL && args[i].bytes == 0)
            return gsi_fail(GSTRIDE_ERROR_ARGUMENT,
                            "gstride_kernel_launch: %s is local memory of "
                            "no bytes",
                            name);
        if (args[i].kind == ARG_LOCAL)
            *local += args[i].bytes < UINT64_MAX - *local ? args[i].bytes : UINT64_MAX - *local;
    }
    uint64_t most = stream->device->info.local_memory;
    if (*local > most || k->local_bytes > most - *local)
        return gsi_fail(
            GSTRIDE_ERROR_LAUNCH_SHAPE,
            "gstride_kernel_launch: %s needs %llu and %llu bytes of local memory, %s has "
            "%llu",
            k->name, (unsigned long long)k->local_bytes, (unsigned long long)*local,
            stream->device->info.name, (unsigned long long)most);
    return GSTRIDE_OK;
}

static gstride_status plan(const gstride_stream *stream, const gstride_kernel *k, uint64_t n,
                           gstride_shape *shape)
{
    const gstride_device_info *info = &stream->device->info;
    struct gsi_plan_request request = {.info = info,
                                       .policy = *gsi_policy_of(GSI_KERNEL, gsi_style_of(info)),
                                       .n = n,
                                       .fixed_tile = k->tile,
                                       .extra_trips = k->tile, /* a second loop over the items */
                                       .forced = gsi_stream_launch(stream)};
    if (request.policy.group_size > k->max_group_size)
        request.policy.group_size = (uint32_t)k->max_group_size;
    if (request.forced.local > k->max_group_size)
        return gsi_fail(GSTRIDE_ERROR_LAUNCH_SHAPE,
                        "local=%u: %s takes at most %llu work-items in a group of %s",
                        request.forced.local, info->name, (unsigned long long)k->max_group_size,
                        k->name);
    gstride_status status = gsi_plan_shape(&request, shape);
    return status == GSTRIDE_OK ? gsi_check_one_launch(info, shape) : status;
}

static cl_int set_args(const gstride_kernel *k, const gstride_kernel_arg *args, size_t count)
{
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; i < count && code == CL_SUCCESS; ++i) {
        const void *value = args[i].kind == ARG_SPAN     ? (const void *)&args[i].span.mem
                            : args[i].kind == ARG_SCALAR ? (const void *)args[i].value
                                                         : NULL;
        code = clSetKernelArg(k->kernel, i, args[i].bytes, value);
    }
    return code;
}

static gstride_status launch(gstride_stream *stream, gstride_kernel *k, const gstride_shape *shape,
                             const gstride_kernel_arg *args, size_t count)
{
    cl_int code = set_args(k, args, count);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clSetKernelArg", "%s: an argument has the wrong size", k->name);
    size_t local = shape->group_size, global = local * (size_t)shape->groups;
    cl_event event, *slot = gsi_event_slot(stream, &event);
    code =
        clEnqueueNDRangeKernel(stream->queue, k->kernel, 1, NULL, &global, &local, 0, NULL, slot);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clEnqueueNDRangeKernel", "%s on %s", k->name,
                           stream->device->info.name);
    gsi_event_keep(stream, &event);
    stream->last_shape = *shape;
    return GSTRIDE_OK;
}

gstride_status gstride_kernel_launch(gstride_stream *stream, gstride_kernel *kernel, uint64_t n,
                                     const gstride_kernel_arg *args, size_t num_args)
{
    gstride_status status = gsi_stream_check(stream, "gstride_kernel_launch");
    if (status != GSTRIDE_OK)
        return status;
    if (!kernel)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_kernel_launch: kernel is NULL");
    if (kernel->device != stream->device)
        return gsi_fail(GSTRIDE_ERROR_WRONG_DEVICE,
                        "gstride_kernel_launch: %s was built for another device", kernel->name);
    uint64_t local = 0;
    status = check_args(stream, kernel, args, num_args, &local);
    if (status != GSTRIDE_OK)
        return status;
    if (n == 0)
        return gsi_call_of_nothing(stream);
    gstride_shape shape;
    status = plan(stream, kernel, n, &shape);
    if (status != GSTRIDE_OK)
        return status;
    gsi_call_begin(stream);
    return gsi_call_end(stream, launch(stream, kernel, &shape, args, num_args));
}
