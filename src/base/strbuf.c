/* SPDX-License-Identifier: MIT */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct gsi_strbuf *buf, size_t more)
{
    if (buf->failed)
        return false;
    size_t needed = buf->length + more + 1;
    if (needed <= buf->capacity)
        return true;
    size_t capacity = needed < 256 ? 256 : needed + needed / 2;
    char *text = realloc(buf->text, capacity);
    if (!text) {
        gsi_strbuf_free(buf);
        buf->failed = true;
        return false;
    }
    buf->text = text;
    buf->capacity = capacity;
    return true;
}

void gsi_strbuf_append(struct gsi_strbuf *buf, const char *bytes, size_t length)
{
    if (!reserve(buf, length))
        return;
    if (length)
        memcpy(buf->text + buf->length, bytes, length);
    buf->length += length;
    buf->text[buf->length] = '\0';
}

void gsi_strbuf_puts(struct gsi_strbuf *buf, const char *text)
{
    gsi_strbuf_append(buf, text, strlen(text));
}

void gsi_strbuf_printf(struct gsi_strbuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || !reserve(buf, (size_t)length))
        return;
    va_start(args, format);
    vsnprintf(buf->text + buf->length, (size_t)length + 1, format, args);
    va_end(args);
    buf->length += (size_t)length;
}

void gsi_strbuf_free(struct gsi_strbuf *buf)
{
    free(buf->text);
    *buf = (struct gsi_strbuf){0};
}
