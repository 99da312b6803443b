// SPDX-License-Identifier: MIT
// reduce_tile.cl - one tile of a reduction -> one accumulator, always by the same arithmetic:
//
//   tile = 8 runs of 1024 elements; run = 128 lanes; lane = up to 8 elements
//   a lane is folded in the order of its elements; 128 lanes, then 8 runs, by the trees of tree.cl
//   element r of lane l is  r * 128 + l,  or  l * 8 + r  where the order must be kept (GS_ORDERED)
//
// Who computes which lane is the launch's choice: one work-item all of them, or each work-item one
// "column" of four lanes, or several. The text is used twice, for the input and for tile results:
// the host defines GS_TILE_NAME, GS_RUN_NAME, GS_COLUMN_NAME, GS_LANE_NAME, GS_LOAD_PARAMS and
// GS_LOAD_ARGS, GS_FETCH(base, j), element base + j as it comes (of type GS_FETCHED),
// GS_TAKE(fetched, i), its accumulator, GS_BY_ITEM if one work-item does all, and GS_BATCH if
// registers hold 32 elements.

#ifndef GS_LANES
#define GS_LANES   128u
#define GS_ROWS    8u
#define GS_RUN     (GS_LANES * GS_ROWS)
#define GS_RUNS    8u
#define GS_TILE    (GS_RUN * GS_RUNS)
#define GS_COLUMNS 32u // columns of a run; a column is four lanes
#define GS_AT(r, l) ((r) * GS_ROW_STEP + (l) * GS_LANE_STEP) // element r of lane l
#define GS_LOAD(base, j) GS_TAKE(GS_FETCH(base, j), (base) + (j))
#if GS_ORDERED
#define GS_LANE_STEP           GS_ROWS
#define GS_ROW_STEP            1u
#define GS_LANES_PRESENT(m)    (((m) + GS_ROWS - 1u) / GS_ROWS)
#define GS_COLUMN_LANE(p, c)   ((p) * 4u + (c))
#define GS_COLUMNS_PRESENT(m)  (((m) + 4u * GS_ROWS - 1u) / (4u * GS_ROWS))
#define GS_COLUMN_TREE(a, b, c, d, has_b, has_c, has_d)                                            \
    gs_column_tree(a, b, c, d, has_b, has_d, has_c)
#else
#define GS_LANE_STEP           1u
#define GS_ROW_STEP            GS_LANES
#define GS_LANES_PRESENT(m)    min(m, GS_LANES)
#define GS_COLUMN_LANE(p, c)   ((c) * GS_COLUMNS + (p))
#define GS_COLUMNS_PRESENT(m)  min(m, GS_COLUMNS)
#define GS_COLUMN_TREE(a, b, c, d, has_b, has_c, has_d)                                            \
    gs_column_tree(a, c, b, d, has_c, has_d, has_b)
#endif
// The tree over the lanes of a column: two pairs, then both results. A lane without its partner
// goes on alone; the second pair is there only if its first lane is.
static gs_acc gs_column_tree(gs_acc a, const gs_acc b, gs_acc c, const gs_acc d, const uint has_b,
                             const uint has_d, const uint has_c)
{
    if (has_b)
        a = GS_COMBINE(a, b);
    if (has_d)
        c = GS_COMBINE(c, d);
    if (has_c)
        a = GS_COMBINE(a, c);
    return a;
}

#if defined(GS_SUBGROUP_32)
#if GS_GROUP_SIZE == 256u // GS_RUNS * GS_COLUMNS
#define GS_COLUMN_EACH
#endif
#endif
#endif

#if GS_BY_ITEM

