/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/setup/setup.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models/hardware/derived.h"
#include "gsim/device.h"
#include "sim/app/setup/apps.h"
#include "sim/app/setup/devices.h"
#include "sim/app/observers/samples.h"
#include "sim/api/compat.h"
#include "sim/base/text.h"
#include "traces/read.h"
#include "traces/shake.h"
#include "sim/base/units.h"

/* The number of steps over time: more than a figure one column wide can show, but few rows of a
 * database. */
enum { DEFAULT_SAMPLES = 256, MAX_SAMPLES = 100000 };

/* --- --set ------------------------------------------------------------------------------------ */

static enum gsim_status cut_set(struct gsim_cli *cli, const char *text, const char **key,
                                const char **value) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--set: '%s' is not of the form KEY=VALUE",
                         text);
    *key = gsim_arena_strndup(cli->arena, text, (size_t)(equals - text));
    *value = equals + 1;
    return *key ? GSIM_OK : gsim_no_memory(cli->log, "reading --set");
}

static enum gsim_status set_reference(struct gsim_cli *cli, struct gsim_setup *setup,
                                      const char *value) {
    int choice = gsim_text_choice(value, "none|tiresias|pai|helios");
    if (choice < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "reference: '%s' is not one of tiresias, pai, helios", value);
    setup->reference = (enum gsim_reference)choice;
    for (int c = 0; c < setup->n_contenders && choice > 0; c++)
        if (!(setup->contender[c].policy->references & 1u << choice))
            return gsim_fail(
                cli->log, GSIM_USAGE, NULL, 0,
                "policy '%s' has no reference=%s; 'gsim list policies %s' shows its references",
                setup->contender[c].policy->name, value, setup->contender[c].policy->name);
    return GSIM_OK;
}

/* The device name of a key such as "speed.v100": a device's speed relative to the device on which
 * durations were measured. The value is a decimal, and sets the key speed_milli of that device
 * alone. */
static const char *speed_of(const char *key) {
    static const char prefix[] = "speed.";
    const size_t n = sizeof prefix - 1;
    return strncmp(key, prefix, n) == 0 && key[n] ? key + n : NULL;
}

static bool is_profile_key(const char *key) {
    return gsim_key_called(key, strlen(key)) < GSIM_KEY_COUNT;
}

/* The parameter's name in a key: "las.quantum" for the policy las, or "quantum" for any policy. */
static const char *param_name(const struct gsim_policy *policy, const char *key) {
    size_t n = strlen(policy->name);
    return strncmp(key, policy->name, n) == 0 && key[n] == '.' ? key + n + 1 : key;
}

static enum gsim_status unknown_set(struct gsim_cli *cli, const struct gsim_setup *setup,
                                    const char *key) {
    const char *names[GSIM_KEY_COUNT + 512];
    int n = 0;
    for (int k = 0; k < GSIM_KEY_COUNT; k++)
        names[n++] = gsim_key_name((enum gsim_key)k);
    for (int c = 0; c < setup->n_contenders; c++)
        for (int i = 0; i < setup->contender[c].params.n && n < GSIM_KEY_COUNT + 512; i++)
            names[n++] = setup->contender[c].params.defs[i].name;
    const char *dot = strchr(key, '.');
    int close = gsim_text_suggest(key, names, n);
    if (close < 0 && dot)
        close = gsim_text_suggest(dot + 1, names, n);
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                     "--set: neither the policy nor the device knows '%s'%s%s%s", key,
                     close >= 0 ? "; did you mean '"
                                : "; see 'gsim list policies NAME' and 'gsim "
                                  "list devices NAME'",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

static enum gsim_status set_one(struct gsim_cli *cli, struct gsim_setup *setup, const char *key,
                                const char *value) {
    bool is_known = is_profile_key(key) || speed_of(key);
    if (strcmp(key, "reference") == 0)
        return set_reference(cli, setup, value);
    for (int c = 0; c < setup->n_contenders; c++) {
        struct gsim_params *params = &setup->contender[c].params;
        const char *name = param_name(setup->contender[c].policy, key);
        if (gsim_params_find(params, name) < 0)
            continue;
        if (is_profile_key(key))
            return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                             "--set: '%s' is known to the policy and to the device; say %s.%s", key,
                             params->owner, key);
        enum gsim_status status = gsim_params_set(params, name, value, cli->arena, cli->log);
        if (status != GSIM_OK)
            return status;
        is_known = true;
    }
    return is_known ? GSIM_OK : unknown_set(cli, setup, key);
}

