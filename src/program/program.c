/* SPDX-License-Identifier: MIT */
/* program.c - building programs, and keeping them: memory first, then disk, then the compiler. */
#include "program/program.h"

#include "base/log.h"
#include "device/device_list.h"
#include "program/disk_cache.h"
#include "program/sources.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Atomic uint64_t counters[GSI_NUM_COUNTERS];

void gsi_cache_count(enum gsi_cache_counter counter, uint64_t amount)
{
    atomic_fetch_add_explicit(&counters[counter], amount, memory_order_relaxed);
}

gstride_cache_stats gstride_cache_get_stats(void)
{
    return (gstride_cache_stats){
        .memory_hits = counters[GSI_COUNT_MEMORY_HITS],
        .disk_hits = counters[GSI_COUNT_DISK_HITS],
        .disk_misses = counters[GSI_COUNT_DISK_MISSES],
        .disk_rejects = counters[GSI_COUNT_DISK_REJECTS],
        .disk_writes = counters[GSI_COUNT_DISK_WRITES],
        .source_builds = counters[GSI_COUNT_SOURCE_BUILDS],
        .build_ns = counters[GSI_COUNT_BUILD_NS],
    };
}

struct gsi_key gsi_make_key(const char *bytes, size_t length)
{
    return (struct gsi_key){bytes, length, XXH3_64bits(bytes, length)};
}

bool gsi_key_equal(const struct gsi_key *a, const struct gsi_key *b)
{
    return a->hash == b->hash && a->length == b->length &&
           memcmp(a->bytes, b->bytes, a->length) == 0;
}

struct gsi_program_entry {
    struct gsi_program_entry *next;
    struct gsi_key key;
    cl_program program;
};

enum { FIRST_BUCKETS = 64 };
#define CORRECTLY_ROUNDED_DIVIDE (1u << 7) /* CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT */

gstride_status gsi_programs_init(struct gsi_programs *programs, cl_context context, cl_device_id id,
                                 const gstride_device_info *info)
{
    *programs = (struct gsi_programs){.context = context, .id = id, .info = info};
    programs->buckets = calloc(FIRST_BUCKETS, sizeof *programs->buckets);
    if (!programs->buckets)
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "no memory for the program table");
    programs->num_buckets = FIRST_BUCKETS;
    pthread_mutex_init(&programs->lock, NULL);
    cl_device_fp_config single = 0;
    if (clGetDeviceInfo(id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof single, &single, NULL) != CL_SUCCESS)
        single = 0;
    snprintf(programs->options, sizeof programs->options,
             "-cl-std=CL1.2 -cl-kernel-arg-info -w%s%s",
             single & CORRECTLY_ROUNDED_DIVIDE ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
             gsi_platform_build_options(info));
    return GSTRIDE_OK;
}

