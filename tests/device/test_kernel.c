/* SPDX-License-Identifier: MIT */
/* test_kernel.c - user kernels: every index once, whatever n and the launch shape. */
#include "fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t sizes[] = {1, 2, 31, 33, 255, 257, 1023, 1025, 4097, 16385, 50021};

static const char source[] =
    /* counts the visits of each index, and uses `continue` */
    "__kernel void visit(const ulong n, const ulong offset, const uint step, __global uint "
    "*visits)\n"
    "{\n"
    "    GSTRIDE_FOR (i, n) {\n"
    "        visits[offset + i] += step;\n"
    "        if (i % 3 == 0)\n"
    "            continue;\n"
    "        visits[offset + i] += (uint)i;\n"
    "    }\n"
    "}\n"
    /* reverses the elements of each tile by way of local memory */
    "__kernel void mirror(const ulong n, __global const uint *x, const ulong offset,\n"
    "                     __global uint *y, __local uint *room)\n"
    "{\n"
    "    GSTRIDE_FOR_TILES (base, n) {\n"
    "        const ulong end = min(base + GSTRIDE_TILE, n);\n"
    "        GSTRIDE_FOR_ITEMS (i, base, n)\n"
    "            room[i - base] = x[offset + i];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        GSTRIDE_FOR_ITEMS (i, base, n)\n"
    "            y[offset + i] = room[end - 1 - i];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "}\n"
    "__kernel void tell_tile(__global uint *tile)\n"
    "{\n"
    "    if (get_global_id(0) == 0)\n"
    "        tile[0] = GSTRIDE_TILE;\n"
    "}\n"
    "__kernel void fused(const ulong n, const float a, const float c, __global float *y)\n"
    "{\n"
    "    GSTRIDE_FOR (i, n)\n"
    "        y[i] = a * a + c;\n"
    "}\n";

static gstride_kernel *build(const struct fixture *f, const char *name)
{
    gstride_kernel *kernel;
    OK(gstride_kernel_build(f->device, source, "test_kernel.cl", name, NULL, &kernel));
    assert_non_null(gstride_kernel_cl(kernel));
    return kernel;
}

static uint32_t tile_of(const struct fixture *f)
{
    gstride_kernel *kernel = build(f, "tell_tile");
    uint32_t tile = 0;
    gstride_span span = span_of(f, GSTRIDE_U32, &tile, 1);
    const gstride_kernel_arg arg = gstride_arg_span(span);
    OK(gstride_kernel_launch(f->stream, kernel, 1, &arg, 1));
    OK(gstride_read(f->stream, span, &tile, 1));
    gstride_free(&span);
    gstride_kernel_free(kernel);
    assert_true(tile > 0);
    return tile;
}

static void check_visits(const struct fixture *f, gstride_kernel *kernel, uint64_t n)
{
    struct guarded g;
    uint32_t *values = must_alloc(n * sizeof *values), *want = must_alloc(n * sizeof *want);
    guarded_make(f, GSTRIDE_U32, n, 3, &g);
    for (uint64_t i = 0; i < n; ++i) {
        values[i] = (uint32_t)i * 2654435761u;
        want[i] = values[i] + 1000u + (i % 3 ? (uint32_t)i : 0);
    }
    guarded_put(f, &g, values);
    const gstride_kernel_arg args[] = {gstride_arg_u64(n), gstride_arg_u64(g.span.offset),
                                       gstride_arg_u32(1000), gstride_arg_span(g.whole)};
    if (launch_taken(f, gstride_kernel_launch(f->stream, kernel, n, args, COUNT_OF(args)))) {
        gstride_shape shape = gstride_stream_last_shape(f->stream);
        guarded_take(f, &g, values);
        SAME_BITS(GSTRIDE_U32, values, want, n, "visits of %" PRIu64 " in %" PRIu64 " groups of %u",
                  n, shape.groups, shape.group_size);
    }
    guarded_free(&g);
    free(values);
    free(want);
}

