// SPDX-License-Identifier: MIT
// reduce_store.cl - the last step of every reduction: from an accumulator to the result.
//
// The host defines GS_STORE(k, value), which stores element k of the result at gs_out,
// gs_out_offset.

static void gs_store_result(const gs_acc acc, const ulong gs_n, GS_OUT_POINTER gs_out,
                            const ulong gs_out_offset)
{
#if defined(GS_OP_MINMAX)
    GS_STORE(0, (GS_OUT)GS_UNKEY(acc.low));
    GS_STORE(1, (GS_OUT)GS_UNKEY(acc.high));
#else
    GS_STORE(0, GS_RESULT(acc, gs_n));
#endif
}
