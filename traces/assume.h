/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --assume column=value: fills empty cells of a trace, and notes that in the result. A value in
 * braces, queue={vc}, is another column of names: the cell is filled with the job's own there. */
#ifndef GSIM_TRACES_ASSUME_H
#define GSIM_TRACES_ASSUME_H

#include "traces/build.h"

struct gsim_assumption {
    enum gsim_column column;
    int64_t value;
    enum gsim_column source; /* the other column; GSIM_COL_COUNT: none, and value counts */
    const char *text; /* "mem_gib=20GiB" */
    bool is_used;
};

/* Reads the assumptions and adds their columns. An unknown column or a value that does not fit is a
 * usage error. */
enum gsim_status gsim_assume_read(struct gsim_builder *builder,
                                  const struct gsim_trace_options *options,
                                  struct gsim_assumption *out, int *n);
/* Fills the empty cells of the row under way. false: no memory. */
bool gsim_assume_fill(struct gsim_builder *builder, struct gsim_assumption *assumed, int n);
/* After the last row: an assumption by a column that no job has is an error. */
enum gsim_status gsim_assume_check(struct gsim_builder *builder,
                                   const struct gsim_assumption *assumed, int n);

#endif
