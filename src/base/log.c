/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include "base/env.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static enum gsi_log_level wanted_level(void)
{
    const char *text = gsi_env(GSI_ENV_LOG);
    if (!text)
        return GSI_LOG_OFF;
    static const char *const names[] = {"off", "error", "info", "debug"};
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); ++i)
        if (strcmp(text, names[i]) == 0)
            return (enum gsi_log_level)i;
    return GSI_LOG_INFO;
}

void gsi_log(enum gsi_log_level level, const char *format, ...)
{
    if (level > wanted_level())
        return;
    char line[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "gstride: %s\n", line);
}
