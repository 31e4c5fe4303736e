/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model of `gsim drive`: its jobs are processes on the GPUs of this machine, and its clock is
 * the wall's. The engine, the plan and the policy's view are those of a simulation; where a model
 * computes the next event, this one waits for it. Time in jobs' results is time since the run
 * began, times speed_up. */
#ifndef GSIM_APP_EXECUTOR_H
#define GSIM_APP_EXECUTOR_H

#include "sim/app/drive/driven.h"

/* Its `open` finds the executor in gsim_model_setup.arg. */
extern const struct gsim_model_ops gsim_model_executor;

/* ending.c: ends every process that is left, reports these jobs as cut, and ends the guard. */
void gsim_executor_close(struct gsim_executor *executor);

#endif
