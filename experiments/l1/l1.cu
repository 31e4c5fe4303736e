// SPDX-License-Identifier: GPL-3.0-or-later
// How much L1 a kernel finds where others hold shared memory.
//
//   l1                blocks of 256 threads, one on each SM, read KiB of their own again and again, and the
//                     clocks for a KiB are printed: alone, and beside a block of one warp on each SM that
//                     sleeps and has 1 KiB of shared memory, but asks for 100, 0, 25 and 50 % of it
//   l1 push BYTES     until it is killed, kernels of one sleeping warp and BYTES of shared memory on each SM,
//                     5 us each, one after another
#include <cstdio>
#include <cstdlib>

#define CARVEOUT cudaFuncAttributePreferredSharedMemoryCarveout
enum { SMS = 132, THREADS = 256, REGION = 1 << 18, PASSES = 9, MOST_SHARED = 204800 };

static __device__ long long now_ns() {
    long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

static __global__ void hold(long long ns) {
    extern __shared__ int shared[];
    if (ns < 0) shared[threadIdx.x] = 1;
    for (long long from = now_ns(); now_ns() - from < ns;) __nanosleep(500);
}

static __global__ void read(const int4 *all, int n, long long *clocks) {
    const int4 *own = all + (size_t)blockIdx.x * (REGION / sizeof(int4));
    int sum = 0;
    long long from = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        if (pass == 1) from = clock64();
        for (int i = threadIdx.x; i < n; i += THREADS) {
            int4 v;
            asm volatile("ld.global.ca.v4.s32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(own + i));
            sum += v.x ^ v.y ^ v.z ^ v.w;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - from + (sum == 12345);
}

static int push(int bytes) {
    cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_SHARED);
    if (bytes == 0) cudaFuncSetAttribute(hold, CARVEOUT, 0);
    for (int i = 0;; i++) {
        hold<<<SMS, 32, bytes>>>(5000);
        if (i == 0) puts(cudaGetErrorString(cudaDeviceSynchronize())), fflush(stdout);
        if (i % 64 == 0) cudaDeviceSynchronize();
    }
}

int main(int argc, char **argv) {
    if (argc > 2) return push(atoi(argv[2]));
    int4 *all;
    long long *clocks;
    cudaStream_t beside, own;
    cudaMalloc(&all, (size_t)SMS * REGION);
    cudaMemset(all, 1, (size_t)SMS * REGION);
    cudaMallocHost(&clocks, SMS * sizeof *clocks);
    cudaStreamCreate(&beside);
    cudaStreamCreate(&own);
    for (int kib : {12, 16, 20, 24, 28, 32, 48, 64, 96, 128, 160, 192, 224, 240}) {
        printf("%d", kib);
        for (int part : {-1, 100, 0, 25, 50}) {
            if (part >= 0) cudaFuncSetAttribute(hold, CARVEOUT, part), hold<<<SMS, 32, 1024, beside>>>(3000000);
            read<<<SMS, THREADS, 0, own>>>(all, kib * 64, clocks);
            cudaDeviceSynchronize();
            double sum = 0;
            for (int b = 0; b < SMS; b++) sum += clocks[b];
            printf(" %.2f", sum / SMS / (PASSES - 1) / kib);
        }
        puts("");
    }
}
