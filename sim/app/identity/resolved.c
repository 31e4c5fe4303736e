/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All values that a run uses, defaults included: a later version may have other defaults. */
#include <assert.h>

#include "sim/api/compat.h"
#include "sim/app/identity/config.h"
#include "sim/app/setup/cluster_parts.h"

enum { MOST_OF_RUN = 16, OF_GROUP = 9 };

struct listing {
    struct gsim_arena *arena;
    struct gsim_resolved *value;
    int n, capacity;
    bool is_out_of_memory;
};

static void reserve(struct listing *l, int capacity) {
    l->capacity = capacity;
    l->value = gsim_arena_array(l->arena, (size_t)capacity, sizeof *l->value);
    l->is_out_of_memory |= !l->value;
}

static void list_value(struct listing *l, const char *owner, const char *key, const char *value,
                       const char *tag) {
    l->is_out_of_memory |= !owner || !key || !value;
    assert(l->is_out_of_memory || l->n < l->capacity);
    if (!l->is_out_of_memory)
        l->value[l->n++] = (struct gsim_resolved){owner, key, value, tag};
}

static void add_number(struct listing *l, const char *owner, const char *key, int64_t value,
                       bool is_given) {
    list_value(l, owner, key, gsim_arena_printf(l->arena, "%lld", (long long)value),
               is_given ? "given" : "default");
}

static void add_time(struct listing *l, const char *key, int64_t time_ns, bool is_given) {
    char text[40];
    (void)gsim_param_format(text, GSIM_PARAM_TIME, time_ns);
    list_value(l, "run", key, gsim_arena_strdup(l->arena, text), is_given ? "given" : "default");
}

/* --- the policy's ----------------------------------------------------------------------------- */

/* The text of a value, which does not depend on the way the user typed it. */
static const char *param_text(struct listing *l, const struct gsim_params *params, int i) {
    char text[40];
    switch (params->defs[i].type) {
    case GSIM_PARAM_TIME:
    case GSIM_PARAM_BYTES:
    case GSIM_PARAM_PPM:
    case GSIM_PARAM_INT:
    case GSIM_PARAM_RATE:
        (void)gsim_param_format(text, params->defs[i].type, params->values[i].value);
        return gsim_arena_strdup(l->arena, text);
    case GSIM_PARAM_BOOL:
        return params->values[i].value ? "on" : "off";
    default:
        return params->values[i].text;
    }
}

static void list_params(struct listing *l, const char *owner, const struct gsim_params *params) {
    for (int i = 0; i < params->n; i++)
        list_value(l, owner, params->defs[i].name, param_text(l, params, i),
                   params->values[i].is_set ? "given" : "default");
}

/* --- the run's and the cluster's -------------------------------------------------------------- */

static bool is_given(const struct gsim_cli *cli, enum gsim_option option) {
    return cli->value[option] != NULL;
}

static void add_run(struct listing *l, const struct gsim_cli *cli, const struct gsim_setup *s) {
    list_value(l, "run", "reference", gsim_compat_of(s->reference)->name,
               s->reference ? "given" : "default");
    if (s->until_ns != GSIM_NEVER)
        add_time(l, "until", s->until_ns, true);
    add_number(l, "run", "slice-budget", s->slice_budget, is_given(cli, GSIM_OPT_SLICE_BUDGET));
    list_value(l, "run", "exact", s->is_exact ? "on" : "off", s->is_exact ? "given" : "default");
    if (s->shake_ppm)
        add_number(l, "run", "shake_ppm", s->shake_ppm, true);
    if (s->resampling.block_ns) {
        add_time(l, "block", s->resampling.block_ns, is_given(cli, GSIM_OPT_BLOCK));
        add_number(l, "run", "near", s->resampling.near, is_given(cli, GSIM_OPT_NEAR));
    }
    if (s->time_scale_ppm)
        add_number(l, "run", "time-scale_ppm", s->time_scale_ppm, true);
    if (s->load_ppm)
        add_number(l, "run", "load_ppm", s->load_ppm, true);
    if (s->estimate.text)
        list_value(l, "run", "estimate", s->estimate.text, "given");
    if (!s->mtbf_ns)
        return;
    add_time(l, "mtbf", s->mtbf_ns, true);
    add_time(l, "mttr", s->mttr_ns, is_given(cli, GSIM_OPT_MTTR));
    if (s->checkpoint_ns)
        add_time(l, "checkpoint", s->checkpoint_ns, true);
}

/* Which of a group's values the user gave: a file that lists nodes gives all that it counts,
 * options give their own. A file that lists none, as a slurm.conf that leaves nodes to other files,
 * gives none: the nodes are then a guess. */
struct given {
    bool by_file, nodes, gpus, cpus, host_mem, device;
};

