/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transaction that a policy's decide fills. Each verb is checked against the state after the
 * verbs before it and takes its reservation at once; rollback undoes from the end; apply hands all
 * operations to the states and the model. The work is proportional to the plan, never to the
 * cluster. */
#include "sim/core/core.h"
#include "sim/core/parts.h"
#include "sim/base/units.h"
#include "sim/base/hints.h"

#include <assert.h>

const char *const gsim_state_names[GSIM_STATE_COUNT] = {
    [GSIM_FREE] = "not active", [GSIM_QUEUED] = "queued",     [GSIM_STARTING] = "starting",
    [GSIM_RUNNING] = "running", [GSIM_STOPPING] = "stopping", [GSIM_SAVING] = "saving",
    [GSIM_PAUSED] = "paused",   [GSIM_HELD] = "held",         [GSIM_RESUMING] = "resuming",
    [GSIM_DONE] = "done",
};

void gsim_plan_open(struct gsim_plan *plan, struct gsim_core *core) {
    *plan = (struct gsim_plan){.core = core};
}

bool gsim_plan_reserve(struct gsim_plan *plan, uint32_t old_capacity, uint32_t capacity) {
    uint32_t *touched = gsim_arena_grow(plan->core->arena, plan->touched,
                                        old_capacity * sizeof *touched, capacity * sizeof *touched);
    if (touched)
        plan->touched = touched;
    return touched != NULL;
}

void gsim_plan_refresh_view(struct gsim_core *core) {
    const struct gsim_cluster *cluster = &core->cluster;
    core->view.cluster.n_idle_gpus = cluster->n_idle;
    if (gsim_rarely(core->parts))
        gsim_parts_refresh(core);
    if (gsim_mostly(!cluster->is_pool))
        return;
    core->view.cluster.n_idle_gpus = (uint32_t)(cluster->pool_free_ppm / GSIM_PPM);
    core->view.pool.free_ppm = cluster->pool_free_ppm;
    core->view.pool.free_cpus_milli = cluster->pool_cpus_free;
}

GSIM_COLD bool gsim_plan_broke(struct gsim_plan *plan, gsim_slot slot, const char *verb,
                               const char *why) {
    struct gsim_core *core = plan->core;
    const struct gsim_jobs *jobs = &core->jobs;
    char now[32];
    if (gsim_arena_has_failed(core->arena)) { /* it may not know what it does */
        (void)gsim_core_no_memory(core);
        plan->is_broken = true;
        return false;
    }
    gsim_format_seconds(now, core->view.now_ns, 9);
    bool is_known = slot < jobs->capacity && jobs->state[slot] != GSIM_FREE;
    const char *of = ""; /* the verb is of GPUs, or of a time */
    if (is_known)
        of = gsim_arena_printf(core->arena, " job '%s' (%s)",
                               gsim_trace_id(core->trace, jobs->job[slot]),
                               gsim_state_names[jobs->state[slot]]);
    else if (slot != GSIM_NO_SLOT)
        of = " job '?' (no job)";
    if (!plan->is_broken)
        core->status =
            gsim_fail(core->log, GSIM_FAILED, NULL, 0, "policy '%s' broke a rule at %s s: %s%s: %s",
                      core->policy->name, now, verb, of ? of : "", why);
    plan->is_broken = true;
    return false;
}

GSIM_COLD static bool grow_ops(struct gsim_plan *plan) {
    uint32_t capacity = plan->capacity ? plan->capacity * 2 : 64;
    struct gsim_op *ops = gsim_arena_grow(plan->core->arena, plan->ops,
                                          plan->capacity * sizeof *ops, capacity * sizeof *ops);
    if (!ops) {
        (void)gsim_core_no_memory(plan->core);
        plan->is_broken = true;
        return false;
    }
    plan->ops = ops;
    plan->capacity = capacity;
    return true;
}

/* NULL only when there is no memory. The caller sets the fields of the operation's kind. */
static inline struct gsim_op *append(struct gsim_plan *plan, enum gsim_op_kind kind,
                                     gsim_slot slot) {
    if (gsim_rarely(plan->n == plan->capacity) && !grow_ops(plan))
        return NULL;
    struct gsim_op *op = &plan->ops[plan->n++];
    op->kind = (uint8_t)kind;
    op->slot = slot;
    return op;
}

struct gsim_op *gsim_plan_append(struct gsim_plan *plan, enum gsim_op_kind kind) {
    return append(plan, kind, GSIM_NO_SLOT);
}

