/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the machine keeps of links that paging GPUs and copies share (models/jobs/link_shares.h). */
#ifndef GSIM_MODELS_JOBS_LINK_SHARES_STATE_H
#define GSIM_MODELS_JOBS_LINK_SHARES_STATE_H

#include "models/memory/pager.h"
#include "sim/base/eventq.h"
#include "sim/base/wide.h"

/* The links of a GPU: its own, the root above it and the memory of its host. */
enum gsim_paged_link { GSIM_PAGED_OWN = 0, GSIM_PAGED_ROOT, GSIM_PAGED_DOMAIN, GSIM_PAGED_LINKS };

struct gsim_link_shares_gpu {
    bool is_paging;
    bool is_still; /* its contexts have all their memory: it asks for nothing until they change */
    int64_t since_ns; /* begin of its window, or of the time without contexts that come or go */
    int64_t bytes[2]; /* bytes in and out, by the last tally */
    gsim_i128 demand[GSIM_HOST_WAYS]; /* bytes since then, as if they had moved at full rates */
    int64_t asks[GSIM_HOST_WAYS]; /* bytes per second that the GPU asks for on average */
    int64_t measured[GSIM_HOST_WAYS]; /* what it asked for before its shares changed */
    int64_t found[GSIM_HOST_WAYS]; /* the average of its last window alone; -1: none has ended */
    /* bytes per second of a way while it copies in, out or both ways at once, and the most of them,
     * by the manager of its memory */
    int64_t wants[GSIM_HOST_WAYS][GSIM_HOST_WAYS], most[GSIM_HOST_WAYS];
    struct gsim_pager_shares shares;
    uint32_t first[GSIM_PAGED_LINKS]; /* the first GPU on each of its links */
};

/* What a link carries, and for how much it is asked, while the shares of its host are found. */
struct gsim_link_load {
    int64_t carried[GSIM_HOST_WAYS]; /* INT64_MAX: as much as is asked */
    /* the bytes per second for which its paging GPUs ask together, and how many of them copy at one
     * time on average, which is summed where there are copies of whole jobs */
    gsim_i128 asks[GSIM_HOST_WAYS];
    uint64_t busy_q32[GSIM_HOST_WAYS];
    /* the bytes per second for which each copy of a whole job under way asks */
    int64_t *copies[GSIM_HOST_WAYS];
    uint32_t n_copies[GSIM_HOST_WAYS];
    bool is_tight[GSIM_HOST_WAYS]; /* some GPU may get less than it asks for */
};

struct gsim_link_shares_host {
    uint32_t first_gpu, n_gpus, n_paging;
    uint32_t n_copying; /* GPUs with copies of whole jobs under way */
    int64_t since_ns, length_ns; /* of the window */
    bool is_disturbed;
    bool suffices; /* its links carry all that its GPUs can ask for: they meet copies alone */
    bool is_weighed; /* this was found for the present managers of its GPUs' memory */
    bool is_changed; /* copies of whole jobs have begun or ended */
    bool has_met; /* copies were under way when shares were given last */
};

/* A copy of a whole job. */
struct gsim_link_copy {
    uint32_t gpu;
    uint8_t direction; /* enum gsim_direction */
    int64_t bytes_per_s; /* for which it asks of its root and beyond */
};

struct gsim_link_shares {
    bool is_on; /* some root or host carries less than its GPUs may ask for */
    bool is_open; /* some GPU may page */
    struct gsim_link_shares_gpu *gpus;
    struct gsim_link_load *loads[GSIM_PAGED_LINKS]; /* scratch: by the first GPU of the link */
    struct gsim_pager_shares *found; /* by GPU: scratch */
    /* scratch: the copies under way of the host of which shares are found, and what they ask for,
     * by link and way */
    struct gsim_link_copy *under_way;
    uint32_t n_under_way;
    int64_t *copies;
    struct gsim_link_shares_host *hosts; /* by node */
    struct gsim_eventq windows; /* ends of windows, by host */
    uint32_t *disturbed; /* hosts */
    uint32_t n_disturbed;
    int64_t disturbed_ns;
    bool was_host_limited; /* some share was limited by a host's rates that no file gave */
    bool has_met_copies; /* a copy of a whole job has left some GPU less than it asked for */
};

#endif
