/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes of a group are alike, so that a set is made of whole groups. */
#include "sim/core/node_sets.h"
#include "sim/api/goodput.h"
#include "sim/api/phases.h"
#include "sim/api/rates.h"
#include "sim/base/features.h"
#include "sim/base/text.h"
#include "sim/core/core.h"
#include "sim/core/parts.h"

#include <string.h>
#include <strings.h>

enum { MOST_WISHES = 1 << 20 };

/* Whether a list such as "gpu,long" or "G1|G2" has the name. */
static bool has_name(const char *list, const char *name, size_t length) {
    static const char separators[] = ",|";
    for (const char *at = list; *at; at += strspn(at, separators)) {
        size_t n = strcspn(at, separators);
        if (n == length && strncasecmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* Whether two lists share a name. */
bool gsim_node_sets_meet(const char *a, const char *b) {
    static const char separators[] = ",|";
    for (const char *at = a; *at; at += strspn(at, separators)) {
        size_t n = strcspn(at, separators);
        if (n > 0 && has_name(b, at, n))
            return true;
        at += n;
    }
    return false;
}

bool gsim_node_sets_names(const char *types, const char *device) {
    return gsim_node_sets_meet(types, device) || has_name(types, device, strcspn(device, "-"));
}

/* A node's type is as its cluster file says, else its device. */
static bool is_of_type(const struct gsim_node_group *group, const char *types) {
    if (group->gpu_type)
        return gsim_node_sets_meet(types, group->gpu_type);
    return group->device_name && gsim_node_sets_names(types, group->device_name);
}

static const char *type_name(const struct gsim_node_group *group) {
    const char *name = group->gpu_type ? group->gpu_type : group->device_name;
    return name ? name : "";
}

/* The columns that the cluster can tell apart. */
static void find_columns(struct gsim_node_sets *sets, const struct gsim_cluster_spec *spec,
                         const struct gsim_trace *trace) {
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        const struct gsim_node_group *group = &spec->groups[g];
        sets->has_partitions |= group->partitions != NULL;
        sets->has_types |= group->gpu_type != NULL;
        sets->has_features |= group->features != NULL;
        sets->has_types |= strcasecmp(type_name(group), type_name(&spec->groups[0])) != 0;
    }
    sets->has_partitions = sets->has_partitions && trace->column[GSIM_COL_PARTITION];
    sets->has_types = sets->has_types && trace->column[GSIM_COL_GPU_TYPE];
    sets->has_features = sets->has_features && trace->column[GSIM_COL_FEATURES];
}

/* Whether jobs have several names in the column: a name of a single kind tells no job from another.
 * A log's rows that are no jobs have named others, which do not count. */
static bool names_several(const struct gsim_trace *trace, enum gsim_column column) {
    const int64_t *cell = trace->column[column];
    int64_t first = -1;
    for (uint32_t job = 0; cell && job < trace->n_jobs; job++) {
        if (first >= 0 && cell[job] >= 0 && cell[job] != first)
            return true;
        first = first >= 0 ? first : cell[job];
    }
    return false;
}

/* The type that all jobs with one ask for, where it is not the cluster's only one; NULL: there is
 * none. */
static const char *other_type(const struct gsim_trace *trace,
                              const struct gsim_cluster_spec *spec) {
    const int64_t *cell = trace->column[GSIM_COL_GPU_TYPE];
    for (uint32_t job = 0; cell && job < trace->n_jobs; job++)
        if (cell[job] >= 0) {
            const char *types = trace->names[GSIM_COL_GPU_TYPE].name[cell[job]];
            return is_of_type(&spec->groups[0], types) ? NULL : types;
        }
    return NULL;
}

static void say_what_is_not_used(const struct gsim_node_sets *sets, const struct gsim_trace *trace,
                                 const struct gsim_cluster_spec *spec, struct gsim_log *log) {
    bool is_mixed = names_several(trace, GSIM_COL_GPU_TYPE);
    const char *other = sets->has_types || is_mixed ? NULL : other_type(trace, spec);
    if (other)
        gsim_warn(log, trace->path, 0,
                  "the trace's jobs ask for GPUs of type '%.64s', the cluster's are '%s' "
                  "(--device, --cluster FILE.ini): watts, memory and what stops cost are those of "
                  "the latter",
                  other, type_name(&spec->groups[0]));
    if (!sets->has_partitions && names_several(trace, GSIM_COL_PARTITION))
        gsim_warn(log, trace->path, 0,
                  "the trace names several partitions, the cluster none (--cluster FILE.ini, key "
                  "partitions of a node): every job may run on every node");
    if (!sets->has_types && is_mixed)
        gsim_warn(log, trace->path, 0,
                  "the trace names several types of GPU, the cluster has one (--cluster "
                  "FILE.ini): every job may run on every GPU");
    if (!sets->has_features && trace->column[GSIM_COL_FEATURES])
        gsim_warn(log, trace->path, 0,
                  "the trace names features, the cluster's nodes have none (--cluster "
                  "FILE.ini, key features of a node; Feature= of slurm.conf): every job may run on "
                  "every node");
}

static bool is_in(const struct gsim_node_group *group, const struct gsim_node_wish *wish) {
    const char *features = group->features ? group->features : "";
    return (!wish->partitions ||
            (group->partitions && gsim_node_sets_meet(wish->partitions, group->partitions))) &&
           (!wish->types || is_of_type(group, wish->types)) &&
           (!wish->constraint ||
            gsim_constraint_meets(wish->constraint, features, GSIM_ANY_CHOICE));
}

/* Whether the table of speeds lets the job run on the GPUs of this node. */
static bool can_run_on(const struct gsim_core *core, uint32_t job, uint32_t node) {
    return core->ops->can_run_on(core->model, job, core->cluster.node_first_gpu[node],
                                 gsim_host_ample);
}

static const struct gsim_core_part *part_of_job(const struct gsim_core *core, uint32_t job) {
    return core->parts ? &core->parts->list[core->parts->of_job[job]] : NULL;
}

/* The set of the nodes that are as this job wishes, and on which it can run. */
static struct gsim_node_set *make_set(const struct gsim_core *core, uint32_t job,
                                      const struct gsim_node_wish *wish, uint32_t number) {
    const struct gsim_cluster_spec *spec = core->options->cluster;
    const struct gsim_core_part *part = part_of_job(core, job);
    struct gsim_node_set *set = gsim_arena_alloc(core->arena, sizeof *set);
    bool *has_node = gsim_arena_array(core->arena, core->cluster.n_nodes, sizeof *has_node);
    bool has_need = core->node_sets.need && core->node_sets.need[job] > 0;
    uint32_t node = 0;
    if (!set || !has_node)
        return NULL;
    *set = (struct gsim_node_set){.has_node = has_node, .number = number};
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        const struct gsim_node_group *group = &spec->groups[g];
        bool is_there = is_in(group, wish) && (!part || gsim_parts_has_group(part, g)) &&
                        (!has_need || can_run_on(core, job, node));
        set->n_gpus += is_there ? group->count * group->gpus_per_node : 0;
        for (uint32_t i = 0; i < group->count; i++)
            has_node[node++] = is_there;
    }
    return set;
}

/* --- what the table of speeds needs ----------------------------------------------------------- */

/* A model of the table and a number of GPUs. */
struct need {
    uint32_t kind, gpus;
    uint32_t nth; /* among those that cannot run on all nodes, from 1 on; 0: it can */
    uint32_t n_together; /* GPUs that a gang of it can have at most */
};

struct needs {
    struct need *list; /* with room for one more */
    uint32_t n, n_some;
};

/* What of the host falls to each GPU of the node. */
static struct gsim_host part_of_host(const struct gsim_core *core, uint32_t node) {
    const struct gsim_host *part = core->cluster.wiring.part_of_host;
    struct gsim_host host = part ? part[node] : gsim_host_ample;
    return (struct gsim_host){host.cpus_milli > 0 ? host.cpus_milli : INT64_MAX,
                              host.mem_bytes > 0 ? host.mem_bytes : INT64_MAX};
}

/* GPUs on which the job can run where this is the least part of a host: those of nodes with as
 * much. */
static uint32_t count_above(const struct gsim_core *core, uint32_t job, struct gsim_host least) {
    const struct gsim_cluster_spec *spec = core->options->cluster;
    uint32_t n = 0, node = 0;
    for (uint32_t g = 0; g < spec->n_groups; node += spec->groups[g++].count) {
        struct gsim_host part = part_of_host(core, node);
        if (part.cpus_milli >= least.cpus_milli && part.mem_bytes >= least.mem_bytes &&
            core->ops->can_run_on(core->model, job, core->cluster.node_first_gpu[node], least))
            n += spec->groups[g].count * spec->groups[g].gpus_per_node;
    }
    return n;
}

/* The most GPUs that a gang wider than a node can have together: beside each it has the least part
 * of a host of any of them. The least CPUs are those of one kind of node, the least memory that of
 * one. Where there are many kinds the question would take long, and all GPUs are the answer. */
static uint32_t count_together(const struct gsim_core *core, uint32_t job) {
    enum { MOST_GROUPS = 64 };
    const struct gsim_cluster_spec *spec = core->options->cluster;
    uint32_t most = 0, node = 0, other = 0;
    if (gsim_trace_gpus(core->trace, job) <= core->cluster.widest_node ||
        spec->n_groups > MOST_GROUPS || core->ops->can_run_across(core->model, job))
        return core->cluster.n_gpus;
    for (uint32_t g = 0; g < spec->n_groups; node += spec->groups[g++].count, other = 0)
        for (uint32_t h = 0; h < spec->n_groups; other += spec->groups[h++].count) {
            struct gsim_host least = {part_of_host(core, node).cpus_milli,
                                      part_of_host(core, other).mem_bytes};
            uint32_t n = count_above(core, job, least);
            most = n > most ? n : most;
        }
    return most;
}

/* Whether the policy of the job may give it another number of GPUs than it asks for. */
static bool may_be_narrower(const struct gsim_core *core, uint32_t job) {
    const struct gsim_core_part *part = part_of_job(core, job);
    const struct gsim_policy *policy = part ? part->policy : core->policy;
    return policy->asks_speeds || policy->chooses_widths;
}

/* A gang that no GPUs can run together would wait for ever. */
static void refuse_wide_job(const struct gsim_core *core, uint32_t job, uint32_t n_together) {
    const struct gsim_trace *trace = core->trace;
    (void)gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                    "job '%.64s' asks for %u GPUs; by the table of speeds its model can run on at "
                    "most %u of the cluster's together, each with the least part of a host of any "
                    "of them",
                    gsim_trace_id(trace, job), gsim_trace_gpus(trace, job), n_together);
}