/* --- place ------------------------------------------------------------------------------------ */

static inline const char *cannot_place(const struct gsim_plan *plan, gsim_slot slot) {
    if (!gsim_core_has_job(plan->core, slot))
        return "only active jobs can be placed";
    if (plan->touched[slot])
        return "this plan has placed or preempted it already";
    enum gsim_state state = plan->core->jobs.state[slot];
    if (!gsim_state_waits(state))
        return "only a queued, paused or held job can be placed";
    return NULL;
}

static void unpin(struct gsim_core *core, gsim_slot slot, bool is_back) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    int64_t bytes = own->request.mem_bytes;
    own->is_pinned = is_back;
    gsim_cluster_pin(&core->cluster, job->left_units, job->n_left_units, is_back ? bytes : -bytes);
}

/* Whether an arrangement shares one of the units; placement by shape avoids these. */
static bool has_arranged(const struct gsim_cluster *cluster, const struct gsim_unit *units,
                         uint32_t n_units) {
    for (uint32_t u = 0; cluster->n_arranged > 0 && u < n_units; u++)
        if (cluster->gpu_is_arranged[units[u].gpu])
            return true;
    return false;
}

/* A job goes back to where its memory is when it can: anywhere else is a migration. */
static struct gsim_found take_back(struct gsim_core *core, gsim_slot slot,
                                   struct gsim_unit *units) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    uint32_t n = job->n_left_units;
    if (n != own->request.shape.gpus || has_arranged(&core->cluster, job->left_units, n) ||
        !gsim_cluster_fits(&core->cluster, &own->request, job->left_units, n))
        return (struct gsim_found){0};
    for (uint32_t u = 0; u < n; u++)
        units[u] = job->left_units[u];
    return (struct gsim_found){
        .n_units = n,
        .fits = true,
        .on_node = gsim_cluster_take_named(&core->cluster, &own->request, units, n)};
}

/* Memory on the host of a node is equally near to all GPUs of the node. */
static struct gsim_found find_at_home(struct gsim_core *core, gsim_slot slot,
                                      struct gsim_unit *units) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    struct gsim_found found = take_back(core, slot, units);
    uint32_t node = core->cluster.node_of_gpu[job->left_units->gpu];
    for (uint32_t u = 1; u < job->n_left_units; u++)
        if (core->cluster.node_of_gpu[job->left_units[u].gpu] != node)
            return found;
    return found.fits ? found : gsim_cluster_find_on(&core->cluster, &own->request, node, units);
}

/* Whether the job goes on on the units that it left, or waits for these. */
static inline bool stays_in_place(const struct gsim_core *core, gsim_slot slot) {
    return gsim_rarely(core->options->pauses_in_place) && core->jobs.state[slot] == GSIM_PAUSED;
}

/* Looks where the job's memory is, if bringing it to other nodes would cross a network. */
GSIM_APART static struct gsim_found find_back(struct gsim_core *core, gsim_slot slot,
                                              struct gsim_unit *units) {
    enum gsim_state state = core->jobs.state[slot];
    struct gsim_found found = {0};
    if (state == GSIM_PAUSED)
        found = take_back(core, slot, units);
    bool is_on_node =
        state == GSIM_HELD || (state == GSIM_PAUSED && !core->options->pauses_in_place);
    if (!found.fits && is_on_node && core->jobs.info[slot].n_left_units > 0 &&
        core->ops->is_bound(core->model, slot))
        found = find_at_home(core, slot, units);
    return found;
}

/* Copies the units into a list of their number, where a gang has fewer than it asks for. */
GSIM_COLD static struct gsim_unit *shorten(struct gsim_core *core, struct gsim_unit *units,
                                           uint32_t most, uint32_t n_units) {
    struct gsim_unit *fewer = gsim_units_copy(core, units, n_units);
    gsim_units_free(core, units, most);
    if (!fewer)
        (void)gsim_core_no_memory(core);
    return fewer;
}

/* On one node, and there on the units that the job has left, if it can have them. */
static struct gsim_found find_within(struct gsim_core *core, gsim_slot slot, uint32_t node,
                                     struct gsim_unit *units) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    struct gsim_found found = {0};
    bool is_left_there = job->n_left_units > 0 && core->jobs.state[slot] != GSIM_QUEUED;
    for (uint32_t u = 0; is_left_there && u < job->n_left_units; u++)
        is_left_there = core->cluster.node_of_gpu[job->left_units[u].gpu] == node;
    if (is_left_there)
        found = take_back(core, slot, units);
    return found.fits || stays_in_place(core, slot)
               ? found
               : gsim_cluster_find_on(&core->cluster, &own->request, node, units);
}

