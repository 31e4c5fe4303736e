/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats with columns that map one to one onto a row: the reader of the public CSV traces. */
#ifndef GSIM_TRACES_MAPPED_H
#define GSIM_TRACES_MAPPED_H

#include "traces/build.h"
#include "traces/lines.h"

struct gsim_mapping {
    const char *name;
    bool is_required;
    const char *form; /* the form of a cell, for messages */
    /* Puts the cell into builder->row; false when it does not fit. NULL: the cell is read as the
     * column's cells are in a native trace. */
    bool (*take)(struct gsim_builder *builder, const char *text, size_t length);
    int column; /* the optional column that it fills, or -1 */
};

struct gsim_mapped_form {
    const char *name; /* the format's */
    /* They end with a NULL name. A name may stand several times: the first takes the cell, the
     * others are further columns that it fills. */
    const struct gsim_mapping *mappings;
    /* Completes a row before it is added; may set row.drop or row.wrong. May be NULL. */
    void (*finish_row)(struct gsim_builder *builder);
    /* Looks at a row that is left out, such as a part of the job before it; may set another reason.
     * May be NULL. */
    void (*look_at_dropped)(struct gsim_builder *builder);
    const struct gsim_lines_form *lines; /* NULL: CSV with a header */
    /* how its traces describe a job's length, if not by a time; NULL: by a time */
    const char *no_times;
    /* why a file of the format may lack a column, by the first name of its header, as the end of a
     * sentence; NULL: it says nothing more */
    const char *(*why_absent)(const char *first_name, uint32_t n_names);
    bool is_absolute; /* submissions are on a calendar */
    bool has_runs; /* rows with one id are runs of a requeued job */
};

enum gsim_status gsim_mapped_read(struct gsim_input *input, const struct gsim_mapped_form *form,
                                  const struct gsim_trace_options *options,
                                  struct gsim_arena *arena, struct gsim_trace *out,
                                  struct gsim_log *log);

/* Ready-made cells. */
bool gsim_take_id(struct gsim_builder *builder, const char *text, size_t length);
bool gsim_take_submit(struct gsim_builder *builder, const char *text, size_t length);
bool gsim_take_duration(struct gsim_builder *builder, const char *text, size_t length);
bool gsim_take_gpus(struct gsim_builder *builder, const char *text, size_t length);
/* Accepts 0 as well, for which the row is left out. */
bool gsim_take_gpus_or_none(struct gsim_builder *builder, const char *text, size_t length);
/* 2017-10-09 07:01:55, for a form with is_absolute; a start or an end may be empty */
bool gsim_take_start_date(struct gsim_builder *builder, const char *text, size_t length);
bool gsim_take_end_date(struct gsim_builder *builder, const char *text, size_t length);
bool gsim_take_submit_date(struct gsim_builder *builder, const char *text, size_t length);
/* A cell of a column, as a native trace has it; an empty cell stays empty. */
bool gsim_take_cell(struct gsim_builder *builder, enum gsim_column column, const char *text,
                    size_t length);

#define GSIM_FORM_GPUS "a number of GPUs (1, 2, …)"
#define GSIM_FORM_GPUS_OR_NONE "a number of GPUs (0, 1, 2, …)"
#define GSIM_FORM_SECONDS "a time in seconds"
#define GSIM_FORM_DATE "a timestamp such as 2017-10-09 07:01:55"
#define GSIM_DROP_NO_GPU "they ask for no GPU"

#endif
