/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the log's own scheduler did, beside what the policies do. A wait is the time from a job's
 * submission to its first start, for the log and for policies alike; a job that comes after another
 * one is submitted at another time in each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/compare/compare.h"

/* A policy is near the log when the mean waits of users are off by no more than this part of the
 * log's mean wait, or by no more than a minute: the period of Slurm's backfill scheduler is 30 s,
 * so that its starts are late by about that. None is near on fewer GPUs than the log held. */
static const double NEAR = 0.2, NEAR_S = 60;
enum { MOST_USERS = 12 };

/* The jobs of one user; or all jobs, where the trace names no users. */
struct gsim_logged_user {
    int64_t name; /* -1: none */
    uint32_t n;
    double logged_s, policy_s[GSIM_MAX_COMPARED]; /* sums of waits, then means */
};

static const struct gsim_result *result_of(const struct gsim_compare *c, int contender) {
    return &gsim_compare_at(c, contender, 0)->result;
}

/* Whether the job began in the log and in all runs. */
static bool is_known(const struct gsim_compare *c, uint32_t job) {
    bool is_there = gsim_trace_get(&c->traces[0], GSIM_COL_LOGGED_START_NS, job) >= 0;
    for (int i = 0; i < c->setup->n_contenders; i++)
        is_there = is_there && result_of(c, i)->jobs.start_ns[job] >= 0;
    return is_there;
}

/* Of the log by the trace as it was read, of a run by that run's trace. */
static double first_wait_s(const struct gsim_trace *trace, uint32_t job, int64_t start_ns) {
    return (double)(start_ns - trace->submit_ns[job]) / 1e9;
}

static void add_job(const struct gsim_compare *c, struct gsim_logged *l, uint32_t job) {
    const struct gsim_trace *trace = &c->traces[0];
    int64_t logged_ns = trace->column[GSIM_COL_LOGGED_START_NS][job];
    int64_t name = l->owner < GSIM_COL_COUNT ? gsim_trace_get(trace, l->owner, job) : -1;
    struct gsim_logged_user *user = &l->user[name + 1];
    double logged_s = first_wait_s(trace, job, logged_ns);
    l->n++;
    l->wait_mean_s += logged_s;
    user->name = name;
    user->n++;
    user->logged_s += logged_s;
    for (int i = 0; i < c->setup->n_contenders; i++) {
        const struct gsim_result *result = result_of(c, i);
        double s = first_wait_s(result->trace, job, result->jobs.start_ns[job]);
        l->policy[i].wait_mean_s += s;
        l->policy[i].off_s += fabs(s - logged_s);
        l->policy[i].within_minute += fabs(s - logged_s) <= NEAR_S;
        user->policy_s[i] += s;
    }
}

static void take_means(const struct gsim_compare *c, struct gsim_logged *l) {
    double n = l->n;
    l->wait_mean_s /= n;
    for (int i = 0; i < c->setup->n_contenders; i++) {
        struct gsim_from_log *p = &l->policy[i];
        p->wait_mean_s /= n;
        p->off_s /= n;
        p->within_minute /= n;
        for (uint32_t u = 0; u < l->n_users; u++)
            p->users_off_s += fabs(l->user[u].policy_s[i] - l->user[u].logged_s) / n;
        p->is_near =
            !l->held && (p->users_off_s <= NEAR * l->wait_mean_s || p->users_off_s <= NEAR_S);
    }
}

static int by_jobs(const void *a, const void *b) {
    const struct gsim_logged_user *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return x->name < y->name ? -1 : x->name > y->name;
}

enum gsim_status gsim_compare_logged(const struct gsim_compare *c, struct gsim_logged *out) {
    const struct gsim_trace *trace = &c->traces[0];
    *out = (struct gsim_logged){.owner = GSIM_COL_COUNT};
    if (!trace->column[GSIM_COL_LOGGED_START_NS])
        return GSIM_OK;
    out->held = gsim_held_say(c->setup, c->cli->arena);
    if (trace->column[GSIM_COL_USER] || trace->column[GSIM_COL_VC])
        out->owner = trace->column[GSIM_COL_USER] ? GSIM_COL_USER : GSIM_COL_VC;
    out->n_users = 1 + (out->owner < GSIM_COL_COUNT ? trace->names[out->owner].n : 0);
    out->user = gsim_arena_array(c->cli->arena, out->n_users, sizeof *out->user);
    if (!out->user)
        return gsim_no_memory(c->cli->log, "comparing with the log");
    struct gsim_window_jobs jobs = gsim_window_find(&c->setup->window, trace);
    out->n_counted = jobs.end - jobs.first;
    for (uint32_t i = jobs.first; i < jobs.end; i++)
        if (is_known(c, gsim_trace_arrival(trace, i)))
            add_job(c, out, gsim_trace_arrival(trace, i));
    if (out->n > 0)
        take_means(c, out);
    qsort(out->user, out->n_users, sizeof *out->user, by_jobs);
    return GSIM_OK;
}

