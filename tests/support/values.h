/* SPDX-License-Identifier: MIT */
/* values.h - elements of every type on the host: reading, converting, generating, showing. */
#ifndef SUPPORT_VALUES_H
#define SUPPORT_VALUES_H

#include "rng.h"

#include <gstride/types.h>

enum value_kind { VALUE_SIGNED, VALUE_UNSIGNED, VALUE_FLOAT };

/* An element without loss: f16 and f32 are exact in a double. */
struct value {
    enum value_kind kind;
    union {
        int64_t s;
        uint64_t u;
        double d;
    };
};

enum value_kind value_kind_of(gstride_type type);
struct value value_load(gstride_type type, const void *array, uint64_t i);

/* Store with the conversion that gstride_convert documents. A NaN becomes the canonical one. */
void value_store(gstride_type type, void *array, uint64_t i, struct value value);

/* IEEE binary16, rounded once to nearest even. */
uint16_t half_of_double(double d);
double double_of_half(uint16_t bits);

/* Replace every NaN by the canonical quiet one, where the payload is not defined. */
void values_canonicalise(gstride_type type, void *array, uint64_t n);

/* "-1.5 (0xbfc00000)" */
#define VALUE_TEXT 64
void value_show(gstride_type type, const void *array, uint64_t i, char *text);

enum value_mix {
    MIX_BITS,     /* integers of all sizes; finite floats of both signs around 1, no zeros */
    MIX_NEAR_ONE, /* odd integers; floats whose products stay finite */
    MIX_SPARSE,   /* nearly all zero */
    MIX_TIES,     /* very few different values */
    MIX_SPECIAL,  /* extremes, zeros of both signs, infinities, NaNs, subnormals, and others */
    MIX_FINITE    /* the same without infinities and NaNs */
};
void values_fill(struct rng *rng, gstride_type type, enum value_mix mix, void *array, uint64_t n);

#endif
