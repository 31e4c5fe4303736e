/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The claims of a result about itself: the assumed constants from which it was computed, and
 * whether it lies outside the validated mechanisms. */
#include "models/jobs/claims.h"

#include "models/jobs/process.h"
#include "models/jobs/suspension.h"

#include <string.h>

#include "models/hardware/mig.h"
#include "models/hardware/validated.h"

/* Keys from which migrations were computed. */
static const enum gsim_key migration_keys[] = {
    GSIM_KEY_MIGRATE_OUT,     GSIM_KEY_MIGRATE_IN,        GSIM_KEY_MIGRATE_BOTH,
    GSIM_KEY_MIGRATE_PLAN_NS, GSIM_KEY_PCIE_ALTERNATE_NS, GSIM_KEY_MIGRATE_TASK_PLAN_NS,
};
/* Keys from which an application's iteration was computed. */
static const enum gsim_key roof_keys[] = {GSIM_KEY_HBM_BYTES_PER_S,  GSIM_KEY_HBM_BY_SMS,
                                          GSIM_KEY_LAUNCH_NS,        GSIM_KEY_FP32_FLOPS_PER_S,
                                          GSIM_KEY_TF32_FLOPS_PER_S, GSIM_KEY_FP16_FLOPS_PER_S,
                                          GSIM_KEY_INT8_OPS_PER_S};

/* Keys from which kernels that share SMs block by block were computed. */
static const enum gsim_key block_keys[] = {
    GSIM_KEY_SM_BLOCKS,        GSIM_KEY_SM_BLOCK_SHARED_BYTES, GSIM_KEY_MPS_SMS,
    GSIM_KEY_MPS_LEAST_SMS,    GSIM_KEY_JOB_SPREAD_PPM,        GSIM_KEY_HBM_STAGED_BY_SMS,
    GSIM_KEY_SM_MEMORY_THREADS};

/* Keys from which followed how much later they begin without their lines in L2. */
static const enum gsim_key first_load_keys[] = {GSIM_KEY_L2_HIT_NS, GSIM_KEY_L2_MISS_NS,
                                                GSIM_KEY_L2_KEEPS_PPM, GSIM_KEY_L2_LOSES_PPM,
                                                GSIM_KEY_L2_FIRST_LOADS_MILLI};

static const enum gsim_key host_keys[] = {GSIM_KEY_HOST_IN, GSIM_KEY_HOST_OUT, GSIM_KEY_HOST_BOTH,
                                          GSIM_KEY_HOST_NUMA_GPUS};

static bool has_faulted(const struct gsim_model *model) {
    return model->shared.has_managed[GSIM_MEMORY_UVM] || model->shared.has_managed[GSIM_MEMORY_LRU];
}

/* Whether kernels beside others began with loads that L2 did not have. */
static bool has_first_loads(const struct gsim_model *model) {
    for (uint32_t i = 0; i < model->shared.n_active; i++)
        if (gsim_arbiter_stats(model->shared.of_gpu[model->shared.active[i]]).has_first_loads)
            return true;
    return false;
}

/* Whether jobs of some device could read the host's memory over a coherent link. */
static bool has_read_remotely(const struct gsim_model *model) {
    bool is_coherent = false;
    for (uint16_t type = 0; type < model->setup.n_profiles; type++)
        is_coherent |= model->setup.profiles[type]->value[GSIM_KEY_UVM_REMOTE] != 0;
    return is_coherent && (has_faulted(model) || model->shared.has_managed[GSIM_MEMORY_PROACTIVE]);
}

/* Whether on some GPU most slices end before their pages are there, so that its time goes into
 * paging. */
static bool is_thrashing(const struct gsim_model *model) {
    for (uint32_t i = 0; i < model->shared.n_active; i++) {
        struct gsim_arbiter_stats stats =
            gsim_arbiter_stats(model->shared.of_gpu[model->shared.active[i]]);
        if (2 * stats.vain_slices > stats.slices)
            return true;
    }
    return false;
}

