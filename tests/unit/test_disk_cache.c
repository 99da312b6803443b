/* SPDX-License-Identifier: MIT */
/* The disk cache under attack. Every test runs in a fresh directory below TMPDIR. */
#include "rows.h"

#include "program/disk_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ROOT_BYTES = 256,
    PATH_BYTES = 512,
    FILE_BYTES = 1024,
    LONGER_BYTES = 2048,
    HEADER_BYTES = 64, /* magic, format, key (2), length, payload hash (2), header hash */
    PAYLOAD_BYTES = 300,
    NOBODY = 65534,
    ALARM_S = 100 /* ends a test that waits for ever */
};

static char root[ROOT_BYTES];  /* of this test */
static char cache[PATH_BYTES]; /* GSTRIDE_CACHE_DIR of most tests */
static const struct gsi_disk_key key = {.low = 0x0123456789abcdef, .high = 0xfedcba9876543210};
static unsigned char payload[PAYLOAD_BYTES];

/* Directories */

static void remove_tree(const char *path)
{
    DIR *directory = opendir(path);
    if (directory) {
        for (struct dirent *item; (item = readdir(directory)) != NULL;) {
            if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
                continue;
            char child[FILE_BYTES];
            snprintf(child, sizeof child, "%s/%s", path, item->d_name);
            struct stat about;
            if (lstat(child, &about) == 0 && S_ISDIR(about.st_mode))
                remove_tree(child);
            else
                unlink(child);
        }
        closedir(directory);
    }
    rmdir(path);
}

static const char *in_root(const char *name)
{
    static char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static size_t count_files(const char *path)
{
    size_t count = 0;
    DIR *directory = opendir(path);
    if (!directory)
        return 0;
    for (struct dirent *item; (item = readdir(directory)) != NULL;)
        count += item->d_name[0] != '.';
    closedir(directory);
    return count;
}

static void entry_path_of(struct gsi_disk_key of, char *path, size_t bytes)
{
    int used = snprintf(path, bytes, "%s/%016llx%016llx.gsp", cache, (unsigned long long)of.high,
                        (unsigned long long)of.low);
    assert_in_range(used, 1, bytes - 1);
}

static const char *entry_path(void)
{
    static char path[FILE_BYTES];
    entry_path_of(key, path, sizeof path);
    return path;
}

static void use_directory(const char *path)
{
    snprintf(cache, sizeof cache, "%s", path);
    setenv("GSTRIDE_CACHE_DIR", cache, 1);
}

static int set_up(void **state)
{
    (void)state;
    const char *temporary = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/gstride-test-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(root) || chdir(root) != 0)
        return -1;
    unsetenv("GSTRIDE_CACHE");
    unsetenv("GSTRIDE_CACHE_LIMIT");
    unsetenv("GSTRIDE_LOG");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", root, 1);
    use_directory(in_root("cache"));
    for (size_t i = 0; i < sizeof payload; ++i)
        payload[i] = (unsigned char)(i * 7 + 3);
    alarm(ALARM_S);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    alarm(0);
    remove_tree(root);
    return chdir("/");
}

/* Files */

static size_t read_file(const char *path, unsigned char *bytes, size_t most)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, most, file);
    fclose(file);
    return length;
}

static void write_file(const char *path, const void *bytes, size_t length)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    if (length)
        assert_int_equal(write(file, bytes, length), length);
    assert_int_equal(close(file), 0);
}

static void set_age(const char *path, time_t seconds, long nanoseconds)
{
    struct timespec when = {.tv_sec = time(NULL) - seconds, .tv_nsec = nanoseconds};
    const struct timespec times[2] = {when, when};
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static bool exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

static unsigned mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(lstat(path, &about), 0);
    return about.st_mode & 07777;
}

/* Loads */

static void store(void)
{
    gsi_disk_cache_store(key, payload, sizeof payload);
}

/* What a load did to the counters. */
struct counted {
    uint64_t hits, misses, rejects;
};

static bool load_of(struct gsi_disk_key of, const void *expected, size_t expected_length,
                    struct counted *counted)
{
    gstride_cache_stats before = gstride_cache_get_stats();
    size_t length = 0;
    unsigned char *bytes = gsi_disk_cache_load(of, &length);
    gstride_cache_stats after = gstride_cache_get_stats();
    *counted =
        (struct counted){after.disk_hits - before.disk_hits, after.disk_misses - before.disk_misses,
                         after.disk_rejects - before.disk_rejects};
    if (bytes) { /* whatever is loaded is what was stored */
        assert_int_equal(length, expected_length);
        assert_memory_equal(bytes, expected, length);
    }
    free(bytes);
    return bytes != NULL;
}

