/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of links: their engines, roots and hosts, and the GPUs that page over them. */
#ifndef GSIM_MODELS_LINKS_LINK_STATE_H
#define GSIM_MODELS_LINKS_LINK_STATE_H

#include "gsim/arena.h"
#include "gsim/job.h"
#include "models/links/copy.h"
#include "sim/api/model.h"
#include "sim/base/eventq.h"

struct gsim_transfer {
    uint32_t gpu;
    enum gsim_direction direction;
    int64_t bytes;
    struct gsim_copy_cost cost; /* on an idle link */
    uint64_t tag; /* the caller's; returned with the ended transfer */
};

/* No transfer. */
#define GSIM_LINK_NONE UINT32_MAX

struct gsim_link_engine {
    uint32_t head, tail; /* transfers; the head is on its way */
    /* bytes per second where hosts are shared: now, and when the head's rate was set */
    int64_t gets, got;
    int64_t unpaged; /* bytes per second if no GPU paged, where GPUs page */
    uint64_t wanted_q32; /* the rate that the head could have had then */
};

/* The rates that the GPUs of a NUMA domain reach together: in, out, and the sum of both while both
 * ways are used. */
struct gsim_host_rates {
    int64_t bytes_per_s[GSIM_HOST_WAYS];
};
struct gsim_link_hosts {
    uint32_t n_hosts, n_domains;
    const uint32_t *host_of_gpu, *domain_of_gpu;
    const struct gsim_host_rates *rates; /* by domain */
};

/* Bytes that a GPU pages besides its transfers, each way and both ways together: per second of all
 * time, and per second while it copies. */
struct gsim_link_paging {
    int64_t takes[GSIM_HOST_WAYS], peak[GSIM_HOST_WAYS];
};

/* The GPUs of a link that may page. */
struct gsim_link_pagers {
    struct gsim_link_paging *of_gpu;
    struct gsim_host_rates *carried; /* by GPU, on its own link */
    uint32_t *self; /* ring of each GPU alone */
    bool count; /* while rates are set: links are capped by what paging leaves of them */
    /* GPUs with engines that have begun or ended transfers since they were taken out */
    uint32_t *changed;
    bool *is_changed; /* by GPU */
    uint32_t n_changed;
    int64_t changed_ns; /* of the last change */
};

struct gsim_link_job; /* a transfer that is queued or under way (models/links/link.c) */

struct gsim_link {
    struct gsim_arena *arena;
    struct gsim_eventq queue; /* ends of heads, by engine */
    struct gsim_link_engine *engines; /* 2 * gpu + direction */
    struct gsim_link_job *jobs;
    uint32_t capacity, first_unused;
    uint32_t n_gpus;
    const uint32_t *root_of_gpu; /* NULL: every GPU has a root of its own */
    const int64_t *root_bytes_per_s; /* each way, by root */
    uint32_t *next_below; /* ring of the GPUs below one root */
    const struct gsim_link_hosts *hosts; /* NULL: no GPUs share a host's memory */
    uint32_t *next_in_domain, *next_in_host; /* rings, where there are hosts */
    bool was_host_limited; /* a host's limit that no file gave decided a rate */
    const bool *is_host_given; /* by domain */
    struct gsim_link_pagers *pagers; /* NULL: no GPU pages */
    bool has_met_paging; /* paging has left some transfer less than it asked for */
};

#endif
