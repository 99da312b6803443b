/* SPDX-License-Identifier: MIT */
/* fixture.h - a device and a stream for a group of tests, guarded buffers, and what a device can.
 */
#ifndef SUPPORT_FIXTURE_H
#define SUPPORT_FIXTURE_H

#include "check.h"
#include "rng.h"
#include "values.h"

/* What every test gets as *state. */
struct fixture {
    gstride_device *device;
    gstride_stream *stream;
    const gstride_device_info *info;
    bool simulator; /* slow, and not thread safe: one host thread only */
    uint64_t most;  /* elements that a test may use where it tries many sizes */
};

/* Group setup and teardown. The device is the one that GSTRIDE_DEVICE chooses; that none can be
 * opened is a failure, never a reason to skip. */
int fixture_open(void **state);
int fixture_close(void **state);

/* Test teardown: whatever a test forced on the stream ends with it. */
int fixture_calm(void **state);

/* A test of a group that uses the fixture. */
#define DEVICE_TEST(function)   cmocka_unit_test_setup_teardown(function, NULL, fixture_calm)
#define RUN_DEVICE_TESTS(tests) cmocka_run_group_tests(tests, fixture_open, fixture_close)

/* Can the device hold elements of this type? */
bool fixture_has_type(const struct fixture *f, gstride_type type);

/* The smaller of the size and f->most. */
uint64_t fixture_size(const struct fixture *f, uint64_t size);

/* A buffer of n elements with poisoned zones before (if offset is not 0) and behind them. */
struct guarded {
    gstride_span span;    /* the n elements */
    gstride_span whole;   /* with the zones */
    unsigned char *image; /* what was last written to the whole */
};

/* The span's offset is `offset` plus a multiple of 64, or 0 for 0. */
void guarded_make(const struct fixture *f, gstride_type type, uint64_t n, uint64_t offset,
                  struct guarded *g);
/* Write values, or poison if they are NULL, and renew the zones. */
void guarded_put(const struct fixture *f, struct guarded *g, const void *values);
/* Read the values; fails if a zone has changed. */
void guarded_take(const struct fixture *f, const struct guarded *g, void *values);
/* Fails if any byte has changed since guarded_put. */
void guarded_untouched(const struct fixture *f, const struct guarded *g);
void guarded_free(struct guarded *g);

/* malloc that fails the test. */
void *must_alloc(uint64_t bytes);

/* A span of the stream's device with these values; free it with gstride_free. */
gstride_span span_of(const struct fixture *f, gstride_type type, const void *values, uint64_t n);

/* Launch shapes that tests force: small, odd, large, as many groups as there are tiles. */
extern const gstride_launch forced_launches[];
extern const size_t num_forced_launches;

/* Force the k-th shape. False, with the reason printed, if the device's groups are smaller. */
bool force_launch(const struct fixture *f, size_t k);

/* Was a forced shape taken? A device that cuts loops off may refuse one, since it has kernels for
 * small groups only or too few trips, but only by the status that says so. The reason is printed.
 */
bool launch_taken(const struct fixture *f, gstride_status status);

#endif
