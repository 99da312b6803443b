/* SPDX-License-Identifier: MIT */
/* analysis.c - the steps on the device. Points without a value take part in none of them.
 *
 * An element of an expression cannot reach the weight of its row, so a kernel of our own spreads
 * one weight per row to one per point first. The weights are cosines of the host's: those of
 * devices differ in the last bits, and the results would too. */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        gstride_status try_status = (call);                                                        \
        if (try_status != GSTRIDE_OK)                                                              \
            return try_status;                                                                     \
    } while (0)

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* REAL is double where the device has it. */
static const char kernels[] =
    "__kernel void spread(const ulong n, const ulong columns, __global const REAL *row_weights,\n"
    "                     __global REAL *weights)\n"
    "{\n"
    "    GSTRIDE_FOR (i, n)\n"
    "        weights[i] = row_weights[i / columns];\n"
    "}\n"
    "\n"
    "int is_known(const float height, const float no_data)\n"
    "{\n"
    "    return isfinite(height) && height != no_data;\n"
    "}\n"
    "\n"
    "// How far the heights rise towards the south-east: what a lamp in the north-west lights.\n"
    "__kernel void relief(const ulong n, const ulong columns, const int wraps,\n"
    "                     const float no_data, __global const float *h, __global float *rise)\n"
    "{\n"
    "    GSTRIDE_FOR (i, n) {\n"
    "        const ulong column = i % columns;\n"
    "        const ulong west = column > 0 ? i - 1 : wraps ? i + columns - 1 : i;\n"
    "        const ulong east = column + 1 < columns ? i + 1 : wraps ? i - column : i;\n"
    "        const ulong south = i >= columns ? i - columns : i;\n"
    "        const ulong north = i + columns < n ? i + columns : i;\n"
    "        const int all = is_known(h[west], no_data) && is_known(h[east], no_data) &&\n"
    "                        is_known(h[south], no_data) && is_known(h[north], no_data);\n"
    "        rise[i] = all ? (h[east] - h[west]) + (h[south] - h[north]) : 0.0f;\n"
    "    }\n"
    "}\n";

#define KNOWN "isfinite(h) && h != no_data"

/* Results that are counts or places. */
enum { KNOWN_POINTS, LOWEST, HIGHEST, NUM_PLACES };
static const struct {
    const char *name;
    gstride_op op;
    gstride_type type;
    const char *expression;
} places[NUM_PLACES] = {
    [KNOWN_POINTS] = {"count", GSTRIDE_COUNT, GSTRIDE_I32, KNOWN},
    [LOWEST] = {"minimum", GSTRIDE_ARGMIN, GSTRIDE_F32, KNOWN " ? h : INFINITY"},
    [HIGHEST] = {"maximum", GSTRIDE_ARGMAX, GSTRIDE_F32, KNOWN " ? h : -INFINITY"},
};

/* Results that are sums, in both precisions. The cast makes the whole product as wide. */
enum { SUM, SQUARES, WEIGHTS, WEIGHTED, NUM_SUMS };
#define EITHER(value)                                                                              \
    {                                                                                              \
        KNOWN " ? (float)" value " : 0", KNOWN " ? (double)" value " : 0"                          \
    }
static const struct {
    const char *name;
    const char *expressions[2];
} sums[NUM_SUMS] = {
    [SUM] = {"sum", EITHER("h")},
    [SQUARES] = {"sum of squares", EITHER("h * h")},
    [WEIGHTS] = {"sum of weights", EITHER("w")},
    [WEIGHTED] = {"weighted sum", EITHER("w * h")},
};

struct work {
    gstride_device *device;
    gstride_stream *stream;
    const struct gtx_grid *grid;
    struct analysis *a;
    gstride_type real;
    gstride_span heights, rise, row_weights, weights, places, sums;
};

