/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/rotation.h"

#include "gsim/units.h"
#include "models/gpu/lane.h"
#include "models/gpu/ready.h"
#include "models/gpu/turn_memory.h"
#include "sim/base/hints.h"

/* A place of the ring. */
struct place {
    int64_t left_ns; /* of the iteration */
    int64_t ready_ns; /* the next kernel is launched by then, or sooner */
    int64_t quantum_ns;
    int64_t preempt_ns, idle_ns; /* the switch to the next place, by how the turn ends */
    int64_t known_ns; /* left_ns, as the context has it */
    struct gsim_member *member;
    /* a turn begins with a sweep over memory, or with launches that did not fit the queue */
    bool begins_with_more;
    bool is_sweeping; /* over memory that is there: the sweep is told of at the end of the loop */
};

/* No turn begins after until_ns. The loop ends with a turn that begins at end_ns or later, and with
 * one of place seen_at while probe has left_ns left. */
struct limits {
    int64_t until_ns, lookahead_ns, end_ns, left_ns;
    const struct place *seen_at, *probe;
};

struct ring {
    const struct gsim_lane_gpu *gpu;
    struct gsim_gpu_lane *lane;
    uint16_t n, at;
    int64_t now_ns;
    int64_t ran_ns; /* time of kernels of which the contexts have heard */
    int64_t turns_left; /* that the loop may give */
    struct limits limits;
    struct place any; /* the probe where each turn of seen_at ends the loop */
    struct place place[GSIM_CONTEXTS_MAX];
};

/* --- lanes and contexts that go round --------------------------------------------------------- */

static bool is_ring(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                    int64_t now_ns) {
    const struct gsim_store *store = gpu->store;
    bool is_resident =
        !store->pager || (!gsim_pager_is_proactive(store) && !gsim_pager_is_too_much(store));
    return !gsim_gpu_lane_is_in_software(lane) && lane->spec.n > 1 && !gpu->spaces && !gpu->spans &&
           is_resident && lane->state.rate_q32 == GSIM_RATE_ONE &&
           lane->state.phase == GSIM_LANE_RUNNING && lane->times.since_ns == now_ns &&
           lane->marks.quantum_start_ns == now_ns;
}

/* Whether the context has work in whole nanoseconds, and kernels that follow each other from the
 * queue until its iteration ends. */
static bool goes_on(const struct gsim_context *context, int64_t now_ns) {
    return !gsim_context_is_done(context) && gsim_context_is_fed(context, now_ns) &&
           (context->done & (gsim_work)(GSIM_RATE_ONE - 1)) == 0;
}

/* Whether the member's next report is at the end of an iteration or later. */
static bool is_quiet(const struct gsim_member *member) {
    return member->stop_at == GSIM_EXIT_NEVER && member->reports == 0 &&
           member->state.stall_ns == 0 && member->state.restore_ns == 0 &&
           (member->watch_iterations < 0 ||
            member->watch_iterations > member->context.sums.done_iterations);
}

/* Whether the iteration under way ends with a report, or without a wait of the host. */
static bool ends_otherwise(const struct gsim_member *member) {
    int64_t done = member->context.sums.done_iterations + 1;
    return done == member->context.spec.iterations || member->context.spec.never_waits ||
           (member->watch_iterations >= 0 && done >= member->watch_iterations);
}

/* --- the ring --------------------------------------------------------------------------------- */

static struct gsim_pace pace_of(const struct gsim_member *member, int64_t left_ns) {
    return (struct gsim_pace){.done = gsim_context_swept(&member->context),
                              .all = gsim_context_sweep(&member->context),
                              .rate_q32 = GSIM_RATE_ONE,
                              .left_ns = left_ns};
}

/* Whether turns that begin with a sweep may be given without one until the iteration ends. */
static bool passes_sweeps(const struct ring *ring, const struct gsim_member *member,
                          int64_t left_ns) {
    const struct gsim_store *store = ring->gpu->store;
    struct gsim_pace pace = pace_of(member, left_ns);
    return gsim_pager_is_sweeping(store, &member->tenant) && member->context.spec.per_sweep <= 1 &&
           gsim_pager_passes(store, &member->tenant, &pace);
}

/* How far the sweep is after such turns. left_ns: of the one that has begun; 0: it is over. */
static void pass_sweeps(const struct ring *ring, struct gsim_member *member, int64_t left_ns) {
    struct gsim_pace pace = pace_of(member, left_ns);
    gsim_pager_pass(ring->gpu->store, &member->tenant, &pace);
}

/* How the next turns begin. left_ns: of the turn that has begun; 0: the place waits for one. */
static void find_begin(const struct ring *ring, struct place *place, int64_t left_ns) {
    struct gsim_member *member = place->member;
    bool overfills = gsim_context_overfills(&member->context);
    place->is_sweeping = !overfills && passes_sweeps(ring, member, left_ns);
    place->begins_with_more =
        overfills ||
        (!place->is_sweeping && gsim_pager_is_sweeping(ring->gpu->store, &member->tenant));
}

