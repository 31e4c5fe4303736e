/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that fail and are repaired. Each node draws its times from a random stream of its own, so
 * that the times do not depend on the policy: exponential times between a repair and the next
 * failure, and from a failure to the repair. A failed node loses its jobs (states.c has their fate)
 * and has no capacity until it is repaired. */
#include "sim/core/core.h"
#include "sim/core/parts.h"

#include <stdio.h>

#include "sim/base/rng.h"
#include "sim/base/units.h"

static int64_t draw_ns(gsl_rng *rng, int64_t mean_ns) {
    gsim_i128 ns = (gsim_i128)mean_ns * gsim_rng_exponential_q32(rng) >> 32;
    if (ns > GSIM_TIME_MAX)
        return GSIM_TIME_MAX;
    return ns > 0 ? (int64_t)ns : 1;
}

/* What lies beyond the clock's end comes after it, never at it: there a failure and its repair
 * would follow each other without end in one instant. */
static void expect_failure(struct gsim_core *core, uint32_t node, int64_t mean_ns) {
    struct gsim_failures *failures = &core->failures;
    int64_t wait_ns = draw_ns(failures->rng[node], mean_ns);
    int64_t rest_ns = GSIM_TIME_MAX - core->view.now_ns;
    int64_t at_ns = core->view.now_ns + (wait_ns <= rest_ns ? wait_ns : rest_ns + 1);
    gsim_eventq_set(&failures->queue, node, at_ns, node);
}

enum gsim_status gsim_failures_open(struct gsim_core *core) {
    const struct gsim_run_options *options = core->options;
    struct gsim_failures *failures = &core->failures;
    uint32_t n = core->cluster.n_nodes;
    gsim_eventq_init(&failures->queue, core->arena);
    if (options->mtbf_ns == 0)
        return GSIM_OK;
    if (core->cluster.is_pool || !core->compat->knows_nodes)
        return gsim_fail(core->log, GSIM_USAGE, NULL, 0,
                         "--mtbf: reference simulators do not model failures of nodes");
    if (core->trace->column[GSIM_COL_REQUESTS])
        return gsim_fail(core->log, GSIM_BAD_INPUT, core->trace->path, 0,
                         "--mtbf: open-loop jobs (column 'requests') cannot be restarted");
    failures->rng = gsim_arena_array(core->arena, n, sizeof *failures->rng);
    if (!failures->rng || !gsim_eventq_reserve(&failures->queue, n))
        return gsim_core_no_memory(core);
    failures->n_rng = n;
    failures->outages = gsim_arena_array(core->arena, n, sizeof *failures->outages);
    failures->in_vain =
        gsim_arena_array(core->arena, core->trace->n_jobs, sizeof *failures->in_vain);
    failures->kept_ns =
        gsim_arena_array(core->arena, core->trace->n_jobs, sizeof *failures->kept_ns);
    failures->most_ns =
        gsim_arena_array(core->arena, core->trace->n_jobs, sizeof *failures->most_ns);
    if (!failures->outages || !failures->in_vain || !failures->kept_ns || !failures->most_ns)
        return gsim_core_no_memory(core);
    for (uint32_t g = 0; g < options->cluster->n_groups; g++)
        if (options->cluster->groups[g].gpus_per_node > failures->widest)
            failures->widest = options->cluster->groups[g].gpus_per_node;
    for (uint32_t node = 0; node < n; node++) {
        char name[32];
        (void)snprintf(name, sizeof name, "failures of node %u", node);
        failures->rng[node] = gsim_rng_stream((uint64_t)options->seed, options->replication, name);
        if (!failures->rng[node])
            return gsim_core_no_memory(core);
        failures->outages[node].since_ns = core->metrics.first_submit_ns;
        expect_failure(core, node, options->mtbf_ns);
    }
    return GSIM_OK;
}

void gsim_failures_close(struct gsim_core *core) {
    for (uint32_t node = 0; node < core->failures.n_rng; node++)
        if (core->failures.rng[node])
            gsl_rng_free(core->failures.rng[node]);
    core->failures.n_rng = 0;
}

/* --- how long nodes were down ----------------------------------------------------------------- */

/* Takes the time since the node's last change into account. */
static void pass_node(struct gsim_core *core, uint32_t node) {
    const struct gsim_metrics *m = &core->metrics;
    struct gsim_outage *outage = &core->failures.outages[node];
    bool is_down = core->cluster.node_is_down[node];
    int64_t now_ns = core->view.now_ns;
    now_ns = now_ns > m->first_submit_ns ? now_ns : m->first_submit_ns;
    if (m->last_end_ns >= outage->since_ns)
        outage->at_end_ns = outage->before_ns + (is_down ? m->last_end_ns - outage->since_ns : 0);
    if (is_down)
        outage->before_ns += now_ns - outage->since_ns;
    outage->since_ns = now_ns;
}

