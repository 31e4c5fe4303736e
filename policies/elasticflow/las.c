/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=elasticflow, mode=las: the loop of the authors' simulator for `dlas-gpu`
 * (pkusys/ElasticFlow @ 04a0109, scheduler/scheduler.py, dlas_sim_jobs), a fork of that of
 * Tiresias' simulator: a job falls into the next queue by its GPU time, and queues are served one
 * after the other, jobs that do not fit being passed. Of its own the fork has events that are at
 * least a slot apart (but for the last job that comes), and the seconds in which a job that starts
 * loads. Copied with it: jobs fall one queue per event; the next fall divides by the GPUs a time
 * that was not multiplied by them; a job that was to end together with the next arrivals ends with
 * them, even if an event before stops it; a job that starts is taken to end as if it loaded at
 * once, unless all jobs are loaded anew; an end that comes before its event is logged so. */
#include "policies/elasticflow/loop.h"
#include "policies/elasticflow/spare.h"

enum { QUEUES = 3 };
/* GPU seconds at which a job falls (scheduler/jobs.py, queue_limit). */
static const int64_t limits[QUEUES - 1] = {3250, 7200};

struct elasticflow_las {
    uint32_t *queue[QUEUES], n[QUEUES];
    uint32_t *waiting; /* scratch */
    int64_t next_end, next_fall; /* events; -1: none */
};

static struct elasticflow_job *nth(const struct elasticflow *own, uint32_t i) {
    return &own->job[own->order[i]];
}

bool elasticflow_las_open(struct gsim_ctx *ctx, struct elasticflow *elasticflow) {
    uint32_t n = ctx->view->trace->n_jobs;
    struct elasticflow_las *las = gsim_arena_array(ctx->arena, 1, sizeof *las);
    bool ok = las != NULL;
    for (uint32_t q = 0; ok && q < QUEUES; q++) {
        las->queue[q] = gsim_arena_array(ctx->arena, n, sizeof *las->queue[q]);
        ok = las->queue[q] != NULL;
    }
    if (ok)
        las->waiting = gsim_arena_array(ctx->arena, n, sizeof *las->waiting);
    if (!ok || !las->waiting)
        return false;
    las->next_end = las->next_fall = -1;
    elasticflow->reference->las = las;
    return true;
}

/* --- queues ----------------------------------------------------------------------------------- */

static void push(struct elasticflow_las *las, struct elasticflow_job *job, uint32_t number,
                 uint32_t q) {
    job->queue = q;
    las->queue[q][las->n[q]++] = number;
}

static void drop_ended(struct elasticflow *own) {
    struct elasticflow_las *las = own->reference->las;
    for (uint32_t q = 0; q < QUEUES; q++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < las->n[q]; i++)
            if (own->job[las->queue[q][i]].is_active)
                las->queue[q][n++] = las->queue[q][i];
        las->n[q] = n;
    }
    elasticflow_forget(own);
}

static void fall(struct elasticflow_las *las, struct elasticflow_job *job, uint32_t number) {
    uint32_t q = job->queue, n = 0;
    for (uint32_t i = 0; i < las->n[q]; i++)
        if (las->queue[q][i] != number)
            las->queue[q][n++] = las->queue[q][i];
    las->n[q] = n;
    push(las, job, number, q + 1);
}

/* What running jobs have done since the last event, and the falls that this leads to. */
static void count_service(struct elasticflow *own, int64_t now) {
    for (uint32_t i = 0; i < own->n_order; i++) {
        struct elasticflow_job *job = nth(own, i);
        int64_t ran = now - own->reference->last - job->overhead;
        if (job->now_level == 0)
            continue;
        job->served += ran > 0 ? ran : 0;
        job->overhead = 0;
        if (job->queue < QUEUES - 1 && job->served * elasticflow_gpus(job, 1) >= limits[job->queue])
            fall(own->reference->las, job, own->order[i]);
    }
}

/* --- the jobs to run -------------------------------------------------------------------------- */

static void serve_queue(struct elasticflow *own, uint32_t q, int64_t *n_free, bool is_restart) {
    struct elasticflow_las *las = own->reference->las;
    for (uint32_t i = 0; i < las->n[q]; i++) {
        struct elasticflow_job *job = &own->job[las->queue[q][i]];
        int64_t gpus = elasticflow_gpus(job, 1);
        bool fits = gpus <= *n_free;
        if (fits && job->now_level == 0)
            job->overhead = elasticflow_overhead(own, gpus, is_restart);
        job->now_level = fits;
        *n_free -= fits ? gpus : 0;
    }
}

