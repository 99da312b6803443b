/* SPDX-License-Identifier: MIT */
/* cmd_devices.c - gstride devices: what there is, what the probes say, and which one is chosen. */
#include "tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: gstride devices [--device SPEC] [--no-probe] [--json]\n"
    "\n"
    "List every OpenCL device. A * marks the one that gstride chooses, and the line below the "
    "table\n"
    "says why. Then come the results of the probe, tiny kernels that each device is given when it\n"
    "is opened, and the platforms that could not be listed.\n"
    "\n" TOOL_DEVICE_HELP
    "  --no-probe     run nothing on the devices, for drivers that crash or hang\n"
    "  --json         print JSON instead\n"
    "\n" TOOL_SPEC_HELP "\n"
    "Columns of the table:\n"
    "  type    gpu, cpu, accel, or mixed for simulators, which claim several\n"
    "  CUs     compute units; group: work-items that a work-group may have\n"
    "  local   memory of a work-group; global: memory of the device\n"
    "  fp64    double precision; at64: 64-bit atomics\n"
    "\n"
    "Exit status: 0 if a device can be chosen, 1 if not, 2 for a wrong command line.\n"
    "\n"
    "Example: the first GPU that is not a simulator, or else a CPU:\n"
    "  gstride devices --device 'gpu:!simulator,cpu'\n";

enum { MESSAGE_BYTES = 512, SPEC_BYTES = 24 };

struct probed {
    gstride_probe probe; /* of an opened device */
    bool opened;
    gstride_status status;
    char message[MESSAGE_BYTES]; /* why it could not be opened */
};

struct choice {
    const char *origin; /* "--device", "GSTRIDE_DEVICE" or "default" */
    const char *spec;
    gstride_status status;
    size_t index; /* if status is GSTRIDE_OK */
};

struct survey {
    gstride_device_list *list; /* NULL if there is no platform */
    size_t count;
    struct probed *probed; /* NULL with --no-probe */
    struct choice choice;
};

/* -- finding out ----------------------------------------------------------------------------- */

static void probe_one(const gstride_device_info *info, struct probed *out)
{
    char spec[SPEC_BYTES];
    snprintf(spec, sizeof spec, "#%" PRIu32, info->index);
    tool_progress("probing %s %s", spec, info->name);
    gstride_device *device = NULL;
    out->status = gstride_device_open(spec, &device);
    out->opened = out->status == GSTRIDE_OK;
    if (out->opened)
        out->probe = gstride_device_get_info(device)->probe;
    else
        snprintf(out->message, sizeof out->message, "%s", gstride_last_error()->message);
    gstride_device_close(device);
}

static void name_origin(struct choice *choice, const char *option)
{
    const char *variable = tool_env("GSTRIDE_DEVICE");
    choice->spec = option ? option : variable ? variable : "";
    choice->origin = option ? "--device" : variable ? "GSTRIDE_DEVICE" : "default";
}

/* The library itself chooses, so that the mark cannot differ from what a program would get. */
static void choose(struct survey *survey, bool may_open)
{
    struct choice *choice = &survey->choice;
    if (!may_open) {
        choice->status = gstride_device_list_select(survey->list, choice->spec, &choice->index);
        return;
    }
    gstride_device *device = NULL;
    choice->status = gstride_device_open(choice->spec, &device);
    if (choice->status == GSTRIDE_OK)
        choice->index = gstride_device_get_info(device)->index;
    gstride_device_close(device);
}

/* The choice comes last: the record of its failure is still needed when all is printed. */
static bool make_survey(const struct tool_options *options, struct survey *survey)
{
    bool may_open = !options->value[TOOL_NO_PROBE];
    *survey = (struct survey){0};
    name_origin(&survey->choice, options->value[TOOL_DEVICE]);
    survey->choice.status = gstride_device_list_create(&survey->list);
    if (survey->choice.status != GSTRIDE_OK)
        return true;
    survey->count = gstride_device_list_count(survey->list);
    if (may_open) {
        survey->probed = calloc(survey->count + 1, sizeof *survey->probed);
        if (!survey->probed)
            return false;
        for (size_t i = 0; i < survey->count; ++i)
            probe_one(gstride_device_list_get(survey->list, i), &survey->probed[i]);
    }
    choose(survey, may_open);
    tool_progress_end();
    return true;
}

/* -- text ------------------------------------------------------------------------------------ */

static const char *type_column(uint32_t type)
{
    switch (type) {
    case GSTRIDE_DEVICE_CPU:
        return "cpu";
    case GSTRIDE_DEVICE_GPU:
        return "gpu";
    case GSTRIDE_DEVICE_ACCELERATOR:
        return "accel";
    default:
        return "mixed";
    }
}

/* Cut a name to the width of its column; JSON has all of it. */
static const char *shorten(const char *text, size_t width, char *out)
{
    static const char cut[] = "...";
    if (strlen(text) <= width)
        return text;
    snprintf(out, width + 1, "%.*s%s", (int)(width - strlen(cut)), text, cut);
    return out;
}

static const char *yes_no(bool value)
{
    return value ? "yes" : "no";
}

