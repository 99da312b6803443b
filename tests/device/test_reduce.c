/* SPDX-License-Identifier: MIT */
/* test_reduce.c - reductions against the oracle, bit for bit. */
#include "fixture.h"
#include "oracle_reduce.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Around the edges of lanes, runs and tiles, and several tiles with a partial last one. */
static const uint64_t sizes[] = {1,    2,    127,  128,  129,   1023,  1024,
                                 1025, 8191, 8192, 8193, 16385, 25576, 100003};
static const uint64_t offsets[] = {0, 1, 3, 7, 13};
enum { MOST = 100003, ROOM = 16 /* for the offsets */ };

/* One array of each kind, on the host and on the device. */
struct data {
    gstride_type type;
    void *host;
    gstride_span device;
    uint64_t count;
};

static struct data data_make(const struct fixture *f, gstride_type type, enum value_mix mix)
{
    struct data d = {.type = type, .count = fixture_size(f, MOST) + ROOM};
    char label[32];
    snprintf(label, sizeof label, "reduce %s %d", gstride_type_name(type), (int)mix);
    struct rng rng = rng_for(label);
    d.host = must_alloc(d.count * gstride_type_bytes(type));
    values_fill(&rng, type, mix, d.host, d.count);
    d.device = span_of(f, type, d.host, d.count);
    return d;
}

static void data_free(struct data *d)
{
    gstride_free(&d->device);
    free(d->host);
}

static const void *host_at(const struct data *d, uint64_t i)
{
    return (const char *)d->host + i * gstride_type_bytes(d->type);
}

/* One reduction of d[first, first + n) against the oracle. */
static void check_one(const struct fixture *f, gstride_op op, const struct data *d, uint64_t first,
                      uint64_t n, struct guarded *out)
{
    uint64_t got[2], want[2];
    gstride_span in;
    unsigned count = oracle_reduce(op, d->type, host_at(d, first), n, out->span.type, want);
    OK(gstride_slice(d->device, first, n, &in));
    assert_int_equal(out->span.count, count);
    guarded_put(f, out, NULL);
    OK(gstride_reduce(f->stream, op, in, out->span));
    guarded_take(f, out, got);
    SAME_BITS(out->span.type, got, want, count, "%s of %" PRIu64 " %s from %" PRIu64,
              gstride_op_name(op), n, gstride_type_name(d->type), first);
}

static void check_sizes(const struct fixture *f, gstride_op op, const struct data *d,
                        gstride_type out_type)
{
    struct guarded out;
    guarded_make(f, out_type, op == GSTRIDE_MINMAX ? 2 : 1, 3, &out);
    for (size_t k = 0; k < COUNT_OF(sizes) && sizes[k] <= f->most; ++k)
        check_one(f, op, d, offsets[k % COUNT_OF(offsets)], sizes[k], &out);
    guarded_free(&out);
}

/* The result type that the operator takes with any input of this type. */
static gstride_type plain_result(gstride_op op, gstride_type in)
{
    switch (op) {
    case GSTRIDE_ARGMIN:
    case GSTRIDE_ARGMAX:
    case GSTRIDE_COUNT:
        return GSTRIDE_U64;
    case GSTRIDE_ANY:
    case GSTRIDE_ALL:
        return GSTRIDE_U8;
    case GSTRIDE_MEAN:
        return GSTRIDE_F64;
    default:
        return in;
    }
}

static bool can_run(const struct fixture *f, gstride_op op, gstride_type in, gstride_type out)
{
    return fixture_has_type(f, in) && fixture_has_type(f, out) &&
           (op != GSTRIDE_MEAN || f->info->fp64);
}

/* Subnormal inputs to float arithmetic only where the device keeps them. */
static bool mix_is_defined(const struct fixture *f, gstride_op op, enum value_mix mix)
{
    bool arithmetic = op == GSTRIDE_SUM || op == GSTRIDE_PROD || op == GSTRIDE_MEAN;
    bool subnormals = mix == MIX_SPECIAL || mix == MIX_FINITE;
    return !(arithmetic && subnormals) || f->info->probe.denormals;
}

static void check_operators(const struct fixture *f, gstride_type type, enum value_mix mix,
                            const gstride_op *ops, size_t num_ops)
{
    if (!fixture_has_type(f, type)) {
        print_message("skipped %s: %s lacks it\n", gstride_type_name(type), f->info->name);
        return;
    }
    struct data d = data_make(f, type, mix);
    for (size_t k = 0; k < num_ops; ++k) {
        gstride_type out = plain_result(ops[k], type);
        if (!oracle_reduce_allows(ops[k], type, out))
            continue;
        if (can_run(f, ops[k], type, out) && mix_is_defined(f, ops[k], mix))
            check_sizes(f, ops[k], &d, out);
        else
            print_message("skipped %s of %s: %s lacks what it needs\n", gstride_op_name(ops[k]),
                          gstride_type_name(type), f->info->name);
    }
    data_free(&d);
}

static void check_all_types(const struct fixture *f, enum value_mix mix, const gstride_op *ops,
                            size_t num_ops)
{
    for (int type = 0; type < GSTRIDE_NUM_TYPES; ++type)
        check_operators(f, (gstride_type)type, mix, ops, num_ops);
}

