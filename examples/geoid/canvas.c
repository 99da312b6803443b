/* SPDX-License-Identifier: MIT */
/* canvas.c - everything is drawn by distance: a pixel is covered as far as it lies inside a stroke.
 */
#include "canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Strokes on a grid 4 wide and 6 high, "xy" from the top left; a blank lifts the pen. */
enum { GLYPH_HEIGHT = 6, GLYPH_GAP = 2 };
static const struct {
    char letter;
    const char *strokes;
} alphabet[] = {
    {'0', "10 30 41 45 36 16 05 01 10"},
    {'1', "01 10 16"},
    {'2', "01 10 30 41 42 06 46"},
    {'3', "00 40 22 32 43 45 36 16 05"},
    {'4', "36 30 04 44"},
    {'5', "40 00 02 32 43 45 36 16 05"},
    {'6', "30 20 02 05 16 36 45 44 33 13 04"},
    {'7', "00 40 16"},
    {'8', "13 02 01 10 30 41 42 33 13 04 05 16 36 45 44 33"},
    {'9', "16 26 44 41 30 10 01 02 13 33 42"},
    {'-', "03 23"},
    {'.', "06 06"},
    {'N', "06 00 46 40"},
    {'S', "41 30 10 01 02 13 33 44 45 36 16 05"},
    {'E', "40 00 06 46/03 33"},
    {'W', "00 16 22 36 40"},
    {'m', "02 06/03 12 23 26/23 32 43 46"},
    {'*', "10 21 12 01 10"},
};

int canvas_create(struct canvas *c, uint32_t width, uint32_t height, struct colour background)
{
    c->width = width;
    c->height = height;
    c->pixels = malloc((size_t)width * height * sizeof *c->pixels);
    if (!c->pixels)
        return -1;
    for (size_t i = 0; i < (size_t)width * height; ++i)
        c->pixels[i] = background;
    return 0;
}

void canvas_free(struct canvas *c)
{
    free(c->pixels);
    c->pixels = NULL;
}

static uint8_t mix(uint8_t under, uint8_t over, double share)
{
    return (uint8_t)lround(under + (over - under) * share);
}

/* Cover a pixel whose middle lies `distance` from the stroke's axis. */
static void cover(struct canvas *c, uint32_t x, uint32_t y, double distance, const struct pen *pen)
{
    double share = fmin(fmax(pen->width / 2 - distance + 0.5, 0), 1) * pen->opacity;
    struct colour *p = &c->pixels[(size_t)y * c->width + x];
    p->red = mix(p->red, pen->colour.red, share);
    p->green = mix(p->green, pen->colour.green, share);
    p->blue = mix(p->blue, pen->colour.blue, share);
}

static uint32_t clamp_to(double value, uint32_t most)
{
    return value < 0 ? 0 : value > most ? most : (uint32_t)value;
}

void canvas_line(struct canvas *c, double x0, double y0, double x1, double y1,
                 const struct pen *pen)
{
    double reach = pen->width / 2 + 1, dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy;
    uint32_t left = clamp_to(fmin(x0, x1) - reach, c->width);
    uint32_t right = clamp_to(fmax(x0, x1) + reach + 1, c->width);
    uint32_t top = clamp_to(fmin(y0, y1) - reach, c->height);
    uint32_t bottom = clamp_to(fmax(y0, y1) + reach + 1, c->height);
    for (uint32_t y = top; y < bottom; ++y)
        for (uint32_t x = left; x < right; ++x) {
            double px = x + 0.5 - x0, py = y + 0.5 - y0;
            double t = square > 0 ? fmin(fmax((px * dx + py * dy) / square, 0), 1) : 0;
            cover(c, x, y, hypot(px - t * dx, py - t * dy), pen);
        }
}

void canvas_ring(struct canvas *c, double x, double y, double radius, const struct pen *pen)
{
    double reach = radius + pen->width / 2 + 1;
    uint32_t right = clamp_to(x + reach + 1, c->width), bottom = clamp_to(y + reach + 1, c->height);
    for (uint32_t py = clamp_to(y - reach, c->height); py < bottom; ++py)
        for (uint32_t px = clamp_to(x - reach, c->width); px < right; ++px)
            cover(c, px, py, fabs(hypot(px + 0.5 - x, py + 0.5 - y) - radius), pen);
}

static const char *strokes_of(char letter)
{
    for (size_t i = 0; i < sizeof alphabet / sizeof alphabet[0]; ++i)
        if (alphabet[i].letter == letter)
            return alphabet[i].strokes;
    return "";
}

/* The alphabet is proportional: a glyph is as wide as its strokes. */
static int glyph_width(const char *strokes)
{
    int width = 0;
    for (size_t i = 0; i < strlen(strokes); i += strlen("00 "))
        width = strokes[i] - '0' > width ? strokes[i] - '0' : width;
    return width;
}

static void draw_glyph(struct canvas *c, double x, double y, double scale, const char *strokes,
                       const struct pen *pen)
{
    for (const char *s = strokes; strlen(s) >= strlen("00 00"); s += strlen("00 ")) {
        if (s[2] != ' ') /* the pen is lifted */
            continue;
        canvas_line(c, x + (s[0] - '0') * scale, y + (s[1] - '0') * scale, x + (s[3] - '0') * scale,
                    y + (s[4] - '0') * scale, pen);
    }
}

double canvas_text_width(double size, const char *text)
{
    int width = -GLYPH_GAP;
    for (; *text; ++text)
        width += glyph_width(strokes_of(*text)) + GLYPH_GAP;
    return width > 0 ? width * size / GLYPH_HEIGHT : 0;
}

void canvas_text(struct canvas *c, double x, double y, enum alignment alignment, double size,
                 const char *text, const struct pen *pen)
{
    static const double shifts[] = {[ALIGN_LEFT] = 0, [ALIGN_CENTRE] = 0.5, [ALIGN_RIGHT] = 1};
    const double scale = size / GLYPH_HEIGHT;
    x -= canvas_text_width(size, text) * shifts[alignment];
    for (; *text; ++text) {
        const char *strokes = strokes_of(*text);
        draw_glyph(c, x, y - size / 2, scale, strokes, pen);
        x += (glyph_width(strokes) + GLYPH_GAP) * scale;
    }
}
