/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "gsim/policy.h"
#include "sim/app/check/written.h"

static const struct gsim_policy *policy_named(const char *name, size_t length) {
    for (int i = 0; gsim_policies[i]; i++)
        if (strncmp(gsim_policies[i]->name, name, length) == 0 && !gsim_policies[i]->name[length])
            return gsim_policies[i];
    return NULL;
}

/* The parts of a cluster may have policies of their own (fifo+mig): a run may do what any of them
 * may. A policy from outside may do anything with GPUs. */
void gsim_written_policy(struct gsim_written *w, const char *policies) {
    w->has_policy = true;
    for (const char *name = policies, *end = policies; *end; name = end + 1) {
        end = name + strcspn(name, "+");
        const struct gsim_policy *policy = policy_named(name, (size_t)(end - name));
        w->is_shared |= !policy || policy->shares_gpus;
        w->is_foreign |= !policy;
        w->is_resized |= policy && policy->chooses_widths;
        w->begins_anew |=
            policy && (strcmp(policy->name, "slurm") == 0 || strcmp(policy->name, "kueue") == 0);
    }
}

/* --- the summary ------------------------------------------------------------------------------ */

/* What a field is at least and at most. */
static const struct {
    enum gsim_written_field field;
    double least, most;
} ranges[] = {{GSIM_WRITTEN_gpu_busy, 0, 1},       {GSIM_WRITTEN_gpu_down, 0, 1},
              {GSIM_WRITTEN_fragmented, 0, 1},     {GSIM_WRITTEN_idle_wanted, 0, 1},
              {GSIM_WRITTEN_skipped, 0, 1},        {GSIM_WRITTEN_jain, 0, 1},
              {GSIM_WRITTEN_gpu_useful, 0, 1e9},   {GSIM_WRITTEN_jct_mean_s, 0, 1e18},
              {GSIM_WRITTEN_wait_mean_s, 0, 1e18}, {GSIM_WRITTEN_slowdown_mean, 0, 1e30},
              {GSIM_WRITTEN_lost_s, 0, 1e30},      {GSIM_WRITTEN_switch_s, 0, 1e30},
              {GSIM_WRITTEN_stall_s, 0, 1e30},     {GSIM_WRITTEN_host_wait_s, 0, 1e18},
              {GSIM_WRITTEN_completed, 0, 1e18},   {GSIM_WRITTEN_unfinished, 0, 1e18}};

/* Fields in ascending order: no value is larger than that of the next field. */
static const enum gsim_written_field orders[][2] = {
    {GSIM_WRITTEN_jct_p50_s, GSIM_WRITTEN_jct_p95_s},
    {GSIM_WRITTEN_jct_p95_s, GSIM_WRITTEN_jct_p99_s},
    {GSIM_WRITTEN_jct_p99_s, GSIM_WRITTEN_jct_max_s},
    {GSIM_WRITTEN_jct_mean_s, GSIM_WRITTEN_jct_max_s},
    {GSIM_WRITTEN_wait_mean_s, GSIM_WRITTEN_jct_mean_s},
    {GSIM_WRITTEN_wait_p95_s, GSIM_WRITTEN_jct_p95_s},
    {GSIM_WRITTEN_gpu_useful, GSIM_WRITTEN_gpu_work},
    {GSIM_WRITTEN_latency_p50_s, GSIM_WRITTEN_latency_p90_s},
    {GSIM_WRITTEN_latency_p90_s, GSIM_WRITTEN_latency_p99_s},
    {GSIM_WRITTEN_rho_p99, GSIM_WRITTEN_rho_max},
    {GSIM_WRITTEN_rho_mean, GSIM_WRITTEN_rho_max},
    {GSIM_WRITTEN_killed, GSIM_WRITTEN_completed},
    {GSIM_WRITTEN_declined, GSIM_WRITTEN_unfinished},
    {GSIM_WRITTEN_completed, GSIM_WRITTEN_jobs}};

/* A GPU is held, down or idle. */
static const char *broken_shares(const double *f) {
    double taken = f[GSIM_WRITTEN_gpu_busy] + f[GSIM_WRITTEN_gpu_down];
    if (gsim_written_is_more(taken, 1))
        return "GPUs were held and down for more than all of the time";
    if (gsim_written_is_more(taken + f[GSIM_WRITTEN_fragmented], 1))
        return "GPUs were held, down and fragmented for more than all of the time";
    if (gsim_written_is_more(taken + f[GSIM_WRITTEN_idle_wanted], 1))
        return "GPUs were held, down and idle while a job waited for more than all of the time";
    return NULL;
}

