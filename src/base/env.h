/* SPDX-License-Identifier: MIT */
/* env.h - the only door to the environment. docs/environment.md explains each variable. */
#ifndef GSI_ENV_H
#define GSI_ENV_H

enum gsi_env_name {
    GSI_ENV_DEVICE,
    GSI_ENV_LAUNCH,
    GSI_ENV_FORCE,
    GSI_ENV_LOG,
    GSI_ENV_CACHE,
    GSI_ENV_CACHE_DIR,
    GSI_ENV_CACHE_LIMIT,
    GSI_ENV_XDG_CACHE_HOME,
    GSI_ENV_HOME
};

/* The variable's value, or NULL if it is unset or empty. */
const char *gsi_env(enum gsi_env_name name);

#endif
