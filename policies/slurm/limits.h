/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of QOS and associations on jobs that run. */
#ifndef GSIM_POLICIES_SLURM_LIMITS_H
#define GSIM_POLICIES_SLURM_LIMITS_H

#include "policies/slurm/state.h"

/* The QOS of the job and of its partition, the first of which the other gives way to; returns how
 * many. */
int gsim_slurm_limits_qos(const struct gsim_slurm_state *state, const struct gsim_slurm_job *job,
                          uint32_t out[2]);
enum gsim_status gsim_slurm_limits_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx);
/* Limits on numbers of jobs, and on what jobs have: Slurm asks these when a job has got nodes. */
enum gsim_slurm_limits_part {
    GSIM_SLURM_ALL_LIMITS,
    GSIM_SLURM_LIMITS_OF_JOBS,
    GSIM_SLURM_LIMITS_OF_TRES
};
/* Whether these limits let the job start now. */
bool gsim_slurm_limits_let(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                           gsim_slot slot, enum gsim_slurm_limits_part part);
/* Whether fewer tasks of the job's array run than may at once (sbatch --array=1-100%5). */
bool gsim_slurm_limits_let_array(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                 gsim_slot slot);
/* Books a job that starts (sign 1) or has ended (-1); its end_ns is set. */
void gsim_slurm_limits_book(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                            gsim_slot slot, int sign);
/* Takes off the minutes of running jobs that have passed by the last PriorityCalcPeriod. */
void gsim_slurm_limits_catch_up(struct gsim_slurm_state *state, const struct gsim_ctx *ctx);

#endif
