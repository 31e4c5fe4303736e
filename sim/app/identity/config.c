/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of `config`, in a fixed order: versions, seed and replication, policy and its resolved
 * parameters (sorted by the table), reference, clock, cluster with every value of its devices, the
 * trace's assumptions, and the contents of each file that an option names. */
#include "sim/app/identity/config.h"

#include <nettle/sha2.h>
#include <stdarg.h>
#include <string.h>

#include "models/hardware/mig.h"
#include "sim/app/setup/cluster_parts.h"
#include "sim/app/identity/program.h"
#include "sim/base/units.h"

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

/* Adds a text of any length; the NUL ends the part. */
static void add_text(struct hashing *h, const char *text) {
    sha256_update(&h->context, strlen(text) + 1, (const uint8_t *)text);
}

static void add_params(struct hashing *h, const struct gsim_params *params) {
    for (int i = 0; i < params->n; i++) {
        const struct gsim_param_value *value = &params->values[i];
        add(h, "%s.%s=%lld", params->owner, params->defs[i].name, (long long)value->value);
        if (params->defs[i].type == GSIM_PARAM_TEXT)
            add_text(h, value->text);
        for (int64_t k = 0; value->list && k < value->value; k++)
            add(h, "%lld", (long long)value->list[k]);
    }
}

static void add_mig(struct hashing *h, const struct gsim_mig *mig) {
    add(h, "mig slices %u", mig->slices);
    for (int i = 0; i < mig->n; i++) {
        const struct gsim_mig_profile *cut = &mig->profile[i];
        add(h, "%s %lld %lld %u %x", cut->name, (long long)cut->sms, (long long)cut->mem_bytes,
            cut->slices, cut->starts);
    }
}

static void add_profile(struct hashing *h, const struct gsim_profile *profile) {
    add(h, "device %s", profile->name);
    for (int k = 0; k < GSIM_KEY_COUNT; k++) {
        add(h, "%s=%lld", gsim_key_name((enum gsim_key)k), (long long)profile->value[k]);
        for (int64_t i = 0; profile->curve[k] && i < profile->value[k]; i++)
            add(h, "%lld:%lld", (long long)profile->curve[k][i].x,
                (long long)profile->curve[k][i].y);
    }
    if (profile->mig)
        add_mig(h, profile->mig);
}

static void add_part(struct hashing *h, const struct gsim_part *part) {
    add(h, "part of policy %s", part->policy->name);
    add_text(h, part->partitions ? part->partitions : "");
    add(h, "classes %x", part->classes);
    add_params(h, part->params);
}

static void add_cluster(struct hashing *h, const struct gsim_cluster_spec *cluster) {
    add(h, "pool=%d cpus=%lld", cluster->is_pool, (long long)cluster->pool_cpus_milli);
    for (uint32_t g = 0; g < cluster->n_groups; g++) {
        const struct gsim_node_group *group = &cluster->groups[g];
        add(h, "nodes %u x %u cpus %lld device %u hbm %lld", group->count, group->gpus_per_node,
            (long long)group->cpus_milli, group->device, (long long)group->hbm_bytes);
        if (group->host_bytes)
            add(h, "host %lld", (long long)group->host_bytes);
        if (group->in_rates)
            add(h, "rates as %s", group->in_rates);
        if (group->nodes_per_switch)
            add(h, "switch %u", group->nodes_per_switch);
        if (group->partitions)
            add(h, "partitions %s", group->partitions);
        if (group->gpu_type)
            add(h, "gpu_type %s", group->gpu_type);
        if (group->features)
            add(h, "features %s", group->features);
        if (gsim_cluster_part(cluster, g))
            add_part(h, gsim_cluster_part(cluster, g));
        else if (group->part)
            add(h, "as before");
        add(h, "root %u carries %lld network %lld", group->gpus_per_root,
            (long long)group->root_bytes_per_s, (long long)group->network_bytes_per_s);
    }
    for (uint16_t p = 0; p < cluster->n_profiles; p++)
        add_profile(h, cluster->profiles[p]);
}

/* Adds the files that the run reads: their bytes, not their names. Built-in files are part of the
 * program. */
static void add_inputs(struct hashing *h, const struct gsim_identity *identity) {
    for (int i = 0; i < identity->n_inputs; i++)
        if (!identity->input[i].is_built_in)
            add(h, "%s %s", identity->input[i].kind, identity->input[i].content->sha256);
}

static void finish(struct hashing *h, char hash[65]) {
    uint8_t digest[GSIM_DIGEST_BYTES];
    sha256_digest(&h->context, sizeof digest, digest);
    gsim_digest_hex(digest, hash);
}

/* Writes the first digits of the sum, which name a list. */
static void finish_name(struct hashing *h, char name[GSIM_LIST_DIGITS + 1]) {
    char hash[65];
    finish(h, hash);
    memcpy(name, hash, GSIM_LIST_DIGITS);
    name[GSIM_LIST_DIGITS] = '\0';
}

