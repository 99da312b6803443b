// SPDX-License-Identifier: MIT
// reduce.cl - a whole reduction in one launch: tiles, then tile results, by the last group.
//
// 1. A group strides over the tiles and publishes one accumulator for each.
// 2. The group that arrives last folds the published ones by the same rule, level by level.
//
// The host defines, beside what op.cl and reduce_tile.cl ask for
//   GS_PARAMS        parameters for the spans and scalars, with a leading comma
//   GS_BIND(base)    declares a pointer to element `base` of every span
//   GS_INPUT_ARGS    the arguments of gs_tile_input, with a leading comma
//   GS_STORE(value)  stores a result at gs_out, gs_out_offset
//
// gs_n           elements
// gs_first/_end  tiles of this launch
// gs_partials    scratch: one accumulator per tile and level; not used for a single tile
// gs_counter     0 before the first launch and after the last
// gs_groups      groups of all launches of this call together

#if GS_VARIANT == GS_ITEM
#define GS_COLUMN_SPACE 0
#else
// Two halves in turn, so that one barrier per tile is enough.
#define GS_COLUMN_SPACE (columns + (turn++ & 1u) * (GS_RUNS * GS_COLUMNS))
#endif

// The last group folds the tile results by all its work-items where the launch was planned, and by
// one where it was forced: that keeps the kernel small.
#if GS_VARIANT == GS_FIXED
#define GS_FOLD_SPACE       GS_COLUMN_SPACE
#define GS_FOLDS            1
#define GS_FOLD_BARRIER()   GS_BARRIER_GLOBAL()
#else
#define GS_FOLD_SPACE       0
#define GS_FOLDS            (id == 0)
#define GS_FOLD_BARRIER()
#endif

GS_KERNEL
void gstride_reduce(const ulong gs_n, const ulong gs_first, const ulong gs_end,
                    const uint gs_tile GS_PARAMS, volatile __global uint *gs_partials,
                    volatile __global uint *gs_counter, const uint gs_groups,
                    GS_OUT_POINTER gs_out, const ulong gs_out_offset)
{
#if GS_VARIANT != GS_ITEM
    __local gs_acc columns[2 * GS_RUNS * GS_COLUMNS];
    uint turn = 0;
#endif
#if GS_VARIANT == GS_FIXED
    __local uint last;
#else
    uint last = 0;
#endif
    const uint id = GS_LOCAL_ID;
    const ulong tiles = (gs_n + GS_TILE - 1u) / GS_TILE;
#if defined(GS_OP_CUSTOM)
    if (gs_n == 0 && id == 0 && get_group_id(0) == 0)
        gs_store_result((gs_acc)gs_identity(), gs_n, gs_out, gs_out_offset);
#endif
    // 1. Tiles. The partial one goes the same way: PoCL 3.1 miscompiles a second place with
    // barriers that only the group with the partial tile would enter.
    for (ulong tile = gs_first + get_group_id(0); tile < gs_end; tile += get_num_groups(0)) {
        const ulong base = tile * GS_TILE;
        const uint m = (uint)min((ulong)GS_TILE, gs_n - base);
        GS_BIND(base)
        const gs_acc acc = gs_tile_input(base, m, GS_COLUMN_SPACE GS_INPUT_ARGS);
        if (id == 0) {
            if (tiles == 1)
                gs_store_result(acc, gs_n, gs_out, gs_out_offset);
            else
                gs_publish(gs_partials, tile, acc);
        }
    }

    // 2. The last group. `count` is the same for the whole group: 0 for all groups but one.
    if (id == 0)
        last = tiles > 1 ? gs_arrive(gs_counter, gs_groups) : 0;
    GS_FOLD_BARRIER();
    ulong count = last && GS_FOLDS ? tiles : 0;
    volatile __global uint *from = gs_partials;
    while (count > 1) {
        volatile __global uint *to = from + count * GS_ACC_WORDS;
        const ulong next = (count + GS_TILE - 1u) / GS_TILE;
        for (ulong t = 0; t < next; ++t) {
            const uint m = (uint)min((ulong)GS_TILE, count - t * GS_TILE);
            const gs_acc acc = gs_tile_partials(t * GS_TILE, m, GS_FOLD_SPACE, from);
            if (id == 0) {
                if (next == 1)
                    gs_store_result(acc, gs_n, gs_out, gs_out_offset);
                else
                    gs_publish(to, t, acc);
            }
        }
        GS_FOLD_BARRIER();
        from = to;
        count = next;
    }
}