/* Note how long the call took that gave `status`. */
static gstride_status timed(struct work *w, const char *name, gstride_status status)
{
    if (status != GSTRIDE_OK)
        return status;
    struct analysis *a = w->a;
    if (a->num_steps == MAX_STEPS)
        return GSTRIDE_OK;
    struct step_time *step = &a->steps[a->num_steps++];
    step->name = name;
    return gstride_stream_elapsed(w->stream, &step->ns, &a->host_clock);
}

static gstride_status allocate(struct work *w)
{
    const uint64_t n = w->grid->points;
    const struct {
        gstride_span *span;
        gstride_type type;
        uint64_t count;
    } spans[] = {{&w->heights, GSTRIDE_F32, n},
                 {&w->rise, GSTRIDE_F32, n},
                 {&w->row_weights, w->real, w->grid->rows},
                 {&w->weights, w->real, n},
                 {&w->places, GSTRIDE_U64, NUM_PLACES},
                 {&w->sums, w->real, NUM_SUMS}};
    for (size_t i = 0; i < COUNT(spans); ++i)
        TRY(gstride_alloc(w->device, spans[i].type, spans[i].count, spans[i].span));
    return GSTRIDE_OK;
}

static gstride_status launch(struct work *w, const char *name, const gstride_kernel_arg *args,
                             size_t num_args)
{
    gstride_kernel *kernel;
    const char *options = w->a->wide ? "-DREAL=double" : "-DREAL=float";
    TRY(gstride_kernel_build(w->device, kernels, NULL, name, options, &kernel));
    gstride_status status =
        gstride_kernel_launch(w->stream, kernel, w->grid->points, args, num_args);
    status = timed(w, name, status);
    gstride_kernel_free(kernel);
    return status;
}

static gstride_status upload(struct work *w)
{
    const uint64_t n = w->grid->points;
    TRY(timed(w, "upload", gstride_write(w->stream, w->heights, w->grid->bytes, n)));
    const uint16_t one = 1;
    const bool little_endian = *(const unsigned char *)&one == 1;
    if (little_endian)
        TRY(timed(w, "byte swap", gstride_byteswap(w->stream, w->heights, w->heights)));
    return GSTRIDE_OK;
}

/* The area of a cell is proportional to the cosine of its latitude. */
static gstride_status spread_weights(struct work *w)
{
    const struct gtx_grid *grid = w->grid;
    const double degree = acos(-1.0) / 180;
    double *wide = malloc(grid->rows * sizeof *wide);
    float *narrow = malloc(grid->rows * sizeof *narrow);
    gstride_status status = GSTRIDE_ERROR_OUT_OF_HOST_MEMORY;
    if (wide && narrow) {
        for (uint32_t row = 0; row < grid->rows; ++row) {
            wide[row] = cos((grid->south + row * grid->lat_step) * degree);
            narrow[row] = (float)wide[row];
        }
        const void *weights = w->a->wide ? (const void *)wide : narrow;
        status = gstride_write(w->stream, w->row_weights, weights, grid->rows);
    }
    free(narrow);
    free(wide);
    TRY(status);
    const gstride_kernel_arg args[] = {
        gstride_arg_u64(grid->points), gstride_arg_u64(grid->columns),
        gstride_arg_span(w->row_weights), gstride_arg_span(w->weights)};
    return launch(w, "spread", args, COUNT(args));
}

static gstride_status relief(struct work *w)
{
    const struct gtx_grid *grid = w->grid;
    const double gap = 360 - grid->columns * grid->lon_step;
    const bool wraps = fabs(gap) < grid->lon_step / 2;
    const gstride_kernel_arg args[] = {
        gstride_arg_u64(grid->points), gstride_arg_u64(grid->columns), gstride_arg_i32(wraps),
        gstride_arg_f32(GTX_NO_DATA),  gstride_arg_span(w->heights),   gstride_arg_span(w->rise)};
    return launch(w, "relief", args, COUNT(args));
}

