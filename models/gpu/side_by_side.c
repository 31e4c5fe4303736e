/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/side_by_side.h"

#include "models/gpu/kernel_log.h"
#include "models/gpu/shared_sms.h"

#include <assert.h>
#include <string.h>

/* a lane may have a padding context beside the one that runs */
enum { RUNNERS_MAX = 2 * GSIM_CONTEXTS_MAX };

/* The contexts that run in a space: their holders, and their lanes. */
struct runners {
    struct gsim_holder holder[RUNNERS_MAX];
    uint16_t lane[RUNNERS_MAX];
    bool is_padding[RUNNERS_MAX]; /* padding beside the context that has the lane */
    uint32_t n;
};

static struct gsim_holder holder_of(const struct gsim_lane *how, uint32_t cap_ppm,
                                    const struct gsim_demand *demand) {
    return (struct gsim_holder){.first_sm = how->first_sm,
                                .n_sms = how->n_sms,
                                .cap_ppm = cap_ppm > 0 ? cap_ppm : (uint32_t)GSIM_PPM,
                                .fill_ppm = demand->fill_ppm,
                                .memory_ppm = demand->memory_ppm,
                                .loads_ppm = demand->loads_ppm,
                                .hbm_bytes_per_s = demand->hbm_bytes_per_s};
}

static void add(struct runners *out, uint16_t lane, bool is_padding,
                const struct gsim_holder *holder) {
    assert(out->n < RUNNERS_MAX);
    out->holder[out->n] = *holder;
    out->lane[out->n] = lane;
    out->is_padding[out->n++] = is_padding;
}

static void collect(const struct gsim_lanes *lanes, uint16_t space, struct runners *out) {
    out->n = 0;
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        const struct gsim_gpu_lane *lane = &lanes->lane[i];
        uint16_t running = gsim_gpu_lane_running(lane);
        if (running == GSIM_NO_MEMBER || lane->spec.space != space)
            continue;
        const struct gsim_demand *demand = &lanes->members[running].spec.demand;
        struct gsim_holder holder = holder_of(&lane->how, lane->how.cap_ppm, demand);
        add(out, i, false, &holder);
        if (lane->state.padding == GSIM_NO_MEMBER)
            continue;
        uint32_t left_ppm = gsim_padding_left_ppm(&lane->how, demand);
        holder = holder_of(&lane->how, left_ppm, &lanes->members[lane->state.padding].spec.demand);
        add(out, i, true, &holder);
    }
}

/* Whether all fields that are no answers are equal. */
static bool is_alike(const struct gsim_holder *a, const struct gsim_holder *b) {
    return a->first_sm == b->first_sm && a->n_sms == b->n_sms && a->cap_ppm == b->cap_ppm &&
           a->fill_ppm == b->fill_ppm && a->memory_ppm == b->memory_ppm &&
           a->hbm_bytes_per_s == b->hbm_bytes_per_s && a->loads_ppm == b->loads_ppm;
}

static bool is_set(const struct gsim_solved_set *set, uint16_t space,
                   const struct runners *runners) {
    bool is_it = set->n == runners->n && set->space == space;
    for (uint32_t i = 0; is_it && i < runners->n; i++)
        is_it = is_alike(&set->holder[i], &runners->holder[i]);
    return is_it;
}

static const struct gsim_solved_set *find(const struct gsim_solved *solved, uint16_t space,
                                          const struct runners *runners) {
    for (uint32_t i = 0; i < GSIM_SOLVED_SETS; i++)
        if (is_set(&solved->set[i], space, runners))
            return &solved->set[i];
    return NULL;
}

/* Without memory a set has no room, and the run ends. */
static bool has_room(struct gsim_arena *arena, struct gsim_solved_set *set, uint32_t n) {
    uint32_t room = set->room > 0 ? set->room : 1;
    while (room < n)
        room *= 2;
    if (room == set->room)
        return true;
    struct gsim_holder *holder =
        gsim_arena_grow(arena, set->holder, set->room * sizeof *holder, room * sizeof *holder);
    if (!holder)
        return false;
    set->holder = holder;
    set->room = room;
    return true;
}

