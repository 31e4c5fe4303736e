/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The iterations that make a program: those of the most common sequence of calls; or phases, where
 * the sequence changes from one iteration to another. Iterations of one sequence that follow each
 * other are a run, and runs that come again and again in one order, as a prefill and its decoding
 * do, are a cycle. A phase is a run of the cycle. Iterations before the first run that comes again
 * are a warm-up. */
#include "traces/timeline.h"

/* --- sequences -------------------------------------------------------------------------------- */

static bool is_same_work(const struct gsim_timeline_record *a,
                         const struct gsim_timeline_record *b) {
    return a->what == b->what && a->name == b->name && a->blocks == b->blocks &&
           a->threads == b->threads;
}

static bool is_same_sequence(const struct gsim_timeline *timeline,
                             const struct gsim_timeline_iteration *a,
                             const struct gsim_timeline_iteration *b) {
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct gsim_timeline_step *one = &timeline->step[a->first + i];
        const struct gsim_timeline_step *other = &timeline->step[b->first + i];
        if (one->kind != other->kind || one->stream != other->stream ||
            (one->kind == GSIM_CALL_LAUNCH &&
             !is_same_work(&timeline->record[one->record], &timeline->record[other->record])))
            return false;
    }
    return true;
}

static enum gsim_status set_phases(struct gsim_timeline *timeline, uint32_t n) {
    timeline->phase = gsim_arena_array(timeline->arena, n, sizeof *timeline->phase);
    timeline->n_phases = n;
    return timeline->phase ? GSIM_OK : gsim_no_memory(timeline->log, "folding a timeline");
}

/* Sequences, each by the first iteration that has it, and how many have it. */
struct sequences {
    uint32_t *first, *count; /* by sequence */
    uint32_t *of; /* by iteration: its sequence */
    uint32_t n;
};

static bool find_sequences(const struct gsim_timeline *timeline, struct sequences *s) {
    uint32_t n = timeline->n_iterations;
    s->first = gsim_arena_array(timeline->arena, n, sizeof *s->first);
    s->count = gsim_arena_array(timeline->arena, n, sizeof *s->count);
    s->of = gsim_arena_array(timeline->arena, n, sizeof *s->of);
    if (!s->first || !s->count || !s->of)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < s->n && !is_same_sequence(timeline, &timeline->iteration[s->first[k]],
                                             &timeline->iteration[i]))
            k++;
        if (k == s->n)
            s->first[s->n++] = i;
        s->count[k]++;
        s->of[i] = k;
    }
    return true;
}

enum gsim_status gsim_timeline_keep_common(struct gsim_timeline *timeline) {
    struct sequences s = {0};
    uint32_t best = 0, most = 0, n = 0;
    if (!find_sequences(timeline, &s))
        return gsim_no_memory(timeline->log, "folding a timeline");
    for (uint32_t i = 0; i < timeline->n_iterations; i++)
        if (s.count[s.of[i]] >= most && timeline->iteration[i].n > 0) {
            most = s.count[s.of[i]];
            best = s.of[i];
        }
    for (uint32_t i = 0; i < timeline->n_iterations; i++)
        if (s.of[i] == best)
            timeline->iteration[n++] = timeline->iteration[i];
    timeline->left.n_other = timeline->n_iterations - n;
    timeline->n_iterations = n;
    enum gsim_status status = set_phases(timeline, 1);
    if (status == GSIM_OK)
        timeline->phase[0] = (struct gsim_timeline_phase){.n = n, .count = 1};
    return status;
}

/* --- runs ------------------------------------------------------------------------------------- */

/* Iterations of one sequence that follow each other. */
struct run {
    uint32_t sequence; /* the first iteration that has it */
    uint32_t first, n; /* iterations */
};

struct runs {
    struct run *run;
    uint32_t n;
};

static uint32_t sequence_of(const struct gsim_timeline *timeline, const struct runs *runs,
                            uint32_t i) {
    for (uint32_t r = 0; r < runs->n; r++)
        if (is_same_sequence(timeline, &timeline->iteration[runs->run[r].sequence],
                             &timeline->iteration[i]))
            return runs->run[r].sequence;
    return i;
}