/* --- as text ---------------------------------------------------------------------------------- */

static void put_difference(FILE *out, int width, double value) {
    char text[32] = "-";
    if (isfinite(value))
        (void)snprintf(text, sizeof text, "%+.1f %%", 100 * value);
    fprintf(out, " %*s", width, text);
}

static void format_time(char *text, double seconds) {
    if (seconds == 0)
        (void)sprintf(text, "0 s");
    else
        (void)gsim_format_humane(text, seconds);
}

static void put_time(FILE *out, int width, double seconds) {
    char text[40];
    format_time(text, seconds);
    fprintf(out, " %*s", width, text);
}

static void write_users(const struct gsim_compare *c, const struct gsim_logged *l, int width) {
    FILE *out = c->cli->io->out;
    uint32_t n = 0;
    while (n < l->n_users && l->user[n].n > 0)
        n++;
    fprintf(out, "\n%-*s %8s %10s", width, "mean wait", "jobs", "as logged");
    for (int i = 0; i < c->setup->n_contenders; i++)
        fprintf(out, " %14.14s", c->setup->contender[i].policy->name);
    fputc('\n', out);
    for (uint32_t u = 0; u < n && u < MOST_USERS; u++) {
        const struct gsim_logged_user *user = &l->user[u];
        const char *name =
            user->name < 0 ? "(none)" : c->traces[0].names[l->owner].name[user->name];
        char cut[256];
        (void)snprintf(cut, sizeof cut, "%.*s", width, name);
        gsim_put_plain(out, width, cut);
        fprintf(out, " %8u", user->n);
        put_time(out, 10, user->logged_s / user->n);
        for (int i = 0; i < c->setup->n_contenders; i++)
            put_time(out, 14, user->policy_s[i] / user->n);
        fputc('\n', out);
    }
    if (n > MOST_USERS)
        fprintf(out, "... and %u more\n", n - MOST_USERS);
}

void gsim_compare_write_logged(const struct gsim_compare *c, const struct gsim_logged *l,
                               int width) {
    FILE *out = c->cli->io->out;
    const char *by = c->cli->value[GSIM_OPT_BY];
    if (l->n == 0)
        return;
    width = width < 9 ? 9 : width;
    fprintf(out,
            "\nas logged: %u of %u jobs; waits until the first start, and how far they are from "
            "the log's:\n%-*s %10s %10s %12s %12s %10s\n",
            l->n, l->n_counted, width, "policy", "wait mean", "off", "off by user", "off by job",
            "in 1 min");
    fprintf(out, "%-*s", width, "as logged");
    put_time(out, 10, l->wait_mean_s);
    fputc('\n', out);
    for (int i = 0; i < c->setup->n_contenders; i++) {
        const struct gsim_from_log *p = &l->policy[i];
        fprintf(out, "%-*s", width, c->setup->contender[i].policy->name);
        put_time(out, 10, p->wait_mean_s);
        put_difference(out, 10, p->wait_mean_s / l->wait_mean_s - 1);
        put_time(out, 12, p->users_off_s);
        put_time(out, 12, p->off_s);
        fprintf(out, " %8.1f %%\n", 100 * p->within_minute);
    }
    if (by && l->owner < GSIM_COL_COUNT &&
        strcmp(by, l->owner == GSIM_COL_USER ? "user" : "vc") == 0)
        write_users(c, l, width);
}

/* --- as JSON and in the verdict --------------------------------------------------------------- */

void gsim_compare_put_json_logged(FILE *out, const struct gsim_logged *l, int contender) {
    const struct gsim_from_log *p = &l->policy[contender];
    const struct {
        const char *name;
        double value;
    } fields[] = {{"wait_mean_s", l->wait_mean_s},
                  {"policy_wait_mean_s", p->wait_mean_s},
                  {"off_by_user_s", p->users_off_s},
                  {"off_by_job_s", p->off_s},
                  {"within_minute", p->within_minute}};
    if (l->n == 0)
        return;
    fprintf(out, ",\"as_logged\":{\"jobs\":%u", l->n);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        fprintf(out, ",\"%s\":", fields[i].name);
        gsim_put_real(out, fields[i].value, true);
    }
    fprintf(out, ",\"is_near\":%s}", p->is_near ? "true" : "false");
}

