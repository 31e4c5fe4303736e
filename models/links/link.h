/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The PCIe links of a cluster. Each GPU has an engine for each direction; transfers queue first
 * come on their engine. While both engines of a GPU are busy, both are slowed to the duplex ceiling
 * and pay the latency of a pair of copies; GPUs below one root share the root's bandwidth each way,
 * max-min fair, and GPUs of one NUMA domain the bandwidth of their host's memory. Where GPUs page,
 * transfers share what paging leaves.
 *
 * A transfer is work: as many nanoseconds as it takes alone on an idle link (gsim_copy_cost, also
 * its quote), done at a rate of one while nothing disturbs it. So a quote is exactly what an idle
 * link charges, and splitting an interval never changes a completion time. */
#ifndef GSIM_MODELS_LINKS_LINK_H
#define GSIM_MODELS_LINKS_LINK_H

#include "models/links/link_state.h"

struct gsim_transfer_done {
    uint64_t tag;
    int64_t begin_ns, end_ns; /* on the engine; the wait in the queue is before begin_ns */
    int64_t bytes;
    uint32_t gpu;
    enum gsim_direction direction;
};

/* root_of_gpu may be NULL; else it and root_bytes_per_s outlive the link. Returns false if there is
 * no memory left. */
bool gsim_link_init(struct gsim_link *link, uint32_t n_gpus, const uint32_t *root_of_gpu,
                    const int64_t *root_bytes_per_s, struct gsim_arena *arena);
/* GPUs of one host share its memory as well; hosts outlives the link. Returns false if there is no
 * memory left. */
bool gsim_link_share_hosts(struct gsim_link *link, const struct gsim_link_hosts *hosts,
                           const bool *is_given);
/* now_ns never goes back, and each transfer that ends before it has been popped. Returns a handle
 * that is valid until the transfer is popped; GSIM_LINK_NONE: no memory left. */
uint32_t gsim_link_submit(struct gsim_link *link, const struct gsim_transfer *transfer,
                          int64_t now_ns);
/* Time of equal transfers, one to a GPU, n of them below the root of this GPU and n_in_domain in
 * its domain, begun together on an idle link: exactly what the link then charges, unless both the
 * root and the domain are shared. */
int64_t gsim_link_together_ns(const struct gsim_link *link, const struct gsim_transfer *transfer,
                              uint32_t n, uint32_t n_in_domain);
/* When the next transfer ends; GSIM_NEVER when none is under way. */
int64_t gsim_link_next_time(const struct gsim_link *link);
/* Takes out the next transfer that ends at or before now_ns, by time and engine; its successor on
 * the engine begins at its end. Returns false if there is none. */
bool gsim_link_pop(struct gsim_link *link, int64_t now_ns, struct gsim_transfer_done *out);
/* Takes out the transfers with this tag that are queued or under way on an engine: they are not
 * popped. Each transfer that ends at or before now_ns has been popped. */
void gsim_link_cancel(struct gsim_link *link, uint32_t gpu, enum gsim_direction direction,
                      uint64_t tag, int64_t now_ns);
/* From now on GPUs may page besides their transfers: each transfer gets what the paging of the GPUs
 * on its links leaves. carried: what the link of a GPU of this type carries. Returns false if there
 * is no memory left. */
bool gsim_link_meet_pagers(struct gsim_link *link, const struct gsim_host_rates *carried,
                           const uint16_t *type_of_gpu);
/* What this GPU pages; transfers go by it after the next gsim_link_repage of their GPU's host. */
void gsim_link_set_paging(struct gsim_link *link, uint32_t gpu,
                          const struct gsim_link_paging *paging);
/* Sets the rates of the GPU, and of GPUs that share links with it, by what they page now. */
void gsim_link_repage(struct gsim_link *link, uint32_t gpu, int64_t now_ns);
/* Takes out a GPU with engines that have begun or ended a transfer, where GPUs may page. Returns
 * false if there is none. */
bool gsim_link_take_changed(struct gsim_link *link, uint32_t *gpu);
/* The bytes per second that the transfer under way on an engine could reach if no other GPU was in
 * its way; 0: none is under way. */
int64_t gsim_link_asks(const struct gsim_link *link, uint32_t gpu, enum gsim_direction direction);
bool gsim_link_is_busy(const struct gsim_link *link, uint32_t gpu, enum gsim_direction direction);
static inline bool gsim_link_is_copying(const struct gsim_link *link, uint32_t gpu) {
    return gsim_link_is_busy(link, gpu, GSIM_H2D) || gsim_link_is_busy(link, gpu, GSIM_D2H);
}

#endif