/* Whether some turn could have begun ahead of memory that was moved for it. */
static bool has_awaited_memory(const struct gsim_model *model) {
    for (uint32_t i = 0; model->shared.starts_early && i < model->shared.n_active; i++)
        if (gsim_arbiter_stats(model->shared.of_gpu[model->shared.active[i]]).bytes_in > 0)
            return true;
    return false;
}

/* Whether some GPU switched from one context to another, even if each of them was alone there. */
static bool has_switched(const struct gsim_model *model) {
    for (uint32_t i = 0; i < model->shared.n_active; i++)
        if (gsim_arbiter_stats(model->shared.of_gpu[model->shared.active[i]]).switch_ns > 0)
            return true;
    return false;
}

/* Whether stops that keep memory in this place took time. */
static bool has_kept(const struct gsim_model *model, enum gsim_keep keep) {
    bool is_charged = false;
    for (int stop = 0; stop < GSIM_STOP_COUNT; stop++)
        is_charged |= model->is_charged[stop][keep];
    return is_charged;
}

/* Whether kernels of programs shared SMs block by block, beside each other or under a cap. */
static bool has_shared_blocks(const struct gsim_model *model) {
    for (uint32_t i = 0; i < model->shared.n_active; i++)
        if (gsim_arbiter_stats(model->shared.of_gpu[model->shared.active[i]]).has_shared_blocks)
            return true;
    return false;
}

/* Whether the bytes of some of these kernels were not known. */
static bool has_unknown_traffic(const struct gsim_model *model) {
    for (uint32_t i = 0; i < model->shared.n_active; i++)
        if (gsim_arbiter_stats(model->shared.of_gpu[model->shared.active[i]]).has_unknown_traffic)
            return true;
    return false;
}

/* Whether all devices are ideal, so that nothing was left to be measured. */
static bool is_ideal(const struct gsim_model *model) {
    for (uint16_t type = 0; type < model->setup.n_profiles; type++)
        if (model->setup.profiles[type]->value[GSIM_KEY_PCIE_D2H] != INT64_MAX)
            return false;
    return true;
}

/* Whether different kernels crowded the same SMs. */
static bool has_crowded_unequals(const struct gsim_model *model) {
    for (uint32_t i = 0; !is_ideal(model) && i < model->shared.n_active; i++)
        if (gsim_arbiter_stats(model->shared.of_gpu[model->shared.active[i]]).has_crowded_unequals)
            return true;
    return false;
}

/* Whether the memory of a stopped job was copied to its host, or to other GPUs. */
static bool has_copied_out(const struct gsim_model *model) {
    return has_kept(model, GSIM_KEEP_HOST) || has_kept(model, GSIM_KEEP_SPILT) ||
           model->has_key[GSIM_KEY_PCIE_D2H];
}

/* Whether paging or migration and a copy of a whole job have slowed each other. */
static bool has_copied_beside_paging(const struct gsim_model *model) {
    return model->link_shares.has_met_copies || model->transfers.pcie.has_met_paging;
}

static bool has_taken_turns(const struct gsim_model *model) {
    return model->shared.most_members > 1 || has_switched(model) ||
           has_kept(model, GSIM_KEEP_RESIDENT) || has_kept(model, GSIM_KEEP_PAGEABLE);
}

/* Whether something was computed from a key of the mechanism. */
static bool has_any_key(const struct gsim_model *model, enum gsim_mechanism mechanism) {
    bool has = false;
    for (const enum gsim_key *key = gsim_validated_keys(mechanism); *key != GSIM_KEY_COUNT; key++)
        has |= model->has_key[*key];
    return has;
}

/* Of mechanisms that move memory while jobs run. */
static bool rests_on_paging(const struct gsim_model *model, enum gsim_mechanism mechanism) {
    bool has_migrated = model->shared.has_managed[GSIM_MEMORY_PROACTIVE];
    if (mechanism == GSIM_MECHANISM_FAULTS) /* memory that was not predicted faults too */
        return has_faulted(model) || has_migrated;
    if (mechanism == GSIM_MECHANISM_EVICTION)
        return has_faulted(model);
    return mechanism == GSIM_MECHANISM_REMOTE ? has_read_remotely(model) : has_migrated;
}

