/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kueue, the queues of Kubernetes for batch jobs: quota first, then nodes. A ClusterQueue has
 * nominal quotas of GPUs by flavor; queues of a cohort borrow what others do not use, within
 * borrowingLimit and lendingLimit; cohorts form trees. Pending jobs go by priority, then by
 * arrival, under StrictFIFO behind their head, under BestEffortFIFO past it. A job that does not
 * fit may have others evicted (withinClusterQueue, reclaimWithinCohort, borrowWithinCohort). A
 * gang is admitted and placed whole.
 *
 * Sources: the documentation of Kueue 0.20, pages "Cluster Queue", "Cohort" and "Preemption"
 * (kueue.sigs.k8s.io/docs/concepts), and the public code where these leave an order open
 * (pkg/scheduler: scheduler.go, flavorassigner, preemption/classical).
 *
 * What differs: GPUs are the only resource; no fair sharing, admission checks, partial admission,
 * topology or timeouts for pods that are not ready; a search for a flavor starts with the first
 * each time; cycles take no time. Nodes: the fewest for a gang, where Kubernetes places pod by
 * pod. */
#include "policies/kueue/cycle.h"
#include "policies/kueue/jobs.h"
#include "policies/kueue/quota.h"
#include "policies/lib/common.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* --- the site's objects ----------------------------------------------------------------------- */

/* Without a file: a queue with the cluster's GPUs. */
static enum gsim_status default_objects(struct gsim_kueue *conf, struct gsim_ctx *ctx) {
    *conf = (struct gsim_kueue){.n_flavors = 1, .n_queues = 1, .n_nodes = 1};
    conf->flavor = gsim_arena_alloc(ctx->arena, sizeof *conf->flavor);
    conf->node = gsim_arena_alloc(ctx->arena, sizeof *conf->node);
    struct gsim_kueue_quota *quota = gsim_arena_alloc(ctx->arena, sizeof *quota);
    uint32_t *flavor = gsim_arena_alloc(ctx->arena, sizeof *flavor);
    if (!conf->flavor || !conf->node || !quota || !flavor)
        return gsim_no_memory(ctx->log, "opening queues");
    conf->flavor->name = "any";
    *quota = (struct gsim_kueue_quota){
        .is_there = true, .nominal = ctx->view->cluster.n_gpus, .borrowing = -1, .lending = -1};
    *conf->node = (struct gsim_kueue_node){.name = "all",
                                           .parent = GSIM_KUEUE_NONE,
                                           .quota = quota,
                                           .flavor = flavor,
                                           .n_flavors = 1,
                                           .threshold = INT64_MAX};
    return GSIM_OK;
}

static enum gsim_status read_conf(struct gsim_kueue_state *state, struct gsim_ctx *ctx) {
    enum { MOST_FLAVORS = 64 };
    const char *path = gsim_param_full(ctx->params, "conf")->text;
    if (!*path)
        return default_objects(&state->conf, ctx);
    enum gsim_status status = gsim_kueue_read(path, ctx->arena, &state->conf, ctx->log);
    if (status != GSIM_OK)
        return status;
    gsim_kueue_warn(&state->conf, ctx->log);
    return state->conf.n_flavors <= MOST_FLAVORS
               ? GSIM_OK
               : gsim_fail(ctx->log, GSIM_BAD_INPUT, path, 0, "the site has more than 64 flavors");
}

/* --- flavors and nodes ------------------------------------------------------------------------ */

/* Whether a label such as NVIDIA-A100-SXM4-80GB has the word, in any case. */
static bool has_word(const char *label, const char *word, size_t length) {
    for (const char *at = label; *at;) {
        size_t n = 0;
        while (isalnum((unsigned char)at[n]))
            n++;
        if (n == length && strncasecmp(at, word, n) == 0)
            return true;
        at += n > 0 ? n : 1;
    }
    return false;
}

/* Device h100-sxm is of a flavor with the name or a label h100-sxm, or with the word h100. */
static bool names_device(const struct gsim_kueue_flavor *flavor, const char *device,
                         bool is_exact) {
    size_t stem = strcspn(device, "-");
    bool is_named =
        is_exact ? strcasecmp(flavor->name, device) == 0 : has_word(flavor->name, device, stem);
    for (uint32_t l = 0; l < flavor->n_labels; l++)
        is_named |= is_exact ? strcasecmp(flavor->label[l], device) == 0
                             : has_word(flavor->label[l], device, stem);
    return is_named;
}

static uint32_t mark_nodes(struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                           uint32_t flavor, bool is_exact) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t n = 0;
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        const char *device = gsim_ask_device(ctx, cluster->type[cluster->node_first_gpu[node]]);
        bool is_of = device && names_device(&state->conf.flavor[flavor], device, is_exact);
        state->is_of[(size_t)flavor * cluster->n_nodes + node] = is_of;
        n += is_of;
    }
    return n;
}

