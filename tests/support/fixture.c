/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two tiles of a reduction, the second of one element. */
enum { SIMULATOR_MOST = 8193 };

int fixture_open(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    if (gstride_device_open(NULL, &f->device) != GSTRIDE_OK ||
        gstride_stream_create(f->device, &f->stream) != GSTRIDE_OK) {
        print_error("no device for the tests: %s\n", gstride_last_error()->message);
        gstride_device_close(f->device);
        free(f);
        return -1;
    }
    f->info = gstride_device_get_info(f->device);
    f->simulator = strstr(f->info->platform, "Oclgrind") != NULL;
    f->most = f->simulator ? SIMULATOR_MOST : UINT64_MAX;
    print_message("device: %s (%s), seed: %" PRIu64 "\n", f->info->name, f->info->platform,
                  rng_seed());
    *state = f;
    return 0;
}

int fixture_close(void **state)
{
    struct fixture *f = *state;
    gstride_stream_destroy(f->stream);
    gstride_device_close(f->device);
    free(f);
    return 0;
}

int fixture_calm(void **state)
{
    struct fixture *f = *state;
    return gstride_stream_force_launch(f->stream, NULL) == GSTRIDE_OK ? 0 : -1;
}

bool fixture_has_type(const struct fixture *f, gstride_type type)
{
    return type == GSTRIDE_F64   ? f->info->fp64
           : type == GSTRIDE_F16 ? f->info->probe.half_storage
                                 : true;
}

uint64_t fixture_size(const struct fixture *f, uint64_t size)
{
    return size < f->most ? size : f->most;
}

void *must_alloc(uint64_t bytes)
{
    void *memory = malloc(bytes ? (size_t)bytes : 1);
    if (!memory)
        FAIL("no memory for %" PRIu64 " bytes", bytes);
    return memory;
}

enum { GUARD = 64 /* elements */ };

/* Each byte of poison differs from its neighbours, so that shifted data is seen. */
static unsigned char poison(uint64_t i)
{
    return (unsigned char)((i * 0x9e3779b97f4a7c15u) >> 56);
}

void guarded_make(const struct fixture *f, gstride_type type, uint64_t n, uint64_t offset,
                  struct guarded *g)
{
    uint64_t front = offset ? offset + GUARD : 0;
    OK(gstride_alloc(f->device, type, front + n + GUARD, &g->whole));
    OK(gstride_slice(g->whole, front, n, &g->span));
    g->image = must_alloc(g->whole.count * gstride_type_bytes(type));
}

static size_t front_bytes(const struct guarded *g)
{
    return (size_t)(g->span.offset * gstride_type_bytes(g->span.type));
}

void guarded_put(const struct fixture *f, struct guarded *g, const void *values)
{
    size_t bytes = gstride_type_bytes(g->span.type);
    for (uint64_t i = 0; i < g->whole.count * bytes; ++i)
        g->image[i] = poison(i);
    if (values)
        memcpy(g->image + front_bytes(g), values, (size_t)g->span.count * bytes);
    OK(gstride_write(f->stream, g->whole, g->image, g->whole.count));
}

static unsigned char *read_whole(const struct fixture *f, const struct guarded *g)
{
    unsigned char *bytes = must_alloc(g->whole.count * gstride_type_bytes(g->whole.type));
    OK(gstride_read(f->stream, g->whole, bytes, g->whole.count));
    return bytes;
}

/* Compare [begin, end) with what was written. */
static void check_zone(const struct guarded *g, const unsigned char *bytes, uint64_t begin,
                       uint64_t end, const char *where)
{
    for (uint64_t i = begin; i < end; ++i)
        if (bytes[i] != g->image[i])
            FAIL("byte %" PRIu64 " %s of %" PRIu64 " %s elements was overwritten: %02x, was %02x",
                 i - begin, where, g->span.count, gstride_type_name(g->span.type), bytes[i],
                 g->image[i]);
}

void guarded_take(const struct fixture *f, const struct guarded *g, void *values)
{
    size_t size = (size_t)g->span.count * gstride_type_bytes(g->span.type);
    size_t front = front_bytes(g);
    unsigned char *bytes = read_whole(f, g);
    check_zone(g, bytes, 0, front, "before the span");
    check_zone(g, bytes, front + size, g->whole.count * gstride_type_bytes(g->whole.type),
               "behind the span");
    memcpy(values, bytes + front, size);
    free(bytes);
}

void guarded_untouched(const struct fixture *f, const struct guarded *g)
{
    unsigned char *bytes = read_whole(f, g);
    check_zone(g, bytes, 0, g->whole.count * gstride_type_bytes(g->whole.type), "of the buffer");
    free(bytes);
}

void guarded_free(struct guarded *g)
{
    gstride_free(&g->whole);
    free(g->image);
    *g = (struct guarded){0};
}

gstride_span span_of(const struct fixture *f, gstride_type type, const void *values, uint64_t n)
{
    gstride_span span;
    OK(gstride_alloc(f->device, type, n, &span));
    OK(gstride_write(f->stream, span, values, n));
    return span;
}

const gstride_launch forced_launches[] = {
    {1, 1}, {1, 7},  {3, 64}, {5, 100}, {2, 256}, {UINT64_MAX, 1}, {UINT64_MAX, 32}, {7, 1},
    {1, 2}, {13, 3}, {1, 32}, {33, 31}, {4, 128}, {1, 256},        {2, 1000},        {9, 0},
};
const size_t num_forced_launches = COUNT_OF(forced_launches);

/* Every kernel must take groups of this many work-items if the device does. */
enum { LEAST_KERNEL_LIMIT = 256 };
static uint32_t forced_local;

bool force_launch(const struct fixture *f, size_t k)
{
    const gstride_launch *launch = &forced_launches[k];
    uint64_t limit = f->info->max_group_size;
    if (f->info->max_item_sizes[0] < limit)
        limit = f->info->max_item_sizes[0];
    if (launch->local > limit) {
        print_message("skipped local=%u: %s takes %" PRIu64 " work-items in a group\n",
                      launch->local, f->info->name, limit);
        return false;
    }
    OK(gstride_stream_force_launch(f->stream, launch));
    forced_local = launch->local;
    return true;
}

bool launch_taken(const struct fixture *f, gstride_status status)
{
    /* A device may stop loops, and a single kernel may take smaller groups than the device. */
    if (status == GSTRIDE_ERROR_LAUNCH_SHAPE &&
        (f->info->probe.loop_bound || forced_local > LEAST_KERNEL_LIMIT)) {
        print_message("skipped a shape: %s\n", gstride_last_error()->message);
        return false;
    }
    OK(status);
    return true;
}
