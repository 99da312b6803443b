/* SPDX-License-Identifier: MIT */
/* plan.h - the launch planner: pure functions from device facts to a shape. */
#ifndef GSI_PLAN_H
#define GSI_PLAN_H

#include <gstride/launch.h>

/* How a device likes its work. */
enum gsi_style {
    GSI_STYLE_ITEM,  /* a CPU: one work-item per group walks long contiguous runs */
    GSI_STYLE_GROUP, /* a GPU: full work-groups, coalesced */
    GSI_STYLE_NARROW /* small groups, many of them: for devices that cut long loops off */
};

enum gsi_style gsi_style_of(const gstride_device_info *info);

/* Tuned numbers of one primitive on one style of device. They cannot change results. */
struct gsi_policy {
    uint32_t group_size;
    uint32_t items;           /* elements per work-item and tile; for a fixed tile, ignored */
    uint32_t groups_per_unit; /* cap per compute unit; 0: one group per tile */
};

/* GSI_REDUCE keeps a fixed shape of arithmetic; GSI_REDUCE_EXACT need not (see cl/reduce_exact.cl),
 * and GSI_REDUCE_EXACT_WIDE is that on 64-bit values. */
enum gsi_primitive {
    GSI_MAP,
    GSI_REDUCE,
    GSI_REDUCE_EXACT,
    GSI_REDUCE_EXACT_WIDE,
    GSI_KERNEL,
    GSI_NUM_PRIMITIVES
};

const struct gsi_policy *gsi_policy_of(enum gsi_primitive primitive, enum gsi_style style);

/* Elements of a tile in users' kernels: GSTRIDE_TILE is compiled in, whatever the launch will be.
 */
uint32_t gsi_kernel_tile(const gstride_device_info *info);

/* Elements of a reduction's tile: part of the arithmetic, not of the launch (docs/kernels.md). */
enum { GSI_REDUCE_TILE = 8192 };

/* Bound on the loop trips per tile that are not over elements: trees and bookkeeping. */
enum { GSI_EXTRA_TRIPS = 2048 };

struct gsi_plan_request {
    const gstride_device_info *info;
    struct gsi_policy policy;
    uint64_t n;           /* elements, > 0 */
    uint32_t fixed_tile;  /* 0: the planner chooses the tile */
    uint32_t extra_trips; /* loop trips per tile beside those over the elements */
    gstride_launch forced;
};

/* Work-items of the largest group: more than any device takes, so few that tiles fit 32 bits. */
enum { GSI_LARGEST_GROUP_SIZE = 1 << 24 };

/* Largest global size that every driver takes. */
#define GSI_MAX_GLOBAL_SIZE ((uint64_t)1 << 30)

/* \return GSTRIDE_OK or GSTRIDE_ERROR_LAUNCH_SHAPE with the limit that a forced shape breaks. */
gstride_status gsi_plan_shape(const struct gsi_plan_request *request, gstride_shape *shape);

/* A user's kernel strides over all tiles itself, so that its call cannot be cut into launches.
 * \return GSTRIDE_OK or GSTRIDE_ERROR_LAUNCH_SHAPE */
gstride_status gsi_check_one_launch(const gstride_device_info *info, const gstride_shape *shape);

/* Tiles that one launch of a shape covers. */
uint64_t gsi_tiles_per_launch(const gstride_shape *shape);

#endif
