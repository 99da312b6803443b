/* SPDX-License-Identifier: MIT */
/* disk_cache.c - one file per program: a checksummed header, then the driver's binary.
 *
 * The driver never sees a byte that was not verified: damaged binaries crash several of them. The
 * directory must belong to the user and be closed to others, since a binary is code. */
#include "program/disk_cache.h"

#include "base/env.h"
#include "base/log.h"
#include "program/program.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FORMAT = 1,
    PATH_BYTES = 1024,
    NAME_LENGTH = 32 + 4, /* hex digits and ".gsp" */
    DEFAULT_LIMIT_MIB = 256,
    STALE_TEMPORARY_S = 3600
};
static const uint64_t largest_payload = 256u << 20;
static const char suffix[] = ".gsp", temporary_mark[] = ".tmp-";

struct header {
    char magic[8];
    uint64_t format;
    struct gsi_disk_key key;
    uint64_t length;
    uint64_t payload_low, payload_high;
    uint64_t header_hash; /* of all fields above */
};

static const char magic[8] = {'g', 's', 't', 'r', 'i', 'd', 'e', '\n'};

struct gsi_disk_key gsi_disk_key(const char *bytes, size_t length)
{
    XXH128_hash_t hash = XXH3_128bits(bytes, length);
    return (struct gsi_disk_key){.low = hash.low64, .high = hash.high64};
}

static uint64_t header_hash(const struct header *header)
{
    return XXH3_64bits(header, offsetof(struct header, header_hash));
}

static struct header make_header(struct gsi_disk_key key, const unsigned char *payload,
                                 size_t length)
{
    XXH128_hash_t hash = XXH3_128bits(payload, length);
    struct header header = {.format = FORMAT,
                            .key = key,
                            .length = length,
                            .payload_low = hash.low64,
                            .payload_high = hash.high64};
    memcpy(header.magic, magic, sizeof magic);
    header.header_hash = header_hash(&header);
    return header;
}

/* Choose the directory's path. On failure *why says why there is none. */
static bool choose_path(char *path, const char **why)
{
    const char *directory = gsi_env(GSI_ENV_CACHE_DIR);
    const char *xdg = gsi_env(GSI_ENV_XDG_CACHE_HOME);
    const char *home = gsi_env(GSI_ENV_HOME);
    int length;
    if (directory)
        length = snprintf(path, PATH_BYTES, "%s", directory);
    else if (xdg && xdg[0] == '/')
        length = snprintf(path, PATH_BYTES, "%s/gstride", xdg);
    else if (home && home[0] == '/')
        length = snprintf(path, PATH_BYTES, "%s/.cache/gstride", home);
    else {
        *why = "neither GSTRIDE_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a directory";
        return false;
    }
    if (length < 0 || length >= PATH_BYTES - 2 * NAME_LENGTH) {
        *why = "the path is too long";
        return false;
    }
    return true;
}

static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700); /* that it may exist already is fine; the last mkdir tells the rest */
        *slash = '/';
    }
}

/* Open the directory, making it if it is to be written to. -1 with *why if it cannot be trusted. */
static int open_directory(char *path, bool make, const char **why)
{
    const char *mode = gsi_env(GSI_ENV_CACHE);
    if (mode && strcmp(mode, "off") == 0) {
        *why = "GSTRIDE_CACHE=off";
        return -1;
    }
    if (!choose_path(path, why))
        return -1;
    if (make) {
        make_parents(path);
        mkdir(path, 0700);
    }
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat about;
    if (directory < 0 || fstat(directory, &about) != 0) {
        *why = errno == ENOENT ? "the directory does not exist yet" : strerror(errno);
    } else if (about.st_uid != geteuid()) {
        *why = "the directory belongs to another user";
    } else if (about.st_mode & (S_IWGRP | S_IWOTH)) {
        *why = "others may write to the directory";
    } else {
        return directory;
    }
    if (directory >= 0)
        close(directory);
    return -1;
}

bool gsi_disk_cache_enabled(const gstride_device_info *info)
{
    const char *mode = gsi_env(GSI_ENV_CACHE);
    if (mode && strcmp(mode, "off") == 0)
        return false;
    return !info->driver_caches_programs || (mode && strcmp(mode, "on") == 0);
}

static void entry_name(struct gsi_disk_key key, char *name)
{
    snprintf(name, NAME_LENGTH + 1, "%016llx%016llx%s", (unsigned long long)key.high,
             (unsigned long long)key.low, suffix);
}

