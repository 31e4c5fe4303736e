/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often jobs arrive in each hour, and closed loops. */
#include <string.h>

#include "traces/spec_keys.h"

enum { HOURS = 24, DAYS = 7, MOST_WEEKS = 5200 };

/* The part of one item of a list that is summed up. */
static double part_of(const double *cumulative, uint32_t i) {
    return cumulative[i] - (i > 0 ? cumulative[i - 1] : 0);
}

/* The weeks that the list names; one where there is no list. */
static enum gsim_status read_weeks(const struct gsim_spec_reader *r, uint32_t *n,
                                   const double **weeks) {
    const struct gsim_ini_entry *entry = gsim_spec_find(r, "arrival", "weeks");
    const char **parts;
    *n = 1;
    enum gsim_status status = entry ? gsim_spec_split(r, entry, &parts, n) : GSIM_OK;
    if (status == GSIM_OK && *n > MOST_WEEKS)
        status = gsim_spec_fail(r, entry, "a list of 5200 weights at most, which is a century");
    return status == GSIM_OK ? gsim_spec_weights(r, "arrival", "weeks", *n, weeks) : status;
}

static enum gsim_status read_profile(const struct gsim_spec_reader *r) {
    const double *hours, *days, *weeks;
    uint32_t n_weeks;
    if (!gsim_spec_find(r, "arrival", "hours") && !gsim_spec_find(r, "arrival", "weekdays") &&
        !gsim_spec_find(r, "arrival", "weeks"))
        return GSIM_OK;
    enum gsim_status status = gsim_spec_weights(r, "arrival", "hours", HOURS, &hours);
    if (status == GSIM_OK)
        status = gsim_spec_weights(r, "arrival", "weekdays", DAYS, &days);
    if (status == GSIM_OK)
        status = read_weeks(r, &n_weeks, &weeks);
    if (status != GSIM_OK)
        return status;
    uint32_t n = n_weeks * GSIM_HOURS_OF_WEEK;
    double *sum = gsim_arena_array(r->arena, n + 1, sizeof *sum);
    if (!sum)
        return gsim_no_memory(r->log, "reading a spec");
    for (uint32_t h = 0; h < n; h++)
        sum[h + 1] = sum[h] + part_of(hours, h % HOURS) * part_of(days, h / HOURS % DAYS) *
                                  part_of(weeks, h / GSIM_HOURS_OF_WEEK) * n;
    r->spec->profile = sum;
    r->spec->profile_hours = n;
    return GSIM_OK;
}

/* Sections that say nothing without another one. */
static enum gsim_status check_pairs(const struct gsim_spec_reader *r) {
    const struct gsim_quantity *const *q = r->spec->kinds[0].quantity;
    bool is_closed = r->spec->n_users > 0;
    const char *fault = NULL;
    if (!is_closed && (q[GSIM_OF_SESSION] || q[GSIM_OF_BREAK]))
        fault = "[session] and [break_s] are parts of a closed loop: process = closed";
    else if (!q[GSIM_OF_SESSION] != !q[GSIM_OF_BREAK])
        fault = "[session] and [break_s] need each other";
    else if (q[GSIM_OF_BATCH_GAP] && !q[GSIM_OF_BATCH])
        fault = "[batch_gap_s] is the time between jobs of a [batch_jobs], which is not there";
    else if (is_closed && (q[GSIM_OF_BATCH] || r->spec->profile))
        fault = "process = closed: jobs come when others have ended, so there are no batches, "
                "hours, weekdays or weeks";
    return fault ? gsim_fail(r->log, GSIM_BAD_INPUT, r->spec->path, 0, "%s", fault) : GSIM_OK;
}

static enum gsim_status read_users(const struct gsim_spec_reader *r) {
    const struct gsim_ini_entry *process = gsim_spec_find(r, "arrival", "process");
    const struct gsim_ini_entry *users = gsim_spec_find(r, "arrival", "users");
    int64_t n = 0;
    bool is_closed = process && strcmp(process->value, "closed") == 0;
    enum gsim_status status = gsim_spec_whole(r, "arrival", "users", 1, GSIM_MAX_JOBS, &n);
    if (status == GSIM_OK && users && !is_closed)
        status = gsim_spec_fail(r, users, "meant without process = closed");
    if (status == GSIM_OK && is_closed && !users)
        status = gsim_spec_fail(r, process, "enough: it needs users =, the number of users");
    if (status == GSIM_OK && is_closed &&
        (gsim_spec_find(r, "arrival", "rate") || gsim_spec_find(r, "arrival", "load")))
        status = gsim_spec_fail(r, process,
                                "a process with a rate: users and their think times "
                                "say how fast jobs come");
    for (uint32_t k = 0; status == GSIM_OK && is_closed && k < r->spec->n_kinds; k++)
        if (!r->spec->kinds[k].quantity[GSIM_COL_THINK_NS])
            status = gsim_spec_fail(r, process,
                                    "enough: it needs [think_s], the time from the end "
                                    "of a user's job to the next one");
    r->spec->n_users = (uint32_t)n;
    return status;
}

enum gsim_status gsim_spec_arrivals(const struct gsim_spec_reader *r) {
    enum gsim_status status = read_users(r);
    if (status == GSIM_OK)
        status = read_profile(r);
    return status == GSIM_OK ? check_pairs(r) : status;
}
