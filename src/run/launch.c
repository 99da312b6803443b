/* SPDX-License-Identifier: MIT */
#include "run/launch.h"

#include "program/sources.h"

#include <string.h>

void gsi_key_begin(gstride_stream *stream)
{
    static const struct gsi_specialisation room;
    stream->key.length = 0;
    stream->key.failed = false; /* a want of memory in an earlier call says nothing of this one */
    gsi_strbuf_append(&stream->key, (const char *)&room, sizeof room);
}

/* A planned group size is compiled in. A forced one is not, so that trying many sizes does not
 * compile many programs, unless it is the planner's own; nor is one on devices that cut loops off,
 * whose compilers take very long over many barriers. */
static bool compiles_group_size_in(const gstride_stream *stream, const struct gsi_policy *policy,
                                   const gstride_shape *shape)
{
    if (stream->force_fixed)
        return true;
    if (gsi_style_of(&stream->device->info) == GSI_STYLE_NARROW)
        return false;
    return gsi_stream_launch(stream).local == 0 || shape->group_size == policy->group_size;
}

static struct gsi_specialisation specialise(const gstride_stream *stream,
                                            const struct gsi_policy *policy,
                                            const gstride_shape *shape)
{
    bool ptx = stream->device->info.subgroup_shuffle && !stream->force_plain;
    struct gsi_specialisation s = {.variant = GSI_ANY, .ptx = ptx};
    if (shape->group_size == 1) {
        s.variant = GSI_ITEM;
        return s;
    }
    s.items = shape->tile / shape->group_size;
    if (compiles_group_size_in(stream, policy, shape)) {
        s.variant = GSI_FIXED;
        s.group_size = shape->group_size;
    }
    return s;
}

static gstride_status find_kernel(gstride_stream *stream, struct gsi_launch *launch)
{
    if (stream->key.failed)
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "no memory for a kernel's key");
    memcpy(stream->key.text, &launch->specialisation, sizeof launch->specialisation);
    struct gsi_key key = gsi_make_key(stream->key.text, stream->key.length);
    return gsi_stream_kernel_get(stream, &key, launch->write_source, launch, launch->kernel_name,
                                 &launch->kernel);
}

gstride_status gsi_launch_plan(gstride_stream *stream, struct gsi_launch *launch)
{
    const gstride_device_info *info = &stream->device->info;
    const struct gsi_policy *policy = gsi_policy_of(launch->primitive, gsi_style_of(info));
    struct gsi_plan_request request = {.info = info,
                                       .policy = *policy,
                                       .n = launch->n ? launch->n : 1,
                                       .fixed_tile = launch->fixed_tile,
                                       .extra_trips = GSI_EXTRA_TRIPS,
                                       .forced = gsi_stream_launch(stream)};
    for (;;) {
        gstride_status status = gsi_plan_shape(&request, &launch->shape);
        if (status != GSTRIDE_OK)
            return status;
        launch->specialisation = specialise(stream, policy, &launch->shape);
        status = find_kernel(stream, launch);
        if (status != GSTRIDE_OK)
            return status;
        uint32_t size = launch->shape.group_size;
        if (launch->kernel->local_bytes > info->local_memory)
            return gsi_fail(GSTRIDE_ERROR_LAUNCH_SHAPE,
                            "%s needs %llu bytes of local memory, %s has %llu", launch->kernel_name,
                            (unsigned long long)launch->kernel->local_bytes, info->name,
                            (unsigned long long)info->local_memory);
        if (size <= launch->kernel->max_group_size)
            return GSTRIDE_OK;
        if (request.forced.local)
            return gsi_fail(GSTRIDE_ERROR_LAUNCH_SHAPE,
                            "local=%u: %s takes at most %llu work-items in a group of %s", size,
                            info->name, (unsigned long long)launch->kernel->max_group_size,
                            launch->kernel_name);
        request.policy.group_size = size / 2;
    }
}

uint32_t gsi_launch_total_groups(const struct gsi_launch *launch)
{
    return (uint32_t)(launch->shape.groups * launch->shape.launches + launch->finishing_launch);
}

static gstride_status enqueue(gstride_stream *stream, const struct gsi_launch *launch,
                              uint64_t first, uint64_t end, uint64_t groups)
{
    struct gsi_stream_kernel *kernel = launch->kernel;
    cl_ulong first_tile = first, end_tile = end;
    size_t local = launch->shape.group_size;
    size_t global = (size_t)groups * local;
    cl_event event, *slot = gsi_event_slot(stream, &event);
    cl_int code = gsi_set_value(kernel, GSI_ARG_FIRST, sizeof first_tile, &first_tile);
    if (code == CL_SUCCESS)
        code = gsi_set_value(kernel, GSI_ARG_END, sizeof end_tile, &end_tile);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clSetKernelArg", "%s", launch->kernel_name);
    code = clEnqueueNDRangeKernel(stream->queue, kernel->kernel, 1, NULL, &global, &local, 0, NULL,
                                  slot);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clEnqueueNDRangeKernel", "%s, %zu groups of %zu on %s",
                           launch->kernel_name, (size_t)groups, local, stream->device->info.name);
    gsi_event_keep(stream, &event);
    return GSTRIDE_OK;
}

gstride_status gsi_launch_run(gstride_stream *stream, const struct gsi_launch *launch)
{
    const gstride_shape *shape = &launch->shape;
    cl_ulong n = launch->n;
    cl_uint tile = shape->tile;
    cl_int code = gsi_set_value(launch->kernel, GSI_ARG_N, sizeof n, &n);
    if (code == CL_SUCCESS)
        code = gsi_set_value(launch->kernel, GSI_ARG_TILE, sizeof tile, &tile);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clSetKernelArg", "%s", launch->kernel_name);
    stream->last_shape = *shape;
    uint64_t tiles = n ? shape->tiles : 0, step = gsi_tiles_per_launch(shape);
    gstride_status status = GSTRIDE_OK;
    for (uint64_t k = 0; k < shape->launches && status == GSTRIDE_OK; ++k) {
        uint64_t first = k * step < tiles ? k * step : tiles;
        uint64_t end = first + step < tiles ? first + step : tiles;
        status = enqueue(stream, launch, first, end, shape->groups);
    }
    if (launch->finishing_launch && status == GSTRIDE_OK)
        status = enqueue(stream, launch, tiles, tiles, 1);
    return status;
}

void gsi_append_prelude(struct gsi_strbuf *text, const struct gsi_specialisation *s)
{
    gsi_strbuf_printf(text, "#define GS_VARIANT %u\n#define GS_PTX %u\n", s->variant, s->ptx);
    if (s->variant == GSI_FIXED)
        gsi_strbuf_printf(text, "#define GS_GROUP_SIZE %uu\n", s->group_size);
    if (s->variant != GSI_ITEM)
        gsi_strbuf_printf(text, "#define GS_ITEMS %uu\n", s->items);
    gsi_append_source(text, "prelude.cl");
}
