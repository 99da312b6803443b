/* SPDX-License-Identifier: MIT */
/* report.c - messages with hints, progress, and small helpers of text and JSON output. */
#include "tool.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum { RIGHT_MARGIN = 100 };

static const char *name_of(const struct tool_command *command)
{
    return command ? command->name : "";
}

static void begin_message(const struct tool_command *command)
{
    tool_progress_end();
    fflush(stdout); /* so that the message comes after what was printed before it */
    fprintf(stderr, "gstride%s%s: ", command ? " " : "", name_of(command));
}

enum tool_exit tool_usage_error(const struct tool_command *command, const char *format, ...)
{
    begin_message(command);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nTry 'gstride help%s%s'.\n", command ? " " : "", name_of(command));
    return TOOL_USAGE;
}

enum tool_exit tool_fail_with(const struct tool_command *command, const char *format, ...)
{
    begin_message(command);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return TOOL_FAILED;
}

/* What the codes that a user may meet mean; the others are defects and speak by their names. */
static const char *meaning_of_cl(const char *cl_name)
{
    static const struct {
        const char *name, *meaning;
    } meanings[] = {
        {"CL_DEVICE_NOT_FOUND", "the platform has no device of this kind"},
        {"CL_DEVICE_NOT_AVAILABLE", "the device exists but cannot be used now"},
        {"CL_COMPILER_NOT_AVAILABLE", "the driver has no compiler for OpenCL C"},
        {"CL_MEM_OBJECT_ALLOCATION_FAILURE", "the device has no memory left for a buffer"},
        {"CL_OUT_OF_RESOURCES", "the device ran out of registers, local memory or address space"},
        {"CL_OUT_OF_HOST_MEMORY", "the driver ran out of host memory"},
        {"CL_BUILD_PROGRAM_FAILURE", "the driver's compiler refused a program"},
        {"CL_INVALID_BINARY", "the driver refused a program that it compiled earlier"},
        {"CL_INVALID_COMMAND_QUEUE", "an earlier kernel failed and took the queue with it"},
        {"CL_INVALID_WORK_GROUP_SIZE", "the kernel cannot run in groups of this size"},
        {"CL_INVALID_BUFFER_SIZE", "the buffer is larger than the device allows"},
        {"CL_PLATFORM_NOT_FOUND_KHR", "no OpenCL driver is registered on this machine"},
        {"CL_NVIDIA_ILLEGAL_BUFFER_ACCESS", "a kernel accessed memory outside its buffers"},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; ++i)
        if (strcmp(meanings[i].name, cl_name) == 0)
            return meanings[i].meaning;
    return "an OpenCL call was refused";
}

/* What the user can do about it; NULL where the message says all. */
static const char *hint_for(gstride_status status)
{
    switch (status) {
    case GSTRIDE_ERROR_NO_PLATFORM:
        return "install a driver and check that a file in /etc/OpenCL/vendors names it";
    case GSTRIDE_ERROR_NO_DEVICE:
        return "name one of these as 'gstride help devices' explains, or install the driver of "
               "yours";
    case GSTRIDE_ERROR_DEVICE_SPEC:
        return "'gstride help devices' explains how to name a device";
    case GSTRIDE_ERROR_PROBE:
        return "update the driver, or choose another device with --device or GSTRIDE_DEVICE";
    case GSTRIDE_ERROR_DEVICE_LACKS:
        return "choose another device with --device or GSTRIDE_DEVICE";
    case GSTRIDE_ERROR_DEVICE_LOST:
        return "try again; if it stays, the system's log may tell what the driver met";
    case GSTRIDE_ERROR_LAUNCH_SPEC:
    case GSTRIDE_ERROR_LAUNCH_SHAPE:
        return "'gstride plan' shows which shapes a device takes; see 'gstride help plan'";
    case GSTRIDE_ERROR_OUT_OF_DEVICE_MEMORY:
        return "end other programs that use the device, or choose another device";
    case GSTRIDE_ERROR_BUILD:
        return "please report it with this output and that of 'gstride devices'";
    case GSTRIDE_ERROR_SELFTEST:
        return "do not trust this device: update its driver or choose another, and please report "
               "it with the output of 'gstride devices'";
    default:
        return NULL;
    }
}

enum tool_exit tool_fail(const struct tool_command *command)
{
    const gstride_error *error = gstride_last_error();
    begin_message(command);
    fprintf(stderr, "%s\n  status: %s, %s\n", error->message, gstride_status_name(error->status),
            gstride_status_text(error->status));
    if (error->cl_code)
        fprintf(stderr, "  OpenCL: %s (%d), %s\n", error->cl_name, error->cl_code,
                meaning_of_cl(error->cl_name));
    const char *hint = hint_for(error->status);
    if (hint)
        fprintf(stderr, "  hint: %s\n", hint);
    if (error->build_log[0])
        fprintf(stderr, "  compiler's log:\n%s\n", error->build_log);
    return TOOL_FAILED;
}

static bool progress_shown;

void tool_progress(const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    tool_progress_end();
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fflush(stderr);
    progress_shown = true;
}

void tool_progress_end(void)
{
    static const char erase_line[] = "\r\033[K";
    if (progress_shown)
        fputs(erase_line, stderr);
    progress_shown = false;
}

void tool_print_wrapped(size_t indent, const char *text)
{
    static const char blanks[] = " \n";
    size_t column = indent;
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        size_t length = strcspn(text, blanks);
        if (column > indent && column + 1 + length > RIGHT_MARGIN) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            ++column;
        }
        printf("%.*s", (int)length, text);
        column += length;
        text += length;
    }
    putchar('\n');
}

const char *tool_format_bytes(uint64_t bytes, char text[TOOL_BYTES_LENGTH])
{
    static const char suffixes[] = "KMGTPE";
    enum { STEP = 1024 };
    if (bytes < STEP) {
        snprintf(text, TOOL_BYTES_LENGTH, "%" PRIu64, bytes);
        return text;
    }
    double value = (double)bytes / STEP;
    const char *suffix = suffixes;
    for (; value >= STEP && suffix[1]; ++suffix)
        value /= STEP;
    bool whole = value == (double)(uint64_t)value;
    snprintf(text, TOOL_BYTES_LENGTH, "%.*f%c", whole ? 0 : 1, value, *suffix);
    return text;
}

void tool_json_u64(cJSON *object, const char *name, uint64_t value)
{
    char digits[TOOL_BYTES_LENGTH];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    cJSON_AddRawToObject(object, name, digits);
}

cJSON *tool_json_error(void)
{
    const gstride_error *error = gstride_last_error();
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "status", gstride_status_name(error->status));
    cJSON_AddStringToObject(object, "message", error->message);
    if (error->cl_code) {
        cJSON_AddStringToObject(object, "cl_name", error->cl_name);
        cJSON_AddNumberToObject(object, "cl_code", error->cl_code);
    }
    return object;
}

enum tool_exit tool_json_print(const struct tool_command *command, cJSON *document)
{
    char *text = cJSON_Print(document);
    cJSON_Delete(document);
    if (!text)
        return tool_fail_with(command, "out of memory");
    puts(text);
    cJSON_free(text);
    return TOOL_OK;
}
