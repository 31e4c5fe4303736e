/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --assume column=value: fills empty cells of a trace, and notes that in the result. */
#ifndef GSIM_TRACES_ASSUME_H
#define GSIM_TRACES_ASSUME_H

#include "traces/build.h"

struct gsim_assumption {
    enum gsim_column column;
    int64_t value;
    const char *text; /* "mem_gib=20GiB" */
    bool is_used;
};

/* Reads the assumptions and adds their columns. An unknown column or a value that does not fit is a
 * usage error. */
enum gsim_status gsim_assume_read(struct gsim_builder *builder,
                                  const struct gsim_trace_options *options,
                                  struct gsim_assumption *out, int *n);
/* Fills the empty cells of the row under way. */
void gsim_assume_fill(struct gsim_builder *builder, struct gsim_assumption *assumed, int n);

#endif
