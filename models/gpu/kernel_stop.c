/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/kernel_stop.h"

#include "gsim/units.h"

struct gsim_kernel_stop_costs gsim_kernel_stop_costs_of(const struct gsim_profile *profile) {
    return (struct gsim_kernel_stop_costs){
        .save_ns = profile->value[GSIM_KEY_PREEMPT_SAVE_NS],
        .restore_ns = profile->value[GSIM_KEY_PREEMPT_RESTORE_NS],
        .reset_ns = profile->value[GSIM_KEY_PREEMPT_RESET_NS],
        .dirty_ppm = profile->value[GSIM_KEY_PREEMPT_DIRTY_PPM],
        .incremental_ppm = profile->value[GSIM_KEY_PREEMPT_INCREMENTAL_PPM],
        .checkpoint_ns = profile->value[GSIM_KEY_PREEMPT_CHECKPOINT_NS],
        .piece_ns = profile->value[GSIM_KEY_LAUNCH_NS],
        .gap_ns = profile->value[GSIM_KEY_LAUNCH_GAP_NS],
        .sms = profile->value[GSIM_KEY_SMS]};
}

bool gsim_kernel_stop_uses(const struct gsim_lane_urgency *how, enum gsim_key key) {
    bool saves = how->stop == GSIM_STOP_SAVE || how->stop == GSIM_STOP_CHEAPEST ||
                 how->stop == GSIM_STOP_INCREMENTAL;
    switch (key) {
    case GSIM_KEY_PREEMPT_SAVE_NS:
    case GSIM_KEY_PREEMPT_RESTORE_NS:
        return saves;
    case GSIM_KEY_PREEMPT_RESET_NS:
        return how->stop == GSIM_STOP_FLUSH || how->stop == GSIM_STOP_CHEAPEST;
    case GSIM_KEY_PREEMPT_DIRTY_PPM:
    case GSIM_KEY_PREEMPT_INCREMENTAL_PPM:
    case GSIM_KEY_PREEMPT_CHECKPOINT_NS:
        return how->stop == GSIM_STOP_INCREMENTAL;
    case GSIM_KEY_LAUNCH_NS:
        return how->pieces > 1;
    default:
        return false;
    }
}

int64_t gsim_kernel_stop_form_ns(const struct gsim_lane *how, const struct gsim_profile *profile,
                                 int64_t gpu_ns, int64_t kernels) {
    struct gsim_lane_urgency urgency = gsim_lane_urgency(how);
    struct gsim_kernel_stop_costs costs = gsim_kernel_stop_costs_of(profile);
    if (urgency.stop == GSIM_STOP_INCREMENTAL)
        return gpu_ns + gsim_muldiv_ceil(gpu_ns, costs.incremental_ppm, GSIM_PPM);
    if (urgency.pieces > 1)
        return gpu_ns + kernels * (urgency.pieces - 1) * costs.piece_ns;
    if (urgency.stop == GSIM_STOP_FLUSH && urgency.in_flight == 1) /* nothing is launched ahead */
        return gpu_ns + (kernels - 1) * costs.gap_ns;
    return gpu_ns;
}

static int64_t time_for(gsim_work work, uint64_t rate_q32) {
    return work > 0 ? gsim_work_time(work, rate_q32) : 0;
}

/* The end of the present period, where periods of this length follow each other from `from` on;
 * never past `end`. */
static gsim_work next_multiple(gsim_work from, gsim_work done, gsim_work end, gsim_work period) {
    if (period <= 0)
        return done;
    gsim_work at = from + (done - from + period - 1) / period * period;
    return at < end ? at : end;
}

/* The end of the running block or piece: in the instant in which one ends the next has begun, as
 * the next kernel has when a kernel ends. */
static gsim_work part_end(struct gsim_kernel_span span, gsim_work done, gsim_work part) {
    return next_multiple(span.start, done + (part > 0), span.end, part);
}

static struct gsim_kernel_stop_outcome runs_to(gsim_work at, gsim_work done, uint64_t rate_q32) {
    return (struct gsim_kernel_stop_outcome){
        .free_ns = time_for(at - done, rate_q32), .done = at, .is_within_bound = true};
}

/* --- Chimera ---------------------------------------------------------------------------------- */

struct sm_choice {
    int64_t free_ns, cost_ns;
    gsim_work gained; /* progress of the SM's share from now on; negative if work is lost */
    int64_t restore_ns;
};

/* Of two ways that cost as much the one that frees the SM sooner. */
static bool is_cheaper(const struct sm_choice *one, const struct sm_choice *other) {
    return one->cost_ns < other->cost_ns ||
           (one->cost_ns == other->cost_ns && one->free_ns < other->free_ns);
}

