/* SPDX-License-Identifier: MIT */
#include "run/operands.h"

#include "base/types.h"
#include "program/expression.h"
#include "run/span_check.h"

#include <string.h>

bool gsi_operand_is_span(const struct gsi_operands *operands, size_t k)
{
    return operands->args[k].access != 0;
}

bool gsi_operand_owns_buffer(const struct gsi_operands *operands, size_t k)
{
    return gsi_operand_is_span(operands, k) && operands->buffer[k] == k;
}

static gstride_status check_overlap(const char *function, uint64_t n, struct gsi_operands *ops,
                                    size_t j, size_t k)
{
    const gstride_arg *a = &ops->args[j], *b = &ops->args[k];
    bool a_written = (a->access & GSTRIDE_WRITE) != 0, b_written = (b->access & GSTRIDE_WRITE) != 0;
    if (a->span.mem != b->span.mem && !a_written && !b_written)
        return GSTRIDE_OK;
    enum gsi_overlap overlap = gsi_spans_overlap(&a->span, n, &b->span, n);
    if (overlap == GSI_SAME && !(a_written && b_written)) {
        ops->buffer[k] = ops->buffer[j];
        return GSTRIDE_OK;
    }
    if (overlap == GSI_DISJOINT || (!a_written && !b_written))
        return GSTRIDE_OK;
    return gsi_fail(GSTRIDE_ERROR_OVERLAP, "%s: %s and %s overlap and one of them is written",
                    function, a->name, b->name);
}

static bool is_scalar_type(gstride_type type)
{
    return type == GSTRIDE_I32 || type == GSTRIDE_U32 || type == GSTRIDE_I64 ||
           type == GSTRIDE_U64 || type == GSTRIDE_F32 || type == GSTRIDE_F64;
}

static gstride_status check_one(const gstride_stream *stream, const char *function, uint64_t n,
                                struct gsi_operands *ops, size_t k)
{
    const gstride_arg *arg = &ops->args[k];
    if (!arg->name)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: the name of operand %zu is NULL", function, k);
    for (size_t j = 0; j < k; ++j)
        if (strcmp(ops->args[j].name, arg->name) == 0)
            return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: two operands are called %s", function,
                            arg->name);
    if (arg->access > GSTRIDE_READ_WRITE)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: the access of %s is %u", function, arg->name,
                        arg->access);
    ops->buffer[k] = (unsigned char)k;
    if (!arg->access && !is_scalar_type(arg->type))
        return gsi_fail(GSTRIDE_ERROR_TYPE,
                        "%s: the scalar %s is %s; scalars are i32, u32, i64, u64, f32 or f64",
                        function, arg->name, gstride_type_name(arg->type));
    if (!arg->access)
        return gsi_check_type(stream->device, function, arg->type);
    gstride_status status = gsi_check_span(stream->device, function, arg->name, &arg->span, n);
    for (size_t j = 0; j < k && status == GSTRIDE_OK; ++j)
        if (gsi_operand_is_span(ops, j))
            status = check_overlap(function, n, ops, j, k);
    return status;
}

gstride_status gsi_operands_check(const gstride_stream *stream, const char *function, uint64_t n,
                                  const gstride_arg *args, size_t count,
                                  struct gsi_operands *operands)
{
    if (count > GSTRIDE_MAX_ARGS || (count && !args))
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: %s", function,
                        args ? "more than GSTRIDE_MAX_ARGS operands" : "args is NULL");
    *operands = (struct gsi_operands){.args = args, .count = count, .unused = n == 0};
    for (size_t k = 0; k < count; ++k) {
        gstride_status status = check_one(stream, function, n, operands, k);
        if (status != GSTRIDE_OK)
            return status;
    }
    for (size_t k = 0; k < count; ++k)
        if (args[k].access & GSTRIDE_WRITE)
            operands->written[operands->buffer[k]] = true;
    return GSTRIDE_OK;
}

void gsi_operands_key(struct gsi_strbuf *key, const struct gsi_operands *operands)
{
    for (size_t k = 0; k < operands->count; ++k) {
        const gstride_arg *arg = &operands->args[k];
        gsi_strbuf_append(key, arg->name, strlen(arg->name) + 1);
        const char facts[3] = {(char)(arg->access ? arg->span.type : arg->type), (char)arg->access,
                               (char)operands->buffer[k]};
        gsi_strbuf_append(key, facts, sizeof facts);
    }
}

gstride_status gsi_operands_check_names(const struct gsi_operands *operands)
{
    gstride_status status = GSTRIDE_OK;
    for (size_t k = 0; k < operands->count && status == GSTRIDE_OK; ++k)
        status = gsi_check_name(operands->args[k].name);
    return status;
}