/* Units that the request can have, taken, in *units. In a pool there are none to name. */
static inline struct gsim_found find_units(struct gsim_core *core, gsim_slot slot,
                                           struct gsim_unit **units) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    uint32_t most = own->request.shape.gpus;
    struct gsim_found found = {0};
    *units = NULL;
    if (gsim_rarely(core->cluster.is_pool))
        return gsim_cluster_find(&core->cluster, &own->request, NULL);
    struct gsim_unit *list = gsim_units_new(core, most);
    if (gsim_rarely(!list)) {
        (void)gsim_core_no_memory(core);
        return found;
    }
    uint32_t within = own->request.shape.within;
    if (gsim_rarely(within > 0))
        found = find_within(core, slot, within - 1, list);
    else if (gsim_rarely(core->jobs.state[slot] != GSIM_QUEUED))
        found = find_back(core, slot, list);
    if (!found.fits && within == 0 && !stays_in_place(core, slot))
        found = gsim_cluster_find(&core->cluster, &own->request, list);
    if (!found.fits)
        gsim_units_free(core, list, most);
    else
        *units = found.n_units == most ? list : shorten(core, list, most, found.n_units);
    found.fits &= *units != NULL;
    return found;
}

/* Memory that a waiting job had on its old GPUs or their host, and that counted there. */
struct memory {
    bool was_pinned, was_hosted;
};

GSIM_APART static struct memory give_memory_up(struct gsim_core *core, gsim_slot slot) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    struct memory had = {
        own->is_pinned, own->is_hosted && gsim_domain_of(core, core->jobs.job[slot])->ctx->devices};
    if (had.was_pinned)
        unpin(core, slot, false);
    if (had.was_hosted)
        gsim_hosts_release(core, slot);
    return had;
}

/* Where memory is managed, the memory that a job needs beyond its GPUs replaces its memory on the
 * host; elsewhere the host holds that until the job runs. */
static inline struct memory take_memory(struct gsim_core *core, gsim_slot slot) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    return gsim_rarely(own->is_pinned || own->is_hosted) ? give_memory_up(core, slot)
                                                         : (struct memory){0};
}

static inline bool has_table(const struct gsim_core *core) {
    return core->trace->rates || core->trace->goodput;
}

static inline void note_place(struct gsim_plan *plan, gsim_slot slot, struct memory had) {
    struct gsim_op *op = append(plan, GSIM_OP_PLACE, slot);
    if (!op)
        return;
    if (!plan->core->jobs.core[slot].is_wanting)
        plan->core->jobs.core[slot].is_host_short = false; /* an arrival that found another GPU */
    op->was_pinned = had.was_pinned;
    op->was_hosted = had.was_hosted;
    plan->touched[slot] = plan->n;
    gsim_plan_refresh_view(plan->core);
}

/* Undoes the placement's effect on the job's stopped memory. */
static void put_back(struct gsim_core *core, gsim_slot slot, struct memory had) {
    if (gsim_rarely(had.was_pinned))
        unpin(core, slot, true);
    if (gsim_rarely(had.was_hosted))
        gsim_hosts_hold(core, slot, GSIM_KEEP_HOST);
}

