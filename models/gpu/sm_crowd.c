/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much longer kernels compute on SMs where other blocks are than they have alone. Each quarter
 * of an SM issues one instruction at a time, of the oldest warp that has one ready, and has one
 * tensor core: so blocks that came before take the slots that they take alone, and a younger block
 * has the rest. Where the older take a part o of them, each instruction of a younger warp finds
 * its slot taken with that chance, and waits for o / (1 - o) slots in the mean; a warp that alone
 * takes a part w of the slots is longer by w times that. And a kernel that takes a part v of them
 * alone is longer by v / (1 - o) at least. What it is longer by for instructions and for tensor
 * cores is summed up. Older kernels lose nothing (measured: 0 to 30 %; experiments/issue). Blocks
 * of the kernel itself count where an SM has more of them than alone. Integers only. */
#include "models/gpu/sm_array.h"
#include "sim/base/wide.h"

enum pipe { ISSUE = 0, TENSOR, PIPES };

/* SMs beside each other that have as many blocks of each kernel, and the parts of the slots of each
 * of them that are taken, by kernels up to now: those of each pipe in 32 bits of one number, so
 * that both are compared and added at once. */
struct area {
    uint8_t first, n;
    uint64_t taken_ppms;
};

struct areas {
    struct area area[GSIM_ARRAY_SMS_MAX];
    uint32_t n;
};

enum { BITS_OF_PIPE = 32 };

static uint32_t ppm_of(uint64_t ppms, enum pipe pipe) {
    return (uint32_t)(ppms >> BITS_OF_PIPE * pipe);
}

/* --- order ------------------------------------------------------------------------------------ */

/* Kernels that take slots of SMs, the oldest first. */
struct line {
    uint16_t number[GSIM_ARRAY_KERNELS_MAX];
    uint32_t n;
};

static bool takes_slots(const struct gsim_sm_kernel *kernel) {
    return kernel->held->n > 0 && kernel->busy.issue_ppm + kernel->busy.tensor_ppm > 0;
}

/* Those of one instant go by their order. */
static void join(struct line *line, const struct gsim_sm_kernel *kernels, uint16_t number) {
    uint32_t at = line->n++;
    for (; at > 0 && gsim_sm_kernel_is_older(&kernels[number], &kernels[line->number[at - 1]]);
         at--)
        line->number[at] = line->number[at - 1];
    line->number[at] = number;
}

/* --- one kernel on one SM --------------------------------------------------------------------- */

/* What the kernel takes of an SM with its blocks of alone, each of its warps, and what all of its
 * blocks there want. */
struct want {
    int64_t alone_ppm, warp_ppm, all_ppm;
};

static struct want want_of(const struct gsim_sm_kernel *kernel, enum pipe pipe, int64_t blocks) {
    enum { WARP = 32, QUARTERS = 4 };
    const struct gsim_sm_alone *alone = &kernel->alone;
    int64_t alone_ppm = pipe == ISSUE ? kernel->busy.issue_ppm : kernel->busy.tensor_ppm;
    int64_t warps = alone->per_sm * alone->need.threads / (WARP * QUARTERS);
    return (struct want){alone_ppm, alone_ppm / (warps > 1 ? warps : 1),
                         alone_ppm * blocks / alone->per_sm};
}

/* Times as long. Of blocks that the kernel has here beyond those alone half are older, in the mean,
 * and have at most half of the free slots. */
static uint64_t longer_q32(const struct want *want, int64_t taken_ppm) {
    bool has_all = want->all_ppm <= want->alone_ppm && want->all_ppm <= GSIM_PPM;
    if (want->alone_ppm == 0 || (taken_ppm == 0 && has_all)) /* most kernels */
        return GSIM_RATE_ONE;
    int64_t free_ppm = GSIM_PPM - taken_ppm;
    int64_t own_ppm = want->all_ppm > want->alone_ppm ? (want->all_ppm - want->alone_ppm) / 2 : 0;
    int64_t older_ppm = taken_ppm + (own_ppm < free_ppm / 2 ? own_ppm : free_ppm / 2);
    uint64_t waits = ((uint64_t)want->warp_ppm << 32) / (uint64_t)GSIM_PPM;
    waits = (uint64_t)((gsim_u128)waits * (uint64_t)older_ppm / (uint64_t)(GSIM_PPM - older_ppm));
    uint64_t least = ((uint64_t)want->all_ppm << 32) / (uint64_t)free_ppm;
    return least > GSIM_RATE_ONE + waits ? least : GSIM_RATE_ONE + waits;
}

