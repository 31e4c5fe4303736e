/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes that have been paged on the GPU of an arbiter, and whether more will be. The GPUs of a
 * gang have their memory in the arbiter of the first one, the keeper. */
#include "models/gpu/arbiter.h"

/* Memory that has arrived for the members. part: a gang's memory on another GPU, of which the bytes
 * that the gang still waits for have not arrived. */
static void add_arrived(const struct gsim_lanes *lanes, const struct gsim_gang_part *part,
                        struct gsim_memory_use *to) {
    for (uint16_t place = 0; place < lanes->capacity; place++) {
        const struct gsim_member *member = &lanes->members[place];
        if (!member->is_present)
            continue;
        const struct gsim_tenant *tenant = part ? &part->tenant : &member->tenant;
        struct gsim_memory_use coming = gsim_tenant_coming(tenant, member->state.stall_ns);
        gsim_memory_use_add(to, &tenant->sum, 1);
        gsim_memory_use_add(to, &coming, -1);
    }
}

/* The keeper's part for the memory of another GPU; NULL: the memory is in its own arbiter. */
static const struct gsim_gang_part *part_of(const struct gsim_arbiter *arbiter,
                                            const struct gsim_arbiter *keeper, uint32_t gpu) {
    const struct gsim_gang_memory *gang = &keeper->committed.gang;
    for (uint32_t i = 0; keeper != arbiter && i < gang->n; i++)
        if (gang->part[i].gpu == gpu)
            return &gang->part[i];
    return NULL;
}

struct gsim_paged gsim_arbiter_paged(const struct gsim_arbiter *arbiter,
                                     const struct gsim_arbiter *keeper, uint32_t gpu) {
    const struct gsim_lanes *lanes = &keeper->committed;
    const struct gsim_gang_part *part = part_of(arbiter, keeper, gpu);
    struct gsim_memory_use use = arbiter->gone;
    if (keeper == arbiter || part)
        add_arrived(lanes, part, &use);
    struct gsim_memory_use coming =
        gsim_pager_coming(part ? &part->store : &arbiter->committed.store, lanes->now_ns);
    gsim_memory_use_add(&use, &coming, -1);
    return (struct gsim_paged){use.bytes_in, use.bytes_out};
}

bool gsim_arbiter_is_too_much(const struct gsim_arbiter *arbiter, const struct gsim_arbiter *keeper,
                              uint32_t gpu) {
    const struct gsim_gang_part *part = part_of(arbiter, keeper, gpu);
    return gsim_pager_is_too_much(part ? &part->store : &arbiter->committed.store);
}

bool gsim_arbiter_has_all(const struct gsim_arbiter *arbiter, const struct gsim_arbiter *keeper,
                          uint32_t gpu) {
    const struct gsim_lanes *lanes = &keeper->committed;
    const struct gsim_gang_part *part = part_of(arbiter, keeper, gpu);
    const struct gsim_store *store = part ? &part->store : &arbiter->committed.store;
    for (uint16_t place = 0; (keeper == arbiter || part) && place < lanes->capacity; place++) {
        const struct gsim_member *member = &lanes->members[place];
        if (member->is_present &&
            !gsim_pager_has_all(store, part ? &part->tenant : &member->tenant))
            return false;
    }
    return true;
}

bool gsim_arbiter_is_moving(const struct gsim_arbiter *arbiter, const struct gsim_arbiter *keeper,
                            uint32_t gpu) {
    const struct gsim_lanes *lanes = &keeper->committed;
    const struct gsim_gang_part *part = part_of(arbiter, keeper, gpu);
    struct gsim_memory_use coming =
        gsim_pager_coming(part ? &part->store : &arbiter->committed.store, lanes->now_ns);
    bool is = coming.bytes_in > 0 || coming.bytes_out > 0;
    for (uint16_t i = 0; (keeper == arbiter || part) && i < lanes->capacity; i++)
        is |= lanes->members[i].is_present && lanes->members[i].state.stall_ns > 0;
    return is;
}
