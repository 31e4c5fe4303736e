// SPDX-License-Identifier: GPL-3.0-or-later
// How long a load from L2 takes while others load from L2 or from memory, and how kernels that find what
// they load in L2 slow others and are slowed: README.md.
#include <algorithm>
#include <cstring>
#include <vector>
#include "../loads.cuh"
enum Kind { MEMORY_READ, MEMORY_COPY, L2_READ, L2_COPY };
const char *NAME[] = {"memory_read", "memory_copy", "l2_read", "l2_copy"};
struct Loader {
    Kind kind;
    int blocks, threads, ops;
};
const size_t FAR_PART = (size_t)24 << 20, NEAR_PART = 64 << 10;
const int SMEM = 120 * 1024, MOST = 132;
const long MS = 1000000;
float4 *src[2], *dst[2];
Stamp *stamps[3];
float *sink;
cudaStream_t stream[3];
void start(int w, const Loader &k, long ns) {
    size_t part = (k.kind == L2_READ || k.kind == L2_COPY ? NEAR_PART : FAR_PART) / 16;
    auto *f = k.kind == MEMORY_COPY || k.kind == L2_COPY ? stream_memory<4, 4, true> : stream_memory<4, 0, true>;
    CK(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM));
    f<<<k.blocks, k.threads, SMEM, stream[w]>>>(src[w], dst[w], part, ns, k.ops, stamps[w], sink, 0.999f);
    CK(cudaGetLastError());
}
double alone(const Loader &k) {
    start(0, k, 3 * MS);
    CK(cudaDeviceSynchronize());
    return gbs(get(stamps[0], k.blocks));
}
// Chains: of memory; of lines that stay in L2 whatever else moves, since each is used every few us.
const size_t FAR_BYTES = (size_t)2 << 30;
unsigned *far_chain, *hot_chain[4];
void latency(const Loader &k) {
    static unsigned begin = 1;
    double far = 0, hot = 0, load = 0;
    bool in = true;
    for (int c = 0; c < 5; c++) {
        begin = (begin + 12347) % (FAR_BYTES / 128 - 20000);
        start(0, k, 5 * MS);
        CK(cudaFuncSetAttribute(chase, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM));
        chase<<<1, 1, SMEM, stream[2]>>>(c < 4 ? hot_chain[c] : far_chain, c < 4 ? 0 : begin, 3 * MS, 32, stamps[2],
                                         sink);
        CK(cudaDeviceSynchronize());
        auto l = get(stamps[0], k.blocks), s = get(stamps[2], 1);
        double ns = (double)(s[0].end - s[0].begin) / s[0].bytes;
        c < 4 ? hot += ns / 4 : far = ns;
        load = gbs(l);
        in = in && inside(s, l);
    }
    printf("latency %s blocks %d threads %d ops %d load %.0f memory_ns %.1f l2_ns %.1f within %d\n", NAME[k.kind],
           k.blocks, k.threads, k.ops, load, far, hot, in);
}
void beside(const Loader &a, const Loader &b) {
    double was = alone(a), other = alone(b);
    start(1, b, 9 * MS);
    start(0, a, 4 * MS);
    CK(cudaDeviceSynchronize());
    auto va = get(stamps[0], a.blocks), vb = get(stamps[1], b.blocks);
    printf("pair %s %d %d %d alone %.0f beside %s %d %d %d alone %.0f: %.4f times, within %d\n", NAME[a.kind],
           a.blocks, a.threads, a.ops, was, NAME[b.kind], b.blocks, b.threads, b.ops, other, was / gbs(va),
           inside(va, vb));
}
int main() {
    for (int w = 0; w < 2; w++) {
        CK(cudaMalloc(&src[w], FAR_PART * MOST));
        CK(cudaMalloc(&dst[w], FAR_PART * MOST));
        CK(cudaMemset(src[w], 0, FAR_PART * MOST));
    }
    for (int w = 0; w < 3; w++) {
        CK(cudaMalloc(&stamps[w], MOST * sizeof(Stamp)));
        CK(cudaStreamCreateWithFlags(&stream[w], cudaStreamNonBlocking));
    }
    CK(cudaMalloc(&sink, 4));
    far_chain = chain(FAR_BYTES);
    for (auto &c : hot_chain)
        c = chain(8 * 128);
    cudaDeviceProp card;
    CK(cudaGetDeviceProperties(&card, 0));
    printf("# %s %d SMs\n", card.name, card.multiProcessorCount);
    alone({MEMORY_READ, 132, 1024, 0});
    for (int i = 0; i < 3; i++)
        latency({MEMORY_READ, 1, 32, 100000});
    const Kind KINDS[] = {MEMORY_READ, MEMORY_COPY, L2_READ, L2_COPY};
    for (Kind k : KINDS)
        for (int threads : {256, 1024})
            for (int blocks : {8, 16, 33, 66, 99, 131})
                latency({k, blocks, threads, 0});
    for (Kind k : KINDS)
        for (int ops : {16, 64, 256})
            latency({k, 131, 1024, ops});
    for (Kind k : KINDS)
        for (int threads : {32, 64, 128})
            latency({k, 131, threads, 0});
    std::vector<Loader> some;
    for (Kind k : KINDS)
        for (int threads : {64, 256, 1024})
            some.push_back({k, 66, threads, 0});
    for (Kind k : KINDS)
        some.push_back({k, 66, 1024, 64});
    for (auto &a : some)
        for (auto &b : some)
            beside(a, b);
    return 0;
}
