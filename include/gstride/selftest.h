/* SPDX-License-Identifier: MIT */
/**
 * \file
 * Proof on the user's own machine: the digest and the self-test.
 *
 * The digest is a text of lines `primitive type operator n hash`, the hash being XXH3-64 of the
 * output bits on seeded data. It is the same on every device and under every launch shape; a line
 * that starts with "#" names what the device lacks. The self-test compares the digest with the
 * answers that ship in the library.
 */
#ifndef GSTRIDE_SELFTEST_H
#define GSTRIDE_SELFTEST_H

#include <gstride/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which lines: the quick set is a part of the full one. \since 0.1 */
typedef enum gstride_digest_set { GSTRIDE_DIGEST_QUICK, GSTRIDE_DIGEST_FULL } gstride_digest_set;

/** Receives one line without its newline; a value other than 0 stops the run. \since 0.1 */
typedef int gstride_digest_line(void *user, const char *line);

/**
 * Run every primitive, type and operator on seeded data and hand out one line each; waits.
 * \return GSTRIDE_OK, or what the first failing call returned
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_digest(gstride_stream *stream, gstride_digest_set set,
                                          gstride_digest_line *line, void *user);

/**
 * Compare the digest of a stream's device with the known answers; waits.
 *
 * \param cases  if not NULL, receives how many lines were compared
 * \return GSTRIDE_OK; GSTRIDE_ERROR_SELFTEST, the message naming the first wrong case
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_selftest(gstride_stream *stream, gstride_digest_set set,
                                            uint64_t *cases);

#ifdef __cplusplus
}
#endif
#endif
