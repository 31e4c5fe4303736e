/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/fast_forward.h"

#include <string.h>

#include "gsim/units.h"
#include "models/gpu/rounds.h"

enum {
    STEADY = 200, /* extrapolated rates are steady to one part in this many: half a per cent */
    /* sweeps of each member in a window, where memory pages: the parts of sweeps at the ends of a
     * window are an eighth of it at most, and the next window ends at other parts */
    LEAST_SWEEPS = 16,
    WINDOW_PARTS = 8, /* rates are compared from at least one part in this many of a window */
    /* Turns that page take some 600 ns of processor time, others 10 to 20: of the former one in
     * this many is in the budget. */
    PAGING_TURN = 64,
    /* Where memory pages a window is skipped in this many parts, so that few turns are left to be
     * walked at the end. */
    SKIPPED_PARTS = 64,
};

/* The turn from which on rates may be extrapolated. */
static int64_t looks_at(const struct gsim_fast_forward *cycle,
                        const struct gsim_arbiter_options *options,
                        const struct gsim_lanes *lanes) {
    int64_t budget = options->slice_budget;
    if (gsim_pager_is_too_much(&lanes->store))
        budget /= PAGING_TURN;
    return cycle->looks_at > budget ? cycle->looks_at : budget;
}

bool gsim_fast_forward_may_extrapolate(const struct gsim_fast_forward *cycle,
                                       const struct gsim_arbiter_options *options,
                                       const struct gsim_lanes *lanes, int64_t n_turns) {
    if (cycle->phase == GSIM_FAST_FORWARD_FOUND)
        return cycle->is_approximate;
    return !options->is_exact && !options->is_plain &&
           cycle->n_turns + n_turns >= looks_at(cycle, options, lanes);
}

/* --- contexts --------------------------------------------------------------------------------- */

/* Whether the only kernel of the context has begun, so that a cap on launches holds nothing back
 * any more. */
static bool has_begun_all(const struct gsim_context *context) {
    return context->spec.kernels == 1 && gsim_work_to_ns(context->done) > 0;
}

/* Whether only the context's total work matters: one kernel that was launched long ago, or many
 * that were launched at once without a cap. Until the end, the offset of such a context decides
 * nothing about when anything happens. */
static bool is_linear(const struct gsim_context *context) {
    bool is_one_launch =
        context->spec.kernels == 1 || (context->spec.host_ns == 0 && !context->spec.arrival_ns);
    bool is_capped = context->spec.refill_ns > 0 && !has_begun_all(context);
    return context->spec.iterations == 1 && is_one_launch && !is_capped && !context->spec.program;
}

/* Whether both contexts are at the same place in a sweep over several iterations. */
static bool is_same_within(const struct gsim_context *a, const struct gsim_context *b) {
    int64_t iterations = b->sums.done_iterations - a->sums.done_iterations;
    if (a->spec.per_sweep > 1 && iterations % a->spec.per_sweep != 0)
        return false;
    return !a->spec.program || a->spec.program->sync_every <= 1 ||
           iterations % a->spec.program->sync_every == 0;
}

/* Whether both contexts are at the same place in a period of the cap, with equally many
 * launches. */
static bool is_same_period(const struct gsim_context *a, int64_t a_now_ns,
                           const struct gsim_context *b, int64_t b_now_ns) {
    return a->spec.refill_ns == 0 ||
           ((b_now_ns - a_now_ns) % a->spec.refill_ns == 0 &&
            gsim_context_begun(a, a_now_ns) == gsim_context_begun(b, b_now_ns));
}

/* For how long, at most, the host launches a full queue and the present iteration. */
static int64_t launching_ns(const struct gsim_context *context) {
    if (!context->spec.program)
        return context->spec.host_ns;
    int64_t ahead = context->spec.queue / context->spec.kernels + 2;
    return context->spec.host_ns < GSIM_TIME_MAX / 4 / ahead ? context->spec.host_ns * ahead
                                                             : GSIM_TIME_MAX / 4;
}

/* Whether both contexts have the same future. back_ns: how far the past matters to which context is
 * next. can_be_cut: the offset within a kernel decides how the kernel is halted. The launch of an
 * iteration matters as long as the host is launching it. */
