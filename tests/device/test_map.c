/* SPDX-License-Identifier: MIT */
/* test_map.c - expressions over spans and scalars, and what is made of them. */
#include "fixture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t sizes[] = {0,    1,    2,    31,   32,   33,    255,   256,   257,   1023,
                                 1024, 1025, 4095, 4096, 4097, 16383, 16384, 16385, 100003};
static const uint64_t offsets[] = {0, 1, 3, 7, 13};
enum { MOST = 100003 };

/* How the host computes an element: outputs from inputs, by the index. */
typedef void host_function(uint64_t i, const void *const in[], void *out);

enum { MOST_INPUTS = 3 };

struct map_case {
    const char *name;
    const char *preamble, *expression;
    unsigned num_inputs;
    gstride_type inputs[MOST_INPUTS]; /* called a, b, c */
    gstride_type output;              /* called y */
    enum value_mix mix;
    unsigned num_scalars;
    gstride_arg scalars[6];
    host_function *host;
};

#define IN(k, type) (((const type *)in[k])[i])
#define OUT(type)   (((type *)out)[i])
#define HOST(name, body)                                                                           \
    static void name(uint64_t i, const void *const in[], void *out)                                \
    {                                                                                              \
        (void)in;                                                                                  \
        body;                                                                                      \
    }

HOST(host_axpy, OUT(float) = 2.5f * IN(0, float) + IN(1, float))
HOST(host_index, OUT(uint64_t) = i * i + 5)
HOST(host_bytes, OUT(int8_t) = (int8_t)(IN(0, int8_t) - IN(1, int8_t)))
HOST(host_unsigned_bytes, OUT(uint8_t) = (uint8_t)((IN(0, uint8_t) + IN(1, uint8_t)) >> 1))
HOST(host_shorts, OUT(int16_t) = (int16_t)(IN(0, int16_t) / 3))
HOST(host_words, OUT(uint16_t) = (uint16_t)(IN(0, uint16_t) ^ i))
HOST(host_longs, OUT(int64_t) = (int64_t)((uint64_t)IN(0, int64_t) * 7u + (uint64_t)IN(1, int32_t)))
HOST(host_double, OUT(double) = IN(0, double) * IN(1, double) - IN(2, double))
HOST(host_helper, OUT(uint32_t) = (IN(0, uint32_t) << 5 ^ IN(0, uint32_t) >> 9) + 0x1234u)
HOST(host_scalars,
     OUT(int64_t) = (int64_t)(-1 + (uint64_t)4000000000u + (uint64_t)(-(1ll << 40)) + (1ull << 63) +
                              (uint64_t)(int64_t)1.5f + (uint64_t)IN(0, int32_t)))
HOST(host_branches, uint32_t v = IN(0, uint32_t); uint32_t steps = 0;
     for (; v > 1 && steps < 40; ++steps) v = v & 1 ? 3 * v + 1 : v / 2; OUT(uint32_t) = steps)

static void host_half(uint64_t i, const void *const in[], void *out)
{
    float product = (float)value_load(GSTRIDE_F16, in[0], i).d * 3.0f;
    struct value v = {.kind = VALUE_FLOAT, .d = product};
    value_store(GSTRIDE_F16, out, i, v);
}

