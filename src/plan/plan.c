/* SPDX-License-Identifier: MIT */
#include "plan/plan.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum {
    GPU_GROUP_SIZE = 256,
    NARROW_GROUP_SIZE = 32,
    ITEM_TILE = 16384,       /* elements: long enough to vectorise, short enough to balance */
    ITEM_TILE_LEAST = 1024,  /* elements: below this the trip costs more than the work */
    ITEM_TILES_PER_UNIT = 8, /* so that small inputs still use every compute unit */
    ITEM_TILE_MULTIPLE = 64  /* elements: keeps tiles on cache lines for every type */
};

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

enum gsi_style gsi_style_of(const gstride_device_info *info)
{
    if (info->probe.loop_bound)
        return GSI_STYLE_NARROW;
    return info->type & GSTRIDE_DEVICE_CPU ? GSI_STYLE_ITEM : GSI_STYLE_GROUP;
}

const struct gsi_policy *gsi_policy_of(enum gsi_primitive primitive, enum gsi_style style)
{
    static const struct gsi_policy policies[GSI_NUM_PRIMITIVES][3] = {
        /* On a GPU one group per tile beats every cap: see docs/kernels.md, "map". A reduction's
         * groups also arrive at a counter, so there they are capped. */
        [GSI_MAP] = {[GSI_STYLE_ITEM] = {1, ITEM_TILE, 32},
                     [GSI_STYLE_GROUP] = {GPU_GROUP_SIZE, 4, 0},
                     [GSI_STYLE_NARROW] = {NARROW_GROUP_SIZE, 4, 0}},
        [GSI_REDUCE] = {[GSI_STYLE_ITEM] = {1, 0, 32},
                        [GSI_STYLE_GROUP] = {GPU_GROUP_SIZE, 0, 32},
                        [GSI_STYLE_NARROW] = {NARROW_GROUP_SIZE, 0, 0}},
        /* One wave of resident groups, which registers limit to fewer on wide values. */
        [GSI_REDUCE_EXACT] = {[GSI_STYLE_ITEM] = {1, 0, 32},
                              [GSI_STYLE_GROUP] = {GPU_GROUP_SIZE, 0, 8},
                              [GSI_STYLE_NARROW] = {NARROW_GROUP_SIZE, 0, 0}},
        [GSI_REDUCE_EXACT_WIDE] = {[GSI_STYLE_ITEM] = {1, 0, 32},
                                   [GSI_STYLE_GROUP] = {GPU_GROUP_SIZE, 0, 6},
                                   [GSI_STYLE_NARROW] = {NARROW_GROUP_SIZE, 0, 0}},
        /* A user's kernel may do anything: a few waves, so that its start-up cost is paid once. */
        [GSI_KERNEL] = {[GSI_STYLE_ITEM] = {1, ITEM_TILE, 32},
                        [GSI_STYLE_GROUP] = {GPU_GROUP_SIZE, 4, 32},
                        [GSI_STYLE_NARROW] = {NARROW_GROUP_SIZE, 4, 0}},
    };
    return &policies[primitive][style];
}

uint32_t gsi_kernel_tile(const gstride_device_info *info)
{
    const struct gsi_policy *policy = gsi_policy_of(GSI_KERNEL, gsi_style_of(info));
    return policy->group_size * policy->items;
}

static uint64_t compute_units(const gstride_device_info *info)
{
    return info->compute_units ? info->compute_units : 1; /* whatever the driver says */
}

