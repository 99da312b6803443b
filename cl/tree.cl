// SPDX-License-Identifier: MIT
// tree.cl - the fixed trees of reduce, and accumulators as words.
//
// A tree folds a[0 .. present) of `width` places (a power of two) into a[0]. Places from `present`
// on are absent and take no part, so no identity is needed. GS_ORDERED keeps the order of the
// places for operators that do not commute: neighbours first. Otherwise halves meet, which vector
// units like. The pairs depend on nothing else.

#define GS_ACC_WORDS (sizeof(gs_acc) / sizeof(uint))

typedef union {
    gs_acc acc;
    uint words[GS_ACC_WORDS];
} gs_acc_words;

#if GS_ORDERED
#define GS_TREE_FIRST(width)       1u
#define GS_TREE_GOES_ON(d, width)  ((d) < (width))
#define GS_TREE_NEXT(d)            ((d) * 2u)
#define GS_TREE_PLACE(t, d)        ((t) * 2u * (d)) // place of the t-th pair
#define GS_TREE_PAIRS(d, width)    ((width) / (2u * (d)))
#else
#define GS_TREE_FIRST(width)       ((width) / 2u)
#define GS_TREE_GOES_ON(d, width)  ((d) > 0u)
#define GS_TREE_NEXT(d)            ((d) / 2u)
#define GS_TREE_PLACE(t, d)        (t)
#define GS_TREE_PAIRS(d, width)    (d)
#endif

// As a statement, for places in any address space.
#define GS_TREE_FOLD(a, width, present)                                                            \
    for (uint gs_d = GS_TREE_FIRST(width); GS_TREE_GOES_ON(gs_d, width);                           \
         gs_d = GS_TREE_NEXT(gs_d))                                                                \
        for (uint gs_t = 0; gs_t < GS_TREE_PAIRS(gs_d, width); ++gs_t)                             \
            if (GS_TREE_PLACE(gs_t, gs_d) + gs_d < (present))                                      \
                (a)[GS_TREE_PLACE(gs_t, gs_d)] =                                                   \
                    GS_COMBINE((a)[GS_TREE_PLACE(gs_t, gs_d)],                                     \
                               (a)[GS_TREE_PLACE(gs_t, gs_d) + gs_d])

static gs_acc gs_tree(gs_acc *a, const uint width, const uint present)
{
    GS_TREE_FOLD(a, width, present);
    return a[0];
}

static void gs_publish(volatile __global uint *partials, const ulong place, const gs_acc acc)
{
    gs_acc_words u;
    u.acc = acc;
    for (uint w = 0; w < GS_ACC_WORDS; ++w)
        gs_publish_word(partials + place * GS_ACC_WORDS + w, u.words[w]);
}

static gs_acc gs_published(volatile __global uint *partials, const ulong place)
{
    gs_acc_words u;
    for (uint w = 0; w < GS_ACC_WORDS; ++w)
        u.words[w] = gs_published_word(partials + place * GS_ACC_WORDS + w);
    return u.acc;
}

#if defined(GS_SUBGROUP_32)
static gs_acc gs_shuffle_down_acc(const gs_acc acc, const uint distance)
{
    gs_acc_words u;
    u.acc = acc;
    for (uint w = 0; w < GS_ACC_WORDS; ++w)
        u.words[w] = gs_shuffle_down(u.words[w], distance);
    return u.acc;
}
#endif
