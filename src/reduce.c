/* SPDX-License-Identifier: MIT */
/* reduce.c - checks, types and launch of reductions; the arithmetic is in cl/reduce*.cl. */
#include <gstride/reduce.h>

#include "base/types.h"
#include "program/expression.h"
#include "program/sources.h"
#include "run/launch.h"
#include "run/operands.h"
#include "run/span_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OP_CUSTOM = GSTRIDE_NUM_OPS };

/* Rows of a column that a work-item fetches before it uses the first: tuning, no part of the
 * arithmetic. A row has four elements, and registers are dear. */
enum { ROWS_FETCHED = 8, WIDE_ROWS_FETCHED = 4 };

struct reduce_request {
    struct gsi_launch launch; /* first: the source writer gets a pointer to it */
    int op;                   /* gstride_op or OP_CUSTOM */
    const gstride_operator *custom;
    gstride_type value; /* type of the values */
    gstride_type result;
    const char *preamble;   /* "" if there is none */
    const char *expression; /* NULL: the only operand itself */
    struct gsi_operands operands;
    gstride_span out;
    bool exact; /* any grouping gives the same bits, and one launch is enough */
};

const char *gstride_op_name(gstride_op op)
{
    switch (op) {
#define OP_NAME(name, value, text)                                                                 \
    case GSTRIDE_##name:                                                                           \
        return text;
        GSTRIDE_OP_LIST(OP_NAME)
#undef OP_NAME
    }
    return "?";
}

static bool is_float(gstride_type type)
{
    return gsi_type(type)->kind == GSI_FLOAT;
}

static bool is_wide(gstride_type type)
{
    return gsi_type(type)->bytes == 8;
}

static bool compares(int op)
{
    return op == GSTRIDE_MIN || op == GSTRIDE_MAX || op == GSTRIDE_MINMAX || op == GSTRIDE_ARGMIN ||
           op == GSTRIDE_ARGMAX;
}

static bool is_logic(int op)
{
    return op == GSTRIDE_AND || op == GSTRIDE_OR || op == GSTRIDE_XOR;
}

/* An integer accumulator of at least 32 bits. */
static const char *integer_acc(bool wide, bool is_signed)
{
    if (wide)
        return is_signed ? "long" : "ulong";
    return is_signed ? "int" : "uint";
}

/* The scalar type of an accumulator (GS_ACC of cl/op.cl). Sums of integers are unsigned, where
 * overflow is defined; keys of floats are signed integers of their width. */
static const char *acc_type(const struct reduce_request *r)
{
    if (compares(r->op))
        return integer_acc(is_wide(r->value), gsi_type(r->value)->kind != GSI_UNSIGNED);
    if (r->op == OP_CUSTOM || (r->op == GSTRIDE_MEAN && !is_float(r->value)))
        return is_float(r->value) ? gsi_type(r->value)->value
                                  : integer_acc(is_wide(r->value) || r->op == GSTRIDE_MEAN,
                                                gsi_type(r->value)->kind == GSI_SIGNED);
    return is_float(r->result) ? gsi_type(r->result)->value
                               : integer_acc(is_wide(r->result), false);
}

/* Bytes of gs_acc. */
static size_t acc_bytes(const struct reduce_request *r)
{
    const char *type = acc_type(r);
    size_t bytes =
        strcmp(type, "int") == 0 || strcmp(type, "uint") == 0 || strcmp(type, "float") == 0 ? 4 : 8;
    switch (r->op) {
    case GSTRIDE_MINMAX:
        return 2 * bytes;
    case GSTRIDE_ARGMIN:
    case GSTRIDE_ARGMAX:
        return 16;
    case GSTRIDE_ANY:
    case GSTRIDE_ALL:
        return 4;
    case GSTRIDE_COUNT:
        return 8;
    default:
        return bytes;
    }
}

/* Can a full run be folded with vectors of 16? Only values that need no conversion. */
static bool has_vector_form(const struct reduce_request *r)
{
    bool simple = r->op == GSTRIDE_SUM || r->op == GSTRIDE_PROD || is_logic(r->op) ||
                  (compares(r->op) && r->op != GSTRIDE_MINMAX);
    if (!simple || r->expression || gsi_type(r->value)->bytes < 4)
        return false;
    return compares(r->op) || r->value == r->result;
}

static bool ordered(const struct reduce_request *r)
{
    return r->op == OP_CUSTOM && !r->custom->commutative;
}

/* Does any order and grouping of the operands give the same bits? Not sums of floats, and nothing
 * is known of a caller's operator. */