static gstride_status choose_group_size(const struct gsi_plan_request *r, uint32_t *size)
{
    uint64_t limit = r->info->max_group_size;
    if (r->info->max_item_sizes[0] < limit)
        limit = r->info->max_item_sizes[0];
    if (limit == 0)
        limit = 1;
    if (limit > GSI_LARGEST_GROUP_SIZE)
        limit = GSI_LARGEST_GROUP_SIZE;
    if (r->forced.local) {
        if (r->forced.local > limit)
            return gsi_fail(GSTRIDE_ERROR_LAUNCH_SHAPE,
                            "local=%u is more than the %llu work-items that %s takes in a group",
                            r->forced.local, (unsigned long long)limit, r->info->name);
        *size = r->forced.local;
        return GSTRIDE_OK;
    }
    *size = r->policy.group_size;
    while (*size > limit)
        *size /= 2;
    return GSTRIDE_OK;
}

static uint32_t choose_tile(const struct gsi_plan_request *r, uint32_t group_size)
{
    if (r->fixed_tile)
        return r->fixed_tile;
    if (group_size > 1) {
        /* A forced group on a device that likes single items: a GPU's items per work-item. */
        uint32_t items = r->policy.group_size > 1 ? r->policy.items : 4;
        return group_size * items;
    }
    uint64_t even = ceil_div(r->n, compute_units(r->info) * ITEM_TILES_PER_UNIT);
    even = ceil_div(even, ITEM_TILE_MULTIPLE) * ITEM_TILE_MULTIPLE;
    if (even < ITEM_TILE_LEAST)
        return ITEM_TILE_LEAST;
    return even > ITEM_TILE ? ITEM_TILE : (uint32_t)even;
}

/* Groups of the whole call if the device never cuts loops. */
static uint64_t choose_groups(const struct gsi_plan_request *r, uint64_t tiles)
{
    if (r->forced.groups && r->forced.groups != UINT64_MAX)
        return r->forced.groups;
    uint64_t cap = compute_units(r->info) * r->policy.groups_per_unit;
    if (r->forced.groups || r->forced.local || cap == 0 || tiles <= cap)
        return tiles;
    /* The same number of trips for every group: whole waves. */
    return ceil_div(tiles, ceil_div(tiles, cap));
}

/* Where loops are cut off, a work-item may only take so many tiles per launch. */
static gstride_status obey_loop_bound(const struct gsi_plan_request *r, uint64_t most_groups,
                                      gstride_shape *shape)
{
    uint32_t loop_bound = r->info->probe.loop_bound;
    uint64_t trips = ceil_div(shape->tile, shape->group_size) + r->extra_trips;
    /* A margin of an eighth, for loops that the compiler made of ours. */
    uint64_t tiles_per_group = (loop_bound - loop_bound / 8) / trips;
    if (tiles_per_group == 0)
        return gsi_fail(GSTRIDE_ERROR_LAUNCH_SHAPE,
                        "local=%u needs %llu loop trips per tile, but %s stops at %u",
                        shape->group_size, (unsigned long long)trips, r->info->name, loop_bound);
    uint64_t least_groups = ceil_div(shape->tiles, tiles_per_group);
    if (!r->forced.groups && shape->groups < least_groups)
        shape->groups = least_groups < most_groups ? least_groups : most_groups;
    shape->launches = ceil_div(shape->tiles, shape->groups * tiles_per_group);
    return GSTRIDE_OK;
}

gstride_status gsi_plan_shape(const struct gsi_plan_request *r, gstride_shape *shape)
{
    gstride_shape planned = {.launches = 1};
    gstride_status status = choose_group_size(r, &planned.group_size);
    if (status != GSTRIDE_OK)
        return status;
    planned.tile = choose_tile(r, planned.group_size);
    planned.tiles = ceil_div(r->n, planned.tile);
    planned.groups = choose_groups(r, planned.tiles);
    uint64_t most_groups = GSI_MAX_GLOBAL_SIZE / planned.group_size;
    if (planned.groups > most_groups) {
        if (planned.groups == r->forced.groups)
            return gsi_fail(GSTRIDE_ERROR_LAUNCH_SHAPE,
                            "groups=%llu,local=%u is more than the %llu work-items of the largest "
                            "launch",
                            (unsigned long long)planned.groups, planned.group_size,
                            (unsigned long long)GSI_MAX_GLOBAL_SIZE);
        planned.groups = most_groups;
    }
    if (r->info->probe.loop_bound)
        status = obey_loop_bound(r, most_groups, &planned);
    if (status == GSTRIDE_OK)
        *shape = planned;
    return status;
}

