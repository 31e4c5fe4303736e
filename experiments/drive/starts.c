/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the processes of jobs take to start and to end, when several do at once: the measurement
 * behind the keys [start] and [end] of experiments/validate/drive. A process is what `gsim
 * drive` makes of a row without a command (sim/app/drive/work_gpu.c): it opens the driver, makes
 * a context, loads a kernel and takes its memory, computes, gives all of that back and ends.
 *
 *     cc -I. -Iinclude experiments/drive/starts.c build/gcc-O2/lib{app,gsim}.a -linih -lcsv \
 *        -lyajl -lsqlite3 -lz -lzstd -lnettle -lgsl -lgslcblas -lm -ldl -o starts
 *     ./starts CASE GPUS MEM_GIB PROCESSES [burn | beside | cross | spread]
 *
 * prints, for each process, when it was ready and when it had ended, in ms from the moments at
 * which all were told to start, and to end. With `burn` another process keeps the GPU busy with
 * kernels of 40 ms in the meantime, with `beside` it has a context there and does nothing. With
 * `cross` as many processes again are told to start when the first are told to end, and only
 * their starts are printed. With `spread` each process has a GPU of its own. Show one GPU
 * (CUDA_VISIBLE_DEVICES) where others are to rest: a process brings up each GPU that it sees. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gsim/units.h"
#include "sim/app/drive/work_gpu.h"

enum { MOST = 64, BURN_MS = 40 };

/* Times are of the wall, in ns; the children and their parent share them. */
struct moments {
    volatile int64_t start_ns, end_ns, ready_ns[MOST], over_ns[MOST], second_ns[MOST];
    volatile int stop_burning, is_burning;
};

static int64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * GSIM_NS_PER_S + now.tv_nsec;
}

static void sleep_until(int64_t until_ns) {
    struct timespec until = {.tv_sec = until_ns / GSIM_NS_PER_S,
                             .tv_nsec = until_ns % GSIM_NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        ;
}

static void be_process(struct moments *m, int nth, uint32_t gpus, int64_t mem_bytes,
                       int64_t steps) {
    sleep_until(m->start_ns);
    const struct gsim_work_memory memory = {.bytes = mem_bytes};
    struct gsim_work_gpus *work = gsim_work_gpus_open(gpus, &memory, 0, GSIM_PPM);
    if (!work || !gsim_work_gpus_burn(work, steps, steps))
        _exit(1);
    m->ready_ns[nth] = now_ns();
    while (m->end_ns == 0)
        usleep(1000);
    sleep_until(m->end_ns);
    gsim_work_gpus_close(work);
    exit(0);
}

/* A process that starts when others end. */
static void be_second(struct moments *m, int nth, uint32_t gpus, int64_t mem_bytes, int64_t steps) {
    while (m->end_ns == 0)
        usleep(1000);
    sleep_until(m->end_ns);
    const struct gsim_work_memory memory = {.bytes = mem_bytes};
    struct gsim_work_gpus *work = gsim_work_gpus_open(gpus, &memory, 0, GSIM_PPM);
    if (!work || !gsim_work_gpus_burn(work, steps, steps))
        _exit(1);
    m->second_ns[nth] = now_ns();
    while (!m->stop_burning)
        usleep(1000);
    gsim_work_gpus_close(work);
    exit(0);
}

static pid_t burn(struct moments *m, int64_t steps_per_ms) {
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    const struct gsim_work_memory none = {0};
    struct gsim_work_gpus *work = gsim_work_gpus_open(1, &none, 0, GSIM_PPM);
    while (work && !m->stop_burning)
        if (m->is_burning)
            (void)gsim_work_gpus_burn(work, BURN_MS * steps_per_ms, BURN_MS * steps_per_ms);
        else
            usleep(1000);
    exit(0);
}

/* Waits for the ends in the order in which they come. */
static void await(struct moments *m, const pid_t *pids, int n) {
    for (int left = n; left > 0;) {
        int how;
        pid_t pid = waitpid(-1, &how, 0);
        for (int i = 0; i < n; i++)
            if (pids[i] == pid) {
                m->over_ns[i] = now_ns();
                left--;
                if (how != 0)
                    fprintf(stderr, "process %d failed\n", i);
            }
    }
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print(const char *what, const volatile int64_t *at_ns, int64_t since_ns, int n) {
    int64_t sorted[MOST];
    for (int i = 0; i < n; i++)
        sorted[i] = at_ns[i] - since_ns;
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    printf(",%s", what);
    for (int i = 0; i < n; i++)
        printf("%c%.1f", i ? ' ' : ',', (double)sorted[i] / 1e6);
}

/* The set-up of a case: the memory and kernels of its processes, and where they compute. */
struct measurement {
    struct moments *m;
    uint32_t gpus;
    int64_t mem_bytes, steps_per_ms;
    int n;
    bool is_cross, is_spread;
    pid_t pids[MOST], second[MOST];
};

static void fork_all(struct measurement *x) {
    for (int i = 0; i < x->n; i++) {
        char number[8];
        (void)snprintf(number, sizeof number, "%d", i);
        if (x->is_spread)
            (void)setenv("CUDA_VISIBLE_DEVICES", number, 1);
        if ((x->pids[i] = fork()) == 0)
            be_process(x->m, i, x->gpus, x->mem_bytes, x->steps_per_ms / 1000);
        if (x->is_cross && (x->second[i] = fork()) == 0)
            be_second(x->m, i, x->gpus, x->mem_bytes, x->steps_per_ms / 1000);
    }
}

static void await_all(const volatile int64_t *at_ns, int n) {
    for (int i = 0; i < n; i++)
        while (at_ns[i] == 0)
            usleep(1000);
}

static void measure(struct measurement *x) {
    x->m->start_ns = now_ns() + 300 * GSIM_NS_PER_MS;
    fork_all(x);
    await_all(x->m->ready_ns, x->n);
    x->m->end_ns = now_ns() + 500 * GSIM_NS_PER_MS;
    await(x->m, x->pids, x->n);
    await_all(x->m->second_ns, x->is_cross ? x->n : 0);
}

int main(int argc, char **argv) {
    struct measurement x = {.n = argc > 4 ? atoi(argv[4]) : 0};
    if (x.n < 1 || x.n > MOST)
        return 2;
    const char *way = argc > 5 ? argv[5] : "";
    x.m = mmap(NULL, sizeof *x.m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    x.gpus = (uint32_t)atoi(argv[2]);
    x.mem_bytes = (int64_t)atoi(argv[3]) * GSIM_GIB;
    x.steps_per_ms = gsim_work_look("0", 0).steps_per_ms;
    x.is_cross = strcmp(way, "cross") == 0;
    x.is_spread = strcmp(way, "spread") == 0;
    x.m->is_burning = strcmp(way, "burn") == 0;
    bool is_beside = x.m->is_burning || strcmp(way, "beside") == 0;
    pid_t other = is_beside ? burn(x.m, x.steps_per_ms) : 0;
    sleep(is_beside ? 2 : 0); /* until it is there */
    measure(&x);
    printf("%s,%s,%s,%d", argv[1], argv[2], argv[3], x.n);
    print("start", x.is_cross ? x.m->second_ns : x.m->ready_ns,
          x.is_cross ? x.m->end_ns : x.m->start_ns, x.n);
    print("end", x.m->over_ns, x.m->end_ns, x.n);
    printf("\n");
    x.m->stop_burning = 1;
    if (other > 0)
        (void)waitpid(other, NULL, 0);
    for (int i = 0; x.is_cross && i < x.n; i++)
        (void)waitpid(x.second[i], NULL, 0);
    return 0;
}