static enum gsim_status hold_summary(struct gsim_written *w) {
    const double *f = w->number;
    for (int i = 0; i < GSIM_WRITTEN_FIELDS; i++)
        if (isinf(f[i]))
            return gsim_written_broken(w, "%s is not finite", gsim_written_fields[i]);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (gsim_written_is_more(f[ranges[i].field], ranges[i].most) ||
            gsim_written_is_more(ranges[i].least, f[ranges[i].field]))
            return gsim_written_broken(w, "%s=%.12g is not in [%g,%g]",
                                       gsim_written_fields[ranges[i].field], f[ranges[i].field],
                                       ranges[i].least, ranges[i].most);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (gsim_written_is_more(f[orders[i][0]], f[orders[i][1]]))
            return gsim_written_broken(w, "%s=%.12g is above %s=%.12g",
                                       gsim_written_fields[orders[i][0]], f[orders[i][0]],
                                       gsim_written_fields[orders[i][1]], f[orders[i][1]]);
    const char *why = broken_shares(f);
    if (why)
        return gsim_written_broken(w, "%s", why);
    if (w->has_settings && !w->is_shared && !w->is_paced &&
        gsim_written_is_more(f[GSIM_WRITTEN_gpu_work], f[GSIM_WRITTEN_gpu_busy]))
        return gsim_written_broken(w, "GPUs did the work of %.12g of the time, held for %.12g",
                                   f[GSIM_WRITTEN_gpu_work], f[GSIM_WRITTEN_gpu_busy]);
    if (fabs(f[GSIM_WRITTEN_completed] + f[GSIM_WRITTEN_unfinished] - f[GSIM_WRITTEN_jobs]) > 0)
        return gsim_written_broken(w, "of %.0f jobs %.0f finished and %.0f did not",
                                   f[GSIM_WRITTEN_jobs], f[GSIM_WRITTEN_completed],
                                   f[GSIM_WRITTEN_unfinished]);
    return GSIM_OK;
}

/* --- the jobs --------------------------------------------------------------------------------- */

/* Whether a job takes its waiting, its stalls and its work, and no other time. Jobs without work
 * serve requests, when these come. */
static bool is_exact(const struct gsim_written *w, const int64_t *v) {
    bool is_plain =
        w->has_settings && w->has_summary && !w->is_shared && !w->is_resized && !w->is_paced;
    bool has_lost = w->number[GSIM_WRITTEN_restarts] > 0 || w->number[GSIM_WRITTEN_killed] > 0 ||
                    (w->begins_anew && v[GSIM_WRITTEN_PREEMPTIONS] > 0);
    return is_plain && !has_lost && v[GSIM_WRITTEN_SERVICE] > 0;
}

static const char *broken_time(const struct gsim_written *w, const int64_t *v) {
    bool ended = v[GSIM_WRITTEN_END] >= 0, started = v[GSIM_WRITTEN_START] >= 0;
    int64_t jct_ns = v[GSIM_WRITTEN_END] - v[GSIM_WRITTEN_SUBMIT];
    int64_t held_ns = v[GSIM_WRITTEN_WAIT] + v[GSIM_WRITTEN_STALL];
    if (started && v[GSIM_WRITTEN_START] < v[GSIM_WRITTEN_SUBMIT])
        return "started before it was submitted";
    if (ended && (!started || v[GSIM_WRITTEN_END] < v[GSIM_WRITTEN_START]))
        return "ended before it started";
    if (started && v[GSIM_WRITTEN_WAIT] < v[GSIM_WRITTEN_START] - v[GSIM_WRITTEN_SUBMIT])
        return "waited for less than the time until it started";
    if (ended && v[GSIM_WRITTEN_DECLINED] > 0)
        return "was declined, and has an end";
    if (ended && held_ns > jct_ns)
        return "waited and stalled for longer than it was there";
    if (ended && v[GSIM_WRITTEN_JCT] >= 0 && v[GSIM_WRITTEN_JCT] != jct_ns)
        return "has a completion time that is not its end less its submission";
    if (ended && is_exact(w, v) && jct_ns != held_ns + v[GSIM_WRITTEN_SERVICE])
        return "took another time than its waiting, stalls and work";
    return NULL;
}

