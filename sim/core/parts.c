/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several policies in one run. Each sees a view of its own: the columns of the cluster from its
 * first node on, its jobs alone, and a trace of these. A policy is called when something has
 * changed in its part, and at no other time: it decides as it would in a run of its part alone. The
 * run's policy is then a table made here that hands each hook on. */
#include "sim/core/parts.h"

#include <string.h>

#include "sim/base/units.h"

enum { MOST_PARTS = 64, ALIGNMENT = 16 };

static inline struct gsim_core_part *part_of(const struct gsim_core *core, gsim_slot slot) {
    return &core->parts->list[core->parts->of_job[core->jobs.job[slot]]];
}

const struct gsim_domain *gsim_parts_domain(const struct gsim_core *core, uint32_t job) {
    return &core->parts->list[core->parts->of_job[job]].domain;
}

void gsim_parts_changed(struct gsim_core *core, gsim_slot slot) {
    part_of(core, slot)->must_decide = true;
}

const struct gsim_unit *gsim_parts_shift(struct gsim_core *core, const struct gsim_unit *units,
                                         uint32_t n_units, uint32_t by) {
    struct gsim_arena *scratch = n_units > 0 ? gsim_plan_scratch(&core->plan) : NULL;
    struct gsim_unit *list = scratch ? gsim_arena_array(scratch, n_units, sizeof *list) : NULL;
    for (uint32_t u = 0; list && u < n_units; u++)
        list[u] = (struct gsim_unit){units[u].gpu + by, units[u].slot};
    return n_units > 0 ? list : units;
}

/* --- which nodes and which jobs --------------------------------------------------------------- */

static enum gsim_status refuse_parts(const struct gsim_core *core, const char *text,
                                     const char *name) {
    return gsim_fail(core->log, GSIM_USAGE, NULL, 0, "%s%s%s%s", text, name ? " ('" : "",
                     name ? name : "", name ? "')" : "");
}

/* The groups of the cluster's description that a part has are beside each other. */
static enum gsim_status find_parts(const struct gsim_core *core, struct gsim_parts *parts) {
    const struct gsim_cluster_spec *spec = core->options->cluster;
    struct gsim_core_part *part = NULL;
    uint32_t gpu = 0, node = 0;
    for (uint32_t g = 0; g < spec->n_groups; g++) {
        const struct gsim_node_group *group = &spec->groups[g];
        for (uint32_t i = 0; i < parts->n && (!part || group->part != part->what); i++)
            if (parts->list[i].what == group->part)
                return refuse_parts(core, "the nodes of one policy are not beside each other",
                                    group->part ? group->part->name : NULL);
        if (!part || group->part != part->what) {
            if (parts->n == MOST_PARTS)
                return refuse_parts(
                    core, "a cluster has at most 63 parts with policies of their own", NULL);
            part = &parts->list[parts->n++];
            part->what = group->part;
            part->domain.first_group = g;
            part->domain.first_gpu = gpu;
            part->first_node = node;
        }
        part->domain.n_groups++;
        part->domain.n_gpus += group->count * group->gpus_per_node;
        part->n_nodes += group->count;
        gpu += group->count * group->gpus_per_node;
        node += group->count;
    }
    return GSIM_OK;
}

/* Bits of the parts that have one of these partitions. */
static uint64_t with_partition(const struct gsim_parts *parts, const char *partitions) {
    uint64_t found = 0;
    for (uint32_t i = 0; i < parts->n; i++) {
        const struct gsim_part *what = parts->list[i].what;
        if (what && what->partitions && gsim_node_sets_meet(partitions, what->partitions))
            found |= UINT64_C(1) << i;
    }
    return found;
}

/* Of these parts, and of those for any partition, the ones that take the class. */
static uint64_t with_class(const struct gsim_parts *parts, uint64_t named, int64_t class) {
    uint64_t found = 0;
    unsigned bit = 1u << (class < 0 ? GSIM_CLASS_BATCH : class);
    for (uint32_t i = 0; i < parts->n; i++) {
        const struct gsim_part *what = parts->list[i].what;
        bool is_named = what && (!what->partitions || named >> i & 1);
        if (is_named && (what->classes == 0 || what->classes & bit))
            found |= UINT64_C(1) << i;
    }
    return found;
}

static enum gsim_status no_part(const struct gsim_core *core, uint32_t job) {
    const struct gsim_trace *trace = core->trace;
    return gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                     "job '%.64s' goes to no node: every node has a policy of its own, for other "
                     "partitions or classes; leave 'policy' out of one section of the cluster "
                     "file, whose nodes then have the run's",
                     gsim_trace_id(trace, job));
}