static bool grouping_is_free(const struct reduce_request *r)
{
    if (r->op == OP_CUSTOM)
        return false;
    bool accumulates = r->op == GSTRIDE_SUM || r->op == GSTRIDE_PROD;
    return !(accumulates && is_float(r->result)) && !(r->op == GSTRIDE_MEAN && is_float(r->value));
}

/* cl/reduce_exact.cl rather than the fixed shape? It needs whole sub-groups. */
static bool uses_exact_kernel(const struct reduce_request *r)
{
    enum { SUBGROUP_SIZE = 32 };
    const struct gsi_specialisation *s = &r->launch.specialisation;
    return r->exact && s->variant == GSI_FIXED && s->group_size % SUBGROUP_SIZE == 0;
}

/* Smallest and largest value of an integer accumulator. */
static void write_acc_range(struct gsi_strbuf *text, const char *acc)
{
    static const struct {
        const char *type, *smallest, *largest;
    } ranges[] = {{"int", "INT_MIN", "INT_MAX"},
                  {"uint", "0u", "UINT_MAX"},
                  {"long", "LONG_MIN", "LONG_MAX"},
                  {"ulong", "0ul", "ULONG_MAX"}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; ++i)
        if (strcmp(acc, ranges[i].type) == 0)
            gsi_strbuf_printf(text, "#define GS_ACC_SMALLEST %s\n#define GS_ACC_LARGEST %s\n",
                              ranges[i].smallest, ranges[i].largest);
}

static void write_op(struct gsi_strbuf *text, const struct reduce_request *r)
{
    static const char *const names[] = {
#define OP_MACRO(name, value, text) [GSTRIDE_##name] = #name,
        GSTRIDE_OP_LIST(OP_MACRO)
#undef OP_MACRO
            [OP_CUSTOM] = "CUSTOM"};
    const char *acc = acc_type(r);
    gsi_strbuf_printf(text, "#define GS_OP_%s\n#define GS_ORDERED %d\n", names[r->op], ordered(r));
    gsi_strbuf_printf(text, "typedef %s gs_value;\n#define GS_OUT %s\n#define GS_ACC %s\n",
                      gsi_type(r->value)->value, gsi_type(r->result)->value, acc);
    gsi_strbuf_printf(text,
                      "#define GS_ACC_BITS %d\n#define GS_ACC_BYTES %zu\n"
                      "#define GS_INPUT_BATCH %d\n",
                      is_wide(r->value) ? 64 : 32, acc_bytes(r),
                      is_wide(r->value) ? WIDE_ROWS_FETCHED : ROWS_FETCHED);
    write_acc_range(text, acc);
    if (compares(r->op) && is_float(r->value))
        gsi_strbuf_printf(text, "#define GS_FLOAT_KEYS %d\n", is_wide(r->value) ? 64 : 32);
    if (is_float(r->result))
        gsi_strbuf_printf(text, "#define GS_FLOAT_RESULT %d\n", is_wide(r->result) ? 64 : 32);
    gsi_strbuf_printf(text, "#define GS_OUT_POINTER __global %s *\n", gsi_type(r->result)->storage);
    gsi_strbuf_puts(text, r->result == GSTRIDE_F16
                              ? "#define GS_STORE(k, v) "
                                "gs_store_half(v, gs_out_offset + (k), gs_out)\n"
                              : "#define GS_STORE(k, v) (gs_out[gs_out_offset + (k)] = (v))\n");
    if (has_vector_form(r)) {
        const char *v = acc_type(r);
        gsi_strbuf_printf(text,
                          "#define GS_VECTOR\n#define GS_ACC16 %s16\n#define GS_ACC8 %s8\n"
                          "#define GS_ACC4 %s4\n#define GS_ACC2 %s2\n#define GS_AS_ACC16 as_%s16\n",
                          v, v, v, v, v);
    }
}

/* The caller's texts come last, so that their macros cannot change the library's; prototypes come
 * first. */
static void write_value_parameters(struct gsi_strbuf *text, const struct gsi_operands *ops)
{
    gsi_strbuf_puts(text, "static gs_value gs_value_at(const ulong i");
    for (size_t k = 0; k < ops->count; ++k) {
        const gstride_arg *arg = &ops->args[k];
        gsi_strbuf_printf(text, ", const %s %s",
                          gsi_type(arg->access ? arg->span.type : arg->type)->value, arg->name);
    }
    gsi_strbuf_puts(text, ")");
}

static void write_prototypes(struct gsi_strbuf *text, const struct reduce_request *r)
{
    if (r->op == OP_CUSTOM)
        gsi_strbuf_puts(text, "static gs_value gs_operator(const gs_value a, const gs_value b);\n"
                              "static gs_value gs_identity(void);\n");
    if (r->expression) {
        write_value_parameters(text, &r->operands);
        gsi_strbuf_puts(text, ";\n");
    }
}

