/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A way is one transfer for each unit and, over the network and to storage, one for each node,
 * stage after stage. A job's memory is copied as a whole: the costs of single copies do not
 * show. */
#include "models/links/transfers.h"

#include <assert.h>

static struct gsim_copy_rates rates_of(const struct gsim_profile *profile,
                                       enum gsim_cargo_way way) {
    struct gsim_copy_rates rates = gsim_copy_rates_pinned(profile, way == GSIM_CARGO_IN_REUSED);
    rates.copy_ns[GSIM_H2D] = rates.copy_ns[GSIM_D2H] = rates.both_copy_ns = rates.sync_ns = 0;
    return rates;
}

/* The profile of a node's GPUs, which also has the host's numbers. */
static const struct gsim_profile *profile_of(const struct gsim_model_setup *setup, uint32_t gpu) {
    return setup->profiles[setup->type_of_gpu[gpu]];
}

/* The rate of a node's network: the cluster's, else its device's. */
static int64_t network_rate(const struct gsim_model_setup *setup, uint32_t gpu) {
    const int64_t *given = setup->wiring.network_bytes_per_s;
    uint32_t node = setup->wiring.node_of_gpu[gpu];
    return given && given[node] > 0 ? given[node]
                                    : profile_of(setup, gpu)->value[GSIM_KEY_NETWORK_BYTES_PER_S];
}

/* Rates by node, or NULL where no node has a limit. Returns false if there is no memory left. */
static bool init_nodes(struct gsim_transfers *transfers, const struct gsim_model_setup *setup,
                       enum gsim_stage stage, struct gsim_link *link,
                       struct gsim_copy_rates **out) {
    bool is_limited = false;
    uint32_t n_nodes = setup->wiring.n_nodes;
    struct gsim_copy_rates *rates = gsim_arena_array(transfers->arena, n_nodes, sizeof *rates);
    if (!rates)
        return false;
    for (uint32_t gpu = setup->n_gpus; gpu-- > 0;) { /* the first GPU of a node decides */
        int64_t rate = stage == GSIM_STAGE_NETWORK
                           ? network_rate(setup, gpu)
                           : profile_of(setup, gpu)->value[GSIM_KEY_STORAGE_BYTES_PER_S];
        is_limited |= rate != INT64_MAX;
        rates[setup->wiring.node_of_gpu[gpu]] = (struct gsim_copy_rates){
            .bytes_per_s = {rate, rate},
            .both_bytes_per_s = stage == GSIM_STAGE_NETWORK ? INT64_MAX : rate};
    }
    *out = is_limited ? rates : NULL;
    return !is_limited || gsim_link_init(link, n_nodes, NULL, NULL, transfers->arena);
}

static bool init_link(struct gsim_transfers *transfers, const struct gsim_model_setup *setup,
                      struct gsim_link *link) {
    return gsim_link_init(link, setup->n_gpus, setup->wiring.root_of_gpu,
                          setup->wiring.root_bytes_per_s, setup->arena) &&
           (!transfers->domains.is_bottleneck ||
            gsim_link_share_hosts(link, &transfers->domains.hosts, transfers->domains.is_given));
}

static bool init_pcie(struct gsim_transfers *transfers, const struct gsim_model_setup *setup) {
    if (!init_link(transfers, setup, &transfers->pcie))
        return false;
    if (!transfers->domains.is_bottleneck || !setup->wiring.root_of_gpu)
        return true;
    transfers->rehearsal = gsim_arena_alloc(setup->arena, sizeof *transfers->rehearsal);
    return transfers->rehearsal && init_link(transfers, setup, transfers->rehearsal);
}

bool gsim_transfers_init(struct gsim_transfers *transfers, const struct gsim_model_setup *setup) {
    *transfers = (struct gsim_transfers){
        .arena = setup->arena, .type_of_gpu = setup->type_of_gpu, .wiring = setup->wiring};
    transfers->rates = gsim_arena_array(setup->arena, setup->n_profiles, sizeof *transfers->rates);
    if (!transfers->rates)
        return false;
    for (uint16_t type = 0; type < setup->n_profiles; type++)
        for (enum gsim_cargo_way c = GSIM_CARGO_OUT; c <= GSIM_CARGO_IN_REUSED; c++)
            transfers->rates[type][c] = rates_of(setup->profiles[type], c);
    return gsim_host_memory_init(&transfers->domains, setup) && init_pcie(transfers, setup) &&
           init_nodes(transfers, setup, GSIM_STAGE_NETWORK, &transfers->network,
                      &transfers->network_rates) &&
           init_nodes(transfers, setup, GSIM_STAGE_STORAGE, &transfers->storage,
                      &transfers->storage_rates);
}

