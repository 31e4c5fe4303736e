/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/runner.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gsim/device.h"
#include "models/hardware/profile.h"
#include "traces/read.h"

#define GSIM_POLICY(symbol) extern const struct gsim_policy gsim_policy_##symbol;
#include "policies/list.def"
#undef GSIM_POLICY

const struct gsim_policy *test_policy(const char *name) {
    static const struct {
        const char *symbol;
        const struct gsim_policy *policy;
    } all[] = {
#define GSIM_POLICY(symbol) {#symbol, &gsim_policy_##symbol},
#include "policies/list.def"
#undef GSIM_POLICY
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].policy->name, name) == 0 || strcmp(all[i].symbol, name) == 0)
            return all[i].policy;
    fail_msg("no policy '%s'", name);
    return NULL;
}

enum gsim_status test_try(const struct test_run *run, struct gsim_arena *arena,
                          struct gsim_result *result, struct gsim_log *log) {
    const struct gsim_policy *policy = run->custom ? run->custom : test_policy(run->policy);
    struct gsim_params *params = gsim_arena_alloc(arena, sizeof *params);
    struct gsim_profile *profile = gsim_arena_alloc(arena, sizeof *profile);
    const char *device = run->device ? run->device : "ideal";
    assert_int_equal(gsim_params_init(params, policy->name, policy->params, arena, log), GSIM_OK);
    for (const char *const *set = run->sets; set && *set; set++) {
        size_t n = strcspn(*set, "=");
        char *key = gsim_arena_strndup(arena, *set, n);
        assert_int_equal(gsim_params_set(params, key, *set + n + 1, arena, log), GSIM_OK);
    }
    assert_int_equal(gsim_profile_load(device, arena, profile, log), GSIM_OK);
    for (const char *const *set = run->device_sets; set && *set; set++) {
        size_t n = strcspn(*set, "=");
        char *key = gsim_arena_strndup(arena, *set, n);
        bool is_known;
        assert_int_equal(gsim_profile_set(profile, key, *set + n + 1, &is_known, arena, log),
                         GSIM_OK);
        assert_true(is_known);
    }
    if (run->hbm_bytes > 0)
        profile->value[GSIM_KEY_HBM_BYTES] = run->hbm_bytes;
    const struct gsim_profile **profiles = gsim_arena_alloc(arena, sizeof *profiles);
    profiles[0] = profile;
    struct gsim_node_group *group = gsim_arena_alloc(arena, sizeof *group);
    *group = (struct gsim_node_group){.count = run->nodes ? run->nodes : 1,
                                      .gpus_per_node = run->gpus_per_node ? run->gpus_per_node : 1,
                                      .hbm_bytes = profile->value[GSIM_KEY_HBM_BYTES]};
    struct gsim_cluster_spec cluster = {.groups = run->groups ? run->groups : group,
                                        .n_groups = run->groups ? run->n_groups : 1,
                                        .profiles = profiles,
                                        .n_profiles = 1,
                                        .is_pool = run->is_pool,
                                        .pool_cpus_milli = run->pool_cpus_milli};
    struct gsim_run_options options = {.trace = run->trace,
                                       .cluster = &cluster,
                                       .policy = policy,
                                       .policy_params = params,
                                       .model = &gsim_model_device,
                                       .reference = run->reference,
                                       .device_name = device,
                                       .seed = run->seed,
                                       .mtbf_ns = run->mtbf_ns,
                                       .mttr_ns = run->mttr_ns,
                                       .checkpoint_ns = run->checkpoint_ns,
                                       .pauses_in_place = run->pauses_in_place,
                                       .until_ns = run->until_ns ? run->until_ns : GSIM_NEVER,
                                       .observer = run->observer,
                                       .n_threads = run->n_threads,
                                       .progress = run->progress,
                                       .progress_arg = run->progress_arg};
    return gsim_run(&options, arena, result, log);
}

struct gsim_result test_run(const struct test_run *run, struct gsim_arena *arena) {
    struct gsim_log *log = gsim_arena_alloc(arena, sizeof *log);
    struct gsim_result result;
    enum gsim_status status = test_try(run, arena, &result, log);
    if (status != GSIM_OK)
        fail_msg("%s: %s", run->policy, log->errors[0].text);
    return result;
}

struct gsim_trace test_trace(uint32_t n, const int64_t *submit_ns, const int64_t *service_ns,
                             const uint32_t *gpus, struct gsim_arena *arena) {
    return (struct gsim_trace){.path = "random",
                               .n_jobs = n,
                               .id_text = "job",
                               .id_at = gsim_arena_array(arena, n, sizeof(uint32_t)),
                               .submit_ns = submit_ns,
                               .service_ns = service_ns,
                               .gpus = gpus};
}

struct gsim_trace test_read(const char *path, struct gsim_arena *arena) {
    struct gsim_log *log = gsim_arena_alloc(arena, sizeof *log);
    struct gsim_trace trace;
    if (gsim_trace_read(path, NULL, NULL, arena, &trace, log) != GSIM_OK)
        fail_msg("%s", log->errors[0].text);
    return trace;
}

bool test_knows(const char *policy, const char *param) {
    for (const struct gsim_param_def *def = test_policy(policy)->params; def && def->type; def++)
        if (strcmp(def->name, param) == 0)
            return true;
    return false;
}

const char *test_shared(const char *name, struct gsim_arena *arena) {
    const char *path = gsim_arena_printf(arena, "../shared/%s", name);
    if (access(path, R_OK) == 0)
        return path;
    print_message("# skipped: %s is not there\n", path);
    return NULL;
}
