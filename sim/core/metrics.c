/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results: per-job columns in trace order, and the summary over all finished jobs. Sums are
 * 128-bit integers, so that the order of completion cannot show in a mean. */
#include "sim/core/core.h"
#include "sim/core/stats.h"
#include "sim/base/hints.h"
#include "sim/base/text.h"

#include <math.h>

static void *column(struct gsim_core *core, size_t size) {
    return gsim_arena_grow(core->arena, NULL, 0, core->trace->n_jobs * size);
}

static bool open_wanting(struct gsim_core *core) {
    uint32_t n_sizes = core->cluster.n_gpus + 1;
    core->wanting.n_jobs = gsim_arena_array(core->arena, n_sizes, sizeof *core->wanting.n_jobs);
    return core->wanting.n_jobs && gsim_bitset_init(&core->wanting.sizes, core->arena, n_sizes);
}

bool gsim_metrics_open(struct gsim_core *core) {
    struct gsim_metrics *m = &core->metrics;
    m->start_ns = column(core, sizeof *m->start_ns);
    m->end_ns = column(core, sizeof *m->end_ns);
    m->wait_ns = column(core, sizeof *m->wait_ns);
    m->held_ns = column(core, sizeof *m->held_ns);
    m->preemptions = column(core, sizeof *m->preemptions);
    m->migrations = column(core, sizeof *m->migrations);
    m->gpu_busy_ns = gsim_arena_array(core->arena, core->cluster.n_gpus, sizeof *m->gpu_busy_ns);
    m->gpu_busy_ppm_ns =
        gsim_arena_array(core->arena, core->cluster.n_gpus, sizeof *m->gpu_busy_ppm_ns);
    m->gpu_still = gsim_arena_array(core->arena, core->cluster.n_gpus, sizeof *m->gpu_still);
    if (!m->start_ns || !m->end_ns || !m->wait_ns || !m->held_ns || !m->preemptions ||
        !m->migrations || !m->gpu_busy_ns || !m->gpu_busy_ppm_ns || !m->gpu_still ||
        !open_wanting(core) || !gsim_fairness_open(core))
        return false;
    m->has_gaps = core->trace->column[GSIM_COL_ITERATIONS] != NULL ||
                  core->trace->column[GSIM_COL_HOST_TAIL_NS] != NULL;
    m->has_requests = core->trace->column[GSIM_COL_REQUESTS] != NULL;
    m->first_submit_ns = core->trace->submit_ns[gsim_trace_arrival(core->trace, 0)];
    m->last_end_ns = m->last_submit_ns = m->first_submit_ns;
    return true;
}

void gsim_metrics_job_arrived(struct gsim_core *core, uint32_t job) {
    struct gsim_metrics *m = &core->metrics;
    int64_t submit_ns = core->trace->submit_ns[job];
    m->start_ns[job] = -1; /* not started */
    if (submit_ns > m->last_submit_ns) /* a job comes again when its node fails */
        m->last_submit_ns = submit_ns;
}

/* Marks the jobs for which the run was over too early. */
static void never_arrived(struct gsim_core *core) {
    for (uint32_t i = core->next_arrival; i < core->n_open; i++) {
        uint32_t job = gsim_trace_arrival(core->trace, i);
        core->metrics.start_ns[job] = core->metrics.end_ns[job] = -1;
    }
}

/* --- while the clock runs --------------------------------------------------------------------- */

void gsim_metrics_wants(struct gsim_core *core, gsim_slot slot, bool begins) {
    struct gsim_wanting *wanting = &core->wanting;
    uint32_t gpus = core->jobs.gpus[slot];
    core->jobs.core[slot].is_wanting = begins;
    wanting->n += begins ? 1u : UINT32_MAX;
    if (begins && wanting->n_jobs[gpus]++ == 0)
        gsim_bitset_add(&wanting->sizes, gpus);
    if (!begins && --wanting->n_jobs[gpus] == 0)
        gsim_bitset_remove(&wanting->sizes, gpus);
    if (gsim_mostly(!core->jobs.core[slot].is_host_short))
        return;
    if (begins) {
        gsim_metrics_host_short(core, true);
    } else {
        core->jobs.core[slot].is_host_short = false;
        wanting->n_host_short--;
    }
}