gstride_status gsi_check_one_launch(const gstride_device_info *info, const gstride_shape *shape)
{
    if (shape->launches == 1)
        return GSTRIDE_OK;
    return gsi_fail(
        GSTRIDE_ERROR_LAUNCH_SHAPE,
        "%s stops loops at %u trips, and a user's kernel in %llu groups would need more",
        info->name, info->probe.loop_bound, (unsigned long long)shape->groups);
}

uint64_t gsi_tiles_per_launch(const gstride_shape *shape)
{
    return ceil_div(shape->tiles, shape->launches);
}

gstride_status gstride_plan(const gstride_device_info *info, const char *primitive, uint64_t n,
                            size_t bytes, const gstride_launch *forced, gstride_shape *shape,
                            char *reason, size_t reason_bytes)
{
    static const char *const names[GSI_NUM_PRIMITIVES] = {[GSI_MAP] = "map",
                                                          [GSI_REDUCE] = "reduce",
                                                          [GSI_REDUCE_EXACT] = "reduce-exact",
                                                          [GSI_REDUCE_EXACT_WIDE] =
                                                              "reduce-exact-wide",
                                                          [GSI_KERNEL] = "kernel"};
    static const char *const styles[] = {
        [GSI_STYLE_ITEM] = "a CPU: one work-item per group, contiguous runs",
        [GSI_STYLE_GROUP] = "full groups, coalesced",
        [GSI_STYLE_NARROW] = "small groups, since the device cuts long loops off"};
    if (!info || !primitive || !shape || bytes == 0)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_plan: %s",
                        !info        ? "info is NULL"
                        : !primitive ? "primitive is NULL"
                        : !shape     ? "shape is NULL"
                                     : "bytes is 0");
    int p = 0;
    while (p < GSI_NUM_PRIMITIVES && strcmp(names[p], primitive) != 0)
        ++p;
    if (p == GSI_NUM_PRIMITIVES)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_plan: no primitive is called \"%s\"",
                        primitive);
    *shape = (gstride_shape){0};
    if (reason && reason_bytes)
        snprintf(reason, reason_bytes, "nothing to do");
    if (n == 0)
        return GSTRIDE_OK;
    enum gsi_style style = gsi_style_of(info);
    struct gsi_plan_request request = {.info = info,
                                       .policy = *gsi_policy_of((enum gsi_primitive)p, style),
                                       .n = n,
                                       .fixed_tile = p == GSI_MAP      ? 0
                                                     : p == GSI_KERNEL ? gsi_kernel_tile(info)
                                                                       : GSI_REDUCE_TILE,
                                       .extra_trips = p == GSI_KERNEL ? 0 : GSI_EXTRA_TRIPS};
    if (forced)
        request.forced = *forced;
    gstride_shape planned;
    gstride_status status = gsi_plan_shape(&request, &planned);
    if (status == GSTRIDE_OK && p == GSI_KERNEL)
        status = gsi_check_one_launch(info, &planned);
    if (status == GSTRIDE_OK)
        *shape = planned;
    if (status == GSTRIDE_OK && reason && reason_bytes)
        snprintf(reason, reason_bytes,
                 "%s; %llu tiles of %u elements (%llu bytes), %llu trips per group%s",
                 styles[style], (unsigned long long)shape->tiles, shape->tile,
                 (unsigned long long)(shape->tile * (uint64_t)bytes),
                 (unsigned long long)ceil_div(gsi_tiles_per_launch(shape), shape->groups),
                 forced && (forced->groups || forced->local) ? "; forced" : "");
    return status;
}
