/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of jobs on its way over the cluster's links: out to the host, or in from it, over the
 * PCIe link of each GPU that the job holds; before a copy in, over the network from another node;
 * and where the host has no room, on to the node's storage after a copy out, or from storage first.
 * Copies of jobs on GPUs below one root share the root; copies through one engine, into one node or
 * to one storage queue. */
#ifndef GSIM_MODELS_LINKS_TRANSFERS_H
#define GSIM_MODELS_LINKS_TRANSFERS_H

#include "models/links/host_memory.h"
#include "models/links/link.h"
#include "sim/api/model.h"

enum gsim_cargo_way { GSIM_CARGO_OUT = 0, GSIM_CARGO_IN_FRESH, GSIM_CARGO_IN_REUSED };

/* The bytes that are carried for each unit. Units and home stay valid until they have arrived. */
struct gsim_cargo {
    enum gsim_cargo_way way;
    int64_t bytes; /* over PCIe */
    /* bytes that lie on the node of each unit of `home`, and cross from there */
    int64_t kept_bytes;
    int64_t stored_bytes; /* to the node's storage, or from there */
    const struct gsim_unit *home; /* NULL: no bytes cross */
    uint32_t n_home;
};

/* The stages of a way, one after the other; on the way out the last comes first. */
enum gsim_stage { GSIM_STAGE_STORAGE = 0, GSIM_STAGE_NETWORK, GSIM_STAGE_PCIE, GSIM_STAGES };

struct gsim_transfers_job {
    uint32_t age; /* of the slot: transfers of earlier jobs in the slot are not reported */
    uint32_t n_left; /* transfers of the present stage */
    uint8_t stages_left;
    const struct gsim_unit *units;
    uint32_t n_units;
    struct gsim_cargo cargo;
};

struct gsim_transfers {
    struct gsim_arena *arena;
    struct gsim_host_memory domains; /* of the hosts' memory */
    struct gsim_link pcie; /* by GPU */
    /* Where both roots and hosts are shared: an idle copy of the links, on which quotes are carried
     * out. */
    struct gsim_link *rehearsal;
    struct gsim_link network; /* by node: copies into the node */
    struct gsim_link storage; /* by node */
    struct gsim_copy_rates (*rates)[3]; /* by device type and way */
    struct gsim_copy_rates *network_rates; /* by node; NULL: no limits */
    struct gsim_copy_rates *storage_rates; /* by node; NULL: no limits */
    bool has_crossed; /* memory has crossed the network at a rate of the profile */
    const uint16_t *type_of_gpu;
    struct gsim_wiring wiring;
    struct gsim_transfers_job *jobs; /* by slot */
    uint32_t capacity;
};

bool gsim_transfers_init(struct gsim_transfers *transfers, const struct gsim_model_setup *setup);
/* From now on GPUs may page over the links of copies (gsim_link_meet_pagers). Returns false if
 * there is no memory left. */
bool gsim_transfers_meet_pagers(struct gsim_transfers *transfers,
                                const struct gsim_model_setup *setup);
/* Slots below capacity are about to be used. Returns false if there is no memory left. */
bool gsim_transfers_reserve(struct gsim_transfers *transfers, uint32_t capacity);
/* A slot's job is gone: its transfers under way go on without a report. */
void gsim_transfers_forget(struct gsim_transfers *transfers, gsim_slot slot);
/* A node fails under a slot's job: its transfers end where they are, and leave the links to others.
 * Its units are still valid. */
void gsim_transfers_cancel(struct gsim_transfers *transfers, gsim_slot slot, int64_t now_ns);
/* Carries a cargo, which is not empty, for these units. One way a slot at a time. Returns false if
 * there is no memory left. */
bool gsim_transfers_begin(struct gsim_transfers *transfers, gsim_slot slot,
                          const struct gsim_cargo *cargo, const struct gsim_unit *units,
                          uint32_t n_units, int64_t now_ns);
/* The exact time of this way on idle links. Without units: on one GPU of the first type (a
 * pool). */
int64_t gsim_transfers_ns(const struct gsim_transfers *transfers, const struct gsim_cargo *cargo,
                          const struct gsim_unit *units, uint32_t n_units);
/* Whether memory that comes to this node from another node takes time. */
static inline bool gsim_transfers_is_slow(const struct gsim_transfers *transfers, uint32_t node) {
    return transfers->network_rates &&
           transfers->network_rates[node].bytes_per_s[GSIM_H2D] != INT64_MAX;
}
int64_t gsim_transfers_next_time(const struct gsim_transfers *transfers);
/* Serves the transfers that are due at or before now_ns until the way of a job is done: *slot is
 * that job and *end_ns its time. Returns false if no more are due, or if there is no memory left
 * (*has_failed). */
bool gsim_transfers_pop(struct gsim_transfers *transfers, int64_t now_ns, gsim_slot *slot,
                        int64_t *end_ns, bool *has_failed);

#endif
