/* SPDX-License-Identifier: MIT */
/* canvas.h - an RGB picture with smooth lines, rings and a small stroked alphabet. */
#ifndef GEOID_CANVAS_H
#define GEOID_CANVAS_H

#include <stddef.h>
#include <stdint.h>

struct colour {
    uint8_t red, green, blue;
};

struct canvas {
    uint32_t width, height;
    struct colour *pixels; /* top row first */
};

/* Coordinates are in pixels from the top left corner; whole numbers lie between pixels. */
struct pen {
    struct colour colour;
    double width;
    double opacity; /* 0 to 1 */
};

int canvas_create(struct canvas *c, uint32_t width, uint32_t height, struct colour background);
void canvas_free(struct canvas *c);

void canvas_line(struct canvas *c, double x0, double y0, double x1, double y1,
                 const struct pen *pen);
void canvas_ring(struct canvas *c, double x, double y, double radius, const struct pen *pen);

/* Which point of the text lies at (x, y); vertically it is the middle. */
enum alignment { ALIGN_LEFT, ALIGN_CENTRE, ALIGN_RIGHT };

/* Digits, "-", ".", "N", "S", "E", "W", "m" and "*" for a degree sign; others are left blank. */
void canvas_text(struct canvas *c, double x, double y, enum alignment alignment, double size,
                 const char *text, const struct pen *pen);
double canvas_text_width(double size, const char *text);

#endif