// Fold the m elements from `first` on, 0 < m <= GS_RUN.
static gs_acc GS_RUN_NAME(const ulong base, const uint first, const uint m GS_LOAD_PARAMS)
{
    gs_acc lane[GS_LANES];
    const uint lanes = GS_LANES_PRESENT(m);
#if GS_ORDERED
    for (uint l = 0; l < lanes; ++l) {
        gs_acc acc = GS_LOAD(base, first + GS_AT(0u, l));
        for (uint r = 1; r < GS_ROWS && GS_AT(r, l) < m; ++r)
            acc = GS_COMBINE(acc, GS_LOAD(base, first + GS_AT(r, l)));
        lane[l] = acc;
    }
#else
    for (uint l = 0; l < lanes; ++l)
        lane[l] = GS_LOAD(base, first + l);
    for (uint r = 1; r * GS_LANES < m; ++r) {
        const uint row = first + r * GS_LANES;
        const uint length = min(m - r * GS_LANES, GS_LANES);
        for (uint l = 0; l < length; ++l)
            lane[l] = GS_COMBINE(lane[l], GS_LOAD(base, row + l));
    }
#endif
    return gs_tree(lane, GS_LANES, lanes);
}

#if defined(GS_LOAD16)
// A full run with the 128 lanes in eight vectors: the same folds and the same tree.
static GS_FOLDED gs_run_vector(const uint first GS_LOAD_PARAMS)
{
    GS_ACC16 a0 = GS_LOAD16(first, 0), a1 = GS_LOAD16(first, 1);
    GS_ACC16 a2 = GS_LOAD16(first, 2), a3 = GS_LOAD16(first, 3);
    GS_ACC16 a4 = GS_LOAD16(first, 4), a5 = GS_LOAD16(first, 5);
    GS_ACC16 a6 = GS_LOAD16(first, 6), a7 = GS_LOAD16(first, 7);
    for (uint r = 1; r < GS_ROWS; ++r) {
        const uint row = first + r * GS_LANES;
        a0 = GS_FOLD(a0, GS_LOAD16(row, 0));
        a1 = GS_FOLD(a1, GS_LOAD16(row, 1));
        a2 = GS_FOLD(a2, GS_LOAD16(row, 2));
        a3 = GS_FOLD(a3, GS_LOAD16(row, 3));
        a4 = GS_FOLD(a4, GS_LOAD16(row, 4));
        a5 = GS_FOLD(a5, GS_LOAD16(row, 5));
        a6 = GS_FOLD(a6, GS_LOAD16(row, 6));
        a7 = GS_FOLD(a7, GS_LOAD16(row, 7));
    }
    a0 = GS_FOLD(a0, a4);
    a1 = GS_FOLD(a1, a5);
    a2 = GS_FOLD(a2, a6);
    a3 = GS_FOLD(a3, a7);
    a0 = GS_FOLD(a0, a2);
    a1 = GS_FOLD(a1, a3);
    a0 = GS_FOLD(a0, a1);
    GS_ACC8 b = GS_FOLD(a0.lo, a0.hi);
    GS_ACC4 c = GS_FOLD(b.lo, b.hi);
    GS_ACC2 d = GS_FOLD(c.lo, c.hi);
    return GS_FOLD(d.x, d.y);
}
#endif

// Fold the m elements from `base` on, 0 < m <= GS_TILE. `columns` is not used.
static gs_acc GS_TILE_NAME(const ulong base, const uint m, gs_acc *columns GS_LOAD_PARAMS)
{
#if defined(GS_SEARCH) && defined(GS_LOAD16)
    // Bare keys suit vector units; the index is looked for in the one run that has the winning key.
    if (m == GS_TILE) {
        GS_ACC best = gs_run_vector(0 GS_LOAD_ARGS);
        uint first = 0;
        for (uint s = 1; s < GS_RUNS; ++s) {
            const GS_ACC key = gs_run_vector(s * GS_RUN GS_LOAD_ARGS);
            first = GS_WINS(key, best) ? s * GS_RUN : first;
            best = GS_FOLD(best, key);
        }
        uint at = 0;
        while (GS_KEY(GS_FETCH(base, first + at)) != best)
            ++at;
        return GS_TAKE(GS_FETCH(base, first + at), base + first + at);
    }
#endif
    gs_acc run[GS_RUNS];
    const uint full = m / GS_RUN;
    for (uint s = 0; s < full; ++s) {
#if defined(GS_LOAD16) && !defined(GS_SEARCH)
        run[s] = gs_run_vector(s * GS_RUN GS_LOAD_ARGS);
#else
        run[s] = GS_RUN_NAME(base, s * GS_RUN, GS_RUN GS_LOAD_ARGS);
#endif
    }
    if (full * GS_RUN < m)
        run[full] = GS_RUN_NAME(base, full * GS_RUN, m - full * GS_RUN GS_LOAD_ARGS);
    return gs_tree(run, GS_RUNS, (m + GS_RUN - 1u) / GS_RUN);
}

