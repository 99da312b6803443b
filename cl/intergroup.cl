// SPDX-License-Identifier: MIT
// intergroup.cl - the whole protocol between work-groups: publishing words, and "who is last?".
//
// OpenCL's fences and barriers reach the work-group only. Published words are therefore written and
// read with device-coherent accesses: relaxed gpu-scope ones on PTX, atomics elsewhere. A group
// publishes, then arrives; the one group that sees the last count reads what all have published.
// No group ever waits for another. Why this is safe: docs/kernels.md, "Between groups".

static void gs_publish_word(volatile __global uint *at, const uint word)
{
#if GS_PTX
    asm volatile("st.relaxed.gpu.u32 [%0], %1;" : : "l"(at), "r"(word) : "memory");
#else
    (void)atomic_xchg(at, word);
#endif
}

static uint gs_published_word(volatile __global uint *at)
{
#if GS_PTX
    uint word;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
#else
    return atomic_add(at, 0u);
#endif
}

// Count this group as arrived. True for the last of `groups`; then the counter is 0 again and what
// every group published before arriving can be read. Called by one work-item per group.
static uint gs_arrive(volatile __global uint *counter, const uint groups)
{
#if GS_PTX
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
#else
    mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
    const uint last = atomic_inc(counter) == groups - 1u;
    if (last)
        (void)atomic_xchg(counter, 0u);
#if GS_PTX
    asm volatile("fence.acq_rel.gpu;" : : : "memory");
#else
    mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
    return last;
}
