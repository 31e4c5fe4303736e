/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constants that nobody knows come from devices/assumed.ini. Each one that a run used is made a
 * fifth smaller and a fifth larger, one at a time, and all policies run again on the same traces: also
 * those that were not charged by it, since a policy may choose by what a constant would cost. */
#include <math.h>
#include <string.h>

#include "sim/app/compare.h"
#include "sim/app/parallel.h"
#include "sim/base/wide.h"

enum { MAX_KEYS = 64 };

static const int percents[] = {-20, 20};
enum { N_PERCENTS = sizeof percents / sizeof *percents };

struct trial {
    const struct gsim_setup *setup;
    int key, percent, contender, replication;
    double mean_s;
    enum gsim_status status;
};

struct whatif {
    const struct gsim_compare *c;
    const char *key[MAX_KEYS];
    int n_keys;
    struct trial *trial; /* by key, percentage, contender and replication */
    int n_trials;
};

/* --- which constants -------------------------------------------------------------------------- */

static bool is_profile_key(const char *name, size_t length) {
    for (int k = 0; k < GSIM_KEY_COUNT; k++) {
        const char *known = gsim_key_name((enum gsim_key)k);
        if (strlen(known) == length && strncmp(known, name, length) == 0)
            return true;
    }
    return false;
}

static void add_key(struct whatif *w, const char *name, size_t length, int *n_others) {
    for (int k = 0; k < w->n_keys; k++)
        if (strlen(w->key[k]) == length && strncmp(w->key[k], name, length) == 0)
            return;
    if (is_profile_key(name, length) && w->n_keys < MAX_KEYS)
        w->key[w->n_keys++] = gsim_arena_strndup(w->c->cli->arena, name, length);
    else
        ++*n_others;
}

/* From the results' lists "key=value (device), key=value (device)". */
static void find_keys(struct whatif *w, int *n_others) {
    for (int i = 0; i < w->c->setup->n_contenders; i++) {
        const char *at = gsim_compare_at(w->c, i, 0)->result.summary.assumed;
        for (; *at; at += strspn(at, ", ")) {
            size_t length = strcspn(at, "=,");
            add_key(w, at, length, n_others);
            at += length;
            const char *comma = strstr(at, ", ");
            at = comma ? comma : at + strlen(at);
        }
    }
}

/* --- another value ---------------------------------------------------------------------------- */

/* The key's value that much larger, as text; NULL when that is no other value: a word, a zero. */
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

/* A setup whose profiles have another value where they assume the key. */
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
    setup->cluster.profiles = profiles;
    *out = setup;
    int key = 0;
    while (strcmp(gsim_key_name((enum gsim_key)key), name) != 0)
        key++;
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
    const struct whatif *w = arg;
    struct trial *trial = &w->trial[at];
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log *log = arena ? gsim_arena_alloc(arena, sizeof *log) : NULL;
    struct gsim_result result;
    struct gsim_summary summary;
    trial->status =
        log ? gsim_setup_run(trial->setup, trial->contender, &w->c->traces[trial->replication],
                             w->c->cli->io, false, arena, &result, log)
            : GSIM_FAILED;
    if (trial->status == GSIM_OK)
        trial->status = gsim_warmup_trim(&w->c->warmup, &result, arena, &summary, log);
    trial->mean_s = trial->status == GSIM_OK ? summary.jct_mean_s : (double)NAN;
    gsim_arena_free(arena);
}

static void add_trials(struct whatif *w, const struct gsim_setup *setup, int key, int percent) {
    for (int i = 0; i < w->c->setup->n_contenders; i++)
        for (int r = 0; r < w->c->n_reps; r++)
            w->trial[w->n_trials++] = (struct trial){.setup = setup,
                                                     .key = key,
                                                     .percent = percent,
                                                     .contender = i,
                                                     .replication = w->c->first_rep + r};
}

static enum gsim_status plan(struct whatif *w, struct gsim_whatif *out) {
    size_t n = (size_t)w->n_keys * N_PERCENTS * (size_t)w->c->setup->n_contenders;
    w->trial = gsim_arena_array(w->c->cli->arena, n * (size_t)w->c->n_reps, sizeof *w->trial);
    if (!w->trial)
        return gsim_no_memory(w->c->cli->log, "varying constants");
    for (int k = 0; k < w->n_keys; k++)
        for (int p = 0; p < N_PERCENTS; p++) {
            const struct gsim_setup *setup = NULL;
            bool is_varied = false;
            enum gsim_status status = vary(w->c, w->key[k], percents[p], &setup, &is_varied);
            if (status != GSIM_OK)
                return status;
            out->n_varied += is_varied && p == 0;
            out->n_not_varied += !is_varied && p == 0;
            if (is_varied)
                add_trials(w, setup, k, percents[p]);
        }
    return GSIM_OK;
}

/* Who has the lowest mean JCT with one constant's value; ties go to the winner. */
static int best_of(const struct whatif *w, const struct trial *trials, int winner) {
    double least = 0;
    int best = winner, n_reps = w->c->n_reps;
    for (int k = -1; k < w->c->setup->n_contenders; k++) {
        int i = k < 0 ? winner : k;
        double sum = 0;
        for (int r = 0; r < n_reps; r++)
            sum += trials[i * n_reps + r].mean_s;
        if (k < 0 || sum < least) {
            least = sum;
            best = i;
        }
    }
    return best;
}

/* The trials of one constant's value stand together. */
static void judge(const struct whatif *w, int winner, struct gsim_whatif *out) {
    int n = w->c->setup->n_contenders * w->c->n_reps;
    for (int t = 0; t < w->n_trials && !out->flip; t += n) {
        int best = best_of(w, &w->trial[t], winner);
        if (best != winner)
            out->flip = gsim_arena_printf(w->c->cli->arena, "%s wins with %s %+d %%",
                                          w->c->setup->contender[best].policy->name,
                                          w->key[w->trial[t].key], w->trial[t].percent);
    }
    for (int t = 0; t < w->n_trials; t++)
        out->is_interrupted |= w->trial[t].status != GSIM_OK;
}

enum gsim_status gsim_compare_whatif(const struct gsim_compare *c, int winner,
                                     struct gsim_whatif *out) {
    struct whatif w = {.c = c};
    *out = (struct gsim_whatif){0};
    find_keys(&w, &out->n_not_varied);
    for (int k = 0; k < w.n_keys; k++)
        if (!w.key[k])
            return gsim_no_memory(c->cli->log, "varying constants");
    enum gsim_status status = plan(&w, out);
    if (status != GSIM_OK)
        return status;
    gsim_in_parallel(c->n_threads, w.n_trials, run_trial, &w);
    judge(&w, winner, out);
    return GSIM_OK;
}