static enum gsim_status two_parts(const struct gsim_core *core, uint32_t job, uint64_t found) {
    const struct gsim_trace *trace = core->trace;
    const struct gsim_part *first = core->parts->list[__builtin_ctzll(found)].what;
    const struct gsim_part *next = core->parts->list[__builtin_ctzll(found & (found - 1))].what;
    return gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                     "job '%.64s' would go to nodes '%s' under %s and to nodes '%s' under %s, by "
                     "its partition or class; a job goes to the nodes of one policy",
                     gsim_trace_id(trace, job), first->name, first->policy->name, next->name,
                     next->policy->name);
}

static enum gsim_status send_jobs(struct gsim_core *core, const uint64_t *by_name) {
    struct gsim_parts *parts = core->parts;
    uint32_t rest = 0;
    while (rest < parts->n && parts->list[rest].what)
        rest++;
    for (uint32_t job = 0; job < core->trace->n_jobs && core->log->n_errors < GSIM_LOG_ENTRIES;
         job++) {
        int64_t name = gsim_trace_get(core->trace, GSIM_COL_PARTITION, job);
        uint64_t found = with_class(parts, name >= 0 ? by_name[name] : 0,
                                    gsim_trace_get(core->trace, GSIM_COL_CLASS, job));
        uint32_t part = found ? (uint32_t)__builtin_ctzll(found) : rest;
        if (part == parts->n)
            (void)no_part(core, job);
        else if (found & (found - 1))
            (void)two_parts(core, job, found);
        else {
            parts->of_job[job] = (uint16_t)part;
            parts->nth[job] = parts->list[part].n_jobs++;
        }
    }
    return core->log->n_errors > 0 ? GSIM_BAD_INPUT : GSIM_OK;
}

static void warn_of_the_idle(const struct gsim_core *core) {
    for (uint32_t i = 0; i < core->parts->n; i++) {
        const struct gsim_core_part *part = &core->parts->list[i];
        if (part->n_jobs == 0)
            gsim_warn(core->log, core->trace->path, 0,
                      "no job goes to the %u GPUs of nodes '%s' under %s, by its partition or "
                      "class",
                      part->domain.n_gpus, part->what ? part->what->name : "without a policy",
                      part->policy->name);
    }
}

/* --- the policy of the run -------------------------------------------------------------------- */

static const char *name_all(const struct gsim_core *core) {
    const struct gsim_parts *parts = core->parts;
    const char *name = core->options->policy->name;
    for (uint32_t i = 0; i < parts->n && name; i++) {
        bool is_said = !parts->list[i].what;
        for (uint32_t k = 0; k < i; k++)
            is_said |= parts->list[k].policy == parts->list[i].policy;
        if (!is_said)
            name = gsim_arena_printf(core->arena, "%s+%s", name, parts->list[i].policy->name);
    }
    return name;
}

static bool choose(struct gsim_core *core);

static enum gsim_status check_options(const struct gsim_core *core) {
    if (core->options->reference != GSIM_REFERENCE_NONE)
        return refuse_parts(core,
                            "reference= copies a simulator that has one policy; leave it out, or "
                            "'policy' out of the cluster file",
                            NULL);
    return GSIM_OK;
}

enum gsim_status gsim_parts_open(struct gsim_core *core) {
    const struct gsim_cluster_spec *spec = core->options->cluster;
    const struct gsim_trace *trace = core->trace;
    bool has_parts = false;
    for (uint32_t g = 0; g < spec->n_groups; g++)
        has_parts |= spec->groups[g].part != NULL;
    if (!has_parts)
        return GSIM_OK;
    uint32_t n_names = trace->names[GSIM_COL_PARTITION].n;
    struct gsim_parts *parts = gsim_arena_alloc(core->arena, sizeof *parts);
    uint64_t *by_name = gsim_arena_array(core->arena, n_names + 1, sizeof *by_name);
    if (!parts || !by_name)
        return gsim_core_no_memory(core);
    parts->list = gsim_arena_array(core->arena, MOST_PARTS, sizeof *parts->list);
    parts->of_job = gsim_arena_array(core->arena, trace->n_jobs, sizeof *parts->of_job);
    parts->nth = gsim_arena_array(core->arena, trace->n_jobs, sizeof *parts->nth);
    if (!parts->list || !parts->of_job || !parts->nth)
        return gsim_core_no_memory(core);
    enum gsim_status status = check_options(core);
    if (status == GSIM_OK)
        status = find_parts(core, parts);
    core->parts = parts;
    if (status != GSIM_OK || !choose(core))
        return status != GSIM_OK ? status : gsim_core_no_memory(core);
    for (uint32_t name = 0; name < n_names; name++)
        by_name[name] = with_partition(parts, trace->names[GSIM_COL_PARTITION].name[name]);
    status = send_jobs(core, by_name);
    warn_of_the_idle(core);
    return status;
}