static bool is_same_context(const struct gsim_context *a, int64_t a_now_ns,
                            const struct gsim_context *b, int64_t b_now_ns, int64_t back_ns,
                            bool can_be_cut) {
    bool is_done = gsim_context_is_done(a);
    if (is_done != gsim_context_is_done(b) || !is_same_within(a, b))
        return false;
    if (is_done)
        return true;
    if (!can_be_cut && is_linear(a) && a->times.ready_ns <= a_now_ns - back_ns)
        return b->times.ready_ns <= b_now_ns - back_ns;
    return is_same_period(a, a_now_ns, b, b_now_ns) && a->done == b->done &&
           memcmp(&a->state, &b->state, sizeof a->state) == 0 &&
           gsim_times_are_same(GSIM_ROLE_CONST(a->times), a_now_ns, (const int64_t *)&b->times,
                               b_now_ns, launching_ns(a) + back_ns);
}

/* Sets `per` to the progress of a context from `then` to `now`. */
static void subtract_context(struct gsim_context *per, const struct gsim_context *now,
                             int64_t now_ns, const struct gsim_context *then, int64_t then_ns) {
    per->done = now->done - then->done;
    gsim_sums_subtract(GSIM_ROLE(per->sums), (const int64_t *)&now->sums,
                       (const int64_t *)&then->sums);
    per->sums.taken_ns = gsim_context_taken_ns(now, now_ns) - gsim_context_taken_ns(then, then_ns);
}

static void settle_iterations(struct gsim_context *context) {
    gsim_work iteration = gsim_work_of_ns(context->spec.gpu_ns);
    gsim_work over = context->done >= iteration ? context->done / iteration : 0;
    if (context->done < 0 && context->sums.done_iterations > 0)
        over = -((-context->done + iteration - 1) / iteration);
    context->sums.done_iterations += (int64_t)over;
    context->done -= over * iteration;
}

/* Adds n times the progress of a period, while by_ns passes. may_be_within: the progress is no
 * whole number of iterations. A linear context is in its only iteration, which goes on after the
 * skip: its sums wait for the end of that iteration, and the time at which it began stays. */
static void skip_context(struct gsim_context *context, const struct gsim_context *per, int64_t n,
                         int64_t by_ns, bool may_be_within) {
    if (gsim_context_is_done(context))
        return;
    int64_t began_ns = context->marks.began_ns;
    context->done += n * per->done;
    gsim_times_shift(GSIM_ROLE(context->times), by_ns);
    gsim_times_shift(GSIM_ROLE(context->marks), by_ns);
    if (is_linear(context))
        context->marks.began_ns = began_ns;
    else
        gsim_sums_add(GSIM_ROLE(context->sums), (const int64_t *)&per->sums, n);
    if (may_be_within)
        settle_iterations(context);
}

/* --- the canonical state ---------------------------------------------------------------------- */

/* Compares how far the round is, where turns pass whether they are used or not. */
static bool is_same_round(const struct gsim_gpu_lane *a, int64_t a_now_ns,
                          const struct gsim_gpu_lane *b, int64_t b_now_ns) {
    struct gsim_vgpu_grid one = gsim_round_grid(a), other = gsim_round_grid(b);
    return !gsim_gpu_lane_is_strict(a) || a->spec.n == 0 ||
           gsim_vgpu_offset_ns(&one, a_now_ns) == gsim_vgpu_offset_ns(&other, b_now_ns);
}

/* A context alone in its lane may renew its quantum for ever; the begin of the quantum decides
 * nothing until another context joins, and then it is the true one. */
static bool keeps_quantum(const struct gsim_gpu_lane *lane, int64_t moved_ns) {
    return lane->spec.n == 1 && moved_ns == 0;
}

static bool is_same_quantum(const struct gsim_gpu_lane *a, int64_t a_now_ns,
                            const struct gsim_gpu_lane *b, int64_t b_now_ns) {
    int64_t moved_ns = b->marks.quantum_start_ns - a->marks.quantum_start_ns;
    bool has_owner = a->state.phase == GSIM_LANE_RUNNING || a->state.phase == GSIM_LANE_KEPT;
    return !has_owner || moved_ns == b_now_ns - a_now_ns || keeps_quantum(a, moved_ns);
}

