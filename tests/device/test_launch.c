/* SPDX-License-Identifier: MIT */
/* test_launch.c - the launch shape never changes a bit. */
#include "fixture.h"
#include "oracle_reduce.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t sizes[] = {1, 33, 1023, 1025, 8193, 16385, 25576, 70001};
enum { MOST = 70001 };

struct inputs {
    float *x;
    uint64_t *u;
    gstride_span device_x, device_u;
    uint64_t count;
};

static void inputs_make(const struct fixture *f, struct inputs *in)
{
    struct rng rng = rng_for("launch");
    in->count = fixture_size(f, MOST);
    in->x = must_alloc(in->count * sizeof *in->x);
    in->u = must_alloc(in->count * sizeof *in->u);
    values_fill(&rng, GSTRIDE_F32, MIX_BITS, in->x, in->count);
    values_fill(&rng, GSTRIDE_U64, MIX_BITS, in->u, in->count);
    in->device_x = span_of(f, GSTRIDE_F32, in->x, in->count);
    in->device_u = span_of(f, GSTRIDE_U64, in->u, in->count);
}

static void inputs_free(struct inputs *in)
{
    gstride_free(&in->device_x);
    gstride_free(&in->device_u);
    free(in->x);
    free(in->u);
}

/* The shape that was used is the one that was forced. */
static void check_shape(const struct fixture *f, size_t k)
{
    gstride_shape shape = gstride_stream_last_shape(f->stream);
    const gstride_launch *forced = &forced_launches[k];
    if (forced->local)
        assert_int_equal(shape.group_size, forced->local);
    assert_int_equal(shape.groups, forced->groups == UINT64_MAX ? shape.tiles : forced->groups);
}

typedef void under_shape(const struct fixture *f, const struct inputs *in, uint64_t n);

/* Can the kernels of the library take the forced shape? One of them stands for all. */
static bool shape_is_taken(const struct fixture *f, const struct inputs *in)
{
    gstride_span one;
    float sum;
    OK(gstride_slice(in->device_x, 0, 1, &one));
    return launch_taken(f, gstride_reduce_to_host(f->stream, GSTRIDE_SUM, one, GSTRIDE_F32, &sum));
}

/* Every step-th shape: some drivers compile a kernel again for each group size. */
static void under_shapes(const struct fixture *f, under_shape *check, size_t first, size_t step)
{
    struct inputs in;
    inputs_make(f, &in);
    size_t tried = 0;
    for (size_t k = first; k < num_forced_launches; k += step) {
        if (!force_launch(f, k) || !shape_is_taken(f, &in))
            continue;
        ++tried;
        for (size_t s = 0; s < COUNT_OF(sizes) && sizes[s] <= f->most; ++s) {
            check(f, &in, sizes[s]);
            check_shape(f, k);
        }
    }
    assert_true(tried > 0);
    inputs_free(&in);
}

static void check_map(const struct fixture *f, const struct inputs *in, uint64_t n)
{
    float *want = must_alloc(n * sizeof *want), *got = must_alloc(n * sizeof *got);
    struct guarded y;
    guarded_make(f, GSTRIDE_F32, n, 1, &y);
    guarded_put(f, &y, in->x);
    OK(gstride_map(f->stream, n, "y = a * x + y + (float)(i & 1023)",
                   GSTRIDE_ARGS(gstride_f32("a", 1.1f), gstride_in("x", in->device_x),
                                gstride_inout("y", y.span))));
    gstride_shape shape = gstride_stream_last_shape(f->stream);
    assert_int_equal(shape.tiles, (n + shape.tile - 1) / shape.tile);
    guarded_take(f, &y, got);
    for (uint64_t i = 0; i < n; ++i)
        want[i] = 1.1f * in->x[i] + in->x[i] + (float)(i & 1023);
    SAME_BITS(GSTRIDE_F32, got, want, n, "map of %" PRIu64 " in %" PRIu64 " groups of %u", n,
              shape.groups, shape.group_size);
    guarded_free(&y);
    free(got);
    free(want);
}

static void map(void **state)
{
    under_shapes(*state, check_map, 0, 1);
}

static void check_built_in(const struct fixture *f, gstride_op op, gstride_type type,
                           const void *host, gstride_span device, uint64_t n, gstride_type out)
{
    uint64_t got[2], want[2];
    gstride_span in;
    unsigned count = oracle_reduce(op, type, host, n, out, want);
    OK(gstride_slice(device, 0, n, &in));
    OK(gstride_reduce_to_host(f->stream, op, in, out, got));
    gstride_shape shape = gstride_stream_last_shape(f->stream);
    SAME_BITS(out, got, want, count, "%s of %" PRIu64 " %s in %" PRIu64 " groups of %u",
              gstride_op_name(op), n, gstride_type_name(type), shape.groups, shape.group_size);
}

static void check_sum(const struct fixture *f, const struct inputs *in, uint64_t n)
{
    check_built_in(f, GSTRIDE_SUM, GSTRIDE_F32, in->x, in->device_x, n, GSTRIDE_F32);
}

static void sum(void **state)
{
    under_shapes(*state, check_sum, 0, 1);
}

