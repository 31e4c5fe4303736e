// SPDX-License-Identifier: GPL-3.0-or-later
// How long a load takes while others load and store, and how two kernels slow each other: README.md.
#include <algorithm>
#include <vector>
#include "../loads.cuh"
enum Kind { READ1, READ4, COPY1, COPY4, FEW, SOME, FILL };
const char *NAME[] = {"read1", "read4", "copy1", "copy4", "few", "some", "fill"};
struct Loader {
    Kind kind;
    int blocks, threads, ops;
};
const size_t BLOCK_BYTES = (size_t)24 << 20;
const int SMEM = 120 * 1024, MOST = 132;
float4 *src[2], *dst[2];
Stamp *stamps[3];
float *sink;
cudaStream_t stream[3];
unsigned *far_chain, *near_chain;
template <int L, int S> void start(int w, const Loader &k, long ns) {
    CK(cudaFuncSetAttribute(stream_memory<L, S, false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            SMEM));
    stream_memory<L, S, false><<<k.blocks, k.threads, SMEM, stream[w]>>>(
        src[w], dst[w], BLOCK_BYTES / 16, ns, k.ops, stamps[w], sink, 0.999f);
    CK(cudaGetLastError());
}
void start(int w, const Loader &k, long ns) {
    switch (k.kind) {
    case READ1:
        start<1, 0>(w, k, ns);
        break;
    case READ4:
        start<4, 0>(w, k, ns);
        break;
    case COPY1:
        start<1, 1>(w, k, ns);
        break;
    case COPY4:
        start<4, 4>(w, k, ns);
        break;
    case FEW:
        start<4, 1>(w, k, ns);
        break;
    case SOME:
        start<4, 2>(w, k, ns);
        break;
    case FILL:
        start<0, 4>(w, k, ns);
        break;
    }
}
const long MS = 1000000;
const size_t FAR_BYTES = (size_t)2 << 30, NEAR_BYTES = (size_t)1 << 20;
double alone(const Loader &k) {
    start(0, k, 4 * MS);
    CK(cudaDeviceSynchronize());
    return gbs(get(stamps[0], k.blocks));
}
void latency(const Loader &k) {
    double ns[2], load[2];
    bool in = true;
    static unsigned begin = 1;
    begin %= FAR_BYTES / 128 - 20000;
    for (int far = 0; far < 2; far++) {
        start(0, k, 8 * MS);
        CK(cudaFuncSetAttribute(chase, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM));
        chase<<<1, 1, SMEM, stream[2]>>>(far ? far_chain : near_chain, far ? begin += 12347 : 0,
                                         4 * MS, 32, stamps[2], sink);
        CK(cudaDeviceSynchronize());
        auto l = get(stamps[0], k.blocks), c = get(stamps[2], 1);
        ns[far] = (double)(c[0].end - c[0].begin) / c[0].bytes;
        load[far] = gbs(l);
        in = in && inside(c, l);
    }
    printf("latency %s blocks %d threads %d ops %d load %.0f memory_ns %.1f l2_ns %.1f within %d\n",
           NAME[k.kind], k.blocks, k.threads, k.ops, load[1], ns[1], ns[0], in);
}
void beside(const Loader &a, const Loader &b) {
    double was = alone(a), other = alone(b);
    start(1, b, 12 * MS);
    start(0, a, 6 * MS);
    CK(cudaDeviceSynchronize());
    auto va = get(stamps[0], a.blocks), vb = get(stamps[1], b.blocks);
    printf("pair %s %d %d %d alone %.0f beside %s %d %d %d alone %.0f: %.4f times, within %d\n",
           NAME[a.kind], a.blocks, a.threads, a.ops, was, NAME[b.kind], b.blocks, b.threads, b.ops,
           other, was / gbs(va), inside(va, vb));
}
// Kernels that store a fifth, a third and all of their bytes, beside those that store none and half.
void stores() {
    for (Kind k : {FEW, SOME, FILL})
        for (int blocks : {4, 8, 16, 33, 48, 66, 80, 99, 115, 131})
            latency({k, blocks, 256, 0});
    for (Kind k : {FEW, SOME, FILL})
        for (int blocks : {4, 8, 16, 33, 66, 99, 132})
            printf("curve %s blocks %d threads 256 %.0f GB/s\n", NAME[k], blocks,
                   alone({k, blocks, 256, 0}));
    std::vector<Loader> all = {{READ4, 66, 256, 0}, {COPY4, 66, 256, 0},  {FEW, 66, 256, 0},
                               {SOME, 66, 256, 0},  {FILL, 66, 256, 0},   {FEW, 66, 256, 64},
                               {SOME, 66, 256, 64}, {READ1, 66, 1024, 0}, {COPY1, 66, 1024, 0}};
    auto stores_some = [](const Loader &k) { return k.kind >= FEW; };
    for (auto &a : all)
        for (auto &b : all)
            if (stores_some(a) || stores_some(b)) {
                Loader x = a, y = b;
                beside(a, b);
                x.blocks = 33;
                y.blocks = 99;
                beside(x, y);
            }
}
int main() {
    for (int w = 0; w < 2; w++) {
        CK(cudaMalloc(&src[w], BLOCK_BYTES * MOST));
        CK(cudaMalloc(&dst[w], BLOCK_BYTES * MOST));
        CK(cudaMemset(src[w], 0, BLOCK_BYTES * MOST));
    }
    for (int w = 0; w < 3; w++) {
        CK(cudaMalloc(&stamps[w], MOST * sizeof(Stamp)));
        CK(cudaStreamCreateWithFlags(&stream[w], cudaStreamNonBlocking));
    }
    CK(cudaMalloc(&sink, 4));
    far_chain = chain(FAR_BYTES);
    near_chain = chain(NEAR_BYTES);
    cudaDeviceProp card;
    CK(cudaGetDeviceProperties(&card, 0));
    printf("# %s %d SMs\n", card.name, card.multiProcessorCount);
    alone({READ4, 132, 1024, 0});
    Loader idle = {READ1, 1, 32, 100000};
    for (int i = 0; i < 3; i++)
        latency(idle);
    for (Kind k : {READ1, READ4, COPY1, COPY4})
        for (int blocks : {4, 8, 16, 33, 48, 66, 80, 99, 115, 131})
            latency({k, blocks, k == READ4 || k == COPY4 ? 256 : 1024, 0});
    for (Kind k : {READ4, COPY4})
        for (int blocks : {8, 16, 33, 66, 99, 131})
            latency({k, blocks, 1024, 0});
    for (Kind k : {READ1, COPY1})
        for (int blocks : {66, 131})
            for (int ops : {8, 16, 32, 64, 96, 128, 256, 512})
                latency({k, blocks, 1024, ops});
    for (Kind k : {READ1, COPY1})
        for (int threads : {64, 128, 256, 512})
            latency({k, 131, threads, 0});
    for (Kind k : {READ1, READ4, COPY1, COPY4})
        for (int blocks : {4, 8, 16, 33, 66, 99, 132})
            printf("curve %s blocks %d threads 1024 %.0f GB/s\n", NAME[k], blocks,
                   alone({k, blocks, 1024, 0}));
    for (Kind k : {READ1, READ4, COPY1, COPY4})
        for (int ops : {0, 8, 16, 32, 64, 96, 128}) {
            Loader a = {k, 66, k == READ4 || k == COPY4 ? 256 : 1024, ops};
            beside(a, a);
        }
    std::vector<Loader> some = {{READ1, 66, 1024, 0}, {READ1, 66, 1024, 32}, {READ1, 66, 1024, 96},
                                {COPY1, 66, 1024, 0}, {COPY1, 66, 1024, 32}, {COPY1, 66, 1024, 96},
                                {READ4, 66, 1024, 0}, {COPY4, 66, 1024, 0},  {READ1, 66, 128, 0},
                                {COPY1, 66, 128, 0}};
    for (auto &a : some)
        for (auto &b : some)
            if (&a != &b)
                beside(a, b);
    for (auto &a : some)
        for (auto b : some) {
            Loader x = a;
            x.blocks = 33;
            b.blocks = 99;
            beside(x, b);
            beside(b, x);
        }
    stores();
    return 0;
}
