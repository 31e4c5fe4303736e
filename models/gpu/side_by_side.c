/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/side_by_side.h"

#include "models/gpu/kernel_log.h"
#include "models/gpu/shared_sms.h"

#include <assert.h>
#include <string.h>

#include "sim/base/hints.h"
#include "sim/base/text.h"

/* a lane may have a padding context beside the one that runs */
enum { RUNNERS_MAX = 2 * GSIM_CONTEXTS_MAX };
/* the prime of the hash FNV-1a, here over numbers in place of bytes */
enum { FNV = 16777619 };

/* The contexts that run in a space, and their lanes. */
struct runners {
    struct gsim_solved_runner runner[RUNNERS_MAX];
    uint16_t lane[RUNNERS_MAX];
    uint32_t n;
    uint32_t sum; /* over all of them, by which the set is found again */
};

static bool is_padding(const struct gsim_solved_runner *runner) {
    return runner->is & 1;
}

static void add(struct runners *out, uint16_t lane, uint16_t member, bool pads) {
    assert(out->n < RUNNERS_MAX);
    uint32_t is = (uint32_t)member << 1 | pads;
    out->runner[out->n].is = is;
    out->lane[out->n++] = lane;
    out->sum = (out->sum ^ is) * FNV;
}

static void collect(const struct gsim_lanes *lanes, uint16_t space, struct runners *out) {
    out->n = 0;
    out->sum = GSIM_TEXT_SUM ^ space;
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        const struct gsim_gpu_lane *lane = &lanes->lane[i];
        uint16_t running = gsim_gpu_lane_running(lane);
        if (running == GSIM_NO_MEMBER || lane->spec.space != space)
            continue;
        add(out, i, running, false);
        if (lane->state.padding != GSIM_NO_MEMBER)
            add(out, i, lane->state.padding, true);
    }
}

/* --- sets that were solved -------------------------------------------------------------------- */

static bool is_set(const struct gsim_solved_set *set, uint64_t stamp, uint16_t space,
                   const struct runners *runners) {
    bool is_it = set->n == runners->n && set->space == space && set->stamp == stamp;
    for (uint32_t i = 0; is_it && i < runners->n; i++)
        is_it = set->runner[i].is == runners->runner[i].is;
    return is_it;
}

/* The one place at which a set of this sum is kept. */
static struct gsim_solved_set *place_of(const struct gsim_solved *solved, uint32_t sum) {
    return &solved->set[(sum >> 16 ^ sum) & (solved->n_sets - 1)];
}

/* Without memory a set has no room, and the run ends. */
static bool has_room(struct gsim_arena *arena, struct gsim_solved_set *set, uint32_t n) {
    uint32_t room = set->room > 0 ? set->room : 1;
    while (room < n)
        room *= 2;
    if (room == set->room)
        return true;
    struct gsim_solved_runner *runner =
        gsim_arena_grow(arena, set->runner, set->room * sizeof *runner, room * sizeof *runner);
    if (!runner)
        return false;
    set->runner = runner;
    set->room = room;
    return true;
}

/* More places are there once as many sets were kept; of sets that had other places then, those that
 * run again are solved again. */
static bool has_places(struct gsim_solved *solved, uint32_t n) {
    uint32_t most = GSIM_SOLVED_RUNNERS / n;
    if (solved->n_sets > 0 && (solved->n_kept < solved->n_sets || 2 * solved->n_sets > most))
        return true;
    uint32_t n_sets = solved->n_sets > 0 ? 2 * solved->n_sets : GSIM_SOLVED_SETS;
    struct gsim_solved_set *set = gsim_arena_grow(
        solved->arena, solved->set, solved->n_sets * sizeof *set, n_sets * sizeof *set);
    if (!set)
        return false;
    solved->set = set;
    solved->n_sets = n_sets;
    return true;
}

static void keep(struct gsim_solved *solved, uint16_t space, const struct runners *runners,
                 bool has_crowded_unequals) {
    if (runners->n == 0 || !has_places(solved, runners->n))
        return;
    struct gsim_solved_set *set = place_of(solved, runners->sum);
    if (!has_room(solved->arena, set, runners->n))
        return;
    solved->n_kept++;
    set->stamp = solved->stamp;
    set->n = runners->n;
    set->space = space;
    set->has_crowded_unequals = has_crowded_unequals;
    memcpy(set->runner, runners->runner, runners->n * sizeof *set->runner);
}

/* --- rates ------------------------------------------------------------------------------------ */

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

