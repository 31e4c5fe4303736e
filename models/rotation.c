/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/rotation.h"

#include <assert.h>

#include "sim/base/units.h"

void gsim_ring_init(struct gsim_ring *ring, int64_t quantum_ns) {
    *ring = (struct gsim_ring){.last = GSIM_NO_MEMBER,
                               .rate_q32 = GSIM_RATE_ONE,
                               .quantum_ns = quantum_ns,
                               .next_ns = GSIM_NEVER};
}

static struct gsim_member *member_at(const struct gsim_rotation *rotation,
                                     const struct gsim_ring *ring, uint16_t place) {
    return &rotation->members[ring->member[place]];
}

static uint16_t after(const struct gsim_ring *ring, uint16_t place) {
    return (uint16_t)(place + 1 == ring->n ? 0 : place + 1);
}

/* --- what comes next -------------------------------------------------------------------------- */

static int64_t quantum_of(const struct gsim_ring *ring, const struct gsim_member *member) {
    return member->quantum_ns > 0 ? member->quantum_ns : ring->quantum_ns;
}

/* The earliest instant at which anybody is ready, but the one at this place. */
static int64_t ready_but_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                            uint16_t but) {
    int64_t ready_ns = GSIM_NEVER;
    for (uint16_t place = 0; place < ring->n; place++) {
        int64_t one_ns = member_at(rotation, ring, place)->context.ready_ns;
        if (place != but && one_ns < ready_ns)
            ready_ns = one_ns;
    }
    return ready_ns;
}

/* The first end of a quantum at which somebody else is ready. */
static int64_t preemption_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring) {
    int64_t quantum_ns = quantum_of(ring, member_at(rotation, ring, ring->at));
    int64_t ready_ns = ready_but_ns(rotation, ring, ring->at);
    int64_t first_ns = ring->quantum_start_ns + quantum_ns;
    if (ready_ns <= first_ns || ready_ns == GSIM_NEVER)
        return ready_ns == GSIM_NEVER ? GSIM_NEVER : first_ns;
    int64_t n = (ready_ns - ring->quantum_start_ns + quantum_ns - 1) / quantum_ns;
    return ring->quantum_start_ns + n * quantum_ns;
}

/* When the running one gives up the lane by itself. */
static int64_t yields_ns(const struct gsim_ring *ring, const struct gsim_member *member) {
    const struct gsim_context *context = &member->context;
    if (member->stop_at != GSIM_HALT_NEVER)
        return gsim_context_boundary_ns(context, ring->since_ns, ring->rate_q32,
                                        member->stop_at == GSIM_HALT_ITERATION);
    return gsim_context_idle_ns(context, ring->since_ns, ring->rate_q32);
}

void gsim_ring_plan(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns) {
    ring->is_preemption = false;
    if (ring->phase == GSIM_LANE_SWITCHING)
        return; /* until next_ns, whatever happens meanwhile */
    if (ring->phase == GSIM_LANE_RUNNING) {
        int64_t yields = yields_ns(ring, member_at(rotation, ring, ring->at));
        int64_t preempted = preemption_ns(rotation, ring);
        ring->is_preemption = preempted < yields;
        ring->next_ns = ring->is_preemption ? preempted : yields;
        return;
    }
    ring->next_ns = ready_but_ns(rotation, ring, GSIM_NO_MEMBER);
    if (ring->next_ns < now_ns)
        ring->next_ns = now_ns;
}

/* --- changes ---------------------------------------------------------------------------------- */

static void run(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns) {
    ring->phase = GSIM_LANE_RUNNING;
    ring->last = ring->member[ring->at];
    ring->is_used = true;
    ring->since_ns = ring->quantum_start_ns = now_ns;
    ring->n_slices++;
    gsim_context_resume(&member_at(rotation, ring, ring->at)->context, now_ns);
    gsim_ring_plan(rotation, ring, now_ns);
}

static void switch_to(const struct gsim_rotation *rotation, struct gsim_ring *ring, uint16_t place,
                      int64_t cost_ns, int64_t now_ns) {
    ring->at = place;
    if (cost_ns > 0 && member_at(rotation, ring, place)->is_cold)
        cost_ns += rotation->costs.cold_ns;
    if (cost_ns == 0) {
        run(rotation, ring, now_ns);
        return;
    }
    ring->phase = GSIM_LANE_SWITCHING;
    ring->switch_ns += cost_ns;
    ring->next_ns = now_ns + cost_ns;
}

/* The next one that is ready, in ring order after the present one; the present one comes last. */
static uint16_t next_ready(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                           int64_t now_ns) {
    uint16_t place = ring->at;
    for (uint16_t i = 0; i < ring->n; i++) {
        place = after(ring, place);
        if (member_at(rotation, ring, place)->context.ready_ns <= now_ns)
            return place;
    }
    return GSIM_NO_MEMBER;
}

