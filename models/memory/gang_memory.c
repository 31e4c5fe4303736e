/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/memory/gang_memory.h"

bool gsim_gang_memory_reserve(struct gsim_gang_memory *gang, uint32_t n, struct gsim_arena *arena) {
    if (n <= gang->capacity)
        return true;
    n = n > 2 * gang->capacity ? n : 2 * gang->capacity;
    struct gsim_gang_part *grown =
        gsim_arena_grow(arena, gang->part, gang->capacity * sizeof *grown, n * sizeof *grown);
    if (!grown)
        return false;
    gang->part = grown;
    gang->capacity = n;
    return true;
}

void gsim_gang_memory_copy(struct gsim_gang_memory *to, const struct gsim_gang_memory *from) {
    to->n = from->n;
    for (uint32_t i = 0; i < from->n; i++) {
        const struct gsim_gang_part *part = &from->part[i];
        gsim_pager_copy(&to->part[i].store, &part->store);
        to->part[i].tenant = part->tenant;
        to->part[i].gpu = part->gpu;
        to->part[i].is_open = part->is_open;
    }
}

bool gsim_gang_memory_are_same(const struct gsim_gang_memory *a, int64_t a_now_ns,
                               const struct gsim_gang_memory *b, int64_t b_now_ns,
                               struct gsim_store_scratch *scratch) {
    for (uint32_t i = 0; i < a->n; i++)
        if (!gsim_tenant_is_same(&a->part[i].tenant, &b->part[i].tenant) ||
            !gsim_pager_is_same(&a->part[i].store, a_now_ns, &b->part[i].store, b_now_ns, scratch))
            return false;
    return a->n == b->n;
}

bool gsim_gang_memory_open(struct gsim_gang_memory *gang, const struct gsim_tenant_spec *spec,
                           bool is_filled) {
    for (uint32_t i = 0; i < gang->n; i++) {
        struct gsim_gang_part *part = &gang->part[i];
        if (part->is_open)
            continue;
        if (!gsim_pager_open(&part->store, &part->tenant, spec, is_filled))
            return false;
        part->is_open = true;
    }
    return true;
}

void gsim_gang_memory_close(struct gsim_gang_memory *gang) {
    for (uint32_t i = 0; i < gang->n; i++) {
        gsim_pager_close(&gang->part[i].store, &gang->part[i].tenant);
        gang->part[i].is_open = false;
    }
}

int64_t gsim_gang_memory_sweep(struct gsim_gang_memory *gang, struct gsim_tenant *lead,
                               const struct gsim_swept *swept, int64_t left_ns) {
    int64_t longest_ns = swept->stall_ns;
    for (uint32_t i = 0; i < gang->n; i++) {
        int64_t one_ns =
            gsim_pager_sweep_part(&gang->part[i].store, &gang->part[i].tenant, swept, left_ns);
        longest_ns = one_ns > longest_ns ? one_ns : longest_ns;
    }
    lead->sum.stall_ns += longest_ns - swept->stall_ns;
    return longest_ns;
}

int64_t gsim_gang_memory_switch(struct gsim_gang_memory *gang, const struct gsim_next_turn *lead,
                                int64_t now_ns, int64_t starts_ns) {
    int64_t last_ns = starts_ns;
    for (uint32_t i = 0; i < gang->n; i++) {
        struct gsim_next_turn turn = *lead;
        turn.tenant = &gang->part[i].tenant;
        int64_t one_ns = gsim_pager_switch(&gang->part[i].store, &turn, 1, false, now_ns).starts_ns;
        last_ns = one_ns > last_ns ? one_ns : last_ns;
    }
    lead->tenant->sum.stall_ns += last_ns - starts_ns;
    return last_ns;
}

void gsim_gang_memory_add_use(const struct gsim_gang_memory *gang, struct gsim_memory_use *to) {
    int64_t stall_ns = to->stall_ns;
    for (uint32_t i = 0; i < gang->n; i++)
        gsim_memory_use_add(to, &gang->part[i].tenant.sum, 1);
    to->stall_ns = stall_ns;
}

void gsim_gang_memory_subtract(struct gsim_gang_memory *per, const struct gsim_gang_memory *now,
                               const struct gsim_gang_memory *then) {
    per->n = now->n;
    for (uint32_t i = 0; i < now->n; i++) {
        gsim_sums_subtract(GSIM_ROLE(per->part[i].tenant.sum),
                           (const int64_t *)&now->part[i].tenant.sum,
                           (const int64_t *)&then->part[i].tenant.sum);
    }
}

void gsim_gang_memory_skip(struct gsim_gang_memory *gang, const struct gsim_gang_memory *per,
                           int64_t n, int64_t by_ns) {
    for (uint32_t i = 0; i < gang->n; i++) {
        gsim_memory_use_add(&gang->part[i].tenant.sum, &per->part[i].tenant.sum, n);
        gsim_pager_skip(&gang->part[i].store, by_ns);
    }
}

bool gsim_gang_memory_have_failed(const struct gsim_gang_memory *gang) {
    for (uint32_t i = 0; i < gang->n; i++)
        if (gsim_pager_has_failed(&gang->part[i].store))
            return true;
    return false;
}
