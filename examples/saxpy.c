/* SPDX-License-Identifier: MIT */
/* saxpy.c - the first program: y = a x + y for a million elements. */
#include <gstride.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 1000000 };

/* Every call returns a status; the message says what went wrong and where. */
static void check(gstride_status status)
{
    if (status != GSTRIDE_OK) {
        fprintf(stderr, "saxpy: %s\n", gstride_last_error()->message);
        exit(EXIT_FAILURE);
    }
}

int main(void)
{
    static float x[N], y[N];
    for (int i = 0; i < N; ++i) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }

    gstride_device *device;
    gstride_stream *stream;
    gstride_span xs, ys;
    check(gstride_device_open(NULL, &device)); /* NULL: GSTRIDE_DEVICE, else the best there is */
    check(gstride_stream_create(device, &stream));
    check(gstride_alloc(device, GSTRIDE_F32, N, &xs));
    check(gstride_alloc(device, GSTRIDE_F32, N, &ys));
    check(gstride_write(stream, xs, x, N));
    check(gstride_write(stream, ys, y, N));

    check(gstride_map(
        stream, N, "y = a * x + y",
        GSTRIDE_ARGS(gstride_f32("a", 2.0f), gstride_in("x", xs), gstride_inout("y", ys))));

    check(gstride_read(stream, ys, y, N));
    int wrong = 0;
    for (int i = 0; i < N; ++i)
        wrong += y[i] != 2.0f * (float)i + 1.0f;
    printf("%s: y[%d] = %.0f, %d of %d elements are wrong\n", gstride_device_get_info(device)->name,
           N - 1, y[N - 1], wrong, N);

    gstride_free(&ys);
    gstride_free(&xs);
    gstride_stream_destroy(stream);
    gstride_device_close(device);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
