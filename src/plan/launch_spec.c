/* SPDX-License-Identifier: MIT */
/* launch_spec.c - the text form of a forced launch: "groups=G,local=L". */
#include "base/error.h"

#include <gstride/launch.h>
#include <stdlib.h>
#include <string.h>

/* Characters of a text that a message repeats, so that the rest of the message keeps its room. */
enum { SHOWN_TEXT = 240 };

/* A number from 1 to `most` that ends at ',' or the end; *at moves behind it. 0 if there is none.
 */
static uint64_t parse_count(const char **at, uint64_t most)
{
    char *end;
    if (**at < '0' || **at > '9')
        return 0;
    uint64_t value = strtoull(*at, &end, 10); /* too large a number gives UINT64_MAX */
    if (value == 0 || value > most || (*end && *end != ','))
        return 0;
    *at = end;
    return value;
}

/* Each part may stand once. */
static bool take(const char **at, const char *prefix, bool is_set)
{
    size_t length = strlen(prefix);
    if (is_set || strncmp(*at, prefix, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool parse_part(const char **at, gstride_launch *launch)
{
    if (take(at, "groups=max", launch->groups != 0)) {
        launch->groups = UINT64_MAX;
        return true;
    }
    if (take(at, "groups=", launch->groups != 0)) {
        launch->groups = parse_count(at, UINT64_MAX - 1);
        return launch->groups != 0;
    }
    if (take(at, "local=", launch->local != 0)) {
        launch->local = (uint32_t)parse_count(at, UINT32_MAX);
        return launch->local != 0;
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
        return gsi_fail(
            GSTRIDE_ERROR_LAUNCH_SPEC,
            "launch \"%.*s\" is malformed at character %zu; write groups=G,local=L with "
            "positive numbers, or groups=max",
            SHOWN_TEXT, text, (size_t)(at - text) + 1);
    *launch = parsed;
    return GSTRIDE_OK;
}
