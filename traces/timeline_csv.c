/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A timeline as rows:
 *
 *     what           iteration, call, kernel, copy or set
 *     t_ns, dur_ns   when it began, and how long it took
 *     corr           joins a call to its work
 *     stream         of the work
 *     grid, block    of a kernel, such as 264x1x1
 *     regs, shared_bytes   of a thread, and of a block
 *     name           of the call or the kernel
 *     kind           the program that the row belongs to, where a file has several
 *
 * Other columns are passed by. */
#include <string.h>

#include "sim/base/units.h"
#include "traces/csv.h"
#include "traces/timeline.h"

enum column { WHAT, BEGIN, DUR, CORR, STREAM, GRID, BLOCK, REGS, SHARED, NAME, KIND, N_COLUMNS };

static const char *const column_names[N_COLUMNS] = {"what",         "t_ns", "dur_ns", "corr",
                                                    "stream",       "grid", "block",  "regs",
                                                    "shared_bytes", "name", "kind"};

struct reader {
    struct gsim_timeline *timeline;
    int target[GSIM_MAX_FIELD_COLUMNS]; /* column, or -1 */
    char cell[N_COLUMNS][GSIM_MAX_FIELD_BYTES + 1];
    const char *kind; /* of the rows that are taken */
};

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    struct reader *r = arg;
    bool is_there[N_COLUMNS] = {false};
    for (uint32_t i = 0; i < n; i++) {
        r->target[i] = -1;
        for (int c = 0; c < N_COLUMNS; c++)
            if (strcmp(names[i], column_names[c]) == 0)
                r->target[i] = c;
        if (r->target[i] >= 0)
            is_there[r->target[i]] = true;
    }
    for (int c = 0; c < N_COLUMNS; c++)
        if (!is_there[c] && (c <= CORR || c == NAME))
            return gsim_fail(r->timeline->log, GSIM_BAD_INPUT, r->timeline->path, line,
                             "no column '%s': a timeline has what, t_ns, dur_ns, corr and name, "
                             "and mostly stream, grid, block, regs, shared_bytes and kind",
                             column_names[c]);
    return GSIM_OK;
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct reader *r = arg;
    if (r->target[column] >= 0)
        memcpy(r->cell[r->target[column]], text, length + 1);
}

static enum gsim_status refuse(const struct reader *r, enum column column, const char *form,
                               int64_t line) {
    return gsim_fail(r->timeline->log, GSIM_BAD_INPUT, r->timeline->path, line,
                     "%s: '%.40s' is not %s", column_names[column], r->cell[column], form);
}

static enum gsim_status take(struct reader *r, enum column column, int64_t empty, int64_t *out,
                             int64_t line) {
    *out = empty;
    if (r->cell[column][0] == '\0')
        return GSIM_OK;
    if (gsim_parse_int(r->cell[column], out) == GSIM_PARSE_OK && *out >= 0)
        return GSIM_OK;
    return refuse(r, column, "a whole number of 0 or more", line);
}

/* Reads "264x1x1": the product. */
static enum gsim_status take_size(struct reader *r, enum column column, int64_t *out,
                                  int64_t line) {
    char text[64];
    *out = 0;
    if (r->cell[column][0] == '\0')
        return GSIM_OK;
    (void)snprintf(text, sizeof text, "%.63s", r->cell[column]);
    int64_t product = 1;
    for (char *part = text, *next; part; part = next) {
        int64_t one;
        next = strchr(part, 'x');
        if (next)
            *next++ = '\0';
        if (gsim_parse_int(part, &one) != GSIM_PARSE_OK || one < 1 || one > INT32_MAX ||
            product > INT64_MAX / one)
            return refuse(r, column, "a size such as 264x1x1", line);
        product *= one;
    }
    *out = product;
    return GSIM_OK;
}

static enum gsim_status take_record(struct reader *r, int64_t line) {
    struct gsim_timeline_record record = {.line = line};
    static const char *const whats[] = {"iteration", "call", "kernel", "copy", "set"};
    int what = 0;
    while (what < 5 && strcmp(whats[what], r->cell[WHAT]) != 0)
        what++;
    if (what == 5)
        return refuse(r, WHAT, "iteration, call, kernel, copy or set", line);
    record.what = (uint8_t)what;
    enum gsim_status status = take(r, BEGIN, -1, &record.begin_ns, line);
    if (status == GSIM_OK)
        status = take(r, DUR, -1, &record.dur_ns, line);
    if (status == GSIM_OK && (record.begin_ns < 0 || record.dur_ns < 0))
        return refuse(r, record.begin_ns < 0 ? BEGIN : DUR,
                      "a time in nanoseconds, a whole number of 0 or more", line);
    if (status == GSIM_OK)
        status = take(r, CORR, -1, &record.corr, line);
    if (status == GSIM_OK)
        status = take(r, STREAM, -1, &record.stream, line);
    if (status == GSIM_OK)
        status = take_size(r, GRID, &record.blocks, line);
    if (status == GSIM_OK)
        status = take_size(r, BLOCK, &record.threads, line);
    if (status == GSIM_OK)
        status = take(r, REGS, 0, &record.registers, line);
    if (status == GSIM_OK)
        status = take(r, SHARED, 0, &record.shared_bytes, line);
    return status == GSIM_OK
               ? gsim_timeline_add(r->timeline, &record, r->cell[NAME], strlen(r->cell[NAME]))
               : status;
}

/* Whether the row belongs to the program that is wanted. Sets *status where that is not clear. */
static bool is_wanted(struct reader *r, int64_t line, enum gsim_status *status) {
    struct gsim_timeline *timeline = r->timeline;
    if (timeline->kind)
        return strcmp(timeline->kind, r->cell[KIND]) == 0;
    if (!r->kind)
        r->kind = gsim_arena_strdup(timeline->arena, r->cell[KIND]);
    if (!r->kind)
        *status = gsim_no_memory(timeline->log, "reading a timeline");
    else if (strcmp(r->kind, r->cell[KIND]) != 0)
        *status = gsim_fail(timeline->log, GSIM_BAD_INPUT, timeline->path, line,
                            "kind '%.64s' after kind '%.64s': a program is one of them, so name it "
                            "(--kind %.64s)",
                            r->cell[KIND], r->kind, r->kind);
    return *status == GSIM_OK;
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct reader *r = arg;
    enum gsim_status status = GSIM_OK;
    if (is_wanted(r, line, &status))
        status = take_record(r, line);
    for (int c = 0; c < N_COLUMNS; c++)
        r->cell[c][0] = '\0';
    return status;
}

enum gsim_status gsim_timeline_read_csv(struct gsim_timeline *timeline, struct gsim_input *input) {
    struct reader *r = gsim_arena_alloc(timeline->arena, sizeof *r);
    if (!r)
        return gsim_no_memory(timeline->log, "reading a timeline");
    r->timeline = timeline;
    struct gsim_csv_user user = {r, on_header, on_field, on_row, NULL};
    enum gsim_status status = gsim_csv_read(input, &user, timeline->arena, timeline->log);
    if (status == GSIM_OK && timeline->kind && timeline->n == 0)
        return gsim_fail(timeline->log, GSIM_BAD_INPUT, timeline->path, 0,
                         "no row is of kind '%.64s'", timeline->kind);
    return status;
}