/* Whether the result rests on a mechanism; *n_at_once, 0 before: the most contexts at once, where
 * their number matters. */
static bool rests_on(const struct gsim_model *model, enum gsim_mechanism mechanism,
                     int64_t *n_at_once) {
    const struct gsim_shared *shared = &model->shared;
    switch (mechanism) {
    case GSIM_MECHANISM_SLICES:
        *n_at_once = shared->most_members;
        return has_taken_turns(model);
    case GSIM_MECHANISM_SETTINGS:
        return shared->has_key[GSIM_KEY_SLICE_SHORT_NS] || shared->has_key[GSIM_KEY_SLICE_LONG_NS];
    case GSIM_MECHANISM_VGPUS:
        return shared->has_vgpus;
    case GSIM_MECHANISM_PREEMPTION:
        return shared->has_halted;
    case GSIM_MECHANISM_SHARING:
        *n_at_once = shared->most_beside;
        return shared->most_beside > 1;
    case GSIM_MECHANISM_INSTANCES:
        return model->has_cut;
    case GSIM_MECHANISM_FAULTS:
    case GSIM_MECHANISM_EVICTION:
    case GSIM_MECHANISM_REMOTE:
    case GSIM_MECHANISM_MIGRATION:
    case GSIM_MECHANISM_PLANNING:
        return rests_on_paging(model, mechanism);
    case GSIM_MECHANISM_OVERFLOW:
        return shared->has_overflown;
    case GSIM_MECHANISM_LOADING:
        return model->has_loaded;
    case GSIM_MECHANISM_SUSPENSION:
        return has_copied_out(model);
    case GSIM_MECHANISM_UNKNOWN:
        return model->has_key[GSIM_KEY_SUSPEND_UNKNOWN_NS];
    case GSIM_MECHANISM_HOSTS:
        return model->link_shares.was_host_limited || model->transfers.pcie.was_host_limited;
    case GSIM_MECHANISM_STORAGE:
        return has_kept(model, GSIM_KEEP_SPILT) || has_kept(model, GSIM_KEEP_IMAGE_SPILT);
    case GSIM_MECHANISM_IMAGES:
        return has_kept(model, GSIM_KEEP_IMAGE) || has_kept(model, GSIM_KEEP_IMAGE_SPILT);
    case GSIM_MECHANISM_STARTS:
        return has_any_key(model, GSIM_MECHANISM_STARTS);
    case GSIM_MECHANISM_RESTARTS:
        return has_kept(model, GSIM_KEEP_STORAGE) || model->has_key[GSIM_KEY_RESTART_NS];
    case GSIM_MECHANISM_ENDING:
        return has_kept(model, GSIM_KEEP_DISCARD);
    case GSIM_MECHANISM_PS:
        return model->has_equal_sharing;
    case GSIM_MECHANISM_INTERLEAVING:
        return model->has_interleaved;
    case GSIM_MECHANISM_COUNT:
        break;
    }
    return false;
}

static const char *add_reason(const struct gsim_model *model, const char *so_far,
                              const char *reason) {
    if (!reason)
        return so_far;
    return so_far ? gsim_arena_printf(model->setup.arena, "%s; %s", so_far, reason) : reason;
}

const char *gsim_claims_outside_validated(const struct gsim_model *model) {
    const char *all = NULL;
    if (is_thrashing(model))
        all = "thrashing: most quanta end before their pages are there, and with a quantum no "
              "longer than paging in, real processes may make no progress at all";
    for (int m = 0; m < GSIM_MECHANISM_COUNT; m++) {
        int64_t n_at_once = 0;
        if (!rests_on(model, (enum gsim_mechanism)m, &n_at_once))
            continue;
        all =
            add_reason(model, all,
                       gsim_validated_doubt(model->setup.profiles, model->setup.n_profiles,
                                            (enum gsim_mechanism)m, n_at_once, model->setup.arena));
    }
    if (has_shared_blocks(model))
        all = add_reason(
            model, all,
            "kernels side by side, block by block: rates of real jobs were 3 to 15 % off in the "
            "mean, and up to 43 % where hosts bind them (tables mixes, day_pairs, real_caps and "
            "real_mps of gsim validate h200)");
    if (has_crowded_unequals(model))
        all = add_reason(model, all,
                         "different kernels on the same SMs: pairs that were measured after the "
                         "model was built are often far off (table spatial_more of gsim validate "
                         "h200)");
    if (has_copied_beside_paging(model))
        all = add_reason(model, all,
                         "copies of whole jobs beside paging: they share links by what GPUs page "
                         "on average, held against a plain walk and no measurement");
    return all;
}