/* What a job held: its time on GPUs, times these GPUs, where it has as many as it asks for to
 * itself. A job that asks for a part of a GPU may be given all of it. */
static const char *broken_hold(const struct gsim_written *w, const int64_t *v) {
    gsim_i128 there_ns = v[GSIM_WRITTEN_END] - v[GSIM_WRITTEN_SUBMIT] - v[GSIM_WRITTEN_WAIT];
    gsim_i128 asked_ns = there_ns * v[GSIM_WRITTEN_GPUS_PPM] / GSIM_PPM;
    gsim_i128 held_ns = v[GSIM_WRITTEN_HELD];
    double n_gpus = w->n_gpus > 0 ? w->n_gpus : w->number[GSIM_WRITTEN_gpus];
    /* a database alone says what settings let jobs have */
    bool is_plain = w->has_policy && w->n_gpus > 0 && !w->is_shared && !w->is_resized;
    if (held_ns < 0)
        return NULL;
    if (v[GSIM_WRITTEN_START] < 0 && held_ns > 0)
        return "held GPUs, and never started";
    if (v[GSIM_WRITTEN_END] < 0)
        return NULL;
    if (gsim_written_is_more((double)held_ns, (double)there_ns * n_gpus))
        return "held more than all GPUs for the time that it was on any";
    if (is_plain && v[GSIM_WRITTEN_GPUS_PPM] >= GSIM_PPM && held_ns != asked_ns)
        return "held another GPU time than its time on GPUs, times the GPUs that it asks for";
    if (is_plain && held_ns < asked_ns)
        return "held less than the part of a GPU that it asks for";
    return NULL;
}

static enum gsim_status hold_jobs(struct gsim_written *w) {
    for (uint32_t i = 0; i < w->n_jobs; i++) {
        const int64_t *v = w->jobs[i].value;
        const char *why = broken_time(w, v);
        why = why ? why : broken_hold(w, v);
        for (int c = GSIM_WRITTEN_WAIT; c < GSIM_WRITTEN_JCT && !why; c++)
            why = v[c] < 0 ? "has a number below zero" : NULL;
        if (why)
            return gsim_written_broken(w, "job '%s' %s", w->jobs[i].id, why);
    }
    return GSIM_OK;
}

/* --- jobs and summary ------------------------------------------------------------------------- */

static const struct {
    enum gsim_written_column column;
    enum gsim_written_field field;
} sums[] = {{GSIM_WRITTEN_PREEMPTIONS, GSIM_WRITTEN_preemptions},
            {GSIM_WRITTEN_MIGRATIONS, GSIM_WRITTEN_migrations},
            {GSIM_WRITTEN_FAULTS, GSIM_WRITTEN_faults},
            {GSIM_WRITTEN_BYTES_IN, GSIM_WRITTEN_bytes_in},
            {GSIM_WRITTEN_BYTES_OUT, GSIM_WRITTEN_bytes_out},
            {GSIM_WRITTEN_DECLINED, GSIM_WRITTEN_declined}};

/* Up to 2^53 a real holds a whole number exactly. */
static bool differs(double said, double counted) {
    return fabs(said - counted) > GSIM_WRITTEN_SLACK * (1 + fabs(counted));
}

static enum gsim_status hold_sums(struct gsim_written *w) {
    for (size_t s = 0; s < sizeof sums / sizeof *sums; s++) {
        double sum = 0;
        for (uint32_t i = 0; i < w->n_jobs; i++)
            sum += (double)w->jobs[i].value[sums[s].column];
        if (differs(w->number[sums[s].field], sum))
            return gsim_written_broken(w, "%s=%.0f, and its jobs have %.0f",
                                       gsim_written_fields[sums[s].field], w->number[sums[s].field],
                                       sum);
    }
    return GSIM_OK;
}

