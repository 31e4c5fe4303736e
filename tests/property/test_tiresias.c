/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiresias' default mode against its rules written down plainly: queues by attained GPU time, a job that
 * has waited knob times as long as it ran since its last promotion is the last of the first queue, a
 * waiting job pushes out the worst jobs one by one until it fits, and only those whose GPUs it takes
 * give way. Every job is looked at at every event; on random traces both must agree to the nanosecond
 * and to the preemption. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "policies/lib/gittins.h"
#include "policies/tiresias/promotion.h"
#include "sim/base/rng.h"
#include "gsim/units.h"
#include "tests/support/runner.h"

enum { JOBS = 60, QUEUES = 3, GPUS = 8, NOBODY = -1 };
#define LATER (INT64_MAX / 4)
#define S GSIM_NS_PER_S
#define HISTORY "tests/support/history.csv"

struct job {
    int64_t submit, service, gpus;
    int64_t done, base, waited; /* base: done at its last promotion */
    int64_t order, placed, end, preemptions;
    int queue;
    bool is_there, is_running, is_over;
};

struct plain {
    struct job job[JOBS];
    int gpu[GPUS]; /* who has it */
    int64_t limits[QUEUES - 1];
    int64_t knob_ppm, now;
    const struct gsim_history *history; /* NULL: no index */
    int64_t n_starts, n_rounds;
    int64_t started, started_order; /* the last start: when, and the job's place before it */
    int preemptions, promotions;
    int newcomer; /* a job that came, where nothing else has happened; else NOBODY */
};

/* --- ranks ------------------------------------------------------------------------------------ */

static int64_t limit_of(const struct plain *p, const struct job *job) {
    if (job->queue == QUEUES - 1)
        return LATER;
    return job->base + (p->limits[job->queue] * S + job->gpus - 1) / job->gpus;
}

/* Of the jobs of a queue the one with the lower key goes first. */
static int64_t key_in_queue(const struct plain *p, const struct job *job) {
    if (!p->history)
        return job->order;
    int64_t age = job->done / S * job->gpus, delta = GSIM_NEVER;
    if (job->queue < QUEUES - 1)
        delta = p->limits[job->queue] - (job->done - job->base) / S * job->gpus;
    return -gsim_gittins_index(p->history, age, delta > 0 ? delta : 1);
}

/* Whether job a, which waits, is served before job b. */
static bool goes_first(const struct plain *p, int a, int b) {
    const struct job *x = &p->job[a], *y = &p->job[b];
    if (x->queue != y->queue)
        return x->queue < y->queue;
    int64_t i = key_in_queue(p, x), j = key_in_queue(p, y);
    return i < j || (i == j && a < b);
}

/* Whether the running job gives way to the waiting one: without an index to no job of its queue. */
static bool gives_way(const struct plain *p, int running, int waiting) {
    if (!p->history)
        return p->job[running].queue > p->job[waiting].queue;
    return goes_first(p, waiting, running);
}

/* Of the running jobs that give way the worst; without an index the latest arrival of the last queue. */
static int worst_for(const struct plain *p, int waiting, const bool *is_victim) {
    int worst = NOBODY;
    for (int j = 0; j < JOBS; j++) {
        if (!p->job[j].is_running || is_victim[j] || !gives_way(p, j, waiting))
            continue;
        bool is_worse = worst == NOBODY || (p->history ? goes_first(p, worst, j)
                                                       : p->job[j].queue >= p->job[worst].queue);
        worst = is_worse ? j : worst;
    }
    return worst;
}

/* --- one pass --------------------------------------------------------------------------------- */

static bool is_free(const struct plain *p, int gpu, const bool *is_victim) {
    return p->gpu[gpu] == NOBODY || is_victim[p->gpu[gpu]];
}

static int64_t count_free(const struct plain *p, const bool *is_victim) {
    int64_t n = 0;
    for (int gpu = 0; gpu < GPUS; gpu++)
        n += is_free(p, gpu, is_victim);
    return n;
}

/* A job that was placed at this instant has not run, which makes it no preemption. */
static void stop(struct plain *p, int j) {
    bool has_run = p->job[j].placed < p->now;
    p->job[j].is_running = false;
    p->job[j].preemptions += has_run;
    p->preemptions += has_run;
    for (int gpu = 0; gpu < GPUS; gpu++)
        if (p->gpu[gpu] == j)
            p->gpu[gpu] = NOBODY;
}

