/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The law of work: in no stretch of time can the jobs that began and ended in it have done more
 * than all GPUs can do in that time. Of each job counts the GPU time that it needs in any case,
 * times the part of the SMs that its kernels fill, so that kernels beside each other fall under the
 * law as jobs by turns do. Where nothing says how much that is, a job counts for nothing. */
#include "gsim/units.h"
#include "models/jobs/process.h"
#include "sim/app/check/written.h"
#include "sim/base/sort.h"
#include "sim/base/wide.h"

/* Where kernels run beside each other, the blocks of one leave their SMs to others before it ends
 * (job.spread_ppm, docs/models/sm-sharing.md). */
static int64_t without_ends(const struct gsim_written *w, int64_t gpu_ns) {
    int64_t spread_ppm = w->is_shared ? w->spread_ppm : 0;
    return gsim_muldiv_floor(gpu_ns, GSIM_PPM - spread_ppm, GSIM_PPM);
}

/* Iterations have whole ns; the rest of the job's time is no GPU time. */
static int64_t rounded_ns(const struct gsim_written *w, const struct gsim_written_job *job) {
    if (job->kernels.iterations > 0)
        return job->kernels.iterations;
    return w->is_shared ? GSIM_PROCESS_ITERATIONS_MOST : 0;
}

static int64_t longer(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Whether the run may give the job iterations that its row has not, with pauses between them: by
 * the device's constants, or where its row has pauses. */
static bool has_assumed_pauses(const struct gsim_written *w, const struct gsim_written_job *job) {
    return job->kernels.iterations <= 0 &&
           (w->assumes_iterations || (w->is_shared && job->kernels.gap_ns > 0));
}

/* GPU time at speed 1 that a job needs alone on each of its GPUs, whatever it overlaps with: of a
 * job with iterations, what they leave when the pauses of their host are taken away. A pause is as
 * long as the device says at least, and at most half of an iteration (docs/models/time-slices.md),
 * in iterations that are assumed too. */
static int64_t needed_ns(const struct gsim_written *w, const struct gsim_written_job *job) {
    const struct gsim_written_kernels *k = &job->kernels;
    int64_t busy_ns = job->value[GSIM_WRITTEN_SERVICE] - k->tail_ns - rounded_ns(w, job);
    if (k->is_unknown || busy_ns <= 0)
        return 0;
    if (k->iterations <= 0)
        return without_ends(w, has_assumed_pauses(w, job) ? busy_ns / 2 : busy_ns);
    int64_t each_ns = (job->value[GSIM_WRITTEN_SERVICE] - k->tail_ns) / k->iterations;
    int64_t pause_ns = longer(k->gap_ns, w->most_gap_ns);
    int64_t gpu_ns = longer(each_ns - pause_ns, each_ns - each_ns / 2);
    return without_ends(w,
                        k->iterations * (k->gpu_ns > 0 && k->gpu_ns < gpu_ns ? k->gpu_ns : gpu_ns));
}

/* In ns of a millionth of a thousandth of a GPU. */
static gsim_i128 work_of(const struct gsim_written *w, const struct gsim_written_job *job) {
    int64_t gpus_ppm = job->value[GSIM_WRITTEN_GPUS_PPM];
    int64_t part_ppm = gpus_ppm < GSIM_PPM ? gpus_ppm : GSIM_PPM;
    int64_t fill_ppm = job->kernels.fill_ppm;
    int64_t filled_ppm = fill_ppm > 0 && fill_ppm < part_ppm ? fill_ppm : part_ppm;
    int64_t gpus = gpus_ppm < GSIM_PPM ? 1 : gpus_ppm / GSIM_PPM;
    return (gsim_i128)needed_ns(w, job) * gpus * filled_ppm * GSIM_WRITTEN_SPEED_ONE;
}

/* What all GPUs do in a ns, in that unit. */
static gsim_i128 capacity_of(const struct gsim_written *w) {
    gsim_i128 sum = 0;
    for (uint32_t gpu = 0; gpu < w->n_gpus; gpu++)
        sum += (gsim_i128)w->gpus[gpu].speed_milli * GSIM_PPM;
    return sum;
}

/* --- stretches of time ------------------------------------------------------------------------ */

/* A tree over the begins of jobs in order. For each begin that is past: what the GPUs can do until
 * then, and the work of ended jobs that began then or later. A node has the sum of the differences
 * between its begins and the one behind them, and the largest value among those that are past,
 * counted from the node's end. */
struct node {
    gsim_i128 sum, most;
    uint32_t at; /* the begin with that value; UINT32_MAX: none is past */
};

struct stretches {
    struct node *node; /* the root is 1, and the leaves begin at n_leaves */
    uint32_t n_leaves;
};

static struct node joined(const struct node *a, const struct node *b) {
    struct node both = {.sum = a->sum + b->sum, .most = b->most, .at = b->at};
    if (a->at != UINT32_MAX && (b->at == UINT32_MAX || a->most + b->sum > b->most)) {
        both.most = a->most + b->sum;
        both.at = a->at;
    }
    return both;
}

static void add(struct stretches *s, uint32_t leaf, gsim_i128 amount, bool is_past) {
    struct node *own = &s->node[s->n_leaves + leaf];
    own->sum += amount;
    own->most = own->sum;
    own->at = is_past ? leaf : own->at;
    for (uint32_t i = (s->n_leaves + leaf) / 2; i > 0; i /= 2)
        s->node[i] = joined(&s->node[2 * i], &s->node[2 * i + 1]);
}

static bool open_stretches(struct stretches *s, uint32_t n, struct gsim_arena *arena) {
    for (s->n_leaves = 1; s->n_leaves < n; s->n_leaves *= 2)
        ;
    s->node = gsim_arena_array(arena, 2 * (size_t)s->n_leaves, sizeof *s->node);
    for (uint32_t i = 0; s->node && i < 2 * s->n_leaves; i++)
        s->node[i].at = UINT32_MAX;
    return s->node != NULL;
}

/* --- the law ---------------------------------------------------------------------------------- */

struct ended {
    const struct gsim_written_job **job; /* that have begun, ended and worked */
    uint32_t n;
    uint32_t *by_begin, *by_end; /* positions in job */
    uint32_t *place; /* of each job among the begins */
    int64_t *times;
};

static bool find_ended(const struct gsim_written *w, struct ended *e) {
    uint32_t n = w->n_jobs;
    e->job = gsim_arena_array(w->arena, n, sizeof(const struct gsim_written_job *));
    e->by_begin = gsim_arena_array(w->arena, n, sizeof *e->by_begin);
    e->by_end = gsim_arena_array(w->arena, n, sizeof *e->by_end);
    e->place = gsim_arena_array(w->arena, n, sizeof *e->place);
    e->times = gsim_arena_array(w->arena, n, sizeof *e->times);
    if (!e->job || !e->by_begin || !e->by_end || !e->place || !e->times)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (w->jobs[i].value[GSIM_WRITTEN_END] >= 0 && work_of(w, &w->jobs[i]) > 0)
            e->job[e->n++] = &w->jobs[i];
    return true;
}

static bool put_in_order(struct ended *e, enum gsim_written_column by, uint32_t *order) {
    for (uint32_t i = 0; i < e->n; i++)
        e->times[i] = e->job[i]->value[by];
    return gsim_sort_order(e->times, order, e->n);
}

static enum gsim_status broken_work(struct gsim_written *w, const struct gsim_written_job *first,
                                    const struct gsim_written_job *last, gsim_i128 done,
                                    gsim_i128 unit) {
    int64_t from_ns = first->value[GSIM_WRITTEN_START], to_ns = last->value[GSIM_WRITTEN_END];
    double could_s = (double)(to_ns - from_ns) * (double)unit / 1e18;
    return gsim_written_broken(
        w,
        "jobs that began at %.9f s (job '%s') or later and ended by %.9f s (job '%s') did work of "
        "%.9f GPU seconds, and %u GPUs can do %.9f in that time",
        (double)from_ns / 1e9, first->id, (double)to_ns / 1e9, last->id, (double)done / 1e18,
        w->n_gpus, could_s);
}

static enum gsim_status follow(struct gsim_written *w, const struct ended *e, struct stretches *s) {
    gsim_i128 unit = capacity_of(w);
    uint32_t past = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        const struct gsim_written_job *job = e->job[e->by_end[i]];
        int64_t end_ns = job->value[GSIM_WRITTEN_END];
        for (; past < e->n && e->job[e->by_begin[past]]->value[GSIM_WRITTEN_START] <= end_ns;
             past++)
            add(s, past, 0, true);
        add(s, e->place[e->by_end[i]], work_of(w, job), true);
        gsim_i128 over = s->node[1].most - unit * end_ns;
        const struct gsim_written_job *first = e->job[e->by_begin[s->node[1].at]];
        if (over > 0)
            return broken_work(w, first, job,
                               s->node[1].most - unit * first->value[GSIM_WRITTEN_START], unit);
    }
    return GSIM_OK;
}