static void sums_and_products(void **state)
{
    static const gstride_op ops[] = {GSTRIDE_SUM, GSTRIDE_PROD, GSTRIDE_MEAN};
    check_all_types(*state, MIX_BITS, ops, 1);
    check_all_types(*state, MIX_NEAR_ONE, ops + 1, 1);
    check_all_types(*state, MIX_NEAR_ONE, ops + 2, 1);
    check_all_types(*state, MIX_SPECIAL, ops, COUNT_OF(ops));
    check_all_types(*state, MIX_FINITE, ops, COUNT_OF(ops));
}

static void comparisons(void **state)
{
    static const gstride_op ops[] = {GSTRIDE_MIN, GSTRIDE_MAX, GSTRIDE_MINMAX, GSTRIDE_ARGMIN,
                                     GSTRIDE_ARGMAX};
    check_all_types(*state, MIX_BITS, ops, COUNT_OF(ops));
    check_all_types(*state, MIX_TIES, ops, COUNT_OF(ops));
    check_all_types(*state, MIX_FINITE, ops, COUNT_OF(ops));
    check_all_types(*state, MIX_SPECIAL, ops, COUNT_OF(ops));
}

static void logic_and_counts(void **state)
{
    static const gstride_op ops[] = {GSTRIDE_AND, GSTRIDE_OR,  GSTRIDE_XOR,
                                     GSTRIDE_ANY, GSTRIDE_ALL, GSTRIDE_COUNT};
    check_all_types(*state, MIX_BITS, ops, COUNT_OF(ops));
    check_all_types(*state, MIX_SPARSE, ops, COUNT_OF(ops));
    check_all_types(*state, MIX_SPECIAL, ops + 3, 3);
}

static void results_of_other_types(void **state)
{
    const struct fixture *f = *state;
    static const struct {
        gstride_op op;
        gstride_type in, out;
    } cases[] = {
        {GSTRIDE_SUM, GSTRIDE_U8, GSTRIDE_U64},    {GSTRIDE_SUM, GSTRIDE_I8, GSTRIDE_I64},
        {GSTRIDE_SUM, GSTRIDE_I64, GSTRIDE_I8},    {GSTRIDE_SUM, GSTRIDE_I32, GSTRIDE_F32},
        {GSTRIDE_SUM, GSTRIDE_U64, GSTRIDE_F32},   {GSTRIDE_SUM, GSTRIDE_I64, GSTRIDE_F64},
        {GSTRIDE_SUM, GSTRIDE_F32, GSTRIDE_F64},   {GSTRIDE_SUM, GSTRIDE_F64, GSTRIDE_F32},
        {GSTRIDE_SUM, GSTRIDE_F16, GSTRIDE_F32},   {GSTRIDE_SUM, GSTRIDE_F32, GSTRIDE_F16},
        {GSTRIDE_SUM, GSTRIDE_I8, GSTRIDE_F16},    {GSTRIDE_PROD, GSTRIDE_I16, GSTRIDE_U32},
        {GSTRIDE_AND, GSTRIDE_I8, GSTRIDE_U64},    {GSTRIDE_OR, GSTRIDE_U8, GSTRIDE_I64},
        {GSTRIDE_XOR, GSTRIDE_I64, GSTRIDE_U16},   {GSTRIDE_ANY, GSTRIDE_F32, GSTRIDE_I64},
        {GSTRIDE_ALL, GSTRIDE_F32, GSTRIDE_U32},   {GSTRIDE_COUNT, GSTRIDE_U8, GSTRIDE_U32},
        {GSTRIDE_COUNT, GSTRIDE_F32, GSTRIDE_I64}, {GSTRIDE_COUNT, GSTRIDE_I16, GSTRIDE_F64},
        {GSTRIDE_MEAN, GSTRIDE_I64, GSTRIDE_F32},  {GSTRIDE_MEAN, GSTRIDE_U8, GSTRIDE_F32},
        {GSTRIDE_MEAN, GSTRIDE_F32, GSTRIDE_F32},  {GSTRIDE_MEAN, GSTRIDE_F64, GSTRIDE_F32},
    };
    for (size_t k = 0; k < COUNT_OF(cases); ++k) {
        if (!can_run(f, cases[k].op, cases[k].in, cases[k].out)) {
            print_message("skipped %s of %s into %s: %s lacks what it needs\n",
                          gstride_op_name(cases[k].op), gstride_type_name(cases[k].in),
                          gstride_type_name(cases[k].out), f->info->name);
            continue;
        }
        struct data d = data_make(f, cases[k].in, MIX_BITS);
        check_sizes(f, cases[k].op, &d, cases[k].out);
        data_free(&d);
    }
}

/* Every combination of types: either the table allows it or it is refused. */
static void type_table(void **state)
{
    const struct fixture *f = *state;
    uint64_t zeros[2] = {0};
    for (int op = 0; op < GSTRIDE_NUM_OPS; ++op) {
        for (int k = 0; k < GSTRIDE_NUM_TYPES * GSTRIDE_NUM_TYPES; ++k) {
            gstride_type in_type = (gstride_type)(k / GSTRIDE_NUM_TYPES);
            gstride_type out_type = (gstride_type)(k % GSTRIDE_NUM_TYPES);
            if (!can_run(f, (gstride_op)op, in_type, out_type))
                continue;
            gstride_span in = span_of(f, in_type, zeros, 1), out;
            OK(gstride_alloc(f->device, out_type, 2, &out));
            in.count = 0; /* checked alike, and compiles nothing */
            gstride_status status = gstride_reduce(f->stream, (gstride_op)op, in, out);
            bool allowed = oracle_reduce_allows((gstride_op)op, in_type, out_type);
            uint64_t want[2];
            bool defined = oracle_reduce((gstride_op)op, in_type, NULL, 0, out_type, want) > 0;
            if (!allowed)
                REFUSED(GSTRIDE_ERROR_TYPE, status);
            else
                check_status(defined ? GSTRIDE_OK : GSTRIDE_ERROR_EMPTY, status,
                             gstride_op_name((gstride_op)op), __FILE__, __LINE__);
            gstride_free(&in);
            gstride_free(&out);
        }
    }
}