void gsi_programs_destroy(struct gsi_programs *programs)
{
    if (!programs->buckets)
        return;
    for (size_t i = 0; i < programs->num_buckets; ++i) {
        for (struct gsi_program_entry *entry = programs->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            clReleaseProgram(entry->program);
            free(entry);
        }
    }
    free(programs->buckets);
    pthread_mutex_destroy(&programs->lock);
    *programs = (struct gsi_programs){0};
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Line and column behind the first "NAME:" in a log, as clang-based compilers print them. */
static bool find_position(const char *log, const char *name, unsigned *line, unsigned *column)
{
    for (const char *at = strstr(log, name); at; at = strstr(at + 1, name))
        if (sscanf(at + strlen(name), ":%u:%u", line, column) == 2)
            return true;
    return false;
}

/* The first line of the log that calls a place in the program an error. */
static bool find_error(const char *log, unsigned *line, unsigned *column)
{
    while (*log) {
        int read = 0;
        if (sscanf(log, "%*[^:\n]:%u:%u: error%n", line, column, &read) == 2 && read > 0)
            return true;
        log += strcspn(log, "\n");
        log += *log == '\n';
    }
    return false;
}

/* Some compilers ignore #line and count the lines of the whole program. Does the first error lie
 * behind a mark of this name? Then *line becomes the line of the user's text. */
static bool find_marked_position(const char *log, const char *source, const char *name,
                                 unsigned *line, unsigned *column)
{
    unsigned error_line, mark_line = 0;
    if (!find_error(log, &error_line, column))
        return false;
    bool marked = false;
    for (unsigned at = 1; at < error_line && *source; ++at) {
        static const char mark[] = "#line 1 \"";
        if (strncmp(source, mark, sizeof mark - 1) == 0) {
            marked = strncmp(source + sizeof mark - 1, name, strlen(name)) == 0;
            mark_line = at;
        }
        source += strcspn(source, "\n");
        source += *source == '\n';
    }
    if (marked)
        *line = error_line - mark_line;
    return marked;
}

/* Is an error in the user's text of this name, and where? */
static bool find_in_user_text(const char *log, const char *source, const char *name, unsigned *line,
                              unsigned *column)
{
    return find_position(log, name, line, column) ||
           find_marked_position(log, source, name, line, column);
}

static char *fetch_log(const struct gsi_programs *programs, cl_program program)
{
    size_t bytes = 0;
    if (clGetProgramBuildInfo(program, programs->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) !=
        CL_SUCCESS)
        bytes = 0;
    char *log = calloc(1, bytes + 1);
    if (log && bytes &&
        clGetProgramBuildInfo(program, programs->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL) !=
            CL_SUCCESS)
        log[0] = '\0';
    return log;
}

/* Does a log name none of the library's files? Linkers complain of undefined functions that way. */
static bool blames_nobody(const char *log)
{
    for (size_t i = 0; i < gsi_num_source_files; ++i)
        if (strstr(log, gsi_source_files[i].name))
            return false;
    return true;
}

static gstride_status fail_build(const struct gsi_programs *programs, cl_program program,
                                 cl_int code, const char *source, const char *options)
{
    char *log = program ? fetch_log(programs, program) : NULL;
    const char *text = log ? log : "";
    unsigned line = 0, column = 0;
    bool in_expression = find_in_user_text(text, source, GSI_EXPRESSION_FILE, &line, &column);
    bool in_user_text =
        in_expression || find_in_user_text(text, source, GSI_PREAMBLE_FILE, &line, &column);
    if (!in_user_text)
        line = column = 0;
    gstride_status status;
    if (!in_user_text && blames_nobody(text) && strstr(source, GSI_EXPRESSION_FILE))
        status =
            gsi_fail(GSTRIDE_ERROR_EXPRESSION,
                     "a program with the expression does not compile on %s, which does not tell "
                     "where; see build_log",
                     programs->info->name);
    else if (in_user_text)
        status =
            gsi_fail(GSTRIDE_ERROR_EXPRESSION,
                     "the %s does not compile on %s (line %u, column %u); see build_log",
                     in_expression ? "expression" : "preamble", programs->info->name, line, column);
    else
        status = gsi_fail(GSTRIDE_ERROR_BUILD,
                          "%s (%s, driver %s) refuses a program: %s (%d), "
                          "options \"%s\"; see build_log",
                          programs->info->name, programs->info->platform,
                          programs->info->driver_version, gsi_cl_code_name(code), code, options);
    gsi_error_set_log(text, line, column);
    gsi_log(GSI_LOG_INFO, "build log: %s", text);
    free(log);
    return status;
}

/* A source that includes files depends on more than its text. */
static bool includes_files(const char *text, const char *options)
{
    return strstr(text, "include") || strstr(text, "import") || strstr(options, "-include");
}

/* Hash the bytes that a binary depends on: library, source, options, platform, device, driver.
 * False if there is no memory for them. */
static bool make_disk_key(const struct gsi_programs *programs, const char *text,
                          const char *options, struct gsi_disk_key *key)
{
    struct gsi_strbuf bytes = {0};
    const gstride_device_info *info = programs->info;
    gsi_strbuf_printf(&bytes, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n", GSTRIDE_VERSION, info->platform,
                      info->platform_version, info->vendor, info->name, info->device_version,
                      info->driver_version, options);
    gsi_strbuf_puts(&bytes, text);
    bool made = bytes.text != NULL;
    if (made)
        *key = gsi_disk_key(bytes.text, bytes.length);
    gsi_strbuf_free(&bytes);
    return made;
}

static cl_program load_from_disk(const struct gsi_programs *programs, struct gsi_disk_key key,
                                 const char *options)
{
    size_t length;
    unsigned char *payload = gsi_disk_cache_load(key, &length);
    if (!payload)
        return NULL;
    cl_int loaded = CL_SUCCESS, code = CL_SUCCESS;
    const unsigned char *binary = payload;
    cl_program program = clCreateProgramWithBinary(programs->context, 1, &programs->id, &length,
                                                   &binary, &loaded, &code);
    if (code == CL_SUCCESS && loaded == CL_SUCCESS)
        code = clBuildProgram(program, 1, &programs->id, options, NULL, NULL);
    free(payload);
    if (code == CL_SUCCESS && loaded == CL_SUCCESS)
        return program;
    if (program)
        clReleaseProgram(program);
    gsi_disk_cache_forget(key);
    return NULL;
}

/* In a context of several devices the driver gives one binary per device, most of them empty. */
static void store_on_disk(const struct gsi_programs *programs, struct gsi_disk_key key,
                          cl_program program)
{
    enum { MOST_DEVICES = 64 };
    cl_device_id ids[MOST_DEVICES];
    size_t sizes[MOST_DEVICES] = {0}, used = 0;
    unsigned char *binaries[MOST_DEVICES] = {0};
    if (clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof ids, ids, &used) != CL_SUCCESS)
        return;
    size_t count = used / sizeof ids[0];
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL) != CL_SUCCESS)
        return;
    for (size_t i = 0; i < count; ++i) {
        if (ids[i] == programs->id && sizes[i] > 0) {
            binaries[i] = malloc(sizes[i]);
            if (binaries[i] &&
                clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof binaries[0], binaries,
                                 NULL) == CL_SUCCESS)
                gsi_disk_cache_store(key, binaries[i], sizes[i]);
            free(binaries[i]);
            return;
        }
    }
}

