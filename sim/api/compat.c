/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The simulators that reference= names. The PAI simulator's cluster is 300 GPUs and 6966 CPUs (its
 * README, github.com/alibaba/clusterdata, cluster-trace-gpu-v2020/simulator); its clock is read one
 * tick of a second after the last end. */
#include "sim/api/compat.h"

static const struct gsim_compat rows[GSIM_REFERENCE_COUNT] = {
    [GSIM_REFERENCE_NONE] = {.name = "none", .knows_nodes = true, .rule = GSIM_RULE_COUNT},
    [GSIM_REFERENCE_TIRESIAS] = {.name = "tiresias", .shows_ends = true, .rule = GSIM_RULE_ANY},
    [GSIM_REFERENCE_PAI] = {.name = "pai",
                            .tick_ns = GSIM_NS_PER_S,
                            .rule = GSIM_RULE_ANY,
                            .is_pool = true,
                            .pool_gpus = 300,
                            .pool_cpus_milli_per_gpu = 23220},
    [GSIM_REFERENCE_HELIOS] = {.name = "helios", .rule = GSIM_RULE_FULLEST, .keeps_rate = true},
    [GSIM_REFERENCE_GAVEL] = {.name = "gavel",
                              .knows_nodes = true,
                              .ends_pairs_together = true,
                              .rule = GSIM_RULE_ANY},
    [GSIM_REFERENCE_SYNERGY] = {.name = "synergy", .knows_nodes = true, .rule = GSIM_RULE_ANY},
    [GSIM_REFERENCE_ELASTICFLOW] = {.name = "elasticflow",
                                    .knows_nodes = true,
                                    .rule = GSIM_RULE_ANY},
    [GSIM_REFERENCE_POLLUX] = {.name = "pollux",
                               .knows_nodes = true,
                               .phase_grid_ns = GSIM_NS_PER_S,
                               .rule = GSIM_RULE_ANY},
    [GSIM_REFERENCE_MURI] = {.name = "muri",
                             .knows_nodes = true,
                             .ends_jobs = true,
                             .rule = GSIM_RULE_ANY},
    [GSIM_REFERENCE_SIA] = {.name = "sia",
                            .knows_nodes = true,
                            .phase_grid_ns = GSIM_NS_PER_S,
                            .rule = GSIM_RULE_ANY},
};

const struct gsim_compat *gsim_compat_of(enum gsim_reference reference) {
    return &rows[reference];
}

const char *gsim_compat_with_pool(void) {
    int i = 0;
    while (!rows[i].is_pool)
        i++;
    return rows[i].name;
}