static void of_nothing(void **state)
{
    const struct fixture *f = *state;
    for (int op = 0; op < GSTRIDE_NUM_OPS; ++op) {
        for (int k = 0; k < GSTRIDE_NUM_TYPES; ++k) {
            gstride_type type = (gstride_type)k;
            gstride_type out_type = plain_result((gstride_op)op, type);
            if (!oracle_reduce_allows((gstride_op)op, type, out_type) ||
                !can_run(f, (gstride_op)op, type, out_type))
                continue;
            uint64_t got[2], want[2];
            unsigned count = oracle_reduce((gstride_op)op, type, NULL, 0, out_type, want);
            gstride_span nothing = {.type = type};
            struct guarded out;
            guarded_make(f, out_type, op == GSTRIDE_MINMAX ? 2 : 1, 1, &out);
            guarded_put(f, &out, NULL);
            gstride_status status = gstride_reduce(f->stream, (gstride_op)op, nothing, out.span);
            if (count == 0) {
                REFUSED(GSTRIDE_ERROR_EMPTY, status);
                guarded_untouched(f, &out);
            } else {
                OK(status);
                guarded_take(f, &out, got);
                SAME_BITS(out_type, got, want, count, "%s of no %s",
                          gstride_op_name((gstride_op)op), gstride_type_name(type));
            }
            guarded_free(&out);
        }
    }
}

/* Known answers, so that a mistake that the oracle shares is seen. */
static float reduce_floats(const struct fixture *f, gstride_op op, const float *values, uint64_t n)
{
    float result;
    gstride_span in = span_of(f, GSTRIDE_F32, values, n);
    OK(gstride_reduce_to_host(f->stream, op, in, GSTRIDE_F32, &result));
    gstride_free(&in);
    return result;
}