static bool is_same_lane(const struct gsim_gpu_lane *a, int64_t a_now_ns,
                         const struct gsim_gpu_lane *b, int64_t b_now_ns) {
    return memcmp(&a->state, &b->state, sizeof a->state) == 0 &&
           gsim_times_are_same(GSIM_ROLE_CONST(a->times), a_now_ns, (const int64_t *)&b->times,
                               b_now_ns, GSIM_NEVER) &&
           is_same_quantum(a, a_now_ns, b, b_now_ns) && is_same_round(a, a_now_ns, b, b_now_ns);
}

static bool is_same_member(const struct gsim_member *a, int64_t a_now_ns,
                           const struct gsim_member *b, int64_t b_now_ns, int64_t back_ns,
                           bool can_be_cut) {
    return memcmp(&a->state, &b->state, sizeof a->state) == 0 &&
           gsim_tenant_is_same(&a->tenant, &b->tenant) &&
           is_same_context(&a->context, a_now_ns, &b->context, b_now_ns, back_ns, can_be_cut);
}

/* Whether kernels may share SMs block by block, now or when other members come on: a job has a
 * program, or a lane is gated, and there are lanes beside each other. */
static bool may_share_blocks(const struct gsim_lanes *lanes) {
    for (uint16_t i = 0; i < lanes->n_lanes && lanes->n_lanes > 1; i++)
        if (gsim_gpu_lane_is_gated(&lanes->lane[i]))
            return true;
    for (uint16_t i = 0; i < lanes->capacity && lanes->n_lanes > 1; i++)
        if (lanes->members[i].is_present && lanes->members[i].context.spec.program)
            return true;
    return false;
}

/* Whether the member's offset within a kernel decides the future: how the kernel is halted for a
 * more urgent member, how long it pads, when others may pad, when the member comes to memory that
 * it has not touched, or when its last blocks begin. */
static bool can_be_cut(const struct gsim_lanes *lanes, const struct gsim_member *member) {
    const struct gsim_gpu_lane *lane = &lanes->lane[member->how.lane];
    if (gsim_pager_is_sweeping(&lanes->store, &member->tenant) || may_share_blocks(lanes))
        return true;
    bool is_outranked = false, outranks = false;
    for (uint16_t i = 0; gsim_gpu_lane_is_by_priority(lane) && i < lane->spec.n; i++) {
        is_outranked |= lanes->members[lane->spec.member[i]].how.priority > member->how.priority;
        outranks |= lanes->members[lane->spec.member[i]].how.priority < member->how.priority;
    }
    enum gsim_stop stop = gsim_lane_urgency(&lane->how).stop;
    return (is_outranked && (gsim_gpu_lane_is_padded(lane) ||
                             (stop != GSIM_STOP_SAVE && stop != GSIM_STOP_SWITCH))) ||
           (outranks && gsim_gpu_lane_is_padded(lane) &&
            member->context.spec.kernels > 1); /* the ends of its kernels let other members pad */
}

/* In a fair lane the next member is chosen by how much more weighted time each has had: all have
 * gained equally since. */
static bool is_same_standing(const struct gsim_lanes *a, const struct gsim_lanes *b,
                             uint16_t place) {
    const struct gsim_gpu_lane *lane = &a->lane[a->members[place].how.lane];
    if (!gsim_lane_is_fair(&lane->how))
        return true;
    uint16_t first = lane->spec.member[0];
    gsim_i128 here = (gsim_i128)(b->members[place].sums.busy_ns - a->members[place].sums.busy_ns) *
                     a->members[place].how.weight;
    return here == (gsim_i128)(b->members[first].sums.busy_ns - a->members[first].sums.busy_ns) *
                       a->members[first].how.weight;
}

static bool is_same(struct gsim_fast_forward *cycle, const struct gsim_arbiter_options *options,
                    const struct gsim_lanes *b) {
    const struct gsim_lanes *a = &cycle->seen;
    for (uint16_t i = 0; i < a->n_lanes; i++)
        if (!is_same_lane(&a->lane[i], a->now_ns, &b->lane[i], b->now_ns))
            return false;
    for (uint16_t i = 0; i < a->capacity; i++)
        if (a->members[i].is_present &&
            !(is_same_standing(a, b, i) &&
              is_same_member(&a->members[i], a->now_ns, &b->members[i], b->now_ns,
                             options->costs.lookahead_ns, can_be_cut(a, &a->members[i]))))
            return false;
    return gsim_pager_is_same(&a->store, a->now_ns, &b->store, b->now_ns, &cycle->scratch) &&
           gsim_gang_memory_are_same(&a->gang, a->now_ns, &b->gang, b->now_ns, &cycle->scratch);
}

