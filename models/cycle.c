/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/cycle.h"

#include <string.h>

#include "gsim/units.h"

enum {
    STEADY = 200, /* rates that are extrapolated are steady to a part of this: half a per cent */
    WINDOW_PARTS = 8, /* of a window, the least that rates are read from */
};

/* --- states ----------------------------------------------------------------------------------- */

void gsim_lanes_copy(struct gsim_lanes *to, const struct gsim_lanes *from) {
    struct gsim_member *members = to->members;
    struct gsim_ring *rings = to->rings;
    uint16_t capacity = to->capacity, n_rings = to->n_rings;
    struct gsim_store store = to->store;
    struct gsim_wings wings = to->wings;
    struct gsim_spans *spans = to->spans;
    *to = *from;
    to->spans = spans;
    to->store = store;
    gsim_store_copy(&to->store, &from->store);
    to->wings = wings;
    gsim_wings_copy(&to->wings, &from->wings);
    to->members = members;
    to->rings = rings;
    to->capacity = capacity;
    to->n_rings = n_rings;
    if (from->capacity > 0)
        memcpy(members, from->members, from->capacity * sizeof *members);
    if (from->n_rings > 0)
        memcpy(rings, from->rings, from->n_rings * sizeof *rings);
}

void gsim_lanes_choose_anchor(struct gsim_lanes *lanes) {
    lanes->anchor = 0;
    while (lanes->anchor + 1 < lanes->n_rings && lanes->rings[lanes->anchor].n == 0)
        lanes->anchor++;
}

void gsim_cycle_forget(struct gsim_cycle *cycle) {
    cycle->phase = GSIM_CYCLE_NONE;
    cycle->n_turns = cycle->looks_at = 0;
    cycle->has_window = false;
}

/* The turn from which on rates may be extrapolated. */
static int64_t looks_at(const struct gsim_cycle *cycle,
                        const struct gsim_arbiter_options *options) {
    return cycle->looks_at > options->slice_budget ? cycle->looks_at : options->slice_budget;
}

bool gsim_cycle_may_extrapolate(const struct gsim_cycle *cycle,
                                const struct gsim_arbiter_options *options, int64_t n_turns) {
    if (cycle->phase == GSIM_CYCLE_FOUND)
        return cycle->is_approximate;
    return !options->is_exact && !options->is_plain &&
           cycle->n_turns + n_turns >= looks_at(cycle, options);
}

/* --- the canonical state ---------------------------------------------------------------------- */

static bool is_same_grid(const struct gsim_ring *a, int64_t a_now, const struct gsim_ring *b,
                         int64_t b_now) {
    struct gsim_grid one = gsim_ring_grid(a), other = gsim_ring_grid(b);
    return !gsim_ring_is_strict(a) || a->n == 0 ||
           gsim_grid_offset_ns(&one, a_now) == gsim_grid_offset_ns(&other, b_now);
}

static bool is_same_padding(const struct gsim_padding *a, int64_t a_now,
                            const struct gsim_padding *b, int64_t b_now) {
    return a->member == b->member &&
           (a->member == GSIM_NO_MEMBER ||
            (a->since_ns - a_now == b->since_ns - b_now &&
             a->until_ns - a_now == b->until_ns - b_now && a->rate_q32 == b->rate_q32));
}

/* A context alone in its lane may renew its quantum for ever; when it began decides nothing until
 * another one joins, and then it is when it was. */
static bool keeps_quantum(const struct gsim_ring *ring, int64_t moved_ns) {
    return ring->n == 1 && moved_ns == 0;
}

static bool is_same_quantum(const struct gsim_ring *a, int64_t a_now, const struct gsim_ring *b,
                            int64_t b_now) {
    int64_t moved_ns = b->quantum_start_ns - a->quantum_start_ns;
    return moved_ns == b_now - a_now || keeps_quantum(a, moved_ns);
}

static bool is_same_ring(const struct gsim_ring *a, int64_t a_now, const struct gsim_ring *b,
                         int64_t b_now) {
    if (!is_same_grid(a, a_now, b, b_now) ||
        !is_same_padding(&a->padding, a_now, &b->padding, b_now))
        return false;
    if (a->is_halting != b->is_halting ||
        (a->is_halting &&
         (a->halted_ns - a_now != b->halted_ns - b_now || a->outcome.done != b->outcome.done)))
        return false;
    if (a->phase != b->phase || a->at != b->at || a->last != b->last || a->n != b->n)
        return false;
    if (a->phase == GSIM_LANE_SWITCHING)
        return a->next_ns - a_now == b->next_ns - b_now;
    if (a->phase == GSIM_LANE_RUNNING)
        return is_same_quantum(a, a_now, b, b_now) && a->since_ns - a_now == b->since_ns - b_now &&
               a->rate_q32 == b->rate_q32;
    if (a->phase == GSIM_LANE_KEPT)
        return is_same_quantum(a, a_now, b, b_now) &&
               a->release_ns - a_now == b->release_ns - b_now;
    return true;
}