/* Sets tell nodes apart one by one: where a gang meets too little of a host only over several nodes
 * matters to policies alone that know of no sets. */
static bool can_run_everywhere(const struct gsim_core *core, uint32_t job) {
    const struct gsim_cluster_spec *spec = core->options->cluster;
    bool has_sets = !core->policy->shares_gpus && !core->policy->names_gpus;
    uint32_t node = 0;
    if (!has_sets && !core->ops->can_run_across(core->model, job))
        return false;
    for (uint32_t g = 0; g < spec->n_groups; node += spec->groups[g++].count)
        if (!can_run_on(core, job, node))
            return false;
    return true;
}

/* The job's model by the table of speeds, or its phases by it, which are numbered after the models;
 * or its application by the table of goodput. */
static uint32_t kind_of(const struct gsim_trace *trace, uint32_t job) {
    const struct gsim_phases *phases = trace->goodput ? gsim_goodput_phases(trace, job) : NULL;
    if (!phases && gsim_phases_of_job(trace, job))
        return trace->rates->n_kinds + (uint32_t)gsim_trace_get(trace, GSIM_COL_PHASES, job);
    return phases ? phases->app : gsim_rates_of_job(trace, job);
}

/* The place of the job's model and width; NULL: no memory. */
static struct need *need_of(const struct gsim_core *core, uint32_t job, struct needs *needs) {
    uint32_t kind = kind_of(core->trace, job), gpus = gsim_trace_gpus(core->trace, job);
    for (uint32_t i = 0; i < needs->n; i++)
        if (needs->list[i].kind == kind && needs->list[i].gpus == gpus)
            return &needs->list[i];
    needs->list = gsim_arena_grow(core->arena, needs->list, needs->n * sizeof *needs->list,
                                  (needs->n + 1) * sizeof *needs->list);
    if (!needs->list)
        return NULL;
    struct need *need = &needs->list[needs->n++];
    *need = (struct need){kind, gpus, can_run_everywhere(core, job) ? 0 : ++needs->n_some,
                          count_together(core, job)};
    return need;
}

