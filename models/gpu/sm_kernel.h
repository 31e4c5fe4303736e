/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel on the SMs of a space: the needs of its blocks, its blocks on SMs, and the answers about
 * it, by the rules of models/gpu/sm_array.h. */
#ifndef GSIM_MODELS_GPU_SM_KERNEL_H
#define GSIM_MODELS_GPU_SM_KERNEL_H

#include <string.h>

#include "models/gpu/first_loads.h"
#include "sim/api/app.h"

/* SMs of a device; a larger one shares by rates only. Kernels at one time: lanes of a GPU. */
enum { GSIM_ARRAY_SMS_MAX = 192, GSIM_ARRAY_KERNELS_MAX = 256 };

/* The room on an SM, or the room that a block takes there. */
struct gsim_sm_room {
    int64_t threads, register_bytes, shared_bytes, blocks;
};

/* SMs of a space. */
struct gsim_sm_set {
    uint64_t word[GSIM_ARRAY_SMS_MAX / 64];
};

static inline int64_t gsim_sm_set_count(const struct gsim_sm_set *set) {
    int64_t n = 0;
    for (int w = 0; w < GSIM_ARRAY_SMS_MAX / 64; w++)
        n += __builtin_popcountll(set->word[w]);
    return n;
}

static inline void gsim_sm_set_add(struct gsim_sm_set *set, int64_t sm) {
    set->word[sm / 64] |= UINT64_C(1) << (sm % 64);
}

static inline bool gsim_sm_set_has(const struct gsim_sm_set *set, int64_t sm) {
    return set->word[sm / 64] >> (sm % 64) & 1;
}

/* Of eight bytes as they lie in memory: those from this one on; and which is the first that is not
 * 0, where one is. */
static inline uint64_t gsim_sm_eight_from(uint64_t eight, int64_t from) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return eight & UINT64_MAX << 8 * from;
#else
    return eight & UINT64_MAX >> 8 * from;
#endif
}
static inline int64_t gsim_sm_first_of_eight(uint64_t eight) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return __builtin_ctzll(eight) / 8;
#else
    return __builtin_clzll(eight) / 8;
#endif
}

/* The end of the SMs from this one on that have as much as it has; a byte for each SM of the
 * largest space. */
static inline int64_t gsim_sm_end_of_run(const uint8_t *has, int64_t sm, int64_t end) {
    enum { EIGHT = 8 };
    uint64_t alike = has[sm] * UINT64_C(0x0101010101010101), eight;
    int64_t at = sm / EIGHT * EIGHT;
    memcpy(&eight, &has[at], sizeof eight);
    uint64_t unlike = gsim_sm_eight_from(eight ^ alike, sm - at);
    while (unlike == 0) {
        at += EIGHT;
        if (at >= end)
            return end;
        memcpy(&eight, &has[at], sizeof eight);
        unlike = eight ^ alike;
    }
    at += gsim_sm_first_of_eight(unlike);
    return at < end ? at : end;
}

/* The blocks of a kernel that need an SM each, where not all of these were idle as it began: pieces
 * of it that began together, and end together. One more than are told apart is there while it is
 * joined. */
enum { GSIM_SM_PIECES_MOST = 8, GSIM_SM_PIECES_ROOM };
struct gsim_sm_pieces {
    uint32_t n;
    uint32_t waiting; /* blocks that have not begun */
    struct gsim_sm_set on[GSIM_SM_PIECES_ROOM]; /* a block on each */
    gsim_work rest[GSIM_SM_PIECES_ROOM]; /* of each of their blocks, of the kernel's work */
    gsim_work left; /* the rest of the kernel that all of this holds for; 0: it has no pieces */
};

/* What a kernel puts on the SMs of its lane; part of the lane's state. */
struct gsim_sm_held {
    uint8_t blocks[GSIM_ARRAY_SMS_MAX]; /* by SM of the space */
    uint32_t n; /* of all SMs */
    uint16_t pace; /* the blocks that decide its speed: n until its last blocks have begun */
    uint16_t some_ended; /* 1: a block has ended; 0: none has */
    /* How its SMs are parted; of a kernel that waits, those that are not empty; else 0. */
    uint8_t parting[GSIM_ARRAY_SMS_MAX];
    uint16_t sees_parting; /* 1: some of these is not 0 */
    int64_t leaving; /* blocks that leave at a time, since no more of them may begin; 0: none */
    int64_t step; /* blocks that begin and end together; 0: none has ended; -1: they do not */
    gsim_work leaves_at; /* leaving: the rest of the kernel at which the next of them do */
    /* The blocks and the work that were left when all of a wave left their SMs, and no block of the
     * next one might begin: from then on these are the kernel. 0 blocks: all of it are. */
    int64_t rest_blocks;
    gsim_work rest_work;
    struct gsim_sm_pieces begun;
};

/* What a kernel loses of its time here: parts in ppm, without a lower clock. */
struct gsim_sm_losses {
    uint32_t sms_ppm; /* since it has fewer SMs than alone */
    uint32_t bandwidth_ppm; /* since others use memory at the same time, and L2 before */
};

/* A kernel that has the device alone. */
struct gsim_sm_alone {
    struct gsim_sm_room need; /* of a block */
    int64_t per_sm; /* blocks that an SM holds */
    int64_t at_once; /* blocks that all SMs hold */
    /* How an empty SM is parted for it, one that others have left while it waited (0: that stays as
     * it is where it may), and the least that others may be for it to begin there; of a whole
     * kernel, 0: nothing is beside it. */
    uint8_t parting, parting_after_wait, least_parting;
};