static void mark_all(const enum gsim_key *keys, size_t n, bool *is_used) {
    for (size_t i = 0; i < n; i++)
        is_used[keys[i]] = true;
}

/* Marks the keys of stops that were charged, or had a cost that a policy may have gone by. */
static void mark_stops(const struct gsim_model *model, bool *is_used) {
    for (int stop = 0; stop < GSIM_STOP_COUNT; stop++)
        for (int keep = 0; keep < GSIM_KEEP_COUNT; keep++) {
            if (!model->is_charged[stop][keep] && !model->is_asked[stop][keep])
                continue;
            const enum gsim_key *key =
                gsim_suspension_keys((enum gsim_stop)stop, (enum gsim_keep)keep);
            for (; *key != GSIM_KEY_COUNT; key++)
                is_used[*key] = true;
        }
}

static void mark_mechanism(enum gsim_mechanism mechanism, bool *is_used) {
    for (const enum gsim_key *key = gsim_validated_keys(mechanism); *key != GSIM_KEY_COUNT; key++)
        is_used[*key] = true;
}

static void mark_memory(const struct gsim_model *model, bool *is_used) {
    bool has_migrated = model->shared.has_managed[GSIM_MEMORY_PROACTIVE];
    if (has_faulted(model) || has_migrated)
        mark_mechanism(GSIM_MECHANISM_FAULTS, is_used);
    if (has_faulted(model))
        mark_mechanism(GSIM_MECHANISM_EVICTION, is_used);
    is_used[GSIM_KEY_UVM_REMOTE] |= has_faulted(model) || has_migrated;
    if (has_read_remotely(model))
        mark_mechanism(GSIM_MECHANISM_REMOTE, is_used);
    if (has_migrated)
        mark_all(migration_keys, sizeof migration_keys / sizeof *migration_keys, is_used);
    is_used[GSIM_KEY_JOB_FIRST_TOUCH_PPM] |= has_awaited_memory(model);
}

/* Marks the keys of the device in the iterations that rows describe, even for a job alone: they
 * decide how much of an iteration is GPU time. */
static void mark_rows(const struct gsim_model *model, const struct gsim_profile *profile,
                      bool *is_used) {
    const struct gsim_trace *trace = model->setup.trace;
    is_used[GSIM_KEY_LAUNCH_GAP_NS] |=
        is_used[GSIM_KEY_JOB_ITERATION_NS] || is_used[GSIM_KEY_JOB_ITERATION_NS_PER_GIB];
    bool is_known = profile->tag[GSIM_KEY_LAUNCH_GAP_NS] != GSIM_TAG_ASSUMED &&
                    profile->tag[GSIM_KEY_LAUNCH_BETWEEN_NS] != GSIM_TAG_ASSUMED &&
                    profile->tag[GSIM_KEY_LAUNCH_NS] != GSIM_TAG_ASSUMED;
    bool is_plain = !trace->column[GSIM_COL_ITERATIONS] && !trace->column[GSIM_COL_REQUESTS];
    /* rows are many, and here none adds an assumed key */
    if (is_known || (is_plain && !model->may_take_turns))
        return;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        unsigned keys = gsim_process_keys(trace, job, profile);
        is_used[GSIM_KEY_LAUNCH_GAP_NS] |= (keys & GSIM_PROCESS_HAS_GAP) != 0;
        is_used[GSIM_KEY_LAUNCH_BETWEEN_NS] |= (keys & GSIM_PROCESS_HAS_BETWEEN) != 0;
        is_used[GSIM_KEY_LAUNCH_NS] |= model->may_take_turns && keys & GSIM_PROCESS_HAS_LAUNCHES;
    }
}

