/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/alone.h"

#include "models/gpu/lane.h"

/* --- where it holds --------------------------------------------------------------------------- */

/* Whether the process has its kernels in the queue at the begin of an iteration, and none between
 * two iterations. */
static bool is_even(const struct gsim_context *context) {
    const struct gsim_context_spec *spec = &context->spec;
    return !spec->program && !spec->arrival_ns && !spec->never_waits && spec->host_ns == 0 &&
           spec->gap_ns > 0 && spec->pace_ns == 0 && spec->refill_ns == 0 && spec->per_sweep <= 1;
}

/* Whether the context is at the begin of an iteration, or before it. */
static bool begins(const struct gsim_context *context) {
    int64_t ready_ns = context->times.ready_ns;
    return !gsim_context_is_done(context) && context->done == 0 && context->state.held_ns == 0 &&
           context->times.launch_ns == ready_ns && context->marks.began_ns == ready_ns;
}

static bool is_plain_member(const struct gsim_member *member) {
    return member->stop_at == GSIM_EXIT_NEVER && member->reports == 0 &&
           member->state.stall_ns == 0 && member->state.restore_ns == 0 &&
           member->tenant.spec.overflow.bytes == 0 && member->tenant.spec.overflow.ns == 0 &&
           member->tenant.state.n_touched == 0 && is_even(&member->context) &&
           begins(&member->context);
}

static bool is_plain_lane(const struct gsim_gpu_lane *lane) {
    return lane->spec.n == 1 && lane->state.phase == GSIM_LANE_IDLE &&
           lane->state.rate_q32 == GSIM_RATE_ONE && !lane->is_by_blocks &&
           !gsim_gpu_lane_is_in_software(lane) && !gsim_gpu_lane_is_gated(lane) &&
           !gsim_gpu_lane_closes_gates(lane) && !gsim_gpu_lane_has_atoms(lane);
}

static bool has_memory(const struct gsim_lanes *lanes, const struct gsim_tenant *tenant) {
    bool has = gsim_pager_rests(&lanes->store, tenant);
    for (uint32_t i = 0; has && i < lanes->gang.n; i++)
        has = gsim_pager_rests(&lanes->gang.part[i].store, &lanes->gang.part[i].tenant);
    return has;
}

static int64_t period_ns(const struct gsim_context *context) {
    return context->spec.gpu_ns + context->spec.gap_ns;
}

/* Whether neither the end of the work nor the progress that is watched for is near. */
static bool has_work(const struct gsim_member *member, int64_t ns) {
    int64_t end = member->context.spec.iterations;
    if (member->watch_iterations >= 0 && member->watch_iterations < end)
        end = member->watch_iterations;
    return ns / period_ns(&member->context) + 2 <= end - member->context.sums.done_iterations;
}

bool gsim_alone_holds(const struct gsim_arbiter_options *options, const struct gsim_lane_gpu *gpu,
                      const struct gsim_lanes *lanes, int64_t until_ns) {
    if (options->is_plain || gpu->spaces || gpu->spans || lanes->n_lanes != 1 ||
        lanes->has_reports || !is_plain_lane(lanes->lane))
        return false;
    const struct gsim_member *member = gsim_gpu_lane_present(gpu, lanes->lane);
    return is_plain_member(member) && has_work(member, until_ns - lanes->now_ns) &&
           has_memory(lanes, &member->tenant);
}

/* --- iterations ------------------------------------------------------------------------------- */

static void step(const struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes) {
    lanes->now_ns = lanes->lane->marks.next_ns;
    (void)gsim_gpu_lane_step(gpu, lanes->lane);
}

/* n iterations pass, the first of which the context began late_ns after it was ready. The skip of a
 * walk moves all times and marks, and a turn those that it sets. */
static void pass(const struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes, int64_t late_ns,
                 int64_t n, int64_t n_skipped) {
    struct gsim_gpu_lane *lane = lanes->lane;
    struct gsim_member *member = gsim_gpu_lane_present(gpu, lane);
    struct gsim_context *context = &member->context;
    int64_t by_ns = n_skipped * period_ns(context), more_ns = (n - n_skipped) * period_ns(context);
    gsim_times_shift(GSIM_ROLE(lane->times), by_ns);
    gsim_times_shift(GSIM_ROLE(lane->marks), by_ns);
    gsim_times_shift(GSIM_ROLE(context->marks), by_ns);
    lane->times.since_ns += more_ns;
    lane->marks.quantum_start_ns += more_ns;
    lane->marks.next_ns += more_ns;
    lanes->now_ns += by_ns + more_ns;
    lanes->skipped_ns += by_ns;
    context->times.launch_ns = context->times.ready_ns = lanes->now_ns;
    context->marks.began_ns = lanes->now_ns;
    lane->sums.n_slices += n;
    member->sums.busy_ns += n * context->spec.gpu_ns;
    context->sums.done_iterations += n;
    context->sums.taken_ns += by_ns + more_ns + late_ns;
    gsim_tenant_sweep_again(&member->tenant);
}

/* The turn of a walk at which it finds its cycle (models/gpu/fast_forward.c), counted from the
 * first iteration. The walk keeps the turn that it compares with, and takes another one after 1 and
 * 2 turns more. The first turn equals later ones if its context was ready no longer before than
 * matters to the choice of contexts; a switch to it is a turn of its own. Rates are not
 * extrapolated from so few turns. */
static int64_t found_at(int64_t late_ns, int64_t lookahead_ns, bool is_switched) {
    if (late_ns == 0 || lookahead_ns == 0)
        return 2;
    return is_switched ? 4 : 3;
}

/* Iterations that a walk skips, out of these that begin after the first one: it walks those before
 * it finds the cycle, and the last one. */
static int64_t skipped(int64_t n, int64_t at) {
    int64_t after = n - (at - 1);
    return after > 1 ? after - 1 : 0;
}

int64_t gsim_alone_run(const struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes,
                       int64_t until_ns) {
    struct gsim_gpu_lane *lane = lanes->lane;
    const struct gsim_context *context = &gsim_gpu_lane_present(gpu, lane)->context;
    int64_t steps = 0, one_ns = period_ns(context), ready_ns = context->times.ready_ns;
    for (; lane->state.phase != GSIM_LANE_RUNNING && lane->marks.next_ns <= until_ns; steps++)
        step(gpu, lanes);
    if (lane->state.phase == GSIM_LANE_RUNNING) {
        int64_t late_ns = lanes->now_ns - ready_ns, n = (until_ns - lanes->now_ns) / one_ns;
        int64_t less = skipped(n, found_at(late_ns, gpu->costs.lookahead_ns, steps > 1));
        steps += 2 * (n - less);
        if (n > 0)
            pass(gpu, lanes, late_ns, n, less);
        if (lane->marks.next_ns <= until_ns) {
            step(gpu, lanes);
            steps++;
        }
    }
    lanes->now_ns = until_ns;
    gsim_gpu_lane_settle(gpu, lane, until_ns);
    return steps + 1; /* one finds that nothing more is due */
}
