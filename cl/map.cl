// SPDX-License-Identifier: MIT
// map.cl - an expression for every element. A group strides over the elements tile by tile.
//
// The host defines
//   GS_ITEMS            elements per work-item and tile (not for GS_ITEM)
//   GS_PARAMS           parameters for the spans and scalars, with a leading comma
//   GS_BIND(base)       declares a pointer to element `base` of every span
//   GS_ELEMENT(base, j) loads element base + j of the inputs, evaluates, stores the outputs
//
// gs_n       elements
// gs_first   first tile of this launch; gs_end the tile behind its last
// gs_tile    elements per tile
// launch     1-D, any number of groups

GS_KERNEL
void gstride_map(const ulong gs_n, const ulong gs_first, const ulong gs_end,
                 const uint gs_tile GS_PARAMS)
{
#if GS_VARIANT == GS_ITEM
    // One work-item walks a contiguous run, which the compiler turns into vector code.
    for (ulong tile = gs_first + get_group_id(0); tile < gs_end; tile += get_num_groups(0)) {
        const ulong base = tile * gs_tile;
        const uint length = (uint)min((ulong)gs_tile, gs_n - base);
        GS_BIND(base)
        for (uint j = 0; j < length; ++j)
            GS_ELEMENT(base, j)
    }
#else
    const uint id = GS_LOCAL_ID;
    for (ulong tile = gs_first + get_group_id(0); tile < gs_end; tile += get_num_groups(0)) {
        const ulong base = tile * (GS_GROUP_SIZE * GS_ITEMS);
        GS_BIND(base)
        if (gs_n - base >= GS_GROUP_SIZE * GS_ITEMS) {
#pragma unroll
            for (uint k = 0; k < GS_ITEMS; ++k)
                GS_ELEMENT(base, k * GS_GROUP_SIZE + id)
        } else {
            const uint length = (uint)(gs_n - base);
            for (uint j = id; j < length; j += GS_GROUP_SIZE)
                GS_ELEMENT(base, j)
        }
    }
#endif
}