/* Whether contexts decided which jobs share a GPU: also where they left no room for a second. */
static bool counts_contexts(const struct gsim_model *model) {
    const struct gsim_shared *shared = &model->shared;
    bool is_beside = shared->most_members > 1 || shared->most_beside > 1;
    bool may_be = model->setup.trace->column[GSIM_COL_MEM_BYTES] && model->setup.trace->n_jobs > 1;
    for (int memory = GSIM_MEMORY_RESIDENT + 1; memory < GSIM_MEMORY_COUNT; memory++)
        if (shared->has_managed[memory])
            return false;
    return model->setup.context_bytes > 0 && (is_beside || may_be);
}

/* Marks the keys that the run was computed from. */
static void mark_used(const struct gsim_model *model, const struct gsim_profile *profile,
                      bool *is_used) {
    mark_stops(model, is_used);
    for (int key = 0; key < GSIM_KEY_COUNT; key++)
        is_used[key] |= model->shared.has_key[key] || model->has_key[key];
    mark_memory(model, is_used);
    mark_rows(model, profile, is_used);
    if (has_switched(model))
        is_used[GSIM_KEY_SWITCH_IDLE_NS] = is_used[GSIM_KEY_SWITCH_COLD_NS] = true;
    if (model->setup.trace->column[GSIM_COL_APP])
        mark_all(roof_keys, sizeof roof_keys / sizeof *roof_keys, is_used);
    if (has_shared_blocks(model))
        mark_all(block_keys, sizeof block_keys / sizeof *block_keys, is_used);
    if (has_first_loads(model))
        mark_all(first_load_keys, sizeof first_load_keys / sizeof *first_load_keys, is_used);
    is_used[GSIM_KEY_JOB_MEMORY_PPM] |= has_unknown_traffic(model);
    is_used[GSIM_KEY_CONTEXT_BYTES] |= counts_contexts(model);
    if (model->link_shares.was_host_limited || model->transfers.pcie.was_host_limited)
        mark_all(host_keys, sizeof host_keys / sizeof *host_keys, is_used);
    is_used[GSIM_KEY_NETWORK_BYTES_PER_S] |= model->transfers.has_crossed;
    is_used[GSIM_KEY_PCIE_H2D] |= model->has_loaded;
    if (has_copied_beside_paging(model)) /* what the link of a GPU carries */
        is_used[GSIM_KEY_PCIE_H2D] = is_used[GSIM_KEY_PCIE_D2H] = is_used[GSIM_KEY_PCIE_DUPLEX] =
            true;
}

/* Adds the instances of unpublished sizes, as "mig.3g.90gb=66:88.5GiB:4:0,4 (b200)". */
static uint32_t add_instances(const struct gsim_model *model, const struct gsim_profile *profile,
                              const char **list, uint32_t n) {
    for (int p = 0; model->has_cut && profile->mig && p < profile->mig->n; p++) {
        char text[128];
        if (!profile->mig->profile[p].is_assumed)
            continue;
        (void)gsim_mig_format(&profile->mig->profile[p], text, sizeof text);
        list[n++] = gsim_arena_printf(model->setup.arena, "mig.%s=%s (%s)",
                                      profile->mig->profile[p].name, text, profile->name);
    }
    return n;
}

/* Whether jobs of unknown memory share GPUs as if they had none. On an ideal device memory never
 * binds. */
static bool shares_unknown_memory(const struct gsim_model *model) {
    const int64_t *const *column = model->setup.trace->column;
    return !is_ideal(model) && !column[GSIM_COL_MEM_BYTES] && !column[GSIM_COL_WORKING_SET_BYTES] &&
           !column[GSIM_COL_APP] &&
           (model->shared.most_members > 1 || model->shared.most_beside > 1 || model->has_cut);
}

/* Adds the used keys with this tag, as "key=value (device)". */
static uint32_t add_keys(const struct gsim_model *model, const struct gsim_profile *profile,
                         const bool *is_used, enum gsim_tag tag, const char **list, uint32_t n) {
    for (int key = 0; key < GSIM_KEY_COUNT; key++)
        if (is_used[key] && profile->tag[key] == tag)
            list[n++] = gsim_arena_printf(model->setup.arena, "%s=%s (%s)",
                                          gsim_key_name((enum gsim_key)key), profile->text[key],
                                          profile->name);
    return n;
}