/* No cycle while a member serves requests, which arrive at times of their own, while one is about
 * to stop, or while the only member is in its last long kernel. None of this changes before the
 * next report or disturbance. */
static bool can_repeat(const struct gsim_lanes *lanes) {
    uint32_t n_present = 0, n_last = 0;
    for (uint16_t i = 0; i < lanes->capacity; i++) {
        const struct gsim_member *member = &lanes->members[i];
        if (member->is_present &&
            (member->stop_at != GSIM_EXIT_NEVER ||
             (member->context.spec.arrival_ns && !gsim_context_is_done(&member->context))))
            return false;
        n_present += member->is_present;
        n_last += member->is_present && is_linear(&member->context) &&
                  gsim_context_is_in_last(&member->context);
    }
    return n_present != 1 || n_last != 1;
}

/* --- one period ------------------------------------------------------------------------------- */

static int64_t sweeps(const struct gsim_context *context, int64_t iterations) {
    return context->spec.per_sweep > 1 ? iterations / context->spec.per_sweep : iterations;
}

/* Chunks that the member has come to in its sweeps. */
static int64_t met(const struct gsim_lanes *lanes, const struct gsim_member *member) {
    if (!lanes->store.pager)
        return 0;
    return sweeps(&member->context, member->context.sums.done_iterations) *
               gsim_pager_sweep_chunks(&lanes->store, &member->tenant) +
           member->tenant.state.n_touched;
}

static void subtract_lane(struct gsim_gpu_lane *per, const struct gsim_gpu_lane *now,
                          const struct gsim_gpu_lane *then) {
    gsim_sums_subtract(GSIM_ROLE(per->sums), (const int64_t *)&now->sums,
                       (const int64_t *)&then->sums);
    per->marks.quantum_start_ns = now->marks.quantum_start_ns - then->marks.quantum_start_ns;
}

static void subtract_member(struct gsim_member *per, const struct gsim_member *now, int64_t now_ns,
                            const struct gsim_member *then, int64_t then_ns) {
    subtract_context(&per->context, &now->context, now_ns, &then->context, then_ns);
    gsim_sums_subtract(GSIM_ROLE(per->sums), (const int64_t *)&now->sums,
                       (const int64_t *)&then->sums);
    gsim_sums_subtract(GSIM_ROLE(per->tenant.sum), (const int64_t *)&now->tenant.sum,
                       (const int64_t *)&then->tenant.sum);
}

/* Sets the sums of a period to the progress since the state that was seen. */
static void measure(struct gsim_fast_forward *cycle, const struct gsim_lanes *now) {
    const struct gsim_lanes *then = &cycle->seen;
    struct gsim_lanes *per = &cycle->per_period;
    cycle->period_ns = now->now_ns - then->now_ns;
    for (uint16_t i = 0; i < now->capacity; i++) {
        subtract_member(&per->members[i], &now->members[i], now->now_ns, &then->members[i],
                        then->now_ns);
        per->members[i].tenant.state.n_touched =
            (uint32_t)(met(now, &now->members[i]) - met(then, &then->members[i]));
    }
    for (uint16_t i = 0; i < now->n_lanes; i++)
        subtract_lane(&per->lane[i], &now->lane[i], &then->lane[i]);
    gsim_gang_memory_subtract(&per->gang, &now->gang, &then->gang);
}

/* All work that is done, or is to be done: extrapolated periods are no whole number of
 * iterations. */
static gsim_work total(const struct gsim_context *context, int64_t iterations, gsim_work done) {
    return gsim_work_of_ns(context->spec.gpu_ns) * iterations + done;
}

static gsim_work per_period(const struct gsim_context *context, const struct gsim_context *per) {
    return total(context, per->sums.done_iterations, per->done);
}

/* What a member did, by the chunks that it met on the way. Where each of them misses, work comes
 * behind nearly all of the wait that is paid, and hangs on where a window ends; chunks do not. */
static gsim_work by_chunks(const struct gsim_lanes *lanes, const struct gsim_member *member,
                           gsim_work done, int64_t n_met) {
    uint32_t n = gsim_pager_sweep_chunks(&lanes->store, &member->tenant);
    return n > 0 ? gsim_context_sweep(&member->context) * n_met / n : done;
}