static uint64_t find_float(const struct fixture *f, gstride_op op, const float *values, uint64_t n)
{
    uint64_t result;
    gstride_span in = span_of(f, GSTRIDE_F32, values, n);
    OK(gstride_reduce_to_host(f->stream, op, in, GSTRIDE_U64, &result));
    gstride_free(&in);
    return result;
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#define CANONICAL_NAN 0x7fc00000u

static void a_nan_anywhere(void **state)
{
    const struct fixture *f = *state;
    uint64_t n = fixture_size(f, 20000);
    float *values = must_alloc(n * sizeof *values);
    static const uint32_t nans[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff};
    for (size_t k = 0; k < COUNT_OF(nans); ++k) {
        const uint64_t places[] = {0, 1, n / 2, n - 1};
        for (uint64_t i = 0; i < n; ++i)
            values[i] = (float)i - 10000.0f;
        memcpy(&values[places[k]], &nans[k], sizeof nans[k]);
        assert_int_equal(float_bits(reduce_floats(f, GSTRIDE_MIN, values, n)), CANONICAL_NAN);
        assert_int_equal(float_bits(reduce_floats(f, GSTRIDE_MAX, values, n)), CANONICAL_NAN);
        assert_int_equal(float_bits(reduce_floats(f, GSTRIDE_SUM, values, n)), CANONICAL_NAN);
        assert_int_equal(float_bits(reduce_floats(f, GSTRIDE_PROD, values, n)), CANONICAL_NAN);
        assert_int_equal(find_float(f, GSTRIDE_ARGMIN, values, n), places[k]);
        assert_int_equal(find_float(f, GSTRIDE_ARGMAX, values, n), places[k]);
        memcpy(&values[n - 1], &nans[(k + 1) % COUNT_OF(nans)], sizeof nans[0]);
        assert_int_equal(find_float(f, GSTRIDE_ARGMIN, values, n), places[k]);
        assert_int_equal(find_float(f, GSTRIDE_ARGMAX, values, n), places[k]);
    }
    free(values);
}

static void infinities_and_zeros(void **state)
{
    const struct fixture *f = *state;
    uint64_t n = fixture_size(f, 9000);
    float *values = must_alloc(n * sizeof *values);
    for (uint64_t i = 0; i < n; ++i)
        values[i] = INFINITY;
    assert_true(reduce_floats(f, GSTRIDE_MIN, values, n) == INFINITY);
    assert_int_equal(find_float(f, GSTRIDE_ARGMIN, values, n), 0);
    values[n - 1] = -INFINITY;
    assert_int_equal(float_bits(reduce_floats(f, GSTRIDE_SUM, values, n)), CANONICAL_NAN);
    for (uint64_t i = 0; i < n; ++i)
        values[i] = -INFINITY;
    assert_true(reduce_floats(f, GSTRIDE_MAX, values, n) == -INFINITY);
    assert_int_equal(find_float(f, GSTRIDE_ARGMAX, values, n), 0);
    for (uint64_t i = 0; i < n; ++i)
        values[i] = i % 3 ? 0.0f : -0.0f;
    assert_int_equal(float_bits(reduce_floats(f, GSTRIDE_MIN, values + 1, n - 1)), 0x80000000u);
    assert_int_equal(float_bits(reduce_floats(f, GSTRIDE_MAX, values, n)), 0);
    assert_int_equal(find_float(f, GSTRIDE_ARGMIN, values + 1, n - 1), 2);
    assert_int_equal(find_float(f, GSTRIDE_ARGMAX, values, n), 1);
    values[0] = -0.0f;
    assert_int_equal(float_bits(reduce_floats(f, GSTRIDE_SUM, values, 1)), 0x80000000u);
    assert_int_equal(float_bits(reduce_floats(f, GSTRIDE_SUM, values, 2)), 0);
    free(values);
}

static void lowest_index_among_equals(void **state)
{
    const struct fixture *f = *state;
    uint64_t n = fixture_size(f, 50000);
    float *values = must_alloc(n * sizeof *values);
    struct rng rng = rng_for("ties");
    for (int round = 0; round < 8; ++round) {
        for (uint64_t i = 0; i < n; ++i)
            values[i] = 5;
        uint64_t first = rng_below(&rng, n / 2), second = first + 1 + rng_below(&rng, n / 2 - 1);
        values[first] = values[second] = round % 2 ? 9.0f : -9.0f;
        assert_int_equal(find_float(f, round % 2 ? GSTRIDE_ARGMAX : GSTRIDE_ARGMIN, values, n),
                         first);
    }
    free(values);
}

static void mean_does_not_overflow(void **state)
{
    const struct fixture *f = *state;
    if (!f->info->fp64)
        SKIP("%s has no fp64, which a mean needs", f->info->name);
    const int32_t values[] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
    gstride_span in = span_of(f, GSTRIDE_I32, values, COUNT_OF(values));
    double mean = 0;
    OK(gstride_reduce_to_host(f->stream, GSTRIDE_MEAN, in, GSTRIDE_F64, &mean));
    assert_true(mean == INT32_MAX);
    gstride_free(&in);
}

/* Custom operators on u64 values. */
#define PRIME 65521u

/* (a, b) stands for x -> a x + b modulo PRIME; the earlier map is applied first. */
static uint64_t join_affine(uint64_t f, uint64_t g)
{
    uint64_t fa = f >> 32, fb = f & 0xffffffffu, ga = g >> 32, gb = g & 0xffffffffu;
    return (ga * fa % PRIME) << 32 | (ga * fb + gb) % PRIME;
}

static uint64_t entry(uint64_t matrix, unsigned k)
{
    return matrix >> (16 * k) & 0xffffu;
}

/* Four entries of 16 bits, row by row. */
static uint64_t multiply_matrices(uint64_t a, uint64_t b)
{
    uint64_t c = 0;
    for (unsigned row = 0; row < 2; ++row)
        for (unsigned column = 0; column < 2; ++column)
            c |= ((entry(a, 2 * row) * entry(b, column) +
                   entry(a, 2 * row + 1) * entry(b, 2 + column)) %
                  PRIME)
                 << (16 * (2 * row + column));
    return c;
}

static uint64_t keep_left(uint64_t a, uint64_t b)
{
    (void)b;
    return a;
}

static uint64_t keep_right(uint64_t a, uint64_t b)
{
    (void)a;
    return b;
}

static uint64_t add_modulo(uint64_t a, uint64_t b)
{
    return (a % PRIME + b % PRIME) % PRIME;
}

struct exact_operator {
    const char *name;
    gstride_operator op;
    uint64_t (*host)(uint64_t, uint64_t);
};

static const struct exact_operator exact_operators[] = {
    {"keep left", {"a", "0ul", NULL, false}, keep_left},
    {"keep right", {"b", "0ul", NULL, false}, keep_right},
    {"affine maps",
     {"join(a, b)", "((ulong)1 << 32)",
      "/* apply f, then g */\n"
      "static ulong join(const ulong f, const ulong g)\n{\n"
      "    const ulong ga = g >> 32, gb = g & 0xffffffffu;\n"
      "    return (ga * (f >> 32) % 65521u) << 32 | (ga * (f & 0xffffffffu) + gb) % 65521u;\n}\n",
      false},
     join_affine},
    {"matrix product",
     {"product(a, b)", "0x0001000000000001ul",
      "#define AT(m, k) ((m) >> (16 * (k)) & 0xffffu)\n"
      "static ulong dot2(const ulong a, const ulong b, const uint row, const uint column)\n{\n"
      "    return (AT(a, 2 * row) * AT(b, column) + AT(a, 2 * row + 1) * AT(b, 2 + column))"
      " % 65521u;\n}\n"
      "static ulong product(const ulong a, const ulong b)\n{\n"
      "    return dot2(a, b, 0, 0) | dot2(a, b, 0, 1) << 16 | dot2(a, b, 1, 0) << 32 |\n"
      "           dot2(a, b, 1, 1) << 48;\n}\n",
      false},
     multiply_matrices},
    {"sum modulo p", {"(a % 65521u + b % 65521u) % 65521u", "0", NULL, true}, add_modulo},
};

static void fill_exact(uint64_t *values, uint64_t n)
{
    struct rng rng = rng_for("custom operators");
    for (uint64_t i = 0; i < n; ++i) {
        values[i] = 0;
        for (unsigned k = 0; k < 4; ++k)
            values[i] |= rng_below(&rng, PRIME) << (16 * k);
    }
}

static void exact_custom_operators(void **state)
{
    const struct fixture *f = *state;
    uint64_t most = fixture_size(f, MOST);
    uint64_t *values = must_alloc(most * sizeof *values);
    fill_exact(values, most);
    gstride_span in = span_of(f, GSTRIDE_U64, values, most);
    struct guarded out;
    guarded_make(f, GSTRIDE_U64, 1, 1, &out);
    for (size_t k = 0; k < COUNT_OF(exact_operators); ++k) {
        const struct exact_operator *e = &exact_operators[k];
        uint64_t want = values[0], done = 1, got;
        for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most; ++s) {
            gstride_span part;
            uint64_t n = sizes[s];
            if (n < done) {
                want = values[0];
                done = 1;
            }
            for (; done < n; ++done)
                want = e->host(want, values[done]);
            OK(gstride_slice(in, 0, n, &part));
            guarded_put(f, &out, NULL);
            OK(gstride_reduce_with(f->stream, &e->op, part, out.span));
            guarded_take(f, &out, &got);
            SAME_BITS(GSTRIDE_U64, &got, &want, 1, "%s of %" PRIu64, e->name, n);
        }
    }
    guarded_free(&out);
    gstride_free(&in);
    free(values);
}