static bool read_all(int file, void *bytes, size_t length)
{
    for (char *at = bytes; length > 0;) {
        ssize_t got = read(file, at, length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        length -= (size_t)got;
    }
    return true;
}

static bool write_all(int file, const void *bytes, size_t length)
{
    for (const char *at = bytes; length > 0;) {
        ssize_t put = write(file, at, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        length -= (size_t)put;
    }
    return true;
}

static bool header_is_good(const struct header *header, struct gsi_disk_key key, off_t size)
{
    return memcmp(header->magic, magic, sizeof magic) == 0 && header->format == FORMAT &&
           header->key.low == key.low && header->key.high == key.high && header->length > 0 &&
           header->length <= largest_payload && header->header_hash == header_hash(header) &&
           (uint64_t)size == header->length + sizeof *header;
}

static bool file_can_be_trusted(const struct stat *about)
{
    return S_ISREG(about->st_mode) && about->st_uid == geteuid() &&
           !(about->st_mode & (S_IWGRP | S_IWOTH));
}

static unsigned char *read_entry(int file, struct gsi_disk_key key, size_t *length)
{
    struct stat about;
    struct header header;
    if (fstat(file, &about) != 0 || !file_can_be_trusted(&about) ||
        !read_all(file, &header, sizeof header) || !header_is_good(&header, key, about.st_size))
        return NULL;
    unsigned char *payload = malloc(header.length);
    if (!payload)
        return NULL;
    if (read_all(file, payload, header.length)) {
        XXH128_hash_t hash = XXH3_128bits(payload, header.length);
        if (hash.low64 == header.payload_low && hash.high64 == header.payload_high) {
            *length = header.length;
            return payload;
        }
    }
    free(payload);
    return NULL;
}

unsigned char *gsi_disk_cache_load(struct gsi_disk_key key, size_t *length)
{
    char path[PATH_BYTES], name[NAME_LENGTH + 1];
    const char *why = "";
    unsigned char *payload = NULL;
    int directory = open_directory(path, false, &why);
    if (directory >= 0) {
        entry_name(key, name);
        /* O_NONBLOCK: a pipe put in an entry's place must not make us wait. */
        int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file >= 0) {
            payload = read_entry(file, key, length);
            if (payload)
                futimens(file, NULL); /* the oldest entries go first */
            else
                gsi_cache_count(GSI_COUNT_DISK_REJECTS, 1);
            close(file);
        } else if (errno != ENOENT) {
            gsi_cache_count(GSI_COUNT_DISK_REJECTS, 1);
        }
        close(directory);
    }
    gsi_cache_count(payload ? GSI_COUNT_DISK_HITS : GSI_COUNT_DISK_MISSES, 1);
    return payload;
}

struct found_entry {
    char name[NAME_LENGTH + 1];
    uint64_t bytes;
    struct timespec used;
};

struct found {
    struct found_entry *entries;
    size_t count, capacity;
    uint64_t bytes;
};

static bool starts_with_entry_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == NAME_LENGTH - strlen(suffix) &&
           strncmp(name + NAME_LENGTH - strlen(suffix), suffix, strlen(suffix)) == 0;
}

static bool is_entry_name(const char *name)
{
    return starts_with_entry_name(name) && name[NAME_LENGTH] == '\0';
}

static bool is_temporary_name(const char *name)
{
    return starts_with_entry_name(name) &&
           strncmp(name + NAME_LENGTH, temporary_mark, strlen(temporary_mark)) == 0;
}

static bool found_add(struct found *found, const char *name, const struct stat *about)
{
    if (found->count == found->capacity) {
        size_t capacity = found->capacity ? 2 * found->capacity : 64;
        struct found_entry *entries = realloc(found->entries, capacity * sizeof *entries);
        if (!entries)
            return false;
        found->entries = entries;
        found->capacity = capacity;
    }
    struct found_entry *entry = &found->entries[found->count++];
    memcpy(entry->name, name, NAME_LENGTH + 1);
    entry->bytes = (uint64_t)about->st_size;
    entry->used = about->st_mtim;
    found->bytes += entry->bytes;
    return true;
}

