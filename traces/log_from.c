/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/log_from.h"

#include <string.h>

#include "sim/base/calendar.h"
#include "sim/base/sort.h"
#include "sim/base/text.h"
#include "sim/base/units.h"

enum {
    LEAST_PART = 20,
    FEWER = 2,
    LEAST_EXPECTED = 30, /* a Poisson number of mean 30 is below 15 with a probability of 0.0009 */
};

/* What the log is like around the first end of a job. */
struct log_head {
    int64_t first_ns, last_ns; /* submissions */
    int64_t end_ns; /* the first end; -1: the log has none */
    int64_t from_ns, to_ns; /* the first start and the last */
    uint32_t n_before, n_behind; /* starts before the first end, and from then on */
};

static int64_t of_log(const struct gsim_builder *b, enum gsim_column column, uint32_t job) {
    return b->column[column] ? b->column[column][job] : -1;
}

static int64_t start_of_log(const struct gsim_builder *b, uint32_t job) {
    return of_log(b, GSIM_COL_LOGGED_START_NS, job);
}

static int64_t end_of_log(const struct gsim_builder *b, uint32_t job) {
    int64_t end_ns = of_log(b, GSIM_COL_LOGGED_END_NS, job), start_ns = start_of_log(b, job);
    return end_ns < 0 && start_ns >= 0 ? start_ns + b->service_ns[job] : end_ns;
}

static struct log_head look_at_head(const struct gsim_builder *b) {
    struct log_head head = {
        .first_ns = INT64_MAX, .last_ns = -1, .end_ns = -1, .from_ns = -1, .to_ns = -1};
    for (uint32_t job = 0; job < b->n; job++) {
        int64_t start_ns = start_of_log(b, job), end_ns = end_of_log(b, job);
        head.first_ns = b->submit_ns[job] < head.first_ns ? b->submit_ns[job] : head.first_ns;
        head.last_ns = b->submit_ns[job] > head.last_ns ? b->submit_ns[job] : head.last_ns;
        if (end_ns >= 0 && (head.end_ns < 0 || end_ns < head.end_ns))
            head.end_ns = end_ns;
        if (start_ns >= 0 && (head.from_ns < 0 || start_ns < head.from_ns))
            head.from_ns = start_ns;
        head.to_ns = start_ns > head.to_ns ? start_ns : head.to_ns;
    }
    for (uint32_t job = 0; job < b->n; job++) {
        int64_t start_ns = start_of_log(b, job);
        head.n_before += start_ns >= 0 && start_ns < head.end_ns;
        head.n_behind += start_ns >= head.end_ns;
    }
    return head;
}

/* Whether the time before the first end has but the jobs that a list of a month has of it. */
static bool is_remainder(const struct log_head *head) {
    int64_t before_ns = head->end_ns - head->from_ns, behind_ns = head->to_ns - head->end_ns;
    return head->end_ns >= 0 && behind_ns > 0 &&
           (gsim_i128)(head->end_ns - head->first_ns) * LEAST_PART >=
               head->last_ns - head->first_ns &&
           (gsim_i128)head->n_before * FEWER * behind_ns < (gsim_i128)head->n_behind * before_ns &&
           (gsim_i128)head->n_behind * before_ns >= (gsim_i128)LEAST_EXPECTED * behind_ns;
}

/* "2024-03-01" or "2024-03-01T12:00:00". */
static bool parse_date(const char *text, int64_t *ns) {
    enum { DATE = 10, WHOLE = 19 };
    char whole[WHOLE + 1] = "0000-00-00T00:00:00";
    size_t length = strlen(text);
    int64_t seconds;
    if (length != DATE && length != WHOLE)
        return false;
    memcpy(whole, text, length);
    if (!gsim_calendar_parse(whole, WHOLE, &seconds))
        return false;
    *ns = seconds * GSIM_NS_PER_S;
    return true;
}

/* The time on the trace's clock; -1: nothing is cut. */
static enum gsim_status find_begin(const struct gsim_builder *b, const char *text, int64_t *ns) {
    static const char form[] =
        "--log-from: '%s' is none of first-end, auto, a time since the first submission (12d), and "
        "a date of the log (2024-03-01)";
    bool is_auto = strcmp(text, GSIM_LOG_FROM_AUTO) == 0;
    struct log_head head = look_at_head(b);
    *ns = -1;
    if (is_auto && !is_remainder(&head))
        return GSIM_OK;
    if (head.end_ns < 0)
        return gsim_fail(b->log, GSIM_USAGE, b->path, 0,
                         "--log-from: the log does not say when jobs began and ended");
    if (is_auto || strcmp(text, "first-end") == 0) {
        *ns = head.end_ns;
    } else if (parse_date(text, ns)) {
        if (!b->is_absolute)
            return gsim_fail(b->log, GSIM_USAGE, b->path, 0,
                             "--log-from %s: the trace has times since its first submission, and "
                             "no dates",
                             text);
    } else {
        int64_t after_ns;
        if (gsim_parse_time(text, GSIM_NS_PER_S, &after_ns) != GSIM_PARSE_OK || after_ns < 0 ||
            after_ns > GSIM_TIME_MAX / 2 || gsim_is_bare(text))
            return gsim_fail(b->log, GSIM_USAGE, NULL, 0, form, text);
        *ns = head.first_ns + after_ns;
    }
    return GSIM_OK;
}