static const struct map_case cases[] = {
    {"axpy",
     NULL,
     "y = s * a + b",
     2,
     {GSTRIDE_F32, GSTRIDE_F32},
     GSTRIDE_F32,
     MIX_BITS,
     1,
     {{.name = "s", .type = GSTRIDE_F32, .scalar.f32 = 2.5f}},
     host_axpy},
    {"index", NULL, "y = i * i + 5", 0, {0}, GSTRIDE_U64, MIX_BITS, 0, {{0}}, host_index},
    {"i8",
     NULL,
     "y = a - b",
     2,
     {GSTRIDE_I8, GSTRIDE_I8},
     GSTRIDE_I8,
     MIX_BITS,
     0,
     {{0}},
     host_bytes},
    {"u8",
     NULL,
     "y = (a + b) >> 1",
     2,
     {GSTRIDE_U8, GSTRIDE_U8},
     GSTRIDE_U8,
     MIX_BITS,
     0,
     {{0}},
     host_unsigned_bytes},
    {"i16", NULL, "y = a / 3", 1, {GSTRIDE_I16}, GSTRIDE_I16, MIX_BITS, 0, {{0}}, host_shorts},
    {"u16",
     NULL,
     "y = a ^ (ushort)i",
     1,
     {GSTRIDE_U16},
     GSTRIDE_U16,
     MIX_BITS,
     0,
     {{0}},
     host_words},
    {"i64 and i32",
     NULL,
     "ulong w = (ulong)a * 7;\n y = (long)(w + (ulong)(long)b)",
     2,
     {GSTRIDE_I64, GSTRIDE_I32},
     GSTRIDE_I64,
     MIX_BITS,
     0,
     {{0}},
     host_longs},
    {"f16", NULL, "y = a * 3.0f", 1, {GSTRIDE_F16}, GSTRIDE_F16, MIX_FINITE, 0, {{0}}, host_half},
    {"f64",
     NULL,
     "y = a * b - c",
     3,
     {GSTRIDE_F64, GSTRIDE_F64, GSTRIDE_F64},
     GSTRIDE_F64,
     MIX_BITS,
     0,
     {{0}},
     host_double},
    {"a preamble",
     "#define TURN 5 // comments and braces are allowed here\n"
     "static uint turn(const uint v) { return v << TURN ^ v >> 9; }\n",
     "y = turn(a) + 0x1234",
     1,
     {GSTRIDE_U32},
     GSTRIDE_U32,
     MIX_BITS,
     0,
     {{0}},
     host_helper},
    {"every scalar",
     NULL,
     "y = (long)((ulong)(long)k + (ulong)u + (ulong)l + m + (ulong)(long)g + (ulong)(long)a)",
     1,
     {GSTRIDE_I32},
     GSTRIDE_I64,
     MIX_BITS,
     5,
     {{.name = "k", .type = GSTRIDE_I32, .scalar.i64 = -1},
      {.name = "u", .type = GSTRIDE_U32, .scalar.u64 = 4000000000u},
      {.name = "l", .type = GSTRIDE_I64, .scalar.i64 = -(1ll << 40)},
      {.name = "m", .type = GSTRIDE_U64, .scalar.u64 = 1ull << 63},
      {.name = "g", .type = GSTRIDE_F32, .scalar.f32 = 1.5f}},
     host_scalars},
    {"a loop",
     NULL,
     "uint v = a, steps = 0;\n"
     "for (; v > 1 && steps < 40; ++steps) v = v & 1 ? 3 * v + 1 : v / 2;\n"
     "y = steps",
     1,
     {GSTRIDE_U32},
     GSTRIDE_U32,
     MIX_BITS,
     0,
     {{0}},
     host_branches},
};

static bool case_runs(const struct fixture *f, const struct map_case *c)
{
    bool has = fixture_has_type(f, c->output);
    for (unsigned k = 0; k < c->num_inputs; ++k)
        has = has && fixture_has_type(f, c->inputs[k]);
    if (!has)
        print_message("skipped %s: %s lacks a type\n", c->name, f->info->name);
    return has;
}

static void check_case(const struct fixture *f, const struct map_case *c, uint64_t n,
                       uint64_t offset)
{
    static const char *const names[MOST_INPUTS] = {"a", "b", "c"};
    gstride_arg args[GSTRIDE_MAX_ARGS];
    struct guarded in[MOST_INPUTS], out;
    void *values[MOST_INPUTS];
    size_t count = 0;
    struct rng rng = rng_for(c->name);
    for (unsigned k = 0; k < c->num_inputs; ++k) {
        values[k] = must_alloc(n * gstride_type_bytes(c->inputs[k]));
        values_fill(&rng, c->inputs[k], c->mix, values[k], n);
        guarded_make(f, c->inputs[k], n, k == 0 ? offset : 2, &in[k]);
        guarded_put(f, &in[k], values[k]);
        args[count++] = gstride_in(names[k], in[k].span);
    }
    guarded_make(f, c->output, n, offset, &out);
    guarded_put(f, &out, NULL);
    args[count++] = gstride_out("y", out.span);
    for (unsigned k = 0; k < c->num_scalars; ++k)
        args[count++] = c->scalars[k];
    void *got = must_alloc(n * gstride_type_bytes(c->output));
    void *want = must_alloc(n * gstride_type_bytes(c->output));
    for (uint64_t i = 0; i < n; ++i)
        c->host(i, (const void *const *)values, want);
    OK(gstride_map_with(f->stream, n, c->preamble, c->expression, args, count));
    guarded_take(f, &out, got);
    SAME_BITS(c->output, got, want, n, "%s, n = %" PRIu64 ", offset %" PRIu64, c->name, n, offset);
    for (unsigned k = 0; k < c->num_inputs; ++k) {
        guarded_untouched(f, &in[k]);
        guarded_free(&in[k]);
        free(values[k]);
    }
    guarded_free(&out);
    free(got);
    free(want);
}

