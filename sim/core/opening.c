/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands before the first event of a run: whether each job can run on this cluster and under
 * this policy, what policies see, the model of devices, and the policy itself. */
#include "sim/core/core.h"
#include "sim/core/parts.h"
#include "sim/base/units.h"
#include "sim/base/wide.h"
#include "sim/api/rates.h"

#include <string.h>

static enum gsim_status check_job(struct gsim_core *core, uint32_t job) {
    const struct gsim_trace *trace = core->trace;
    uint32_t gpus = gsim_trace_gpus(trace, job);
    if (gpus > core->cluster.n_gpus)
        return gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                         "job '%s' asks for %u GPUs; the cluster has %u", gsim_trace_id(trace, job),
                         gpus, core->cluster.n_gpus);
    if (gsim_trace_share(trace, job) == 0 && !core->cluster.is_pool)
        return gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                         "job '%s' asks for no GPU at all; only a pool of GPUs and CPUs "
                         "(reference=%s) can run it",
                         gsim_trace_id(trace, job), gsim_compat_with_pool());
    if (trace->submit_ns[job] > GSIM_TIME_MAX / 2 || trace->service_ns[job] > GSIM_TIME_MAX / 2)
        return gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                         "job '%s' lies past the end of the clock (73 years)",
                         gsim_trace_id(trace, job));
    return GSIM_OK;
}

static bool may_page(const struct gsim_domain *domain) {
    return domain->ctx->devices && domain->ctx->devices->memory != GSIM_MEMORY_RESIDENT;
}

/* The number of GPUs with this much memory, and the most that one job can have on a GPU: the GPU's
 * own, and the host's where jobs may page. */
static uint32_t count_gpus_with(const struct gsim_core *core, const struct gsim_domain *domain,
                                int64_t bytes, int64_t *most) {
    const struct gsim_cluster *cluster = &core->cluster;
    uint32_t n = 0, node = UINT32_MAX, end = domain->first_gpu + domain->n_gpus;
    int64_t host_bytes = 0;
    *most = 0;
    for (uint32_t gpu = domain->first_gpu; gpu < end; gpu++) {
        int64_t own = cluster->gpu_hbm_bytes[gpu];
        if (cluster->node_of_gpu[gpu] != node) {
            node = cluster->node_of_gpu[gpu];
            host_bytes = may_page(domain) ? gsim_cluster_host_free(cluster, node) : 0;
        }
        int64_t here = own + (may_page(domain) ? gsim_cluster_host_free(cluster, node) : 0);
        *most = here > *most ? here : *most;
        int64_t needs = bytes > own ? bytes - own : 0;
        n += needs <= host_bytes;
        host_bytes -= needs <= host_bytes ? needs : 0;
    }
    return n;
}

static int64_t least_memory(const struct gsim_core *core) {
    const int64_t *hbm_bytes = core->cluster.gpu_hbm_bytes;
    int64_t least = INT64_MAX;
    for (uint32_t gpu = 0; gpu < core->cluster.n_gpus; gpu++)
        least = hbm_bytes[gpu] < least ? hbm_bytes[gpu] : least;
    return least;
}

static enum gsim_room room_of(const struct gsim_core *core, const struct gsim_domain *domain) {
    const int64_t *hbm_bytes = core->cluster.gpu_hbm_bytes + domain->first_gpu;
    const struct gsim_node_group *groups = core->options->cluster->groups + domain->first_group;
    const int64_t *mem = domain->trace->column[GSIM_COL_MEM_BYTES];
    int64_t largest = 0, smallest = INT64_MAX;
    bool is_ample = may_page(domain) && domain->ctx->devices->memory != GSIM_MEMORY_LANES;
    for (uint32_t g = 0; g < domain->n_groups; g++)
        is_ample &= groups[g].host_bytes == 0;
    for (uint32_t gpu = 0; gpu < domain->n_gpus; gpu++)
        smallest = hbm_bytes[gpu] < smallest ? hbm_bytes[gpu] : smallest;
    for (uint32_t job = 0; mem && job < domain->trace->n_jobs; job++)
        largest = mem[job] > largest ? mem[job] : largest;
    if (!mem || is_ample)
        return GSIM_ROOM_AMPLE;
    largest += domain->context_bytes;
    return largest <= smallest ? GSIM_ROOM_BUT_FOR_PAUSED : GSIM_ROOM_SCARCE;
}

/* A remedy for the message, where the policy can have its GPUs' memory managed. */
static const char *paging_hint(const struct gsim_policy *policy) {
    for (const struct gsim_param_def *def = policy->params; def && def->type; def++)
        if (strcmp(def->name, "memory") == 0)
            return "; --set memory=uvm lets them page";
    return "";
}