/* Whether where it is within a kernel decides how it is halted, or how long it pads: somebody may
 * have to halt it. */
static bool can_be_cut(const struct gsim_lanes *lanes, const struct gsim_member *member) {
    const struct gsim_ring *ring = &lanes->rings[member->how.lane];
    bool is_outranked = false, outranks = false;
    for (uint16_t i = 0; gsim_ring_is_by_priority(ring) && i < ring->n; i++) {
        is_outranked |= lanes->members[ring->member[i]].how.priority > member->how.priority;
        outranks |= lanes->members[ring->member[i]].how.priority < member->how.priority;
    }
    return (is_outranked && (gsim_ring_is_padded(ring) || ring->how.stop != GSIM_STOP_SAVE)) ||
           (outranks && gsim_ring_is_padded(ring) &&
            member->context.kernels > 1); /* whose ends let others pad */
}

/* What decides who is next is who had how much more than the others. */
static bool is_same_standing(const struct gsim_lanes *a, const struct gsim_lanes *b,
                             uint16_t place) {
    const struct gsim_ring *ring = &a->rings[a->members[place].how.lane];
    if (!ring->how.is_fair)
        return true;
    uint16_t first = ring->member[0];
    gsim_i128 here = (gsim_i128)(b->members[place].busy_ns - a->members[place].busy_ns) *
                     a->members[place].how.weight;
    return here == (gsim_i128)(b->members[first].busy_ns - a->members[first].busy_ns) *
                       a->members[first].how.weight;
}

static bool is_same_member(const struct gsim_lanes *a, const struct gsim_lanes *b, int64_t back_ns,
                           uint16_t place) {
    const struct gsim_member *one = &a->members[place], *other = &b->members[place];
    return is_same_standing(a, b, place) && one->restore_ns == other->restore_ns &&
           one->stall_ns == other->stall_ns && gsim_tenant_is_same(&one->tenant, &other->tenant) &&
           gsim_context_is_same(&one->context, a->now_ns, &other->context, b->now_ns, back_ns,
                                can_be_cut(a, one));
}

static bool is_same(struct gsim_cycle *cycle, const struct gsim_arbiter_options *options,
                    const struct gsim_lanes *b) {
    const struct gsim_lanes *a = &cycle->seen;
    for (uint16_t i = 0; i < a->n_rings; i++)
        if (!is_same_ring(&a->rings[i], a->now_ns, &b->rings[i], b->now_ns))
            return false;
    for (uint16_t i = 0; i < a->capacity; i++)
        if (a->members[i].is_present && !is_same_member(a, b, options->costs.lookahead_ns, i))
            return false;
    return gsim_store_is_same(&a->store, a->now_ns, &b->store, b->now_ns, &cycle->scratch) &&
           gsim_wings_are_same(&a->wings, a->now_ns, &b->wings, b->now_ns, &cycle->scratch);
}

/* Requests come when they come, a member that is to stop does so once, and so does one that is alone in
 * its last long kernel. */
static bool can_repeat(const struct gsim_lanes *lanes) {
    uint32_t n_present = 0, n_last = 0;
    for (uint16_t i = 0; i < lanes->capacity; i++) {
        const struct gsim_member *member = &lanes->members[i];
        if (member->is_present &&
            (member->stop_at != GSIM_EXIT_NEVER ||
             (member->context.arrival_ns && !gsim_context_is_done(&member->context))))
            return false;
        n_present += member->is_present;
        n_last += member->is_present && gsim_context_is_linear(&member->context) &&
                  member->context.sums.done_iterations + 1 >= member->context.iterations;
    }
    return n_present != 1 || n_last != 1;
}

/* --- one period ------------------------------------------------------------------------------- */

/* What has been done since the state that was seen. */
static void measure(struct gsim_cycle *cycle, const struct gsim_lanes *now) {
    const struct gsim_lanes *then = &cycle->seen;
    struct gsim_lanes *per = &cycle->per_period;
    cycle->period_ns = now->now_ns - then->now_ns;
    for (uint16_t i = 0; i < now->capacity; i++) {
        const struct gsim_member *a = &then->members[i], *b = &now->members[i];
        gsim_context_subtract(&per->members[i].context, &b->context, now->now_ns, &a->context,
                              then->now_ns);
        per->members[i].busy_ns = b->busy_ns - a->busy_ns;
        per->members[i].tenant.sum = b->tenant.sum;
        gsim_memory_use_add(&per->members[i].tenant.sum, &a->tenant.sum, -1);
    }
    gsim_wings_subtract(&per->wings, &now->wings, &then->wings);
    for (uint16_t i = 0; i < now->n_rings; i++) {
        per->rings[i].switch_ns = now->rings[i].switch_ns - then->rings[i].switch_ns;
        per->rings[i].n_slices = now->rings[i].n_slices - then->rings[i].n_slices;
        per->rings[i].n_vain = now->rings[i].n_vain - then->rings[i].n_vain;
        per->rings[i].quantum_start_ns =
            now->rings[i].quantum_start_ns - then->rings[i].quantum_start_ns;
    }
}

