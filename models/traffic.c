/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A carriage is one transfer for each unit, or, over the network, one for each node and then those.
 * A job's memory is copied as a whole: the costs of single copies do not show. */
#include "models/traffic.h"

#include <assert.h>

static struct gsim_copy_rates rates_of(const struct gsim_profile *profile,
                                       enum gsim_carriage carriage) {
    struct gsim_copy_rates rates =
        gsim_copy_rates_pinned(profile, carriage == GSIM_CARRY_IN_REUSED);
    rates.copy_ns[GSIM_H2D] = rates.copy_ns[GSIM_D2H] = rates.both_copy_ns = rates.sync_ns = 0;
    return rates;
}

static bool init_network(struct gsim_traffic *traffic) {
    const struct gsim_wiring *wiring = &traffic->wiring;
    if (!wiring->network_bytes_per_s)
        return true;
    traffic->network_rates =
        gsim_arena_array(traffic->arena, wiring->n_nodes, sizeof *traffic->network_rates);
    if (!traffic->network_rates)
        return false;
    for (uint32_t node = 0; node < wiring->n_nodes; node++) {
        int64_t rate = wiring->network_bytes_per_s[node];
        traffic->network_rates[node] =
            (struct gsim_copy_rates){.bytes_per_s = {rate, rate}, .both_bytes_per_s = INT64_MAX};
    }
    return gsim_link_init(&traffic->network, wiring->n_nodes, NULL, NULL, traffic->arena);
}

bool gsim_traffic_init(struct gsim_traffic *traffic, const struct gsim_model_setup *setup) {
    *traffic = (struct gsim_traffic){
        .arena = setup->arena, .type_of_gpu = setup->type_of_gpu, .wiring = setup->wiring};
    traffic->rates = gsim_arena_array(setup->arena, setup->n_profiles, sizeof *traffic->rates);
    if (!traffic->rates)
        return false;
    for (uint16_t type = 0; type < setup->n_profiles; type++)
        for (enum gsim_carriage c = GSIM_CARRY_OUT; c <= GSIM_CARRY_IN_REUSED; c++)
            traffic->rates[type][c] = rates_of(setup->profiles[type], c);
    return gsim_link_init(&traffic->pcie, setup->n_gpus, setup->wiring.root_of_gpu,
                          setup->wiring.root_bytes_per_s, setup->arena) &&
           init_network(traffic);
}

bool gsim_traffic_reserve(struct gsim_traffic *traffic, uint32_t capacity) {
    struct gsim_traffic_job *jobs = gsim_arena_grow(
        traffic->arena, traffic->jobs, traffic->capacity * sizeof *jobs, capacity * sizeof *jobs);
    if (!jobs)
        return false;
    traffic->jobs = jobs;
    traffic->capacity = capacity;
    return true;
}

void gsim_traffic_forget(struct gsim_traffic *traffic, gsim_slot slot) {
    traffic->jobs[slot].age++;
    traffic->jobs[slot].n_left = 0;
}

/* --- beginning -------------------------------------------------------------------------------- */

static enum gsim_direction direction_of(enum gsim_carriage carriage) {
    return carriage == GSIM_CARRY_OUT ? GSIM_D2H : GSIM_H2D;
}

static const struct gsim_copy_rates *rates_on(const struct gsim_traffic *traffic, uint32_t gpu,
                                              enum gsim_carriage carriage) {
    return &traffic->rates[traffic->type_of_gpu[gpu]][carriage];
}

static uint32_t node_of(const struct gsim_traffic *traffic, const struct gsim_unit *unit) {
    return traffic->wiring.node_of_gpu[unit->gpu];
}

/* How many units after `first` lie on its node, without a gap: a gang's units are node by node. */
static uint32_t n_on_node(const struct gsim_traffic *traffic, const struct gsim_unit *units,
                          uint32_t n_units, uint32_t first) {
    uint32_t end = first + 1;
    while (end < n_units && node_of(traffic, &units[end]) == node_of(traffic, &units[first]))
        end++;
    return end - first;
}

static uint64_t tag_of(const struct gsim_traffic *traffic, gsim_slot slot) {
    return (uint64_t)traffic->jobs[slot].age << 32 | slot;
}

static bool begin_pcie(struct gsim_traffic *traffic, gsim_slot slot, int64_t now_ns) {
    struct gsim_traffic_job *job = &traffic->jobs[slot];
    job->is_on_network = false;
    job->n_left = job->n_units;
    for (uint32_t u = 0; u < job->n_units; u++) {
        uint32_t gpu = job->units[u].gpu;
        struct gsim_transfer transfer = {
            .gpu = gpu,
            .direction = direction_of((enum gsim_carriage)job->carriage),
            .bytes = job->bytes,
            .rates = rates_on(traffic, gpu, (enum gsim_carriage)job->carriage),
            .tag = tag_of(traffic, slot)};
        if (gsim_link_submit(&traffic->pcie, &transfer, now_ns) == GSIM_LINK_NONE)
            return false;
    }
    return true;
}

