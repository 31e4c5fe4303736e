/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A libcuda.so.1 without a GPU, for calibrate.sh: memory is the host's, kernels take no time, and two
 * processes take turns of 2.08 ms with switches of 0.165 ms. FAKE_GPU is its name; FAKE_FAIL names a call
 * that fails; FAKE_CUDA is its version. FAKE_MOVES is a file for the moves of restored processes, among as
 * many GPUs as FAKE_GPUS says, with the UUIDs of fake_nvml.c. With FAKE_MANAGED it pages managed memory;
 * a client of MPS sees the part of the SMs that its cap leaves; FAKE_TOUCHES is a file for what kernels `burn` do: a line of
 * blocks, steps, the memory's kind, the first page that is touched and their number. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, SMS = 4, FREE_BYTES = 64 << 20, CONTEXT_BYTES = 500 << 20 };

static int result(const char *call) {
    const char *fails = getenv("FAKE_FAIL");
    return fails && strcmp(fails, call) == 0 ? 2 : 0;
}

int cuInit(unsigned flags) {
    (void)flags;
    return result("cuInit");
}
int cuDriverGetVersion(int *version) {
    const char *text = getenv("FAKE_CUDA");
    *version = text ? atoi(text) : 12040;
    return 0;
}
int cuDeviceGet(int *device, int nth) {
    *device = nth;
    return result("cuDeviceGet");
}
int cuDeviceGetName(char *name, int size, int device) {
    const char *gpu = getenv("FAKE_GPU");
    (void)device;
    (void)snprintf(name, (size_t)size, "%s", gpu ? gpu : "NVIDIA A100-SXM4-40GB");
    return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    *bytes = (size_t)40 << 30;
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    const char *percent = getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
    *value = attribute == 16   ? SMS * (percent ? atoi(percent) : 100) / 100
             : attribute == 83 ? getenv("FAKE_MANAGED") != NULL
                               : 1024;
    return 0;
}
int cuCtxCreate_v2(void **context, unsigned flags, int device) {
    (void)flags;
    (void)device;
    *context = context;
    return result("cuCtxCreate_v2");
}
int cuCtxSetCurrent(void *context) {
    return context ? 0 : 1;
}
int cuCtxDestroy_v2(void *context) {
    (void)context;
    return 0;
}
int cuCtxSynchronize(void) {
    return 0;
}
int cuMemGetInfo_v2(size_t *free_bytes, size_t *bytes) {
    *free_bytes = FREE_BYTES;
    *bytes = FREE_BYTES + CONTEXT_BYTES;
    return 0;
}
/* Buffers of up to a GiB, of which hardly a page is touched. Those of the allocator of a sanitizer have
 * marks, an eighth of their size, which are written each time. The length is in a page before them. */
static void *mapped(size_t bytes) {
    char *mem = mmap(NULL, PAGE + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mem == MAP_FAILED)
        return NULL;
    memcpy(mem, &bytes, sizeof bytes);
    return mem + PAGE;
}
static void unmapped(void *mem) {
    size_t bytes = 0;
    if (!mem)
        return;
    memcpy(&bytes, (char *)mem - PAGE, sizeof bytes);
    (void)munmap((char *)mem - PAGE, PAGE + bytes);
}
int cuMemAlloc_v2(uint64_t *mem, size_t bytes) {
    *mem = (uint64_t)(uintptr_t)mapped(bytes);
    return *mem ? result("cuMemAlloc_v2") : 2;
}
int cuMemFree_v2(uint64_t mem) {
    unmapped((void *)(uintptr_t)mem);
    return 0;
}
static uint64_t managed; /* the memory that was allocated so last */
int cuMemAllocManaged(uint64_t *mem, size_t bytes, unsigned flags) {
    int error = flags == 1 ? cuMemAlloc_v2(mem, bytes) : 1;
    managed = error == 0 ? *mem : 0;
    return error;
}
int cuMemPrefetchAsync(uint64_t mem, size_t bytes, int device, void *stream) {
    (void)mem;
    (void)bytes;
    (void)device;
    (void)stream;
    return 0;
}
int cuMemHostAlloc(void **mem, size_t bytes, unsigned flags) {
    (void)flags;
    *mem = mapped(bytes);
    return *mem ? 0 : 2;
}
int cuMemFreeHost(void *mem) {
    unmapped(mem);
    return 0;
}
int cuStreamCreate(void **stream, unsigned flags) {
    (void)flags;
    *stream = stream;
    return 0;
}
int cuStreamDestroy_v2(void *stream) {
    (void)stream;
    return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    memcpy((void *)(uintptr_t)to, from, bytes < 4096 ? bytes : 4096);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    (void)stream;
    memcpy(to, (const void *)(uintptr_t)from, bytes < 65536 ? bytes : 65536);
    return 0;
}
int cuModuleLoadData(void **module, const void *image) {
    *module = module;
    return strstr(image, ".visible .entry ") ? 0 : 218;
}
int cuModuleUnload(void *module) {
    (void)module;
    return 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
    (void)module;
    *function = (void *)(uintptr_t)(unsigned char)name[0]; /* which of them it is */
    return 0;
}

