/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results while the clock runs: per-job columns in trace order, and sums over jobs. Sums are
 * 128-bit integers, so that the order of completion cannot show in a mean. */
#include "sim/core/core.h"
#include "sim/base/hints.h"

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