bool gsim_transfers_meet_pagers(struct gsim_transfers *transfers,
                                const struct gsim_model_setup *setup) {
    struct gsim_host_rates *carried =
        gsim_arena_array(transfers->arena, setup->n_profiles, sizeof *carried);
    for (uint16_t type = 0; carried && type < setup->n_profiles; type++) {
        const struct gsim_copy_rates *rates = &transfers->rates[type][GSIM_CARGO_IN_FRESH];
        carried[type] = (struct gsim_host_rates){
            {rates->bytes_per_s[GSIM_H2D], rates->bytes_per_s[GSIM_D2H], rates->both_bytes_per_s}};
    }
    return carried && gsim_link_meet_pagers(&transfers->pcie, carried, setup->type_of_gpu);
}

bool gsim_transfers_reserve(struct gsim_transfers *transfers, uint32_t capacity) {
    struct gsim_transfers_job *jobs =
        gsim_arena_grow(transfers->arena, transfers->jobs, transfers->capacity * sizeof *jobs,
                        capacity * sizeof *jobs);
    if (!jobs)
        return false;
    transfers->jobs = jobs;
    transfers->capacity = capacity;
    return true;
}

void gsim_transfers_forget(struct gsim_transfers *transfers, gsim_slot slot) {
    transfers->jobs[slot].age++;
    transfers->jobs[slot].n_left = 0;
}

/* --- beginning -------------------------------------------------------------------------------- */

static enum gsim_direction direction_of(enum gsim_cargo_way way) {
    return way == GSIM_CARGO_OUT ? GSIM_D2H : GSIM_H2D;
}

static uint32_t node_of(const struct gsim_transfers *transfers, const struct gsim_unit *unit) {
    return transfers->wiring.node_of_gpu[unit->gpu];
}

/* How many units from `first` on lie on its node, without a gap. */
static uint32_t n_beside(const struct gsim_transfers *transfers, const struct gsim_unit *units,
                         uint32_t n_units, uint32_t first) {
    uint32_t end = first + 1;
    while (end < n_units && node_of(transfers, &units[end]) == node_of(transfers, &units[first]))
        end++;
    return end - first;
}

/* How many units lie on the node of `first`; 0: one of them stands before it. A gang that is spread
 * has units of one node apart from each other. */
static uint32_t n_on_node(const struct gsim_transfers *transfers, const struct gsim_unit *units,
                          uint32_t n_units, uint32_t first) {
    uint32_t node = node_of(transfers, &units[first]), n = 0;
    for (uint32_t u = 0; u < first; u++)
        if (node_of(transfers, &units[u]) == node)
            return 0;
    for (uint32_t u = first; u < n_units; u++)
        n += node_of(transfers, &units[u]) == node;
    return n;
}

static bool is_network_given(const struct gsim_transfers *transfers, uint32_t node) {
    const int64_t *given = transfers->wiring.network_bytes_per_s;
    return given && given[node] > 0;
}

static uint64_t tag_of(const struct gsim_transfers *transfers, gsim_slot slot) {
    return (uint64_t)transfers->jobs[slot].age << 32 | slot;
}

/* place: the GPU, or the node that has the link. */
static struct gsim_transfer transfer_of(const struct gsim_copy_rates *rates,
                                        enum gsim_direction direction, uint32_t place,
                                        int64_t bytes) {
    return (struct gsim_transfer){.gpu = place,
                                  .direction = direction,
                                  .bytes = bytes,
                                  .cost = gsim_copy_cost(rates, direction, bytes, 0)};
}

static struct gsim_transfer pcie_transfer(const struct gsim_transfers *transfers,
                                          const struct gsim_cargo *cargo, uint32_t gpu) {
    return transfer_of(&transfers->rates[transfers->type_of_gpu[gpu]][cargo->way],
                       direction_of(cargo->way), gpu, cargo->bytes);
}

