/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cluster as the user asks for it: nodes, their GPUs, and how they are connected. */
#ifndef GSIM_CLUSTER_H
#define GSIM_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

struct gsim_profile; /* gsim/device.h */
struct gsim_part; /* gsim/policy.h */

/* Bandwidth of the memory of a node's host as the cluster file gives it; 0: the device
 * profile's. */
enum gsim_host_way { GSIM_HOST_IN = 0, GSIM_HOST_OUT, GSIM_HOST_BOTH, GSIM_HOST_WAYS };
struct gsim_host_wiring {
    int64_t
        bytes_per_s[GSIM_HOST_WAYS]; /* of a NUMA domain: to its GPUs, from them, both at once */
    uint32_t numa_gpus; /* GPUs of one domain */
};

#define GSIM_MAX_GPUS_PER_NODE 4096u
#define GSIM_MAX_NODES 262144u
#define GSIM_MAX_GPUS 1000000u

/* Nodes of one kind, `count` of them. */
struct gsim_node_group {
    uint32_t count;
    uint32_t gpus_per_node;
    int64_t cpus_milli; /* per node; 0: not counted */
    uint16_t device; /* position in profiles */
    int64_t hbm_bytes; /* of each GPU */
    int64_t host_bytes; /* of each node, for job memory that its GPUs do not hold; 0: no limit */
    bool is_host_moot; /* the device is ideal: host memory plays no part */
    const char *device_name; /* for the result */
    const char *in_rates; /* its GPUs' name in a table of speeds; NULL: the device's */
    /* GPUs below one PCIe root, counted from the node's first; 0: no root is shared */
    uint32_t gpus_per_root;
    int64_t root_bytes_per_s; /* bandwidth of a PCIe root, each way */
    int64_t network_bytes_per_s; /* into each node; 0: as in the device profile */
    struct gsim_host_wiring host;
    /* counted from the group's first; 0: the group is below one switch */
    uint32_t nodes_per_switch;
    const char *partitions; /* "gpu,long": those that the nodes are in; NULL: none */
    const char *gpu_type; /* the name that jobs ask for; NULL: device_name, also up to its '-' */
    const char *features; /* "ib,a100": what a job's constraint may ask for; NULL: none */
    const struct gsim_part *part; /* with a policy of its own; NULL: of the run's policy */
};

/* The cluster of a run; immutable. */
struct gsim_cluster_spec {
    const struct gsim_node_group *groups;
    uint32_t n_groups;
    const struct gsim_profile *const *profiles;
    uint16_t n_profiles;
    /* One divisible pool of GPUs and CPUs: jobs may straddle GPUs and get no units (the PAI
     * simulator's cluster). */
    bool is_pool;
    int64_t pool_cpus_milli;
};

#endif
