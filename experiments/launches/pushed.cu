// SPDX-License-Identifier: GPL-3.0-or-later
// What part of the lines of L2 is gone after another kernel has moved so many bytes: README.md.
#include <algorithm>
#include <vector>
#include "../device.cuh"
enum { LINES = 4096, STEP = 1597 }; // 512 KB; prime to LINES
__global__ void touch(const unsigned *p, float *sink) {
    unsigned sum = 0;
    for (int round = 0; round < 2; round++)
        for (int i = threadIdx.x; i < LINES; i += blockDim.x)
            sum += __ldcg(p + (size_t)i * 32);
    if (sum == 1)
        *sink = 1;
}
__global__ void move(const float4 *src, float4 *dst, size_t n, float *sink) {
    float acc = 0;
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float4 v = __ldcg(src + i);
        if (dst)
            dst[i] = v;
        acc += v.x;
    }
    if (acc == 1.2345f)
        *sink = acc;
}
// One load after another, each once.
__global__ void probe(const unsigned *p, float *sink) {
    unsigned at = 0;
    for (int i = 0; i < LINES; i++)
        at = __ldcg(p + (size_t)((unsigned)i * STEP % LINES) * 32 + at);
    if (at == 1)
        *sink = 1;
}
static float *sink;
static cudaEvent_t from, to;
// Nanoseconds a load after the kernel has moved these bytes: the middle of 15.
static double after(const unsigned *lines, float4 *mem, size_t all, size_t bytes, bool copies) {
    static size_t at;
    std::vector<double> ns;
    for (int round = 0; round < 15; round++) {
        at = at + bytes > all ? 0 : at;
        float4 *dst = copies ? mem + (at + bytes / 2) / 16 : nullptr;
        touch<<<1, 1024>>>(lines, sink);
        if (bytes)
            move<<<264, 1024>>>(mem + at / 16, dst, bytes / (copies ? 32 : 16), sink);
        CK(cudaEventRecord(from));
        probe<<<1, 1>>>(lines, sink);
        CK(cudaEventRecord(to));
        CK(cudaDeviceSynchronize());
        float ms;
        CK(cudaEventElapsedTime(&ms, from, to));
        ns.push_back(ms * 1e6 / LINES);
        at += bytes;
    }
    std::sort(ns.begin(), ns.end());
    return ns[ns.size() / 2];
}
int main() {
    size_t all = (size_t)4 << 30;
    unsigned *lines;
    float4 *mem;
    CK(cudaMalloc(&lines, LINES * 128));
    CK(cudaMemset(lines, 0, LINES * 128));
    CK(cudaMalloc(&mem, all));
    CK(cudaMemset(mem, 0, all));
    CK(cudaMalloc(&sink, 4));
    CK(cudaEventCreate(&from));
    CK(cudaEventCreate(&to));
    cudaDeviceProp gpu;
    CK(cudaGetDeviceProperties(&gpu, 0));
    printf("# %s, L2 of %d bytes\nMB,reads_ns,copies_ns\n", gpu.name, gpu.l2CacheSize);
    for (int mb : {0,  1,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20,  22,  24,  26,  28, 30,
                   32, 36, 40, 44, 48, 52, 56, 60, 64, 72, 80, 96, 128, 160, 192, 256, 512})
        printf("%d,%.1f,%.1f\n", mb, after(lines, mem, all, (size_t)mb << 20, false),
               after(lines, mem, all, (size_t)mb << 20, true));
    return 0;
}