/* Bytes for the n units on the node of unit u that are not on that node yet. */
static int64_t crossing_bytes(const struct gsim_transfers *transfers,
                              const struct gsim_cargo *cargo, const struct gsim_unit *units,
                              uint32_t u, uint32_t n) {
    uint32_t node = node_of(transfers, &units[u]), n_there = 0;
    for (uint32_t i = 0; i < cargo->n_home; i++)
        n_there += node_of(transfers, &cargo->home[i]) == node;
    return n > n_there ? cargo->kept_bytes * (n - n_there) : 0;
}

/* Whether nodes may have bytes to carry at this stage. */
static bool has_nodes(const struct gsim_transfers *transfers, const struct gsim_cargo *cargo,
                      enum gsim_stage stage) {
    if (stage == GSIM_STAGE_STORAGE)
        return transfers->storage_rates && cargo->stored_bytes > 0;
    return transfers->network_rates && cargo->home && cargo->kept_bytes > 0;
}

static int64_t node_bytes(const struct gsim_transfers *transfers, const struct gsim_cargo *cargo,
                          enum gsim_stage stage, const struct gsim_unit *units, uint32_t u,
                          uint32_t n) {
    if (!has_nodes(transfers, cargo, stage))
        return 0;
    return stage == GSIM_STAGE_STORAGE ? cargo->stored_bytes * n
                                       : crossing_bytes(transfers, cargo, units, u, n);
}

/* The transfer for the n units on the node of unit u; without bytes there is none. */
static struct gsim_transfer node_transfer(const struct gsim_transfers *transfers,
                                          const struct gsim_cargo *cargo, enum gsim_stage stage,
                                          const struct gsim_unit *units, uint32_t u, uint32_t n) {
    bool is_storage = stage == GSIM_STAGE_STORAGE;
    uint32_t node = node_of(transfers, &units[u]);
    int64_t bytes = node_bytes(transfers, cargo, stage, units, u, n);
    if (bytes == 0)
        return (struct gsim_transfer){.gpu = node};
    return transfer_of(is_storage ? &transfers->storage_rates[node]
                                  : &transfers->network_rates[node],
                       is_storage ? direction_of(cargo->way) : GSIM_H2D, node, bytes);
}

static bool begin_pcie(struct gsim_transfers *transfers, gsim_slot slot, int64_t now_ns) {
    struct gsim_transfers_job *job = &transfers->jobs[slot];
    const struct gsim_cargo *cargo = &job->cargo;
    job->n_left = cargo->bytes > 0 ? job->n_units : 0;
    for (uint32_t u = 0; u < job->n_left; u++) {
        struct gsim_transfer transfer = pcie_transfer(transfers, cargo, job->units[u].gpu);
        transfer.tag = tag_of(transfers, slot);
        if (gsim_link_submit(&transfers->pcie, &transfer, now_ns) == GSIM_LINK_NONE)
            return false;
    }
    return true;
}

/* Begins one transfer for each node that has bytes to carry. */
static bool begin_nodes(struct gsim_transfers *transfers, gsim_slot slot, enum gsim_stage stage,
                        int64_t now_ns) {
    struct gsim_transfers_job *job = &transfers->jobs[slot];
    struct gsim_link *link =
        stage == GSIM_STAGE_STORAGE ? &transfers->storage : &transfers->network;
    job->n_left = 0;
    for (uint32_t u = 0; u < job->n_units; u += n_beside(transfers, job->units, job->n_units, u)) {
        uint32_t n = n_on_node(transfers, job->units, job->n_units, u);
        struct gsim_transfer transfer =
            node_transfer(transfers, &job->cargo, stage, job->units, u, n);
        if (transfer.bytes == 0)
            continue;
        transfer.tag = tag_of(transfers, slot);
        if (gsim_link_submit(link, &transfer, now_ns) == GSIM_LINK_NONE)
            return false;
        job->n_left++;
        transfers->has_crossed |=
            stage == GSIM_STAGE_NETWORK && !is_network_given(transfers, transfer.gpu);
    }
    return true;
}

