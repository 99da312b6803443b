// SPDX-License-Identifier: MIT
// reduce_exact.cl - a whole reduction in one launch, for operators whose result does not depend on
// the order and grouping of its operands: integers, comparisons, counts. There the fixed shape of
// reduce_tile.cl would cost a barrier per tile and buy nothing.
//
// 1. A work-item folds its elements of all tiles of its group.
// 2. The group folds its work-items and publishes one accumulator.
// 3. The group that arrives last folds the published ones.
//
// Only for GS_FIXED with sub-groups of 32, and for launches that are not cut into several. Its
// plain twin is reduce.cl, which gives the same bits. Parameters as in reduce.cl; gs_partials has
// one accumulator per group. The host also defines GS_IDENTITY and, for argmin and
// argmax, GS_WORST, a key that beats no other.

#define GS_TILE  8192u
#define GS_BATCH 16u // elements that a work-item fetches before it uses the first

#define GS_SUBGROUPS (GS_GROUP_SIZE / 32u)

// Fold the group's accumulators. Valid in work-item 0. `space` has GS_SUBGROUPS places.
static gs_acc gs_group_fold(gs_acc acc, __local gs_acc *space)
{
    const uint id = GS_LOCAL_ID;
    GS_CONVERGE();
#pragma unroll
    for (uint d = 16; d > 0; d /= 2)
        acc = GS_COMBINE(acc, gs_shuffle_down_acc(acc, d)); // items near the end fold twice
    if (id % 32u == 0)
        space[id / 32u] = acc;
    GS_BARRIER_LOCAL();
    if (id == 0)
        for (uint s = 1; s < GS_SUBGROUPS; ++s)
            acc = GS_COMBINE(acc, space[s]);
    return acc;
}

// Fold the whole tile at `base` into acc.
static gs_acc gs_full_tile(gs_acc acc, const ulong base GS_LOAD_PARAMS)
{
    const uint id = GS_LOCAL_ID;
#if defined(GS_SEARCH)
    // Inside a tile a small number tells the place; the 64-bit index is made once per tile.
    GS_ACC best = GS_WORST;
    uint at = id;
#endif
    for (uint first = id; first < GS_TILE; first += GS_BATCH * GS_GROUP_SIZE) {
        GS_FETCHED item[GS_BATCH];
#pragma unroll
        for (uint k = 0; k < GS_BATCH; ++k)
            item[k] = GS_FETCH(base, first + k * GS_GROUP_SIZE);
#pragma unroll
        for (uint k = 0; k < GS_BATCH; ++k) {
#if defined(GS_SEARCH)
            const GS_ACC key = GS_KEY(item[k]);
            const uint wins = GS_WINS(key, best);
            best = wins ? key : best;
            at = wins ? first + k * GS_GROUP_SIZE : at;
#else
            acc = GS_COMBINE(acc, GS_TAKE(item[k], base + first + k * GS_GROUP_SIZE));
#endif
        }
    }
#if defined(GS_SEARCH)
    if (GS_WINS(best, acc.key) || acc.index == GS_NO_INDEX)
        acc = gs_winner(best, base + at);
#endif
    return acc;
}

GS_KERNEL
void gstride_reduce(const ulong gs_n, const ulong gs_first, const ulong gs_end,
                    const uint gs_tile GS_PARAMS, volatile __global uint *gs_partials,
                    volatile __global uint *gs_counter, const uint gs_groups,
                    GS_OUT_POINTER gs_out, const ulong gs_out_offset)
{
    __local gs_acc space[GS_SUBGROUPS];
    __local uint last;
    const uint id = GS_LOCAL_ID;

    // 1. This work-item's elements.
    gs_acc acc = GS_IDENTITY;
    for (ulong tile = gs_first + get_group_id(0); tile < gs_end; tile += get_num_groups(0)) {
        const ulong base = tile * GS_TILE;
        GS_BIND(base)
        if (gs_n - base >= GS_TILE && GS_TILE % (GS_BATCH * GS_GROUP_SIZE) == 0) {
            acc = gs_full_tile(acc, base GS_INPUT_ARGS);
        } else {
            const uint m = (uint)min((ulong)GS_TILE, gs_n - base);
            for (uint j = id; j < m; j += GS_GROUP_SIZE)
                acc = GS_COMBINE(acc, GS_TAKE(GS_FETCH(base, j), base + j));
        }
    }

    // 2. The group.
    acc = gs_group_fold(acc, space);
    if (id == 0) {
        if (gs_groups == 1)
            gs_store_result(acc, gs_n, gs_out, gs_out_offset);
        else
            gs_publish(gs_partials, get_group_id(0), acc);
        last = gs_groups > 1 ? gs_arrive(gs_counter, gs_groups) : 0;
    }
    GS_BARRIER_GLOBAL();

    // 3. The last group. Others go through the motions, so that every work-item meets every
    // barrier.
    const uint groups = last ? gs_groups : 0;
    acc = GS_IDENTITY;
    for (uint g = id; g < groups; g += GS_GROUP_SIZE)
        acc = GS_COMBINE(acc, gs_published(gs_partials, g));
    acc = gs_group_fold(acc, space);
    if (id == 0 && groups > 0)
        gs_store_result(acc, gs_n, gs_out, gs_out_offset);
}
