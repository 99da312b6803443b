/* SPDX-License-Identifier: MIT */
/* options.c - one table of options for all commands, given to getopt_long. */
#include "tool.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int has_value; /* as getopt_long wants it */
} table[TOOL_NUM_OPTIONS] = {
    [TOOL_DEVICE] = {"device", required_argument},
    [TOOL_JSON] = {"json", no_argument},
    [TOOL_NO_PROBE] = {"no-probe", no_argument},
    [TOOL_QUICK] = {"quick", no_argument},
    [TOOL_FULL] = {"full", no_argument},
    [TOOL_N] = {"n", required_argument},
    [TOOL_TYPE] = {"type", required_argument},
    [TOOL_SYNTHETIC] = {"synthetic", required_argument},
    [TOOL_LAUNCH] = {"launch", required_argument},
};

static const struct {
    enum tool_option one, other;
} conflicts[] = {{TOOL_QUICK, TOOL_FULL}, {TOOL_DEVICE, TOOL_SYNTHETIC}};

/* getopt_long returns FIRST_CODE + option, apart from every character. */
enum { FIRST_CODE = 256 };

static void fill_long_options(unsigned accepted, struct option *out)
{
    for (int i = 0; i < TOOL_NUM_OPTIONS; ++i)
        if (accepted & TOOL_ACCEPTS(i))
            *out++ = (struct option){table[i].name, table[i].has_value, NULL, FIRST_CODE + i};
    *out++ = (struct option){"help", no_argument, NULL, 'h'};
    *out = (struct option){0};
}

static enum tool_exit check_conflicts(const struct tool_options *options)
{
    for (size_t i = 0; i < sizeof conflicts / sizeof conflicts[0]; ++i)
        if (options->value[conflicts[i].one] && options->value[conflicts[i].other])
            return tool_usage_error(options->command, "--%s and --%s exclude each other",
                                    table[conflicts[i].one].name, table[conflicts[i].other].name);
    return TOOL_OK;
}

static enum tool_exit take_operand(struct tool_options *options, int argc, char **argv)
{
    const struct tool_command *command = options->command;
    int wanted = command->operand ? 1 : 0;
    if (optind + wanted < argc)
        return tool_usage_error(command, "\"%s\" is one argument too many", argv[optind + wanted]);
    if (optind + wanted > argc)
        return tool_usage_error(command, "%s is missing", command->operand);
    options->operand = wanted ? argv[optind] : NULL;
    return TOOL_OK;
}

enum tool_exit tool_parse(const struct tool_command *command, int argc, char **argv,
                          struct tool_options *options)
{
    struct option long_options[TOOL_NUM_OPTIONS + 2];
    fill_long_options(command->accepted, long_options);
    *options = (struct tool_options){.command = command};
    opterr = 0; /* the messages are ours, so that they look like the others */
    for (int code; (code = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
        if (code == 'h') {
            options->help = true;
            return TOOL_OK;
        }
        const char *word = argv[optind - 1];
        if (code == ':')
            return tool_usage_error(command, "\"%s\" needs a value", word);
        if (code == '?')
            return tool_usage_error(command, "cannot use the option \"%s\"", word);
        options->value[code - FIRST_CODE] = optarg ? optarg : "";
    }
    enum tool_exit result = check_conflicts(options);
    return result == TOOL_OK ? take_operand(options, argc, argv) : result;
}

bool tool_parse_count(const char *text, uint64_t *value)
{
    static const char suffixes[] = "KMG", power[] = "2^";
    enum { BITS_PER_SUFFIX = 10, DECIMAL = 10, VALUE_BITS = 64, MOST_DIGITS = 19 };
    bool is_power = strncmp(text, power, strlen(power)) == 0;
    const char *digits = is_power ? text + strlen(power) : text;
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || length > MOST_DIGITS) /* so that strtoull cannot overflow */
        return false;
    uint64_t number = strtoull(digits, NULL, DECIMAL);
    const char *end = digits + length;
    if (is_power) {
        if (*end || number >= VALUE_BITS)
            return false;
        *value = (uint64_t)1 << number;
        return true;
    }
    const char *suffix = *end ? strchr(suffixes, *end) : NULL;
    unsigned shift = suffix ? BITS_PER_SUFFIX * (unsigned)(suffix - suffixes + 1) : 0;
    if (end[suffix ? 1 : 0] || number > UINT64_MAX >> shift)
        return false;
    *value = number << shift;
    return true;
}

const char *tool_env(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}
