/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gangs on GPUs with managed memory: the arbiter of the first GPU takes in the memory of the others
 * (models/memory/gang_memory.h) while the gang is there. And the memory that jobs have parked on
 * their GPUs, which is gone when they go on elsewhere. */
#include <assert.h>

#include "models/jobs/gang_paging.h"
#include "models/jobs/arbiters.h"
#include "models/jobs/link_shares.h"
#include "models/jobs/next_report.h"
#include "models/jobs/shared_state.h"

static struct gsim_tenant *left_on(struct gsim_shared_job *sharer, uint32_t gpu) {
    for (uint16_t i = 0; sharer->is_parked && i < sharer->n_parts_left; i++)
        if (sharer->parts_left[i].gpu == gpu)
            return &sharer->parts_left[i].tenant;
    return NULL;
}

static bool reserve_paging(struct gsim_model *model, struct gsim_shared_job *sharer, uint32_t n) {
    if (n <= sharer->parts_capacity)
        return true;
    struct gsim_gang_part_left *grown =
        gsim_arena_grow(model->setup.arena, sharer->parts_left,
                        sharer->parts_capacity * sizeof *grown, n * sizeof *grown);
    if (!grown)
        return false;
    sharer->parts_left = grown;
    sharer->parts_capacity = (uint16_t)n;
    return true;
}

/* Frees the parked memory on the job's first GPU and on the others of a gang: there, or where
 * another gang has taken it in. */
static void free_parked(struct gsim_shared *shared, struct gsim_shared_job *sharer,
                        int64_t now_ns) {
    for (uint32_t i = 0; i <= sharer->n_parts_left; i++) {
        struct gsim_gang_part_left *part = i > 0 ? &sharer->parts_left[i - 1] : NULL;
        uint32_t gpu = part ? part->gpu : sharer->gpu;
        /* its own arbiter has the memory, or that of another gang */
        uint32_t keeper = shared->taken_by[gpu] ? shared->taken_by[gpu] - 1 : gpu;
        gsim_arbiter_drop(shared->of_gpu[keeper], part ? &part->tenant : &sharer->parked.tenant,
                          gpu, now_ns);
        gsim_next_report_anew(shared, keeper, now_ns);
    }
    sharer->n_parts_left = 0;
}

void gsim_gang_paging_drop(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_shared *shared = &model->shared;
    if (gsim_mostly(slot >= shared->capacity || !shared->by_slot[slot].is_parked))
        return;
    struct gsim_shared_job *sharer = &shared->by_slot[slot];
    /* the job does not wait for these pages any more */
    sharer->before.stall_ns -= sharer->parked.stall_ns;
    sharer->sum = sharer->before;
    gsim_link_shares_disturb(model, sharer->gpu, now_ns);
    free_parked(shared, sharer, now_ns);
    sharer->is_parked = false;
}

bool gsim_gang_paging_gather(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    struct gsim_shared *shared = &model->shared;
    struct gsim_shared_job *sharer = &shared->by_slot[slot];
    uint32_t first = about->units[0].gpu;
    if (sharer->gpu != first || (about->n_units > 1 && about->is_moved))
        gsim_gang_paging_drop(model, slot, now_ns); /* its memory was carried here */
    sharer->gpu = first;
    sharer->n_gpus = (uint16_t)about->n_units;
    assert(shared->taken_by[first] == 0);
    if (about->n_units == 1 || about->share_ppm < GSIM_PPM ||
        !gsim_shared_pages((enum gsim_memory)model->gpus[first].memory))
        return true;
    for (uint32_t u = 1; u < about->n_units; u++) {
        uint32_t gpu = about->units[u].gpu;
        struct gsim_arbiter *other = gsim_arbiters_at(model, gpu);
        if (!other || !reserve_paging(model, sharer, about->n_units))
            return false;
        const struct gsim_tenant *left = left_on(sharer, gpu);
        if (!gsim_arbiter_take_in(shared->of_gpu[first], other, gpu, left, now_ns))
            return false;
        shared->taken_by[gpu] = first + 1;
    }
    return true;
}

void gsim_gang_paging_scatter(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    struct gsim_shared *shared = &model->shared;
    struct gsim_shared_job *sharer = &shared->by_slot[slot];
    sharer->n_parts_left = 0;
    for (uint32_t u = about->n_units; u-- > 1;) {
        uint32_t gpu = about->units[u].gpu;
        if (shared->taken_by[gpu] == 0)
            continue;
        assert(shared->taken_by[gpu] == sharer->gpu + 1);
        struct gsim_tenant left =
            gsim_arbiter_give_back(shared->of_gpu[sharer->gpu], shared->of_gpu[gpu], now_ns);
        shared->taken_by[gpu] = 0;
        if (sharer->is_parked)
            sharer->parts_left[sharer->n_parts_left++] = (struct gsim_gang_part_left){gpu, left};
    }
}
