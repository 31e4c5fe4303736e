/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/setup/setup.h"

#include <stdlib.h>
#include <string.h>

#include "gsim/device.h"
#include "sim/app/setup/set.h"
#include "sim/api/compat.h"
#include "sim/base/text.h"
#include "sim/base/units.h"

/* The number of steps over time: more than a figure one column wide can show, but few rows of a
 * database. */
enum { DEFAULT_SAMPLES = 256, MAX_SAMPLES = 100000 };

/* --- --set ------------------------------------------------------------------------------------ */

static enum gsim_status set_reference(struct gsim_cli *cli, struct gsim_setup *setup,
                                      const char *value) {
    int choice = gsim_text_choice(value, "none|" GSIM_REFERENCES);
    if (choice < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "reference: '%s' is not one of " GSIM_REFERENCES, value);
    setup->reference = (enum gsim_reference)choice;
    for (int c = 0; c < setup->n_contenders && choice > 0; c++)
        if (!(setup->contender[c].policy->references & 1u << choice))
            return gsim_fail(
                cli->log, GSIM_USAGE, NULL, 0,
                "policy '%s' has no reference=%s; 'gsim list policies %s' shows its references",
                setup->contender[c].policy->name, value, setup->contender[c].policy->name);
    return GSIM_OK;
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
    bool is_known = gsim_set_is_of_devices(key);
    if (strcmp(key, "reference") == 0)
        return set_reference(cli, setup, value);
    for (int c = 0; c < setup->n_contenders; c++) {
        struct gsim_params *params = &setup->contender[c].params;
        const char *name = param_name(setup->contender[c].policy, key);
        if (gsim_params_find(params, name) < 0)
            continue;
        if (gsim_key_called(key, strlen(key)) < GSIM_KEY_COUNT)
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
        enum gsim_status status = gsim_set_cut(cli, *text, &key, &value);
        if (status == GSIM_OK)
            status = set_one(cli, setup, key, value);
        if (status != GSIM_OK)
            return status;
    }
    return GSIM_OK;
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
    contender->is_foreign = gsim_foreign_is(name);
    contender->typed = contender->is_foreign ? name : policy->name;
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

/* The file of --slurm-conf, or of --kueue-conf, is a parameter of its policy. */
static enum gsim_status set_conf(struct gsim_cli *cli, struct gsim_setup *setup,
                                 enum gsim_option option, const char *policy) {
    const char *path = cli->value[option];
    enum gsim_status status = GSIM_OK;
    for (int c = 0; path && c < setup->n_contenders && status == GSIM_OK; c++)
        if (strcmp(setup->contender[c].policy->name, policy) == 0)
            status =
                gsim_params_set(&setup->contender[c].params, "conf", path, cli->arena, cli->log);
    return status;
}

enum gsim_status gsim_setup_policies(struct gsim_cli *cli, const char *names,
                                     struct gsim_setup *setup) {
    enum gsim_status status = add_contenders(cli, setup, names);
    if (status == GSIM_OK)
        status = set_conf(cli, setup, GSIM_OPT_SLURM_CONF, "slurm");
    if (status == GSIM_OK)
        status = set_conf(cli, setup, GSIM_OPT_KUEUE_CONF, "kueue");
    return status == GSIM_OK ? apply_sets(cli, setup) : status;
}

/* Checks that each device with a given speed is in the cluster. */
static enum gsim_status check_speeds(struct gsim_cli *cli, const struct gsim_setup *setup) {
    enum gsim_status status = GSIM_OK;
    for (const char *const *text = cli->repeats[GSIM_OPT_SET]; status == GSIM_OK && *text; text++) {
        const char *key, *value, *device;
        bool is_there = false;
        status = gsim_set_cut(cli, *text, &key, &value);
        device = status == GSIM_OK ? gsim_set_device(key) : NULL;
        for (uint16_t p = 0; device && p < setup->cluster.n_profiles; p++)
            is_there |= strcmp(setup->cluster.profiles[p]->name, device) == 0;
        if (device && !is_there)
            status = gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                               "--set %s: no node of the cluster has a device '%s'", key, device);
    }
    return status;
}

enum gsim_status gsim_setup_cluster(struct gsim_cli *cli, struct gsim_setup *setup) {
    enum gsim_status status = gsim_setup_nodes(cli, setup);
    if (status == GSIM_OK)
        status = check_speeds(cli, setup);
    if (status == GSIM_OK)
        status = load_failures(cli, setup);
    if (status == GSIM_OK && cli->value[GSIM_OPT_ESTIMATE])
        status = gsim_estimate_read(cli->value[GSIM_OPT_ESTIMATE], cli->arena, &setup->estimate,
                                    cli->log);
    return status == GSIM_OK ? load_clock(cli, setup) : status;
}

enum gsim_status gsim_setup_samples(struct gsim_cli *cli, uint32_t *n_samples) {
    int64_t n, fallback = cli->value[GSIM_OPT_DB] ? DEFAULT_SAMPLES : 0;
    enum gsim_status status = gsim_option_int(cli, GSIM_OPT_SAMPLES, fallback, 0, MAX_SAMPLES, &n);
    *n_samples = status == GSIM_OK ? (uint32_t)n : 0;
    return status;
}

enum gsim_status gsim_setup_policy_timeout(struct gsim_cli *cli, int64_t *timeout_ns) {
    *timeout_ns = 0;
    return take_span(cli, GSIM_OPT_POLICY_TIMEOUT, timeout_ns);
}

enum gsim_status gsim_setup_load(struct gsim_cli *cli, const char *names,
                                 struct gsim_setup *setup) {
    *setup = (struct gsim_setup){0};
    enum gsim_status status = gsim_setup_policies(cli, names, setup);
    if (status == GSIM_OK)
        status = gsim_setup_trace(cli, setup, true);
    if (status == GSIM_OK)
        status = gsim_setup_cluster(cli, setup);
    if (status == GSIM_OK)
        status = gsim_setup_policy_timeout(cli, &setup->policy_timeout_ns);
    return status == GSIM_OK ? gsim_setup_samples(cli, &setup->n_samples) : status;
}

bool gsim_setup_meets(struct gsim_foreign *foreign, const struct gsim_policy *policy,
                      const char *key) {
    const struct gsim_policy *other;
    bool is_of_others = false;
    for (int n = 0; (other = gsim_foreign_known(foreign, n)) != NULL; n++) {
        const char *name = param_name(other, key);
        if (name != key &&
            gsim_key_called(key, strlen(key)) == GSIM_KEY_COUNT) /* "las.", whatever follows */
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
