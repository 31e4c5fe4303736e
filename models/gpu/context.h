/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process on one GPU, as the device sees it: a host that launches the kernels of each iteration
 * ahead of the GPU, waits where it synchronises, and a launch queue from which the GPU runs the
 * kernels in order. No time passes here: the owner says from when to when the context had the GPU,
 * and asks when the context will have nothing to run.
 *
 * Without a program the kernels of an iteration are equally long and launched evenly over host_ns;
 * the first is launched at once. Alone on a GPU an iteration takes max(gpu_ns, host_ns) + gap_ns,
 * to the nanosecond.
 *
 * With a program (models/gpu/program.h) each kernel has its own length and its own time of launch,
 * and the host goes on past the end of an iteration until its queue is full or it waits. The time
 * at which the host began the present iteration, launch_ns, says all of the host: where it had to
 * wait for the end of a kernel, that time is later, as if the host had begun later by the time that
 * it waited. Launches before the wait then seem later than they were, but never later than the end
 * of the wait. */
#ifndef GSIM_MODELS_GPU_CONTEXT_H
#define GSIM_MODELS_GPU_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "models/gpu/program.h"
#include "models/roles.h"
#include "gsim/units.h"

GSIM_ROLES_BEGIN
struct gsim_context_state {
    int64_t held_ns; /* how long the cap holds the next kernel back */
};

struct gsim_context_times {
    int64_t launch_ns; /* when the host began to launch the present iteration, or will */
    /* when the next kernel to run is launched; GSIM_NEVER when all iterations are done */
    int64_t ready_ns;
    /* the soonest begin of the next iteration's kernels; GSIM_NEVER without a pace */
    int64_t paced_ns;
};

struct gsim_context_marks {
    int64_t began_ns; /* when the host turned to the present iteration, or will */
    int64_t counted_ns; /* when the last kernel that counts in `begun` began */
};

struct gsim_context_sums {
    int64_t done_iterations;
    /* time of the done iterations, from the begin of each to where the next could follow */
    int64_t taken_ns;
};
GSIM_ROLES_END

/* What the process does `iterations` times; set by the owner (models/roles.h). */
struct gsim_context_spec {
    int64_t iterations;
    int64_t gpu_ns; /* of one iteration, alone at the full rate */
    int64_t host_ns; /* time of the host to launch an iteration */
    int64_t gap_ns; /* from the synchronisation until the next iteration is launched */
    int64_t kernels; /* of one iteration; each at least 1 ns long */
    int64_t queue; /* launches that the queue holds */
    /* The inside of an iteration, with its host's times in all host_ns long, and its GPU's gpu_ns;
     * the gap is among the host's. NULL: see above. */
    const struct gsim_program *program;
    /* the least time from the begin of an iteration's kernels to that of the next one's; 0: these
     * follow at once */
    int64_t pace_ns;
    /* factors of the program's times: follow from host_ns and gpu_ns */
    uint64_t host_q32, gpu_q32;
    /* An iteration of an open-loop job is a request: when each arrives, and where its latency is
     * noted. NULL: the next iteration follows the last one. */
    const int64_t *arrival_ns;
    int64_t *latency_ns;
    /* from a request's arrival, or from when the host is there, until its launch */
    int64_t launch_lag_ns;
    /* iterations that together touch the memory once (sync=kernel); 0: each iteration does */
    int64_t per_sweep;
    bool never_waits; /* sync=none: iterations follow each other in the queue */
    /* Copies to the host need no turn, so that a turn ends where one follows: set by the lane. */
    bool copies_apart;
    /* In each period of refill_ns kernels begin until `cap` of them, or of their blocks, have; then
     * the host waits in the launch of the next one. The first period begins at capped_ns, when the
     * context had another or none. refill_ns 0: no cap. */
    bool caps_blocks; /* of a program */
    int64_t refill_ns, cap, capped_ns;
};

struct gsim_context {
    struct gsim_context_spec spec;
    /* How far the process is (models/roles.h). Two numbers have rules of their own. */
    /* part of the present iteration, as GPU time at the full rate: state, and a sum */
    gsim_work done;
    /* Of a program: the present kernel, where it was last, and its work, if that is known; follow
     * from `done`. */
    uint32_t kernel;
    int64_t kernel_start_ns, kernel_end_ns; /* both 0: not known */
    int64_t begun; /* of what the cap counts, in its period that holds counted_ns */
    struct gsim_context_state state;
    struct gsim_context_times times;
    struct gsim_context_marks marks;
    struct gsim_context_sums sums;
};

