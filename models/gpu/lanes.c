/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A copy keeps its own tables and logs: only what they hold is copied. */
#include "models/gpu/lanes.h"

#include <string.h>

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
    if (from->n_lanes > 0)
        memcpy(lane, from->lane, from->n_lanes * sizeof *lane);
}

void gsim_lanes_choose_anchor(struct gsim_lanes *lanes) {
    lanes->anchor = 0;
    while (lanes->anchor + 1 < lanes->n_lanes && lanes->lane[lanes->anchor].spec.n == 0)
        lanes->anchor++;
}
