/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What-if runs. Assumed constants come from devices/assumed.ini. Each constant that a run used is
 * made a fifth smaller and a fifth larger, one at a time, and the policies that used it run again
 * on the traces of the comparison; the other policies cannot be affected. All these runs together
 * may simulate no more steps than the compared runs did. The budget is counted in steps, so that
 * the output does not depend on the speed of the machine. */
#include <math.h>
#include <string.h>

#include "sim/app/compare/compare.h"
#include "sim/app/sweep/parallel.h"
#include "sim/app/cli/progress.h"
#include "gsim/units.h"
#include "sim/api/model.h"

enum { MAX_KEYS = 64 };

/* The least budget in steps: some tenths of a second (60 ns each under uvm). */
static const int64_t FREE_STEPS = 5000000;

static const int percents[] = {-20, 20};
enum { N_PERCENTS = sizeof percents / sizeof *percents };

struct trial {
    const struct gsim_setup *setup;
    int key, percent, contender, replication;
    double value[GSIM_MEASURE_COUNT];
    enum gsim_status status;
};

struct whatif {
    const struct gsim_compare *c;
    const char *key[MAX_KEYS];
    uint64_t users[MAX_KEYS]; /* contenders with runs that used the key, as bits */
    int n_keys;
    struct trial *trial; /* by key, percentage, contender and replication */
    int n_trials;
    struct gsim_progress_bar bar;
};

_Static_assert(GSIM_MAX_COMPARED <= 64, "users of a key are bits");

/* --- which constants -------------------------------------------------------------------------- */

/* The place of a name in a list; a new name is appended. MAX_KEYS: the list is full. */
static int place_of(struct gsim_arena *arena, const char **list, int *n, const char *name,
                    size_t length) {
    int at = 0;
    while (at < *n && list[at] &&
           (strlen(list[at]) != length || strncmp(list[at], name, length) != 0))
        at++;
    if (at == *n && at < MAX_KEYS)
        list[(*n)++] = gsim_arena_strndup(arena, name, length);
    return at;
}

/* Collects the keys from the lists "key=value (device), key=value (device)" of all results. A name
 * that is no key of a device is a column of the trace. */
static void find_keys(struct whatif *w, struct gsim_whatif *out) {
    struct gsim_arena *arena = w->c->cli->arena;
    const char *column[MAX_KEYS];
    for (int t = 0; t < w->c->n_tasks; t++) {
        const char *at = w->c->tasks[t].result.summary.assumed;
        for (; *at; at += strspn(at, ", ")) {
            size_t length = strcspn(at, "=,");
            if (gsim_key_called(at, length) == GSIM_KEY_COUNT) {
                if (strncmp(at, GSIM_ASSUMED_DURATIONS "=", sizeof GSIM_ASSUMED_DURATIONS) != 0)
                    (void)place_of(arena, column, &out->n_not_varied, at, length);
            } else {
                int k = place_of(arena, w->key, &w->n_keys, at, length);
                if (k < MAX_KEYS)
                    w->users[k] |= (uint64_t)1 << w->c->tasks[t].contender;
            }
            at += length;
            const char *comma = strstr(at, ", ");
            at = comma ? comma : at + strlen(at);
        }
    }
}

/* --- another value ---------------------------------------------------------------------------- */

/* The key's value changed by `percent`, as text; NULL if the value cannot change: a word, a
 * zero. */
static const char *scaled(const struct gsim_profile *profile, int key, int percent,
                          struct gsim_arena *arena) {
    const struct gsim_curve_point *points = profile->curve[key];
    int64_t value = profile->value[key];
    const char *written = profile->text[key];
    if (!points) {
        int64_t other = gsim_muldiv_floor(value, 100 + percent, 100);
        bool is_number = written && strspn(written, "0123456789") > 0;
        return is_number && other != value ? gsim_arena_printf(arena, "%lld", (long long)other)
                                           : NULL;
    }
    const char *text = "";
    for (int64_t i = 0; i < value && text; i++)
        text = gsim_arena_printf(arena, "%s%s%lld:%lld", text, i ? "," : "", (long long)points[i].x,
                                 (long long)gsim_muldiv_floor(points[i].y, 100 + percent, 100));
    return text;
}

