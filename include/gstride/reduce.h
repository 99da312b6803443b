/* SPDX-License-Identifier: MIT */
/**
 * \file
 * reduce: one value out of many, with the same bits on every device and for every launch shape.
 *
 * The arithmetic has a fixed shape that depends only on the number of elements: tiles of 8192, in
 * them 8 runs of 1024, in them 128 lanes; lanes, runs and tiles are combined by fixed trees, tile
 * results by the same rule again. Absent elements take no part. docs/kernels.md, "reduce".
 *
 * Float rules: min, max, argmin and argmax order -0 below +0; a NaN anywhere makes min, max and
 * minmax the canonical quiet NaN, and argmin and argmax give the first NaN's index. sum, prod and
 * mean store every NaN as the canonical quiet NaN. The sum of no floats is +0.
 *
 *   operator         input          output (one element, but minmax)   of nothing
 *   SUM, PROD        any            any of the same kind (1)           0, 1
 *   MIN, MAX         any            the input's type                   largest, smallest (2)
 *   MINMAX           any            the input's type, two elements     both of these
 *   ARGMIN, ARGMAX   any            U64, lowest index among equals     GSTRIDE_ERROR_EMPTY
 *   AND, OR, XOR     integers       integers                           all ones, 0, 0
 *   ANY, ALL         any            integers: 1 if any / all non-zero  0, 1
 *   COUNT            any            U32, I64, U64, F64: non-zero ones  0
 *   MEAN             any            F32 or F64 (3)                     GSTRIDE_ERROR_EMPTY
 *
 * (1) accumulates in the output's type: integers modulo 2^bits; integers may go to floats, floats
 *     not to integers. (2) of the type; the infinities for floats. (3) integers are summed exactly
 *     modulo 2^64, floats in the output's type; the division is the F64 one, so the device needs
 *     fp64.
 */
#ifndef GSTRIDE_REDUCE_H
#define GSTRIDE_REDUCE_H

#include <gstride/map.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Built-in operators. \since 0.1 */
#define GSTRIDE_OP_LIST(X)                                                                         \
    X(SUM, 0, "sum")                                                                               \
    X(PROD, 1, "prod")                                                                             \
    X(MIN, 2, "min")                                                                               \
    X(MAX, 3, "max")                                                                               \
    X(MINMAX, 4, "minmax")                                                                         \
    X(ARGMIN, 5, "argmin")                                                                         \
    X(ARGMAX, 6, "argmax")                                                                         \
    X(AND, 7, "and")                                                                               \
    X(OR, 8, "or")                                                                                 \
    X(XOR, 9, "xor")                                                                               \
    X(ANY, 10, "any")                                                                              \
    X(ALL, 11, "all")                                                                              \
    X(COUNT, 12, "count")                                                                          \
    X(MEAN, 13, "mean")

typedef enum gstride_op {
#define GSTRIDE_OP_ENUM(name, value, text) GSTRIDE_##name = (value),
    GSTRIDE_OP_LIST(GSTRIDE_OP_ENUM)
#undef GSTRIDE_OP_ENUM
} gstride_op;

/** Number of built-in operators. \since 0.1 */
#define GSTRIDE_NUM_OPS 14

/** "sum" ... "mean"; "?" for a number that is no operator. \since 0.1 */
GSTRIDE_API const char *gstride_op_name(gstride_op op);

/**
 * An operator of the caller's: an OpenCL C expression over the operands `a` and `b`, both of the
 * output's value type, that gives the combination with `a` earlier. It must be associative; unless
 * it is also commutative, say so and the order of the elements is kept. `identity` is what a
 * reduction of nothing gives; it is combined with nothing else. preamble may be NULL. \since 0.1
 */
typedef struct gstride_operator {
    const char *expression;
    const char *identity;
    const char *preamble;
    bool commutative;
} gstride_operator;

/**
 * out = in[0] op in[1] op ... op in[n-1], n = in.count.
 *
 * Aliasing  out may lie anywhere but inside in
 * Order     asynchronous
 * Cost      one launch (several where a device cuts loops off), one read of the input; scratch of
 *           about n / 8192 accumulators, or of one per work-group, from the stream
 * \return GSTRIDE_OK, GSTRIDE_ERROR_ARGUMENT, _SPAN, _OVERLAP, _TYPE, _EMPTY, _WRONG_DEVICE,
 *         _DEVICE_LACKS, _LAUNCH_SHAPE, _OUT_OF_DEVICE_MEMORY, _OPENCL
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_reduce(gstride_stream *stream, gstride_op op, gstride_span in,
                                          gstride_span out);

/** The same with an operator of the caller's; in and out have the same type. \since 0.1 */
GSTRIDE_API gstride_status gstride_reduce_with(gstride_stream *stream, const gstride_operator *op,
                                               gstride_span in, gstride_span out);

/** The same with the result in host memory, of type `type`; waits. \since 0.1 */
GSTRIDE_API gstride_status gstride_reduce_to_host(gstride_stream *stream, gstride_op op,
                                                  gstride_span in, gstride_type type, void *result);

/**
 * Reduce the values of an expression over i in [0, n) without storing them: dot products, norms,
 * counts. The expression follows the rules of map.h but is a single value, converted to `type`;
 * operands are `in` spans and scalars. No buffer is needed, so n may exceed any memory.
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_map_reduce(gstride_stream *stream, gstride_op op, uint64_t n,
                                              gstride_type type, const char *expression,
                                              const gstride_arg *args, size_t num_args,
                                              gstride_span out);

/** The general form: caller's operator, preamble for the expression. \since 0.1 */
GSTRIDE_API gstride_status gstride_map_reduce_with(gstride_stream *stream,
                                                   const gstride_operator *op, uint64_t n,
                                                   const char *preamble, const char *expression,
                                                   const gstride_arg *args, size_t num_args,
                                                   gstride_span out);

/** gstride_map_reduce with the result in host memory, of type `out_type`; waits. \since 0.1 */
GSTRIDE_API gstride_status gstride_map_reduce_to_host(gstride_stream *stream, gstride_op op,
                                                      uint64_t n, gstride_type type,
                                                      const char *expression,
                                                      const gstride_arg *args, size_t num_args,
                                                      gstride_type out_type, void *result);

/**
 * Sum of x[i] * y[i]; of |x[i]|; of x[i]^2; largest |x[i]|. F32 or F64 spans of one type and
 * length; out has one element of that type. \since 0.1
 */
GSTRIDE_API gstride_status gstride_dot(gstride_stream *stream, gstride_span x, gstride_span y,
                                       gstride_span out);
GSTRIDE_API gstride_status gstride_asum(gstride_stream *stream, gstride_span x, gstride_span out);
GSTRIDE_API gstride_status gstride_sumsq(gstride_stream *stream, gstride_span x, gstride_span out);
GSTRIDE_API gstride_status gstride_amax(gstride_stream *stream, gstride_span x, gstride_span out);

#ifdef __cplusplus
}
#endif
#endif