/* A part of the period in place of all of it. */
static void shorten(struct gsim_fast_forward *cycle, const struct gsim_lanes *now,
                    bool has_missed) {
    struct gsim_lanes *per = &cycle->per_period;
    cycle->period_ns = (cycle->period_ns + SKIPPED_PARTS - 1) / SKIPPED_PARTS;
    for (uint16_t i = 0; i < now->capacity; i++) {
        struct gsim_member *member = &per->members[i];
        gsim_work done = per_period(&now->members[i].context, &member->context);
        if (has_missed && now->members[i].is_present)
            done = by_chunks(now, &now->members[i], done, member->tenant.state.n_touched);
        gsim_sums_divide(GSIM_ROLE(member->context.sums), SKIPPED_PARTS);
        gsim_sums_divide(GSIM_ROLE(member->sums), SKIPPED_PARTS);
        gsim_sums_divide(GSIM_ROLE(member->tenant.sum), SKIPPED_PARTS);
        member->context.sums.done_iterations = 0; /* as work: it is settled after the skip */
        member->context.done = done / SKIPPED_PARTS;
    }
    for (uint16_t i = 0; i < now->n_lanes; i++)
        gsim_sums_divide(GSIM_ROLE(per->lane[i].sums), SKIPPED_PARTS);
    gsim_gang_memory_divide(&per->gang, SKIPPED_PARTS);
}

static void find(struct gsim_fast_forward *cycle, const struct gsim_lanes *now, bool is_approximate,
                 bool has_missed) {
    measure(cycle, now);
    if (is_approximate && gsim_pager_is_too_much(&now->store))
        shorten(cycle, now, has_missed);
    cycle->phase = GSIM_FAST_FORWARD_FOUND;
    cycle->from_ns = cycle->seen.now_ns;
    cycle->is_approximate = is_approximate;
}

/* How many periods this member can repeat before it is to be reported. */
static int64_t most_periods(const struct gsim_member *member, const struct gsim_context *per) {
    const struct gsim_context *context = &member->context;
    gsim_work one = per_period(context, per);
    if (one <= 0)
        return INT64_MAX;
    gsim_work end = total(context, context->spec.iterations, 0);
    if (member->watch_iterations >= 0) {
        gsim_work watched = total(context, member->watch_iterations, member->watch_done);
        end = watched < end ? watched : end;
    }
    gsim_work left = end - total(context, context->sums.done_iterations, context->done) - 1;
    gsim_work most = left > 0 ? left / one : 0;
    return most < INT64_MAX ? (int64_t)most : INT64_MAX;
}

/* The periods that can be skipped. The work left only becomes less, so once a member has no room
 * for periods, no later state has. */
static int64_t periods(struct gsim_fast_forward *cycle, const struct gsim_lanes *lanes,
                       int64_t limit_ns) {
    int64_t fit = (limit_ns - lanes->now_ns) / cycle->period_ns, least = INT64_MAX;
    for (uint16_t i = 0; i < lanes->capacity && fit > 1 && least > 1; i++) {
        if (!lanes->members[i].is_present)
            continue;
        int64_t most = most_periods(&lanes->members[i], &cycle->per_period.members[i].context);
        least = most < least ? most : least;
    }
    if (least <= 1)
        cycle->spent_ns = lanes->now_ns;
    least = fit < least ? fit : least;
    return least - 1; /* the last period is walked, so that its end is met as it comes */
}

static void skip_member(struct gsim_store *store, struct gsim_member *member,
                        const struct gsim_member *per, int64_t n, int64_t by_ns,
                        bool may_be_within) {
    gsim_work swept = gsim_context_swept(&member->context);
    if (gsim_context_is_done(&member->context))
        return;
    skip_context(&member->context, &per->context, n, by_ns, may_be_within);
    if (may_be_within)
        gsim_pager_sweep_elsewhere(store, &member->tenant, gsim_context_sweep(&member->context),
                                   swept, gsim_context_swept(&member->context));
    gsim_sums_add(GSIM_ROLE(member->sums), (const int64_t *)&per->sums, n);
    gsim_memory_use_add(&member->tenant.sum, &per->tenant.sum, n);
}

