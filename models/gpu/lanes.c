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

void gsim_lanes_choose_anchor(struct gsim_lanes *lanes) {
    lanes->anchor = 0;
    while (lanes->anchor + 1 < lanes->n_lanes && lanes->lane[lanes->anchor].spec.n == 0)
        lanes->anchor++;
}