/* Running jobs stand before those that wait. */
static void part_queue(struct elasticflow *own, uint32_t q) {
    struct elasticflow_las *las = own->reference->las;
    uint32_t n = 0, n_waiting = 0;
    for (uint32_t i = 0; i < las->n[q]; i++) {
        uint32_t number = las->queue[q][i];
        if (own->job[number].now_level > 0)
            las->queue[q][n++] = number;
        else
            las->waiting[n_waiting++] = number;
    }
    for (uint32_t i = 0; i < n_waiting; i++)
        las->queue[q][n++] = las->waiting[i];
}

static bool asks_for_more(const struct elasticflow_job *a, const struct elasticflow_job *b) {
    return elasticflow_gpus(a, 1) > elasticflow_gpus(b, 1);
}

static void choose(struct elasticflow *own, bool is_restart) {
    int64_t n_free = own->n_gpus;
    for (uint32_t q = 0; q < QUEUES; q++)
        serve_queue(own, q, &n_free, is_restart);
    for (uint32_t q = 0; q < QUEUES; q++)
        part_queue(own, q);
    elasticflow_sort(own, asks_for_more);
}

/* --- the next event --------------------------------------------------------------------------- */

/* The jobs that end first, and when. */
static void find_ends(struct elasticflow *own, int64_t now, bool is_restart) {
    struct elasticflow_las *las = own->reference->las;
    las->next_end = -1;
    for (uint32_t i = 0; i < own->n_order; i++) {
        struct elasticflow_job *job = nth(own, i);
        job->is_next_end = false;
        if (job->now_level == 0)
            continue;
        if (is_restart)
            job->overhead = elasticflow_overhead(own, elasticflow_gpus(job, 1), true);
        int64_t end = now + job->needs - job->served + (is_restart ? job->overhead : 0);
        int64_t event = end > now + own->slot ? end : now + own->slot;
        if (las->next_end >= 0 && event > las->next_end)
            continue;
        for (uint32_t k = 0; k < i && event < las->next_end; k++)
            nth(own, k)->is_next_end = false;
        las->next_end = event;
        job->is_next_end = true;
        job->end = end;
    }
}

static void find_fall(struct elasticflow *own, int64_t now) {
    int64_t least = -1;
    for (uint32_t i = 0; i < own->n_order; i++) {
        const struct elasticflow_job *job = nth(own, i);
        if (job->now_level == 0 || job->queue == QUEUES - 1)
            continue;
        int64_t left = limits[job->queue] - job->served, gpus = elasticflow_gpus(job, 1);
        int64_t in = left > 0 ? (left + gpus - 1) / gpus : 0;
        in = in > own->slot ? in : own->slot;
        if (least < 0 || now + in < least)
            least = now + in;
    }
    own->reference->las->next_fall = least;
}

static void stay(void *arg, int64_t from, int64_t to) {
    (void)arg;
    (void)from;
    (void)to;
}

static bool is_sooner(int64_t time, int64_t than) {
    return time >= 0 && (than < 0 || time < than);
}

/* Jobs that end when others come are kept with these, until they have come. */
static void find_next(struct elasticflow *own, int64_t now) {
    struct elasticflow_reference *loop = own->reference;
    const struct elasticflow_las *las = loop->las;
    int64_t start = elasticflow_events_next(&loop->events, now, own->slot, stay, NULL);
    bool is_joint = start >= 0 && start == las->next_end;
    loop->next = is_sooner(las->next_end, start) ? las->next_end : start;
    if (is_sooner(las->next_fall, loop->next))
        loop->next = las->next_fall;
    for (uint32_t i = 0; i < own->n_order; i++) {
        struct elasticflow_job *job = nth(own, i);
        if (is_joint)
            job->ends_with_start = job->is_next_end;
        job->is_ending = loop->next == start ? job->ends_with_start
                                             : loop->next == las->next_end && job->is_next_end;
    }
}

static void take_newcomers(struct elasticflow *own) {
    for (uint32_t n = elasticflow_add_newcomers(own); n > 0; n--)
        push(own->reference->las, nth(own, own->n_order - n), own->order[own->n_order - n], 0);
}

void elasticflow_las_event(struct gsim_plan *plan, struct elasticflow *elasticflow) {
    struct elasticflow_reference *loop = elasticflow->reference;
    int64_t now = loop->next;
    elasticflow_end_jobs(plan, elasticflow, now);
    drop_ended(elasticflow);
    count_service(elasticflow, now);
    take_newcomers(elasticflow);
    elasticflow_events_remove(&loop->events, now);
    bool is_restart = elasticflow_restarts(elasticflow, &loop->overheads);
    choose(elasticflow, is_restart);
    find_ends(elasticflow, now, is_restart);
    find_fall(elasticflow, now);
    loop->last = now;
    find_next(elasticflow, now);
}