/* The differences between begins, so that the sum from one of them on is what can be done until
 * it. */
static void lay_out(const struct gsim_written *w, struct ended *e, struct stretches *s) {
    gsim_i128 unit = capacity_of(w);
    for (uint32_t i = 0; i < e->n; i++) {
        int64_t at_ns = e->job[e->by_begin[i]]->value[GSIM_WRITTEN_START];
        int64_t next_ns = i + 1 < e->n ? e->job[e->by_begin[i + 1]]->value[GSIM_WRITTEN_START] : 0;
        e->place[e->by_begin[i]] = i;
        add(s, i, unit * (at_ns - next_ns), false);
    }
}

static enum gsim_status hold_stretches(struct gsim_written *w) {
    struct ended e = {0};
    struct stretches s;
    if (!find_ended(w, &e))
        return gsim_no_memory(w->log, "checking");
    if (e.n == 0)
        return GSIM_OK;
    bool is_fine = open_stretches(&s, e.n, w->arena) &&
                   put_in_order(&e, GSIM_WRITTEN_START, e.by_begin) &&
                   put_in_order(&e, GSIM_WRITTEN_END, e.by_end);
    if (!is_fine)
        return gsim_no_memory(w->log, "checking");
    lay_out(w, &e, &s);
    return follow(w, &e, &s);
}

