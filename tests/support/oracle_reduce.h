/* SPDX-License-Identifier: MIT */
/* oracle_reduce.h - what gstride/reduce.h documents, computed on the host, one value at a time.
 *
 * Written from the documentation, not from the kernels: an element goes into the lane that the rule
 * names, and trees are folded by recursion. */
#ifndef SUPPORT_ORACLE_REDUCE_H
#define SUPPORT_ORACLE_REDUCE_H

#include <gstride/reduce.h>

/* Compute op over n elements of type `in`; the result has the type `out` and 1 or 2 elements.
 * \return how many elements were stored; 0 if a reduction of nothing is an error */
unsigned oracle_reduce(gstride_op op, gstride_type in, const void *data, uint64_t n,
                       gstride_type out, void *result);

/* Is the combination of types one that the documentation's table allows? */
bool oracle_reduce_allows(gstride_op op, gstride_type in, gstride_type out);

/* An accumulator of any operator. */
union oracle_acc {
    uint64_t u;
    float f;
    double d;
    struct {
        double low, high; /* NaN if one was met */
    } range;
    struct {
        uint64_t low, high; /* of integers, in an order-preserving form */
    } int_range;
    struct {
        double value;
        uint64_t order; /* of integers, in an order-preserving form */
        uint64_t index;
    } place;
};

struct oracle_operator {
    union oracle_acc (*lift)(const void *user, uint64_t i);
    union oracle_acc (*combine)(const void *user, const union oracle_acc *a,
                                const union oracle_acc *b);
    const void *user;
    bool ordered;
};

/* The tree of reduce with any operator, n > 0. */
union oracle_acc oracle_tree(const struct oracle_operator *op, uint64_t n);

/* The operator's plain left fold, n > 0. */
union oracle_acc oracle_left_fold(const struct oracle_operator *op, uint64_t n);

#endif
