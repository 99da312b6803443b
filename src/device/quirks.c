/* SPDX-License-Identifier: MIT */
/* quirks.c - the only host file that names vendors. Each row says what no query tells. */
#include "device/device_list.h"

#include <string.h>

static const struct {
    const char *platform; /* part of the platform's name */
    bool subgroup_shuffle;
    bool driver_caches_programs;
    const char *build_options; /* that every program of this platform needs */
} quirks[] = {
    /* cl/prelude.cl has inline PTX shuffles. */
    {"NVIDIA CUDA", true, false, ""},
    /* PoCL caches kernels itself, and asking it for binaries costs an extra generic build. */
    {"Portable Computing Language", false, true, ""},
    /* Oclgrind does not know an intrinsic that clang's optimiser makes when it inlines functions
     * that return structs; without the optimiser its checks are nearer to the source, too. */
    {"Oclgrind", false, false, " -cl-opt-disable"},
};

void gsi_apply_quirks(gstride_device_info *info)
{
    for (size_t i = 0; i < sizeof quirks / sizeof quirks[0]; ++i) {
        if (strstr(info->platform, quirks[i].platform)) {
            info->subgroup_shuffle = quirks[i].subgroup_shuffle;
            info->driver_caches_programs = quirks[i].driver_caches_programs;
        }
    }
}

const char *gsi_platform_build_options(const gstride_device_info *info)
{
    for (size_t i = 0; i < sizeof quirks / sizeof quirks[0]; ++i)
        if (strstr(info->platform, quirks[i].platform))
            return quirks[i].build_options;
    return "";
}
