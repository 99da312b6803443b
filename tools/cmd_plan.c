/* SPDX-License-Identifier: MIT */
/* cmd_plan.c - gstride plan: the launch shape of a call, and why it is that one. */
#include "tool.h"

#include <inttypes.h>
#include <string.h>

static const char help[] =
    "usage: gstride plan PRIMITIVE --n N [--type TYPE] [--device SPEC | --synthetic FACTS]\n"
    "                    [--launch SHAPE] [--json]\n"
    "\n"
    "Tell in which launch shape gstride would run a primitive, and why. Nothing but the probe "
    "runs\n"
    "on the device, with --synthetic not even that. The shape decides the speed of a call, never\n"
    "its result.\n"
    "\n"
    "PRIMITIVE is map, reduce, or kernel (a kernel of your own).\n"
    "\n"
    "  --n N          elements: a number, with K, M or G for powers of 1024, or 2^K\n"
    "  --type TYPE    type of the widest operand: i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64;\n"
    "                 without it f32\n" TOOL_DEVICE_HELP
    "  --synthetic F  plan for an imaginary device; F is words separated by blanks: type=gpu\n"
    "                 cu=UNITS wg=LARGEST-GROUP items= local=BYTES global=BYTES alloc=BYTES "
    "align=\n"
    "                 bits= clock=MHZ loop=TRIPS-BEFORE-CUT-OFF fp64 int64_atomics shuffle\n"
    "  --launch S     force the shape: groups=G,local=L, either part alone, or groups=max for one\n"
    "                 work-group per tile; without it GSTRIDE_LAUNCH does, else the planner\n"
    "  --json         print JSON instead\n"
    "\n"
    "Exit status: 0 success, 1 failure (no such device, or it cannot take the forced shape), 2 "
    "for\n"
    "a wrong command line.\n"
    "\n"
    "Example: a sum of 2^30 floats on a GPU of 132 compute units\n"
    "  gstride plan reduce --n 2^30 --synthetic 'type=gpu cu=132 wg=1024'\n";

enum { REASON_BYTES = 256, LAUNCH_BYTES = 64 };

struct plan {
    const char *primitive;
    uint64_t n;
    gstride_type type;
    gstride_device_info info;
    bool synthetic;
    const char *forced_by; /* "--launch", "GSTRIDE_LAUNCH" or NULL */
    gstride_launch forced;
    gstride_shape shape;
    char reason[REASON_BYTES];
};

static gstride_status make_plan(struct plan *plan)
{
    return gstride_plan(&plan->info, plan->primitive, plan->n, gstride_type_bytes(plan->type),
                        &plan->forced, &plan->shape, plan->reason, sizeof plan->reason);
}

/* Only the library knows its primitives: ask it about one element on some device. */
static bool primitive_exists(const char *name)
{
    gstride_device_info info;
    gstride_shape shape;
    return gstride_device_info_from_text("", &info) == GSTRIDE_OK &&
           gstride_plan(&info, name, 1, 1, NULL, &shape, NULL, 0) != GSTRIDE_ERROR_ARGUMENT;
}

/* All that can be told wrong without a device. */
static enum tool_exit read_command_line(const struct tool_options *options, struct plan *plan)
{
    const char *n = options->value[TOOL_N], *type = options->value[TOOL_TYPE];
    const char *facts = options->value[TOOL_SYNTHETIC], *launch = options->value[TOOL_LAUNCH];
    *plan = (struct plan){
        .primitive = options->operand, .type = GSTRIDE_F32, .synthetic = facts != NULL};
    if (!primitive_exists(plan->primitive))
        return tool_usage_error(options->command, "no primitive is called \"%s\"", plan->primitive);
    if (!n)
        return tool_usage_error(options->command, "--n is missing");
    if (!tool_parse_count(n, &plan->n))
        return tool_usage_error(options->command,
                                "--n \"%s\" is no number of elements; write 1000, 64K or 2^20", n);
    if (type && gstride_type_from_name(type, &plan->type) != GSTRIDE_OK)
        return tool_usage_error(options->command, "--type: %s", gstride_last_error()->message);
    if (facts && gstride_device_info_from_text(facts, &plan->info) != GSTRIDE_OK)
        return tool_usage_error(options->command, "--synthetic: %s", gstride_last_error()->message);
    if (!launch)
        return TOOL_OK;
    plan->forced_by = "--launch";
    if (gstride_launch_from_text(launch, &plan->forced) != GSTRIDE_OK)
        return tool_usage_error(options->command, "--launch: %s", gstride_last_error()->message);
    return TOOL_OK;
}

/* A program would obey GSTRIDE_LAUNCH, so the plan does too. */
static gstride_status read_environment(struct plan *plan)
{
    const char *text = plan->forced_by ? NULL : tool_env("GSTRIDE_LAUNCH");
    if (!text)
        return GSTRIDE_OK;
    plan->forced_by = "GSTRIDE_LAUNCH";
    return gstride_launch_from_text(text, &plan->forced);
}

