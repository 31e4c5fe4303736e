/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the executor cannot do, and why: asked before a run, in its rehearsal, and in its course. */
#include "sim/app/drive/refusals.h"

#include "sim/app/drive/start.h"

const char *gsim_refusals_of_stop(const struct gsim_executor *executor,
                                  const struct gsim_trace *trace, uint32_t job, enum gsim_stop stop,
                                  enum gsim_keep keep) {
    bool cooperates = gsim_start_cooperates(executor, trace, job);
    if (stop != GSIM_STOP_KERNEL && stop != GSIM_STOP_ITERATION && stop != GSIM_STOP_SAVE)
        return "a process can be stopped, or asked to save at the end of an iteration";
    if (keep == GSIM_KEEP_RESIDENT || keep == GSIM_KEEP_DISCARD)
        return NULL;
    if (keep == GSIM_KEEP_STORAGE)
        return cooperates ? NULL
                          : "its command has to save its state when it is asked to (gsim_job.h); "
                            "say --cooperative if it does";
    return "gsim drive pauses jobs (preempt=pause), lets them save (restart), or starts them anew "
           "(discard)";
}

const char *gsim_refusals_of_arrangement(const struct gsim_executor *executor,
                                         const struct gsim_arrangement *arrangement) {
    const struct gsim_lane *lane = &arrangement->lanes[0];
    (void)executor;
    bool is_driver = lane->discipline == GSIM_DISCIPLINE_RR && !arrangement->is_served &&
                     lane->quantum_ns == GSIM_QUANTUM_DEFAULT && !lane->ends_at_boundary &&
                     !lane->caps_launches && gsim_lane_turns(lane) == GSIM_TURNS_USED &&
                     arrangement->n_lanes == 1;
    if (arrangement->memory != GSIM_MEMORY_RESIDENT)
        return "gsim drive leaves memory to the jobs: none is paged or moved for them";
    if (lane->discipline == GSIM_DISCIPLINE_EXCLUSIVE || is_driver)
        return NULL;
    return "gsim drive shares a GPU as the driver does by itself (as under timeslice), in slices "
           "of "
           "the driver's own length, or not at all";
}
