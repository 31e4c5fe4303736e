/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The other GPUs of a gang whose memory is managed. A gang is one context, on its first GPU; what it
 * has on the others, and what is there besides, are its gang. All GPUs of a gang begin an iteration
 * together, so that it waits for pages as long as the one that waits longest. */
#ifndef GSIM_MODELS_MEMORY_GANG_MEMORY_H
#define GSIM_MODELS_MEMORY_GANG_MEMORY_H

#include "models/memory/pager.h"

struct gsim_gang_part {
    uint32_t gpu; /* the owner's number for it */
    bool is_open; /* the gang has its memory there */
    struct gsim_store store;
    struct gsim_tenant tenant; /* the gang's */
};

/* Zeroed at first: none. */
struct gsim_gang_memory {
    struct gsim_gang_part *part;
    uint32_t n, capacity; /* places past n keep what their stores have grown to */
};

/* false: no memory. */
bool gsim_gang_memory_reserve(struct gsim_gang_memory *gang, uint32_t n, struct gsim_arena *arena);
/* There is room for them. */
void gsim_gang_memory_copy(struct gsim_gang_memory *to, const struct gsim_gang_memory *from);
bool gsim_gang_memory_are_same(const struct gsim_gang_memory *a, int64_t a_now_ns,
                               const struct gsim_gang_memory *b, int64_t b_now_ns,
                               struct gsim_store_scratch *scratch);
/* Opens the gang's memory where it is not; is_filled: it was carried there. false: no memory. */
bool gsim_gang_memory_open(struct gsim_gang_memory *gang, const struct gsim_tenant_spec *spec,
                           bool is_filled);
void gsim_gang_memory_close(struct gsim_gang_memory *gang);
/* As gsim_store_sweep and gsim_store_switch did for the first GPU of this turn, so for the others:
 * when the slowest is there. The lead's sum counts all of the wait. */
int64_t gsim_gang_memory_sweep(struct gsim_gang_memory *gang, struct gsim_tenant *lead,
                               bool was_swept, int64_t stall_ns);
int64_t gsim_gang_memory_switch(struct gsim_gang_memory *gang, const struct gsim_next_turn *lead,
                                int64_t now_ns, int64_t starts_ns);
/* What has moved on them all; it waits for them on its first GPU. */
void gsim_gang_memory_add_use(const struct gsim_gang_memory *gang, struct gsim_memory_use *to);
/* What `now` has moved since `then`; and so many times that, while so much time passed. */
void gsim_gang_memory_subtract(struct gsim_gang_memory *per, const struct gsim_gang_memory *now,
                               const struct gsim_gang_memory *then);
void gsim_gang_memory_skip(struct gsim_gang_memory *gang, const struct gsim_gang_memory *per,
                           int64_t n, int64_t by_ns);
bool gsim_gang_memory_have_failed(const struct gsim_gang_memory *gang);

#endif