/* Makes a setup with profiles that have another value wherever they assume the key. */
static enum gsim_status vary(const struct gsim_compare *c, const char *name, int percent,
                             const struct gsim_setup **out, bool *is_varied) {
    struct gsim_arena *arena = c->cli->arena;
    struct gsim_setup *setup = gsim_arena_alloc(arena, sizeof *setup);
    uint16_t n = c->setup->cluster.n_profiles;
    const struct gsim_profile **profiles = gsim_arena_array(arena, n, sizeof *profiles);
    struct gsim_profile *copies = gsim_arena_array(arena, n, sizeof *copies);
    if (!setup || !profiles || !copies)
        return gsim_no_memory(c->cli->log, "varying constants");
    *setup = *c->setup;
    setup->n_samples = 0; /* nothing of a trial is kept but its means */
    setup->cluster.profiles = profiles;
    *out = setup;
    int key = (int)gsim_key_called(name, strlen(name));
    for (uint16_t i = 0; i < n; i++) {
        copies[i] = *c->setup->cluster.profiles[i];
        profiles[i] = &copies[i];
        const char *text = scaled(&copies[i], key, percent, arena);
        struct gsim_log *refused = gsim_arena_alloc(arena, sizeof *refused);
        bool is_known;
        if (text && refused && copies[i].tag[key] == GSIM_TAG_ASSUMED &&
            gsim_profile_set(&copies[i], name, text, &is_known, arena, refused) == GSIM_OK)
            *is_varied = true;
    }
    return GSIM_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

static void run_trial(void *arg, int64_t at) {
    struct whatif *w = arg;
    struct trial *trial = &w->trial[at];
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log *log = arena ? gsim_arena_alloc(arena, sizeof *log) : NULL;
    const volatile sig_atomic_t *stop = w->c->cli->io->stop;
    const char *name = trial->setup->contender[trial->contender].policy->name;
    struct gsim_result result;
    gsim_progress_start(&w->bar, name);
    trial->status = stop && *stop ? GSIM_INCOMPLETE : log ? GSIM_OK : GSIM_FAILED;
    if (trial->status == GSIM_OK)
        trial->status = gsim_setup_run(trial->setup, trial->contender, (uint64_t)trial->replication,
                                       &w->c->traces[trial->replication], w->c->cli->io, NULL,
                                       arena, &result, log);
    for (int m = 0; m < GSIM_MEASURE_COUNT; m++)
        trial->value[m] = trial->status == GSIM_OK
                              ? gsim_measure_of(&result.summary, (enum gsim_measure)m)
                              : (double)NAN;
    gsim_arena_free(arena);
    gsim_progress_add(&w->bar, name);
}

static bool is_user(const struct whatif *w, int key, int contender) {
    return w->users[key] >> contender & 1;
}

static void add_trials(struct whatif *w, const struct gsim_setup *setup, int key, int percent) {
    for (int i = 0; i < w->c->setup->n_contenders; i++)
        for (int r = 0; r < w->c->n_reps && is_user(w, key, i); r++)
            w->trial[w->n_trials++] = (struct trial){.setup = setup,
                                                     .key = key,
                                                     .percent = percent,
                                                     .contender = i,
                                                     .replication = w->c->first_rep + r};
}

/* Steps of all runs (key < 0), or of the trials of a key: its users' runs, once for each value. */
static int64_t steps_of(const struct whatif *w, int key) {
    int64_t steps = 0;
    for (int t = 0; t < w->c->n_tasks; t++) {
        const struct gsim_compare_task *task = &w->c->tasks[t];
        if (key < 0)
            steps += task->result.steps;
        else if (is_user(w, key, task->contender) && task->replication >= w->c->first_rep)
            steps += N_PERCENTS * task->result.steps;
    }
    return steps;
}

static enum gsim_status plan_key(struct whatif *w, int key, int64_t *budget,
                                 struct gsim_whatif *out) {
    const struct gsim_setup *setup[N_PERCENTS];
    bool is_varied[N_PERCENTS] = {false};
    for (int p = 0; p < N_PERCENTS; p++) {
        enum gsim_status status = vary(w->c, w->key[key], percents[p], &setup[p], &is_varied[p]);
        if (status != GSIM_OK)
            return status;
    }
    if (!is_varied[0] && !is_varied[1]) {
        out->n_not_varied++;
    } else if (out->is_forbidden || steps_of(w, key) > *budget) {
        out->n_left_out++;
    } else {
        *budget -= steps_of(w, key);
        out->n_varied++;
        for (int p = 0; p < N_PERCENTS; p++)
            if (is_varied[p])
                add_trials(w, setup[p], key, percents[p]);
    }
    return GSIM_OK;
}

/* Plans trials of the keys in the order in which the results name them, within the budget. */
static enum gsim_status plan(struct whatif *w, struct gsim_whatif *out) {
    struct gsim_cli *cli = w->c->cli;
    size_t n = (size_t)w->n_keys * N_PERCENTS * (size_t)w->c->setup->n_contenders;
    int64_t budget = steps_of(w, -1);
    enum gsim_status status = GSIM_OK;
    budget = gsim_option_is_on(cli, GSIM_OPT_WHAT_IF) ? INT64_MAX
             : budget < FREE_STEPS                    ? FREE_STEPS
                                                      : budget;
    out->is_forbidden = gsim_option_is_on(cli, GSIM_OPT_NO_WHAT_IF);
    w->trial = gsim_arena_array(cli->arena, n * (size_t)w->c->n_reps, sizeof *w->trial);
    if (!w->trial)
        return gsim_no_memory(cli->log, "varying constants");
    for (int k = 0; k < w->n_keys && status == GSIM_OK; k++)
        status = w->key[k] ? plan_key(w, k, &budget, out)
                           : gsim_no_memory(cli->log, "varying constants");
    return status;
}

/* --- results of the trials -------------------------------------------------------------------- */

/* The measure summed over replications, with the n trials of one constant's value; a replication
 * without a trial keeps the value of the comparison. */
static double value_with(const struct whatif *w, const struct trial *trials, int n, int contender,
                         enum gsim_measure measure) {
    double sum = 0;
    for (int r = 0; r < w->c->n_reps; r++)
        sum += gsim_measure_of(gsim_compare_summary(w->c, contender, w->c->first_rep + r), measure);
    for (int t = 0; t < n; t++)
        if (trials[t].contender == contender)
            sum += trials[t].value[measure] -
                   gsim_measure_of(gsim_compare_summary(w->c, contender, trials[t].replication),
                                   measure);
    return sum;
}

/* The contender that is lowest in these trials; ties go to the winner. */
static int best_of(const struct whatif *w, const struct trial *trials, int n, int winner,
                   enum gsim_measure measure) {
    int best = winner;
    double least = value_with(w, trials, n, winner, measure);
    for (int i = 0; i < w->c->setup->n_contenders; i++) {
        double value = value_with(w, trials, n, i, measure);
        if (value < least) {
            least = value;
            best = i;
        }
    }
    return best;
}

static void judge_value(const struct whatif *w, const struct trial *trials, int n,
                        const int *winner, struct gsim_whatif *out) {
    for (int m = 0; m < GSIM_MEASURE_COUNT && !out->flip; m++) {
        if (winner[m] < 0)
            continue;
        int best = best_of(w, trials, n, winner[m], (enum gsim_measure)m);
        if (best != winner[m])
            out->flip = gsim_arena_printf(w->c->cli->arena, "%s wins with %s %+d %%",
                                          w->c->setup->contender[best].policy->name,
                                          w->key[trials->key], trials->percent);
    }
}

/* What this value makes of each contender's mean JCT beside that of contender 0. */
static void note_ratios(const struct whatif *w, const struct trial *trials, int n,
                        struct gsim_whatif *out) {
    double first = value_with(w, trials, n, 0, GSIM_MEASURE_JCT);
    for (int i = 1; i < w->c->setup->n_contenders; i++) {
        struct gsim_tried *tried = &out->tried[i];
        double ratio = value_with(w, trials, n, i, GSIM_MEASURE_JCT) / first;
        if (isnan(ratio) || (!is_user(w, trials->key, i) && !is_user(w, trials->key, 0)))
            continue;
        tried->least = tried->n == 0 ? ratio : fmin(tried->least, ratio);
        tried->most = tried->n == 0 ? ratio : fmax(tried->most, ratio);
        tried->n++;
    }
}

/* Judges each value of each constant; its trials are consecutive. */
static void judge(const struct whatif *w, const int *winner, struct gsim_whatif *out) {
    int last_cut = -1;
    for (int t = 0, n; t < w->n_trials; t += n) {
        bool is_whole = true;
        for (n = 0; t + n < w->n_trials && w->trial[t + n].key == w->trial[t].key &&
                    w->trial[t + n].percent == w->trial[t].percent;
             n++)
            is_whole &= w->trial[t + n].status == GSIM_OK;
        if (is_whole) {
            judge_value(w, &w->trial[t], n, winner, out);
            note_ratios(w, &w->trial[t], n, out);
        } else if (w->trial[t].key != last_cut) {
            last_cut = w->trial[t].key;
            out->n_varied--;
            out->n_left_out++;
        }
    }
    const volatile sig_atomic_t *stop = w->c->cli->io->stop;
    out->is_interrupted = stop && *stop;
}

enum gsim_status gsim_compare_whatif(const struct gsim_compare *c, const int *winner,
                                     struct gsim_whatif *out) {
    struct whatif *w = gsim_arena_alloc(c->cli->arena, sizeof *w);
    *out = (struct gsim_whatif){0};
    if (!w)
        return gsim_no_memory(c->cli->log, "varying constants");
    w->c = c;
    find_keys(w, out);
    enum gsim_status status = plan(w, out);
    if (status != GSIM_OK)
        return status;
    gsim_progress_begin(&w->bar, c->cli, "what if ", w->n_trials);
    gsim_in_parallel(c->n_threads, w->n_trials, run_trial, w);
    gsim_progress_end(&w->bar);
    judge(w, winner, out);
    return GSIM_OK;
}
