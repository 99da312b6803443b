/* SPDX-License-Identifier: MIT */
/* selftest.c - the digest: every primitive, type and operator on seeded data, one line each; and
 * the comparison with the answers in src/selftest_answers.txt. */
#include <gstride/kernel.h>
#include <gstride/reduce.h>
#include <gstride/selftest.h>

#include "base/types.h"
#include "program/sources.h"
#include "run/stream.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes around lanes, runs and tiles; the quick set is what a slow simulator can do. */
static const uint64_t quick_sizes[] = {0, 1, 129, 1025, 8193, 20011};
static const uint64_t full_sizes[] = {0,    1,    2,    31,   127,  128,  129,   1000,
                                      1023, 1024, 1025, 8191, 8192, 8193, 20011, 70001};
enum { LARGEST_SIZE = 70001, LINE_BYTES = 160 };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* What the seeded data look like. */
enum flavour {
    PLAIN,   /* all bit patterns of integers; floats of many magnitudes and both signs */
    SPECIAL, /* floats also NaN, infinities, zeros of both signs; integers mostly equal */
    UNITS    /* values near one, for products */
};

struct digest {
    gstride_stream *stream;
    gstride_digest_set set;
    gstride_digest_line *line;
    void *user;
    bool stopped;
    unsigned char *host;  /* LARGEST_SIZE elements of 8 bytes */
    gstride_span in, out; /* as U64, enough for every type */
};

struct digest_case {
    const char *primitive;
    gstride_type type;
    const char *label; /* the operator */
    enum flavour flavour;
    bool quick;
    gstride_status (*run)(struct digest *d, const struct digest_case *c, uint64_t n,
                          uint64_t *out_bytes);
    int op; /* gstride_op, or an index into a table of the case's own */
    gstride_type out_type;
};

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Bits of a float: a random mantissa and sign, an exponent spread around one. */
static uint64_t float_bits(gstride_type type, uint64_t random, unsigned spread)
{
    static const struct {
        unsigned mantissa, bias, total;
    } formats[] = {[GSTRIDE_F16] = {10, 15, 16},
                   [GSTRIDE_F32] = {23, 127, 32},
                   [GSTRIDE_F64] = {52, 1023, 64}};
    unsigned mantissa = formats[type].mantissa, bias = formats[type].bias;
    uint64_t exponent = bias - spread / 2 + (spread ? (random >> 56) % spread : 0);
    uint64_t sign = spread ? random >> 55 & 1 : 0;
    return sign << (formats[type].total - 1) | exponent << mantissa |
           (random & (((uint64_t)1 << mantissa) - 1));
}

static uint64_t special_bits(gstride_type type, uint64_t random)
{
    static const uint64_t f16[] = {0x7e01, 0xfe01, 0x7c00, 0xfc00, 0x0000, 0x8000};
    static const uint64_t f32[] = {0x7fc00001, 0xffc00001, 0x7f800000, 0xff800000, 0, 0x80000000};
    static const uint64_t f64[] = {
        0x7ff8000000000001, 0xfff8000000000001, 0x7ff0000000000000, 0xfff0000000000000, 0,
        0x8000000000000000};
    const uint64_t *table = type == GSTRIDE_F16 ? f16 : type == GSTRIDE_F32 ? f32 : f64;
    /* NaNs are rare, so that some sizes have none. */
    unsigned pick = random % 4099 == 0 ? (random >> 20) % 2 : 2 + (random >> 20) % 4;
    return table[pick];
}

static uint64_t element_bits(gstride_type type, enum flavour flavour, uint64_t random)
{
    enum { WIDE_SPREAD = 24, NARROW_SPREAD = 12, SPECIAL_ONE_IN = 8 };
    unsigned spread = type == GSTRIDE_F16 ? NARROW_SPREAD : WIDE_SPREAD;
    if (gsi_type(type)->kind != GSI_FLOAT) {
        if (flavour == UNITS)
            return random | 1;
        return flavour == SPECIAL && random % SPECIAL_ONE_IN ? 3 : random;
    }
    if (flavour == UNITS) /* in (1 - 2^-7, 1 + 2^-6): the top mantissa bits are zero */
        return float_bits(type, random & (type == GSTRIDE_F16 ? 0xf : ~(uint64_t)0 >> 20), 0);
    if (flavour == SPECIAL && random % SPECIAL_ONE_IN == 0)
        return special_bits(type, random >> 8);
    return float_bits(type, random, spread);
}

