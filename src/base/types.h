/* SPDX-License-Identifier: MIT */
/* types.h - facts about element types that all layers share. */
#ifndef GSI_TYPES_H
#define GSI_TYPES_H

#include <gstride/types.h>

enum gsi_kind { GSI_SIGNED, GSI_UNSIGNED, GSI_FLOAT };

struct gsi_type_facts {
    const char *name;    /* "f16" */
    const char *storage; /* OpenCL C type of an element in memory: "half" */
    const char *value;   /* OpenCL C type in arithmetic: "float" */
    size_t bytes;        /* in memory */
    enum gsi_kind kind;
};

/* NULL for a number that is no type. */
const struct gsi_type_facts *gsi_type(gstride_type type);

#endif