/* The process begins to launch at now_ns. */
void gsim_context_start(struct gsim_context *context, int64_t now_ns);
static inline bool gsim_context_is_done(const struct gsim_context *context) {
    return context->sums.done_iterations == context->spec.iterations;
}
/* Whether no iteration comes behind the present one. */
static inline bool gsim_context_is_in_last(const struct gsim_context *context) {
    return context->sums.done_iterations + 1 >= context->spec.iterations;
}
/* Whether the memory has been touched completely: the next iteration begins a new sweep. */
static inline bool gsim_context_is_swept(const struct gsim_context *context) {
    return context->spec.per_sweep <= 1 ||
           context->sums.done_iterations % context->spec.per_sweep == 0;
}
/* The GPU time of a sweep over the memory, and how much of it is done. */
static inline gsim_work gsim_context_sweep(const struct gsim_context *context) {
    return gsim_work_of_ns(context->spec.gpu_ns) *
           (context->spec.per_sweep > 1 ? context->spec.per_sweep : 1);
}
static inline gsim_work gsim_context_swept(const struct gsim_context *context) {
    int64_t n =
        context->spec.per_sweep > 1 ? context->sums.done_iterations % context->spec.per_sweep : 0;
    return gsim_work_of_ns(context->spec.gpu_ns) * n + context->done;
}
/* Time of the present iteration up to now_ns, with a part of its gap. */
static inline int64_t gsim_context_under_way_ns(const struct gsim_context *context,
                                                int64_t now_ns) {
    if (gsim_context_is_done(context) || now_ns <= context->marks.began_ns)
        return 0;
    return now_ns - context->marks.began_ns +
           gsim_muldiv_floor(context->spec.gap_ns, gsim_work_to_ns(context->done),
                             context->spec.gpu_ns);
}
/* Time that iterations took up to now_ns, with the gap after each and without waiting for requests.
 * A partial iteration counts with the same part of its gap, so that work by this time is a rate at
 * any moment. */
static inline int64_t gsim_context_taken_ns(const struct gsim_context *context, int64_t now_ns) {
    return context->sums.taken_ns + gsim_context_under_way_ns(context, now_ns);
}
/* The context was taken off the GPU at left_ns, and its host goes on now where it was: with the
 * rest of the gap before the next iteration. */
void gsim_context_restart(struct gsim_context *context, int64_t left_ns, int64_t now_ns);
/* The rest of the host's time between two iterations at at_ns, where the host is there: the
 * iteration before counts as done. */
int64_t gsim_context_pause_ns(const struct gsim_context *context, int64_t at_ns);
/* Of a program of which a kernel ends now: whether the next one is in the queue, without an instant
 * in which the queue was empty. Of a context without a program: false. */
bool gsim_context_is_ahead(const struct gsim_context *context, int64_t now_ns);
/* Whether the context is at a kernel boundary, to the nanosecond: at a lower rate the last
 * nanosecond of a kernel may hold the beginning of the next. */
bool gsim_context_is_between_kernels(const struct gsim_context *context);
/* When the queue of a ready context that runs from from_ns on at this rate is empty, or when its
 * iteration ends. An answer past limit_ns says only that this is past limit_ns. */
int64_t gsim_context_idle_ns(const struct gsim_context *context, int64_t from_ns, uint64_t rate_q32,
                             int64_t limit_ns);
/* The end of the running kernel under these conditions too; is_iteration: the end of the
 * iteration. */
int64_t gsim_context_boundary_ns(const struct gsim_context *context, int64_t from_ns,
                                 uint64_t rate_q32, bool is_iteration);
/* The end of the kernel that runs at at_ns, or begins then, if the context runs from from_ns on at
 * this rate and its host launches in time; GSIM_NEVER: the iteration ends before. */
int64_t gsim_context_kernel_end_ns(const struct gsim_context *context, int64_t at_ns,
                                   int64_t from_ns, uint64_t rate_q32);
/* The running kernel, as work of the iteration; and the end of the last kernel of the first n that
 * are launched by now_ns, the running kernel included. */
struct gsim_kernel_span {
    int64_t kernel; /* of the iteration, from 0 */
    gsim_work start, end, last_end;
    int64_t n_behind; /* kernels launched behind the running one, of those n */
    /* when the next of those n is launched; GSIM_NEVER: none is left, or its host waits for one
     * that is launched */
    int64_t next_ns;
};
struct gsim_kernel_span gsim_context_kernel(const struct gsim_context *context, int64_t n,
                                            int64_t now_ns);
/* Whether the kernel of this number of a program is the one that runs, or the next to run; false
 * also where that was not noted. */