/* Collect the entries, and sweep temporary files that a dead process left. */
static struct found list_entries(int directory)
{
    struct found found = {0};
    int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *open = again >= 0 ? fdopendir(again) : NULL;
    if (!open) {
        if (again >= 0)
            close(again);
        return found;
    }
    time_t now = time(NULL);
    for (struct dirent *item; (item = readdir(open)) != NULL;) {
        struct stat about;
        if (fstatat(directory, item->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (is_entry_name(item->d_name)) {
            if (!found_add(&found, item->d_name, &about))
                break;
        } else if (is_temporary_name(item->d_name) && S_ISREG(about.st_mode) &&
                   now - about.st_mtime > STALE_TEMPORARY_S) {
            unlinkat(directory, item->d_name, 0);
        }
    }
    closedir(open);
    return found;
}

static int older_first(const void *a, const void *b)
{
    const struct found_entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* GSTRIDE_CACHE_LIMIT in bytes; the default if it is not a positive number. */
static uint64_t limit_bytes(void)
{
    static const uint64_t most_mib = UINT64_MAX >> 20;
    const char *text = gsi_env(GSI_ENV_CACHE_LIMIT);
    uint64_t mib = DEFAULT_LIMIT_MIB;
    if (text && text[strspn(text, "0123456789")] == '\0')
        mib = strtoull(text, NULL, 10);
    if (mib == 0)
        mib = DEFAULT_LIMIT_MIB;
    return (mib < most_mib ? mib : most_mib) << 20;
}

static void keep_within_limit(int directory)
{
    struct found found = list_entries(directory);
    uint64_t limit = limit_bytes();
    if (found.bytes > limit) {
        qsort(found.entries, found.count, sizeof *found.entries, older_first);
        for (size_t i = 0; i < found.count && found.bytes > limit; ++i) {
            unlinkat(directory, found.entries[i].name, 0);
            found.bytes -= found.entries[i].bytes;
        }
    }
    free(found.entries);
}

void gsi_disk_cache_store(struct gsi_disk_key key, const unsigned char *payload, size_t length)
{
    static atomic_uint serial;
    char path[PATH_BYTES], name[NAME_LENGTH + 1], temporary[2 * NAME_LENGTH];
    const char *why = "";
    int directory = length <= largest_payload ? open_directory(path, true, &why) : -1;
    if (directory < 0) {
        gsi_log(GSI_LOG_INFO, "program not cached: %s", why);
        return;
    }
    entry_name(key, name);
    snprintf(temporary, sizeof temporary, "%s%s%ld-%u", name, temporary_mark, (long)getpid(),
             atomic_fetch_add(&serial, 1));
    int file = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
        struct header header = make_header(key, payload, length);
        bool good = write_all(file, &header, sizeof header) && write_all(file, payload, length) &&
                    fsync(file) == 0;
        good = close(file) == 0 && good;
        good = good && renameat(directory, temporary, directory, name) == 0;
        if (good)
            gsi_cache_count(GSI_COUNT_DISK_WRITES, 1);
        else
            unlinkat(directory, temporary, 0);
        keep_within_limit(directory);
    }
    close(directory);
}

void gsi_disk_cache_forget(struct gsi_disk_key key)
{
    char path[PATH_BYTES], name[NAME_LENGTH + 1];
    const char *why;
    int directory = open_directory(path, false, &why);
    if (directory < 0)
        return;
    entry_name(key, name);
    unlinkat(directory, name, 0);
    close(directory);
    gsi_cache_count(GSI_COUNT_DISK_REJECTS, 1);
}

gstride_status gstride_cache_get_info(gstride_cache_info *info)
{
    if (!info)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_cache_get_info: info is NULL");
    *info = (gstride_cache_info){.limit_bytes = limit_bytes()};
    char path[PATH_BYTES];
    const char *why = "";
    int directory = open_directory(path, false, &why);
    if (directory < 0) {
        snprintf(info->why_off, sizeof info->why_off, "%s", why);
        return GSTRIDE_OK;
    }
    snprintf(info->directory, sizeof info->directory, "%s", path);
    struct found found = list_entries(directory);
    info->entries = found.count;
    info->bytes = found.bytes;
    free(found.entries);
    close(directory);
    return GSTRIDE_OK;
}

gstride_status gstride_cache_clear(uint64_t *removed)
{
    char path[PATH_BYTES];
    const char *why = "";
    uint64_t count = 0;
    int directory = open_directory(path, false, &why);
    if (directory >= 0) {
        struct found found = list_entries(directory);
        for (size_t i = 0; i < found.count; ++i)
            count += unlinkat(directory, found.entries[i].name, 0) == 0;
        free(found.entries);
        close(directory);
    }
    if (removed)
        *removed = count;
    return GSTRIDE_OK;
}