/* A policy that names GPUs itself knows of no sets of nodes within its part. */
enum gsim_status gsim_parts_check(const struct gsim_core *core) {
    const struct gsim_trace *trace = core->trace;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        const struct gsim_core_part *part = &core->parts->list[core->parts->of_job[job]];
        const struct gsim_node_set *set = gsim_node_sets_of(&core->node_sets, trace, job);
        if ((part->policy->shares_gpus || part->policy->names_gpus) &&
            set->n_gpus < part->domain.n_gpus)
            return gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                             "job '%.64s' may use %u of the %u GPUs of its nodes, by its partition "
                             "and type; policy '%s' there gives jobs any of them: let the nodes of "
                             "one policy have one partition and one type of GPU",
                             gsim_trace_id(trace, job), set->n_gpus, part->domain.n_gpus,
                             part->policy->name);
    }
    return GSIM_OK;
}

/* --- what a policy sees ----------------------------------------------------------------------- */

static bool copy_cells(struct gsim_core *core, struct gsim_core_part *part, uint32_t which) {
    const struct gsim_trace *all = &core->seen;
    struct gsim_trace *own = &part->trace;
    uint32_t *id_at = gsim_arena_array(core->arena, part->n_jobs, sizeof *id_at);
    uint32_t *line = gsim_arena_array(core->arena, part->n_jobs, sizeof *line);
    uint32_t *gpus = gsim_arena_array(core->arena, part->n_jobs, sizeof *gpus);
    uint32_t *order = gsim_arena_array(core->arena, part->n_jobs, sizeof *order);
    int64_t *submit_ns = gsim_arena_array(core->arena, part->n_jobs, sizeof *submit_ns);
    uint32_t *nth_of =
        core->nth_of ? gsim_arena_array(core->arena, part->n_jobs, sizeof *nth_of) : NULL;
    bool has_gangs = false;
    if (!id_at || !line || !gpus || !order || !submit_ns || (core->nth_of && !nth_of))
        return false;
    for (uint32_t job = 0, n = 0; job < all->n_jobs; job++) {
        uint32_t arrival = gsim_trace_arrival(all, job), nth = core->parts->nth[job];
        if (core->parts->of_job[arrival] == which)
            order[n++] = core->parts->nth[arrival];
        if (core->parts->of_job[job] != which)
            continue;
        id_at[nth] = all->id_at[job];
        line[nth] = (uint32_t)gsim_trace_line(all, job);
        gpus[nth] = gsim_trace_gpus(all, job);
        has_gangs |= gpus[nth] > 1;
        submit_ns[nth] = all->submit_ns[job];
        if (nth_of)
            nth_of[nth] = core->nth_of[job];
    }
    part->nth_of = nth_of;
    own->id_at = id_at;
    own->line = line;
    own->gpus = has_gangs ? gpus : NULL;
    own->order = order;
    own->submit_ns = submit_ns;
    return true;
}

/* A column that has no cell of these jobs is none, as in a trace of them alone: policies ask
 * whether there is one. A job without a priority has 0. */
static bool copy_column(struct gsim_core *core, struct gsim_core_part *part, uint32_t which,
                        enum gsim_column column) {
    const int64_t *all = core->seen.column[column];
    int64_t *own = all ? gsim_arena_array(core->arena, part->n_jobs, sizeof *own) : NULL;
    bool is_used = false;
    for (uint32_t job = 0; own && job < core->seen.n_jobs; job++) {
        if (core->parts->of_job[job] != which)
            continue;
        own[core->parts->nth[job]] = all[job];
        is_used |= column == GSIM_COL_PRIORITY ? all[job] != 0 : all[job] >= 0;
    }
    part->trace.column[column] = is_used ? own : NULL;
    return own || !all;
}