void gsim_config_combine(const char *const *configs, int64_t n, char hash[65]) {
    struct hashing h;
    sha256_init(&h.context);
    for (int64_t i = 0; i < n; i++)
        sha256_update(&h.context, strlen(configs[i]), (const uint8_t *)configs[i]);
    finish(&h, hash);
}

static void add_assumed(struct hashing *h, const struct gsim_setup *setup) {
    for (const char *const *text = setup->trace.assumed; text && *text; text++)
        add_text(h, *text);
}

static void hash_config(const struct gsim_setup *setup, int contender, uint64_t replication,
                        struct gsim_identity *out) {
    struct hashing h;
    sha256_init(&h.context);
    add(&h, "semantics=%d seed=%lld replication=%llu reference=%d until=%lld",
        GSIM_SEMANTICS_VERSION, (long long)setup->seed, (unsigned long long)replication,
        (int)setup->reference, (long long)setup->until_ns);
    add(&h, "slice budget=%lld exact=%d", (long long)setup->slice_budget, setup->is_exact);
    if (setup->shake_ppm && replication > 0) /* replication 0 is the original trace */
        add(&h, "shake=%lld", (long long)setup->shake_ppm);
    if (setup->resampling.block_ns && replication > 0)
        add(&h, "resample %d by %lld near %lld", setup->resampling.by,
            (long long)setup->resampling.block_ns, (long long)setup->resampling.near);
    if (setup->time_scale_ppm)
        add(&h, "time scale=%lld", (long long)setup->time_scale_ppm);
    if (setup->load_ppm)
        add(&h, "load=%lld", (long long)setup->load_ppm);
    for (const char *const *key = setup->spec_keys; key && *key; key++)
        add_text(&h, *key);
    if (setup->estimate.text)
        add(&h, "estimate %s", setup->estimate.text);
    if (setup->mtbf_ns)
        add(&h, "failures %lld repair %lld checkpoint %lld", (long long)setup->mtbf_ns,
            (long long)setup->mttr_ns, (long long)setup->checkpoint_ns);
    if (!gsim_window_is_all(&setup->window))
        add(&h, "window %lld %lld %lld %lld", (long long)setup->window.warmup.share_ppm,
            (long long)setup->window.warmup.time_ns, (long long)setup->window.cooldown.share_ppm,
            (long long)setup->window.cooldown.time_ns);
    add(&h, "policy %s", setup->contender[contender].policy->name);
    add_params(&h, &setup->contender[contender].params);
    add_cluster(&h, &setup->cluster);
    add(&h, "format %s", setup->spec ? "spec" : setup->trace.format);
    add_assumed(&h, setup);
    add_inputs(&h, out);
    finish(&h, out->config);
}

/* --- the program ------------------------------------------------------------------------------ */

/* Whether a policy of the run has the source. */
static bool counts(const struct gsim_source *source, const struct gsim_setup *setup,
                   int contender) {
    bool is = gsim_source_counts(source, setup->contender[contender].policy);
    for (uint32_t g = 0; g < setup->cluster.n_groups; g++) {
        const struct gsim_part *part = gsim_cluster_part(&setup->cluster, g);
        is |= part && gsim_source_counts(source, part->policy);
    }
    return is;
}

/* What policies share stands in the list of each. */
static bool is_listed(const struct gsim_config_part *part, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(part[i].name, name) == 0)
            return true;
    return false;
}

static enum gsim_status list_parts(struct gsim_cli *cli, const struct gsim_setup *setup,
                                   int contender, struct gsim_identity *out) {
    size_t n = (size_t)out->n_inputs;
    for (const struct gsim_source *source = gsim_sources; *source->owner; source++)
        n++;
    struct gsim_config_part *part = gsim_arena_array(cli->arena, n, sizeof *part);
    if (!part)
        return gsim_no_memory(cli->log, "naming the program");
    for (const struct gsim_source *source = gsim_sources; *source->owner; source++)
        if (counts(source, setup, contender) && !is_listed(part, out->n_parts, source->part))
            part[out->n_parts++] = (struct gsim_config_part){source->part, source->sha256};
    for (int i = 0; i < out->n_inputs; i++)
        if (out->input[i].is_built_in)
            part[out->n_parts++] = (struct gsim_config_part){out->input[i].content->path,
                                                             out->input[i].content->sha256};
    out->part = part;
    return GSIM_OK;
}