static void skip_lane(struct gsim_gpu_lane *lane, const struct gsim_gpu_lane *per, int64_t n,
                      int64_t by_ns) {
    gsim_sums_add(GSIM_ROLE(lane->sums), (const int64_t *)&per->sums, n);
    int64_t quantum_start_ns = lane->marks.quantum_start_ns;
    gsim_times_shift(GSIM_ROLE(lane->times), by_ns);
    gsim_times_shift(GSIM_ROLE(lane->marks), by_ns);
    if (keeps_quantum(lane, per->marks.quantum_start_ns))
        lane->marks.quantum_start_ns = quantum_start_ns;
}

static void skip(const struct gsim_fast_forward *cycle, struct gsim_lanes *lanes, int64_t n) {
    const struct gsim_lanes *per = &cycle->per_period;
    int64_t by_ns = n * cycle->period_ns;
    lanes->now_ns += by_ns;
    lanes->skipped_ns += by_ns;
    lanes->is_approximate |= cycle->is_approximate;
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        skip_lane(&lanes->lane[i], &per->lane[i], n, by_ns);
    for (uint16_t i = 0; i < lanes->capacity; i++)
        if (lanes->members[i].is_present)
            skip_member(&lanes->store, &lanes->members[i], &per->members[i], n, by_ns,
                        cycle->is_approximate);
    gsim_pager_skip(&lanes->store, by_ns);
    gsim_gang_memory_skip(&lanes->gang, &per->gang, n, by_ns);
}

/* --- looking for a cycle ---------------------------------------------------------------------- */

/* Work over time, in parts of 10^9; exact enough to tell rates apart that differ by one part in
 * STEADY. */
static int64_t rate_ppb(gsim_work done, int64_t time_ns) {
    return time_ns > 0 ? (int64_t)(gsim_work_to_ns(done) * (gsim_i128)GSIM_NS_PER_S / time_ns) : 0;
}

/* Whether the member's rate was steady over both windows, and not zero: a member without a turn so
 * far has no rate. */
static bool is_steady_member(const struct gsim_fast_forward *cycle, const struct gsim_lanes *now,
                             uint16_t place, bool has_missed) {
    const struct gsim_context *then = &cycle->seen.members[place].context;
    const struct gsim_context *context = &now->members[place].context;
    gsim_work done = total(context, context->sums.done_iterations - then->sums.done_iterations,
                           context->done - then->done);
    const struct gsim_member *per = &cycle->per_period.members[place];
    gsim_work before = per_period(context, &per->context);
    if (has_missed) {
        int64_t n_met =
            met(now, &now->members[place]) - met(&cycle->seen, &cycle->seen.members[place]);
        done = by_chunks(now, &now->members[place], done, n_met);
        before = by_chunks(now, &now->members[place], before, per->tenant.state.n_touched);
    }
    int64_t is = rate_ppb(done, now->now_ns - cycle->seen.now_ns);
    int64_t was = rate_ppb(before, cycle->period_ns);
    int64_t by = is > was ? is - was : was - is;
    return gsim_context_is_done(context) || (is > 0 && was > 0 && by <= was / STEADY);
}

/* Whether each member's rate since the state that was seen is that of the window before it. */
static bool is_steady(const struct gsim_fast_forward *cycle, const struct gsim_lanes *now,
                      bool has_missed) {
    for (uint16_t i = 0; i < now->capacity; i++)
        if (now->members[i].is_present && !is_steady_member(cycle, now, i, has_missed))
            return false;
    return cycle->has_window;
}

/* Whether each chunk that a member came to since the state that was seen was on the host and came
 * in, as many as the GPU has room for, so that all that is there came since, in the order of the
 * sweeps: then a member finds nothing of its own as long as the part of it that is there is well
 * short of a whole sweep, and any part of a sweep goes at the rate of any other. */
static bool missed_all(const struct gsim_fast_forward *cycle, const struct gsim_lanes *now) {
    if (!now->store.pager || gsim_pager_is_proactive(&now->store) || now->gang.n > 0)
        return false;
    int64_t n_in = 0, chunk_bytes = now->store.pager->uvm.chunk_bytes;
    for (uint16_t i = 0; i < now->capacity; i++) {
        const struct gsim_member *member = &now->members[i], *then = &cycle->seen.members[i];
        if (!member->is_present || gsim_context_is_done(&member->context))
            continue;
        int64_t n = met(now, member) - met(&cycle->seen, then);
        int64_t here = gsim_pager_resident_bytes(&now->store, &member->tenant) / chunk_bytes;
        int64_t most = gsim_pager_sweep_chunks(&now->store, &member->tenant);
        if (member->tenant.spec.yields || member->tenant.spec.order ||
            here > most - most / WINDOW_PARTS ||
            member->tenant.sum.bytes_in - then->tenant.sum.bytes_in != n * chunk_bytes)
            return false;
        n_in += n;
    }
    return n_in >= now->store.pager->capacity;
}

