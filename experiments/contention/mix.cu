// SPDX-License-Identifier: GPL-3.0-or-later
// Two kernels that load from memory on half of the SMs each, with arithmetic between their loads:
// README.md.
#include <vector>
#include <algorithm>
#include "../device.cuh"
struct Stamp {
    unsigned long long t0, t1;
    unsigned sm;
};
// Each block streams its own part again and again: a load of 16 bytes a thread, then ops dependent
// multiply-adds.
template <int UNROLL>
__global__ void mix(const float4 *src, size_t per_block, int rounds, int ops, Stamp *out,
                    float *sink, float b) {
    extern __shared__ char sh[];
    const float4 *p = src + (size_t)blockIdx.x * per_block;
    float acc = 0;
    unsigned long long t0 = now();
    for (int r = 0; r < rounds; r++)
        for (size_t i = threadIdx.x; i < per_block; i += (size_t)blockDim.x * UNROLL) {
            float4 v[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
                size_t k = i + (size_t)u * blockDim.x;
                v[u] = k < per_block ? __ldcs(p + k) : make_float4(0, 0, 0, 0);
            }
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
                float x = v[u].x + v[u].y + v[u].z + v[u].w;
                for (int o = 0; o < ops; o++)
                    x = fmaf(x, b, 1.0f);
                acc += x;
            }
        }
    __syncthreads();
    if (threadIdx.x == 0) {
        out[blockIdx.x].t0 = t0;
        out[blockIdx.x].t1 = now();
        unsigned sm;
        asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
        out[blockIdx.x].sm = sm;
    }
    if (acc == 1.2345f)
        *sink = acc;
}
struct Reader {
    int blocks, threads, ops, unroll;
};
float4 *buf[2];
Stamp *stamps[2];
float *sink;
cudaStream_t stream[2];
const size_t BLOCK_BYTES = (size_t)24 << 20; // bytes a block
void launch(int w, Reader k, int rounds) {
    size_t pb = BLOCK_BYTES / 16;
    int smem = 120 * 1024;
    if (k.unroll == 4) {
        CK(cudaFuncSetAttribute(mix<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
        mix<4><<<k.blocks, k.threads, smem, stream[w]>>>(buf[w], pb, rounds, k.ops, stamps[w], sink,
                                                         0.999f);
    } else {
        CK(cudaFuncSetAttribute(mix<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
        mix<1><<<k.blocks, k.threads, smem, stream[w]>>>(buf[w], pb, rounds, k.ops, stamps[w], sink,
                                                         0.999f);
    }
    CK(cudaGetLastError());
}
std::vector<Stamp> get(int w, int n) {
    std::vector<Stamp> v(n);
    CK(cudaMemcpy(v.data(), stamps[w], n * sizeof(Stamp), cudaMemcpyDeviceToHost));
    return v;
}
double span(const std::vector<Stamp> &v) {
    unsigned long long a = ~0ull, b = 0;
    for (auto &s : v) {
        a = std::min(a, s.t0);
        b = std::max(b, s.t1);
    }
    return (b - a) * 1e-9;
}
double alone(Reader k, int rounds) {
    launch(0, k, rounds);
    CK(cudaDeviceSynchronize());
    return span(get(0, k.blocks));
}
int rounds_for(Reader k, double want) {
    double t = alone(k, 2);
    t = alone(k, 4) - alone(k, 2);
    int r = (int)(want / (t / 2));
    return r < 2 ? 2 : r;
}
int main() {
    for (int w = 0; w < 2; w++) {
        CK(cudaMalloc(&buf[w], BLOCK_BYTES * 132));
        CK(cudaMemset(buf[w], 0, BLOCK_BYTES * 132));
        CK(cudaMalloc(&stamps[w], 132 * sizeof(Stamp)));
        CK(cudaStreamCreateWithFlags(&stream[w], cudaStreamNonBlocking));
    }
    CK(cudaMalloc(&sink, 4));
    cudaDeviceProp card;
    CK(cudaGetDeviceProperties(&card, 0));
    printf("# %s %d SMs\n", card.name, card.multiProcessorCount);
    alone({132, 1024, 0, 4}, 50);
    std::vector<Reader> readers;
    for (int th : {256, 1024})
        for (int op : {0, 4, 8, 16, 24, 32, 48, 64, 96, 128})
            readers.push_back({66, th, op, th == 256 ? 4 : 1});
    std::vector<double> bw(readers.size());
    for (size_t i = 0; i < readers.size(); i++) {
        int r = rounds_for(readers[i], 0.02);
        double t = alone(readers[i], r);
        t = std::min(t, alone(readers[i], r));
        bw[i] = (double)BLOCK_BYTES * 66 * r / t / 1e9;
        printf("alone threads %d ops %d unroll %d: %.0f GB/s\n", readers[i].threads, readers[i].ops,
               readers[i].unroll, bw[i]);
    }
    // A runs for a while, B five times as long, from before A to after it.
    auto beside = [&](size_t a, size_t b) {
        int ra = rounds_for(readers[a], 0.03);
        double ta = alone(readers[a], ra);
        int rb = rounds_for(readers[b], 0.15);
        launch(1, readers[b], rb);
        launch(0, readers[a], ra);
        CK(cudaDeviceSynchronize());
        auto va = get(0, 66), vb = get(1, 66);
        double t = span(va);
        unsigned long long a0 = ~0ull, a1 = 0, b0 = 0, b1 = ~0ull;
        for (auto &s : va) {
            a0 = std::min(a0, s.t0);
            a1 = std::max(a1, s.t1);
        }
        for (auto &s : vb) {
            b0 = std::max(b0, s.t0);
            b1 = std::min(b1, s.t1);
        }
        bool in = b0 <= a0 + 2000000 && b1 >= a1;
        std::vector<int> c(256, 0);
        for (auto &s : va)
            c[s.sm]++;
        int sh = 0;
        for (auto &s : vb)
            sh += c[s.sm] > 0;
        printf("pair A(th %d ops %d %.0f GB/s) B(th %d ops %d %.0f GB/s): A %.3f times as long; "
               "within %d shared SMs %d\n",
               readers[a].threads, readers[a].ops, bw[a], readers[b].threads, readers[b].ops, bw[b],
               t / ta, in, sh);
    };
    size_t half = 10;
    for (size_t i = 0; i < half; i++)
        beside(i, i);
    for (size_t i = half; i < 2 * half; i++)
        beside(i, i);
    for (size_t i : {0ul, 2ul, 4ul, 6ul, 8ul})
        for (size_t j : {0ul, 3ul, 5ul, 7ul})
            if (i != j)
                beside(half + i, half + j);
    for (size_t i : {0ul, 3ul, 6ul})
        for (size_t j : {0ul, 3ul, 6ul}) {
            beside(i, half + j);
            beside(half + j, i);
        }
    return 0;
}
