// SPDX-License-Identifier: MIT
// peer_cub.cu - the same cases by CUB and CUDA on the same GPU.
#include "bench.h"

#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

static uint64_t count;
static float *x, *y, *z, *w;
static uint64_t *u;
static void *scratch, *result;
static size_t scratch_bytes;

template <class T, class F> __global__ void generate(uint64_t n, T *out, F value)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * (uint64_t)blockDim.x)
        out[i] = value(i);
}

struct fraction {
    __device__ float operator()(uint64_t i) const
    {
        return (float)(i * 2654435761u >> 8 & 0xffffff) / 16777216.0f;
    }
};

struct integer {
    __device__ uint64_t operator()(uint64_t i) const
    {
        return i * 0x9e3779b97f4a7c15u;
    }
};

// One element per work-item: the fastest plain CUDA loop on this kind of GPU.
__global__ void axpy_kernel(uint64_t n, float a, const float *__restrict__ x, float *__restrict__ y)
{
    uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void map3_kernel(uint64_t n, const float *__restrict__ x, const float *__restrict__ y,
                            const float *__restrict__ z, float *__restrict__ w)
{
    uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < n)
        w[i] = x[i] * y[i] + z[i];
}

struct product {
    const float *x, *y;
    __device__ float operator()(uint64_t i) const
    {
        return x[i] * y[i];
    }
};

static bool open_peer(uint64_t n)
{
    count = n;
    scratch_bytes = 64 << 20;
    bool good = cudaMalloc(&x, n * 4) == cudaSuccess && cudaMalloc(&y, n * 4) == cudaSuccess &&
                cudaMalloc(&z, n * 4) == cudaSuccess && cudaMalloc(&w, n * 4) == cudaSuccess &&
                cudaMalloc(&u, n * 8) == cudaSuccess &&
                cudaMalloc(&scratch, scratch_bytes) == cudaSuccess &&
                cudaMalloc(&result, 64) == cudaSuccess;
    if (!good)
        return false;
    for (float *out : {x, y, z, w})
        generate<<<1024, 256>>>(n, out, fraction());
    generate<<<1024, 256>>>(n, u, integer());
    return cudaDeviceSynchronize() == cudaSuccess;
}

static void close_peer(void)
{
    for (void *p : {(void *)x, (void *)y, (void *)z, (void *)w, (void *)u, scratch, result})
        cudaFree(p);
}

static cudaError_t call(enum bench_case c)
{
    size_t bytes = scratch_bytes;
    unsigned blocks = (unsigned)((count + 255) / 256);
    switch (c) {
    case BENCH_COPY_F32:
        return cudaMemcpyAsync(y, x, count * 4, cudaMemcpyDeviceToDevice);
    case BENCH_AXPY_F32:
        axpy_kernel<<<blocks, 256>>>(count, 0.5f, x, y);
        return cudaGetLastError();
    case BENCH_MAP3_F32:
        map3_kernel<<<blocks, 256>>>(count, x, y, z, w);
        return cudaGetLastError();
    case BENCH_SUM_F32:
        return cub::DeviceReduce::Sum(scratch, bytes, x, (float *)result, count);
    case BENCH_MAX_F32:
        return cub::DeviceReduce::Max(scratch, bytes, x, (float *)result, count);
    case BENCH_ARGMIN_F32:
        return cub::DeviceReduce::ArgMin(scratch, bytes, x,
                                         (cub::KeyValuePair<int, float> *)result, (int)count);
    case BENCH_DOT_F32: {
        auto products = thrust::make_transform_iterator(thrust::make_counting_iterator<uint64_t>(0),
                                                        product{x, y});
        return cub::DeviceReduce::Sum(scratch, bytes, products, (float *)result, count);
    }
    case BENCH_SUM_U64:
        return cub::DeviceReduce::Sum(scratch, bytes, u, (uint64_t *)result, count);
    default:
        return cudaErrorNotSupported;
    }
}

static bool run(enum bench_case c, int calls)
{
    for (int k = 0; k < calls; ++k)
        if (call(c) != cudaSuccess)
            return false;
    return cudaDeviceSynchronize() == cudaSuccess;
}

extern "C" const struct bench_peer bench_peer_cub = {"CUB", open_peer, run, close_peer};
