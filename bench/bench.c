/* SPDX-License-Identifier: MIT */
/* bench.c - gstride beside a peer, batch by batch in one process: medians, spread, ratios.
 *
 *   bench_peers [--device SPEC] [--peer NAME] [--case PART-OF-A-NAME] [--log2 N[,N...]] [--rounds
 * R]
 *
 * A batch is as many calls as take 20 ms, at most 200; both sides enqueue a batch and wait for its
 * end, in turns, so that what else the machine does meets both. "ratio" is the peer's time over
 * gstride's: above 1, gstride is faster. "least" and "most" are the extremes of gstride's batches.
 */
#include "bench.h"

#include <gstride.h>

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ROUNDS = 101, MOST_SIZES = 16, MOST_CALLS = 200, LEAST_CALLS = 2 };
/* Long enough that changing between two drivers on one GPU does not count. */
static const double batch_us = 20000;

static const struct bench_peer *const peers[] = {
#ifdef BENCH_HAVE_OPENMP
    &bench_peer_openmp,
#endif
#ifdef BENCH_HAVE_CUB
    &bench_peer_cub,
#endif
    NULL};

struct options {
    const char *device, *peer, *only;
    int rounds;
    int log2[MOST_SIZES];
    int num_sizes;
};

struct side {
    gstride_device *device;
    gstride_stream *stream;
    gstride_span x, y, z, w, u, result;
    uint64_t n;
};

static void check(gstride_status status, const char *what)
{
    if (status == GSTRIDE_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n%s\n", what, gstride_status_name(status),
            gstride_last_error()->message, gstride_last_error()->build_log);
    exit(EXIT_FAILURE);
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void open_spans(struct side *s, uint64_t n)
{
    static const char fraction[] = "y = (float)((i * 2654435761u >> 8) & 0xffffff) / 16777216.0f";
    s->n = n;
    gstride_span *const floats[] = {&s->x, &s->y, &s->z, &s->w};
    for (size_t k = 0; k < sizeof floats / sizeof floats[0]; ++k) {
        check(gstride_alloc(s->device, GSTRIDE_F32, n, floats[k]), "alloc");
        const gstride_arg arg = gstride_out("y", *floats[k]);
        check(gstride_map(s->stream, n, fraction, &arg, 1), "generate");
    }
    check(gstride_alloc(s->device, GSTRIDE_U64, n, &s->u), "alloc");
    const gstride_arg arg = gstride_out("y", s->u);
    check(gstride_map(s->stream, n, "y = i * 0x9e3779b97f4a7c15UL", &arg, 1), "generate");
    check(gstride_alloc(s->device, GSTRIDE_U64, 1, &s->result), "alloc");
}

static void close_spans(struct side *s)
{
    gstride_span *const all[] = {&s->x, &s->y, &s->z, &s->w, &s->u, &s->result};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        gstride_free(all[k]);
}

static gstride_span result_as(const struct side *s, gstride_type type)
{
    gstride_span span = s->result;
    span.type = type;
    return span;
}

static gstride_status call(struct side *s, enum bench_case c)
{
    switch (c) {
    case BENCH_COPY_F32:
        return gstride_copy(s->stream, s->x, s->y);
    case BENCH_AXPY_F32:
        return gstride_axpy(s->stream, 0.5, s->x, s->y);
    case BENCH_MAP3_F32:
        return gstride_map(s->stream, s->n, "w = x * y + z",
                           GSTRIDE_ARGS(gstride_in("x", s->x), gstride_in("y", s->y),
                                        gstride_in("z", s->z), gstride_out("w", s->w)));
    case BENCH_SUM_F32:
        return gstride_reduce(s->stream, GSTRIDE_SUM, s->x, result_as(s, GSTRIDE_F32));
    case BENCH_MAX_F32:
        return gstride_reduce(s->stream, GSTRIDE_MAX, s->x, result_as(s, GSTRIDE_F32));
    case BENCH_ARGMIN_F32:
        return gstride_reduce(s->stream, GSTRIDE_ARGMIN, s->x, result_as(s, GSTRIDE_U64));
    case BENCH_DOT_F32:
        return gstride_dot(s->stream, s->x, s->y, result_as(s, GSTRIDE_F32));
    case BENCH_SUM_U64:
        return gstride_reduce(s->stream, GSTRIDE_SUM, s->u, result_as(s, GSTRIDE_U64));
    default:
        return GSTRIDE_ERROR_INTERNAL;
    }
}

static double time_gstride(struct side *s, enum bench_case c, int calls)
{
    double start = now_us();
    for (int k = 0; k < calls; ++k)
        check(call(s, c), "call");
    check(gstride_stream_finish(s->stream), "finish");
    return (now_us() - start) / calls;
}

/* Negative if the peer has no such case. */
static double time_peer(const struct bench_peer *peer, enum bench_case c, int calls)
{
    double start = now_us();
    return peer->run(c, calls) ? (now_us() - start) / calls : -1;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_case(const char *name, double bytes, const struct side *s, double *mine,
                       double *theirs, int rounds)
{
    qsort(mine, (size_t)rounds, sizeof *mine, ascending);
    double median = mine[rounds / 2];
    printf("%-18s 2^%-2d %10.2f %10.2f %10.2f %9.1f", name, 63 - __builtin_clzll(s->n), median,
           mine[0], mine[rounds - 1], bytes * (double)s->n / median / 1e3);
    if (theirs) {
        qsort(theirs, (size_t)rounds, sizeof *theirs, ascending);
        printf(" %10.2f %7.3f", theirs[rounds / 2], theirs[rounds / 2] / median);
    }
    printf("\n");
    fflush(stdout);
}

static int calls_of_a_batch(double call_us)
{
    double calls = batch_us / call_us;
    return calls > MOST_CALLS ? MOST_CALLS : calls < LEAST_CALLS ? LEAST_CALLS : (int)calls;
}

static void run_size(struct side *s, const struct bench_peer *peer, uint64_t n,
                     const struct options *o)
{
    static const struct {
        const char *name;
        double bytes;
    } cases[] = {
#define BENCH_ROW(id, name, bytes) {name, bytes},
        BENCH_CASES(BENCH_ROW)
#undef BENCH_ROW
    };
    double mine[MOST_ROUNDS], theirs[MOST_ROUNDS];
    int rounds = o->rounds;
    open_spans(s, n);
    bool with_peer = peer && peer->open(n);
    for (int c = 0; c < BENCH_NUM_CASES; ++c) {
        if (o->only && !strstr(cases[c].name, o->only))
            continue;
        time_gstride(s, (enum bench_case)c, 2); /* warm-up: builds, and the first touch */
        int calls = calls_of_a_batch(time_gstride(s, (enum bench_case)c, 2));
        bool compared = with_peer && time_peer(peer, (enum bench_case)c, 2) >= 0;
        for (int r = 0; r < rounds; ++r) {
            mine[r] = time_gstride(s, (enum bench_case)c, calls);
            if (compared)
                theirs[r] = time_peer(peer, (enum bench_case)c, calls);
        }
        print_case(cases[c].name, cases[c].bytes, s, mine, compared ? theirs : NULL, rounds);
    }
    if (with_peer)
        peer->close();
    close_spans(s);
}

static bool parse_sizes(struct options *o, char *text)
{
    o->num_sizes = 0;
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
        int log2 = atoi(part);
        if (log2 < 1 || log2 > 40 || o->num_sizes == MOST_SIZES)
            return false;
        o->log2[o->num_sizes++] = log2;
    }
    return o->num_sizes > 0;
}

static void parse(int argc, char **argv, struct options *o)
{
    static const struct option longs[] = {
        {"device", required_argument, NULL, 'd'}, {"peer", required_argument, NULL, 'p'},
        {"case", required_argument, NULL, 'c'},   {"log2", required_argument, NULL, 'n'},
        {"rounds", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0}};
    bool good = true;
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (c == 'd')
            o->device = optarg;
        else if (c == 'p')
            o->peer = optarg;
        else if (c == 'c')
            o->only = optarg;
        else if (c == 'n')
            good = parse_sizes(o, optarg) && good;
        else if (c == 'r')
            o->rounds = atoi(optarg);
        else
            good = false;
    }
    if (!good || o->rounds < 1 || o->rounds > MOST_ROUNDS || optind != argc) {
        fprintf(stderr,
                "usage: %s [--device SPEC] [--peer NAME] [--case NAME] [--log2 N,...] "
                "[--rounds R]\n",
                argv[0]);
        exit(2);
    }
}

