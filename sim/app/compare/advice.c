/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentences of gsim advise: for each policy that would have served the jobs better than the one
 * that stands for today's, how much better, for how many users, what that rests on, and what would
 * overturn it. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/compare/advise.h"

/* An alternative is named where its mean JCT is lower by more than this. */
static const double WORTH = 0.02;
/* A user is served better or worse where the mean wait differs by more than a minute, which is
 * what a scheduler's own period makes of it. */
static const double NOTICED_S = 60;

void gsim_advice_add(struct gsim_advice *advice, const char *format, ...) {
    enum { MOST = sizeof advice->text / sizeof *advice->text - 1 };
    char buffer[4096];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    char *text = gsim_arena_strdup(advice->arena, buffer);
    advice->is_out_of_memory |= !text;
    if (text && advice->n < MOST)
        advice->text[advice->n++] = text;
}

/* --- users ------------------------------------------------------------------------------------ */

struct user {
    double before_s, after_s; /* sums of waits */
    uint32_t n;
};

struct served {
    uint32_t n, n_better, n_worse;
    double most_s; /* of the user that waits longer by most, on average */
    const char *most;
};

static struct served serve(const struct gsim_compare *c, int contender) {
    const struct gsim_trace *trace = &c->traces[0];
    enum gsim_column owner = trace->column[GSIM_COL_USER] ? GSIM_COL_USER : GSIM_COL_VC;
    const int64_t *before = gsim_compare_at(c, 0, 0)->result.jobs.wait_ns;
    const int64_t *after = gsim_compare_at(c, contender, 0)->result.jobs.wait_ns;
    uint32_t n = trace->names[owner].n;
    struct user *user = gsim_arena_array(c->cli->arena, n + 1, sizeof *user);
    struct served served = {0};
    for (uint32_t job = 0; user && trace->column[owner] && job < trace->n_jobs; job++) {
        int64_t name = trace->column[owner][job];
        if (name < 0)
            continue;
        user[name].n++;
        user[name].before_s += (double)before[job] / 1e9;
        user[name].after_s += (double)after[job] / 1e9;
    }
    for (uint32_t u = 0; user && u < n; u++) {
        double more_s = user[u].n ? (user[u].after_s - user[u].before_s) / user[u].n : 0;
        served.n += user[u].n > 0;
        served.n_better += more_s < -NOTICED_S;
        served.n_worse += more_s > NOTICED_S;
        if (more_s > served.most_s) {
            served.most_s = more_s;
            served.most = trace->names[owner].name[u];
        }
    }
    return served;
}

static const char *say_users(const struct gsim_compare *c, int contender) {
    struct served served = serve(c, contender);
    char most[40];
    if (served.n < 2)
        return "";
    (void)gsim_format_humane(most, served.most_s);
    const char *text = gsim_arena_printf(
        c->cli->arena,
        " Of %u users %u wait less on average by more than a minute, %u longer by more than "
        "that%s%s%s%s%s",
        served.n, served.n_better, served.n_worse, served.n_worse ? " (the most: " : "",
        served.n_worse ? served.most : "", served.n_worse ? ", by " : "",
        served.n_worse ? most : "", served.n_worse ? ")." : ".");
    return text ? text : "";
}

/* --- one alternative -------------------------------------------------------------------------- */

static const char *contender_name(const struct gsim_compare *c, int contender) {
    return c->setup->contender[contender].policy->name;
}

/* Of changed traces the trace as it is counts, which is replication 0: waits and users are of it,
 * and a sentence is of one thing. Of a spec the mean of all replications, which are drawn alike. */
static double mean_measure(const struct gsim_compare *c, int contender,
                           double (*value)(const struct gsim_summary *)) {
    double sum = 0;
    int n = c->first_rep ? 1 : c->n_reps;
    for (int r = 0; r < n; r++)
        sum += value(gsim_compare_summary(c, contender, r));
    return sum / n;
}

static double mean_jct_s(const struct gsim_summary *summary) {
    return summary->jct_mean_s;
}

static double p99_s(const struct gsim_summary *summary) {
    return summary->jct_p99_s;
}

static double mean_wait_s(const struct gsim_summary *summary) {
    return summary->wait_mean_s;
}

