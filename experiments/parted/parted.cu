// SPDX-License-Identifier: GPL-3.0-or-later
// How an SM's memory is parted into L1 and shared memory. A kernel holds all SMs with some blocks of so many threads and
// so much shared memory, and small blocks of a second kernel, which stay until all have been counted, show how much
// shared memory the SM has beside them. A kernel before both leaves the SMs parted in another way.
//   parted [mps]     with mps the two kernels are of two processes, as clients of its daemon
#include "../device.cuh"
#include <atomic>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
__device__ __forceinline__ unsigned my_sm() {
    unsigned n;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(n));
    return n;
}
// Blocks stay until the device's clock has passed their end; out has each one's SM and when it began.
__global__ void stay(unsigned long long until, unsigned long long at_least, unsigned long long *out, volatile unsigned long long *seen, unsigned later) {
    unsigned long long begin = now();
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = my_sm();
        out[2 * blockIdx.x + 1] = begin;
        if (seen && blockIdx.x == 0)
            *seen = begin;
    }
    unsigned long long end = until > begin + at_least ? until : begin + at_least;
    if (later && blockIdx.x >= later)
        end += at_least / 2;
    while (now() < end)
        ;
}
struct Kernel {
    int threads, kib, blocks, carve; // blocks of the grid
};
struct Shared { // between the processes
    std::atomic<int> step, done;
    volatile unsigned long long seen;
    Kernel holder, probe;
    int before_kib, holders, counts, least, most, sms; // the result
};
static int sms;
static unsigned long long *stamps;
static cudaStream_t stream;
static volatile unsigned long long *seen;
static void prepare() {
    CK(cudaSetDevice(0));
    CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CK(cudaMalloc(&stamps, 1 << 20));
    CK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CK(cudaFuncSetAttribute(stay, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    CK(cudaHostAlloc((void **)&seen, 8, cudaHostAllocMapped));
}
static void launch(const Kernel &k, unsigned long long until, unsigned long long at_least, volatile unsigned long long *to, unsigned later = 0) {
    CK(cudaFuncSetAttribute(stay, cudaFuncAttributePreferredSharedMemoryCarveout, k.carve));
    stay<<<k.blocks, k.threads, k.kib * 1024, stream>>>(until, at_least, stamps, to, later);
    CK(cudaGetLastError());
}
static void run_before(int kib) {
    launch({32, kib, sms, kib ? 100 : 0}, 0, 20000, NULL);
    CK(cudaStreamSynchronize(stream));
}
// The holder begins; returns when its first block did.
static unsigned long long hold(const Kernel &k) {
    *seen = 0;
    launch(k, 0, 1200000, seen);
    while (*seen == 0)
        ;
    return *seen;
}
static void count(const Kernel &k, unsigned long long begin, Shared *s) {
    launch(k, begin + 700000, 0, NULL);
    CK(cudaStreamSynchronize(stream));
    std::vector<unsigned long long> v(2 * k.blocks);
    CK(cudaMemcpy(v.data(), stamps, 16 * k.blocks, cudaMemcpyDeviceToHost));
    std::vector<int> n(sms);
    for (int i = 0; i < k.blocks; i++)
        n[v[2 * i]] += v[2 * i + 1] < begin + 690000;
    s->least = *std::min_element(n.begin(), n.end());
    s->most = *std::max_element(n.begin(), n.end());
}
static void print(const Shared *s, int per_sm) {
    printf("%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", s->holder.threads, s->holder.kib, per_sm, s->holder.blocks, s->holder.carve,
           s->before_kib, s->probe.threads, s->probe.kib, s->probe.carve, s->least, s->most);
    fflush(stdout);
}
static int fit(int threads, int kib) {
    int n;
    CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, stay, threads, kib * 1024));
    return n;
}
// One process with two streams, or two processes: what one does is what both do in turn.
static Shared *shared;
static bool two;
static void holder_of(int step) {
    shared->step = step;
    while (shared->done != step)
        ;
}
static cudaStream_t streams[2];
static unsigned long long *both[2];
static void one(Kernel holder, Kernel probe, int before_kib) {
    Shared *s = shared;
    s->holder = holder;
    s->probe = probe;
    s->before_kib = before_kib;
    run_before(before_kib);
    s->seen = hold(holder);
    if (two) {
        static int step = 0;
        holder_of(++step);
        CK(cudaStreamSynchronize(stream));
    } else {
        stream = streams[1], stamps = both[1];
        count(probe, s->seen, s);
        stream = streams[0], stamps = both[0];
        CK(cudaStreamSynchronize(stream));
    }
    print(s, fit(holder.threads, holder.kib));
}
static void prober() {
    prepare();
    for (int step = 1;; step++) {
        shared->done = step - 1;
        while (shared->step != step)
            if (shared->step < 0)
                return;
        count(shared->probe, shared->seen, shared);
    }
}
static void all(const std::vector<int> &sizes, const std::vector<int> &threads, const std::vector<int> &probes) {
    for (int kib : sizes)
        for (int t : threads)
            for (int full = 0; full < 3; full++)
                for (int before : {0, 227})
                    for (int p : probes) {
                        int n = fit(t, kib), blocks = full == 0 ? sms : full == 1 ? sms * ((n + 1) / 2) : sms * n;
                        if ((full == 1 && n < 3) || (full == 2 && n == 1))
                            continue;
                        one({t, kib, blocks, -1}, {32, p, sms * 33, -1}, before);
                    }
}