/* The trace of its jobs alone. */
static bool make_trace(struct gsim_core *core, struct gsim_core_part *part, uint32_t which) {
    part->trace = core->seen;
    part->trace.n_jobs = part->n_jobs;
    bool is_made = copy_cells(core, part, which);
    for (int column = 0; column < GSIM_COL_COUNT; column++)
        is_made = is_made && copy_column(core, part, which, (enum gsim_column)column);
    part->trace.column[GSIM_COL_AFTER] = NULL; /* its cells are positions in the whole trace */
    return is_made;
}

static bool make_cluster(struct gsim_core *core, struct gsim_core_part *part) {
    const struct gsim_cluster *all = &core->cluster;
    struct gsim_view_cluster *own = &part->view.cluster;
    uint32_t n_nodes = part->n_nodes, first = part->domain.first_gpu, n_gpus = part->domain.n_gpus;
    uint32_t *node_of_gpu = gsim_arena_array(core->arena, n_gpus, sizeof *node_of_gpu);
    uint32_t *first_gpu = gsim_arena_array(core->arena, n_nodes + 1, sizeof *first_gpu);
    if (!node_of_gpu || !first_gpu)
        return false;
    *own = core->view.cluster;
    own->widest_node = 0;
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++)
        node_of_gpu[gpu] = all->node_of_gpu[first + gpu] - part->first_node;
    for (uint32_t node = 0; node <= n_nodes; node++) {
        first_gpu[node] = all->node_first_gpu[part->first_node + node] - first;
        if (node > 0 && first_gpu[node] - first_gpu[node - 1] > own->widest_node)
            own->widest_node = first_gpu[node] - first_gpu[node - 1];
    }
    own->n_nodes = n_nodes;
    own->n_gpus = own->n_idle_gpus = n_gpus;
    own->node_is_down += part->first_node;
    own->node_of_gpu = node_of_gpu;
    own->node_first_gpu = first_gpu;
    own->idle_gpus += (size_t)part->first_node * own->node_words;
    own->hbm_bytes += first;
    own->mem_used += first;
    own->is_arranged += first;
    own->clients += first;
    own->client_limit += first;
    own->type += first;
    return true;
}

/* Brings what moves in the view up to date. */
static void look(struct gsim_core *core, struct gsim_core_part *part) {
    struct gsim_view_jobs *own = &part->view.jobs;
    uint32_t n_active = own->n_active;
    part->view.now_ns = core->view.now_ns;
    *own = core->view.jobs;
    own->n_active = n_active;
    own->active = part->active;
    own->index = core->parts->index;
    own->nth_of = part->nth_of;
    own->service_ns = part->policy->is_oracle ? own->service_ns : NULL;
    part->ctx.job_states = core->ctx.job_states;
}

static struct gsim_ctx *enter(struct gsim_core *core, struct gsim_core_part *part) {
    look(core, part);
    core->parts->now = part;
    core->here = (struct gsim_here){part->domain.first_gpu, part->first_node, part->domain.n_gpus};
    return &part->ctx;
}

static void leave(struct gsim_core *core) {
    if (core->parts->now->ctx.status != GSIM_OK && core->ctx.status == GSIM_OK)
        core->ctx.status = core->parts->now->ctx.status;
    core->parts->now = NULL;
    core->here = (struct gsim_here){.n_gpus = core->cluster.n_gpus};
}

void gsim_parts_refresh(struct gsim_core *core) {
    struct gsim_core_part *part = core->parts->now;
    if (part)
        part->view.cluster.n_idle_gpus = part->n_idle + core->cluster.n_idle - part->n_idle_of_all;
}

/* --- hooks ------------------------------------------------------------------------------------ */

static enum gsim_status open_part(struct gsim_core *core, struct gsim_core_part *part,
                                  uint32_t which) {
    const struct gsim_run_options *options = core->options;
    part->view.trace = &part->trace;
    part->view.core = core;
    part->timer_ns = GSIM_NEVER;
    part->domain.ctx = &part->ctx;
    part->domain.trace = &part->trace;
    part->domain.context_bytes =
        gsim_policy_has_contexts(part->policy,
                                 part->what ? part->what->params : options->policy_params)
            ? options->context_bytes
            : 0;
    part->ctx = core->ctx;
    part->ctx.policy = part->policy;
    part->ctx.view = &part->view;
    part->ctx.params = part->what ? part->what->params : options->policy_params;
    part->ctx.state = gsim_arena_alloc(core->arena, part->policy->state_size);
    if (!part->ctx.state || !make_trace(core, part, which) || !make_cluster(core, part))
        return gsim_core_no_memory(core);
    if (!part->policy->open || part->n_jobs == 0)
        return GSIM_OK;
    enum gsim_status status = part->policy->open(enter(core, part));
    leave(core);
    return status;
}

