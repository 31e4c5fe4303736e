/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a job waits for ever, for the error that ends such a run: the first thing that it could not
 * have if it were alone on the cluster. An idle cluster is asked by the search that places jobs,
 * and the model by the question that charges speeds. */
#include "sim/base/text.h"
#include "sim/core/core.h"
#include "sim/core/search.h"

/* The request that was made for the job last; as its row says if there was none. */
static struct gsim_request request_of(const struct gsim_core *core, gsim_slot slot) {
    struct gsim_request request = core->jobs.core[slot].request;
    if (request.shape.gpus == 0)
        request.shape = gsim_shape_of(&core->view, slot, GSIM_RULE_CONSOLIDATE);
    request.shape.within = 0;
    request.on_node = 0;
    return request;
}

static uint32_t count_usable(struct gsim_cluster *idle, const struct gsim_request *request) {
    const struct gsim_search s = {.cluster = idle, .request = request};
    uint32_t n = 0;
    for (uint32_t node = 0; node < idle->n_nodes; node++)
        n += gsim_search_usable(&s, node);
    return n;
}

/* What too few GPUs have, each with all before it; NULL: enough GPUs have each. */
static const char *lacks_gpus(struct gsim_cluster *idle, const struct gsim_request *request,
                              uint32_t *n) {
    static const char *const what[] = {
        "are up", "are of its partition, type and features, on which its model can run",
        "have the memory that it needs, with the host's where GPUs page",
        "have the CPUs beside them"};
    struct gsim_request part = *request;
    part.nodes = NULL;
    part.mem_bytes = part.shape.cpus_milli = 0;
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        part.nodes = i >= 1 ? request->nodes : NULL;
        part.mem_bytes = i >= 2 ? request->mem_bytes : 0;
        part.shape.cpus_milli = i >= 3 ? request->shape.cpus_milli : 0;
        *n = count_usable(idle, &part);
        if (*n < request->shape.gpus)
            return what[i];
    }
    return NULL;
}

/* Whether the job would stand still on these units. */
static bool stands_still(struct gsim_core *core, gsim_slot slot, struct gsim_unit *units,
                         struct gsim_found found) {
    struct gsim_job *job = &core->jobs.info[slot], before = *job;
    job->units = units;
    job->n_units = found.n_units;
    job->is_on_one_node = found.is_on_one_node;
    job->host = (struct gsim_host){0};
    uint64_t pace_q32 = core->ops->pace(core->model, slot);
    *job = before;
    return pace_q32 == 0;
}

/* What the job lacks where there are enough GPUs; NULL: nothing. */
static const char *lacks_place(struct gsim_core *core, struct gsim_cluster *idle, gsim_slot slot,
                               const struct gsim_request *request) {
    struct gsim_unit *units = gsim_arena_array(core->arena, request->shape.gpus, sizeof *units);
    struct gsim_found found = {0};
    if (!units)
        return NULL;
    found = gsim_cluster_find(idle, request, units);
    if (!found.fits)
        return "no nodes have them together as its placement, and its number of nodes, ask";
    gsim_cluster_give_back(idle, request, units, found.n_units);
    bool has_table = core->trace->rates || core->trace->goodput;
    return has_table && stands_still(core, slot, units, found)
               ? "by the table of speeds its model cannot run on that number of the devices that "
                 "it would have, or with the least part of a host beside any of them"
               : NULL;
}

static const char *why(struct gsim_core *core, struct gsim_cluster *idle, gsim_slot slot) {
    struct gsim_request request = request_of(core, slot);
    const char *id = gsim_trace_id(core->trace, core->jobs.job[slot]), *text;
    uint32_t n = 0;
    const char *what = lacks_gpus(idle, &request, &n);
    if (what)
        text = gsim_arena_printf(core->arena,
                                 ". Job '%.64s' can never have its %u GPU%s: of the idle cluster's "
                                 "%u %s",
                                 id, request.shape.gpus, gsim_plural(request.shape.gpus), n, what);
    else if ((what = lacks_place(core, idle, slot, &request)) != NULL)
        text = gsim_arena_printf(core->arena, ". Job '%.64s' can never have its %u GPU%s: %s", id,
                                 request.shape.gpus, gsim_plural(request.shape.gpus), what);
    else
        return NULL;
    return text ? text : "";
}

static bool open_idle(struct gsim_core *core, struct gsim_cluster *idle) {
    if (core->cluster.is_pool ||
        gsim_cluster_open(idle, core->options->cluster, core->arena, core->log) != GSIM_OK)
        return false;
    for (uint32_t gpu = 0; gpu < idle->n_gpus; gpu++)
        idle->gpu_memory[gpu] = core->cluster.gpu_memory[gpu];
    for (uint32_t node = 0; node < idle->n_nodes; node++)
        if (core->cluster.node_is_down[node])
            gsim_cluster_set_down(idle, node, true);
    return true;
}

const char *gsim_core_why_waits(struct gsim_core *core) {
    struct gsim_cluster idle;
    const char *first = "";
    uint32_t first_nth = UINT32_MAX;
    if (!open_idle(core, &idle))
        return first;
    for (uint32_t i = 0; i < core->view.jobs.n_active; i++) {
        gsim_slot slot = core->view.jobs.active[i];
        uint32_t nth = gsim_nth(&core->view, slot);
        if (nth >= first_nth || !gsim_state_waits((enum gsim_state)core->jobs.state[slot]))
            continue;
        const char *text = why(core, &idle, slot);
        first = text ? text : first;
        first_nth = text ? nth : first_nth;
    }
    return first;
}
