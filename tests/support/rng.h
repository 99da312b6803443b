/* SPDX-License-Identifier: MIT */
/* rng.h - random numbers that can be had again: one seed per run, one sequence per label. */
#ifndef SUPPORT_RNG_H
#define SUPPORT_RNG_H

#include <stdint.h>

#define RNG_SEED_VARIABLE "GSTRIDE_TEST_SEED"

/* The seed of this run: the variable's value, else the time. */
uint64_t rng_seed(void);

struct rng {
    uint64_t state;
};

/* A sequence that depends on the seed and the label only, so that tests do not disturb each other.
 */
struct rng rng_for(const char *label);

uint64_t rng_next(struct rng *rng);
/* In [0, bound), bound > 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);
/* In [0, 1). */
double rng_unit(struct rng *rng);

#endif
