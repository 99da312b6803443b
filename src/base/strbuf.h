/* SPDX-License-Identifier: MIT */
/* strbuf.h - a growing string. After a failed allocation it stays empty and `failed` is set, so
 * that a sequence of appends needs one check at its end. */
#ifndef GSI_STRBUF_H
#define GSI_STRBUF_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct gsi_strbuf {
    char *text; /* NUL-terminated; NULL before the first append */
    size_t length;
    size_t capacity;
    bool failed;
};

void gsi_strbuf_append(struct gsi_strbuf *buf, const char *bytes, size_t length);
void gsi_strbuf_puts(struct gsi_strbuf *buf, const char *text);
void gsi_strbuf_printf(struct gsi_strbuf *buf, const char *format, ...) GSI_PRINTF(2, 3);
void gsi_strbuf_free(struct gsi_strbuf *buf);

#endif
