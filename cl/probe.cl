// SPDX-License-Identifier: MIT
// probe.cl - what no query tells, tried on the device itself once at open.

#define GS_PROBE_WORDS 16

// loops    trips of a loop in which each depends on the one before
// out      [GS_PROBE_WORDS] see src/run/probe.c for the meaning of each
__kernel void gstride_probe(const uint loops, const float a, const float c, const float tiny,
                            const ulong wide, __global half *halves, __global uint *out)
{
    // 0: a chain that only its full length gives the right end of
    uint x = 1u;
    for (uint i = 0; i < loops; ++i)
        x = x * 1664525u + 1013904223u;
    out[0] = x;
    // 1: a * a + c is 0 only if the product is rounded before the sum
    out[1] = as_uint(a * a + c);
    // 2: a subnormal number survives arithmetic
    out[2] = as_uint(tiny * 0.5f);
    // 3, 4: 64-bit multiplication and shift
    const ulong product = wide * wide;
    out[3] = (uint)product;
    out[4] = (uint)(product >> 32);
    // 5 ...: binary16 storage rounds to nearest even, keeps subnormals and overflows to infinity
    const float values[4] = {a, 2049.0f * a, 1e-5f * a, 65520.0f * a};
    for (uint i = 0; i < 4; ++i) {
        vstore_half_rte(values[i], i, halves);
        out[5 + i] = as_uint(vload_half(i, halves));
    }
}

__kernel void gstride_probe_atomics(volatile __global uint *counter)
{
    atomic_inc(counter);
}