enum { NAME_WIDTH = 32, PLATFORM_WIDTH = 19 };

static void print_row(const gstride_device_info *info, bool chosen)
{
    char name[NAME_WIDTH + 1], platform[PLATFORM_WIDTH + 1], index[SPEC_BYTES];
    char local[TOOL_BYTES_LENGTH], global[TOOL_BYTES_LENGTH];
    snprintf(index, sizeof index, "#%" PRIu32, info->index);
    printf("%c %-3s %-5s %-*s %-*s %4" PRIu32 " %5" PRIu32 " %6s %7s %4s %4s\n", chosen ? '*' : ' ',
           index, type_column(info->type), NAME_WIDTH, shorten(info->name, NAME_WIDTH, name),
           PLATFORM_WIDTH, shorten(info->platform, PLATFORM_WIDTH, platform), info->compute_units,
           info->max_group_size, tool_format_bytes(info->local_memory, local),
           tool_format_bytes(info->global_memory, global), yes_no(info->fp64),
           yes_no(info->int64_atomics));
    if (info->uuid[0] || info->pci[0])
        printf("            %s%s%s%s%s\n", info->uuid[0] ? "uuid=" : "", info->uuid,
               info->uuid[0] && info->pci[0] ? "  " : "", info->pci[0] ? "pci=" : "", info->pci);
}

static void print_table(const struct survey *survey)
{
    const struct choice *choice = &survey->choice;
    printf("  %-3s %-5s %-*s %-*s %4s %5s %6s %7s %4s %4s\n", "#", "type", NAME_WIDTH, "name",
           PLATFORM_WIDTH, "platform", "CUs", "group", "local", "global", "fp64", "at64");
    for (size_t i = 0; i < survey->count; ++i)
        print_row(gstride_device_list_get(survey->list, i),
                  choice->status == GSTRIDE_OK && choice->index == i);
}

static void print_choice(const struct survey *survey)
{
    const struct choice *choice = &survey->choice;
    if (choice->status == GSTRIDE_OK)
        printf("\n* chosen: #%zu, ", choice->index);
    else
        printf("\n* chosen: none, ");
    if (choice->spec[0])
        printf("since %s is \"%s\"\n", choice->origin, choice->spec);
    else
        printf("by default the best %s: GPU, then accelerator, then CPU\n",
               survey->probed ? "that passes its probe" : "(no probe was run)");
}

static void print_passed(const gstride_probe *probe)
{
    char text[MESSAGE_BYTES], loops[64] = "loops run to their end";
    if (probe->loop_bound)
        snprintf(loops, sizeof loops, "loops are cut off after %" PRIu32 " trips",
                 probe->loop_bound);
    snprintf(text, sizeof text,
             "atomics count, 64-bit integers and a * b + c are right; %s; fp32 subnormals %s; half "
             "conversion %s; event times %s",
             loops, probe->denormals ? "kept" : "flushed to 0",
             probe->half_storage ? "right" : "wrong", probe->event_timing ? "given" : "not given");
    static const char verdict[] = "  passed  ";
    fputs(verdict, stdout);
    tool_print_wrapped(strlen("  #NN") + strlen(verdict), text);
}

static void print_probes(const struct survey *survey)
{
    puts("\nprobes:");
    for (size_t i = 0; i < survey->count; ++i) {
        const struct probed *probed = &survey->probed[i];
        char index[SPEC_BYTES];
        snprintf(index, sizeof index, "#%zu", i);
        printf("  %-3s", index);
        if (probed->opened) {
            print_passed(&probed->probe);
            continue;
        }
        static const char verdict[] = "  FAILED  ";
        fputs(verdict, stdout);
        tool_print_wrapped(strlen("  #NN") + strlen(verdict), probed->message);
    }
}

static void print_problems(const char *problems)
{
    static const char indent[] = "  ";
    puts("\nproblems:");
    for (const char *line = problems; *line;) {
        size_t length = strcspn(line, "\n");
        char text[MESSAGE_BYTES];
        snprintf(text, sizeof text, "%.*s", (int)length, line);
        fputs(indent, stdout);
        tool_print_wrapped(strlen(indent), text);
        line += length + (line[length] ? 1 : 0);
    }
}

static void print_text(const struct survey *survey)
{
    if (survey->count) {
        print_table(survey);
        print_choice(survey);
    }
    if (survey->count && survey->probed)
        print_probes(survey);
    const char *problems = gstride_device_list_problems(survey->list);
    if (problems[0])
        print_problems(problems);
}

/* -- JSON ------------------------------------------------------------------------------------ */

static cJSON *json_types(uint32_t type)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {{GSTRIDE_DEVICE_CPU, "cpu"},
                 {GSTRIDE_DEVICE_GPU, "gpu"},
                 {GSTRIDE_DEVICE_ACCELERATOR, "accelerator"}};
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (type & names[i].bit)
            cJSON_AddItemToArray(array, cJSON_CreateString(names[i].name));
    return array;
}

