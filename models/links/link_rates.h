/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast the transfers under way on a link go. Private to link.c and link_rates.c. */
#ifndef GSIM_MODELS_LINKS_LINK_RATES_H
#define GSIM_MODELS_LINKS_LINK_RATES_H

#include "models/links/link_state.h"

struct gsim_link_job {
    struct gsim_transfer asked;
    struct gsim_progress progress; /* of the nanoseconds that the transfer takes alone */
    int64_t begin_ns;
    int64_t alone_ns;
    uint64_t both_q32; /* rate while the other engine is busy */
    /* bytes per second that the transfer could reach on its own, and beside the other engine */
    int64_t asks[2];
    uint32_t next; /* on the engine, or among the unused */
};

static inline uint32_t gsim_link_engine_of(uint32_t gpu, enum gsim_direction direction) {
    return 2 * gpu + (uint32_t)direction;
}
static inline struct gsim_link_job *gsim_link_head_of(const struct gsim_link *link,
                                                      uint32_t engine) {
    uint32_t head = link->engines[engine].head;
    return head == GSIM_LINK_NONE ? NULL : &link->jobs[head];
}

/* What the transfer could reach on its own, and beside the other engine. */
void gsim_link_find_asks(struct gsim_link_job *job);
/* Whether transfers of this GPU meet others, or a limit, at its root. */
bool gsim_link_is_root_shared(const struct gsim_link *link, uint32_t gpu);
/* The rate of a transfer that could go at `wanted`, at no more than `level` bytes per second. */
uint64_t gsim_link_rate_below(const struct gsim_link_job *job, uint64_t wanted, int64_t level);
/* Sets rates after an engine of this GPU began or ended a transfer, or paging changed. */
void gsim_link_rerate(struct gsim_link *link, uint32_t gpu, int64_t now_ns);

#endif