static void note_job(struct gsim_builder *b, enum gsim_fate fate, uint32_t job, const char *why) {
    gsim_fates_add(&b->fates, fate, gsim_build_line(b, job), b->id_text + b->id_at[job], why, NULL);
}

/* A job that ran when the log begins goes on on the nodes that it had. */
static bool keep_nodes(struct gsim_builder *b, uint32_t job) {
    int64_t list = of_log(b, GSIM_COL_LOGGED_NODES, job);
    if (list < 0)
        return true;
    if (!gsim_build_late_column(b, GSIM_COL_RAN_ON))
        return false;
    const char *nodes = b->names[GSIM_COL_LOGGED_NODES].name[list];
    b->column[GSIM_COL_RAN_ON][job] = gsim_build_intern(b, GSIM_COL_RAN_ON, nodes, strlen(nodes));
    b->is_used[GSIM_COL_RAN_ON] = true;
    return b->column[GSIM_COL_RAN_ON][job] >= 0;
}

/* A job that ran when the log begins has the rest of its time, of its iterations and its limit. */
static void shorten(struct gsim_builder *b, uint32_t job, int64_t begin_ns) {
    int64_t *iterations = b->column[GSIM_COL_ITERATIONS], *limit_ns = b->column[GSIM_COL_LIMIT_NS];
    int64_t ran_ns = begin_ns - start_of_log(b, job), whole_ns = b->service_ns[job];
    int64_t rest_ns = end_of_log(b, job) - begin_ns;
    rest_ns = rest_ns < whole_ns ? rest_ns : whole_ns;
    if (iterations && iterations[job] > 0 && whole_ns > 0) {
        int64_t rest = gsim_muldiv_ceil(iterations[job], rest_ns, whole_ns);
        rest_ns = gsim_muldiv_floor(whole_ns, rest, iterations[job]);
        iterations[job] = rest;
    }
    if (limit_ns && limit_ns[job] > 0)
        limit_ns[job] = limit_ns[job] > ran_ns ? limit_ns[job] - ran_ns : 1;
    b->service_ns[job] = rest_ns;
    b->submit_ns[job] = begin_ns;
    b->column[GSIM_COL_LOGGED_START_NS][job] = begin_ns;
    note_job(b, GSIM_FATE_LESS, job,
             "they ran when the log begins (--log-from): they arrive then, with the rest of their "
             "time");
}

/* Jobs that waited when the log begins, in the order of their submission. */
static void delay(struct gsim_builder *b, const uint32_t *order, const bool *is_out,
                  int64_t begin_ns) {
    int64_t next_ns = begin_ns + 1;
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t job = order[i];
        int64_t start_ns = start_of_log(b, job);
        if (is_out[job] || b->submit_ns[job] >= begin_ns)
            continue;
        b->submit_ns[job] = start_ns >= 0 && start_ns < next_ns ? start_ns : next_ns++;
        note_job(b, GSIM_FATE_LESS, job,
                 "they waited when the log begins (--log-from): they arrive then");
    }
}

enum gsim_status gsim_log_from_cut(struct gsim_builder *b, const char *text, const char **note) {
    int64_t begin_ns;
    *note = NULL;
    if (!text || b->n == 0)
        return GSIM_OK;
    enum gsim_status status = find_begin(b, text, &begin_ns);
    if (status != GSIM_OK || begin_ns < 0)
        return status;
    bool *is_out = gsim_arena_array(b->arena, b->n, sizeof *is_out);
    uint32_t *order = gsim_arena_array(b->arena, b->n, sizeof *order);
    if (!is_out || !order || !gsim_sort_order(b->submit_ns, order, b->n))
        return gsim_no_memory(b->log, "cutting a log");
    int64_t first_ns = b->submit_ns[order[0]];
    if (begin_ns <= first_ns)
        return GSIM_OK;
    for (uint32_t job = 0; job < b->n; job++) {
        int64_t start_ns = start_of_log(b, job), end_ns = end_of_log(b, job);
        is_out[job] = end_ns >= 0 && end_ns <= begin_ns;
        if (is_out[job])
            note_job(b, GSIM_FATE_LEFT_OUT, job, "they had ended when the log begins (--log-from)");
        else if (start_ns >= 0 && start_ns < begin_ns)
            shorten(b, job, begin_ns);
        if (!is_out[job] && start_ns >= 0 && start_ns < begin_ns && !keep_nodes(b, job))
            return gsim_no_memory(b->log, "cutting a log");
    }
    delay(b, order, is_out, begin_ns);
    char after[40];
    (void)gsim_format_time(after, begin_ns - first_ns);
    *note =
        gsim_arena_printf(b->arena, GSIM_LOG_FROM_NOTE "%s after its first submission on", after);
    if (!*note || !gsim_build_take_out(b, is_out))
        return gsim_no_memory(b->log, "cutting a log");
    gsim_build_look_at_order(b);
    return GSIM_OK;
}