static void custom_identities(void **state)
{
    const struct fixture *f = *state;
    const uint64_t want[] = {0, 0, 1ull << 32, 0x0001000000000001u, 0};
    gstride_span out;
    OK(gstride_alloc(f->device, GSTRIDE_U64, 1, &out));
    for (size_t k = 0; k < COUNT_OF(exact_operators); ++k) {
        uint64_t got = 77;
        OK(gstride_write(f->stream, out, &got, 1));
        OK(gstride_reduce_with(f->stream, &exact_operators[k].op,
                               (gstride_span){.type = GSTRIDE_U64}, out));
        OK(gstride_read(f->stream, out, &got, 1));
        SAME_BITS(GSTRIDE_U64, &got, &want[k], 1, "%s of nothing", exact_operators[k].name);
    }
    gstride_free(&out);
}

static union oracle_acc lift_float(const void *user, uint64_t i)
{
    return (union oracle_acc){.f = ((const float *)user)[i]};
}

static union oracle_acc add_floats(const void *user, const union oracle_acc *a,
                                   const union oracle_acc *b)
{
    (void)user;
    return (union oracle_acc){.f = a->f + b->f};
}

/* Rounding makes the order of additions visible: both trees, by an operator of the caller's. */
static void trees_of_custom_operators(void **state)
{
    const struct fixture *f = *state;
    struct data d = data_make(f, GSTRIDE_F32, MIX_BITS);
    struct guarded out;
    guarded_make(f, GSTRIDE_F32, 1, 0, &out);
    for (int ordered = 0; ordered < 2; ++ordered) {
        const gstride_operator op = {"a + b", "0.0f", NULL, ordered == 0};
        for (size_t k = 0; k < COUNT_OF(sizes) && sizes[k] <= f->most; ++k) {
            uint64_t n = sizes[k], first = offsets[k % COUNT_OF(offsets)];
            const struct oracle_operator rule = {lift_float, add_floats, host_at(&d, first),
                                                 ordered == 1};
            float got, want = oracle_tree(&rule, n).f;
            gstride_span in;
            OK(gstride_slice(d.device, first, n, &in));
            guarded_put(f, &out, NULL);
            OK(gstride_reduce_with(f->stream, &op, in, out.span));
            guarded_take(f, &out, &got);
            SAME_BITS(GSTRIDE_F32, &got, &want, 1, "%s a + b of %" PRIu64,
                      ordered ? "ordered" : "commutative", n);
        }
    }
    guarded_free(&out);
    data_free(&d);
}

/* Operators on narrow types and binary16, where values and accumulators differ in width. */
static void custom_operators_on_narrow_types(void **state)
{
    const struct fixture *f = *state;
    static const struct {
        gstride_type type;
        gstride_operator op;
        gstride_op same_as;
    } cases[] = {
        {GSTRIDE_U8, {"a + b", "0", NULL, true}, GSTRIDE_SUM},
        {GSTRIDE_I16, {"a > b ? a : b", "-32768", NULL, true}, GSTRIDE_MAX},
        {GSTRIDE_F16, {"a + b", "0.0f", NULL, true}, GSTRIDE_SUM},
    };
    for (size_t k = 0; k < COUNT_OF(cases); ++k) {
        if (!fixture_has_type(f, cases[k].type))
            continue;
        struct data d = data_make(f, cases[k].type, MIX_BITS);
        gstride_span out, in;
        OK(gstride_alloc(f->device, d.type, 1, &out));
        for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most; ++s) {
            uint64_t n = sizes[s], got = 0, want = 0;
            OK(gstride_slice(d.device, 1, n, &in));
            OK(gstride_reduce_with(f->stream, &cases[k].op, in, out));
            OK(gstride_read(f->stream, out, &got, 1));
            oracle_reduce(cases[k].same_as, d.type, host_at(&d, 1), n, d.type, &want);
            SAME_BITS(d.type, &got, &want, 1, "%s of %" PRIu64 " %s", cases[k].op.expression, n,
                      gstride_type_name(d.type));
        }
        gstride_free(&out);
        data_free(&d);
    }
}

