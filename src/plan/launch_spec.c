/* SPDX-License-Identifier: MIT */
/* launch_spec.c - the text form of a forced launch: "groups=G,local=L". */
#include "base/error.h"

#include <gstride/launch.h>
#include <stdlib.h>
#include <string.h>

/* A positive number that ends at ',' or the end; *at moves behind it. 0 if there is none. */
static uint64_t parse_count(const char **at)
{
    char *end;
    if (**at < '0' || **at > '9')
        return 0;
    uint64_t value = strtoull(*at, &end, 10);
    if ((*end && *end != ',') || value == UINT64_MAX)
        return 0;
    *at = end;
    return value;
}

static bool take(const char **at, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(*at, prefix, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool parse_part(const char **at, gstride_launch *launch)
{
    if (take(at, "groups=max")) {
        launch->groups = UINT64_MAX;
        return true;
    }
    if (take(at, "groups=")) {
        launch->groups = parse_count(at);
        return launch->groups != 0;
    }
    if (take(at, "local=")) {
        uint64_t local = parse_count(at);
        launch->local = (uint32_t)local;
        return local != 0 && local <= UINT32_MAX;
    }
    return false;
}

gstride_status gstride_launch_from_text(const char *text, gstride_launch *launch)
{
    if (!text || !launch)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_launch_from_text: %s is NULL",
                        text ? "launch" : "text");
    gstride_launch parsed = {0};
    const char *at = text;
    bool good = parse_part(&at, &parsed);
    if (good && *at == ',') {
        ++at;
        good = parse_part(&at, &parsed);
    }
    if (!good || *at)
        return gsi_fail(GSTRIDE_ERROR_LAUNCH_SPEC,
                        "launch \"%s\" is malformed at character %zu; write groups=G,local=L with "
                        "positive numbers, or groups=max",
                        text, (size_t)(at - text) + 1);
    *launch = parsed;
    return GSTRIDE_OK;
}
