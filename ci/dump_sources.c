/* SPDX-License-Identifier: MIT */
/* dump_sources.c - preloaded into a program, writes the text of every OpenCL program it builds to
 * GSTRIDE_DUMP_DIR, named by a hash of the text, and lets the driver go on. ci/offline uses it. */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cl_program create_function(cl_context, cl_uint, const char **, const size_t *, cl_int *);

static uint64_t fnv1a(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; ++i)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void dump(const char *directory, const char *text, size_t length)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%016" PRIx64 ".cl", directory, fnv1a(text, length));
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text, 1, length, file) != length || fclose(file) != 0) {
        perror(path);
        abort();
    }
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                     const size_t *lengths, cl_int *code)
{
    const char *directory = getenv("GSTRIDE_DUMP_DIR");
    for (cl_uint i = 0; directory && i < count; ++i)
        dump(directory, strings[i], lengths && lengths[i] ? lengths[i] : strlen(strings[i]));
    create_function *next = NULL;
    void *symbol = dlsym(RTLD_NEXT, "clCreateProgramWithSource");
    memcpy(&next, &symbol, sizeof next);
    return next(context, count, strings, lengths, code);
}