static void expect_hit(void)
{
    struct counted counted;
    assert_true(load_of(key, payload, sizeof payload, &counted));
    assert_int_equal(counted.hits, 1);
    assert_int_equal(counted.misses, 0);
    assert_int_equal(counted.rejects, 0);
}

static void expect_miss(uint64_t rejects)
{
    struct counted counted;
    assert_false(load_of(key, payload, sizeof payload, &counted));
    assert_int_equal(counted.hits, 0);
    assert_int_equal(counted.misses, 1);
    assert_int_equal(counted.rejects, rejects);
}

/* A refused entry must not stay in the way: storing again repairs it. */
static void expect_reject_and_repair(void)
{
    expect_miss(1);
    store();
    expect_hit();
}

/* Round trips */

static void round_trip(void **state)
{
    (void)state;
    expect_miss(0);
    gstride_cache_stats before = gstride_cache_get_stats();
    store();
    assert_int_equal(gstride_cache_get_stats().disk_writes, before.disk_writes + 1);
    expect_hit();
    expect_hit();
    assert_int_equal(count_files(cache), 1); /* no temporary file stays */
}

static void round_trip_of_lengths(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 63, 64, 4095, 4096, 4097, 1 << 20, (3 << 20) + 1};
    for (size_t i = 0; i < COUNT(lengths); ++i) {
        unsigned char *bytes = malloc(lengths[i]);
        assert_non_null(bytes);
        for (size_t k = 0; k < lengths[i]; ++k)
            bytes[k] = (unsigned char)(k ^ (k >> 8) ^ i);
        struct gsi_disk_key of = gsi_disk_key((const char *)&lengths[i], sizeof lengths[i]);
        struct counted counted;
        gsi_disk_cache_store(of, bytes, lengths[i]);
        assert_true(load_of(of, bytes, lengths[i], &counted));
        free(bytes);
    }
}

static void keys_differ(void **state)
{
    (void)state;
    struct gsi_disk_key a = gsi_disk_key("abc", 3), b = gsi_disk_key("abd", 3),
                        c = gsi_disk_key("abc\0", 4), again = gsi_disk_key("abc", 3);
    assert_memory_equal(&a, &again, sizeof a);
    assert_memory_not_equal(&a, &b, sizeof a);
    assert_memory_not_equal(&a, &c, sizeof a);
}

static void entry_of_another_key_is_refused(void **state)
{
    (void)state;
    store();
    const struct gsi_disk_key others[] = {{key.low ^ 1, key.high}, {key.low, key.high ^ 1}};
    for (size_t i = 0; i < COUNT(others); ++i) {
        char other[FILE_BYTES];
        entry_path_of(others[i], other, sizeof other);
        assert_int_equal(link(entry_path(), other), 0);
        struct counted counted;
        assert_false(load_of(others[i], payload, sizeof payload, &counted));
        assert_int_equal(counted.rejects, 1);
    }
    expect_hit();
}

static void newer_payload_replaces(void **state)
{
    (void)state;
    static const unsigned char first[] = "an older one";
    gsi_disk_cache_store(key, first, sizeof first);
    store();
    expect_hit();
}

static void forget_removes(void **state)
{
    (void)state;
    store();
    gstride_cache_stats before = gstride_cache_get_stats();
    gsi_disk_cache_forget(key);
    assert_int_equal(gstride_cache_get_stats().disk_rejects, before.disk_rejects + 1);
    assert_false(exists(entry_path()));
    expect_miss(0);
}

/* Damage */

static void damaged(const unsigned char *bytes, size_t length)
{
    write_file(entry_path(), bytes, length);
    expect_miss(1);
}

static void truncated_entries(void **state)
{
    (void)state;
    unsigned char good[HEADER_BYTES + PAYLOAD_BYTES + 1];
    store();
    assert_int_equal(read_file(entry_path(), good, sizeof good), sizeof good - 1);
    for (size_t length = 0; length < sizeof good - 1; ++length)
        damaged(good, length);
    expect_reject_and_repair();
}

