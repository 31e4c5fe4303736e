// SPDX-License-Identifier: GPL-3.0-or-later
// What programs share that measure how kernels load beside each other: when blocks were there and what they moved,
// and a thread that follows a chain of addresses.
#pragma once
#include "device.cuh"
struct Stamp {
    unsigned long long begin, end, bytes;
};
// Each block streams its own part again and again until its time is over: LOADS loads of 16 bytes a
// thread, ops dependent multiply-adds for each, and a store for each of the first STORES of
// them. What STAYS is loaded past L1, and may be found in L2 again; the rest is the first that
// caches lose.
template <int LOADS, int STORES, bool STAYS>
__global__ void stream_memory(const float4 *src, float4 *dst, size_t per_block, long ns, int ops,
                              Stamp *out, float *sink, float b) {
    const int EACH = LOADS > STORES ? LOADS : STORES;
    const float4 *p = src + (size_t)blockIdx.x * per_block;
    float4 *q = dst + (size_t)blockIdx.x * per_block;
    float acc = 0;
    unsigned long long t0 = now(), n = 0, t1;
    size_t i = threadIdx.x;
    do {
        for (int step = 0; step < 32; step++) {
            float4 v[EACH];
#pragma unroll
            for (int u = 0; u < EACH; u++)
                v[u] = u >= LOADS ? make_float4(b, b, b, b)
                       : STAYS    ? __ldcg(p + i + (size_t)u * blockDim.x)
                                  : __ldcs(p + i + (size_t)u * blockDim.x);
#pragma unroll
            for (int u = 0; u < EACH; u++) {
                float x = v[u].x + v[u].y + v[u].z + v[u].w;
                for (int o = 0; o < ops; o++)
                    x = fmaf(x, b, 1.0f);
                float4 *to = q + i + (size_t)u * blockDim.x, moved = make_float4(x, v[u].y, v[u].z, v[u].w);
                if (u < STORES && STAYS)
                    __stcg(to, moved);
                else if (u < STORES)
                    __stcs(to, moved);
                else
                    acc += x;
            }
            i += (size_t)blockDim.x * EACH;
            if (i + (size_t)blockDim.x * EACH > per_block)
                i = threadIdx.x;
        }
        n += 32ull * (LOADS + STORES) * 16;
        t1 = now();
    } while (t1 < t0 + ns);
    __shared__ unsigned long long bytes, first, last;
    if (threadIdx.x == 0) {
        bytes = 0;
        first = ~0ull;
        last = 0;
    }
    __syncthreads();
    atomicAdd(&bytes, n);
    atomicMin(&first, t0);
    atomicMax(&last, t1);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = {first, last, bytes};
    if (acc == 1.2345f)
        *sink = acc;
}
// One thread follows a chain of addresses; each line of it is visited once in a round.
static __global__ void chase(const unsigned *next, unsigned start, long ns, int stride, Stamp *out,
                      float *sink) {
    unsigned at = start;
    unsigned long long t0 = now(), n = 0, t1;
    do {
        for (int i = 0; i < 64; i++)
            at = __ldcg(next + (size_t)at * stride);
        n += 64;
        t1 = now();
    } while (t1 < t0 + ns);
    out[0] = {t0, t1, n};
    if (at == 0xffffffffu)
        *sink = 1;
}
inline std::vector<Stamp> get(const Stamp *stamps, int n) {
    std::vector<Stamp> v(n);
    CK(cudaMemcpy(v.data(), stamps, n * sizeof(Stamp), cudaMemcpyDeviceToHost));
    return v;
}
inline double gbs(const std::vector<Stamp> &v) {
    double sum = 0;
    for (auto &s : v)
        sum += (double)s.bytes / (double)(s.end - s.begin);
    return sum;
}
inline bool inside(const std::vector<Stamp> &in, const std::vector<Stamp> &out) {
    unsigned long long a0 = ~0ull, a1 = 0, b0 = 0, b1 = ~0ull;
    for (auto &s : in)
        a0 = std::min(a0, s.begin), a1 = std::max(a1, s.end);
    for (auto &s : out)
        b0 = std::max(b0, s.begin), b1 = std::min(b1, s.end);
    return b0 <= a0 && b1 >= a1;
}