static gstride_status fill_input(struct digest *d, gstride_type type, enum flavour flavour)
{
    size_t bytes = gstride_type_bytes(type);
    for (uint64_t i = 0; i < LARGEST_SIZE; ++i) {
        uint64_t bits = element_bits(type, flavour, mix(i + (uint64_t)type * 1000003));
        memcpy(d->host + i * bytes, &bits, bytes); /* little-endian, like every OpenCL device */
    }
    gstride_span span = d->in;
    span.type = type;
    return gstride_write(d->stream, span, d->host, LARGEST_SIZE);
}

static gstride_span typed(gstride_span span, gstride_type type, uint64_t n)
{
    span.type = type;
    span.count = n;
    return span;
}

static gstride_status run_reduce(struct digest *d, const struct digest_case *c, uint64_t n,
                                 uint64_t *out_bytes)
{
    uint64_t results = c->op == GSTRIDE_MINMAX ? 2 : 1;
    *out_bytes = results * gstride_type_bytes(c->out_type);
    return gstride_reduce(d->stream, (gstride_op)c->op, typed(d->in, c->type, n),
                          typed(d->out, c->out_type, results));
}

static gstride_status run_operator(struct digest *d, const struct digest_case *c, uint64_t n,
                                   uint64_t *out_bytes)
{
    static const gstride_operator operators[] = {
        /* affine maps x -> p x + q modulo 2^32, one after the other: does not commute */
        {"(ulong)((uint)(a >> 32) * (uint)(b >> 32)) << 32 | "
         "(uint)((uint)(b >> 32) * (uint)a + (uint)b)",
         "(ulong)1 << 32", NULL, false},
        /* addition of floats, in order */
        {"a + b", "0", NULL, false},
    };
    *out_bytes = gstride_type_bytes(c->type);
    return gstride_reduce_with(d->stream, &operators[c->op], typed(d->in, c->type, n),
                               typed(d->out, c->type, 1));
}

static gstride_status run_map_reduce(struct digest *d, const struct digest_case *c, uint64_t n,
                                     uint64_t *out_bytes)
{
    static const char *const expressions[] = {"x * x", "(uint)i * 2654435761u ^ x"};
    *out_bytes = gstride_type_bytes(c->out_type);
    const gstride_arg arg = gstride_in("x", typed(d->in, c->type, n));
    return gstride_map_reduce(d->stream, GSTRIDE_SUM, n, c->type, expressions[c->op], &arg, 1,
                              typed(d->out, c->out_type, 1));
}

static gstride_status run_map(struct digest *d, const struct digest_case *c, uint64_t n,
                              uint64_t *out_bytes)
{
    static const char *const expressions[] = {"y = x * x + x", "y = x + i"};
    *out_bytes = n * gstride_type_bytes(c->type);
    const gstride_arg args[] = {gstride_in("x", typed(d->in, c->type, n)),
                                gstride_out("y", typed(d->out, c->type, n))};
    return gstride_map(d->stream, n, expressions[c->op], args, 2);
}

static gstride_status run_iota(struct digest *d, const struct digest_case *c, uint64_t n,
                               uint64_t *out_bytes)
{
    *out_bytes = n * gstride_type_bytes(c->type);
    return gstride_iota(d->stream, typed(d->out, c->type, n), -5, 3);
}

static gstride_status run_convert(struct digest *d, const struct digest_case *c, uint64_t n,
                                  uint64_t *out_bytes)
{
    *out_bytes = n * gstride_type_bytes(c->out_type);
    return gstride_convert(d->stream, typed(d->in, c->type, n), typed(d->out, c->out_type, n));
}

static gstride_status run_byteswap(struct digest *d, const struct digest_case *c, uint64_t n,
                                   uint64_t *out_bytes)
{
    *out_bytes = n * gstride_type_bytes(c->type);
    return gstride_byteswap(d->stream, typed(d->in, c->type, n), typed(d->out, c->type, n));
}

static gstride_status run_axpy(struct digest *d, const struct digest_case *c, uint64_t n,
                               uint64_t *out_bytes)
{
    *out_bytes = n * gstride_type_bytes(c->type);
    gstride_span x = typed(d->in, c->type, n), y = typed(d->out, c->type, n);
    gstride_status status = gstride_iota(d->stream, y, 1, 1);
    return status == GSTRIDE_OK ? gstride_axpby(d->stream, 0.7, x, -1.3, y) : status;
}