void gsim_failures_finish(struct gsim_core *core) {
    for (uint32_t node = 0; core->failures.outages && node < core->cluster.n_nodes; node++)
        pass_node(core, node);
}

int64_t gsim_failures_down_ns(const struct gsim_core *core, uint32_t node) {
    return core->failures.outages ? core->failures.outages[node].at_end_ns : 0;
}

/* --- jobs that nodes never let finish --------------------------------------------------------- */

/* A job gets through 16 mean times between failures without a failure in one attempt of e^16, nine
 * million: nothing waits for that, but the job is not given up before it has tried. What else it
 * takes to begin (coming back from storage) shows in the attempts alone. */
enum { HOPELESS_SPANS = 16, LEAST_ATTEMPTS = 100, MOST_ATTEMPTS = 1000000 };

/* needs: what the job lacks, as the end of a sentence about its failures. */
static enum gsim_status give_up(struct gsim_core *core, uint32_t job, const char *needs) {
    char between[32];
    gsim_format_seconds(between, core->options->mtbf_ns, 3);
    return gsim_fail(
        core->log, GSIM_BAD_INPUT, core->trace->path, gsim_trace_line(core->trace, job),
        "job '%s' has begun %u times and will not finish: %s, and each of them fails every %s s; "
        "give %s, a longer --mtbf, or --until",
        gsim_trace_id(core->trace, job), core->failures.in_vain[job] + 1, needs, between,
        core->options->checkpoint_ns > 0 ? "a shorter --checkpoint" : "--checkpoint");
}

static enum gsim_status give_up_long(struct gsim_core *core, uint32_t job, int64_t needs_ns) {
    char text[192], needs[32];
    gsim_format_seconds(needs, needs_ns, 3);
    (void)snprintf(text, sizeof text, "it needs at least %s s without a failure of its nodes%s",
                   needs, core->options->checkpoint_ns > 0 ? " until its next checkpoint" : "");
    return give_up(core, job, text);
}

/* The job may be slower where it is than its pace alone says, on a part of a GPU or beside other
 * jobs: the most that it got done says why it does not finish. */
static enum gsim_status give_up_slow(struct gsim_core *core, uint32_t job, int64_t step_ns) {
    char text[192], step[32], most[32];
    gsim_format_seconds(step, step_ns, 3);
    gsim_format_seconds(most, core->failures.most_ns[job], 3);
    (void)snprintf(text, sizeof text,
                   "it got done %s s at most of the %s s of work that it needs%s without a failure "
                   "of its nodes",
                   most, step,
                   core->options->checkpoint_ns > 0 ? " until its next checkpoint" : "");
    return give_up(core, job, text);
}

/* The work from what the job has kept to what it keeps next. */
static int64_t step_of(const struct gsim_core *core, gsim_slot slot) {
    int64_t checkpoint_ns = core->options->checkpoint_ns;
    int64_t left_ns = core->jobs.service_ns[slot] - core->failures.kept_ns[core->jobs.job[slot]];
    return checkpoint_ns > 0 && checkpoint_ns < left_ns ? checkpoint_ns : left_ns;
}

void gsim_failures_note(struct gsim_core *core, gsim_slot slot, uint64_t pace_q32,
                        int64_t lost_ns) {
    struct gsim_failures *failures = &core->failures;
    uint32_t job = core->jobs.job[slot], gpus = core->jobs.gpus[slot];
    int64_t kept_ns = gsim_progress_ns(&core->view.jobs.progress[slot], core->view.now_ns);
    if (kept_ns > failures->kept_ns[job])
        failures->in_vain[job] = 0;
    if (failures->in_vain[job] == 0 || lost_ns > failures->most_ns[job])
        failures->most_ns[job] = lost_ns;
    failures->kept_ns[job] = kept_ns;
    if (core->options->until_ns != GSIM_NEVER || ++failures->in_vain[job] < LEAST_ATTEMPTS)
        return;
    int64_t step_ns = step_of(core, slot);
    int64_t needs_ns = gsim_work_time(gsim_work_of_ns(step_ns), pace_q32);
    uint32_t n_nodes = (gpus - 1) / failures->widest + 1; /* nodes that the job is on, at least */
    if ((gsim_i128)needs_ns * n_nodes > (gsim_i128)core->options->mtbf_ns * HOPELESS_SPANS)
        core->status = give_up_long(core, job, needs_ns);
    else if (failures->in_vain[job] >= MOST_ATTEMPTS)
        core->status = give_up_slow(core, job, step_ns);
}