static void too_large(struct gsim_core *core, uint32_t job, uint32_t n_gpus, int64_t most) {
    const struct gsim_trace *trace = core->trace;
    int64_t own = trace->column[GSIM_COL_MEM_BYTES][job];
    int64_t bytes = gsim_jobs_with_context(core, job, own);
    const struct gsim_domain *domain = gsim_domain_of(core, job);
    const struct gsim_policy *policy = domain->ctx->policy;
    bool is_paging = may_page(domain);
    char has[32], needs[32];
    gsim_format_size(needs, bytes);
    gsim_format_size(has, most);
    if (strcmp(needs, has) == 0) { /* they differ in rounded digits only */
        gsim_format_bytes(needs, bytes);
        gsim_format_bytes(has, most);
    }
    if (n_gpus > 0)
        (void)gsim_fail(
            core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
            "column 'mem_gib': job '%s' needs %s of memory%s on each of %u GPUs; only %u "
            "GPUs of the cluster have that much%s",
            gsim_trace_id(trace, job), needs,
            bytes > own ? " with its context (context.bytes)" : "", gsim_trace_gpus(trace, job),
            n_gpus, is_paging ? ", with their hosts' (--host-mem)" : paging_hint(policy));
    else
        (void)gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                        is_paging ? "column 'mem_gib': job '%s' needs %s of memory per GPU; a GPU "
                                    "and its host (--host-mem) have %s%s%s"
                                  : "column 'mem_gib': job '%s' needs %s of memory per GPU; the "
                                    "largest GPU has %s, and policy '%s' keeps jobs resident%s",
                        gsim_trace_id(trace, job), needs, has, is_paging ? "" : policy->name,
                        is_paging ? "" : paging_hint(policy));
}

/* Host memory is counted by the memory of jobs, so a limit needs the column, unless it is the limit
 * of what jobs have beside their GPUs. */
static enum gsim_status check_hosts(struct gsim_core *core) {
    const struct gsim_cluster_spec *spec = core->options->cluster;
    bool is_limited = false;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        is_limited |= spec->groups[g].host_bytes > 0;
    bool is_beside = core->trace->rates && core->trace->rates->has_host_memory;
    if (!is_limited || is_beside || core->trace->column[GSIM_COL_MEM_BYTES])
        return GSIM_OK;
    return gsim_fail(
        core->log, GSIM_BAD_INPUT, core->trace->path, 0,
        "no column mem_gib: hosts have a limit (--host-mem, or host_mem of the cluster "
        "file), and nothing can be counted against it where jobs' memory is unknown; "
        "give it with --assume mem_gib=SIZE or --by-model, or leave the limit out");
}

/* Phases of a job have speeds of their own, which nothing divides among jobs on one GPU. */
static enum gsim_status check_learners(struct gsim_core *core) {
    if (!core->trace->goodput || !core->policy->shares_gpus)
        return GSIM_OK;
    return gsim_fail(core->log, GSIM_USAGE, NULL, 0,
                     "--goodput is of jobs that have their GPUs to themselves; policy '%s' lets "
                     "jobs share a GPU",
                     core->policy->name);
}

/* Refuses a job that no GPU can hold, or fewer GPUs than it asks for: it would wait for ever. */
static enum gsim_status check_memory(struct gsim_core *core) {
    const int64_t *mem = core->trace->column[GSIM_COL_MEM_BYTES];
    int64_t least = mem ? least_memory(core) : 0, most;
    if (check_learners(core) != GSIM_OK)
        return GSIM_USAGE;
    if (check_hosts(core) != GSIM_OK)
        return GSIM_BAD_INPUT;
    for (uint32_t job = 0; mem && job < core->trace->n_jobs; job++) {
        int64_t bytes = gsim_jobs_with_context(core, job, mem[job]);
        if (bytes <= least)
            continue;
        uint32_t n_gpus = count_gpus_with(core, gsim_domain_of(core, job), bytes, &most);
        if (n_gpus < gsim_trace_gpus(core->trace, job))
            too_large(core, job, n_gpus, most);
    }
    return core->log->n_errors ? GSIM_BAD_INPUT : GSIM_OK;
}

