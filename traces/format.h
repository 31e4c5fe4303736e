/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace format: how its files are recognised, and how they are read. Each is a file of this
 * folder, listed in list.def. */
#ifndef GSIM_TRACES_FORMAT_H
#define GSIM_TRACES_FORMAT_H

#include "gsim/trace.h"

/* A source of decompressed bytes (traces/input.h). */
struct gsim_input;

/* One trace format. Listed in traces/list.def. */
struct gsim_trace_format {
    const char *name; /* "native", "tiresias", ... */
    const char *summary; /* one line */
    const char *source; /* the publisher of such files */
    const char *notes; /* how to get such a file, and its requirements: lines, or NULL */
    /* The certainty, from the header line (NUL-terminated, without the newline): 0 no, 1 possible,
     * 2 certain. The format with the highest answer reads the file. */
    int (*sniff)(const char *header);
    enum gsim_status (*read)(struct gsim_input *input, const struct gsim_trace_options *options,
                             struct gsim_arena *arena, struct gsim_trace *out,
                             struct gsim_log *log);
};

#endif
