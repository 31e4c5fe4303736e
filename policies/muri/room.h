/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether gangs fit, and where: a gang of up to a node on the first node that has room, a wider one
 * on idle nodes and its remainder on the first other node that has room. */
#ifndef GSIM_POLICIES_MURI_ROOM_H
#define GSIM_POLICIES_MURI_ROOM_H

#include "policies/muri/state.h"

bool muri_room_open(struct muri_room *room, const struct gsim_ctx *ctx);
/* Makes all GPUs free that are on nodes that are up. */
void muri_room_clear(struct muri_room *room);
/* The GPUs of nodes that are up. */
uint32_t muri_room_up(const struct muri_room *room);
/* Makes one GPU of the node free. */
void muri_room_give(struct muri_room *room, uint32_t node);
/* Takes GPUs for a gang. taken: how many of each node, or NULL. false: it does not fit, and all
 * stays as it is. */
bool muri_room_take(struct muri_room *room, uint32_t gpus, uint32_t *taken);

#endif