static const char *join(struct gsim_core *core, const char *texts, const char *text) {
    if (!text || !*text || (texts && strstr(texts, text)))
        return texts;
    return texts ? gsim_arena_printf(core->arena, "%s, %s", texts, text) : text;
}

static enum gsim_status open_all(struct gsim_ctx *ctx) {
    struct gsim_core *core = ctx->core;
    struct gsim_parts *parts = core->parts;
    enum gsim_status status = GSIM_OK;
    for (uint32_t i = 0; i < parts->n && status == GSIM_OK; i++) {
        status = open_part(core, &parts->list[i], i);
        ctx->assumed = join(core, ctx->assumed, parts->list[i].ctx.assumed);
        ctx->deviation = join(core, ctx->deviation, parts->list[i].ctx.deviation);
    }
    return status;
}

static void close_all(struct gsim_ctx *ctx) {
    struct gsim_core *core = ctx->core;
    for (uint32_t i = 0; i < core->parts->n; i++) {
        struct gsim_core_part *part = &core->parts->list[i];
        if (part->ctx.core && part->n_jobs > 0 && part->policy->close)
            part->policy->close(&part->ctx);
    }
}

static bool reserve_parts(struct gsim_core *core) {
    struct gsim_parts *parts = core->parts;
    uint32_t old_n = parts->capacity, new_n = core->jobs.capacity;
    size_t was = old_n * sizeof(uint32_t), is = new_n * sizeof(uint32_t);
    uint32_t *index = gsim_arena_grow(core->arena, parts->index, was, is);
    uint32_t *active_at = gsim_arena_grow(core->arena, parts->active_at, was, is);
    bool has_room = index && active_at;
    for (uint32_t i = 0; i < parts->n && has_room; i++) {
        gsim_slot *active = gsim_arena_grow(core->arena, parts->list[i].active, was, is);
        parts->list[i].active = active ? active : parts->list[i].active;
        has_room = active != NULL;
    }
    if (!has_room)
        return false;
    parts->index = index;
    parts->active_at = active_at;
    parts->capacity = new_n;
    return true;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_core *core = ctx->core;
    struct gsim_parts *parts = core->parts;
    if (slot >= parts->capacity && !reserve_parts(core)) {
        ctx->status = gsim_core_no_memory(core);
        return;
    }
    struct gsim_core_part *part = part_of(core, slot);
    parts->index[slot] = parts->nth[core->jobs.job[slot]];
    parts->active_at[slot] = part->view.jobs.n_active;
    part->active[part->view.jobs.n_active++] = slot;
    if (!part->policy->on_arrival)
        return;
    part->policy->on_arrival(enter(core, part), slot);
    leave(core);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_core_part *part = part_of(ctx->core, slot);
    if (!part->policy->on_completion)
        return;
    part->policy->on_completion(enter(ctx->core, part), slot);
    leave(ctx->core);
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    struct gsim_core_part *part = part_of(ctx->core, slot);
    if (!part->policy->on_watch)
        return;
    part->policy->on_watch(enter(ctx->core, part), slot, kind);
    leave(ctx->core);
}

static void find_timer(struct gsim_core *core) {
    core->timer_ns = GSIM_NEVER;
    for (uint32_t i = 0; i < core->parts->n; i++)
        if (core->parts->list[i].timer_ns < core->timer_ns)
            core->timer_ns = core->parts->list[i].timer_ns;
}

void gsim_parts_wake(struct gsim_core *core, uint32_t part, int64_t time_ns) {
    core->parts->list[part].timer_ns = time_ns;
    find_timer(core);
}

static void on_timer(struct gsim_ctx *ctx) {
    struct gsim_core *core = ctx->core;
    for (uint32_t i = 0; i < core->parts->n; i++) {
        struct gsim_core_part *part = &core->parts->list[i];
        if (part->timer_ns > core->view.now_ns)
            continue;
        part->timer_ns = GSIM_NEVER;
        part->must_decide = true;
        if (!part->policy->on_timer)
            continue;
        part->policy->on_timer(enter(core, part));
        leave(core);
    }
    find_timer(core);
}