/* The guess at the number of kernels of some row, where kernels decide the result: the host waits
 * for each kernel, or an urgent job cuts them short. NULL: no number is guessed. */
static const char *guessed_kernels(const struct gsim_model *model) {
    const struct gsim_trace *trace = model->setup.trace;
    unsigned keys = 0;
    bool may_guess =
        model->may_take_turns && (trace->column[GSIM_COL_HOST_NS] || trace->column[GSIM_COL_SYNC]);
    for (uint32_t job = 0; may_guess && job < trace->n_jobs; job++)
        keys |= gsim_process_keys(trace, job, model->setup.profiles[0]);
    if (keys & GSIM_PROCESS_HAS_SYNCS)
        return "kernels=host_ms/launch.kernel_ns (rows with sync=kernel do not give their number: "
               "beside other jobs the host loses its turn after each, so that this decides)";
    if (keys & GSIM_PROCESS_HAS_GUESS && model->shared.has_halted)
        return "kernels=host_ms/launch.kernel_ns (rows do not give their number)";
    if (keys & GSIM_PROCESS_HAS_ONE)
        return "kernels=1 (rows with sync=kernel give neither their number nor host_ms)";
    return NULL;
}

/* Whether durations of the trace count as measured on the cluster's first device, because it is not
 * known how fast that is to the device on which they were. */
static bool takes_durations(const struct gsim_model *model) {
    return model->setup.profiles[0]->tag[GSIM_KEY_SPEED_MILLI] == GSIM_TAG_ASSUMED &&
           model->setup.trace->has_measured_times;
}

const char *const *gsim_claims_assumed(const struct gsim_model *model) {
    uint32_t n = 0,
             most =
                 (uint32_t)model->setup.n_profiles * (GSIM_KEY_COUNT + GSIM_MIG_PROFILES_MAX) + 6;
    const char **list = gsim_arena_array(model->setup.arena, most, sizeof *list);
    for (uint16_t type = 0; list && type < model->setup.n_profiles; type++) {
        const struct gsim_profile *profile = model->setup.profiles[type];
        bool is_used[GSIM_KEY_COUNT] = {false};
        mark_used(model, profile, is_used);
        is_used[GSIM_KEY_SPEED_MILLI] &= type > 0; /* the first device is the device of reference */
        n = add_keys(model, profile, is_used, GSIM_TAG_ASSUMED, list, n);
        n = add_instances(model, profile, list, n);
    }
    const char *kernels = list ? guessed_kernels(model) : NULL;
    if (kernels)
        list[n++] = kernels;
    if (list && model->is_unrated)
        list[n++] = "rates=own columns (the table has no row of some model on a device on which it "
                    "ran, or might have run)";
    if (list && model->is_beyond)
        list[n++] = "rates=widest row (some gang ran or might have run on a device where the table "
                    "has none as wide: further GPUs add nothing)";
    if (list && shares_unknown_memory(model))
        list[n++] = "mem_gib=0 (no row gives the memory of its job)";
    if (list && takes_durations(model))
        list[n++] = gsim_arena_printf(
            model->setup.arena, GSIM_ASSUMED_DURATIONS "=as on %s (the trace names no device)",
            model->setup.profiles[0]->name);
    return list;
}

/* All given keys, whether or not the run used them: a key that is named needlessly does no harm. */
const char *const *gsim_claims_given(const struct gsim_model *model) {
    uint32_t n = 0, most = (uint32_t)model->setup.n_profiles * GSIM_KEY_COUNT + 1;
    const char **list = gsim_arena_array(model->setup.arena, most, sizeof *list);
    bool is_any[GSIM_KEY_COUNT];
    memset(is_any, true, sizeof is_any);
    for (uint16_t type = 0; list && type < model->setup.n_profiles; type++)
        n = add_keys(model, model->setup.profiles[type], is_any, GSIM_TAG_GIVEN, list, n);
    return list;
}
