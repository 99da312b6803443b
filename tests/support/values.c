/* SPDX-License-Identifier: MIT */
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum value_kind value_kind_of(gstride_type type)
{
    switch (type) {
    case GSTRIDE_I8:
    case GSTRIDE_I16:
    case GSTRIDE_I32:
    case GSTRIDE_I64:
        return VALUE_SIGNED;
    case GSTRIDE_F16:
    case GSTRIDE_F32:
    case GSTRIDE_F64:
        return VALUE_FLOAT;
    default:
        return VALUE_UNSIGNED;
    }
}

enum { HALF_MANTISSA = 10, HALF_LEAST_EXPONENT = -14, HALF_BIAS = 15 };
#define HALF_INFINITY 0x7c00u
#define HALF_NAN      0x7e00u
#define HALF_LARGEST  65504.0

double double_of_half(uint16_t bits)
{
    int exponent = bits >> HALF_MANTISSA & 0x1f;
    int mantissa = bits & 0x3ff;
    double magnitude;
    if (exponent == 0x1f)
        magnitude = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(mantissa, HALF_LEAST_EXPONENT - HALF_MANTISSA);
    else
        magnitude = ldexp(mantissa + 0x400, exponent - HALF_BIAS - HALF_MANTISSA);
    return bits & 0x8000u ? -magnitude : magnitude;
}

uint16_t half_of_double(double d)
{
    if (isnan(d))
        return HALF_NAN;
    uint16_t sign = signbit(d) ? 0x8000u : 0;
    double magnitude = fabs(d);
    if (magnitude == 0)
        return sign;
    if (magnitude > 2 * HALF_LARGEST)
        return sign | HALF_INFINITY;
    int exponent = ilogb(magnitude);
    if (exponent < HALF_LEAST_EXPONENT)
        exponent = HALF_LEAST_EXPONENT;
    /* The significand as an integer; nearbyint rounds to nearest even. A carry into the next
     * exponent comes out right, since the fields are neighbours. */
    int significand = (int)nearbyint(ldexp(magnitude, HALF_MANTISSA - exponent));
    int biased = exponent + HALF_BIAS - 1;
    int bits = (biased << HALF_MANTISSA) + significand;
    return sign | (bits >= (int)HALF_INFINITY ? (uint16_t)HALF_INFINITY : (uint16_t)bits);
}

#define LOAD(type, kind_of, field)                                                                 \
    {                                                                                              \
        type v;                                                                                    \
        memcpy(&v, (const char *)array + i * sizeof v, sizeof v);                                  \
        return (struct value){.kind = kind_of, .field = v};                                        \
    }

struct value value_load(gstride_type type, const void *array, uint64_t i)
{
    switch (type) {
    case GSTRIDE_I8:
        LOAD(int8_t, VALUE_SIGNED, s)
    case GSTRIDE_U8:
        LOAD(uint8_t, VALUE_UNSIGNED, u)
    case GSTRIDE_I16:
        LOAD(int16_t, VALUE_SIGNED, s)
    case GSTRIDE_U16:
        LOAD(uint16_t, VALUE_UNSIGNED, u)
    case GSTRIDE_I32:
        LOAD(int32_t, VALUE_SIGNED, s)
    case GSTRIDE_U32:
        LOAD(uint32_t, VALUE_UNSIGNED, u)
    case GSTRIDE_I64:
        LOAD(int64_t, VALUE_SIGNED, s)
    case GSTRIDE_U64:
        LOAD(uint64_t, VALUE_UNSIGNED, u)
    case GSTRIDE_F32:
        LOAD(float, VALUE_FLOAT, d)
    case GSTRIDE_F64:
        LOAD(double, VALUE_FLOAT, d)
    case GSTRIDE_F16:
        break;
    }
    uint16_t bits;
    memcpy(&bits, (const char *)array + i * sizeof bits, sizeof bits);
    return (struct value){.kind = VALUE_FLOAT, .d = double_of_half(bits)};
}

/* The bits of a value in an integer type: modulo for integers, saturating for floats. */
static uint64_t integer_bits(gstride_type type, struct value value)
{
    if (value.kind != VALUE_FLOAT)
        return value.u;
    if (isnan(value.d))
        return 0;
    unsigned bits = 8 * (unsigned)gstride_type_bytes(type);
    bool is_signed = value_kind_of(type) == VALUE_SIGNED;
    double limit = ldexp(1, (int)(is_signed ? bits - 1 : bits)); /* first value above the range */
    double whole = trunc(value.d);
    uint64_t largest = is_signed ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
    if (whole >= limit)
        return largest;
    if (is_signed)
        return whole < -limit ? ~largest : (uint64_t)(int64_t)whole;
    return whole <= 0 ? 0 : (uint64_t)whole;
}

static float float_of(struct value value)
{
    return value.kind == VALUE_FLOAT    ? (float)value.d
           : value.kind == VALUE_SIGNED ? (float)value.s
                                        : (float)value.u;
}

static double double_of(struct value value)
{
    return value.kind == VALUE_FLOAT    ? value.d
           : value.kind == VALUE_SIGNED ? (double)value.s
                                        : (double)value.u;
}

