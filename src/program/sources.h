/* SPDX-License-Identifier: MIT */
/* sources.h - the files of cl/, embedded by cmake/embed.cmake. */
#ifndef GSI_SOURCES_H
#define GSI_SOURCES_H

#include "base/strbuf.h"

struct gsi_source_file {
    const char *name; /* "reduce.cl" */
    const char *text;
    size_t length;
};

extern const struct gsi_source_file gsi_source_files[];
extern const size_t gsi_num_source_files;

/* The text of a file, NUL-terminated. */
const char *gsi_source_text(const char *name);

/* Append a file behind a #line mark, so that build logs name the real file. */
void gsi_append_source(struct gsi_strbuf *text, const char *name);

/* Append a caller's text behind a #line mark of that name. */
void gsi_append_user_text(struct gsi_strbuf *text, const char *name, const char *user);

/* Resume generated text after a user's. */
void gsi_append_generated_mark(struct gsi_strbuf *text);

/* The names in #line marks of user text; build logs are searched for them. */
#define GSI_EXPRESSION_FILE "gstride-expression"
#define GSI_PREAMBLE_FILE   "gstride-preamble"

#endif