/* Whoever was last on an idle lane goes on for nothing, even when others became ready as well. */
static void leave_idleness(const struct gsim_rotation *rotation, struct gsim_ring *ring,
                           int64_t now_ns) {
    if (ring->last == ring->member[ring->at] &&
        member_at(rotation, ring, ring->at)->context.ready_ns <= now_ns) {
        run(rotation, ring, now_ns);
        return;
    }
    uint16_t place = next_ready(rotation, ring, now_ns);
    assert(place != GSIM_NO_MEMBER);
    switch_to(rotation, ring, place, ring->is_used ? rotation->costs.idle_ns : 0, now_ns);
}

static int64_t preempt_cost_ns(const struct gsim_rotation *rotation,
                               const struct gsim_member *member) {
    const struct gsim_switch_costs *costs = &rotation->costs;
    return costs->preempt_ns + gsim_muldiv_floor(costs->preempt_full_ns - costs->preempt_ns,
                                                 member->state_ppm, GSIM_PPM);
}

static void give_up(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t cost_ns,
                    int64_t now_ns) {
    uint16_t place = next_ready(rotation, ring, now_ns);
    if (place == GSIM_NO_MEMBER) {
        ring->phase = GSIM_LANE_IDLE;
        gsim_ring_plan(rotation, ring, now_ns);
    } else if (place == ring->at) {
        run(rotation, ring, now_ns); /* its host did not let it wait */
    } else {
        switch_to(rotation, ring, place, cost_ns, now_ns);
    }
}

void gsim_ring_settle(const struct gsim_rotation *rotation, struct gsim_ring *ring,
                      int64_t now_ns) {
    if (ring->phase != GSIM_LANE_RUNNING || now_ns <= ring->since_ns)
        return;
    struct gsim_member *member = member_at(rotation, ring, ring->at);
    gsim_context_run(&member->context, ring->since_ns, now_ns, ring->rate_q32);
    member->busy_ns += now_ns - ring->since_ns;
    ring->since_ns = now_ns;
}

uint16_t gsim_ring_step(const struct gsim_rotation *rotation, struct gsim_ring *ring) {
    int64_t now_ns = ring->next_ns;
    if (ring->phase == GSIM_LANE_SWITCHING) {
        run(rotation, ring, now_ns);
        return GSIM_NO_MEMBER;
    }
    if (ring->phase == GSIM_LANE_IDLE) {
        leave_idleness(rotation, ring, now_ns);
        return GSIM_NO_MEMBER;
    }
    uint16_t stopped = ring->member[ring->at];
    struct gsim_member *member = &rotation->members[stopped];
    gsim_ring_settle(rotation, ring, now_ns);
    if (gsim_context_is_done(&member->context) && member->finish_ns == GSIM_NEVER)
        member->finish_ns = member->context.launch_ns;
    give_up(rotation, ring,
            ring->is_preemption ? preempt_cost_ns(rotation, member) : rotation->costs.idle_ns,
            now_ns);
    return stopped;
}

/* --- members ---------------------------------------------------------------------------------- */

void gsim_ring_join(const struct gsim_rotation *rotation, struct gsim_ring *ring, uint16_t member,
                    int64_t now_ns) {
    assert(ring->n < GSIM_RING_MAX);
    ring->member[ring->n++] = member;
    if (!ring->is_used)
        ring->at = (uint16_t)(ring->n - 1); /* the first of the ring begins */
    gsim_ring_plan(rotation, ring, now_ns);
}

/* The place before the one that leaves becomes the present one, so that the next in the ring is who
 * it was. */
static void take_out(struct gsim_ring *ring, uint16_t place) {
    ring->n--;
    for (uint16_t i = place; i < ring->n; i++)
        ring->member[i] = ring->member[i + 1];
    if (place <= ring->at && ring->n > 0)
        ring->at = (uint16_t)(ring->at > 0 ? ring->at - 1 : ring->n - 1);
}

void gsim_ring_leave(const struct gsim_rotation *rotation, struct gsim_ring *ring, uint16_t member,
                     int64_t now_ns) {
    uint16_t place = 0;
    while (ring->member[place] != member)
        place++;
    assert(place < ring->n);
    bool had_lane = place == ring->at && ring->phase != GSIM_LANE_IDLE;
    bool was_running = had_lane && ring->phase == GSIM_LANE_RUNNING;
    if (ring->last == member)
        ring->last = GSIM_NO_MEMBER;
    take_out(ring, place);
    if (had_lane)
        ring->phase = GSIM_LANE_IDLE;
    uint16_t next = was_running ? next_ready(rotation, ring, now_ns) : GSIM_NO_MEMBER;
    if (next != GSIM_NO_MEMBER)
        switch_to(rotation, ring, next, preempt_cost_ns(rotation, &rotation->members[member]),
                  now_ns);
    else
        gsim_ring_plan(rotation, ring, now_ns);
}