/* map_reduce: the values of an expression, against the oracle on values made by the host. */
struct vectors {
    float *x, *y, *value;
    gstride_span device_x, device_y, out;
    uint64_t count;
};

static void vectors_make(const struct fixture *f, struct vectors *v)
{
    struct rng rng = rng_for("map_reduce");
    v->count = fixture_size(f, MOST);
    v->x = must_alloc(v->count * sizeof(float));
    v->y = must_alloc(v->count * sizeof(float));
    v->value = must_alloc(v->count * sizeof(float));
    values_fill(&rng, GSTRIDE_F32, MIX_BITS, v->x, v->count);
    values_fill(&rng, GSTRIDE_F32, MIX_BITS, v->y, v->count);
    v->device_x = span_of(f, GSTRIDE_F32, v->x, v->count);
    v->device_y = span_of(f, GSTRIDE_F32, v->y, v->count);
    OK(gstride_alloc(f->device, GSTRIDE_F32, 1, &v->out));
}

static void vectors_free(struct vectors *v)
{
    gstride_free(&v->device_x);
    gstride_free(&v->device_y);
    gstride_free(&v->out);
    free(v->x);
    free(v->y);
    free(v->value);
}

static void check_vectors(const struct fixture *f, const struct vectors *v, gstride_op op,
                          uint64_t n, const char *name)
{
    float got, want;
    OK(gstride_read(f->stream, v->out, &got, 1));
    oracle_reduce(op, GSTRIDE_F32, v->value, n, GSTRIDE_F32, &want);
    SAME_BITS(GSTRIDE_F32, &got, &want, 1, "%s of %" PRIu64, name, n);
}

static void dots_and_norms(void **state)
{
    const struct fixture *f = *state;
    struct vectors v;
    vectors_make(f, &v);
    for (size_t k = 0; k < COUNT_OF(sizes) && sizes[k] <= f->most; ++k) {
        uint64_t n = sizes[k];
        gstride_span x, y;
        OK(gstride_slice(v.device_x, 0, n, &x));
        OK(gstride_slice(v.device_y, 0, n, &y));
        for (uint64_t i = 0; i < n; ++i)
            v.value[i] = v.x[i] * v.y[i];
        OK(gstride_dot(f->stream, x, y, v.out));
        check_vectors(f, &v, GSTRIDE_SUM, n, "dot");
        for (uint64_t i = 0; i < n; ++i)
            v.value[i] = v.x[i] * v.x[i];
        OK(gstride_sumsq(f->stream, x, v.out));
        check_vectors(f, &v, GSTRIDE_SUM, n, "sumsq");
        OK(gstride_dot(f->stream, x, x, v.out));
        check_vectors(f, &v, GSTRIDE_SUM, n, "dot with itself");
        for (uint64_t i = 0; i < n; ++i)
            v.value[i] = fabsf(v.x[i]);
        OK(gstride_asum(f->stream, x, v.out));
        check_vectors(f, &v, GSTRIDE_SUM, n, "asum");
        OK(gstride_amax(f->stream, x, v.out));
        check_vectors(f, &v, GSTRIDE_MAX, n, "amax");
    }
    vectors_free(&v);
}

static void dots_of_doubles(void **state)
{
    const struct fixture *f = *state;
    if (!f->info->fp64)
        SKIP("%s has no fp64", f->info->name);
    struct data x = data_make(f, GSTRIDE_F64, MIX_BITS);
    uint64_t n = x.count - ROOM;
    double *product = must_alloc(n * sizeof *product), got, want;
    const double *a = x.host, *b = host_at(&x, ROOM);
    gstride_span in_a, in_b, out;
    OK(gstride_slice(x.device, 0, n, &in_a));
    OK(gstride_slice(x.device, ROOM, n, &in_b));
    OK(gstride_alloc(f->device, GSTRIDE_F64, 1, &out));
    for (uint64_t i = 0; i < n; ++i)
        product[i] = a[i] * b[i];
    OK(gstride_dot(f->stream, in_a, in_b, out));
    OK(gstride_read(f->stream, out, &got, 1));
    oracle_reduce(GSTRIDE_SUM, GSTRIDE_F64, product, n, GSTRIDE_F64, &want);
    SAME_BITS(GSTRIDE_F64, &got, &want, 1, "dot");
    free(product);
    gstride_free(&out);
    data_free(&x);
}