bool gsim_plan_place(struct gsim_plan *plan, gsim_slot job, const struct gsim_shape *shape) {
    *plan->core->at_hand = job;
    const char *why = cannot_place(plan, job);
    if (gsim_rarely(why != NULL))
        return gsim_plan_broke(plan, job, "placing", why);
    struct gsim_core *core = plan->core;
    struct gsim_core_job *own = &core->jobs.core[job];
    bool is_cpu_only = shape->share_ppm == 0 && core->cluster.is_pool;
    if (gsim_rarely(shape->gpus == 0 || shape->share_ppm > GSIM_PPM ||
                    (shape->share_ppm == 0 && !is_cpu_only) || shape->rule >= GSIM_RULE_COUNT))
        return gsim_plan_broke(plan, job, "placing",
                               "a shape has a GPU at least, a share of it, and one of the rules");
    if (gsim_rarely(shape->gpus > core->cluster.n_gpus && !core->cluster.is_pool))
        return false;
    own->request.shape = *shape;
    own->request.shape.within += shape->within ? core->here.first_node : 0;
    own->request.on_node = 0;
    own->request.beside_bytes = 0;
    struct gsim_job *info = &core->jobs.info[job];
    info->host = (struct gsim_host){0};
    struct memory had = take_memory(core, job);
    struct gsim_found found = find_units(core, job, &info->units);
    if (!found.fits) {
        if (gsim_rarely(core->cluster.has_host_limit))
            gsim_hosts_refuse(core, job, NULL, 0);
        put_back(core, job, had);
        return false;
    }
    info->n_units = found.n_units;
    info->is_on_one_node = found.is_on_one_node;
    own->request.on_node = found.on_node;
    info->share_ppm = shape->share_ppm;
    info->keeps_rate = shape->keeps_rate;
    if (gsim_rarely(shape->keeps_rate) && found.n_units < core->jobs.gpus[job])
        own->ignored_gpus = core->jobs.gpus[job] - found.n_units;
    uint32_t mark = gsim_plan_mark(plan);
    note_place(plan, job, had);
    if (gsim_mostly(!has_table(core)) || gsim_plan_has_speed(core, job))
        return true;
    gsim_plan_rollback(plan, mark); /* its model cannot run on GPUs of these nodes together */
    return false;
}

/* The request of a job for units that a policy names; each: NULL, or the part of the host beside
 * each. */
static void ask_for(struct gsim_core *core, gsim_slot job, uint32_t n_units, bool is_whole,
                    const struct gsim_host *each) {
    struct gsim_request *request = &core->jobs.core[job].request;
    request->shape = gsim_shape_of(&core->view, job, GSIM_RULE_ANY);
    if (is_whole)
        request->shape.share_ppm = GSIM_PPM;
    request->on_node = 0;
    request->beside_bytes = each ? each->mem_bytes : 0;
    core->jobs.info[job].host = each ? *each : (struct gsim_host){0};
    if (!each)
        return;
    request->shape.gpus = n_units;
    /* a host that does not count its CPUs has ample ones: a number may not hold their sum */
    if (__builtin_mul_overflow(each->cpus_milli, n_units, &request->shape.cpus_milli))
        request->shape.cpus_milli = INT64_MAX / 4;
}

/* A job that stays in place can have no units but those that it left. */
static bool is_open_to(const struct gsim_core *core, gsim_slot slot, const struct gsim_unit *units,
                       uint32_t n_units) {
    const struct gsim_job *job = &core->jobs.info[slot];
    bool is_open = !stays_in_place(core, slot) || job->n_left_units == n_units;
    for (uint32_t u = 0; is_open && stays_in_place(core, slot) && u < n_units; u++)
        is_open = job->left_units[u].gpu == units[u].gpu;
    return is_open;
}

static bool place_on(struct gsim_plan *plan, gsim_slot job, const struct gsim_unit *units,
                     uint32_t n_units, bool is_whole, const struct gsim_host *each) {
    *plan->core->at_hand = job;
    const char *why = cannot_place(plan, job);
    units = gsim_units_in(plan->core, units, n_units);
    if (!units && n_units > 0)
        return gsim_core_no_memory(plan->core) == GSIM_OK;
    why = why ? why : gsim_plan_misnames(plan, job, units, n_units);
    if (!why && each && (each->cpus_milli < 0 || each->mem_bytes < 0))
        why = "a part of a host is nothing, or more";
    if (why)
        return gsim_plan_broke(plan, job, "placing", why);
    struct gsim_core *core = plan->core;
    struct gsim_core_job *own = &core->jobs.core[job];
    ask_for(core, job, n_units, is_whole, each);
    struct memory had = take_memory(core, job);
    struct gsim_unit *copy = NULL;
    if (is_open_to(core, job, units, n_units) &&
        gsim_cluster_fits(&core->cluster, &own->request, units, n_units) &&
        (!each || gsim_cluster_has_beside(&core->cluster, &own->request, units, n_units)))
        copy = gsim_units_copy(core, units, n_units);
    if (!copy) {
        if (gsim_rarely(core->cluster.has_host_limit))
            gsim_hosts_refuse(core, job, units, n_units);
        put_back(core, job, had);
        return false;
    }
    own->request.on_node = gsim_cluster_take_named(&core->cluster, &own->request, copy, n_units);
    core->jobs.info[job].units = copy;
    core->jobs.info[job].n_units = n_units;
    core->jobs.info[job].is_on_one_node = false;
    core->jobs.info[job].share_ppm = own->request.shape.share_ppm;
    core->jobs.info[job].keeps_rate = false;
    note_place(plan, job, had);
    return gsim_mostly(!has_table(core)) || !gsim_plan_breaks_table(plan, job);
}