/* Its mean JCT, to that of today's policy. */
static double ratio_to_best(const struct gsim_compare *c, int i) {
    return mean_measure(c, i, mean_jct_s) / mean_measure(c, 0, mean_jct_s);
}

/* Whether the interval, or the changed traces, leave open that it is no better. */
static bool is_within_chance(const struct gsim_comparison *s, int i) {
    if (s->units == GSIM_UNITS_NONE)
        return false; /* which its sentence says */
    if (s->units == GSIM_UNITS_CHANGED)
        return s->policy[i].n_below < s->n_units;
    return isnan(s->policy[i].ratio.high) || s->policy[i].ratio.high >= 1;
}

/* After the point, of per cents: 0.4 is not 0. */
static int digits_of(double percent) {
    return fabs(percent) < 10 ? 1 : 0;
}

static const char *say_interval(const struct gsim_compare *c, const struct gsim_comparison *s,
                                int i) {
    const struct gsim_interval *ratio = &s->policy[i].ratio;
    if (s->units == GSIM_UNITS_NONE || isnan(ratio->low) || isnan(ratio->high))
        return "";
    double least = 100 * (1 - ratio->high), most = 100 * (1 - ratio->low);
    const char *text =
        gsim_arena_printf(c->cli->arena, " (%.*f to %.*f %%, over %d %s)", digits_of(least), least,
                          digits_of(most), most, s->n_units, s->over);
    return text ? text : "";
}

static const char *rests_on(const struct gsim_compare *c, int i) {
    const struct gsim_summary *own = gsim_compare_summary(c, i, 0);
    bool is_assumed = *own->assumed != '\0', is_outside = *own->outside_validated != '\0';
    const char *text = gsim_arena_printf(
        c->cli->arena, " It rests on %s%s%s%s%s.",
        is_assumed ? "assumed values (" : "the log's own numbers alone, and no assumed value",
        own->assumed, is_assumed ? ")" : "",
        is_outside ? "; it is outside what was validated: " : "", own->outside_validated);
    return text ? text : "";
}

static const char *overturned_by(const struct gsim_compare *c, const struct gsim_comparison *s,
                                 int i) {
    const struct gsim_summary *own = gsim_compare_summary(c, i, 0);
    const char *chance = s->units == GSIM_UNITS_NONE
                             ? "another month (no interval: --resample user draws ten)"
                             : "users that submit otherwise once they wait less";
    const char *text = gsim_arena_printf(
        c->cli->arena, " It would be overturned by %s%s%s%s.", chance,
        *own->assumed ? "; by other values of what is assumed (--what-if tries them)" : "",
        own->preemptions > 0 ? "; by jobs that cannot be stopped and taken up again as assumed"
                             : "",
        c->setup->contender[i].policy->shares_gpus
            ? "; by jobs that use a GPU otherwise than their rows say (sm_fraction, memory)"
            : "");
    return text ? text : "";
}

/* "4.1 h instead of 5 h" */
static const char *say_times(const struct gsim_compare *c, int i,
                             double (*value)(const struct gsim_summary *)) {
    char before[40], after[40];
    (void)gsim_format_humane(before, mean_measure(c, 0, value));
    (void)gsim_format_humane(after, mean_measure(c, i, value));
    const char *text = gsim_arena_printf(c->cli->arena, "%s instead of %s", after, before);
    return text ? text : "";
}

static void advise(struct gsim_advice *advice, const struct gsim_compare *c,
                   const struct gsim_comparison *s, int i, int rank) {
    double lower = 100 * (1 - ratio_to_best(c, i));
    bool has_tail = mean_measure(c, i, p99_s) > mean_measure(c, 0, p99_s) * (1 + WORTH);
    gsim_advice_add(advice,
                    "%d. %s in place of %s: mean JCT %.*f %% lower%s, %sp99 %s; mean wait "
                    "%s.%s%s%s",
                    rank, contender_name(c, i), contender_name(c, 0), digits_of(lower), lower,
                    say_interval(c, s, i), has_tail ? "but " : "", say_times(c, i, p99_s),
                    say_times(c, i, mean_wait_s), say_users(c, i), rests_on(c, i),
                    overturned_by(c, s, i));
}