/* The number of GPUs with room for a part of the gang beside its CPUs, on nodes that are empty. */
static uint32_t count_gpus_beside(const struct gsim_core *core, const struct gsim_domain *domain,
                                  int64_t per_gpu, int64_t bytes) {
    const struct gsim_node_group *groups = core->options->cluster->groups + domain->first_group;
    int64_t n = 0;
    for (uint32_t g = 0; g < domain->n_groups; g++) {
        const struct gsim_node_group *group = &groups[g];
        int64_t gpus = may_page(domain) || bytes <= group->hbm_bytes ? group->gpus_per_node : 0;
        if (group->cpus_milli && group->cpus_milli / per_gpu < gpus)
            gpus = group->cpus_milli / per_gpu;
        n += gpus * group->count;
    }
    return (uint32_t)n;
}

/* Refuses a job with more CPUs for each GPU than enough GPUs have beside them. */
static enum gsim_status check_cpus(struct gsim_core *core) {
    const struct gsim_trace *trace = core->trace;
    const int64_t *cpus = trace->column[GSIM_COL_CPUS_MILLI];
    for (uint32_t job = 0; cpus && !core->cluster.is_pool && job < trace->n_jobs; job++) {
        uint32_t gpus = gsim_trace_gpus(trace, job);
        int64_t bytes = gsim_trace_get(trace, GSIM_COL_MEM_BYTES, job);
        if (cpus[job] <= 0)
            continue;
        int64_t per_gpu = gsim_muldiv_ceil(cpus[job], 1, gpus);
        uint32_t n_gpus = count_gpus_beside(core, gsim_domain_of(core, job), per_gpu,
                                            gsim_jobs_with_context(core, job, bytes));
        if (n_gpus < gpus)
            (void)gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                            "column 'cpus': job '%s' needs %lld.%03lld CPUs beside each of %u "
                            "GPUs; only %u GPUs of the cluster have that many, and memory for it",
                            gsim_trace_id(trace, job), (long long)(per_gpu / 1000),
                            (long long)(per_gpu % 1000), gpus, n_gpus);
    }
    return core->log->n_errors ? GSIM_BAD_INPUT : GSIM_OK;
}

/* A fast check over whole columns that every job can run. The last arrival has the latest submit
 * time; the bitwise OR of all times bounds the longest of them. */
static bool all_can_run(const struct gsim_core *core) {
    const struct gsim_trace *trace = core->trace;
    const int64_t *share_ppm = core->cluster.is_pool ? NULL : trace->column[GSIM_COL_SHARE_PPM];
    uint32_t n = trace->n_jobs, n_gpus = core->cluster.n_gpus, n_bad = 0;
    int64_t longest_ns = trace->submit_ns[gsim_trace_arrival(trace, n - 1)];
    for (uint32_t job = 0; job < n; job++)
        longest_ns |= trace->service_ns[job];
    for (uint32_t job = 0; trace->gpus && job < n; job++)
        n_bad += trace->gpus[job] > n_gpus;
    for (uint32_t job = 0; share_ppm && job < n; job++)
        n_bad += share_ppm[job] == 0;
    return n_bad == 0 && longest_ns <= GSIM_TIME_MAX / 2 && (trace->gpus || n_gpus > 0);
}

/* Reports each job that cannot run; skipped when all_can_run() holds. */
static enum gsim_status check_trace(struct gsim_core *core) {
    enum gsim_status worst = GSIM_OK;
    if (all_can_run(core))
        return GSIM_OK;
    for (uint32_t job = 0; job < core->trace->n_jobs; job++) {
        enum gsim_status status = check_job(core, job);
        if (status != GSIM_OK)
            worst = status;
    }
    return worst;
}

static void fill_view(struct gsim_core *core) {
    struct gsim_view *view = &core->view;
    const struct gsim_cluster *cluster = &core->cluster;
    view->cluster.n_nodes = cluster->n_nodes;
    view->cluster.n_gpus = cluster->n_gpus;
    view->cluster.widest_node = cluster->widest_node;
    view->cluster.n_idle_gpus = cluster->n_gpus;
    view->cluster.node_of_gpu = cluster->node_of_gpu;
    view->cluster.node_is_down = cluster->node_is_down;
    view->cluster.node_first_gpu = cluster->node_first_gpu;
    view->cluster.idle_gpus = cluster->idle_gpus;
    view->cluster.node_words = cluster->node_words;
    view->cluster.hbm_bytes = cluster->gpu_hbm_bytes;
    view->cluster.mem_used = cluster->gpu_mem_used;
    view->cluster.is_arranged = cluster->gpu_is_arranged;
    view->cluster.clients = cluster->gpu_clients;
    view->cluster.client_limit = cluster->gpu_client_limit;
    view->cluster.type = cluster->type_of_gpu;
    view->pool.is_used = cluster->is_pool;
    view->jobs.nth_of = core->nth_of;
    view->trace = &core->seen;
    view->core = core;
}

