/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs shared by two jobs, each at the speed that a table (--rates) has of its model beside the
 * other's. A gang is as fast as the slowest of its GPUs lets it be. A job that is stopped, and runs
 * on to its boundary, no longer slows down jobs that begin beside it. Where a job comes to a phase
 * in which it cannot run beside the other one it stands still until one of them leaves. */
#include "models/jobs/pairs.h"

#include "models/jobs/speed.h"

enum { BOTH = 2 };

const char *gsim_pairs_refuse(const struct gsim_model *model,
                              const struct gsim_arrangement *arrangement) {
    const struct gsim_rates *rates = model->setup.trace->rates;
    if (arrangement->lanes[0].discipline != GSIM_DISCIPLINE_PAIR)
        return NULL;
    if (!rates || rates->n_pairs == 0)
        return "jobs share GPUs in pairs by a table of speeds (--rates) with rows of a model "
               "'beside' another";
    return arrangement->memory == GSIM_MEMORY_RESIDENT ? NULL
                                                       : "the memory of pairs is not managed";
}

bool gsim_pairs_arrange(struct gsim_model *model, uint32_t gpu, bool is_paired) {
    if (is_paired && !model->pairs) {
        model->pairs =
            gsim_arena_array(model->setup.arena, model->setup.n_gpus, sizeof *model->pairs);
        for (uint32_t i = 0; model->pairs && i < model->setup.n_gpus; i++)
            model->pairs[i] = (struct gsim_machine_pair){.slot = {GSIM_NO_SLOT, GSIM_NO_SLOT}};
        if (!model->pairs)
            return false;
    }
    if (model->pairs)
        model->pairs[gpu].is_arranged = is_paired;
    return true;
}

bool gsim_pairs_take(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    for (uint32_t u = 0; u < about->n_units; u++)
        if (model->pairs[about->units[u].gpu].is_arranged)
            return true;
    return false;
}

/* The job that runs beside this one on the GPU. */
static gsim_slot other_on(const struct gsim_model *model, gsim_slot slot, uint32_t gpu) {
    const struct gsim_machine_pair *pair = &model->pairs[gpu];
    if (pair->slot[0] != slot && pair->slot[1] != slot)
        return GSIM_NO_SLOT;
    gsim_slot other = pair->slot[pair->slot[0] == slot];
    return other != GSIM_NO_SLOT && model->jobs[other].phase == RUNNING ? other : GSIM_NO_SLOT;
}

/* The next job after `from` that runs beside this one on a GPU of its units; the first:
 * GSIM_NO_SLOT. */
static gsim_slot next_other(const struct gsim_model *model, gsim_slot slot, uint32_t *u) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    gsim_slot before =
        *u > 0 ? other_on(model, slot, about->units[*u - 1].gpu) : (gsim_slot)GSIM_NO_SLOT;
    for (; *u < about->n_units; ++*u) {
        gsim_slot other = other_on(model, slot, about->units[*u].gpu);
        if (other == GSIM_NO_SLOT || other == before)
            continue;
        ++*u;
        return other;
    }
    return GSIM_NO_SLOT;
}

static struct gsim_speed slower(struct gsim_speed a, struct gsim_speed b) {
    bool is_less = a.rate_q32 < b.rate_q32 || (a.rate_q32 == b.rate_q32 && a.low < b.low);
    return is_less ? a : b;
}

static struct gsim_speed speed_of(struct gsim_model *model, gsim_slot slot) {
    struct gsim_speed speed = gsim_speed_of(model, slot);
    gsim_slot other;
    for (uint32_t u = 0; (other = next_other(model, slot, &u)) != GSIM_NO_SLOT;)
        speed = slower(speed, gsim_speed_beside(model, slot, other));
    return speed;
}

static void run_at(struct gsim_model *model, gsim_slot slot, struct gsim_speed speed,
                   int64_t now_ns) {
    gsim_machine_set_rate(model, slot, model->progress[slot].rate_q32, now_ns);
    model->progress[slot].rate_q32 = speed.rate_q32;
    model->jobs[slot].rate_low = speed.low;
    model->jobs[slot].waits_for_other = false;
    if ((speed.rate_q32 | speed.low) == 0)
        gsim_machine_expect_nothing(model, slot);
    else
        gsim_machine_expect_progress(model, slot);
}

static void run_again(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    run_at(model, slot, speed_of(model, slot), now_ns);
}

/* The GPU has room for the job: it takes the place of a job that is leaving, if need be. */
static void take_place(struct gsim_model *model, gsim_slot slot, uint32_t gpu) {
    struct gsim_machine_pair *pair = &model->pairs[gpu];
    for (int i = 0; i < BOTH; i++) {
        gsim_slot there = pair->slot[i];
        if (there != GSIM_NO_SLOT && model->jobs[there].phase == RUNNING)
            continue;
        pair->slot[i] = slot;
        return;
    }
}

void gsim_pairs_change(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    gsim_slot other;
    run_again(model, slot, now_ns);
    for (uint32_t u = 0; (other = next_other(model, slot, &u)) != GSIM_NO_SLOT;)
        run_again(model, other, now_ns);
}

void gsim_pairs_join(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    for (uint32_t u = 0; u < about->n_units; u++)
        take_place(model, slot, about->units[u].gpu);
    model->progress[slot].since_ns = now_ns;
    gsim_pairs_change(model, slot, now_ns);
}

static void clear_place(struct gsim_machine_pair *pair, gsim_slot slot) {
    for (int i = 0; i < BOTH; i++)
        if (pair->slot[i] == slot)
            pair->slot[i] = GSIM_NO_SLOT;
}

/* Those that it was beside run as they do without it, which is on none of their GPUs any more. */
void gsim_pairs_leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    gsim_slot before = GSIM_NO_SLOT;
    model->jobs[slot].waits_for_other = false;
    for (uint32_t u = 0; u < about->n_units; u++)
        clear_place(&model->pairs[about->units[u].gpu], slot);
    for (uint32_t u = 0; u < about->n_units; u++) {
        const struct gsim_machine_pair *pair = &model->pairs[about->units[u].gpu];
        gsim_slot other = pair->slot[pair->slot[0] == GSIM_NO_SLOT];
        if (other != GSIM_NO_SLOT && other != before && model->jobs[other].phase == RUNNING)
            run_again(model, other, now_ns);
        before = other;
    }
}

bool gsim_pairs_stand_still(const struct gsim_model *model, gsim_slot slot) {
    return model->pairs && !model->jobs[slot].waits_for_other &&
           (model->progress[slot].rate_q32 | model->jobs[slot].rate_low) == 0;
}

bool gsim_pairs_waits(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_machine_job *job = &model->jobs[slot];
    uint32_t u = 0;
    if (!model->setup.ends_pairs_together || job->phase != RUNNING)
        return false;
    gsim_slot other = next_other(model, slot, &u);
    if (other == GSIM_NO_SLOT)
        return false;
    if (model->jobs[other].waits_for_other) {
        run_again(model, other, now_ns);
        return false;
    }
    if (gsim_eventq_time(&model->queue, other) <= now_ns)
        return false;
    gsim_machine_set_rate(model, slot, model->progress[slot].rate_q32, now_ns);
    model->progress[slot].rate_q32 = 0;
    job->rate_low = 0;
    job->waits_for_other = true;
    gsim_machine_expect_nothing(model, slot);
    return true;
}
