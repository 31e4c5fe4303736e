/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The blocks of kernels on the SMs of one space, as the hardware serves kernels of processes that
 * share it (MPS): the oldest kernel first, and the next one only when all blocks of the kernels
 * before it are on SMs. A block goes where threads, registers, shared memory and a place for it are
 * left. So a kernel that fills the GPU keeps later kernels away until its last blocks have begun,
 * and a kernel that leaves room lets them run beside it.
 *
 * Kernels of a higher rank (streams' priorities) go before all of a lower one. Blocks on SMs stay
 * to their end; a kernel that gets no more blocks meanwhile leaves its SMs as its blocks end,
 * within the time of one of them, and goes on later with those that have not begun. If these are
 * whole waves, they go on as a kernel of their own, and take as long as they would alone where all
 * that fit find room.
 *
 * Each process with a cap has a queue of its own, and so have all processes of one range of SMs
 * together: their kernels wait for room on their SMs only. A kernel may be bound to its SMs: of SMs
 * that are taken away from it, its blocks leave as they end, and further ones begin on the others.
 *
 * An SM parts one memory into L1 and shared memory, anew only while no block is there: so a kernel
 * waits for an empty SM where those that are not have been parted for kernels with less shared
 * memory, and has the smallest L1 where they have been for kernels with more.
 *
 * An atom is a range of the blocks of a kernel, served as a kernel of these blocks; its speed
 * is still that of its kernel's blocks alone.
 *
 * A kernel with part of the blocks on SMs that it has alone runs at that part of its speed; of the
 * part of its time that is bound by memory, at that part of the bandwidth. What it waits for longer
 * than alone when it begins makes its whole time longer. Free of time: the owner
 * says how much of each kernel is left, and asks again at the answers' `look`. Integers only. */
#ifndef GSIM_MODELS_GPU_SM_ARRAY_H
#define GSIM_MODELS_GPU_SM_ARRAY_H

#include "models/gpu/sm_kernel.h"
#include "models/gpu/space.h"

struct gsim_sm_last;
/* Puts blocks on SMs and finds all rates. scratch: a place for an order of n kernels. last: the
 * rates that were found last; NULL: they are not kept. */
void gsim_sm_array_solve(const struct gsim_space *space, struct gsim_sm_kernel *kernels,
                         uint16_t *scratch, uint32_t n, struct gsim_sm_last *last);
struct gsim_sm_room gsim_sm_room(const struct gsim_profile *profile);
/* threads above 0; in the steps in which an SM gives it out, so maybe more than it has. */
struct gsim_sm_room gsim_sm_room_of_block(const struct gsim_profile *profile, int64_t threads,
                                          int64_t register_bytes, int64_t shared_bytes);
/* Blocks like that which an SM holds at one time; at least one. */
int64_t gsim_sm_array_per_sm(const struct gsim_profile *profile, int64_t threads,
                             int64_t register_bytes, int64_t shared_bytes);
struct gsim_sm_room gsim_sm_room_of_kernel(const struct gsim_profile *profile,
                                           const struct gsim_sm_kernel *kernel);
/* What a kernel needs to be at most a part longer than alone. */
struct gsim_sm_needs {
    int64_t sms; /* the fewest; no more than it fills alone */
    int64_t in_flight; /* the blocks that SMs hold at one time when it has the device alone */
};
struct gsim_sm_needs gsim_sm_array_needs(const struct gsim_space *space,
                                         const struct gsim_sm_kernel *kernel, uint32_t slip_ppm);
/* How many blocks that need this much fit in the free room. */
int64_t gsim_sm_room_fit(const struct gsim_sm_room *free, const struct gsim_sm_room *need);
/* The SMs that a cap leaves of `sms`, in the steps in which a device counts them. */
int64_t gsim_sm_array_width(const struct gsim_profile *profile, int64_t sms, uint32_t cap_ppm);
/* The SMs of the largest group within this part of the device's, as green contexts have them; at
 * least those of the smallest group there is. */
int64_t gsim_sm_array_group(const struct gsim_profile *profile, uint32_t part_ppm);

/* --- pieces (models/gpu/sm_pieces.c) --- */

/* The kernel comes, and all of its blocks wait. */
static inline void gsim_sm_pieces_begin(struct gsim_sm_kernel *kernel) {
    kernel->held->begun.left = kernel->left;
    kernel->held->begun.waiting = (uint32_t)kernel->blocks;
}
/* Blocks that have waited are on SMs now, beside those of all pieces. */
void gsim_sm_pieces_add(struct gsim_sm_kernel *kernel);
/* Blocks that have done their work leave their SMs. */
void gsim_sm_pieces_go_on(struct gsim_sm_kernel *kernel);
/* The rest of the kernel at which the next piece ends; 0: at its end. */
gsim_work gsim_sm_pieces_look(const struct gsim_sm_kernel *kernel);

/* --- rates (models/gpu/sm_rates.c) --- */

/* About every second time that kernels are looked at, the blocks of a waiting kernel or the work
 * that is left have changed, and no rate: the kernels that run are those of last time, with as many
 * blocks. So the rates found last are kept with all that decides them; and of each kernel how fast
 * it would be without loads of others, since mostly one of several has changed. */

struct gsim_sm_alone gsim_sm_alone_of(const struct gsim_space *space,
                                      const struct gsim_sm_kernel *kernel);
/* For a kernel that is looked at again; what a whole one fills is told by its job. */
static inline void gsim_sm_kernel_know_alone(const struct gsim_space *space,
                                             struct gsim_sm_kernel *kernel) {
    if (!kernel->is_whole)
        kernel->alone = gsim_sm_alone_of(space, kernel);
    kernel->is_alone_known = !kernel->is_whole;
}

/* All that decides the rate of a kernel beside others, and nothing else; of equal ones each byte is
 * equal. */
struct gsim_sm_asked {
    int64_t blocks, threads, register_bytes, shared_bytes; /* blocks: of the whole kernel */
    int64_t hbm_bytes_per_s, power_uw, memory_uw;
    uint64_t crowded_q32;
    int64_t ns; /* its time, where it begins with loads that L2 does not have; else 0 */
    uint32_t memory_ppm, loads_ppm, clock_ppm, lowers_ppm;
    struct gsim_first_loads first_loads;
    uint32_t small_l1_ppm;
    uint32_t on_small_l1, n_held; /* blocks, where L1 makes it longer; else 0 */
    uint32_t rest_blocks; /* that it had when it had left its SMs; else 0 */
    uint16_t n_sms, pace;
    uint8_t is_whole;
    uint8_t unused[3];
};

/* Kernels of which rates are kept: more at one time are rare, and solved each time. */
enum { GSIM_SM_LAST_MOST = 16 };

/* The kernels that ran in a space last, and their answers. */
struct gsim_sm_last {
    struct gsim_space space;
    uint32_t n; /* 0: none */
    struct gsim_sm_asked asked[GSIM_SM_LAST_MOST];
    struct gsim_sm_stretch stretch[GSIM_SM_LAST_MOST]; /* without loads of others */
    uint64_t rate_q32[GSIM_SM_LAST_MOST];
    struct gsim_sm_losses lost[GSIM_SM_LAST_MOST];
};

/* --- how SMs are parted (models/gpu/sm_parting.c) --- */

/* Partings have numbers: 1 leaves least of an SM's memory as shared memory; 0 is not known. */
int64_t gsim_sm_parting_bytes(int64_t most_bytes, uint8_t parting);
/* The first that leaves the smallest L1, as all after it do. */
uint8_t gsim_sm_parting_of_little_l1(int64_t most_bytes);
/* Sets both partings of the kernel, of which an SM holds alone->per_sm blocks. */
void gsim_sm_part(const struct gsim_sm_room *sm, const struct gsim_sm_kernel *kernel,
                  struct gsim_sm_alone *alone);

/* Sets crowded_q32 of all kernels, by those that have blocks on SMs (models/gpu/sm_crowd.c). */
void gsim_sm_crowd_find(const struct gsim_space *space, struct gsim_sm_kernel *kernels, uint32_t n);
/* Finds the rates and losses of all kernels. last: of this space, NULL: nothing is kept. */
void gsim_sm_rates_find(const struct gsim_space *space, struct gsim_sm_kernel *kernels, uint32_t n,
                        struct gsim_sm_last *last);

#endif