static void find(struct gsim_cycle *cycle, const struct gsim_lanes *now, bool is_approximate) {
    measure(cycle, now);
    cycle->phase = GSIM_CYCLE_FOUND;
    cycle->from_ns = cycle->seen.now_ns;
    cycle->is_approximate = is_approximate;
}

/* All that is done, or is to be: extrapolated periods are no whole number of iterations. */
static gsim_work total(const struct gsim_context *context, int64_t iterations, gsim_work done) {
    return gsim_work_of_ns(context->gpu_ns) * iterations + done;
}

static gsim_work per_period(const struct gsim_context *context, const struct gsim_context *per) {
    return total(context, per->sums.done_iterations, per->done);
}

/* How many periods this member can repeat without anything to report of it. */
static int64_t most_periods(const struct gsim_member *member, const struct gsim_context *per) {
    const struct gsim_context *context = &member->context;
    gsim_work one = per_period(context, per);
    if (one <= 0)
        return INT64_MAX;
    gsim_work end = total(context, context->iterations, 0);
    if (member->watch_iterations >= 0) {
        gsim_work watched = total(context, member->watch_iterations, member->watch_done);
        end = watched < end ? watched : end;
    }
    gsim_work left = end - total(context, context->sums.done_iterations, context->done) - 1;
    gsim_work most = left > 0 ? left / one : 0;
    return most < INT64_MAX ? (int64_t)most : INT64_MAX;
}

static int64_t periods(const struct gsim_cycle *cycle, const struct gsim_lanes *lanes,
                       int64_t limit_ns) {
    int64_t least = (limit_ns - lanes->now_ns) / cycle->period_ns;
    for (uint16_t i = 0; i < lanes->capacity && least > 0; i++) {
        if (!lanes->members[i].is_present)
            continue;
        int64_t most = most_periods(&lanes->members[i], &cycle->per_period.members[i].context);
        if (most < least)
            least = most;
    }
    return least - 1; /* the last one is walked through, so that its end is met as it comes */
}

static void shift(int64_t *time_ns, int64_t by_ns) {
    if (*time_ns != GSIM_NEVER)
        *time_ns += by_ns;
}

static void skip_member(struct gsim_member *member, const struct gsim_member *per, int64_t n,
                        int64_t by_ns, bool is_approximate) {
    if (gsim_context_is_done(&member->context))
        return;
    gsim_context_skip(&member->context, &per->context, n, by_ns, is_approximate);
    member->busy_ns += n * per->busy_ns;
    gsim_memory_use_add(&member->tenant.sum, &per->tenant.sum, n);
}

static void skip(const struct gsim_cycle *cycle, struct gsim_lanes *lanes, int64_t n) {
    int64_t by_ns = n * cycle->period_ns;
    lanes->now_ns += by_ns;
    lanes->skipped_ns += by_ns;
    lanes->is_approximate |= cycle->is_approximate;
    lanes->store.link_free_ns += by_ns;
    gsim_wings_skip(&lanes->wings, &cycle->per_period.wings, n, by_ns);
    for (uint16_t i = 0; i < lanes->capacity; i++)
        if (lanes->members[i].is_present)
            skip_member(&lanes->members[i], &cycle->per_period.members[i], n, by_ns,
                        cycle->is_approximate);
    for (uint16_t i = 0; i < lanes->n_rings; i++) {
        struct gsim_ring *ring = &lanes->rings[i];
        ring->switch_ns += n * cycle->per_period.rings[i].switch_ns;
        ring->n_slices += n * cycle->per_period.rings[i].n_slices;
        ring->n_vain += n * cycle->per_period.rings[i].n_vain;
        shift(&ring->since_ns, by_ns);
        shift(&ring->grid_ns, by_ns);
        if (!keeps_quantum(ring, cycle->per_period.rings[i].quantum_start_ns))
            shift(&ring->quantum_start_ns, by_ns);
        shift(&ring->next_ns, by_ns);
        shift(&ring->halted_ns, by_ns);
        shift(&ring->padding.since_ns, by_ns);
        shift(&ring->padding.until_ns, by_ns);
        shift(&ring->padding.ends_ns, by_ns);
        shift(&ring->release_ns, by_ns);
    }
}

/* --- looking for it --------------------------------------------------------------------------- */

/* Work in so much time, in parts of 10^9; exact enough to tell rates apart that differ by a part
 * of STEADY. */