static bool open_place(struct ring *ring, uint16_t at) {
    const struct gsim_gpu_lane *lane = ring->lane;
    const struct gsim_switch_costs *costs = &ring->gpu->costs;
    uint16_t after = (uint16_t)(at + 1 == ring->n ? 0 : at + 1);
    struct gsim_member *member = gsim_ready_at(ring->gpu, lane, at);
    const struct gsim_member *next = gsim_ready_at(ring->gpu, lane, after);
    const struct gsim_context *context = &member->context;
    if (!goes_on(context, ring->now_ns) || !is_quiet(member))
        return false;
    int64_t left_ns = context->spec.gpu_ns - gsim_work_to_ns(context->done);
    ring->place[at] = (struct place){
        .left_ns = left_ns,
        .ready_ns = context->times.ready_ns,
        .quantum_ns = gsim_gpu_lane_quantum_ns(lane, member),
        .preempt_ns = gsim_switch_to_ns(costs, next, gsim_switch_preempt_ns(costs, member)),
        .idle_ns = gsim_switch_to_ns(costs, next, costs->idle_ns),
        .known_ns = left_ns,
        .member = member};
    find_begin(ring, &ring->place[at], at == ring->at ? ring->place[at].quantum_ns : 0);
    return ring->place[at].quantum_ns > 0;
}

/* All switches take time, or none does, so that all turns are as many steps. */
static bool open_ring(struct ring *ring) {
    bool goes_round = true;
    for (uint16_t at = 0; at < ring->n && goes_round; at++)
        goes_round = open_place(ring, at) &&
                     (ring->place[at].preempt_ns > 0) == (ring->place[0].preempt_ns > 0) &&
                     (ring->place[at].idle_ns > 0) == (ring->place[0].preempt_ns > 0);
    return goes_round;
}

static void count_time(struct ring *ring, struct place *place) {
    int64_t ran_ns = place->known_ns - place->left_ns;
    place->member->sums.busy_ns += ran_ns;
    ring->ran_ns += ran_ns;
    place->known_ns = place->left_ns;
}

/* The context hears of the turns that it had. */
static void tell(struct ring *ring, struct place *place) {
    struct gsim_context *context = &place->member->context;
    if (place->left_ns == place->known_ns)
        return;
    count_time(ring, place);
    gsim_context_set(context, gsim_work_of_ns(context->spec.gpu_ns - place->left_ns), ring->now_ns);
    if (place->is_sweeping)
        pass_sweeps(ring, place->member, 0);
}

/* The lane hears of the turn that begins. */
static void tell_lane(const struct ring *ring) {
    struct gsim_gpu_lane *lane = ring->lane;
    lane->state.at = ring->at;
    lane->state.last = lane->spec.member[ring->at];
    lane->marks.quantum_start_ns = lane->times.since_ns = ring->now_ns;
}

/* Returns false if the turn begins with a wait, and the rest of it is not for the loop. */
GSIM_APART static bool begin_with_more(struct ring *ring, struct place *place) {
    struct gsim_member *member = place->member;
    tell(ring, place);
    tell_lane(ring);
    gsim_turn_sweep(ring->gpu, ring->lane, place->quantum_ns, ring->now_ns);
    gsim_context_resume(&member->context, ring->now_ns);
    find_begin(ring, place, place->quantum_ns);
    return member->state.stall_ns == 0 && goes_on(&member->context, ring->now_ns) &&
           (place->is_sweeping || !gsim_pager_is_sweeping(ring->gpu->store, &member->tenant));
}

/* --- turns ------------------------------------------------------------------------------------ */

static inline bool is_last(const struct limits *limits, const struct place *place, int64_t now_ns,
                           int64_t turns_left) {
    return turns_left == 0 || now_ns >= limits->end_ns ||
           (place == limits->seen_at && limits->probe->left_ns == limits->left_ns);
}

/* Gives whole quanta, up to a turn that ends in another way. The next context of the ring follows
 * if it was ready when the device chose it. Returns true at a turn with which the loop may end, or
 * which begins with more. */
static bool give_quanta(struct ring *ring) {
    const struct limits limits = ring->limits;
    struct place *const first = ring->place, *const end = first + ring->n;
    struct place *place = first + ring->at;
    int64_t now_ns = ring->now_ns, turns_left = ring->turns_left;
    bool is_over = false;
    while (!is_over) {
        struct place *next = place + 1 == end ? first : place + 1;
        int64_t end_ns = now_ns + place->quantum_ns, next_ns = end_ns + place->preempt_ns;
        if (place->left_ns <= place->quantum_ns || next->ready_ns > end_ns - limits.lookahead_ns ||
            next_ns > limits.until_ns)
            break;
        place->left_ns -= place->quantum_ns;
        place->ready_ns = end_ns + 1; /* or before (gsim_context_is_fed) */
        place = next;
        now_ns = next_ns;
        turns_left--;
        is_over = place->begins_with_more || is_last(&limits, place, now_ns, turns_left);
    }
    ring->at = (uint16_t)(place - first);
    ring->now_ns = now_ns;
    ring->turns_left = turns_left;
    return is_over;
}