static enum gsim_status apply_sets(struct gsim_cli *cli, struct gsim_setup *setup) {
    for (const char *const *text = cli->repeats[GSIM_OPT_SET]; *text; text++) {
        const char *key, *value;
        enum gsim_status status = cut_set(cli, *text, &key, &value);
        if (status == GSIM_OK)
            status = set_one(cli, setup, key, value);
        if (status != GSIM_OK)
            return status;
    }
    return GSIM_OK;
}

static enum gsim_status set_profile(struct gsim_cli *cli, struct gsim_profile *profile,
                                    const char *key, const char *value) {
    bool is_known;
    int64_t milli;
    const char *device = speed_of(key);
    if (!device)
        return gsim_profile_set(profile, key, value, &is_known, cli->arena, cli->log);
    if (strcmp(device, profile->name) != 0)
        return GSIM_OK;
    if (gsim_parse_decimal(value, strlen(value), 1000, &milli) != GSIM_PARSE_OK || milli < 1)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "%s: '%s' is not a ratio of at least 0.001, such as 0.5", key, value);
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)milli);
    return gsim_profile_set(profile, gsim_key_name(GSIM_KEY_SPEED_MILLI), text, &is_known,
                            cli->arena, cli->log);
}

static enum gsim_status load_profile(struct gsim_cli *cli, const char *name,
                                     struct gsim_profile *out) {
    const struct gsim_profile *shared;
    if (!cli->devices)
        return gsim_profile_load(name, cli->arena, out, cli->log);
    enum gsim_status status = gsim_devices_take(cli->devices, name, &shared, cli->log);
    if (status == GSIM_OK)
        *out = *shared;
    return status;
}

enum gsim_status gsim_setup_profile(struct gsim_cli *cli, const char *name,
                                    const struct gsim_profile **out) {
    struct gsim_profile *profile = gsim_arena_alloc(cli->arena, sizeof *profile);
    if (!profile)
        return gsim_no_memory(cli->log, "reading a device");
    enum gsim_status status = load_profile(cli, name, profile);
    for (const char *const *text = cli->repeats[GSIM_OPT_SET]; status == GSIM_OK && *text; text++) {
        const char *key, *value;
        status = cut_set(cli, *text, &key, &value);
        if (status == GSIM_OK)
            status = set_profile(cli, profile, key, value);
    }
    *out = profile;
    return status == GSIM_OK ? gsim_profile_check(profile, cli->log) : status;
}

/* --- policies, cluster, trace ----------------------------------------------------------------- */

static enum gsim_status add_contender(struct gsim_cli *cli, struct gsim_setup *setup,
                                      const char *name) {
    const struct gsim_policy *policy = gsim_foreign_find(cli->foreign, name, cli->log);
    if (!policy)
        return cli->log->status;
    for (int c = 0; c < setup->n_contenders; c++)
        if (setup->contender[c].policy == policy)
            return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "policy '%s' is named twice", name);
    if (setup->n_contenders == GSIM_MAX_COMPARED)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "more than %d policies", GSIM_MAX_COMPARED);
    struct gsim_contender *contender = &setup->contender[setup->n_contenders++];
    contender->policy = policy;
    contender->typed = gsim_foreign_is(name) ? name : policy->name;
    return gsim_params_init(&contender->params, policy->name, policy->params, cli->arena, cli->log);
}

static enum gsim_status add_contenders(struct gsim_cli *cli, struct gsim_setup *setup,
                                       const char *names) {
    enum gsim_status status = GSIM_OK;
    for (const char *p = names; status == GSIM_OK && p; p = strchr(p, ',')) {
        p += *p == ',';
        char *name = gsim_arena_strndup(cli->arena, p, strcspn(p, ","));
        status = name ? add_contender(cli, setup, name) : gsim_no_memory(cli->log, "reading");
    }
    return status;
}

