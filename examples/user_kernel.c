/* SPDX-License-Identifier: MIT */
/* user_kernel.c - kernels of your own with gstride's loops: right for every number and size of
 * work-groups, so the launch is only a matter of speed. */
#include <gstride.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 100003 }; /* not a multiple of anything, so the last tile is cut short */

/* `smooth` looks at its neighbours, which an expression of gstride_map cannot do. `tile_sums` folds
 * each tile in local memory. The outer loop takes a whole work-group through the same trips, so the
 * barriers between the inner loops are reached by all work-items or by none. */
static const char source[] =
    "__kernel void smooth(const ulong n, __global const int *x, __global int *y)\n"
    "{\n"
    "    GSTRIDE_FOR (i, n)\n"
    "        y[i] = x[i > 0 ? i - 1 : 0] + 2 * x[i] + x[i + 1 < n ? i + 1 : i];\n"
    "}\n"
    "\n"
    "__kernel void tile_sums(const ulong n, __global const int *x, __global int *sums,\n"
    "                        __local int *total)\n"
    "{\n"
    "    GSTRIDE_FOR_TILES (base, n) {\n"
    "        if (get_local_id(0) == 0)\n"
    "            *total = 0;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        int sum = 0;\n"
    "        GSTRIDE_FOR_ITEMS (i, base, n)\n"
    "            sum += x[i];\n"
    "        atomic_add(total, sum);\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (get_local_id(0) == 0)\n"
    "            sums[base / GSTRIDE_TILE] = *total;\n"
    "    }\n"
    "}\n";

static void check(gstride_status status)
{
    if (status != GSTRIDE_OK) {
        const gstride_error *error = gstride_last_error();
        fprintf(stderr, "user_kernel: %s\n%s", error->message, error->build_log);
        exit(EXIT_FAILURE);
    }
}

static void run(gstride_stream *stream, const char *name, const gstride_kernel_arg *args,
                size_t num_args)
{
    gstride_kernel *kernel;
    check(gstride_kernel_build(gstride_stream_device(stream), source, NULL, name, NULL, &kernel));
    check(gstride_kernel_launch(stream, kernel, N, args, num_args));
    gstride_shape shape = gstride_stream_last_shape(stream);
    printf("%-9s  %llu groups of %u work-items take %llu tiles of %u\n", name,
           (unsigned long long)shape.groups, shape.group_size, (unsigned long long)shape.tiles,
           shape.tile);
    gstride_kernel_free(kernel);
}

static int wrong_elements(const int32_t *x, const int32_t *y)
{
    int wrong = 0;
    for (int i = 0; i < N; ++i)
        wrong += y[i] != x[i > 0 ? i - 1 : 0] + 2 * x[i] + x[i + 1 < N ? i + 1 : i];
    return wrong;
}

static int wrong_sums(const int32_t *x, const int32_t *sums, uint32_t tile)
{
    int wrong = 0;
    for (uint64_t base = 0; base < N; base += tile) {
        int32_t sum = 0;
        for (uint64_t i = base; i < base + tile && i < N; ++i)
            sum += x[i];
        wrong += sums[base / tile] != sum;
    }
    return wrong;
}

int main(void)
{
    static int32_t x[N], y[N], sums[N];
    for (int i = 0; i < N; ++i)
        x[i] = i * 7919 % 1009;

    gstride_device *device;
    gstride_stream *stream;
    gstride_span xs, ys, ss;
    check(gstride_device_open(NULL, &device));
    check(gstride_stream_create(device, &stream));
    check(gstride_alloc(device, GSTRIDE_I32, N, &xs));
    check(gstride_alloc(device, GSTRIDE_I32, N, &ys));
    check(gstride_alloc(device, GSTRIDE_I32, N, &ss)); /* one sum per tile, and a tile may be 1 */
    check(gstride_write(stream, xs, x, N));

    const gstride_device_info *info = gstride_device_get_info(device);
    const gstride_kernel_arg smooth[] = {gstride_arg_u64(N), gstride_arg_span(xs),
                                         gstride_arg_span(ys)};
    run(stream, "smooth", smooth, sizeof smooth / sizeof smooth[0]);
    const gstride_kernel_arg tile_sums[] = {gstride_arg_u64(N), gstride_arg_span(xs),
                                            gstride_arg_span(ss),
                                            gstride_arg_local(sizeof(int32_t))};
    run(stream, "tile_sums", tile_sums, sizeof tile_sums / sizeof tile_sums[0]);
    gstride_shape shape = gstride_stream_last_shape(stream);

    check(gstride_read(stream, ys, y, N));
    check(gstride_read(stream, ss, sums, shape.tiles));
    int wrong = wrong_elements(x, y), wrong_tiles = wrong_sums(x, sums, shape.tile);
    printf("%s: %d elements and %d tile sums are wrong\n", info->name, wrong, wrong_tiles);

    gstride_free(&ss);
    gstride_free(&ys);
    gstride_free(&xs);
    gstride_stream_destroy(stream);
    gstride_device_close(device);
    return wrong || wrong_tiles ? EXIT_FAILURE : EXIT_SUCCESS;
}
