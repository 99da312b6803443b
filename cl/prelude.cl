// SPDX-License-Identifier: MIT
// prelude.cl - what every program of the library starts with. The only file with vendor code.
//
// The host defines before it
//   GS_VARIANT     GS_ITEM (groups of one work-item), GS_FIXED (of GS_GROUP_SIZE, known now) or
//                  GS_ANY (of any size, known at launch)
//   GS_PTX         1 if inline PTX of compute capability 7.0 or newer may be used
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

#define GS_ITEM  1
#define GS_FIXED 2
#define GS_ANY   3

#if GS_VARIANT == GS_ITEM
#define GS_GROUP_SIZE 1u
#define GS_LOCAL_ID   0u
#define GS_BARRIER_LOCAL()
#define GS_BARRIER_GLOBAL()
#define GS_KERNEL __kernel __attribute__((reqd_work_group_size(1, 1, 1)))
#else
#define GS_BARRIER_LOCAL()  barrier(CLK_LOCAL_MEM_FENCE)
#define GS_BARRIER_GLOBAL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define GS_LOCAL_ID         ((uint)get_local_id(0))
#if GS_VARIANT == GS_ANY
#define GS_GROUP_SIZE ((uint)get_local_size(0))
#define GS_KERNEL     __kernel
#else
#define GS_KERNEL __kernel __attribute__((reqd_work_group_size(GS_GROUP_SIZE, 1, 1)))
#endif
#endif

// Exchange of 32-bit words inside a sub-group of 32 work-items: the value of the item `distance`
// above the caller's, or an unspecified one past the end. Only where GS_SUBGROUP_32 is defined; the
// twin without it goes through local memory and combines the same pairs.
#if GS_PTX && GS_VARIANT == GS_FIXED
#if GS_GROUP_SIZE % 32 == 0
#define GS_SUBGROUP_32
#endif
#endif
#if defined(GS_SUBGROUP_32)
// After a branch in which work-items part, the compiler may give each way a shuffle of its own, and
// they would wait for each other for ever. A barrier is where it must bring them together again.
#define GS_CONVERGE() barrier(CLK_LOCAL_MEM_FENCE)
static uint gs_shuffle_down(const uint value, const uint distance)
{
    uint result;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;"
                 : "=r"(result)
                 : "r"(value), "r"(distance));
    return result;
}
#endif

// Store binary16 rounded to nearest even. Hardware makes different NaNs of a NaN; one is stored.
static void gs_store_half(const float value, const ulong index, __global half *at)
{
    if (value != value)
        ((__global ushort *)at)[index] = 0x7e00;
    else
        vstore_half_rte(value, index, at);
}
