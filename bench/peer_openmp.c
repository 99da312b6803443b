/* SPDX-License-Identifier: MIT */
/* peer_openmp.c - the loops that a C programmer would write, with OpenMP; -O3 -march=native. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static uint64_t count;
static float *x, *y, *z, *w;
static uint64_t *u;
static volatile float float_sink;
static volatile uint64_t integer_sink;

static void *allocate(size_t bytes)
{
    enum { CACHE_LINE = 64 };
    return aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
}

static void close_peer(void)
{
    free(x);
    free(y);
    free(z);
    free(w);
    free(u);
}

static bool open_peer(uint64_t n)
{
    count = n;
    x = allocate(n * sizeof *x);
    y = allocate(n * sizeof *y);
    z = allocate(n * sizeof *z);
    w = allocate(n * sizeof *w);
    u = allocate(n * sizeof *u);
    if (!x || !y || !z || !w || !u)
        return false;
#pragma omp parallel for
    for (uint64_t i = 0; i < n; ++i) {
        x[i] = (float)(i * 2654435761u >> 8 & 0xffffff) / 16777216.0f;
        y[i] = x[i];
        z[i] = x[i];
        w[i] = x[i];
        u[i] = i * 0x9e3779b97f4a7c15u;
    }
    return true;
}

static void copy(void)
{
#pragma omp parallel for simd
    for (uint64_t i = 0; i < count; ++i)
        y[i] = x[i];
}

static void axpy(void)
{
#pragma omp parallel for simd
    for (uint64_t i = 0; i < count; ++i)
        y[i] = 0.5f * x[i] + y[i];
}

static void map3(void)
{
#pragma omp parallel for simd
    for (uint64_t i = 0; i < count; ++i)
        w[i] = x[i] * y[i] + z[i];
}

static void sum(void)
{
    float total = 0;
#pragma omp parallel for simd reduction(+ : total)
    for (uint64_t i = 0; i < count; ++i)
        total += x[i];
    float_sink = total;
}

static void maximum(void)
{
    float most = x[0];
#pragma omp parallel for simd reduction(max : most)
    for (uint64_t i = 0; i < count; ++i)
        most = x[i] > most ? x[i] : most;
    float_sink = most;
}

static void argmin(void)
{
    uint64_t best = 0;
#pragma omp parallel
    {
        uint64_t own = 0;
#pragma omp for nowait
        for (uint64_t i = 0; i < count; ++i)
            if (x[i] < x[own])
                own = i;
#pragma omp critical
        if (x[own] < x[best] || (x[own] == x[best] && own < best))
            best = own;
    }
    integer_sink = best;
}

static void dot(void)
{
    float total = 0;
#pragma omp parallel for simd reduction(+ : total)
    for (uint64_t i = 0; i < count; ++i)
        total += x[i] * y[i];
    float_sink = total;
}

static void sum_u64(void)
{
    uint64_t total = 0;
#pragma omp parallel for simd reduction(+ : total)
    for (uint64_t i = 0; i < count; ++i)
        total += u[i];
    integer_sink = total;
}

static bool run(enum bench_case c, int calls)
{
    static void (*const loops[BENCH_NUM_CASES])(void) = {
        [BENCH_COPY_F32] = copy, [BENCH_AXPY_F32] = axpy,   [BENCH_MAP3_F32] = map3,
        [BENCH_SUM_F32] = sum,   [BENCH_MAX_F32] = maximum, [BENCH_ARGMIN_F32] = argmin,
        [BENCH_DOT_F32] = dot,   [BENCH_SUM_U64] = sum_u64};
    if (!loops[c])
        return false;
    for (int k = 0; k < calls; ++k)
        loops[c]();
    return true;
}

const struct bench_peer bench_peer_openmp = {"OpenMP", open_peer, run, close_peer};