static struct given given_of(const struct gsim_cli *cli, const struct gsim_setup *setup) {
    bool gpus = is_given(cli, GSIM_OPT_GPUS_PER_NODE);
    bool by_file = is_given(cli, GSIM_OPT_CLUSTER) ||
                   (is_given(cli, GSIM_OPT_SLURM_CONF) && !gpus && !setup->is_cluster_guessed);
    return (struct given){.by_file = by_file,
                          .nodes = by_file || is_given(cli, GSIM_OPT_NODES),
                          .gpus = by_file || gpus,
                          .cpus = by_file || is_given(cli, GSIM_OPT_CPUS_PER_NODE),
                          .host_mem = by_file || is_given(cli, GSIM_OPT_HOST_MEM),
                          .device = by_file || is_given(cli, GSIM_OPT_DEVICE)};
}

/* Adds the values of a group of nodes. Zero means "not counted" or "no limit". */
static void add_group(struct listing *l, const struct gsim_cluster_spec *cluster, uint32_t g,
                      struct given given) {
    const struct gsim_node_group *group = &cluster->groups[g];
    const char *owner = gsim_arena_printf(l->arena, "nodes %u", g + 1);
    const struct {
        const char *key;
        int64_t value;
        bool is_given;
    } numbers[] = {{"count", group->count, given.nodes},
                   {"gpus", group->gpus_per_node, given.gpus},
                   {"cpus_milli", group->cpus_milli, given.cpus},
                   {"host_mem_bytes", group->host_bytes, given.host_mem},
                   {"switch_nodes", group->nodes_per_switch, given.by_file},
                   {"pcie_root_gpus", group->gpus_per_root, given.by_file},
                   {"pcie_root_bytes_per_s", group->root_bytes_per_s, given.by_file},
                   {"network_bytes_per_s", group->network_bytes_per_s, given.by_file}};
    list_value(l, owner, "device", cluster->profiles[group->device]->name,
               given.device ? "given" : "default");
    if (group->partitions)
        list_value(l, owner, "partitions", group->partitions, "given");
    if (group->gpu_type)
        list_value(l, owner, "gpu_type", group->gpu_type, "given");
    if (group->features)
        list_value(l, owner, "features", group->features, "given");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add_number(l, owner, numbers[i].key, numbers[i].value,
                   numbers[i].is_given && numbers[i].value);
}

/* The policy of nodes that have one of their own. */
static void list_part(struct listing *l, const struct gsim_part *part) {
    const char *owner = gsim_arena_printf(l->arena, "part %s", part->name);
    list_value(l, owner, "policy", part->policy->name, "given");
    list_params(l, owner, part->params);
}

static int count_of_parts(const struct gsim_cluster_spec *cluster) {
    int n = 0;
    for (uint32_t g = 0; g < cluster->n_groups; g++)
        if (gsim_cluster_part(cluster, g))
            n += 1 + gsim_cluster_part(cluster, g)->params->n;
    return n;
}

static void list_cluster(struct listing *l, const struct gsim_cli *cli,
                         const struct gsim_setup *setup) {
    const struct gsim_cluster_spec *cluster = &setup->cluster;
    struct given given = given_of(cli, setup);
    if (cluster->is_pool)
        add_number(l, "run", "pool_cpus_milli", cluster->pool_cpus_milli, false);
    for (uint32_t g = 0; g < cluster->n_groups; g++) {
        add_group(l, cluster, g, given);
        if (gsim_cluster_part(cluster, g))
            list_part(l, gsim_cluster_part(cluster, g));
    }
}

/* --- the devices' ----------------------------------------------------------------------------- */

static const char *device_text(struct listing *l, const struct gsim_profile *profile, int k) {
    return profile->text[k] ? profile->text[k]
                            : gsim_arena_printf(l->arena, "%lld", (long long)profile->value[k]);
}

static void add_device(struct listing *l, const struct gsim_profile *profile) {
    for (int k = 0; k < GSIM_KEY_COUNT; k++)
        list_value(l, profile->name, gsim_key_name((enum gsim_key)k), device_text(l, profile, k),
                   gsim_tag_name((enum gsim_tag)profile->tag[k]));
}

static void finish_list(const struct listing *l, struct gsim_resolved_list *out) {
    out->value = l->value;
    out->n = l->n;
}

enum gsim_status gsim_list_resolved(struct gsim_cli *cli, const struct gsim_setup *setup,
                                    int contender, struct gsim_identity *out) {
    const struct gsim_params *params = &setup->contender[contender].params;
    struct listing run = {.arena = cli->arena}, devices = {.arena = cli->arena};
    reserve(&run, params->n + MOST_OF_RUN + OF_GROUP * (int)setup->cluster.n_groups +
                      count_of_parts(&setup->cluster));
    reserve(&devices, GSIM_KEY_COUNT * setup->cluster.n_profiles);
    list_params(&run, params->owner, params);
    add_run(&run, cli, setup);
    list_cluster(&run, cli, setup);
    for (uint16_t p = 0; p < setup->cluster.n_profiles; p++)
        add_device(&devices, setup->cluster.profiles[p]);
    finish_list(&run, &out->parameters);
    finish_list(&devices, &out->devices);
    return run.is_out_of_memory || devices.is_out_of_memory
               ? gsim_no_memory(cli->log, "listing parameters")
               : GSIM_OK;
}