static void expressions_with_scalars_and_index(void **state)
{
    const struct fixture *f = *state;
    uint64_t n = fixture_size(f, MOST), got = 0, want = 0;
    struct rng rng = rng_for("scalars");
    int32_t *x = must_alloc(n * sizeof *x);
    values_fill(&rng, GSTRIDE_I32, MIX_BITS, x, n);
    gstride_span in = span_of(f, GSTRIDE_I32, x, n);
    for (uint64_t i = 0; i < n; ++i)
        want += (uint64_t)((int64_t)x[i] * -3) ^ (i + 5);
    OK(gstride_map_reduce_to_host(
        f->stream, GSTRIDE_SUM, n, GSTRIDE_U64, "(ulong)((long)x * k) ^ (i + s)",
        GSTRIDE_ARGS(gstride_in("x", in), gstride_i32("k", -3), gstride_u64("s", 5)), GSTRIDE_U64,
        &got));
    assert_int_equal(got, want);
    /* The value type cuts before the operator sees the value. */
    OK(gstride_map_reduce_to_host(f->stream, GSTRIDE_MAX, 1000, GSTRIDE_U8, "i", NULL, 0,
                                  GSTRIDE_U8, &got));
    assert_int_equal(got & 0xff, 255);
    OK(gstride_map_reduce_to_host(f->stream, GSTRIDE_ARGMAX, n, GSTRIDE_U32,
                                  "(uint)(i * 2654435761u) >> 8", NULL, 0, GSTRIDE_U64, &got));
    uint64_t best = 0;
    for (uint64_t i = 1; i < n; ++i)
        if ((uint32_t)(i * 2654435761u) >> 8 > (uint32_t)(best * 2654435761u) >> 8)
            best = i;
    assert_int_equal(got, best);
    gstride_free(&in);
    free(x);
}

static void map_reduce_with_operator_and_preambles(void **state)
{
    const struct fixture *f = *state;
    const struct exact_operator *e = &exact_operators[2];
    uint64_t n = fixture_size(f, 30011), got;
    gstride_span out;
    OK(gstride_alloc(f->device, GSTRIDE_U64, 1, &out));
    OK(gstride_map_reduce_with(f->stream, &e->op, n,
                               "static ulong make(const ulong i) { return (i % 7 + 1) << 32 | i % "
                               "11; } /* a map for each i */",
                               "make(i)", NULL, 0, out));
    OK(gstride_read(f->stream, out, &got, 1));
    uint64_t want = 1ull << 32;
    for (uint64_t i = 1; i < n; ++i)
        want = i == 1 ? join_affine(1ull << 32, 2ull << 32 | 1)
                      : join_affine(want, (i % 7 + 1) << 32 | i % 11);
    assert_int_equal(got, want);
    gstride_free(&out);
}

static void results_in_host_memory(void **state)
{
    const struct fixture *f = *state;
    struct data d = data_make(f, GSTRIDE_I16, MIX_BITS);
    int16_t got[2], want[2];
    oracle_reduce(GSTRIDE_MINMAX, d.type, d.host, d.count, d.type, want);
    OK(gstride_reduce_to_host(f->stream, GSTRIDE_MINMAX, d.device, d.type, got));
    SAME_BITS(d.type, got, want, 2, "minmax to the host");
    int64_t sum = 0, total = 1;
    oracle_reduce(GSTRIDE_SUM, d.type, d.host, d.count, GSTRIDE_I64, &sum);
    OK(gstride_reduce_to_host(f->stream, GSTRIDE_SUM, d.device, GSTRIDE_I64, &total));
    assert_int_equal(sum, total);
    gstride_span nothing = {.type = GSTRIDE_I16};
    OK(gstride_reduce_to_host(f->stream, GSTRIDE_SUM, nothing, GSTRIDE_I64, &total));
    assert_int_equal(total, 0);
    REFUSED(GSTRIDE_ERROR_EMPTY,
            gstride_reduce_to_host(f->stream, GSTRIDE_ARGMAX, nothing, GSTRIDE_U64, &total));
    data_free(&d);
}

/* The same bits every time, whatever the groups' finishing order. */
static void repeated_runs(void **state)
{
    const struct fixture *f = *state;
    struct data d = data_make(f, GSTRIDE_F32, MIX_BITS);
    float first, again;
    OK(gstride_reduce_to_host(f->stream, GSTRIDE_SUM, d.device, GSTRIDE_F32, &first));
    for (int k = 0; k < 100; ++k) {
        OK(gstride_reduce_to_host(f->stream, GSTRIDE_SUM, d.device, GSTRIDE_F32, &again));
        SAME_BITS(GSTRIDE_F32, &again, &first, 1, "run %d", k);
    }
    data_free(&d);
}

/* More than 8192 tiles: a third level. */
#define THREE_LEVELS (8192ull * 8192 + 4099)

static void check_three_levels(const struct fixture *f, gstride_type type, gstride_type out)
{
    uint64_t bytes = THREE_LEVELS * gstride_type_bytes(type), got = 0, want = 0;
    if (bytes > f->info->max_allocation)
        SKIP("%s allows no buffer of %" PRIu64 " bytes", f->info->name, bytes);
    if (f->simulator)
        SKIP("%s is too slow for %llu elements", f->info->platform, THREE_LEVELS);
    void *values = must_alloc(bytes);
    struct rng rng = rng_for("three levels");
    for (uint64_t i = 0; i < THREE_LEVELS; i += 4096) {
        uint64_t n = THREE_LEVELS - i < 4096 ? THREE_LEVELS - i : 4096;
        /* the random part of every run is short: what counts is where it is added */
        memset((char *)values + i * gstride_type_bytes(type), 0, n * gstride_type_bytes(type));
        values_fill(&rng, type, MIX_BITS, (char *)values + i * gstride_type_bytes(type),
                    n < 64 ? n : 64);
    }
    gstride_span in = span_of(f, type, values, THREE_LEVELS);
    OK(gstride_reduce_to_host(f->stream, GSTRIDE_SUM, in, out, &got));
    gstride_free(&in);
    oracle_reduce(GSTRIDE_SUM, type, values, THREE_LEVELS, out, &want);
    free(values);
    SAME_BITS(out, &got, &want, 1, "sum of %llu %s", THREE_LEVELS, gstride_type_name(type));
}

