/* SPDX-License-Identifier: MIT */
/* program.h - programs of one device: built once, kept in memory and on disk. */
#ifndef GSI_PROGRAM_H
#define GSI_PROGRAM_H

#include "base/strbuf.h"
#include "device/cl.h"

#include <gstride/cache.h>
#include <pthread.h>

struct gsi_program_entry;

/* All programs of a device. Shared by its streams; the lock guards the table. */
struct gsi_programs {
    cl_context context;
    cl_device_id id;
    const gstride_device_info *info;
    char options[256]; /* build options that every program gets */
    pthread_mutex_t lock;
    struct gsi_program_entry **buckets;
    size_t num_buckets;
    size_t count;
};

/* A specialisation: bytes that tell it from all others. */
struct gsi_key {
    const char *bytes;
    size_t length;
    uint64_t hash;
};

struct gsi_key gsi_make_key(const char *bytes, size_t length);
bool gsi_key_equal(const struct gsi_key *a, const struct gsi_key *b);

/* Check the caller's text and write the program's source; called only if the key is not known yet,
 * so that a call whose kernel exists pays for neither. */
typedef gstride_status gsi_source_writer(struct gsi_strbuf *text, const void *request);

gstride_status gsi_programs_init(struct gsi_programs *programs, cl_context context, cl_device_id id,
                                 const gstride_device_info *info);
void gsi_programs_destroy(struct gsi_programs *programs);

/* Find or build the program of a key. *program is not retained for the caller: it lives as long as
 * `programs`. Thread-safe. */
gstride_status gsi_program_get(struct gsi_programs *programs, const struct gsi_key *key,
                               gsi_source_writer *write_source, const void *request,
                               cl_program *program);

/* Compile a text, through the disk cache. The caller owns *program. */
gstride_status gsi_program_build(const struct gsi_programs *programs, const char *text,
                                 const char *extra_options, cl_program *program);

/* Counters of this process; program.c and disk_cache.c add to them. */
enum gsi_cache_counter {
    GSI_COUNT_MEMORY_HITS,
    GSI_COUNT_DISK_HITS,
    GSI_COUNT_DISK_MISSES,
    GSI_COUNT_DISK_REJECTS,
    GSI_COUNT_DISK_WRITES,
    GSI_COUNT_SOURCE_BUILDS,
    GSI_COUNT_BUILD_NS,
    GSI_NUM_COUNTERS
};
void gsi_cache_count(enum gsi_cache_counter counter, uint64_t amount);

#endif