static void stamp(uint64_t *out, uint64_t ns) {
    static uint64_t clock = 1000000;
    out[0] = clock;
    out[1] = clock + ns;
    clock += ns + 1300;
}

static void watch(uint64_t *out) {
    uint64_t clock = 1000000;
    for (int i = 0; i < 20; i++, out += 3) {
        out[0] = clock;
        out[1] = clock + 2080000;
        out[2] = out[1] + 2080000 + 2 * 165000;
        clock = out[2];
    }
    out[0] = 0;
}

/* --- checkpoints: every process has state on the GPU ------------------------------------------ */

int cuCheckpointProcessGetState(int pid, int *state) {
    (void)pid;
    *state = 0;
    return 0;
}
int cuCheckpointProcessLock(int pid, void *args) {
    (void)pid;
    return args ? result("cuCheckpointProcessLock") : 1;
}
int cuCheckpointProcessCheckpoint(int pid, void *args) {
    (void)pid;
    return args ? result("cuCheckpointProcessCheckpoint") : 1;
}

struct pair {
    unsigned char from[16], to[16];
};
struct restore_args {
    struct pair *pairs;
    unsigned n_pairs;
};

/* The number of the GPU with this UUID; n: none of n has it. */
static unsigned number_of(const unsigned char uuid[16], unsigned n) {
    unsigned number = (unsigned)uuid[0] << 24 | (unsigned)uuid[1] << 16 | (unsigned)uuid[2] << 8 | uuid[3];
    for (int i = 4; i < 16; i++)
        if (uuid[i] != 0xfa)
            return n;
    return number < n ? number : n;
}

/* As the driver does: all GPUs are in the pairs, each once as the old and once as the new one. */
static int is_permutation(const struct restore_args *args, unsigned n) {
    char *has_from = calloc(n + 1, 1), *has_to = calloc(n + 1, 1);
    int is_right = has_from && has_to && args->n_pairs == n;
    for (unsigned i = 0; is_right && i < n; i++) {
        unsigned from = number_of(args->pairs[i].from, n), to = number_of(args->pairs[i].to, n);
        is_right = from < n && to < n && !has_from[from]++ && !has_to[to]++;
    }
    free(has_from);
    free(has_to);
    return is_right;
}

static void tell_moves(const struct restore_args *args, unsigned n) {
    const char *path = getenv("FAKE_MOVES");
    FILE *file = path ? fopen(path, "a") : NULL;
    for (unsigned i = 0; file && i < n; i++) {
        unsigned from = number_of(args->pairs[i].from, n), to = number_of(args->pairs[i].to, n);
        if (from != to)
            fprintf(file, "%u>%u\n", from, to);
    }
    if (file)
        fclose(file);
}

int cuCheckpointProcessRestore(int pid, struct restore_args *args) {
    const char *gpus = getenv("FAKE_GPUS");
    unsigned n = gpus ? (unsigned)atoi(gpus) : 1;
    (void)pid;
    if (!args || (args->n_pairs > 0 && !is_permutation(args, n)))
        return 1;
    if (args->n_pairs > 0)
        tell_moves(args, n);
    return result("cuCheckpointProcessRestore");
}
int cuCheckpointProcessUnlock(int pid, void *args) {
    (void)pid;
    return args ? result("cuCheckpointProcessUnlock") : 1;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
    (void)function;
    (void)attribute;
    (void)value;
    return result("cuFuncSetAttribute");
}
/* Writes into the pages as the kernel does: more than there are end the process. */
static void burn(unsigned blocks, const uint64_t *steps, const uint64_t *first, const uint64_t *pages,
                 const uint64_t *page_bytes) {
    static uint64_t begin;
    const char *path = getenv("FAKE_TOUCHES");
    FILE *file = path && *pages > 0 ? fopen(path, "a") : NULL;
    for (uint64_t page = 0; page < *pages; page++)
        *(volatile uint32_t *)(uintptr_t)(*first + *page_bytes * page) = 1;
    if (!begin)
        begin = *first;
    if (file) {
        fprintf(file, "%u %llu %s %llu %llu\n", blocks, (unsigned long long)*steps,
                begin == managed ? "managed" : "plain", (unsigned long long)((*first - begin) / *page_bytes),
                (unsigned long long)*pages);
        fclose(file);
    }
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **parameters, void **extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream;
    (void)extra;
    uint64_t *out = parameters ? (uint64_t *)(uintptr_t) * (uint64_t *)parameters[0] : NULL;
    if ((uintptr_t)function == 's')
        stamp(out, *(uint64_t *)parameters[1]);
    if ((uintptr_t)function == 'w')
        watch(out);
    if ((uintptr_t)function == 'b')
        burn(gx, parameters[1], parameters[2], parameters[3], parameters[4]);
    return 0;
}
int cuGetErrorName(int error, const char **name) {
    *name = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN";
    return 0;
}
