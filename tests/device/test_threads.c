/* SPDX-License-Identifier: MIT */
/* test_threads.c - host threads that share a device. A program of its own: on NVIDIA driver 580 new
 * threads hung in clCreateCommandQueue when these ran after the cases of test_stream.c. */
#include "fixture.h"
#include <CL/cl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Host threads share a device; each has its own stream. cmocka's checks are for the main one only.
 */
enum { HOST_THREADS = 8, ROUNDS = 20 };

struct worker {
    pthread_t thread;
    gstride_device *device;
    unsigned number;
    const char *failure;
};

static const char *work_round(gstride_stream *stream, gstride_span x, uint32_t start)
{
    char expression[64];
    /* some of the expressions are new to the device, others are built by another thread just now */
    snprintf(expression, sizeof expression, "x = x + %u", start % 3 + 1);
    uint32_t value = start;
    uint64_t sum = 0;
    if (gstride_fill(stream, x, &value) != GSTRIDE_OK ||
        gstride_map(stream, x.count, expression, GSTRIDE_ARGS(gstride_inout("x", x))) !=
            GSTRIDE_OK ||
        gstride_reduce_to_host(stream, GSTRIDE_SUM, x, GSTRIDE_U64, &sum) != GSTRIDE_OK)
        return "a call failed";
    return sum == x.count * (uint64_t)(start + start % 3 + 1) ? NULL : "a wrong sum";
}

static void *work(void *user)
{
    struct worker *w = user;
    gstride_stream *stream;
    gstride_span x;
    if (gstride_stream_create(w->device, &stream) != GSTRIDE_OK) {
        w->failure = "no stream";
        return NULL;
    }
    if (gstride_alloc(w->device, GSTRIDE_U32, 10000 + w->number, &x) != GSTRIDE_OK)
        w->failure = "no buffer";
    for (unsigned k = 0; k < ROUNDS && !w->failure; ++k)
        w->failure = work_round(stream, x, w->number * 1000 + k);
    /* the error record is each thread's own */
    if (!w->failure && gstride_stream_create(NULL, &(gstride_stream *){NULL}) == GSTRIDE_OK)
        w->failure = "NULL was taken for a device";
    if (!w->failure && gstride_last_error()->status != GSTRIDE_ERROR_ARGUMENT)
        w->failure = "no error record";
    gstride_free(&x);
    gstride_stream_destroy(stream);
    return NULL;
}

static void host_threads(void **state)
{
    const struct fixture *f = *state;
    if (f->simulator)
        SKIP("%s is not thread safe", f->info->platform);
    struct worker workers[HOST_THREADS];
    for (unsigned k = 0; k < HOST_THREADS; ++k) {
        workers[k] = (struct worker){.device = f->device, .number = k};
        assert_int_equal(pthread_create(&workers[k].thread, NULL, work, &workers[k]), 0);
    }
    for (unsigned k = 0; k < HOST_THREADS; ++k)
        pthread_join(workers[k].thread, NULL);
    for (unsigned k = 0; k < HOST_THREADS; ++k)
        if (workers[k].failure)
            FAIL("host thread %u: %s", k, workers[k].failure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(host_threads),
    };
    return RUN_DEVICE_TESTS(tests);
}