/* How many times longer than alone each part of the kernel's time takes; what it draws on its SMs,
 * and the bytes that are on their way to it while it waits for them, in those of an SM. */
struct gsim_sm_stretch {
    gsim_u128 compute_q32, memory_q32;
    uint64_t begins_q32; /* the longer wait when it begins, in times alone */
    int64_t draws_bytes_per_s, under_way;
};

/* A kernel that runs or waits. */
struct gsim_sm_kernel {
    int64_t blocks, threads; /* above 0; threads of one block */
    int64_t whole_blocks; /* of the kernel of which it is an atom; 0: it is whole */
    int64_t register_bytes, shared_bytes; /* of one block */
    bool spreads; /* its work is launched as no more blocks than its SMs hold */
    bool is_alike; /* its blocks all do as much: those that begin together end together */
    /* a kernel of which only the time is known: it lets none run beside its blocks */
    bool is_whole;
    uint32_t memory_ppm; /* part of its time alone that is bound by memory */
    int64_t hbm_bytes_per_s; /* drawn alone; 0: as much as memory_ppm says */
    uint32_t loads_ppm; /* the part of it that loads alone move; the rest is half stored */
    /* The clock that its time alone holds for, of the highest one, and the power that it draws
     * beyond idle at the highest clock at its rate alone; 0: not known. Apart from it the power of
     * memory for its bytes, which has a clock of its own. */
    uint32_t clock_ppm;
    int64_t power_uw, memory_uw;
    /* By which the highest clock is lower while the kernel runs, for all kernels on the GPU; the
     * three above are then by that lower one. */
    uint32_t lowers_ppm;
    struct gsim_first_loads first_loads; /* of a whole kernel that begins */
    int64_t parted_bytes; /* shared memory that it has an empty SM have; 0: as the driver chooses */
    uint32_t small_l1_ppm; /* by which it is longer on SMs with the smallest L1 */
    struct gsim_app_busy busy; /* an SM with its blocks */
    gsim_work all, left; /* its work, and the rest of it; above 0 */
    int64_t arrived_ns; /* when it could begin */
    uint8_t let_nth; /* of one instant the least goes first, then by their order here */
    uint16_t first_sm, n_sms; /* the SMs that it may use */
    /* A client's with a cap: any SMs of the space, as many as that, and those first. */
    bool is_pooled;
    bool may_begin_apart; /* where a block needs an SM: in pieces, each for all of the time alone */
    /* Of these; NULL: all of them. Its blocks on others leave as they end; without a set they have
     * successors there. */
    const struct gsim_sm_set *only;
    /* It has a queue of its own. Without that it has one with all kernels that may use its SMs, and
     * no others. */
    bool has_queue;
    uint16_t rank; /* a kernel of a higher rank goes before it */
    bool is_stopped; /* none of its blocks may begin now */
    bool ran_alone; /* it has begun, where no other kernel was beside it: its blocks are on SMs */
    struct gsim_sm_held *held;
    /* Found where it has blocks on SMs, or is served, unless the owner knows it. */
    struct gsim_sm_alone alone;
    bool is_alone_known;
    int64_t places; /* for blocks in all its waves alone; found with its blocks */
    /* Times as long as alone it computes, since older blocks go first on its SMs; found with its
     * blocks. */
    uint64_t crowded_q32;
    uint32_t on_small_l1; /* its blocks on SMs where L1 makes it longer; found with its blocks */
    struct gsim_sm_stretch undisturbed,
        here; /* found with its rate: without loads of others, and with */

    /* Answers. */
    uint64_t rate_q32; /* of its rate alone; 0: it waits */
    gsim_work look; /* its rest at which it is to be asked for again; 0: at its end */
    struct gsim_sm_losses lost;
};

/* Of the kernel, or of what was left of it when it had left its SMs. */
static inline int64_t gsim_sm_kernel_blocks(const struct gsim_sm_kernel *kernel) {
    return kernel->held->rest_blocks > 0 ? kernel->held->rest_blocks : kernel->blocks;
}
static inline gsim_work gsim_sm_kernel_work(const struct gsim_sm_kernel *kernel) {
    return kernel->held->rest_blocks > 0 ? kernel->held->rest_work : kernel->all;
}
static inline bool gsim_sm_kernel_is_older(const struct gsim_sm_kernel *one,
                                           const struct gsim_sm_kernel *other) {
    return one->arrived_ns != other->arrived_ns ? one->arrived_ns < other->arrived_ns
                                                : one->let_nth < other->let_nth;
}
/* The order in which kernels are served. */
static inline bool gsim_sm_kernel_goes_before(const struct gsim_sm_kernel *one,
                                              const struct gsim_sm_kernel *other) {
    return one->rank != other->rank ? one->rank > other->rank : gsim_sm_kernel_is_older(one, other);
}
static inline void gsim_sm_held_clear(struct gsim_sm_held *held) {
    if (held->n > 0 || held->pace > 0 || held->some_ended > 0 || held->leaving > 0 ||
        held->sees_parting > 0 || held->rest_blocks > 0 || held->begun.left > 0)
        memset(held, 0, sizeof *held);
}

#endif
