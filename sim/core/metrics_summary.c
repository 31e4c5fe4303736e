/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of a run: its sums and columns as a result. */
#include "sim/core/core.h"
#include "sim/core/stats.h"
#include "sim/base/text.h"

#include <math.h>

/* Marks the jobs for which the run was over too early. */
static void never_arrived(struct gsim_core *core) {
    for (uint32_t i = core->next_arrival; i < core->n_open; i++) {
        uint32_t job = gsim_trace_arrival(core->trace, i);
        core->metrics.start_ns[job] = core->metrics.end_ns[job] = -1;
    }
}

static gsim_i128 gpu_busy_ppm_ns(const struct gsim_metrics *m, uint32_t gpu) {
    return (gsim_i128)m->gpu_busy_ns[gpu] * GSIM_PPM + m->gpu_busy_ppm_ns[gpu];
}

static uint32_t gpus_of_node(const struct gsim_cluster *cluster, uint32_t node) {
    return cluster->node_first_gpu[node + 1] - cluster->node_first_gpu[node];
}

static void fill_cluster(const struct gsim_core *core, struct gsim_summary *s) {
    const struct gsim_metrics *m = &core->metrics;
    gsim_i128 span = m->last_end_ns - m->first_submit_ns;
    double capacity = (double)span * (double)core->cluster.n_gpus * (double)GSIM_PPM;
    s->arrivals_s = gsim_sum_seconds(m->last_submit_ns - m->first_submit_ns);
    s->makespan_s = gsim_sum_seconds(span) + gsim_sum_seconds(core->compat->tick_ns);
    s->throughput_jobs_per_h =
        span > 0 ? m->n_completed * 3600.0 / gsim_sum_seconds(span) : (double)NAN;
    gsim_i128 busy = m->busy_ppm_ns;
    for (uint32_t gpu = 0; gpu < core->cluster.n_gpus; gpu++)
        busy += gpu_busy_ppm_ns(m, gpu);
    s->gpu_busy = span > 0 ? (double)busy / capacity : (double)NAN;
    s->gpu_work = span > 0 ? (double)m->work_ppm_ns / capacity : (double)NAN;
    s->gpu_useful = span > 0 ? (double)(m->work_ppm_ns - m->gap_ppm_ns) / capacity : (double)NAN;
    s->switch_s = gsim_sum_seconds(m->switch_ns);
    bool has_nodes = span > 0 && !core->cluster.is_pool;
    double gpu_ns = (double)span * (double)core->cluster.n_gpus;
    gsim_i128 down_ns = 0;
    for (uint32_t node = 0; node < core->cluster.n_nodes; node++)
        down_ns +=
            (gsim_i128)gsim_failures_down_ns(core, node) * gpus_of_node(&core->cluster, node);
    s->gpu_down = span > 0 ? (double)down_ns / gpu_ns : (double)NAN;
    s->lost_s = gsim_sum_seconds(m->lost_ppm_ns / GSIM_PPM);
    s->fragmented = has_nodes ? (double)m->unused_at_end.fragmented_ns / gpu_ns : (double)NAN;
    s->idle_wanted = has_nodes ? (double)m->unused_at_end.wanted_ns / gpu_ns : (double)NAN;
}

static void fill_counts(const struct gsim_core *core, struct gsim_summary *s) {
    const struct gsim_metrics *m = &core->metrics;
    s->preemptions = m->n_preemptions;
    s->migrations = m->n_migrations;
    s->node_failures = m->n_node_failures;
    s->restarts = m->n_restarts;
    s->killed = m->n_killed;
    s->bytes_in = m->n_bytes_in;
    s->bytes_out = m->n_bytes_out;
    s->faults = m->n_faults;
    s->bytes_stored = m->n_bytes_stored;
    s->host_waits = m->n_host_waits;
    s->host_wait_s = (double)m->host_wait_ns / 1e9;
    s->stall_s = (double)m->n_stall_ns / 1e9;
    s->events = m->n_events;
}

static const char *join_texts(struct gsim_arena *arena, const char *const *texts) {
    const char *joined = "";
    for (; texts && *texts && joined; texts++)
        joined = *joined ? gsim_arena_printf(arena, "%s, %s", joined, *texts)
                         : gsim_arena_strdup(arena, *texts);
    return joined;
}

/* The assumptions of the trace, the policy and the model. */
static const char *all_assumed(struct gsim_core *core) {
    const char *texts[] = {join_texts(core->arena, core->trace->assumed), core->ctx.assumed,
                           join_texts(core->arena, core->ops->assumed(core->model))};
    const char *some[4] = {NULL};
    for (int i = 0, n = 0; i < 3; i++)
        if (texts[i] && *texts[i])
            some[n++] = texts[i];
    const char *all = join_texts(core->arena, some);
    return all ? all : "";
}

