/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/live/run.h"

#include "sim/base/units.h"
#include "sim/study/samples.h"

struct arrival {
    int64_t ns;
    bool is_settled; /* the job has had its GPUs, or left without */
};

struct gsim_live_run {
    struct gsim_observer observer;
    struct gsim_live *live;
    struct gsim_live_seat seat;
    struct gsim_arena *arena;
    struct gsim_samples *samples;
    struct arrival *arrival; /* in the order of arrivals */
    uint32_t *place; /* by job: in that order */
    uint32_t n_arrived, n_settled; /* n_settled: arrivals before the first that is not */
    uint32_t n_started;
    double wait_s; /* of the jobs that have started */
    int64_t first_ns;
    bool has_failed; /* there is no memory: its face stays as it is */
    struct gsim_live_face face;
};

static double seconds(int64_t ns) {
    return (double)ns / (double)GSIM_NS_PER_S;
}

/* --- what the observer is told ---------------------------------------------------------------- */

static void begin(void *arg, const struct gsim_scene *scene) {
    struct gsim_live_run *run = arg;
    uint32_t n = scene->trace->n_jobs;
    run->face.n_jobs = n;
    run->face.n_gpus = scene->n_gpus;
    run->arrival = gsim_arena_array(run->arena, n, sizeof *run->arrival);
    run->place = gsim_arena_array(run->arena, n, sizeof *run->place);
    if (!run->arrival || !run->place)
        run->has_failed = true;
}

static void arrive(struct gsim_live_run *run, const struct gsim_change *change) {
    if (run->n_arrived == 0)
        run->first_ns = change->now_ns;
    run->place[change->job] = run->n_arrived;
    run->arrival[run->n_arrived++] = (struct arrival){.ns = change->now_ns};
}

/* The job waits for its first start no more. */
static void settle(struct gsim_live_run *run, const struct gsim_change *change) {
    struct arrival *arrival = &run->arrival[run->place[change->job]];
    if (arrival->is_settled)
        return;
    arrival->is_settled = true;
    if (change->is_on) {
        run->wait_s += seconds(change->now_ns - arrival->ns);
        run->n_started++;
    }
    while (run->n_settled < run->n_arrived && run->arrival[run->n_settled].is_settled)
        run->n_settled++;
}

static void make_face(struct gsim_live_run *run, int64_t now_ns) {
    struct gsim_live_face *face = &run->face;
    face->simulated_s = seconds(now_ns - run->first_ns);
    face->n_waiting = (uint32_t)gsim_samples_now(run->samples, GSIM_SAMPLED_QUEUE);
    face->busy_gpus = gsim_samples_now(run->samples, GSIM_SAMPLED_BUSY);
    face->wait_mean_s = run->n_started ? run->wait_s / run->n_started : 0;
    bool has_waiting = run->n_settled < run->n_arrived;
    face->wait_longest_s = has_waiting ? seconds(now_ns - run->arrival[run->n_settled].ns) : 0;
    face->n_steps = gsim_samples_steps(run->samples, GSIM_SAMPLED_QUEUE, face->waiting);
    (void)gsim_samples_steps(run->samples, GSIM_SAMPLED_BUSY, face->busy);
}

static void change(void *arg, const struct gsim_change *change) {
    struct gsim_live_run *run = arg;
    if (run->has_failed)
        return;
    if (change->from == GSIM_FREE)
        arrive(run, change);
    if (change->is_on || change->to == GSIM_DONE)
        settle(run, change);
    run->face.n_done += change->to == GSIM_DONE && change->from != GSIM_DONE;
    if (!gsim_live_is_asked(run->live, &run->seat))
        return;
    make_face(run, change->now_ns);
    gsim_live_hand_over(run->live, &run->seat, &run->face);
}

static void end(void *arg, int64_t now_ns) {
    struct gsim_live_run *run = arg;
    if (run->has_failed || run->n_arrived == 0)
        return;
    make_face(run, now_ns);
    gsim_live_hand_over(run->live, &run->seat, &run->face);
}

/* --- the run ---------------------------------------------------------------------------------- */

/* The samples come first, so that the run finds in them what has just changed. */
struct gsim_live_run *gsim_live_open(struct gsim_live *live, const char *name,
                                     struct gsim_arena *arena, const struct gsim_observer *next) {
    struct gsim_live_run *run = gsim_arena_alloc(arena, sizeof *run);
    struct gsim_samples *samples = gsim_samples_new(arena, GSIM_LIVE_STEPS);
    if (!run || !samples)
        return NULL;
    *run = (struct gsim_live_run){.live = live, .arena = arena, .samples = samples};
    run->observer = (struct gsim_observer){
        .arg = run, .begin = begin, .change = change, .end = end, .next = next};
    snprintf(run->face.name, sizeof run->face.name, "%s", name);
    gsim_live_enter(live, &run->seat, &run->face);
    return run;
}

const struct gsim_observer *gsim_live_observer(struct gsim_live_run *run) {
    return gsim_samples_observer(run->samples, &run->observer);
}

void gsim_live_close(struct gsim_live_run *run) {
    gsim_live_leave(run->live, &run->seat);
}
