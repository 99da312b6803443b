/* SPDX-License-Identifier: MIT */
/* The frame into which ci/samples puts fragments of the documentation, at the line FRAGMENT. */
#include <gstride.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gstride_status fragment(gstride_device *device, gstride_stream *stream, gstride_span x,
                               gstride_span y, gstride_span out, uint64_t n, float *host)
{
    gstride_status status = GSTRIDE_OK;
    {
        FRAGMENT;
    }
    return status;
}

int main(void)
{
    enum { N = 1000 };
    float host[N] = {0};
    gstride_device *device = NULL;
    gstride_stream *stream = NULL;
    gstride_span spans[3] = {{0}};
    gstride_status status = gstride_device_open(NULL, &device);
    if (status == GSTRIDE_OK)
        status = gstride_stream_create(device, &stream);
    for (int i = 0; i < 3 && status == GSTRIDE_OK; ++i) {
        status = gstride_alloc(device, GSTRIDE_F32, N, &spans[i]);
        if (status == GSTRIDE_OK)
            status = gstride_write(stream, spans[i], host, N);
    }
    if (status == GSTRIDE_OK)
        status = fragment(device, stream, spans[0], spans[1], spans[2], N, host);
    if (status == GSTRIDE_OK)
        status = gstride_stream_finish(stream);
    if (status != GSTRIDE_OK)
        fprintf(stderr, "%s\n", gstride_last_error()->message);
    for (int i = 0; i < 3; ++i)
        gstride_free(&spans[i]);
    gstride_stream_destroy(stream);
    gstride_device_close(device);
    return status != GSTRIDE_OK;
}
