/* SPDX-License-Identifier: MIT */
/* error.h - setting the calling thread's error record. */
#ifndef GSI_ERROR_H
#define GSI_ERROR_H

#include <gstride/status.h>

#if defined(__GNUC__)
#define GSI_PRINTF(position, first) __attribute__((format(printf, position, first)))
#else
#define GSI_PRINTF(position, first)
#endif

/* Record a failure of the calling thread and return its status, so that callers can
 * `return gsi_fail(...)`. The message is one line that names function, argument and value. */
gstride_status gsi_fail(gstride_status status, const char *format, ...) GSI_PRINTF(2, 3);

/* The same for a failed OpenCL call. Chooses among _OUT_OF_DEVICE_MEMORY, _OUT_OF_HOST_MEMORY,
 * _DEVICE_LOST and _OPENCL by the code; `call` names the OpenCL function. */
gstride_status gsi_fail_cl(int cl_code, const char *call, const char *format, ...) GSI_PRINTF(3, 4);

/* Add a compiler's log and a position to the record that gsi_fail just made. */
void gsi_error_set_log(const char *log, unsigned line, unsigned column);

/* "CL_OUT_OF_RESOURCES" for -5; "CL_?" for an unknown code; "" for 0. */
const char *gsi_cl_code_name(int cl_code);

#endif
