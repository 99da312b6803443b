/* SPDX-License-Identifier: MIT */
/* map.c - elementwise expressions, and the conveniences made of them. */
#include <gstride/map.h>

#include "base/types.h"
#include "program/expression.h"
#include "program/sources.h"
#include "run/launch.h"
#include "run/operands.h"
#include "run/span_check.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

struct map_request {
    struct gsi_launch launch; /* first: the source writer gets a pointer to it */
    const char *preamble;     /* "" if there is none */
    const char *expression;
    struct gsi_operands operands;
};

static const char *value_type(const struct gsi_operands *operands, size_t k)
{
    const gstride_arg *arg = &operands->args[k];
    return gsi_type(arg->access ? arg->span.type : arg->type)->value;
}

static void write_signature(struct gsi_strbuf *text, const struct gsi_operands *ops)
{
    gsi_strbuf_puts(text, "static void gs_expression(const ulong i");
    for (size_t k = 0; k < ops->count; ++k) {
        bool written = (ops->args[k].access & GSTRIDE_WRITE) != 0;
        gsi_strbuf_printf(text, written ? ", %s *gs_out_%s" : ", const %s %s", value_type(ops, k),
                          ops->args[k].name);
    }
    gsi_strbuf_puts(text, ")");
}

/* A function around the caller's text: written operands are locals, copied out at the end. */
static void write_expression(struct gsi_strbuf *text, const struct map_request *r)
{
    const struct gsi_operands *ops = &r->operands;
    write_signature(text, ops);
    gsi_strbuf_puts(text, "\n{\n");
    for (size_t k = 0; k < ops->count; ++k)
        if (ops->args[k].access & GSTRIDE_WRITE)
            gsi_strbuf_printf(text, "%s %s = *gs_out_%s;\n", value_type(ops, k), ops->args[k].name,
                              ops->args[k].name);
    gsi_strbuf_puts(text, "{");
    gsi_append_user_text(text, GSI_EXPRESSION_FILE, r->expression);
    gsi_strbuf_puts(text, ";\n");
    gsi_append_generated_mark(text);
    gsi_strbuf_puts(text, "}\n");
    for (size_t k = 0; k < ops->count; ++k)
        if (ops->args[k].access & GSTRIDE_WRITE)
            gsi_strbuf_printf(text, "*gs_out_%s = %s;\n", ops->args[k].name, ops->args[k].name);
    gsi_strbuf_puts(text, "}\n");
}

static void write_store(struct gsi_strbuf *text, const struct gsi_operands *ops, size_t k)
{
    if (ops->args[k].span.type == GSTRIDE_F16)
        gsi_strbuf_printf(text, " gs_store_half(gs_v%zu, gs_j, gs_p%u);", k, ops->buffer[k]);
    else
        gsi_strbuf_printf(text, " gs_p%u[gs_j] = gs_v%zu;", ops->buffer[k], k);
}

static void write_element(struct gsi_strbuf *text, const struct gsi_operands *ops)
{
    gsi_strbuf_puts(text, "#define GS_ELEMENT(base, index) { const uint gs_j = (index);");
    for (size_t k = 0; k < ops->count; ++k) {
        if (!gsi_operand_is_span(ops, k))
            continue;
        gsi_strbuf_printf(text, " %s gs_v%zu = ", value_type(ops, k), k);
        if (ops->args[k].access & GSTRIDE_READ)
            gsi_operands_write_load(text, ops, k, "gs_j");
        else
            gsi_strbuf_puts(text, "0");
        gsi_strbuf_puts(text, ";");
    }
    gsi_strbuf_puts(text, " gs_expression((base) + gs_j");
    for (size_t k = 0; k < ops->count; ++k) {
        if (!gsi_operand_is_span(ops, k))
            gsi_strbuf_printf(text, ", gs_s%zu", k);
        else
            gsi_strbuf_printf(text,
                              ops->args[k].access & GSTRIDE_WRITE ? ", &gs_v%zu" : ", gs_v%zu", k);
    }
    gsi_strbuf_puts(text, ");");
    for (size_t k = 0; k < ops->count; ++k)
        if (ops->args[k].access & GSTRIDE_WRITE)
            write_store(text, ops, k);
    gsi_strbuf_puts(text, " }\n");
}