// Kernels of many shapes, one launch of each, for Nsight Compute to say how the driver parts SMs for them.
template <int LIVE>
__global__ void shape(float *out, int n) {
    float v[LIVE];
    for (int i = 0; i < LIVE; i++)
        v[i] = out[i];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < LIVE; i++)
            v[i] = fmaf(v[i], v[(i + 1) % LIVE], 1.0f);
    for (int i = 0; i < LIVE; i++)
        out[i + LIVE * threadIdx.x] = v[i];
}
template <int LIVE>
static void shapes(const std::vector<int> &bytes, const std::vector<int> &threads, const std::vector<int> &grids) {
    CK(cudaFuncSetAttribute(shape<LIVE>, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    float *out;
    CK(cudaMalloc(&out, 1 << 22));
    for (int b : bytes)
        for (int t : threads)
            for (int g : grids) {
                shape<LIVE><<<g, t, b>>>(out, 1);
                if (cudaGetLastError() != cudaSuccess)
                    continue; // more registers than there are
                CK(cudaDeviceSynchronize());
            }
}
static void all_shapes() {
    std::vector<int> bytes = {0, 16, 512, 1024, 2048, 3072, 4096, 6144, 7168, 8192, 10240, 12288, 14336, 15360, 16384, 18432, 20480, 24576, 28672, 32768,
                              36864, 40960, 49152, 57344, 65536, 73728, 81920, 98304, 114688, 131072, 163840, 196608, 232448};
    std::vector<int> threads = {32, 64, 128, 256, 384, 512, 768, 1024};
    shapes<4>(bytes, threads, {132});
    shapes<4>({4096, 12288}, {128, 512}, {1, 20, 500, 20000});
    shapes<40>(bytes, {64, 128, 256, 512, 1024}, {132});
    shapes<80>(bytes, {64, 128, 256, 512}, {132});
    shapes<150>(bytes, {64, 128, 256}, {132});
    shapes<225>(bytes, {128, 256}, {132});
}
// An SM that the holder parts as it asks lets in blocks of kernels that ask for nothing.
static void admissions() {
    for (int carve : {0, 4, 8, 15, 29, 44, 58, 72, 86, 100})
        for (int t : {32, 128, 256, 512, 1024})
            for (int kib : {0, 1, 3, 7, 8, 12, 15, 16, 20, 24, 32, 40, 48, 64, 80, 99, 128, 160, 200})
                one({64, 0, sms, carve}, {t, kib, sms * 33, -1}, 0);
    for (int holder : {0, 1, 3, 7, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 99, 128, 160})
        for (int t : {128, 512, 1024})
            for (int p : {0, 1, 3, 7, 12, 20, 32, 48, 64, 99, 128})
                one({t, holder, sms, -1}, {256, p, sms * 33, -1}, 0);
}
// Whether a third kernel passes one that finds no room: for want of threads, or since the SMs are parted for the first.
static unsigned long long begin_of(unsigned long long *at, int blocks, bool last) {
    std::vector<unsigned long long> v(2 * blocks);
    CK(cudaMemcpy(v.data(), at, 16 * blocks, cudaMemcpyDeviceToHost));
    unsigned long long t = v[1];
    for (int i = 0; i < blocks; i++)
        t = last ? std::max(t, v[2 * i + 1]) : std::min(t, v[2 * i + 1]);
    return t;
}
// A kernel whose blocks stay for ns, those from `later` on half as much more, launched us after the one before.
struct Launch {
    Kernel kernel;
    unsigned long long ns;
    int us;
    unsigned later;
};
static void print_begin(const char *name, unsigned long long *at, int blocks, unsigned long long from) {
    printf("%s %.0f..%.0f", name, ((double)begin_of(at, blocks, false) - from) / 1e3, ((double)begin_of(at, blocks, true) - from) / 1e3);
}
// Three kernels in streams of their own: when the second and the third begin, in us since the first did.
static void three(const char *name, const Launch (&launches)[3]) {
    static cudaStream_t third;
    static unsigned long long *at;
    if (!third) {
        CK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
        CK(cudaMalloc(&at, 1 << 20));
    }
    cudaStream_t each[] = {streams[0], streams[1], third};
    unsigned long long *stamps_of[] = {both[0], both[1], at};
    *seen = 0;
    for (int i = 0; i < 3; i++) {
        usleep(launches[i].us);
        stream = each[i], stamps = stamps_of[i];
        launch(launches[i].kernel, 0, launches[i].ns, i == 0 ? seen : NULL, launches[i].later);
        while (*seen == 0)
            ;
    }
    unsigned long long begin = *seen;
    CK(cudaDeviceSynchronize());
    printf("%s:", name);
    print_begin(" second begins", both[1], launches[1].kernel.blocks, begin);
    print_begin(" us, third", at, launches[2].kernel.blocks, begin);
    puts("");
    stream = streams[0], stamps = both[0];
}
static void passing(const char *name, Kernel a, Kernel b, Kernel c) {
    three(name, {{a, 1200000, 0, 0}, {b, 20000, 0, 0}, {c, 20000, 200, 0}});
}
static void leaving(const char *name, Kernel a, unsigned long long ns, unsigned later, int us, Kernel b, Kernel c) {
    three(name, {{a, ns, 0, later}, {b, 2000000, us, 0}, {c, 20000, 900, 0}});
}
static void all_passing() {
    for (int round = 0; round < 2; round++) {
        passing("threads, third as small", {1024, 0, 132, -1}, {1024, 0, 264, -1}, {64, 0, 264, -1});
        passing("threads and third of other size", {512, 0, 132 * 3, -1}, {1024, 0, 132, -1}, {64, 0, 132, -1});
        passing("parted, third without shared memory", {256, 0, 132, -1}, {64, 48, 132, -1}, {64, 0, 132, -1});
        passing("parted, some empty SMs", {256, 0, 100, -1}, {64, 48, 132, -1}, {64, 0, 132, -1});
        passing("parted, none waits", {256, 0, 132, -1}, {64, 0, 132, -1}, {64, 0, 132, -1});
        passing("small room, third with less", {64, 150, 132, -1}, {64, 100, 132, -1}, {64, 20, 132, -1});
    }
}
// How SMs are parted when the first kernel has left them to a second: whether a third, which needs much shared memory, begins there.
static void all_leaving() {
    for (int round = 0; round < 2; round++) {
        leaving("second joins the first, which leaves", {128, 200, 132, -1}, 400000, 0, 0, {128, 0, 132, -1}, {128, 200, 132, -1});
        leaving("second joins one of two, both have left", {1024, 100, 264, -1}, 300000, 132, 0, {128, 0, 132, -1}, {128, 200, 132, -1});
        leaving("second in place of two that leave together", {1024, 100, 264, -1}, 400000, 0, 0, {128, 0, 132, -1}, {128, 200, 132, -1});
        leaving("second in place of one that fills all slots", {32, 6, 132 * 32, -1}, 400000, 0, 0, {128, 0, 132, -1}, {128, 200, 132, -1});
        leaving("second after the first has left", {128, 200, 132, -1}, 300000, 0, 500, {128, 0, 132, -1}, {128, 200, 132, -1});
        leaving("second in place, needs much, third more", {1024, 100, 264, -1}, 400000, 0, 0, {128, 3, 132, -1}, {128, 200, 132, -1});
        leaving("second of 1024 threads in place of blocks without, third of 40", {1024, 0, 264, -1}, 400000, 0, 0, {1024, 3, 132, -1}, {128, 40, 132, -1});
        leaving("second of 128 KiB in place of blocks with 100, third of 7", {1024, 100, 264, -1}, 400000, 0, 0, {128, 128, 132, -1}, {128, 7, 132, -1});
        leaving("second of 128 KiB in place of a block of 200, third of 7", {128, 200, 132, -1}, 400000, 0, 0, {128, 128, 132, -1}, {128, 7, 132, -1});
        for (int second : {0, 1, 3, 7, 12, 48, 80, 128})
            for (int third : {7, 8, 12, 40, 48, 64, 80}) {
                char name[99];
                snprintf(name, sizeof name, "second of %d KiB in place of blocks without, third of %d", second, third);
                leaving(name, {1024, 0, 264, -1}, 400000, 0, 0, {128, second, 132, -1}, {128, third, 132, -1});
                snprintf(name, sizeof name, "second of %d KiB in place of blocks with 8, third of %d", second, third);
                leaving(name, {1024, 8, 264, -1}, 400000, 0, 0, {128, second, 132, -1}, {128, third, 132, -1});
            }
    }
}
int main(int argc, char **argv) {
    two = argc > 1 && !strcmp(argv[1], "mps");
    shared = (Shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (two && fork() == 0) {
        prober();
        _exit(0);
    }
    prepare();
    streams[0] = stream, both[0] = stamps;
    prepare();
    streams[1] = stream, both[1] = stamps;
    stream = streams[0], stamps = both[0];
    if (argc > 1 && !strcmp(argv[1], "shapes")) {
        all_shapes();
        return 0;
    }
    printf("threads,kib,held,blocks,carve,before_kib,probe_threads,probe_kib,probe_carve,least,most\n");
    if (argc > 1 && !strcmp(argv[1], "leave")) {
        all_leaving();
    } else if (argc > 1 && !strcmp(argv[1], "pass")) {
        all_passing();
    } else if (argc > 1 && !strcmp(argv[1], "admit")) {
        admissions();
    } else if (two) {
        all({0, 1, 7, 16, 36, 48, 64, 100, 200}, {128, 512}, {3, 15});
    } else {
        all({0, 1, 3, 7, 8, 12, 15, 16, 24, 32, 36, 48, 64, 80, 96, 100, 128, 160, 200, 227}, {32, 128, 256, 512, 1024}, {3, 7, 15, 31});
        // what the second kernel asks for
        for (int carve : {-1, 0, 10, 25, 50, 75, 100})
            for (int kib : {0, 16, 48})
                for (int p : {0, 3, 15, 31, 63, 99})
                    for (int probe_carve : {-1, 0, 50, 100})
                        one({256, kib, sms, carve}, {32, p, sms * 33, probe_carve}, 0);
    }
    shared->step = -1;
    while (two && wait(NULL) > 0)
        ;
    return 0;
}
