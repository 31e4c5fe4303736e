/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of jobs on its way over the cluster's links: out to the host, or in from it, over the
 * PCIe link of each GPU that the job holds, and into another node over the network before that. Copies
 * of jobs on GPUs below one root share it; copies through one engine or into one node queue. */
#ifndef GSIM_MODELS_TRAFFIC_H
#define GSIM_MODELS_TRAFFIC_H

#include "models/link.h"
#include "sim/api/model.h"

enum gsim_carriage { GSIM_CARRY_OUT = 0, GSIM_CARRY_IN_FRESH, GSIM_CARRY_IN_REUSED };

struct gsim_traffic_job {
    uint32_t age; /* of the slot: carriages of those who had it before are not reported */
    uint32_t n_left; /* transfers of the present stage */
    uint8_t carriage; /* enum gsim_carriage */
    bool is_on_network; /* the PCIe stage comes after */
    const struct gsim_unit *units;
    uint32_t n_units;
    int64_t bytes; /* of each unit */
};

struct gsim_traffic {
    struct gsim_arena *arena;
    struct gsim_link pcie; /* by GPU */
    struct gsim_link network; /* by node: what comes in */
    struct gsim_copy_rates (*rates)[3]; /* by device type and carriage */
    struct gsim_copy_rates *network_rates; /* by node; NULL: no limits */
    const uint16_t *type_of_gpu;
    struct gsim_wiring wiring;
    struct gsim_traffic_job *jobs; /* by slot */
    uint32_t capacity;
};

bool gsim_traffic_init(struct gsim_traffic *traffic, const struct gsim_model_setup *setup);
/* Slots below capacity are about to be used. false: no memory. */
bool gsim_traffic_reserve(struct gsim_traffic *traffic, uint32_t capacity);
/* A slot's job is gone: what is still under way goes on, and nobody waits for it. */
void gsim_traffic_forget(struct gsim_traffic *traffic, gsim_slot slot);
/* Carries `bytes` for each unit; is_from_elsewhere: over the network first. units stay valid until it
 * is done. One carriage a slot at a time. false: no memory. */
bool gsim_traffic_begin(struct gsim_traffic *traffic, gsim_slot slot, enum gsim_carriage carriage,
                        const struct gsim_unit *units, uint32_t n_units, int64_t bytes,
                        bool is_from_elsewhere, int64_t now_ns);
/* What that takes on idle links, exactly. No units: on one GPU of the first type (a pool). */
int64_t gsim_traffic_ns(const struct gsim_traffic *traffic, enum gsim_carriage carriage,
                        const struct gsim_unit *units, uint32_t n_units, int64_t bytes,
                        bool is_from_elsewhere);
int64_t gsim_traffic_next_time(const struct gsim_traffic *traffic);
/* Serves what is due at or before now_ns until a job's carriage is done: *slot is that one and
 * *end_ns when. false: nothing more is due, or out of memory (*has_failed). */
bool gsim_traffic_pop(struct gsim_traffic *traffic, int64_t now_ns, gsim_slot *slot,
                      int64_t *end_ns, bool *has_failed);

#endif
