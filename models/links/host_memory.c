/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/links/host_memory.h"

static const enum gsim_key host_keys[GSIM_HOST_WAYS] = {
    [GSIM_HOST_IN] = GSIM_KEY_HOST_IN,
    [GSIM_HOST_OUT] = GSIM_KEY_HOST_OUT,
    [GSIM_HOST_BOTH] = GSIM_KEY_HOST_BOTH,
};

/* The highest rate that one GPU can ask of its host, by any mechanism that moves memory. */
static int64_t wanted(const struct gsim_profile *profile, enum gsim_host_way way) {
    static const enum gsim_key keys[GSIM_HOST_WAYS][4] = {
        [GSIM_HOST_IN] = {GSIM_KEY_PCIE_H2D, GSIM_KEY_MIGRATE_IN, GSIM_KEY_UVM_PREFETCH_IN,
                          GSIM_KEY_UVM_COPY},
        [GSIM_HOST_OUT] = {GSIM_KEY_PCIE_D2H, GSIM_KEY_MIGRATE_OUT, GSIM_KEY_UVM_PREFETCH_OUT,
                           GSIM_KEY_UVM_COPY},
        [GSIM_HOST_BOTH] = {GSIM_KEY_PCIE_DUPLEX, GSIM_KEY_MIGRATE_BOTH, GSIM_KEY_UVM_COPY,
                            GSIM_KEY_UVM_COPY},
    };
    int64_t most = 0;
    for (int k = 0; k < 4; k++)
        if (profile->value[keys[way][k]] > most)
            most = profile->value[keys[way][k]];
    return most;
}

static bool is_exceeded(const struct gsim_profile *profile, uint32_t n_gpus,
                        const struct gsim_host_rates *rates) {
    bool is = false;
    for (int way = 0; n_gpus > 1 && way < GSIM_HOST_WAYS; way++)
        is |= rates->bytes_per_s[way] / n_gpus < wanted(profile, (enum gsim_host_way)way);
    return is;
}

/* The rates that the cluster gives for a node; the rest are those of its device. */
static struct gsim_host_rates host_rates_of(const struct gsim_host_wiring *given,
                                            const struct gsim_profile *profile) {
    struct gsim_host_rates rates;
    for (int way = 0; way < GSIM_HOST_WAYS; way++) {
        int64_t said = given ? given->bytes_per_s[way] : 0;
        rates.bytes_per_s[way] = said > 0 ? said : profile->value[host_keys[way]];
    }
    return rates;
}

/* The number of GPUs of a node, from `first` on, that share a domain. */
static uint32_t n_together(const struct gsim_model_setup *setup, uint32_t first, uint32_t most) {
    uint32_t end = first + 1;
    while (end < setup->n_gpus && end - first < most &&
           setup->wiring.node_of_gpu[end] == setup->wiring.node_of_gpu[first])
        end++;
    return end - first;
}

bool gsim_host_memory_init(struct gsim_host_memory *domains, const struct gsim_model_setup *setup) {
    const struct gsim_wiring *wiring = &setup->wiring;
    uint32_t *domain_of_gpu = gsim_arena_array(setup->arena, setup->n_gpus, sizeof *domain_of_gpu);
    struct gsim_host_rates *rates = gsim_arena_array(setup->arena, setup->n_gpus, sizeof *rates);
    bool *is_given = gsim_arena_array(setup->arena, setup->n_gpus, sizeof *is_given);
    uint32_t n = 0, n_gpus;
    *domains = (struct gsim_host_memory){.is_given = is_given};
    if (!domain_of_gpu || !rates || !is_given)
        return false;
    for (uint32_t gpu = 0; gpu < setup->n_gpus; gpu += n_gpus, n++) {
        const struct gsim_profile *profile = setup->profiles[setup->type_of_gpu[gpu]];
        const struct gsim_host_wiring *given =
            wiring->hosts ? &wiring->hosts[wiring->node_of_gpu[gpu]] : NULL;
        int64_t most =
            given && given->numa_gpus ? given->numa_gpus : profile->value[GSIM_KEY_HOST_NUMA_GPUS];
        n_gpus = n_together(setup, gpu, most < UINT32_MAX ? (uint32_t)most : UINT32_MAX);
        rates[n] = host_rates_of(given, profile);
        is_given[n] = given && given->bytes_per_s[GSIM_HOST_IN] > 0 &&
                      given->bytes_per_s[GSIM_HOST_OUT] > 0 &&
                      given->bytes_per_s[GSIM_HOST_BOTH] > 0 && given->numa_gpus > 0;
        if (is_exceeded(profile, n_gpus, &rates[n]))
            domains->is_bottleneck = true;
        else
            for (int way = 0; way < GSIM_HOST_WAYS; way++)
                rates[n].bytes_per_s[way] = INT64_MAX;
        for (uint32_t k = 0; k < n_gpus; k++)
            domain_of_gpu[gpu + k] = n;
    }
    domains->hosts = (struct gsim_link_hosts){.n_domains = n,
                                              .domain_of_gpu = domain_of_gpu,
                                              .host_of_gpu = wiring->node_of_gpu,
                                              .n_hosts = wiring->n_nodes,
                                              .rates = rates};
    return true;
}
