/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/laws.h"

#include <string.h>

#include "sim/base/sort.h"
#include "sim/base/units.h"

/* --- GPUs over time -------------------------------------------------------------------------- */

static void begin_laws(void *arg, const struct gsim_scene *scene) {
    struct gsim_holdings *h = arg;
    h->trace = scene->trace;
    h->n_gpus = scene->n_gpus;
    h->gpu_ppm = gsim_arena_array(h->arena, scene->n_gpus, sizeof *h->gpu_ppm);
    h->job_ppm = gsim_arena_array(h->arena, scene->trace->n_jobs, sizeof *h->job_ppm);
    h->has_failed = !h->gpu_ppm || !h->job_ppm;
}

static void hold(struct gsim_holdings *h, const struct gsim_change *change, int64_t ppm) {
    for (uint32_t u = 0; u < change->n_units; u++) {
        uint32_t gpu = change->units[u].gpu;
        h->gpu_ppm[gpu] += ppm;
        if (h->gpu_ppm[gpu] > GSIM_PPM && h->crowded_gpu == UINT32_MAX) {
            h->crowded_gpu = gpu;
            h->crowded_ns = change->now_ns;
        }
    }
}

static bool has_instances(const struct gsim_change *change) {
    return change->n_units > 0 && change->units[0].slot > 0;
}

static void note(void *arg, const struct gsim_change *change) {
    struct gsim_holdings *h = arg;
    if (h->has_failed || change->was_on == change->is_on)
        return;
    if (!change->is_on) {
        hold(h, change, -(int64_t)h->job_ppm[change->job]);
        h->job_ppm[change->job] = 0;
        return;
    }
    uint32_t asked = gsim_trace_gpus(h->trace, change->job);
    h->is_resized |= change->gpus != asked || (change->n_units > 0 && change->n_units != asked);
    if (change->is_sharing || has_instances(change))
        return;
    h->job_ppm[change->job] = change->share_ppm;
    hold(h, change, change->share_ppm);
}

static void end_laws(void *arg, int64_t now_ns) {
    (void)arg;
    (void)now_ns;
}

void gsim_holdings_open(struct gsim_holdings *holdings, struct gsim_arena *arena) {
    *holdings = (struct gsim_holdings){.arena = arena, .crowded_gpu = UINT32_MAX};
    holdings->observer = (struct gsim_observer){
        .arg = holdings, .begin = begin_laws, .change = note, .end = end_laws};
}

/* --- rules ----------------------------------------------------------------------------------- */

struct checking {
    const struct gsim_result *result;
    const struct gsim_run_facts *facts;
    struct gsim_arena *arena;
    struct gsim_log *log;
};

static const char *id_of(const struct checking *c, uint32_t job) {
    const char *id = gsim_trace_id(c->result->trace, job);
    return *id ? id : gsim_arena_printf(c->arena, "#%u", job);
}

static enum gsim_status check_ends(const struct checking *c) {
    const struct gsim_result *r = c->result;
    for (uint32_t job = 0; job < r->trace->n_jobs; job++) {
        if (r->jobs.end_ns[job] < 0)
            return gsim_fail(c->log, GSIM_FAILED, NULL, 0,
                             "policy '%s' lost job '%s': it did not end", c->facts->policy,
                             id_of(c, job));
        if (r->jobs.start_ns[job] < r->trace->submit_ns[job])
            return gsim_fail(c->log, GSIM_FAILED, NULL, 0,
                             "policy '%s': job '%s' started before it was submitted",
                             c->facts->policy, id_of(c, job));
    }
    return GSIM_OK;
}

/* A job's time is its waiting, its stalls and its work: to the nanosecond where it has its GPUs for
 * itself, and at least that where it shares them. */
static enum gsim_status check_times(const struct checking *c) {
    const struct gsim_result *r = c->result;
    bool is_exact = !c->facts->is_shared && !c->facts->has_failures;
    if (c->facts->holdings && c->facts->holdings->is_resized)
        return GSIM_OK; /* on more GPUs a job takes less time than its service */
    for (uint32_t job = 0; job < r->trace->n_jobs; job++) {
        int64_t jct_ns = r->jobs.end_ns[job] - r->trace->submit_ns[job];
        int64_t stall_ns = r->jobs.stall_ns ? r->jobs.stall_ns[job] : 0;
        int64_t least_ns = r->jobs.wait_ns[job] + stall_ns + r->trace->service_ns[job];
        if (is_exact ? jct_ns != least_ns : jct_ns < least_ns)
            return gsim_fail(
                c->log, GSIM_FAILED, NULL, 0,
                "policy '%s': job '%s' took %lld ns; its waiting, stalls and work add up to %lld "
                "ns%s",
                c->facts->policy, id_of(c, job), (long long)jct_ns, (long long)least_ns,
                is_exact ? " (a policy whose jobs share GPUs says so: .shares_gpus)" : "");
    }
    return GSIM_OK;
}

