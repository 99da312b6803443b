/* SPDX-License-Identifier: MIT */
/* gtx.h - reads a grid in GTX format: 4 big-endian doubles (south edge, west edge, steps in
 * latitude and longitude), 2 big-endian int32 (rows, columns), then rows of float32 from the south.
 */
#ifndef GEOID_GTX_H
#define GEOID_GTX_H

#include <stddef.h>
#include <stdint.h>

/* What stands for "no value here" in a GTX file. */
#define GTX_NO_DATA (-88.8888f)

struct gtx_grid {
    double south, west; /* of the first point, degrees */
    double lat_step, lon_step;
    uint32_t rows, columns;
    uint64_t points;      /* rows * columns */
    unsigned char *bytes; /* the values as in the file: big-endian float32, south row first */
};

/* Read a whole grid. Returns 0 and a grid for gtx_free, or -1 and one line of explanation. */
int gtx_read(const char *path, struct gtx_grid *grid, char *why, size_t why_size);
void gtx_free(struct gtx_grid *grid);

/* The grid that is read by default, and where it may lie. Returns 0 and a path, or -1. */
#define GTX_DEFAULT_NAME "egm96_15.gtx"
int gtx_find_default(char *path, size_t path_size);

double gtx_latitude(const struct gtx_grid *grid, uint64_t point);
double gtx_longitude(const struct gtx_grid *grid, uint64_t point);

#endif
