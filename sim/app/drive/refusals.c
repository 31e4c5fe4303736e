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
    if (keep == GSIM_KEEP_RESIDENT && stop == GSIM_STOP_ITERATION)
        return cooperates ? NULL
                          : "its command has to pause at the end of an iteration when asked "
                            "(gsim_job.h); say --cooperative if it does, or preempt=pause, "
                            "which stops processes wherever they are";
    if (keep == GSIM_KEEP_RESIDENT || keep == GSIM_KEEP_DISCARD)
        return NULL;
    if (keep == GSIM_KEEP_STORAGE)
        return cooperates || gsim_start_save_command(executor, trace, job)
                   ? NULL
                   : "its command has to save its state when it is asked to (gsim_job.h); say "
                     "--cooperative if it does, or --save-command for what saves it";
    if (keep == GSIM_KEEP_IMAGE && executor->is_paged)
        return "the driver takes no state with managed memory (memory=uvm); say preempt=restart, "
               "pause or discard";
    if (keep == GSIM_KEEP_IMAGE)
        return executor->no_images;
    return "gsim drive pauses jobs (preempt=pause, pause-iteration), lets them save (restart), has "
           "the driver take their state (checkpoint), or starts them anew (discard)";
}

/* Turns as the driver gives them, without a say of `drive`. */
static bool is_the_drivers(const struct gsim_lane *lane) {
    return lane->discipline == GSIM_DISCIPLINE_RR && lane->quantum_ns == GSIM_QUANTUM_DEFAULT &&
           !lane->ends_at_boundary && !lane->caps_launches && lane->n_sms == 0 &&
           lane->gate.opens == GSIM_GATE_OPEN && lane->gate.rank == 0 && lane->atoms.atom_ns == 0 &&
           gsim_lane_turns(lane) == GSIM_TURNS_USED;
}

/* Each client in a lane of its own; the lane's cap is all that MPS is told. */
static bool is_served_by_mps(const struct gsim_arrangement *arrangement) {
    for (uint16_t i = 0; i < arrangement->n_lanes; i++)
        if (!is_the_drivers(&arrangement->lanes[i]))
            return false;
    return true;
}

const char *gsim_refusals_of_arrangement(const struct gsim_executor *executor,
                                         const struct gsim_arrangement *arrangement) {
    const struct gsim_lane *lane = &arrangement->lanes[0];
    bool is_paged = arrangement->memory == GSIM_MEMORY_UVM;
    if (arrangement->memory != GSIM_MEMORY_RESIDENT && !is_paged)
        return "gsim drive leaves memory to the jobs, and to the driver where it pages on demand "
               "(memory=uvm): none is moved for them in another way";
    if (lane->discipline == GSIM_DISCIPLINE_EXCLUSIVE)
        return NULL;
    if (arrangement->is_served && is_served_by_mps(arrangement) && !is_paged)
        return executor->no_mps;
    if (!arrangement->is_served && arrangement->n_lanes == 1 && lane->cap_ppm == 0 &&
        is_the_drivers(lane))
        return NULL;
    return "gsim drive shares a GPU as the driver does by itself (as under timeslice), in slices "
           "of the driver's own length; as an MPS server does (as under mps); or not at all";
}

enum gsim_status gsim_refuse_counters(const struct gsim_executor *executor,
                                      const struct gsim_trace *trace, uint32_t job) {
    return gsim_fail(executor->log, GSIM_FAILED, trace->path, gsim_trace_line(trace, job),
                     "the policy asks how far job '%s' comes while it shares a GPU, which the "
                     "driver does not tell: its command has to tell of its iterations "
                     "(gsim_job.h); say --cooperative if it does",
                     gsim_trace_id(trace, job));
}