static void write_returned(struct gsi_strbuf *text, const char *expression)
{
    gsi_strbuf_puts(text, "\n{\nreturn (gs_value)(");
    gsi_append_user_text(text, GSI_EXPRESSION_FILE, expression);
    gsi_strbuf_puts(text, ");\n}\n");
    gsi_append_generated_mark(text);
}

static void write_custom(struct gsi_strbuf *text, const struct reduce_request *r)
{
    if (r->op != OP_CUSTOM)
        return;
    if (r->custom->preamble)
        gsi_append_user_text(text, GSI_PREAMBLE_FILE, r->custom->preamble);
    gsi_append_generated_mark(text);
    gsi_strbuf_puts(text, "static gs_value gs_operator(const gs_value a, const gs_value b)");
    write_returned(text, r->custom->expression);
    gsi_strbuf_puts(text, "static gs_value gs_identity(void)");
    write_returned(text, r->custom->identity);
}

/* gs_value_at(i, ...): the caller's expression. */
static void write_value(struct gsi_strbuf *text, const struct reduce_request *r)
{
    if (!r->expression)
        return;
    gsi_append_user_text(text, GSI_PREAMBLE_FILE, r->preamble);
    gsi_append_generated_mark(text);
    write_value_parameters(text, &r->operands);
    write_returned(text, r->expression);
}

static void write_input_load(struct gsi_strbuf *text, const struct reduce_request *r)
{
    const struct gsi_operands *ops = &r->operands;
    gsi_strbuf_puts(text, "#define GS_VALUE(base, j) ");
    if (!r->expression) {
        gsi_operands_write_load(text, ops, 0, "j");
    } else {
        gsi_strbuf_puts(text, "gs_value_at((base) + (j)");
        for (size_t k = 0; k < ops->count; ++k) {
            gsi_strbuf_puts(text, ", ");
            if (gsi_operand_is_span(ops, k))
                gsi_operands_write_load(text, ops, k, "j");
            else
                gsi_strbuf_printf(text, "gs_s%zu", k);
        }
        gsi_strbuf_puts(text, ")");
    }
    gsi_strbuf_puts(text, "\n#define GS_FETCHED gs_value\n"
                          "#define GS_FETCH(base, j) GS_VALUE(base, j)\n"
                          "#define GS_TAKE(fetched, i) GS_LIFT(fetched, i)\n"
                          "#define GS_LOAD_PARAMS ");
    gsi_operands_write_pointer_params(text, ops);
    gsi_strbuf_puts(text, "\n#define GS_LOAD_ARGS ");
    gsi_operands_write_pointer_args(text, ops);
    gsi_strbuf_puts(text, "\n#define GS_INPUT_ARGS ");
    gsi_operands_write_pointer_args(text, ops);
    gsi_strbuf_puts(text, "\n");
    if (has_vector_form(r)) {
        const char *from = gsi_type(r->value)->value, *v = acc_type(r);
        bool reinterpret = !compares(r->op) && strcmp(from, v) != 0;
        gsi_strbuf_printf(text,
                          "#define GS_LOAD16(first, k) GS_LIFT16(%s%s%svload16(k, gs_p0 + "
                          "(first))%s)\n",
                          reinterpret ? "as_" : "", reinterpret ? v : "", reinterpret ? "16(" : "",
                          reinterpret ? ")" : "");
    }
}

static const char tile_of_input[] =
    "#define GS_TILE_NAME gs_tile_input\n"
    "#define GS_RUN_NAME gs_run_input\n"
    "#define GS_COLUMN_NAME gs_column_input\n"
    "#define GS_LANE_NAME gs_lane_input\n"
    "#define GS_BY_ITEM (GS_VARIANT == GS_ITEM)\n"
    "#define GS_BATCH (GS_VARIANT == GS_FIXED ? GS_INPUT_BATCH : 0)\n";

static const char tile_of_partials[] =
    "#undef GS_TILE_NAME\n#undef GS_RUN_NAME\n#undef GS_COLUMN_NAME\n#undef GS_LANE_NAME\n"
    "#undef GS_FETCHED\n#undef GS_FETCH\n#undef GS_TAKE\n"
    "#undef GS_LOAD16\n#undef GS_SEARCH\n#undef GS_LOAD_PARAMS\n#undef GS_LOAD_ARGS\n#undef "
    "GS_BY_ITEM\n#undef GS_BATCH\n"
    "#define GS_BATCH (GS_VARIANT != GS_FIXED ? 0 : GS_ACC_BYTES <= 8 ? 8 : 2)\n"
    "#define GS_BY_ITEM (GS_VARIANT != GS_FIXED)\n"
    "#define GS_TILE_NAME gs_tile_partials\n"
    "#define GS_RUN_NAME gs_run_partials\n"
    "#define GS_COLUMN_NAME gs_column_partials\n"
    "#define GS_LANE_NAME gs_lane_partials\n"
    "#define GS_FETCHED gs_acc\n"
    "#define GS_FETCH(base, j) gs_published(gs_from, (base) + (j))\n"
    "#define GS_TAKE(fetched, i) (fetched)\n"
    "#define GS_LOAD_PARAMS , volatile __global uint *gs_from\n"
    "#define GS_LOAD_ARGS , gs_from\n";

