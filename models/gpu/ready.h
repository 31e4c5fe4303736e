/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When members of a lane are ready for it, and which of two goes first. Where contexts are switched
 * for more urgent ones, a member that is more urgent than another may ask for the lane ahead of its
 * next iteration (hint_ns of include/gsim/arrangement.h). */
#ifndef GSIM_MODELS_GPU_READY_H
#define GSIM_MODELS_GPU_READY_H

#include "models/gpu/lane_state.h"

static inline struct gsim_member *gsim_ready_at(const struct gsim_lane_gpu *gpu,
                                                const struct gsim_gpu_lane *lane, uint16_t place) {
    return &gpu->members[lane->spec.member[place]];
}

/* Whether the lane's contexts are switched, by priority, as the driver does. */
static inline bool gsim_ready_is_switched(const struct gsim_gpu_lane *lane) {
    return gsim_lane_urgency(&lane->how).stop == GSIM_STOP_SWITCH;
}

/* Contexts of a lane by priority are streams of one process, unless they are switched. */
static inline bool gsim_ready_in_one_process(const struct gsim_gpu_lane *lane) {
    return gsim_gpu_lane_is_by_priority(lane) && !gsim_ready_is_switched(lane);
}

/* Whether another member of the lane is less urgent. */
static inline bool gsim_ready_leads(const struct gsim_lane_gpu *gpu,
                                    const struct gsim_gpu_lane *lane,
                                    const struct gsim_member *member) {
    bool leads = false;
    for (uint16_t place = 0; place < lane->spec.n && !leads; place++)
        leads = gsim_ready_at(gpu, lane, place)->how.priority < member->how.priority;
    return leads;
}

/* The instant from which on the lane is the member's if no other member keeps it from there. */
static inline int64_t gsim_ready_asks_ns(const struct gsim_lane_gpu *gpu,
                                         const struct gsim_gpu_lane *lane,
                                         const struct gsim_member *member) {
    int64_t ready_ns = member->context.times.ready_ns;
    int64_t hint_ns = gsim_lane_urgency(&lane->how).hint_ns;
    if (hint_ns == 0 || ready_ns == GSIM_NEVER || !gsim_ready_leads(gpu, lane, member))
        return ready_ns;
    return ready_ns - hint_ns;
}

/* The earliest instant at which a member other than that at place `but` asks for the lane, or any
 * such instant up to soon_ns. The member after `but` is asked first: where many wait, it does, and
 * no other member is looked at. */
static inline int64_t gsim_ready_but_ns(const struct gsim_lane_gpu *gpu,
                                        const struct gsim_gpu_lane *lane, uint16_t but,
                                        int64_t soon_ns) {
    int64_t ready_ns = GSIM_NEVER;
    uint16_t place = but;
    for (uint16_t i = 0; i < lane->spec.n && ready_ns > soon_ns; i++) {
        place = (uint16_t)(place + 1 < lane->spec.n ? place + 1 : 0);
        int64_t one_ns = gsim_ready_asks_ns(gpu, lane, gsim_ready_at(gpu, lane, place));
        if (place != but && one_ns < ready_ns)
            ready_ns = one_ns;
    }
    return ready_ns;
}

/* The earliest instant at which a member asks that is more urgent than this priority (above), or
 * the earliest one at which an equally urgent one is ready. */
static inline int64_t gsim_ready_rivals_ns(const struct gsim_lane_gpu *gpu,
                                           const struct gsim_gpu_lane *lane, int32_t priority,
                                           bool above) {
    int64_t ready_ns = GSIM_NEVER;
    for (uint16_t place = 0; place < lane->spec.n; place++) {
        const struct gsim_member *one = gsim_ready_at(gpu, lane, place);
        bool is_rival = above ? one->how.priority > priority : one->how.priority == priority;
        if (!is_rival || place == lane->state.at)
            continue;
        int64_t one_ns = above ? gsim_ready_asks_ns(gpu, lane, one) : one->context.times.ready_ns;
        ready_ns = one_ns < ready_ns ? one_ns : ready_ns;
    }
    return ready_ns;
}

static inline gsim_i128 gsim_ready_weighted_ns(const struct gsim_member *member) {
    return (gsim_i128)(member->sums.busy_ns - member->spec.counted_ns) * member->how.weight;
}

/* Of two members of a lane by priority. */
static inline bool gsim_ready_goes_before(const struct gsim_gpu_lane *lane,
                                          const struct gsim_member *one,
                                          const struct gsim_member *other) {
    if (gsim_lane_is_fair(&lane->how) &&
        gsim_ready_weighted_ns(one) != gsim_ready_weighted_ns(other))
        return gsim_ready_weighted_ns(one) < gsim_ready_weighted_ns(other);
    return one->how.priority > other->how.priority;
}

/* Whether a member goes before one that is earlier in the ring. Of equally urgent ones that asks
 * ahead of its iteration which is not ready. */
static inline bool gsim_ready_is_next(const struct gsim_gpu_lane *lane,
                                      const struct gsim_member *member,
                                      const struct gsim_member *earlier, int64_t now_ns) {
    bool waits = earlier->context.times.ready_ns > now_ns;
    return gsim_ready_goes_before(lane, member, earlier) ||
           (waits && member->context.times.ready_ns <= now_ns &&
            member->how.priority == earlier->how.priority);
}

#endif
