/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/drive/work_gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gsim/units.h"
#include "sim/calibrate/cuda.h"
#include "sim/base/embedded.h"

enum {
    MOST_GPUS = 64,
    THREADS = 1024,
    SHARED_BYTES_ATTRIBUTE = 8, /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    GUESS_STEPS = 100000,
    FIRST_KERNELS = 20,
    ROUND_KERNELS = 100,
    ROUNDS = 12, /* a second and a fifth in all */
    SCRATCH_BYTES = 4096,
    /* the pages of which an iteration touches each: those of the host, for which the driver reports
     * faults, and those in which plain memory is mapped on the GPU */
    MANAGED_PAGE_BYTES = 4096,
    PLAIN_PAGE_BYTES = 2 << 20,
    ATTACH_GLOBAL = 1 /* CU_MEM_ATTACH_GLOBAL */
};

/* One GPU with the kernel, its context current while it is worked on. */
struct gpu {
    void *context, *module, *kernel;
    gsim_cuda_mem scratch, memory;
    unsigned blocks; /* one for each SM that the job fills, and sees */
    unsigned fills; /* SMs of the whole GPU that the job fills */
    unsigned shared_bytes; /* of a block: all that an SM gives it, so that an SM holds one block */
};

struct gsim_work_gpus {
    struct gsim_cuda cuda;
    struct gpu gpu[MOST_GPUS];
    uint32_t n;
    int64_t pages, page_bytes; /* that an iteration touches */
};

static bool complain(struct gsim_work_gpus *gpus, const char *what, int error) {
    const char *name = "?";
    if (gpus->cuda.error_name(error, &name) != 0)
        name = "?";
    fprintf(stderr, "gsim drive: %s: %s (%d)\n", what, name, error);
    return false;
}

static const char *ptx(void) {
    const struct gsim_embedded *file = gsim_embedded_find("sim/app/drive/work.ptx");
    return file ? (const char *)file->bytes : "";
}

static int take_memory(struct gsim_cuda *cuda, struct gpu *gpu,
                       const struct gsim_work_memory *memory) {
    int error = cuda->mem_alloc(&gpu->scratch, SCRATCH_BYTES);
    if (error != 0 || memory->bytes <= SCRATCH_BYTES)
        return error;
    size_t bytes = (size_t)memory->bytes - SCRATCH_BYTES;
    return memory->is_managed ? cuda->mem_managed(&gpu->memory, bytes, ATTACH_GLOBAL)
                              : cuda->mem_alloc(&gpu->memory, bytes);
}

/* A part of a GPU has fewer SMs than the whole: those of an MPS client's cap, or of an instance. */
static void spread(const struct gsim_cuda *cuda, struct gpu *gpu, uint32_t sms, int64_t sm_ppm) {
    unsigned seen = (unsigned)gsim_cuda_attribute(cuda, GSIM_CUDA_SMS);
    gpu->fills = (unsigned)gsim_muldiv_ceil(sms > 0 ? sms : seen, sm_ppm, GSIM_PPM);
    gpu->blocks = seen > 0 && seen < gpu->fills ? seen : gpu->fills;
}

static bool open_gpu(struct gsim_work_gpus *gpus, uint32_t nth,
                     const struct gsim_work_memory *memory, uint32_t sms, int64_t sm_ppm) {
    struct gsim_cuda *cuda = &gpus->cuda;
    struct gpu *gpu = &gpus->gpu[nth];
    int error = cuda->device_get(&cuda->device, (int)nth);
    if (error == 0)
        error = cuda->context_create(&gpu->context, 0, cuda->device);
    if (error == 0)
        error = cuda->module_load(&gpu->module, ptx());
    if (error == 0)
        error = cuda->module_function(&gpu->kernel, gpu->module, "burn");
    if (error == 0)
        error = take_memory(cuda, gpu, memory);
    gpu->shared_bytes = (unsigned)gsim_cuda_attribute(cuda, GSIM_CUDA_BLOCK_SHARED_BYTES);
    if (error == 0)
        error = cuda->function_set(gpu->kernel, SHARED_BYTES_ATTRIBUTE, (int)gpu->shared_bytes);
    spread(cuda, gpu, sms, sm_ppm);
    return error == 0 || complain(gpus, "cannot use the GPU", error);
}

/* Of the memory, the scratch holds what kernels write beside their touches. */
static void count_pages(struct gsim_work_gpus *gpus, const struct gsim_work_memory *memory) {
    int64_t bytes = memory->bytes - SCRATCH_BYTES;
    bytes = memory->touched_bytes < bytes ? memory->touched_bytes : bytes;
    gpus->page_bytes = memory->is_managed ? MANAGED_PAGE_BYTES : PLAIN_PAGE_BYTES;
    gpus->pages = bytes > 0 ? (bytes - 1) / gpus->page_bytes + 1 : 0;
}

struct gsim_work_gpus *gsim_work_gpus_open(uint32_t n, const struct gsim_work_memory *memory,
                                           uint32_t sms, int64_t sm_ppm) {
    struct gsim_work_gpus *gpus = calloc(1, sizeof *gpus);
    struct gsim_log *log = calloc(1, sizeof *log);
    bool is_open = gpus && log && n <= MOST_GPUS && gsim_cuda_open(&gpus->cuda, log) == GSIM_OK;
    if (log && log->n_errors > 0)
        fprintf(stderr, "gsim drive: %s\n", log->errors[0].text);
    free(log);
    for (; is_open && gpus->n < n; gpus->n++)
        is_open = open_gpu(gpus, gpus->n, memory, sms, sm_ppm);
    if (is_open) {
        count_pages(gpus, memory);
        return gpus;
    }
    free(gpus); /* the driver ends with the process */
    return NULL;
}

