/* SPDX-License-Identifier: MIT */
#ifndef GSTRIDE_VERSION_H
#define GSTRIDE_VERSION_H

/** Version of the headers, "major.minor.patch". \since 0.1 */
#define GSTRIDE_VERSION_MAJOR 0
#define GSTRIDE_VERSION_MINOR 1
#define GSTRIDE_VERSION_PATCH 0
#define GSTRIDE_VERSION       "0.1.0"

#if defined(_WIN32)
#define GSTRIDE_API
#elif defined(__GNUC__)
#define GSTRIDE_API __attribute__((visibility("default")))
#else
#define GSTRIDE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the library that is linked; compare with GSTRIDE_VERSION. \since 0.1 */
GSTRIDE_API const char *gstride_version(void);

#ifdef __cplusplus
}
#endif
#endif
