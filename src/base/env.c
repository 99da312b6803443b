/* SPDX-License-Identifier: MIT */
#include "base/env.h"

#include <stdlib.h>

const char *gsi_env(enum gsi_env_name name)
{
    static const char *const names[] = {
        [GSI_ENV_DEVICE] = "GSTRIDE_DEVICE",
        [GSI_ENV_LAUNCH] = "GSTRIDE_LAUNCH",
        [GSI_ENV_FORCE] = "GSTRIDE_FORCE",
        [GSI_ENV_LOG] = "GSTRIDE_LOG",
        [GSI_ENV_CACHE] = "GSTRIDE_CACHE",
        [GSI_ENV_CACHE_DIR] = "GSTRIDE_CACHE_DIR",
        [GSI_ENV_CACHE_LIMIT] = "GSTRIDE_CACHE_LIMIT",
        [GSI_ENV_XDG_CACHE_HOME] = "XDG_CACHE_HOME",
        [GSI_ENV_HOME] = "HOME",
    };
    const char *value = getenv(names[name]);
    return value && value[0] ? value : NULL;
}
