/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/wings.h"

bool gsim_wings_reserve(struct gsim_wings *wings, uint32_t n, struct gsim_arena *arena) {
    if (n <= wings->capacity)
        return true;
    n = n > 2 * wings->capacity ? n : 2 * wings->capacity;
    struct gsim_wing *grown =
        gsim_arena_grow(arena, wings->wing, wings->capacity * sizeof *grown, n * sizeof *grown);
    if (!grown)
        return false;
    wings->wing = grown;
    wings->capacity = n;
    return true;
}

void gsim_wings_copy(struct gsim_wings *to, const struct gsim_wings *from) {
    to->n = from->n;
    for (uint32_t i = 0; i < from->n; i++) {
        const struct gsim_wing *wing = &from->wing[i];
        gsim_store_copy(&to->wing[i].store, &wing->store);
        to->wing[i].tenant = wing->tenant;
        to->wing[i].gpu = wing->gpu;
        to->wing[i].is_open = wing->is_open;
    }
}

bool gsim_wings_are_same(const struct gsim_wings *a, int64_t a_now_ns, const struct gsim_wings *b,
                         int64_t b_now_ns, struct gsim_store_scratch *scratch) {
    for (uint32_t i = 0; i < a->n; i++)
        if (!gsim_tenant_is_same(&a->wing[i].tenant, &b->wing[i].tenant) ||
            !gsim_store_is_same(&a->wing[i].store, a_now_ns, &b->wing[i].store, b_now_ns, scratch))
            return false;
    return a->n == b->n;
}

bool gsim_wings_open(struct gsim_wings *wings, const struct gsim_tenant_spec *spec,
                     bool is_filled) {
    for (uint32_t i = 0; i < wings->n; i++) {
        struct gsim_wing *wing = &wings->wing[i];
        if (wing->is_open)
            continue;
        if (!gsim_store_open(&wing->store, &wing->tenant, spec))
            return false;
        wing->is_open = true;
        if (is_filled)
            gsim_store_fill(&wing->store, &wing->tenant);
    }
    return true;
}

void gsim_wings_close(struct gsim_wings *wings) {
    for (uint32_t i = 0; i < wings->n; i++) {
        gsim_store_close(&wings->wing[i].store, &wings->wing[i].tenant);
        wings->wing[i].is_open = false;
    }
}

int64_t gsim_wings_sweep(struct gsim_wings *wings, struct gsim_tenant *lead, bool was_swept,
                         int64_t stall_ns) {
    int64_t longest_ns = stall_ns;
    for (uint32_t i = 0; i < wings->n; i++) {
        wings->wing[i].tenant.state.is_swept = was_swept;
        int64_t one_ns = gsim_store_sweep(&wings->wing[i].store, &wings->wing[i].tenant);
        longest_ns = one_ns > longest_ns ? one_ns : longest_ns;
    }
    lead->sum.stall_ns += longest_ns - stall_ns;
    return longest_ns;
}

int64_t gsim_wings_switch(struct gsim_wings *wings, const struct gsim_next_turn *lead,
                          int64_t now_ns, int64_t starts_ns) {
    int64_t last_ns = starts_ns;
    for (uint32_t i = 0; i < wings->n; i++) {
        struct gsim_next_turn turn = {&wings->wing[i].tenant, lead->run_ns, lead->sweep_ns};
        int64_t one_ns = gsim_store_switch(&wings->wing[i].store, &turn, 1, now_ns).starts_ns;
        last_ns = one_ns > last_ns ? one_ns : last_ns;
    }
    lead->tenant->sum.stall_ns += last_ns - starts_ns;
    return last_ns;
}

void gsim_wings_add_use(const struct gsim_wings *wings, struct gsim_memory_use *to) {
    int64_t stall_ns = to->stall_ns;
    for (uint32_t i = 0; i < wings->n; i++)
        gsim_memory_use_add(to, &wings->wing[i].tenant.sum, 1);
    to->stall_ns = stall_ns;
}

void gsim_wings_subtract(struct gsim_wings *per, const struct gsim_wings *now,
                         const struct gsim_wings *then) {
    per->n = now->n;
    for (uint32_t i = 0; i < now->n; i++) {
        gsim_sums_subtract(GSIM_ROLE(per->wing[i].tenant.sum),
                           (const int64_t *)&now->wing[i].tenant.sum,
                           (const int64_t *)&then->wing[i].tenant.sum);
    }
}

void gsim_wings_skip(struct gsim_wings *wings, const struct gsim_wings *per, int64_t n,
                     int64_t by_ns) {
    for (uint32_t i = 0; i < wings->n; i++) {
        gsim_memory_use_add(&wings->wing[i].tenant.sum, &per->wing[i].tenant.sum, n);
        gsim_store_skip(&wings->wing[i].store, by_ns);
    }
}

bool gsim_wings_have_failed(const struct gsim_wings *wings) {
    for (uint32_t i = 0; i < wings->n; i++)
        if (gsim_store_has_failed(&wings->wing[i].store))
            return true;
    return false;
}