static void expressions(void **state)
{
    const struct fixture *f = *state;
    for (size_t k = 0; k < COUNT_OF(cases); ++k)
        for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most && case_runs(f, &cases[k]);
             ++s)
            check_case(f, &cases[k], sizes[s], offsets[s % COUNT_OF(offsets)]);
}

static void every_size_at_every_offset(void **state)
{
    const struct fixture *f = *state;
    for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most; ++s)
        for (size_t o = 0; o < COUNT_OF(offsets); ++o)
            check_case(f, &cases[0], sizes[s], offsets[o]);
}

static void a_span_may_be_longer_than_n(void **state)
{
    const struct fixture *f = *state;
    uint32_t values[64] = {0}, got[64];
    gstride_span y = span_of(f, GSTRIDE_U32, values, 64);
    OK(gstride_map(f->stream, 40, "y = 9", GSTRIDE_ARGS(gstride_out("y", y))));
    OK(gstride_read(f->stream, y, got, 64));
    for (unsigned i = 0; i < 64; ++i)
        assert_int_equal(got[i], i < 40 ? 9 : 0);
    gstride_free(&y);
}

static void in_place_and_two_names(void **state)
{
    const struct fixture *f = *state;
    for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most; ++s) {
        uint64_t n = sizes[s];
        uint32_t *values = must_alloc(n * sizeof *values), *got = must_alloc(n * sizeof *got);
        struct rng rng = rng_for("in place");
        values_fill(&rng, GSTRIDE_U32, MIX_BITS, values, n);
        struct guarded g;
        guarded_make(f, GSTRIDE_U32, n, offsets[s % COUNT_OF(offsets)], &g);
        guarded_put(f, &g, values);
        OK(gstride_map(f->stream, n, "x = 3 * x + (uint)i",
                       GSTRIDE_ARGS(gstride_inout("x", g.span))));
        /* `a` and `b` are the elements as they were, `y` receives the new ones */
        OK(gstride_map(f->stream, n, "y = a * 5; y ^= b",
                       GSTRIDE_ARGS(gstride_in("a", g.span), gstride_out("y", g.span),
                                    gstride_in("b", g.span))));
        guarded_take(f, &g, got);
        for (uint64_t i = 0; i < n; ++i) {
            values[i] = 3 * values[i] + (uint32_t)i;
            values[i] ^= values[i] * 5;
        }
        SAME_BITS(GSTRIDE_U32, got, values, n, "in place, n = %" PRIu64, n);
        guarded_free(&g);
        free(values);
        free(got);
    }
}

static void many_operands(void **state)
{
    enum { SPANS = 16, N = 1000 };
    const struct fixture *f = *state;
    char names[SPANS][8], expression[256] = "y = s0 + s1";
    gstride_span spans[SPANS], y;
    gstride_arg args[GSTRIDE_MAX_ARGS];
    uint32_t values[N], want[N] = {0};
    size_t count = 0;
    for (unsigned k = 0; k < SPANS; ++k) {
        for (unsigned i = 0; i < N; ++i)
            want[i] += values[i] = i * (k + 1) + k;
        spans[k] = span_of(f, GSTRIDE_U32, values, N);
        snprintf(names[k], sizeof names[k], "x%u", k);
        args[count++] = gstride_in(names[k], spans[k]);
        snprintf(expression + strlen(expression), sizeof expression - strlen(expression), " + x%u",
                 k);
    }
    OK(gstride_alloc(f->device, GSTRIDE_U32, N, &y));
    args[count++] = gstride_out("y", y);
    args[count++] = gstride_u32("s0", 11);
    args[count++] = gstride_i32("s1", -1);
    OK(gstride_map(f->stream, N, expression, args, count));
    OK(gstride_read(f->stream, y, values, N));
    for (unsigned i = 0; i < N; ++i)
        want[i] += 10;
    SAME_BITS(GSTRIDE_U32, values, want, N, "%d spans", SPANS);
    for (unsigned k = 0; k < SPANS; ++k)
        gstride_free(&spans[k]);
    gstride_free(&y);
}