static struct gsim_holder holder_at(const struct gsim_lanes *lanes, const struct runners *runners,
                                    uint32_t i) {
    const struct gsim_gpu_lane *lane = &lanes->lane[runners->lane[i]];
    const struct gsim_demand *demand =
        &lanes->members[lane->spec.member[lane->state.at]].spec.demand;
    if (!is_padding(&runners->runner[i])) {
        struct gsim_holder holder = holder_of(&lane->how, lane->how.cap_ppm, demand);
        holder.has_steps = true;
        return holder;
    }
    uint32_t left_ppm = gsim_padding_left_ppm(&lane->how, demand);
    return holder_of(&lane->how, left_ppm, &lanes->members[lane->state.padding].spec.demand);
}

/* Whether kernels with different demands crowd the same SMs. */
static bool are_crowded_unequals(const struct gsim_holder *holders, uint32_t n) {
    bool is_crowded = false, is_unequal = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct gsim_holder *holder = &holders[i], *first = &holders[0];
        is_crowded |= holder->memory_sms < holder->wanted;
        is_unequal |= holder->fill_ppm != first->fill_ppm ||
                      holder->memory_ppm != first->memory_ppm ||
                      holder->hbm_bytes_per_s != first->hbm_bytes_per_s;
    }
    return is_crowded && is_unequal;
}

/* Sets the rates of all runners; returns whether kernels with different demands crowd SMs. */
GSIM_APART static bool solve_anew(const struct gsim_space *space, const struct gsim_lanes *lanes,
                                  struct runners *runners) {
    struct gsim_holder holders[RUNNERS_MAX];
    for (uint32_t i = 0; i < runners->n; i++)
        holders[i] = holder_at(lanes, runners, i);
    gsim_space_solve(space, holders, runners->n);
    for (uint32_t i = 0; i < runners->n; i++)
        runners->runner[i].rate_q32 = holders[i].rate_q32;
    return are_crowded_unequals(holders, runners->n);
}

static void solve(const struct gsim_space *spaces, uint16_t space, struct gsim_solved *solved,
                  struct gsim_lanes *lanes, struct runners *runners) {
    const struct gsim_solved_set *set = solved->n_sets > 0 ? place_of(solved, runners->sum) : NULL;
    if (set && is_set(set, solved->stamp, space, runners)) {
        memcpy(runners->runner, set->runner, set->n * sizeof *set->runner);
        lanes->has_crowded_unequals |= set->has_crowded_unequals;
        return;
    }
    bool has_unequals = solve_anew(&spaces[space], lanes, runners);
    lanes->has_crowded_unequals |= has_unequals;
    keep(solved, space, runners, has_unequals);
}

/* A halt that has begun keeps its duration when rates change. */
static void set_rate(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, bool pads,
                     uint64_t rate_q32, int64_t now_ns) {
    uint64_t *rate = pads ? &lane->state.padding_rate_q32 : &lane->state.rate_q32;
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
static struct gsim_shared_sms_kept *kept_of(struct gsim_solved *solved, uint16_t space,
                                            const struct gsim_lanes *lanes) {
    if (lanes->has_shared_blocks && !solved->kept[space])
        solved->kept[space] = gsim_arena_alloc(solved->arena, sizeof *solved->kept[space]);
    return solved->kept[space];
}

/* Whether the contexts of the space share it block by block, which gives them their rates. Else
 * that is so until the owner changes something; what sharing by blocks has left is cleared. */
static bool is_by_blocks(const struct gsim_lane_gpu *gpu, const struct gsim_space *spaces,
                         uint16_t space, struct gsim_solved *solved, struct gsim_lanes *lanes) {
    if (solved->by_rates >> space & 1 && !lanes->has_shared_blocks)
        return false;
    struct gsim_shared_sms_kept *kept = kept_of(solved, space, lanes);
    if (gsim_shared_sms_solve(gpu, &spaces[space], space, lanes, kept))
        return true;
    leave_blocks(gpu, space, lanes);
    solved->by_rates |= 1u << space;
    return false;
}

void gsim_side_by_side_solve(const struct gsim_lane_gpu *gpu, const struct gsim_space *spaces,
                             struct gsim_solved *solved, struct gsim_lanes *lanes) {
    struct runners runners;
    for (uint16_t space = 0; lanes->unsolved >> space; space++) {
        if (!(lanes->unsolved >> space & 1) || is_by_blocks(gpu, spaces, space, solved, lanes))
            continue;
        collect(lanes, space, &runners);
        solve(spaces, space, solved, lanes, &runners);
        for (uint32_t i = 0; i < runners.n; i++)
            set_rate(gpu, &lanes->lane[runners.lane[i]], is_padding(&runners.runner[i]),
                     runners.runner[i].rate_q32, lanes->now_ns);
    }
    lanes->unsolved = 0;
}

void gsim_side_by_side_unsolve(struct gsim_lanes *lanes, uint16_t n_spaces,
                               const struct gsim_gpu_lane *lane) {
    if (n_spaces > 0)
        lanes->unsolved |= 1u << lane->spec.space;
}
