/* SPDX-License-Identifier: MIT */
/* test_second_start.c - nobody waits for a compile twice: the second process that does the same
 * work builds no program from source. The program runs itself as those processes. */
#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit statuses of a child: how many programs it built, or one of these. */
enum { MOST_BUILDS = 100, CHILD_FAILED = 200, WRONG_RESULT = 201 };
static const char child_word[] = "child";

static int do_the_work(void)
{
    gstride_device *device;
    gstride_stream *stream;
    gstride_span x = {0};
    uint64_t sum = 0;
    if (gstride_device_open(NULL, &device) != GSTRIDE_OK ||
        gstride_stream_create(device, &stream) != GSTRIDE_OK ||
        gstride_alloc(device, GSTRIDE_U32, 1000, &x) != GSTRIDE_OK ||
        gstride_iota(stream, x, 0, 2) != GSTRIDE_OK ||
        gstride_reduce_to_host(stream, GSTRIDE_SUM, x, GSTRIDE_U64, &sum) != GSTRIDE_OK)
        return CHILD_FAILED;
    uint64_t builds = gstride_cache_get_stats().source_builds;
    gstride_free(&x);
    gstride_stream_destroy(stream);
    gstride_device_close(device);
    if (sum != 999 * 1000)
        return WRONG_RESULT;
    return builds > MOST_BUILDS ? MOST_BUILDS : (int)builds;
}

/* Run this program as a child; its exit status. */
static int run_child(void)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "test_second_start", child_word, (char *)NULL);
        _exit(CHILD_FAILED);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        FAIL("a child died of signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) > MOST_BUILDS)
        FAIL("a child ended with status %d", WEXITSTATUS(status));
    return WEXITSTATUS(status);
}

static void remove_directory(const char *path)
{
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    assert_int_equal(rmdir(path), 0);
}

/* Spoil every entry in its middle, where the checksum of the payload looks. */
static unsigned spoil_entries(const char *path)
{
    unsigned spoilt = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        struct stat about;
        int file = openat(dirfd(directory), entry->d_name, O_RDWR);
        assert_true(file >= 0 && fstat(file, &about) == 0);
        unsigned char byte = 0;
        off_t middle = about.st_size / 2;
        assert_int_equal(pread(file, &byte, 1, middle), 1);
        byte ^= 0xff;
        assert_int_equal(pwrite(file, &byte, 1, middle), 1);
        close(file);
        ++spoilt;
    }
    closedir(directory);
    return spoilt;
}

static void second_start_builds_nothing(void **state)
{
    (void)state;
    char path[] = "/tmp/gstride-start-XXXXXX";
    assert_non_null(mkdtemp(path));
    setenv("GSTRIDE_CACHE", "on", 1); /* also where the driver has a cache of its own */
    setenv("GSTRIDE_CACHE_DIR", path, 1);
    int first = run_child();
    assert_true(first >= 3); /* the probe, iota and sum */
    assert_int_equal(run_child(), 0);
    /* what is damaged is built again, and then kept again */
    assert_int_equal(spoil_entries(path), first);
    assert_int_equal(run_child(), first);
    assert_int_equal(run_child(), 0);
    remove_directory(path);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], child_word) == 0)
        return do_the_work();
    /* No fixture: a process that has used a device must not fork. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_start_builds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
