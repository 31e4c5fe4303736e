/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process on one GPU, as the device sees it: a host that launches the kernels of one iteration
 * after the other ahead of the GPU, waits where it synchronises, and a launch queue from which the
 * GPU runs them in order. No time passes here: the owner says from when to when the context had the
 * GPU, and asks when it will have nothing to run.
 *
 * Kernels of an iteration are equally long and launched evenly over host_ns; the first is there at
 * once. Alone on a GPU an iteration takes max(gpu_ns, host_ns) + gap_ns, to the nanosecond. */
#ifndef GSIM_MODELS_GPU_CONTEXT_H
#define GSIM_MODELS_GPU_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "models/roles.h"
#include "gsim/units.h"

GSIM_ROLES_BEGIN
struct gsim_context_state {
    int64_t held_ns; /* for which the cap holds the next kernel back */
};

struct gsim_context_times {
    int64_t launch_ns; /* when the host began to launch it, or will */
    int64_t ready_ns; /* when the next kernel to run is launched; GSIM_NEVER when all is done */
};

struct gsim_context_marks {
    int64_t began_ns; /* when the host turned to the present iteration, or will */
    int64_t counted_ns; /* when the last kernel began that counts in `begun` */
};

struct gsim_context_sums {
    int64_t done_iterations;
    int64_t taken_ns; /* by these: from when each began to where the next one could follow */
};
GSIM_ROLES_END

struct gsim_context {
    /* What it does: `iterations` times. */
    int64_t iterations;
    int64_t gpu_ns; /* of one iteration, alone at the full rate */
    int64_t host_ns; /* launching it */
    int64_t gap_ns; /* from the synchronisation until the next one is launched */
    int64_t kernels; /* of one iteration; each at least 1 ns long */
    int64_t queue; /* launches that the queue holds */
    /* Of an open-loop job an iteration is a request: when each arrives, and where its latency is
     * noted. NULL: the next iteration follows the last one. */
    const int64_t *arrival_ns;
    int64_t *latency_ns;
    int64_t launch_lag_ns; /* from its arrival until it is launched, behind those that wait */
    int64_t per_sweep; /* so many iterations touch its memory once (sync=kernel); 0: each */
    bool never_waits; /* sync=none: its iterations follow each other in its queue */
    /* In each period of refill_ns (they begin at its multiples) at most so many kernels begin; then
     * the host waits in the launch of the next one. refill_ns 0: no cap. */
    int64_t refill_ns, cap;

    /* Where it is (models/roles.h). Two numbers have rules of their own. */
    gsim_work done; /* of the present iteration, GPU time at the full rate: state, and a sum */
    int64_t begun; /* kernels, in the period of the cap in which the last one did */
    struct gsim_context_state state;
    struct gsim_context_times times;
    struct gsim_context_marks marks;
    struct gsim_context_sums sums;
};

/* A process that begins to launch at now_ns. */
void gsim_context_start(struct gsim_context *context, int64_t now_ns);
static inline bool gsim_context_is_done(const struct gsim_context *context) {
    return context->sums.done_iterations == context->iterations;
}
/* What it touches has been touched: the next iteration begins anew. */
static inline bool gsim_context_is_swept(const struct gsim_context *context) {
    return context->per_sweep <= 1 || context->sums.done_iterations % context->per_sweep == 0;
}
/* Time that iterations took up to now_ns, the gap after each included and waiting for a request not.
 * So much of one as is done counts with as much of its gap, so that work by this time is a pace,
 * wherever in an iteration it is asked. */
int64_t gsim_context_taken_ns(const struct gsim_context *context, int64_t now_ns);
/* It was taken off the GPU at left_ns, and its host goes on now where it was: with what was left of
 * the gap before the next iteration. */
void gsim_context_restart(struct gsim_context *context, int64_t left_ns, int64_t now_ns);
/* To the nanosecond: at a lower rate the last one of a kernel may hold some of the next. */
bool gsim_context_is_between_kernels(const struct gsim_context *context);
/* It runs from from_ns on at this rate, and is ready: when its queue is empty. */
int64_t gsim_context_idle_ns(const struct gsim_context *context, int64_t from_ns,
                             uint64_t rate_q32);
/* The end of the running kernel under the same conditions; is_iteration: of the iteration. */
int64_t gsim_context_boundary_ns(const struct gsim_context *context, int64_t from_ns,
                                 uint64_t rate_q32, bool is_iteration);
/* The running kernel, as work of the iteration; and the end of the last one of n that are in flight
 * by now_ns, the running one included. */
struct gsim_kernel_span {
    gsim_work start, end, last_end;
    int64_t n_behind; /* of those n, without the running one */
};
struct gsim_kernel_span gsim_context_kernel(const struct gsim_context *context, int64_t n,
                                            int64_t now_ns);
/* Its progress within the iteration is set to this at now_ns: what was killed has to run again. */
void gsim_context_set(struct gsim_context *context, gsim_work done, int64_t now_ns);
/* It had the GPU from from_ns to to_ns, which is not past its idle_ns. */
void gsim_context_run(struct gsim_context *context, int64_t from_ns, int64_t to_ns,
                      uint64_t rate_q32);
/* From now on its launches are capped like this. */
void gsim_context_cap(struct gsim_context *context, int64_t cap, int64_t refill_ns, int64_t now_ns);
/* The end of the present period; GSIM_NEVER without a cap. What gsim_context_idle_ns says holds up to
 * there. */
int64_t gsim_context_refill_ns(const struct gsim_context *context, int64_t now_ns);
static inline int64_t gsim_context_begun(const struct gsim_context *context, int64_t now_ns) {
    int64_t refill_ns = context->refill_ns;
    bool is_present = refill_ns > 0 && context->marks.counted_ns / refill_ns == now_ns / refill_ns;
    return is_present ? context->begun : 0;
}
/* From now on an iteration has so much GPU time: each kernel is longer, or shorter, by the same part,
 * and what is done of the present one stays that part of it. */
void gsim_context_stretch(struct gsim_context *context, int64_t gpu_ns);
/* It gets the GPU now: launches that did not fit the queue meanwhile are still to be made. */
void gsim_context_resume(struct gsim_context *context, int64_t now_ns);
/* Whether only its total work matters: one kernel that was launched long ago, or many that were launched
 * at once and nobody caps. Its offset then says nothing about when anything happens, until it ends. */
static inline bool gsim_context_is_linear(const struct gsim_context *context) {
    bool is_one_launch = context->kernels == 1 ||
                         (context->host_ns == 0 && context->refill_ns == 0 && !context->arrival_ns);
    return context->iterations == 1 && is_one_launch;
}

/* Whether the future is the same, as far as the context decides it. back_ns: how far the past
 * matters to which context is next. can_be_cut: where it is within a kernel decides how it is
 * halted. */
bool gsim_context_is_same(const struct gsim_context *a, int64_t a_now_ns,
                          const struct gsim_context *b, int64_t b_now_ns, int64_t back_ns,
                          bool can_be_cut);
/* What a context has done from `then` to `now`; and so many times that, while so much time passed.
 * may_be_within: that is no whole number of iterations. */
void gsim_context_subtract(struct gsim_context *per, const struct gsim_context *now, int64_t now_ns,
                           const struct gsim_context *then, int64_t then_ns);
void gsim_context_skip(struct gsim_context *context, const struct gsim_context *per, int64_t n,
                       int64_t by_ns, bool may_be_within);

#endif