static gstride_status build_from_source(const struct gsi_programs *programs, const char *text,
                                        const char *options, cl_program *out)
{
    cl_int code;
    uint64_t start = now_ns();
    cl_program program = clCreateProgramWithSource(programs->context, 1, &text, NULL, &code);
    if (code != CL_SUCCESS)
        return gsi_fail_cl(code, "clCreateProgramWithSource", "device %s", programs->info->name);
    code = clBuildProgram(program, 1, &programs->id, options, NULL, NULL);
    gsi_cache_count(GSI_COUNT_SOURCE_BUILDS, 1);
    gsi_cache_count(GSI_COUNT_BUILD_NS, now_ns() - start);
    if (code != CL_SUCCESS) {
        gstride_status status = fail_build(programs, program, code, text, options);
        clReleaseProgram(program);
        return status;
    }
    *out = program;
    return GSTRIDE_OK;
}

gstride_status gsi_program_build(const struct gsi_programs *programs, const char *text,
                                 const char *extra_options, cl_program *program)
{
    struct gsi_strbuf options = {0};
    gsi_strbuf_printf(&options, "%s%s%s", programs->options, extra_options ? " " : "",
                      extra_options ? extra_options : "");
    if (!options.text)
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "no memory for build options");
    struct gsi_disk_key key;
    bool on_disk = gsi_disk_cache_enabled(programs->info) && !includes_files(text, options.text) &&
                   make_disk_key(programs, text, options.text, &key);
    *program = on_disk ? load_from_disk(programs, key, options.text) : NULL;
    gstride_status status = GSTRIDE_OK;
    if (!*program) {
        status = build_from_source(programs, text, options.text, program);
        if (status == GSTRIDE_OK && on_disk)
            store_on_disk(programs, key, *program);
    }
    gsi_strbuf_free(&options);
    return status;
}

static struct gsi_program_entry *find_entry(const struct gsi_programs *programs,
                                            const struct gsi_key *key)
{
    struct gsi_program_entry *entry = programs->buckets[key->hash % programs->num_buckets];
    while (entry && !gsi_key_equal(&entry->key, key))
        entry = entry->next;
    return entry;
}

static gstride_status add_entry(struct gsi_programs *programs, const struct gsi_key *key,
                                cl_program program)
{
    struct gsi_program_entry *entry = malloc(sizeof *entry + key->length);
    if (!entry)
        return gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, "no memory for the program table");
    char *bytes = (char *)(entry + 1);
    memcpy(bytes, key->bytes, key->length);
    size_t bucket = key->hash % programs->num_buckets;
    *entry = (struct gsi_program_entry){.next = programs->buckets[bucket],
                                        .key = {bytes, key->length, key->hash},
                                        .program = program};
    programs->buckets[bucket] = entry;
    ++programs->count;
    return GSTRIDE_OK;
}

static gstride_status build_entry(struct gsi_programs *programs, const struct gsi_key *key,
                                  gsi_source_writer *write_source, const void *request,
                                  cl_program *program)
{
    struct gsi_strbuf text = {0};
    gstride_status status = write_source(&text, request);
    if (status == GSTRIDE_OK)
        status = text.text ? gsi_program_build(programs, text.text, NULL, program)
                           : gsi_fail(GSTRIDE_ERROR_OUT_OF_HOST_MEMORY,
                                      "no memory for a program's source");
    gsi_strbuf_free(&text);
    if (status == GSTRIDE_OK) {
        status = add_entry(programs, key, *program);
        if (status != GSTRIDE_OK)
            clReleaseProgram(*program);
    }
    return status;
}

gstride_status gsi_program_get(struct gsi_programs *programs, const struct gsi_key *key,
                               gsi_source_writer *write_source, const void *request,
                               cl_program *program)
{
    gstride_status status = GSTRIDE_OK;
    pthread_mutex_lock(&programs->lock);
    struct gsi_program_entry *entry = find_entry(programs, key);
    if (entry) {
        *program = entry->program;
        gsi_cache_count(GSI_COUNT_MEMORY_HITS, 1);
    } else {
        status = build_entry(programs, key, write_source, request, program);
    }
    pthread_mutex_unlock(&programs->lock);
    return status;
}