/* Whether contender a comes nearer to the log than b. Where jobs wait for days the means of all
 * queues are alike, and the jobs' own waits tell them apart; means of users say whether a queue is
 * near at all. */
static bool is_nearer(const struct gsim_compare *c, const struct gsim_logged *l, int a, int b) {
    const struct gsim_from_log *x = &l->policy[a], *y = &l->policy[b];
    if (gsim_compare_knows_durations(c, a) != gsim_compare_knows_durations(c, b))
        return gsim_compare_knows_durations(c, b);
    if (x->is_near != y->is_near)
        return x->is_near;
    return x->is_near ? x->off_s < y->off_s : x->users_off_s < y->users_off_s;
}

int gsim_compare_nearest(const struct gsim_compare *c, const struct gsim_logged *l) {
    int best = 0;
    for (int i = 1; i < c->setup->n_contenders; i++)
        if (is_nearer(c, l, i, best))
            best = i;
    return best;
}

/* Where the minute alone makes a policy near, the distance may be most of a short wait. */
static const char *why_near(const struct gsim_from_log *p, double wait_s) {
    static const char minute[] = ", which is near because it is within a minute (Slurm's backfill "
                                 "scheduler looks every 30 s)";
    return p->users_off_s <= NEAR * wait_s ? "" : minute;
}

/* "fifo is nearest", or "fifo, sjf and las are equally near" where their distances are equal. */
static const char *name_nearest(const struct gsim_compare *c, const struct gsim_logged *l,
                                int best) {
    const struct gsim_from_log *p = &l->policy[best];
    const char *names = c->setup->contender[best].policy->name;
    int last = best, n = 1;
    for (int i = 0; i < c->setup->n_contenders; i++)
        if (i != best &&
            gsim_compare_knows_durations(c, i) == gsim_compare_knows_durations(c, best) &&
            l->policy[i].off_s == p->off_s && l->policy[i].users_off_s == p->users_off_s)
            last = i;
    for (int i = 0; i <= last && names; i++)
        if (i != best &&
            gsim_compare_knows_durations(c, i) == gsim_compare_knows_durations(c, best) &&
            l->policy[i].off_s == p->off_s && l->policy[i].users_off_s == p->users_off_s && ++n)
            names = gsim_arena_printf(c->cli->arena, "%s%s%s", names, i == last ? " and " : ", ",
                                      c->setup->contender[i].policy->name);
    return names ? gsim_arena_printf(c->cli->arena, "%s %s", names,
                                     n > 1 ? "are equally near" : "is nearest")
                 : "one policy is nearest";
}

static const char *say_near(const struct gsim_compare *c, const struct gsim_logged *l, int best) {
    const struct gsim_from_log *p = &l->policy[best];
    char off[40], wait[40], own[40];
    format_time(off, p->users_off_s);
    format_time(wait, l->wait_mean_s);
    format_time(own, p->off_s);
    return gsim_arena_printf(
        c->cli->arena, "%s to the log: users' mean waits are off by %s on average, of %s%s%s%s",
        name_nearest(c, l, best), off, wait,
        p->off_s > p->users_off_s ? ", jobs' own waits by " : "",
        p->off_s > p->users_off_s ? own : "", why_near(p, l->wait_mean_s));
}

/* What the log says of the reason, or what it may be. */
static const char *why_far(const struct gsim_compare *c, const char *held) {
    struct gsim_arena *arena = c->cli->arena;
    const char *idle = gsim_held_say_idle(c->setup, arena);
    if (held || idle)
        return gsim_arena_printf(arena, "and %s%s%s", held ? held : "",
                                 held && idle ? ", and " : "", idle ? idle : "");
    return "so what held jobs back there, or let them pass, is missing from these runs (another "
           "policy, partitions, limits of users or accounts, reservations, nodes that were down or "
           "not counted, jobs without a GPU); what a change would have done is not known before "
           "that";
}

const char *gsim_compare_say_logged(const struct gsim_compare *c, const struct gsim_logged *l) {
    char off[40], wait[40];
    int best = gsim_compare_nearest(c, l);
    if (l->policy[best].is_near)
        return say_near(c, l, best);
    format_time(off, l->policy[best].users_off_s);
    format_time(wait, l->wait_mean_s);
    const char *why = why_far(c, l->held);
    return gsim_arena_printf(c->cli->arena,
                             "no policy comes near the log: under %s, the nearest, users' mean "
                             "waits are off by %s on average, of %s, %s",
                             c->setup->contender[best].policy->name, off, wait, why ? why : "");
}
