/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats whose columns map one by one onto a row: the reader of the public CSV traces. */
#ifndef GSIM_TRACES_MAPPED_H
#define GSIM_TRACES_MAPPED_H

#include "traces/build.h"

struct gsim_mapping {
    const char *name;
    bool is_required;
    const char *form; /* what a cell must look like, for messages */
    /* Puts the cell into builder->row; false when it does not fit. NULL: read but not used. */
    bool (*take)(struct gsim_builder *builder, const char *text, size_t length);
    int column; /* the optional column it fills, or -1 */
};

/* mappings end with a NULL name. finish_row (may be NULL) completes a row before it is added. */
enum gsim_status gsim_mapped_read(struct gsim_input *input, const char *format,
                                  const struct gsim_mapping *mappings,
                                  bool (*finish_row)(struct gsim_builder *builder),
                                  const struct gsim_trace_options *options,
                                  struct gsim_arena *arena, struct gsim_trace *out,
                                  struct gsim_log *log);

/* Ready-made cells. */
bool gsim_take_id(struct gsim_builder *builder, const char *text, size_t length);
bool gsim_take_submit(struct gsim_builder *builder, const char *text, size_t length);
bool gsim_take_duration(struct gsim_builder *builder, const char *text, size_t length);
bool gsim_take_gpus(struct gsim_builder *builder, const char *text, size_t length);

#endif
