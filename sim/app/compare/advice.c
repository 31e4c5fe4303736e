/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentences of gsim advise: for each policy that would have served the jobs better than the one
 * that stands for today's, how much better, for how many users, what that rests on, and what would
 * overturn it. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/compare/advise.h"
#include "sim/app/setup/resampling.h"
#include "sim/base/text.h"

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

/* --- kinds of jobs ---------------------------------------------------------------------------- */

/* The jobs of a trace by one of their numbers, the smallest first, so that equal ones are
 * neighbours. */
struct by_number {
    uint32_t job;
    int64_t number;
};

static int by_number(const void *a, const void *b) {
    const struct by_number *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

/* The mean waits of neighbours. */
static struct user add_up(const struct gsim_compare *c, int contender, const struct by_number *jobs,
                          uint32_t n) {
    const int64_t *before = gsim_compare_at(c, 0, 0)->result.jobs.wait_ns;
    const int64_t *after = gsim_compare_at(c, contender, 0)->result.jobs.wait_ns;
    struct user sum = {.n = n};
    for (uint32_t i = 0; i < n; i++) {
        sum.before_s += (double)before[jobs[i].job] / 1e9 / n;
        sum.after_s += (double)after[jobs[i].job] / 1e9 / n;
    }
    return sum;
}

/* " On average jobs of 8 GPUs (40 of 200) wait 2.1 d instead of 3 h", where they wait longer by
 * more than is noticed. */
static const char *say_kind(const struct gsim_compare *c, const struct user *kind, const char *what,
                            bool is_first) {
    char before[40], after[40];
    if (kind->n == 0 || kind->after_s - kind->before_s <= NOTICED_S)
        return "";
    (void)gsim_format_humane(before, kind->before_s);
    (void)gsim_format_humane(after, kind->after_s);
    const char *text = gsim_arena_printf(c->cli->arena, "%s%s wait %s instead of %s",
                                         is_first ? " On average " : "; ", what, after,
                                         kind->before_s > 0 ? before : "0 s");
    return text ? text : "";
}

/* The width that waits longer by most, where widths differ. */
static struct user worst_width(const struct gsim_compare *c, int contender, struct by_number *jobs,
                               uint32_t n_jobs, int64_t *width) {
    struct user worst = {0};
    for (uint32_t i = 0; i < n_jobs; i++)
        jobs[i] = (struct by_number){i, gsim_trace_gpus(&c->traces[0], i)};
    qsort(jobs, n_jobs, sizeof *jobs, by_number);
    for (uint32_t first = 0, n; first < n_jobs; first += n) {
        for (n = 1; first + n < n_jobs && jobs[first + n].number == jobs[first].number; n++)
            continue;
        struct user own = add_up(c, contender, &jobs[first], n);
        if (n == n_jobs || own.after_s - own.before_s <= worst.after_s - worst.before_s)
            continue;
        worst = own;
        *width = jobs[first].number;
    }
    return worst;
}

/* A mean over all jobs, or over a user's, hides that wide jobs or long ones pay for the others. */
static const char *say_losers(const struct gsim_compare *c, int contender) {
    enum { PARTS = 10 };
    const struct gsim_trace *trace = &c->traces[0];
    uint32_t n = trace->n_jobs;
    int64_t width = 0;
    struct by_number *jobs = gsim_arena_array(c->cli->arena, n, sizeof *jobs);
    if (!jobs)
        return "";
    struct user wide = worst_width(c, contender, jobs, n, &width);
    for (uint32_t i = 0; i < n; i++)
        jobs[i].number = trace->service_ns[jobs[i].job];
    qsort(jobs, n, sizeof *jobs, by_number);
    struct user longest = add_up(c, contender, &jobs[n - n / PARTS], n / PARTS);
    const char *name = gsim_arena_printf(c->cli->arena, "jobs of %lld GPU%s (%u of %u)",
                                         (long long)width, gsim_plural(width), wide.n, n);
    const char *one = say_kind(c, &wide, name ? name : "", true);
    const char *two = say_kind(c, &longest, "the tenth of the jobs that run longest", !*one);
    const char *text =
        gsim_arena_printf(c->cli->arena, "%s%s%s", one, two, *one || *two ? "." : "");
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
    /* of changed traces it is their range, which the trace as it is may stand outside of */
    const char *text =
        gsim_arena_printf(c->cli->arena, " (%s%.*f to %.*f %%, over %d %s)",
                          s->units == GSIM_UNITS_CHANGED ? "on this trace; " : "", digits_of(least),
                          least, digits_of(most), most, s->n_units, s->over);
    return text ? text : "";
}

/* A site's own scheduler has jobs wait for limits beside idle GPUs; under another policy of the
 * simulator they do not, which a change of scheduler alone would not bring. */
static const char *say_limits(const struct gsim_compare *c, int i) {
    static const struct {
        const char *policy, *limits;
    } sites[] = {{"slurm", "limits of users, accounts and QOS"}, {"kueue", "quotas"}};
    const char *text = "", *today = contender_name(c, 0);
    for (size_t k = 0; k < sizeof sites / sizeof *sites; k++)
        if (strcmp(today, sites[k].policy) == 0 && strcmp(contender_name(c, i), today) != 0)
            text = gsim_arena_printf(c->cli->arena,
                                     " Here it has none of the site's %s, which %s holds jobs to: "
                                     "what they cost counts as gained.",
                                     sites[k].limits, today);
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

/* "is 22 to 24 % lower", "is 22 % lower", "is 3.0 % higher to 24 % lower" */
static const char *say_change(const struct gsim_compare *c, const struct gsim_tried *tried) {
    double least = 100 * (1 - tried->most), most = 100 * (1 - tried->least);
    char low[32], high[32];
    bool is_one_side = least >= 0 || most < 0;
    (void)snprintf(low, sizeof low, "%.*f", digits_of(least), fabs(least));
    (void)snprintf(high, sizeof high, "%.*f", digits_of(most), fabs(most));
    const char *side = most < 0 ? "higher" : "lower";
    const char *text = strcmp(low, high) == 0 && is_one_side
                           ? gsim_arena_printf(c->cli->arena, "is %s %% %s", low, side)
                           : gsim_arena_printf(c->cli->arena, "is %s%s to %s %% %s", low,
                                               is_one_side ? "" : " % higher", high, side);
    return text ? text : "";
}

/* What the values came to that were tried of constants on which the two policies rest: the verdict
 * is about the winner, which may be another policy. */
static const char *say_tried(const struct gsim_compare *c, const struct gsim_tried *tried) {
    bool is_part = c->part && !gsim_option_is_on(c->cli, GSIM_OPT_WHAT_IF);
    const char *text = gsim_arena_printf(
        c->cli->arena, "; by %s (with each a fifth smaller and larger its mean JCT %s%s%s)",
        tried->most < 1 ? "assumed constants that are off by more than a fifth"
                        : "other values of assumed constants",
        say_change(c, tried), c->first_rep ? ", over the changed traces" : "",
        is_part ? ", of the first jobs alone" : "");
    return text ? text : "";
}

/* Durations are no constant: no trial has other ones. */
static const char *say_assumed(const struct gsim_compare *c, int i,
                               const struct gsim_tried *tried) {
    const char *assumed = gsim_compare_summary(c, i, 0)->assumed;
    int64_t n = gsim_count_listed(assumed), n_durations = gsim_takes_durations(assumed);
    if (n > n_durations && tried->n > 0)
        return say_tried(c, tried);
    if (n > n_durations)
        return "; by other assumed values, which were not tried";
    return n > 0 ? "; by durations that were measured on other GPUs than these" : "";
}

static const char *overturned_by(const struct gsim_compare *c, const struct gsim_comparison *s,
                                 int i, const struct gsim_tried *tried) {
    const struct gsim_summary *own = gsim_compare_summary(c, i, 0);
    bool has_none = s->units == GSIM_UNITS_NONE;
    const char *text = gsim_arena_printf(
        c->cli->arena, " It would be overturned by %s%s%s%s%s%s.",
        has_none ? "another month (no interval: "
                 : "users that submit otherwise once they wait less",
        has_none ? gsim_resampling_advice(&c->setup->trace) : "", has_none ? ")" : "",
        say_assumed(c, i, tried),
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
                   const struct gsim_comparison *s, const struct gsim_whatif *whatif, int i,
                   int rank) {
    double lower = 100 * (1 - ratio_to_best(c, i));
    bool has_tail = mean_measure(c, i, p99_s) > mean_measure(c, 0, p99_s) * (1 + WORTH);
    gsim_advice_add(advice,
                    "%d. %s in place of %s: mean JCT %.*f %% lower%s, %sp99 %s; mean wait "
                    "%s.%s%s%s%s%s",
                    rank, contender_name(c, i), contender_name(c, 0), digits_of(lower), lower,
                    say_interval(c, s, i), has_tail ? "but " : "", say_times(c, i, p99_s),
                    say_times(c, i, mean_wait_s), say_users(c, i), say_losers(c, i),
                    say_limits(c, i), rests_on(c, i), overturned_by(c, s, i, &whatif->tried[i]));
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
                            "No advice: %s in place of %s, with a mean JCT that is %.0f %% lower"
                            "%s: that may be chance.",
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
                              const struct gsim_comparison *s, const struct gsim_whatif *whatif) {
    struct ranked ranked[GSIM_MAX_COMPARED];
    bool is_there = s->ranking[GSIM_MEASURE_JCT].is_there;
    say_little(advice, c);
    int n = is_there ? rank_contenders(c, ranked) : 0, n_said = 0;
    for (int k = 0; k < n; k++)
        if (!is_within_chance(s, ranked[k].contender))
            advise(advice, c, s, whatif, ranked[k].contender, ++n_said);
    int n_chance = advise_of_chance(advice, c, s, ranked, n);
    if (is_there)
        say_known(advice, c);
    if (n_said == 0)
        gsim_advice_add(advice,
                        "No policy that was tried has a mean JCT more than %.0f %% below that of "
                        "%s%s: leave the scheduler as it is.",
                        100 * WORTH, contender_name(c, 0), n_chance ? " beyond chance" : "");
}
