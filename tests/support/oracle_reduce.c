/* SPDX-License-Identifier: MIT */
/* oracle_reduce.c - the arithmetic of reduce on the host. Compiled without fused operations. */
#include "oracle_reduce.h"

#include "values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "the oracle needs float arithmetic in float");

enum { TILE = 8192, RUN = 1024, RUNS = TILE / RUN, LANES = 128, ROWS = RUN / LANES };

/* A place of a tree, which may be absent. */
struct place {
    union oracle_acc acc;
    bool present;
};

static struct place join(const struct oracle_operator *op, struct place a, struct place b)
{
    if (!b.present)
        return a;
    if (a.present)
        a.acc = op->combine(op->user, &a.acc, &b.acc);
    else
        a = b;
    return a;
}

/* Keeps the order: neighbours first, so the two halves last. */
static struct place neighbour_tree(const struct oracle_operator *op, const struct place *places,
                                   unsigned width)
{
    if (width == 1)
        return places[0];
    return join(op, neighbour_tree(op, places, width / 2),
                neighbour_tree(op, places + width / 2, width / 2));
}

/* Halves meet: at each step place p takes p + width / 2. Seen from the end, the places that are p
 * modulo `step` make up one result. */
static struct place halves_tree(const struct oracle_operator *op, const struct place *places,
                                unsigned p, unsigned step, unsigned width)
{
    if (step == width)
        return places[p];
    return join(op, halves_tree(op, places, p, 2 * step, width),
                halves_tree(op, places, p + step, 2 * step, width));
}

static struct place tree(const struct oracle_operator *op, const struct place *places,
                         unsigned width)
{
    return op->ordered ? neighbour_tree(op, places, width) : halves_tree(op, places, 0, 1, width);
}

/* Elements of a level: those of the input, or the results of the level below. */
struct level {
    const union oracle_acc *results; /* NULL: the input */
    uint64_t count;
};

static union oracle_acc element(const struct oracle_operator *op, const struct level *level,
                                uint64_t i)
{
    return level->results ? level->results[i] : op->lift(op->user, i);
}

static struct place fold_run(const struct oracle_operator *op, const struct level *level,
                             uint64_t first)
{
    struct place lanes[LANES] = {0};
    for (unsigned e = 0; e < RUN && first + e < level->count; ++e) {
        struct place *lane = &lanes[op->ordered ? e / ROWS : e % LANES];
        struct place one = {element(op, level, first + e), true};
        *lane = join(op, *lane, one);
    }
    return tree(op, lanes, LANES);
}

static union oracle_acc fold_tile(const struct oracle_operator *op, const struct level *level,
                                  uint64_t first)
{
    struct place runs[RUNS] = {0};
    for (unsigned s = 0; s < RUNS && first + s * RUN < level->count; ++s)
        runs[s] = fold_run(op, level, first + s * RUN);
    return tree(op, runs, RUNS).acc;
}

union oracle_acc oracle_tree(const struct oracle_operator *op, uint64_t n)
{
    struct level level = {NULL, n};
    union oracle_acc *below = NULL, last;
    do {
        uint64_t tiles = (level.count + TILE - 1) / TILE;
        union oracle_acc *results = malloc((size_t)tiles * sizeof *results);
        if (!results) {
            fprintf(stderr, "no memory for the oracle\n");
            abort();
        }
        for (uint64_t t = 0; t < tiles; ++t)
            results[t] = fold_tile(op, &level, t * TILE);
        free(below);
        below = results;
        last = results[0];
        level = (struct level){results, tiles};
    } while (level.count > 1);
    free(below);
    return last;
}

union oracle_acc oracle_left_fold(const struct oracle_operator *op, uint64_t n)
{
    union oracle_acc acc = op->lift(op->user, 0);
    for (uint64_t i = 1; i < n; ++i) {
        union oracle_acc next = op->lift(op->user, i);
        acc = op->combine(op->user, &acc, &next);
    }
    return acc;
}

/* The built-in operators. */

struct input {
    gstride_type type;
    const void *data;
    gstride_type out;
};

static struct value at(const void *user, uint64_t i)
{
    const struct input *in = user;
    return value_load(in->type, in->data, i);
}

