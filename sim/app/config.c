/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts, in a fixed order: versions, seed and replication, policy and its resolved parameters
 * (sorted by the table; of files, the bytes), reference, clock, cluster with every value of its
 * devices, the trace's assumptions, the application profiles that it names and the digest of the trace file. */
#include "sim/app/config.h"

#include <errno.h>
#include <stdarg.h>
#include <nettle/sha2.h>
#include <string.h>

#include "sim/app/apps.h"

struct hashing {
    struct sha256_ctx context;
};

__attribute__((format(printf, 2, 3))) static void add(struct hashing *h, const char *format, ...) {
    char line[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    sha256_update(&h->context, length + 1, (const uint8_t *)line); /* the NUL ends the part */
}

enum gsim_status gsim_config_digest(const char *path, uint8_t digest[GSIM_DIGEST_BYTES],
                                    struct gsim_log *log) {
    uint8_t bytes[65536];
    struct sha256_ctx context;
    FILE *file = fopen(path, "rb");
    if (!file)
        return gsim_fail(log, GSIM_BAD_INPUT, path, 0, "cannot read it: %s", strerror(errno));
    sha256_init(&context);
    size_t n;
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0)
        sha256_update(&context, n, bytes);
    bool is_bad = ferror(file) != 0;
    (void)fclose(file);
    sha256_digest(&context, GSIM_DIGEST_BYTES, digest);
    return is_bad ? gsim_fail(log, GSIM_BAD_INPUT, path, 0, "cannot read it") : GSIM_OK;
}

static enum gsim_status add_file(struct gsim_cli *cli, struct hashing *h, const char *path) {
    uint8_t digest[GSIM_DIGEST_BYTES];
    enum gsim_status status = gsim_config_digest(path, digest, cli->log);
    if (status == GSIM_OK)
        sha256_update(&h->context, sizeof digest, digest);
    return status;
}

static enum gsim_status add_params(struct gsim_cli *cli, struct hashing *h,
                                   const struct gsim_params *params) {
    enum gsim_status status = GSIM_OK;
    for (int i = 0; i < params->n && status == GSIM_OK; i++) {
        const struct gsim_param_value *value = &params->values[i];
        add(h, "%s.%s=%lld", params->owner, params->defs[i].name, (long long)value->value);
        if (params->defs[i].type == GSIM_PARAM_TEXT)
            add(h, "%s", value->text);
        if (params->defs[i].type == GSIM_PARAM_FILE && *value->text)
            status = add_file(cli, h, value->text);
        for (int64_t k = 0; value->list && k < value->value; k++)
            add(h, "%lld", (long long)value->list[k]);
    }
    return status;
}

/* The profiles that jobs name, as bytes. An unknown one is left to the run to refuse. */
static enum gsim_status add_apps(struct gsim_cli *cli, struct hashing *h,
                                 const struct gsim_names *names) {
    enum gsim_status status = GSIM_OK;
    for (uint32_t n = 0; n < names->n && status == GSIM_OK; n++) {
        const struct gsim_embedded *file = gsim_apps_embedded(names->name[n]);
        if (gsim_apps_is_path(names->name[n]))
            status = add_file(cli, h, names->name[n]);
        else if (file)
            sha256_update(&h->context, file->size, file->bytes);
    }
    return status;
}

static void add_profile(struct hashing *h, const struct gsim_profile *profile) {
    add(h, "device %s", profile->name);
    for (int k = 0; k < GSIM_KEY_COUNT; k++) {
        add(h, "%s=%lld", gsim_key_name((enum gsim_key)k), (long long)profile->value[k]);
        for (int64_t i = 0; profile->curve[k] && i < profile->value[k]; i++)
            add(h, "%lld:%lld", (long long)profile->curve[k][i].x,
                (long long)profile->curve[k][i].y);
    }
}