static bool count_gpus(struct gsim_kueue_state *state, struct gsim_ctx *ctx) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t n = state->conf.n_flavors;
    state->gpus_of_flavor =
        gsim_arena_array(ctx->arena, (size_t)n + 1, sizeof *state->gpus_of_flavor);
    for (uint32_t f = 0; state->gpus_of_flavor && f < n; f++)
        for (uint32_t node = 0; node < cluster->n_nodes; node++)
            if (state->is_of[(size_t)f * cluster->n_nodes + node])
                state->gpus_of_flavor[f] +=
                    cluster->node_first_gpu[node + 1] - cluster->node_first_gpu[node];
    return state->gpus_of_flavor != NULL;
}

/* A flavor that names no device of the cluster is of all nodes. */
static enum gsim_status find_nodes(struct gsim_kueue_state *state, struct gsim_ctx *ctx) {
    uint32_t n_nodes = ctx->view->cluster.n_nodes;
    state->is_of = gsim_arena_array(ctx->arena, (size_t)state->conf.n_flavors * n_nodes + 1,
                                    sizeof *state->is_of);
    if (!state->is_of)
        return gsim_no_memory(ctx->log, "opening queues");
    for (uint32_t f = 0; f < state->conf.n_flavors; f++) {
        if (mark_nodes(state, ctx, f, true) > 0 || mark_nodes(state, ctx, f, false) > 0)
            continue;
        memset(&state->is_of[(size_t)f * n_nodes], true, n_nodes);
        if (state->conf.n_flavors > 1 || state->conf.flavor[f].n_labels > 0)
            gsim_warn(ctx->log, state->conf.path, 0,
                      "no node has GPUs of flavor '%.64s', by its name or nodeLabels; its quota "
                      "is of all nodes",
                      state->conf.flavor[f].name);
    }
    return count_gpus(state, ctx) ? GSIM_OK : gsim_no_memory(ctx->log, "opening queues");
}

/* --- the trace's queues ----------------------------------------------------------------------- */

static enum gsim_status refuse_queue(const struct gsim_kueue_state *state, struct gsim_ctx *ctx,
                                     uint32_t job, const char *name) {
    const struct gsim_kueue *conf = &state->conf;
    const char *path = ctx->view->trace->path;
    int64_t line = gsim_trace_line(ctx->view->trace, job);
    if (name && gsim_kueue_queue(conf, name) == GSIM_KUEUE_SEVERAL)
        return gsim_fail(ctx->log, GSIM_BAD_INPUT, path, line,
                         "queue '%.64s': several namespaces of %.128s have a LocalQueue of that "
                         "name, of several ClusterQueues; name it as namespace/%.64s",
                         name, conf->path, name);
    return gsim_fail(ctx->log, GSIM_BAD_INPUT, path, line,
                     "%s%.64s%s; %.128s has %u ClusterQueues, such as '%.64s'%s",
                     name ? "queue '" : "the job names no queue", name ? name : "",
                     name ? "' is not there" : "", conf->path, conf->n_queues, conf->node[0].name,
                     name ? "" : " (--assume queue=NAME names one for all jobs)");
}

/* A file with one queue needs no column. */
static enum gsim_status name_queues(struct gsim_kueue_state *state, struct gsim_ctx *ctx) {
    const struct gsim_trace *trace = ctx->view->trace;
    const struct gsim_names *names = &trace->names[GSIM_COL_QUEUE];
    state->queue_of = gsim_arena_array(ctx->arena, names->n + 1u, sizeof *state->queue_of);
    if (!state->queue_of)
        return gsim_no_memory(ctx->log, "opening queues");
    for (uint32_t n = 0; n < names->n; n++)
        state->queue_of[n] = state->conf.path ? gsim_kueue_queue(&state->conf, names->name[n]) : 0;
    for (uint32_t job = 0; job < trace->n_jobs && state->conf.path; job++) {
        int64_t name = gsim_trace_get(trace, GSIM_COL_QUEUE, job);
        if (name < 0 ? state->conf.n_queues > 1 : state->queue_of[name] >= state->conf.n_queues)
            return refuse_queue(state, ctx, job, name < 0 ? NULL : names->name[name]);
    }
    return GSIM_OK;
}

static void read_preemption(struct gsim_kueue_state *state, struct gsim_ctx *ctx) {
    enum { AUTO = 0 };
    state->preemption = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    if (gsim_param(ctx->params, "preempt") == AUTO)
        state->preemption =
            (struct gsim_preemption){.stop = GSIM_STOP_SAVE, .keep = GSIM_KEEP_DISCARD};
}

/* Whether a job may have the memory that it takes on some nodes, and not on others. */
static bool differs_in_memory(const struct gsim_view_cluster *cluster) {
    for (uint32_t node = 0; node < cluster->n_nodes && cluster->room == GSIM_ROOM_SCARCE; node++)
        if (cluster->hbm_bytes[cluster->node_first_gpu[node]] != cluster->hbm_bytes[0])
            return true;
    return false;
}