static int64_t rate_ppb(gsim_work done, int64_t time_ns) {
    return time_ns > 0 ? (int64_t)(gsim_work_to_ns(done) * (gsim_i128)GSIM_NS_PER_S / time_ns) : 0;
}

/* In both windows it did as much, and not nothing: what has not had its turn yet is no rate. */
static bool is_steady_member(const struct gsim_cycle *cycle, const struct gsim_lanes *now,
                             uint16_t place) {
    const struct gsim_context *then = &cycle->seen.members[place].context;
    const struct gsim_context *context = &now->members[place].context;
    gsim_work done = total(context, context->done_iterations - then->done_iterations,
                           context->done - then->done);
    gsim_work before = per_period(context, &cycle->per_period.members[place].context);
    int64_t is = rate_ppb(done, now->now_ns - cycle->seen.now_ns);
    int64_t was = rate_ppb(before, cycle->period_ns);
    int64_t by = is > was ? is - was : was - is;
    return gsim_context_is_done(context) || (is > 0 && was > 0 && by <= was / STEADY);
}

/* Whether everybody did as much since the state that was seen as in the window before it. */
static bool is_steady(const struct gsim_cycle *cycle, const struct gsim_lanes *now) {
    for (uint16_t i = 0; i < now->capacity; i++)
        if (now->members[i].is_present && !is_steady_member(cycle, now, i))
            return false;
    return cycle->has_window;
}

/* The window that ends here is the one before, and a new one begins, of twice as many turns. */
static void begin_window(struct gsim_cycle *cycle, const struct gsim_lanes *lanes) {
    measure(cycle, lanes);
    cycle->has_window = true;
    cycle->power *= 2;
    cycle->n_since = 0;
    gsim_lanes_copy(&cycle->seen, lanes);
}

/* Of a window, so that a turn more or less of each member is half of what is told apart. */
static int64_t least_turns(const struct gsim_lanes *lanes) {
    int64_t n_present = 0;
    for (uint16_t i = 0; i < lanes->capacity; i++)
        n_present += lanes->members[i].is_present;
    return 2 * STEADY * n_present;
}

/* Past the budget: rates go on if they have been steady, else they are looked at again at the
 * window's end. One that has just begun says nothing. */
static void look_at_rates(struct gsim_cycle *cycle, const struct gsim_lanes *lanes) {
    int64_t least = least_turns(lanes);
    bool is_wide = cycle->power / 2 >= least; /* both windows are */
    if (is_wide && cycle->power / WINDOW_PARTS > least)
        least = cycle->power / WINDOW_PARTS;
    if (is_wide && cycle->n_since < least)
        cycle->looks_at = cycle->n_turns + least - cycle->n_since;
    else if (is_wide && is_steady(cycle, lanes))
        find(cycle, lanes, true);
    else
        cycle->looks_at = cycle->n_turns + cycle->power - cycle->n_since +
                          (cycle->n_since == cycle->power ? 2 * cycle->power : 0);
}

static void search(struct gsim_cycle *cycle, const struct gsim_arbiter_options *options,
                   const struct gsim_lanes *lanes) {
    if (lanes->now_ns <= cycle->seen.now_ns && cycle->phase == GSIM_CYCLE_SEARCHING)
        return; /* the committed state follows the one ahead, which has looked here already */
    if (cycle->phase == GSIM_CYCLE_NONE) {
        cycle->phase = GSIM_CYCLE_SEARCHING;
        cycle->power = 1;
        cycle->n_since = 0;
        gsim_lanes_copy(&cycle->seen, lanes);
        return;
    }
    cycle->n_turns++;
    cycle->n_since++;
    if (is_same(cycle, options, lanes)) {
        find(cycle, lanes, false);
        return;
    }
    if (!options->is_exact && cycle->n_turns >= looks_at(cycle, options))
        look_at_rates(cycle, lanes);
    if (cycle->phase == GSIM_CYCLE_SEARCHING && cycle->n_since == cycle->power)
        begin_window(cycle, lanes);
}

void gsim_cycle_turn(struct gsim_cycle *cycle, const struct gsim_arbiter_options *options,
                     struct gsim_lanes *lanes, int64_t limit_ns) {
    if (options->is_plain || limit_ns == GSIM_NEVER)
        limit_ns = options->is_plain ? lanes->now_ns : GSIM_TIME_MAX;
    if (options->is_plain || !can_repeat(lanes))
        return;
    if (cycle->phase != GSIM_CYCLE_FOUND)
        search(cycle, options, lanes);
    if (cycle->phase != GSIM_CYCLE_FOUND || lanes->now_ns < cycle->from_ns)
        return;
    int64_t n = periods(cycle, lanes, limit_ns);
    if (n > 0)
        skip(cycle, lanes, n);
}