static cJSON *json_probe(const struct probed *probed)
{
    const gstride_probe *probe = &probed->probe;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddBoolToObject(object, "passed", probed->opened);
    if (!probed->opened) {
        cJSON_AddStringToObject(object, "status", gstride_status_name(probed->status));
        cJSON_AddStringToObject(object, "message", probed->message);
        return object;
    }
    tool_json_u64(object, "loop_bound", probe->loop_bound);
    cJSON_AddBoolToObject(object, "atomics", probe->atomics);
    cJSON_AddBoolToObject(object, "int64", probe->int64);
    cJSON_AddBoolToObject(object, "no_contraction", probe->no_contraction);
    cJSON_AddBoolToObject(object, "denormals", probe->denormals);
    cJSON_AddBoolToObject(object, "half_storage", probe->half_storage);
    cJSON_AddBoolToObject(object, "event_timing", probe->event_timing);
    return object;
}

static void add_texts(cJSON *object, const gstride_device_info *info)
{
    cJSON_AddStringToObject(object, "name", info->name);
    cJSON_AddStringToObject(object, "platform", info->platform);
    cJSON_AddStringToObject(object, "vendor", info->vendor);
    cJSON_AddStringToObject(object, "platform_version", info->platform_version);
    cJSON_AddStringToObject(object, "device_version", info->device_version);
    cJSON_AddStringToObject(object, "driver_version", info->driver_version);
    cJSON_AddStringToObject(object, "uuid", info->uuid);
    cJSON_AddStringToObject(object, "pci", info->pci);
}

static cJSON *json_device(const gstride_device_info *info, const struct probed *probed)
{
    cJSON *object = cJSON_CreateObject();
    tool_json_u64(object, "index", info->index);
    cJSON_AddItemToObject(object, "type", json_types(info->type));
    add_texts(object, info);
    tool_json_u64(object, "compute_units", info->compute_units);
    tool_json_u64(object, "clock_mhz", info->clock_mhz);
    tool_json_u64(object, "address_bits", info->address_bits);
    tool_json_u64(object, "max_group_size", info->max_group_size);
    tool_json_u64(object, "local_memory", info->local_memory);
    tool_json_u64(object, "global_memory", info->global_memory);
    tool_json_u64(object, "max_allocation", info->max_allocation);
    tool_json_u64(object, "base_alignment", info->base_alignment);
    cJSON_AddBoolToObject(object, "fp64", info->fp64);
    cJSON_AddBoolToObject(object, "int64_atomics", info->int64_atomics);
    cJSON_AddBoolToObject(object, "subgroup_shuffle", info->subgroup_shuffle);
    cJSON_AddBoolToObject(object, "unified_memory", info->unified_memory);
    cJSON_AddBoolToObject(object, "driver_caches_programs", info->driver_caches_programs);
    cJSON_AddItemToObject(object, "probe", probed ? json_probe(probed) : cJSON_CreateNull());
    return object;
}

static cJSON *json_choice(const struct choice *choice)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "from", choice->origin);
    cJSON_AddStringToObject(object, "spec", choice->spec);
    if (choice->status == GSTRIDE_OK)
        tool_json_u64(object, "index", choice->index);
    else
        cJSON_AddItemToObject(object, "error", tool_json_error());
    return object;
}

static cJSON *json_problems(const char *problems)
{
    cJSON *array = cJSON_CreateArray();
    for (const char *line = problems; *line;) {
        size_t length = strcspn(line, "\n");
        char text[MESSAGE_BYTES];
        snprintf(text, sizeof text, "%.*s", (int)length, line);
        cJSON_AddItemToArray(array, cJSON_CreateString(text));
        line += length + (line[length] ? 1 : 0);
    }
    return array;
}

static cJSON *json_survey(const struct survey *survey)
{
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "version", gstride_version());
    cJSON_AddItemToObject(document, "chosen", json_choice(&survey->choice));
    cJSON *devices = cJSON_AddArrayToObject(document, "devices");
    for (size_t i = 0; i < survey->count; ++i)
        cJSON_AddItemToArray(devices, json_device(gstride_device_list_get(survey->list, i),
                                                  survey->probed ? &survey->probed[i] : NULL));
    cJSON_AddItemToObject(document, "problems",
                          json_problems(gstride_device_list_problems(survey->list)));
    return document;
}

static enum tool_exit run(const struct tool_options *options)
{
    struct survey survey;
    enum tool_exit result = TOOL_OK;
    if (!make_survey(options, &survey))
        result = tool_fail_with(options->command, "out of memory");
    else if (options->value[TOOL_JSON])
        result = tool_json_print(options->command, json_survey(&survey));
    else
        print_text(&survey);
    if (result == TOOL_OK && survey.choice.status != GSTRIDE_OK)
        result = tool_fail(options->command);
    free(survey.probed);
    gstride_device_list_free(survey.list);
    return result;
}

const struct tool_command tool_devices = {
    .name = "devices",
    .summary = "list the devices, probe them, and tell which one is chosen",
    .help = help,
    .accepted = TOOL_ACCEPTS(TOOL_DEVICE) | TOOL_ACCEPTS(TOOL_JSON) | TOOL_ACCEPTS(TOOL_NO_PROBE),
    .run = run,
};
