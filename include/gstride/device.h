/* SPDX-License-Identifier: MIT */
/**
 * \file
 * Finding, choosing, describing and opening OpenCL devices.
 *
 * One grammar chooses a device everywhere (GSTRIDE_DEVICE, --device, gstride_device_open):
 *
 *   spec        = alternative { "," alternative }      the first alternative that matches wins; of
 *                                                      several devices that match it, the best
 *   alternative = word { ":" word }                    all words must hold
 *   word        = "gpu" | "cpu" | "accelerator"        the device's type, in any case
 *               | "#N"                                 index in the list of `gstride devices`
 *               | "uuid=" hex | "pci=" address         identity; its printed start is enough
 *               | "!" word                             negation
 *               | text                                 part of the platform, vendor or device name,
 *                                                      in any case
 *
 * An empty or absent spec takes the best device that passes its probe: GPU, then accelerator, then
 * CPU. A spec that matches nothing is an error that lists what exists; another device is never
 * taken instead.
 */
#ifndef GSTRIDE_DEVICE_H
#define GSTRIDE_DEVICE_H

#include <gstride/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What kind of device OpenCL says it is. \since 0.1 */
typedef enum gstride_device_type {
    GSTRIDE_DEVICE_CPU = 1,
    GSTRIDE_DEVICE_GPU = 2,
    GSTRIDE_DEVICE_ACCELERATOR = 4
} gstride_device_type;

/**
 * What the probe found when a device was opened. Fields are meaningful only if `done`. \since 0.1
 */
typedef struct gstride_probe {
    bool done;
    bool passed;         /**< a device that fails is not chosen by default */
    uint32_t loop_bound; /**< loop trips after which the device cuts a work-item off; 0 = never */
    bool atomics;        /**< 32-bit global atomics count exactly */
    bool int64;          /**< 64-bit integer arithmetic is right */
    bool no_contraction; /**< FP_CONTRACT OFF is obeyed: a * b + c is not fused */
    bool denormals;      /**< fp32 subnormal numbers are kept */
    bool half_storage;   /**< vload_half and vstore_half round to nearest even */
    bool event_timing;   /**< events report a plausible interval */
    char failure[160];   /**< why passed is false, "" otherwise */
} gstride_probe;

/** All that the library knows about a device. Fields are only ever added at the end. \since 0.1 */
typedef struct gstride_device_info {
    uint32_t index; /**< position in the list, the N of "#N" */
    uint32_t type;  /**< gstride_device_type bits; simulators may claim several */
    char platform[128];
    char vendor[128];
    char name[128];
    char platform_version[128];
    char device_version[128];
    char driver_version[128];
    char uuid[33]; /**< 32 hex digits, or "" if the device has none */
    char pci[20];  /**< "domain:bus:device.function", or "" */
    uint32_t compute_units;
    uint32_t clock_mhz;
    uint32_t address_bits;
    uint32_t max_group_size;    /**< work-items per work-group */
    uint64_t max_item_sizes[3]; /**< work-items per work-group, by dimension */
    uint64_t local_memory;      /**< bytes per work-group */
    uint64_t global_memory;     /**< bytes */
    uint64_t max_allocation;    /**< bytes of one buffer */
    uint32_t base_alignment;    /**< bytes to which buffers are aligned */
    bool fp64;
    bool int64_atomics;
    bool subgroup_shuffle; /**< a sub-group fast path is available in the prelude */
    bool unified_memory;
    bool driver_caches_programs; /**< the driver keeps a program cache of its own */
    gstride_probe probe;
} gstride_device_info;

typedef struct gstride_device_list gstride_device_list;
typedef struct gstride_device gstride_device;

/**
 * List every device of every platform. A platform that answers with an error or has no device is
 * skipped and does not hide the others; gstride_device_list_problems() tells about it.
 *
 * \return GSTRIDE_OK with a list the caller frees, even if it is empty;
 *         GSTRIDE_ERROR_ARGUMENT, GSTRIDE_ERROR_OUT_OF_HOST_MEMORY, GSTRIDE_ERROR_NO_PLATFORM
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_device_list_create(gstride_device_list **list);
GSTRIDE_API void gstride_device_list_free(gstride_device_list *list);
GSTRIDE_API size_t gstride_device_list_count(const gstride_device_list *list);
/** NULL if i is not below the count. The info lives as long as the list. \since 0.1 */
GSTRIDE_API const gstride_device_info *gstride_device_list_get(const gstride_device_list *list,
                                                               size_t i);
/** One line per platform or device that could not be listed; "" if none. \since 0.1 */
GSTRIDE_API const char *gstride_device_list_problems(const gstride_device_list *list);

/**
 * Apply the grammar above to a list. No device is opened, so no probe runs.
 *
 * \param spec  NULL or "" ranks by type; otherwise the grammar
 * \param index receives the position in the list
 * \return GSTRIDE_OK, GSTRIDE_ERROR_DEVICE_SPEC (malformed; the message points at the word),
 *         GSTRIDE_ERROR_NO_DEVICE (nothing matches; the message lists what exists)
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_device_list_select(const gstride_device_list *list,
                                                      const char *spec, size_t *index);

/**
 * Open a device: choose it, create a context, probe it.
 *
 * \param spec NULL reads GSTRIDE_DEVICE; "" ignores it and takes the best device that passes its
 *             probe; anything else is the grammar above
 * \return GSTRIDE_OK; GSTRIDE_ERROR_NO_PLATFORM, _DEVICE_SPEC, _NO_DEVICE, _PROBE, _OPENCL, ...
 * \note One device may be used by many threads at once. Objects made from it keep it alive.
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_device_open(const char *spec, gstride_device **device);

/**
 * Wrap a context and a device of the caller. Both are retained. The device is probed.
 * \return as gstride_device_open; GSTRIDE_ERROR_WRONG_DEVICE if the device is not in the context
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_device_from_cl(cl_context context, cl_device_id id,
                                                  gstride_device **device);

/** Give up the caller's reference. NULL is allowed. \since 0.1 */
GSTRIDE_API void gstride_device_close(gstride_device *device);

/** Facts and probe results; lives as long as the device. NULL for NULL. \since 0.1 */
GSTRIDE_API const gstride_device_info *gstride_device_get_info(const gstride_device *device);

/** The OpenCL handles, not retained for the caller. \since 0.1 */
GSTRIDE_API cl_context gstride_device_cl_context(const gstride_device *device);
GSTRIDE_API cl_device_id gstride_device_cl_id(const gstride_device *device);

/**
 * Fill an info from a text, for tests of launch planning without a device:
 * words "key=value" or "key" separated by blanks, with the keys
 * type=cpu|gpu|accelerator cu= wg= items= local= global= alloc= align= bits= clock= loop= fp64
 * int64_atomics shuffle. Bytes take a suffix K, M or G. Unnamed facts get modest defaults.
 * \return GSTRIDE_OK or GSTRIDE_ERROR_DEVICE_SPEC naming the word
 * \since 0.1
 */
GSTRIDE_API gstride_status gstride_device_info_from_text(const char *text,
                                                         gstride_device_info *info);

#ifdef __cplusplus
}
#endif
#endif