/* On the first GPUs that are free, or whose jobs are victims. */
static bool start(struct plain *p, int j, bool *is_victim) {
    struct job *job = &p->job[j];
    bool any = false;
    int64_t n = 0;
    for (int gpu = 0; gpu < GPUS && n < job->gpus; gpu++) {
        if (!is_free(p, gpu, is_victim))
            continue;
        if (p->gpu[gpu] != NOBODY) {
            stop(p, p->gpu[gpu]);
            any = true;
        }
        p->gpu[gpu] = j;
        n++;
    }
    job->is_running = true;
    job->placed = p->now;
    if (job->order >= GSIM_NOT_STARTED) { /* of one instant and place: as the trace has them */
        p->n_starts += p->now != p->started || job->order > p->started_order;
        p->started = p->now;
        p->started_order = job->order;
        job->order = p->n_starts;
    }
    return any;
}

/* Whether the job started and another one gave way. */
static bool try_job(struct plain *p, int j) {
    bool is_victim[JOBS] = {false};
    int worst;
    while (count_free(p, is_victim) < p->job[j].gpus) {
        if ((worst = worst_for(p, j, is_victim)) == NOBODY)
            return false;
        is_victim[worst] = true;
    }
    return start(p, j, is_victim);
}

/* All that waited when the pass began, the best first; one that is pushed out has to wait for the
 * next pass. Without an index a newcomer alone can have got what others cannot have. */
static bool pass(struct plain *p) {
    bool is_tried[JOBS], any = false;
    for (int j = 0; j < JOBS; j++)
        is_tried[j] = !p->job[j].is_there || p->job[j].is_over || p->job[j].is_running ||
                      (!p->history && p->newcomer != NOBODY && p->newcomer != j);
    p->newcomer = NOBODY;
    for (;;) {
        int best = NOBODY;
        for (int j = 0; j < JOBS; j++)
            if (!is_tried[j] && (best == NOBODY || goes_first(p, j, best)))
                best = j;
        if (best == NOBODY)
            return any;
        is_tried[best] = true;
        any |= try_job(p, best);
    }
}

/* --- events ----------------------------------------------------------------------------------- */

static bool counts(const struct job *job) {
    return !job->is_running && job->done > job->base;
}

static int64_t patience(const struct plain *p, const struct job *job) {
    return gsim_muldiv_floor(job->done - job->base, p->knob_ppm, GSIM_PPM);
}

static int64_t next_event(const struct plain *p) {
    int64_t next = LATER;
    for (int j = 0; j < JOBS; j++) {
        const struct job *job = &p->job[j];
        int64_t at = LATER;
        if (job->is_over)
            continue;
        if (!job->is_there)
            at = job->submit;
        else if (job->is_running && job->service < limit_of(p, job))
            at = p->now + job->service - job->done;
        else if (job->is_running)
            at = p->now + limit_of(p, job) - job->done;
        else if (p->knob_ppm > 0 && job->queue > 0 && counts(job))
            at = p->now + patience(p, job) - job->waited;
        if (at < next)
            next = at;
    }
    return next > p->now ? next : p->now;
}

static void end_job(struct plain *p, int j) {
    p->job[j].is_over = true;
    p->job[j].is_running = false;
    p->job[j].end = p->now;
    for (int gpu = 0; gpu < GPUS; gpu++)
        if (p->gpu[gpu] == j)
            p->gpu[gpu] = NOBODY;
}

static void go_to(struct plain *p, int64_t next) {
    int64_t elapsed = next - p->now;
    int n_changes = 0;
    p->now = next;
    for (int j = 0; j < JOBS; j++) {
        struct job *job = &p->job[j];
        if (!job->is_there || job->is_over)
            continue;
        job->done += job->is_running ? elapsed : 0;
        job->waited += counts(job) ? elapsed : 0;
        if (job->is_running && job->done == job->service) {
            end_job(p, j);
            n_changes++;
        }
        for (; job->done >= limit_of(p, job); n_changes++)
            job->queue++;
    }
    for (int j = 0; j < JOBS; j++)
        if (!p->job[j].is_there && p->job[j].submit == next) {
            p->job[j].is_there = true;
            p->job[j].order = GSIM_NOT_STARTED + 2 * p->n_rounds;
            p->newcomer = n_changes++ == 0 ? j : NOBODY;
        }
}

static void promote(struct plain *p) {
    bool any = false;
    for (int j = 0; j < JOBS; j++) {
        struct job *job = &p->job[j];
        if (p->knob_ppm == 0 || !job->is_there || job->is_over || job->queue == 0 || !counts(job) ||
            job->waited < patience(p, job))
            continue;
        job->queue = 0;
        job->base = job->done;
        job->waited = 0;
        job->order = GSIM_NOT_STARTED + 2 * p->n_rounds + 1;
        p->promotions++;
        p->newcomer = NOBODY;
        any = true;
    }
    p->n_rounds += any;
}