bool gsim_plan_place_on(struct gsim_plan *plan, gsim_slot job, const struct gsim_unit *units,
                        uint32_t n_units) {
    return place_on(plan, job, units, n_units, false, NULL);
}

bool gsim_plan_place_beside(struct gsim_plan *plan, gsim_slot job, const struct gsim_unit *units,
                            uint32_t n_units, struct gsim_host each) {
    return place_on(plan, job, units, n_units, false, &each);
}

bool gsim_plan_place_whole(struct gsim_plan *plan, gsim_slot job, const struct gsim_unit *units,
                           uint32_t n_units) {
    return place_on(plan, job, units, n_units, true, NULL);
}

static void undo_place(struct gsim_plan *plan, const struct gsim_op *op) {
    struct gsim_core *core = plan->core;
    struct gsim_job *job = &core->jobs.info[op->slot];
    gsim_cluster_release(&core->cluster, &core->jobs.core[op->slot].request, job->units,
                         job->n_units);
    gsim_units_free(core, job->units, job->n_units);
    job->units = NULL;
    job->n_units = 0;
    put_back(core, op->slot, (struct memory){op->was_pinned, op->was_hosted});
    plan->touched[op->slot] = 0;
}

/* --- preempt and move ------------------------------------------------------------------------- */

static const char *cannot_stop(const struct gsim_plan *plan, gsim_slot slot, enum gsim_stop stop,
                               enum gsim_keep keep) {
    if (!gsim_core_has_job(plan->core, slot))
        return "only active jobs can be stopped";
    if (plan->touched[slot])
        return "this plan has placed or preempted it already";
    if (plan->core->jobs.state[slot] != GSIM_RUNNING)
        return "only a running job can be preempted; one in transition cannot";
    if (stop >= GSIM_STOP_COUNT)
        return "there is no such way to stop a job";
    if (keep >= GSIM_KEEP_COUNT)
        return "there is no such place for a job's state";
    return plan->core->ops->refuses_stop(plan->core->model, slot, stop, keep);
}

/* A pause keeps the job's memory on the GPU, or paged out to its host. */
static bool pins(const struct gsim_core *core, gsim_slot slot, enum gsim_keep keep) {
    return (keep == GSIM_KEEP_RESIDENT || keep == GSIM_KEEP_PAGEABLE) &&
           core->jobs.core[slot].request.mem_bytes > 0;
}

static void release_for(struct gsim_core *core, gsim_slot slot, enum gsim_keep keep) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    gsim_cluster_release(&core->cluster, &own->request, job->units, job->n_units);
    own->is_pinned = pins(core, slot, keep);
    gsim_hosts_hold(core, slot, keep);
    if (own->is_pinned)
        gsim_cluster_pin(&core->cluster, job->units, job->n_units, own->request.mem_bytes);
}

static void take_again(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    gsim_hosts_release(core, slot);
    if (own->is_pinned)
        gsim_cluster_pin(&core->cluster, job->units, job->n_units, -own->request.mem_bytes);
    own->is_pinned = false;
    gsim_cluster_retake(&core->cluster, &own->request, job->units, job->n_units);
}

/* A size that the trace does not give is an error of the input, not of the policy. */
static bool lacks_column(struct gsim_plan *plan, gsim_slot slot, enum gsim_stop stop,
                         enum gsim_keep keep, const char *why) {
    struct gsim_core *core = plan->core;
    if (!gsim_core_has_job(plan->core, slot) || core->jobs.state[slot] != GSIM_RUNNING ||
        stop >= GSIM_STOP_COUNT || keep >= GSIM_KEEP_COUNT)
        return false;
    struct gsim_quote quote =
        core->ops->quote(core->model, slot, stop, keep, NULL, 0, core->view.now_ns);
    if (!quote.missing)
        return false;
    core->status = gsim_fail(core->log, GSIM_BAD_INPUT, core->trace->path, 0,
                             "policy '%s' wants to stop job '%s': %s", core->policy->name,
                             gsim_trace_id(core->trace, core->jobs.job[slot]), why);
    plan->is_broken = true;
    return true;
}