static void every_index_once(void **state)
{
    const struct fixture *f = *state;
    gstride_kernel *kernel = build(f, "visit");
    for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most; ++s)
        check_visits(f, kernel, sizes[s]);
    gstride_kernel_free(kernel);
}

static void every_index_once_in_forced_launches(void **state)
{
    const struct fixture *f = *state;
    gstride_kernel *kernel = build(f, "visit");
    for (size_t k = 0; k < num_forced_launches; ++k)
        for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most && force_launch(f, k); ++s)
            check_visits(f, kernel, sizes[s]);
    gstride_kernel_free(kernel);
}

static void check_mirror(const struct fixture *f, gstride_kernel *kernel, uint64_t n, uint32_t tile)
{
    if (f->info->probe.loop_bound && 2 * n > f->info->probe.loop_bound) {
        print_message("skipped n = %" PRIu64 ": two loops may pass the %u trips of %s\n", n,
                      f->info->probe.loop_bound, f->info->name);
        return;
    }
    struct guarded x, y;
    uint32_t *values = must_alloc(n * sizeof *values), *want = must_alloc(n * sizeof *want);
    guarded_make(f, GSTRIDE_U32, n, 1, &x);
    guarded_make(f, GSTRIDE_U32, n, 1, &y);
    for (uint64_t i = 0; i < n; ++i) {
        uint64_t base = i / tile * tile, end = base + tile < n ? base + tile : n;
        values[i] = (uint32_t)i;
        want[i] = (uint32_t)(base + end - 1 - i);
    }
    guarded_put(f, &x, values);
    guarded_put(f, &y, NULL);
    const gstride_kernel_arg args[] = {gstride_arg_u64(n), gstride_arg_span(x.whole),
                                       gstride_arg_u64(x.span.offset), gstride_arg_span(y.whole),
                                       gstride_arg_local(tile * sizeof(uint32_t))};
    if (launch_taken(f, gstride_kernel_launch(f->stream, kernel, n, args, COUNT_OF(args)))) {
        gstride_shape shape = gstride_stream_last_shape(f->stream);
        guarded_take(f, &y, values);
        SAME_BITS(GSTRIDE_U32, values, want, n, "tiles of %" PRIu64 " in %" PRIu64 " groups of %u",
                  n, shape.groups, shape.group_size);
    }
    guarded_untouched(f, &x);
    guarded_free(&x);
    guarded_free(&y);
    free(values);
    free(want);
}

static void tiles_with_barriers(void **state)
{
    const struct fixture *f = *state;
    uint32_t tile = tile_of(f);
    if (tile * sizeof(uint32_t) > f->info->local_memory)
        SKIP("a tile of %u words is more than the local memory of %s", tile, f->info->name);
    gstride_kernel *kernel = build(f, "mirror");
    for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most; ++s)
        check_mirror(f, kernel, sizes[s], tile);
    for (size_t k = 0; k < num_forced_launches; k += 3)
        for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most && force_launch(f, k); s += 2)
            check_mirror(f, kernel, sizes[s], tile);
    gstride_kernel_free(kernel);
}

static void nothing_to_launch(void **state)
{
    const struct fixture *f = *state;
    gstride_kernel *kernel = build(f, "visit");
    struct guarded g;
    guarded_make(f, GSTRIDE_U32, 10, 1, &g);
    guarded_put(f, &g, NULL);
    const gstride_kernel_arg args[] = {gstride_arg_u64(0), gstride_arg_u64(0), gstride_arg_u32(1),
                                       gstride_arg_span(g.whole)};
    OK(gstride_kernel_launch(f->stream, kernel, 0, args, COUNT_OF(args)));
    guarded_untouched(f, &g);
    guarded_free(&g);
    gstride_kernel_free(kernel);
}