bool gsim_setup_is_spec(const char *path) {
    size_t n = strlen(path);
    return n >= 4 && strcmp(path + n - 4, ".ini") == 0;
}

static enum gsim_status read_spec(struct gsim_cli *cli, struct gsim_setup *setup) {
    if (*cli->repeats[GSIM_OPT_ASSUME] || cli->value[GSIM_OPT_BY_MODEL] ||
        cli->value[GSIM_OPT_GPU_MEM])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--assume, --by-model and --gpu-mem fill gaps of a trace; a generated one "
                         "has none: set the "
                         "column in the spec");
    if (!setup->spec) {
        enum gsim_status status =
            gsim_generate_spec_read(setup->trace_path, cli->arena, &setup->spec, cli->log);
        if (status != GSIM_OK)
            return status;
    }
    setup->seed = (int64_t)gsim_generate_seed(setup->spec);
    return gsim_option_int(cli, GSIM_OPT_SEED, setup->seed, 0, INT64_MAX, &setup->seed);
}

static uint32_t widest_gang(const struct gsim_trace *trace) {
    uint32_t widest = 1;
    for (uint32_t job = 0; trace->gpus && job < trace->n_jobs; job++)
        if (trace->gpus[job] > widest)
            widest = trace->gpus[job];
    return widest;
}

static enum gsim_status read_file(struct gsim_cli *cli, struct gsim_setup *setup) {
    struct gsim_trace_options options = {.assume = cli->repeats[GSIM_OPT_ASSUME],
                                         .by_model = cli->value[GSIM_OPT_BY_MODEL],
                                         .gpu_mem = cli->value[GSIM_OPT_GPU_MEM]};
    const struct gsim_io *io = cli->io;
    if (io->trace_name && strcmp(io->trace_name, setup->trace_path) == 0) {
        options.bytes = io->trace_bytes;
        options.n_bytes = io->n_trace_bytes;
    }
    struct gsim_trace trace;
    if (setup->replication > 0 && setup->shake_ppm == 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--replication needs a trace that can be drawn again: a spec .ini in "
                         "place of %s, or --shake 5%%",
                         setup->trace_path);
    enum gsim_status status =
        gsim_option_int(cli, GSIM_OPT_SEED, setup->seed, 0, INT64_MAX, &setup->seed);
    if (status == GSIM_OK)
        status = gsim_trace_read(setup->trace_path, cli->value[GSIM_OPT_TRACE_FORMAT], &options,
                                 cli->arena, &trace, cli->log);
    if (status != GSIM_OK)
        return status;
    setup->trace = trace;
    if (setup->replication == 0)
        return GSIM_OK;
    return gsim_trace_shake(&trace, setup->shake_ppm, (uint64_t)setup->seed, setup->replication,
                            cli->arena, &setup->trace, cli->log);
}

/* Reads --replication and --shake. */
static enum gsim_status read_replication(struct gsim_cli *cli, struct gsim_setup *setup) {
    int64_t replication;
    const char *shake = cli->value[GSIM_OPT_SHAKE];
    if (shake && (gsim_parse_ppm(shake, &setup->shake_ppm) != GSIM_PARSE_OK ||
                  setup->shake_ppm <= 0 || setup->shake_ppm >= GSIM_PPM))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--shake: '%s' is not a share between 0 and 100 %%, such as 5%%", shake);
    if (shake && gsim_setup_is_spec(setup->trace_path))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--shake is for a trace file; %s is a spec, from which --reps draws again",
                         setup->trace_path);
    enum gsim_status status =
        gsim_option_int(cli, GSIM_OPT_REPLICATION, 0, 0, INT64_MAX, &replication);
    setup->replication = (uint64_t)replication;
    return status;
}