static enum gsim_status hold_means(struct gsim_written *w) {
    double jct = 0, longest = 0, wait = 0, first = INFINITY, last = 0, n = 0;
    for (uint32_t i = 0; i < w->n_jobs; i++) {
        const int64_t *v = w->jobs[i].value;
        first = fmin(first, (double)v[GSIM_WRITTEN_SUBMIT] / 1e9);
        if (v[GSIM_WRITTEN_END] < 0)
            continue;
        double one = (double)(v[GSIM_WRITTEN_END] - v[GSIM_WRITTEN_SUBMIT]) / 1e9;
        n++;
        jct += one;
        wait += (double)v[GSIM_WRITTEN_WAIT] / 1e9;
        longest = fmax(longest, one);
        last = fmax(last, (double)v[GSIM_WRITTEN_END] / 1e9);
    }
    bool is_whole =
        !(w->number[GSIM_WRITTEN_warmup_jobs] + w->number[GSIM_WRITTEN_cooldown_jobs] > 0);
    const struct {
        enum gsim_written_field field;
        double value;
        bool is_asked;
    } means[] = {{GSIM_WRITTEN_completed, n, true},
                 {GSIM_WRITTEN_jobs, w->n_jobs, true},
                 {GSIM_WRITTEN_jct_mean_s, jct / n, is_whole && n > 0},
                 {GSIM_WRITTEN_jct_max_s, longest, is_whole && n > 0},
                 {GSIM_WRITTEN_wait_mean_s, wait / n, is_whole && n > 0},
                 {GSIM_WRITTEN_makespan_s, last - first, n > 0 && n >= w->n_jobs}};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        if (means[i].is_asked && differs(w->number[means[i].field], means[i].value))
            return gsim_written_broken(w, "%s=%.12g, and its jobs have %.12g",
                                       gsim_written_fields[means[i].field],
                                       w->number[means[i].field], means[i].value);
    return GSIM_OK;
}

/* The time for which GPUs were held, of all of them; NaN: not known. */
static double all_busy_ns(const struct gsim_written *w) {
    double busy_ns = 0;
    if (w->n_gpus == 0) /* no database was read */
        return w->number[GSIM_WRITTEN_unfinished] > 0
                   ? NAN
                   : w->number[GSIM_WRITTEN_gpu_busy] * w->number[GSIM_WRITTEN_gpus] *
                         w->number[GSIM_WRITTEN_makespan_s] * 1e9;
    for (uint32_t gpu = 0; gpu < w->n_gpus; gpu++)
        busy_ns += (double)w->gpus[gpu].busy_ns;
    return busy_ns;
}

/* All that GPUs were held for, jobs have among them. GPUs and jobs have whole ns, rounded down. */
static enum gsim_status hold_held(struct gsim_written *w) {
    double busy_ns = all_busy_ns(w), held_ns = 0, slack_ns = (double)w->n_jobs + (double)w->n_gpus;
    for (uint32_t i = 0; i < w->n_jobs; i++) {
        if (w->jobs[i].value[GSIM_WRITTEN_HELD] < 0)
            return GSIM_OK;
        held_ns += (double)w->jobs[i].value[GSIM_WRITTEN_HELD];
    }
    if (fabs(held_ns - busy_ns) > slack_ns + GSIM_WRITTEN_SLACK * busy_ns)
        return gsim_written_broken(w, "jobs held GPUs for %.9f s, and GPUs were held for %.9f s",
                                   held_ns / 1e9, busy_ns / 1e9);
    return GSIM_OK;
}

/* No GPU is held while its node is down. */
static const char *broken_gpu(const struct gsim_written *w, uint32_t gpu) {
    double makespan_s = w->number[GSIM_WRITTEN_makespan_s];
    double busy_s = (double)w->gpus[gpu].busy_ns / 1e9, down_s = (double)w->gpus[gpu].down_ns / 1e9;
    if (down_s < 0 || gsim_written_is_more(down_s, makespan_s))
        return "was down for less than no time, or longer than the run";
    if (w->number[GSIM_WRITTEN_unfinished] > 0)
        return NULL;
    if (gsim_written_is_more(busy_s, makespan_s))
        return "was held for longer than the run";
    return gsim_written_is_more(busy_s + down_s, makespan_s)
               ? "was held and down for longer than the run"
               : NULL;
}