/* The iteration ends within the quantum. Returns false if that is not for the loop. */
static bool end_iteration(struct ring *ring) {
    uint16_t after = (uint16_t)(ring->at + 1 == ring->n ? 0 : ring->at + 1);
    struct place *place = &ring->place[ring->at];
    struct gsim_member *member = place->member;
    struct gsim_context *context = &member->context;
    int64_t end_ns = ring->now_ns + place->left_ns;
    if (place->left_ns > place->quantum_ns || ends_otherwise(member) ||
        ring->place[after].ready_ns > end_ns || end_ns + place->idle_ns > ring->limits.until_ns)
        return false;
    place->left_ns = 0;
    count_time(ring, place);
    gsim_context_set(context, gsim_work_of_ns(context->spec.gpu_ns), end_ns);
    if (place->is_sweeping)
        pass_sweeps(ring, member, 0);
    gsim_tenant_end_iteration(&member->tenant, gsim_context_is_swept(context));
    place->left_ns = place->known_ns = context->spec.gpu_ns;
    place->ready_ns = context->times.ready_ns;
    find_begin(ring, place, 0);
    ring->now_ns = end_ns + place->idle_ns;
    ring->turns_left--;
    ring->at = after;
    return true;
}

static void go_round(struct ring *ring) {
    struct place *place;
    do {
        if (!give_quanta(ring) && !end_iteration(ring))
            return;
        place = &ring->place[ring->at];
        if (place->begins_with_more && !begin_with_more(ring, place))
            return;
    } while (!is_last(&ring->limits, place, ring->now_ns, ring->turns_left));
}

/* Steps of the plain engine for each turn: its end and, if a switch takes time, the end of that. */
static int64_t steps_of_turn(const struct ring *ring) {
    return ring->place[0].preempt_ns > 0 ? 2 : 1;
}

static void set_limits(struct ring *ring, const struct gsim_rotation_bounds *bounds) {
    const struct gsim_unseen *unseen = &bounds->unseen;
    ring->turns_left = bounds->most_steps / steps_of_turn(ring);
    if (unseen->most < ring->turns_left)
        ring->turns_left = unseen->most;
    ring->any.left_ns = unseen->left_ns;
    ring->limits = (struct limits){
        .until_ns = bounds->until_ns,
        .lookahead_ns = ring->gpu->costs.lookahead_ns,
        .end_ns = unseen->until_ns,
        .left_ns = unseen->left_ns,
        .seen_at = unseen->at == GSIM_NO_MEMBER ? NULL : &ring->place[unseen->at],
        .probe = unseen->probe == GSIM_NO_MEMBER ? &ring->any : &ring->place[unseen->probe]};
}

static void close_ring(struct ring *ring, struct gsim_lanes *lanes, int64_t n_turns) {
    for (uint16_t at = 0; at < ring->n; at++)
        tell(ring, &ring->place[at]);
    tell_lane(ring);
    const struct place *present = &ring->place[ring->at];
    if (present->is_sweeping)
        pass_sweeps(ring, present->member, present->quantum_ns);
    ring->lane->sums.switch_ns += ring->now_ns - lanes->now_ns - ring->ran_ns;
    ring->lane->sums.n_slices += n_turns;
    lanes->now_ns = ring->now_ns;
    gsim_gpu_lane_plan(ring->gpu, ring->lane, ring->now_ns);
}

struct gsim_rotation gsim_rotation_run(const struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes,
                                       struct gsim_gpu_lane *lane,
                                       const struct gsim_rotation_bounds *bounds) {
    struct ring ring;
    if (!is_ring(gpu, lane, lanes->now_ns))
        return (struct gsim_rotation){0};
    ring.gpu = gpu;
    ring.lane = lane;
    ring.n = lane->spec.n;
    ring.at = lane->state.at;
    ring.now_ns = lanes->now_ns;
    ring.ran_ns = 0;
    if (!open_ring(&ring))
        return (struct gsim_rotation){0};
    set_limits(&ring, bounds);
    int64_t most = ring.turns_left;
    if (most > 0)
        go_round(&ring);
    int64_t n_turns = most - ring.turns_left;
    if (n_turns > 0)
        close_ring(&ring, lanes, n_turns);
    return (struct gsim_rotation){true, n_turns, n_turns * steps_of_turn(&ring)};
}