#define F32_NAN 0x7fc00000u
#define F64_NAN 0x7ff8000000000000u

void value_store(gstride_type type, void *array, uint64_t i, struct value value)
{
    size_t bytes = gstride_type_bytes(type);
    uint64_t bits = 0;
    double d = double_of(value);
    if (type == GSTRIDE_F16) {
        bits = half_of_double(d); /* integers that a double rounds are infinite here anyway */
    } else if (type == GSTRIDE_F32) {
        float f = float_of(value);
        uint32_t word = F32_NAN;
        if (!isnan(d))
            memcpy(&word, &f, sizeof word);
        bits = word;
    } else if (type == GSTRIDE_F64) {
        bits = F64_NAN;
        if (!isnan(d))
            memcpy(&bits, &d, sizeof bits);
    } else {
        bits = integer_bits(type, value);
    }
    memcpy((char *)array + i * bytes, &bits, bytes); /* little-endian, as all hosts here are */
}

void values_canonicalise(gstride_type type, void *array, uint64_t n)
{
    if (value_kind_of(type) != VALUE_FLOAT)
        return;
    for (uint64_t i = 0; i < n; ++i) {
        struct value v = value_load(type, array, i);
        if (isnan(v.d))
            value_store(type, array, i, v);
    }
}

void value_show(gstride_type type, const void *array, uint64_t i, char *text)
{
    size_t bytes = gstride_type_bytes(type);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)array + i * bytes, bytes);
    struct value v = value_load(type, array, i);
    int digits = 2 * (int)bytes;
    if (v.kind == VALUE_FLOAT)
        snprintf(text, VALUE_TEXT, "%.17g (0x%0*" PRIx64 ")", v.d, digits, bits);
    else if (v.kind == VALUE_SIGNED)
        snprintf(text, VALUE_TEXT, "%" PRId64 " (0x%0*" PRIx64 ")", v.s, digits, bits);
    else
        snprintf(text, VALUE_TEXT, "%" PRIu64 " (0x%0*" PRIx64 ")", v.u, digits, bits);
}

static const uint16_t special_f16[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00,
                                       0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01};
static const uint32_t special_f32[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff,
                                       0x00800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff,
                                       0x7f800000, 0xff800000, 0x7fc00000, 0xffc00123};
static const uint64_t special_f64[] = {0x0000000000000000, 0x8000000000000000, 0x0000000000000001,
                                       0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
                                       0x3ff0000000000000, 0xbff0000000000000, 0x7fefffffffffffff,
                                       0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
                                       0x7ff8000000000000, 0xfff8000000000123};
enum { NUM_SPECIAL = 14, NUM_FINITE = 10 }; /* the finite ones come first */

static uint64_t special_float(gstride_type type, uint64_t k)
{
    return type == GSTRIDE_F16   ? special_f16[k]
           : type == GSTRIDE_F32 ? special_f32[k]
                                 : special_f64[k];
}

/* 0, 1, -1, the smallest or the largest of an integer type; callers cut it to size. */
static uint64_t special_integer(gstride_type type, uint64_t k)
{
    unsigned bits = 8 * (unsigned)gstride_type_bytes(type);
    const uint64_t top = 1ull << (bits - 1);
    const uint64_t values[] = {0, 1, UINT64_MAX, top, top - 1, top + 1};
    return values[k % (sizeof values / sizeof values[0])];
}

static double random_float(struct rng *rng, enum value_mix mix)
{
    double sign = rng_below(rng, 2) ? 1 : -1;
    if (mix == MIX_NEAR_ONE)
        return sign * (1 + (rng_unit(rng) - 0.5) / 1024);
    if (mix == MIX_TIES)
        return sign * (double)rng_below(rng, 3);
    return sign * ldexp(0.5 + rng_unit(rng) / 2, (int)rng_below(rng, 14) - 7);
}

static uint64_t random_integer(struct rng *rng, enum value_mix mix)
{
    uint64_t bits = rng_next(rng);
    return mix == MIX_NEAR_ONE ? bits | 1 : mix == MIX_TIES ? bits % 5 - 2 : bits;
}

void values_fill(struct rng *rng, gstride_type type, enum value_mix mix, void *array, uint64_t n)
{
    enum { SPARSENESS = 4096 };
    size_t bytes = gstride_type_bytes(type);
    bool is_float = value_kind_of(type) == VALUE_FLOAT;
    uint64_t specials = mix == MIX_SPECIAL ? NUM_SPECIAL : NUM_FINITE;
    for (uint64_t i = 0; i < n; ++i) {
        bool special = (mix == MIX_SPECIAL || mix == MIX_FINITE) && rng_below(rng, 2);
        uint64_t bits = 0;
        if (special)
            bits = is_float ? special_float(type, rng_below(rng, specials))
                            : special_integer(type, rng_next(rng));
        else if (is_float)
            value_store(type, &bits, 0,
                        (struct value){.kind = VALUE_FLOAT, .d = random_float(rng, mix)});
        else
            bits = random_integer(rng, mix);
        if (mix == MIX_SPARSE && rng_below(rng, SPARSENESS))
            bits = 0;
        memcpy((char *)array + i * bytes, &bits, bytes);
    }
}