/* GPU time: what the GPUs say, and the share of it. */
static enum gsim_status hold_gpus(struct gsim_written *w) {
    double busy_s = 0, down_s = 0, makespan_s = w->number[GSIM_WRITTEN_makespan_s];
    for (uint32_t gpu = 0; gpu < w->n_gpus; gpu++) {
        const char *why = broken_gpu(w, gpu);
        busy_s += (double)w->gpus[gpu].busy_ns / 1e9;
        down_s += (double)w->gpus[gpu].down_ns / 1e9;
        if (why)
            return gsim_written_broken(w, "GPU %u %s", gpu, why);
    }
    if (makespan_s > 0 && w->n_gpus > 0 &&
        differs(w->number[GSIM_WRITTEN_gpu_down], down_s / makespan_s / w->n_gpus))
        return gsim_written_broken(w, "gpu_down=%.12g, and its GPUs have %.12g",
                                   w->number[GSIM_WRITTEN_gpu_down],
                                   down_s / makespan_s / w->n_gpus);
    if (!(makespan_s > 0) || w->number[GSIM_WRITTEN_unfinished] > 0 || w->n_gpus == 0)
        return GSIM_OK;
    /* a part of a GPU is held for parts of ns, which the GPU's own time lacks */
    double share = busy_s / makespan_s / w->n_gpus;
    bool is_rounding = fabs(w->number[GSIM_WRITTEN_gpu_busy] - share) * makespan_s < 1e-9;
    if (!is_rounding && differs(w->number[GSIM_WRITTEN_gpu_busy], share))
        return gsim_written_broken(w, "gpu_busy=%.12g, and its GPUs have %.12g",
                                   w->number[GSIM_WRITTEN_gpu_busy], share);
    return GSIM_OK;
}

/* --- a driven run ----------------------------------------------------------------------------- */

/* What the record of a job, which follows its processes, and its row, which follows the engine,
 * have differently at most, for each start and stop of the job: an event is served at a time of
 * the clock that is whole ns of the run, one ns after the event that it may not meet. */
enum { DRIVEN_SLACK_NS = 2 };

static const char *broken_record(const struct gsim_written_job *job) {
    const int64_t *v = job->value;
    const struct gsim_written_driven *real = &job->driven;
    int64_t there_ns = v[GSIM_WRITTEN_END] - v[GSIM_WRITTEN_SUBMIT] - v[GSIM_WRITTEN_WAIT];
    int64_t off_ns = there_ns - real->ran_ns - real->stall_ns;
    int64_t slack_ns = DRIVEN_SLACK_NS * (real->stops + 1);
    if (!job->is_driven)
        return "has no row in real_job";
    if (real->begin_ns != v[GSIM_WRITTEN_START] || real->end_ns != v[GSIM_WRITTEN_END])
        return "began or ended at another time than in real_job";
    if (real->stops > v[GSIM_WRITTEN_PREEMPTIONS]) /* fewer: it ended before it had stopped */
        return "lost its GPUs more often, by real_job, than its policy had it";
    if (off_ns > slack_ns || off_ns < -slack_ns)
        return "had its GPUs for another time than it ran and stalled by real_job";
    return NULL;
}

static enum gsim_status hold_driven(struct gsim_written *w) {
    for (uint32_t i = 0; i < w->n_jobs; i++) {
        const char *why =
            w->jobs[i].value[GSIM_WRITTEN_END] >= 0 ? broken_record(&w->jobs[i]) : NULL;
        if (why)
            return gsim_written_broken(w, "job '%s' %s", w->jobs[i].id, why);
    }
    return GSIM_OK;
}

enum gsim_status gsim_written_hold(struct gsim_written *w) {
    enum gsim_status status = w->has_summary ? hold_summary(w) : GSIM_OK;
    if (status == GSIM_OK && w->has_jobs)
        status = hold_jobs(w);
    if (status == GSIM_OK && w->has_jobs && w->has_summary)
        status = hold_sums(w);
    if (status == GSIM_OK && w->has_jobs && w->has_summary)
        status = hold_means(w);
    if (status == GSIM_OK && w->is_driven)
        status = hold_driven(w);
    if (status == GSIM_OK && w->has_summary)
        status = hold_gpus(w);
    if (status == GSIM_OK && w->has_jobs)
        status = hold_held(w);
    return status == GSIM_OK ? gsim_written_hold_work(w) : status;
}
