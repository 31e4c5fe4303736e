/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds a trace row by row: columns that double, interned names, duplicate ids, arrival order. */
#ifndef GSIM_TRACES_BUILD_H
#define GSIM_TRACES_BUILD_H

#include "gsim/trace.h"
#include "traces/fates.h"

/* A priority may be -1, so an empty cell has this value until the row is added; then it is 0. */
#define GSIM_EMPTY_PRIORITY INT64_MIN

enum { GSIM_ROW_EXTRAS = 21 };

struct gsim_known_jobs; /* known_jobs.h */

/* The row under way. Cells not set are -1 (the priority: GSIM_EMPTY_PRIORITY). */
struct gsim_row {
    char id[GSIM_MAX_FIELD_BYTES + 1];
    size_t id_length; /* 0: the row's number is the id */
    int64_t submit_ns, service_ns;
    uint32_t gpus;
    int64_t cell[GSIM_COL_COUNT];
    /* Values of a row that a format needs and no column keeps, numbered by the format. -1: not
     * set. */
    int64_t extra[GSIM_ROW_EXTRAS];
    /* Nodes and time of the run, in seconds on the calendar, to join measurements. */
    char nodes[GSIM_MAX_FIELD_BYTES + 1];
    int64_t ran_from_s, ran_to_s;
    /* left out, though it had GPUs of these nodes; without an end it has them still */
    bool is_beside;
    int64_t part_of; /* the job that its GPUs are counted to; -1: its own */
    char text[GSIM_MAX_FIELD_BYTES + 1]; /* that a format needs, and no column keeps */
    const char *drop; /* why the row is left out, a literal; NULL: it is not */
    const char *loss; /* what the row says and a trace cannot, a literal; NULL: nothing */
    const char *wrong; /* the fault of the row as a whole, a literal; NULL: none */
};

struct gsim_builder {
    struct gsim_arena *arena;
    struct gsim_log *log;
    const char *path;
    struct gsim_row row;
    uint32_t shards; /* of a GPU; 0: not known */
    bool has_column[GSIM_COL_COUNT]; /* columns that are kept */
    bool is_used[GSIM_COL_COUNT]; /* columns with a cell that is not empty */
    uint8_t kept[GSIM_COL_COUNT]; /* the kept columns, once there is a row */
    uint8_t n_kept;
    uint32_t n, capacity;
    int64_t *submit_ns, *service_ns;
    uint32_t *gpus, *id_at, *line;
    int64_t *column[GSIM_COL_COUNT];
    char *id_text;
    size_t id_used, id_capacity;
    int64_t first_line;
    bool is_wide; /* some gang has more than one GPU */
    bool is_irregular; /* lines are not first_line + index */
    bool is_unsorted;
    bool is_numbered; /* ids so far are rising whole numbers: they cannot repeat */
    int64_t last_number;
    const char
        *lacking; /* the table of speeds (--rates) that has no row of the model; NULL: none */
    uint32_t n_gappy; /* rows with a duration much longer than their iterations */
    char gpu_type[32]; /* of the first row that names one */
    char *site_cluster; /* that the first row names; NULL: no row has named one */
    bool is_absolute; /* submissions are on a calendar: the first one becomes 0 */
    bool is_zoneless; /* times of runs are dates without a time zone, taken for UTC */
    int64_t leader_number; /* of the heterogeneous job under way; -1: none is */
    uint32_t leader; /* its first part */
    struct gsim_known_jobs *known; /* NULL: none was looked for yet */
    uint32_t measured_job; /* 1 + the job that has its memory from its steps; 0: none */
    bool has_runs; /* rows with one id are runs of one job, which was requeued; else an error */
    struct gsim_fates fates;
    bool is_lenient; /* rows that cannot be read are left out and counted, not errors */
    struct gsim_names names[GSIM_COL_COUNT];
    uint32_t *names_table[GSIM_COL_COUNT]; /* open addressing: index + 1 */
    uint32_t names_buckets[GSIM_COL_COUNT];
};

static inline bool gsim_row_is_empty(const struct gsim_row *row, enum gsim_column column) {
    return row->cell[column] == (column == GSIM_COL_PRIORITY ? GSIM_EMPTY_PRIORITY : -1);
}

void gsim_build_init(struct gsim_builder *builder, const char *path, struct gsim_arena *arena,
                     struct gsim_log *log);
void gsim_build_clear_row(struct gsim_builder *builder);
uint64_t gsim_build_hash(const char *text, size_t length);
/* The line of a job in the file. */
int64_t gsim_build_line(const struct gsim_builder *builder, uint32_t job);
/* Makes room for an id behind the others; false: no memory. */
bool gsim_build_room_for_id(struct gsim_builder *builder, size_t length);
/* Position of a text among the names of a column; -1: no memory. */
int64_t gsim_build_intern(struct gsim_builder *builder, enum gsim_column column, const char *text,
                          size_t length);
/* Forgets names that stand in rows alone that became no job: a policy that counts users would count
 * theirs. false: no memory. */
bool gsim_build_forget_names(struct gsim_builder *builder);
/* Names a row without an id, derives the service time from its description where the row has no
 * duration, and checks that both times lie within the clock; otherwise records an error. */
bool gsim_build_times(struct gsim_builder *builder, int64_t line);
/* Counts builder->row as left out because of row.drop. */
void gsim_build_drop(struct gsim_builder *builder, int64_t line);
/* Counts it as a job, as one that lost something if row.loss says so. */
void gsim_build_keep(struct gsim_builder *builder, int64_t line);
/* The row cannot be read: it is left out and counted where the builder is lenient, else an error is
 * recorded. */
void gsim_build_refuse(struct gsim_builder *builder, int64_t line, const char *why);
/* Adds builder->row, of which gsim_build_times is true, as the next job. */
enum gsim_status gsim_build_add(struct gsim_builder *builder, int64_t line);
/* A column that is filled behind the last row, empty where the file has none; false: no memory. */
bool gsim_build_late_column(struct gsim_builder *builder, enum gsim_column column);
/* Takes these jobs out; false: no memory. */
bool gsim_build_take_out(struct gsim_builder *builder, const bool *is_out);
/* To be called where submissions were changed. */
void gsim_build_look_at_order(struct gsim_builder *builder);
/* Checks the trace as a whole (ids are unique), warns about rows that were left out and the
 * reasons, and hands the columns over. */
enum gsim_status gsim_build_finish(struct gsim_builder *builder, const char *format,
                                   struct gsim_trace *out);

#endif
