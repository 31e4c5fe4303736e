/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The baseline that Muri's simulator names after AntMan (Xiao et al., OSDI 2020), and marks "NOT
 * FINISHED" (simulator/run_sim.py and switch.py). Guaranteed jobs come first, by their submission.
 * One that does not fit reserves the free GPUs of the node with the most, and waits for the rest
 * there; one wider than a node reserves whole nodes. An opportunistic job, a guest here, takes the
 * least used GPUs, at most one on each. No job gives GPUs up before its end. Beside a guaranteed
 * job a guest makes an iteration in as many of that job's as its stages take there.
 *
 * The oddities are kept: memory of a node that a job reserves in two steps is given back but once,
 * and what GPUs count as used is a sum of decimals. */
#include "policies/muri/antman.h"

#include "policies/muri/room.h"

/* Uses of a GPU: of a guaranteed job in two steps, and of a guest; a guest goes where there is
 * less. */
static const double reserved = 0.1 - 0.01, begun = 0.01, guaranteed = 0.1, guest = 0.9, most = 0.8;
/* GB: of a node (cluster_spec/n8g8.csv), of a job on one node, and more of each GPU of one on
 * several. */
static const double node_gb = 520, worker_gb = 5, servers_gb = 6, server_gb = 0.1;

struct place {
    uint32_t guaranteed, guest; /* jobs */
    double use;
};

struct muri_antman {
    struct place *place; /* by GPU */
    double *free_gb; /* by node */
    uint32_t *n_free; /* by node: GPUs that no guaranteed job has */
    uint32_t n_open; /* GPUs for guests */
    struct {
        uint32_t n; /* GPUs in job->wanted */
        uint32_t node; /* of a job on one node */
        /* GB that the end of the job gives back, by node; NULL: the job is on one node */
        double *taken_gb;
        double node_gb;
    } * job;
    uint32_t *list; /* scratch, by GPU */
};

enum gsim_status muri_antman_open(struct gsim_ctx *ctx, struct muri *muri) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    struct muri_antman *antman = gsim_arena_array(ctx->arena, 1, sizeof *antman);
    muri->antman = antman;
    if (!antman)
        return gsim_no_memory(ctx->log, "opening muri");
    antman->place = gsim_arena_array(ctx->arena, muri->n_gpus, sizeof *antman->place);
    antman->free_gb = gsim_arena_array(ctx->arena, cluster->n_nodes, sizeof *antman->free_gb);
    antman->n_free = gsim_arena_array(ctx->arena, cluster->n_nodes, sizeof *antman->n_free);
    antman->job = gsim_arena_array(ctx->arena, muri->n_jobs, sizeof *antman->job);
    antman->list = gsim_arena_array(ctx->arena, muri->n_gpus, sizeof *antman->list);
    if (!antman->place || !antman->free_gb || !antman->n_free || !antman->job || !antman->list)
        return gsim_no_memory(ctx->log, "opening muri");
    for (uint32_t gpu = 0; gpu < muri->n_gpus; gpu++)
        antman->place[gpu].guaranteed = antman->place[gpu].guest = MURI_NONE;
    antman->n_open = muri->n_gpus;
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        antman->free_gb[node] = node_gb;
        antman->n_free[node] = cluster->node_first_gpu[node + 1] - cluster->node_first_gpu[node];
    }
    for (uint32_t i = 0; i < muri->n_jobs; i++) {
        if (muri->job[i].is_guest || muri->job[i].gpus <= cluster->widest_node)
            continue;
        antman->job[i].taken_gb =
            gsim_arena_array(ctx->arena, cluster->n_nodes, sizeof *antman->job[i].taken_gb);
        if (!antman->job[i].taken_gb)
            return gsim_no_memory(ctx->log, "opening muri");
        if (muri->job[i].gpus % cluster->widest_node > 0)
            return gsim_fail(ctx->log, GSIM_BAD_INPUT, ctx->view->trace->path,
                             gsim_trace_line(ctx->view->trace, i),
                             "muri: rule=antman has gangs wider than a node on whole nodes; %u "
                             "GPUs are no multiple of %u",
                             muri->job[i].gpus, cluster->widest_node);
    }
    return GSIM_OK;
}

static void add_use(struct muri_antman *antman, uint32_t gpu, double more) {
    antman->n_open -= antman->place[gpu].use < most;
    antman->place[gpu].use += more;
    antman->n_open += antman->place[gpu].use < most;
}

/* --- guaranteed jobs -------------------------------------------------------------------------- */

