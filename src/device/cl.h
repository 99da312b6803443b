/* SPDX-License-Identifier: MIT */
/* cl.h - the one place that includes the OpenCL headers. Only OpenCL 1.2 entry points are used, so
 * that the library loads with any ICD loader. */
#ifndef GSI_CL_H
#define GSI_CL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#endif
