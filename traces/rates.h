/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --rates FILE.csv: measured speeds, a row a model, device and number of GPUs:
 *
 *     device,model,gpus,nodes,iterations_per_s
 *     v100,ResNet-18 (batch size 16),1,,74.5
 *     v100,ResNet-18 (batch size 16),2,1,139.3
 *
 * A speed of 0 says that the model cannot run so. nodes may be left out, or empty: the row then
 * holds on any number of nodes; so may cpus_per_gpu and host_gib_per_gpu, the part of the host that
 * was beside each GPU, and beside, the model that another job on these GPUs trained. The work of a
 * job of such a model is its iterations: the time of its row is that of its iterations on the first
 * device of the table that has its model, on as many GPUs as it asks for. A row without iterations
 * keeps its duration, which counts as measured there. */
#ifndef GSIM_TRACES_RATES_H
#define GSIM_TRACES_RATES_H

#include "sim/api/rates.h"
#include "traces/build.h"

enum gsim_status gsim_rates_read(const char *path, struct gsim_arena *arena,
                                 struct gsim_rates **out, struct gsim_log *log);
/* Sets the time of the row under way by its iterations, and checks that a row of the table is as
 * wide as its gang; rates may be NULL. */
enum gsim_status gsim_rates_fill(struct gsim_rates *rates, struct gsim_builder *builder,
                                 int64_t line);
/* What the trace assumes for jobs of models without a row; NULL: each job has one. */
const char *gsim_rates_name(const struct gsim_rates *rates, const struct gsim_trace *trace,
                            struct gsim_arena *arena);

#endif