/* The least turns of a window, so that one turn more or less of each member is half of the
 * difference that is told apart. */
static int64_t least_turns(const struct gsim_lanes *lanes) {
    int64_t n_present = 0;
    for (uint16_t i = 0; i < lanes->capacity; i++)
        n_present += lanes->members[i].is_present;
    return 2 * STEADY * n_present;
}

/* Whether a member is in its first sweep, which fills its memory: that costs less than to bring
 * memory in, and no state recurs until it is over. */
static bool is_filling(const struct gsim_lanes *lanes) {
    for (uint16_t i = 0; i < lanes->capacity; i++) {
        const struct gsim_member *member = &lanes->members[i];
        if (member->is_present &&
            sweeps(&member->context, member->context.sums.done_iterations) == 0 &&
            !gsim_context_is_done(&member->context) &&
            !gsim_pager_has_been_filled(&lanes->store, &member->tenant))
            return true;
    }
    return false;
}

/* Whether the next window is to be longer than the one that ends: not while memory that pages is
 * filled, once a window is long enough to tell rates by. */
static bool grows(const struct gsim_fast_forward *cycle, const struct gsim_lanes *lanes) {
    int64_t n = 0;
    if (!gsim_pager_is_too_much(&lanes->store) || cycle->power / 2 < least_turns(lanes))
        return true;
    for (uint16_t i = 0; i < lanes->capacity; i++)
        if (lanes->members[i].is_present)
            n += met(lanes, &lanes->members[i]) - met(&cycle->seen, &cycle->seen.members[i]);
    return n < lanes->store.pager->capacity || !is_filling(lanes);
}

/* The window that ends here becomes the window before, and a new window begins, of twice as many
 * turns. Rates are compared over windows of at least 2 * STEADY turns alone. */
static void begin_window(struct gsim_fast_forward *cycle, const struct gsim_lanes *lanes) {
    if (cycle->power >= 2 * STEADY)
        measure(cycle, lanes);
    cycle->had_missed_all = missed_all(cycle, lanes);
    cycle->has_window = true;
    cycle->power *= grows(cycle, lanes) ? 2 : 1;
    cycle->n_since = 0;
    gsim_lanes_copy(&cycle->seen, lanes);
}

/* Whether each member swept its memory often enough in both windows, where memory pages: within a
 * sweep the part that is there goes at another rate than the part that is not, however many turns
 * either takes. */
static bool are_swept(const struct gsim_fast_forward *cycle, const struct gsim_lanes *now) {
    if (!now->store.pager || !gsim_pager_is_too_much(&now->store))
        return true;
    for (uint16_t i = 0; i < now->capacity; i++) {
        const struct gsim_context *context = &now->members[i].context;
        int64_t done =
            context->sums.done_iterations - cycle->seen.members[i].context.sums.done_iterations;
        int64_t before = cycle->per_period.members[i].context.sums.done_iterations;
        if (now->members[i].is_present && !gsim_context_is_done(context) &&
            (sweeps(context, done) < LEAST_SWEEPS || sweeps(context, before) < LEAST_SWEEPS))
            return false;
    }
    return true;
}

/* Past the budget: steady rates are extrapolated, others are looked at again at the end of the
 * window. A window that has just begun says nothing. */
static void look_at_rates(struct gsim_fast_forward *cycle, const struct gsim_lanes *lanes) {
    int64_t least = least_turns(lanes);
    bool is_wide = cycle->power / 2 >= least; /* both windows are */
    bool has_missed = is_wide && cycle->had_missed_all && missed_all(cycle, lanes);
    if (is_wide && cycle->power / WINDOW_PARTS > least)
        least = cycle->power / WINDOW_PARTS;
    if (is_wide && cycle->n_since < least)
        cycle->looks_at = cycle->n_turns + least - cycle->n_since;
    else if (is_wide && is_steady(cycle, lanes, has_missed) &&
             (has_missed || are_swept(cycle, lanes)))
        find(cycle, lanes, true, has_missed);
    else
        cycle->looks_at = cycle->n_turns + cycle->power - cycle->n_since +
                          (cycle->n_since < cycle->power ? 0
                           : grows(cycle, lanes)         ? 2 * cycle->power
                                                         : cycle->power);
}

