/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster of a run: equal nodes by options, or a cluster file. */
#include <string.h>

#include "sim/api/compat.h"
#include "sim/app/setup/cluster_file.h"
#include "sim/app/setup/cluster_parts.h"
#include "sim/app/setup/devices.h"
#include "sim/app/setup/set.h"
#include "sim/app/setup/setup.h"
#include "sim/base/units.h"

static enum gsim_status take_host_memory(struct gsim_cli *cli, int64_t *bytes) {
    const char *text = cli->value[GSIM_OPT_HOST_MEM];
    *bytes = 0;
    enum gsim_parse parsed = text ? gsim_parse_size(text, bytes) : GSIM_PARSE_OK;
    if (parsed == GSIM_PARSE_BARE)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--host-mem: '%s' has no unit; say %sGiB or %sB", text, text, text);
    if (!text || (parsed == GSIM_PARSE_OK && *bytes > 0))
        return GSIM_OK;
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                     "--host-mem: '%s' is not a size above 0, such as 512GiB", text);
}

/* Where the GPUs of a node come from, if no option says them. */
static const char *default_of(const struct gsim_cli *cli, const struct gsim_compat *compat) {
    if (cli->value[GSIM_OPT_GPUS_PER_NODE])
        return "";
    if (cli->value[GSIM_OPT_NODES])
        return " (default: 1)";
    return compat->is_pool ? " (the PAI simulator's)" : " (default: the widest gang)";
}

static enum gsim_status homogeneous(struct gsim_cli *cli, struct gsim_setup *setup) {
    int64_t nodes, gpus, cpus, host_bytes = 0, default_gpus = 1;
    const struct gsim_compat *compat = gsim_compat_of(setup->reference);
    bool is_default = !cli->value[GSIM_OPT_NODES] && !cli->value[GSIM_OPT_GPUS_PER_NODE];
    if (is_default)
        default_gpus = compat->is_pool ? compat->pool_gpus : setup->widest_gang;
    enum gsim_status status = gsim_option_int(cli, GSIM_OPT_NODES, 1, 1, GSIM_MAX_NODES, &nodes);
    if (status == GSIM_OK)
        status = gsim_option_int(cli, GSIM_OPT_GPUS_PER_NODE, default_gpus, 1,
                                 GSIM_MAX_GPUS_PER_NODE, &gpus);
    if (status == GSIM_OK)
        status = gsim_option_int(cli, GSIM_OPT_CPUS_PER_NODE, 0, 1, 1000000, &cpus);
    if (status == GSIM_OK)
        status = take_host_memory(cli, &host_bytes);
    const struct gsim_profile **profiles = gsim_arena_alloc(cli->arena, sizeof *profiles);
    struct gsim_node_group *group = gsim_arena_alloc(cli->arena, sizeof *group);
    if (status == GSIM_OK && (!profiles || !group))
        status = gsim_no_memory(cli->log, "building the cluster");
    if (status == GSIM_OK)
        status = gsim_set_profile(cli, setup->device_name, &profiles[0]);
    if (status != GSIM_OK)
        return status;
    *group = (struct gsim_node_group){.count = (uint32_t)nodes,
                                      .gpus_per_node = (uint32_t)gpus,
                                      .cpus_milli = cpus * 1000,
                                      .host_bytes = host_bytes,
                                      .hbm_bytes = profiles[0]->value[GSIM_KEY_HBM_BYTES],
                                      .is_host_moot = gsim_set_is_host_moot(profiles[0]),
                                      .device_name = setup->device_name};
    setup->cluster = (struct gsim_cluster_spec){.groups = group,
                                                .n_groups = 1,
                                                .profiles = profiles,
                                                .n_profiles = 1,
                                                .is_pool = compat->is_pool};
    if (compat->is_pool)
        setup->cluster.pool_cpus_milli =
            cpus ? nodes * cpus * 1000 : nodes * gpus * compat->pool_cpus_milli_per_gpu;
    setup->is_cluster_guessed = !cli->value[GSIM_OPT_GPUS_PER_NODE];
    setup->cluster_note = gsim_arena_printf(
        cli->arena, "%lld node%s x %lld GPU%s%s", (long long)nodes, nodes == 1 ? "" : "s",
        (long long)gpus, gpus == 1 ? "" : "s", default_of(cli, compat));
    return GSIM_OK;
}