static void reserve(struct muri *muri, uint32_t number, uint32_t node, uint32_t n) {
    const struct gsim_view_cluster *cluster = muri->room.cluster;
    struct muri_antman *antman = muri->antman;
    antman->n_free[node] -= n;
    for (uint32_t gpu = cluster->node_first_gpu[node]; n > 0; gpu++) {
        if (antman->place[gpu].guaranteed != MURI_NONE)
            continue;
        antman->place[gpu].guaranteed = number;
        add_use(antman, gpu, reserved);
        muri->job[number].wanted[antman->job[number].n++] = (struct gsim_unit){.gpu = gpu};
        n--;
    }
}

static bool begin(struct muri *muri, uint32_t number) {
    struct muri_job *job = &muri->job[number];
    for (uint32_t u = 0; u < job->gpus; u++)
        add_use(muri->antman, job->wanted[u].gpu, begun);
    return true;
}

/* The first node with room; else the free GPUs of the node with the most. */
static bool place_first(struct muri *muri, uint32_t number) {
    struct muri_antman *antman = muri->antman;
    uint32_t gpus = muri->job[number].gpus, best = MURI_NONE, n_best = 0;
    for (uint32_t node = 0; node < muri->room.cluster->n_nodes; node++) {
        uint32_t n = antman->n_free[node];
        bool fits = n >= gpus && antman->free_gb[node] >= worker_gb;
        if (fits || n > n_best) {
            best = node;
            n_best = n;
        }
        if (fits)
            break;
    }
    if (best == MURI_NONE)
        return false;
    bool fits = n_best >= gpus && antman->free_gb[best] >= worker_gb;
    antman->job[number].node = best;
    antman->job[number].node_gb = worker_gb;
    antman->free_gb[best] -= worker_gb;
    reserve(muri, number, best, fits ? gpus : n_best < gpus ? n_best : gpus);
    return fits && begin(muri, number);
}

static bool place_rest(struct muri *muri, uint32_t number) {
    struct muri_antman *antman = muri->antman;
    uint32_t node = antman->job[number].node, n = antman->n_free[node];
    uint32_t rest = muri->job[number].gpus - antman->job[number].n;
    if (n < rest || antman->free_gb[node] < worker_gb) {
        reserve(muri, number, node, n);
        return false;
    }
    antman->free_gb[node] -= worker_gb; /* and never given back */
    reserve(muri, number, node, rest);
    return begin(muri, number);
}

/* A gang on whole nodes keeps those that are free, until it has them all. */
static bool place_wide(struct muri *muri, uint32_t number) {
    struct muri_antman *antman = muri->antman;
    uint32_t widest = muri->room.cluster->widest_node;
    uint32_t rest = muri->job[number].gpus - antman->job[number].n, n_nodes = rest / widest;
    double each_gb = (servers_gb + rest * server_gb + worker_gb) * widest;
    for (uint32_t node = 0; node < muri->room.cluster->n_nodes && n_nodes > 0; node++) {
        if (antman->n_free[node] < widest || antman->free_gb[node] < each_gb)
            continue;
        antman->free_gb[node] -= each_gb;
        antman->job[number].taken_gb[node] += each_gb;
        reserve(muri, number, node, widest);
        n_nodes--;
    }
    return n_nodes == 0 && begin(muri, number);
}

/* --- guests ----------------------------------------------------------------------------------- */

/* Lists that many of the least used GPUs, of equals the first. */
static void list_open(const struct muri *muri, uint32_t wanted) {
    const struct muri_antman *antman = muri->antman;
    uint32_t n = 0;
    for (uint32_t gpu = 0; gpu < muri->n_gpus; gpu++) {
        double use = antman->place[gpu].use;
        if (!(use < most) || (n == wanted && !(use < antman->place[antman->list[n - 1]].use)))
            continue;
        uint32_t at = n < wanted ? n++ : n - 1;
        for (; at > 0 && use < antman->place[antman->list[at - 1]].use; at--)
            antman->list[at] = antman->list[at - 1];
        antman->list[at] = gpu;
    }
}

/* Takes memory of each node that has some of the guest's GPUs. */
static void charge_nodes(struct muri *muri, uint32_t number, double gb) {
    const struct muri_job *job = &muri->job[number];
    for (uint32_t u = 0; u < job->gpus; u++) {
        uint32_t node = muri->room.cluster->node_of_gpu[job->wanted[u].gpu], v = 0;
        while (muri->room.cluster->node_of_gpu[job->wanted[v].gpu] != node)
            v++;
        if (v == u)
            muri->antman->free_gb[node] += gb;
    }
}

static bool place_guest(struct muri *muri, uint32_t number) {
    struct muri_antman *antman = muri->antman;
    struct muri_job *job = &muri->job[number];
    if (antman->n_open < job->gpus)
        return false;
    list_open(muri, job->gpus);
    for (uint32_t u = 0; u < job->gpus; u++) {
        uint32_t gpu = antman->list[u];
        add_use(antman, gpu, guest);
        antman->place[gpu].guest = number;
        job->wanted[u] = (struct gsim_unit){.gpu = gpu};
    }
    antman->job[number].n = job->gpus;
    charge_nodes(muri, number, -worker_gb);
    return true;
}