static enum gsim_status open_kueue(struct gsim_ctx *ctx) {
    struct gsim_kueue_state *state = ctx->state;
    read_preemption(state, ctx);
    state->has_kinds = gsim_ask_has_wishes(ctx->view) || differs_in_memory(&ctx->view->cluster);
    enum gsim_status status = read_conf(state, ctx);
    if (status == GSIM_OK && !gsim_kueue_quota_open(state, ctx->arena))
        status = gsim_no_memory(ctx->log, "opening queues");
    if (status == GSIM_OK)
        status = find_nodes(state, ctx);
    if (status == GSIM_OK)
        status = name_queues(state, ctx);
    if (status == GSIM_OK)
        status = gsim_kueue_jobs_open(state, ctx);
    return status == GSIM_OK ? ctx->status : status;
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* GPUs of the flavor that the job may have, whether free or not. */
static uint64_t gpus_of(const struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                        gsim_slot slot, uint32_t flavor) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint64_t n = 0;
    if (!state->has_kinds)
        return state->gpus_of_flavor[flavor];
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        uint32_t first = cluster->node_first_gpu[node];
        if (state->is_of[(size_t)flavor * cluster->n_nodes + node] &&
            gsim_ask_may_use(ctx, slot, first) && gsim_common_has_memory(ctx, slot, first))
            n += cluster->node_first_gpu[node + 1] - first;
    }
    return n;
}

static void describe(const struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                     gsim_slot slot) {
    const struct gsim_trace *trace = ctx->view->trace;
    struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    uint32_t index = ctx->view->jobs.index[slot], gpus = ctx->view->jobs.gpus[slot];
    int64_t name = gsim_trace_get(trace, GSIM_COL_QUEUE, index);
    *job = (struct gsim_kueue_job){.queue = name < 0 ? 0 : state->queue_of[name]};
    job->priority = trace->column[GSIM_COL_PRIORITY] ? trace->column[GSIM_COL_PRIORITY][index] : 0;
    for (uint32_t i = 0; i < state->conf.node[job->queue].n_flavors; i++) {
        uint32_t f = state->conf.node[job->queue].flavor[i];
        if (gpus <= gsim_kueue_quota_most(state, job->queue, f) &&
            gpus <= gpus_of(state, ctx, slot, f))
            job->may_have |= UINT64_C(1) << f;
    }
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_kueue_state *state = ctx->state;
    if (gsim_kueue_job(ctx, slot)->phase != GSIM_KUEUE_PENDING)
        gsim_kueue_give_quota(state, ctx, slot);
}

/* A job that no quota, or no flavor's nodes, could ever hold would wait for ever. */
static void arrive(struct gsim_kueue_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                   gsim_slot slot) {
    describe(state, ctx, slot);
    gsim_kueue_job(ctx, slot)->nth = state->n_arrived++;
    gsim_kueue_job(ctx, slot)->arrived_s = ctx->view->now_ns / GSIM_NS_PER_S;
    const struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    if (job->may_have) {
        gsim_kueue_pend(state, ctx, slot);
        return;
    }
    gsim_warn(ctx->log, ctx->view->trace->path,
              gsim_trace_line(ctx->view->trace, ctx->view->jobs.index[slot]),
              "ClusterQueue '%.64s' can never admit a job of %u GPUs; it is declined",
              state->conf.node[job->queue].name, ctx->view->jobs.gpus[slot]);
    (void)gsim_plan_decline(plan, slot);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_kueue_state *state = ctx->state;
    const struct gsim_view_changes *changes = &ctx->view->changes;
    for (uint32_t i = 0; i < changes->n_settled; i++)
        gsim_kueue_settle(state, ctx, plan, changes->settled[i]);
    for (uint32_t i = 0; i < changes->n_arrived && ctx->status == GSIM_OK; i++)
        arrive(state, ctx, plan, changes->arrived[i]);
    if (state->is_due && ctx->status == GSIM_OK)
        gsim_kueue_admit(state, ctx, plan);
    state->is_due = false;
    gsim_kueue_place(state, ctx, plan);
}

static const struct gsim_param_def params[] = {
    {.name = "conf",
     .type = GSIM_PARAM_FILE,
     .fallback = "",
     .help = "the site's objects, as kubectl get resourceflavors,cohorts,clusterqueues,localqueues "
             "-A -o yaml prints them (--kueue-conf); without it a queue with all GPUs"},
    GSIM_PREEMPT_PARAM_AS("discard, since the pods of an evicted job are deleted and it begins "
                          "anew"),
    {0}};

const struct gsim_policy gsim_policy_kueue = {
    .name = "kueue",
    .summary =
        "Kueue, quotas and cohorts of Kubernetes, as a site has configured it (--kueue-conf)",
    .paper = "Kueue 0.20: documentation of ClusterQueue, Cohort and Preemption",
    .deviations = "GPUs are the only resource; no fair sharing, admission checks, partial "
                  "admission, topology or timeouts; a flavor search begins with the first; cycles "
                  "take no time; shares of a GPU take a whole one",
    .params = params,
    .state_size = sizeof(struct gsim_kueue_state),
    .job_size = sizeof(struct gsim_kueue_job),
    .open = open_kueue,
    .on_completion = on_completion,
    .decide = decide,
};