/* The caller's names must not collide with those of the kernels. */
static void unlucky_names(void **state)
{
    static const char *const names[] = {"base", "tile", "length", "id", "j",     "k",   "index",
                                        "n",    "x",    "min",    "a0", "value", "run", "acc"};
    const struct fixture *f = *state;
    for (size_t k = 0; k < COUNT_OF(names); ++k) {
        char expression[64];
        uint32_t got[3], values[] = {1, 2, 3}, sum = 0;
        gstride_span x = span_of(f, GSTRIDE_U32, values, 3);
        snprintf(expression, sizeof expression, "out_ = %s + s_%s", names[k], names[k]);
        char scalar[32];
        snprintf(scalar, sizeof scalar, "s_%s", names[k]);
        gstride_span y;
        OK(gstride_alloc(f->device, GSTRIDE_U32, 3, &y));
        if (k < 4) { /* a few are enough for spans: all of them compile alike */
            OK(gstride_map(f->stream, 3, expression,
                           GSTRIDE_ARGS(gstride_in(names[k], x), gstride_u32(scalar, 5),
                                        gstride_out("out_", y))));
            OK(gstride_read(f->stream, y, got, 3));
            assert_int_equal(got[2], 8);
        } else if (k % 2) {
            snprintf(expression, sizeof expression, "i + %s", names[k]);
            OK(gstride_map_reduce_to_host(f->stream, GSTRIDE_SUM, 3, GSTRIDE_U32, expression,
                                          GSTRIDE_ARGS(gstride_u32(names[k], 5)), GSTRIDE_U32,
                                          &sum));
            assert_int_equal(sum, 18);
        }
        gstride_free(&x);
        gstride_free(&y);
    }
}

static void products_are_never_fused(void **state)
{
    const struct fixture *f = *state;
    enum { N = 4099 };
    float *a = must_alloc(N * sizeof *a), *c = must_alloc(N * sizeof *c);
    for (unsigned i = 0; i < N; ++i) {
        a[i] = 1.0f + 0x1p-12f;
        c[i] = -(1.0f + 0x1p-11f);
    }
    gstride_span x = span_of(f, GSTRIDE_F32, a, N), z = span_of(f, GSTRIDE_F32, c, N), y;
    OK(gstride_alloc(f->device, GSTRIDE_F32, N, &y));
    OK(gstride_map(f->stream, N, "y = a * b + c",
                   GSTRIDE_ARGS(gstride_in("a", x), gstride_in("b", x), gstride_in("c", z),
                                gstride_out("y", y))));
    OK(gstride_read(f->stream, y, a, N));
    for (unsigned i = 0; i < N; ++i)
        assert_true(a[i] == 0.0f);
    OK(gstride_map(f->stream, N, "y = fma(a, a, c)",
                   GSTRIDE_ARGS(gstride_in("a", x), gstride_in("c", z), gstride_out("y", y))));
    OK(gstride_read(f->stream, y, a, N));
    for (unsigned i = 0; i < N; ++i)
        assert_true(a[i] == 0x1p-24f);
    gstride_free(&x);
    gstride_free(&y);
    gstride_free(&z);
    free(a);
    free(c);
}

static void fill(void **state)
{
    const struct fixture *f = *state;
    static const unsigned char value[8] = {0x81, 0x42, 0xc3, 0x3c, 0x05, 0xf6, 0x87, 0x78};
    for (int type = 0; type < GSTRIDE_NUM_TYPES; ++type) {
        size_t bytes = gstride_type_bytes((gstride_type)type);
        if (!fixture_has_type(f, (gstride_type)type))
            continue;
        for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most; ++s) {
            uint64_t n = sizes[s];
            struct guarded g;
            guarded_make(f, (gstride_type)type, n, offsets[s % COUNT_OF(offsets)], &g);
            guarded_put(f, &g, NULL);
            OK(gstride_fill(f->stream, g.span, value));
            unsigned char *got = must_alloc(n * bytes), *want = must_alloc(n * bytes);
            for (uint64_t i = 0; i < n; ++i)
                memcpy(want + i * bytes, value, bytes);
            guarded_take(f, &g, got);
            SAME_BITS((gstride_type)type, got, want, n, "fill");
            guarded_free(&g);
            free(got);
            free(want);
        }
    }
}

