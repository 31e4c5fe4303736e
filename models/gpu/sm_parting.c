/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How an SM parts its memory into L1 and shared memory. The driver parts an empty SM for the kernel
 * of which a block begins there: for twice as many blocks as the SM can hold, up to 132 KiB; where
 * that is less than all of these blocks have, where an SM holds one block, or blocks are of 1024
 * threads, for as many as it holds; for a kernel without shared memory 4 KiB for each block that
 * the threads of an SM allow, up to 32 KiB. An SM that others leave while a kernel waits is parted
 * for it as far as can be; for one block an SM, or 1024 threads, it stays as it was if that is
 * enough. Others may begin there if the SM has as much as all of their blocks that it could hold,
 * and room is left. The blocks that an SM holds are by threads, registers, shared memory and slots;
 * grids do not count. From 100 KiB of shared memory on L1 is the smallest. A library may ask for
 * another part; then the program says so. All this was measured on one H200
 * (experiments/parted). */
#include "models/gpu/sm_array.h"

enum {
    KIB = 1024,
    TWICE_UP_TO_KIB = 132,
    WITHOUT_EACH_KIB = 4,
    WITHOUT_MOST_KIB = 32,
    LITTLE_L1_FROM_KIB = 100
};

/* An SM has those below all that it can have, and this (CUDA C++ programming guide, shared memory
 * of compute capabilities 7.0 to 9.0). */
static const int64_t steps_kib[] = {8, 16, 32, 64, 100, 132, 164, 196};

int64_t gsim_sm_parting_bytes(int64_t most_bytes, uint8_t parting) {
    enum { STEPS = sizeof steps_kib / sizeof *steps_kib };
    bool is_step = parting > 0 && parting <= STEPS && steps_kib[parting - 1] * KIB < most_bytes;
    return is_step ? steps_kib[parting - 1] * KIB : most_bytes;
}

/* The first with as much, or the last. */
static uint8_t parting_of(int64_t most_bytes, int64_t bytes) {
    uint8_t parting = 1;
    while (gsim_sm_parting_bytes(most_bytes, parting) < bytes &&
           gsim_sm_parting_bytes(most_bytes, parting) < most_bytes)
        parting++;
    return parting;
}

static int64_t at_most(int64_t value, int64_t most) {
    return value < most ? value : most;
}

/* The driver gives others room for twice their blocks. */
static bool has_no_more_than_it_holds(const struct gsim_sm_alone *alone) {
    enum { MOST_THREADS = 1024 };
    return alone->per_sm == 1 || alone->need.threads >= MOST_THREADS;
}

/* What the driver has an empty SM have for the kernel. */
static int64_t wanted(const struct gsim_sm_room *sm, const struct gsim_sm_kernel *kernel,
                      const struct gsim_sm_alone *alone) {
    int64_t all = alone->per_sm * alone->need.shared_bytes;
    int64_t twice = at_most(2 * alone->per_sm, sm->blocks) * alone->need.shared_bytes;
    if (alone->per_sm > 1 && kernel->shared_bytes == 0) {
        int64_t blocks = at_most(sm->threads / alone->need.threads, sm->blocks);
        return at_most(blocks * WITHOUT_EACH_KIB, WITHOUT_MOST_KIB) * KIB;
    }
    twice = at_most(twice, (int64_t)TWICE_UP_TO_KIB * KIB);
    return has_no_more_than_it_holds(alone) || twice < all ? all : twice;
}

void gsim_sm_part(const struct gsim_sm_room *sm, const struct gsim_sm_kernel *kernel,
                  struct gsim_sm_alone *alone) {
    alone->parting = alone->parting_after_wait = alone->least_parting = 0;
    if (kernel->is_whole)
        return;
    int64_t bytes = kernel->parted_bytes > 0 ? kernel->parted_bytes : wanted(sm, kernel, alone);
    alone->least_parting = parting_of(sm->shared_bytes, alone->per_sm * alone->need.shared_bytes);
    alone->parting = parting_of(sm->shared_bytes, bytes);
    if (alone->parting < alone->least_parting)
        alone->parting = alone->least_parting;
    if (!has_no_more_than_it_holds(alone))
        alone->parting_after_wait = parting_of(sm->shared_bytes, sm->shared_bytes);
}

uint8_t gsim_sm_parting_of_little_l1(int64_t most_bytes) {
    enum { NONE = UINT8_MAX };
    int64_t from_bytes = (int64_t)LITTLE_L1_FROM_KIB * KIB;
    return most_bytes < from_bytes ? NONE : parting_of(most_bytes, from_bytes);
}