static float as_float(struct value v)
{
    return v.kind == VALUE_FLOAT ? (float)v.d : v.kind == VALUE_SIGNED ? (float)v.s : (float)v.u;
}

static double as_double(struct value v)
{
    return v.kind == VALUE_FLOAT ? v.d : v.kind == VALUE_SIGNED ? (double)v.s : (double)v.u;
}

#define LIFT(name, body)                                                                           \
    static union oracle_acc name(const void *user, uint64_t i)                                     \
    {                                                                                              \
        union oracle_acc acc = {0};                                                                \
        struct value v = at(user, i);                                                              \
        body;                                                                                      \
        return acc;                                                                                \
    }

#define COMBINE(name, body)                                                                        \
    static union oracle_acc name(const void *user, const union oracle_acc *a,                      \
                                 const union oracle_acc *b)                                        \
    {                                                                                              \
        (void)user;                                                                                \
        union oracle_acc acc = *a;                                                                 \
        body;                                                                                      \
        return acc;                                                                                \
    }

LIFT(lift_f32, acc.f = as_float(v))
LIFT(lift_f64, acc.d = as_double(v))
LIFT(lift_int, acc.u = v.u)
LIFT(lift_truth, acc.u = v.kind == VALUE_FLOAT ? v.d != 0 : v.u != 0)
COMBINE(add_f32, acc.f = a->f + b->f)
COMBINE(add_f64, acc.d = a->d + b->d)
COMBINE(add_int, acc.u = a->u + b->u)
COMBINE(multiply_f32, acc.f = a->f * b->f)
COMBINE(multiply_f64, acc.d = a->d * b->d)
COMBINE(multiply_int, acc.u = a->u * b->u)
COMBINE(and_int, acc.u = a->u & b->u)
COMBINE(or_int, acc.u = a->u | b->u)
COMBINE(xor_int, acc.u = a->u ^ b->u)