static void iota(void **state)
{
    const struct fixture *f = *state;
    static const struct {
        int64_t first, step;
    } progressions[] = {{0, 1}, {-5, 3}, {INT64_MAX - 3, 7}, {100, -1}};
    for (int type = 0; type < GSTRIDE_NUM_TYPES; ++type) {
        size_t bytes = gstride_type_bytes((gstride_type)type);
        if (!fixture_has_type(f, (gstride_type)type))
            continue;
        for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most; ++s) {
            uint64_t n = sizes[s];
            uint64_t first = (uint64_t)progressions[s % 4].first;
            uint64_t step = (uint64_t)progressions[s % 4].step;
            struct guarded g;
            guarded_make(f, (gstride_type)type, n, 1, &g);
            guarded_put(f, &g, NULL);
            OK(gstride_iota(f->stream, g.span, (int64_t)first, (int64_t)step));
            unsigned char *got = must_alloc(n * bytes), *want = must_alloc(n * bytes);
            for (uint64_t i = 0; i < n; ++i)
                value_store((gstride_type)type, want, i,
                            (struct value){.kind = VALUE_SIGNED, .u = first + i * step});
            guarded_take(f, &g, got);
            SAME_BITS((gstride_type)type, got, want, n, "iota from %" PRId64 " by %" PRId64,
                      (int64_t)first, (int64_t)step);
            guarded_free(&g);
            free(got);
            free(want);
        }
    }
}

/* Values where double rounding or a wrong limit shows: neighbours of every type's edges. */
static double hard_double(uint64_t k)
{
    static const double values[] = {127.5,
                                    128,
                                    -128.5,
                                    -129,
                                    255.5,
                                    256,
                                    32767.5,
                                    32768,
                                    65535.5,
                                    65536,
                                    -0.5,
                                    0.5,
                                    0.99,
                                    2147483647.5,
                                    2147483648.0,
                                    -2147483648.5,
                                    -2147483649.0,
                                    4294967295.5,
                                    4294967296.0,
                                    9223372036854775807.0,
                                    -9223372036854775808.0,
                                    -9223372036854777856.0,
                                    18446744073709551615.0,
                                    1e300,
                                    -1e300,
                                    65504,
                                    65519.99,
                                    65520,
                                    0x1p-24,
                                    0x1p-25,
                                    0x1.8p-25,
                                    0x1.001ffffffp0,
                                    0x1.002p0,
                                    0x1.00200001p0,
                                    0x1.006p0,
                                    0x1.0020000000001p0,
                                    0x1.000001p0,
                                    0x1.0000010000001p0,
                                    0x1p-149,
                                    0x1.8p-150,
                                    0x1p-150,
                                    3.5e38};
    return values[k % COUNT_OF(values)] * (k / COUNT_OF(values) % 2 ? -1 : 1);
}

static uint64_t hard_integer(uint64_t k)
{
    const uint64_t edge = 1ull << (k % 64);
    return edge + (k / 64 % 5) - 2;
}

static void fill_hard(gstride_type type, void *values, uint64_t n)
{
    struct rng rng = rng_for("convert");
    values_fill(&rng, type, MIX_SPECIAL, values, n);
    size_t bytes = gstride_type_bytes(type);
    for (uint64_t i = 0; i < n && i < n / 2; ++i) {
        struct value v = {.kind = VALUE_FLOAT, .d = hard_double(i)};
        if (value_kind_of(type) != VALUE_FLOAT) {
            uint64_t bits = hard_integer(i);
            memcpy((char *)values + i * bytes, &bits, bytes);
        } else {
            value_store(type, values, i, v);
        }
    }
}

static void check_conversion(const struct fixture *f, gstride_type from, gstride_type to)
{
    enum { N = 2003 };
    void *values = must_alloc(N * gstride_type_bytes(from));
    void *got = must_alloc(N * gstride_type_bytes(to));
    void *want = must_alloc(N * gstride_type_bytes(to));
    fill_hard(from, values, N);
    struct guarded in, out;
    guarded_make(f, from, N, 3, &in);
    guarded_make(f, to, N, 5, &out);
    guarded_put(f, &in, values);
    guarded_put(f, &out, NULL);
    OK(gstride_convert(f->stream, in.span, out.span));
    guarded_take(f, &out, got);
    for (uint64_t i = 0; i < N; ++i)
        value_store(to, want, i, value_load(from, values, i));
    values_canonicalise(to, got, N); /* payloads of NaNs are the hardware's choice */
    SAME_BITS(to, got, want, N, "%s to %s", gstride_type_name(from), gstride_type_name(to));
    guarded_untouched(f, &in);
    guarded_free(&in);
    guarded_free(&out);
    free(values);
    free(got);
    free(want);
}

