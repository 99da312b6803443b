/* SPDX-License-Identifier: MIT */
/* map_png.c - paints the heights, lit from the north-west, with a graticule, the extremes and a
 * colour scale. */
#include "map_png.h"

#include "canvas.h"

#include <math.h>
#include <png.h>
#include <stdio.h>

/* Pixels. */
static const double longest_side = 1440, shortest_side = 320;
enum { LEFT = 84, RIGHT = 56, TOP = 44, BOTTOM = 132 };
static const double text_size = 13, label_size = 15, tick_length = 6;
static const double scale_height = 16, scale_offset = 68, scale_share = 0.6;
static const double tick_room = 45, most_ticks = 12;

static const struct colour paper = {252, 251, 247}, ink = {38, 42, 54}, white = {255, 255, 255},
                           no_value = {200, 200, 200};

/* Heights from the lowest over the middle, which is zero if there are both signs, to the highest.
 */
static const struct colour ramp[] = {{41, 21, 84},    {48, 62, 142},   {52, 116, 184},
                                     {98, 172, 208},  {170, 217, 222}, {244, 240, 222},
                                     {250, 212, 142}, {241, 158, 86},  {217, 92, 62},
                                     {168, 37, 54},   {98, 10, 42}};
enum { RAMP_INTERVALS = sizeof ramp / sizeof ramp[0] - 1 };

struct map {
    const struct gtx_grid *grid;
    const struct analysis *a;
    struct canvas canvas;
    double width, height;   /* of the map itself, pixels */
    double low, high, tick; /* of the colour scale, metres */
    double steepest;        /* rise that is lit fully, metres per grid step */
};

static struct colour blend(struct colour a, struct colour b, double share)
{
    return (struct colour){(uint8_t)lround(a.red + (b.red - a.red) * share),
                           (uint8_t)lround(a.green + (b.green - a.green) * share),
                           (uint8_t)lround(a.blue + (b.blue - a.blue) * share)};
}

static struct colour colour_of(const struct map *m, double metres)
{
    double at = (metres - m->low) / (m->high - m->low) * RAMP_INTERVALS;
    at = fmin(fmax(at, 0), RAMP_INTERVALS);
    int interval = at < RAMP_INTERVALS ? (int)at : RAMP_INTERVALS - 1;
    return blend(ramp[interval], ramp[interval + 1], at - interval);
}

/* The smallest of 1, 2 and 5 times a power of ten that cuts a range into few parts. */
static double round_step(double range, double most_parts)
{
    double power = pow(10, floor(log10(range / most_parts)));
    static const double factors[] = {1, 2, 5};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; ++i)
        if (range / (factors[i] * power) <= most_parts)
            return factors[i] * power;
    return 10 * power;
}

static double scale_width(const struct map *m)
{
    return floor(m->width * scale_share);
}

static void choose_scale(struct map *m)
{
    m->low = m->a->minimum;
    m->high = m->a->maximum;
    if (m->low < 0 && m->high > 0) {
        m->high = fmax(-m->low, m->high);
        m->low = -m->high;
    }
    if (m->high <= m->low) { /* a flat grid still gets a scale */
        m->low -= 1;
        m->high += 1;
    }
    const double room = scale_width(m) / tick_room;
    m->tick = round_step(m->high - m->low, fmin(room, most_ticks));
    m->low = floor(m->low / m->tick * 2) * m->tick / 2;
    m->high = ceil(m->high / m->tick * 2) * m->tick / 2;
}

/* One and a half times the root mean square of the rises makes a lively picture of any grid. */
static void choose_light(struct map *m)
{
    double sum = 0;
    for (uint64_t i = 0; i < m->grid->points; ++i)
        sum += (double)m->a->relief[i] * m->a->relief[i];
    m->steepest = 1.5 * sqrt(sum / (double)m->grid->points) + 1e-9;
}

static int has_value(float height)
{
    return isfinite(height) && height != GTX_NO_DATA;
}

/* Between four neighbours, or the nearest of them where a value is missing. */
static double sample(const float *values, const size_t at[4], double u, double v)
{
    for (int k = 0; k < 4; ++k)
        if (!has_value(values[at[k]]))
            return values[at[(u >= 0.5) + 2 * (v >= 0.5)]];
    double south = values[at[0]] + (values[at[1]] - values[at[0]]) * u;
    double north = values[at[2]] + (values[at[3]] - values[at[2]]) * u;
    return south + (north - south) * v;
}