static void check_extremes(const struct fixture *f, const struct inputs *in, uint64_t n)
{
    check_built_in(f, GSTRIDE_MINMAX, GSTRIDE_F32, in->x, in->device_x, n, GSTRIDE_F32);
    check_built_in(f, GSTRIDE_ARGMAX, GSTRIDE_F32, in->x, in->device_x, n, GSTRIDE_U64);
    check_built_in(f, GSTRIDE_XOR, GSTRIDE_U64, in->u, in->device_u, n, GSTRIDE_U64);
}

static void extremes_and_bits(void **state)
{
    under_shapes(*state, check_extremes, 0, 3);
}

static union oracle_acc lift(const void *user, uint64_t i)
{
    return (union oracle_acc){.f = ((const float *)user)[i]};
}

static union oracle_acc add(const void *user, const union oracle_acc *a, const union oracle_acc *b)
{
    (void)user;
    return (union oracle_acc){.f = a->f + b->f};
}

static void check_ordered(const struct fixture *f, const struct inputs *in, uint64_t n)
{
    const gstride_operator op = {"a + b", "0.0f", NULL, false};
    const struct oracle_operator rule = {lift, add, in->x, true};
    float got, want = oracle_tree(&rule, n).f;
    gstride_span part, out;
    OK(gstride_slice(in->device_x, 0, n, &part));
    OK(gstride_alloc(f->device, GSTRIDE_F32, 1, &out));
    OK(gstride_reduce_with(f->stream, &op, part, out));
    OK(gstride_read(f->stream, out, &got, 1));
    gstride_free(&out);
    SAME_BITS(GSTRIDE_F32, &got, &want, 1, "ordered sum of %" PRIu64, n);
}

static void ordered_operator(void **state)
{
    under_shapes(*state, check_ordered, 0, 2);
}

static void check_dot(const struct fixture *f, const struct inputs *in, uint64_t n)
{
    float *squares = must_alloc(n * sizeof *squares), got, want;
    gstride_span part, out;
    for (uint64_t i = 0; i < n; ++i)
        squares[i] = in->x[i] * in->x[i];
    OK(gstride_slice(in->device_x, 0, n, &part));
    OK(gstride_alloc(f->device, GSTRIDE_F32, 1, &out));
    OK(gstride_dot(f->stream, part, part, out));
    OK(gstride_read(f->stream, out, &got, 1));
    gstride_free(&out);
    oracle_reduce(GSTRIDE_SUM, GSTRIDE_F32, squares, n, GSTRIDE_F32, &want);
    free(squares);
    SAME_BITS(GSTRIDE_F32, &got, &want, 1, "dot of %" PRIu64, n);
}

static void dot(void **state)
{
    under_shapes(*state, check_dot, 3, 4);
}

static void forcing_ends(void **state)
{
    const struct fixture *f = *state;
    float values[5000] = {0};
    gstride_span x = span_of(f, GSTRIDE_F32, values, COUNT_OF(values));
    const gstride_arg arg = gstride_inout("x", x);
    OK(gstride_map(f->stream, x.count, "x = 1", &arg, 1));
    gstride_shape planned = gstride_stream_last_shape(f->stream);
    const gstride_launch one = {.groups = 1, .local = 1};
    OK(gstride_stream_force_launch(f->stream, &one));
    OK(gstride_map(f->stream, x.count, "x = 1", &arg, 1));
    gstride_shape forced = gstride_stream_last_shape(f->stream);
    assert_int_equal(forced.groups, 1);
    assert_int_equal(forced.group_size, 1);
    OK(gstride_stream_force_launch(f->stream, NULL));
    OK(gstride_map(f->stream, x.count, "x = 1", &arg, 1));
    gstride_shape again = gstride_stream_last_shape(f->stream);
    assert_int_equal(again.groups, planned.groups);
    assert_int_equal(again.group_size, planned.group_size);
    assert_int_equal(again.tile, planned.tile);
    gstride_free(&x);
}

/* GSTRIDE_LAUNCH is read when a stream is made; a stream's own shape goes before it. */
static void the_environment_forces(void **state)
{
    const struct fixture *f = *state;
    const char *outer = getenv("GSTRIDE_LAUNCH");
    char saved[128] = "";
    if (outer)
        snprintf(saved, sizeof saved, "%s", outer);
    gstride_stream *stream;
    setenv("GSTRIDE_LAUNCH", "groups=3,local=1", 1);
    gstride_status status = gstride_stream_create(f->device, &stream);
    if (outer)
        setenv("GSTRIDE_LAUNCH", saved, 1);
    else
        unsetenv("GSTRIDE_LAUNCH");
    OK(status);
    gstride_span x;
    OK(gstride_alloc(f->device, GSTRIDE_F32, 5000, &x));
    const gstride_arg arg = gstride_inout("x", x);
    OK(gstride_map(stream, x.count, "x = 1", &arg, 1));
    assert_int_equal(gstride_stream_last_shape(stream).groups, 3);
    const gstride_launch two = {.groups = 2, .local = 1};
    OK(gstride_stream_force_launch(stream, &two));
    OK(gstride_map(stream, x.count, "x = 1", &arg, 1));
    assert_int_equal(gstride_stream_last_shape(stream).groups, 2);
    gstride_stream_destroy(stream);
    gstride_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(map),
        DEVICE_TEST(sum),
        DEVICE_TEST(extremes_and_bits),
        DEVICE_TEST(ordered_operator),
        DEVICE_TEST(dot),
        DEVICE_TEST(forcing_ends),
        DEVICE_TEST(the_environment_forces),
    };
    return RUN_DEVICE_TESTS(tests);
}