/* The choice for one SM: its blocks have run for progress_ns of block_ns. */
static struct sm_choice choose(const struct gsim_lane_urgency *how,
                               const struct gsim_kernel_stop_costs *costs, int64_t progress_ns,
                               int64_t block_ns, bool is_idempotent) {
    int64_t left_ns = block_ns - progress_ns;
    const struct sm_choice options[] = {
        {left_ns, 0, gsim_work_of_ns(left_ns), 0},
        {costs->save_ns, costs->save_ns + costs->restore_ns, 0, costs->restore_ns},
        {costs->reset_ns, progress_ns, -gsim_work_of_ns(progress_ns), 0},
    };
    int n = is_idempotent ? 3 : 2, best = -1, fastest = 0;
    for (int i = 0; i < n; i++) {
        if (options[i].free_ns < options[fastest].free_ns)
            fastest = i;
        if (options[i].free_ns <= how->bound_ns &&
            (best < 0 || is_cheaper(&options[i], &options[best])))
            best = i;
    }
    return options[best < 0 ? fastest : best];
}

static struct gsim_kernel_stop_outcome cheapest(const struct gsim_lane_urgency *how,
                                                const struct gsim_kernel_stop_costs *costs,
                                                gsim_work start, gsim_work done, int64_t block_ns,
                                                bool is_idempotent) {
    struct gsim_kernel_stop_outcome outcome = {.is_within_bound = true};
    int64_t n = costs->sms > 0 ? costs->sms : 1, in_kernel_ns = gsim_work_to_ns(done - start);
    gsim_work gained = 0;
    for (int64_t sm = 0; sm < n; sm++) {
        int64_t progress_ns =
            (in_kernel_ns + gsim_muldiv_floor(block_ns, sm, n)) % (block_ns > 0 ? block_ns : 1);
        struct sm_choice one = choose(how, costs, progress_ns, block_ns, is_idempotent);
        gained += one.gained;
        if (one.free_ns > outcome.free_ns)
            outcome.free_ns = one.free_ns;
        if (one.restore_ns > outcome.restore_ns)
            outcome.restore_ns = one.restore_ns;
    }
    outcome.is_within_bound = outcome.free_ns <= how->bound_ns;
    outcome.done = done + gained / n;
    if (outcome.done < start) /* no kernel loses more than it did */
        outcome.done = start;
    return outcome;
}

/* --- all mechanisms --------------------------------------------------------------------------- */

static struct gsim_kernel_stop_outcome save(const struct gsim_kernel_stop_costs *costs,
                                            gsim_work done, int64_t ppm) {
    return (struct gsim_kernel_stop_outcome){
        .free_ns = gsim_muldiv_ceil(costs->save_ns, ppm, GSIM_PPM),
        .restore_ns = gsim_muldiv_ceil(costs->restore_ns, ppm, GSIM_PPM),
        .done = done,
        .is_within_bound = true};
}

struct gsim_kernel_stop_outcome gsim_kernel_stop(const struct gsim_lane_urgency *how,
                                                 const struct gsim_kernel_stop_costs *costs,
                                                 const struct gsim_context *context,
                                                 uint64_t rate_q32, int64_t now_ns,
                                                 int64_t block_ns, bool is_idempotent) {
    struct gsim_kernel_span span = gsim_context_kernel(context, how->in_flight, now_ns);
    gsim_work done = context->done, length = span.end - span.start;
    gsim_work block = block_ns > 0 ? gsim_work_of_ns(block_ns) : length;
    struct gsim_kernel_stop_outcome outcome;
    switch (how->stop) {
    case GSIM_STOP_BLOCK:
        return runs_to(part_end(span, done, block), done, rate_q32);
    case GSIM_STOP_SAVE:
        return save(costs, done, GSIM_PPM);
    case GSIM_STOP_FLUSH:
        if (!is_idempotent)
            return runs_to(span.end, done, rate_q32);
        return (struct gsim_kernel_stop_outcome){.free_ns = costs->reset_ns +
                                                            span.n_behind * costs->piece_ns,
                                                 .done = span.start,
                                                 .is_within_bound = true};
    case GSIM_STOP_INCREMENTAL:
        outcome = save(costs, done, costs->dirty_ppm);
        done = next_multiple(span.start, done, span.end, gsim_work_of_ns(costs->checkpoint_ns));
        outcome.free_ns += time_for(done - outcome.done, rate_q32);
        outcome.done = done;
        return outcome;
    case GSIM_STOP_CHEAPEST:
        return cheapest(how, costs, span.start, done, gsim_work_to_ns(block), is_idempotent);
    default:
        if (how->pieces > 1)
            return runs_to(part_end(span, done, (length + how->pieces - 1) / how->pieces), done,
                           rate_q32);
        return runs_to(span.last_end, done, rate_q32);
    }
}
