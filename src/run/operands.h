/* SPDX-License-Identifier: MIT */
/* operands.h - named spans and scalars of an expression: checks, key, source text, arguments. */
#ifndef GSI_RUN_OPERANDS_H
#define GSI_RUN_OPERANDS_H

#include "run/stream.h"

#include <gstride/map.h>

struct gsi_operands {
    const gstride_arg *args;
    size_t count;
    bool unused; /* no element is used: buffers were not checked, and no driver gets to see them */
    unsigned char buffer[GSTRIDE_MAX_ARGS]; /* of a span: the first operand of its elements */
    bool written[GSTRIDE_MAX_ARGS]; /* of such a first operand: some name of it is written */
};

/* Check everything that does not need the text: types, lengths, devices, overlaps. */
gstride_status gsi_operands_check(const gstride_stream *stream, const char *function, uint64_t n,
                                  const gstride_arg *args, size_t count,
                                  struct gsi_operands *operands);

/* Append what specialises a program to a key. */
void gsi_operands_key(struct gsi_strbuf *key, const struct gsi_operands *operands);

/* Check the names. \return GSTRIDE_OK or GSTRIDE_ERROR_ARGUMENT */
gstride_status gsi_operands_check_names(const struct gsi_operands *operands);

/* #define GS_PARAMS and GS_BIND(base); see cl/map.cl. */
void gsi_operands_write_params(struct gsi_strbuf *text, const struct gsi_operands *operands);

/* Parameters and arguments for passing the bound pointers and scalars to a function, each with a
 * leading comma. */
void gsi_operands_write_pointer_params(struct gsi_strbuf *text,
                                       const struct gsi_operands *operands);
void gsi_operands_write_pointer_args(struct gsi_strbuf *text, const struct gsi_operands *operands);

/* "gs_p3[index]" or what binary16 needs instead. */
void gsi_operands_write_load(struct gsi_strbuf *text, const struct gsi_operands *operands, size_t k,
                             const char *index);

bool gsi_operand_is_span(const struct gsi_operands *operands, size_t k);
/* True for the one operand that stands for its buffer. */
bool gsi_operand_owns_buffer(const struct gsi_operands *operands, size_t k);

/* Set kernel arguments from *index on; *index moves behind them. */
cl_int gsi_operands_set(struct gsi_stream_kernel *kernel, cl_uint *index,
                        const struct gsi_operands *operands);

#endif
