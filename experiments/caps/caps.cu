// SPDX-License-Identifier: GPL-3.0-or-later
// A client of MPS under a cap. `caps sms` prints the SMs that the driver shows it, and those that
// blocks of a kernel of many waves were on. `caps run KIND STEPS WAVES FILLS BEGIN SECONDS OUT`
// launches kernels one after another from BEGIN (s of the wall) on, waits after each twenty, and
// writes of each block its kernel, its SM, its begin and its end (ns of the device's clock).
// KIND: whole (a block has an SM to itself), thin (1024 threads), two (two blocks fill an SM).
#include <string.h>
#include <time.h>
#include "../device.cuh"
enum { THREADS = 1024, SHARED = 227 * 1024, BATCH = 20, BLOCKS = 4 << 20 };
struct Block { unsigned kernel, sm; unsigned long long begin, end; };
__device__ unsigned on_sm() { unsigned sm; asm volatile("mov.u32 %0, %smid;" : "=r"(sm)); return sm; }
__global__ void burn(Block *out, unsigned kernel, unsigned long long steps, unsigned *sink) {
    unsigned long long begin = now();
    unsigned x = threadIdx.x;
    for (unsigned long long i = 0; i < steps; i++)
        asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(x));
    if (x == 0) *sink = x;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = {kernel, on_sm(), begin, now()};
}
static double wall() { timespec t; clock_gettime(CLOCK_REALTIME, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static int seen() { int n; CK(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0)); return n; }
static Block *blocks() { Block *p; CK(cudaMalloc(&p, sizeof(Block) * BLOCKS)); CK(cudaMemset(p, 0, sizeof(Block) * BLOCKS)); return p; }
static void sms(unsigned *sink) {
    Block *at = blocks();
    size_t n = 132 * 20;
    burn<<<n, THREADS, SHARED>>>(at, 0, 3000, sink);
    CK(cudaDeviceSynchronize());
    std::vector<Block> got(n);
    CK(cudaMemcpy(got.data(), at, sizeof(Block) * n, cudaMemcpyDeviceToHost));
    std::vector<int> is(256, 0);
    for (auto &b : got) is[b.sm] = 1;
    const char *cap = getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
    printf("%s,%d,%d\n", cap ? cap : "100", seen(), std::accumulate(is.begin(), is.end(), 0));
}
int main(int n, char **arg) {
    unsigned *sink;
    CK(cudaMalloc(&sink, 4));
    CK(cudaFuncSetAttribute(burn, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    if (n < 9) { sms(sink); return 0; }
    bool is_whole = !strcmp(arg[2], "whole");
    int per_sm = !strcmp(arg[2], "two") ? 2 : 1, waves = atoi(arg[4]), fills = atoi(arg[5]);
    unsigned long long steps = strtoull(arg[3], NULL, 10);
    unsigned on = (unsigned)(seen() < fills ? seen() : fills), grid = on * per_sm * waves;
    double begin = atof(arg[6]), end = begin + atof(arg[7]);
    Block *at = blocks();
    burn<<<1, 32>>>(at, 0, 1, sink);
    CK(cudaDeviceSynchronize());
    if (wall() > begin) fprintf(stderr, "late by %.3f s\n", wall() - begin);
    while (wall() < begin) ;
    unsigned k = 0;
    while (wall() < end && (size_t)(k + BATCH) * grid <= BLOCKS) {
        for (int i = 0; i < BATCH; i++, k++)
            burn<<<grid, THREADS, is_whole ? SHARED : 0>>>(at + (size_t)k * grid, k, steps, sink);
        CK(cudaDeviceSynchronize());
    }
    std::vector<Block> got((size_t)k * grid);
    CK(cudaMemcpy(got.data(), at, sizeof(Block) * got.size(), cudaMemcpyDeviceToHost));
    FILE *f = fopen(arg[8], "wb");
    unsigned head[4] = {on, grid, k, (unsigned)seen()};
    fwrite(head, sizeof head, 1, f);
    fwrite(got.data(), sizeof(Block), got.size(), f);
    return fclose(f);
}