/* -0 lies below +0; NaN is not asked for. */
static bool float_below(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

static double lower(double a, double b)
{
    return isnan(a) ? a : isnan(b) || float_below(b, a) ? b : a;
}

static double higher(double a, double b)
{
    return isnan(a) ? a : isnan(b) || float_below(a, b) ? b : a;
}

LIFT(lift_range, acc.range.low = acc.range.high = v.d)
COMBINE(join_range, acc.range.low = lower(a->range.low, b->range.low);
        acc.range.high = higher(a->range.high, b->range.high))

#define SIGN_BIT (1ull << 63)

/* Unsigned numbers in the order of the integers, whether they are signed or not. */
static uint64_t order_of(struct value v)
{
    return v.kind == VALUE_SIGNED ? v.u ^ SIGN_BIT : v.u;
}

LIFT(lift_int_range, acc.int_range.low = acc.int_range.high = order_of(v))
COMBINE(join_int_range,
        if (b->int_range.low < a->int_range.low) acc.int_range.low = b->int_range.low;
        if (b->int_range.high > a->int_range.high) acc.int_range.high = b->int_range.high)

LIFT(lift_place, acc.place.index = i; if (v.kind == VALUE_FLOAT) acc.place.value = v.d;
     else acc.place.order = order_of(v))

/* Negative if a comes first, 0 if they are equal. NaN comes first both ways. */
static int compare_places(const union oracle_acc *a, const union oracle_acc *b, bool largest)
{
    double x = a->place.value, y = b->place.value;
    if (isnan(x) || isnan(y))
        return isnan(y) - isnan(x);
    const union oracle_acc *low = largest ? b : a, *high = largest ? a : b;
    if (float_below(low->place.value, high->place.value) || low->place.order < high->place.order)
        return -1;
    return float_below(high->place.value, low->place.value) || high->place.order < low->place.order;
}

static union oracle_acc first_place(const union oracle_acc *a, const union oracle_acc *b,
                                    bool largest)
{
    int order = compare_places(a, b, largest);
    if (order == 0)
        return a->place.index < b->place.index ? *a : *b;
    return order < 0 ? *a : *b;
}

COMBINE(smallest_place, acc = first_place(a, b, false))
COMBINE(largest_place, acc = first_place(a, b, true))

enum form { FORM_INT, FORM_F32, FORM_F64, NUM_FORMS };

static enum form form_of(gstride_type type)
{
    return value_kind_of(type) != VALUE_FLOAT ? FORM_INT
           : type == GSTRIDE_F64              ? FORM_F64
                                              : FORM_F32;
}

/* In which form an operator accumulates. */
static enum form accumulates_in(gstride_op op, gstride_type in, gstride_type out)
{
    if (op == GSTRIDE_MEAN)
        return value_kind_of(in) == VALUE_FLOAT ? form_of(out) : FORM_INT;
    return op == GSTRIDE_SUM || op == GSTRIDE_PROD ? form_of(out) : FORM_INT;
}

typedef union oracle_acc combine_fn(const void *, const union oracle_acc *,
                                    const union oracle_acc *);
typedef union oracle_acc lift_fn(const void *, uint64_t);

static struct oracle_operator built_in(gstride_op op, const struct input *in)
{
    static lift_fn *const arithmetic_lift[] = {lift_int, lift_f32, lift_f64};
    static combine_fn *const add[] = {add_int, add_f32, add_f64};
    static combine_fn *const multiply[] = {multiply_int, multiply_f32, multiply_f64};
    enum form form = accumulates_in(op, in->type, in->out);
    bool floats = value_kind_of(in->type) == VALUE_FLOAT;
    struct oracle_operator o = {.lift = lift_int, .user = in};
    switch (op) {
    case GSTRIDE_SUM:
    case GSTRIDE_MEAN:
        o.lift = arithmetic_lift[form];
        o.combine = add[form];
        break;
    case GSTRIDE_PROD:
        o.lift = arithmetic_lift[form];
        o.combine = multiply[form];
        break;
    case GSTRIDE_MIN:
    case GSTRIDE_MAX:
    case GSTRIDE_MINMAX:
        o.lift = floats ? lift_range : lift_int_range;
        o.combine = floats ? join_range : join_int_range;
        break;
    case GSTRIDE_ARGMIN:
    case GSTRIDE_ARGMAX:
        o.lift = lift_place;
        o.combine = op == GSTRIDE_ARGMIN ? smallest_place : largest_place;
        break;
    case GSTRIDE_AND:
        o.combine = and_int;
        break;
    case GSTRIDE_OR:
        o.combine = or_int;
        break;
    case GSTRIDE_XOR:
        o.combine = xor_int;
        break;
    case GSTRIDE_ANY:
    case GSTRIDE_ALL:
    case GSTRIDE_COUNT:
        o.lift = lift_truth;
        o.combine = op == GSTRIDE_ANY ? or_int : op == GSTRIDE_ALL ? and_int : add_int;
        break;
    }
    return o;
}

/* Store what the table says for a reduction of nothing. */
static unsigned store_identity(gstride_op op, gstride_type out, void *result)
{
    bool floats = value_kind_of(out) == VALUE_FLOAT;
    bool is_signed = value_kind_of(out) == VALUE_SIGNED;
    unsigned spare = 64 - 8 * (unsigned)gstride_type_bytes(out);
    struct value zero = {.kind = VALUE_UNSIGNED}, one = {.kind = VALUE_UNSIGNED, .u = 1};
    struct value ones = {.kind = VALUE_UNSIGNED, .u = UINT64_MAX};
    struct value largest = {.kind = VALUE_UNSIGNED, .u = UINT64_MAX >> spare >> is_signed};
    struct value smallest = {.kind = VALUE_UNSIGNED, .u = is_signed ? ~largest.u : 0};
    if (floats) {
        largest = (struct value){.kind = VALUE_FLOAT, .d = INFINITY};
        smallest = (struct value){.kind = VALUE_FLOAT, .d = -INFINITY};
    }
    switch (op) {
    case GSTRIDE_ARGMIN:
    case GSTRIDE_ARGMAX:
    case GSTRIDE_MEAN:
        return 0;
    case GSTRIDE_PROD:
    case GSTRIDE_ALL:
        value_store(out, result, 0, one);
        return 1;
    case GSTRIDE_AND:
        value_store(out, result, 0, ones);
        return 1;
    case GSTRIDE_MINMAX:
        value_store(out, result, 1, smallest);
        value_store(out, result, 0, largest);
        return 2;
    case GSTRIDE_MIN:
    case GSTRIDE_MAX:
        value_store(out, result, 0, op == GSTRIDE_MIN ? largest : smallest);
        return 1;
    default:
        value_store(out, result, 0, zero);
        return 1;
    }
}

static double mean_of(const union oracle_acc *acc, const struct input *in, uint64_t n)
{
    switch (accumulates_in(GSTRIDE_MEAN, in->type, in->out)) {
    case FORM_F32:
        return (double)acc->f / (double)n;
    case FORM_F64:
        return acc->d / (double)n;
    default:
        return (value_kind_of(in->type) == VALUE_SIGNED ? (double)(int64_t)acc->u
                                                        : (double)acc->u) /
               (double)n;
    }
}

/* One end of a range as a value of the input's type. */
static struct value end_of(const union oracle_acc *acc, gstride_type type, bool high)
{
    if (value_kind_of(type) == VALUE_FLOAT)
        return (struct value){.kind = VALUE_FLOAT, .d = high ? acc->range.high : acc->range.low};
    uint64_t order = high ? acc->int_range.high : acc->int_range.low;
    if (value_kind_of(type) == VALUE_SIGNED)
        return (struct value){.kind = VALUE_SIGNED, .u = order ^ SIGN_BIT};
    return (struct value){.kind = VALUE_UNSIGNED, .u = order};
}

static unsigned store_result(gstride_op op, const union oracle_acc *acc, const struct input *in,
                             uint64_t n, void *result)
{
    struct value v = {.kind = VALUE_UNSIGNED, .u = acc->u};
    switch (op) {
    case GSTRIDE_MINMAX:
        value_store(in->out, result, 1, end_of(acc, in->type, true));
        value_store(in->out, result, 0, end_of(acc, in->type, false));
        return 2;
    case GSTRIDE_MIN:
    case GSTRIDE_MAX:
        v = end_of(acc, in->type, op == GSTRIDE_MAX);
        break;
    case GSTRIDE_ARGMIN:
    case GSTRIDE_ARGMAX:
        v.u = acc->place.index;
        break;
    case GSTRIDE_MEAN:
        v = (struct value){.kind = VALUE_FLOAT, .d = mean_of(acc, in, n)};
        break;
    case GSTRIDE_SUM:
    case GSTRIDE_PROD:
        if (form_of(in->out) == FORM_F32)
            v = (struct value){.kind = VALUE_FLOAT, .d = acc->f};
        else if (form_of(in->out) == FORM_F64)
            v = (struct value){.kind = VALUE_FLOAT, .d = acc->d};
        break;
    default:
        break;
    }
    value_store(in->out, result, 0, v);
    return 1;
}

unsigned oracle_reduce(gstride_op op, gstride_type in, const void *data, uint64_t n,
                       gstride_type out, void *result)
{
    if (n == 0)
        return store_identity(op, out, result);
    struct input input = {in, data, out};
    struct oracle_operator o = built_in(op, &input);
    union oracle_acc acc = oracle_tree(&o, n);
    return store_result(op, &acc, &input, n, result);
}

bool oracle_reduce_allows(gstride_op op, gstride_type in, gstride_type out)
{
    bool in_float = value_kind_of(in) == VALUE_FLOAT, out_float = value_kind_of(out) == VALUE_FLOAT;
    switch (op) {
    case GSTRIDE_SUM:
    case GSTRIDE_PROD:
        return !in_float || out_float;
    case GSTRIDE_MIN:
    case GSTRIDE_MAX:
    case GSTRIDE_MINMAX:
        return in == out;
    case GSTRIDE_ARGMIN:
    case GSTRIDE_ARGMAX:
        return out == GSTRIDE_U64;
    case GSTRIDE_AND:
    case GSTRIDE_OR:
    case GSTRIDE_XOR:
        return !in_float && !out_float;
    case GSTRIDE_ANY:
    case GSTRIDE_ALL:
        return !out_float;
    case GSTRIDE_COUNT:
        return out == GSTRIDE_U32 || out == GSTRIDE_I64 || out == GSTRIDE_U64 || out == GSTRIDE_F64;
    case GSTRIDE_MEAN:
        return out == GSTRIDE_F32 || out == GSTRIDE_F64;
    }
    return false;
}
