/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/drive/work.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "gsim/units.h"
#include "sim/job/gsim_job.h"

/* The length of an iteration of a row that has none: short beside a policy's slices, and long
 * beside the time in which `drive` reads a line. */
#define USUAL_NS (100 * GSIM_NS_PER_MS)
/* A sleep is this long at most; the time that a stop adds to it does not count as work. */
#define NAP_NS (2 * GSIM_NS_PER_MS)

/* As in a simulation, a job fills the SMs that its row says, and at most its share of a GPU. */
static int64_t fill_of(const struct gsim_trace *trace, uint32_t job) {
    int64_t fill_ppm = gsim_trace_get(trace, GSIM_COL_SM_PPM, job);
    int64_t share_ppm = gsim_trace_share(trace, job);
    return fill_ppm > 0 && fill_ppm < share_ppm ? fill_ppm : share_ppm;
}

/* A row without working_set_gib touches all of its memory, as in a simulation. */
static struct gsim_work_memory memory_of(const struct gsim_trace *trace, uint32_t job,
                                         bool is_managed) {
    int64_t bytes = gsim_trace_get(trace, GSIM_COL_MEM_BYTES, job);
    int64_t touched = gsim_trace_get(trace, GSIM_COL_WORKING_SET_BYTES, job);
    bytes = bytes >= 0 ? bytes : touched;
    touched = touched >= 0 && touched < bytes ? touched : bytes;
    return (struct gsim_work_memory){bytes, touched, is_managed};
}

struct gsim_work_load gsim_work_of(const struct gsim_trace *trace, uint32_t job,
                                   const struct gsim_executor *executor) {
    int64_t service_ns = trace->service_ns[job];
    int64_t n = gsim_trace_get(trace, GSIM_COL_ITERATIONS, job);
    int64_t gpu_ns = gsim_trace_get(trace, GSIM_COL_GPU_NS, job);
    int64_t tail_ns = gsim_trace_get(trace, GSIM_COL_HOST_TAIL_NS, job);
    struct gsim_work_load work = {.memory = memory_of(trace, job, executor->is_paged),
                                  .gpus = gsim_trace_gpus(trace, job),
                                  .sm_ppm = fill_of(trace, job),
                                  .sms = executor->sms,
                                  .speed_up = executor->speed_up,
                                  .steps_per_ms = executor->steps_per_ms};
    work.tail_ns = tail_ns > 0 && tail_ns < service_ns ? tail_ns : 0;
    service_ns -= work.tail_ns;
    work.iterations = n > 0 ? n : service_ns / USUAL_NS + 1;
    int64_t each_ns = service_ns / work.iterations;
    work.gpu_ns = gpu_ns >= 0 && gpu_ns < each_ns ? gpu_ns : each_ns;
    work.gap_ns = each_ns - work.gpu_ns;
    return work;
}

static int64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * GSIM_NS_PER_S + now.tv_nsec;
}

/* Sleeps until that time of the run has passed in which the process was not stopped. *debt_ns is
 * the time that earlier sleeps took too long: it is taken off, so that sleeps do not add up to more
 * than their sum. */
static void sleep_for(int64_t run_ns, int64_t speed_up, int64_t *debt_ns) {
    int64_t left_ns = run_ns / speed_up - *debt_ns;
    while (left_ns > 0) {
        int64_t nap_ns = left_ns < NAP_NS ? left_ns : NAP_NS, began_ns = now_ns();
        struct timespec nap = {.tv_nsec = (long)nap_ns};
        (void)nanosleep(&nap, NULL);
        int64_t took_ns = now_ns() - began_ns;
        left_ns -= took_ns < 2 * NAP_NS ? took_ns : nap_ns;
    }
    *debt_ns = -left_ns;
}

/* The state of the job is the number of its iterations that are done. */
static int64_t load_state(void) {
    FILE *file = gsim_worker_state() ? fopen(gsim_worker_state(), "r") : NULL;
    int64_t done = 0;
    if (file && fscanf(file, "%" SCNd64, &done) != 1)
        done = 0;
    if (file)
        (void)fclose(file);
    return done;
}

static bool save_state(int64_t done) {
    FILE *file = gsim_worker_state() ? fopen(gsim_worker_state(), "w") : NULL;
    bool is_whole = file && fprintf(file, "%" PRId64 "\n", done) > 0;
    return file && fclose(file) == 0 && is_whole;
}

/* Iterations until the next look at what `drive` says: one, or as many short ones as fill a nap. */
static int64_t at_once(const struct gsim_work_load *work, int64_t done) {
    if (work->steps_per_ms > 0)
        return 1;
    int64_t each_ns = work->gpu_ns + work->gap_ns;
    int64_t nap_ns = NAP_NS * work->speed_up, left = work->iterations - done;
    int64_t n = each_ns > 0 ? nap_ns / each_ns : left;
    n = n > 1 ? n : 1;
    return n < left ? n : left;
}

/* n iterations. On a GPU the host waits for the end of each, so that a stop at an iteration finds
 * the GPU idle. */
static bool iterate(const struct gsim_work_load *work, struct gsim_work_gpus *gpus, int64_t n,
                    int64_t *debt_ns) {
    if (!gpus) {
        sleep_for(n * (work->gpu_ns + work->gap_ns), work->speed_up, debt_ns);
        return true;
    }
    int64_t steps = gsim_muldiv_ceil(work->gpu_ns, work->steps_per_ms, GSIM_NS_PER_MS);
    bool is_done = gsim_work_gpus_burn(gpus, steps, work->steps_per_ms);
    sleep_for(work->gap_ns, 1, debt_ns);
    return is_done;
}

static int run(const struct gsim_work_load *work, struct gsim_work_gpus *gpus) {
    int64_t debt_ns = 0;
    int64_t done = gsim_worker_begin(work->iterations) ? load_state() : 0;
    while (done < work->iterations) {
        int64_t n = at_once(work, done);
        if (!iterate(work, gpus, n, &debt_ns))
            return 1;
        done += n;
        if (!gsim_worker_iteration(done))
            continue;
        if (!save_state(done)) {
            perror("gsim drive: cannot save the state of the job");
            return 1;
        }
        gsim_worker_saved();
        return 0;
    }
    sleep_for(work->tail_ns, work->speed_up, &debt_ns);
    gsim_worker_end();
    return 0;
}

int gsim_work_do(const struct gsim_work_load *work) {
    struct gsim_work_gpus *gpus = NULL;
    if (work->steps_per_ms > 0 &&
        !(gpus = gsim_work_gpus_open(work->gpus, &work->memory, work->sms, work->sm_ppm)))
        return 1;
    int code = run(work, gpus);
    gsim_work_gpus_close(gpus);
    return code;
}

/* Rows without a command become kernels of a length that is known on a GPU that is idle. */
enum gsim_status gsim_work_measure(struct gsim_executor *executor, const char *visible,
                                   uint32_t number, uint32_t sms) {
    struct gsim_work_speed found = gsim_work_look(visible, executor->steps_per_ms);
    executor->steps_per_ms = found.steps_per_ms;
    executor->sms = sms > 0 ? sms : found.sms;
    if (found.steps_per_ms == 0)
        return gsim_fail(executor->log, GSIM_FAILED, NULL, 0,
                         "no kernel runs on GPU %u, which jobs without a command need", number);
    return found.has_managed || !executor->is_paged
               ? GSIM_OK
               : gsim_fail(executor->log, GSIM_FAILED, NULL, 0,
                           "the policy has the driver page memory on demand, and the driver has "
                           "no managed memory on GPU %u",
                           number);
}