bool gsim_plan_preempt(struct gsim_plan *plan, gsim_slot job, enum gsim_stop stop,
                       enum gsim_keep keep) {
    *plan->core->at_hand = job;
    const char *why = cannot_stop(plan, job, stop, keep);
    if (why && !plan->is_broken && lacks_column(plan, job, stop, keep, why))
        return false;
    if (why)
        return gsim_plan_broke(plan, job, "preempting", why);
    struct gsim_op *op = append(plan, GSIM_OP_PREEMPT, job);
    if (!op)
        return false;
    keep = gsim_hosts_keep(plan->core, job, keep);
    op->stop = (uint8_t)stop;
    op->keep = (uint8_t)keep;
    plan->touched[job] = plan->n;
    release_for(plan->core, job, keep);
    gsim_plan_refresh_view(plan->core);
    return true;
}

/* Where a move goes: any units of a shape, or these. */
struct target {
    const struct gsim_shape *shape;
    const struct gsim_unit *units; /* NULL: by the shape */
    uint32_t n_units;
};

static const char *cannot_move(const struct gsim_plan *plan, gsim_slot slot,
                               const struct target *to, enum gsim_stop stop, enum gsim_keep keep) {
    const char *why = cannot_stop(plan, slot, stop, keep);
    if (why)
        return why;
    if (plan->core->cluster.is_pool)
        return "a pool has no units to move between";
    if (plan->core->jobs.core[slot].request.beside_bytes > 0)
        return "the job was placed beside a part of the host";
    if (keep == GSIM_KEEP_RESIDENT || keep == GSIM_KEEP_PAGEABLE)
        return "a move takes the memory along: it is kept on the host or on storage, or discarded";
    return to->units ? gsim_plan_misnames(plan, slot, to->units, to->n_units) : NULL;
}

/* Units for a job that has given up its own, and may have some of them again. */
static struct gsim_found find_target(struct gsim_core *core, gsim_slot slot,
                                     const struct target *to, struct gsim_unit **units) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    own->request.shape = *to->shape;
    own->request.shape.within += to->shape->within ? core->here.first_node : 0;
    if (!to->units)
        return find_units(core, slot, units);
    *units = NULL;
    if (!gsim_cluster_fits(&core->cluster, &own->request, to->units, to->n_units) ||
        !(*units = gsim_units_copy(core, to->units, to->n_units)))
        return (struct gsim_found){0};
    (void)gsim_cluster_take_named(&core->cluster, &own->request, *units, to->n_units);
    return (struct gsim_found){.fits = true, .n_units = to->n_units};
}

/* Whether the job could not run there, by the table of speeds. */
static bool breaks_table_at(struct gsim_plan *plan, gsim_slot slot, const struct gsim_op *op) {
    struct gsim_job *info = &plan->core->jobs.info[slot], now = *info;
    if (!has_table(plan->core))
        return false;
    info->units = op->units;
    info->n_units = op->n_units;
    info->is_on_one_node = false;
    bool breaks = gsim_plan_breaks_table(plan, slot);
    *info = now;
    return breaks;
}

static bool move_to(struct gsim_plan *plan, gsim_slot job, const struct target *to,
                    enum gsim_stop stop, enum gsim_keep keep) {
    struct gsim_core *core = plan->core;
    *core->at_hand = job;
    const char *why = cannot_move(plan, job, to, stop, keep);
    if (why && !plan->is_broken && lacks_column(plan, job, stop, keep, why))
        return false;
    if (why)
        return gsim_plan_broke(plan, job, "moving", why);
    struct gsim_shape old_shape = core->jobs.core[job].request.shape;
    core->jobs.core[job].request.on_node = 0; /* for a while the job has two lists of units */
    keep = gsim_hosts_keep(core, job, keep);
    release_for(core, job, keep);
    struct gsim_unit *units;
    struct gsim_found found = find_target(core, job, to, &units);
    struct gsim_op *op = found.fits ? append(plan, GSIM_OP_MOVE, job) : NULL;
    if (!op) {
        core->jobs.core[job].request.shape = old_shape;
        take_again(core, job);
        return false;
    }
    op->stop = (uint8_t)stop;
    op->keep = (uint8_t)keep;
    op->units = units;
    op->n_units = found.n_units;
    plan->touched[job] = plan->n;
    gsim_plan_refresh_view(core);
    return !breaks_table_at(plan, job, op);
}

bool gsim_plan_move(struct gsim_plan *plan, gsim_slot job, const struct gsim_shape *shape) {
    struct target to = {.shape = shape};
    return move_to(plan, job, &to, GSIM_STOP_ITERATION, GSIM_KEEP_HOST);
}