static void add_cluster(struct hashing *h, const struct gsim_cluster_spec *cluster) {
    add(h, "pool=%d cpus=%lld", cluster->is_pool, (long long)cluster->pool_cpus_milli);
    for (uint32_t g = 0; g < cluster->n_groups; g++) {
        const struct gsim_node_group *group = &cluster->groups[g];
        add(h, "nodes %u x %u cpus %lld device %u hbm %lld", group->count, group->gpus_per_node,
            (long long)group->cpus_milli, group->device, (long long)group->hbm_bytes);
        if (group->host_bytes)
            add(h, "host %lld", (long long)group->host_bytes);
        if (group->nodes_per_switch)
            add(h, "switch %u", group->nodes_per_switch);
        add(h, "root %u carries %lld network %lld", group->gpus_per_root,
            (long long)group->root_bytes_per_s, (long long)group->network_bytes_per_s);
    }
    for (uint16_t p = 0; p < cluster->n_profiles; p++)
        add_profile(h, cluster->profiles[p]);
}

void gsim_config_hex(const uint8_t digest[GSIM_DIGEST_BYTES], char text[65]) {
    for (size_t i = 0; i < GSIM_DIGEST_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

void gsim_config_combine(const char *const *configs, int64_t n, char hash[65]) {
    struct sha256_ctx context;
    uint8_t digest[GSIM_DIGEST_BYTES];
    sha256_init(&context);
    for (int64_t i = 0; i < n; i++)
        sha256_update(&context, strlen(configs[i]), (const uint8_t *)configs[i]);
    sha256_digest(&context, sizeof digest, digest);
    gsim_config_hex(digest, hash);
}

enum gsim_status gsim_config_hash(struct gsim_cli *cli, const struct gsim_setup *setup,
                                  int contender, uint64_t replication, char hash[65]) {
    struct hashing h;
    if (strcmp(setup->trace_path, "-") == 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--db needs a trace file: what came through standard input cannot be "
                         "recognised again");
    sha256_init(&h.context);
    add(&h, "semantics=%d seed=%lld replication=%llu reference=%d until=%lld",
        GSIM_SEMANTICS_VERSION, (long long)setup->seed, (unsigned long long)replication,
        (int)setup->reference, (long long)setup->until_ns);
    add(&h, "slice budget=%lld exact=%d", (long long)setup->slice_budget, setup->is_exact);
    if (setup->shake_ppm && replication > 0) /* 0 is the trace as it is */
        add(&h, "shake=%lld", (long long)setup->shake_ppm);
    if (setup->mtbf_ns)
        add(&h, "failures %lld repair %lld checkpoint %lld", (long long)setup->mtbf_ns,
            (long long)setup->mttr_ns, (long long)setup->checkpoint_ns);
    if (!gsim_window_is_all(&setup->window))
        add(&h, "window %lld %lld %lld %lld", (long long)setup->window.warmup.share_ppm,
            (long long)setup->window.warmup.time_ns, (long long)setup->window.cooldown.share_ppm,
            (long long)setup->window.cooldown.time_ns);
    add(&h, "policy %s", setup->contender[contender].policy->name);
    enum gsim_status status = add_params(cli, &h, &setup->contender[contender].params);
    add_cluster(&h, &setup->cluster);
    add(&h, "format %s", gsim_setup_is_spec(setup->trace_path) ? "spec" : setup->trace.format);
    for (const char *const *text = setup->trace.assumed; text && *text; text++)
        add(&h, "assume %s", *text);
    if (status == GSIM_OK)
        status = add_apps(cli, &h, &setup->trace.names[GSIM_COL_APP]);
    if (setup->trace_digest)
        sha256_update(&h.context, GSIM_DIGEST_BYTES, setup->trace_digest);
    else if (status == GSIM_OK)
        status = add_file(cli, &h, setup->trace_path);
    uint8_t digest[GSIM_DIGEST_BYTES];
    sha256_digest(&h.context, sizeof digest, digest);
    gsim_config_hex(digest, hash);
    return status;
}
