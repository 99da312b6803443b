/* SPDX-License-Identifier: MIT */
/**
 * \file
 * Launch shapes: how many work-groups of how many work-items, and who takes which elements.
 *
 * The shape is a tuning parameter. It never changes a bit of a result; it may only be refused.
 */
#ifndef GSTRIDE_LAUNCH_H
#define GSTRIDE_LAUNCH_H

#include <gstride/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The shape of one call. \since 0.1 */
typedef struct gstride_shape {
    uint64_t groups;     /**< work-groups of each launch but the last, which may have fewer */
    uint32_t group_size; /**< work-items per work-group */
    uint32_t tile;       /**< elements that a work-group takes per trip of its grid-stride loop */
    uint64_t tiles;      /**< ceil(n / tile) */
    uint64_t launches;   /**< commands the call was cut into; 1 unless the device cuts loops off */
} gstride_shape;

/**
 * A forced shape. 0 leaves a field to the planner. From text: "groups=G,local=L", either part
 * alone, "groups=max" for one group per tile. The variable GSTRIDE_LAUNCH forces it for every
 * stream of the process. \since 0.1
 */
typedef struct gstride_launch {
    uint64_t groups; /**< UINT64_MAX: as many as there are tiles */
    uint32_t local;
} gstride_launch;

/** Parse "groups=G,local=L". \return GSTRIDE_OK or GSTRIDE_ERROR_LAUNCH_SPEC. \since 0.1 */
GSTRIDE_API gstride_status gstride_launch_from_text(const char *text, gstride_launch *launch);

/**
 * The shape a primitive would get, without touching a device.
 *
 * \param info      a device, real or from gstride_device_info_from_text
 * \param primitive "map", "reduce", "kernel"; "reduce-exact" and, on 64-bit values,
 *                  "reduce-exact-wide" for operators whose result no grouping changes
 * \param bytes     bytes of one element of the widest span
 * \param forced    NULL, or fields that the planner must keep
 * \param reason    NULL, or a buffer of reason_bytes that receives one line of explanation
 * \return GSTRIDE_OK, GSTRIDE_ERROR_ARGUMENT, GSTRIDE_ERROR_LAUNCH_SHAPE
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_plan(const gstride_device_info *info, const char *primitive,
                                        uint64_t n, size_t bytes, const gstride_launch *forced,
                                        gstride_shape *shape, char *reason, size_t reason_bytes);

#ifdef __cplusplus
}
#endif
#endif
