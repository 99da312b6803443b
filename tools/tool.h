/* SPDX-License-Identifier: MIT */
/* tool.h - what the commands of the gstride program share: options, messages and JSON. */
#ifndef TOOL_H
#define TOOL_H

#include <cjson/cJSON.h>
#include <gstride.h>
#include <stdio.h>

/* Exit statuses of every command. */
enum tool_exit { TOOL_OK, TOOL_FAILED, TOOL_USAGE };

/* All options of all commands; options.c has the table of their names. */
enum tool_option {
    TOOL_DEVICE,
    TOOL_JSON,
    TOOL_NO_PROBE,
    TOOL_QUICK,
    TOOL_FULL,
    TOOL_N,
    TOOL_TYPE,
    TOOL_SYNTHETIC,
    TOOL_LAUNCH,
    TOOL_NUM_OPTIONS
};

#define TOOL_ACCEPTS(option) (1u << (option))

struct tool_command;

struct tool_options {
    const struct tool_command *command;
    const char *value[TOOL_NUM_OPTIONS]; /* NULL if not given, "" for a flag */
    const char *operand;                 /* NULL if the command takes none */
    bool help;
};

struct tool_command {
    const char *name;
    const char *summary; /* one line for the list of commands */
    const char *help;
    const char *operand; /* what the operand is called, NULL if there is none */
    unsigned accepted;   /* TOOL_ACCEPTS bits */
    enum tool_exit (*run)(const struct tool_options *options);
};

extern const struct tool_command tool_devices, tool_plan, tool_digest, tool_selftest, tool_cache;

/* Parts of help texts that several commands share. */
#define TOOL_DEVICE_HELP                                                                           \
    "  --device SPEC  choose the device; without it GSTRIDE_DEVICE does, else the best device\n"   \
    "                 that passes its probe is taken: GPU, then accelerator, then CPU\n"
#define TOOL_SPEC_HELP                                                                             \
    "SPEC is made of alternatives separated by \",\" (the first that matches is taken), each of\n" \
    "words separated by \":\" (all must hold):\n"                                                  \
    "  gpu cpu accelerator  the type of the device\n"                                              \
    "  #N                   its number in the list of 'gstride devices'\n"                         \
    "  uuid=HEX pci=ADDR    its identity; the beginning of the printed value is enough\n"          \
    "  !WORD                the word must not hold\n"                                              \
    "  any other text       a part of the platform, vendor or device name, in any case\n"

/* options.c */
/* Fills *options from the arguments behind the command's name. */
enum tool_exit tool_parse(const struct tool_command *command, int argc, char **argv,
                          struct tool_options *options);
/* "4096", "64K", "1M", "2G" (powers of 1024) or "2^20". */
bool tool_parse_count(const char *text, uint64_t *value);
/* An environment variable that is set and not empty, else NULL. */
const char *tool_env(const char *name);

/* report.c */
/* A mistake in the command line; command is NULL for the program itself. Returns TOOL_USAGE. */
enum tool_exit tool_usage_error(const struct tool_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Tell about the library's last failure: message, OpenCL code, hint, log. Returns TOOL_FAILED. */
enum tool_exit tool_fail(const struct tool_command *command);
/* A failure that the library did not report. Returns TOOL_FAILED. */
enum tool_exit tool_fail_with(const struct tool_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* One line on stderr that the next one overwrites; nothing if stderr is no terminal. */
void tool_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tool_progress_end(void);
/* Print words behind an indent that was already written, broken before the right margin. */
void tool_print_wrapped(size_t indent, const char *text);
/* Bytes as "48K" or "140.4G". */
enum { TOOL_BYTES_LENGTH = 24 };
const char *tool_format_bytes(uint64_t bytes, char text[TOOL_BYTES_LENGTH]);
/* An integer with all its digits, which a double would not keep. */
void tool_json_u64(cJSON *object, const char *name, uint64_t value);
/* The failure record as an object. */
cJSON *tool_json_error(void);
/* Print and delete the document. */
enum tool_exit tool_json_print(const struct tool_command *command, cJSON *document);

#endif