static const char *storage(const struct gsi_operands *operands, size_t k)
{
    return gsi_type(operands->args[k].span.type)->storage;
}

/* A scalar is called gs_s<k> outside the caller's text: the names "j" or "tile" mean something else
 * in the library's loops. */
void gsi_operands_write_params(struct gsi_strbuf *text, const struct gsi_operands *operands)
{
    gsi_strbuf_puts(text, "#define GS_PARAMS ");
    for (size_t k = 0; k < operands->count; ++k) {
        const gstride_arg *arg = &operands->args[k];
        if (gsi_operand_owns_buffer(operands, k))
            /* restrict: names of the same elements share one pointer, others do not overlap */
            gsi_strbuf_printf(text, ", %s__global %s *restrict gs_b%zu, const ulong gs_o%zu",
                              operands->written[k] ? "" : "const ", storage(operands, k), k, k);
        else if (!gsi_operand_is_span(operands, k))
            gsi_strbuf_printf(text, ", const %s gs_s%zu", gsi_type(arg->type)->value, k);
    }
    gsi_strbuf_puts(text, "\n#define GS_BIND(base)");
    for (size_t k = 0; k < operands->count; ++k)
        if (gsi_operand_owns_buffer(operands, k))
            gsi_strbuf_printf(text, " %s__global %s *const gs_p%zu = gs_b%zu + (gs_o%zu + (base));",
                              operands->written[k] ? "" : "const ", storage(operands, k), k, k, k);
    gsi_strbuf_puts(text, "\n");
}

void gsi_operands_write_pointer_params(struct gsi_strbuf *text, const struct gsi_operands *operands)
{
    for (size_t k = 0; k < operands->count; ++k) {
        const gstride_arg *arg = &operands->args[k];
        if (gsi_operand_owns_buffer(operands, k))
            gsi_strbuf_printf(text, ", const __global %s *gs_p%zu", storage(operands, k), k);
        else if (!gsi_operand_is_span(operands, k))
            gsi_strbuf_printf(text, ", const %s gs_s%zu", gsi_type(arg->type)->value, k);
    }
}

void gsi_operands_write_pointer_args(struct gsi_strbuf *text, const struct gsi_operands *operands)
{
    for (size_t k = 0; k < operands->count; ++k) {
        if (gsi_operand_owns_buffer(operands, k))
            gsi_strbuf_printf(text, ", gs_p%zu", k);
        else if (!gsi_operand_is_span(operands, k))
            gsi_strbuf_printf(text, ", gs_s%zu", k);
    }
}

void gsi_operands_write_load(struct gsi_strbuf *text, const struct gsi_operands *operands, size_t k,
                             const char *index)
{
    unsigned buffer = operands->buffer[k];
    if (operands->args[k].span.type == GSTRIDE_F16)
        gsi_strbuf_printf(text, "vload_half(%s, gs_p%u)", index, buffer);
    else
        gsi_strbuf_printf(text, "gs_p%u[%s]", buffer, index);
}

static cl_int set_scalar(struct gsi_stream_kernel *kernel, cl_uint index, const gstride_arg *arg)
{
    cl_int i32 = (cl_int)arg->scalar.i64;
    cl_uint u32 = (cl_uint)arg->scalar.u64;
    switch (arg->type) {
    case GSTRIDE_I32:
        return gsi_set_value(kernel, index, sizeof i32, &i32);
    case GSTRIDE_U32:
        return gsi_set_value(kernel, index, sizeof u32, &u32);
    case GSTRIDE_F32:
        return gsi_set_value(kernel, index, sizeof(cl_float), &arg->scalar.f32);
    default: /* the 64-bit types share their place in the union */
        return gsi_set_value(kernel, index, sizeof(cl_ulong), &arg->scalar);
    }
}

cl_int gsi_operands_set(struct gsi_stream_kernel *kernel, cl_uint *index,
                        const struct gsi_operands *operands)
{
    cl_int code = CL_SUCCESS;
    for (size_t k = 0; k < operands->count && code == CL_SUCCESS; ++k) {
        const gstride_arg *arg = &operands->args[k];
        if (gsi_operand_owns_buffer(operands, k)) {
            cl_ulong offset = arg->span.offset;
            code = gsi_set_buffer(kernel, (*index)++, operands->unused ? NULL : arg->span.mem);
            if (code == CL_SUCCESS)
                code = gsi_set_value(kernel, (*index)++, sizeof offset, &offset);
        } else if (!gsi_operand_is_span(operands, k)) {
            code = set_scalar(kernel, (*index)++, arg);
        }
    }
    return code;
}
