/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The other GPUs of a gang with managed memory. A gang is one context, on its first GPU; here is
 * the memory of its other GPUs: its own there and all that is there besides. All GPUs of a gang
 * go through an iteration together, so it waits for pages as long as the GPU that waits longest. */
#ifndef GSIM_MODELS_MEMORY_GANG_MEMORY_H
#define GSIM_MODELS_MEMORY_GANG_MEMORY_H

#include "models/memory/pager.h"

struct gsim_gang_part {
    uint32_t gpu; /* the owner's number for the GPU */
    bool is_open; /* the gang has its memory there */
    struct gsim_store store;
    struct gsim_tenant tenant; /* the gang's */
};

/* Zeroed at first: no other GPUs. */
struct gsim_gang_memory {
    struct gsim_gang_part *part;
    uint32_t n, capacity; /* parts past n keep the blocks to which their stores have grown */
};

/* Returns false if there is no memory left. */
bool gsim_gang_memory_reserve(struct gsim_gang_memory *gang, uint32_t n, struct gsim_arena *arena);
/* `to` has room for all parts. */
void gsim_gang_memory_copy(struct gsim_gang_memory *to, const struct gsim_gang_memory *from);
bool gsim_gang_memory_are_same(const struct gsim_gang_memory *a, int64_t a_now_ns,
                               const struct gsim_gang_memory *b, int64_t b_now_ns,
                               struct gsim_store_scratch *scratch);
/* Opens the gang's memory where it is not open; is_filled: it was carried there. Returns false if
 * there is no memory left. */
bool gsim_gang_memory_open(struct gsim_gang_memory *gang, const struct gsim_tenant_spec *spec,
                           bool is_filled);
void gsim_gang_memory_close(struct gsim_gang_memory *gang);
/* Does on the gang's other GPUs what gsim_pager_sweep and gsim_pager_switch did on its first in
 * this turn; returns when the slowest is ready. The lead's sum counts all of the wait. */
int64_t gsim_gang_memory_sweep(struct gsim_gang_memory *gang, struct gsim_tenant *lead,
                               const struct gsim_swept *swept, int64_t left_ns);
int64_t gsim_gang_memory_switch(struct gsim_gang_memory *gang, const struct gsim_next_turn *lead,
                                int64_t now_ns, int64_t starts_ns);
/* Adds the bytes moved on all parts; their waits are in the sum of the first GPU. */
void gsim_gang_memory_add_use(const struct gsim_gang_memory *gang, struct gsim_memory_use *to);
/* Bytes that `now` has moved since `then`; and n times that, while by_ns passed. */
void gsim_gang_memory_subtract(struct gsim_gang_memory *per, const struct gsim_gang_memory *now,
                               const struct gsim_gang_memory *then);
static inline void gsim_gang_memory_divide(struct gsim_gang_memory *per, int64_t n_parts) {
    for (uint32_t i = 0; i < per->n; i++)
        gsim_sums_divide(GSIM_ROLE(per->part[i].tenant.sum), n_parts);
}
void gsim_gang_memory_skip(struct gsim_gang_memory *gang, const struct gsim_gang_memory *per,
                           int64_t n, int64_t by_ns);
bool gsim_gang_memory_have_failed(const struct gsim_gang_memory *gang);

#endif