static void grown_entries(void **state)
{
    (void)state;
    unsigned char good[HEADER_BYTES + PAYLOAD_BYTES + 1];
    store();
    assert_int_equal(read_file(entry_path(), good, sizeof good), sizeof good - 1);
    good[sizeof good - 1] = 0;
    damaged(good, sizeof good);
    expect_reject_and_repair();
}

static void flipped_bits(void **state)
{
    (void)state;
    unsigned char good[HEADER_BYTES + PAYLOAD_BYTES];
    store();
    assert_int_equal(read_file(entry_path(), good, sizeof good), sizeof good);
    for (size_t i = 0; i < sizeof good; ++i) {
        for (int bit = 0; bit < 8; ++bit) {
            good[i] ^= (unsigned char)(1 << bit);
            damaged(good, sizeof good);
            good[i] ^= (unsigned char)(1 << bit);
        }
    }
    write_file(entry_path(), good, sizeof good);
    expect_hit();
}

static void entries_of_one_byte(void **state)
{
    (void)state;
    unsigned char bytes[HEADER_BYTES + PAYLOAD_BYTES];
    store();
    for (int value = 0; value < 256; value += 51) {
        memset(bytes, value, sizeof bytes);
        damaged(bytes, sizeof bytes);
    }
    expect_reject_and_repair();
}

static void huge_sparse_entry(void **state)
{
    (void)state;
    store();
    assert_int_equal(truncate(entry_path(), (off_t)1 << 40), 0);
    expect_reject_and_repair();
}

/* Things that are no entries */

static void entry_is_a_symlink(void **state)
{
    (void)state;
    store();
    char target[FILE_BYTES];
    snprintf(target, sizeof target, "%s", in_root("elsewhere"));
    assert_int_equal(rename(entry_path(), target), 0);
    assert_int_equal(symlink(target, entry_path()), 0);
    expect_reject_and_repair();
    struct stat about;
    assert_int_equal(lstat(entry_path(), &about), 0);
    assert_true(S_ISREG(about.st_mode)); /* the link was replaced, not followed */
}

static void entry_is_a_dangling_symlink(void **state)
{
    (void)state;
    store();
    assert_int_equal(unlink(entry_path()), 0);
    assert_int_equal(symlink(in_root("nowhere"), entry_path()), 0);
    expect_reject_and_repair();
    assert_false(exists(in_root("nowhere")));
}

static void entry_is_a_directory(void **state)
{
    (void)state;
    store();
    assert_int_equal(unlink(entry_path()), 0);
    assert_int_equal(mkdir(entry_path(), 0700), 0);
    expect_miss(1);
    store(); /* cannot replace it, and leaves nothing behind */
    expect_miss(1);
    assert_int_equal(count_files(cache), 1);
}

static void entry_is_a_pipe(void **state)
{
    (void)state;
    store();
    assert_int_equal(unlink(entry_path()), 0);
    assert_int_equal(mkfifo(entry_path(), 0600), 0);
    expect_reject_and_repair(); /* the alarm ends a load that waits for a writer */
}

static void entry_cannot_be_read(void **state)
{
    (void)state;
    if (geteuid() == 0) {
        print_message("skipped: root reads every file\n");
        skip();
    }
    store();
    assert_int_equal(chmod(entry_path(), 0), 0);
    expect_reject_and_repair();
}

static void entry_can_be_written_by_others(void **state)
{
    (void)state;
    store();
    static const mode_t modes[] = {0620, 0602, 0666};
    for (size_t i = 0; i < COUNT(modes); ++i) {
        assert_int_equal(chmod(entry_path(), modes[i]), 0);
        expect_reject_and_repair();
    }
}

static void entry_belongs_to_another(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root gives files away\n");
        skip();
    }
    store();
    assert_int_equal(chown(entry_path(), NOBODY, NOBODY), 0);
    expect_reject_and_repair();
}

/* Directories that are not to be trusted */

static void expect_unusable(void)
{
    gstride_cache_info info;
    size_t files = count_files(cache);
    expect_miss(0);
    store();
    expect_miss(0);
    gsi_disk_cache_forget(key);
    assert_int_equal(gstride_cache_get_info(&info), GSTRIDE_OK);
    assert_string_equal(info.directory, "");
    assert_true(strlen(info.why_off) > 0);
    assert_int_equal(info.entries, 0);
    uint64_t removed = 99;
    assert_int_equal(gstride_cache_clear(&removed), GSTRIDE_OK);
    assert_int_equal(removed, 0);
    assert_int_equal(count_files(cache), files);
}

