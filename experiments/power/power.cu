// SPDX-License-Identifier: GPL-3.0-or-later
// Power and clock of n busy SMs. A persistent kernel, one block an SM, multiplies matrices that stay
// in shared memory (wgmma, or scalar multiply-adds), until a time is over.
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <time.h>
#include "../device.cuh"
#include "mma.inc" // python3 mma.py >mma.inc
struct Sample { unsigned long long c0, t0, i0, c1, t1, i1; unsigned sm; };
__device__ __forceinline__ uint32_t hash(uint32_t x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16; return x; }
// A value of a normal distribution, nearly: the sum of four uniform ones. `keep` of 256 are not zero.
__device__ float value(uint32_t i, int keep) {
  uint32_t h = hash(i * 2654435761u + 12345u), g = hash(h ^ 0x9e3779b9u);
  if ((int)(hash(g) & 255u) >= keep) return 0.0f;
  float s = (h & 0xffff) + (h >> 16) + (g & 0xffff) + (g >> 16);
  return (s / 65536.0f - 2.0f) * 1.732f;
}
enum { STAGES = 4, STAGE = 49152, SHARED = STAGES * STAGE + 1024 };
__device__ __forceinline__ uint64_t desc(uint32_t at) {
  return (uint64_t)((at & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
__device__ __forceinline__ void mark(Sample *s, unsigned long long i, bool first) {
  if (first) { s->c0 = clock64(); s->t0 = now(); s->i0 = i; } else { s->c1 = clock64(); s->t1 = now(); s->i1 = i; }
}
__global__ __launch_bounds__(256, 1) void tensor(Sample *out, unsigned long long settle, unsigned long long end, int keep, float *sink) {
  extern __shared__ char raw[];
  uint32_t base = (uint32_t)__cvta_generic_to_shared(raw);
  uint32_t pad = (1024 - (base & 1023)) & 1023;
  uint16_t *bf = (uint16_t *)(raw + pad);
  for (int i = threadIdx.x; i < STAGES * STAGE / 2; i += blockDim.x)
    bf[i] = (uint16_t)(__float_as_uint(value(i + blockIdx.x * 131071u, keep)) >> 16);
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  uint32_t at = base + pad;
  __shared__ unsigned long long shared_t;
  int group = threadIdx.x / 128;
  float d[128];
  for (int i = 0; i < 128; i++) d[i] = 0;
  unsigned long long start = now(), n = 0;
  bool settled = false;
  while (true) {
    for (int rep = 0; rep < 64; rep++) {
#pragma unroll
      for (int s = 0; s < STAGES; s++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; k++)
          mma_plus(d, desc(at + s * STAGE + group * 8192 + k * 32), desc(at + s * STAGE + 16384 + k * 32));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      }
#pragma unroll
      for (int s = 0; s < STAGES; s++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; k++)
          mma_minus(d, desc(at + s * STAGE + group * 8192 + k * 32), desc(at + s * STAGE + 16384 + k * 32));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      }
    }
    n++;
    // All warps of a group multiply together, so one thread says when the time is over.
    __syncthreads();
    if (threadIdx.x == 0) shared_t = now() - start;
    __syncthreads();
    unsigned long long t = shared_t;
    if (!settled && t > settle) { settled = true; if (threadIdx.x == 0) mark(&out[blockIdx.x], n, true); }
    if (t > end) { if (threadIdx.x == 0) mark(&out[blockIdx.x], n, false); break; }
  }
  if (threadIdx.x == 0) { unsigned sm; asm volatile("mov.u32 %0, %smid;" : "=r"(sm)); out[blockIdx.x].sm = sm; }
  float sum = 0;
  for (int i = 0; i < 128; i++) sum += d[i];
  if (sum == 12345.678f) *sink = sum;
}
__global__ __launch_bounds__(1024, 1) void scalar(Sample *out, unsigned long long settle, unsigned long long end, int keep, float *sink) {
  float a[24], m = 0.5f + 0.45f * value(threadIdx.x, 256) / 3.5f, b = value(threadIdx.x + 7777, keep);
  for (int i = 0; i < 24; i++) a[i] = value(threadIdx.x * 24 + i + blockIdx.x * 131071u, keep);
  unsigned long long start = now(), n = 0;
  bool settled = false;
  while (true) {
    for (int rep = 0; rep < 2048; rep++)
#pragma unroll
      for (int i = 0; i < 24; i++) a[i] = fmaf(a[(i + 1) % 24], i & 1 ? m : -m, b);
    n++;
    unsigned long long t = now() - start;
    if (!settled && t > settle) { settled = true; if (threadIdx.x == 0) mark(&out[blockIdx.x], n, true); }
    if (t > end) { if (threadIdx.x == 0) mark(&out[blockIdx.x], n, false); break; }
  }
  if (threadIdx.x == 0) { unsigned sm; asm volatile("mov.u32 %0, %smid;" : "=r"(sm)); out[blockIdx.x].sm = sm; }
  float sum = 0;
  for (int i = 0; i < 24; i++) sum += a[i];
  if (sum == 12345.678f) *sink = sum;
}
// NVML, by its public ABI.
static int (*energy)(void *, unsigned long long *), (*usage)(void *, unsigned *), (*clk)(void *, int, unsigned *), (*temp)(void *, int, unsigned *), (*why)(void *, unsigned long long *), (*limit)(void *, unsigned *), (*maxclk)(void *, int, unsigned *);
static void *dev;
static void open_nvml() {
  void *l = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (!l) { printf("%s\n", dlerror()); exit(1); }
  ((int (*)(void))dlsym(l, "nvmlInit_v2"))();
  ((int (*)(unsigned, void **))dlsym(l, "nvmlDeviceGetHandleByIndex_v2"))(0, &dev);
  *(void **)&energy = dlsym(l, "nvmlDeviceGetTotalEnergyConsumption");
  *(void **)&usage = dlsym(l, "nvmlDeviceGetPowerUsage");
  *(void **)&clk = dlsym(l, "nvmlDeviceGetClockInfo");
  *(void **)&maxclk = dlsym(l, "nvmlDeviceGetMaxClockInfo");
  *(void **)&temp = dlsym(l, "nvmlDeviceGetTemperature");
  *(void **)&why = dlsym(l, "nvmlDeviceGetCurrentClocksThrottleReasons");
  *(void **)&limit = dlsym(l, "nvmlDeviceGetEnforcedPowerLimit");
}
static double wall() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
// The energy counter moves in steps: the instant of a step, and what it shows then.
static unsigned long long step(double *at) {
  unsigned long long was, is; energy(dev, &was);
  double begin = wall();
  do { usleep(500); energy(dev, &is); } while (is == was && wall() - begin < 0.5);
  *at = wall(); return is;
}
int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1; double settle = 0.9, hold = argc > 2 ? atof(argv[2]) : 1.2, budget = argc > 3 ? atof(argv[3]) : 1e9;
  double began = wall();
  open_nvml();
  Sample *out, host[256]; float *sink;
  CK(cudaMalloc(&out, sizeof host)); CK(cudaMalloc(&sink, 4));
  CK(cudaFuncSetAttribute(tensor, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
  CK(cudaFuncSetAttribute(scalar, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
  cudaDeviceProp p; CK(cudaGetDeviceProperties(&p, 0));
  unsigned w = 0, mc = 0; limit(dev, &w); maxclk(dev, 1, &mc);
  printf("# %s, %d SMs, power limit %u mW, highest SM clock %u MHz\n", p.name, p.multiProcessorCount, w, mc);
  printf("kernel,round,sms,clock_mhz,power_w,power_usage_w,nvml_clock_mhz,temperature_c,reasons,iterations_per_s_sm,cycles_an_iteration,distinct_sms\n");
  const int ns[] = {13, 26, 40, 53, 66, 73, 79, 86, 92, 99, 106, 112, 119, 125, 132};
  const struct { const char *name; int kind, keep; } kinds[] = {{"tensor_dense", 0, 256}, {"tensor_half", 0, 128}, {"scalar_dense", 1, 256}};
  for (int r = 0; r < rounds; r++)
    for (int j = 0; j < 15; j++)
      for (int k = 0; k < 3; k++) {
        // The order of a round is that of the one before it backwards.
        int n = ns[r % 2 ? 14 - j : j];
        if (k == 2 && (r % 2 ? 14 - j : j) % 2) continue;
        if (wall() - began > budget) { printf("# out of time\n"); return 0; }
        if (n > p.multiProcessorCount) continue;
        unsigned long long a = (unsigned long long)(settle * 1e9), b = (unsigned long long)((settle + hold + 0.15) * 1e9);
        CK(cudaMemset(out, 0, sizeof host));
        if (kinds[k].kind == 0) tensor<<<n, 256, SHARED>>>(out, a, b, kinds[k].keep, sink);
        else scalar<<<n, 1024, SHARED>>>(out, a, b, kinds[k].keep, sink);
        CK(cudaGetLastError());
        usleep((useconds_t)(settle * 1e6));
        double t0, t1; unsigned long long e0 = step(&t0), reasons = 0, x; unsigned u = 0, c = 0, tc = 0, v; double cs = 0; int m = 0;
        while (wall() - t0 < hold - 0.15) { usleep(50000); clk(dev, 1, &v); cs += v; m++; why(dev, &x); reasons |= x; }
        usage(dev, &u); temp(dev, 0, &tc);
        unsigned long long e1 = step(&t1);
        CK(cudaDeviceSynchronize());
        CK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        double f = 0, it = 0, cy = 0; int distinct = 0; char seen[256] = {0};
        for (int i = 0; i < n; i++) {
          double ns_ = (double)(host[i].t1 - host[i].t0), dc = (double)(host[i].c1 - host[i].c0), di = (double)(host[i].i1 - host[i].i0);
          f += dc / ns_ * 1e3 / n; it += di / ns_ * 1e9 / n; cy += dc / di / n;
          if (!seen[host[i].sm & 255]) { seen[host[i].sm & 255] = 1; distinct++; }
        }
        (void)c;
        printf("%s,%d,%d,%.1f,%.2f,%.2f,%.0f,%u,0x%llx,%.2f,%.0f,%d\n", kinds[k].name, r + 1, n, f, (e1 - e0) / 1000.0 / (t1 - t0), u / 1000.0, cs / m, tc, reasons, it, cy, distinct);
        fflush(stdout);
      }
  return 0;
}