/* --- all SMs of one kernel -------------------------------------------------------------------- */

/* How the kernel's blocks are on one SM, and what was taken there before. */
struct spot {
    uint8_t blocks;
    uint64_t before_ppms, takes_ppms; /* as in struct area */
    uint64_t longer_q32;
    uint64_t done_q32; /* by its blocks here, in the time that one takes alone */
};

/* What it does or takes in the time that it takes alone. */
static uint64_t in_time(int64_t all, uint64_t longer_q32) {
    if (longer_q32 == GSIM_RATE_ONE)
        return (uint64_t)all;
    return (uint64_t)(((gsim_u128)(uint64_t)all << 32) / longer_q32);
}

/* What older kernels leave of an SM is never nothing. */
static struct spot look_at(const struct gsim_sm_kernel *kernel, uint64_t before_ppms,
                           uint8_t blocks) {
    struct spot out = {.blocks = blocks, .before_ppms = before_ppms, .longer_q32 = GSIM_RATE_ONE};
    struct want want[PIPES];
    for (int pipe = 0; pipe < PIPES; pipe++) {
        want[pipe] = want_of(kernel, (enum pipe)pipe, blocks);
        out.longer_q32 +=
            longer_q32(&want[pipe], ppm_of(before_ppms, (enum pipe)pipe)) - GSIM_RATE_ONE;
    }
    for (int pipe = 0; pipe < PIPES; pipe++) {
        uint64_t takes = in_time(want[pipe].all_ppm, out.longer_q32);
        uint32_t most = (uint32_t)GSIM_PPM - 1 - ppm_of(before_ppms, (enum pipe)pipe);
        out.takes_ppms |= (uint64_t)(takes < most ? (uint32_t)takes : most) << BITS_OF_PIPE * pipe;
    }
    out.done_q32 = in_time((int64_t)blocks << 32, out.longer_q32);
    return out;
}

/* A kernel of which all blocks are there is over with the slowest of them; else blocks follow where
 * others end. */
static uint64_t crowd(const struct gsim_sm_kernel *kernel, struct areas *areas) {
    const struct gsim_sm_held *held = kernel->held;
    struct spot spot = {.blocks = 0};
    uint64_t all = 0, most = GSIM_RATE_ONE;
    for (uint32_t i = 0; i < areas->n; i++) {
        struct area *area = &areas->area[i];
        uint8_t blocks = held->blocks[area->first];
        if (blocks == 0)
            continue;
        if (blocks != spot.blocks || area->taken_ppms != spot.before_ppms) {
            spot = look_at(kernel, area->taken_ppms, blocks);
            most = spot.longer_q32 > most ? spot.longer_q32 : most;
        }
        area->taken_ppms += spot.takes_ppms;
        all += spot.done_q32 * area->n;
    }
    if (held->pace >= gsim_sm_kernel_blocks(kernel) || all == 0)
        return most;
    return (uint64_t)(((gsim_u128)held->n << 64) / all);
}

static void find_areas(const struct gsim_sm_kernel *kernels, const struct line *line, int64_t sms,
                       struct areas *out) {
    out->n = 0;
    for (int64_t sm = 0, next; sm < sms; sm = next) {
        next = sms;
        for (uint32_t i = 0; i < line->n; i++)
            next = gsim_sm_end_of_run(kernels[line->number[i]].held->blocks, sm, next);
        out->area[out->n++] = (struct area){(uint8_t)sm, (uint8_t)(next - sm), 0};
    }
}

void gsim_sm_crowd_find(const struct gsim_space *space, struct gsim_sm_kernel *kernels,
                        uint32_t n) {
    struct areas areas;
    struct line line;
    line.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        kernels[i].crowded_q32 = GSIM_RATE_ONE;
        if (takes_slots(&kernels[i]))
            join(&line, kernels, (uint16_t)i);
    }
    if (line.n > 0)
        find_areas(kernels, &line, space->sms, &areas);
    for (uint32_t i = 0; i < line.n; i++) {
        uint16_t number = line.number[i];
        uint64_t longer = crowd(&kernels[number], &areas);
        kernels[number].crowded_q32 = longer > GSIM_RATE_ONE ? longer : GSIM_RATE_ONE;
    }
}
