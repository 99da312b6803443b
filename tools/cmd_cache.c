/* SPDX-License-Identifier: MIT */
/* cmd_cache.c - gstride cache: look at the program cache on disk, or empty it. */
#include "tool.h"

#include <inttypes.h>
#include <string.h>

static const char help[] =
    "usage: gstride cache show [--json]\n"
    "       gstride cache clear\n"
    "\n"
    "gstride keeps the programs that a driver compiled on disk, in GSTRIDE_CACHE_DIR, else in\n"
    "gstride/ below XDG_CACHE_HOME or ~/.cache. GSTRIDE_CACHE=off touches no file.\n"
    "\n"
    "  show           where the cache lies, how much is in it, and how large it may get\n"
    "  clear          delete every entry; programs are compiled again when they are needed\n"
    "  --json         print JSON instead (show only)\n"
    "\n"
    "Exit status: 0 success, even if the cache is off or empty, 1 failure, 2 for a wrong command\n"
    "line.\n"
    "\n"
    "Example: how large is the cache of another program's user?\n"
    "  GSTRIDE_CACHE_DIR=/var/cache/gstride gstride cache show\n";

static cJSON *json_cache(const gstride_cache_info *info)
{
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "directory", info->directory);
    if (!info->directory[0])
        cJSON_AddStringToObject(document, "why_off", info->why_off);
    tool_json_u64(document, "entries", info->entries);
    tool_json_u64(document, "bytes", info->bytes);
    tool_json_u64(document, "limit_bytes", info->limit_bytes);
    return document;
}

static void print_text(const gstride_cache_info *info)
{
    char bytes[TOOL_BYTES_LENGTH], limit[TOOL_BYTES_LENGTH];
    if (info->directory[0])
        printf("directory  %s\n", info->directory);
    else
        printf("directory  none: %s\n", info->why_off);
    printf("entries    %" PRIu64 "\n", info->entries);
    printf("size       %s\n", tool_format_bytes(info->bytes, bytes));
    printf("limit      %s\n", tool_format_bytes(info->limit_bytes, limit));
}

static enum tool_exit show(const struct tool_options *options)
{
    gstride_cache_info info;
    if (gstride_cache_get_info(&info) != GSTRIDE_OK)
        return tool_fail(options->command);
    if (options->value[TOOL_JSON])
        return tool_json_print(options->command, json_cache(&info));
    print_text(&info);
    return TOOL_OK;
}

static enum tool_exit clear(const struct tool_options *options)
{
    uint64_t removed = 0;
    gstride_cache_info info;
    if (options->value[TOOL_JSON])
        return tool_usage_error(options->command, "clear prints no JSON");
    if (gstride_cache_clear(&removed) != GSTRIDE_OK || gstride_cache_get_info(&info) != GSTRIDE_OK)
        return tool_fail(options->command);
    if (!info.directory[0]) {
        printf("nothing to remove: %s\n", info.why_off);
        return TOOL_OK;
    }
    printf("removed %" PRIu64 " entries from %s\n", removed, info.directory);
    if (removed == 0 && info.entries > 0) /* some left beside removed ones may be new ones */
        return tool_fail_with(options->command, "%" PRIu64 " entries could not be removed",
                              info.entries);
    return TOOL_OK;
}

static enum tool_exit run(const struct tool_options *options)
{
    if (strcmp(options->operand, "show") == 0)
        return show(options);
    if (strcmp(options->operand, "clear") == 0)
        return clear(options);
    return tool_usage_error(options->command, "\"%s\" is neither show nor clear", options->operand);
}

const struct tool_command tool_cache = {
    .name = "cache",
    .summary = "show or clear the program cache on disk",
    .help = help,
    .operand = "show or clear",
    .accepted = TOOL_ACCEPTS(TOOL_JSON),
    .run = run,
};