static gstride_status check_texts(const struct reduce_request *r)
{
    gstride_status status = gsi_operands_check_names(&r->operands);
    if (status == GSTRIDE_OK)
        status = gsi_check_text("preamble", r->preamble, GSI_PREAMBLE);
    if (status == GSTRIDE_OK && r->expression)
        status = gsi_check_text("expression", r->expression, GSI_VALUE);
    if (status == GSTRIDE_OK && r->op == OP_CUSTOM) {
        status = gsi_check_text("operator", r->custom->expression, GSI_VALUE);
        if (status == GSTRIDE_OK)
            status = gsi_check_text("identity", r->custom->identity, GSI_VALUE);
        if (status == GSTRIDE_OK && r->custom->preamble)
            status = gsi_check_text("operator's preamble", r->custom->preamble, GSI_PREAMBLE);
    }
    return status;
}

static gstride_status write_source(struct gsi_strbuf *text, const void *request)
{
    const struct reduce_request *r = request;
    gstride_status status = check_texts(r);
    if (status != GSTRIDE_OK)
        return status;
    gsi_append_prelude(text, &r->launch.specialisation);
    write_op(text, r);
    write_prototypes(text, r);
    gsi_append_source(text, "op.cl");
    gsi_append_source(text, "intergroup.cl");
    gsi_append_source(text, "tree.cl");
    gsi_append_source(text, "reduce_store.cl");
    gsi_append_generated_mark(text);
    gsi_operands_write_params(text, &r->operands);
    write_input_load(text, r);
    if (uses_exact_kernel(r)) {
        gsi_append_source(text, "reduce_exact.cl");
    } else {
        gsi_strbuf_puts(text, tile_of_input);
        gsi_append_source(text, "reduce_tile.cl");
        gsi_append_generated_mark(text);
        gsi_strbuf_puts(text, tile_of_partials);
        gsi_append_source(text, "reduce_tile.cl");
        gsi_append_source(text, "reduce.cl");
    }
    write_custom(text, r);
    write_value(text, r);
    return GSTRIDE_OK;
}