/* A policy that shares GPUs, or chooses them, asks for speeds before it names a GPU, or is refused
 * where the table has nodes on which a job cannot run. */
static enum gsim_status find_needs(struct gsim_core *core) {
    const struct gsim_policy *policy = core->policy;
    struct needs needs = {0};
    bool has_table = (core->trace->rates || core->trace->goodput) && core->ops->can_run_on;
    if (!has_table || (!core->parts && policy->asks_speeds))
        return GSIM_OK;
    uint32_t *need = gsim_arena_array(core->arena, core->trace->n_jobs, sizeof *need);
    for (uint32_t job = 0; need && job < core->trace->n_jobs; job++) {
        const struct need *found = need_of(core, job, &needs);
        if (!found)
            return gsim_core_no_memory(core);
        need[job] = found->nth;
        if (found->n_together < found->gpus && !may_be_narrower(core, job))
            refuse_wide_job(core, job, found->n_together);
    }
    core->node_sets.need = needs.n_some > 0 ? need : NULL;
    core->node_sets.n_needs = needs.n_some + 1;
    if (!need)
        return gsim_core_no_memory(core);
    return core->log->n_errors > 0 ? GSIM_BAD_INPUT : GSIM_OK;
}

/* --- the table of sets ------------------------------------------------------------------------ */

