/* SPDX-License-Identifier: MIT */
#include <gstride/version.h>

const char *gstride_version(void)
{
    return GSTRIDE_VERSION;
}