/* The ways of preemption, in the words of preempt=. */
static const char *ways_of(struct gsim_core *core) {
    static const char *const name[GSIM_KEEP_COUNT] = {
        [GSIM_KEEP_RESIDENT] = "pause",   [GSIM_KEEP_PAGEABLE] = "paging",
        [GSIM_KEEP_HOST] = "suspend",     [GSIM_KEEP_STORAGE] = "restart",
        [GSIM_KEEP_IMAGE] = "checkpoint", [GSIM_KEEP_DISCARD] = "discard"};
    const char *ways = "";
    /* bytes_stored reports the bytes for which hosts had no room */
    unsigned keeps = core->metrics.keeps;
    if (keeps >> GSIM_KEEP_SPILT & 1)
        keeps |= 1u << GSIM_KEEP_HOST;
    if (keeps >> GSIM_KEEP_IMAGE_SPILT & 1)
        keeps |= 1u << GSIM_KEEP_IMAGE;
    for (int keep = 0; keep < GSIM_KEEP_COUNT && ways; keep++)
        if (keeps >> keep & 1 && name[keep])
            ways = *ways ? gsim_arena_printf(core->arena, "%s+%s", ways, name[keep]) : name[keep];
    return ways ? ways : "";
}

/* Adds an item to the field `assumed`. */
static void assume(struct gsim_core *core, struct gsim_summary *s, const char *item) {
    const char *text =
        item ? gsim_arena_printf(core->arena, "%s%s%s", s->assumed, *s->assumed ? ", " : "", item)
             : NULL;
    s->assumed = text ? text : s->assumed;
}

/* What a failure takes besides the work that is lost, and the way back from storage. A job that
 * begins anew starts as it did at first, and that is part of its duration. */
static void add_failures(struct gsim_core *core, struct gsim_summary *s) {
    const struct gsim_cluster_spec *spec = core->options->cluster;
    bool is_ideal = true;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        is_ideal &= spec->groups[g].is_host_moot;
    if (s->restarts == 0 || is_ideal)
        return;
    assume(core, s, "failure.notice=0 s (a failed node's jobs are in the queue at once)");
    if (core->options->checkpoint_ns > 0)
        assume(core, s, "checkpoint.write=0 s (jobs go on while they are written)");
}

/* A host with a limit never holds more than that; a host without a limit is an assumption. */
static void add_hosts(struct gsim_core *core, struct gsim_summary *s) {
    bool is_assumed;
    s->host_peak_bytes = gsim_hosts_peak(core, &is_assumed);
    if (!is_assumed)
        return;
    assume(core, s,
           gsim_arena_printf(core->arena, "host memory=unlimited (a node held up to %.3g GiB)",
                             (double)s->host_peak_bytes / (double)GSIM_GIB));
}

/* Jobs of constraints that count nodes. */
static void add_constraints(struct gsim_core *core, struct gsim_summary *s) {
    if (core->node_sets.n_counting > 0)
        assume(core, s,
               gsim_arena_printf(core->arena,
                                 "features=without counts of nodes (%u job%s; each node has a "
                                 "feature that is named)",
                                 core->node_sets.n_counting,
                                 gsim_plural(core->node_sets.n_counting)));
}

/* Jobs that asked for numbers of nodes, on others. */
static void add_counts(struct gsim_core *core, struct gsim_summary *s) {
    const struct gsim_node_counts *counts = &core->node_counts;
    if (counts->n_ignored > 0)
        assume(core, s,
               gsim_arena_printf(core->arena, "num_nodes=any number (%u job%s asked for one)",
                                 counts->n_ignored, gsim_plural(counts->n_ignored)));
    if (counts->n_impossible > 0)
        assume(
            core, s,
            gsim_arena_printf(core->arena,
                              "num_nodes=the fewest (%u job%s that the cluster cannot hold on as "
                              "many as they asked for)",
                              counts->n_impossible, gsim_plural(counts->n_impossible)));
}

static void fill_texts(struct gsim_core *core, struct gsim_result *result) {
    struct gsim_summary *s = &result->summary;
    const char *outside = core->ops->outside_validated(core->model);
    s->policy = core->policy->name;
    s->trace = core->trace->path;
    s->device = core->options->device_name;
    s->deviation = core->ctx.deviation ? core->ctx.deviation : "";
    s->preempted_by = ways_of(core);
    s->outside_validated = outside ? outside : "";
    s->assumed = all_assumed(core);
    const char *given = join_texts(core->arena, core->ops->given(core->model));
    s->given = given ? given : "";
}