static gstride_status write_source(struct gsi_strbuf *text, const void *request)
{
    const struct map_request *r = request;
    gstride_status status = gsi_operands_check_names(&r->operands);
    if (status == GSTRIDE_OK)
        status = gsi_check_text("preamble", r->preamble, GSI_PREAMBLE);
    if (status == GSTRIDE_OK)
        status = gsi_check_text("expression", r->expression, GSI_STATEMENTS);
    if (status != GSTRIDE_OK)
        return status;
    gsi_append_prelude(text, &r->launch.specialisation);
    write_signature(text, &r->operands);
    gsi_strbuf_puts(text, ";\n");
    gsi_operands_write_params(text, &r->operands);
    write_element(text, &r->operands);
    gsi_append_source(text, "map.cl");
    /* The caller's text comes last: its macros must not change the library's. */
    gsi_append_user_text(text, GSI_PREAMBLE_FILE, r->preamble);
    gsi_append_generated_mark(text);
    write_expression(text, r);
    return GSTRIDE_OK;
}

static gstride_status run_map(gstride_stream *stream, struct map_request *r)
{
    gstride_status status = gsi_launch_plan(stream, &r->launch);
    if (status != GSTRIDE_OK)
        return status;
    cl_uint index = GSI_NUM_FIRST_ARGS;
    cl_int code = gsi_operands_set(r->launch.kernel, &index, &r->operands);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clSetKernelArg", "gstride_map on %s", stream->device->info.name);
    return gsi_launch_run(stream, &r->launch);
}

static gstride_status map_checked(gstride_stream *stream, const char *function, uint64_t n,
                                  const char *preamble, const char *expression,
                                  const gstride_arg *args, size_t num_args)
{
    gstride_status status = gsi_stream_check(stream, function);
    if (status != GSTRIDE_OK)
        return status;
    if (!expression)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: expression is NULL", function);
    struct map_request r = {.launch = {.primitive = GSI_MAP,
                                       .kernel_name = "gstride_map",
                                       .write_source = write_source,
                                       .n = n},
                            .preamble = preamble ? preamble : "",
                            .expression = expression};
    status = gsi_operands_check(stream, function, n, args, num_args, &r.operands);
    if (status != GSTRIDE_OK)
        return status;
    if (n == 0)
        return gsi_call_of_nothing(stream);
    gsi_key_begin(stream);
    gsi_strbuf_puts(&stream->key, "map");
    gsi_operands_key(&stream->key, &r.operands);
    gsi_strbuf_append(&stream->key, expression, strlen(expression) + 1);
    gsi_strbuf_puts(&stream->key, r.preamble);
    gsi_call_begin(stream);
    return gsi_call_end(stream, run_map(stream, &r));
}

gstride_status gstride_map(gstride_stream *stream, uint64_t n, const char *expression,
                           const gstride_arg *args, size_t num_args)
{
    return map_checked(stream, "gstride_map", n, NULL, expression, args, num_args);
}

gstride_status gstride_map_with(gstride_stream *stream, uint64_t n, const char *preamble,
                                const char *expression, const gstride_arg *args, size_t num_args)
{
    return map_checked(stream, "gstride_map_with", n, preamble, expression, args, num_args);
}

gstride_arg gstride_in(const char *name, gstride_span span)
{
    return (gstride_arg){.name = name, .type = span.type, .access = GSTRIDE_READ, .span = span};
}

gstride_arg gstride_out(const char *name, gstride_span span)
{
    return (gstride_arg){.name = name, .type = span.type, .access = GSTRIDE_WRITE, .span = span};
}

gstride_arg gstride_inout(const char *name, gstride_span span)
{
    return (gstride_arg){
        .name = name, .type = span.type, .access = GSTRIDE_READ_WRITE, .span = span};
}

gstride_arg gstride_i32(const char *name, int32_t value)
{
    return (gstride_arg){.name = name, .type = GSTRIDE_I32, .scalar.i64 = value};
}

gstride_arg gstride_u32(const char *name, uint32_t value)
{
    return (gstride_arg){.name = name, .type = GSTRIDE_U32, .scalar.u64 = value};
}

