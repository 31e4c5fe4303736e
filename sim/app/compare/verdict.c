/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentences of a comparison's verdict: which policy has the lowest mean JCT, by how much and
 * with which confidence, or that policies tie or cannot be told apart; the lowest of those that do
 * not know durations, where that one does; likewise for latencies if there are requests; whether
 * the policies lie outside the validated range; and whether the winner depends on an assumed
 * constant. */
#include <math.h>
#include <string.h>

#include "sim/app/compare/compare.h"

enum { MOST_LINES = 16 };

/* A relative difference below this matters to no cluster, and the models are not that exact. */
static const double ALIKE = 0.001;

struct verdict {
    const struct gsim_compare *c;
    const struct gsim_comparison *s;
    const char *line[MOST_LINES + 1];
    int n;
    bool is_named[GSIM_MAX_COMPARED]; /* contenders that a line names */
    bool is_out_of_memory;
};

static void add(struct verdict *v, const char *line) {
    v->is_out_of_memory |= !line;
    if (line && v->n < MOST_LINES)
        v->line[v->n++] = line;
}

/* The policy's name, and beside it that no cluster can run it. */
static const char *name_of(const struct verdict *v, int contender) {
    const char *name = v->c->setup->contender[contender].policy->name;
    return gsim_compare_knows_durations(v->c, contender)
               ? gsim_arena_printf(v->c->cli->arena, "%s (oracle)", name)
               : name;
}

/* The names of the contenders in the set: "a, b and c". */
static const char *names_of(const struct verdict *v, const bool *is_in) {
    struct gsim_arena *arena = v->c->cli->arena;
    const char *text = "";
    int n = 0, n_left = 0;
    for (int i = 0; i < v->c->setup->n_contenders; i++)
        n_left += is_in[i];
    for (int i = 0; i < v->c->setup->n_contenders && text; i++) {
        if (!is_in[i])
            continue;
        n_left--;
        text = gsim_arena_printf(arena, "%s%s%s", text,
                                 n == 0       ? ""
                                 : n_left > 0 ? ", "
                                              : " and ",
                                 name_of(v, i));
        n++;
    }
    return text;
}

/* --- a ranking -------------------------------------------------------------------------------- */

/* The confidence in the best contender's margin over another: " (95 % interval 1.0 to 9.0 %, p =
 * 0.012)". */
static const char *surety(const struct verdict *v, const struct gsim_compare_ranking *r,
                          int other) {
    struct gsim_arena *arena = v->c->cli->arena;
    /* the interval is of other / best; the margin is 1 - best / other */
    double low = 100 * (1 - 1 / r->to_best[other].low);
    double high = 100 * (1 - 1 / r->to_best[other].high);
    char p[16];
    if (isnan(low) || isnan(high))
        return "";
    low = fabs(low) < 0.05 ? 0 : low; /* avoids "-0.0" */
    if (v->s->units == GSIM_UNITS_CHANGED)
        return gsim_arena_printf(arena, " (%.1f to %.1f %% over %d %s, below in %d of them)", low,
                                 high, v->s->n_units, v->s->over, r->n_above[other]);
    gsim_format_p(p, r->p[other]);
    return gsim_arena_printf(arena, " (95 %% interval %.1f to %.1f %%, p %s%s)", low, high,
                             *p == '<' ? "" : "= ", p);
}

static bool is_alike(const struct gsim_compare_ranking *r, int i) {
    return !(r->value[i] > r->value[r->best] * (1 + ALIKE));
}

static bool may_be_chance(const struct verdict *v, const struct gsim_compare_ranking *r, int i) {
    if (v->s->units == GSIM_UNITS_CHANGED)
        return r->n_above[i] < v->s->n_units;
    return r->p[i] > 0.05; /* the interval of the ratio has 1 in it then */
}

/* The best contender's margin over another: "1.9 % below las, which may be chance (95 % interval
 * -1.0 to 4.7 %, p = 0.2)". */
static const char *margin(const struct verdict *v, const struct gsim_compare_ranking *r,
                          int other) {
    const char *sure = surety(v, r, other);
    return sure ? gsim_arena_printf(v->c->cli->arena, "%.1f %% below %s%s%s",
                                    100 * (1 - r->value[r->best] / r->value[other]),
                                    name_of(v, other),
                                    may_be_chance(v, r, other) ? ", which may be chance" : "", sure)
                : NULL;
}

