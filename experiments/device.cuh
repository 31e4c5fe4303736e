// SPDX-License-Identifier: GPL-3.0-or-later
// What the programs here that run on a GPU share: a call that has to succeed, the device's clock, and
// addresses that follow from each other.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>
#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e) {                                                                                   \
            printf("%s: %s\n", #x, cudaGetErrorString(e));                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
__device__ __forceinline__ unsigned long long now() { // ns
    unsigned long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}
// Each line of 128 bytes holds the place of the next one, in a drawn order: a load waits for the load before.
inline unsigned *chain(size_t bytes) {
    size_t n = bytes / 128;
    std::vector<unsigned> order(n), next(n * 32, 0);
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937 rng(1);
    std::shuffle(order.begin() + 1, order.end(), rng);
    for (size_t i = 0; i < n; i++)
        next[(size_t)order[i] * 32] = order[(i + 1) % n];
    unsigned *out;
    CK(cudaMalloc(&out, bytes));
    CK(cudaMemcpy(out, next.data(), bytes, cudaMemcpyHostToDevice));
    return out;
}