static inline bool gsim_context_is_known_at(const struct gsim_context *context, int64_t kernel) {
    int64_t done_ns = gsim_work_to_ns(context->done);
    if (context->done == 0)
        return kernel == 0;
    return context->kernel == kernel && done_ns >= context->kernel_start_ns &&
           done_ns < context->kernel_end_ns;
}
/* The length of the kernel that runs, or is the next to run. */
int64_t gsim_context_kernel_ns(const struct gsim_context *context);
/* When a kernel of a program runs, the present one or a later one, if the context has the GPU at
 * this rate from from_ns on until it ends. Between two kernels of a stream nothing runs. */
struct gsim_kernel_run {
    int64_t begin_ns, end_ns;
};
struct gsim_kernel_run gsim_context_kernel_run(const struct gsim_context *context, int64_t kernel,
                                               int64_t from_ns, uint64_t rate_q32);
/* Sets the progress within the iteration at now_ns: killed work has to run again. */
void gsim_context_set(struct gsim_context *context, gsim_work done, int64_t now_ns);
/* The context had the GPU from from_ns to to_ns, which is not past its idle_ns. */
void gsim_context_run(struct gsim_context *context, int64_t from_ns, int64_t to_ns,
                      uint64_t rate_q32);
/* Kernels of a context begin in a period until that many have, or that many of their blocks: where
 * it has a program, and so it is said. refill_ns 0: no cap. */
struct gsim_launch_cap {
    int64_t n, refill_ns;
    bool is_of_blocks;
};
/* The cap from now on. The first period begins now, if periods were of another length. */
void gsim_context_cap(struct gsim_context *context, const struct gsim_launch_cap *cap,
                      int64_t now_ns);
/* The end of the present period; GSIM_NEVER without a cap. The answer of gsim_context_idle_ns holds
 * up to then. */
int64_t gsim_context_period_end_ns(const struct gsim_context *context, int64_t now_ns);
static inline int64_t gsim_context_refill_ns(const struct gsim_context *context, int64_t now_ns) {
    return context->spec.refill_ns > 0 ? gsim_context_period_end_ns(context, now_ns) : GSIM_NEVER;
}
/* Whether a copy that needs no turn is next, and has not begun. */
bool gsim_context_copies_next(const struct gsim_context *context);
/* How many whole periods of the cap are over at now_ns. */
static inline int64_t gsim_context_refills(const struct gsim_context *context, int64_t now_ns) {
    return (now_ns - context->spec.capped_ns) / context->spec.refill_ns;
}
static inline int64_t gsim_context_begun(const struct gsim_context *context, int64_t now_ns) {
    bool is_present =
        context->spec.refill_ns > 0 && gsim_context_refills(context, context->marks.counted_ns) ==
                                           gsim_context_refills(context, now_ns);
    return is_present ? context->begun : 0;
}
/* From now on an iteration takes gpu_ns of GPU time: each kernel is longer, or shorter, by the same
 * factor, and the part of the present kernel that is done stays that part of it. */
void gsim_context_stretch(struct gsim_context *context, int64_t gpu_ns);
/* Whether launches that are still to be made may not fit the queue, if the context gets the GPU
 * now. The present kernel is at least the one before the part of all kernels that is done. */
static inline bool gsim_context_overfills(const struct gsim_context *context) {
    const struct gsim_context_spec *spec = &context->spec;
    if (spec->program || spec->host_ns == 0 || spec->kernels <= spec->queue)
        return false;
    int64_t part = gsim_muldiv_floor(gsim_work_to_ns(context->done), spec->kernels, spec->gpu_ns);
    return part - 1 + spec->queue - 1 < spec->kernels;
}
/* Whether the queue surely has a next kernel whenever one ends, up to the end of the iteration, if
 * the context runs at full rate from now_ns or from when it is ready, with or without breaks. A
 * kernel is then launched a nanosecond after the end of the kernel before at the latest: the host
 * is no slower than the GPU, and the times of both are floors. The present kernel is at most the
 * one after the part of all kernels that is done. */
static inline bool gsim_context_is_fed(const struct gsim_context *context, int64_t now_ns) {
    const struct gsim_context_spec *spec = &context->spec;
    const struct gsim_context_times *times = &context->times;
    if (spec->program || spec->refill_ns > 0 || spec->arrival_ns || spec->host_ns > spec->gpu_ns)
        return false;
    if (spec->host_ns == 0)
        return true;
    if (context->done == 0)
        return times->launch_ns <= (times->ready_ns > now_ns ? times->ready_ns : now_ns);
    int64_t launched_ns =
        gsim_muldiv_floor(spec->host_ns, gsim_work_to_ns(context->done), spec->gpu_ns) +
        2 * (spec->host_ns / spec->kernels + 1);
    return times->ready_ns <= now_ns && times->launch_ns + launched_ns <= now_ns;
}
/* The context gets the GPU now: launches that did not fit the queue meanwhile are still to be
 * made. */
void gsim_context_resume(struct gsim_context *context, int64_t now_ns);

#endif