static gstride_status run_kernel(struct digest *d, const struct digest_case *c, uint64_t n,
                                 uint64_t *out_bytes)
{
    static const char source[] =
        "__kernel void gstride_digest_kernel(const ulong n, __global const "
        "uint *x, __global uint *y)\n"
        "{\n    GSTRIDE_FOR (i, n)\n        y[i] = x[n - 1 - i] + (uint)i;\n}\n";
    *out_bytes = n * gstride_type_bytes(c->type);
    gstride_kernel *kernel;
    gstride_status status =
        gstride_kernel_build(gstride_stream_device(d->stream), source, "digest kernel",
                             "gstride_digest_kernel", NULL, &kernel);
    if (status != GSTRIDE_OK)
        return status;
    const gstride_kernel_arg args[] = {gstride_arg_u64(n),
                                       gstride_arg_span(typed(d->in, c->type, LARGEST_SIZE)),
                                       gstride_arg_span(typed(d->out, c->type, LARGEST_SIZE))};
    status = gstride_kernel_launch(d->stream, kernel, n, args, COUNT(args));
    gstride_kernel_free(kernel);
    return status;
}

/* Cases that are not a plain operator on a type. */
static const struct digest_case other_cases[] = {
    {"reduce", GSTRIDE_U64, "affine", PLAIN, true, run_operator, 0, GSTRIDE_U64},
    {"reduce", GSTRIDE_F32, "ordered-sum", PLAIN, true, run_operator, 1, GSTRIDE_F32},
    {"reduce", GSTRIDE_F64, "ordered-sum", PLAIN, false, run_operator, 1, GSTRIDE_F64},
    {"reduce", GSTRIDE_U8, "sum-u64", PLAIN, true, run_reduce, GSTRIDE_SUM, GSTRIDE_U64},
    {"reduce", GSTRIDE_I16, "sum-i64", PLAIN, false, run_reduce, GSTRIDE_SUM, GSTRIDE_I64},
    {"reduce", GSTRIDE_I32, "sum-f32", PLAIN, false, run_reduce, GSTRIDE_SUM, GSTRIDE_F32},
    {"reduce", GSTRIDE_F32, "sum-f64", PLAIN, true, run_reduce, GSTRIDE_SUM, GSTRIDE_F64},
    {"reduce", GSTRIDE_F16, "sum-f32", PLAIN, false, run_reduce, GSTRIDE_SUM, GSTRIDE_F32},
    {"map-reduce", GSTRIDE_F32, "sum-of-squares", PLAIN, true, run_map_reduce, 0, GSTRIDE_F32},
    {"map-reduce", GSTRIDE_F64, "sum-of-squares", PLAIN, false, run_map_reduce, 0, GSTRIDE_F64},
    {"map-reduce", GSTRIDE_U32, "sum-of-mixed-index", PLAIN, true, run_map_reduce, 1, GSTRIDE_U64},
    {"map", GSTRIDE_F32, "axpby", PLAIN, true, run_axpy, 0, GSTRIDE_F32},
    {"map", GSTRIDE_F64, "axpby", PLAIN, true, run_axpy, 0, GSTRIDE_F64},
    {"map", GSTRIDE_U16, "byteswap", PLAIN, false, run_byteswap, 0, GSTRIDE_U16},
    {"map", GSTRIDE_F32, "byteswap", SPECIAL, true, run_byteswap, 0, GSTRIDE_F32},
    {"map", GSTRIDE_U64, "byteswap", PLAIN, false, run_byteswap, 0, GSTRIDE_U64},
    {"map", GSTRIDE_F32, "to-i8", SPECIAL, true, run_convert, 0, GSTRIDE_I8},
    {"map", GSTRIDE_F32, "to-u64", SPECIAL, false, run_convert, 0, GSTRIDE_U64},
    {"map", GSTRIDE_F64, "to-i32", SPECIAL, false, run_convert, 0, GSTRIDE_I32},
    {"map", GSTRIDE_F64, "to-f32", PLAIN, false, run_convert, 0, GSTRIDE_F32},
    {"map", GSTRIDE_F32, "to-f16", PLAIN, true, run_convert, 0, GSTRIDE_F16},
    {"map", GSTRIDE_F16, "to-f32", PLAIN, false, run_convert, 0, GSTRIDE_F32},
    {"map", GSTRIDE_I64, "to-f32", PLAIN, true, run_convert, 0, GSTRIDE_F32},
    {"map", GSTRIDE_U64, "to-f64", PLAIN, false, run_convert, 0, GSTRIDE_F64},
    {"map", GSTRIDE_I64, "to-i16", PLAIN, false, run_convert, 0, GSTRIDE_I16},
    {"kernel", GSTRIDE_U32, "reverse", PLAIN, true, run_kernel, 0, GSTRIDE_U32},
};

