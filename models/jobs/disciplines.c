/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/jobs/disciplines.h"

#include <assert.h>

#include "models/jobs/pairs.h"
#include "models/jobs/shared_gpus.h"
#include "sim/api/interleave.h"

/* Jobs run side by side at rates of their own, and nothing takes turns. */
static bool is_by_rate(enum gsim_discipline discipline) {
    return discipline == GSIM_DISCIPLINE_PS || discipline == GSIM_DISCIPLINE_INTERLEAVED;
}

const char *gsim_disciplines_refuse(const struct gsim_model *model, const struct gsim_unit *units,
                                    uint32_t n_units, const struct gsim_arrangement *arrangement) {
    const char *why = gsim_shared_refuse(model, units, n_units, arrangement);
    if (why)
        return why;
    why = gsim_pairs_refuse(model, arrangement);
    if (why)
        return why;
    enum gsim_discipline discipline = arrangement->lanes[0].discipline;
    bool is_known = discipline == GSIM_DISCIPLINE_EXCLUSIVE || discipline == GSIM_DISCIPLINE_PAIR ||
                    is_by_rate(discipline) || gsim_shared_knows(discipline);
    if (arrangement->memory != GSIM_MEMORY_RESIDENT && is_by_rate(discipline))
        return "memory is not managed under processor sharing, or where jobs interleave";
    if (!is_known)
        return "this model knows the disciplines exclusive, processor sharing, interleaved, pairs, "
               "time slices and priority";
    return NULL;
}

void gsim_disciplines_arrange(struct gsim_model *model, const struct gsim_unit *units,
                              uint32_t n_units, const struct gsim_arrangement *arrangement,
                              int64_t now_ns) {
    const struct gsim_lane *lane = &arrangement->lanes[0];
    for (uint32_t u = 0; u < n_units; u++) {
        struct gsim_machine_gpu *gpu = &model->gpus[units[u].gpu];
        assert(gpu->n_sharers == 0);
        gpu->is_shared = is_by_rate(lane->discipline);
        gpu->is_interleaved = lane->discipline == GSIM_DISCIPLINE_INTERLEAVED;
        gpu->takes_turns = gsim_shared_knows(lane->discipline);
        model->has_shared |= gpu->is_shared;
        model->has_equal_sharing |= lane->discipline == GSIM_DISCIPLINE_PS;
        if (!gpu->takes_turns)
            gsim_shared_disband(model, units[u].gpu, now_ns);
        bool is_done =
            gsim_pairs_arrange(model, units[u].gpu, lane->discipline == GSIM_DISCIPLINE_PAIR);
        if (gpu->takes_turns)
            is_done &= gsim_shared_arrange(model, units[u].gpu, arrangement, now_ns);
        else if (gsim_shared_pages(arrangement->memory))
            is_done &= gsim_shared_manage(model, units[u].gpu, arrangement);
        model->is_out_of_memory |= !is_done;
        model->may_take_turns |= gpu->takes_turns || gsim_shared_pages(arrangement->memory);
    }
}

/* Ideal processor sharing is no real hardware, and has no limit. No limit is documented for
 * processes that take turns; here it is the number of contexts that a lane can hold. */
uint32_t gsim_disciplines_client_limit(const struct gsim_model *model, uint32_t gpu,
                                       const struct gsim_arrangement *arrangement) {
    const struct gsim_profile *profile = gsim_machine_profile_at(model, gpu);
    if (arrangement->lanes[0].discipline == GSIM_DISCIPLINE_PS)
        return UINT32_MAX;
    if (arrangement->lanes[0].discipline == GSIM_DISCIPLINE_INTERLEAVED)
        return GSIM_INTERLEAVE_MOST;
    if (arrangement->lanes[0].discipline == GSIM_DISCIPLINE_PAIR)
        return 2;
    int64_t limit =
        arrangement->is_served ? profile->value[GSIM_KEY_MAX_CLIENTS] : GSIM_CONTEXTS_MAX;
    if (arrangement->max_clients > 0 && arrangement->max_clients < limit)
        limit = arrangement->max_clients;
    return limit < GSIM_CONTEXTS_MAX ? (uint32_t)limit : GSIM_CONTEXTS_MAX;
}
