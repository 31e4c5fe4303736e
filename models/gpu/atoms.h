/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels of lanes that run as atoms (include/gsim/arrangement.h): which of their blocks, and which
 * SMs, the next atom has. An atom has whole waves of blocks, as many as its time holds and at least
 * one: a wave that was cut would leave SMs idle, and take as long. The next atom of a kernel begins
 * when the last one has ended, as launches of one stream do (launch.between_ns).
 *
 * The SMs of an atom are chosen in steps of mps.sms, which is a TPC of the hardware. */
#ifndef GSIM_MODELS_GPU_ATOMS_H
#define GSIM_MODELS_GPU_ATOMS_H

#include "models/gpu/lanes.h"

/* A kernel of a lane with atoms on its way to the SMs. */
struct gsim_atom {
    struct gsim_sm_kernel *kernel; /* whole; answered as its atom, which may have no SMs yet */
    gsim_work *end; /* of the kernel, as work of its iteration; answered as that of the atom */
    uint16_t lane;
    struct gsim_sm_needs needs;
    struct gsim_sm_set only; /* answered: the SMs that it may use now */
};

/* Gives the kernels of a space, one a lane at most, their atoms at lanes->now_ns. */
void gsim_atoms_choose(const struct gsim_space *space, uint16_t number, struct gsim_lanes *lanes,
                       struct gsim_atom *atoms, uint32_t n);

#endif
