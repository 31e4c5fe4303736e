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
 * anew when other GPUs page than before, and is short again when contexts come and go.
 *
 * A copy of a whole job is a user of its links that asks for all it can get until it ends. While a
 * GPU copies, the bandwidth is divided max-min fair between the copies on its link and the crowd of
 * the GPUs that page there: the GPU itself, and the others by as much of their time as they copy.
 * Over all time the copies get what the crowd leaves (models/links/link_rates.c):
 *
 *     what copies get = carried - the sum over GPUs of (part of the time x rate while it copies)
 *
 * so that a link on which copies ask for everything is full, and on average not more. A GPU that
 * copies more slowly copies for more of the time: how much is foreseen when copies begin and end,
 * from the average until then, as if it computed and copied by turns; windows measure it as long as
 * copies are under way, the first ones without the assumption that came before. */
#ifndef GSIM_MODELS_JOBS_LINK_SHARES_H
#define GSIM_MODELS_JOBS_LINK_SHARES_H

#include "models/memory/pager.h"
#include "sim/api/model.h"
#include "sim/base/eventq.h"
#include "sim/base/wide.h"

struct gsim_link_shares_gpu {
    bool is_paging;
    int64_t since_ns; /* begin of its window, or of the time without contexts that come or go */
    int64_t bytes[2]; /* bytes in and out, by the last tally */
    gsim_i128 demand[GSIM_HOST_WAYS]; /* bytes since then, as if they had moved at full rates */
    int64_t asks[GSIM_HOST_WAYS]; /* bytes per second that the GPU asks for on average */
    int64_t measured[GSIM_HOST_WAYS]; /* what it asked for before its shares changed */
    int64_t found[GSIM_HOST_WAYS]; /* the average of its last window alone; -1: none has ended */
    struct gsim_pager_shares shares;
    /* the GPUs of its host under which the sums of its groups stand */
    uint32_t first_below_root, first_in_domain;
};

/* The bytes per second for which the paging GPUs of a group ask together, and how many of them copy
 * at one time on average. */
struct gsim_crowd_sum {
    gsim_i128 asks[GSIM_HOST_WAYS];
    uint64_t busy_q32[GSIM_HOST_WAYS];
};

struct gsim_link_shares_host {
    uint32_t first_gpu, n_gpus, n_paging;
    uint32_t n_copying; /* GPUs with copies of whole jobs under way */
    int64_t since_ns, length_ns; /* of the window */
    bool is_disturbed;
    bool is_changed; /* copies of whole jobs have begun or ended */
    bool has_met; /* copies were under way when shares were given last */
};

struct gsim_link_shares {
    bool is_on; /* some root or host carries less than its GPUs may ask for */
    bool is_open; /* some GPU may page */
    struct gsim_link_shares_gpu *gpus;
    struct gsim_crowd_sum *below_root, *in_domain; /* by the first GPU of the group */
    struct gsim_pager_shares *found; /* by GPU: scratch */
    int64_t *copies; /* bytes per second that copies ask for: scratch */
    struct gsim_link_shares_host *hosts; /* by node */
    struct gsim_eventq windows; /* ends of windows, by host */
    uint32_t *disturbed; /* hosts */
    uint32_t n_disturbed;
    int64_t disturbed_ns;
    bool was_host_limited; /* some share was limited by a host's rates that no file gave */
    bool has_met_copies; /* a copy of a whole job has left some GPU less than it asked for */
};

#endif