/* The nodes of the site's file; with --nodes as many as that, of its kinds in proportion. */
static enum gsim_status of_site(struct gsim_cli *cli, struct gsim_setup *setup, const char *path,
                                bool *has_nodes) {
    int64_t nodes;
    enum gsim_status status = gsim_option_int(cli, GSIM_OPT_NODES, 0, 1, GSIM_MAX_NODES, &nodes);
    if (status == GSIM_OK)
        status = gsim_cluster_slurm_read(cli, path, setup->device_name, nodes, &setup->cluster,
                                         has_nodes);
    setup->cluster_note = nodes > 0
                              ? gsim_arena_printf(cli->arena, "%lld node%s like those of %s",
                                                  (long long)nodes, nodes == 1 ? "" : "s", path)
                              : path;
    return status;
}

/* Names the run's devices by those of the file's nodes, each once: "h100-sxm+a100-80". */
static enum gsim_status name_devices(struct gsim_cli *cli, struct gsim_setup *setup) {
    const struct gsim_node_group *groups = setup->cluster.groups;
    const char *names = groups[0].device_name;
    for (uint32_t g = 1; g < setup->cluster.n_groups && names; g++) {
        bool is_named = false;
        for (uint32_t k = 0; k < g; k++)
            is_named |= strcmp(groups[k].device_name, groups[g].device_name) == 0;
        if (!is_named)
            names = gsim_arena_printf(cli->arena, "%s+%s", names, groups[g].device_name);
    }
    setup->device_name = names;
    return names && setup->cluster_note ? GSIM_OK : gsim_no_memory(cli->log, "reading a cluster");
}

static enum gsim_status name_nodes(struct gsim_cli *cli, struct gsim_setup *setup) {
    const char *types = gsim_cluster_say_types(cli, &setup->cluster);
    if (types)
        gsim_warn(cli->log, NULL, 0, "%s", types);
    return name_devices(cli, setup);
}

enum gsim_status gsim_setup_nodes(struct gsim_cli *cli, struct gsim_setup *setup) {
    const char *device = cli->value[GSIM_OPT_DEVICE];
    setup->device_name = device ? device : setup->reference ? "ideal" : "h200";
    const char *file = cli->value[GSIM_OPT_CLUSTER], *slurm = cli->value[GSIM_OPT_SLURM_CONF];
    bool has_nodes = false;
    if (!file && slurm && !cli->value[GSIM_OPT_GPUS_PER_NODE]) {
        enum gsim_status status = of_site(cli, setup, slurm, &has_nodes);
        if (status != GSIM_OK || has_nodes)
            return status == GSIM_OK ? name_nodes(cli, setup) : status;
    }
    if (!file)
        return homogeneous(cli, setup);
    if (cli->value[GSIM_OPT_NODES] || cli->value[GSIM_OPT_GPUS_PER_NODE] ||
        cli->value[GSIM_OPT_CPUS_PER_NODE] || cli->value[GSIM_OPT_HOST_MEM])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--cluster defines the nodes; leave out --nodes, --gpus-per-node, "
                         "--cpus-per-node and --host-mem");
    enum gsim_status status =
        gsim_cluster_file_read(cli, file, setup->device_name, &setup->cluster);
    if (status == GSIM_OK)
        setup->cluster_note = gsim_arena_printf(
            cli->arena, "%s%s", file, gsim_cluster_parts_note(&setup->cluster, cli->arena));
    return status == GSIM_OK ? name_nodes(cli, setup) : status;
}

enum gsim_status gsim_setup_count_gpus(struct gsim_cli *cli, int64_t *n_gpus) {
    struct gsim_setup *scratch = gsim_arena_alloc(cli->arena, sizeof *scratch);
    *n_gpus = 0;
    if (!scratch)
        return gsim_no_memory(cli->log, "counting GPUs");
    scratch->widest_gang = 1;
    enum gsim_status status = gsim_setup_nodes(cli, scratch);
    bool is_known = status == GSIM_OK && !scratch->is_cluster_guessed;
    for (uint32_t g = 0; is_known && g < scratch->cluster.n_groups; g++)
        *n_gpus +=
            (int64_t)scratch->cluster.groups[g].count * scratch->cluster.groups[g].gpus_per_node;
    return status;
}

enum gsim_status gsim_setup_name_device(struct gsim_cli *cli, const char *gpu) {
    const char *name = cli->value[GSIM_OPT_DEVICE];
    if (name)
        return GSIM_OK;
    enum gsim_status status = gsim_product_device(gpu, cli->arena, &name, cli->log);
    if (status == GSIM_OK && !name)
        status = gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                           "'%s' is no listed device; say --device NAME or FILE.ini (gsim "
                           "calibrate makes one)",
                           gpu);
    cli->value[GSIM_OPT_DEVICE] = name;
    return status;
}