static enum gsim_status open_model(struct gsim_core *core) {
    struct gsim_model_setup setup = {.trace = core->trace,
                                     .nth_of = core->nth_of,
                                     .arena = core->arena,
                                     .n_gpus = core->cluster.n_gpus,
                                     .profiles = core->options->cluster->profiles,
                                     .n_profiles = core->options->cluster->n_profiles,
                                     .type_of_gpu = core->cluster.type_of_gpu,
                                     .wiring = core->cluster.wiring,
                                     .jobs = &core->jobs.info,
                                     .seed = (uint64_t)core->options->seed,
                                     .replication = core->options->replication,
                                     .context_bytes = core->options->context_bytes,
                                     .slice_budget = core->options->slice_budget > 0
                                                         ? core->options->slice_budget
                                                         : GSIM_SLICE_BUDGET,
                                     .is_exact = core->options->is_exact,
                                     .phase_grid_ns = core->compat->phase_grid_ns,
                                     .ends_are_told = core->compat->ends_jobs,
                                     .ends_pairs_together = core->compat->ends_pairs_together,
                                     .is_plain = core->options->is_plain,
                                     .team = core->team,
                                     .observer = core->options->observer,
                                     .arg = core->options->model_arg};
    return core->ops->open(&setup, &core->model, core->log);
}

static bool open_gpu_columns(struct gsim_core *core) {
    uint32_t n = core->cluster.n_gpus;
    core->vacating_ppm = gsim_arena_array(core->arena, n, sizeof *core->vacating_ppm);
    core->waiting_ppm = gsim_arena_array(core->arena, n, sizeof *core->waiting_ppm);
    core->leaving_alone = gsim_arena_array(core->arena, n, sizeof *core->leaving_alone);
    core->shared_gpus = gsim_arena_array(core->arena, n, sizeof *core->shared_gpus);
    core->node_vacated_idle =
        gsim_arena_array(core->arena, core->cluster.n_nodes, sizeof *core->node_vacated_idle);
    core->waiter = gsim_arena_array(core->arena, n, sizeof *core->waiter);
    core->waiting_first = core->waiting_last = GSIM_NO_SLOT;
    for (uint32_t gpu = 0; core->waiter && gpu < n; gpu++)
        core->waiter[gpu] = GSIM_NO_SLOT;
    return core->waiter && core->vacating_ppm && core->waiting_ppm && core->leaving_alone &&
           core->shared_gpus && core->node_vacated_idle &&
           gsim_bitset_init(&core->vacated, core->arena, n);
}

/* Nothing moves the memory of a context, so it is counted where jobs stay resident beside each
 * other. */
static void count_contexts(const struct gsim_core *core, struct gsim_domain *domain) {
    (void)count_gpus_with(core, domain, 0, &domain->largest_bytes);
    domain->context_bytes = may_page(domain) ? 0 : domain->context_bytes;
}

/* The whole cluster, or one of its parts: nth counts them. NULL: there are no more. */
static struct gsim_domain *domain(struct gsim_core *core, uint32_t nth) {
    if (core->parts)
        return nth < core->parts->n ? &core->parts->list[nth].domain : NULL;
    return nth == 0 ? &core->domain : NULL;
}

static enum gsim_status open_policy(struct gsim_core *core) {
    const struct gsim_policy *policy = core->policy;
    core->ctx = (struct gsim_ctx){.policy = policy,
                                  .view = &core->view,
                                  .params = core->options->policy_params,
                                  .reference = core->options->reference,
                                  .state = gsim_arena_alloc(core->arena, policy->state_size),
                                  .job_states = core->ctx.job_states,
                                  .job_size = policy->job_size,
                                  .seed = (uint64_t)core->options->seed,
                                  .replication = core->options->replication,
                                  .arena = core->arena,
                                  .log = core->log,
                                  .core = core};
    if (!core->ctx.state)
        return gsim_core_no_memory(core);
    core->domain = (struct gsim_domain){.ctx = &core->ctx,
                                        .trace = core->trace,
                                        .n_gpus = core->cluster.n_gpus,
                                        .n_groups = core->options->cluster->n_groups,
                                        .context_bytes = core->options->context_bytes};
    enum gsim_status status = policy->open ? policy->open(&core->ctx) : GSIM_OK;
    return status == GSIM_OK ? core->ctx.status : status;
}