/* The names of those within 0.1 % of the best, or of all that may be no higher but for chance. */
static const char *names_beside(struct verdict *v, const struct gsim_compare_ranking *r,
                                bool is_chance) {
    bool is_in[GSIM_MAX_COMPARED] = {false};
    for (int i = 0; i < v->c->setup->n_contenders; i++) {
        is_in[i] = r->is_in[i] &&
                   (i == r->best || is_alike(r, i) || (is_chance && may_be_chance(v, r, i)));
        v->is_named[i] |= is_in[i];
    }
    return names_of(v, is_in);
}

/* The lowest contender that does not tie with the best one; -1: all tie. */
static int next_of(const struct verdict *v, const struct gsim_compare_ranking *r) {
    int next = -1;
    for (int i = 0; i < v->c->setup->n_contenders; i++)
        if (r->is_in[i] && !is_alike(r, i) && (next < 0 || r->value[i] < r->value[next]))
            next = i;
    return next;
}

static const char *say_alike(struct verdict *v, const struct gsim_compare_ranking *r,
                             const char *what) {
    int next = next_of(v, r);
    const char *names = names_beside(v, r, false), *above = next < 0 ? "" : margin(v, r, next);
    return names && above ? gsim_arena_printf(v->c->cli->arena, "%s tie in %s, within %g %%%s%s",
                                              names, what, 100 * ALIKE, *above ? ", " : "", above)
                          : NULL;
}

static const char *say_chance(struct verdict *v, const struct gsim_compare_ranking *r,
                              const char *what) {
    const char *names = names_beside(v, r, true), *above = margin(v, r, r->second);
    return names && above ? gsim_arena_printf(v->c->cli->arena,
                                              "%s cannot be told apart in %s: %s is lowest, %s",
                                              names, what, name_of(v, r->best), above)
                          : NULL;
}

/* Without a statistic the order is that of the run alone. Means over changed traces, in which the
 * trace as it is has no part, may be in another order than those of its table; and they say nothing
 * of other traces of the process that made this one. */
static const char *scope_of(const struct verdict *v, const struct gsim_compare_ranking *r) {
    if (v->s->units == GSIM_UNITS_CHANGED)
        return " over changed traces";
    bool is_of_run = !v->s->units || (v->s->units == GSIM_UNITS_BATCHES && isnan(r->p[r->second]));
    return is_of_run ? " in this run" : "";
}

static const char *say_winner(struct verdict *v, const struct gsim_compare_ranking *r,
                              const char *what) {
    const char *above = margin(v, r, r->second);
    v->is_named[r->best] = v->is_named[r->second] = true;
    return above ? gsim_arena_printf(v->c->cli->arena, "%s has the lowest %s%s, %s",
                                     name_of(v, r->best), what, scope_of(v, r), above)
                 : NULL;
}

/* The sentence of a ranking with two policies or more. */
static const char *say_rank(struct verdict *v, const struct gsim_compare_ranking *r,
                            const char *what, bool *is_won) {
    *is_won = false;
    if (is_alike(r, r->second))
        return say_alike(v, r, what);
    if (may_be_chance(v, r, r->second))
        return say_chance(v, r, what);
    *is_won = true;
    return say_winner(v, r, what);
}

/* No cluster can run the lowest policy if that knows durations: the lowest of the others. */
static void say_blind(struct verdict *v, enum gsim_measure measure) {
    const struct gsim_compare_ranking *r = &v->s->blind[measure];
    static const char known[] = "an oracle knows how long jobs run, as no scheduler does";
    struct gsim_arena *arena = v->c->cli->arena;
    bool is_won;
    if (!gsim_compare_knows_durations(v->c, v->s->ranking[measure].best))
        return;
    if (r->best < 0)
        add(v, gsim_arena_printf(arena, "%s, and all of these policies are oracles", known));
    else if (r->second < 0)
        add(v, gsim_arena_printf(arena, "%s; %s alone does not", known, name_of(v, r->best)));
    else
        add(v, gsim_arena_printf(arena, "%s; of the policies that do not, %s", known,
                                 say_rank(v, r, gsim_measure_names[measure], &is_won)));
}

/* Adds the lines of a measure. Returns whether there is a winner, which the what-if runs then
 * test. */
static bool rank(struct verdict *v, enum gsim_measure measure) {
    const struct gsim_compare_ranking *r = &v->s->ranking[measure];
    bool is_won;
    if (!r->is_there || r->second < 0)
        return false;
    add(v, say_rank(v, r, gsim_measure_names[measure], &is_won));
    say_blind(v, measure);
    return is_won;
}

/* --- further lines ---------------------------------------------------------------------------- */