static void hash_build(struct gsim_identity *out) {
    struct hashing h;
    sha256_init(&h.context);
    for (int i = 0; i < out->n_parts; i++) {
        add_text(&h, out->part[i].name);
        add_text(&h, out->part[i].sha256);
    }
    finish(&h, out->build);
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Names the list of input files. Built-in files are named by the build. */
static void name_inputs(struct gsim_identity *out) {
    struct hashing h;
    sha256_init(&h.context);
    for (int i = 0; i < out->n_inputs; i++) {
        if (out->input[i].is_built_in)
            continue;
        add(&h, "%s %s", out->input[i].kind, out->input[i].content->sha256);
        add_text(&h, out->input[i].content->path);
    }
    finish_name(&h, out->inputs);
}

static void name_resolved(struct gsim_resolved_list *list) {
    struct hashing h;
    sha256_init(&h.context);
    for (int i = 0; i < list->n; i++) {
        add_text(&h, list->value[i].owner);
        add_text(&h, list->value[i].key);
        add_text(&h, list->value[i].tag);
        add_text(&h, list->value[i].value);
    }
    finish_name(&h, list->name);
}

/* A resampled trace has the jobs of the original in other places. A shaken one keeps them where
 * they are, and has nothing of what the log's scheduler did, so that all shaken replications share
 * a list. */
static void add_changed(struct hashing *h, const struct gsim_setup *setup, uint64_t replication) {
    if (replication == 0)
        return;
    if (setup->resampling.block_ns)
        add(h, "resample %d by %lld near %lld seed=%lld replication=%llu", setup->resampling.by,
            (long long)setup->resampling.block_ns, (long long)setup->resampling.near,
            (long long)setup->seed, (unsigned long long)replication);
    else if (setup->trace.column[GSIM_COL_LOGGED_START_NS])
        add_text(h, "shaken");
}

/* Names the trace's jobs. A drawn trace has other jobs in each replication. */
static void name_trace_jobs(const struct gsim_setup *setup, uint64_t replication,
                            struct gsim_identity *out) {
    static const char *const kinds[] = {"trace",   "spec",  "values", "by-model",
                                        "gpu-mem", "rates", "goodput"};
    struct hashing h;
    sha256_init(&h.context);
    if (setup->spec)
        add(&h, "seed=%lld replication=%llu", (long long)setup->seed,
            (unsigned long long)replication);
    else
        add(&h, "format %s", setup->trace.format);
    if (!setup->spec)
        add_changed(&h, setup, replication);
    add_assumed(&h, setup);
    for (int i = 0; i < out->n_inputs; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (strcmp(out->input[i].kind, kinds[k]) == 0)
                add(&h, "%s %s", kinds[k], out->input[i].content->sha256);
    finish_name(&h, out->trace_jobs);
}

/* Lists the files and the parts of the program; the sums in `out` stay as they are. */
static enum gsim_status list(struct gsim_cli *cli, const struct gsim_setup *setup, int contender,
                             struct gsim_identity *out) {
    out->n_parts = 0;
    if (strcmp(setup->trace_path, "-") == 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--db needs a trace file: what came through standard input cannot be "
                         "recognised again");
    enum gsim_status status = gsim_list_inputs(cli, setup, contender, out);
    return status == GSIM_OK ? list_parts(cli, setup, contender, out) : status;
}

enum gsim_status gsim_identify_asked(struct gsim_cli *cli, const struct gsim_setup *setup,
                                     int contender, uint64_t replication,
                                     struct gsim_identity *out) {
    *out = (struct gsim_identity){0};
    enum gsim_status status = list(cli, setup, contender, out);
    if (status != GSIM_OK)
        return status;
    hash_config(setup, contender, replication, out);
    hash_build(out);
    name_inputs(out);
    return GSIM_OK;
}

enum gsim_status gsim_identify_lists(struct gsim_cli *cli, const struct gsim_setup *setup,
                                     int contender, uint64_t replication,
                                     struct gsim_identity *out) {
    enum gsim_status status = list(cli, setup, contender, out);
    if (status == GSIM_OK)
        status = gsim_list_resolved(cli, setup, contender, out);
    if (status != GSIM_OK)
        return status;
    name_resolved(&out->parameters);
    name_resolved(&out->devices);
    name_trace_jobs(setup, replication, out);
    return GSIM_OK;
}

enum gsim_status gsim_identify(struct gsim_cli *cli, const struct gsim_setup *setup, int contender,
                               uint64_t replication, struct gsim_identity *out) {
    enum gsim_status status = gsim_identify_asked(cli, setup, contender, replication, out);
    return status == GSIM_OK ? gsim_identify_lists(cli, setup, contender, replication, out)
                             : status;
}

enum gsim_status gsim_identity_open(struct gsim_cli *cli) {
    const char *text = cli->value[GSIM_OPT_KEEP_INPUTS];
    int64_t most = GSIM_CONTENT_MOST_KEPT;
    if (text && (gsim_parse_bytes(text, &most) != GSIM_PARSE_OK || most < 0))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--keep-inputs: '%s' is not a size, such as 1MiB or 0", text);
    if (!cli->contents)
        cli->contents = gsim_contents_new(most);
    return cli->contents ? GSIM_OK : gsim_no_memory(cli->log, "starting");
}
