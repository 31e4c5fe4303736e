/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the GPUs of one host leave each other of the links that they share (PCIe roots, the host's
 * memory) when each of them pages or migrates. Their arbiters run ahead of each other and skip what
 * repeats, so they do not queue chunk by chunk. Instead each GPU copies at a share of its own rates:
 *
 *     share = carried / (what it asks for while it copies + what the others ask for on average)
 *
 * at most 1, the least over all that it shares, where the average is over all time, copying or not. So
 * one that copies meets the others as often as they copy; together they never get more than is carried,
 * and where all of them cannot ask for more than that, nothing changes. Whose contexts need more than the
 * GPU has is taken to copy all the time; then what has arrived is measured in windows, the first of a
 * second, each an eighth longer than the one before, and what was found counts as much as what was
 * thought before. A window begins anew when the GPUs that page are others, and is short again when contexts come
 * and go. */
#ifndef GSIM_MODELS_JOBS_LINK_SHARES_H
#define GSIM_MODELS_JOBS_LINK_SHARES_H

#include "models/memory/pager.h"
#include "sim/api/model.h"
#include "sim/base/eventq.h"
#include "sim/base/wide.h"

struct gsim_link_shares_gpu {
    bool is_paging;
    int64_t bytes[2]; /* in and out, by the beginning of the window */
    int64_t asks[GSIM_HOST_WAYS]; /* on average, bytes per second */
    struct gsim_pager_shares shares;
    uint32_t first_below_root, first_in_domain; /* GPUs of its host, whose sums are its group's */
};

/* What the paging GPUs of a group ask for together. */
struct gsim_crowd_sum {
    gsim_i128 asks[GSIM_HOST_WAYS];
};

struct gsim_link_shares_host {
    uint32_t first_gpu, n_gpus, n_paging;
    int64_t since_ns, length_ns; /* of the window */
    bool is_disturbed;
};

struct gsim_link_shares {
    bool is_on; /* GPUs of some host share something */
    struct gsim_link_shares_gpu *gpus;
    struct gsim_crowd_sum *below_root, *in_domain; /* by the first GPU of the group */
    struct gsim_link_shares_host *hosts; /* by node */
    struct gsim_eventq windows; /* their ends, by host */
    uint32_t *disturbed; /* hosts */
    uint32_t n_disturbed;
    int64_t disturbed_ns;
    bool was_host_limited; /* by rates that no file gave */
};

#endif