static gstride_status find_device(const char *spec, struct plan *plan)
{
    if (plan->synthetic)
        return GSTRIDE_OK;
    gstride_device *device = NULL;
    tool_progress("opening the device");
    gstride_status status = gstride_device_open(spec, &device);
    tool_progress_end();
    if (status == GSTRIDE_OK)
        plan->info = *gstride_device_get_info(device);
    gstride_device_close(device);
    return status;
}

static void format_forced(const struct plan *plan, char text[LAUNCH_BYTES])
{
    char groups[LAUNCH_BYTES / 2] = "", local[LAUNCH_BYTES / 2] = "";
    if (plan->forced.groups == UINT64_MAX)
        snprintf(groups, sizeof groups, "groups=max");
    else if (plan->forced.groups)
        snprintf(groups, sizeof groups, "groups=%" PRIu64, plan->forced.groups);
    if (plan->forced.local)
        snprintf(local, sizeof local, "local=%" PRIu32, plan->forced.local);
    snprintf(text, LAUNCH_BYTES, "%s%s%s", groups, groups[0] && local[0] ? "," : "", local);
}

static void print_text(const struct plan *plan)
{
    const gstride_shape *shape = &plan->shape;
    printf("%s of %" PRIu64 " elements of %s (%zu bytes each)\n", plan->primitive, plan->n,
           gstride_type_name(plan->type), gstride_type_bytes(plan->type));
    if (plan->synthetic)
        printf("on a synthetic device");
    else
        printf("on #%" PRIu32 " %s", plan->info.index, plan->info.name);
    printf(", %" PRIu32 " compute units\n\n", plan->info.compute_units);
    printf("  groups      %-12" PRIu64 " work-groups of each launch\n", shape->groups);
    printf("  group size  %-12" PRIu32 " work-items per work-group\n", shape->group_size);
    printf("  tile        %-12" PRIu32 " elements that a work-group takes per trip of its loop\n",
           shape->tile);
    printf("  tiles       %-12" PRIu64 " in all\n", shape->tiles);
    printf("  launches    %-12" PRIu64 " commands into which the call is cut\n", shape->launches);
    if (plan->forced_by) {
        char forced[LAUNCH_BYTES];
        format_forced(plan, forced);
        printf("  forced      %s by %s\n", forced, plan->forced_by);
    }
    static const char title[] = "  reason      ";
    fputs(title, stdout);
    tool_print_wrapped(strlen(title), plan->reason);
}

static cJSON *json_plan(const struct plan *plan)
{
    const gstride_shape *shape = &plan->shape;
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "primitive", plan->primitive);
    tool_json_u64(document, "n", plan->n);
    cJSON_AddStringToObject(document, "type", gstride_type_name(plan->type));
    cJSON *device = cJSON_AddObjectToObject(document, "device");
    cJSON_AddBoolToObject(device, "synthetic", plan->synthetic);
    if (!plan->synthetic)
        tool_json_u64(device, "index", plan->info.index);
    cJSON_AddStringToObject(device, "name", plan->info.name);
    tool_json_u64(device, "compute_units", plan->info.compute_units);
    if (plan->forced_by) {
        char text[LAUNCH_BYTES];
        format_forced(plan, text);
        cJSON *forced = cJSON_AddObjectToObject(document, "forced");
        cJSON_AddStringToObject(forced, "from", plan->forced_by);
        cJSON_AddStringToObject(forced, "launch", text);
    }
    cJSON *object = cJSON_AddObjectToObject(document, "shape");
    tool_json_u64(object, "groups", shape->groups);
    tool_json_u64(object, "group_size", shape->group_size);
    tool_json_u64(object, "tile", shape->tile);
    tool_json_u64(object, "tiles", shape->tiles);
    tool_json_u64(object, "launches", shape->launches);
    cJSON_AddStringToObject(document, "reason", plan->reason);
    return document;
}

static enum tool_exit run(const struct tool_options *options)
{
    struct plan plan;
    enum tool_exit result = read_command_line(options, &plan);
    if (result != TOOL_OK)
        return result;
    if (read_environment(&plan) != GSTRIDE_OK ||
        find_device(options->value[TOOL_DEVICE], &plan) != GSTRIDE_OK ||
        make_plan(&plan) != GSTRIDE_OK)
        return tool_fail(options->command);
    if (options->value[TOOL_JSON])
        return tool_json_print(options->command, json_plan(&plan));
    print_text(&plan);
    return TOOL_OK;
}

const struct tool_command tool_plan = {
    .name = "plan",
    .summary = "explain the launch shape that a call would get",
    .help = help,
    .operand = "PRIMITIVE",
    .accepted = TOOL_ACCEPTS(TOOL_N) | TOOL_ACCEPTS(TOOL_TYPE) | TOOL_ACCEPTS(TOOL_DEVICE) |
                TOOL_ACCEPTS(TOOL_SYNTHETIC) | TOOL_ACCEPTS(TOOL_LAUNCH) | TOOL_ACCEPTS(TOOL_JSON),
    .run = run,
};
