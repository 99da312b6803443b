/* SPDX-License-Identifier: MIT */
/* cmd_selftest.c - gstride selftest: is this device's arithmetic what the library promises? */
#include "tool.h"

#include <inttypes.h>

static const char help[] =
    "usage: gstride selftest [--quick | --full] [--device SPEC]\n"
    "\n"
    "Run the primitives on seeded data and compare the bits of the results with the answers that\n"
    "ship in the library. What the device lacks, such as fp64, is left out. The first case that "
    "is\n"
    "wrong is named.\n"
    "\n"
    "  --quick        a part of the cases, in seconds (the default)\n"
    "  --full         all cases\n" TOOL_DEVICE_HELP "\n"
    "Exit status: 0 all cases are right, 1 one is wrong or could not run, 2 for a wrong command\n"
    "line.\n"
    "\n"
    "Example: test the second device of the list with all cases\n"
    "  gstride selftest --full --device '#1'\n";

static enum tool_exit judge(const struct tool_command *command, const char *set,
                            gstride_status status, uint64_t cases)
{
    if (status == GSTRIDE_OK && cases > 0) {
        printf("self-test (%s): passed, %" PRIu64 " cases are right\n", set, cases);
        return TOOL_OK;
    }
    printf("self-test (%s): FAILED\n", set);
    if (status == GSTRIDE_OK)
        return tool_fail_with(command, "no case was compared, so nothing is proven");
    return tool_fail(command);
}

static enum tool_exit run(const struct tool_options *options)
{
    bool full = options->value[TOOL_FULL] != NULL;
    const char *set = full ? "full" : "quick";
    gstride_device *device = NULL;
    gstride_stream *stream = NULL;
    tool_progress("opening the device");
    gstride_status status = gstride_device_open(options->value[TOOL_DEVICE], &device);
    if (status == GSTRIDE_OK)
        status = gstride_stream_create(device, &stream);
    tool_progress_end();
    if (status != GSTRIDE_OK) {
        gstride_device_close(device);
        return tool_fail(options->command);
    }
    const gstride_device_info *info = gstride_device_get_info(device);
    printf("device: #%" PRIu32 " %s (%s, driver %s)\n", info->index, info->name, info->platform,
           info->driver_version);
    fflush(stdout);
    uint64_t cases = 0;
    tool_progress("self-test (%s) is running", set);
    status = gstride_selftest(stream, full ? GSTRIDE_DIGEST_FULL : GSTRIDE_DIGEST_QUICK, &cases);
    tool_progress_end();
    enum tool_exit result = judge(options->command, set, status, cases);
    gstride_stream_destroy(stream);
    gstride_device_close(device);
    return result;
}

const struct tool_command tool_selftest = {
    .name = "selftest",
    .summary = "compare a device's results with the known answers",
    .help = help,
    .accepted = TOOL_ACCEPTS(TOOL_QUICK) | TOOL_ACCEPTS(TOOL_FULL) | TOOL_ACCEPTS(TOOL_DEVICE),
    .run = run,
};
