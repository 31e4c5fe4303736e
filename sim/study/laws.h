/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that hold of any run under any policy: no job is lost, time and work add up, no GPU is held
 * by more jobs than it has room for. */
#ifndef GSIM_STUDY_LAWS_H
#define GSIM_STUDY_LAWS_H

#include "gsim/run.h"

/* Widths and GPUs over time, seen by an observer. */
struct gsim_holdings {
    struct gsim_observer observer; /* for the run's options */
    struct gsim_arena *arena;
    const struct gsim_trace *trace;
    int64_t *gpu_ppm; /* by GPU: shares held */
    uint32_t *job_ppm; /* by job: its share of each of its GPUs, 0: it is not counted */
    uint32_t n_gpus;
    bool is_resized; /* some job was placed on another number of GPUs than it asks for */
    bool has_failed; /* no memory */
    uint32_t crowded_gpu; /* the first that was held by too many, and when; UINT32_MAX: none */
    int64_t crowded_ns;
};

void gsim_holdings_open(struct gsim_holdings *holdings, struct gsim_arena *arena);

struct gsim_run_facts {
    const char *policy;
    uint32_t n_gpus; /* of the cluster */
    bool is_shared; /* jobs may be on a GPU in turns or beside each other, and take longer */
    bool has_failures; /* nodes fail: jobs do work twice */
    const struct gsim_holdings *holdings; /* NULL: the run had no observer */
};

/* GSIM_FAILED and a message if the result breaks a rule. All jobs must have been there to the end:
 * a run with --until has no such rules. */
enum gsim_status gsim_laws_check(const struct gsim_result *result,
                                 const struct gsim_run_facts *facts, struct gsim_arena *arena,
                                 struct gsim_log *log);
/* GSIM_FAILED and a message if two runs of equal inputs differ. */
enum gsim_status gsim_laws_equal(const struct gsim_result *a, const struct gsim_result *b,
                                 struct gsim_log *log);

#endif