static void spell_key(gstride_stream *stream, const struct reduce_request *r)
{
    struct gsi_strbuf *key = &stream->key;
    gsi_key_begin(stream);
    const char facts[5] = {(char)r->op, (char)r->value, (char)r->result, (char)ordered(r),
                           (char)(r->expression != NULL)};
    gsi_strbuf_puts(key, "reduce");
    gsi_strbuf_append(key, facts, sizeof facts);
    gsi_operands_key(key, &r->operands);
    const char *const texts[] = {r->expression ? r->expression : "", r->preamble,
                                 r->custom ? r->custom->expression : "",
                                 r->custom ? r->custom->identity : "",
                                 r->custom && r->custom->preamble ? r->custom->preamble : ""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
        gsi_strbuf_append(key, texts[i], strlen(texts[i]) + 1);
}

/* Accumulators of all tiles and levels: tiles, tiles / 8192, ..., or one for each group. 0 where
 * the only group or the only tile gives the result itself. */
static uint64_t scratch_bytes(const struct reduce_request *r)
{
    const gstride_shape *shape = &r->launch.shape;
    if (uses_exact_kernel(r))
        return shape->groups > 1 ? shape->groups * acc_bytes(r) : 0;
    uint64_t count = shape->tiles, total = 0;
    while (count > 1) {
        total += count;
        count = (count + GSI_REDUCE_TILE - 1) / GSI_REDUCE_TILE;
    }
    return total * acc_bytes(r);
}

static cl_int set_tail_args(const gstride_stream *stream, const struct reduce_request *r,
                            cl_uint index, cl_mem scratch, cl_mem counter)
{
    struct gsi_stream_kernel *kernel = r->launch.kernel;
    cl_uint groups = gsi_launch_total_groups(&r->launch);
    cl_ulong offset = r->out.offset;
    /* Without tile results the counter's buffer stands in for scratch, under serial 0. */
    uint64_t serial = scratch == counter ? 0 : stream->scratch_serial;
    cl_int code = gsi_set_own_buffer(kernel, index++, scratch, serial);
    if (code == CL_SUCCESS)
        code = gsi_set_own_buffer(kernel, index++, counter, 0);
    if (code == CL_SUCCESS)
        code = gsi_set_value(kernel, index++, sizeof groups, &groups);
    if (code == CL_SUCCESS)
        code = gsi_set_buffer(kernel, index++, r->out.mem);
    if (code == CL_SUCCESS)
        code = gsi_set_value(kernel, index++, sizeof offset, &offset);
    return code;
}

/* Where loops are cut off, one work-item folds all tile results in the finishing launch: a trip for
 * each, and at most as many for the trees. Beyond that the device would stop in the middle and
 * nobody would be told. */
static gstride_status check_finishing_trips(const gstride_device_info *info, uint64_t tiles)
{
    uint64_t most = info->probe.loop_bound / 2;
    if (most == 0 || tiles <= most)
        return GSTRIDE_OK;
    return gsi_fail(GSTRIDE_ERROR_LAUNCH_SHAPE,
                    "a reduction of %llu tiles of %u elements: %s stops loops at %u trips, which "
                    "is enough for %llu tiles",
                    (unsigned long long)tiles, (unsigned)GSI_REDUCE_TILE, info->name,
                    info->probe.loop_bound, (unsigned long long)most);
}

static gstride_status run_reduce(gstride_stream *stream, struct reduce_request *r)
{
    gstride_status status = gsi_launch_plan(stream, &r->launch);
    if (status == GSTRIDE_OK)
        status = check_finishing_trips(&stream->device->info, r->launch.shape.tiles);
    if (status != GSTRIDE_OK)
        return status;
    /* Where loops are cut off, the last group may have no trips left for the tile results. */
    r->launch.finishing_launch =
        r->launch.shape.tiles > 1 && stream->device->info.probe.loop_bound != 0;
    cl_mem counter, scratch;
    status = gsi_stream_counter(stream, &counter);
    scratch = counter; /* where no scratch is used, the argument must still be a buffer */
    uint64_t bytes = scratch_bytes(r);
    if (status == GSTRIDE_OK && bytes > 0)
        status = gsi_stream_scratch_get(stream, bytes, &scratch);
    if (status != GSTRIDE_OK)
        return status;
    cl_uint index = GSI_NUM_FIRST_ARGS;
    cl_int code = gsi_operands_set(r->launch.kernel, &index, &r->operands);
    if (code == CL_SUCCESS)
        code = set_tail_args(stream, r, index, scratch, counter);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clSetKernelArg", "gstride_reduce on %s",
                           stream->device->info.name);
    status = gsi_launch_run(stream, &r->launch);
    if (status != GSTRIDE_OK)
        stream->counter_dirty = true; /* some launches may have counted, others not */
    return status;
}

/* What a reduction of nothing gives: 1 or 2 elements of the result's type. Minimum and maximum
 * start from the type's largest and smallest value. */
static void identity(const struct reduce_request *r, unsigned char *bytes)
{
    size_t size = gsi_type(r->result)->bytes;
    enum gsi_kind kind = gsi_type(r->result)->kind;
    static const unsigned char one[][8] = {
        [GSTRIDE_F16] = {0x00, 0x3c},
        [GSTRIDE_F32] = {0, 0, 0x80, 0x3f},
        [GSTRIDE_F64] = {0, 0, 0, 0, 0, 0, 0xf0, 0x3f},
    };
    static const unsigned char infinity[][8] = {
        [GSTRIDE_F16] = {0x00, 0x7c},
        [GSTRIDE_F32] = {0, 0, 0x80, 0x7f},
        [GSTRIDE_F64] = {0, 0, 0, 0, 0, 0, 0xf0, 0x7f},
    };
    unsigned char largest[8], smallest[8];
    if (kind == GSI_FLOAT) {
        memcpy(largest, infinity[r->result], 8);
        memcpy(smallest, infinity[r->result], 8);
        smallest[size - 1] |= 0x80;
    } else {
        memset(largest, 0xff, 8);
        memset(smallest, 0, 8);
        if (kind == GSI_SIGNED) {
            largest[size - 1] = 0x7f;
            smallest[size - 1] = 0x80;
        }
    }
    memset(bytes, 0, 2 * size);
    if (r->op == GSTRIDE_PROD || r->op == GSTRIDE_ALL) {
        if (kind == GSI_FLOAT)
            memcpy(bytes, one[r->result], size);
        else
            bytes[0] = 1;
    } else if (r->op == GSTRIDE_AND) {
        memset(bytes, 0xff, size);
    } else if (r->op == GSTRIDE_MIN || r->op == GSTRIDE_MINMAX) {
        memcpy(bytes, largest, size);
        memcpy(bytes + size, smallest, size);
    } else if (r->op == GSTRIDE_MAX) {
        memcpy(bytes, smallest, size);
    }
}

