/* SPDX-License-Identifier: MIT */
/* analysis.h - the part of the program that computes on the device. */
#ifndef GEOID_ANALYSIS_H
#define GEOID_ANALYSIS_H

#include "gtx.h"

#include <gstride.h>
#include <stdbool.h>

enum { MAX_STEPS = 16 };

struct step_time {
    const char *name;
    uint64_t ns;
};

struct analysis {
    bool wide;                /* sums are in double precision */
    uint64_t known;           /* points that have a value */
    uint64_t lowest, highest; /* places of the extremes */
    float minimum, maximum;
    double mean, area_mean, rms;
    float *heights; /* all points in the host's byte order, south row first */
    float *relief;  /* rise of the heights towards the south-east around each point */
    struct step_time steps[MAX_STEPS];
    size_t num_steps;
    bool host_clock; /* the times are the host's, for want of the device's */
};

/* Returns GSTRIDE_OK and an analysis for analysis_free, or a failure: gstride_last_error() tells.
 * If no point has a value, `known` is 0 and neither extremes nor means are set. */
gstride_status analyse(gstride_device *device, const struct gtx_grid *grid, struct analysis *a);
void analysis_free(struct analysis *a);

#endif
