// SPDX-License-Identifier: GPL-3.0-or-later
// A neighbour that holds some SMs whole for a while, and computes, reads or copies there; and a
// kernel that holds a stream for a while. For chains.py: README.md.
#include "../device.cuh"
#include <cstdint>
static unsigned long long *moved;
static float4 *memory;
static float *sink;
static cudaStream_t stream;
static const size_t PART = (size_t)24 << 20;
enum { MOST = 132, LOADS = 4, KEPT = 44 };
// 64 registers for each of 1024 threads are all that an SM has, so no other block comes there.
__global__ void __launch_bounds__(1024, 1) neighbour(float4 *memory, size_t part, int reads, int stores,
                                                     long rest_ns, unsigned long long most_ns, unsigned long long *moved,
                                                     float *sink) {
    float kept[KEPT], acc = 0;
#pragma unroll
    for (int k = 0; k < KEPT; k++)
        kept[k] = (float)(threadIdx.x + k);
    float4 *p = memory + (size_t)blockIdx.x * part;
    unsigned long long t0 = now(), n = 0;
    size_t i = threadIdx.x;
    while (now() < t0 + most_ns) {
        if (reads) {
            float4 v[LOADS];
#pragma unroll
            for (int u = 0; u < LOADS; u++)
                v[u] = __ldcg(p + i + (size_t)u * 1024);
#pragma unroll
            for (int u = 0; u < LOADS; u++) {
                if (stores)
                    p[i + (size_t)u * 1024 + part / 2] = v[u];
                else
                    acc += v[u].x + v[u].y + v[u].z + v[u].w;
            }
            i += 1024 * LOADS;
            if (i + 1024 * LOADS > (stores ? part / 2 : part))
                i = threadIdx.x;
            n += (1 + stores) * LOADS * 1024 * 16;
        }
        if (rest_ns) {
            unsigned long long from = now();
            while (now() < from + rest_ns)
                ;
        }
#pragma unroll
        for (int k = 0; k < KEPT; k++)
            asm volatile("" : "+f"(kept[k]));
    }
#pragma unroll
    for (int k = 0; k < KEPT; k++)
        acc += kept[k];
    if (threadIdx.x == 0) {
        moved[2 * blockIdx.x] = n;
        moved[2 * blockIdx.x + 1] = now() - t0;
    }
    if (acc == 1.2345f)
        *sink = acc;
}
__global__ void hold(unsigned long long ns) {
    unsigned long long t0 = now();
    while (now() < t0 + ns)
        ;
}
extern "C" {
void begin() {
    CK(cudaMalloc(&memory, PART * MOST));
    CK(cudaMemset(memory, 0, PART * MOST));
    CK(cudaHostAlloc(&moved, MOST * 16, cudaHostAllocMapped));
    CK(cudaMalloc(&sink, 4));
    CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaFuncAttributes a;
    CK(cudaFuncGetAttributes(&a, neighbour));
    fprintf(stderr, "neighbour: %d registers\n", a.numRegs);
}
void start(int blocks, int reads, int stores, long rest_ns, long ns) {
    neighbour<<<blocks, 1024, 0, stream>>>(memory, PART / 16, reads, stores, rest_ns, (unsigned long long)ns, moved, sink);
    CK(cudaGetLastError());
}
double stop(int blocks) { // GB/s
    CK(cudaStreamSynchronize(stream));
    double gbs = 0;
    for (int b = 0; b < blocks; b++)
        gbs += (double)moved[2 * b] / (double)moved[2 * b + 1];
    return gbs;
}
void hold_stream(void *s, long ns) {
    hold<<<1, 32, 0, (cudaStream_t)s>>>(ns);
    CK(cudaGetLastError());
}
}
