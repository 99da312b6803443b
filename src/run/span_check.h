/* SPDX-License-Identifier: MIT */
/* span_check.h - what a span must satisfy before a command may use it. */
#ifndef GSI_RUN_SPAN_CHECK_H
#define GSI_RUN_SPAN_CHECK_H

#include "run/stream.h"

/* Check that a span has at least n elements of a type that the device has, inside a buffer of the
 * device's context. n = 0 allows a NULL buffer. `function` and `name` go into the message. */
gstride_status gsi_check_span(const gstride_device *device, const char *function, const char *name,
                              const gstride_span *span, uint64_t n);

/* Check that the device has an element type. */
gstride_status gsi_check_type(const gstride_device *device, const char *function,
                              gstride_type type);

enum gsi_overlap { GSI_DISJOINT, GSI_SAME, GSI_OVERLAPPING };

/* How the first na elements of a and the first nb of b lie to each other; GSI_SAME needs the same
 * start, length and type. Sees through sub-buffers. */
enum gsi_overlap gsi_spans_overlap(const gstride_span *a, uint64_t na, const gstride_span *b,
                                   uint64_t nb);

#endif
