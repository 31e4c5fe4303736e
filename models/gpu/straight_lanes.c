/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/straight_lanes.h"

#include "models/gpu/ready.h"
#include "models/gpu/straight.h"

/* --- where it holds --------------------------------------------------------------------------- */

/* Whether the process has its next iteration in the queue when one ends, and each iteration takes
 * as long as the one before. */
static bool is_even(const struct gsim_context_spec *spec) {
    return !spec->program && !spec->arrival_ns && spec->host_ns == 0 && spec->gap_ns == 0 &&
           spec->refill_ns == 0 && spec->pace_ns == 0;
}

static bool is_plain_member(const struct gsim_member *member) {
    return is_even(&member->context.spec) && member->stop_at == GSIM_EXIT_NEVER &&
           member->tenant.spec.overflow.bytes == 0 && member->tenant.spec.overflow.ns == 0;
}

/* Whether the member that runs goes before each other member that has work. */
static bool is_led(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *lane) {
    const struct gsim_member *first = &lanes->members[lane->spec.member[lane->state.at]];
    bool is_first = lane->spec.n == 1 ||
                    (lane->state.phase == GSIM_LANE_RUNNING && !gsim_lane_is_fair(&lane->how));
    for (uint16_t place = 0; is_first && place < lane->spec.n; place++) {
        const struct gsim_member *one = &lanes->members[lane->spec.member[place]];
        is_first = is_plain_member(one) &&
                   (place == lane->state.at || gsim_context_is_done(&one->context) ||
                    first->how.priority > one->how.priority);
    }
    return is_first;
}

static bool has_ranks(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *lane) {
    for (uint16_t i = 0; i < lane->spec.n; i++)
        for (uint16_t j = 0; j < i; j++)
            if (lanes->members[lane->spec.member[i]].how.priority ==
                lanes->members[lane->spec.member[j]].how.priority)
                return false;
    return true;
}

static bool holds_in(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *lane) {
    return gsim_gpu_lane_is_whole(lane) && !lane->is_by_blocks && !gsim_gpu_lane_is_gated(lane) &&
           !gsim_gpu_lane_has_atoms(lane) && is_led(lanes, lane) && has_ranks(lanes, lane);
}

bool gsim_straight_lanes_hold(const struct gsim_arbiter_options *options,
                              const struct gsim_lanes *lanes) {
    if (options->is_plain || lanes->spans || lanes->store.pager || lanes->gang.n > 0)
        return false;
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        if (lanes->lane[i].spec.n > 0 && !holds_in(lanes, &lanes->lane[i]))
            return false;
    return true;
}

/* --- lanes ------------------------------------------------------------------------------------ */

static void plan(const struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes) {
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        if (gsim_gpu_lane_running(&lanes->lane[i]) != GSIM_NO_MEMBER)
            gsim_gpu_lane_plan(gpu, &lanes->lane[i], lanes->now_ns);
}

void gsim_straight_lanes_begin(struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes) {
    gpu->goes_straight = true;
    plan(gpu, lanes);
}

/* Brings the lane to the end of its last iteration that has ended. */
static void catch_up(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    if (gsim_gpu_lane_running(lane) == GSIM_NO_MEMBER || lane->state.rate_q32 == 0)
        return;
    const struct gsim_member *member = gsim_gpu_lane_present(gpu, lane);
    int64_t from_ns = lane->times.since_ns + member->state.stall_ns;
    int64_t end_ns =
        gsim_context_idle_ns(&member->context, from_ns, lane->state.rate_q32, GSIM_NEVER);
    if (end_ns <= now_ns)
        gsim_gpu_lane_settle(
            gpu, lane,
            now_ns -
                (now_ns - end_ns) % gsim_straight_whole_ns(&member->context, lane->state.rate_q32));
}

void gsim_straight_lanes_end(struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes) {
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        catch_up(gpu, &lanes->lane[i], lanes->now_ns);
    gpu->goes_straight = false;
    plan(gpu, lanes);
}
