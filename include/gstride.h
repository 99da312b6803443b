/* SPDX-License-Identifier: MIT */
/**
 * \file
 * gstride: data-parallel primitives on OpenCL for C programs. This header brings all of them;
 * each can also be included alone.
 */
#ifndef GSTRIDE_H
#define GSTRIDE_H

#include <gstride/cache.h>
#include <gstride/device.h>
#include <gstride/kernel.h>
#include <gstride/launch.h>
#include <gstride/map.h>
#include <gstride/reduce.h>
#include <gstride/selftest.h>
#include <gstride/span.h>
#include <gstride/status.h>
#include <gstride/stream.h>
#include <gstride/types.h>
#include <gstride/version.h>

#endif