static void directory_can_be_written_by_others(void **state)
{
    (void)state;
    store();
    static const mode_t modes[] = {0720, 0702, 0777, 01777};
    for (size_t i = 0; i < COUNT(modes); ++i) {
        assert_int_equal(chmod(cache, modes[i]), 0);
        expect_unusable();
    }
    assert_int_equal(chmod(cache, 0755), 0);
    expect_hit();
}

static void directory_belongs_to_another(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root gives directories away\n");
        skip();
    }
    store();
    assert_int_equal(chown(cache, NOBODY, NOBODY), 0);
    expect_unusable();
}

static void directory_is_a_file(void **state)
{
    (void)state;
    write_file(cache, "text", 4);
    expect_unusable();
    char text[8];
    assert_int_equal(read_file(cache, (unsigned char *)text, sizeof text), 4);
    assert_memory_equal(text, "text", 4);
}

static void directory_is_below_a_file(void **state)
{
    (void)state;
    write_file(in_root("file"), "text", 4);
    use_directory(in_root("file/cache"));
    expect_unusable();
}

static void directory_is_a_dangling_symlink(void **state)
{
    (void)state;
    assert_int_equal(symlink(in_root("nowhere"), cache), 0);
    expect_unusable();
    assert_false(exists(in_root("nowhere")));
}

static void directory_cannot_be_made(void **state)
{
    (void)state;
    use_directory("/proc/gstride-test");
    expect_unusable();
}

static void path_is_too_long(void **state)
{
    (void)state;
    char path[4096];
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    setenv("GSTRIDE_CACHE_DIR", path, 1);
    expect_unusable();
}

/* Choice of the directory */

static void expect_round_trip_in(const char *directory)
{
    char expected[FILE_BYTES];
    snprintf(expected, sizeof expected, "%s", directory);
    snprintf(cache, sizeof cache, "%s", directory);
    assert_false(exists(expected));
    store();
    expect_hit();
    assert_int_equal(count_files(expected), 1);
    gstride_cache_info info;
    assert_int_equal(gstride_cache_get_info(&info), GSTRIDE_OK);
    assert_string_equal(info.directory, expected);
    assert_string_equal(info.why_off, "");
}

static void path_with_blanks_and_utf8(void **state)
{
    (void)state;
    static const char *const names[] = {
        "with blanks",  "d\xc3\xa9j\xc3\xa0 vu/\xe6\xbc\xa2\xe5\xad\x97",
        "quote'\"$(x)", "%s%n",
        "a/b/c/d/e",    "end/",
        "-rf"};
    for (size_t i = 0; i < COUNT(names); ++i) {
        use_directory(in_root(names[i]));
        expect_round_trip_in(in_root(names[i]));
    }
}

static void relative_path(void **state)
{
    (void)state;
    use_directory("relative/cache");
    expect_round_trip_in("relative/cache");
    assert_true(exists(in_root("relative/cache")));
}

static void xdg_directory(void **state)
{
    (void)state;
    unsetenv("GSTRIDE_CACHE_DIR");
    setenv("XDG_CACHE_HOME", in_root("xdg"), 1);
    expect_round_trip_in(in_root("xdg/gstride"));
    assert_false(exists(in_root(".cache")));
}