static size_t find_place(const struct gsim_node_sets *sets, const struct gsim_trace *trace,
                         uint32_t job) {
    int64_t partition = sets->has_partitions ? gsim_trace_get(trace, GSIM_COL_PARTITION, job) : -1;
    int64_t type = sets->has_types ? gsim_trace_get(trace, GSIM_COL_GPU_TYPE, job) : -1;
    int64_t constraint = sets->has_features ? gsim_trace_get(trace, GSIM_COL_FEATURES, job) : -1;
    size_t place = (size_t)(partition + 1) * sets->n_types + (size_t)(type + 1);
    place = place * sets->n_constraints + (size_t)(constraint + 1);
    place = place * sets->n_needs + (sets->need ? sets->need[job] : 0);
    return sets->parts ? place + (size_t)sets->parts->of_job[job] * sets->n_wishes : place;
}

static const char *name_of(const struct gsim_trace *trace, enum gsim_column column, bool is_used,
                           uint32_t job) {
    int64_t name = is_used ? gsim_trace_get(trace, column, job) : -1;
    return name >= 0 ? trace->names[column].name[name] : NULL;
}

/* Whether the job's partition tells nodes apart: the job may have gone by its class alone to nodes
 * that take it whatever its partition is. */
static bool is_bound_by_partition(const struct gsim_node_sets *sets, uint32_t job) {
    const struct gsim_parts *parts = sets->parts;
    const struct gsim_part *what = parts ? parts->list[parts->of_job[job]].what : NULL;
    return sets->has_partitions && (!what || what->partitions);
}

static struct gsim_node_wish wish_of(const struct gsim_node_sets *sets,
                                     const struct gsim_trace *trace, uint32_t job) {
    return (struct gsim_node_wish){
        name_of(trace, GSIM_COL_PARTITION, is_bound_by_partition(sets, job), job),
        name_of(trace, GSIM_COL_GPU_TYPE, sets->has_types, job),
        name_of(trace, GSIM_COL_FEATURES, sets->has_features, job),
    };
}

static bool is_partition_of_some(const struct gsim_core *core, const char *partitions) {
    const struct gsim_cluster_spec *spec = core->options->cluster;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        if (spec->groups[g].partitions &&
            gsim_node_sets_meet(partitions, spec->groups[g].partitions))
            return true;
    return false;
}

static enum gsim_status refuse_job(const struct gsim_core *core, uint32_t job) {
    const struct gsim_node_sets *sets = &core->node_sets;
    const struct gsim_trace *trace = core->trace;
    const struct gsim_core_part *part = part_of_job(core, job);
    struct gsim_node_wish wish = wish_of(sets, trace, job);
    return gsim_fail(
        core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
        "job '%.64s' asks for %u GPUs%s%.64s%s%.64s%s%.64s%s; the %s%s%s %s %u such GPUs%s",
        gsim_trace_id(trace, job), gsim_trace_gpus(trace, job),
        wish.partitions ? " of partition " : "", wish.partitions ? wish.partitions : "",
        wish.types ? " of type " : "", wish.types ? wish.types : "",
        wish.constraint ? " of nodes with " : "", wish.constraint ? wish.constraint : "",
        sets->need && sets->need[job] > 0 ? ", on which its model can run by the table of speeds"
                                          : "",
        part ? "nodes under " : "cluster", part ? part->policy->name : "",
        part ? ", where it goes," : "", part ? "have" : "has",
        sets->table[find_place(sets, trace, job)]->n_gpus,
        wish.partitions && !is_partition_of_some(core, wish.partitions)
            ? ": no node is in that partition (a cluster file says so by the key partitions of a "
              "node, and by the name of its section only beside a policy)"
            : "");
}

/* Reads the names of the column, which are constraints; counts: by name, whether it counts
 * nodes. */
