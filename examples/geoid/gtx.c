/* SPDX-License-Identifier: MIT */
/* gtx.c - the GTX reader. A file is believed only if its header is sane and its length exact: the
 * format has no signature by which a foreign file would show itself. */
#include "gtx.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER_BYTES = 40, ROWS_AT = 32, COLUMNS_AT = 36, VALUE_BYTES = 4 };

static const uint32_t most_points_per_side = 100000;
static const uint64_t most_points = UINT64_C(1) << 30;
static const double angle_slack = 1e-6; /* degrees; headers are sums of rounded steps */

static uint64_t big_endian(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i)
        value = value << 8 | bytes[i];
    return value;
}

static double big_endian_double(const unsigned char *bytes)
{
    uint64_t bits = big_endian(bytes, sizeof bits);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void parse_header(const unsigned char *header, struct gtx_grid *grid)
{
    double *const fields[] = {&grid->south, &grid->west, &grid->lat_step, &grid->lon_step};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i)
        *fields[i] = big_endian_double(header + i * sizeof(double));
    grid->rows = (uint32_t)big_endian(header + ROWS_AT, sizeof grid->rows);
    grid->columns = (uint32_t)big_endian(header + COLUMNS_AT, sizeof grid->columns);
    grid->points = (uint64_t)grid->rows * grid->columns;
}

static int size_is_sane(uint32_t count)
{
    return count >= 2 && count <= most_points_per_side;
}

/* NULL for a believable header, else what is wrong with it. */
static const char *header_fault(const struct gtx_grid *g)
{
    if (!isfinite(g->south) || !isfinite(g->west) || !isfinite(g->lat_step) ||
        !isfinite(g->lon_step))
        return "its header holds numbers that are not finite";
    if (g->lat_step <= 0 || g->lon_step <= 0)
        return "its header holds steps that are not positive";
    if (!size_is_sane(g->rows) || !size_is_sane(g->columns) || g->points > most_points)
        return "its header holds impossible numbers of rows or columns";
    if (g->south < -90 - angle_slack || g->south + (g->rows - 1) * g->lat_step > 90 + angle_slack)
        return "its latitudes leave the range from -90 to 90";
    if (fabs(g->west) > 360 + angle_slack || (g->columns - 1) * g->lon_step > 360 + angle_slack)
        return "its longitudes leave the circle";
    return NULL;
}

static int read_values(FILE *file, const char *path, struct gtx_grid *grid, char *why,
                       size_t why_size)
{
    size_t wanted = (size_t)grid->points * VALUE_BYTES;
    grid->bytes = malloc(wanted);
    if (!grid->bytes) {
        snprintf(why, why_size, "%s: no memory for %zu bytes", path, wanted);
        return -1;
    }
    size_t got = fread(grid->bytes, 1, wanted, file);
    if (ferror(file))
        snprintf(why, why_size, "%s: cannot read: %s", path, strerror(errno));
    else if (got < wanted)
        snprintf(why, why_size,
                 "%s: truncated: %u rows of %u columns need %zu bytes, %zu are there", path,
                 grid->rows, grid->columns, wanted + HEADER_BYTES, got + HEADER_BYTES);
    else if (fgetc(file) != EOF)
        snprintf(why, why_size, "%s: not a GTX grid: bytes follow its %u rows of %u columns", path,
                 grid->rows, grid->columns);
    else
        return 0;
    gtx_free(grid);
    return -1;
}

static int read_open_file(FILE *file, const char *path, struct gtx_grid *grid, char *why,
                          size_t why_size)
{
    unsigned char header[HEADER_BYTES];
    size_t got = fread(header, 1, sizeof header, file);
    if (ferror(file)) {
        snprintf(why, why_size, "%s: cannot read: %s", path, strerror(errno));
        return -1;
    }
    if (got < sizeof header) {
        snprintf(why, why_size, "%s: not a GTX grid: %zu bytes are too few for a header of %d",
                 path, got, HEADER_BYTES);
        return -1;
    }
    parse_header(header, grid);
    const char *fault = header_fault(grid);
    if (fault) {
        snprintf(why, why_size, "%s: not a GTX grid: %s", path, fault);
        return -1;
    }
    return read_values(file, path, grid, why, why_size);
}

int gtx_read(const char *path, struct gtx_grid *grid, char *why, size_t why_size)
{
    memset(grid, 0, sizeof *grid);
    FILE *file = fopen(path, "rb");
    if (!file) {
        snprintf(why, why_size, "%s: cannot open: %s", path, strerror(errno));
        return -1;
    }
    int result = read_open_file(file, path, grid, why, why_size);
    fclose(file);
    return result;
}

void gtx_free(struct gtx_grid *grid)
{
    free(grid->bytes);
    grid->bytes = NULL;
}

/* Try the default name in each directory of a list like PATH. */
static int find_in(const char *directories, char *path, size_t path_size)
{
    while (directories && *directories) {
        int length = (int)strcspn(directories, ":");
        int needed = snprintf(path, path_size, "%.*s/%s", length, directories, GTX_DEFAULT_NAME);
        if (length > 0 && needed > 0 && (size_t)needed < path_size && access(path, R_OK) == 0)
            return 0;
        directories += length;
        directories += *directories == ':';
    }
    return -1;
}

int gtx_find_default(char *path, size_t path_size)
{
    const char *const places[] = {getenv("PROJ_DATA"), getenv("PROJ_LIB"), "/usr/share/proj"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i)
        if (find_in(places[i], path, path_size) == 0)
            return 0;
    return -1;
}

double gtx_latitude(const struct gtx_grid *grid, uint64_t point)
{
    uint64_t row = point / grid->columns;
    return grid->south + (double)row * grid->lat_step;
}

double gtx_longitude(const struct gtx_grid *grid, uint64_t point)
{
    uint64_t column = point % grid->columns;
    return grid->west + (double)column * grid->lon_step;
}
