/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gangs on GPUs whose memory is managed: the arbiter of the first GPU takes the memory of the others in
 * (models/wings.h) while the gang is there. */
#include <assert.h>

#include "models/machine.h"

static struct gsim_tenant *left_on(struct gsim_turner *turner, uint32_t gpu) {
    for (uint16_t i = 0; turner->is_parked && i < turner->n_wings_left; i++)
        if (turner->wings_left[i].gpu == gpu)
            return &turner->wings_left[i].tenant;
    return NULL;
}

static bool reserve(struct gsim_model *model, struct gsim_turner *turner, uint32_t n) {
    if (n <= turner->wings_capacity)
        return true;
    struct gsim_wing_left *grown =
        gsim_arena_grow(model->setup.arena, turner->wings_left,
                        turner->wings_capacity * sizeof *grown, n * sizeof *grown);
    if (!grown)
        return false;
    turner->wings_left = grown;
    turner->wings_capacity = (uint16_t)n;
    return true;
}

bool gsim_gangs_gather(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    struct gsim_turns *turns = &model->turns;
    struct gsim_turner *turner = &turns->by_slot[slot];
    uint32_t first = about->units[0].gpu;
    turner->n_gpus = (uint16_t)about->n_units;
    assert(turns->taken_by[first] == 0);
    if (about->n_units == 1 || about->share_ppm < GSIM_PPM ||
        !gsim_turns_pages((enum gsim_memory)model->gpus[first].memory))
        return true;
    for (uint32_t u = 1; u < about->n_units; u++) {
        uint32_t gpu = about->units[u].gpu;
        struct gsim_arbiter *other = gsim_turns_arbiter(model, gpu);
        if (!other || !reserve(model, turner, about->n_units) ||
            !gsim_arbiter_take_in(turns->of_gpu[first], other, gpu, left_on(turner, gpu), now_ns))
            return false;
        turns->taken_by[gpu] = first + 1;
    }
    return true;
}

void gsim_gangs_scatter(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    struct gsim_turns *turns = &model->turns;
    struct gsim_turner *turner = &turns->by_slot[slot];
    turner->n_wings_left = 0;
    for (uint32_t u = about->n_units; u-- > 1;) {
        uint32_t gpu = about->units[u].gpu;
        if (turns->taken_by[gpu] == 0)
            continue;
        assert(turns->taken_by[gpu] == turner->gpu + 1);
        struct gsim_tenant left =
            gsim_arbiter_give_back(turns->of_gpu[turner->gpu], turns->of_gpu[gpu], now_ns);
        turns->taken_by[gpu] = 0;
        if (turner->is_parked)
            turner->wings_left[turner->n_wings_left++] = (struct gsim_wing_left){gpu, left};
    }
}

void gsim_gangs_free(struct gsim_model *model, struct gsim_tenant *parked, uint32_t gpu,
                     int64_t now_ns) {
    struct gsim_turns *turns = &model->turns;
    uint32_t keeper = turns->taken_by[gpu] ? turns->taken_by[gpu] - 1 : gpu;
    gsim_arbiter_drop(turns->of_gpu[keeper], parked, gpu, now_ns);
    gsim_outlook_anew(turns, keeper, now_ns);
}

void gsim_gangs_drop(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_turner *turner = &model->turns.by_slot[slot];
    for (uint16_t i = 0; i < turner->n_wings_left; i++)
        gsim_gangs_free(model, &turner->wings_left[i].tenant, turner->wings_left[i].gpu, now_ns);
    turner->n_wings_left = 0;
}