static void three_levels_of_bytes(void **state)
{
    check_three_levels(*state, GSTRIDE_U8, GSTRIDE_U64);
}

static void three_levels_of_floats(void **state)
{
    check_three_levels(*state, GSTRIDE_F32, GSTRIDE_F32);
}

/* Kernels with a compiled-in group size, as a GPU gets them, in more groups than there are tiles:
 * every group has a place of its own for what it publishes. */
static void more_groups_than_tiles(void **state)
{
    const struct fixture *f = *state;
    if (f->info->probe.loop_bound) {
        print_message("left out: %s gets other kernels\n", f->info->name);
        return;
    }
    gstride_stream *stream;
    setenv("GSTRIDE_FORCE", "fixed", 1);
    gstride_status status = gstride_stream_create(f->device, &stream);
    unsetenv("GSTRIDE_FORCE");
    OK(status);
    static const uint64_t groups[] = {1, 2, 3, 64, 1000, 1, 5};
    static const uint64_t counts[] = {1, 100, 8192, 8193, 20000};
    uint32_t local = f->info->max_group_size < 8 ? f->info->max_group_size : 8;
    for (size_t g = 0; g < COUNT_OF(groups); ++g) {
        for (size_t k = 0; k < COUNT_OF(counts); ++k) {
            const gstride_launch launch = {.groups = groups[g], .local = local};
            uint64_t got = 0;
            OK(gstride_stream_force_launch(stream, &launch));
            OK(gstride_map_reduce_to_host(stream, GSTRIDE_COUNT, counts[k], GSTRIDE_U32, "1", NULL,
                                          0, GSTRIDE_U64, &got));
            assert_int_equal(got, counts[k]);
        }
    }
    gstride_stream_destroy(stream);
}

/* A device that cuts loops off folds only so many tile results: an error, never a wrong result. */
static void more_tiles_than_loop_trips(void **state)
{
    const struct fixture *f = *state;
    enum { TILE = 8192 };
    uint64_t got = 7, bound = f->info->probe.loop_bound;
    if (bound == 0) {
        print_message("left out: %s does not cut loops off\n", f->info->name);
        return;
    }
    REFUSED(GSTRIDE_ERROR_LAUNCH_SHAPE,
            gstride_map_reduce_to_host(f->stream, GSTRIDE_COUNT, (bound + 1) * TILE, GSTRIDE_U32,
                                       "1", NULL, 0, GSTRIDE_U64, &got));
    assert_int_equal(got, 7);
    OK(gstride_map_reduce_to_host(f->stream, GSTRIDE_COUNT, bound / 2 * TILE, GSTRIDE_U32, "1",
                                  NULL, 0, GSTRIDE_U64, &got));
    assert_int_equal(got, bound / 2 * TILE);
}

/* Whether an empty expression is refused does not depend on which kernels there are already. */
static void an_empty_expression_is_no_expression(void **state)
{
    const struct fixture *f = *state;
    static const uint32_t values[] = {1, 2, 3};
    gstride_span in = span_of(f, GSTRIDE_U32, values, 3);
    const gstride_arg arg = gstride_in("in", in);
    uint32_t got = 0;
    OK(gstride_reduce_to_host(f->stream, GSTRIDE_SUM, in, GSTRIDE_U32, &got));
    assert_int_equal(got, 6);
    REFUSED(GSTRIDE_ERROR_EXPRESSION,
            gstride_map_reduce_to_host(f->stream, GSTRIDE_SUM, 3, GSTRIDE_U32, "", &arg, 1,
                                       GSTRIDE_U32, &got));
    gstride_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(sums_and_products),
        DEVICE_TEST(comparisons),
        DEVICE_TEST(logic_and_counts),
        DEVICE_TEST(results_of_other_types),
        DEVICE_TEST(type_table),
        DEVICE_TEST(of_nothing),
        DEVICE_TEST(a_nan_anywhere),
        DEVICE_TEST(infinities_and_zeros),
        DEVICE_TEST(lowest_index_among_equals),
        DEVICE_TEST(mean_does_not_overflow),
        DEVICE_TEST(exact_custom_operators),
        DEVICE_TEST(custom_identities),
        DEVICE_TEST(trees_of_custom_operators),
        DEVICE_TEST(custom_operators_on_narrow_types),
        DEVICE_TEST(dots_and_norms),
        DEVICE_TEST(dots_of_doubles),
        DEVICE_TEST(expressions_with_scalars_and_index),
        DEVICE_TEST(map_reduce_with_operator_and_preambles),
        DEVICE_TEST(results_in_host_memory),
        DEVICE_TEST(repeated_runs),
        DEVICE_TEST(three_levels_of_bytes),
        DEVICE_TEST(three_levels_of_floats),
        DEVICE_TEST(an_empty_expression_is_no_expression),
        DEVICE_TEST(more_groups_than_tiles),
        DEVICE_TEST(more_tiles_than_loop_trips),
    };
    return RUN_DEVICE_TESTS(tests);
}
