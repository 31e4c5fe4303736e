/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The public Tiresias simulator's loop, written down plainly as it is described (one list a queue,
 * every job looked at in every event), against what the policy does with its lines and indices: on
 * random traces they must agree to the second and to the preemption. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "policies/lib/gittins.h"
#include "sim/base/rng.h"
#include "tests/support/runner.h"

enum { JOBS = 60, QUEUES = 3, GPUS = 8 };
#define LATER (INT64_MAX / 4)

struct job {
    int64_t submit, service, gpus;
    int64_t executed, total, pending, checked, end;
    int64_t rank;
    int queue;
    bool is_running, will_run, is_there, is_over, is_attached, ends_next;
};

struct plain {
    struct job job[JOBS];
    int list[QUEUES][JOBS], n[QUEUES];
    int64_t limits[QUEUES - 1];
    bool is_gpu_time;
    double knob;
    struct gsim_history *history; /* NULL: no index */
    int64_t *index;
    int preemptions, early;
    int64_t end_time, jump;
};

static void list_remove(struct plain *p, int j) {
    int q = p->job[j].queue, kept = 0;
    for (int i = 0; i < p->n[q]; i++)
        if (p->list[q][i] != j)
            p->list[q][kept++] = p->list[q][i];
    p->n[q] = kept;
}

static void list_move(struct plain *p, int j, int queue) {
    list_remove(p, j);
    p->job[j].queue = queue;
    p->list[queue][p->n[queue]++] = j;
}

static int64_t service(const struct plain *p, const struct job *job) {
    return p->is_gpu_time ? job->executed * job->gpus : job->executed;
}

static void update(struct plain *p, int j, int64_t now) {
    struct job *job = &p->job[j];
    int64_t elapsed = now - job->checked;
    job->checked = now;
    if (job->is_running) {
        job->executed += elapsed;
        job->total += elapsed;
        if (job->queue < QUEUES - 1 && service(p, job) >= p->limits[job->queue])
            list_move(p, j, job->queue + 1);
    } else if (job->executed > 0) {
        job->pending += elapsed;
        if (p->knob > 0 && job->queue > 0 &&
            job->pending >= (int64_t)((double)job->executed * p->knob)) {
            job->executed = job->pending = 0;
            list_move(p, j, 0);
        }
    }
    if (!p->history)
        return;
    uint32_t above = gsim_history_above(p->history, service(p, job));
    job->rank = above < p->history->n ? p->index[above] : 0;
}

static bool goes_first(const struct job *a, const struct job *b) {
    return a->rank > b->rank || (a->rank == b->rank && a->submit < b->submit);
}

static void allocate(struct plain *p) {
    int64_t left = GPUS;
    for (int q = 0; q < QUEUES; q++) {
        int *list = p->list[q];
        for (int i = 1; p->history && i < p->n[q]; i++)
            for (int k = i; k > 0 && goes_first(&p->job[list[k]], &p->job[list[k - 1]]); k--) {
                int swapped = list[k];
                list[k] = list[k - 1];
                list[k - 1] = swapped;
            }
        for (int i = 0; i < p->n[q]; i++) {
            struct job *job = &p->job[list[i]];
            job->will_run = job->gpus <= left;
            left -= job->will_run ? job->gpus : 0;
            p->preemptions += job->is_running && !job->will_run;
            job->is_running = job->will_run;
        }
        int parted[JOBS], n = 0;
        for (int runs = 1; runs >= 0; runs--)
            for (int i = 0; i < p->n[q]; i++)
                if (p->job[list[i]].is_running == (runs == 1))
                    parted[n++] = list[i];
        for (int i = 0; i < n; i++)
            list[i] = parted[i];
    }
}

