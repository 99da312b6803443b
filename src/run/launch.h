/* SPDX-License-Identifier: MIT */
/* launch.h - from a request to checked enqueues: shape, variant, kernel, slices. */
#ifndef GSI_RUN_LAUNCH_H
#define GSI_RUN_LAUNCH_H

#include "run/stream.h"

/* How a program is specialised for a launch; the numbers are those of cl/prelude.cl. */
enum gsi_variant { GSI_ITEM = 1, GSI_FIXED = 2, GSI_ANY = 3 };

struct gsi_specialisation {
    uint32_t variant;
    uint32_t group_size; /* for GSI_FIXED, else 0 */
    uint32_t items;      /* elements per work-item and tile, for all but GSI_ITEM */
    uint32_t ptx;
};

/* Every specialised request starts with this, and so does its key. */
struct gsi_launch {
    enum gsi_primitive primitive;
    const char *kernel_name;
    gsi_source_writer *write_source; /* gets the struct gsi_launch */
    uint64_t n;                      /* elements; 0 plans one group of one tile */
    uint32_t fixed_tile;
    bool finishing_launch; /* one more launch, of one group and no tiles, ends the call */

    struct gsi_specialisation specialisation; /* set by gsi_launch_plan */
    gstride_shape shape;
    struct gsi_stream_kernel *kernel;
};

/* Put the room for the specialisation at the start of stream->key; the caller appends the rest. */
void gsi_key_begin(gstride_stream *stream);

/* Plan and find the kernel. On a kernel that takes smaller groups only, halve and plan again; a
 * forced group size fails instead. */
gstride_status gsi_launch_plan(gstride_stream *stream, struct gsi_launch *launch);

/* The first arguments of every kernel: n, first tile, end tile, tile. */
enum { GSI_ARG_N, GSI_ARG_FIRST, GSI_ARG_END, GSI_ARG_TILE, GSI_NUM_FIRST_ARGS };

/* Groups of all launches together, as gs_arrive counts them. */
uint32_t gsi_launch_total_groups(const struct gsi_launch *launch);

/* Set the first arguments and enqueue, in as many launches as the shape asks for. */
gstride_status gsi_launch_run(gstride_stream *stream, const struct gsi_launch *launch);

/* Write what cl/prelude.cl wants defined before it, and the prelude. */
void gsi_append_prelude(struct gsi_strbuf *text, const struct gsi_specialisation *s);

#endif