enum gsim_status gsim_setup_trace(struct gsim_cli *cli, struct gsim_setup *setup, bool is_drawn) {
    enum gsim_status status = gsim_one_operand(cli, "trace", "gsim --policy NAME trace.csv");
    if (status != GSIM_OK)
        return status;
    setup->trace_path = cli->operand[0];
    setup->seed = 1;
    status = read_replication(cli, setup);
    if (status == GSIM_OK && !gsim_setup_is_spec(setup->trace_path))
        status = read_file(cli, setup);
    else if (status == GSIM_OK)
        status = read_spec(cli, setup);
    if (status == GSIM_OK && setup->spec && is_drawn)
        status = gsim_trace_generate(setup->spec, (uint64_t)setup->seed, setup->replication,
                                     cli->arena, &setup->trace, cli->log);
    if (status == GSIM_OK)
        setup->widest_gang = widest_gang(&setup->trace);
    return status;
}

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

/* Whether copies between the device and its host take no time: the device is ideal, and so is its
 * host. */
bool gsim_setup_is_host_moot(const struct gsim_profile *profile) {
    return profile->value[GSIM_KEY_PCIE_D2H] == INT64_MAX;
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
        status = gsim_setup_profile(cli, setup->device_name, &profiles[0]);
    if (status != GSIM_OK)
        return status;
    *group = (struct gsim_node_group){.count = (uint32_t)nodes,
                                      .gpus_per_node = (uint32_t)gpus,
                                      .cpus_milli = cpus * 1000,
                                      .host_bytes = host_bytes,
                                      .hbm_bytes = profiles[0]->value[GSIM_KEY_HBM_BYTES],
                                      .is_host_moot = gsim_setup_is_host_moot(profiles[0]),
                                      .device_name = setup->device_name};
    setup->cluster = (struct gsim_cluster_spec){.groups = group,
                                                .n_groups = 1,
                                                .profiles = profiles,
                                                .n_profiles = 1,
                                                .is_pool = compat->is_pool};
    if (compat->is_pool)
        setup->cluster.pool_cpus_milli =
            cpus ? nodes * cpus * 1000 : nodes * gpus * compat->pool_cpus_milli_per_gpu;
    setup->cluster_note =
        gsim_arena_printf(cli->arena, "%lld node%s x %lld GPU%s%s", (long long)nodes,
                          nodes == 1 ? "" : "s", (long long)gpus, gpus == 1 ? "" : "s",
                          !is_default       ? ""
                          : compat->is_pool ? " (the PAI simulator's)"
                                            : " (default: the widest gang)");
    return GSIM_OK;
}

static enum gsim_status load_cluster(struct gsim_cli *cli, struct gsim_setup *setup) {
    const char *device = cli->value[GSIM_OPT_DEVICE];
    setup->device_name = device ? device : setup->reference ? "ideal" : "h200";
    const char *file = cli->value[GSIM_OPT_CLUSTER];
    if (!file)
        return homogeneous(cli, setup);
    if (cli->value[GSIM_OPT_NODES] || cli->value[GSIM_OPT_GPUS_PER_NODE] ||
        cli->value[GSIM_OPT_CPUS_PER_NODE] || cli->value[GSIM_OPT_HOST_MEM])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--cluster defines the nodes; leave out --nodes, --gpus-per-node, "
                         "--cpus-per-node and --host-mem");
    setup->cluster_note = file;
    return gsim_cluster_file_read(cli, file, setup->device_name, &setup->cluster);
}

static enum gsim_status take_time(struct gsim_cli *cli, enum gsim_option option, int64_t *out) {
    const char *text = cli->value[option];
    if (!text || (gsim_parse_time(text, GSIM_NS_PER_S, out) == GSIM_PARSE_OK && *out > 0))
        return GSIM_OK;
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                     "--%s: '%s' is not a time above 0, such as 3600, 30min or 7d",
                     gsim_option_defs[option].name, text);
}

/* Reads a span of time. A small number needs a unit, since a span, unlike a time on the trace's
 * clock, has no usual unit. */
static enum gsim_status take_span(struct gsim_cli *cli, enum gsim_option option, int64_t *out) {
    const char *text = cli->value[option];
    enum gsim_status status = take_time(cli, option, out);
    if (status != GSIM_OK || !text || !gsim_is_bare(text) || *out >= GSIM_LEAST_BARE_NS)
        return status;
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--%s: '%s' has no unit; say %ss, %smin or %sd",
                     gsim_option_defs[option].name, text, text, text, text);
}