bool gsim_plan_move_on(struct gsim_plan *plan, gsim_slot job, const struct gsim_unit *units,
                       uint32_t n_units, enum gsim_stop stop, enum gsim_keep keep) {
    static const struct gsim_unit none;
    struct gsim_shape shape = {0};
    if (gsim_core_has_job(plan->core, job))
        shape = gsim_shape_of(&plan->core->view, job, GSIM_RULE_ANY);
    units = units ? gsim_units_in(plan->core, units, n_units) : &none;
    if (!units && n_units > 0)
        return gsim_core_no_memory(plan->core) == GSIM_OK;
    struct target to = {&shape, units, n_units};
    return move_to(plan, job, &to, stop, keep);
}

/* A waiting job holds no units; a running job gives its units up as if preempted. */
static bool end_job(struct gsim_plan *plan, gsim_slot job, bool is_declined) {
    *plan->core->at_hand = job;
    bool waits = gsim_core_has_job(plan->core, job) && plan->core->jobs.state[job] != GSIM_RUNNING;
    const char *why =
        waits ? cannot_place(plan, job) : cannot_stop(plan, job, GSIM_STOP_SAVE, GSIM_KEEP_DISCARD);
    if (why)
        return gsim_plan_broke(plan, job, "ending", why);
    struct gsim_op *op = append(plan, GSIM_OP_END, job);
    if (!op)
        return false;
    op->value = is_declined;
    plan->touched[job] = plan->n;
    if (!waits)
        release_for(plan->core, job, GSIM_KEEP_DISCARD);
    gsim_plan_refresh_view(plan->core);
    return true;
}

bool gsim_plan_end(struct gsim_plan *plan, gsim_slot job) {
    return end_job(plan, job, false);
}

bool gsim_plan_decline(struct gsim_plan *plan, gsim_slot job) {
    return end_job(plan, job, true);
}

/* Only units from before this plan can be supposed free: those it placed are undone with it. */
static const char *cannot_suppose(const struct gsim_plan *plan, gsim_slot slot) {
    if (!gsim_core_has_job(plan->core, slot))
        return "only active jobs can be over";
    if (plan->touched[slot])
        return "this plan has placed or preempted it already";
    enum gsim_state state = plan->core->jobs.state[slot];
    if (state != GSIM_STARTING && state != GSIM_RUNNING && state != GSIM_RESUMING)
        return "only a job that runs, or is on its way to its units, has units to give back";
    return NULL;
}

bool gsim_plan_suppose_over(struct gsim_plan *plan, gsim_slot job) {
    *plan->core->at_hand = job;
    const char *why = cannot_suppose(plan, job);
    if (why)
        return gsim_plan_broke(plan, job, "supposing the end of", why);
    if (!append(plan, GSIM_OP_SUPPOSE, job))
        return false;
    plan->n_supposed++;
    plan->touched[job] = plan->n;
    release_for(plan->core, job, GSIM_KEEP_DISCARD);
    gsim_plan_refresh_view(plan->core);
    return true;
}

static void undo_end(struct gsim_plan *plan, const struct gsim_op *op) {
    if (plan->core->jobs.state[op->slot] == GSIM_RUNNING)
        take_again(plan->core, op->slot);
    plan->touched[op->slot] = 0;
}

static void undo_move(struct gsim_plan *plan, const struct gsim_op *op) {
    struct gsim_core *core = plan->core;
    gsim_cluster_release(&core->cluster, &core->jobs.core[op->slot].request, op->units,
                         op->n_units);
    gsim_units_free(core, op->units, op->n_units);
    take_again(core, op->slot);
    plan->touched[op->slot] = 0;
}

/* --- mark, rollback, apply -------------------------------------------------------------------- */

uint32_t gsim_plan_mark(const struct gsim_plan *plan) {
    return plan->n;
}

static void undo(struct gsim_plan *plan, const struct gsim_op *op) {
    switch ((enum gsim_op_kind)op->kind) {
    case GSIM_OP_PLACE:
        undo_place(plan, op);
        break;
    case GSIM_OP_SUPPOSE:
        plan->n_supposed--;
        take_again(plan->core, op->slot);
        plan->touched[op->slot] = 0;
        break;
    case GSIM_OP_PREEMPT:
        take_again(plan->core, op->slot);
        plan->touched[op->slot] = 0;
        break;
    case GSIM_OP_MOVE:
        undo_move(plan, op);
        break;
    case GSIM_OP_END:
        undo_end(plan, op);
        break;
    case GSIM_OP_ARRANGE:
        gsim_plan_unarrange(&plan->core->cluster, op);
        break;
    case GSIM_OP_PARTITION:
        *plan->core->cluster.gpu_instances[op->units->gpu] = *op->was_cut;
        gsim_cluster_set_cut(&plan->core->cluster, op->units->gpu);
        break;
    case GSIM_OP_BATCH:
    case GSIM_OP_WATCH:
    case GSIM_OP_WAKE:
        break;
    }
}