static void fill_jobs(const struct gsim_core *core, struct gsim_result *result) {
    const struct gsim_metrics *m = &core->metrics;
    const struct gsim_summary *s = &result->summary;
    gsim_work computing = 0;
    for (uint32_t gpu = 0; gpu < core->cluster.n_gpus; gpu++)
        computing += gsim_held_computing(core, gpu);
    result->computing_s = gsim_sum_seconds(computing >> 32);
    result->jobs = (struct gsim_job_results){
        .n = core->trace->n_jobs,
        .submit_ns = result->jobs.submit_ns,
        .start_ns = m->start_ns,
        .end_ns = m->end_ns,
        .wait_ns = m->wait_ns,
        .preemptions = s->preemptions ? m->preemptions : NULL,
        .migrations = s->migrations ? m->migrations : NULL,
        .faults = m->faults,
        .bytes_in = m->bytes_in,
        .bytes_out = m->bytes_out,
        .stall_ns = m->stall_ns,
        .held_ns = m->held_ns,
        .declined = m->declined,
    };
}

static bool fill_gpus(struct gsim_core *core, struct gsim_result *result) {
    const struct gsim_cluster_spec *spec = core->options->cluster;
    struct gsim_gpu_result *gpus =
        gsim_arena_array(core->arena, core->cluster.n_gpus, sizeof *gpus);
    uint32_t gpu = 0;
    if (!gpus)
        return false;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        for (uint32_t i = 0; i < spec->groups[g].count * spec->groups[g].gpus_per_node; i++, gpu++)
            gpus[gpu] = (struct gsim_gpu_result){
                .node = core->cluster.node_of_gpu[gpu],
                .device = spec->groups[g].device_name,
                .busy_ns = (int64_t)(gpu_busy_ppm_ns(&core->metrics, gpu) / GSIM_PPM),
                .computing_ns = gsim_work_to_ns(gsim_held_computing(core, gpu)),
                .down_ns = gsim_failures_down_ns(core, core->cluster.node_of_gpu[gpu])};
    result->gpus = gpus;
    return true;
}

/* A deadline that the run did not reach is neither met nor missed, unless its job was declined. */
static void fill_deadlines(const struct gsim_core *core, struct gsim_summary *s) {
    const struct gsim_metrics *m = &core->metrics;
    const int64_t *deadline_ns = core->trace->column[GSIM_COL_DEADLINE_NS];
    for (uint32_t job = 0; deadline_ns && job < core->trace->n_jobs; job++) {
        bool has_ended = m->end_ns[job] >= 0;
        bool is_declined = m->declined && m->declined[job];
        if (deadline_ns[job] < 0)
            continue;
        if (has_ended && m->end_ns[job] <= deadline_ns[job])
            s->deadlines_met++;
        else if (has_ended || is_declined || core->view.now_ns > deadline_ns[job])
            s->deadlines_missed++;
    }
}

enum gsim_status gsim_metrics_finish(struct gsim_core *core, struct gsim_result *result) {
    struct gsim_summary *s = &result->summary;
    *result = (struct gsim_result){.trace = core->trace};
    never_arrived(core);
    if (core->loops && !gsim_loops_finish(core, result))
        return gsim_core_no_memory(core);
    if (core->status != GSIM_OK) /* no memory for the costs of jobs that were cut off */
        return core->status;
    gsim_failures_finish(core);
    if (!gsim_distributions_fill(core, s) || (!core->cluster.is_pool && !fill_gpus(core, result)))
        return gsim_core_no_memory(core);
    gsim_fairness_fill(core, s);
    fill_texts(core, result);
    fill_cluster(core, s);
    fill_counts(core, s);
    if (!core->cluster.is_pool)
        add_hosts(core, s);
    add_failures(core, s);
    add_constraints(core, s);
    add_counts(core, s);
    s->gpus = core->cluster.n_gpus;
    s->seed = core->options->seed;
    s->jobs = core->trace->n_jobs;
    s->unfinished = s->jobs - s->completed;
    s->declined = core->metrics.n_declined;
    fill_deadlines(core, s);
    /* a text that found no memory would be a doubt or an assumption that goes unsaid */
    if (!gsim_metrics_model(core, result) || gsim_arena_has_failed(core->arena))
        return gsim_core_no_memory(core);
    s->wall_s = (double)NAN; /* filled in by the caller, which may read a clock */
    fill_jobs(core, result);
    return GSIM_OK;
}
