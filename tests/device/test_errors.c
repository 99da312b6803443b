/* SPDX-License-Identifier: MIT */
/* test_errors.c - every mistake of a caller: a status, a cause, untouched outputs, and a library
 * that works on. */
#define CL_TARGET_OPENCL_VERSION 120
#include "fixture.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100 };

/* Two spans, a guarded output that nothing may touch, and a foreign context's buffer. */
struct scene {
    const struct fixture *f;
    gstride_stream *s;
    gstride_span x, y, wide, foreign_span;
    struct guarded out;
    cl_context foreign;
};

static cl_context make_foreign_context(const struct fixture *f)
{
    cl_device_id id = gstride_device_cl_id(f->device);
    cl_int code;
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    return context;
}

static void scene_make(void **state, struct scene *c)
{
    float values[N] = {0};
    uint64_t words[N] = {0};
    cl_int code;
    *c = (struct scene){.f = *state};
    c->s = c->f->stream;
    c->x = span_of(c->f, GSTRIDE_F32, values, N);
    c->y = span_of(c->f, GSTRIDE_F32, values, N);
    c->wide = span_of(c->f, GSTRIDE_U64, words, N);
    guarded_make(c->f, GSTRIDE_F32, N, 5, &c->out);
    guarded_put(c->f, &c->out, NULL);
    c->foreign = make_foreign_context(c->f);
    cl_mem mem = clCreateBuffer(c->foreign, CL_MEM_READ_WRITE, N * sizeof(float), NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    c->foreign_span = (gstride_span){.mem = mem, .count = N, .type = GSTRIDE_F32};
}

/* The library works on, and what came before left no trace. */
static void scene_end(struct scene *c)
{
    float got[N];
    guarded_untouched(c->f, &c->out);
    OK(gstride_map(c->s, N, "y = 2", GSTRIDE_ARGS(gstride_out("y", c->out.span))));
    guarded_take(c->f, &c->out, got);
    assert_true(got[0] == 2 && got[N - 1] == 2);
    gstride_free(&c->x);
    gstride_free(&c->y);
    gstride_free(&c->wide);
    guarded_free(&c->out);
    clReleaseMemObject(c->foreign_span.mem);
    clReleaseContext(c->foreign);
}

#define ARG(call)  REFUSED(GSTRIDE_ERROR_ARGUMENT, call)
#define SPAN(call) REFUSED(GSTRIDE_ERROR_SPAN, call)
#define TYPE(call) REFUSED(GSTRIDE_ERROR_TYPE, call)
#define OVER(call) REFUSED(GSTRIDE_ERROR_OVERLAP, call)
#define EXPR(call) REFUSED(GSTRIDE_ERROR_EXPRESSION, call)

static void null_devices_and_streams(void **state)
{
    struct scene c;
    scene_make(state, &c);
    gstride_device *device = c.f->device;
    gstride_stream *stream;
    gstride_span span;
    cl_command_queue queue = gstride_stream_cl_queue(c.s);
    ARG(gstride_device_open(NULL, NULL));
    ARG(gstride_device_from_cl(NULL, gstride_device_cl_id(device), &device));
    ARG(gstride_device_from_cl(gstride_device_cl_context(device), NULL, &device));
    device = c.f->device;
    ARG(gstride_device_from_cl(gstride_device_cl_context(device), gstride_device_cl_id(device),
                               NULL));
    ARG(gstride_stream_create(NULL, &stream));
    ARG(gstride_stream_create(device, NULL));
    ARG(gstride_stream_create_timed(NULL, &stream));
    ARG(gstride_stream_create_timed(device, NULL));
    ARG(gstride_stream_from_cl(NULL, queue, &stream));
    ARG(gstride_stream_from_cl(device, NULL, &stream));
    ARG(gstride_stream_from_cl(device, queue, NULL));
    ARG(gstride_alloc(NULL, GSTRIDE_F32, 1, &span));
    ARG(gstride_alloc(device, GSTRIDE_F32, 1, NULL));
    ARG(gstride_span_wrap(NULL, c.x.mem, GSTRIDE_F32, 0, 1, &span));
    ARG(gstride_span_wrap(device, c.x.mem, GSTRIDE_F32, 0, 1, NULL));
    ARG(gstride_slice(c.x, 0, 1, NULL));
    assert_null(gstride_device_get_info(NULL));
    assert_null(gstride_device_cl_context(NULL));
    assert_null(gstride_device_cl_id(NULL));
    assert_null(gstride_stream_cl_queue(NULL));
    assert_null(gstride_stream_device(NULL));
    assert_int_equal(gstride_stream_last_shape(NULL).groups, 0);
    assert_int_equal(gstride_stream_scratch(NULL).held, 0);
    gstride_device_close(NULL);
    gstride_stream_destroy(NULL);
    gstride_free(NULL);
    gstride_kernel_free(NULL);
    scene_end(&c);
}

static void null_streams_everywhere(void **state)
{
    struct scene c;
    scene_make(state, &c);
    const gstride_operator op = {"a + b", "0", NULL, true};
    const gstride_arg y = gstride_out("y", c.out.span), x = gstride_in("x", c.x);
    gstride_span one;
    OK(gstride_slice(c.out.span, 0, 1, &one));
    float host[N] = {0};
    uint64_t ns;
    void *mapped;
    ARG(gstride_stream_finish(NULL));
    ARG(gstride_stream_elapsed(NULL, &ns, NULL));
    ARG(gstride_stream_force_launch(NULL, NULL));
    ARG(gstride_stream_trim(NULL));
    ARG(gstride_write(NULL, c.x, host, N));
    ARG(gstride_read(NULL, c.x, host, N));
    ARG(gstride_copy(NULL, c.x, c.out.span));
    ARG(gstride_span_map(NULL, c.x, GSTRIDE_READ, &mapped));
    ARG(gstride_span_unmap(NULL, c.x, host));
    ARG(gstride_map(NULL, N, "y = 1", &y, 1));
    ARG(gstride_map_with(NULL, N, NULL, "y = 1", &y, 1));
    ARG(gstride_fill(NULL, c.out.span, host));
    ARG(gstride_iota(NULL, c.out.span, 0, 1));
    ARG(gstride_convert(NULL, c.x, c.out.span));
    ARG(gstride_byteswap(NULL, c.x, c.out.span));
    ARG(gstride_axpy(NULL, 1, c.x, c.out.span));
    ARG(gstride_axpby(NULL, 1, c.x, 1, c.out.span));
    ARG(gstride_scal(NULL, 1, c.out.span));
    ARG(gstride_reduce(NULL, GSTRIDE_SUM, c.x, one));
    ARG(gstride_reduce_with(NULL, &op, c.x, one));
    ARG(gstride_reduce_to_host(NULL, GSTRIDE_SUM, c.x, GSTRIDE_F32, host));
    ARG(gstride_map_reduce(NULL, GSTRIDE_SUM, N, GSTRIDE_F32, "x", &x, 1, one));
    ARG(gstride_map_reduce_with(NULL, &op, N, NULL, "x", &x, 1, one));
    ARG(gstride_map_reduce_to_host(NULL, GSTRIDE_SUM, N, GSTRIDE_F32, "x", &x, 1, GSTRIDE_F32,
                                   host));
    ARG(gstride_dot(NULL, c.x, c.y, one));
    ARG(gstride_asum(NULL, c.x, one));
    ARG(gstride_sumsq(NULL, c.x, one));
    ARG(gstride_amax(NULL, c.x, one));
    ARG(gstride_kernel_launch(NULL, NULL, 1, NULL, 0));
    scene_end(&c);
}

static void other_null_arguments(void **state)
{
    struct scene c;
    scene_make(state, &c);
    const gstride_operator op = {"a + b", "0", NULL, true};
    const gstride_operator no_expression = {NULL, "0", NULL, true};
    const gstride_operator no_identity = {"a + b", NULL, NULL, true};
    const gstride_arg x = gstride_in("x", c.x), nameless = gstride_in(NULL, c.x);
    gstride_span one;
    OK(gstride_slice(c.out.span, 0, 1, &one));
    ARG(gstride_write(c.s, c.x, NULL, N));
    ARG(gstride_read(c.s, c.x, NULL, N));
    ARG(gstride_span_map(c.s, c.x, GSTRIDE_READ, NULL));
    ARG(gstride_span_unmap(c.s, c.x, NULL));
    ARG(gstride_map(c.s, N, NULL, &x, 1));
    ARG(gstride_map(c.s, N, "x", NULL, 1));
    ARG(gstride_map(c.s, N, "x", &nameless, 1));
    ARG(gstride_fill(c.s, c.out.span, NULL));
    ARG(gstride_reduce_with(c.s, NULL, c.x, one));
    ARG(gstride_reduce_with(c.s, &no_expression, c.x, one));
    ARG(gstride_reduce_with(c.s, &no_identity, c.x, one));
    ARG(gstride_reduce_to_host(c.s, GSTRIDE_SUM, c.x, GSTRIDE_F32, NULL));
    ARG(gstride_map_reduce(c.s, GSTRIDE_SUM, N, GSTRIDE_F32, NULL, &x, 1, one));
    ARG(gstride_map_reduce_with(c.s, &op, N, NULL, NULL, &x, 1, one));
    ARG(gstride_map_reduce_with(c.s, NULL, N, NULL, "x", &x, 1, one));
    ARG(gstride_map_reduce_to_host(c.s, GSTRIDE_SUM, N, GSTRIDE_F32, "x", &x, 1, GSTRIDE_F32,
                                   NULL));
    ARG(gstride_map_reduce_to_host(c.s, GSTRIDE_SUM, N, GSTRIDE_F32, NULL, &x, 1, GSTRIDE_F32,
                                   &one));
    scene_end(&c);
}

static void more_elements_than_there_are(void **state)
{
    struct scene c;
    scene_make(state, &c);
    float host[N + 1] = {0};
    gstride_span span = c.x, short_out, no_buffer = {.count = N, .type = GSTRIDE_F32};
    gstride_device *device = c.f->device;
    OK(gstride_slice(c.out.span, 0, N - 1, &short_out));
    SPAN(gstride_write(c.s, c.x, host, N + 1));
    SPAN(gstride_read(c.s, c.x, host, N + 1));
    SPAN(gstride_copy(c.s, c.x, short_out));
    SPAN(gstride_convert(c.s, c.x, short_out));
    SPAN(gstride_byteswap(c.s, c.x, short_out));
    SPAN(gstride_axpy(c.s, 1, c.x, short_out));
    SPAN(gstride_axpby(c.s, 1, c.x, 1, short_out));
    SPAN(gstride_map(c.s, N + 1, "y = 1", GSTRIDE_ARGS(gstride_out("y", c.out.span))));
    SPAN(gstride_map(c.s, UINT64_MAX, "y = 1", GSTRIDE_ARGS(gstride_out("y", c.out.span))));
    SPAN(gstride_map(c.s, N, "y = 1", GSTRIDE_ARGS(gstride_out("y", no_buffer))));
    SPAN(gstride_slice(c.x, 1, N, &span));
    SPAN(gstride_slice(c.x, N + 1, 0, &span));
    SPAN(gstride_slice(c.x, UINT64_MAX, 2, &span));
    SPAN(gstride_slice(c.x, 2, UINT64_MAX, &span));
    gstride_span far = c.x;
    far.offset = UINT64_MAX;
    SPAN(gstride_slice(far, 2, 1, &span)); /* the place would wrap round into the buffer */
    SPAN(gstride_span_wrap(device, c.x.mem, GSTRIDE_F32, 1, N, &span));
    SPAN(gstride_span_wrap(device, c.x.mem, GSTRIDE_U8, 0, 4 * N + 1, &span));
    SPAN(gstride_span_wrap(device, c.x.mem, GSTRIDE_F32, UINT64_MAX, 1, &span));
    SPAN(gstride_span_wrap(device, c.x.mem, GSTRIDE_F32, UINT64_MAX / 4, UINT64_MAX / 4, &span));
    SPAN(gstride_span_wrap(device, NULL, GSTRIDE_F32, 0, 1, &span));
    span = c.x;
    span.count = N + 1; /* a span that the caller made up */
    SPAN(gstride_map(c.s, N + 1, "x = 1", GSTRIDE_ARGS(gstride_out("x", span))));
    SPAN(gstride_reduce(c.s, GSTRIDE_SUM, span, c.out.span));
    span.count = 0;
    SPAN(gstride_reduce(c.s, GSTRIDE_SUM, c.x, span));
    OK(gstride_slice(c.out.span, 0, 1, &short_out));
    SPAN(gstride_reduce(c.s, GSTRIDE_MINMAX, c.x, short_out));
    SPAN(gstride_dot(c.s, c.x, (gstride_span){.type = GSTRIDE_F32}, short_out));
    scene_end(&c);
}

static void buffers_of_another_context(void **state)
{
    struct scene c;
    scene_make(state, &c);
    float host[N] = {0};
    gstride_span span;
    void *mapped;
    gstride_stream *stream;
#define WRONG(call) REFUSED(GSTRIDE_ERROR_WRONG_DEVICE, call)
    WRONG(gstride_span_wrap(c.f->device, c.foreign_span.mem, GSTRIDE_F32, 0, N, &span));
    WRONG(gstride_write(c.s, c.foreign_span, host, N));
    WRONG(gstride_read(c.s, c.foreign_span, host, N));
    WRONG(gstride_copy(c.s, c.foreign_span, c.out.span));
    WRONG(gstride_copy(c.s, c.x, c.foreign_span));
    WRONG(gstride_span_map(c.s, c.foreign_span, GSTRIDE_READ, &mapped));
    WRONG(gstride_map(c.s, N, "y = x",
                      GSTRIDE_ARGS(gstride_in("x", c.foreign_span), gstride_out("y", c.out.span))));
    WRONG(gstride_map(c.s, N, "y = 1", GSTRIDE_ARGS(gstride_out("y", c.foreign_span))));
    WRONG(gstride_reduce(c.s, GSTRIDE_SUM, c.foreign_span, c.out.span));
    WRONG(gstride_reduce(c.s, GSTRIDE_SUM, c.x, c.foreign_span));
    WRONG(gstride_fill(c.s, c.foreign_span, host));
    cl_int code;
    cl_command_queue queue =
        clCreateCommandQueue(c.foreign, gstride_device_cl_id(c.f->device), 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    WRONG(gstride_stream_from_cl(c.f->device, queue, &stream));
    assert_null(stream);
    clReleaseCommandQueue(queue);
#undef WRONG
    scene_end(&c);
}

static void overlapping_spans(void **state)
{
    struct scene c;
    scene_make(state, &c);
    gstride_span left, right, bytes = c.x, single;
    OK(gstride_slice(c.x, 0, 60, &left));
    OK(gstride_slice(c.x, 1, 60, &right));
    OK(gstride_slice(c.x, N - 1, 1, &single));
    bytes.type = GSTRIDE_U32;
    OVER(gstride_map(c.s, 60, "b = a",
                     GSTRIDE_ARGS(gstride_in("a", left), gstride_out("b", right))));
    OVER(gstride_map(c.s, 60, "a = b",
                     GSTRIDE_ARGS(gstride_out("a", left), gstride_in("b", right))));
    OVER(gstride_map(c.s, N, "a = 1; b = 2",
                     GSTRIDE_ARGS(gstride_out("a", c.x), gstride_out("b", c.x))));
    OVER(gstride_map(c.s, N, "b = a", GSTRIDE_ARGS(gstride_in("a", bytes), gstride_out("b", c.x))));
    OVER(gstride_copy(c.s, left, right));
    OVER(gstride_copy(c.s, right, left));
    OVER(gstride_reduce(c.s, GSTRIDE_SUM, c.x, single));
    OVER(gstride_dot(c.s, c.x, c.y, single));
    OVER(gstride_convert(c.s, left, right));
    OVER(gstride_byteswap(c.s, left, right));
    /* reading the same elements twice, or others of one buffer, is fine */
    gstride_span apart;
    OK(gstride_slice(c.x, 60, 40, &apart));
    OK(gstride_map(c.s, 40, "b = a", GSTRIDE_ARGS(gstride_in("a", left), gstride_out("b", apart))));
    OK(gstride_copy(c.s, c.x, c.x));
    scene_end(&c);
}

static void wrong_types(void **state)
{
    struct scene c;
    scene_make(state, &c);
    gstride_span span, none = c.x, floats = c.x;
    const gstride_type no_type = (gstride_type)GSTRIDE_NUM_TYPES;
    none.type = no_type;
    none.count = 1;
    TYPE(gstride_alloc(c.f->device, no_type, 1, &span));
    TYPE(gstride_span_wrap(c.f->device, c.x.mem, (gstride_type)-1, 0, 1, &span));
    TYPE(gstride_copy(c.s, c.x, c.wide));
    TYPE(gstride_byteswap(c.s, c.x, c.wide));
    TYPE(gstride_convert(c.s, none, c.wide));
    TYPE(gstride_convert(c.s, c.x, none));
    TYPE(gstride_fill(c.s, none, &span));
    TYPE(gstride_iota(c.s, none, 0, 1));
    TYPE(gstride_write(c.s, none, &span, 1));
    TYPE(gstride_axpy(c.s, 1, c.wide, c.wide));
    TYPE(gstride_axpy(c.s, 1, c.x, c.wide));
    TYPE(gstride_scal(c.s, 1, c.wide));
    TYPE(gstride_dot(c.s, c.wide, c.wide, c.out.span));
    TYPE(gstride_asum(c.s, c.x, c.wide));
    TYPE(gstride_reduce(c.s, GSTRIDE_ARGMIN, c.x, c.out.span));
    TYPE(gstride_reduce(c.s, GSTRIDE_SUM, c.x, c.wide));
    TYPE(gstride_reduce(c.s, GSTRIDE_AND, c.x, c.wide));
    TYPE(gstride_reduce_to_host(c.s, GSTRIDE_MIN, c.x, GSTRIDE_U32, &span));
    ARG(gstride_reduce(c.s, (gstride_op)GSTRIDE_NUM_OPS, c.x, c.out.span));
    ARG(gstride_reduce(c.s, (gstride_op)-1, c.x, c.out.span));
    ARG(gstride_span_map(c.s, c.x, (gstride_access)0, &(void *){NULL}));
    ARG(gstride_span_map(c.s, c.x, (gstride_access)7, &(void *){NULL}));
    gstride_arg strange = gstride_in("x", floats);
    strange.access = 9;
    ARG(gstride_map(c.s, N, "x", &strange, 1));
    scene_end(&c);
}

static void types_that_the_device_lacks(void **state)
{
    struct scene c;
    scene_make(state, &c);
    if (!c.f->info->fp64) {
        gstride_span span;
        double result;
        REFUSED(GSTRIDE_ERROR_DEVICE_LACKS, gstride_alloc(c.f->device, GSTRIDE_F64, 1, &span));
        REFUSED(GSTRIDE_ERROR_DEVICE_LACKS,
                gstride_map(c.s, N, "y = (float)d",
                            GSTRIDE_ARGS(gstride_out("y", c.out.span), gstride_f64("d", 1))));
        REFUSED(GSTRIDE_ERROR_DEVICE_LACKS, gstride_reduce(c.s, GSTRIDE_MEAN, c.x, c.out.span));
        REFUSED(GSTRIDE_ERROR_DEVICE_LACKS,
                gstride_reduce_to_host(c.s, GSTRIDE_COUNT, c.x, GSTRIDE_F64, &result));
    }
    bool lacks = !c.f->info->fp64;
    scene_end(&c);
    if (!lacks)
        SKIP("%s has every type", c.f->info->name);
}

/* Where an error of the device's compiler lies, as far as its log tells. */
static void expressions_that_do_not_compile(void **state)
{
    struct scene c;
    scene_make(state, &c);
    static const struct {
        const char *text;
        unsigned line, column;
    } bad[] = {
        {"y = x +* nothing_like_this", 1, 10},
        {"y = 1;\n  y = nothing_like_this + x", 2, 7},
        {"y = no_such_function(x)", 1, 5}, /* some drivers find it when they link: no position */
        {"x = 1", 1, 3},                   /* x is only read */
        {"y = x[3]", 1, 6},                /* other elements cannot be reached */
        {"y = 1 y = 2", 1, 6},
    };
    const gstride_arg args[] = {gstride_in("x", c.x), gstride_out("y", c.out.span)};
    for (size_t k = 0; k < COUNT_OF(bad); ++k) {
        EXPR(gstride_map(c.s, N, bad[k].text, args, 2));
        const gstride_error *error = gstride_last_error();
        bool linker = error->line == 0 && strstr(bad[k].text, "no_such_function");
        bool right = error->line == bad[k].line && error->column == bad[k].column;
        if (!(right || linker) || !error->build_log[0])
            FAIL("\"%s\": line %u, column %u, wanted %u, %u; log:\n%s", bad[k].text, error->line,
                 error->column, bad[k].line, bad[k].column, error->build_log);
        OK(gstride_map(c.s, N, "x = x", GSTRIDE_ARGS(gstride_inout("x", c.x))));
    }
    EXPR(gstride_map(c.s, N, bad[0].text, args, 2)); /* not remembered as anything else */
    EXPR(gstride_map_with(c.s, N, "static int f(void)\n{ return nothing_like_this; }", "y = f()",
                          args, 2));
    assert_int_equal(gstride_last_error()->line, 2);
    const gstride_operator op = {"a + nothing_like_this", "0", NULL, true};
    gstride_span one;
    OK(gstride_slice(c.out.span, 0, 1, &one));
    EXPR(gstride_reduce_with(c.s, &op, c.x, one));
    assert_true(gstride_last_error()->build_log[0] != '\0');
    EXPR(gstride_map_reduce(c.s, GSTRIDE_SUM, N, GSTRIDE_F32, "x +* x", args, 1, one));
    assert_int_equal(gstride_last_error()->line, 1);
    ARG(gstride_map_reduce(c.s, GSTRIDE_SUM, N, GSTRIDE_F32, "x", args, 2, one));
    scene_end(&c);
}

static char *repeated(const char *piece, size_t times)
{
    size_t length = strlen(piece);
    char *text = must_alloc(length * times + 1);
    for (size_t k = 0; k < times; ++k)
        memcpy(text + k * length, piece, length);
    text[length * times] = '\0';
    return text;
}

static void texts_that_are_refused(void **state)
{
    struct scene c;
    scene_make(state, &c);
    static const char *const bad[] = {
        "",
        "   ",
        "\n",
        "{ y = 1; }",
        "y = 1; }",
        "y = 1 // note",
        "y = 1 /* note */",
        "#define y 1",
        "y = 1;\n#pragma unroll",
        "y = 1 \\",
        "y = \"a\"",
        "y = 'a'",
        "y = get_global_id(0)",
        "barrier(CLK_LOCAL_MEM_FENCE)",
        "y = atomic_inc(&y)",
        "asm(\"trap\")",
        "__asm(1)",
        "y = gs_n",
        "y = (1",
        "y = 1)",
        "y = x[0",
        "y = <% 1 %>",
        "y = ?\?= 1",
        "mem_fence(1)",
        "printf(1)",
        "goto end",
        "y = \x01 1",
        "y = \xc3\xa4",
    };
    const gstride_arg args[] = {gstride_in("x", c.x), gstride_out("y", c.out.span)};
    for (size_t k = 0; k < COUNT_OF(bad); ++k) {
        if (gstride_map(c.s, N, bad[k], args, 2) != GSTRIDE_ERROR_EXPRESSION)
            FAIL("\"%s\" was not refused", bad[k]);
        assert_true(gstride_last_error()->message[0] != '\0');
    }
    EXPR(gstride_map(c.s, N, "y = 1;\ny = { 2 }", args, 2));
    assert_int_equal(gstride_last_error()->line, 2);
    assert_int_equal(gstride_last_error()->column, 5);
    gstride_span one;
    OK(gstride_slice(c.out.span, 0, 1, &one));
    EXPR(gstride_map_reduce(c.s, GSTRIDE_SUM, N, GSTRIDE_F32, "x; x", args, 1, one));
    EXPR(gstride_map_with(c.s, N, "/* no end", "y = 1", args, 2));
    EXPR(gstride_map_with(c.s, N, "}", "y = 1", args, 2));
    EXPR(gstride_map_with(c.s, N, "static int f(void) {", "y = 1", args, 2));
    EXPR(gstride_map_with(c.s, N, "static void f(void) { barrier(1); }", "y = 1", args, 2));
    char *huge = repeated("1 + ", 1 << 18); /* a megabyte */
    EXPR(gstride_map(c.s, N, huge, args, 2));
    EXPR(gstride_map_with(c.s, N, huge, "y = 1", args, 2));
    free(huge);
    char *nested = repeated("(", 200);
    EXPR(gstride_map(c.s, N, nested, args, 2));
    free(nested);
    scene_end(&c);
}

static void names_that_are_refused(void **state)
{
    struct scene c;
    scene_make(state, &c);
    static const char *const bad[] = {"",      "1x",  "a b",   "i",      "int",
                                      "gs_x",  "__x", "float", "kernel", "x-y",
                                      "while", "a;b", "x)",    "global", "get_name_id"};
    for (size_t k = 0; k < COUNT_OF(bad); ++k)
        if (gstride_map(c.s, N, "1", GSTRIDE_ARGS(gstride_out(bad[k], c.out.span))) !=
            GSTRIDE_ERROR_ARGUMENT)
            FAIL("the name \"%s\" was not refused", bad[k]);
    char *longest = repeated("a", 300);
    ARG(gstride_map(c.s, N, "1", GSTRIDE_ARGS(gstride_out(longest, c.out.span))));
    free(longest);
    ARG(gstride_map(c.s, N, "1", GSTRIDE_ARGS(gstride_in("x", c.x), gstride_f32("x", 1))));
    gstride_arg many[GSTRIDE_MAX_ARGS + 1];
    for (size_t k = 0; k < COUNT_OF(many); ++k)
        many[k] = gstride_f32("x", 1);
    ARG(gstride_map(c.s, N, "1", many, COUNT_OF(many)));
    scene_end(&c);
}

/* Set a variable for one call, and set it back. */
static gstride_status stream_under(const struct fixture *f, const char *variable, const char *value)
{
    const char *outer = getenv(variable);
    char saved[128] = "";
    if (outer)
        snprintf(saved, sizeof saved, "%s", outer);
    gstride_stream *stream;
    setenv(variable, value, 1);
    gstride_status status = gstride_stream_create(f->device, &stream);
    if (outer)
        setenv(variable, saved, 1);
    else
        unsetenv(variable);
    gstride_stream_destroy(stream);
    return status;
}

static void launches_that_are_malformed(void **state)
{
    struct scene c;
    scene_make(state, &c);
    static const char *const bad[] = {"groups",           "groups=",
                                      "groups=0",         "local=0",
                                      "groups=-1",        "local=max",
                                      "groups=1,",        ",local=1",
                                      "groups=1;local=2", "G=1",
                                      "groups=1 ",        "local=1x",
                                      "local=4294967296", "groups=99999999999999999999"};
    gstride_launch launch;
    for (size_t k = 0; k < COUNT_OF(bad); ++k) {
        if (stream_under(c.f, "GSTRIDE_LAUNCH", bad[k]) != GSTRIDE_ERROR_LAUNCH_SPEC)
            FAIL("GSTRIDE_LAUNCH=\"%s\" was not refused", bad[k]);
        MENTIONED(bad[k]);
        REFUSED(GSTRIDE_ERROR_LAUNCH_SPEC, gstride_launch_from_text(bad[k], &launch));
    }
    ARG(gstride_launch_from_text(NULL, &launch));
    ARG(gstride_launch_from_text("groups=1", NULL));
    OK(stream_under(c.f, "GSTRIDE_LAUNCH", "groups=max,local=1"));
    OK(stream_under(c.f, "GSTRIDE_LAUNCH", ""));
    scene_end(&c);
}

static void forms_that_do_not_exist(void **state)
{
    const struct fixture *f = *state;
    static const char *const bad[] = {"flat", "plain,flat", "plainfixed", ",fixed", "fixed plain"};
    for (size_t k = 0; k < COUNT_OF(bad); ++k) {
        if (stream_under(f, "GSTRIDE_FORCE", bad[k]) != GSTRIDE_ERROR_LAUNCH_SPEC)
            FAIL("GSTRIDE_FORCE=\"%s\" was not refused", bad[k]);
        MENTIONED(bad[k]);
    }
    OK(stream_under(f, "GSTRIDE_FORCE", "plain"));
    OK(stream_under(f, "GSTRIDE_FORCE", "plain,fixed"));
    OK(stream_under(f, "GSTRIDE_FORCE", ""));
}

static void launches_that_the_device_cannot_take(void **state)
{
    struct scene c;
    scene_make(state, &c);
    const gstride_arg y = gstride_out("y", c.out.span);
    gstride_span one;
    OK(gstride_slice(c.out.span, 0, 1, &one));
    const gstride_launch too_large[] = {
        {1, c.f->info->max_group_size + 1}, {0, UINT32_MAX}, {UINT64_MAX - 1, 0}, {1ull << 31, 1}};
    for (size_t k = 0; k < COUNT_OF(too_large); ++k) {
        OK(gstride_stream_force_launch(c.s, &too_large[k]));
        REFUSED(GSTRIDE_ERROR_LAUNCH_SHAPE, gstride_map(c.s, N, "y = 1", &y, 1));
        REFUSED(GSTRIDE_ERROR_LAUNCH_SHAPE, gstride_reduce(c.s, GSTRIDE_SUM, c.x, one));
    }
    OK(gstride_stream_force_launch(c.s, NULL));
    scene_end(&c);
}

static void devices_that_do_not_exist(void **state)
{
    struct scene c;
    scene_make(state, &c);
    static const char *const malformed[] = {":",  "gpu:",  ",",    "gpu,,cpu", "#",
                                            "#x", "uuid=", "pci=", "!",        "uuid=xyz"};
    static const char *const unmatched[] = {"#999", "no such device at all", "cpu:!cpu",
                                            "uuid=00000000000000000000000000000001"};
    gstride_device *device;
    for (size_t k = 0; k < COUNT_OF(malformed); ++k) {
        if (gstride_device_open(malformed[k], &device) != GSTRIDE_ERROR_DEVICE_SPEC)
            FAIL("the device \"%s\" was not refused as malformed: %s", malformed[k],
                 gstride_status_name(gstride_last_error()->status));
        assert_null(device);
    }
    for (size_t k = 0; k < COUNT_OF(unmatched); ++k) {
        if (gstride_device_open(unmatched[k], &device) != GSTRIDE_ERROR_NO_DEVICE)
            FAIL("the device \"%s\" was found", unmatched[k]);
        assert_null(device);
        MENTIONED(c.f->info->name); /* the list of what exists */
    }
    const char *outer = getenv("GSTRIDE_DEVICE");
    char saved[256] = "";
    if (outer)
        snprintf(saved, sizeof saved, "%s", outer);
    setenv("GSTRIDE_DEVICE", "no such device at all", 1);
    gstride_status status = gstride_device_open(NULL, &device);
    if (outer)
        setenv("GSTRIDE_DEVICE", saved, 1);
    else
        unsetenv("GSTRIDE_DEVICE");
    REFUSED(GSTRIDE_ERROR_NO_DEVICE, status);
    MENTIONED("no such device at all");
    scene_end(&c);
}

static void allocations_beyond_the_limits(void **state)
{
    struct scene c;
    scene_make(state, &c);
    const uint64_t sizes[] = {1ull << 40, SIZE_MAX, UINT64_MAX / 4, 1ull << 62,
                              c.f->info->max_allocation / sizeof(float) + 1};
    gstride_span span;
    for (size_t k = 0; k < COUNT_OF(sizes); ++k) {
        REFUSED(GSTRIDE_ERROR_ALLOCATION_LIMIT,
                gstride_alloc(c.f->device, GSTRIDE_F32, sizes[k], &span));
        assert_null(span.mem);
        assert_int_equal(span.count, 0);
    }
    OK(gstride_alloc(c.f->device, GSTRIDE_F32, 0, &span));
    assert_null(span.mem);
    scene_end(&c);
}

static const char user_kernels[] =
    "__kernel void scale(const ulong n, const float a, __global float *x)\n"
    "{\n    GSTRIDE_FOR (i, n)\n        x[i] *= a;\n}\n"
    "__kernel void with_local(const ulong n, __global float *x, __local float *room)\n"
    "{\n    __local float fixed[64];\n    fixed[get_local_id(0) % 64] = 1;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n    room[0] = fixed[0];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n    GSTRIDE_FOR (i, n)\n        x[i] = room[0];\n}\n"
    "__kernel void two_locals(const ulong n, __local int *a, __local int *b)\n"
    "{\n    a[0] = (int)n;\n    b[0] = a[0];\n}\n";

static void kernels_that_do_not_build(void **state)
{
    struct scene c;
    scene_make(state, &c);
    gstride_device *device = c.f->device;
    gstride_kernel *k = NULL, *good;
    ARG(gstride_kernel_build(NULL, user_kernels, NULL, "scale", NULL, &k));
    ARG(gstride_kernel_build(device, NULL, NULL, "scale", NULL, &k));
    ARG(gstride_kernel_build(device, user_kernels, NULL, NULL, NULL, &k));
    ARG(gstride_kernel_build(device, user_kernels, NULL, "scale", NULL, NULL));
    REFUSED(GSTRIDE_ERROR_IO,
            gstride_kernel_build(device, NULL, "/nonexistent/kernel.cl", "scale", NULL, &k));
    MENTIONED("/nonexistent/kernel.cl");
    REFUSED(GSTRIDE_ERROR_IO, gstride_kernel_build(device, NULL, "/", "scale", NULL, &k));
    for (int round = 0; round < 2; ++round) {
        EXPR(gstride_kernel_build(device, user_kernels, NULL, "no_such_kernel", NULL, &k));
        MENTIONED("no_such_kernel");
        EXPR(gstride_kernel_build(device,
                                  "__kernel void f(__global int *x)\n{\n    x[0] = oops;\n}\n",
                                  "mine.cl", "f", NULL, &k));
        MENTIONED("mine.cl");
        assert_int_equal(gstride_last_error()->line, 3);
        assert_int_equal(gstride_last_error()->column, 12);
        assert_true(gstride_last_error()->build_log[0] != '\0');
        assert_null(k);
        OK(gstride_kernel_build(device, user_kernels, NULL, "scale", NULL, &good));
        gstride_kernel_free(good);
    }
    char *huge =
        repeated("/* a comment of sixty-four bytes, many times, to make a megabyte */\n", 1 << 14);
    EXPR(gstride_kernel_build(device, huge, NULL, "scale", NULL, &k));
    free(huge);
    scene_end(&c);
}

static void kernel_arguments_that_do_not_fit(void **state)
{
    struct scene c;
    scene_make(state, &c);
    gstride_kernel *k, *local;
    OK(gstride_kernel_build(c.f->device, user_kernels, NULL, "scale", NULL, &k));
    OK(gstride_kernel_build(c.f->device, user_kernels, NULL, "with_local", NULL, &local));
    const gstride_kernel_arg n = gstride_arg_u64(N), a = gstride_arg_f32(2),
                             x = gstride_arg_span(c.x);
    gstride_kernel_arg foreign = gstride_arg_span(c.foreign_span), empty = {0};
    const gstride_kernel_arg good[] = {n, a, x}, too_many[] = {n, a, x, x};
    const gstride_kernel_arg kinds[] = {n, x, a}, narrow[] = {gstride_arg_u32(N), a, x};
    const gstride_kernel_arg wide[] = {n, gstride_arg_f64(2), x}, made_by_hand[] = {n, a, empty};
    const gstride_kernel_arg other[] = {n, a, foreign}, longs[] = {n, a, gstride_arg_span(c.wide)};
    const gstride_kernel_arg no_room[] = {n, x, a};
    ARG(gstride_kernel_launch(c.s, NULL, N, good, 3));
    ARG(gstride_kernel_launch(c.s, k, N, good, 2));
    ARG(gstride_kernel_launch(c.s, k, N, too_many, 4));
    ARG(gstride_kernel_launch(c.s, k, N, NULL, 3));
    ARG(gstride_kernel_launch(c.s, k, N, NULL, 0));
    ARG(gstride_kernel_launch(c.s, k, N, kinds, 3));
    ARG(gstride_kernel_launch(c.s, k, N, made_by_hand, 3));
    TYPE(gstride_kernel_launch(c.s, k, N, narrow, 3));
    TYPE(gstride_kernel_launch(c.s, k, N, wide, 3));
    TYPE(gstride_kernel_launch(c.s, k, N, longs, 3));
    REFUSED(GSTRIDE_ERROR_WRONG_DEVICE, gstride_kernel_launch(c.s, k, N, other, 3));
    ARG(gstride_kernel_launch(c.s, local, N, no_room, 3));
    OK(gstride_kernel_launch(c.s, k, N, good, 3));
    gstride_kernel_free(k);
    gstride_kernel_free(local);
    scene_end(&c);
}

/* PoCL would end the process at the enqueue. */
static void more_local_memory_than_there_is(void **state)
{
    struct scene c;
    scene_make(state, &c);
    gstride_kernel *k, *big;
    OK(gstride_kernel_build(c.f->device, user_kernels, NULL, "with_local", NULL, &k));
    const size_t sizes[] = {(size_t)c.f->info->local_memory + 1, (size_t)1 << 31, SIZE_MAX,
                            SIZE_MAX - 100};
    for (size_t s = 0; s < COUNT_OF(sizes); ++s) {
        const gstride_kernel_arg args[] = {gstride_arg_u64(N), gstride_arg_span(c.out.span),
                                           gstride_arg_local(sizes[s])};
        REFUSED(GSTRIDE_ERROR_LAUNCH_SHAPE, gstride_kernel_launch(c.s, k, N, args, 3));
    }
    const gstride_kernel_arg none[] = {gstride_arg_u64(N), gstride_arg_span(c.out.span),
                                       gstride_arg_local(0)};
    ARG(gstride_kernel_launch(c.s, k, N, none, 3));
    gstride_kernel *two;
    OK(gstride_kernel_build(c.f->device, user_kernels, NULL, "two_locals", NULL, &two));
    const gstride_kernel_arg halves[] = {gstride_arg_u64(N), gstride_arg_local(SIZE_MAX / 2 + 1),
                                         gstride_arg_local(SIZE_MAX / 2 + 1)};
    REFUSED(GSTRIDE_ERROR_LAUNCH_SHAPE, gstride_kernel_launch(c.s, two, N, halves, 3));
    gstride_kernel_free(two);
    char source[512];
    snprintf(source, sizeof source,
             "__kernel void big(const ulong n, __global float *x)\n{\n"
             "    __local float room[%llu];\n    room[get_local_id(0)] = (float)n;\n"
             "    barrier(CLK_LOCAL_MEM_FENCE);\n    x[0] = room[0];\n}\n",
             (unsigned long long)c.f->info->local_memory / sizeof(float) + 64);
    if (gstride_kernel_build(c.f->device, source, NULL, "big", NULL, &big) == GSTRIDE_OK) {
        const gstride_kernel_arg args[] = {gstride_arg_u64(N), gstride_arg_span(c.out.span)};
        REFUSED(GSTRIDE_ERROR_LAUNCH_SHAPE, gstride_kernel_launch(c.s, big, N, args, 2));
        gstride_kernel_free(big);
    }
    gstride_kernel_free(k);
    scene_end(&c);
}

static void kernels_of_another_device(void **state)
{
    struct scene c;
    scene_make(state, &c);
    gstride_device *other;
    gstride_kernel *k;
    OK(gstride_device_from_cl(c.foreign, gstride_device_cl_id(c.f->device), &other));
    OK(gstride_kernel_build(other, user_kernels, NULL, "scale", NULL, &k));
    const gstride_kernel_arg args[] = {gstride_arg_u64(N), gstride_arg_f32(2),
                                       gstride_arg_span(c.x)};
    REFUSED(GSTRIDE_ERROR_WRONG_DEVICE, gstride_kernel_launch(c.s, k, N, args, 3));
    gstride_kernel_free(k);
    gstride_device_close(other);
    scene_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEVICE_TEST(null_devices_and_streams),
        DEVICE_TEST(null_streams_everywhere),
        DEVICE_TEST(other_null_arguments),
        DEVICE_TEST(more_elements_than_there_are),
        DEVICE_TEST(buffers_of_another_context),
        DEVICE_TEST(overlapping_spans),
        DEVICE_TEST(wrong_types),
        DEVICE_TEST(types_that_the_device_lacks),
        DEVICE_TEST(expressions_that_do_not_compile),
        DEVICE_TEST(texts_that_are_refused),
        DEVICE_TEST(names_that_are_refused),
        DEVICE_TEST(launches_that_are_malformed),
        DEVICE_TEST(forms_that_do_not_exist),
        DEVICE_TEST(launches_that_the_device_cannot_take),
        DEVICE_TEST(devices_that_do_not_exist),
        DEVICE_TEST(allocations_beyond_the_limits),
        DEVICE_TEST(kernels_that_do_not_build),
        DEVICE_TEST(kernel_arguments_that_do_not_fit),
        DEVICE_TEST(more_local_memory_than_there_is),
        DEVICE_TEST(kernels_of_another_device),
    };
    return RUN_DEVICE_TESTS(tests);
}
