/* SPDX-License-Identifier: MIT */
/* splitmix64, of Steele, Lea and Flood. */
#include "rng.h"

#include <stdlib.h>
#include <time.h>

uint64_t rng_seed(void)
{
    static uint64_t seed;
    if (seed == 0) {
        const char *text = getenv(RNG_SEED_VARIABLE);
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        seed = text && text[0] ? strtoull(text, NULL, 10)
                               : (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
        seed += seed == 0; /* 0 means "not read yet" */
    }
    return seed;
}

struct rng rng_for(const char *label)
{
    struct rng rng = {rng_seed()};
    for (; *label; ++label)
        rng.state = rng_next(&rng) ^ (unsigned char)*label;
    return rng;
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    return rng_next(rng) % bound;
}

double rng_unit(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}