static struct colour point_colour(const struct map *m, const size_t at[4], double u, double v)
{
    double metres = sample(m->a->heights, at, u, v);
    if (!has_value((float)metres))
        return no_value;
    double light = sample(m->a->relief, at, u, v) / m->steepest;
    light /= 1 + fabs(light);
    struct colour flat = colour_of(m, metres);
    return light > 0 ? blend(flat, white, 0.42 * light) : blend(flat, ink, -0.55 * light);
}

/* Every point of the grid is the middle of a cell of its own. */
static void paint_heights(struct map *m)
{
    const struct gtx_grid *g = m->grid;
    for (uint32_t y = 0; y < (uint32_t)m->height; ++y) {
        double row = g->rows - 0.5 - (y + 0.5) / m->height * g->rows;
        row = fmin(fmax(row, 0), g->rows - 1);
        size_t south = (size_t)row, north = south + 1 < g->rows ? south + 1 : south;
        for (uint32_t x = 0; x < (uint32_t)m->width; ++x) {
            double column = (x + 0.5) / m->width * g->columns - 0.5;
            column = fmin(fmax(column, 0), g->columns - 1);
            size_t west = (size_t)column, east = west + 1 < g->columns ? west + 1 : west;
            const size_t at[4] = {south * g->columns + west, south * g->columns + east,
                                  north * g->columns + west, north * g->columns + east};
            m->canvas.pixels[(size_t)(y + TOP) * m->canvas.width + x + LEFT] =
                point_colour(m, at, column - (double)west, row - (double)south);
        }
    }
}

static double x_of(const struct map *m, double longitude)
{
    double column = (longitude - m->grid->west) / m->grid->lon_step;
    return LEFT + (column + 0.5) * m->width / m->grid->columns;
}

static double y_of(const struct map *m, double latitude)
{
    double row = (latitude - m->grid->south) / m->grid->lat_step;
    return TOP + m->height - (row + 0.5) * m->height / m->grid->rows;
}

/* "30*N"; neither equator nor the meridians at 0 and 180 have a side. */
static void angle_text(char *text, size_t size, double angle, const char *sides)
{
    if (angle > 180)
        angle -= 360;
    const double turn = fabs(angle);
    const char *side = turn > 0 && turn < 180 ? (angle > 0 ? sides : sides + 1) : "";
    snprintf(text, size, "%.4g*%.1s", turn, side);
}

/* Degrees from line to line; a small part of the world gets decimal fractions, as far as the margin
 * has room for their digits. */
static double angle_step(double range)
{
    static const double steps[] = {1, 2, 5, 10, 15, 30};
    const double most_lines = 12, fewest_lines = 3, finest = 0.01;
    if (range < fewest_lines * steps[0])
        return fmax(round_step(range, most_lines), finest);
    size_t i = 0;
    while (i + 1 < sizeof steps / sizeof steps[0] && range / steps[i] > most_lines)
        ++i;
    return steps[i];
}

static void draw_graticule(struct map *m)
{
    const struct pen thin = {ink, 1, 0.22}, tick = {ink, 1.2, 1}, letters = {ink, 1.5, 1};
    const struct gtx_grid *g = m->grid;
    const double east = g->west + (g->columns - 0.5) * g->lon_step;
    const double north = g->south + (g->rows - 0.5) * g->lat_step;
    const double right = LEFT + m->width, bottom = TOP + m->height;
    const double step = angle_step(fmax(east - g->west, north - g->south)), slack = step / 100;
    char text[32];
    for (double k = ceil(g->west / step); k * step <= east + slack; ++k) {
        double x = x_of(m, k * step);
        canvas_line(&m->canvas, x, TOP, x, bottom, &thin);
        canvas_line(&m->canvas, x, bottom, x, bottom + tick_length, &tick);
        angle_text(text, sizeof text, k * step, "EW");
        canvas_text(&m->canvas, x, bottom + 22, ALIGN_CENTRE, text_size, text, &letters);
    }
    for (double k = ceil(g->south / step); k * step <= north + slack; ++k) {
        double y = y_of(m, k * step);
        canvas_line(&m->canvas, LEFT, y, right, y, &thin);
        canvas_line(&m->canvas, LEFT - tick_length, y, LEFT, y, &tick);
        angle_text(text, sizeof text, k * step, "NS");
        canvas_text(&m->canvas, LEFT - 14, y, ALIGN_RIGHT, text_size, text, &letters);
    }
}

