/* SPDX-License-Identifier: MIT */
/* disk_cache.h - program binaries in files. Anything wrong is a miss, never an error. */
#ifndef GSI_DISK_CACHE_H
#define GSI_DISK_CACHE_H

#include "base/strbuf.h"

#include <gstride/cache.h>
#include <stdint.h>

/* Name of an entry: a hash of everything the binary depends on. */
struct gsi_disk_key {
    uint64_t low, high;
};

struct gsi_disk_key gsi_disk_key(const char *bytes, size_t length);

/* Is the disk cache in use on this device? */
bool gsi_disk_cache_enabled(const gstride_device_info *info);

/* A verified payload that the caller frees, or NULL. */
unsigned char *gsi_disk_cache_load(struct gsi_disk_key key, size_t *length);

void gsi_disk_cache_store(struct gsi_disk_key key, const unsigned char *payload, size_t length);

/* Remove an entry whose payload the driver refused. */
void gsi_disk_cache_forget(struct gsi_disk_key key);

#endif