static enum gsim_status read_constraints(const struct gsim_trace *trace, bool *counts,
                                         struct gsim_log *log) {
    const struct gsim_names *names = &trace->names[GSIM_COL_FEATURES];
    enum gsim_status status = GSIM_OK;
    struct gsim_constraint found;
    for (uint32_t n = 0; n < names->n; n++) {
        if (!gsim_constraint_read(names->name[n], &found))
            status = gsim_fail(log, GSIM_BAD_INPUT, trace->path, 0,
                               "column 'features': '%.64s' is none; it is of features, &, | and "
                               "parentheses, as a100&(ib|roce), or [rack1|rack2]",
                               names->name[n]);
        counts[n] = found.has_counts;
    }
    return status;
}

static enum gsim_status check_constraints(struct gsim_node_sets *sets, struct gsim_core *core) {
    const struct gsim_trace *trace = core->trace;
    const int64_t *cell = trace->column[GSIM_COL_FEATURES];
    if (!sets->has_features)
        return GSIM_OK;
    bool *counts =
        gsim_arena_array(core->arena, trace->names[GSIM_COL_FEATURES].n + 1u, sizeof *counts);
    if (!counts)
        return gsim_no_memory(core->log, "reading features");
    enum gsim_status status = read_constraints(trace, counts, core->log);
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        sets->n_counting += cell[job] >= 0 && counts[cell[job]];
    if (sets->n_counting > 0)
        gsim_warn(
            core->log, trace->path, 0,
            "the features of %u job%s count nodes (rack1*2); here each node of such a job has "
            "a feature that is named, in any number",
            sets->n_counting, gsim_plural(sets->n_counting));
    return status;
}

static enum gsim_status add_set(struct gsim_core *core, uint32_t job) {
    struct gsim_node_sets *sets = &core->node_sets;
    size_t place = find_place(sets, core->trace, job);
    struct gsim_node_wish wish = wish_of(sets, core->trace, job);
    if (place == 0 && !sets->parts)
        return GSIM_OK;
    if (!sets->table[place])
        sets->table[place] = make_set(core, job, &wish, (uint32_t)place + 1);
    if (!sets->table[place])
        return gsim_no_memory(core->log, "reading partitions");
    if (sets->table[place]->n_gpus < gsim_trace_gpus(core->trace, job))
        (void)refuse_job(core, job);
    return GSIM_OK;
}

static bool has_any(const struct gsim_node_sets *sets) {
    return sets->has_partitions || sets->has_types || sets->has_features || sets->need ||
           sets->parts;
}

static enum gsim_status fill_table(struct gsim_core *core) {
    struct gsim_node_sets *sets = &core->node_sets;
    const struct gsim_trace *trace = core->trace;
    enum gsim_status status = GSIM_OK;
    size_t n = ((size_t)trace->names[GSIM_COL_PARTITION].n + 1) * sets->n_types *
               sets->n_constraints * sets->n_needs;
    sets->n_wishes = (uint32_t)n;
    n *= sets->parts ? sets->parts->n : 1;
    if (n > MOST_WISHES)
        return gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, 0,
                         "%zu wishes for a partition, a type of GPU, features and a model of the "
                         "table of speeds; at most %d are told apart",
                         n, MOST_WISHES);
    sets->table = gsim_arena_array(core->arena, n, sizeof *sets->table);
    if (!sets->table)
        return gsim_no_memory(core->log, "reading partitions");
    for (uint32_t job = 0; job < trace->n_jobs && status == GSIM_OK; job++)
        status = add_set(core, job);
    return status == GSIM_OK && core->log->n_errors > 0 ? GSIM_BAD_INPUT : status;
}

enum gsim_status gsim_node_sets_open(struct gsim_core *core) {
    struct gsim_node_sets *sets = &core->node_sets;
    const struct gsim_trace *trace = core->trace;
    *sets = (struct gsim_node_sets){.n_types = trace->names[GSIM_COL_GPU_TYPE].n + 1,
                                    .n_constraints = trace->names[GSIM_COL_FEATURES].n + 1,
                                    .n_needs = 1,
                                    .parts = core->parts};
    if (core->options->cluster->is_pool)
        return GSIM_OK;
    find_columns(sets, core->options->cluster, trace);
    say_what_is_not_used(sets, trace, core->options->cluster, core->log);
    enum gsim_status status = check_constraints(sets, core);
    status = status == GSIM_OK ? find_needs(core) : status;
    return status == GSIM_OK && has_any(sets) ? fill_table(core) : status;
}

const struct gsim_node_set *gsim_node_sets_of(const struct gsim_node_sets *sets,
                                              const struct gsim_trace *trace, uint32_t job) {
    return sets->table ? sets->table[find_place(sets, trace, job)] : NULL;
}