#else

// Fold lane l of the run at `first`, which has m elements. The lane must be present.
static gs_acc GS_LANE_NAME(const ulong base, const uint first, const uint m,
                           const uint l GS_LOAD_PARAMS)
{
    gs_acc acc = GS_LOAD(base, first + GS_AT(0u, l));
    for (uint r = 1; r < GS_ROWS && GS_AT(r, l) < m; ++r)
        acc = GS_COMBINE(acc, GS_LOAD(base, first + GS_AT(r, l)));
    return acc;
}

// Fold the four lanes of column p of the run at `first`, which has m elements. The column must be
// present. The trees over lanes start with the four lanes of a column.
static gs_acc GS_COLUMN_NAME(const ulong base, const uint first, const uint m,
                             const uint p GS_LOAD_PARAMS)
{
    gs_acc a, b, c, d; // the lanes; not an array, which compilers would put into memory
#if GS_BATCH
    if (m == GS_RUN) {
        const ulong i = base + first;
#pragma unroll
        for (uint h = 0; h < GS_ROWS; h += GS_BATCH) {
            GS_FETCHED item[GS_BATCH][4]; // these loads are in flight at once
#pragma unroll
            for (uint r = 0; r < GS_BATCH; ++r)
#pragma unroll
                for (uint k = 0; k < 4; ++k)
                    item[r][k] = GS_FETCH(base, first + GS_AT(h + r, GS_COLUMN_LANE(p, k)));
#pragma unroll
            for (uint r = 0; r < GS_BATCH; ++r) {
                const gs_acc a1 = GS_TAKE(item[r][0], i + GS_AT(h + r, GS_COLUMN_LANE(p, 0u)));
                const gs_acc b1 = GS_TAKE(item[r][1], i + GS_AT(h + r, GS_COLUMN_LANE(p, 1u)));
                const gs_acc c1 = GS_TAKE(item[r][2], i + GS_AT(h + r, GS_COLUMN_LANE(p, 2u)));
                const gs_acc d1 = GS_TAKE(item[r][3], i + GS_AT(h + r, GS_COLUMN_LANE(p, 3u)));
                if (h + r == 0) {
                    a = a1;
                    b = b1;
                    c = c1;
                    d = d1;
                } else {
                    a = GS_COMBINE(a, a1);
                    b = GS_COMBINE(b, b1);
                    c = GS_COMBINE(c, c1);
                    d = GS_COMBINE(d, d1);
                }
            }
        }
        return GS_COLUMN_TREE(a, b, c, d, true, true, true);
    }
#endif
    const uint has_b = GS_AT(0u, GS_COLUMN_LANE(p, 1u)) < m;
    const uint has_c = GS_AT(0u, GS_COLUMN_LANE(p, 2u)) < m;
    const uint has_d = GS_AT(0u, GS_COLUMN_LANE(p, 3u)) < m;
    a = GS_LANE_NAME(base, first, m, GS_COLUMN_LANE(p, 0u) GS_LOAD_ARGS);
    b = c = d = a; // an absent lane must have some value to be handed over, though it is not used
    if (has_b)
        b = GS_LANE_NAME(base, first, m, GS_COLUMN_LANE(p, 1u) GS_LOAD_ARGS);
    if (has_c)
        c = GS_LANE_NAME(base, first, m, GS_COLUMN_LANE(p, 2u) GS_LOAD_ARGS);
    if (has_d)
        d = GS_LANE_NAME(base, first, m, GS_COLUMN_LANE(p, 3u) GS_LOAD_ARGS);
    return GS_COLUMN_TREE(a, b, c, d, has_b, has_c, has_d);
}

