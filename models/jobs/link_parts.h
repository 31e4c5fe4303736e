/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shares of links: how much of its own rates each paging GPU and each copy gets. */
#ifndef GSIM_MODELS_JOBS_LINK_PARTS_H
#define GSIM_MODELS_JOBS_LINK_PARTS_H

#include "models/jobs/machine.h"

/* Whether the GPU copies both ways at once. */
bool gsim_link_parts_is_at_once(const struct gsim_pager *pager);
/* Writes down what the GPU asks for while it copies, by the manager of its memory: `wants` and
 * `most`. */
void gsim_link_parts_note_wants(struct gsim_model *model, uint32_t gpu);
/* Whether the links of a host carry all that its GPUs can ask for together while they page: none of
 * them is ever in the way of another, and copies of whole jobs alone may be. */
bool gsim_link_parts_suffice(const struct gsim_model *model,
                             const struct gsim_link_shares_host *host);
/* Finds the shares of a host's GPUs that page, by GPU. foresees: what they ask for changes with the
 * shares; what it was stays in `measured`. */
void gsim_link_parts_find(struct gsim_model *model, const struct gsim_link_shares_host *host,
                          struct gsim_pager_shares *shares, bool foresees);
/* Sets the rates of a host's copies by what its GPUs page. */
void gsim_link_parts_tell(struct gsim_model *model, const struct gsim_link_shares_host *host,
                          int64_t now_ns);

#endif