static void relative_xdg_is_ignored(void **state)
{
    (void)state;
    unsetenv("GSTRIDE_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "relative", 1);
    expect_round_trip_in(in_root(".cache/gstride"));
    assert_false(exists("relative"));
}

static void empty_variables_are_unset(void **state)
{
    (void)state;
    setenv("GSTRIDE_CACHE_DIR", "", 1);
    setenv("XDG_CACHE_HOME", "", 1);
    setenv("GSTRIDE_CACHE", "", 1);
    setenv("GSTRIDE_CACHE_LIMIT", "", 1);
    expect_round_trip_in(in_root(".cache/gstride"));
}

static void home_is_unset(void **state)
{
    (void)state;
    static const char *const homes[] = {NULL, "", "relative"};
    for (size_t i = 0; i < COUNT(homes); ++i) {
        unsetenv("GSTRIDE_CACHE_DIR");
        if (homes[i])
            setenv("HOME", homes[i], 1);
        else
            unsetenv("HOME");
        expect_unusable();
        gstride_cache_info info;
        assert_int_equal(gstride_cache_get_info(&info), GSTRIDE_OK);
        assert_non_null(strstr(info.why_off, "HOME"));
        assert_false(exists("relative"));
    }
}

static void off_touches_nothing(void **state)
{
    (void)state;
    setenv("GSTRIDE_CACHE", "off", 1);
    expect_unusable();
    assert_false(exists(cache));
    unsetenv("GSTRIDE_CACHE");
    store();
    struct stat before, after;
    assert_int_equal(stat(entry_path(), &before), 0);
    setenv("GSTRIDE_CACHE", "off", 1);
    expect_unusable();
    assert_int_equal(stat(entry_path(), &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    unsetenv("GSTRIDE_CACHE");
    expect_hit();
}

static void driver_cache_decides_by_default(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        bool driver_caches, enabled;
    } rows[] = {{NULL, false, true}, {NULL, true, false},   {"on", false, true},
                {"on", true, true},  {"off", false, false}, {"off", true, false}};
    for (size_t i = 0; i < COUNT(rows); ++i) {
        gstride_device_info info = {.driver_caches_programs = rows[i].driver_caches};
        if (rows[i].mode)
            setenv("GSTRIDE_CACHE", rows[i].mode, 1);
        else
            unsetenv("GSTRIDE_CACHE");
        assert_int_equal(gsi_disk_cache_enabled(&info), rows[i].enabled);
    }
}

static void modes_are_private(void **state)
{
    (void)state;
    static const mode_t masks[] = {0, 022, 077};
    for (size_t i = 0; i < COUNT(masks); ++i) {
        remove_tree(in_root("deep"));
        use_directory(in_root("deep/er/cache"));
        mode_t before = umask(masks[i]);
        store();
        umask(before);
        assert_int_equal(mode_of(in_root("deep")), 0700);
        assert_int_equal(mode_of(in_root("deep/er")), 0700);
        assert_int_equal(mode_of(cache), 0700);
        assert_int_equal(mode_of(entry_path()), 0600);
    }
}

/* Size and age */

enum { LIMIT_MIB = 1, ENTRIES = 5, ENTRY_BYTES = 300 << 10 }; /* three of them fit */

static struct gsi_disk_key numbered(uint64_t number)
{
    return (struct gsi_disk_key){.low = number, .high = number};
}

static void store_numbered(uint64_t number)
{
    unsigned char *bytes = calloc(1, ENTRY_BYTES);
    assert_non_null(bytes);
    gsi_disk_cache_store(numbered(number), bytes, ENTRY_BYTES);
    free(bytes);
}

static bool has_numbered(uint64_t number)
{
    char path[FILE_BYTES];
    entry_path_of(numbered(number), path, sizeof path);
    return exists(path);
}

static void set_age_of_numbered(uint64_t number, time_t seconds, long nanoseconds)
{
    char path[FILE_BYTES];
    entry_path_of(numbered(number), path, sizeof path);
    set_age(path, seconds, nanoseconds);
}

static void oldest_entries_go(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ENTRIES; ++i)
        store_numbered(i);
    /* From oldest to newest: 3, 0, 4, 1, 2. */
    static const time_t ages[ENTRIES] = {4000, 2000, 1000, 5000, 3000};
    for (uint64_t i = 0; i < ENTRIES; ++i)
        set_age_of_numbered(i, ages[i], 0);
    setenv("GSTRIDE_CACHE_LIMIT", "1", 1);
    store_numbered(ENTRIES);
    static const bool stays[ENTRIES + 1] = {false, true, true, false, false, true};
    for (uint64_t i = 0; i <= ENTRIES; ++i)
        assert_int_equal(has_numbered(i), stays[i]);
    gstride_cache_info info;
    assert_int_equal(gstride_cache_get_info(&info), GSTRIDE_OK);
    assert_int_equal(info.limit_bytes, (uint64_t)LIMIT_MIB << 20);
    assert_int_equal(info.entries, 3);
    assert_int_equal(info.bytes, 3 * (ENTRY_BYTES + HEADER_BYTES));
}

static void oldest_within_a_second_goes(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 3; ++i)
        store_numbered(i);
    static const long nanoseconds[] = {200, 100, 300};
    struct timespec whole = {.tv_sec = time(NULL) - 100};
    for (uint64_t i = 0; i < 3; ++i) {
        char path[FILE_BYTES];
        entry_path_of(numbered(i), path, sizeof path);
        struct timespec when = {whole.tv_sec, nanoseconds[i]};
        const struct timespec times[2] = {when, when};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    setenv("GSTRIDE_CACHE_LIMIT", "1", 1);
    store_numbered(3);
    assert_true(has_numbered(0));
    assert_false(has_numbered(1));
    assert_true(has_numbered(2));
    assert_true(has_numbered(3));
}

static void use_makes_young(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 3; ++i) {
        store_numbered(i);
        set_age_of_numbered(i, 1000 - (time_t)i, 0); /* 0 is the oldest */
    }
    size_t length;
    free(gsi_disk_cache_load(numbered(0), &length));
    setenv("GSTRIDE_CACHE_LIMIT", "1", 1);
    store_numbered(3);
    assert_true(has_numbered(0));
    assert_false(has_numbered(1));
}