enum gsim_status gsim_failures_accuse(struct gsim_core *core) {
    const struct gsim_failures *failures = &core->failures;
    gsim_slot worst = GSIM_NO_SLOT;
    uint32_t most = LEAST_ATTEMPTS - 1;
    for (uint32_t i = 0; failures->in_vain && i < core->view.jobs.n_active; i++) {
        gsim_slot slot = core->view.jobs.active[i];
        uint32_t n = failures->in_vain[core->jobs.job[slot]];
        worst = n > most ? slot : worst;
        most = n > most ? n : most;
    }
    return worst == GSIM_NO_SLOT ? GSIM_OK
                                 : give_up_slow(core, core->jobs.job[worst], step_of(core, worst));
}

/* --- failures --------------------------------------------------------------------------------- */

static bool has_unit_of(const struct gsim_core *core, uint32_t node, const struct gsim_unit *units,
                        uint32_t n_units) {
    for (uint32_t u = 0; u < n_units; u++)
        if (core->cluster.node_of_gpu[units[u].gpu] == node)
            return true;
    return false;
}

/* Whether the node holds a part of the job: the job runs there, is on its way there or from there,
 * or its memory stays on a GPU or the host of the node, also until it has come to another node. */
static bool is_hit(const struct gsim_core *core, gsim_slot slot, uint32_t node) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    enum gsim_state state = core->jobs.state[slot];
    bool may_keep = state == GSIM_HELD || state == GSIM_RESUMING;
    bool keeps_there = state == GSIM_PAUSED || (may_keep && own->keep != GSIM_KEEP_STORAGE &&
                                                own->keep != GSIM_KEEP_DISCARD);
    return has_unit_of(core, node, job->units, job->n_units) ||
           has_unit_of(core, node, own->next_units, own->n_next_units) ||
           (keeps_there && has_unit_of(core, node, job->left_units, job->n_left_units));
}

/* Adds the job where it stands by its arrival. */
static bool add_hit(struct gsim_core *core, struct gsim_slots *hit, gsim_slot slot) {
    if (!gsim_slots_add(core, hit, slot))
        return false;
    uint32_t at = hit->n - 1;
    for (; at > 0 && gsim_nth(&core->view, slot) < gsim_nth(&core->view, hit->list[at - 1]); at--)
        hit->list[at] = hit->list[at - 1];
    hit->list[at] = slot;
    return true;
}

/* Jobs of the node go back to their policy in the order in which they came: the list of active
 * jobs has none that means anything. */
static void fail_jobs(struct gsim_core *core, uint32_t node) {
    struct gsim_slots *hit = &core->failures.hit;
    hit->n = 0;
    for (uint32_t i = 0; i < core->view.jobs.n_active; i++) {
        gsim_slot slot = core->view.jobs.active[i];
        if (core->jobs.state[slot] != GSIM_DONE && is_hit(core, slot, node) &&
            !add_hit(core, hit, slot)) {
            (void)gsim_core_no_memory(core);
            return;
        }
    }
    core->holds_admission = true;
    for (uint32_t i = 0; i < hit->n && core->status == GSIM_OK; i++)
        gsim_job_fail(core, hit->list[i]);
    gsim_jobs_admit_held(core);
}

static void fail(struct gsim_core *core, uint32_t node) {
    fail_jobs(core, node);
    if (core->status != GSIM_OK)
        return;
    pass_node(core, node);
    gsim_cluster_set_down(&core->cluster, node, true);
    core->metrics.n_node_failures++;
    core->view.cluster.n_failures++;
    if (core->parts)
        gsim_parts_node(core, node, true);
    expect_failure(core, node, core->options->mttr_ns);
}

void gsim_failures_serve(struct gsim_core *core) {
    struct gsim_failures *failures = &core->failures;
    while (core->status == GSIM_OK && gsim_eventq_next(&failures->queue) <= core->view.now_ns) {
        struct gsim_event_key key;
        uint32_t node = gsim_eventq_pop(&failures->queue, &key);
        core->has_changed = true;
        core->metrics.n_events++;
        if (!core->cluster.node_is_down[node]) {
            fail(core, node);
            continue;
        }
        pass_node(core, node);
        gsim_cluster_set_down(&core->cluster, node, false);
        core->view.cluster.n_repairs++;
        if (core->parts)
            gsim_parts_node(core, node, false);
        expect_failure(core, node, core->options->mtbf_ns);
    }
}
