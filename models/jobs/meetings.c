/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A gang on several nodes that has GPUs on one with another such gang runs at gang.met_ppm of its
 * speed, however many it meets and wherever: it waits for its slowest part. That is the
 * interference of Pollux' simulator (Qiao et al., OSDI 2021, section 5.3), where a gang counts
 * from when it is given its GPUs, so that one that still loads slows others too. Gangs that
 * take turns on their GPUs neither slow others nor are slowed. */
#include "models/jobs/meetings.h"

#include <string.h>

#include "models/jobs/shared_gpus.h"
#include "models/jobs/speed.h"

struct gsim_meeting {
    gsim_slot slot;
    uint32_t n_nodes, *node;
};

bool gsim_meetings_init(struct gsim_model *model) {
    const struct gsim_model_setup *setup = &model->setup;
    for (uint16_t type = 0; type < setup->n_profiles; type++)
        model->meetings.is_open |= setup->profiles[type]->value[GSIM_KEY_GANG_MET_PPM] != GSIM_PPM;
    if (!model->meetings.is_open)
        return true;
    model->meetings.gangs_of_node =
        gsim_arena_array(setup->arena, setup->wiring.n_nodes, sizeof(uint32_t));
    /* a gang on several nodes has two GPUs at least */
    model->meetings.gang =
        gsim_arena_array(setup->arena, setup->n_gpus / 2 + 1, sizeof *model->meetings.gang);
    return model->meetings.gangs_of_node && model->meetings.gang;
}

static bool is_met(const struct gsim_meetings *meetings, const struct gsim_meeting *gang) {
    for (uint32_t n = 0; n < gang->n_nodes; n++)
        if (meetings->gangs_of_node[gang->node[n]] > 1)
            return true;
    return false;
}

static void tell_all(struct gsim_model *model, int64_t now_ns) {
    for (uint32_t i = 0; i < model->meetings.n_gangs; i++) {
        const struct gsim_meeting *gang = &model->meetings.gang[i];
        struct gsim_machine_job *job = &model->jobs[gang->slot];
        bool was_met = job->is_met;
        job->is_met = is_met(&model->meetings, gang);
        if (job->is_met == was_met || (job->phase != RUNNING && job->phase != STOPPING))
            continue;
        gsim_machine_set_rate(model, gang->slot, model->progress[gang->slot].rate_q32, now_ns);
        gsim_speed_take(model, gang->slot);
        gsim_machine_expect_progress(model, gang->slot);
    }
}

/* The nodes of a job's units, each once. */
static uint32_t find_nodes(const struct gsim_model *model, const struct gsim_job *about,
                           uint32_t *node) {
    uint32_t n = 0;
    for (uint32_t u = 0; u < about->n_units; u++) {
        uint32_t at = 0, here = model->setup.wiring.node_of_gpu[about->units[u].gpu];
        while (at < n && node[at] != here)
            at++;
        node[at] = here;
        n += at == n;
    }
    return n;
}

static void join(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_meetings *meetings = &model->meetings;
    struct gsim_meeting *gang = &meetings->gang[meetings->n_gangs];
    uint32_t n_nodes = model->setup.wiring.n_nodes;
    if (!gang->node)
        gang->node = gsim_arena_array(model->setup.arena, n_nodes, sizeof *gang->node);
    if (!gang->node) {
        model->is_out_of_memory = true;
        return;
    }
    gang->slot = slot;
    gang->n_nodes = find_nodes(model, gsim_machine_info(model, slot), gang->node);
    if (gang->n_nodes < 2)
        return;
    for (uint32_t n = 0; n < gang->n_nodes; n++)
        meetings->gangs_of_node[gang->node[n]]++;
    meetings->n_gangs++;
    tell_all(model, now_ns);
}

void gsim_meetings_add(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    if (about->n_units > 1 && !about->is_on_one_node && !gsim_machine_takes_turns(model, slot))
        join(model, slot, now_ns);
}

static void leave_meeting(struct gsim_model *model, uint32_t at, int64_t now_ns) {
    struct gsim_meetings *meetings = &model->meetings;
    struct gsim_meeting gone = meetings->gang[at];
    for (uint32_t n = 0; n < gone.n_nodes; n++)
        meetings->gangs_of_node[gone.node[n]]--;
    meetings->n_gangs--;
    memmove(&meetings->gang[at], &meetings->gang[at + 1],
            (meetings->n_gangs - at) * sizeof *meetings->gang);
    meetings->gang[meetings->n_gangs] = (struct gsim_meeting){.node = gone.node};
    model->jobs[gone.slot].is_met = false;
    tell_all(model, now_ns);
}

void gsim_meetings_remove(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    for (uint32_t i = 0; i < model->meetings.n_gangs; i++)
        if (model->meetings.gang[i].slot == slot) {
            leave_meeting(model, i, now_ns);
            return;
        }
}