static void say_unsure(struct verdict *v) {
    const struct gsim_compare_ranking *r = &v->s->ranking[GSIM_MEASURE_JCT];
    bool is_short = v->s->units == GSIM_UNITS_BATCHES && isnan(r->p[r->second]);
    if (!v->s->none_why && !is_short)
        return;
    add(v,
        v->c->setup->spec
            ? "one run cannot tell whether that is chance: --reps 20 draws 20 traces"
            : "one run cannot tell whether that is chance: --shake 5% or --resample user show how "
              "much hangs on coincidences of this trace, --reps of a spec how much is chance");
}

static bool has_classes(const struct gsim_trace *trace) {
    for (uint32_t job = 1; job < trace->n_jobs; job++)
        if (gsim_trace_get(trace, GSIM_COL_CLASS, job) != gsim_trace_get(trace, GSIM_COL_CLASS, 0))
            return true;
    return false;
}

/* Policies with guests serve one class at the cost of another, which a mean over all jobs hides. */
static void say_classes(struct verdict *v) {
    if (has_classes(&v->c->traces[0]) && !v->c->cli->value[GSIM_OPT_BY])
        add(v, "that mean is over jobs of several classes, which policies may treat unequally: "
               "gsim compare --by class shows each");
}

/* " 40 of 200 under fifo" for each contender that a line names, over all its runs; "": all jobs
 * ended. */
static const char *ended_of(const struct verdict *v) {
    const char *text = "";
    bool is_whole = true;
    for (int i = 0; i < v->c->setup->n_contenders && text; i++) {
        int64_t n_jobs = 0, n_ended = 0;
        for (int r = 0; r < v->c->n_traces; r++) {
            n_jobs += gsim_compare_summary(v->c, i, r)->jobs;
            n_ended += gsim_compare_summary(v->c, i, r)->completed;
        }
        is_whole &= n_ended == n_jobs || !v->is_named[i];
        if (v->is_named[i])
            text = gsim_arena_printf(v->c->cli->arena, "%s%s%lld of %lld under %s", text,
                                     *text ? ", " : "", (long long)n_ended, (long long)n_jobs,
                                     v->c->setup->contender[i].policy->name);
    }
    return is_whole && text ? "" : text;
}

/* Jobs that did not end have no completion time, and which those are hangs on the policy. */
static void say_unfinished(struct verdict *v) {
    const char *ended = ended_of(v);
    if (!ended || *ended)
        add(v, ended ? gsim_arena_printf(v->c->cli->arena,
                                         "the means are of jobs that ended, %s: a policy that "
                                         "leaves long jobs unfinished seems better than it is",
                                         ended)
                     : NULL);
}

static const char *outside_of(const struct verdict *v, int contender) {
    for (int r = 0; r < v->c->n_traces; r++) {
        const char *outside = gsim_compare_summary(v->c, contender, r)->outside_validated;
        if (*outside)
            return outside;
    }
    return "";
}

/* Adds a line for each reason for which named policies lie outside the validated range. */
static void say_outside(struct verdict *v) {
    bool is_said[GSIM_MAX_COMPARED] = {false};
    for (int i = 0; i < v->c->setup->n_contenders; i++) {
        const char *why = outside_of(v, i);
        bool is_in[GSIM_MAX_COMPARED] = {false};
        if (!v->is_named[i] || is_said[i] || !*why)
            continue;
        for (int k = i; k < v->c->setup->n_contenders; k++)
            is_said[k] |= is_in[k] = v->is_named[k] && strcmp(outside_of(v, k), why) == 0;
        const char *names = names_of(v, is_in);
        add(v, names ? gsim_arena_printf(v->c->cli->arena, "outside what was validated: %s (%s)",
                                         names, why)
                     : NULL);
    }
}

static const char *tried(const struct gsim_whatif *w, struct gsim_arena *arena) {
    const char *s = w->n_varied == 1 ? "" : "s";
    if (w->flip)
        return gsim_arena_printf(
            arena, "the verdict does not survive +-20 %% on assumed constants: %s", w->flip);
    if (w->n_varied)
        return gsim_arena_printf(
            arena, "the verdict survives +-20 %% on each of %d assumed constant%s", w->n_varied, s);
    if (w->n_left_out)
        return "the verdict was tried with no other value of assumed constants";
    return w->n_not_varied ? "the verdict rests on assumed values"
                           : "the verdict rests on no assumed constant";
}

/* The runs on which other values are tried: --what-if asks for those of all jobs. */
static const struct gsim_compare *tried_on(const struct verdict *v) {
    bool is_all = !v->c->part || gsim_option_is_on(v->c->cli, GSIM_OPT_WHAT_IF);
    return is_all ? v->c : v->c->part;
}

/* A contender that is below a winner before any constant is varied, on the first jobs alone; -1:
 * none is. */
