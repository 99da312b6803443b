/* SPDX-License-Identifier: MIT */
/* The launch planner: properties of every shape, over many imaginary devices and sizes. */
#include "rows.h"

#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

static const uint64_t sizes[] = {1,
                                 2,
                                 31,
                                 63,
                                 64,
                                 65,
                                 127,
                                 255,
                                 256,
                                 257,
                                 1000,
                                 1023,
                                 1024,
                                 1025,
                                 8191,
                                 8192,
                                 8193,
                                 16384,
                                 16385,
                                 100003,
                                 1u << 20,
                                 (1u << 20) + 1,
                                 50000000,
                                 ((uint64_t)1 << 31) - 1,
                                 (uint64_t)1 << 31,
                                 ((uint64_t)1 << 31) + 1,
                                 ((uint64_t)1 << 32) - 1,
                                 (uint64_t)1 << 32,
                                 ((uint64_t)1 << 32) + 1,
                                 ((uint64_t)1 << 33) + 7,
                                 (uint64_t)1 << 40,
                                 (uint64_t)1 << 63,
                                 UINT64_MAX};

static const uint32_t unit_counts[] = {0, 1, 2, 3, 7, 16, 100, 132, 1024};
static const uint32_t group_limits[] = {0,   1,   2,   3,   31,  32,   33,   64,        100,
                                        255, 256, 257, 512, 999, 1024, 4096, UINT32_MAX};
static const uint64_t item_limits[] = {0, 1, 7, 64, 1024, UINT64_MAX};
static const uint32_t loop_bounds[] = {0, 20000, 65535, 1000000, UINT32_MAX};
static const uint32_t types[] = {0, GSTRIDE_DEVICE_CPU, GSTRIDE_DEVICE_GPU,
                                 GSTRIDE_DEVICE_ACCELERATOR,
                                 GSTRIDE_DEVICE_CPU | GSTRIDE_DEVICE_GPU};
static const char *const primitives[GSI_NUM_PRIMITIVES] = {[GSI_MAP] = "map",
                                                           [GSI_REDUCE] = "reduce",
                                                           [GSI_REDUCE_EXACT] = "reduce-exact",
                                                           [GSI_REDUCE_EXACT_WIDE] =
                                                               "reduce-exact-wide",
                                                           [GSI_KERNEL] = "kernel"};

/* From this bound on, no device is so narrow that an unforced plan fails. */
enum { WORKABLE_LOOP_BOUND = 65535 };

/* One case, so that a failure can tell which. */
struct plan_case {
    const gstride_device_info *info;
    enum gsi_primitive primitive;
    uint64_t n;
    gstride_launch forced;
};

static uint64_t group_limit(const gstride_device_info *info)
{
    uint64_t limit = info->max_group_size < info->max_item_sizes[0] ? info->max_group_size
                                                                    : info->max_item_sizes[0];
    return limit ? limit : 1;
}