static void keep(struct gsim_solved *solved, uint16_t space, const struct runners *runners) {
    struct gsim_solved_set *set = &solved->set[solved->oldest];
    if (runners->n == 0 || !has_room(solved->arena, set, runners->n))
        return;
    solved->oldest = (solved->oldest + 1) % GSIM_SOLVED_SETS;
    set->n = runners->n;
    set->space = space;
    memcpy(set->holder, runners->holder, runners->n * sizeof *set->holder);
}

static void solve(const struct gsim_space *spaces, uint16_t space, struct gsim_solved *solved,
                  struct runners *runners) {
    const struct gsim_solved_set *set = find(solved, space, runners);
    if (set && set->n > 0) {
        memcpy(runners->holder, set->holder, set->n * sizeof *set->holder);
        return;
    }
    gsim_space_solve(&spaces[space], runners->holder, runners->n);
    keep(solved, space, runners);
}

/* Whether kernels with different demands crowd the same SMs. */
static bool are_crowded_unequals(const struct runners *runners) {
    bool is_crowded = false, is_unequal = false;
    for (uint32_t i = 0; i < runners->n; i++) {
        const struct gsim_holder *holder = &runners->holder[i], *first = &runners->holder[0];
        is_crowded |= holder->memory_sms < holder->wanted;
        is_unequal |= holder->fill_ppm != first->fill_ppm ||
                      holder->memory_ppm != first->memory_ppm ||
                      holder->hbm_bytes_per_s != first->hbm_bytes_per_s;
    }
    return is_crowded && is_unequal;
}

/* A halt that has begun keeps its duration when rates change. */
static void set_rate(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, bool is_padding,
                     uint64_t rate_q32, int64_t now_ns) {
    uint64_t *rate = is_padding ? &lane->state.padding_rate_q32 : &lane->state.rate_q32;
    if (*rate == rate_q32 || lane->state.is_halting)
        return;
    gsim_gpu_lane_settle(gpu, lane, now_ns);
    *rate = rate_q32;
    gsim_gpu_lane_plan(gpu, lane, now_ns);
}

/* Plans of lanes that shared SMs block by block hold for this instant only. */
static void leave_blocks(const struct gsim_lane_gpu *gpu, uint16_t space,
                         struct gsim_lanes *lanes) {
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        struct gsim_gpu_lane *lane = &lanes->lane[i];
        if (lane->spec.space != space || !lane->is_by_blocks)
            continue;
        lane->is_by_blocks = false;
        if (gpu->spans && lane->spec.n > 0)
            gsim_kernel_log_sms(gpu, lane, false, lanes->now_ns);
        gsim_gpu_lane_plan(gpu, lane, lanes->now_ns);
    }
}

/* Where kernels went to SMs block by block before; without memory their rates are not kept. */
static struct gsim_sm_last *last_of(struct gsim_solved *solved, uint16_t space,
                                    const struct gsim_lanes *lanes) {
    if (lanes->has_shared_blocks && !solved->last[space])
        solved->last[space] = gsim_arena_alloc(solved->arena, sizeof *solved->last[space]);
    return solved->last[space];
}

void gsim_side_by_side_solve(const struct gsim_lane_gpu *gpu, const struct gsim_space *spaces,
                             struct gsim_solved *solved, struct gsim_lanes *lanes) {
    struct runners runners;
    for (uint16_t space = 0; lanes->unsolved >> space; space++) {
        if (!(lanes->unsolved >> space & 1))
            continue;
        struct gsim_sm_last *last = last_of(solved, space, lanes);
        if (gsim_shared_sms_solve(gpu, &spaces[space], space, lanes, last))
            continue;
        leave_blocks(gpu, space, lanes);
        collect(lanes, space, &runners);
        solve(spaces, space, solved, &runners);
        lanes->has_crowded_unequals |= are_crowded_unequals(&runners);
        for (uint32_t i = 0; i < runners.n; i++)
            set_rate(gpu, &lanes->lane[runners.lane[i]], runners.is_padding[i],
                     runners.holder[i].rate_q32, lanes->now_ns);
    }
    lanes->unsolved = 0;
}

void gsim_side_by_side_unsolve(struct gsim_lanes *lanes, uint16_t n_spaces,
                               const struct gsim_gpu_lane *lane) {
    if (n_spaces > 0)
        lanes->unsolved |= 1u << lane->spec.space;
}