static gstride_status store_identity(gstride_stream *stream, const struct reduce_request *r)
{
    unsigned char bytes[16];
    size_t size = gsi_type(r->result)->bytes;
    identity(r, bytes);
    for (size_t k = 0; k < (r->op == GSTRIDE_MINMAX ? 2u : 1u); ++k) {
        cl_event event, *slot = gsi_event_slot(stream, &event);
        cl_int code = clEnqueueFillBuffer(stream->queue, r->out.mem, bytes + k * size, size,
                                          (size_t)(r->out.offset + k) * size, size, 0, NULL, slot);
        if (code != CL_SUCCESS)
            return gsi_fail_cl(code, "clEnqueueFillBuffer", "gstride_reduce of nothing on %s",
                               stream->device->info.name);
        gsi_event_keep(stream, &event);
    }
    return GSTRIDE_OK;
}

static gstride_status refuse_types(const char *function, const struct reduce_request *r,
                                   const char *rule)
{
    return gsi_fail(GSTRIDE_ERROR_TYPE, "%s: %s of %s into %s: %s", function,
                    r->op == OP_CUSTOM ? "an operator" : gstride_op_name((gstride_op)r->op),
                    gstride_type_name(r->value), gstride_type_name(r->result), rule);
}

/* The table of gstride/reduce.h. */
static gstride_status check_types(const char *function, const struct reduce_request *r)
{
    bool value_float = is_float(r->value), result_float = is_float(r->result);
    switch (r->op) {
    case GSTRIDE_SUM:
    case GSTRIDE_PROD:
        if (value_float && !result_float)
            return refuse_types(function, r, "floats do not go into integers");
        break;
    case GSTRIDE_MIN:
    case GSTRIDE_MAX:
    case GSTRIDE_MINMAX:
        if (r->value != r->result)
            return refuse_types(function, r, "the types must be the same");
        break;
    case GSTRIDE_ARGMIN:
    case GSTRIDE_ARGMAX:
        if (r->result != GSTRIDE_U64)
            return refuse_types(function, r, "an index needs u64");
        break;
    case GSTRIDE_AND:
    case GSTRIDE_OR:
    case GSTRIDE_XOR:
        if (value_float || result_float)
            return refuse_types(function, r, "bits need integers");
        break;
    case GSTRIDE_ANY:
    case GSTRIDE_ALL:
        if (result_float)
            return refuse_types(function, r, "the result needs an integer");
        break;
    case GSTRIDE_COUNT:
        if (r->result != GSTRIDE_U32 && r->result != GSTRIDE_I64 && r->result != GSTRIDE_U64 &&
            r->result != GSTRIDE_F64)
            return refuse_types(function, r, "a count needs u32, i64, u64 or f64");
        break;
    case GSTRIDE_MEAN:
        if (r->result != GSTRIDE_F32 && r->result != GSTRIDE_F64)
            return refuse_types(function, r, "a mean needs f32 or f64");
        break;
    case OP_CUSTOM:
        if (r->value != r->result)
            return refuse_types(function, r, "the types must be the same");
        break;
    default:
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: %d is no operator", function, r->op);
    }
    return GSTRIDE_OK;
}

static gstride_status check_request(gstride_stream *stream, const char *function,
                                    const struct reduce_request *r)
{
    const gstride_device *device = stream->device;
    const uint64_t results = r->op == GSTRIDE_MINMAX ? 2 : 1;
    gstride_status status = gsi_check_type(device, function, r->value);
    if (status == GSTRIDE_OK)
        status = gsi_check_span(device, function, "out", &r->out, results);
    if (status == GSTRIDE_OK)
        status = check_types(function, r);
    if (status != GSTRIDE_OK)
        return status;
    if (r->op == GSTRIDE_MEAN && !device->info.fp64)
        return gsi_fail(GSTRIDE_ERROR_DEVICE_LACKS,
                        "%s: %s has no fp64, which the division of a mean needs", function,
                        device->info.name);
    bool empty_is_error =
        r->op == GSTRIDE_ARGMIN || r->op == GSTRIDE_ARGMAX || r->op == GSTRIDE_MEAN;
    if (r->launch.n == 0 && empty_is_error)
        return gsi_fail(GSTRIDE_ERROR_EMPTY, "%s: %s of no elements is not defined", function,
                        gstride_op_name((gstride_op)r->op));
    for (size_t k = 0; k < r->operands.count; ++k) {
        const gstride_arg *arg = &r->operands.args[k];
        if (arg->access & GSTRIDE_WRITE)
            return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: operand %s is written; only in is allowed",
                            function, arg->name);
        if (arg->access &&
            gsi_spans_overlap(&arg->span, r->launch.n, &r->out, results) != GSI_DISJOINT)
            return gsi_fail(GSTRIDE_ERROR_OVERLAP, "%s: out lies inside %s", function, arg->name);
    }
    return GSTRIDE_OK;
}

