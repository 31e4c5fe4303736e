/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --by-model FILE.csv: fills gaps of a trace by the model that a job trains. It has a row per
 * model, or a row per model and gang size:
 *
 *     model,gpus,gpu_ms,mem_gib
 *     resnet50,1,120,21.5
 *     resnet50,,150,21.5        any other gang
 *
 * Columns are those of a native trace (duration_s too). Only empty cells are filled. */
#ifndef GSIM_TRACES_BY_MODEL_H
#define GSIM_TRACES_BY_MODEL_H

#include "traces/build.h"

struct gsim_by_model;

/* Adds the table's columns to the builder. */
enum gsim_status gsim_by_model_read(struct gsim_builder *builder, const char *path,
                                    struct gsim_by_model **out);
/* Fills the row under way; table may be NULL. */
enum gsim_status gsim_by_model_fill(struct gsim_by_model *table, struct gsim_builder *builder);
bool gsim_by_model_is_used(const struct gsim_by_model *table);
/* "by-model=FILE.csv 9f3c12ab": with a hash of the file, since another table makes another run. */
const char *gsim_by_model_name(const struct gsim_by_model *table);

#endif
