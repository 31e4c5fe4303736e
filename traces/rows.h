/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The way of a row in every format once its cells are read: it is left out or refused, its gaps are
 * filled from the user's options beside the trace, times are derived, and it is added. */
#ifndef GSIM_TRACES_ROWS_H
#define GSIM_TRACES_ROWS_H

#include "traces/assume.h"
#include "traces/by_model.h"
#include "traces/gpu_mem.h"
#include "traces/input.h"
#include "traces/goodput.h"
#include "traces/rates.h"

enum { GSIM_MAX_TOLD = 16 };

struct gsim_rows {
    struct gsim_builder *b;
    struct gsim_gpu_mem *gpu_mem; /* NULL: no measurements */
    struct gsim_by_model *by_model; /* NULL: no table */
    struct gsim_rates *rates; /* NULL: no table */
    struct gsim_goodput *goodput; /* NULL: no table */
    struct gsim_assumption assumed[GSIM_COL_COUNT];
    int n_assumed;
    const char *log_from; /* NULL: nothing is cut off the log */
    const char *told[GSIM_MAX_TOLD]; /* notes in the file about cells filled when it was made */
    int n_told;
};

/* A native trace that was made with filled gaps says so in comments above its header. */
#define GSIM_TOLD_PREFIX "# assumed: "
/* Reads these comments, which stand before the header. */
enum gsim_status gsim_rows_listen(struct gsim_rows *rows, struct gsim_input *input,
                                  struct gsim_arena *arena, struct gsim_log *log);

/* To be called after the header, when the file's own columns are known; rows is zero, or has
 * listened. options may be NULL. */
enum gsim_status gsim_rows_begin(struct gsim_rows *rows, struct gsim_builder *builder,
                                 const struct gsim_trace_options *options);
/* Adds builder->row as a job, or counts it as left out, or records its error (so that the remaining
 * rows are checked as well); then clears it. */
enum gsim_status gsim_rows_add(struct gsim_rows *rows, int64_t line);
enum gsim_status gsim_rows_finish(struct gsim_rows *rows, const char *format,
                                  struct gsim_trace *out);

#endif
