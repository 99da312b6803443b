/* SPDX-License-Identifier: MIT */
/* log.h - messages to stderr, only when GSTRIDE_LOG asks for them. */
#ifndef GSI_LOG_H
#define GSI_LOG_H

#include "base/error.h"

enum gsi_log_level { GSI_LOG_OFF, GSI_LOG_ERROR, GSI_LOG_INFO, GSI_LOG_DEBUG };

/* Print "gstride: ..." if GSTRIDE_LOG is at least `level` ("error", "info", "debug"). */
void gsi_log(enum gsi_log_level level, const char *format, ...) GSI_PRINTF(2, 3);

#endif
