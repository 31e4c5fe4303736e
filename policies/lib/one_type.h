/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For policies with rules of one type of GPU, which say nothing of a job that is faster on another:
 * such a job ends the run with an error, and is not given GPUs by the speed of those that it does
 * not get. */
#ifndef GSIM_POLICIES_LIB_ONE_TYPE_H
#define GSIM_POLICIES_LIB_ONE_TYPE_H

#include "gsim/policy.h"

/* What of a job is to be alike on all types of GPU. That the job can run on each of them is always
 * asked. */
struct gsim_one_type {
    uint32_t gpus; /* the number of GPUs of each type on which the job is looked at */
    /* CPUs and memory beside each GPU; both 0: the part of a host that falls to a GPU */
    struct gsim_host beside;
    bool speed; /* the job's speed is to be alike */
    bool wants; /* so is the part of a host with which the job is fastest */
};

/* false: the job is unlike on two types of the cluster, and ctx->status says so. */
bool gsim_one_type(struct gsim_ctx *ctx, gsim_slot job, struct gsim_one_type alike);
/* The speed is to be alike on each number of GPUs, up to that many and those of the cluster. */
bool gsim_one_type_up_to(struct gsim_ctx *ctx, gsim_slot job, uint32_t most);

/* false: the job can run on none of the cluster's GPUs, that many of them, by the table of speeds,
 * and ctx->status says so. The types are alike for it. */
bool gsim_runs_somewhere(struct gsim_ctx *ctx, gsim_slot job, uint32_t gpus);

#endif