static uint32_t trips_beside_elements(enum gsi_primitive primitive)
{
    return primitive == GSI_KERNEL ? 0 : GSI_EXTRA_TRIPS;
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

#define REQUIRE(property)                                                                          \
    do {                                                                                           \
        if (!(property))                                                                           \
            return #property;                                                                      \
    } while (0)

/* NULL, or the property that every shape has and this one has not. */
static const char *broken_property(const struct plan_case *c, const gstride_shape *s)
{
    const gstride_device_info *info = c->info;
    REQUIRE(s->groups >= 1 && s->group_size >= 1 && s->tile >= 1 && s->launches >= 1);
    REQUIRE(s->group_size <= group_limit(info));
    REQUIRE(s->groups <= GSI_MAX_GLOBAL_SIZE / s->group_size);
    REQUIRE(s->tiles - 1 == (c->n - 1) / s->tile); /* (tiles - 1) * tile < n <= tiles * tile */
    REQUIRE(c->primitive != GSI_REDUCE || s->tile == GSI_REDUCE_TILE);
    REQUIRE(!c->forced.local || s->group_size == c->forced.local);
    if (c->forced.groups == UINT64_MAX)
        REQUIRE(s->groups == s->tiles || s->groups == GSI_MAX_GLOBAL_SIZE / s->group_size);
    else if (c->forced.groups)
        REQUIRE(s->groups == c->forced.groups);
    if (!c->forced.groups || c->forced.groups == UINT64_MAX)
        REQUIRE(s->groups <= s->tiles);

    uint64_t step = gsi_tiles_per_launch(s);
    REQUIRE(ceil_div(s->tiles, step) == s->launches); /* all tiles are covered, none is empty */
    REQUIRE(info->probe.loop_bound || s->launches == 1);
    if (info->probe.loop_bound) {
        uint64_t trips = ceil_div(s->tile, s->group_size) + trips_beside_elements(c->primitive);
        REQUIRE(ceil_div(step, s->groups) <= info->probe.loop_bound / trips);
    }
    return NULL;
}

/* NULL, or the property that shapes of the planner's own choice have and this one has not. */
static const char *broken_choice(const struct plan_case *c, const gstride_shape *s)
{
    const gstride_device_info *info = c->info;
    enum gsi_style style = gsi_style_of(info);
    const struct gsi_policy *policy = gsi_policy_of(c->primitive, style);
    REQUIRE(s->group_size <= policy->group_size);
    REQUIRE(s->group_size == policy->group_size || s->group_size * (uint64_t)2 > group_limit(info));
    REQUIRE(c->n > s->tile || s->groups == 1);
    if (style == GSI_STYLE_ITEM)
        REQUIRE(s->group_size == 1);
    uint64_t cap =
        (uint64_t)(info->compute_units ? info->compute_units : 1) * policy->groups_per_unit;
    if (info->probe.loop_bound || cap == 0 || s->tiles <= cap)
        return NULL;
    /* Whole waves: within the cap, and no smaller number of groups is as fast. */
    uint64_t waves = ceil_div(s->tiles, s->groups);
    REQUIRE(s->groups <= cap);
    REQUIRE(waves == ceil_div(s->tiles, cap));
    REQUIRE(s->groups == 1 || ceil_div(s->tiles, s->groups - 1) > waves);
    return NULL;
}

static void describe(const struct plan_case *c, const gstride_shape *s, const char *property)
{
    const gstride_device_info *info = c->info;
    fail_msg("not true: %s\n  %s n=%llu type=%u cu=%u wg=%u items=%llu loop=%u forced groups=%llu "
             "local=%u\n  groups=%llu group_size=%u tile=%u tiles=%llu launches=%llu",
             property, primitives[c->primitive], (unsigned long long)c->n, info->type,
             info->compute_units, info->max_group_size, (unsigned long long)info->max_item_sizes[0],
             info->probe.loop_bound, (unsigned long long)c->forced.groups, c->forced.local,
             (unsigned long long)s->groups, s->group_size, s->tile, (unsigned long long)s->tiles,
             (unsigned long long)s->launches);
}

static void check_free_plan(const struct plan_case *c)
{
    gstride_shape shape;
    gstride_status status =
        gstride_plan(c->info, primitives[c->primitive], c->n, sizeof(float), NULL, &shape, NULL, 0);
    const char *broken;
    if (status == GSTRIDE_OK)
        broken = broken_property(c, &shape);
    else
        broken = status != GSTRIDE_ERROR_LAUNCH_SHAPE ? "status is OK or LAUNCH_SHAPE"
                 : c->info->probe.loop_bound == 0     ? "only loop bounds refuse an unforced plan"
                 : c->info->probe.loop_bound >= WORKABLE_LOOP_BOUND && c->primitive != GSI_KERNEL
                     ? "a workable bound refuses nothing"
                     : NULL;
    if (!broken && status == GSTRIDE_OK)
        broken = broken_choice(c, &shape);
    if (broken)
        describe(c, &shape, broken);
}

/* May the planner refuse this forced shape? Exactly if a limit says so. */
static bool limits_refuse(const struct plan_case *c, const gstride_shape *free_shape)
{
    if (c->forced.local > group_limit(c->info))
        return true;
    uint32_t size = c->forced.local ? c->forced.local : free_shape->group_size;
    if (size > GSI_LARGEST_GROUP_SIZE)
        return true;
    return c->forced.groups != UINT64_MAX && c->forced.groups > GSI_MAX_GLOBAL_SIZE / size;
}

static void check_forced_plan(const struct plan_case *c)
{
    gstride_shape shape, free_shape;
    if (gstride_plan(c->info, primitives[c->primitive], c->n, 1, NULL, &free_shape, NULL, 0))
        return;
    gstride_status status =
        gstride_plan(c->info, primitives[c->primitive], c->n, 1, &c->forced, &shape, NULL, 0);
    const char *broken;
    if (status == GSTRIDE_OK)
        broken = limits_refuse(c, &free_shape) ? "a shape beyond a limit is refused"
                                               : broken_property(c, &shape);
    else
        broken = status != GSTRIDE_ERROR_LAUNCH_SHAPE ? "status is OK or LAUNCH_SHAPE"
                 : limits_refuse(c, &free_shape) || c->info->probe.loop_bound
                     ? NULL
                     : "a shape within the limits is taken";
    if (broken)
        describe(c, &shape, broken);
}

static gstride_device_info device_of(uint32_t type, uint32_t units, uint32_t group, uint64_t items,
                                     uint32_t loop)
{
    gstride_device_info info;
    assert_int_equal(gstride_device_info_from_text("", &info), GSTRIDE_OK);
    info.type = type;
    info.compute_units = units;
    info.max_group_size = group;
    info.max_item_sizes[0] = items;
    info.probe.loop_bound = loop;
    return info;
}

static void check_device(const gstride_device_info *info)
{
    for (int p = 0; p < GSI_NUM_PRIMITIVES; ++p) {
        for (size_t i = 0; i < COUNT(sizes); ++i) {
            struct plan_case c = {info, (enum gsi_primitive)p, sizes[i], {0}};
            check_free_plan(&c);
        }
    }
}

static void shapes_of_all_devices(void **state)
{
    (void)state;
    for (size_t t = 0; t < COUNT(types); ++t)
        for (size_t u = 0; u < COUNT(unit_counts); ++u)
            for (size_t g = 0; g < COUNT(group_limits); ++g)
                for (size_t i = 0; i < COUNT(item_limits); ++i)
                    for (size_t l = 0; l < COUNT(loop_bounds); ++l) {
                        gstride_device_info info =
                            device_of(types[t], unit_counts[u], group_limits[g], item_limits[i],
                                      loop_bounds[l]);
                        check_device(&info);
                    }
}

static const uint64_t forced_groups[] = {0,
                                         1,
                                         2,
                                         3,
                                         7,
                                         64,
                                         1000,
                                         1u << 20,
                                         (1u << 20) + 1,
                                         1u << 30,
                                         (1u << 30) + 1,
                                         (uint64_t)1 << 40,
                                         UINT64_MAX - 1,
                                         UINT64_MAX};
static const uint32_t forced_locals[] = {0,        1,         2,        3,        32,
                                         100,      256,       257,      1024,     4096,
                                         65536,    1u << 20,  1u << 28, 1u << 30, (1u << 30) + 1,
                                         1u << 31, UINT32_MAX};

static void check_forced_on(const gstride_device_info *info)
{
    for (int p = 0; p < GSI_NUM_PRIMITIVES; ++p)
        for (size_t i = 0; i < COUNT(sizes); ++i)
            for (size_t g = 0; g < COUNT(forced_groups); ++g)
                for (size_t l = 0; l < COUNT(forced_locals); ++l) {
                    if (!forced_groups[g] && !forced_locals[l])
                        continue;
                    struct plan_case c = {info,
                                          (enum gsi_primitive)p,
                                          sizes[i],
                                          {forced_groups[g], forced_locals[l]}};
                    check_forced_plan(&c);
                }
}

static void forced_shapes_are_kept_or_refused(void **state)
{
    (void)state;
    static const uint32_t some_limits[] = {1, 100, 256, 4096, UINT32_MAX};
    for (size_t t = 0; t < COUNT(types); ++t)
        for (size_t g = 0; g < COUNT(some_limits); ++g)
            for (size_t l = 0; l < COUNT(loop_bounds); ++l) {
                gstride_device_info info =
                    device_of(types[t], 16, some_limits[g], UINT64_MAX, loop_bounds[l]);
                check_forced_on(&info);
            }
}

/* Walk the launches and groups as the kernels do, and count the visits of every tile. */
static void check_visits(const gstride_device_info *info, const gstride_shape *s)
{
    uint8_t *visits = calloc(s->tiles, 1);
    assert_non_null(visits);
    uint64_t step = gsi_tiles_per_launch(s);
    for (uint64_t launch = 0; launch < s->launches; ++launch) {
        uint64_t first = launch * step;
        uint64_t end = first + step < s->tiles ? first + step : s->tiles;
        uint64_t most = 0;
        for (uint64_t group = 0; group < s->groups; ++group) {
            uint64_t trips = 0;
            for (uint64_t tile = first + group; tile < end; tile += s->groups, ++trips)
                ++visits[tile];
            most = trips > most ? trips : most;
        }
        uint64_t per_tile = ceil_div(s->tile, s->group_size) + GSI_EXTRA_TRIPS;
        if (info->probe.loop_bound)
            assert_true(most * per_tile <= info->probe.loop_bound);
    }
    for (uint64_t tile = 0; tile < s->tiles; ++tile)
        assert_int_equal(visits[tile], 1);
    free(visits);
}

static void every_tile_is_visited_once(void **state)
{
    (void)state;
    static const uint64_t groups[] = {0, 1, 3, 7, 64, 5000, UINT64_MAX};
    static const uint64_t lengths[] = {1, 8193, 100003, 3000000};
    for (size_t t = 0; t < COUNT(types); ++t)
        for (size_t l = 0; l < COUNT(loop_bounds); ++l)
            for (size_t g = 0; g < COUNT(groups); ++g)
                for (size_t i = 0; i < COUNT(lengths); ++i)
                    for (int p = GSI_MAP; p <= GSI_REDUCE; ++p) {
                        gstride_device_info info = device_of(types[t], 3, 100, 64, loop_bounds[l]);
                        gstride_launch forced = {groups[g], 0};
                        gstride_shape shape;
                        if (gstride_plan(&info, primitives[p], lengths[i], 4, &forced, &shape, NULL,
                                         0) == GSTRIDE_OK)
                            check_visits(&info, &shape);
                        else
                            assert_true(loop_bounds[l] && loop_bounds[l] < WORKABLE_LOOP_BOUND);
                    }
}

struct known_row {
    const char *name;
    const char *device;
    const char *primitive;
    uint64_t n;
    gstride_launch forced;
    gstride_shape shape; /* groups, group_size, tile, tiles, launches */
};

/* A few shapes in full, worked out by hand. */
static const struct known_row known[] = {
    {"nothing to do", "type=gpu cu=16", "map", 0, {0}, {0, 0, 0, 0, 0}},
    {"one element on a GPU", "type=gpu cu=16", "map", 1, {0}, {1, 256, 1024, 1, 1}},
    {"a full tile on a GPU", "type=gpu cu=16", "map", 1024, {0}, {1, 256, 1024, 1, 1}},
    {"one element more", "type=gpu cu=16", "map", 1025, {0}, {2, 256, 1024, 2, 1}},
    {"a limit of 100", "type=gpu cu=16 wg=100", "map", 1024, {0}, {4, 64, 256, 4, 1}},
    {"items below the group", "type=gpu cu=4 wg=256 items=16", "map", 64, {0}, {1, 16, 64, 1, 1}},
    {"reduction tiles", "type=gpu cu=16", "reduce", 8193, {0}, {2, 256, 8192, 2, 1}},
    {"small input on a CPU", "type=cpu cu=4", "map", 1000, {0}, {1, 1, 1024, 1, 1}},
    {"waves on a CPU", "type=cpu cu=1", "map", 33 * 16384, {0}, {17, 1, 16384, 33, 1}},
    {"whole waves of a user's kernel",
     "type=gpu cu=1",
     "kernel",
     65 * 1024,
     {0},
     {22, 256, 1024, 65, 1}},
    {"forced groups", "type=gpu cu=16", "map", 1, {7, 0}, {7, 256, 1024, 1, 1}},
    {"forced local", "type=gpu cu=16", "map", 4096, {0, 64}, {16, 64, 256, 16, 1}},
    {"forced both", "type=gpu cu=16", "reduce", 100000, {3, 100}, {3, 100, 8192, 13, 1}},
    {"a tile for each group",
     "type=cpu cu=1",
     "reduce",
     100 * 8192,
     {UINT64_MAX, 0},
     {100, 1, 8192, 100, 1}},
    {"a user's kernel keeps its tile",
     "type=gpu cu=16",
     "kernel",
     4096,
     {0, 64},
     {4, 64, 1024, 4, 1}},
    {"a user's kernel on a CPU keeps its tile",
     "type=cpu cu=4",
     "kernel",
     1000,
     {0},
     {1, 1, 16384, 1, 1}},
};

static void shape_is_known(void **state)
{
    const struct known_row *row = *state;
    gstride_device_info info;
    gstride_shape shape;
    assert_int_equal(gstride_device_info_from_text(row->device, &info), GSTRIDE_OK);
    assert_int_equal(gstride_plan(&info, row->primitive, row->n, 4, &row->forced, &shape, NULL, 0),
                     GSTRIDE_OK);
    assert_int_equal(shape.groups, row->shape.groups);
    assert_int_equal(shape.group_size, row->shape.group_size);
    assert_int_equal(shape.tile, row->shape.tile);
    assert_int_equal(shape.tiles, row->shape.tiles);
    assert_int_equal(shape.launches, row->shape.launches);
}

struct refused_row {
    const char *name;
    const char *device;
    const char *primitive;
    uint64_t n;
    size_t bytes;
    gstride_launch forced;
    gstride_status status;
    const char *says;
};

static const struct refused_row refused[] = {
    {"local beyond the limit", "wg=100", "map", 9, 4, {0, 101}, GSTRIDE_ERROR_LAUNCH_SHAPE, "101"},
    {"local beyond the items",
     "wg=256 items=64",
     "map",
     9,
     4,
     {0, 65},
     GSTRIDE_ERROR_LAUNCH_SHAPE,
     "65"},
    {"too large a launch",
     "wg=256",
     "map",
     9,
     4,
     {(1u << 22) + 1, 256},
     GSTRIDE_ERROR_LAUNCH_SHAPE,
     "4194305"},
    {"loops too short for a tile",
     "loop=1000",
     "reduce",
     9,
     4,
     {0},
     GSTRIDE_ERROR_LAUNCH_SHAPE,
     "1000"},
    {"a user's kernel cannot be cut",
     "loop=20000",
     "kernel",
     1u << 30,
     4,
     {1, 0},
     GSTRIDE_ERROR_LAUNCH_SHAPE,
     "20000"},
    {"unknown primitive", "", "sort of", 9, 4, {0}, GSTRIDE_ERROR_ARGUMENT, "sort of"},
    {"empty primitive", "", "", 9, 4, {0}, GSTRIDE_ERROR_ARGUMENT, "primitive"},
    {"elements of no bytes", "", "map", 9, 0, {0}, GSTRIDE_ERROR_ARGUMENT, "bytes"},
};

static void plan_is_refused(void **state)
{
    const struct refused_row *row = *state;
    gstride_device_info info;
    gstride_shape shape;
    char reason[64];
    assert_int_equal(gstride_device_info_from_text(row->device, &info), GSTRIDE_OK);
    assert_int_equal(gstride_plan(&info, row->primitive, row->n, row->bytes, &row->forced, &shape,
                                  reason, sizeof reason),
                     row->status);
    assert_non_null(strstr(gstride_last_error()->message, row->says));
}

static void null_arguments_are_refused(void **state)
{
    (void)state;
    gstride_device_info info;
    gstride_shape shape;
    assert_int_equal(gstride_device_info_from_text("", &info), GSTRIDE_OK);
    assert_int_equal(gstride_plan(NULL, "map", 1, 4, NULL, &shape, NULL, 0),
                     GSTRIDE_ERROR_ARGUMENT);
    assert_int_equal(gstride_plan(&info, NULL, 1, 4, NULL, &shape, NULL, 0),
                     GSTRIDE_ERROR_ARGUMENT);
    assert_int_equal(gstride_plan(&info, "map", 1, 4, NULL, NULL, NULL, 0), GSTRIDE_ERROR_ARGUMENT);
}

static void reason_fits_its_buffer(void **state)
{
    (void)state;
    gstride_device_info info;
    gstride_shape shape;
    char reason[256], full[256];
    assert_int_equal(gstride_device_info_from_text("", &info), GSTRIDE_OK);
    assert_int_equal(gstride_plan(&info, "map", 1u << 20, 4, NULL, &shape, full, sizeof full),
                     GSTRIDE_OK);
    assert_true(strlen(full) > 0);
    assert_null(strchr(full, '\n'));
    for (size_t bytes = 1; bytes < sizeof reason; ++bytes) {
        memset(reason, '#', sizeof reason);
        assert_int_equal(gstride_plan(&info, "map", 1u << 20, 4, NULL, &shape, reason, bytes),
                         GSTRIDE_OK);
        assert_int_equal(reason[bytes], '#');
        assert_true(strlen(reason) < bytes);
        assert_memory_equal(reason, full, strlen(reason));
    }
}

int main(void)
{
    static struct suite suite;
    ADD_TABLE(&suite, shape_is_known, known);
    ADD_TABLE(&suite, plan_is_refused, refused);
    ADD_TEST(&suite, shapes_of_all_devices);
    ADD_TEST(&suite, forced_shapes_are_kept_or_refused);
    ADD_TEST(&suite, every_tile_is_visited_once);
    ADD_TEST(&suite, null_arguments_are_refused);
    ADD_TEST(&suite, reason_fits_its_buffer);
    return RUN_SUITE(suite);
}
