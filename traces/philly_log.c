/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of jobs, each with a list of attempts, each with a list of machines, each with a list of
 * GPUs:
 *     [{"jobid": ..., "submitted_time": ..., "vc": ..., "user": ..., "status": ...,
 *       "attempts": [{"start_time": ..., "end_time": ...,
 *                     "detail": [{"ip": ..., "gpus": ["gpu0", ...]}, ...]}, ...]}, ...]
 * A job's service is the time of all its attempts together, since each held its GPUs; its gang is
 * that of the last attempt. Jobs that failed or were killed are kept. A job with an attempt without
 * a start or an end is left out: its running time is not known. */
#include "traces/philly_log.h"

#include <string.h>

#include "sim/base/text.h"
#include "gsim/units.h"
#include "sim/base/calendar.h"
#include "traces/cells.h"
#include "traces/json.h"
#include "traces/rows.h"

/* The place in the file: the innermost open bracket. */
enum place { FILE_, JOBS, JOB, ATTEMPTS, ATTEMPT, MACHINES, MACHINE, GPUS, IGNORED };
enum { MAX_PLACES = 66 };

/* Times on the calendar in seconds; -1: null. */
struct attempt {
    int64_t start_s, end_s;
    uint32_t gpus;
};

struct philly_log {
    struct gsim_builder *b;
    struct gsim_rows rows;
    enum place place[MAX_PLACES];
    int depth;
    int64_t job_line;
    struct attempt attempt;
    uint32_t n_attempts;
    int64_t ran_s;
    bool has_submit, is_open_ended, is_backwards, is_bad;
};

/* The brackets that may stand in each place. */
static const struct {
    enum place at;
    const char *key;
    enum gsim_json_kind kind;
    enum place next;
} ways[] = {
    {FILE_, "", GSIM_JSON_LIST, JOBS},
    {JOBS, "", GSIM_JSON_OBJECT, JOB},
    {JOB, "attempts", GSIM_JSON_LIST, ATTEMPTS},
    {ATTEMPTS, "", GSIM_JSON_OBJECT, ATTEMPT},
    {ATTEMPT, "detail", GSIM_JSON_LIST, MACHINES},
    {MACHINES, "", GSIM_JSON_OBJECT, MACHINE},
    {MACHINE, "gpus", GSIM_JSON_LIST, GPUS},
};

/* Keys with a text that is read; null counts as no key. */
static const char job_keys[] = "jobid|submitted_time|vc|user|status";
static const char attempt_keys[] = "start_time|end_time";

static bool is_known(enum place place, const char *key) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].at == place && strcmp(ways[i].key, key) == 0)
            return true;
    return (place == JOB && gsim_text_choice(key, job_keys) >= 0) ||
           (place == ATTEMPT && gsim_text_choice(key, attempt_keys) >= 0) || place == GPUS;
}

static enum gsim_status refuse(struct philly_log *p, enum gsim_json_kind kind, const char *key,
                               int64_t line) {
    static const char *const inside[] = {
        [FILE_] = "the file is",
        [JOBS] = "in the list of jobs stands",
        [ATTEMPTS] = "in 'attempts' stands",
        [MACHINES] = "in 'detail' stands",
        [GPUS] = "in 'gpus' stands",
        [JOB] = "it is",
        [ATTEMPT] = "it is",
        [MACHINE] = "it is",
    };
    return gsim_fail(p->b->log, GSIM_BAD_INPUT, p->b->path, line,
                     "%s%.40s%s%s %s, which a cluster_job_log has not", *key ? "key '" : "", key,
                     *key ? "': " : "", inside[p->place[p->depth]], gsim_json_kind_name(kind));
}

static void start_job(struct philly_log *p, int64_t line) {
    p->job_line = line;
    p->n_attempts = 0;
    p->ran_s = 0;
    p->has_submit = p->is_open_ended = p->is_backwards = p->is_bad = false;
}

static enum gsim_status on_open(void *arg, enum gsim_json_kind kind, const char *key,
                                int64_t line) {
    struct philly_log *p = arg;
    enum place here = p->place[p->depth], next = IGNORED;
    if (here != IGNORED && is_known(here, key)) {
        for (size_t i = 0; i < sizeof ways / sizeof *ways && next == IGNORED; i++)
            if (ways[i].at == here && ways[i].kind == kind && strcmp(ways[i].key, key) == 0)
                next = ways[i].next;
        if (next == IGNORED)
            return refuse(p, kind, key, line);
    }
    p->place[++p->depth] = next;
    if (next == JOB)
        start_job(p, line);
    if (next == ATTEMPT)
        p->attempt = (struct attempt){-1, -1, 0};
    return GSIM_OK;
}

static void end_attempt(struct philly_log *p) {
    const struct attempt *a = &p->attempt;
    struct gsim_row *row = &p->b->row;
    p->n_attempts++;
    row->gpus = a->gpus;
    p->b->is_zoneless = true;
    if (a->start_s >= 0 && (row->ran_from_s < 0 || a->start_s < row->ran_from_s))
        row->ran_from_s = a->start_s;
    row->ran_to_s = a->end_s > row->ran_to_s ? a->end_s : row->ran_to_s;
    if (a->start_s < 0 || a->end_s < 0)
        p->is_open_ended = true;
    else if (a->end_s < a->start_s)
        p->is_backwards = true;
    else
        p->ran_s += a->end_s - a->start_s;
}