void gsim_transfers_cancel(struct gsim_transfers *transfers, gsim_slot slot, int64_t now_ns) {
    const struct gsim_transfers_job *job = &transfers->jobs[slot];
    enum gsim_direction direction = direction_of(job->cargo.way);
    uint64_t tag = tag_of(transfers, slot);
    for (uint32_t u = 0; job->n_left > 0 && u < job->n_units; u++) {
        uint32_t node = node_of(transfers, &job->units[u]);
        gsim_link_cancel(&transfers->pcie, job->units[u].gpu, direction, tag, now_ns);
        if (transfers->network_rates)
            gsim_link_cancel(&transfers->network, node, GSIM_H2D, tag, now_ns);
        if (transfers->storage_rates)
            gsim_link_cancel(&transfers->storage, node, direction, tag, now_ns);
    }
    gsim_transfers_forget(transfers, slot);
}

/* Goes on to the next stage that has bytes to carry, if any is left. */
static bool begin_next(struct gsim_transfers *transfers, gsim_slot slot, int64_t now_ns) {
    struct gsim_transfers_job *job = &transfers->jobs[slot];
    while (job->n_left == 0 && job->stages_left > 0) {
        enum gsim_stage stage = (enum gsim_stage)(GSIM_STAGES - job->stages_left);
        if (job->cargo.way == GSIM_CARGO_OUT)
            stage = (enum gsim_stage)(job->stages_left - 1);
        job->stages_left--;
        bool is_begun = stage == GSIM_STAGE_PCIE ? begin_pcie(transfers, slot, now_ns)
                                                 : begin_nodes(transfers, slot, stage, now_ns);
        if (!is_begun)
            return false;
    }
    return true;
}

bool gsim_transfers_begin(struct gsim_transfers *transfers, gsim_slot slot,
                          const struct gsim_cargo *cargo, const struct gsim_unit *units,
                          uint32_t n_units, int64_t now_ns) {
    struct gsim_transfers_job *job = &transfers->jobs[slot];
    assert(job->n_left == 0 && n_units > 0);
    *job = (struct gsim_transfers_job){.age = job->age,
                                       .stages_left = GSIM_STAGES,
                                       .units = units,
                                       .n_units = n_units,
                                       .cargo = *cargo};
    return begin_next(transfers, slot, now_ns);
}

/* --- quotes ----------------------------------------------------------------------------------- */