gstride_arg gstride_i64(const char *name, int64_t value)
{
    return (gstride_arg){.name = name, .type = GSTRIDE_I64, .scalar.i64 = value};
}

gstride_arg gstride_u64(const char *name, uint64_t value)
{
    return (gstride_arg){.name = name, .type = GSTRIDE_U64, .scalar.u64 = value};
}

gstride_arg gstride_f32(const char *name, float value)
{
    return (gstride_arg){.name = name, .type = GSTRIDE_F32, .scalar.f32 = value};
}

gstride_arg gstride_f64(const char *name, double value)
{
    return (gstride_arg){.name = name, .type = GSTRIDE_F64, .scalar.f64 = value};
}

/* The unsigned integer type of as many bytes, for moving bits. */
static gstride_type bits_type(gstride_type type)
{
    switch (gstride_type_bytes(type)) {
    case 1:
        return GSTRIDE_U8;
    case 2:
        return GSTRIDE_U16;
    case 4:
        return GSTRIDE_U32;
    default:
        return GSTRIDE_U64;
    }
}

gstride_status gstride_fill(gstride_stream *stream, gstride_span span, const void *value)
{
    size_t bytes = gstride_type_bytes(span.type);
    if (!value || !bytes)
        return gsi_fail(value ? GSTRIDE_ERROR_TYPE : GSTRIDE_ERROR_ARGUMENT, "gstride_fill: %s",
                        value ? "the span's type is none" : "value is NULL");
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t bits = 0;
    switch (bytes) {
    case 1:
        memcpy(&u8, value, bytes);
        bits = u8;
        break;
    case 2:
        memcpy(&u16, value, bytes);
        bits = u16;
        break;
    case 4:
        memcpy(&u32, value, bytes);
        bits = u32;
        break;
    default:
        memcpy(&bits, value, bytes);
    }
    span.type = bits_type(span.type);
    const gstride_arg args[] = {gstride_out("y", span), gstride_u64("v", bits)};
    return map_checked(stream, "gstride_fill", span.count, NULL, "y = v", args, 2);
}

gstride_status gstride_iota(gstride_stream *stream, gstride_span span, int64_t first, int64_t step)
{
    const gstride_arg args[] = {gstride_out("y", span), gstride_u64("first", (uint64_t)first),
                                gstride_u64("step", (uint64_t)step)};
    /* in unsigned arithmetic, where overflow is defined */
    return map_checked(stream, "gstride_iota", span.count, NULL, "y = (long)(first + i * step)",
                       args, 3);
}

enum { CONVERSION_BYTES = 128 };

/* Floats saturate. Narrow integers are reached through int, since rusticl on LLVM 15 crashes when
 * it compiles convert_char_sat of a float. */
static void write_conversion(char *expression, const struct gsi_type_facts *from,
                             const struct gsi_type_facts *to)
{
    bool saturates = from->kind == GSI_FLOAT && to->kind != GSI_FLOAT;
    if (saturates && to->bytes < sizeof(cl_int)) {
        long values = 1L << (CHAR_BIT * to->bytes);
        long least = to->kind == GSI_SIGNED ? -values / 2 : 0;
        snprintf(expression, CONVERSION_BYTES,
                 "y = x != x ? (%s)0 : (%s)clamp(convert_int_sat(x), %ld, %ld)", to->value,
                 to->value, least, least + values - 1);
    } else if (saturates) {
        snprintf(expression, CONVERSION_BYTES, "y = x != x ? (%s)0 : convert_%s_sat(x)", to->value,
                 to->value);
    } else if (strcmp(from->value, "double") == 0 && strcmp(to->storage, "half") == 0) {
        /* By way of a float that is cut, with its last bit set if anything was cut off: rounding
         * to nearest twice would take a value next to a tie for a tie. */
        snprintf(expression, CONVERSION_BYTES,
                 "float f = convert_float_rtz(x);"
                 "y = as_float(as_uint(f) | (uint)((double)f != x && x == x))");
    } else {
        snprintf(expression, CONVERSION_BYTES, "y = (%s)x", to->value);
    }
}

