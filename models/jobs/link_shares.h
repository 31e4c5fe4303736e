/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shares of the links (PCIe roots, the host's memory) that the GPUs of one host leave each
 * other when each of them pages or migrates, and that they and copies of whole jobs leave each
 * other there and on the link of a GPU. Their arbiters run ahead of each other and skip
 * cycles, so they do not queue chunk by chunk. Instead each GPU copies at a share of its own rates:
 *
 *     share = carried / (the GPU's own demand while it copies + the others' average demand)
 *
 * at most 1, the least over all links that the GPU shares, where the average is over all time,
 * copying or not. So a GPU that copies meets the others as often as they copy; together they never
 * get more than is carried, and where all of them cannot ask for more than that, nothing changes. A
 * GPU with contexts that need more memory than it has is first taken to copy all the time; then the
 * arrived bytes are measured in windows, the first of a second, each an eighth longer than the one
 * before, and a measured average counts as much as the average assumed before it. A window begins
 * anew when other GPUs page than before, and is short again when contexts come and go. A GPU that
 * pages nothing in a window, and has all memory that its contexts may touch, asks for nothing until
 * contexts come to it or leave it. Where a host's links carry all that its GPUs can ask for
 * together, it has windows only while copies of whole jobs are under way.
 *
 * A copy of a whole job is a user of its links that asks for all it can get until it ends. While a
 * GPU copies, the bandwidth is divided max-min fair between the copies on its link and the crowd of
 * the GPUs that page there: the GPU itself, and the others by as much of their time as they copy.
 * Over all time the copies get what the crowd leaves (models/links/link.c):
 *
 *     what copies get = carried - the sum over GPUs of (part of the time x rate while it copies)
 *
 * so that a link on which copies ask for everything is full, and on average not more. A GPU that
 * copies more slowly copies for more of the time: how much is foreseen when copies begin and end,
 * from the average until then, as if it computed and copied by turns; windows measure it as long as
 * copies are under way, the first ones without the assumption that came before. */
#ifndef GSIM_MODELS_JOBS_LINK_SHARES_H
#define GSIM_MODELS_JOBS_LINK_SHARES_H

#include "models/jobs/machine.h"

void gsim_link_shares_init(struct gsim_model *model);
/* Some GPU may page from now on. Returns false if there is no memory left. */
bool gsim_link_shares_open(struct gsim_model *model);
/* Memory of contexts leaves this GPU. */
void gsim_link_shares_disturb(struct gsim_model *model, uint32_t gpu, int64_t now_ns);
/* A job's context has come to its GPUs, or left them: what they page is counted anew. */
void gsim_link_shares_count(struct gsim_model *model, const struct gsim_job *about, int64_t now_ns);
/* Before time goes on: settles the disturbed hosts, and the rates of copies there. Returns when the
 * next window ends. */
int64_t gsim_link_shares_next_ns(struct gsim_model *model);
void gsim_link_shares_serve(struct gsim_model *model, int64_t now_ns);

#endif