static int other_winner(const struct verdict *v, const int *winner) {
    const struct gsim_compare *on = tried_on(v);
    int other = -1;
    for (int m = 0; m < GSIM_MEASURE_COUNT && on != v->c; m++) {
        if (winner[m] < 0)
            continue;
        enum gsim_measure measure = (enum gsim_measure)m;
        double least = gsim_measure_of(gsim_compare_summary(on, winner[m], 0), measure);
        for (int i = 0; i < on->setup->n_contenders && other < 0; i++)
            if (gsim_measure_of(gsim_compare_summary(on, i, 0), measure) < least)
                other = i;
    }
    return other;
}

/* Ends the line with the jobs that the trials were of. */
static const char *add_part(const struct verdict *v, const char *line) {
    const struct gsim_compare *on = tried_on(v);
    return on == v->c || !line
               ? line
               : gsim_arena_printf(v->c->cli->arena,
                                   "%s; that was tried on the first %u of %u jobs alone (--what-if "
                                   "tries all jobs)",
                                   line, on->traces[0].n_jobs, v->c->traces[0].n_jobs);
}

static void say_other_winner(struct verdict *v, int other) {
    add(v, gsim_arena_printf(v->c->cli->arena,
                             "whether the verdict survives other values of assumed constants was "
                             "not tried: on the first %u jobs alone, which such trials would be "
                             "of, %s is lower (--what-if tries all jobs)",
                             v->c->part->traces[0].n_jobs, name_of(v, other)));
}

static enum gsim_status say_whatif(struct verdict *v, const int *winner, struct gsim_whatif *w) {
    struct gsim_arena *arena = v->c->cli->arena;
    int other = other_winner(v, winner);
    if (other >= 0) {
        say_other_winner(v, other);
        return GSIM_OK;
    }
    enum gsim_status status = gsim_compare_whatif(tried_on(v), winner, w);
    if (status != GSIM_OK)
        return status;
    const char *line = tried(w, arena);
    if (w->n_varied)
        line = add_part(v, line);
    if (line && w->n_not_varied)
        line = gsim_arena_printf(arena, "%s; %d assumed value%s not varied", line, w->n_not_varied,
                                 w->n_not_varied == 1 ? " was" : "s were");
    if (line && w->n_left_out)
        line =
            gsim_arena_printf(arena, "%s; %d %sleft out (%s)", line, w->n_left_out,
                              w->n_left_out == 1 ? "was " : "were ",
                              w->is_interrupted ? "interrupted"
                              : w->is_forbidden ? "--no-what-if"
                                                : "more to simulate than the table was; --what-if "
                                                  "tries all");
    add(v, line);
    return GSIM_OK;
}

/* Whether the completion time of some job depends on the policy: a job of requests ends when they
 * have arrived. */
static bool has_batch_jobs(const struct gsim_trace *trace) {
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (gsim_trace_get(trace, GSIM_COL_REQUESTS, job) <= 0)
            return true;
    return false;
}

enum gsim_status gsim_compare_verdict(const struct gsim_compare *c, const struct gsim_comparison *s,
                                      const char *const **lines, struct gsim_whatif *whatif) {
    struct verdict *v = gsim_arena_alloc(c->cli->arena, sizeof *v);
    int winner[GSIM_MEASURE_COUNT];
    bool is_won = false;
    *whatif = (struct gsim_whatif){0};
    if (!v)
        return gsim_no_memory(c->cli->log, "comparing");
    v->c = c;
    v->s = s;
    *lines = v->line;
    for (int m = 0; m < GSIM_MEASURE_COUNT; m++) {
        bool is_won_here = (m != GSIM_MEASURE_JCT || has_batch_jobs(&c->traces[0])) &&
                           rank(v, (enum gsim_measure)m);
        winner[m] = is_won_here ? s->ranking[m].best : -1;
        if (v->n > 0 && m == GSIM_MEASURE_JCT) {
            say_unfinished(v);
            say_classes(v);
        }
        is_won |= is_won_here;
    }
    bool is_ranked = v->n > 0; /* a single policy has no rank */
    if (s->logged.n > 0)
        add(v, gsim_compare_say_logged(c, &s->logged));
    if (!is_ranked)
        return v->is_out_of_memory ? gsim_no_memory(c->cli->log, "comparing") : GSIM_OK;
    if (is_won)
        say_unsure(v);
    say_outside(v);
    enum gsim_status status = is_won ? say_whatif(v, winner, whatif) : GSIM_OK;
    if (status == GSIM_OK && v->is_out_of_memory)
        return gsim_no_memory(c->cli->log, "comparing");
    return status;
}
