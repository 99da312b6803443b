/* SPDX-License-Identifier: MIT */
/* geoid - statistics and a map of a geoid grid, computed on an OpenCL device. */
#include "analysis.h"
#include "gtx.h"
#include "map_png.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_SIZE = 4096, WHY_SIZE = PATH_SIZE + 256, EXIT_USAGE = 2 };

static const char help[] =
    "usage: geoid [--device SPEC] [--output FILE] [GRID.gtx]\n"
    "\n"
    "Reads a geoid grid in GTX format, prints its extremes and means, and writes a map.\n"
    "Without GRID.gtx it takes " GTX_DEFAULT_NAME " from PROJ_DATA, PROJ_LIB or /usr/share/proj.\n"
    "\n"
    "  -d, --device SPEC   the device, as in GSTRIDE_DEVICE (gpu, cpu, #0, part of its name)\n"
    "  -o, --output FILE   the map, a PNG picture [geoid.png]\n"
    "  -h, --help          this text\n";

struct options {
    const char *device; /* NULL leaves the choice to GSTRIDE_DEVICE */
    const char *output;
    const char *grid; /* NULL looks for the default */
};

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {{"device", required_argument, NULL, 'd'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    for (int option; (option = getopt_long(argc, argv, "d:o:h", known, NULL)) != -1;) {
        if (option == 'd')
            options->device = optarg;
        else if (option == 'o')
            options->output = optarg;
        else {
            fputs(help, option == 'h' ? stdout : stderr);
            return option == 'h' ? EXIT_SUCCESS : EXIT_USAGE;
        }
    }
    if (argc - optind > 1) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    options->grid = argv[optind];
    return -1;
}

/* "4.75 N 78.75 E" */
static void print_place(const char *what, double metres, const struct gtx_grid *grid,
                        uint64_t point)
{
    double lat = gtx_latitude(grid, point), lon = gtx_longitude(grid, point);
    if (lon > 180)
        lon -= 360;
    printf("%-19s %.4f m at %.6g %c %.6g %c\n", what, metres, fabs(lat), lat < 0 ? 'S' : 'N',
           fabs(lon), lon < 0 ? 'W' : 'E');
}

static void print_results(const struct gtx_grid *grid, const struct analysis *a)
{
    printf("grid                %" PRIu32 " columns x %" PRIu32 " rows = %" PRIu64 " points\n",
           grid->columns, grid->rows, grid->points);
    if (a->known < grid->points)
        printf("without a value     %" PRIu64 " points, left out\n", grid->points - a->known);
    print_place("minimum", a->minimum, grid, a->lowest);
    print_place("maximum", a->maximum, grid, a->highest);
    printf("plain mean          %.4f m\n", a->mean);
    printf("area-weighted mean  %.4f m\n", a->area_mean);
    printf("rms                 %.4f m\n", a->rms);
    printf("sums are in         %s\n",
           a->wide ? "double precision"
                   : "single precision, as the device has no double; expect fewer digits");
}

static void print_times(const struct analysis *a)
{
    const double ns_per_us = 1000;
    uint64_t total = 0;
    printf("\ntime by the %s clock, microseconds\n", a->host_clock ? "host's" : "device's");
    for (size_t i = 0; i < a->num_steps; ++i) {
        printf("  %-16s %10.1f\n", a->steps[i].name, (double)a->steps[i].ns / ns_per_us);
        total += a->steps[i].ns;
    }
    printf("  %-16s %10.1f\n", "together", (double)total / ns_per_us);
}

static int fail(const char *why)
{
    fprintf(stderr, "geoid: %s\n", why);
    return EXIT_FAILURE;
}

static int fail_in_library(gstride_status status)
{
    /* Out of host memory may be our own, then the library has noted nothing. */
    const gstride_error *error = gstride_last_error();
    if (error->status != status)
        return fail(gstride_status_text(status));
    fprintf(stderr, "geoid: %s\n%s", error->message, error->build_log);
    return EXIT_FAILURE;
}

static int work_on(const struct gtx_grid *grid, const struct options *options)
{
    gstride_device *device;
    gstride_status status = gstride_device_open(options->device, &device);
    if (status != GSTRIDE_OK)
        return fail_in_library(status);
    struct analysis a;
    status = analyse(device, grid, &a);
    printf("device              %s\n", gstride_device_get_info(device)->name);
    gstride_device_close(device);
    if (status != GSTRIDE_OK)
        return fail_in_library(status);
    int result = EXIT_SUCCESS;
    char why[WHY_SIZE];
    if (a.known == 0) {
        result = fail("no point of the grid has a value");
    } else {
        print_results(grid, &a);
        print_times(&a);
        if (map_png_write(options->output, grid, &a, why, sizeof why) != 0)
            result = fail(why);
        else
            printf("\nmap                 %s\n", options->output);
    }
    analysis_free(&a);
    return result;
}

int main(int argc, char **argv)
{
    struct options options = {.output = "geoid.png"};
    int done = parse_options(argc, argv, &options);
    if (done >= 0)
        return done;
    char found[PATH_SIZE], why[WHY_SIZE];
    if (!options.grid) {
        if (gtx_find_default(found, sizeof found) != 0)
            return fail(GTX_DEFAULT_NAME " is not in PROJ_DATA, PROJ_LIB or /usr/share/proj; "
                                         "install proj-data or name a file");
        options.grid = found;
    }
    struct gtx_grid grid;
    if (gtx_read(options.grid, &grid, why, sizeof why) != 0)
        return fail(why);
    int result = work_on(&grid, &options);
    gtx_free(&grid);
    return result;
}