static void products_are_never_fused(void **state)
{
    enum { N = 1000 };
    const struct fixture *f = *state;
    gstride_kernel *kernel = build(f, "fused");
    float values[N];
    gstride_span y;
    OK(gstride_alloc(f->device, GSTRIDE_F32, N, &y));
    const gstride_kernel_arg args[] = {gstride_arg_u64(N), gstride_arg_f32(1.0f + 0x1p-12f),
                                       gstride_arg_f32(-(1.0f + 0x1p-11f)), gstride_arg_span(y)};
    OK(gstride_kernel_launch(f->stream, kernel, N, args, COUNT_OF(args)));
    OK(gstride_read(f->stream, y, values, N));
    for (unsigned i = 0; i < N; ++i)
        assert_true(values[i] == 0);
    gstride_free(&y);
    gstride_kernel_free(kernel);
}

static void a_kernel_outlives_its_device_handle(void **state)
{
    (void)state;
    gstride_device *device;
    gstride_stream *stream;
    gstride_kernel *kernel;
    gstride_span y;
    uint32_t tile = 0;
    OK(gstride_device_open(NULL, &device));
    OK(gstride_kernel_build(device, source, NULL, "tell_tile", NULL, &kernel));
    OK(gstride_stream_create(device, &stream));
    OK(gstride_alloc(device, GSTRIDE_U32, 1, &y));
    gstride_device_close(device);
    const gstride_kernel_arg arg = gstride_arg_span(y);
    OK(gstride_kernel_launch(stream, kernel, 1, &arg, 1));
    OK(gstride_read(stream, y, &tile, 1));
    assert_true(tile > 0);
    gstride_free(&y);
    gstride_stream_destroy(stream);
    gstride_kernel_free(kernel);
}

