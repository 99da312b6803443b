/* SPDX-License-Identifier: MIT */
/* The sum of 1 ... 1000 on whatever device there is, with the headers' version checked. */
#include <gstride.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    gstride_device *device = NULL;
    gstride_stream *stream = NULL;
    uint64_t sum = 0;
    if (strcmp(gstride_version(), GSTRIDE_VERSION) != 0 ||
        gstride_device_open(NULL, &device) != GSTRIDE_OK ||
        gstride_stream_create(device, &stream) != GSTRIDE_OK ||
        gstride_map_reduce_to_host(stream, GSTRIDE_SUM, 1000, GSTRIDE_U64, "i + 1", NULL, 0,
                                   GSTRIDE_U64, &sum) != GSTRIDE_OK) {
        fprintf(stderr, "%s\n", gstride_last_error()->message);
        return 1;
    }
    gstride_stream_destroy(stream);
    gstride_device_close(device);
    printf("gstride %s: %llu\n", gstride_version(), (unsigned long long)sum);
    return sum != 500500;
}
