/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a kernel of a lane with a gate may begin, where kernels go to SMs block by block: the rules
 * of include/gsim/arrangement.h. A scheduler in software holds launches back so; what it costs on
 * the host is not modelled. */
#ifndef GSIM_MODELS_GPU_GATE_H
#define GSIM_MODELS_GPU_GATE_H

#include "models/gpu/lanes.h"
#include "sim/base/hints.h"

/* What a member's kernel of this number needs of SMs, without what it draws of power; one of which
 * only the time is known fills its part of them, and is whole. */
static inline struct gsim_sm_kernel
gsim_gate_shape(const struct gsim_space *space, const struct gsim_member *member, int64_t number) {
    const struct gsim_program *program = member->context.spec.program;
    const struct gsim_program_kernel *kernel = program ? &program->kernels[number] : NULL;
    const struct gsim_demand *demand = &member->spec.demand;
    struct gsim_sm_kernel out = {.blocks = 1, .threads = 1, .is_whole = true};
    out.memory_ppm = kernel ? kernel->memory_ppm : demand->memory_ppm;
    out.loads_ppm = kernel ? kernel->loads_ppm : demand->loads_ppm;
    out.hbm_bytes_per_s = kernel ? kernel->hbm_bytes_per_s : demand->hbm_bytes_per_s;
    if (kernel) {
        out.small_l1_ppm = kernel->small_l1_ppm;
        out.busy = kernel->busy;
        out.parted_bytes = kernel->parted_bytes;
        out.spreads = kernel->spreads;
        out.is_alike = kernel->is_alike;
    }
    if (!kernel || kernel->blocks == 0 || kernel->threads == 0) {
        int64_t sms = space->profile->value[GSIM_KEY_SMS];
        int64_t part = gsim_muldiv_ceil(sms, demand->fill_ppm, GSIM_PPM);
        out.blocks = part > 0 ? part : 1;
        return out;
    }
    out.is_whole = false;
    out.blocks = kernel->blocks;
    out.threads = kernel->threads;
    out.register_bytes = kernel->register_bytes;
    out.shared_bytes = kernel->shared_bytes;
    return out;
}

/* Whether the lane's kernel of this number may begin at lanes->now_ns. The kernel is the present
 * one of the running member. */
bool gsim_gate_admits(const struct gsim_space *space, struct gsim_lanes *lanes, uint16_t number,
                      int64_t kernel);
/* Lets one kernel more of the lane begin, from its kernel of this number on, where gates are asked
 * by turns. */
bool gsim_gate_lets_one(const struct gsim_space *space, struct gsim_lanes *lanes, uint16_t number,
                        int64_t kernel);
/* A lane that has its space to itself does not ask: if its kernels run, they are the last that
 * began there, for when others come, or it leaves. */
void gsim_gate_note_lone(struct gsim_lanes *lanes, uint16_t number);
/* The lane has made a step. */
static inline void gsim_gate_follow(struct gsim_lanes *lanes, uint16_t number) {
    if (gsim_rarely(gsim_gpu_lane_is_gated(&lanes->lane[number])))
        gsim_gate_note_lone(lanes, number);
}
/* A job has come to this lane: of lanes of a lower rank, the kernels that were let begin count
 * where they have not ended, at lanes->now_ns, and no other one does. */
void gsim_gate_look_at_newcomer(struct gsim_lanes *lanes, uint16_t number);
/* When a lane of GSIM_GATE_APART asks next, though no kernel ends: its host launches a kernel
 * behind those that were let begin. GSIM_NEVER: it does not. */
int64_t gsim_gate_asks_ns(struct gsim_lanes *lanes, uint16_t number);
/* What a gate allows of a kernel of its lane that may begin, or has begun. */
enum gsim_gate_way {
    GSIM_GATE_FREE = 0,
    GSIM_GATE_STOPPED, /* blocks that have not begun have to wait now */
    GSIM_GATE_RUNS_OUT, /* its blocks go before all others */
};
enum gsim_gate_way gsim_gate_way(const struct gsim_lanes *lanes, uint16_t number, int64_t kernel);
/* Notes in a lane of GSIM_GATE_IDLE whether kernels of a higher rank are launched, at
 * lanes->now_ns. Returns whether times->opens_ns of the lane has changed. */
bool gsim_gate_look(struct gsim_lanes *lanes, uint16_t lane);

#endif