static void sources_from_files_and_options(void **state)
{
    static const char text[] = "__kernel void f(__global uint *y)\n"
                               "{\n    if (get_global_id(0) == 0)\n        y[0] = ANSWER;\n}\n";
    const struct fixture *f = *state;
    const char *directory = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/gstride-kernel-XXXXXX", directory ? directory : "/tmp");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    gstride_kernel *kernel = NULL;
    gstride_status status =
        gstride_kernel_build(f->device, NULL, path, "f", "-DANSWER=42", &kernel);
    gstride_status without =
        gstride_kernel_build(f->device, NULL, path, "f", NULL, &(gstride_kernel *){NULL});
    unlink(path);
    REFUSED(GSTRIDE_ERROR_EXPRESSION, without);
    OK(status);
    gstride_span y;
    uint32_t answer = 0;
    OK(gstride_alloc(f->device, GSTRIDE_U32, 1, &y));
    const gstride_kernel_arg arg = gstride_arg_span(y);
    OK(gstride_kernel_launch(f->stream, kernel, 1, &arg, 1));
    OK(gstride_read(f->stream, y, &answer, 1));
    assert_int_equal(answer, 42);
    gstride_free(&y);
    gstride_kernel_free(kernel);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The disk cache does not know when an included file has changed. */
static void included_files_may_change(void **state)
{
    static const char *const answers[] = {"#define ANSWER 1\n", "#define ANSWER 2\n"};
    static const char text[] = "#include \"answer.h\"\n"
                               "__kernel void f(__global uint *y)\n{\n    y[0] = ANSWER;\n}\n";
    const struct fixture *f = *state;
    char directory[] = "/tmp/gstride-include-XXXXXX", header[64], options[64];
    assert_non_null(mkdtemp(directory));
    snprintf(header, sizeof header, "%s/answer.h", directory);
    snprintf(options, sizeof options, "-I%s", directory);
    setenv("GSTRIDE_CACHE", "on", 1);
    gstride_span y;
    OK(gstride_alloc(f->device, GSTRIDE_U32, 1, &y));
    const gstride_kernel_arg arg = gstride_arg_span(y);
    for (uint32_t round = 0; round < COUNT_OF(answers); ++round) {
        gstride_kernel *kernel;
        uint32_t got = 0;
        write_text(header, answers[round]);
        OK(gstride_kernel_build(f->device, text, NULL, "f", options, &kernel));
        OK(gstride_kernel_launch(f->stream, kernel, 1, &arg, 1));
        OK(gstride_read(f->stream, y, &got, 1));
        assert_int_equal(got, round + 1);
        gstride_kernel_free(kernel);
    }
    unsetenv("GSTRIDE_CACHE");
    gstride_free(&y);
    unlink(header);
    rmdir(directory);
}

static void arguments_of_another_kind(void **state)
{
    static const char text[] = "__kernel void f(const float a, __global float *x)\n"
                               "{\n    if (get_global_id(0) == 0)\n        x[0] = a;\n}\n";
    const struct fixture *f = *state;
    gstride_kernel *kernel;
    gstride_span x;
    OK(gstride_kernel_build(f->device, text, NULL, "f", NULL, &kernel));
    OK(gstride_alloc(f->device, GSTRIDE_F32, 4, &x));
    gstride_span words = x, typeless = x;
    words.type = GSTRIDE_U32;
    typeless.type = (gstride_type)99;
    const gstride_kernel_arg a = gstride_arg_f32(1), y = gstride_arg_span(x);
    const gstride_kernel_arg good[] = {a, y}, whole[] = {gstride_arg_i32(1), y};
    const gstride_kernel_arg bits[] = {a, gstride_arg_span(words)};
    const gstride_kernel_arg none[] = {a, gstride_arg_span(typeless)};
    gstride_kernel_arg huge[] = {a, y};
    huge[0].bytes = 1 << 20;
    OK(gstride_kernel_launch(f->stream, kernel, 1, good, 2));
    REFUSED(GSTRIDE_ERROR_TYPE, gstride_kernel_launch(f->stream, kernel, 1, whole, 2));
    REFUSED(GSTRIDE_ERROR_TYPE, gstride_kernel_launch(f->stream, kernel, 1, bits, 2));
    REFUSED(GSTRIDE_ERROR_TYPE, gstride_kernel_launch(f->stream, kernel, 1, none, 2));
    REFUSED(GSTRIDE_ERROR_ARGUMENT, gstride_kernel_launch(f->stream, kernel, 1, huge, 2));
    gstride_free(&x);
    gstride_kernel_free(kernel);
}

/* No part of a long name is mistaken for another kernel's. */
static void kernels_with_long_names(void **state)
{
#define SIXTY "a12345678901234567890123456789012345678901234567890123456789"
    static const char text[] = "__kernel void " SIXTY "xyz(__global uint *y) { y[0] = 1; }\n"
                               "__kernel void " SIXTY "xyzzy(__global uint *y) { y[0] = 2; }\n";
    const struct fixture *f = *state;
    gstride_kernel *kernel;
    gstride_span y;
    uint32_t got = 0;
    OK(gstride_kernel_build(f->device, text, NULL, SIXTY "xyzzy", NULL, &kernel));
    OK(gstride_alloc(f->device, GSTRIDE_U32, 1, &y));
    const gstride_kernel_arg arg = gstride_arg_span(y);
    OK(gstride_kernel_launch(f->stream, kernel, 1, &arg, 1));
    OK(gstride_read(f->stream, y, &got, 1));
    assert_int_equal(got, 2);
    gstride_free(&y);
    gstride_kernel_free(kernel);
#undef SIXTY
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(every_index_once),
        DEVICE_TEST(every_index_once_in_forced_launches),
        DEVICE_TEST(tiles_with_barriers),
        DEVICE_TEST(nothing_to_launch),
        DEVICE_TEST(products_are_never_fused),
        DEVICE_TEST(a_kernel_outlives_its_device_handle),
        DEVICE_TEST(sources_from_files_and_options),
        DEVICE_TEST(included_files_may_change),
        DEVICE_TEST(arguments_of_another_kind),
        DEVICE_TEST(kernels_with_long_names),
    };
    return RUN_DEVICE_TESTS(tests);
}