static bool is_unused(const struct gsim_cluster *cluster, uint32_t gpu) {
    return gsim_cluster_is_idle(cluster, gpu) ||
           (cluster->gpu_is_arranged[gpu] && cluster->gpu_clients[gpu] == 0);
}

/* A GPU that its job has given up, and no other job has reserved, is in use until that is off. */
static struct gsim_idle vacated_on(const struct gsim_core *core, uint32_t node) {
    const struct gsim_cluster *cluster = &core->cluster;
    uint32_t first = cluster->node_first_gpu[node], end = cluster->node_first_gpu[node + 1];
    uint32_t unused = cluster->node_idle[node] + cluster->node_empty[node];
    struct gsim_idle idle = {0};
    if (unused == 0)
        return idle;
    for (uint32_t gpu = gsim_bitset_next(&core->vacated, first); gpu < end;
         gpu = gsim_bitset_next(&core->vacated, gpu + 1))
        idle.n += is_unused(cluster, gpu);
    idle.n_whole = idle.n > 0 && unused == end - first ? unused : 0;
    return idle;
}

/* At the end of a round as many jobs may be on their way as there are GPUs, each of which leaves at
 * an instant of its own: only nodes that changed since are looked at. */
GSIM_APART static struct gsim_idle vacated(struct gsim_core *core) {
    struct gsim_bitset *changed = &core->cluster.unused_changed;
    for (uint32_t node = gsim_bitset_first(changed); node != UINT32_MAX;
         node = gsim_bitset_next(changed, node + 1)) {
        struct gsim_idle *was = &core->node_vacated_idle[node], is = vacated_on(core, node);
        core->vacated_idle.n += is.n - was->n;
        core->vacated_idle.n_whole += is.n_whole - was->n_whole;
        *was = is;
        gsim_bitset_remove(changed, node);
    }
    return core->vacated_idle;
}

static inline void pass_unused(struct gsim_core *core, int64_t elapsed_ns, struct gsim_idle idle) {
    struct gsim_unused *unused = &core->metrics.unused;
    unused->fragmented_ns += (gsim_i128)elapsed_ns * (int64_t)(idle.n - idle.n_whole);
    if (core->wanting.n > 0 && gsim_bitset_first(&core->wanting.sizes) <= idle.n)
        unused->wanted_ns += (gsim_i128)elapsed_ns * (int64_t)idle.n;
}

GSIM_APART static void pass_but_vacated(struct gsim_core *core, int64_t elapsed_ns,
                                        struct gsim_idle idle) {
    struct gsim_idle off = vacated(core);
    pass_unused(core, elapsed_ns, (struct gsim_idle){idle.n - off.n, idle.n_whole - off.n_whole});
}

void gsim_metrics_pass(struct gsim_core *core, int64_t until_ns) {
    const struct gsim_cluster *cluster = &core->cluster;
    int64_t elapsed_ns = until_ns - core->view.now_ns;
    core->crowd.area += (gsim_i128)elapsed_ns * (int64_t)core->crowd.n;
    if (gsim_rarely(core->wanting.n_host_short > 0))
        core->metrics.host_wait_ns += elapsed_ns;
    struct gsim_idle idle = {cluster->n_idle + cluster->n_empty, cluster->n_unused_whole};
    if (idle.n == 0 || cluster->is_pool)
        return;
    if (gsim_rarely(core->n_vacating > 0))
        pass_but_vacated(core, elapsed_ns, idle);
    else
        pass_unused(core, elapsed_ns, idle);
}

/* A column is allocated at its first value other than zero. */
static void put(struct gsim_core *core, int64_t **cells, uint32_t job, int64_t value,
                int64_t *total) {
    if (value == 0)
        return;
    if (!*cells)
        *cells = column(core, sizeof **cells);
    if (*cells)
        (*cells)[job] = value;
    else
        (void)gsim_core_no_memory(core);
    *total += value;
}