/* Reads --mtbf, --mttr and --checkpoint. */
static enum gsim_status load_failures(struct gsim_cli *cli, struct gsim_setup *setup) {
    setup->mttr_ns = 3600 * GSIM_NS_PER_S;
    enum gsim_status status = take_span(cli, GSIM_OPT_MTBF, &setup->mtbf_ns);
    if (status == GSIM_OK)
        status = take_span(cli, GSIM_OPT_MTTR, &setup->mttr_ns);
    if (status == GSIM_OK)
        status = take_span(cli, GSIM_OPT_CHECKPOINT, &setup->checkpoint_ns);
    if (status == GSIM_OK && setup->mtbf_ns == 0 &&
        (cli->value[GSIM_OPT_MTTR] || cli->value[GSIM_OPT_CHECKPOINT]))
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--mttr and --checkpoint are of nodes that fail: give --mtbf as well");
    return status;
}

static enum gsim_status load_clock(struct gsim_cli *cli, struct gsim_setup *setup) {
    setup->until_ns = GSIM_NEVER;
    enum gsim_status status = take_time(cli, GSIM_OPT_UNTIL, &setup->until_ns);
    if (status != GSIM_OK)
        return status;
    status = gsim_window_read(cli, &setup->window);
    if (status != GSIM_OK)
        return status;
    setup->is_exact = cli->value[GSIM_OPT_EXACT] != NULL;
    status = gsim_option_int(cli, GSIM_OPT_SLICE_BUDGET, GSIM_SLICE_BUDGET, 1, INT64_MAX,
                             &setup->slice_budget);
    if (status != GSIM_OK)
        return status;
    return gsim_option_int(cli, GSIM_OPT_SEED, setup->seed, 0, INT64_MAX, &setup->seed);
}

enum gsim_status gsim_setup_policies(struct gsim_cli *cli, const char *names,
                                     struct gsim_setup *setup) {
    enum gsim_status status = add_contenders(cli, setup, names);
    return status == GSIM_OK ? apply_sets(cli, setup) : status;
}

/* Checks that each device with a given speed is in the cluster. */
static enum gsim_status check_speeds(struct gsim_cli *cli, const struct gsim_setup *setup) {
    enum gsim_status status = GSIM_OK;
    for (const char *const *text = cli->repeats[GSIM_OPT_SET]; status == GSIM_OK && *text; text++) {
        const char *key, *value, *device;
        bool is_there = false;
        status = cut_set(cli, *text, &key, &value);
        device = status == GSIM_OK ? speed_of(key) : NULL;
        for (uint16_t p = 0; device && p < setup->cluster.n_profiles; p++)
            is_there |= strcmp(setup->cluster.profiles[p]->name, device) == 0;
        if (device && !is_there)
            status = gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                               "--set %s: no node of the cluster has a device '%s'", key, device);
    }
    return status;
}

enum gsim_status gsim_setup_cluster(struct gsim_cli *cli, struct gsim_setup *setup) {
    enum gsim_status status = load_cluster(cli, setup);
    if (status == GSIM_OK)
        status = check_speeds(cli, setup);
    if (status == GSIM_OK)
        status = load_failures(cli, setup);
    return status == GSIM_OK ? load_clock(cli, setup) : status;
}

enum gsim_status gsim_setup_samples(struct gsim_cli *cli, uint32_t *n_samples) {
    int64_t n, fallback = cli->value[GSIM_OPT_DB] ? DEFAULT_SAMPLES : 0;
    enum gsim_status status = gsim_option_int(cli, GSIM_OPT_SAMPLES, fallback, 0, MAX_SAMPLES, &n);
    *n_samples = status == GSIM_OK ? (uint32_t)n : 0;
    return status;
}

