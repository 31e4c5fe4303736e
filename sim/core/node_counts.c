/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A count that no nodes of the cluster can meet binds nothing: a log is run on other clusters than
 * its own, and a job that waits for ever would say less of them than one on the fewest nodes. */
#include "sim/core/node_counts.h"

#include "sim/core/core.h"
#include "sim/core/parts.h"

static const struct gsim_policy *policy_of(const struct gsim_core *core, uint32_t job) {
    return core->parts ? core->parts->list[core->parts->of_job[job]].policy : core->policy;
}

/* Whether the policy gives jobs other nodes than the core would, or other numbers of GPUs. */
static bool ignores_counts(const struct gsim_policy *policy) {
    return policy->shares_gpus || policy->names_gpus || policy->chooses_widths;
}

/* How many nodes, if all were empty, could have that number of the job's GPUs. */
static uint64_t count_nodes(const struct gsim_core *core, uint32_t job, uint32_t gpus) {
    const struct gsim_cluster_spec *spec = core->options->cluster;
    const struct gsim_trace *trace = core->trace;
    const struct gsim_node_set *set = gsim_node_sets_of(&core->node_sets, trace, job);
    int64_t cpus_milli = gsim_trace_get(trace, GSIM_COL_CPUS_MILLI, job);
    struct gsim_shape shape = {.gpus = gsim_trace_gpus(trace, job),
                               .cpus_milli = cpus_milli > 0 ? cpus_milli : 0};
    uint64_t n = 0;
    uint32_t node = 0;
    for (uint32_t g = 0; g < spec->n_groups; node += spec->groups[g++].count) {
        const struct gsim_node_group *group = &spec->groups[g];
        bool has_room =
            group->gpus_per_node >= gpus &&
            gsim_trace_get(trace, GSIM_COL_MEM_BYTES, job) <= group->hbm_bytes &&
            (group->cpus_milli == 0 || gsim_cluster_cpus(&shape, 1) * gpus <= group->cpus_milli);
        if (has_room && (!set || set->has_node[node]))
            n += group->count;
    }
    return n;
}

/* Whether empty nodes could hold the gang as it asks. */
static bool is_possible(const struct gsim_core *core, uint32_t job, uint32_t nodes) {
    uint32_t gpus = gsim_trace_gpus(core->trace, job), n_wide = gpus % nodes;
    return count_nodes(core, job, gpus / nodes) >= nodes &&
           (n_wide == 0 || count_nodes(core, job, gpus / nodes + 1) >= n_wide);
}

/* The job's count, if it says more than that the job has GPUs. */
static uint32_t asked_of(const struct gsim_core *core, uint32_t job) {
    int64_t nodes = gsim_trace_get(core->trace, GSIM_COL_NUM_NODES, job);
    bool is_moot = nodes <= 0 || gsim_trace_gpus(core->trace, job) == 1 ||
                   (nodes == 1 && core->cluster.n_nodes == 1);
    return is_moot ? 0 : (uint32_t)nodes;
}

/* Whether the rule that keeps gangs together has no other choice of nodes than the count leaves: a
 * gang that fits a node, or fills whole ones, where all nodes have as many GPUs. */
static bool is_consolidated(const struct gsim_core *core, uint32_t job, uint32_t nodes) {
    uint32_t gpus = gsim_trace_gpus(core->trace, job), width = core->cluster.widest_node;
    bool is_even = core->cluster.kinds[core->cluster.n_kinds - 1].gpus == width;
    return is_even && (gpus <= width ? nodes == 1 : gpus == nodes * width);
}

static void say(const struct gsim_core *core, uint32_t first) {
    const struct gsim_node_counts *counts = &core->node_counts;
    const struct gsim_trace *trace = core->trace;
    if (counts->n_ignored > 0)
        gsim_warn(
            core->log, trace->path, 0,
            "column 'num_nodes': policy '%s' chooses GPUs without regard to it; %u job%s asked "
            "for a number of nodes",
            core->policy->name, counts->n_ignored, counts->n_ignored == 1 ? "" : "s");
    if (counts->n_impossible > 0)
        gsim_warn(
            core->log, trace->path, gsim_trace_line(trace, first),
            "column 'num_nodes': the cluster has no nodes for %u GPUs on %lld of them, as job "
            "'%.64s' asked; %u job%s that it cannot hold so take%s the fewest nodes",
            gsim_trace_gpus(trace, first),
            (long long)gsim_trace_get(trace, GSIM_COL_NUM_NODES, first),
            gsim_trace_id(trace, first), counts->n_impossible, counts->n_impossible == 1 ? "" : "s",
            counts->n_impossible == 1 ? "s" : "");
}

enum gsim_status gsim_node_counts_open(struct gsim_core *core) {
    struct gsim_node_counts *counts = &core->node_counts;
    const struct gsim_trace *trace = core->trace;
    uint32_t *of_job = NULL, first = 0;
    if (!trace->column[GSIM_COL_NUM_NODES] || core->cluster.is_pool)
        return GSIM_OK;
    of_job = gsim_arena_array(core->arena, trace->n_jobs, sizeof *of_job);
    if (!of_job)
        return gsim_no_memory(core->log, "reading numbers of nodes");
    counts->are_consolidated = true;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        uint32_t nodes = asked_of(core, job);
        if (nodes == 0)
            continue;
        if (ignores_counts(policy_of(core, job))) {
            counts->n_ignored++;
            continue;
        }
        of_job[job] = is_possible(core, job, nodes) ? nodes : 0;
        first = of_job[job] == 0 && counts->n_impossible == 0 ? job : first;
        counts->n_impossible += of_job[job] == 0;
        counts->are_consolidated &= of_job[job] == 0 || is_consolidated(core, job, nodes);
        counts->of_job = of_job[job] > 0 ? of_job : counts->of_job;
    }
    say(core, first);
    return GSIM_OK;
}