static void odd_limits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {{"1", 1 << 20},       {"1000", (uint64_t)1000 << 20},
                {"0", 256 << 20},     {"", 256 << 20},
                {"many", 256 << 20},  {"-5", 256 << 20},
                {"5 MiB", 256 << 20}, {"99999999999999999999", UINT64_MAX >> 20 << 20}};
    for (size_t i = 0; i < COUNT(rows); ++i) {
        gstride_cache_info info;
        setenv("GSTRIDE_CACHE_LIMIT", rows[i].text, 1);
        assert_int_equal(gstride_cache_get_info(&info), GSTRIDE_OK);
        print_message("limit \"%s\"\n", rows[i].text);
        assert_int_equal(info.limit_bytes, rows[i].bytes);
    }
}

static void stale_temporaries_are_swept(void **state)
{
    (void)state;
    store();
    char stale[LONGER_BYTES], fresh[LONGER_BYTES];
    snprintf(stale, sizeof stale, "%s.tmp-1-0", entry_path());
    snprintf(fresh, sizeof fresh, "%s.tmp-2-0", entry_path());
    write_file(stale, "x", 1);
    write_file(fresh, "x", 1);
    set_age(stale, 2 * 3600, 0);
    set_age(fresh, 60, 0);
    store();
    assert_false(exists(stale));
    assert_true(exists(fresh)); /* another process may be writing it */
    expect_hit();
}

static void foreign_files_stay(void **state)
{
    (void)state;
    static const char *const names[] = {"notes.txt",
                                        "thesis.tmp-1",
                                        ".tmp-",
                                        "x.gsp",
                                        "0123456789abcdef0123456789abcdef.gsp.bak",
                                        "0123456789ABCDEF0123456789abcdef.gsp",
                                        "0123456789abcdef0123456789abcdef.gsq"};
    setenv("GSTRIDE_CACHE_LIMIT", "1", 1);
    store();
    for (size_t i = 0; i < COUNT(names); ++i) {
        char path[LONGER_BYTES];
        snprintf(path, sizeof path, "%s/%s", cache, names[i]);
        write_file(path, "mine", 4);
        set_age(path, 100 * 3600, 0);
    }
    for (uint64_t i = 0; i < ENTRIES; ++i)
        store_numbered(i);
    uint64_t removed = 0;
    assert_int_equal(gstride_cache_clear(&removed), GSTRIDE_OK);
    assert_in_range(removed, 1, ENTRIES); /* some went before */
    for (size_t i = 0; i < COUNT(names); ++i) {
        char path[LONGER_BYTES];
        snprintf(path, sizeof path, "%s/%s", cache, names[i]);
        print_message("%s\n", names[i]);
        assert_true(exists(path));
    }
}