static const struct bench_peer *find_peer(const char *name)
{
    for (size_t k = 0; peers[k]; ++k)
        if (!name || strcmp(peers[k]->name, name) == 0)
            return peers[k];
    return NULL;
}

/* OpenMP's workers spin for a while after a loop, on the cores that gstride's turn needs then. Its
 * runtime reads this when it is loaded, so the program starts anew. */
static void make_peers_sleep(char **argv)
{
    static const char policy[] = "OMP_WAIT_POLICY";
    if (getenv(policy) || setenv(policy, "passive", 1) != 0)
        return;
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    make_peers_sleep(argv);
    struct options o = {.rounds = 15, .log2 = {10, 16, 20, 25}, .num_sizes = 4};
    parse(argc, argv, &o);
    const struct bench_peer *peer = find_peer(o.peer);
    struct side s = {0};
    check(gstride_device_open(o.device, &s.device), "device");
    check(gstride_stream_create(s.device, &s.stream), "stream");
    const gstride_device_info *info = gstride_device_get_info(s.device);
    printf("# %s, %s, driver %s; peer: %s; medians of %d batches, microseconds per call\n",
           info->name, info->platform, info->driver_version, peer ? peer->name : "none", o.rounds);
    printf("%-18s %-4s %10s %10s %10s %9s %10s %7s\n", "# case", "n", "gstride", "least", "most",
           "GB/s", "peer", "ratio");
    for (int k = 0; k < o.num_sizes; ++k)
        run_size(&s, peer, (uint64_t)1 << o.log2[k], &o);
    gstride_stream_destroy(s.stream);
    gstride_device_close(s.device);
    return EXIT_SUCCESS;
}
