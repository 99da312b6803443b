/* SPDX-License-Identifier: MIT */
/* cmd_digest.c - gstride digest: the hashes of all results, to be compared between devices. */
#include "tool.h"

#include <inttypes.h>

static const char help[] =
    "usage: gstride digest [--quick | --full] [--device SPEC]\n"
    "\n"
    "Run the primitives on seeded data and print a line for each: primitive, type, operator,\n"
    "number of elements, and a hash of the result's bits. The lines are the same on every device,\n"
    "under every launch shape and on every machine; one that starts with # names what the device\n"
    "lacks. So two outputs that differ in another line show a defect.\n"
    "\n"
    "  --quick        a part of the lines, in seconds (the default)\n"
    "  --full         all lines\n" TOOL_DEVICE_HELP "\n"
    "Exit status: 0 success, 1 failure, 2 for a wrong command line.\n"
    "\n"
    "Example: compare two devices\n"
    "  diff <(gstride digest --device gpu) <(gstride digest --device cpu)\n";

static int print_line(void *user, const char *line)
{
    uint64_t *lines = user;
    tool_progress_end();
    puts(line);
    fflush(stdout); /* so that a reader sees how far it came, even if the driver crashes */
    tool_progress("%" PRIu64 " lines", ++*lines);
    return ferror(stdout);
}

static enum tool_exit run(const struct tool_options *options)
{
    gstride_device *device = NULL;
    gstride_stream *stream = NULL;
    uint64_t lines = 0;
    tool_progress("opening the device");
    gstride_status status = gstride_device_open(options->value[TOOL_DEVICE], &device);
    if (status == GSTRIDE_OK)
        status = gstride_stream_create(device, &stream);
    if (status == GSTRIDE_OK)
        status = gstride_digest(
            stream, options->value[TOOL_FULL] ? GSTRIDE_DIGEST_FULL : GSTRIDE_DIGEST_QUICK,
            print_line, &lines);
    tool_progress_end();
    enum tool_exit result = TOOL_OK;
    if (status != GSTRIDE_OK && !ferror(stdout)) /* main tells about a broken output */
        result = tool_fail(options->command);
    gstride_stream_destroy(stream);
    gstride_device_close(device);
    return result;
}

const struct tool_command tool_digest = {
    .name = "digest",
    .summary = "print hashes of all results, the same on every device",
    .help = help,
    .accepted = TOOL_ACCEPTS(TOOL_QUICK) | TOOL_ACCEPTS(TOOL_FULL) | TOOL_ACCEPTS(TOOL_DEVICE),
    .run = run,
};
