/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A copy keeps its own tables and logs: only what they hold is copied. */
#include "models/gpu/lanes.h"

#include <string.h>

/* Places of the ring that no member has are not read. */
static void copy_lane(struct gsim_gpu_lane *to, const struct gsim_gpu_lane *from) {
    const struct gsim_lane_spec *spec = &from->spec;
    memcpy(to, from, offsetof(struct gsim_gpu_lane, spec));
    to->spec.space = spec->space;
    to->spec.n = spec->n;
    to->spec.cap_first = spec->cap_first;
    to->spec.cap_sms = spec->cap_sms;
    memcpy(to->spec.member, spec->member, spec->n * sizeof *spec->member);
    memcpy(to->spec.turn, spec->turn, spec->n * sizeof *spec->turn);
}

void gsim_lanes_copy(struct gsim_lanes *to, const struct gsim_lanes *from) {
    struct gsim_member *members = to->members;
    struct gsim_gpu_lane *lane = to->lane;
    uint16_t capacity = to->capacity, n_lanes = to->n_lanes;
    struct gsim_store store = to->store;
    struct gsim_gang_memory gang = to->gang;
    struct gsim_slice_log *spans = to->spans;
    *to = *from;
    to->spans = spans;
    to->store = store;
    gsim_pager_copy(&to->store, &from->store);
    to->gang = gang;
    gsim_gang_memory_copy(&to->gang, &from->gang);
    to->members = members;
    to->lane = lane;
    to->capacity = capacity;
    to->n_lanes = n_lanes;
    if (from->capacity > 0)
        memcpy(members, from->members, from->capacity * sizeof *members);
    for (uint16_t i = 0; i < from->n_lanes; i++)
        copy_lane(&lane[i], &from->lane[i]);
}

static gsim_work total(const struct gsim_context *context, int64_t iterations, gsim_work done) {
    return gsim_work_of_ns(context->spec.gpu_ns) * iterations + done;
}

/* For how long at least a member has nothing to report. */
static int64_t least_left_ns(const struct gsim_member *member) {
    const struct gsim_context *context = &member->context;
    if (gsim_context_is_done(context))
        return GSIM_NEVER;
    if (member->stop_at != GSIM_EXIT_NEVER)
        return 0;
    gsim_work end = total(context, context->spec.iterations, 0);
    if (member->watch_iterations >= 0) {
        gsim_work watched = total(context, member->watch_iterations, member->watch_done);
        end = watched < end ? watched : end;
    }
    gsim_work left = end - total(context, context->sums.done_iterations, context->done);
    return left > 0 ? gsim_work_to_ns(left) : 0;
}

int64_t gsim_lanes_at_work_until_ns(const struct gsim_lanes *lanes) {
    int64_t least_ns = GSIM_NEVER;
    for (uint16_t place = 0; place < lanes->capacity && !lanes->has_reports; place++)
        if (lanes->members[place].is_present)
            least_ns = gsim_sooner_ns(least_ns, least_left_ns(&lanes->members[place]));
    if (lanes->has_reports || least_ns == 0)
        return lanes->now_ns - 1;
    return least_ns < GSIM_NEVER - lanes->now_ns ? lanes->now_ns + least_ns - 1 : GSIM_NEVER;
}

void gsim_lanes_choose_anchor(struct gsim_lanes *lanes) {
    lanes->anchor = 0;
    while (lanes->anchor + 1 < lanes->n_lanes && lanes->lane[lanes->anchor].spec.n == 0)
        lanes->anchor++;
}