static enum gsim_status end_job(struct philly_log *p) {
    struct gsim_row *row = &p->b->row;
    row->service_ns = p->ran_s * GSIM_NS_PER_S;
    if (row->id_length == 0)
        row->wrong = "a job without 'jobid'";
    else if (!p->has_submit)
        row->drop = "they have no submitted_time";
    else if (p->n_attempts == 0)
        row->drop = "they were never started (no attempts)";
    else if (p->is_open_ended)
        row->drop = "an attempt of theirs has no start or no end (still running, or not logged)";
    else if (p->is_backwards)
        row->drop = "an attempt of theirs ends before it starts";
    else if (row->gpus == 0)
        row->drop = "they had no GPU";
    else if (row->gpus > GSIM_MAX_GANG)
        row->wrong = "a job with more GPUs than a gang may have";
    if (!p->is_bad)
        return gsim_rows_add(&p->rows, p->job_line);
    gsim_build_clear_row(p->b);
    return GSIM_OK;
}

static enum gsim_status on_close(void *arg, int64_t line) {
    struct philly_log *p = arg;
    (void)line;
    enum place place = p->place[p->depth--];
    if (place == ATTEMPT)
        end_attempt(p);
    return place == JOB ? end_job(p) : GSIM_OK;
}

/* --- texts ------------------------------------------------------------------------------------ */

static void take_time(struct philly_log *p, const char *key, const char *text, size_t length,
                      int64_t line, int64_t *seconds) {
    if (length == 0 || strcmp(text, "None") == 0 || gsim_calendar_parse(text, length, seconds))
        return;
    bool is_counted = p->is_bad && p->b->is_lenient;
    p->is_bad = true;
    if (!is_counted)
        (void)gsim_cell_refuse(p->b, line, key, text, "a timestamp such as 2017-10-09 07:01:55");
}

static enum gsim_status take_name(struct philly_log *p, enum gsim_column column, const char *text,
                                  size_t length) {
    int64_t *cell = &p->b->row.cell[column];
    if (length > 0)
        *cell = gsim_build_intern(p->b, column, text, length);
    return length == 0 || *cell >= 0 ? GSIM_OK : gsim_no_memory(p->b->log, "reading a trace");
}

static enum gsim_status take_job(struct philly_log *p, const char *key, const char *text,
                                 size_t length, int64_t line) {
    int64_t seconds = -1;
    switch (gsim_text_choice(key, job_keys)) {
    case 0:
        memcpy(p->b->row.id, text, length);
        p->b->row.id_length = length;
        return GSIM_OK;
    case 1:
        take_time(p, key, text, length, line, &seconds);
        p->has_submit = seconds >= 0;
        p->b->row.submit_ns = seconds * GSIM_NS_PER_S;
        return GSIM_OK;
    case 2:
        return take_name(p, GSIM_COL_VC, text, length);
    case 3:
        return take_name(p, GSIM_COL_USER, text, length);
    default:
        return GSIM_OK; /* the status tells how the job ended; it held its GPUs either way */
    }
}

static enum gsim_status on_value(void *arg, enum gsim_json_kind kind, const char *key,
                                 const char *text, size_t length, int64_t line) {
    struct philly_log *p = arg;
    enum place here = p->place[p->depth];
    if (here == IGNORED || !is_known(here, key))
        return here == JOBS || here == FILE_ ? refuse(p, kind, key, line) : GSIM_OK;
    bool is_text = kind == GSIM_JSON_TEXT && (here == JOB || here == ATTEMPT || here == GPUS);
    bool is_bracket = strcmp(key, "attempts") == 0 || strcmp(key, "detail") == 0;
    if (kind == GSIM_JSON_NULL && here != GPUS && *key)
        return GSIM_OK;
    if (!is_text || is_bracket)
        return refuse(p, kind, key, line);
    if (here == GPUS)
        p->attempt.gpus++;
    else if (here == ATTEMPT)
        take_time(p, key, text, length, line,
                  *key == 's' ? &p->attempt.start_s : &p->attempt.end_s);
    else
        return take_job(p, key, text, length, line);
    return GSIM_OK;
}

enum gsim_status gsim_philly_log_read(struct gsim_input *input,
                                      const struct gsim_trace_options *options,
                                      struct gsim_arena *arena, struct gsim_trace *out,
                                      struct gsim_log *log) {
    struct philly_log *p = gsim_arena_alloc(arena, sizeof *p);
    struct gsim_builder *b = gsim_arena_alloc(arena, sizeof *b);
    if (!p || !b)
        return gsim_no_memory(log, "reading a trace");
    gsim_build_init(b, gsim_input_path(input), arena, log);
    b->is_absolute = true;
    b->has_column[GSIM_COL_VC] = b->has_column[GSIM_COL_USER] = true;
    b->has_column[GSIM_COL_LOGGED_START_NS] = b->has_column[GSIM_COL_LOGGED_END_NS] = true;
    p->b = b;
    struct gsim_json_user user = {.arg = p, .open = on_open, .close = on_close, .value = on_value};
    int64_t errors_before = log->n_errors;
    enum gsim_status status = gsim_rows_begin(&p->rows, b, options);
    if (status == GSIM_OK)
        status = gsim_json_read(input, &user, arena, log);
    if (status == GSIM_OK && log->n_errors > errors_before)
        status = GSIM_BAD_INPUT;
    return status == GSIM_OK ? gsim_rows_finish(&p->rows, "philly", out) : status;
}
