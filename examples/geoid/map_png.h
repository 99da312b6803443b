/* SPDX-License-Identifier: MIT */
/* map_png.h - the coloured map: north up, longitudes as in the file. */
#ifndef GEOID_MAP_PNG_H
#define GEOID_MAP_PNG_H

#include "analysis.h"
#include "gtx.h"

/* Returns 0, or -1 and one line of explanation. */
int map_png_write(const char *path, const struct gtx_grid *grid, const struct analysis *a,
                  char *why, size_t why_size);

#endif