static inline void record(struct gsim_core *core, gsim_slot slot, int64_t work_ns, bool has_ended) {
    struct gsim_metrics *m = &core->metrics;
    uint32_t job = core->jobs.job[slot];
    const struct gsim_core_job *own = &core->jobs.core[slot];
    if (own->wait_ns) {
        m->wait_ns[job] = own->wait_ns;
        m->ended_wait_ns += has_ended ? own->wait_ns : 0;
    }
    m->end_ns[job] = has_ended ? core->view.now_ns : -1;
    m->held_ns[job] = gsim_held_ns(own);
    if (gsim_rarely(m->has_requests))
        work_ns = gsim_served_ns(core->trace, job, work_ns, has_ended && !own->is_ending);
    gsim_i128 gpu_ppm_ns = gsim_widths_gpu_time(core, slot, work_ns);
    m->work_ppm_ns += gpu_ppm_ns;
    if (gsim_rarely(m->has_gaps))
        m->gap_ppm_ns +=
            gsim_widths_part(gpu_ppm_ns, core->ops->gap_ns(core->model, slot, work_ns), work_ns);
}

GSIM_APART static void record_costs(struct gsim_core *core, gsim_slot slot) {
    struct gsim_metrics *m = &core->metrics;
    uint32_t job = core->jobs.job[slot];
    struct gsim_costs costs = core->ops->costs(core->model, slot);
    put(core, &m->bytes_in, job, costs.bytes_in, &m->n_bytes_in);
    put(core, &m->bytes_out, job, costs.bytes_out, &m->n_bytes_out);
    put(core, &m->faults, job, costs.faults, &m->n_faults);
    put(core, &m->stall_ns, job, costs.stall_ns + core->jobs.core[slot].stall_ns, &m->n_stall_ns);
}

/* Notes the end of a job. Nodes may fail, and jobs wait in vain, long after the last end, so the
 * sums of unused time are kept as of each end that may be the last. */
static inline void note_end(struct gsim_core *core, bool may_be_last) {
    core->metrics.last_end_ns = core->view.now_ns;
    if (gsim_rarely(may_be_last))
        core->metrics.unused_at_end = core->metrics.unused;
}

GSIM_APART static void note_declined(struct gsim_core *core, uint32_t job) {
    struct gsim_metrics *m = &core->metrics;
    m->n_declined++;
    if (!m->declined)
        m->declined = column(core, sizeof *m->declined);
    if (m->declined)
        m->declined[job] = 1;
    else
        (void)gsim_core_no_memory(core);
}

void gsim_metrics_job_done(struct gsim_core *core, gsim_slot slot, bool has_costs) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    gsim_fairness_leave(core, slot);
    if (gsim_rarely(own->is_declined)) {
        note_declined(core, core->jobs.job[slot]);
        record(core, slot, gsim_attained_ns(&core->view, slot), false);
        record_costs(core, slot);
        return;
    }
    core->metrics.n_completed++;
    core->metrics.n_killed += own->is_ending;
    /* no other job holds GPUs and could end later */
    note_end(core, core->crowd.n <= core->wanting.n);
    record(core, slot,
           gsim_rarely(own->is_ending) ? gsim_attained_ns(&core->view, slot)
                                       : core->jobs.service_ns[slot],
           true);
    if (gsim_rarely(has_costs || own->stall_ns > 0))
        record_costs(core, slot);
}

void gsim_metrics_job_cut(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    gsim_job_account(core, slot);
    if (own->was_resized)
        gsim_widths_book(core, slot);
    if (own->is_admitted)
        gsim_held_book(core, slot);
    record(core, slot, gsim_attained_ns(&core->view, slot), false);
    record_costs(core, slot);
    /* a job that waits now may have held GPUs since the last end */
    if (core->metrics.start_ns[core->jobs.job[slot]] >= 0)
        note_end(core, true);
}

/* --- the summary ------------------------------------------------------------------------------ */

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
