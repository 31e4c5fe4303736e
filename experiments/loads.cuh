// SPDX-License-Identifier: GPL-3.0-or-later
// What programs share that measure how kernels load beside each other: when blocks were there and what they moved,
// and a thread that follows a chain of addresses.
#pragma once
#include "device.cuh"
struct Stamp {
    unsigned long long begin, end, bytes;
};
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
