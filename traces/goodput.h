/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --goodput FILE.csv: how fast applications learn, in rows of three kinds (column row):
 *
 *     row,application,placement,nodes,gpus,batch,step_s,sync_s,epoch,progress,grad_sqr,grad_var,
 *     iterations,max_batch,min_local,max_local,most_gpus
 *
 * and if need be a column device: limits and steps that hold on GPUs of that name alone, where a
 * row that names none holds on all others. Where an application has no steps it cannot run.
 *
 * limits: the largest batch over all GPUs, the least and the largest on each in a step,
 * and if need be the most GPUs.
 * step: the time of a step with that batch on each GPU, and the part of it in which the replicas
 * tell each other; by placement (GPUs by node as digits, as 24) or by nodes and gpus.
 * epoch: by batch over all GPUs, the progress at the end of the epoch (from 0), the square and the
 * variance of the gradient in it and, if need be, the iterations by its end.
 *
 * A job of such an application, by its column model, learns with the batch size of its column
 * batch: its time is that of all its epochs. */
#ifndef GSIM_TRACES_GOODPUT_H
#define GSIM_TRACES_GOODPUT_H

#include "sim/api/goodput.h"
#include "traces/build.h"

enum gsim_status gsim_goodput_read(const char *path, struct gsim_arena *arena,
                                   struct gsim_goodput **out, struct gsim_log *log);
/* Sets the time of the row under way by its epochs; goodput may be NULL. */
enum gsim_status gsim_goodput_fill(struct gsim_goodput *goodput, struct gsim_builder *builder,
                                   int64_t line);
/* What the trace assumes for jobs of other applications; NULL: there is none. */
const char *gsim_goodput_name(const struct gsim_goodput *goodput, const struct gsim_trace *trace,
                              struct gsim_arena *arena);

#endif
