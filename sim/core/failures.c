/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that fail and are repaired. Each node draws its times from a random stream of its own, so
 * they are the same whatever the policy does: exponential ones between a repair and the next failure
 * and from a failure until the repair. A failed node loses its jobs (states.c says what becomes of
 * them) and has no capacity until it is repaired. */
#include "sim/core/core.h"

#include <stdio.h>

#include "sim/base/rng.h"

static int64_t draw_ns(gsl_rng *rng, int64_t mean_ns) {
    gsim_i128 ns = (gsim_i128)mean_ns * gsim_rng_exponential_q32(rng) >> 32;
    if (ns > GSIM_TIME_MAX)
        return GSIM_TIME_MAX;
    return ns > 0 ? (int64_t)ns : 1;
}

static void expect(struct gsim_core *core, uint32_t node, int64_t mean_ns) {
    struct gsim_failures *failures = &core->failures;
    int64_t at_ns = core->view.now_ns + draw_ns(failures->rng[node], mean_ns);
    gsim_eventq_set(&failures->queue, node, at_ns < GSIM_TIME_MAX ? at_ns : GSIM_TIME_MAX, node);
}

enum gsim_status gsim_failures_open(struct gsim_core *core) {
    const struct gsim_run_options *options = core->options;
    struct gsim_failures *failures = &core->failures;
    uint32_t n = core->cluster.n_nodes;
    gsim_eventq_init(&failures->queue, core->arena);
    if (options->mtbf_ns == 0)
        return GSIM_OK;
    if (core->cluster.is_pool || !core->compat->knows_nodes)
        return gsim_fail(core->log, GSIM_USAGE, NULL, 0,
                         "--mtbf: reference simulators know no nodes that fail");
    if (core->trace->column[GSIM_COL_REQUESTS])
        return gsim_fail(core->log, GSIM_BAD_INPUT, core->trace->path, 0,
                         "--mtbf: open-loop jobs (column 'requests') cannot be restarted");
    failures->rng = gsim_arena_array(core->arena, n, sizeof *failures->rng);
    if (!failures->rng || !gsim_eventq_reserve(&failures->queue, n))
        return gsim_core_no_memory(core);
    failures->n_rng = n;
    for (uint32_t node = 0; node < n; node++) {
        char name[32];
        (void)snprintf(name, sizeof name, "failures of node %u", node);
        failures->rng[node] = gsim_rng_stream((uint64_t)options->seed, options->replication, name);
        if (!failures->rng[node])
            return gsim_core_no_memory(core);
        expect(core, node, options->mtbf_ns);
    }
    return GSIM_OK;
}

void gsim_failures_close(struct gsim_core *core) {
    for (uint32_t node = 0; node < core->failures.n_rng; node++)
        if (core->failures.rng[node])
            gsl_rng_free(core->failures.rng[node]);
    core->failures.n_rng = 0;
}

static bool has_unit_of(const struct gsim_core *core, uint32_t node, const struct gsim_unit *units,
                        uint32_t n_units) {
    for (uint32_t u = 0; u < n_units; u++)
        if (core->cluster.node_of_gpu[units[u].gpu] == node)
            return true;
    return false;
}

/* Whether something of the job is on the node: it runs there, is on its way there or from there, or
 * its memory stays there or in the memory of its host. */
static bool is_hit(const struct gsim_core *core, gsim_slot slot, uint32_t node) {
    const struct gsim_core_job *own = &core->jobs.core[slot];
    const struct gsim_job *job = &core->jobs.info[slot];
    enum gsim_state state = core->jobs.state[slot];
    bool keeps_there =
        state == GSIM_PAUSED ||
        (state == GSIM_HELD && own->keep != GSIM_KEEP_STORAGE && own->keep != GSIM_KEEP_DISCARD);
    return has_unit_of(core, node, job->units, job->n_units) ||
           has_unit_of(core, node, own->next_units, own->n_next_units) ||
           (keeps_there && has_unit_of(core, node, job->left_units, job->n_left_units));
}

static void fail(struct gsim_core *core, uint32_t node) {
    uint32_t n_active = core->view.jobs.n_active; /* those that are resubmitted come behind */
    for (uint32_t i = 0; i < n_active && core->status == GSIM_OK; i++) {
        gsim_slot slot = core->view.jobs.active[i];
        if (core->jobs.state[slot] != GSIM_DONE && is_hit(core, slot, node))
            gsim_job_fail(core, slot);
    }
    if (core->status != GSIM_OK)
        return;
    gsim_cluster_set_down(&core->cluster, node, true);
    core->metrics.n_node_failures++;
    core->view.cluster.n_failures++;
    expect(core, node, core->options->mttr_ns);
}

void gsim_failures_serve(struct gsim_core *core) {
    struct gsim_failures *failures = &core->failures;
    while (core->status == GSIM_OK && gsim_eventq_next(&failures->queue) <= core->view.now_ns) {
        struct gsim_event_key key;
        uint32_t node = gsim_eventq_pop(&failures->queue, &key);
        core->has_changed = true;
        core->metrics.n_events++;
        if (!core->cluster.node_is_down[node]) {
            fail(core, node);
            continue;
        }
        gsim_cluster_set_down(&core->cluster, node, false);
        core->view.cluster.n_repairs++;
        expect(core, node, core->options->mtbf_ns);
    }
}