static void look_ahead(struct plain *p, int64_t now) {
    p->end_time = p->jump = LATER;
    for (int j = 0; j < JOBS; j++) {
        struct job *job = &p->job[j];
        if (!job->is_there || job->is_over)
            continue;
        int64_t end = now + job->service - job->total, jump = LATER;
        if (job->is_running && end < p->end_time)
            p->end_time = end;
        if (job->is_running && job->queue < QUEUES - 1)
            jump = now + (p->limits[job->queue] - job->executed) / (p->is_gpu_time ? job->gpus : 1);
        if (!job->is_running && p->knob > 0 && job->queue > 0 && job->executed > 0)
            jump = now + (int64_t)((double)job->executed * p->knob - (double)job->pending);
        if (jump > now && jump < p->jump)
            p->jump = jump;
    }
    for (int j = 0; j < JOBS; j++) {
        struct job *job = &p->job[j];
        job->ends_next =
            job->is_running && !job->is_over && now + job->service - job->total == p->end_time;
    }
}

static void finish(struct plain *p, int j, int64_t now) {
    struct job *job = &p->job[j];
    if (job->is_over)
        return;
    p->early += job->total + (job->is_running ? now - job->checked : 0) < job->service;
    job->is_over = true;
    job->is_running = false;
    job->end = now;
    list_remove(p, j);
}

static void run_plainly(struct plain *p) {
    p->end_time = p->jump = LATER;
    int64_t arrival = 0;
    while (arrival < LATER || p->end_time < LATER) {
        arrival = LATER;
        for (int j = JOBS; j-- > 0;)
            if (!p->job[j].is_there)
                arrival = p->job[j].submit;
        for (int j = 0; p->end_time == arrival && j < JOBS; j++)
            p->job[j].is_attached = p->job[j].ends_next;
        int64_t now = p->end_time < arrival ? p->end_time : arrival;
        bool is_jump = p->jump < now;
        now = is_jump ? p->jump : now;
        if (now == LATER)
            return;
        bool is_arrival = !is_jump && now == arrival;
        for (int j = 0; !is_jump && j < JOBS; j++) {
            bool ends = is_arrival ? p->job[j].is_attached : p->job[j].ends_next;
            if (ends)
                finish(p, j, now);
            if (is_arrival)
                p->job[j].is_attached = false;
        }
        for (int j = 0; is_arrival && j < JOBS; j++)
            if (p->job[j].submit == now) {
                p->job[j].is_there = true;
                p->job[j].checked = now;
                p->list[0][p->n[0]++] = j;
            }
        for (int j = 0; j < JOBS; j++)
            if (p->job[j].is_there && !p->job[j].is_over)
                update(p, j, now);
        allocate(p);
        look_ahead(p, now);
    }
}

/* Few distinct times and sizes, so that ends, arrivals and jumps often coincide. */
static struct gsim_trace draw(struct plain *p, uint64_t seed, struct gsim_arena *arena) {
    gsl_rng *rng = gsim_rng_stream(seed, 0, "dlas");
    int64_t *submit = gsim_arena_array(arena, JOBS, sizeof *submit);
    int64_t *length = gsim_arena_array(arena, JOBS, sizeof *length);
    uint32_t *gpus = gsim_arena_array(arena, JOBS, sizeof *gpus);
    int64_t now = 0;
    for (int j = 0; j < JOBS; j++) {
        now += (int64_t)gsl_rng_uniform_int(rng, 12);
        submit[j] = now * GSIM_NS_PER_S;
        length[j] = (int64_t)(1 + gsl_rng_uniform_int(rng, 60)) * GSIM_NS_PER_S;
        gpus[j] = (uint32_t)(1 + gsl_rng_uniform_int(rng, seed % 2 ? 3 : GPUS));
        p->job[j] = (struct job){
            .submit = now, .service = length[j] / GSIM_NS_PER_S, .gpus = gpus[j], .checked = now};
    }
    gsl_rng_free(rng);
    return test_trace(JOBS, submit, length, gpus, arena);
}

#define HISTORY "tests/support/history.csv"

static void read_history(struct plain *p, struct gsim_arena *arena) {
    struct gsim_log *log = gsim_arena_alloc(arena, sizeof *log);
    p->history = gsim_arena_alloc(arena, sizeof *p->history);
    assert_int_equal(gsim_history_read(p->history, HISTORY, arena, log), GSIM_OK);
    p->index = gsim_gittins_public(p->history, p->limits[0], arena);
}