static gstride_status reduce_all(struct work *w)
{
    const uint64_t n = w->grid->points;
    const gstride_arg args[] = {gstride_in("h", w->heights), gstride_f32("no_data", GTX_NO_DATA),
                                gstride_in("w", w->weights)};
    const size_t without_weights = COUNT(args) - 1;
    gstride_span out;
    for (size_t i = 0; i < NUM_PLACES; ++i) {
        TRY(gstride_slice(w->places, i, 1, &out));
        TRY(timed(w, places[i].name,
                  gstride_map_reduce(w->stream, places[i].op, n, places[i].type,
                                     places[i].expression, args, without_weights, out)));
    }
    for (size_t i = 0; i < NUM_SUMS; ++i) {
        TRY(gstride_slice(w->sums, i, 1, &out));
        TRY(timed(w, sums[i].name,
                  gstride_map_reduce(w->stream, GSTRIDE_SUM, n, w->real,
                                     sums[i].expressions[w->a->wide], args,
                                     i < WEIGHTS ? without_weights : COUNT(args), out)));
    }
    return GSTRIDE_OK;
}

static gstride_status download(struct work *w)
{
    const uint64_t n = w->grid->points;
    struct analysis *a = w->a;
    a->heights = malloc(n * sizeof *a->heights);
    a->relief = malloc(n * sizeof *a->relief);
    if (!a->heights || !a->relief)
        return GSTRIDE_ERROR_OUT_OF_HOST_MEMORY;
    TRY(timed(w, "download", gstride_read(w->stream, w->heights, a->heights, n)));
    return gstride_read(w->stream, w->rise, a->relief, n);
}

static gstride_status conclude(struct work *w)
{
    uint64_t place[NUM_PLACES];
    double sum[NUM_SUMS];
    float narrow[NUM_SUMS];
    TRY(gstride_read(w->stream, w->places, place, NUM_PLACES));
    TRY(gstride_read(w->stream, w->sums, w->a->wide ? (void *)sum : narrow, NUM_SUMS));
    for (size_t i = 0; i < NUM_SUMS && !w->a->wide; ++i)
        sum[i] = narrow[i];

    struct analysis *a = w->a;
    a->known = place[KNOWN_POINTS];
    if (a->known == 0)
        return GSTRIDE_OK;
    a->lowest = place[LOWEST];
    a->highest = place[HIGHEST];
    a->minimum = a->heights[a->lowest];
    a->maximum = a->heights[a->highest];
    a->mean = sum[SUM] / (double)a->known;
    a->area_mean = sum[WEIGHTED] / sum[WEIGHTS];
    a->rms = sqrt(sum[SQUARES] / (double)a->known);
    return GSTRIDE_OK;
}

static gstride_status run_steps(struct work *w)
{
    TRY(gstride_stream_create_timed(w->device, &w->stream));
    TRY(allocate(w));
    TRY(upload(w));
    TRY(spread_weights(w));
    TRY(reduce_all(w));
    TRY(relief(w));
    TRY(download(w));
    return conclude(w);
}

gstride_status analyse(gstride_device *device, const struct gtx_grid *grid, struct analysis *a)
{
    *a = (struct analysis){.wide = gstride_device_get_info(device)->fp64};
    struct work w = {
        .device = device, .grid = grid, .a = a, .real = a->wide ? GSTRIDE_F64 : GSTRIDE_F32};
    gstride_status status = run_steps(&w);
    gstride_span *const spans[] = {&w.heights, &w.rise,   &w.row_weights,
                                   &w.weights, &w.places, &w.sums};
    for (size_t i = 0; i < COUNT(spans); ++i)
        gstride_free(spans[i]);
    gstride_stream_destroy(w.stream);
    if (status != GSTRIDE_OK)
        analysis_free(a);
    return status;
}

void analysis_free(struct analysis *a)
{
    free(a->heights);
    free(a->relief);
    a->heights = a->relief = NULL;
}
