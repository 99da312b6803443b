/* SPDX-License-Identifier: MIT */
/**
 * \file
 * map: elementwise expressions over spans, and what is commonly made of them.
 *
 *   gstride_map(s, n, "y = a * x + y",
 *               GSTRIDE_ARGS(gstride_f32("a", 2), gstride_in("x", x), gstride_inout("y", y)));
 *
 * The expression is OpenCL C. A span's name stands for its current element, `i` (ulong) for the
 * index; several statements are separated by ";". It cannot reach other elements, so no index can
 * go out of bounds. Assigning to a span that is only `in` does not compile. Braces, comments,
 * preprocessor lines and string literals are refused, as are barriers, atomics, inline assembly
 * and the work-item functions, which would make results depend on the launch; helper functions go
 * into a preamble, where braces, comments and defines are allowed, but not #include, #pragma (other
 * than unroll) and ##, which would get around these rules. Recursion is undefined, as in OpenCL C.
 *
 * Values: I8 and U8 are char and uchar, ..., F16 elements are float while in the expression. a * b
 * + c is never fused unless fma() is written. What OpenCL C leaves undefined (division by zero,
 * shifts past the width, float to integer out of range) stays undefined: no crash, any value.
 *
 * Aliasing: a span may be given under several names if all of them name exactly the same elements
 * and at most one is written. Any other overlap with a written span is GSTRIDE_ERROR_OVERLAP.
 */
#ifndef GSTRIDE_MAP_H
#define GSTRIDE_MAP_H

#include <gstride/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One named operand of an expression; make it with the functions below. \since 0.1 */
typedef struct gstride_arg {
    const char *name; /**< a C identifier; not `i`, not a word of OpenCL C, not gs_... or __... */
    gstride_type type;
    unsigned access; /**< gstride_access bits for a span, 0 for a scalar */
    gstride_span span;
    union {
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
    } scalar;
} gstride_arg;

/** Operands that are read, written, or both. \since 0.1 */
GSTRIDE_API gstride_arg gstride_in(const char *name, gstride_span span);
GSTRIDE_API gstride_arg gstride_out(const char *name, gstride_span span);
GSTRIDE_API gstride_arg gstride_inout(const char *name, gstride_span span);

/** Scalar operands, the same for all elements; changing the value compiles nothing. \since 0.1 */
GSTRIDE_API gstride_arg gstride_i32(const char *name, int32_t value);
GSTRIDE_API gstride_arg gstride_u32(const char *name, uint32_t value);
GSTRIDE_API gstride_arg gstride_i64(const char *name, int64_t value);
GSTRIDE_API gstride_arg gstride_u64(const char *name, uint64_t value);
GSTRIDE_API gstride_arg gstride_f32(const char *name, float value);
GSTRIDE_API gstride_arg gstride_f64(const char *name, double value);

/** An argument list in place: expands to the two last parameters of gstride_map. \since 0.1 */
#define GSTRIDE_ARGS(...)                                                                          \
    (const gstride_arg[]){__VA_ARGS__},                                                            \
        (sizeof((const gstride_arg[]){__VA_ARGS__}) / sizeof(gstride_arg))

/** Longest expression and longest preamble, in bytes; most operands. \since 0.1 */
#define GSTRIDE_MAX_EXPRESSION 16384
#define GSTRIDE_MAX_PREAMBLE   262144
#define GSTRIDE_MAX_ARGS       24

/**
 * Evaluate an expression for every i in [0, n).
 *
 * Shapes    every span has at least n elements; the first n are used; n = 0 enqueues nothing
 * Order     asynchronous; the elements are computed in any order
 * Cost      one launch; each span is read or written once
 * Compiles  once per device, expression and operand types; then from the caches
 *
 * \return GSTRIDE_OK, or before anything is enqueued GSTRIDE_ERROR_ARGUMENT, _SPAN, _OVERLAP,
 *         _EXPRESSION (with position and log), _WRONG_DEVICE, _DEVICE_LACKS, _LAUNCH_SHAPE
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_map(gstride_stream *stream, uint64_t n, const char *expression,
                                       const gstride_arg *args, size_t num_args);

/** The same with helper functions, types and defines placed before the expression. \since 0.1 */
GSTRIDE_API gstride_status gstride_map_with(gstride_stream *stream, uint64_t n,
                                            const char *preamble, const char *expression,
                                            const gstride_arg *args, size_t num_args);

/** Set every element of a span to *value, which has the span's type (F16: its bits). \since 0.1 */
GSTRIDE_API gstride_status gstride_fill(gstride_stream *stream, gstride_span span,
                                        const void *value);

/** span[i] = first + i * step, computed in integers and converted to the span's type. \since 0.1 */
GSTRIDE_API gstride_status gstride_iota(gstride_stream *stream, gstride_span span, int64_t first,
                                        int64_t step);

/**
 * Convert all elements of `from` to the type of `to`. Integers narrow modulo 2^bits; floats to
 * integers truncate and saturate, NaN becomes 0; to floats rounds to nearest even.
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_convert(gstride_stream *stream, gstride_span from,
                                           gstride_span to);

/** Reverse the bytes of each element; in place if `from` and `to` are the same. \since 0.1 */
GSTRIDE_API gstride_status gstride_byteswap(gstride_stream *stream, gstride_span from,
                                            gstride_span to);

/**
 * BLAS level 1 on F32 or F64 spans of equal type and length: y = a x + y, y = a x + b y, x = a x.
 * The scalars are rounded to the spans' type. Product and sum are rounded separately. \since 0.1
 */
GSTRIDE_API gstride_status gstride_axpy(gstride_stream *stream, double a, gstride_span x,
                                        gstride_span y);
GSTRIDE_API gstride_status gstride_axpby(gstride_stream *stream, double a, gstride_span x, double b,
                                         gstride_span y);
GSTRIDE_API gstride_status gstride_scal(gstride_stream *stream, double a, gstride_span x);

#ifdef __cplusplus
}
#endif
#endif
