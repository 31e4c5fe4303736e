/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/rounds.h"

/* The least turns of a round: turns without an owner pass unused. */
static uint16_t least_turns(const struct gsim_gpu_lane *lane) {
    return gsim_lane_turns(&lane->how) == GSIM_TURNS_FIXED ? gsim_lane_most_vgpus(&lane->how) : 0;
}

struct gsim_vgpu_grid gsim_round_grid(const struct gsim_gpu_lane *lane) {
    uint16_t n_turns = least_turns(lane);
    return (struct gsim_vgpu_grid){lane->marks.grid_ns, lane->how.quantum_ns,
                                   n_turns > lane->spec.n ? n_turns : lane->spec.n};
}

/* In a strict lane, the turn of a round that it is; *began_ns: since when. */
static int64_t present_turn(const struct gsim_gpu_lane *lane, int64_t now_ns, int64_t *began_ns) {
    struct gsim_vgpu_grid grid = gsim_round_grid(lane);
    int64_t offset_ns = gsim_vgpu_offset_ns(&grid, now_ns);
    *began_ns = now_ns - offset_ns % grid.quantum_ns;
    return offset_ns / grid.quantum_ns;
}

static bool has_turn(const struct gsim_gpu_lane *lane, uint16_t turn) {
    bool has = false;
    for (uint16_t place = 0; place < lane->spec.n; place++)
        has |= lane->spec.turn[place] == turn;
    return has;
}

static uint16_t free_turn(const struct gsim_gpu_lane *lane) {
    uint16_t turn = 0;
    while (has_turn(lane, turn))
        turn++;
    return turn;
}

void gsim_round_join(struct gsim_gpu_lane *lane, int64_t now_ns) {
    int64_t began_ns = now_ns;
    int64_t turn = lane->spec.n > 0 ? present_turn(lane, now_ns, &began_ns) : 0;
    lane->spec.turn[lane->spec.n] = free_turn(lane);
    if (lane->spec.n == 0 || lane->spec.n >= least_turns(lane))
        lane->marks.grid_ns = began_ns - turn * lane->how.quantum_ns;
}

void gsim_round_leave(struct gsim_gpu_lane *lane, uint16_t left, int64_t now_ns) {
    int64_t began_ns;
    int64_t turn = present_turn(lane, now_ns, &began_ns);
    if (lane->spec.n <= least_turns(lane))
        return;
    for (uint16_t i = 0; i < lane->spec.n; i++)
        lane->spec.turn[i] = (uint16_t)(lane->spec.turn[i] - (lane->spec.turn[i] > left));
    lane->marks.grid_ns = (turn == left ? now_ns : began_ns) -
                          (turn > left ? turn - 1 : turn) * lane->how.quantum_ns;
}