static gstride_status reduce(gstride_stream *stream, const char *function, struct reduce_request *r,
                             const gstride_arg *args, size_t num_args)
{
    gstride_status status = gsi_stream_check(stream, function);
    if (status != GSTRIDE_OK)
        return status;
    if (r->op == OP_CUSTOM && (!r->custom || !r->custom->expression || !r->custom->identity))
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: %s is NULL", function,
                        !r->custom               ? "op"
                        : !r->custom->expression ? "op->expression"
                                                 : "op->identity");
    status = gsi_operands_check(stream, function, r->launch.n, args, num_args, &r->operands);
    if (status == GSTRIDE_OK)
        status = check_request(stream, function, r);
    if (status != GSTRIDE_OK)
        return status;
    /* Only with sub-groups: the plain form of reduce_exact.cl loses values on PoCL 3.1 when groups
     * run at once. The fixed shape is its twin and gives the same bits. */
    r->exact = grouping_is_free(r) && stream->device->info.subgroup_shuffle &&
               !stream->force_plain && stream->device->info.probe.loop_bound == 0;
    r->launch.primitive = !r->exact           ? GSI_REDUCE
                          : is_wide(r->value) ? GSI_REDUCE_EXACT_WIDE
                                              : GSI_REDUCE_EXACT;
    r->launch.kernel_name = "gstride_reduce";
    r->launch.write_source = write_source;
    r->launch.fixed_tile = GSI_REDUCE_TILE;
    if (!r->preamble)
        r->preamble = "";
    gsi_call_begin(stream);
    if (r->launch.n == 0 && r->op != OP_CUSTOM)
        return gsi_call_end(stream, store_identity(stream, r));
    spell_key(stream, r);
    return gsi_call_end(stream, run_reduce(stream, r));
}

/* gstride_reduce for several public functions; `function` is the one that messages name. */
static gstride_status reduce_span(gstride_stream *stream, const char *function, gstride_op op,
                                  gstride_span in, gstride_span out)
{
    const gstride_arg arg = gstride_in("in", in);
    struct reduce_request r = {
        .launch.n = in.count, .op = op, .value = in.type, .result = out.type, .out = out};
    if ((unsigned)op >= GSTRIDE_NUM_OPS)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: %d is no operator", function, (int)op);
    return reduce(stream, function, &r, &arg, 1);
}

gstride_status gstride_reduce(gstride_stream *stream, gstride_op op, gstride_span in,
                              gstride_span out)
{
    return reduce_span(stream, "gstride_reduce", op, in, out);
}

gstride_status gstride_reduce_with(gstride_stream *stream, const gstride_operator *op,
                                   gstride_span in, gstride_span out)
{
    const gstride_arg arg = gstride_in("in", in);
    struct reduce_request r = {.launch.n = in.count,
                               .op = OP_CUSTOM,
                               .custom = op,
                               .value = in.type,
                               .result = out.type,
                               .out = out};
    return reduce(stream, "gstride_reduce_with", &r, &arg, 1);
}

/* gstride_map_reduce for several public functions; `function` is the one that messages name. */
static gstride_status map_reduce(gstride_stream *stream, const char *function, gstride_op op,
                                 uint64_t n, gstride_type type, const char *expression,
                                 const gstride_arg *args, size_t num_args, gstride_span out)
{
    if ((unsigned)op >= GSTRIDE_NUM_OPS || !expression)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: %s", function,
                        expression ? "op is no operator" : "expression is NULL");
    struct reduce_request r = {.launch.n = n,
                               .op = op,
                               .value = type,
                               .result = out.type,
                               .expression = expression,
                               .out = out};
    return reduce(stream, function, &r, args, num_args);
}

gstride_status gstride_map_reduce(gstride_stream *stream, gstride_op op, uint64_t n,
                                  gstride_type type, const char *expression,
                                  const gstride_arg *args, size_t num_args, gstride_span out)
{
    return map_reduce(stream, "gstride_map_reduce", op, n, type, expression, args, num_args, out);
}

