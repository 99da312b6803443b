/* SPDX-License-Identifier: MIT */
/* main.c - the gstride program: finds the command and runs it. */
#include "tool.h"

#include <string.h>

static const struct tool_command *const commands[] = {&tool_devices, &tool_plan, &tool_digest,
                                                      &tool_selftest, &tool_cache};
enum { NUM_COMMANDS = sizeof commands / sizeof commands[0] };

static const char usage[] = "usage: gstride COMMAND [OPTIONS]\n"
                            "       gstride help [COMMAND]\n"
                            "       gstride --version\n";

static const char environment_help[] =
    "Environment:\n"
    "  GSTRIDE_DEVICE      the device, where --device is not given; see 'gstride help devices'\n"
    "  GSTRIDE_LAUNCH      the launch shape of every call, as in 'gstride help plan'\n"
    "  GSTRIDE_CACHE       off: no program cache on disk; on: even where the driver has its own\n"
    "  GSTRIDE_CACHE_DIR   where the program cache lies\n"
    "  GSTRIDE_LOG         what the library prints about its doings\n"
    "\n"
    "Exit status: 0 success, 1 failure, 2 the command line cannot be understood.\n";

static const struct tool_command *find_command(const char *name)
{
    for (int i = 0; i < NUM_COMMANDS; ++i)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static void print_overview(void)
{
    printf("%s\nData-parallel primitives on OpenCL with the same result bits on every device.\n\n"
           "Commands:\n",
           usage);
    for (int i = 0; i < NUM_COMMANDS; ++i)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("  %-10s %s\n\n%s", "help", "explain the program or one command", environment_help);
}

static enum tool_exit run_help(int argc, char **argv)
{
    if (argc > 1)
        return tool_usage_error(NULL, "help takes one command, not \"%s\" too", argv[1]);
    if (argc == 0) {
        print_overview();
        return TOOL_OK;
    }
    const struct tool_command *command = find_command(argv[0]);
    if (!command)
        return tool_usage_error(NULL, "no command is called \"%s\"", argv[0]);
    fputs(command->help, stdout);
    return TOOL_OK;
}

static enum tool_exit print_version(void)
{
    printf("gstride %s\n", gstride_version());
    if (strcmp(gstride_version(), GSTRIDE_VERSION) != 0)
        printf("(the program was compiled for %s)\n", GSTRIDE_VERSION);
    return TOOL_OK;
}

static enum tool_exit run_command(const struct tool_command *command, int argc, char **argv)
{
    struct tool_options options;
    enum tool_exit result = tool_parse(command, argc, argv, &options);
    if (result != TOOL_OK)
        return result;
    if (options.help) {
        fputs(command->help, stdout);
        return TOOL_OK;
    }
    return command->run(&options);
}

static enum tool_exit dispatch(int argc, char **argv)
{
    if (argc < 2) {
        fputs(usage, stderr);
        return TOOL_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0)
        return print_version();
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_overview();
        return TOOL_OK;
    }
    if (strcmp(word, "help") == 0)
        return run_help(argc - 2, argv + 2);
    const struct tool_command *command = find_command(word);
    if (!command)
        return tool_usage_error(
            NULL, word[0] == '-' ? "no option is called \"%s\"" : "no command is called \"%s\"",
            word);
    return run_command(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    enum tool_exit result = dispatch(argc, argv);
    /* A full disk or a closed pipe must not look like success. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && result == TOOL_OK)
        return (int)tool_fail_with(NULL, "cannot write the output");
    return (int)result;
}