/* Iterations without calls are part of no run. */
static void find_runs(const struct gsim_timeline *timeline, struct runs *runs) {
    for (uint32_t i = 0; i < timeline->n_iterations; i++) {
        if (timeline->iteration[i].n == 0)
            continue;
        uint32_t sequence = sequence_of(timeline, runs, i);
        struct run *last = runs->n > 0 ? &runs->run[runs->n - 1] : NULL;
        if (last && last->sequence == sequence && last->first + last->n == i)
            last->n++;
        else
            runs->run[runs->n++] = (struct run){.sequence = sequence, .first = i, .n = 1};
    }
}

/* The first run from this one on that comes again; n: none does. */
static uint32_t next_like(const struct runs *runs, uint32_t r) {
    uint32_t next = r + 1;
    while (next < runs->n && runs->run[next].sequence != runs->run[r].sequence)
        next++;
    return next;
}

static uint32_t first_that_recurs(const struct runs *runs) {
    uint32_t r = 0;
    while (r < runs->n && next_like(runs, r) == runs->n)
        r++;
    return r < runs->n ? r : 0;
}

/* --- cycles ----------------------------------------------------------------------------------- */

static bool is_same_cycle(const struct runs *runs, uint32_t a, uint32_t b) {
    uint32_t n = next_like(runs, a) - a;
    if (next_like(runs, b) - b != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (runs->run[a + i].sequence != runs->run[b + i].sequence)
            return false;
    return true;
}

/* The last cycle may have been cut off with the profile: it counts where it has as many iterations
 * at its end as the model. */
static bool counts(const struct runs *runs, uint32_t model, uint32_t cycle) {
    uint32_t n = next_like(runs, model) - model;
    return is_same_cycle(runs, model, cycle) &&
           (cycle + n < runs->n || runs->run[cycle + n - 1].n >= runs->run[model + n - 1].n);
}

/* The first of the most common cycles, of those that no end of the profile may have cut off. */
static uint32_t find_model(const struct runs *runs) {
    uint32_t begin = first_that_recurs(runs), best = begin, most = 0;
    for (uint32_t a = begin; a < runs->n; a = next_like(runs, a)) {
        uint32_t n_same = 0;
        for (uint32_t b = begin; b < runs->n; b = next_like(runs, b))
            n_same += counts(runs, a, b);
        if (n_same > most && next_like(runs, a) < runs->n) {
            most = n_same;
            best = a;
        }
    }
    return best;
}

/* Appends the iterations of one run of each cycle like the model. */
static struct gsim_timeline_phase gather(const struct gsim_timeline *timeline,
                                         const struct runs *runs, uint32_t model, uint32_t place,
                                         struct gsim_timeline_iteration *out, uint32_t n_out) {
    struct gsim_timeline_phase phase = {.first = n_out};
    uint32_t n_cycles = 0;
    for (uint32_t c = first_that_recurs(runs); c < runs->n; c = next_like(runs, c)) {
        if (!counts(runs, model, c))
            continue;
        const struct run *run = &runs->run[c + place];
        for (uint32_t i = 0; i < run->n; i++) {
            struct gsim_timeline_iteration *next = &out[phase.first + phase.n++];
            *next = timeline->iteration[run->first + i];
            next->place = i;
        }
        n_cycles++;
    }
    bool is_only_one = timeline->n_phases == 1;
    phase.count = is_only_one ? 1 : (phase.n + n_cycles / 2) / n_cycles;
    return phase;
}

enum gsim_status gsim_timeline_find_phases(struct gsim_timeline *timeline) {
    uint32_t n_out = 0, n = timeline->n_iterations;
    struct runs runs = {gsim_arena_array(timeline->arena, n, sizeof *runs.run), 0};
    struct gsim_timeline_iteration *out = gsim_arena_array(timeline->arena, n, sizeof *out);
    if (!runs.run || !out)
        return gsim_no_memory(timeline->log, "finding the phases of a timeline");
    find_runs(timeline, &runs);
    if (runs.n == 0)
        return gsim_timeline_keep_common(timeline);
    uint32_t model = find_model(&runs);
    enum gsim_status status = set_phases(timeline, next_like(&runs, model) - model);
    for (uint32_t p = 0; p < timeline->n_phases && status == GSIM_OK; p++) {
        timeline->phase[p] = gather(timeline, &runs, model, p, out, n_out);
        n_out += timeline->phase[p].n;
    }
    timeline->iteration = out;
    timeline->n_iterations = n_out;
    timeline->left.n_other = n - n_out;
    return status;
}