/* --- the summary and single jobs -------------------------------------------------------------- */

static int64_t fastest_milli(const struct gsim_written *w) {
    int64_t most = 0;
    for (uint32_t gpu = 0; gpu < w->n_gpus; gpu++)
        most = w->gpus[gpu].speed_milli > most ? w->gpus[gpu].speed_milli : most;
    return most;
}

/* The least part of its share of a GPU that a job needs for its GPU time, in ppm; 0: not known. */
static int64_t least_fill_ppm(const struct gsim_written *w) {
    int64_t least = GSIM_PPM;
    for (uint32_t i = 0; i < w->n_jobs; i++) {
        const struct gsim_written_job *job = &w->jobs[i];
        int64_t gpus_ppm = job->value[GSIM_WRITTEN_GPUS_PPM], fill_ppm = job->kernels.fill_ppm;
        int64_t part_ppm = gpus_ppm < GSIM_PPM ? gpus_ppm : GSIM_PPM;
        int64_t filled_ppm =
            fill_ppm > 0 && fill_ppm < part_ppm ? fill_ppm * GSIM_PPM / part_ppm : GSIM_PPM;
        if (job->kernels.is_unknown)
            return 0;
        if (has_assumed_pauses(w, job))
            filled_ppm /= 2;
        least = filled_ppm < least ? filled_ppm : least;
    }
    return least;
}

/* GPU time that the summary counts and jobs need not: iterations are counted with the pauses of the
 * first device, and with their roundings; within an iteration that the run cut short, the GPU's
 * part that is done stands for as much of its pause. */
static double more_s(const struct gsim_written *w) {
    gsim_i128 sum = 0;
    for (uint32_t i = 0; i < w->n_jobs; i++) {
        const struct gsim_written_job *job = &w->jobs[i];
        gsim_i128 pauses_ns =
            (gsim_i128)job->kernels.iterations * (w->most_gap_ns - w->gpus[0].gap_ns);
        if (job->value[GSIM_WRITTEN_END] < 0)
            pauses_ns += longer(job->kernels.gap_ns, w->most_gap_ns);
        sum += (pauses_ns + rounded_ns(w, job)) * job->value[GSIM_WRITTEN_GPUS_PPM];
    }
    return (double)sum / 1e9 / GSIM_PPM;
}

/* Of the work of all jobs, unfinished ones included: GPUs did it while they were held. */
static enum gsim_status hold_useful(struct gsim_written *w) {
    double part = (double)without_ends(w, least_fill_ppm(w)) / GSIM_PPM;
    double gpu_s = w->number[GSIM_WRITTEN_makespan_s] * w->n_gpus;
    double useful_s = w->number[GSIM_WRITTEN_gpu_useful] * gpu_s - more_s(w);
    double can_s = w->number[GSIM_WRITTEN_gpu_busy] * gpu_s * (double)fastest_milli(w) /
                   GSIM_WRITTEN_SPEED_ONE;
    if (!gsim_written_is_more(useful_s * part, can_s))
        return GSIM_OK;
    return gsim_written_broken(w,
                               "GPUs did useful work for %.12g of the time, of jobs that fill %.6g "
                               "of them or more, and were held for %.12g of it",
                               w->number[GSIM_WRITTEN_gpu_useful], part,
                               w->number[GSIM_WRITTEN_gpu_busy]);
}

static enum gsim_status hold_lengths(struct gsim_written *w) {
    int64_t most = fastest_milli(w);
    for (uint32_t i = 0; i < w->n_jobs; i++) {
        const int64_t *v = w->jobs[i].value;
        int64_t there_ns = v[GSIM_WRITTEN_END] - v[GSIM_WRITTEN_SUBMIT] - v[GSIM_WRITTEN_WAIT];
        gsim_i128 most_work = (gsim_i128)(there_ns - v[GSIM_WRITTEN_STALL]) * most;
        gsim_i128 work = (gsim_i128)v[GSIM_WRITTEN_SERVICE] * GSIM_WRITTEN_SPEED_ONE;
        if (v[GSIM_WRITTEN_END] >= 0 && !w->jobs[i].kernels.is_unknown && most_work < work)
            return gsim_written_broken(w, "job '%s' had its GPUs for less time than its work takes",
                                       w->jobs[i].id);
    }
    return GSIM_OK;
}

enum gsim_status gsim_written_hold_work(struct gsim_written *w) {
    bool is_known = w->has_kernels && w->has_summary && !w->is_foreign && !w->is_resized &&
                    !w->is_by_table && !w->is_driven && w->n_gpus > 0;
    if (!is_known)
        return GSIM_OK;
    enum gsim_status status = hold_useful(w);
    if (status == GSIM_OK && !(w->number[GSIM_WRITTEN_killed] > 0))
        status = hold_lengths(w);
    if (status == GSIM_OK && !(w->number[GSIM_WRITTEN_killed] > 0))
        status = hold_stretches(w);
    return status;
}