gstride_status gstride_convert(gstride_stream *stream, gstride_span from, gstride_span to)
{
    const struct gsi_type_facts *a = gsi_type(from.type), *b = gsi_type(to.type);
    if (!a || !b)
        return gsi_fail(GSTRIDE_ERROR_TYPE, "gstride_convert: the type of %s is none",
                        a ? "to" : "from");
    if (to.count < from.count)
        return gsi_fail(GSTRIDE_ERROR_SPAN, "gstride_convert: to has %llu elements, from %llu",
                        (unsigned long long)to.count, (unsigned long long)from.count);
    char expression[CONVERSION_BYTES];
    write_conversion(expression, a, b);
    const gstride_arg args[] = {gstride_in("x", from), gstride_out("y", to)};
    return map_checked(stream, "gstride_convert", from.count, NULL, expression, args, 2);
}

gstride_status gstride_byteswap(gstride_stream *stream, gstride_span from, gstride_span to)
{
    static const char *const expressions[] = {
        [1] = "y = x",
        [2] = "y = as_ushort(as_uchar2(x).yx)",
        [4] = "y = as_uint(as_uchar4(x).wzyx)",
        [8] = "y = as_ulong(as_uchar8(x).s76543210)",
    };
    if (from.type != to.type || !gsi_type(from.type))
        return gsi_fail(GSTRIDE_ERROR_TYPE, "gstride_byteswap: from is %s, to is %s",
                        gstride_type_name(from.type), gstride_type_name(to.type));
    if (to.count < from.count)
        return gsi_fail(GSTRIDE_ERROR_SPAN, "gstride_byteswap: to has %llu elements, from %llu",
                        (unsigned long long)to.count, (unsigned long long)from.count);
    size_t bytes = gstride_type_bytes(from.type);
    from.type = to.type = bits_type(from.type);
    const gstride_arg args[] = {gstride_in("x", from), gstride_out("y", to)};
    return map_checked(stream, "gstride_byteswap", from.count, NULL, expressions[bytes], args, 2);
}

static gstride_status check_blas(const char *function, const gstride_span *x, const gstride_span *y)
{
    if (x->type != GSTRIDE_F32 && x->type != GSTRIDE_F64)
        return gsi_fail(GSTRIDE_ERROR_TYPE, "%s: x is %s, neither f32 nor f64", function,
                        gstride_type_name(x->type));
    if (y && y->type != x->type)
        return gsi_fail(GSTRIDE_ERROR_TYPE, "%s: x is %s, y is %s", function,
                        gstride_type_name(x->type), gstride_type_name(y->type));
    if (y && y->count != x->count)
        return gsi_fail(GSTRIDE_ERROR_SPAN, "%s: x has %llu elements, y has %llu", function,
                        (unsigned long long)x->count, (unsigned long long)y->count);
    return GSTRIDE_OK;
}

static gstride_arg blas_scalar(const char *name, gstride_type type, double value)
{
    return type == GSTRIDE_F64 ? gstride_f64(name, value) : gstride_f32(name, (float)value);
}

gstride_status gstride_axpy(gstride_stream *stream, double a, gstride_span x, gstride_span y)
{
    gstride_status status = check_blas("gstride_axpy", &x, &y);
    if (status != GSTRIDE_OK)
        return status;
    const gstride_arg args[] = {blas_scalar("a", x.type, a), gstride_in("x", x),
                                gstride_inout("y", y)};
    return map_checked(stream, "gstride_axpy", x.count, NULL, "y = a * x + y", args, 3);
}

gstride_status gstride_axpby(gstride_stream *stream, double a, gstride_span x, double b,
                             gstride_span y)
{
    gstride_status status = check_blas("gstride_axpby", &x, &y);
    if (status != GSTRIDE_OK)
        return status;
    const gstride_arg args[] = {blas_scalar("a", x.type, a), gstride_in("x", x),
                                blas_scalar("b", x.type, b), gstride_inout("y", y)};
    return map_checked(stream, "gstride_axpby", x.count, NULL, "y = a * x + b * y", args, 4);
}

gstride_status gstride_scal(gstride_stream *stream, double a, gstride_span x)
{
    gstride_status status = check_blas("gstride_scal", &x, NULL);
    if (status != GSTRIDE_OK)
        return status;
    const gstride_arg args[] = {blas_scalar("a", x.type, a), gstride_inout("x", x)};
    return map_checked(stream, "gstride_scal", x.count, NULL, "x = a * x", args, 2);
}