/* --- all of them ------------------------------------------------------------------------------ */

struct ranked {
    int contender;
    double ratio;
};

static int by_ratio(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return x->ratio < y->ratio ? -1 : x->ratio > y->ratio;
}

/* The alternatives with a mean JCT that is lower, the lowest first. */
static int rank_contenders(const struct gsim_compare *c, struct ranked *ranked) {
    int n = 0;
    for (int i = 1; i < c->setup->n_contenders; i++)
        if (ratio_to_best(c, i) < 1 - WORTH && !gsim_compare_knows_durations(c, i))
            ranked[n++] = (struct ranked){i, ratio_to_best(c, i)};
    qsort(ranked, (size_t)n, sizeof *ranked, by_ratio);
    return n;
}

/* Those that other traces like this one put above today's policy: no reason to change it. */
static int advise_of_chance(struct gsim_advice *advice, const struct gsim_compare *c,
                            const struct gsim_comparison *s, const struct ranked *ranked, int n) {
    int n_chance = 0;
    for (int k = 0; k < n; k++)
        if (is_within_chance(s, ranked[k].contender)) {
            n_chance++;
            gsim_advice_add(advice,
                            "No advice: %s in place of %s, with a mean JCT that is %.0f %% lower "
                            "here%s: that may be chance.",
                            contender_name(c, ranked[k].contender), contender_name(c, 0),
                            100 * (1 - ranked[k].ratio), say_interval(c, s, ranked[k].contender));
        }
    return n_chance;
}

/* With gangs, or where stops cost time, the policy that serves the least remaining time first need
 * not have the least mean JCT. */
static void say_known(struct gsim_advice *advice, const struct gsim_compare *c) {
    static const double ALIKE = 0.5; /* per cent: printed as 0 */
    for (int i = 1; i < c->setup->n_contenders; i++) {
        double lower = 100 * (1 - ratio_to_best(c, i));
        if (!gsim_compare_knows_durations(c, i))
            continue;
        const char *how =
            fabs(lower) < ALIKE
                ? gsim_arena_printf(c->cli->arena, "the mean JCT of %s", contender_name(c, 0))
                : gsim_arena_printf(c->cli->arena, "a mean JCT %.0f %% %s that of %s", fabs(lower),
                                    lower > 0 ? "below" : "above", contender_name(c, 0));
        gsim_advice_add(advice,
                        "To compare: %s, which knows how long jobs will run, as no scheduler "
                        "does, has %s.",
                        contender_name(c, i), how ? how : "");
    }
}

/* Where jobs hardly wait there is nothing to gain. */
static void say_little(struct gsim_advice *advice, const struct gsim_compare *c) {
    char wait[40];
    double s = mean_measure(c, 0, mean_wait_s);
    (void)gsim_format_humane(wait, s);
    if (s < NOTICED_S)
        gsim_advice_add(advice,
                        "Jobs wait %s on average under %s: neither another scheduler nor more GPUs "
                        "can give them more than that. Whether fewer GPUs would do stands below.",
                        s > 0 ? wait : "0 s", contender_name(c, 0));
}

void gsim_advice_alternatives(struct gsim_advice *advice, const struct gsim_compare *c,
                              const struct gsim_comparison *s) {
    struct ranked ranked[GSIM_MAX_COMPARED];
    bool is_there = s->ranking[GSIM_MEASURE_JCT].is_there;
    say_little(advice, c);
    int n = is_there ? rank_contenders(c, ranked) : 0, n_said = 0;
    for (int k = 0; k < n; k++)
        if (!is_within_chance(s, ranked[k].contender))
            advise(advice, c, s, ranked[k].contender, ++n_said);
    int n_chance = advise_of_chance(advice, c, s, ranked, n);
    if (is_there)
        say_known(advice, c);
    if (n_said == 0)
        gsim_advice_add(advice,
                        "No policy that was tried has a mean JCT more than %.0f %% below that of "
                        "%s%s: leave the scheduler as it is.",
                        100 * WORTH, contender_name(c, 0), n_chance ? " beyond chance" : "");
}
