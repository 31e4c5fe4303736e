// SPDX-License-Identifier: GPL-3.0-or-later
// Two processes without MPS share a GPU in time slices. One always has kernels (or copies) ready; the
// other makes a few calls and waits, over and over, and times that. Which calls wait for the slice of
// the other process, and which run beside it?
#include "../device.cuh"
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
struct Shared {
    volatile long done;
    volatile int stop;
};
static double host_us() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}
__global__ void work(long n, float *out) {
    float x = threadIdx.x;
    for (long i = 0; i < n; i++)
        x = x * 0.999f + 1.f;
    if (x < 0)
        *out = x;
}
// The neighbour: kernels of n steps on all SMs, or copies of 4 MiB to the host where n is 0. At most
// 16 of them are launched ahead.
static void neighbour(Shared *s, long n) {
    cudaEvent_t ends[4];
    for (auto &x : ends)
        CK(cudaEventCreateWithFlags(&x, cudaEventDisableTiming | cudaEventBlockingSync));
    char *d, *h;
    CK(cudaMalloc(&d, 4 << 20));
    CK(cudaMallocHost(&h, 4 << 20));
    for (long i = 0; !s->stop; i++) {
        if (i >= 4) {
            CK(cudaEventSynchronize(ends[i % 4]));
            s->done = s->done + 4;
        }
        for (int k = 0; k < 4; k++)
            if (n)
                work<<<132, 512>>>(n, (float *)d);
            else
                CK(cudaMemcpyAsync(h, d, 4 << 20, cudaMemcpyDeviceToHost));
        CK(cudaEventRecord(ends[i % 4]));
    }
    CK(cudaDeviceSynchronize());
}
// What is called, in order, and then waited for: kernel (some 10 us), copies of so many bytes to the host
// and to the GPU, from pinned or pageable memory, from GPU to GPU, memset; | waits for the GPU.
static const char *plans[] = {"kernel",
                              "to_host 256",
                              "to_host_pageable 256",
                              "to_host 16777216",
                              "to_gpu 256",
                              "to_gpu 4096",
                              "to_gpu 16384",
                              "to_gpu 32768",
                              "to_gpu 65536",
                              "to_gpu 262144",
                              "to_gpu 16777216",
                              "to_gpu_pageable 256",
                              "to_gpu_pageable 16384",
                              "to_gpu_pageable 65536",
                              "to_gpu_pageable 1048576",
                              "on_gpu 65536",
                              "on_gpu 16777216",
                              "memset 65536",
                              "memset 16777216",
                              "kernel to_host 256",
                              "to_host 256 kernel",
                              "kernel to_host 256 kernel",
                              "kernel to_host 16777216 kernel",
                              "kernel | to_host 256",
                              "kernel | to_host 256 | to_host 256",
                              "kernel | kernel",
                              "kernel to_gpu 16777216 kernel"};
static void calls(const char *plan, char *d, char *pinned, char *plain) {
    char word[32];
    int n, bytes;
    for (; sscanf(plan, " %31s%n", word, &n) == 1; plan += n) {
        const char *w = word;
        char *host = strstr(w, "pageable") ? plain : pinned;
        if (*w == 'k')
            work<<<132, 256>>>(4300, (float *)d);
        if (*w == '|')
            CK(cudaDeviceSynchronize());
        if (*w == 'k' || *w == '|')
            continue;
        plan += n;
        sscanf(plan, "%d%n", &bytes, &n);
        if (!strncmp(w, "to_h", 4))
            CK(cudaMemcpyAsync(host, d, bytes, cudaMemcpyDeviceToHost));
        if (!strncmp(w, "to_g", 4))
            CK(cudaMemcpyAsync(d, host, bytes, cudaMemcpyHostToDevice));
        if (*w == 'o')
            CK(cudaMemcpyAsync(d, d + bytes, bytes, cudaMemcpyDeviceToDevice));
        if (*w == 'm')
            CK(cudaMemsetAsync(d, 0, bytes));
    }
    CK(cudaDeviceSynchronize());
}
static void timed(Shared *s, const char *beside) {
    const int big = 16 << 20;
    char *d, *pinned, *plain = (char *)malloc(big);
    CK(cudaMalloc(&d, 2 * big));
    CK(cudaMallocHost(&pinned, big));
    for (const char *plan : plans) {
        for (int i = 0; i < 20; i++)
            calls(plan, d, pinned, plain);
        std::vector<double> t;
        long done = s->done;
        double begun = host_us(), before = begun;
        while (before < begun + 5e5) {
            calls(plan, d, pinned, plain);
            double now = host_us();
            t.push_back(now - before);
            before = now;
        }
        double all = host_us() - begun, sum = std::accumulate(t.begin(), t.end(), 0.0);
        long other = s->done - done;
        std::sort(t.begin(), t.end());
        size_t n = t.size();
        printf("%s,%s,%zu,%.1f,%.1f,%.1f,%.1f,%.1f,%.0f\n", beside, plan, n, sum / n, t[n / 10],
               t[n / 2], t[n * 9 / 10], t[n - 1], other / (all / 1e6));
        fflush(stdout);
    }
}
int main() {
    auto *s = (Shared *)mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *beside[] = {"nothing", "kernels_100us", "kernels_3ms", "copies_to_host"};
    const long steps[] = {0, 43000, 1290000, 0};
    printf("beside,calls,n,mean_us,p10_us,p50_us,p90_us,max_us,others_per_s\n");
    fflush(stdout);
    for (int i = 0; i < 4; i++) {
        s->done = s->stop = 0;
        pid_t other = i ? fork() : 1;
        if (other == 0) {
            neighbour(s, steps[i]);
            return 0;
        }
        while (i && s->done < 100)
            usleep(1000);
        pid_t one = fork();
        if (one == 0) {
            timed(s, beside[i]);
            return 0;
        }
        waitpid(one, 0, 0);
        long done = s->done;
        usleep(500000);
        if (i)
            printf("%s,none,0,,,,,,%.0f\n", beside[i], (s->done - done) / 0.5);
        fflush(stdout);
        s->stop = 1;
        if (i)
            waitpid(other, 0, 0);
    }
}