static void run_plainly(struct plain *p) {
    for (int gpu = 0; gpu < GPUS; gpu++)
        p->gpu[gpu] = NOBODY;
    p->now = -1;
    for (int64_t next = next_event(p); next != LATER; next = next_event(p)) {
        go_to(p, next);
        do
            promote(p);
        while (pass(p)); /* who was pushed out may fit again at once */
    }
}

/* --- traces ----------------------------------------------------------------------------------- */

/* Few distinct times and sizes, so that events often coincide. */
static struct gsim_trace draw(struct plain *p, uint64_t seed, unsigned most_gpus,
                              struct gsim_arena *arena) {
    gsl_rng *rng = gsim_rng_stream(seed, most_gpus, "tiresias");
    int64_t *submit = gsim_arena_array(arena, JOBS, sizeof *submit);
    int64_t *length = gsim_arena_array(arena, JOBS, sizeof *length);
    uint32_t *gpus = gsim_arena_array(arena, JOBS, sizeof *gpus);
    int64_t now = 0;
    for (int j = 0; j < JOBS; j++) {
        now += (int64_t)gsl_rng_uniform_int(rng, most_gpus > 1 ? 16 : 8);
        submit[j] = now * S;
        length[j] = (int64_t)(1 + gsl_rng_uniform_int(rng, 60)) * S;
        gpus[j] = (uint32_t)(1 + gsl_rng_uniform_int(rng, most_gpus));
        p->job[j] = (struct job){.submit = submit[j], .service = length[j], .gpus = gpus[j]};
    }
    gsl_rng_free(rng);
    return test_trace(JOBS, submit, length, gpus, arena);
}

static const struct gsim_history *read_history(struct gsim_arena *arena) {
    struct gsim_log *log = gsim_arena_alloc(arena, sizeof *log);
    struct gsim_history *history = gsim_arena_alloc(arena, sizeof *history);
    assert_int_equal(gsim_history_read(history, HISTORY, arena, log), GSIM_OK);
    return history;
}

static int compare(uint64_t seed, int64_t knob_ppm, unsigned most_gpus, bool is_gittins) {
    struct gsim_arena *arena = gsim_arena_new();
    struct plain plain = {.limits = {20, 70}, .knob_ppm = knob_ppm};
    struct gsim_trace trace = draw(&plain, seed, most_gpus, arena);
    plain.history = is_gittins ? read_history(arena) : NULL;
    const char *sets[] = {"queues=20,70",
                          "placement=any",
                          "history=" HISTORY,
                          is_gittins ? "index=gittins" : "index=las",
                          gsim_arena_printf(arena, "knob=%.1f", (double)knob_ppm / GSIM_PPM),
                          NULL};
    struct test_run run = {
        .trace = &trace, .policy = "tiresias", .sets = sets, .gpus_per_node = GPUS};
    run_plainly(&plain);
    struct gsim_result result = test_run(&run, arena);
    for (int j = 0; j < JOBS; j++)
        if (result.jobs.end_ns[j] != plain.job[j].end ||
            result.jobs.preemptions[j] != (uint32_t)plain.job[j].preemptions)
            fail_msg("seed %d, knob %s, %u GPUs, gittins %d: job %d ends at %lld, not at %lld, "
                     "after %d preemptions, not %d",
                     (int)seed, sets[4], most_gpus, is_gittins, j, (long long)result.jobs.end_ns[j],
                     (long long)plain.job[j].end, (int)result.jobs.preemptions[j],
                     (int)plain.job[j].preemptions);
    assert_int_equal(result.summary.completed, JOBS);
    gsim_arena_free(arena);
    return plain.promotions;
}

static void check_knob(int64_t knob_ppm) {
    int promotions = 0;
    for (uint64_t seed = 1; seed <= 30 / TEST_FEWER_REPEATED; seed++)
        for (int index = 0; index < 2; index++) {
            promotions += compare(seed, knob_ppm, 1, index == 1);
            promotions += compare(seed, knob_ppm, 4, index == 1);
            promotions += compare(seed, knob_ppm, GPUS, index == 1);
        }
    print_message("# knob %g: %d promotions\n", (double)knob_ppm / GSIM_PPM, promotions);
    assert_true((promotions > 0) == (knob_ppm > 0));
}

static void test_without_promotion(void **state) {
    (void)state;
    check_knob(0);
}

static void test_promotion(void **state) {
    (void)state;
    check_knob(GSIM_PPM / 2);
    check_knob(GSIM_PPM);
    check_knob(4 * GSIM_PPM);
    check_knob(8 * GSIM_PPM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_promotion),
        cmocka_unit_test(test_promotion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