static bool begin_network(struct gsim_traffic *traffic, gsim_slot slot, int64_t now_ns) {
    struct gsim_traffic_job *job = &traffic->jobs[slot];
    uint32_t n;
    job->is_on_network = true;
    for (uint32_t u = 0; u < job->n_units; u += n) {
        uint32_t node = node_of(traffic, &job->units[u]);
        n = n_on_node(traffic, job->units, job->n_units, u);
        struct gsim_transfer transfer = {.gpu = node,
                                         .direction = GSIM_H2D,
                                         .bytes = job->bytes * n,
                                         .rates = &traffic->network_rates[node],
                                         .tag = tag_of(traffic, slot)};
        if (gsim_link_submit(&traffic->network, &transfer, now_ns) == GSIM_LINK_NONE)
            return false;
        job->n_left++;
    }
    return true;
}

bool gsim_traffic_begin(struct gsim_traffic *traffic, gsim_slot slot, enum gsim_carriage carriage,
                        const struct gsim_unit *units, uint32_t n_units, int64_t bytes,
                        bool is_from_elsewhere, int64_t now_ns) {
    struct gsim_traffic_job *job = &traffic->jobs[slot];
    assert(job->n_left == 0 && n_units > 0);
    *job = (struct gsim_traffic_job){.age = job->age,
                                     .carriage = (uint8_t)carriage,
                                     .units = units,
                                     .n_units = n_units,
                                     .bytes = bytes};
    return is_from_elsewhere && traffic->network_rates ? begin_network(traffic, slot, now_ns)
                                                       : begin_pcie(traffic, slot, now_ns);
}

/* --- quotes ----------------------------------------------------------------------------------- */

static int64_t network_ns(const struct gsim_traffic *traffic, const struct gsim_unit *units,
                          uint32_t n_units, int64_t bytes) {
    int64_t longest_ns = 0;
    uint32_t n;
    for (uint32_t u = 0; u < n_units; u += n) {
        n = n_on_node(traffic, units, n_units, u);
        const struct gsim_copy_rates *rates = &traffic->network_rates[node_of(traffic, &units[u])];
        int64_t ns = gsim_copy_ns(rates, GSIM_H2D, bytes * n, 0);
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    return longest_ns;
}

/* Units of the gang below one unit's root; those lie on one node. */
static uint32_t n_below_root(const struct gsim_traffic *traffic, const struct gsim_unit *units,
                             uint32_t n_units, uint32_t gpu) {
    const uint32_t *root = traffic->wiring.root_of_gpu;
    uint32_t n = 0;
    if (!root)
        return 1;
    for (uint32_t u = 0; u < n_units; u++)
        n += root[units[u].gpu] == root[gpu];
    return n;
}

int64_t gsim_traffic_ns(const struct gsim_traffic *traffic, enum gsim_carriage carriage,
                        const struct gsim_unit *units, uint32_t n_units, int64_t bytes,
                        bool is_from_elsewhere) {
    int64_t longest_ns = 0;
    if (n_units == 0)
        return gsim_copy_ns(&traffic->rates[0][carriage], direction_of(carriage), bytes, 0);
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t gpu = units[u].gpu;
        int64_t ns =
            gsim_link_together_ns(&traffic->pcie, gpu, n_below_root(traffic, units, n_units, gpu),
                                  rates_on(traffic, gpu, carriage), direction_of(carriage), bytes);
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    if (is_from_elsewhere && traffic->network_rates)
        longest_ns += network_ns(traffic, units, n_units, bytes);
    return longest_ns;
}

/* --- time ------------------------------------------------------------------------------------- */

int64_t gsim_traffic_next_time(const struct gsim_traffic *traffic) {
    int64_t pcie_ns = gsim_link_next_time(&traffic->pcie);
    if (!traffic->network_rates)
        return pcie_ns;
    int64_t network_next_ns = gsim_link_next_time(&traffic->network);
    return network_next_ns < pcie_ns ? network_next_ns : pcie_ns;
}

bool gsim_traffic_pop(struct gsim_traffic *traffic, int64_t now_ns, gsim_slot *slot,
                      int64_t *end_ns, bool *has_failed) {
    *has_failed = false;
    while (gsim_traffic_next_time(traffic) <= now_ns) {
        struct gsim_transfer_done done;
        bool is_pcie = gsim_link_next_time(&traffic->pcie) == gsim_traffic_next_time(traffic);
        (void)gsim_link_pop(is_pcie ? &traffic->pcie : &traffic->network, now_ns, &done);
        *slot = (gsim_slot)(done.tag & UINT32_MAX);
        *end_ns = done.end_ns;
        struct gsim_traffic_job *job = &traffic->jobs[*slot];
        if (job->age != done.tag >> 32 || --job->n_left > 0)
            continue;
        if (!job->is_on_network)
            return true;
        if (!begin_pcie(traffic, *slot, done.end_ns)) {
            *has_failed = true;
            return false;
        }
    }
    return false;
}
