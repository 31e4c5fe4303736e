// SPDX-License-Identifier: GPL-3.0-or-later
// How blocks of two kernels on one SM slow each other, by what they ask of it: README.md.
#include <vector>
#include "../device.cuh"
struct Stamp {
    unsigned long long begin, end, n;
};
enum Op { FMA, TENSOR, SHARED, L2, INTEGER };
const char *NAME[] = {"fma", "tensor", "shared", "l2", "integer"};
// Each warp does one thing again and again, with some chains of it that do not wait for each other.
template <int OP, int CHAINS> __device__ __forceinline__ void once(float *f, unsigned *at, const unsigned *shared,
                                                                    const unsigned *far, float b) {
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        if (OP == FMA)
            f[c] = fmaf(f[c], b, 1.0f);
        else if (OP == INTEGER)
            at[c] = at[c] * 1664525u + 1013904223u;
        else if (OP == SHARED)
            at[c] = shared[at[c]];
        else if (OP == L2)
            at[c] = __ldcg(far + at[c] * 32);
        else
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                         "{%0,%1,%2,%3};"
                         : "+f"(f[4 * c]), "+f"(f[4 * c + 1]), "+f"(f[4 * c + 2]), "+f"(f[4 * c + 3])
                         : "r"(at[0]), "r"(at[0]), "r"(at[0]), "r"(at[0]), "r"(at[0]), "r"(at[0]));
}
template <int OP, int CHAINS>
__global__ void work(long ns, const unsigned *far, Stamp *out, float *sink, float b) {
    __shared__ unsigned shared[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        shared[i] = (i + 37) % 1024;
    __syncthreads();
    float f[4 * CHAINS];
    unsigned at[CHAINS];
    for (int c = 0; c < 4 * CHAINS; c++)
        f[c] = 0;
    for (int c = 0; c < CHAINS; c++)
        at[c] = OP == TENSOR ? 0 : c * 5;
    unsigned long long t0 = now(), n = 0, t1;
    do {
#pragma unroll 1
        for (int i = 0; i < 32; i++) {
#pragma unroll
            for (int j = 0; j < (OP == L2 ? 1 : 16); j++)
                once<OP, CHAINS>(f, at, shared, far, b);
        }
        n += 32 * (OP == L2 ? 1 : 16) * CHAINS;
        t1 = now();
    } while (t1 < t0 + ns);
    float sum = 0;
    for (int c = 0; c < 4 * CHAINS; c++)
        sum += f[c];
    for (int c = 0; c < CHAINS; c++)
        sum += at[c];
    if (threadIdx.x % 32 == 0)
        out[blockIdx.x * 32 + threadIdx.x / 32] = {t0, t1, n};
    if (sum == 12345.0f) /* never, which the compiler must not know */
        *sink = sum;
}
struct Kind {
    Op op;
    int chains, warps;
};
const long MS = 1000000;
int sms;
Stamp *stamps[2];
float *sink;
unsigned *far_chain;
cudaStream_t stream[2];
template <int OP> void start(int w, const Kind &k, long ns) {
    auto *f = k.chains == 1 ? work<OP, 1> : k.chains == 2 ? work<OP, 2> : k.chains == 3 ? work<OP, 3> : work<OP, 4>;
    f<<<sms, k.warps * 32, 0, stream[w]>>>(ns, far_chain, stamps[w], sink, 0.999f);
    CK(cudaGetLastError());
}
void start(int w, const Kind &k, long ns) {
    void (*by_op[])(int, const Kind &, long) = {start<FMA>, start<TENSOR>, start<SHARED>, start<L2>, start<INTEGER>};
    by_op[k.op](w, k, ns);
}
// Operations of a warp a microsecond, and when all of them were there.
double rate(int w, const Kind &k, unsigned long long *from, unsigned long long *to) {
    std::vector<Stamp> v(sms * 32);
    CK(cudaMemcpy(v.data(), stamps[w], v.size() * sizeof(Stamp), cudaMemcpyDeviceToHost));
    double sum = 0;
    *from = 0;
    *to = ~0ull;
    for (int b = 0; b < sms; b++)
        for (int i = 0; i < k.warps; i++) {
            auto &s = v[b * 32 + i];
            sum += 1e3 * s.n / (s.end - s.begin);
            *from = std::max(*from, s.begin);
            *to = std::min(*to, s.end);
        }
    return sum / sms / k.warps;
}
double alone(const Kind &k) {
    unsigned long long from, to;
    start(0, k, 1 * MS);
    CK(cudaDeviceSynchronize());
    return rate(0, k, &from, &to);
}
// The younger's speed beside one that was there before and stays, and the older's beside one that stays.
void beside(const Kind &older, const Kind &younger, double old_alone, double young_alone) {
    unsigned long long a0, a1, b0, b1, c0, c1, d0, d1;
    start(0, older, 4 * MS);
    start(1, younger, 2 * MS);
    CK(cudaDeviceSynchronize());
    double young = rate(1, younger, &b0, &b1);
    (void)rate(0, older, &a0, &a1);
    start(0, older, 3 * MS);
    start(1, younger, 4 * MS);
    CK(cudaDeviceSynchronize());
    double old = rate(0, older, &c0, &c1);
    (void)rate(1, younger, &d0, &d1);
    printf("pair %s %d %d beside %s %d %d: older %.3f younger %.3f times, within %d %d\n", NAME[older.op], older.chains,
           older.warps, NAME[younger.op], younger.chains, younger.warps, old_alone / old, young_alone / young,
           a0 <= b0 && a1 >= b1, d0 <= c0 + 100000 && d1 >= c1);
}
// Kernels that issue in a part of an SM's slots, by how many warps and chains they have.
std::vector<Kind> loads() {
    std::vector<Kind> out;
    for (int warps : {4, 8, 12, 16, 20, 24, 32})
        out.push_back({FMA, 1, warps});
    for (int warps : {4, 8, 12, 16})
        out.push_back({FMA, 2, warps});
    for (int warps : {4, 8, 12})
        out.push_back({FMA, 3, warps});
    for (int warps : {4, 8})
        out.push_back({FMA, 4, warps});
    for (int warps : {8, 16, 32})
        out.push_back({INTEGER, 2, warps});
    for (int warps : {16, 32})
        out.push_back({SHARED, 2, warps});
    for (int chains : {1, 2, 3, 4})
        out.push_back({TENSOR, chains, 4});
    out.push_back({TENSOR, 2, 8});
    out.push_back({TENSOR, 4, 8});
    return out;
}
int main(int argc, char **) {
    cudaDeviceProp card;
    CK(cudaGetDeviceProperties(&card, 0));
    sms = card.multiProcessorCount;
    for (int w = 0; w < 2; w++) {
        CK(cudaMalloc(&stamps[w], sms * 32 * sizeof(Stamp)));
        CK(cudaStreamCreateWithFlags(&stream[w], cudaStreamNonBlocking));
    }
    CK(cudaMalloc(&sink, 4));
    far_chain = chain(1 << 20);
    printf("# %s %d SMs\n", card.name, sms);
    std::vector<Kind> neighbours = loads(), few = {{FMA, 1, 4}, {FMA, 2, 4}, {FMA, 1, 8}, {INTEGER, 1, 4}, {SHARED, 1, 4},
                                                   {SHARED, 2, 8}, {L2, 1, 4}, {L2, 1, 8}, {TENSOR, 1, 4}, {TENSOR, 2, 4}};
    alone(few[0]);
    if (argc > 1) { /* for Nsight Compute: each kind once */
        for (auto &k : neighbours)
            alone(k);
        for (auto &k : few)
            alone(k);
        return 0;
    }
    for (auto &k : few)
        printf("alone %s %d %d: %.1f a warp and us\n", NAME[k.op], k.chains, k.warps, alone(k));
    for (auto &n : neighbours) {
        double all = alone(n);
        printf("alone %s %d %d: %.1f a warp and us\n", NAME[n.op], n.chains, n.warps, all);
        for (auto &k : few) {
            beside(n, k, all, alone(k));
            beside(k, n, alone(k), all);
        }
    }
    return 0;
}
