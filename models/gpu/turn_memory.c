/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/turn_memory.h"

#include "gsim/units.h"

void gsim_turn_tell(const struct gsim_rotation *rotation, enum gsim_span_kind kind,
                    const struct gsim_member *member, int64_t begin_ns, int64_t end_ns,
                    int64_t bytes) {
    if (rotation->spans)
        gsim_slice_log_add(rotation->spans, &(struct gsim_span){.kind = kind,
                                                                .job = member->how.job,
                                                                .begin_ns = begin_ns,
                                                                .end_ns = end_ns,
                                                                .bytes = bytes});
}

/* Logs how much memory of each member is resident, after some of it has moved: what one lane brings
 * in may push out memory of another. */
static void tell_residency(const struct gsim_rotation *rotation, int64_t now_ns) {
    for (uint16_t place = 0; rotation->spans && place < rotation->n_places; place++) {
        const struct gsim_member *member = &rotation->members[place];
        if (member->is_present)
            gsim_turn_tell(rotation, GSIM_SPAN_RESIDENT, member, now_ns, now_ns,
                           gsim_store_resident_bytes(rotation->store, &member->tenant));
    }
}

int64_t gsim_turn_migrate(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                          int64_t now_ns) {
    struct gsim_next_turn turns[GSIM_RING_MAX];
    uint16_t place = ring->state.at, n = 0;
    do {
        struct gsim_member *member = &rotation->members[ring->member[place]];
        turns[n++] = (struct gsim_next_turn){&member->tenant, gsim_ring_quantum_ns(ring, member),
                                             member->context.gpu_ns};
        place = (uint16_t)(place + 1 == ring->n ? 0 : place + 1);
    } while (place != ring->state.at);
    struct gsim_store_move move = gsim_store_switch(rotation->store, turns, n, now_ns);
    const struct gsim_member *member = gsim_ring_present(rotation, ring);
    if (move.bytes_out > 0)
        gsim_turn_tell(rotation, GSIM_SPAN_COPY_OUT, member, move.begins_ns, move.ends_ns,
                       move.bytes_out);
    if (move.bytes_in > 0)
        gsim_turn_tell(rotation, GSIM_SPAN_COPY_IN, member, move.begins_ns, move.ends_ns,
                       move.bytes_in);
    tell_residency(rotation, move.begins_ns);
    return gsim_gang_memory_switch(rotation->gang, &turns[0], now_ns, move.starts_ns);
}

void gsim_turn_sweep(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                     int64_t left_ns, int64_t now_ns) {
    struct gsim_member *member = gsim_ring_present(rotation, ring);
    bool waits_for_sms = ring->state.rate_q32 == 0;
    if (waits_for_sms || !gsim_store_is_sweeping(rotation->store, &member->tenant))
        return;
    struct gsim_pace pace = {.done = gsim_context_swept(&member->context),
                             .all = gsim_context_sweep(&member->context),
                             .rate_q32 = ring->state.rate_q32,
                             .stall_ns = member->state.stall_ns,
                             .left_ns = left_ns};
    struct gsim_swept swept = gsim_store_sweep(rotation->store, &member->tenant, &pace);
    int64_t stall_ns =
        gsim_gang_memory_sweep(rotation->gang, &member->tenant, &swept, pace.stall_ns);
    if (stall_ns > 0)
        tell_residency(rotation, now_ns);
    member->state.stall_ns += stall_ns;
}

int64_t gsim_turn_reached_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring) {
    const struct gsim_member *member = gsim_ring_present(rotation, ring);
    const struct gsim_context *context = &member->context;
    bool waits_for_sms = ring->state.rate_q32 == 0;
    if (waits_for_sms || !gsim_store_is_sweeping(rotation->store, &member->tenant))
        return GSIM_NEVER;
    gsim_work left =
        gsim_store_reach(rotation->store, &member->tenant, gsim_context_sweep(context)) -
        gsim_context_swept(context);
    return ring->times.since_ns + member->state.stall_ns +
           (left > 0 ? gsim_work_time(left, ring->state.rate_q32) : 0);
}