static int compare(uint64_t seed, const char *knob, bool is_gpu_time, bool is_gittins) {
    struct gsim_arena *arena = gsim_arena_new();
    struct plain plain = {.limits = {20, 70}, .is_gpu_time = is_gpu_time, .knob = 0};
    (void)sscanf(knob, "%lf", &plain.knob);
    struct gsim_trace trace = draw(&plain, seed, arena);
    if (is_gittins)
        read_history(&plain, arena);
    const char *sets[] = {"queues=20,70",
                          gsim_arena_printf(arena, "knob=%s", knob),
                          is_gpu_time ? "unit=gpu-seconds" : "unit=seconds",
                          is_gittins ? "index=gittins" : "index=las",
                          "history=" HISTORY,
                          NULL};
    run_plainly(&plain);
    struct test_run run = {.trace = &trace,
                           .policy = "tiresias",
                           .sets = sets,
                           .reference = GSIM_REFERENCE_TIRESIAS,
                           .nodes = 2,
                           .gpus_per_node = GPUS / 2};
    struct gsim_result result = test_run(&run, arena);
    for (int j = 0; j < JOBS; j++)
        if (result.jobs.end_ns[j] != plain.job[j].end * GSIM_NS_PER_S)
            fail_msg("seed %d, knob %s, gpu time %d, gittins %d: job %d ends at %lld, not at %lld",
                     (int)seed, knob, is_gpu_time, is_gittins, j,
                     (long long)(result.jobs.end_ns[j] / GSIM_NS_PER_S),
                     (long long)plain.job[j].end);
    assert_int_equal(result.summary.preemptions, plain.preemptions);
    assert_int_equal(result.summary.completed, JOBS);
    gsim_arena_free(arena);
    return plain.early;
}

static void test_against_the_plain_loop(void **state) {
    (void)state;
    static const char *const knobs[] = {"0", "0.5", "1", "8"};
    int early = 0;
    for (uint64_t seed = 1; seed <= 60 / TEST_FEWER; seed++)
        for (int k = 0; k < 4; k++)
            for (int unit = 0; unit < 2; unit++)
                for (int index = 0; index < 2; index++)
                    early += compare(seed, knobs[k], unit == 0, index == 1);
    print_message("# %d jobs ended early, with an arrival\n", early);
    assert_true(early > 0); /* the quirk was met */
}

/* --- the index ---------------------------------------------------------------------------------
 */

static void test_gittins_index(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_history history = {0};
    assert_int_equal(gsim_gittins_index(&history, 0, 1), 0); /* nothing is known */
    static const int64_t samples[] = {10, 1, 1};
    for (int i = 0; i < 3; i++)
        assert_true(gsim_history_add(&history, samples[i], arena));
    /* new: two of three end within 1, and every one takes 1 until then: 2 / 3 */
    assert_int_equal(gsim_gittins_index(&history, 0, 1), (INT64_C(2) << 40) / 3);
    /* until the end: three ends in 12 */
    assert_int_equal(gsim_gittins_index(&history, 0, GSIM_NEVER), (INT64_C(3) << 40) / 12);
    /* at age 1 only the long one is left, for 9 more; past 10 nobody was older */
    assert_int_equal(gsim_gittins_index(&history, 1, GSIM_NEVER), (INT64_C(1) << 40) / 9);
    assert_int_equal(gsim_gittins_index(&history, 1, 8), 0);
    assert_int_equal(gsim_gittins_index(&history, 10, GSIM_NEVER), 0);
    /* the public code's, delta 5, at age 0: the chance is 2 / 3 = 0.66667, the service
     * (1 + 1 + 5) / 3 = 2, so 10^6 x 0.66667 / 2 = 333335; at age 9, 9 + 5 is past 10 - 1, so the
     * chance is 0 */
    int64_t *index = gsim_gittins_public(&history, 5, arena);
    assert_int_equal(index[0], INT64_C(3333350000));
    assert_int_equal(index[2], 0);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_plain_loop),
        cmocka_unit_test(test_gittins_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