void gsim_parts_node(struct gsim_core *core, uint32_t node, bool is_down) {
    for (uint32_t i = 0; i < core->parts->n; i++) {
        struct gsim_core_part *part = &core->parts->list[i];
        if (node - part->first_node >= part->n_nodes)
            continue;
        part->must_decide = true;
        part->view.cluster.n_failures += is_down;
        part->view.cluster.n_repairs += !is_down;
    }
}

/* Hands the changes since the last decide to the parts that they are of. */
static bool hand_out(struct gsim_core *core) {
    bool has_room = true;
    for (uint32_t i = 0; i < core->arrived.n; i++)
        has_room &= gsim_slots_add(core, &part_of(core, core->arrived.list[i])->arrived,
                                   core->arrived.list[i]);
    for (uint32_t i = 0; i < core->completed.n; i++)
        has_room &= gsim_slots_add(core, &part_of(core, core->completed.list[i])->completed,
                                   core->completed.list[i]);
    for (uint32_t i = 0; i < core->settled.n; i++)
        has_room &= gsim_slots_add(core, &part_of(core, core->settled.list[i])->settled,
                                   core->settled.list[i]);
    return has_room;
}

static void decide_part(struct gsim_core *core, struct gsim_core_part *part,
                        struct gsim_plan *plan) {
    struct gsim_view_changes *changes = &part->view.changes;
    *changes =
        (struct gsim_view_changes){part->arrived.list, part->arrived.n,    part->completed.list,
                                   part->completed.n,  part->settled.list, part->settled.n};
    part->n_idle = 0;
    part->n_idle_of_all = core->cluster.n_idle;
    for (uint32_t node = 0; node < part->n_nodes; node++)
        part->n_idle += core->cluster.node_idle[part->first_node + node];
    part->must_decide = false;
    part->view.cluster.n_idle_gpus = part->n_idle;
    if (part->policy->decide) {
        part->policy->decide(enter(core, part), plan);
        leave(core);
    }
    part->arrived.n = part->completed.n = part->settled.n = 0;
}

static void forget(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_part *part = part_of(core, slot);
    gsim_slot last = part->active[--part->view.jobs.n_active];
    part->active[core->parts->active_at[slot]] = last;
    core->parts->active_at[last] = core->parts->active_at[slot];
}

/* The policy of a part without jobs was never opened: it decides nothing, also when nodes fail. */
static void decide_parts(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_core *core = ctx->core;
    if (!hand_out(core)) {
        ctx->status = gsim_core_no_memory(core);
        return;
    }
    for (uint32_t i = 0; i < core->parts->n && ctx->status == GSIM_OK; i++)
        if (core->parts->list[i].must_decide && core->parts->list[i].n_jobs > 0)
            decide_part(core, &core->parts->list[i], plan);
    for (uint32_t i = 0; i < core->completed.n; i++)
        forget(core, core->completed.list[i]);
}

/* --- the table -------------------------------------------------------------------------------- */

bool gsim_policy_has_contexts(const struct gsim_policy *policy, const struct gsim_params *params) {
    int at = gsim_params_find(params, "preempt");
    const char *way = at >= 0 ? params->values[at].text : NULL;
    return policy->has_contexts ||
           (way && (strcmp(way, "pause") == 0 || strcmp(way, "pause-iteration") == 0));
}

/* The policy of each part, and the run's. */
static bool choose(struct gsim_core *core) {
    struct gsim_parts *parts = core->parts;
    struct gsim_policy *all = &parts->policy;
    *all = (struct gsim_policy){.summary = "a policy for each part of the cluster",
                                .paper = "those of the parts",
                                .deviations = "those of the parts",
                                .state_size = 1,
                                .open = open_all,
                                .on_arrival = on_arrival,
                                .on_completion = on_completion,
                                .on_watch = on_watch,
                                .on_timer = on_timer,
                                .decide = decide_parts,
                                .close = close_all};
    for (uint32_t i = 0; i < parts->n; i++) {
        const struct gsim_part *what = parts->list[i].what;
        const struct gsim_policy *one = what ? what->policy : core->options->policy;
        parts->list[i].policy = one;
        all->is_oracle |= one->is_oracle;
        all->chooses_widths |= one->chooses_widths;
        all->shares_gpus |= one->shares_gpus;
        all->has_contexts |= one->has_contexts;
        all->oversubscribes |= one->oversubscribes;
        all->job_size = one->job_size > all->job_size ? one->job_size : all->job_size;
    }
    all->job_size = (all->job_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    all->name = name_all(core);
    core->policy = all;
    return all->name != NULL;
}
