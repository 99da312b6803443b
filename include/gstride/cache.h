/* SPDX-License-Identifier: MIT */
/**
 * \file
 * The program cache: compiled programs in memory per device, and on disk per user.
 *
 * The disk cache lies in GSTRIDE_CACHE_DIR, else in gstride/ below XDG_CACHE_HOME or ~/.cache.
 * GSTRIDE_CACHE=off touches no file; =on uses it even where the driver keeps a cache of its own
 * (then the default is not to). An entry that is damaged, foreign, stale or unreadable is a miss.
 */
#ifndef GSTRIDE_CACHE_H
#define GSTRIDE_CACHE_H

#include <gstride/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What happened in this process since it started. \since 0.1 */
typedef struct gstride_cache_stats {
    uint64_t memory_hits;   /**< programs found in memory */
    uint64_t disk_hits;     /**< programs loaded from disk */
    uint64_t disk_misses;   /**< programs looked for on disk and not found or not usable */
    uint64_t disk_rejects;  /**< of these: entries that were there and were refused */
    uint64_t disk_writes;   /**< programs stored */
    uint64_t source_builds; /**< programs compiled from source */
    uint64_t build_ns;      /**< time spent compiling from source */
} gstride_cache_stats;
GSTRIDE_API gstride_cache_stats gstride_cache_get_stats(void);

/** The disk cache as it is now. \since 0.1 */
typedef struct gstride_cache_info {
    char directory[1024]; /**< "" if the cache is off or has no place */
    char why_off[160];    /**< why directory is "" */
    uint64_t entries;
    uint64_t bytes;
    uint64_t limit_bytes; /**< the oldest entries go when this is passed */
} gstride_cache_info;
GSTRIDE_API gstride_status gstride_cache_get_info(gstride_cache_info *info);

/** Delete every entry; *removed (if not NULL) receives how many. \since 0.1 */
GSTRIDE_API gstride_status gstride_cache_clear(uint64_t *removed);

#ifdef __cplusplus
}
#endif
#endif