/* a mod b, exactly: each difference of numbers within a factor of two is. */
static double remainder_of(double a, double b) {
    while (a >= b) {
        double times = b;
        while (times <= a / 2)
            times *= 2;
        a -= times;
    }
    return a;
}

static double floor_of(double x) {
    return (double)(int64_t)x;
}

static double least(double a, double b) {
    return b < a ? b : a;
}

/* The iterations of a guaranteed job that pass while the guest makes one. */
static double iterations_beside(struct gsim_stages own, const struct gsim_stages *other) {
    double no_load = other->gpu + other->net, no_gpu = other->host + other->net;
    double no_net = other->host + other->gpu, n = floor_of(own.host / no_load);
    double extra = remainder_of(own.host, no_load);
    if (extra > 0) {
        n += 1;
        own.gpu -= least(least(own.gpu, other->net), no_load - extra);
    }
    n += floor_of(own.gpu / no_gpu);
    extra = remainder_of(own.gpu, no_gpu);
    if (extra > 0) {
        n += 1;
        if (extra < other->host)
            own.net -= least(own.net, no_net - extra);
    }
    n += floor_of(own.net / no_net);
    return remainder_of(own.net, no_net) > other->host ? n + 1 : n;
}

static double time_of_guest(const struct muri *muri, const struct muri_job *job) {
    double time = job->iteration;
    for (uint32_t u = 0; u < job->gpus; u++) {
        uint32_t number = muri->antman->place[job->wanted[u].gpu].guaranteed;
        const struct muri_job *other = number == MURI_NONE ? NULL : &muri->job[number];
        if (!other || muri->antman->job[number].n < other->gpus)
            continue;
        double beside = iterations_beside(job->stages, &other->stages) * other->iteration;
        time = beside > time ? beside : time;
    }
    return time;
}

/* --- an event --------------------------------------------------------------------------------- */

static bool place(struct muri *muri, uint32_t number) {
    const struct muri_job *job = &muri->job[number];
    if (job->is_guest)
        return place_guest(muri, number);
    if (job->gpus > muri->room.cluster->widest_node)
        return place_wide(muri, number);
    return muri->antman->job[number].n == 0 ? place_first(muri, number) : place_rest(muri, number);
}

static bool goes_before(const struct muri *muri, uint32_t a, uint32_t b) {
    const struct muri_job *one = &muri->job[a], *other = &muri->job[b];
    if (one->is_guest != other->is_guest)
        return other->is_guest;
    return one->submit < other->submit || (one->submit == other->submit && a < b);
}

static void sort_queue(struct muri *muri) {
    for (uint32_t i = 1; i < muri->n_order; i++) {
        uint32_t number = muri->order[i], at = i;
        for (; at > 0 && goes_before(muri, number, muri->order[at - 1]); at--)
            muri->order[at] = muri->order[at - 1];
        muri->order[at] = number;
    }
}

void muri_antman(struct muri *muri) {
    sort_queue(muri);
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        job->runs = job->has_wanted = job->runs || place(muri, muri->order[i]);
    }
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        if (job->runs && job->is_guest)
            job->current = time_of_guest(muri, job);
    }
}

static void give_back(struct muri *muri, uint32_t number) {
    struct muri_antman *antman = muri->antman;
    const struct muri_job *job = &muri->job[number];
    for (uint32_t u = 0; u < job->gpus; u++) {
        uint32_t gpu = job->wanted[u].gpu;
        struct place *at = &antman->place[gpu];
        add_use(antman, gpu, job->is_guest ? -guest : -guaranteed);
        if (!job->is_guest)
            antman->n_free[muri->room.cluster->node_of_gpu[gpu]] += at->guaranteed != MURI_NONE;
        *(job->is_guest ? &at->guest : &at->guaranteed) = MURI_NONE;
    }
}

void muri_antman_release(struct muri *muri, uint32_t number) {
    struct muri_antman *antman = muri->antman;
    const struct muri_job *job = &muri->job[number];
    give_back(muri, number);
    if (job->is_guest)
        charge_nodes(muri, number, worker_gb);
    else if (!antman->job[number].taken_gb)
        antman->free_gb[antman->job[number].node] += antman->job[number].node_gb;
    for (uint32_t node = 0; antman->job[number].taken_gb && node < muri->room.cluster->n_nodes;
         node++)
        antman->free_gb[node] += antman->job[number].taken_gb[node];
}