void gsim_work_gpus_close(struct gsim_work_gpus *gpus) {
    for (uint32_t g = 0; gpus && g < gpus->n; g++)
        (void)gpus->cuda.context_destroy(gpus->gpu[g].context);
    if (gpus)
        gsim_cuda_close(&gpus->cuda);
    free(gpus);
}

/* A kernel of that many steps, which touches the pages from one on to another. */
static int launch(struct gsim_work_gpus *gpus, uint32_t nth, int64_t steps, int64_t from,
                  int64_t to) {
    struct gpu *gpu = &gpus->gpu[nth];
    uint64_t n = (uint64_t)gsim_muldiv_ceil(steps, gpu->fills, gpu->blocks);
    uint64_t pages = (uint64_t)(to - from), page_bytes = (uint64_t)gpus->page_bytes;
    gsim_cuda_mem first = gpu->memory + (uint64_t)from * page_bytes;
    void *parameters[] = {&gpu->scratch, &n, &first, &pages, &page_bytes};
    int error = gpus->n > 1 ? gpus->cuda.context_set(gpu->context) : 0;
    return error ? error
                 : gpus->cuda.launch(gpu->kernel, gpu->blocks, 1, 1, THREADS, 1, 1,
                                     gpu->shared_bytes, NULL, parameters, NULL);
}

static int wait_for(struct gsim_work_gpus *gpus, uint32_t nth) {
    int error = gpus->n > 1 ? gpus->cuda.context_set(gpus->gpu[nth].context) : 0;
    return error ? error : gpus->cuda.synchronize();
}

bool gsim_work_gpus_burn(struct gsim_work_gpus *gpus, int64_t steps, int64_t most) {
    int error = 0;
    int64_t done = 0, touched = 0;
    while (done < steps && error == 0) {
        int64_t n = steps - done < most ? steps - done : most;
        int64_t until = gsim_muldiv_floor(gpus->pages, done + n, steps);
        for (uint32_t g = 0; g < gpus->n && error == 0; g++)
            error = launch(gpus, g, n, touched, until);
        done += n;
        touched = until;
    }
    for (uint32_t g = 0; g < gpus->n && error == 0; g++)
        error = wait_for(gpus, g);
    return error == 0 || complain(gpus, "a kernel failed", error);
}

/* --- the speed of a GPU ----------------------------------------------------------------------- */

static int64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * GSIM_NS_PER_S + now.tv_nsec;
}

/* The time of that many kernels. */
static int64_t take_ns(struct gsim_work_gpus *gpus, int64_t kernels, int64_t steps, bool *is_fine) {
    int64_t began_ns = now_ns();
    *is_fine = *is_fine && gsim_work_gpus_burn(gpus, kernels * steps, steps);
    int64_t ns = now_ns() - began_ns;
    return ns > 0 ? ns : 1;
}

/* The steps of a ms, as a round of kernels of equal lengths tells. */
static int64_t round_of(struct gsim_work_gpus *gpus, int64_t kernels, int64_t steps,
                        bool *is_fine) {
    int64_t ns = take_ns(gpus, kernels, steps, is_fine);
    int64_t per_ms = gsim_muldiv_floor(kernels * steps, GSIM_NS_PER_MS, ns);
    return per_ms < 1 ? 1 : per_ms < GSIM_WORK_MOST_STEPS ? per_ms : GSIM_WORK_MOST_STEPS;
}

/* The first round makes kernels about a ms long. Of the others the fastest counts: a GPU that comes
 * out of idleness, and a host that has other things to do, take longer, and never less. */
static int64_t measure(struct gsim_work_gpus *gpus) {
    bool is_fine = true;
    int64_t steps = round_of(gpus, FIRST_KERNELS, GUESS_STEPS, &is_fine), fastest = 0;
    for (int round = 0; round < ROUNDS && is_fine; round++) {
        int64_t per_ms = round_of(gpus, ROUND_KERNELS, steps, &is_fine);
        fastest = per_ms > fastest ? per_ms : fastest;
    }
    return is_fine ? fastest : 0;
}

static void be_looking(const char *visible, int64_t given_steps, int out) {
    const struct gsim_work_memory none = {0};
    struct gsim_work_speed found = {0};
    (void)setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    (void)setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    struct gsim_work_gpus *gpus = gsim_work_gpus_open(1, &none, 0, GSIM_PPM);
    if (gpus) {
        found.steps_per_ms = given_steps > 0 ? given_steps : measure(gpus);
        found.sms = (uint32_t)gsim_cuda_attribute(&gpus->cuda, GSIM_CUDA_SMS);
        found.has_managed = gsim_cuda_attribute(&gpus->cuda, GSIM_CUDA_MANAGED) != 0;
    }
    gsim_work_gpus_close(gpus);
    _exit(write(out, &found, sizeof found) == (ssize_t)sizeof found ? 0 : 1);
}

struct gsim_work_speed gsim_work_look(const char *visible, int64_t given_steps) {
    int ends[2];
    struct gsim_work_speed found = {0};
    if (pipe(ends) != 0)
        return found;
    pid_t pid = fork();
    if (pid == 0)
        be_looking(visible, given_steps, ends[1]);
    (void)close(ends[1]);
    if (pid > 0 && read(ends[0], &found, sizeof found) != (ssize_t)sizeof found)
        found = (struct gsim_work_speed){0};
    (void)close(ends[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return found;
}
