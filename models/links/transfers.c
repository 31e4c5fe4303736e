/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A way is one transfer for each unit and, over the network and to storage, one for each node,
 * stage after stage. A job's memory is copied as a whole: the costs of single copies do not
 * show. */
#include "models/links/transfers.h"

#include <assert.h>

static struct gsim_copy_rates rates_of(const struct gsim_profile *profile,
                                       enum gsim_job_copies way) {
    struct gsim_copy_rates rates = gsim_copy_rates_pinned(profile, way == GSIM_CARRY_IN_REUSED);
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
static bool init_nodes(struct gsim_traffic *traffic, const struct gsim_model_setup *setup,
                       enum gsim_stage stage, struct gsim_link *link,
                       struct gsim_copy_rates **out) {
    bool is_limited = false;
    uint32_t n_nodes = setup->wiring.n_nodes;
    struct gsim_copy_rates *rates = gsim_arena_array(traffic->arena, n_nodes, sizeof *rates);
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
    return !is_limited || gsim_link_init(link, n_nodes, NULL, NULL, traffic->arena);
}

static bool init_link(struct gsim_traffic *traffic, const struct gsim_model_setup *setup,
                      struct gsim_link *link) {
    return gsim_link_init(link, setup->n_gpus, setup->wiring.root_of_gpu,
                          setup->wiring.root_bytes_per_s, setup->arena) &&
           (!traffic->domains.is_bottleneck ||
            gsim_link_share_hosts(link, &traffic->domains.hosts, traffic->domains.is_given));
}

static bool init_pcie(struct gsim_traffic *traffic, const struct gsim_model_setup *setup) {
    if (!init_link(traffic, setup, &traffic->pcie))
        return false;
    if (!traffic->domains.is_bottleneck || !setup->wiring.root_of_gpu)
        return true;
    traffic->rehearsal = gsim_arena_alloc(setup->arena, sizeof *traffic->rehearsal);
    return traffic->rehearsal && init_link(traffic, setup, traffic->rehearsal);
}

bool gsim_traffic_init(struct gsim_traffic *traffic, const struct gsim_model_setup *setup) {
    *traffic = (struct gsim_traffic){
        .arena = setup->arena, .type_of_gpu = setup->type_of_gpu, .wiring = setup->wiring};
    traffic->rates = gsim_arena_array(setup->arena, setup->n_profiles, sizeof *traffic->rates);
    if (!traffic->rates)
        return false;
    for (uint16_t type = 0; type < setup->n_profiles; type++)
        for (enum gsim_job_copies c = GSIM_CARRY_OUT; c <= GSIM_CARRY_IN_REUSED; c++)
            traffic->rates[type][c] = rates_of(setup->profiles[type], c);
    return gsim_host_memory_init(&traffic->domains, setup) && init_pcie(traffic, setup) &&
           init_nodes(traffic, setup, GSIM_STAGE_NETWORK, &traffic->network,
                      &traffic->network_rates) &&
           init_nodes(traffic, setup, GSIM_STAGE_STORAGE, &traffic->storage,
                      &traffic->storage_rates);
}

bool gsim_traffic_meet_pagers(struct gsim_traffic *traffic, const struct gsim_model_setup *setup) {
    struct gsim_host_rates *carried =
        gsim_arena_array(traffic->arena, setup->n_profiles, sizeof *carried);
    for (uint16_t type = 0; carried && type < setup->n_profiles; type++) {
        const struct gsim_copy_rates *rates = &traffic->rates[type][GSIM_CARRY_IN_FRESH];
        carried[type] = (struct gsim_host_rates){
            {rates->bytes_per_s[GSIM_H2D], rates->bytes_per_s[GSIM_D2H], rates->both_bytes_per_s}};
    }
    return carried && gsim_link_meet_pagers(&traffic->pcie, carried, setup->type_of_gpu);
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

static enum gsim_direction direction_of(enum gsim_job_copies way) {
    return way == GSIM_CARRY_OUT ? GSIM_D2H : GSIM_H2D;
}

static const struct gsim_copy_rates *rates_on(const struct gsim_traffic *traffic, uint32_t gpu,
                                              enum gsim_job_copies way) {
    return &traffic->rates[traffic->type_of_gpu[gpu]][way];
}

static uint32_t node_of(const struct gsim_traffic *traffic, const struct gsim_unit *unit) {
    return traffic->wiring.node_of_gpu[unit->gpu];
}

/* How many units from `first` on lie on its node, without a gap: a gang's units are node by
 * node. */
static uint32_t n_on_node(const struct gsim_traffic *traffic, const struct gsim_unit *units,
                          uint32_t n_units, uint32_t first) {
    uint32_t end = first + 1;
    while (end < n_units && node_of(traffic, &units[end]) == node_of(traffic, &units[first]))
        end++;
    return end - first;
}

static bool is_network_given(const struct gsim_traffic *traffic, uint32_t node) {
    const int64_t *given = traffic->wiring.network_bytes_per_s;
    return given && given[node] > 0;
}

static uint64_t tag_of(const struct gsim_traffic *traffic, gsim_slot slot) {
    return (uint64_t)traffic->jobs[slot].age << 32 | slot;
}

static bool begin_pcie(struct gsim_traffic *traffic, gsim_slot slot, int64_t now_ns) {
    struct gsim_traffic_job *job = &traffic->jobs[slot];
    const struct gsim_cargo *cargo = &job->cargo;
    job->n_left = cargo->bytes > 0 ? job->n_units : 0;
    for (uint32_t u = 0; u < job->n_left; u++) {
        uint32_t gpu = job->units[u].gpu;
        struct gsim_transfer transfer = {.gpu = gpu,
                                         .direction = direction_of(cargo->way),
                                         .bytes = cargo->bytes,
                                         .rates = rates_on(traffic, gpu, cargo->way),
                                         .tag = tag_of(traffic, slot)};
        if (gsim_link_submit(&traffic->pcie, &transfer, now_ns) == GSIM_LINK_NONE)
            return false;
    }
    return true;
}

/* Bytes for the n units from u on, all of one node, that are not on that node yet. */
static int64_t crossing_bytes(const struct gsim_traffic *traffic, const struct gsim_cargo *cargo,
                              const struct gsim_unit *units, uint32_t u, uint32_t n) {
    uint32_t node = node_of(traffic, &units[u]), n_there = 0;
    for (uint32_t i = 0; i < cargo->n_home; i++)
        n_there += node_of(traffic, &cargo->home[i]) == node;
    return n > n_there ? cargo->kept_bytes * (n - n_there) : 0;
}

/* Whether nodes may have bytes to carry at this stage. */
static bool has_nodes(const struct gsim_traffic *traffic, const struct gsim_cargo *cargo,
                      enum gsim_stage stage) {
    if (stage == GSIM_STAGE_STORAGE)
        return traffic->storage_rates && cargo->stored_bytes > 0;
    return traffic->network_rates && cargo->home && cargo->kept_bytes > 0;
}

static int64_t node_bytes(const struct gsim_traffic *traffic, const struct gsim_cargo *cargo,
                          enum gsim_stage stage, const struct gsim_unit *units, uint32_t u,
                          uint32_t n) {
    if (!has_nodes(traffic, cargo, stage))
        return 0;
    return stage == GSIM_STAGE_STORAGE ? cargo->stored_bytes * n
                                       : crossing_bytes(traffic, cargo, units, u, n);
}

static const struct gsim_copy_rates *node_rates(const struct gsim_traffic *traffic,
                                                enum gsim_stage stage, uint32_t node) {
    return stage == GSIM_STAGE_STORAGE ? &traffic->storage_rates[node]
                                       : &traffic->network_rates[node];
}

/* Begins one transfer for each node that has bytes to carry. */
static bool begin_nodes(struct gsim_traffic *traffic, gsim_slot slot, enum gsim_stage stage,
                        int64_t now_ns) {
    struct gsim_traffic_job *job = &traffic->jobs[slot];
    struct gsim_link *link = stage == GSIM_STAGE_STORAGE ? &traffic->storage : &traffic->network;
    uint32_t n;
    job->n_left = 0;
    for (uint32_t u = 0; u < job->n_units; u += n) {
        n = n_on_node(traffic, job->units, job->n_units, u);
        int64_t bytes = node_bytes(traffic, &job->cargo, stage, job->units, u, n);
        uint32_t node = node_of(traffic, &job->units[u]);
        if (bytes == 0)
            continue;
        struct gsim_transfer transfer = {
            .gpu = node,
            .direction = stage == GSIM_STAGE_STORAGE ? direction_of(job->cargo.way) : GSIM_H2D,
            .bytes = bytes,
            .rates = node_rates(traffic, stage, node),
            .tag = tag_of(traffic, slot)};
        if (gsim_link_submit(link, &transfer, now_ns) == GSIM_LINK_NONE)
            return false;
        job->n_left++;
        traffic->has_crossed |= stage == GSIM_STAGE_NETWORK && !is_network_given(traffic, node);
    }
    return true;
}

/* Goes on to the next stage that has bytes to carry, if any is left. */
static bool begin_next(struct gsim_traffic *traffic, gsim_slot slot, int64_t now_ns) {
    struct gsim_traffic_job *job = &traffic->jobs[slot];
    while (job->n_left == 0 && job->stages_left > 0) {
        enum gsim_stage stage = (enum gsim_stage)(GSIM_STAGES - job->stages_left);
        if (job->cargo.way == GSIM_CARRY_OUT)
            stage = (enum gsim_stage)(job->stages_left - 1);
        job->stages_left--;
        bool is_begun = stage == GSIM_STAGE_PCIE ? begin_pcie(traffic, slot, now_ns)
                                                 : begin_nodes(traffic, slot, stage, now_ns);
        if (!is_begun)
            return false;
    }
    return true;
}

bool gsim_traffic_begin(struct gsim_traffic *traffic, gsim_slot slot,
                        const struct gsim_cargo *cargo, const struct gsim_unit *units,
                        uint32_t n_units, int64_t now_ns) {
    struct gsim_traffic_job *job = &traffic->jobs[slot];
    assert(job->n_left == 0 && n_units > 0);
    *job = (struct gsim_traffic_job){.age = job->age,
                                     .stages_left = GSIM_STAGES,
                                     .units = units,
                                     .n_units = n_units,
                                     .cargo = *cargo};
    return begin_next(traffic, slot, now_ns);
}

/* --- quotes ----------------------------------------------------------------------------------- */

static int64_t nodes_ns(const struct gsim_traffic *traffic, const struct gsim_cargo *cargo,
                        enum gsim_stage stage, const struct gsim_unit *units, uint32_t n_units) {
    enum gsim_direction direction =
        stage == GSIM_STAGE_STORAGE ? direction_of(cargo->way) : GSIM_H2D;
    int64_t longest_ns = 0;
    uint32_t n;
    for (uint32_t u = 0; u < n_units && has_nodes(traffic, cargo, stage); u += n) {
        n = n_on_node(traffic, units, n_units, u);
        int64_t bytes = node_bytes(traffic, cargo, stage, units, u, n);
        if (bytes == 0)
            continue;
        const struct gsim_copy_rates *rates =
            node_rates(traffic, stage, node_of(traffic, &units[u]));
        int64_t ns = gsim_copy_ns(rates, direction, bytes, 0);
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
static bool copy_alike(const struct gsim_traffic *traffic, uint32_t gpu, uint32_t other) {
    const uint32_t *root = traffic->wiring.root_of_gpu;
    const struct gsim_link_hosts *hosts = traffic->pcie.hosts;
    return traffic->type_of_gpu[gpu] == traffic->type_of_gpu[other] &&
           (!root || root[gpu] == root[other]) &&
           (!hosts || hosts->domain_of_gpu[gpu] == hosts->domain_of_gpu[other]);
}

/* The longest of the copies of units that lie on one node; groups are parts of a node. */
static int64_t together_ns(const struct gsim_traffic *traffic, const struct gsim_cargo *cargo,
                           const struct gsim_unit *units, uint32_t n_units) {
    const struct gsim_link_hosts *hosts = traffic->pcie.hosts;
    int64_t longest_ns = 0;
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t gpu = units[u].gpu;
        if (u > 0 && copy_alike(traffic, gpu, units[u - 1].gpu))
            continue;
        int64_t ns = gsim_link_together_ns(
            &traffic->pcie, gpu, n_alike(traffic->wiring.root_of_gpu, units, n_units, gpu),
            n_alike(hosts ? hosts->domain_of_gpu : NULL, units, n_units, gpu),
            rates_on(traffic, gpu, cargo->way), direction_of(cargo->way), cargo->bytes);
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    return longest_ns;
}

/* The time of the copies carried out on idle links: a transfer that ends below one root leaves more
 * of the host to the others. */
static int64_t rehearsed_ns(const struct gsim_traffic *traffic, const struct gsim_cargo *cargo,
                            const struct gsim_unit *units, uint32_t n_units) {
    struct gsim_transfer_done done = {0};
    for (uint32_t u = 0; u < n_units; u++) {
        struct gsim_transfer transfer = {.gpu = units[u].gpu,
                                         .direction = direction_of(cargo->way),
                                         .bytes = cargo->bytes,
                                         .rates = rates_on(traffic, units[u].gpu, cargo->way)};
        if (gsim_link_submit(traffic->rehearsal, &transfer, 0) == GSIM_LINK_NONE)
            break; /* no memory left: the copy itself will find none either */
    }
    while (gsim_link_pop(traffic->rehearsal, GSIM_NEVER - 1, &done))
        continue;
    return done.end_ns;
}

static int64_t pcie_ns(const struct gsim_traffic *traffic, const struct gsim_cargo *cargo,
                       const struct gsim_unit *units, uint32_t n_units) {
    int64_t longest_ns = 0;
    uint32_t n;
    if (cargo->bytes == 0)
        return 0;
    if (traffic->rehearsal)
        return rehearsed_ns(traffic, cargo, units, n_units);
    for (uint32_t u = 0; u < n_units; u += n) {
        n = n_on_node(traffic, units, n_units, u);
        int64_t ns = together_ns(traffic, cargo, &units[u], n);
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    return longest_ns;
}

int64_t gsim_traffic_ns(const struct gsim_traffic *traffic, const struct gsim_cargo *cargo,
                        const struct gsim_unit *units, uint32_t n_units) {
    if (n_units == 0)
        return gsim_copy_ns(&traffic->rates[0][cargo->way], direction_of(cargo->way), cargo->bytes,
                            0);
    return nodes_ns(traffic, cargo, GSIM_STAGE_STORAGE, units, n_units) +
           nodes_ns(traffic, cargo, GSIM_STAGE_NETWORK, units, n_units) +
           pcie_ns(traffic, cargo, units, n_units);
}

/* --- time ------------------------------------------------------------------------------------- */

/* The link with the next end; of several at one instant, the first in this order. */
static struct gsim_link *next_link(struct gsim_traffic *traffic) {
    struct gsim_link *next = &traffic->pcie;
    if (traffic->network_rates &&
        gsim_link_next_time(&traffic->network) < gsim_link_next_time(next))
        next = &traffic->network;
    if (traffic->storage_rates &&
        gsim_link_next_time(&traffic->storage) < gsim_link_next_time(next))
        next = &traffic->storage;
    return next;
}

int64_t gsim_traffic_next_time(const struct gsim_traffic *traffic) {
    int64_t next_ns = gsim_link_next_time(&traffic->pcie), one_ns;
    if (traffic->network_rates && (one_ns = gsim_link_next_time(&traffic->network)) < next_ns)
        next_ns = one_ns;
    if (traffic->storage_rates && (one_ns = gsim_link_next_time(&traffic->storage)) < next_ns)
        next_ns = one_ns;
    return next_ns;
}

bool gsim_traffic_pop(struct gsim_traffic *traffic, int64_t now_ns, gsim_slot *slot,
                      int64_t *end_ns, bool *has_failed) {
    *has_failed = false;
    while (gsim_traffic_next_time(traffic) <= now_ns) {
        struct gsim_transfer_done done;
        (void)gsim_link_pop(next_link(traffic), now_ns, &done);
        *slot = (gsim_slot)(done.tag & UINT32_MAX);
        *end_ns = done.end_ns;
        struct gsim_traffic_job *job = &traffic->jobs[*slot];
        if (job->age != done.tag >> 32 || --job->n_left > 0)
            continue;
        if (!begin_next(traffic, *slot, done.end_ns)) {
            *has_failed = true;
            return false;
        }
        if (job->n_left == 0)
            return true;
    }
    return false;
}