// Fold the m elements from `base` on, 0 < m <= GS_TILE. The result is valid in work-item 0.
// `columns` has GS_RUNS * GS_COLUMNS places; it may be reused after one barrier.
static gs_acc GS_TILE_NAME(const ulong base, const uint m, __local gs_acc *columns GS_LOAD_PARAMS)
{
    const uint id = GS_LOCAL_ID;
    const uint runs = (m + GS_RUN - 1u) / GS_RUN;
#if defined(GS_COLUMN_EACH)
    // One column per work-item and one run per sub-group: the tree over columns needs no memory.
    const uint s = id / GS_COLUMNS, p = id % GS_COLUMNS;
    const uint mine = min(s, runs - 1u); // an absent run: another one again, to no effect
    const uint left = min(m - mine * GS_RUN, GS_RUN);
    const uint present = GS_COLUMNS_PRESENT(left);
    gs_acc acc = GS_COLUMN_NAME(base, mine * GS_RUN, left, min(p, present - 1u) GS_LOAD_ARGS);
    if (m < GS_TILE) // the same for the whole group
        GS_CONVERGE();
#pragma unroll
    for (uint d = GS_TREE_FIRST(GS_COLUMNS); GS_TREE_GOES_ON(d, GS_COLUMNS); d = GS_TREE_NEXT(d)) {
        const gs_acc both = GS_COMBINE(acc, gs_shuffle_down_acc(acc, d));
        acc = p + d < present ? both : acc; // no branch: see GS_CONVERGE
    }
    if (p == 0)
        columns[s] = acc;
    GS_BARRIER_LOCAL();
    gs_acc result = columns[id % GS_RUNS]; // the tree over runs, by every sub-group
#pragma unroll
    for (uint d = GS_TREE_FIRST(GS_RUNS); GS_TREE_GOES_ON(d, GS_RUNS); d = GS_TREE_NEXT(d)) {
        const gs_acc both = GS_COMBINE(result, gs_shuffle_down_acc(result, d));
        result = id + d < runs ? both : result;
    }
    return result;
#else
    for (uint t = id; t < runs * GS_COLUMNS; t += GS_GROUP_SIZE) {
        const uint s = t / GS_COLUMNS, p = t % GS_COLUMNS;
        const uint left = min(m - s * GS_RUN, GS_RUN);
        if (p < GS_COLUMNS_PRESENT(left))
            columns[t] = GS_COLUMN_NAME(base, s * GS_RUN, left, p GS_LOAD_ARGS);
    }
    GS_BARRIER_LOCAL();
#if GS_VARIANT == GS_ANY
    // One work-item per run: few barriers make a small kernel, which matters more here.
    for (uint s = id; s < runs; s += GS_GROUP_SIZE)
        GS_TREE_FOLD(columns + s * GS_COLUMNS, GS_COLUMNS,
                     GS_COLUMNS_PRESENT(min(m - s * GS_RUN, GS_RUN)));
    GS_BARRIER_LOCAL();
#else
    for (uint d = GS_TREE_FIRST(GS_COLUMNS); GS_TREE_GOES_ON(d, GS_COLUMNS); d = GS_TREE_NEXT(d)) {
        const uint pairs = GS_TREE_PAIRS(d, GS_COLUMNS);
        for (uint t = id; t < runs * pairs; t += GS_GROUP_SIZE) {
            const uint s = t / pairs, p = GS_TREE_PLACE(t % pairs, d);
            if (p + d < GS_COLUMNS_PRESENT(min(m - s * GS_RUN, GS_RUN)))
                columns[s * GS_COLUMNS + p] =
                    GS_COMBINE(columns[s * GS_COLUMNS + p], columns[s * GS_COLUMNS + p + d]);
        }
        GS_BARRIER_LOCAL();
    }
#endif
    gs_acc run[GS_RUNS];
    run[0] = columns[0]; // for all work-items: what is returned must have a value
    if (id == 0) {
        for (uint s = 1; s < runs; ++s)
            run[s] = columns[s * GS_COLUMNS];
        run[0] = gs_tree(run, GS_RUNS, runs);
    }
    return run[0];
#endif
}

#endif
