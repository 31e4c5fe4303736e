// SPDX-License-Identifier: GPL-3.0-or-later
// How many blocks of a kernel of several waves have begun and ended at each part of its time: README.md.
#include "../device.cuh"
#include <vector>
struct Stamp {
    unsigned long long begin, end;
};
enum Work { COMPUTE, COPY, SMALL, PRODUCT };
const char *NAME[] = {"compute", "copy", "small", "product"};
// A block multiplies and adds a fixed number of times, copies a part of an array, or does both in turns.
template <int WORK> __global__ void work(const float4 *src, float4 *dst, int rounds, Stamp *out, float b) {
    extern __shared__ float part[];
    unsigned long long t0 = now();
    float f[4] = {b, 1 + b, 2 + b, 3 + b};
    size_t per_block = (size_t)rounds * blockDim.x;
    const float4 *p = src + blockIdx.x * per_block;
    float4 *q = dst + blockIdx.x * per_block;
    for (int i = 0; i < rounds; i++) {
        if (WORK == COMPUTE || WORK == PRODUCT)
#pragma unroll 16
            for (int j = 0; j < 64; j++)
                for (int c = 0; c < 4; c++)
                    f[c] = fmaf(f[c], b, 1.0f);
        if (WORK == COPY || WORK == SMALL)
            __stcs(q + i * blockDim.x + threadIdx.x, __ldcs(p + i * blockDim.x + threadIdx.x));
        if (WORK == PRODUCT) {
            float4 v = __ldcg(src + ((size_t)(blockIdx.x % 64) * rounds + i) * blockDim.x + threadIdx.x);
            part[threadIdx.x] = v.x;
            __syncthreads();
            f[0] += part[(threadIdx.x + 37) % blockDim.x];
            __syncthreads();
        }
    }
    if (f[0] + f[1] + f[2] + f[3] == 12345.0f)
        dst[0].x = f[0];
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = {t0, now()};
}
float4 *src, *dst;
Stamp *stamps;
template <int WORK> void run(int threads, int shared, int rounds, int in_flight, double waves) {
    int blocks = (int)(in_flight * waves);
    CK(cudaFuncSetAttribute(work<WORK>, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 * 1024));
    for (int i = 0; i < 2; i++)
        work<WORK><<<blocks, threads, shared>>>(src, dst, rounds, stamps, 0.999f);
    CK(cudaDeviceSynchronize());
    std::vector<Stamp> s(blocks);
    CK(cudaMemcpy(s.data(), stamps, blocks * sizeof(Stamp), cudaMemcpyDeviceToHost));
    unsigned long long first = ~0ull, last = 0;
    double mean = 0;
    for (auto &b : s)
        first = std::min(first, b.begin), last = std::max(last, b.end), mean += (double)(b.end - b.begin) / blocks;
    printf("%s threads %d blocks %d in_flight %d waves %.2f: %.2f us, a block %.2f us; ended:", NAME[WORK], threads,
           blocks, in_flight, waves, (last - first) / 1e3, mean / 1e3);
    for (int part = 1; part < 20; part++) {
        unsigned long long at = first + (last - first) * part / 20;
        int begun = 0, ended = 0;
        for (auto &b : s)
            begun += b.begin <= at, ended += b.end <= at;
        printf(" %.3f/%.3f", (double)ended / blocks, (double)begun / blocks);
    }
    printf("\n");
}
int main() {
    cudaDeviceProp card;
    CK(cudaGetDeviceProperties(&card, 0));
    CK(cudaMalloc(&src, (size_t)4 << 30));
    CK(cudaMalloc(&dst, (size_t)4 << 30));
    CK(cudaMemset(src, 0, (size_t)4 << 30));
    CK(cudaMalloc(&stamps, sizeof(Stamp) << 20));
    int sms = card.multiProcessorCount;
    printf("# %s %d SMs; of 20 parts of the time: blocks that have ended/begun\n", card.name, sms);
    for (double waves : {1.0, 1.1, 1.5, 1.94, 2.5, 4.0, 7.5, 15.5, 31.5}) {
        run<COMPUTE>(128, 100 * 1024, 400, 2 * sms, waves);
        run<COMPUTE>(128, 100 * 1024, 40, 2 * sms, waves);
        run<PRODUCT>(128, 100 * 1024, 200, 2 * sms, waves);
        run<PRODUCT>(256, 100 * 1024, 40, 2 * sms, waves);
        run<COPY>(256, 0, 32, 8 * sms, waves);
        run<COPY>(256, 100 * 1024, 64, 2 * sms, waves);
        run<SMALL>(128, 0, 4, 16 * sms, waves);
        run<SMALL>(128, 0, 1, 16 * sms, waves);
    }
    return 0;
}