static void draw_box(struct canvas *c, double left, double top, double right, double bottom)
{
    const struct pen pen = {ink, 1.6, 1};
    canvas_line(c, left, top, right, top, &pen);
    canvas_line(c, right, top, right, bottom, &pen);
    canvas_line(c, right, bottom, left, bottom, &pen);
    canvas_line(c, left, bottom, left, top, &pen);
}

/* A ring with its height beside it, on the side that has room; the halo keeps it readable. */
static void mark(struct map *m, uint64_t place, double metres)
{
    const struct pen halo = {white, 5, 0.9}, ring = {ink, 2.2, 1}, letters = {ink, 1.9, 1};
    const double radius = 9, gap = 18;
    const double x = x_of(m, gtx_longitude(m->grid, place));
    const double y = y_of(m, gtx_latitude(m->grid, place));
    char text[48];
    snprintf(text, sizeof text, "%.2f m", metres);
    const double width = canvas_text_width(label_size, text) + gap;
    const enum alignment side = x + width < LEFT + m->width ? ALIGN_LEFT : ALIGN_RIGHT;
    const double text_x = side == ALIGN_LEFT ? x + gap : x - gap;
    canvas_ring(&m->canvas, x, y, radius, &halo);
    canvas_text(&m->canvas, text_x, y, side, label_size, text, &halo);
    canvas_ring(&m->canvas, x, y, radius, &ring);
    canvas_line(&m->canvas, x, y, x, y, &ring);
    canvas_text(&m->canvas, text_x, y, side, label_size, text, &letters);
}

static void draw_scale(struct map *m)
{
    const struct pen tick = {ink, 1.2, 1}, letters = {ink, 1.5, 1};
    const double width = scale_width(m);
    const double left = floor(LEFT + (m->width - width) / 2), right = left + width;
    const double top = TOP + m->height + scale_offset - scale_height, bottom = top + scale_height;
    for (uint32_t x = (uint32_t)left; x < (uint32_t)right; ++x) {
        double share = (x + 0.5 - left) / width;
        const struct pen pen = {colour_of(m, m->low + share * (m->high - m->low)), 1, 1};
        canvas_line(&m->canvas, x + 0.5, top, x + 0.5, bottom, &pen);
    }
    draw_box(&m->canvas, left, top, right, bottom);
    char text[48];
    const double slack = m->tick / 1000;
    for (double k = ceil((m->low - slack) / m->tick); k * m->tick <= m->high + slack; ++k) {
        double x = left + (k * m->tick - m->low) / (m->high - m->low) * width;
        canvas_line(&m->canvas, x, bottom, x, bottom + tick_length, &tick);
        snprintf(text, sizeof text, "%.4g", k * m->tick + 0.0);
        canvas_text(&m->canvas, x, bottom + 21, ALIGN_CENTRE, text_size, text, &letters);
    }
    canvas_text(&m->canvas, right + 20, (top + bottom) / 2, ALIGN_LEFT, text_size, "m", &letters);
}

static int write_file(const char *path, const struct canvas *c, char *why, size_t why_size)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = c->width,
                       .height = c->height,
                       .format = PNG_FORMAT_RGB};
    if (png_image_write_to_file(&image, path, 0, c->pixels, 0, NULL))
        return 0;
    snprintf(why, why_size, "%s: cannot write: %s", path, image.message);
    return -1;
}

/* Pixels of a side, from the degrees of this side and of the longer one. */
static double side_of(double degrees, double longest)
{
    return fmax(round(longest_side * degrees / longest), shortest_side);
}

int map_png_write(const char *path, const struct gtx_grid *grid, const struct analysis *a,
                  char *why, size_t why_size)
{
    const double across = grid->columns * grid->lon_step, along = grid->rows * grid->lat_step;
    struct map m = {.grid = grid,
                    .a = a,
                    .width = side_of(across, fmax(across, along)),
                    .height = side_of(along, fmax(across, along))};
    if (canvas_create(&m.canvas, (uint32_t)m.width + LEFT + RIGHT,
                      (uint32_t)m.height + TOP + BOTTOM, paper) != 0) {
        snprintf(why, why_size, "%s: no memory for the picture", path);
        return -1;
    }
    choose_scale(&m);
    choose_light(&m);
    paint_heights(&m);
    draw_graticule(&m);
    draw_box(&m.canvas, LEFT, TOP, LEFT + m.width, TOP + m.height);
    mark(&m, a->lowest, a->minimum);
    mark(&m, a->highest, a->maximum);
    draw_scale(&m);
    int result = write_file(path, &m.canvas, why, why_size);
    canvas_free(&m.canvas);
    return result;
}
