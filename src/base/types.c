/* SPDX-License-Identifier: MIT */
#include "base/types.h"

#include "base/error.h"

#include <string.h>

static const struct gsi_type_facts facts[GSTRIDE_NUM_TYPES] = {
    [GSTRIDE_I8] = {"i8", "char", "char", 1, GSI_SIGNED},
    [GSTRIDE_U8] = {"u8", "uchar", "uchar", 1, GSI_UNSIGNED},
    [GSTRIDE_I16] = {"i16", "short", "short", 2, GSI_SIGNED},
    [GSTRIDE_U16] = {"u16", "ushort", "ushort", 2, GSI_UNSIGNED},
    [GSTRIDE_I32] = {"i32", "int", "int", 4, GSI_SIGNED},
    [GSTRIDE_U32] = {"u32", "uint", "uint", 4, GSI_UNSIGNED},
    [GSTRIDE_I64] = {"i64", "long", "long", 8, GSI_SIGNED},
    [GSTRIDE_U64] = {"u64", "ulong", "ulong", 8, GSI_UNSIGNED},
    [GSTRIDE_F16] = {"f16", "half", "float", 2, GSI_FLOAT},
    [GSTRIDE_F32] = {"f32", "float", "float", 4, GSI_FLOAT},
    [GSTRIDE_F64] = {"f64", "double", "double", 8, GSI_FLOAT},
};

const struct gsi_type_facts *gsi_type(gstride_type type)
{
    return (unsigned)type < GSTRIDE_NUM_TYPES ? &facts[type] : NULL;
}

size_t gstride_type_bytes(gstride_type type)
{
    const struct gsi_type_facts *f = gsi_type(type);
    return f ? f->bytes : 0;
}

const char *gstride_type_name(gstride_type type)
{
    const struct gsi_type_facts *f = gsi_type(type);
    return f ? f->name : "?";
}

gstride_status gstride_type_from_name(const char *name, gstride_type *type)
{
    if (!name || !type)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_type_from_name: %s is NULL",
                        name ? "type" : "name");
    for (int i = 0; i < GSTRIDE_NUM_TYPES; ++i) {
        if (strcmp(facts[i].name, name) == 0) {
            *type = (gstride_type)i;
            return GSTRIDE_OK;
        }
    }
    return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_type_from_name: \"%s\" is no element type",
                    name);
}