/* The quick set has at least one case of every operator, type and arithmetic path. */
static bool reduce_is_quick(gstride_op op, gstride_type type)
{
    static const unsigned quick_types[GSTRIDE_NUM_OPS] = {
        [GSTRIDE_SUM] = 1u << GSTRIDE_I32 | 1u << GSTRIDE_U64 | 1u << GSTRIDE_F16 |
                        1u << GSTRIDE_F32 | 1u << GSTRIDE_F64,
        [GSTRIDE_PROD] = 1u << GSTRIDE_F32,
        [GSTRIDE_MIN] = 1u << GSTRIDE_F32 | 1u << GSTRIDE_I8,
        [GSTRIDE_MAX] = 1u << GSTRIDE_F64 | 1u << GSTRIDE_U16,
        [GSTRIDE_MINMAX] = 1u << GSTRIDE_F32,
        [GSTRIDE_ARGMIN] = 1u << GSTRIDE_F32 | 1u << GSTRIDE_U8,
        [GSTRIDE_ARGMAX] = 1u << GSTRIDE_F64 | 1u << GSTRIDE_I16,
        [GSTRIDE_AND] = 1u << GSTRIDE_U32,
        [GSTRIDE_OR] = 1u << GSTRIDE_U8,
        [GSTRIDE_XOR] = 1u << GSTRIDE_I64,
        [GSTRIDE_ANY] = 1u << GSTRIDE_F32,
        [GSTRIDE_ALL] = 1u << GSTRIDE_U8,
        [GSTRIDE_COUNT] = 1u << GSTRIDE_F16,
        [GSTRIDE_MEAN] = 1u << GSTRIDE_I32,
    };
    return quick_types[op] >> type & 1;
}

/* The case of a built-in operator on a type; false if the operator does not take the type. */
static bool make_reduce_case(gstride_op op, gstride_type type, struct digest_case *c)
{
    bool is_float = gsi_type(type)->kind == GSI_FLOAT;
    *c = (struct digest_case){.primitive = "reduce",
                              .type = type,
                              .label = gstride_op_name(op),
                              .flavour = SPECIAL,
                              .quick = reduce_is_quick(op, type),
                              .run = run_reduce,
                              .op = op,
                              .out_type = type};
    switch (op) {
    case GSTRIDE_SUM:
        c->flavour = PLAIN;
        return true;
    case GSTRIDE_PROD:
        c->flavour = UNITS;
        return true;
    case GSTRIDE_ARGMIN:
    case GSTRIDE_ARGMAX:
    case GSTRIDE_COUNT:
        c->out_type = GSTRIDE_U64;
        return true;
    case GSTRIDE_ANY:
    case GSTRIDE_ALL:
        c->out_type = GSTRIDE_U8;
        return true;
    case GSTRIDE_MEAN:
        c->flavour = PLAIN;
        c->out_type = GSTRIDE_F64;
        return true;
    case GSTRIDE_AND:
    case GSTRIDE_OR:
    case GSTRIDE_XOR:
        c->flavour = PLAIN;
        return !is_float;
    default:
        return true;
    }
}

static void hand_out(struct digest *d, const char *line)
{
    if (d->line(d->user, line) != 0)
        d->stopped = true;
}

static gstride_status run_size(struct digest *d, const struct digest_case *c, uint64_t n)
{
    uint64_t bytes = 0;
    gstride_status status = c->run(d, c, n, &bytes);
    if (status == GSTRIDE_ERROR_EMPTY)
        return GSTRIDE_OK; /* defined to be an error, and no output to hash */
    if (status == GSTRIDE_OK)
        status = gstride_read(d->stream, typed(d->out, GSTRIDE_U8, bytes), d->host, bytes);
    if (status != GSTRIDE_OK)
        return status;
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s %s %s %" PRIu64 " %016" PRIx64, c->primitive,
             gstride_type_name(c->type), c->label, n, (uint64_t)XXH3_64bits(d->host, bytes));
    hand_out(d, line);
    return GSTRIDE_OK;
}

static gstride_status run_case(struct digest *d, const struct digest_case *c)
{
    bool full = d->set == GSTRIDE_DIGEST_FULL;
    if (!full && !c->quick)
        return GSTRIDE_OK;
    const uint64_t *sizes = full ? full_sizes : quick_sizes;
    size_t count = full ? COUNT(full_sizes) : COUNT(quick_sizes);
    gstride_status status = fill_input(d, c->type, c->flavour);
    for (size_t i = 0; i < count && status == GSTRIDE_OK && !d->stopped; ++i)
        status = run_size(d, c, sizes[i]);
    if (status == GSTRIDE_ERROR_DEVICE_LACKS) {
        char line[LINE_BYTES];
        snprintf(line, sizeof line, "# %s %s %s: not on this device", c->primitive,
                 gstride_type_name(c->type), c->label);
        hand_out(d, line);
        status = GSTRIDE_OK;
    }
    return status;
}