gstride_status gstride_map_reduce_with(gstride_stream *stream, const gstride_operator *op,
                                       uint64_t n, const char *preamble, const char *expression,
                                       const gstride_arg *args, size_t num_args, gstride_span out)
{
    if (!expression)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_map_reduce_with: expression is NULL");
    struct reduce_request r = {.launch.n = n,
                               .op = OP_CUSTOM,
                               .custom = op,
                               .value = out.type,
                               .result = out.type,
                               .preamble = preamble,
                               .expression = expression,
                               .out = out};
    return reduce(stream, "gstride_map_reduce_with", &r, args, num_args);
}

/* A result for the host goes through a small buffer; `finish` starts the reduction into it. */
struct host_result {
    gstride_span span;
    uint64_t count;
};

static gstride_status host_result_make(gstride_stream *stream, const char *function, gstride_op op,
                                       gstride_type type, const void *result,
                                       struct host_result *host)
{
    gstride_status status = gsi_stream_check(stream, function);
    if (status != GSTRIDE_OK)
        return status;
    if (!result)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "%s: result is NULL", function);
    host->count = op == GSTRIDE_MINMAX ? 2 : 1;
    status = gstride_alloc(stream->device, type, host->count, &host->span);
    if (status == GSTRIDE_OK)
        gsi_call_begin(stream); /* the reduction and the reading are one call to the clock */
    return status;
}

static gstride_status host_result_take(gstride_stream *stream, struct host_result *host,
                                       gstride_status status, void *result)
{
    if (status == GSTRIDE_OK)
        status = gstride_read(stream, host->span, result, host->count);
    gstride_free(&host->span);
    return gsi_call_end(stream, status);
}

gstride_status gstride_reduce_to_host(gstride_stream *stream, gstride_op op, gstride_span in,
                                      gstride_type type, void *result)
{
    struct host_result host;
    gstride_status status =
        host_result_make(stream, "gstride_reduce_to_host", op, type, result, &host);
    if (status != GSTRIDE_OK)
        return status;
    status = reduce_span(stream, "gstride_reduce_to_host", op, in, host.span);
    return host_result_take(stream, &host, status, result);
}

gstride_status gstride_map_reduce_to_host(gstride_stream *stream, gstride_op op, uint64_t n,
                                          gstride_type type, const char *expression,
                                          const gstride_arg *args, size_t num_args,
                                          gstride_type out_type, void *result)
{
    struct host_result host;
    gstride_status status =
        host_result_make(stream, "gstride_map_reduce_to_host", op, out_type, result, &host);
    if (status != GSTRIDE_OK)
        return status;
    status = map_reduce(stream, "gstride_map_reduce_to_host", op, n, type, expression, args,
                        num_args, host.span);
    return host_result_take(stream, &host, status, result);
}

static gstride_status norm(gstride_stream *stream, const char *function, gstride_op op,
                           const char *expression, const gstride_span *x, const gstride_span *y,
                           gstride_span out)
{
    if ((x->type != GSTRIDE_F32 && x->type != GSTRIDE_F64) || out.type != x->type ||
        (y && y->type != x->type))
        return gsi_fail(GSTRIDE_ERROR_TYPE, "%s: x is %s%s%s, out is %s; all must be f32 or f64",
                        function, gstride_type_name(x->type), y ? ", y is " : "",
                        y ? gstride_type_name(y->type) : "", gstride_type_name(out.type));
    if (y && y->count != x->count)
        return gsi_fail(GSTRIDE_ERROR_SPAN, "%s: x has %llu elements, y has %llu", function,
                        (unsigned long long)x->count, (unsigned long long)y->count);
    const gstride_arg args[] = {gstride_in("x", *x), y ? gstride_in("y", *y) : (gstride_arg){0}};
    return map_reduce(stream, function, op, x->count, x->type, expression, args, y ? 2 : 1, out);
}

gstride_status gstride_dot(gstride_stream *stream, gstride_span x, gstride_span y, gstride_span out)
{
    return norm(stream, "gstride_dot", GSTRIDE_SUM, "x * y", &x, &y, out);
}

gstride_status gstride_asum(gstride_stream *stream, gstride_span x, gstride_span out)
{
    return norm(stream, "gstride_asum", GSTRIDE_SUM, "fabs(x)", &x, NULL, out);
}

gstride_status gstride_sumsq(gstride_stream *stream, gstride_span x, gstride_span out)
{
    return norm(stream, "gstride_sumsq", GSTRIDE_SUM, "x * x", &x, NULL, out);
}

gstride_status gstride_amax(gstride_stream *stream, gstride_span x, gstride_span out)
{
    return norm(stream, "gstride_amax", GSTRIDE_MAX, "fabs(x)", &x, NULL, out);
}