static void convert(void **state)
{
    const struct fixture *f = *state;
    if (!f->info->probe.denormals)
        SKIP("%s flushes subnormal numbers", f->info->name);
    for (int from = 0; from < GSTRIDE_NUM_TYPES; ++from)
        for (int to = 0; to < GSTRIDE_NUM_TYPES; ++to)
            if (fixture_has_type(f, (gstride_type)from) && fixture_has_type(f, (gstride_type)to))
                check_conversion(f, (gstride_type)from, (gstride_type)to);
}

static void convert_in_place_and_into_longer(void **state)
{
    const struct fixture *f = *state;
    int32_t values[] = {1, -2, 3, 4}, got[4];
    gstride_span x = span_of(f, GSTRIDE_I32, values, 4), two;
    OK(gstride_convert(f->stream, x, x));
    OK(gstride_slice(x, 2, 2, &two));
    OK(gstride_convert(f->stream, (gstride_span){.type = GSTRIDE_F32}, two));
    gstride_span reals, one;
    OK(gstride_alloc(f->device, GSTRIDE_I32, 4, &reals));
    OK(gstride_write(f->stream, reals, values, 4));
    OK(gstride_slice(x, 0, 1, &one));
    OK(gstride_convert(f->stream, one, two));
    OK(gstride_read(f->stream, x, got, 4));
    const int32_t want[] = {1, -2, 1, 4};
    SAME_BITS(GSTRIDE_I32, got, want, 4, "into a longer span");
    gstride_free(&x);
    gstride_free(&reals);
}

static void byteswap(void **state)
{
    const struct fixture *f = *state;
    for (int type = 0; type < GSTRIDE_NUM_TYPES; ++type) {
        size_t bytes = gstride_type_bytes((gstride_type)type);
        if (!fixture_has_type(f, (gstride_type)type))
            continue;
        for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most; ++s) {
            uint64_t n = sizes[s];
            unsigned char *values = must_alloc(n * bytes), *want = must_alloc(n * bytes);
            struct rng rng = rng_for("byteswap");
            for (uint64_t i = 0; i < n * bytes; ++i)
                values[i] = (unsigned char)rng_next(&rng);
            for (uint64_t i = 0; i < n * bytes; ++i)
                want[i] = values[i / bytes * bytes + bytes - 1 - i % bytes];
            struct guarded in, out;
            guarded_make(f, (gstride_type)type, n, 3, &in);
            guarded_make(f, (gstride_type)type, n, 0, &out);
            guarded_put(f, &in, values);
            guarded_put(f, &out, NULL);
            OK(gstride_byteswap(f->stream, in.span, out.span));
            guarded_untouched(f, &in);
            OK(gstride_byteswap(f->stream, in.span, in.span));
            unsigned char *got = must_alloc(n * bytes);
            guarded_take(f, &out, got);
            SAME_BITS((gstride_type)type, got, want, n, "byteswap");
            guarded_take(f, &in, got);
            SAME_BITS((gstride_type)type, got, want, n, "byteswap in place");
            guarded_free(&in);
            guarded_free(&out);
            free(values);
            free(want);
            free(got);
        }
    }
}

struct blas_vectors {
    void *x, *y, *got;
    gstride_span device_x, device_y;
    uint64_t n;
};

static void blas_make(const struct fixture *f, gstride_type type, struct blas_vectors *v)
{
    struct rng rng = rng_for("blas");
    size_t bytes = gstride_type_bytes(type);
    v->n = fixture_size(f, MOST);
    v->x = must_alloc(v->n * bytes);
    v->y = must_alloc(v->n * bytes);
    v->got = must_alloc(v->n * bytes);
    values_fill(&rng, type, MIX_BITS, v->x, v->n);
    values_fill(&rng, type, MIX_BITS, v->y, v->n);
    v->device_x = span_of(f, type, v->x, v->n);
    v->device_y = span_of(f, type, v->y, v->n);
}