static void clear_and_info(void **state)
{
    (void)state;
    gstride_cache_info info;
    assert_int_equal(gstride_cache_get_info(&info), GSTRIDE_OK);
    assert_string_equal(info.directory, "");
    assert_false(exists(cache)); /* asking makes nothing */
    for (uint64_t i = 0; i < ENTRIES; ++i)
        store_numbered(i);
    assert_int_equal(gstride_cache_get_info(&info), GSTRIDE_OK);
    assert_int_equal(info.entries, ENTRIES);
    assert_int_equal(info.bytes, ENTRIES * (ENTRY_BYTES + HEADER_BYTES));
    uint64_t removed = 0;
    assert_int_equal(gstride_cache_clear(&removed), GSTRIDE_OK);
    assert_int_equal(removed, ENTRIES);
    assert_int_equal(gstride_cache_clear(NULL), GSTRIDE_OK);
    assert_int_equal(count_files(cache), 0);
    assert_int_equal(gstride_cache_get_info(NULL), GSTRIDE_ERROR_ARGUMENT);
}

/* Many processes at once */

enum { PROCESSES = 16, ROUNDS = 30, SHARED_KEYS = 4, KILLED = 4, SHARED_BYTES = 200000 };

static void fill_shared(unsigned char *bytes, uint64_t number)
{
    for (size_t i = 0; i < SHARED_BYTES; ++i)
        bytes[i] = (unsigned char)((i * 31) ^ (i >> 9) ^ number);
}

/* In a child: no cmocka here. The exit status says whether something false was loaded. */
static int store_and_load(unsigned seed)
{
    static unsigned char bytes[SHARED_BYTES];
    uint64_t rejects = gstride_cache_get_stats().disk_rejects;
    for (unsigned round = 0; round < ROUNDS; ++round) {
        uint64_t number = (seed + round) % SHARED_KEYS;
        fill_shared(bytes, number);
        gsi_disk_cache_store(numbered(number), bytes, sizeof bytes);
        size_t length = 0;
        unsigned char *loaded = gsi_disk_cache_load(numbered(number), &length);
        bool good = !loaded || (length == sizeof bytes && memcmp(loaded, bytes, length) == 0);
        free(loaded);
        if (!good)
            return 1;
    }
    return gstride_cache_get_stats().disk_rejects == rejects ? 0 : 2;
}

static void many_processes(void **state)
{
    (void)state;
    pid_t children[PROCESSES];
    for (unsigned i = 0; i < PROCESSES; ++i) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            alarm(ALARM_S);
            _exit(store_and_load(i));
        }
    }
    for (unsigned i = 0; i < KILLED; ++i) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        kill(children[i], SIGKILL);
    }
    unsigned ended_well = 0;
    for (unsigned i = 0; i < PROCESSES; ++i) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        ended_well += WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (i >= KILLED)
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_in_range(ended_well, PROCESSES - KILLED, PROCESSES);
    static unsigned char bytes[SHARED_BYTES];
    for (uint64_t number = 0; number < SHARED_KEYS; ++number) {
        struct counted counted;
        fill_shared(bytes, number);
        assert_true(load_of(numbered(number), bytes, sizeof bytes, &counted));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
        TEST(round_trip),
        TEST(round_trip_of_lengths),
        TEST(keys_differ),
        TEST(entry_of_another_key_is_refused),
        TEST(newer_payload_replaces),
        TEST(forget_removes),
        TEST(truncated_entries),
        TEST(grown_entries),
        TEST(flipped_bits),
        TEST(entries_of_one_byte),
        TEST(huge_sparse_entry),
        TEST(entry_is_a_symlink),
        TEST(entry_is_a_dangling_symlink),
        TEST(entry_is_a_directory),
        TEST(entry_is_a_pipe),
        TEST(entry_cannot_be_read),
        TEST(entry_can_be_written_by_others),
        TEST(entry_belongs_to_another),
        TEST(directory_can_be_written_by_others),
        TEST(directory_belongs_to_another),
        TEST(directory_is_a_file),
        TEST(directory_is_below_a_file),
        TEST(directory_is_a_dangling_symlink),
        TEST(directory_cannot_be_made),
        TEST(path_is_too_long),
        TEST(path_with_blanks_and_utf8),
        TEST(relative_path),
        TEST(xdg_directory),
        TEST(relative_xdg_is_ignored),
        TEST(empty_variables_are_unset),
        TEST(home_is_unset),
        TEST(off_touches_nothing),
        TEST(driver_cache_decides_by_default),
        TEST(modes_are_private),
        TEST(oldest_entries_go),
        TEST(oldest_within_a_second_goes),
        TEST(use_makes_young),
        TEST(odd_limits),
        TEST(stale_temporaries_are_swept),
        TEST(foreign_files_stay),
        TEST(clear_and_info),
        TEST(many_processes),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