enum gsim_status gsim_setup_load(struct gsim_cli *cli, const char *names,
                                 struct gsim_setup *setup) {
    *setup = (struct gsim_setup){0};
    enum gsim_status status = gsim_setup_policies(cli, names, setup);
    if (status == GSIM_OK)
        status = gsim_setup_trace(cli, setup, true);
    if (status == GSIM_OK)
        status = gsim_setup_cluster(cli, setup);
    return status == GSIM_OK ? gsim_setup_samples(cli, &setup->n_samples) : status;
}

bool gsim_setup_meets(struct gsim_foreign *foreign, const struct gsim_policy *policy,
                      const char *key) {
    const struct gsim_policy *other;
    bool is_of_others = false;
    for (int n = 0; (other = gsim_foreign_known(foreign, n)) != NULL; n++) {
        const char *name = param_name(other, key);
        if (name != key && !is_profile_key(key)) /* "las.", whatever follows */
            return other == policy;
        for (const struct gsim_param_def *def = other->params; def && def->type; def++)
            if (strcmp(def->name, name) == 0) {
                if (other == policy)
                    return true;
                is_of_others = true;
            }
    }
    return !is_of_others;
}

/* --- running ---------------------------------------------------------------------------------- */

static double now_s(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void show_progress(void *bar, uint32_t n_done, uint32_t n_jobs) {
    (void)n_jobs;
    gsim_progress_set(bar, n_done);
}

/* Memory of a context on the device where it is largest; 0 if the policy has no contexts or the
 * trace no column of memory. */
static int64_t context_bytes(const struct gsim_setup *setup, const struct gsim_policy *policy,
                             const struct gsim_trace *trace) {
    int64_t most = 0;
    if (!policy->has_contexts || !trace->column[GSIM_COL_MEM_BYTES])
        return 0;
    for (uint16_t p = 0; p < setup->cluster.n_profiles; p++) {
        int64_t bytes = setup->cluster.profiles[p]->value[GSIM_KEY_CONTEXT_BYTES];
        most = bytes > most ? bytes : most;
    }
    return most;
}

enum gsim_status gsim_setup_run(const struct gsim_setup *setup, int contender,
                                const struct gsim_trace *trace, const struct gsim_io *io,
                                struct gsim_progress_bar *bar, struct gsim_arena *arena,
                                struct gsim_result *result, struct gsim_log *log) {
    enum gsim_status status = gsim_apps_resolve(trace, &setup->cluster, arena, &trace, log);
    if (status != GSIM_OK)
        return status;
    struct gsim_run_options options = {.trace = trace,
                                       .cluster = &setup->cluster,
                                       .policy = setup->contender[contender].policy,
                                       .policy_params = &setup->contender[contender].params,
                                       .model = &gsim_model_device,
                                       .reference = setup->reference,
                                       .device_name = setup->device_name,
                                       .seed = setup->seed,
                                       .replication = setup->replication,
                                       .mtbf_ns = setup->mtbf_ns,
                                       .mttr_ns = setup->mttr_ns,
                                       .checkpoint_ns = setup->checkpoint_ns,
                                       .until_ns = setup->until_ns,
                                       .slice_budget = setup->slice_budget,
                                       .is_exact = setup->is_exact,
                                       .stop = io->stop,
                                       .observer = setup->observer};
    options.context_bytes = context_bytes(setup, options.policy, trace);
    struct gsim_samples *samples = NULL;
    if (setup->n_samples) {
        samples = gsim_samples_new(arena, setup->n_samples);
        if (!samples)
            return gsim_no_memory(log, "starting a run");
        options.observer = gsim_samples_observer(samples, setup->observer);
    }
    if (bar && bar->err) {
        options.progress = show_progress;
        options.progress_arg = bar;
    }
    double begin_s = now_s();
    status = gsim_run(&options, arena, result, log);
    if (status != GSIM_OK && status != GSIM_INCOMPLETE)
        return status;
    result->summary.wall_s = now_s() - begin_s;
    if (samples && !gsim_samples_finish(samples, result))
        return gsim_no_memory(log, "sampling a run");
    enum gsim_status applied = gsim_window_apply(&setup->window, result, arena, log);
    return applied != GSIM_OK ? applied : status;
}
