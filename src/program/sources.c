/* SPDX-License-Identifier: MIT */
#include "program/sources.h"

#include <string.h>

const char *gsi_source_text(const char *name)
{
    for (size_t i = 0; i < gsi_num_source_files; ++i)
        if (strcmp(gsi_source_files[i].name, name) == 0)
            return gsi_source_files[i].text;
    return "#error \"no such embedded file\"\n";
}

void gsi_append_source(struct gsi_strbuf *text, const char *name)
{
    gsi_strbuf_printf(text, "#line 1 \"%s\"\n", name);
    gsi_strbuf_puts(text, gsi_source_text(name));
}

void gsi_append_user_text(struct gsi_strbuf *text, const char *name, const char *user)
{
    gsi_strbuf_printf(text, "\n#line 1 \"%s\"\n", name);
    gsi_strbuf_puts(text, user);
    gsi_strbuf_puts(text, "\n");
}

void gsi_append_generated_mark(struct gsi_strbuf *text)
{
    gsi_strbuf_puts(text, "#line 1 \"gstride-generated\"\n");
}