static int64_t nodes_ns(const struct gsim_transfers *transfers, const struct gsim_cargo *cargo,
                        enum gsim_stage stage, const struct gsim_unit *units, uint32_t n_units) {
    int64_t longest_ns = 0;
    for (uint32_t u = 0; u < n_units && has_nodes(transfers, cargo, stage);
         u += n_beside(transfers, units, n_units, u)) {
        uint32_t n = n_on_node(transfers, units, n_units, u);
        int64_t ns = node_transfer(transfers, cargo, stage, units, u, n).cost.alone_ns;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    return longest_ns;
}

/* The number of a gang's units in the group of this GPU; NULL: each GPU is a group of its own. */
static uint32_t n_alike(const uint32_t *group_of_gpu, const struct gsim_unit *units,
                        uint32_t n_units, uint32_t gpu) {
    uint32_t n = 0;
    if (!group_of_gpu)
        return 1;
    for (uint32_t u = 0; u < n_units; u++)
        n += group_of_gpu[units[u].gpu] == group_of_gpu[gpu];
    return n;
}

/* Whether copies to both GPUs take equally long: they are of one type, below one root and in one
 * domain, where roots and domains are shared. */
static bool copy_alike(const struct gsim_transfers *transfers, uint32_t gpu, uint32_t other) {
    const uint32_t *root = transfers->wiring.root_of_gpu;
    const struct gsim_link_hosts *hosts = transfers->pcie.hosts;
    return transfers->type_of_gpu[gpu] == transfers->type_of_gpu[other] &&
           (!root || root[gpu] == root[other]) &&
           (!hosts || hosts->domain_of_gpu[gpu] == hosts->domain_of_gpu[other]);
}

/* The longest of the copies of these units, which are all that lie on their nodes; groups are parts
 * of a node. */
static int64_t together_ns(const struct gsim_transfers *transfers, const struct gsim_cargo *cargo,
                           const struct gsim_unit *units, uint32_t n_units) {
    const struct gsim_link_hosts *hosts = transfers->pcie.hosts;
    int64_t longest_ns = 0;
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t gpu = units[u].gpu;
        if (u > 0 && copy_alike(transfers, gpu, units[u - 1].gpu))
            continue;
        struct gsim_transfer transfer = pcie_transfer(transfers, cargo, gpu);
        uint32_t n = n_alike(transfers->wiring.root_of_gpu, units, n_units, gpu);
        uint32_t n_in_domain = n_alike(hosts ? hosts->domain_of_gpu : NULL, units, n_units, gpu);
        int64_t ns = gsim_link_together_ns(&transfers->pcie, &transfer, n, n_in_domain);
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    return longest_ns;
}

/* The time of the copies carried out on idle links: a transfer that ends below one root leaves more
 * of the host to the others. */
static int64_t rehearsed_ns(const struct gsim_transfers *transfers, const struct gsim_cargo *cargo,
                            const struct gsim_unit *units, uint32_t n_units) {
    struct gsim_transfer_done done = {0};
    for (uint32_t u = 0; u < n_units; u++) {
        struct gsim_transfer transfer = pcie_transfer(transfers, cargo, units[u].gpu);
        if (gsim_link_submit(transfers->rehearsal, &transfer, 0) == GSIM_LINK_NONE)
            break; /* no memory left: the copy itself will find none either */
    }
    while (gsim_link_pop(transfers->rehearsal, GSIM_NEVER - 1, &done))
        continue;
    return done.end_ns;
}

static int64_t pcie_ns(const struct gsim_transfers *transfers, const struct gsim_cargo *cargo,
                       const struct gsim_unit *units, uint32_t n_units) {
    int64_t longest_ns = 0;
    uint32_t n;
    if (cargo->bytes == 0)
        return 0;
    if (transfers->rehearsal)
        return rehearsed_ns(transfers, cargo, units, n_units);
    for (uint32_t u = 0; u < n_units; u += n) {
        n = n_beside(transfers, units, n_units, u);
        if (n != n_on_node(transfers, units, n_units, u))
            return together_ns(transfers, cargo, units, n_units);
        int64_t ns = together_ns(transfers, cargo, &units[u], n);
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    return longest_ns;
}

int64_t gsim_transfers_ns(const struct gsim_transfers *transfers, const struct gsim_cargo *cargo,
                          const struct gsim_unit *units, uint32_t n_units) {
    if (n_units == 0)
        return transfer_of(&transfers->rates[0][cargo->way], direction_of(cargo->way), 0,
                           cargo->bytes)
            .cost.alone_ns;
    return nodes_ns(transfers, cargo, GSIM_STAGE_STORAGE, units, n_units) +
           nodes_ns(transfers, cargo, GSIM_STAGE_NETWORK, units, n_units) +
           pcie_ns(transfers, cargo, units, n_units);
}

/* --- time ------------------------------------------------------------------------------------- */

/* The link with the next end; of several at one instant, the first in this order. */
static struct gsim_link *next_link(struct gsim_transfers *transfers) {
    struct gsim_link *next = &transfers->pcie;
    if (transfers->network_rates &&
        gsim_link_next_time(&transfers->network) < gsim_link_next_time(next))
        next = &transfers->network;
    if (transfers->storage_rates &&
        gsim_link_next_time(&transfers->storage) < gsim_link_next_time(next))
        next = &transfers->storage;
    return next;
}

int64_t gsim_transfers_next_time(const struct gsim_transfers *transfers) {
    int64_t next_ns = gsim_link_next_time(&transfers->pcie), one_ns;
    if (transfers->network_rates && (one_ns = gsim_link_next_time(&transfers->network)) < next_ns)
        next_ns = one_ns;
    if (transfers->storage_rates && (one_ns = gsim_link_next_time(&transfers->storage)) < next_ns)
        next_ns = one_ns;
    return next_ns;
}

bool gsim_transfers_pop(struct gsim_transfers *transfers, int64_t now_ns, gsim_slot *slot,
                        int64_t *end_ns, bool *has_failed) {
    *has_failed = false;
    while (gsim_transfers_next_time(transfers) <= now_ns) {
        struct gsim_transfer_done done;
        (void)gsim_link_pop(next_link(transfers), now_ns, &done);
        *slot = (gsim_slot)(done.tag & UINT32_MAX);
        *end_ns = done.end_ns;
        struct gsim_transfers_job *job = &transfers->jobs[*slot];
        if (job->age != done.tag >> 32 || --job->n_left > 0)
            continue;
        if (!begin_next(transfers, *slot, done.end_ns)) {
            *has_failed = true;
            return false;
        }
        if (job->n_left == 0)
            return true;
    }
    return false;
}
