/* SPDX-License-Identifier: GPL-3.0-or-later */
/* States of paging: copied, compared, and taken on by whole cycles (models/memory/pager.h). */
#include "models/memory/pager.h"

static int64_t resident_chunks(const struct gsim_residency *residency, uint32_t buffer) {
    return buffer == GSIM_NO_BUFFER ? 0 : residency->buffers[buffer].n_resident;
}

int64_t gsim_pager_resident_bytes(const struct gsim_store *store,
                                  const struct gsim_tenant *tenant) {
    return store->pager->uvm.chunk_bytes * (resident_chunks(&store->residency, tenant->used) +
                                            resident_chunks(&store->residency, tenant->unused));
}

static void copy_residency(struct gsim_residency *to, const struct gsim_residency *from) {
    if (!to->arena)
        to->arena = from->arena;
    (void)gsim_residency_copy(to, from); /* a failure is noted there */
}

void gsim_pager_copy(struct gsim_store *to, const struct gsim_store *from) {
    bool is_one_pager = to->pager == from->pager;
    if (from->pager && !(is_one_pager && to->stamp == from->stamp))
        copy_residency(&to->residency, &from->residency);
    if (from->before_stamp != 0 && !(is_one_pager && to->before_stamp == from->before_stamp))
        copy_residency(&to->before, &from->before);
    to->pager = from->pager;
    to->times = from->times;
    to->last = from->last;
    to->stamp = from->stamp;
    to->before_stamp = from->before_stamp;
}

static bool has_same_uses(const struct gsim_residency *a, const struct gsim_residency *b) {
    if (a->n_buffers != b->n_buffers)
        return false;
    for (uint32_t i = 0; i < a->n_buffers; i++)
        if (a->buffers[i].is_open != b->buffers[i].is_open ||
            (a->buffers[i].is_open && a->buffers[i].next_use != b->buffers[i].next_use))
            return false;
    return true;
}

static bool reserve_scratch(struct gsim_store_scratch *scratch, size_t n,
                            struct gsim_arena *arena) {
    if (n <= scratch->capacity)
        return true;
    int64_t *grown = gsim_arena_grow(arena, scratch->numbers, scratch->capacity * sizeof *grown,
                                     2 * n * sizeof *grown);
    if (!grown)
        return false;
    scratch->numbers = grown;
    scratch->capacity = 2 * n;
    return true;
}

static bool is_same(const struct gsim_residency *a, const struct gsim_residency *b,
                    struct gsim_store_scratch *scratch) {
    size_t n = gsim_residency_state(a, NULL, 0);
    if (n != gsim_residency_state(b, NULL, 0) || !reserve_scratch(scratch, 2 * n, a->arena))
        return false;
    (void)gsim_residency_state(a, scratch->numbers, n);
    (void)gsim_residency_state(b, scratch->numbers + n, n);
    return memcmp(scratch->numbers, scratch->numbers + n, n * sizeof(int64_t)) == 0;
}

bool gsim_pager_is_same(const struct gsim_store *a, int64_t a_now_ns, const struct gsim_store *b,
                        int64_t b_now_ns, struct gsim_store_scratch *scratch) {
    if (!a->pager || !b->pager)
        return a->pager == b->pager;
    if (!gsim_times_are_same(GSIM_ROLE_CONST(a->times), a_now_ns, (const int64_t *)&b->times,
                             b_now_ns, 0) ||
        !has_same_uses(&a->residency, &b->residency))
        return false;
    bool is_before_same =
        a->before_stamp == b->before_stamp ||
        (a->before_stamp != 0 && b->before_stamp != 0 && is_same(&a->before, &b->before, scratch));
    return is_before_same &&
           (a->stamp == b->stamp || is_same(&a->residency, &b->residency, scratch));
}

void gsim_pager_sweep_elsewhere(struct gsim_store *store, struct gsim_tenant *tenant, gsim_work all,
                                gsim_work was, gsim_work is) {
    int64_t all_ns = gsim_work_to_ns(all);
    if (!gsim_pager_is_too_much(store) || tenant->used == GSIM_NO_BUFFER || all_ns == 0 ||
        tenant->whole.is_on || tenant->spec.order || gsim_pager_is_proactive(store))
        return;
    uint32_t n = gsim_pager_sweep_chunks(store, tenant);
    uint32_t passed = gsim_pager_even_chunks(n, all_ns, gsim_work_to_ns(was)),
             now = gsim_pager_even_chunks(n, all_ns, gsim_work_to_ns(is));
    uint32_t ahead = tenant->state.n_touched > passed ? tenant->state.n_touched - passed : 0;
    tenant->state.n_touched = now + ahead < n ? now + ahead : n;
    store->stamp = ++store->pager->stamp;
    gsim_residency_turn(&store->residency, tenant->used, (n + now - passed) % n);
}
