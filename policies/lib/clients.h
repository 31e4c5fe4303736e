/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clients that share a GPU at the same time, each in a lane of its own; above gsim_sharing, which
 * says which GPU a job goes to. */
#ifndef GSIM_POLICIES_LIB_CLIENTS_H
#define GSIM_POLICIES_LIB_CLIENTS_H

#include "policies/lib/sharing.h"

enum { GSIM_MOST_CLIENTS = 64 }; /* of a GPU: bits of a word; devices name a smaller number */

struct gsim_clients_of_gpu {
    struct gsim_lane lane[GSIM_MOST_CLIENTS];
    uint64_t taken; /* lanes, as bits */
    uint16_t n_lanes; /* lanes ever taken */
};

struct gsim_clients {
    struct gsim_sharing sharing; /* first: shared hooks find it there */
    struct gsim_clients_of_gpu **gpu; /* by GPU; NULL until a job was there */
};

/* The per-job state. */
struct gsim_client {
    struct gsim_sharing_job sharing; /* first */
    uint32_t gpu; /* the GPU of its lane, + 1; 0: it has none */
    uint16_t lane;
};

enum gsim_status gsim_clients_init(struct gsim_clients *clients, struct gsim_ctx *ctx);
/* Gives the job a lane on the GPU, which is arranged so; how: the arrangement without its lanes and
 * entries. */
bool gsim_clients_enter(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                        struct gsim_unit unit, const struct gsim_lane *lane,
                        const struct gsim_arrangement *how);
/* A hook: the job's lane is free. */
void gsim_clients_on_completion(struct gsim_ctx *ctx, gsim_slot slot);
/* Clients of two ranks (gate.rank). High priority have jobs of class realtime, or with a `priority`
 * above 0; a GPU takes one of them. */
enum { GSIM_RANK_BEST_EFFORT = 0, GSIM_RANK_HIGH_PRIORITY };
uint16_t gsim_clients_rank(const struct gsim_ctx *ctx, gsim_slot slot);
/* Opens a policy of such clients that goes by their kernels; `arrange` gives a job its lane, as in
 * gsim_sharing. */
enum gsim_status gsim_clients_open_ranked(struct gsim_ctx *ctx,
                                          bool (*arrange)(struct gsim_ctx *ctx,
                                                          struct gsim_plan *plan, gsim_slot slot,
                                                          struct gsim_unit unit));
/* The first of n SMs in a row that no lane of the GPU owns; their end is past the GPU's where there
 * are none. */
uint32_t gsim_clients_first_free_sm(const struct gsim_ctx *ctx, uint32_t gpu, uint32_t n);
/* Whether the device has that many. */
bool gsim_clients_have_room(const struct gsim_ctx *ctx, uint32_t gpu, uint32_t n);
/* The i-th lane of a GPU that has a client, from `from` on; NULL: no further one. */
const struct gsim_lane *gsim_clients_next(const struct gsim_clients *clients, uint32_t gpu,
                                          uint16_t *from);

#endif