static void search(struct gsim_fast_forward *cycle, const struct gsim_arbiter_options *options,
                   const struct gsim_lanes *lanes) {
    if (lanes->now_ns <= cycle->seen.now_ns && cycle->phase == GSIM_FAST_FORWARD_SEARCHING)
        /* the committed state follows the state ahead, in which this turn was looked at already */
        return;
    if (cycle->phase == GSIM_FAST_FORWARD_NONE) {
        cycle->phase = GSIM_FAST_FORWARD_SEARCHING;
        cycle->power = 1;
        cycle->n_since = 0;
        gsim_lanes_copy(&cycle->seen, lanes);
        return;
    }
    cycle->n_turns++;
    cycle->n_since++;
    if (is_same(cycle, options, lanes)) {
        find(cycle, lanes, false, false);
        return;
    }
    if (!options->is_exact && cycle->n_turns >= looks_at(cycle, options, lanes))
        look_at_rates(cycle, lanes);
    if (cycle->phase == GSIM_FAST_FORWARD_SEARCHING && cycle->n_since == cycle->power)
        begin_window(cycle, lanes);
}

void gsim_fast_forward_turn(struct gsim_fast_forward *cycle,
                            const struct gsim_arbiter_options *options, struct gsim_lanes *lanes,
                            int64_t limit_ns) {
    if (options->is_plain || limit_ns == GSIM_NEVER)
        limit_ns = options->is_plain ? lanes->now_ns : GSIM_TIME_MAX;
    if (!cycle->is_asked)
        cycle->can_repeat = can_repeat(lanes);
    cycle->is_asked = true;
    if (options->is_plain || !cycle->can_repeat)
        return;
    if (cycle->phase != GSIM_FAST_FORWARD_FOUND)
        search(cycle, options, lanes);
    if (cycle->phase != GSIM_FAST_FORWARD_FOUND || lanes->now_ns < cycle->from_ns ||
        lanes->now_ns >= cycle->spent_ns)
        return;
    int64_t n = periods(cycle, lanes, limit_ns);
    if (n > 0)
        skip(cycle, lanes, n);
}

/* A member of the lane of which the progress is part of the state: where it differs from the state
 * to compare with, no cycle is closed. */
static void find_probe(struct gsim_unseen *unseen, const struct gsim_lanes *seen) {
    const struct gsim_gpu_lane *lane = &seen->lane[seen->anchor];
    unseen->at = lane->state.at;
    for (uint16_t i = 0; i < lane->spec.n && unseen->probe == GSIM_NO_MEMBER; i++) {
        const struct gsim_context *context = &seen->members[lane->spec.member[i]].context;
        if (is_linear(context))
            continue;
        unseen->probe = i;
        unseen->left_ns = context->spec.gpu_ns - gsim_work_to_ns(context->done);
    }
}

struct gsim_unseen gsim_fast_forward_unseen(const struct gsim_fast_forward *cycle,
                                            const struct gsim_arbiter_options *options,
                                            const struct gsim_lanes *lanes) {
    struct gsim_unseen unseen = {
        .most = INT64_MAX, .until_ns = GSIM_NEVER, .at = GSIM_NO_MEMBER, .probe = GSIM_NO_MEMBER};
    if (!cycle->can_repeat)
        return unseen;
    if (cycle->phase == GSIM_FAST_FORWARD_FOUND) {
        if (lanes->now_ns < cycle->from_ns)
            unseen.until_ns = cycle->from_ns;
        return unseen;
    }
    if (lanes->now_ns < cycle->seen.now_ns) { /* the committed state, as in search() */
        unseen.until_ns = cycle->seen.now_ns + 1;
        return unseen;
    }
    int64_t to_rates =
        options->is_exact ? INT64_MAX : looks_at(cycle, options, lanes) - cycle->n_turns;
    unseen.are_counted = true;
    unseen.most = cycle->power - cycle->n_since;
    if (to_rates < unseen.most)
        unseen.most = to_rates > 1 ? to_rates : 1;
    find_probe(&unseen, &cycle->seen);
    return unseen;
}