static gstride_status run_all(struct digest *d)
{
    static const char *const map_labels[] = {"square-plus", "plus-index"};
    gstride_status status = GSTRIDE_OK;
    for (int t = 0; t < GSTRIDE_NUM_TYPES && status == GSTRIDE_OK; ++t) {
        gstride_type type = (gstride_type)t;
        struct digest_case c = {
            .primitive = "map", .type = type, .label = "iota", .run = run_iota, .out_type = type};
        status = run_case(d, &c);
        for (int e = 0; e < 2 && status == GSTRIDE_OK; ++e) {
            c.label = map_labels[e];
            c.run = run_map;
            c.op = e;
            c.quick = e == 0 ? type == GSTRIDE_F16 || type == GSTRIDE_F32 : type == GSTRIDE_I8;
            status = run_case(d, &c);
        }
        for (int op = 0; op < GSTRIDE_NUM_OPS && status == GSTRIDE_OK && !d->stopped; ++op)
            if (make_reduce_case((gstride_op)op, type, &c))
                status = run_case(d, &c);
    }
    for (size_t i = 0; i < COUNT(other_cases) && status == GSTRIDE_OK && !d->stopped; ++i)
        status = run_case(d, &other_cases[i]);
    return status;
}

gstride_status gstride_digest(gstride_stream *stream, gstride_digest_set set,
                              gstride_digest_line *line, void *user)
{
    gstride_status status = gsi_stream_check(stream, "gstride_digest");
    if (status != GSTRIDE_OK)
        return status;
    if (!line)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_digest: line is NULL");
    struct digest d = {.stream = stream, .set = set, .line = line, .user = user};
    gstride_device *device = gstride_stream_device(stream);
    d.host = malloc((size_t)LARGEST_SIZE * sizeof(uint64_t));
    if (!d.host)
        status = gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "gstride_digest: no memory");
    if (status == GSTRIDE_OK)
        status = gstride_alloc(device, GSTRIDE_U64, LARGEST_SIZE, &d.in);
    if (status == GSTRIDE_OK)
        status = gstride_alloc(device, GSTRIDE_U64, LARGEST_SIZE, &d.out);
    if (status == GSTRIDE_OK)
        status = run_all(&d);
    gstride_free(&d.in);
    gstride_free(&d.out);
    free(d.host);
    return status;
}

struct comparison {
    const char *answers;
    uint64_t cases;
    char wrong[2 * LINE_BYTES]; /* the first wrong case, or "" */
};

/* The line of the answers that starts with the first `length` bytes of `line`. */
static const char *find_answer(const char *answers, const char *line, size_t length)
{
    for (const char *at = answers; at && *at;) {
        if (strncmp(at, line, length) == 0)
            return at;
        at = strchr(at, '\n');
        if (at)
            ++at;
    }
    return NULL;
}

static int compare_line(void *user, const char *line)
{
    struct comparison *comparison = user;
    if (line[0] == '#')
        return 0;
    size_t length = strlen(line);
    size_t name_length = (size_t)(strrchr(line, ' ') - line) + 1;
    const char *answer = find_answer(comparison->answers, line, name_length);
    if (answer && strncmp(answer, line, length) == 0) {
        ++comparison->cases;
        return 0;
    }
    int answer_length = answer ? (int)strcspn(answer + name_length, "\n") : 0;
    snprintf(comparison->wrong, sizeof comparison->wrong, "%s, known answer %.*s", line,
             answer ? answer_length : 7, answer ? answer + name_length : "missing");
    return 1;
}

gstride_status gstride_selftest(gstride_stream *stream, gstride_digest_set set, uint64_t *cases)
{
    struct comparison comparison = {.answers = gsi_source_text("selftest_answers.txt")};
    gstride_status status = gstride_digest(stream, set, compare_line, &comparison);
    if (cases)
        *cases = comparison.cases;
    if (status != GSTRIDE_OK)
        return status;
    const gstride_device_info *info = &stream->device->info;
    if (comparison.wrong[0])
        return gsi_fail(GSTRIDE_ERROR_SELFTEST, "%s (%s, driver %s): wrong bits in %s", info->name,
                        info->platform, info->driver_version, comparison.wrong);
    return GSTRIDE_OK;
}