void gsim_plan_rollback(struct gsim_plan *plan, uint32_t mark) {
    assert(mark <= plan->n);
    while (plan->n > mark)
        undo(plan, &plan->ops[--plan->n]);
    gsim_plan_refresh_view(plan->core);
}

GSIM_APART static void apply(struct gsim_core *core, const struct gsim_op *op) {
    int64_t now = core->view.now_ns;
    switch ((enum gsim_op_kind)op->kind) {
    case GSIM_OP_PLACE:
        break; /* handled in gsim_plan_apply */
    case GSIM_OP_PREEMPT:
        core->metrics.keeps |= 1u << op->keep;
        gsim_job_preempt(core, op->slot, op->stop, op->keep);
        break;
    case GSIM_OP_MOVE:
        gsim_job_move(core, op->slot, op->units, op->n_units, (enum gsim_stop)op->stop,
                      (enum gsim_keep)op->keep);
        break;
    case GSIM_OP_END:
        core->jobs.core[op->slot].is_declined = op->value != 0;
        gsim_job_end(core, op->slot);
        break;
    case GSIM_OP_SUPPOSE: /* refused before anything is applied */
        assert(false);
        break;
    case GSIM_OP_ARRANGE:
        core->ops->arrange(core->model, op->units, op->n_units, op->arrangement, now);
        break;
    case GSIM_OP_PARTITION:
        core->ops->partition(core->model, op->units->gpu, op->layout, now);
        break;
    case GSIM_OP_BATCH:
        core->ops->set_batch(core->model, op->slot, op->batch, now);
        break;
    case GSIM_OP_WATCH:
        if (op->watch == GSIM_WATCH_RAN)
            gsim_watches_set(core, op->slot, op->value);
        else
            core->ops->watch(core->model, op->slot, op->watch, op->value, now);
        break;
    case GSIM_OP_WAKE:
        if (gsim_rarely(core->parts))
            gsim_parts_wake(core, op->part, op->value);
        else
            core->timer_ns = op->value;
        break;
    }
}

/* Records the peak of host memory that the plan has reserved. */
GSIM_APART static void note_hosts(struct gsim_plan *plan) {
    for (uint32_t i = 0; i < plan->n; i++)
        if (plan->ops[i].slot != GSIM_NO_SLOT) {
            const struct gsim_job *job = &plan->core->jobs.info[plan->ops[i].slot];
            gsim_cluster_note_hosts(&plan->core->cluster, job->units, job->n_units);
        }
}

void gsim_plan_apply(struct gsim_plan *plan) {
    if (gsim_rarely(plan->n_supposed > 0))
        (void)gsim_plan_broke(plan, GSIM_NO_SLOT, "deciding with an end supposed",
                              "that is a question, to be rolled back before the decide ends");
    if (gsim_rarely(plan->is_broken))
        gsim_plan_rollback(plan, 0);
    if (gsim_rarely(plan->core->cluster.has_host_used))
        note_hosts(plan);
    bool has_shares = plan->core->trace->column[GSIM_COL_SHARE_PPM] != NULL;
    if (gsim_rarely(has_shares))
        gsim_jobs_will_change(plan->core, plan->ops, plan->n);
    for (uint32_t i = 0; i < plan->n; i++) {
        if (gsim_rarely(gsim_arena_has_failed(plan->core->arena))) {
            (void)gsim_core_no_memory(plan->core);
            break;
        }
        if (gsim_rarely(has_shares))
            gsim_job_changes_now(plan->core, &plan->ops[i]);
        if (plan->ops[i].slot != GSIM_NO_SLOT)
            plan->touched[plan->ops[i].slot] = 0;
        if (plan->ops[i].kind == GSIM_OP_PLACE) /* mostly: a predictable jump */
            gsim_job_place(plan->core, plan->ops[i].slot);
        else
            apply(plan->core, &plan->ops[i]);
    }
    plan->n = 0;
    gsim_arena_free(plan->scratch);
    plan->scratch = NULL;
}
