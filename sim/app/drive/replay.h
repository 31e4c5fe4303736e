/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim drive --replay: the engine and the policy go through a driven run again, by its record. The
 * policy sees what it saw then, at the times of then, and each of its decisions is held against the
 * one that was recorded: whether a policy decides by the view alone, and whether this program
 * decides as the one that drove. */
#ifndef GSIM_APP_REPLAY_H
#define GSIM_APP_REPLAY_H

#include "sim/app/drive/driven.h"

struct gsim_replay {
    const struct gsim_note *notes; /* all of the run */
    uint32_t n;
    const char *path; /* of the database, for messages */
    uint32_t at; /* the next note */
    uint32_t n_decisions; /* that were as recorded */
    gsim_slot *slot_of_job;
};

/* The executor with the record in place of processes; its `open` finds the executor in
 * gsim_model_setup.arg, and the record in gsim_executor.replay. */
struct gsim_model_ops gsim_replay_ops(void);
/* Whether the policy has left out a decision of the record, once the run has ended. */
enum gsim_status gsim_replay_close(const struct gsim_executor *executor,
                                   const struct gsim_trace *trace);

#endif