/* Arranges the GPUs of a policy as its open asked, before any job runs. */
static enum gsim_status arrange_devices(struct gsim_core *core, const struct gsim_domain *domain) {
    const struct gsim_arrangement *devices = domain->ctx->devices;
    struct gsim_unit *units =
        devices ? gsim_arena_array(core->arena, domain->n_gpus, sizeof *units) : NULL;
    if (!devices)
        return GSIM_OK;
    if (!units)
        return gsim_core_no_memory(core);
    for (uint32_t gpu = 0; gpu < domain->n_gpus; gpu++)
        units[gpu].gpu = domain->first_gpu + gpu;
    (void)gsim_plan_arrange(&core->plan, units, domain->n_gpus, devices);
    gsim_plan_apply(&core->plan);
    return core->status;
}

/* The start of the random rule's draws: other ones in each replication. */
static uint64_t random_of(const struct gsim_run_options *options) {
    uint64_t replication = options->replication;
    return (uint64_t)options->seed ^ (replication > 0 ? gsim_mix_next(&replication) : 0);
}

/* A policy that shares GPUs, or chooses them, names them itself, and knows of no sets of nodes. */
static enum gsim_status check_sharing(const struct gsim_core *core) {
    const struct gsim_policy *policy = core->policy;
    if (core->parts)
        return gsim_parts_check(core);
    if (!core->node_sets.table || !(policy->shares_gpus || policy->names_gpus))
        return GSIM_OK;
    if (core->node_sets.need)
        return gsim_fail(core->log, GSIM_BAD_INPUT, core->trace->path, 0,
                         "by the table of speeds (--rates, --goodput) models cannot run on some "
                         "nodes of the cluster, which have other GPUs or less of a host's memory "
                         "for each; policy '%s' %s GPUs without regard to that: run a policy that "
                         "gives jobs GPUs of their own, such as fifo or las, or one that asks for "
                         "speeds before it places a job",
                         policy->name, policy->shares_gpus ? "shares" : "chooses");
    return gsim_fail(core->log, GSIM_USAGE, NULL, 0,
                     "policy '%s' %s GPUs, of any partition and type; this trace's jobs and "
                     "this cluster's nodes have partitions or types: leave the columns out, run "
                     "%s, or give the nodes of a partition this policy (key policy of a node in "
                     "--cluster FILE.ini)",
                     policy->name, policy->shares_gpus ? "shares" : "chooses",
                     policy->shares_gpus ? "a policy that gives jobs GPUs of their own"
                                         : "another policy, such as fifo or las");
}

/* What a policy has to be told, or refused, once it is open. */
static enum gsim_status settle_policies(struct gsim_core *core) {
    enum gsim_status status = GSIM_OK;
    for (uint32_t i = 0; domain(core, i); i++)
        count_contexts(core, domain(core, i));
    status = check_memory(core);
    if (status == GSIM_OK)
        status = check_cpus(core);
    if (!core->parts)
        core->view.cluster.room = room_of(core, &core->domain);
    for (uint32_t i = 0; core->parts && i < core->parts->n; i++)
        core->parts->list[i].view.cluster.room = room_of(core, domain(core, i));
    for (uint32_t i = 0; status == GSIM_OK && domain(core, i); i++)
        status = arrange_devices(core, domain(core, i));
    return status;
}

enum gsim_status gsim_core_open(struct gsim_core *core) {
    enum gsim_status status =
        gsim_cluster_open(&core->cluster, core->options->cluster, core->arena, core->log);
    core->cluster.random = random_of(core->options);
    core->here.n_gpus = core->cluster.n_gpus;
    if (status == GSIM_OK)
        status = check_trace(core);
    if (status == GSIM_OK)
        status = gsim_parts_open(core);
    if (status == GSIM_OK)
        status = gsim_jobs_number(core);
    if (status == GSIM_OK)
        status = gsim_loops_open(core);
    core->n_open = core->loops ? gsim_loops_count_open(core) : core->trace->n_jobs;
    if (status == GSIM_OK)
        status = gsim_foreseen_open(core);
    if (status == GSIM_OK)
        status = open_model(core);
    if (status == GSIM_OK)
        status = gsim_node_sets_open(core);
    if (status == GSIM_OK)
        status = gsim_node_counts_open(core);
    if (status == GSIM_OK)
        status = gsim_ran_on_open(core);
    if (status == GSIM_OK)
        status = check_sharing(core);
    if (status != GSIM_OK)
        return status;
    gsim_plan_open(&core->plan, core);
    fill_view(core);
    if (!open_gpu_columns(core) || !gsim_jobs_open(core) || !gsim_metrics_open(core))
        return gsim_core_no_memory(core);
    core->timer_ns = core->watch_ns = GSIM_NEVER;
    gsim_observe_begin(core);
    status = gsim_failures_open(core);
    if (status == GSIM_OK)
        status = open_policy(core);
    return status == GSIM_OK ? settle_policies(core) : status;
}
