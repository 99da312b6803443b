/* SPDX-License-Identifier: MIT */
/* bench.h - the cases that gstride and its peers all run, and what a peer must offer. */
#ifndef GSTRIDE_BENCH_H
#define GSTRIDE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* name, bytes moved per element */
#define BENCH_CASES(X)                                                                             \
    X(COPY_F32, "copy f32", 8)                                                                     \
    X(AXPY_F32, "axpy f32", 12)                                                                    \
    X(MAP3_F32, "map of three f32", 16)                                                            \
    X(SUM_F32, "sum f32", 4)                                                                       \
    X(MAX_F32, "max f32", 4)                                                                       \
    X(ARGMIN_F32, "argmin f32", 4)                                                                 \
    X(DOT_F32, "dot f32", 8)                                                                       \
    X(SUM_U64, "sum u64", 8)

enum bench_case {
#define BENCH_ENUM(id, name, bytes) BENCH_##id,
    BENCH_CASES(BENCH_ENUM)
#undef BENCH_ENUM
        BENCH_NUM_CASES
};

/* Another implementation of the same cases, with buffers of its own. */
struct bench_peer {
    const char *name;
    bool (*open)(uint64_t n);                  /* allocate and fill; false if it cannot */
    bool (*run)(enum bench_case c, int calls); /* enqueue `calls` calls and wait; false: no such */
    void (*close)(void);
};

/* Each exists if CMake found what it needs. */
extern const struct bench_peer bench_peer_openmp;
extern const struct bench_peer bench_peer_cub;

#ifdef __cplusplus
}
#endif
#endif