static void blas_check(const struct fixture *f, struct blas_vectors *v, gstride_span span,
                       const void *want, const char *name)
{
    OK(gstride_read(f->stream, span, v->got, v->n));
    SAME_BITS(span.type, v->got, want, v->n, "%s", name);
}

static void blas_free(struct blas_vectors *v)
{
    gstride_free(&v->device_x);
    gstride_free(&v->device_y);
    free(v->x);
    free(v->y);
    free(v->got);
}

static void blas_of_floats(void **state)
{
    const struct fixture *f = *state;
    struct blas_vectors v;
    blas_make(f, GSTRIDE_F32, &v);
    float *x = v.x, *y = v.y, third = (float)(1.0 / 3), tenth = (float)0.1;
    OK(gstride_axpy(f->stream, 1.0 / 3, v.device_x, v.device_y));
    for (uint64_t i = 0; i < v.n; ++i)
        y[i] = third * x[i] + y[i];
    blas_check(f, &v, v.device_y, y, "axpy");
    OK(gstride_axpby(f->stream, 0.1, v.device_x, 1.0 / 3, v.device_y));
    for (uint64_t i = 0; i < v.n; ++i)
        y[i] = tenth * x[i] + third * y[i];
    blas_check(f, &v, v.device_y, y, "axpby");
    OK(gstride_scal(f->stream, 0.1, v.device_x));
    for (uint64_t i = 0; i < v.n; ++i)
        x[i] = tenth * x[i];
    blas_check(f, &v, v.device_x, x, "scal");
    blas_free(&v);
}

static void blas_of_doubles(void **state)
{
    const struct fixture *f = *state;
    if (!f->info->fp64)
        SKIP("%s has no fp64", f->info->name);
    struct blas_vectors v;
    blas_make(f, GSTRIDE_F64, &v);
    double *x = v.x, *y = v.y, third = 1.0 / 3;
    OK(gstride_axpy(f->stream, third, v.device_x, v.device_y));
    for (uint64_t i = 0; i < v.n; ++i)
        y[i] = third * x[i] + y[i];
    blas_check(f, &v, v.device_y, y, "axpy");
    OK(gstride_axpby(f->stream, 0.1, v.device_x, third, v.device_y));
    for (uint64_t i = 0; i < v.n; ++i)
        y[i] = 0.1 * x[i] + third * y[i];
    blas_check(f, &v, v.device_y, y, "axpby");
    OK(gstride_scal(f->stream, 0.1, v.device_x));
    for (uint64_t i = 0; i < v.n; ++i)
        x[i] = 0.1 * x[i];
    blas_check(f, &v, v.device_x, x, "scal");
    blas_free(&v);
}

/* Undefined in C, but neither a crash nor damage elsewhere. */
static void undefined_arithmetic_is_harmless(void **state)
{
    const struct fixture *f = *state;
    const int32_t values[] = {0, -1, INT32_MIN, 33, 5};
    struct guarded out;
    int32_t got[COUNT_OF(values)];
    gstride_span x = span_of(f, GSTRIDE_I32, values, COUNT_OF(values));
    guarded_make(f, GSTRIDE_I32, COUNT_OF(values), 1, &out);
    guarded_put(f, &out, NULL);
    OK(gstride_map(f->stream, COUNT_OF(values), "y = (5 / (x + 0)) ^ (1 << x) ^ (int)1e20f",
                   GSTRIDE_ARGS(gstride_in("x", x), gstride_out("y", out.span))));
    guarded_take(f, &out, got);
    guarded_free(&out);
    gstride_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(expressions),
        DEVICE_TEST(every_size_at_every_offset),
        DEVICE_TEST(a_span_may_be_longer_than_n),
        DEVICE_TEST(in_place_and_two_names),
        DEVICE_TEST(many_operands),
        DEVICE_TEST(unlucky_names),
        DEVICE_TEST(products_are_never_fused),
        DEVICE_TEST(fill),
        DEVICE_TEST(iota),
        DEVICE_TEST(convert),
        DEVICE_TEST(convert_in_place_and_into_longer),
        DEVICE_TEST(byteswap),
        DEVICE_TEST(blas_of_floats),
        DEVICE_TEST(blas_of_doubles),
        DEVICE_TEST(undefined_arithmetic_is_harmless),
    };
    return RUN_DEVICE_TESTS(tests);
}