/* Where no job is preempted, each holds its GPUs from start to end: at no time more than all. */
static enum gsim_status check_capacity(const struct checking *c) {
    const struct gsim_result *r = c->result;
    uint32_t n = r->trace->n_jobs;
    int64_t *times = gsim_arena_array(c->arena, 2 * n, sizeof *times);
    uint32_t *order = gsim_arena_array(c->arena, 2 * n, sizeof *order);
    bool is_resized = c->facts->holdings && c->facts->holdings->is_resized;
    if (r->summary.preemptions || c->facts->has_failures || is_resized)
        return GSIM_OK;
    if (!times || !order)
        return gsim_no_memory(c->log, "checking");
    for (uint32_t job = 0; job < n; job++) { /* ends come before starts at one time */
        times[job] = r->jobs.start_ns[job] * 2 + 1;
        times[n + job] = r->jobs.end_ns[job] * 2;
    }
    if (!gsim_sort_order(times, order, 2 * n))
        return gsim_no_memory(c->log, "checking");
    int64_t held = 0;
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint32_t job = order[i] % n;
        int64_t ppm = (int64_t)gsim_trace_gpus(r->trace, job) * gsim_trace_share(r->trace, job);
        bool is_instant = r->jobs.start_ns[job] == r->jobs.end_ns[job];
        held += is_instant ? 0 : order[i] < n ? ppm : -ppm;
        if (held < 0 || held > (int64_t)c->facts->n_gpus * GSIM_PPM)
            return gsim_fail(c->log, GSIM_FAILED, NULL, 0,
                             "policy '%s': jobs held more than the %u GPUs of the cluster when job "
                             "'%s' started",
                             c->facts->policy, c->facts->n_gpus, id_of(c, job));
    }
    return GSIM_OK;
}

/* GPUs work no longer than they are held, which is no longer than the run. On a shared GPU jobs do
 * at once what each would do alone: host time, and kernels beside each other. */
static enum gsim_status check_sums(const struct checking *c) {
    static const double SLACK = 1e-9;
    const struct gsim_summary *s = &c->result->summary;
    bool is_fine = s->gpu_busy <= 1 + SLACK && s->gpu_useful <= s->gpu_work &&
                   (s->gpu_work <= s->gpu_busy + SLACK || c->facts->is_shared);
    if (is_fine)
        return GSIM_OK;
    return gsim_fail(
        c->log, GSIM_FAILED, NULL, 0,
        "policy '%s': GPUs were held for %f of the time, did the work of %f of it, and "
        "%f was useful",
        c->facts->policy, s->gpu_busy, s->gpu_work, s->gpu_useful);
}

static enum gsim_status check_holdings(const struct checking *c) {
    const struct gsim_holdings *h = c->facts->holdings;
    char when[32];
    if (!h || h->crowded_gpu == UINT32_MAX)
        return GSIM_OK;
    gsim_format_seconds(when, h->crowded_ns, 9);
    return gsim_fail(c->log, GSIM_FAILED, NULL, 0,
                     "policy '%s': jobs held more than all of GPU %u at %s s", c->facts->policy,
                     h->crowded_gpu, when);
}

enum gsim_status gsim_laws_check(const struct gsim_result *result,
                                 const struct gsim_run_facts *facts, struct gsim_arena *arena,
                                 struct gsim_log *log) {
    struct checking c = {.result = result, .facts = facts, .arena = arena, .log = log};
    enum gsim_status status = check_ends(&c);
    if (status == GSIM_OK)
        status = check_times(&c);
    if (status == GSIM_OK)
        status = check_sums(&c);
    if (status == GSIM_OK)
        status = check_holdings(&c);
    if (status == GSIM_OK && !facts->is_shared)
        status = check_capacity(&c);
    return status;
}

enum gsim_status gsim_laws_equal(const struct gsim_result *a, const struct gsim_result *b,
                                 struct gsim_log *log) {
    for (uint32_t job = 0; job < a->trace->n_jobs; job++)
        if (a->jobs.end_ns[job] != b->jobs.end_ns[job] ||
            a->jobs.start_ns[job] != b->jobs.start_ns[job])
            return gsim_fail(
                log, GSIM_FAILED, NULL, 0,
                "policy '%s' is not deterministic: job '%s' ran from %lld to %lld ns, and in a "
                "second run of equal inputs from %lld to %lld ns (globals? addresses? the clock?)",
                a->summary.policy, gsim_trace_id(a->trace, job), (long long)a->jobs.start_ns[job],
                (long long)a->jobs.end_ns[job], (long long)b->jobs.start_ns[job],
                (long long)b->jobs.end_ns[job]);
    if (a->summary.events == b->summary.events)
        return GSIM_OK;
    return gsim_fail(log, GSIM_FAILED, NULL, 0,
                     "policy '%s' is not deterministic: %lld events, and %lld in a second run of "
                     "equal inputs",
                     a->summary.policy, (long long)a->summary.events, (long long)b->summary.events);
}
