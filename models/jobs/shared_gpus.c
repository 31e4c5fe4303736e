/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/jobs/shared_gpus.h"

#include "models/jobs/arbiters.h"
#include "models/jobs/gang_paging.h"
#include "models/jobs/link_parts.h"
#include "models/jobs/link_shares.h"
#include "models/jobs/next_report.h"
#include "models/jobs/process.h"
#include "models/jobs/shared_job.h"
#include "models/jobs/shared_state.h"
#include "models/jobs/speed.h"

#include <assert.h>

#include "sim/base/hints.h"

/* A lane in which a context is alone, or takes turns of the device's default length. */
static const struct gsim_lane plain_lane = {.discipline = GSIM_DISCIPLINE_RR};

/* --- arranging -------------------------------------------------------------------------------- */

static bool is_on_devices(const struct gsim_model *model, const struct gsim_unit *units,
                          uint32_t n_units, const struct gsim_lane *lane) {
    for (uint32_t u = 0; u < n_units; u++)
        if ((int64_t)lane->first_sm + lane->n_sms >
            gsim_machine_profile_at(model, units[u].gpu)->value[GSIM_KEY_SMS])
            return false;
    return lane->cap_ppm <= GSIM_PPM && (lane->n_sms > 0 || lane->first_sm == 0);
}

/* Whether turns that pass, used or not, are longer than the switch to them. */
static bool is_worth_switching(const struct gsim_model *model, const struct gsim_lane *lane) {
    for (uint16_t type = 0; gsim_lane_turns(lane) && type < model->setup.n_profiles; type++) {
        const struct gsim_profile *profile = model->setup.profiles[type];
        struct gsim_switch_costs costs = gsim_arbiters_switch_costs(profile);
        if (gsim_arbiters_quantum_ns(lane, profile) <= gsim_switch_most_ns(&costs))
            return false;
    }
    return true;
}

/* Whether a lane has slices or hints, and no contexts that are switched. */
static bool has_vain_hints(const struct gsim_lane *lane) {
    struct gsim_lane_urgency urgency = gsim_lane_urgency(lane);
    return urgency.stop != GSIM_STOP_SWITCH && (urgency.slice_ns != 0 || urgency.hint_ns != 0);
}

/* Whether kernels are to run as atoms where they do not go to SMs block by block, beside a lane by
 * priority or on a device with more SMs than that model has; or beside a gate, where lanes could
 * wait for each other; or beside a lane without atoms: its blocks take no notice of the SMs that
 * an atom has. */
static bool has_vain_atoms(const struct gsim_model *model, const struct gsim_unit *units,
                           uint32_t n_units, const struct gsim_arrangement *arrangement) {
    bool has_atoms = false, is_otherwise = false;
    for (uint16_t i = 0; i < arrangement->n_lanes; i++) {
        has_atoms |= gsim_lane_has_atoms(&arrangement->lanes[i]);
        is_otherwise |= !gsim_lane_has_atoms(&arrangement->lanes[i]) ||
                        gsim_lane_is_by_priority(&arrangement->lanes[i]) ||
                        gsim_lane_is_gated(&arrangement->lanes[i]);
    }
    for (uint32_t u = 0; has_atoms && u < n_units; u++)
        is_otherwise |=
            gsim_machine_profile_at(model, units[u].gpu)->value[GSIM_KEY_SMS] > GSIM_ARRAY_SMS_MAX;
    return has_atoms && is_otherwise;
}

const char *gsim_shared_refuse(const struct gsim_model *model, const struct gsim_unit *units,
                               uint32_t n_units, const struct gsim_arrangement *arrangement) {
    if (arrangement->n_lanes == 0 || arrangement->n_lanes > GSIM_CONTEXTS_MAX)
        return "a device has 1 to 256 lanes";
    if (has_vain_atoms(model, units, n_units, arrangement))
        return "kernels run as atoms (atom_ns) in all lanes of a GPU or in none, in lanes with "
               "time slices and without a gate, on at most 192 SMs";
    for (uint16_t i = 0; i < arrangement->n_lanes; i++) {
        if (!is_on_devices(model, units, n_units, &arrangement->lanes[i]))
            return "a lane has more SMs than the device";
        if (!is_worth_switching(model, &arrangement->lanes[i]))
            return "a turn that may pass unused is no longer than the switch to it";
        if (has_vain_hints(&arrangement->lanes[i]))
            return "slice_ns and hint_ns of a lane need stop=switch";
        if (arrangement->n_lanes > 1 && !gsim_shared_knows(arrangement->lanes[i].discipline))
            return "lanes can run side by side only by time slices or by priority";
        if (gsim_lane_turns(&arrangement->lanes[i]) && arrangement->memory == GSIM_MEMORY_PROACTIVE)
            return "memory=proactive cannot move memory ahead of turns that pass unused";
        if (arrangement->lanes[i].discipline == GSIM_DISCIPLINE_PADDING &&
            arrangement->memory != GSIM_MEMORY_RESIDENT)
            return "a lane with padding needs its jobs' memory resident";
    }
    for (uint32_t i = 0; i < arrangement->n_entries; i++) {
        const struct gsim_entry *entry = &arrangement->entries[i];
        if (entry->lane >= arrangement->n_lanes)
            return "an entry names a lane that the arrangement does not have";
        if (entry->mem_cap_bytes > 0 &&
            (arrangement->memory != GSIM_MEMORY_OVERFLOW ||
             arrangement->lanes[entry->lane].discipline != GSIM_DISCIPLINE_RR))
            return "a job's memory can be capped only where memory overflows, in lanes with time "
                   "slices";
        if (entry->launch_refill_ns > 0 && gsim_lane_turns(&arrangement->lanes[entry->lane]))
            return "launches cannot be capped in lanes with turns that pass unused";
    }
    return NULL;
}

/* Assumed numbers of a job's row have decided something. */
static void note_assumptions(struct gsim_model *model, const struct gsim_shared_job *sharer) {
    const struct gsim_process *process = &sharer->process;
    if (process->length_key != GSIM_KEY_COUNT)
        model->shared.has_key[process->length_key] = true;
    model->shared.has_key[GSIM_KEY_JOB_KERNELS] |= process->has_assumed_kernels;
}

/* Notes the keys that a lane uses. Alone in its lane a job does not switch, and the gap is part
 * of its measured duration. */
static void note_keys(struct gsim_model *model, uint32_t gpu, uint16_t place) {
    static const enum gsim_key switching[] = {
        GSIM_KEY_SWITCH_PREEMPT_NS, GSIM_KEY_SWITCH_IDLE_NS,    GSIM_KEY_SWITCH_COLD_NS,
        GSIM_KEY_LAUNCH_GAP_NS,     GSIM_KEY_LAUNCH_BETWEEN_NS, GSIM_KEY_SWITCH_LOOKAHEAD_NS,
        GSIM_KEY_SLICE_QUANTUM_NS};
    struct gsim_shared *shared = &model->shared;
    const struct gsim_arbiter *arbiter = shared->of_gpu[gpu];
    uint16_t n_beside = gsim_arbiter_present(arbiter);
    uint16_t n_members = gsim_arbiter_in_lane(arbiter, place);
    struct gsim_lane lane = gsim_arbiter_lane(arbiter, place);
    if (model->gpus[gpu].is_spatial) {
        if (!model->gpus[gpu].is_cut && n_beside > shared->most_beside)
            shared->most_beside = n_beside;
        shared->has_key[GSIM_KEY_SMS] = shared->has_key[GSIM_KEY_HBM_BYTES_PER_S] =
            shared->has_key[GSIM_KEY_HBM_BY_SMS] = true;
        if (lane.discipline != GSIM_DISCIPLINE_PADDING)
            return;
    }
    if (n_members > shared->most_members)
        shared->most_members = n_members;
    if (n_members < 2)
        return;
    for (size_t i = 0; i < sizeof switching / sizeof *switching; i++)
        shared->has_key[switching[i]] = true;
    if (!gsim_lane_is_by_priority(&lane))
        return;
    shared->has_halted = true;
    struct gsim_lane_urgency urgency = gsim_lane_urgency(&lane);
    for (enum gsim_key key = GSIM_KEY_PREEMPT_SAVE_NS; key <= GSIM_KEY_PREEMPT_CHECKPOINT_NS; key++)
        shared->has_key[key] |= gsim_kernel_stop_uses(&urgency, key);
    shared->has_key[GSIM_KEY_LAUNCH_NS] |= gsim_kernel_stop_uses(&urgency, GSIM_KEY_LAUNCH_NS);
}

/* Whether any job of this lane would halt another. */
static bool has_ranks(const struct gsim_arbiter *arbiter, uint16_t place) {
    struct gsim_lane lane = gsim_arbiter_lane(arbiter, place);
    int32_t lowest = INT32_MAX, highest = INT32_MIN;
    for (uint16_t m = 0; m < gsim_arbiter_members(arbiter); m++) {
        const struct gsim_member *member = gsim_arbiter_member(arbiter, m);
        if (!member->is_present || member->how.lane != place)
            continue;
        lowest = member->how.priority < lowest ? member->how.priority : lowest;
        highest = member->how.priority > highest ? member->how.priority : highest;
    }
    return gsim_lane_is_by_priority(&lane) && lowest < highest;
}

/* The length of iterations decides something as soon as there are other jobs, or when a job needs
 * more memory than the GPU has; that of a stream of kernels, where one job halts another or memory
 * overflows. */
static void note_lengths(struct gsim_model *model, const struct gsim_shared_job *sharer) {
    const struct gsim_arbiter *arbiter = model->shared.of_gpu[sharer->gpu];
    const struct gsim_tenant *own = &gsim_arbiter_member(arbiter, sharer->member)->tenant;
    int64_t hbm_bytes = gsim_machine_profile_at(model, sharer->gpu)->value[GSIM_KEY_HBM_BYTES];
    bool is_alone = gsim_arbiter_present(arbiter) < 2;
    for (uint16_t m = 0; m < gsim_arbiter_members(arbiter); m++) {
        const struct gsim_member *member = gsim_arbiter_member(arbiter, m);
        const struct gsim_shared_job *one = &model->shared.by_slot[member->how.job];
        bool is_cut =
            has_ranks(arbiter, member->how.lane) || member->tenant.spec.overflow.bytes > 0;
        bool has_ends = !one->process.is_stream && one->process.is_assumed;
        if (member->is_present &&
            (is_cut || (has_ends && (!is_alone || own->spec.used_bytes > hbm_bytes))))
            note_assumptions(model, one);
    }
}

/* Notes that a job has come into its lane. */
static void note_joined(struct gsim_model *model, const struct gsim_shared_job *sharer) {
    const struct gsim_arbiter *arbiter = model->shared.of_gpu[sharer->gpu];
    note_keys(model, sharer->gpu, gsim_arbiter_member(arbiter, sharer->member)->how.lane);
    if (sharer->how.launch_refill_ns > 0)
        note_assumptions(model, sharer);
    if (model->gpus[sharer->gpu].parts)
        note_lengths(model, sharer);
}

static void apply_cap(struct gsim_model *model, const struct gsim_shared_job *sharer,
                      int64_t now_ns) {
    struct gsim_arbiter *arbiter = model->shared.of_gpu[sharer->gpu];
    struct gsim_launch_cap cap = gsim_shared_job_cap(
        model, &sharer->how, &gsim_arbiter_member(arbiter, sharer->member)->context);
    gsim_arbiter_cap(arbiter, sharer->member, &cap, now_ns);
    if (cap.refill_ns > 0)
        note_assumptions(model, sharer);
    gsim_next_report_anew(&model->shared, sharer->gpu, now_ns);
}

static void note_rank(struct gsim_model *model, const struct gsim_shared_job *sharer,
                      int64_t now_ns) {
    struct gsim_arbiter *arbiter = model->shared.of_gpu[sharer->gpu];
    uint16_t place = gsim_arbiter_member(arbiter, sharer->member)->how.lane;
    struct gsim_lane lane = gsim_arbiter_lane(arbiter, place);
    if (!gsim_lane_is_by_priority(&lane))
        return;
    gsim_arbiter_rank(arbiter, sharer->member, &sharer->how, now_ns);
    gsim_next_report_anew(&model->shared, sharer->gpu, now_ns);
}

static void note_memory(struct gsim_model *model, const struct gsim_shared_job *sharer,
                        int64_t now_ns) {
    const struct gsim_entry *how = &sharer->how;
    gsim_arbiter_overflow(
        model->shared.of_gpu[sharer->gpu], sharer->member,
        gsim_shared_job_overflow(model, how->job, gsim_machine_profile_at(model, sharer->gpu)),
        now_ns);
    gsim_next_report_anew(&model->shared, sharer->gpu, now_ns);
    if (how->launch_refill_ns > 0 &&
        how->launch_share_ppm > 0) /* its kernels have become longer or shorter */
        apply_cap(model, sharer, now_ns);
}

/* The last entry of a job is kept for when it joins. A running job keeps the quantum, the yielding
 * and the form of its kernels from when it joined. */
static void note_entry(struct gsim_model *model, const struct gsim_entry *entry, int64_t now_ns) {
    struct gsim_shared_job *sharer = &model->shared.by_slot[entry->job];
    struct gsim_entry was = sharer->how;
    was.job = entry->job;
    sharer->how = *entry;
    if (!model->jobs[entry->job].is_turning)
        return;
    sharer->how.quantum_ns = was.quantum_ns;
    sharer->how.memory_yields = was.memory_yields;
    sharer->how.keeps_kernels = was.keeps_kernels;
    note_rank(model, sharer, now_ns);
    if (!gsim_shared_job_is_capped_alike(model, &was, entry))
        apply_cap(model, sharer, now_ns);
    if (was.mem_cap_bytes != entry->mem_cap_bytes)
        note_memory(model, sharer, now_ns);
}

static bool note_entries(struct gsim_model *model, const struct gsim_arrangement *arrangement,
                         int64_t now_ns) {
    for (uint32_t i = 0; i < arrangement->n_entries; i++) {
        if (!gsim_shared_job_reserve(model, arrangement->entries[i].job))
            return false;
        note_entry(model, &arrangement->entries[i], now_ns);
    }
    return true;
}

/* A job that runs here goes into the lane that its entry names; kernels that can be halted there
 * are as long as if the job had left and come back. A job that runs elsewhere enters the lane when
 * it comes. */
static void move_entry(struct gsim_model *model, uint32_t gpu, const struct gsim_entry *entry,
                       int64_t now_ns) {
    const struct gsim_shared_job *sharer = &model->shared.by_slot[entry->job];
    struct gsim_arbiter *arbiter = model->shared.of_gpu[gpu];
    if (!model->jobs[entry->job].is_turning || sharer->gpu != gpu ||
        gsim_arbiter_member(arbiter, sharer->member)->how.lane == entry->lane)
        return;
    struct gsim_member there =
        gsim_shared_job_member(model, entry->job, gpu, gsim_machine_profile_at(model, gpu));
    gsim_arbiter_move(arbiter, sharer->member, entry->lane, there.context.spec.gpu_ns, now_ns);
    note_rank(model, sharer, now_ns);
    if (sharer->how.launch_refill_ns > 0)
        apply_cap(model, sharer, now_ns);
    note_joined(model, sharer);
}

static void arrange_memory(struct gsim_model *model, uint32_t gpu, struct gsim_arbiter *arbiter,
                           const struct gsim_arrangement *arrangement) {
    struct gsim_pager pager;
    bool is_paging = gsim_shared_pages(arrangement->memory);
    model->shared.has_managed[arrangement->memory] = true;
    model->is_out_of_memory |= is_paging && !gsim_link_shares_open(model);
    model->shared.starts_early |=
        arrangement->memory == GSIM_MEMORY_PROACTIVE && arrangement->migration.early_start;
    if (is_paging)
        gsim_pager_init(&pager, arrangement, gsim_machine_profile_at(model, gpu),
                        model->setup.arena);
    model->gpus[gpu].memory = (uint8_t)arrangement->memory;
    gsim_arbiter_set_memory(arbiter, is_paging ? &pager : NULL);
    if (is_paging)
        gsim_link_parts_note_wants(model, gpu);
}

static bool arrange_lane(struct gsim_model *model, uint32_t gpu, uint16_t place,
                         const struct gsim_lane *lane, int64_t now_ns) {
    const struct gsim_profile *profile = gsim_machine_profile_at(model, gpu);
    struct gsim_lane here = *lane;
    here.quantum_ns = gsim_arbiters_quantum_ns(lane, profile);
    model->shared.has_vgpus |= gsim_lane_most_vgpus(lane) > 0;
    if (lane->n_sms > 0) /* a policy may have asked what groups of SMs there are */
        model->shared.has_key[GSIM_KEY_GREEN_SMS] =
            model->shared.has_key[GSIM_KEY_GREEN_LEAST_SMS] = true;
    if (gsim_lane_most_vgpus(lane) > 0 && lane->quantum_ns <= 0)
        model->shared.has_key[gsim_vgpu_slice_key(profile, gsim_lane_most_vgpus(lane))] = true;
    else if (lane->quantum_ns < 0) /* how long the driver's settings are is documented nowhere */
        model->shared.has_key[lane->quantum_ns == GSIM_QUANTUM_SHORT ? GSIM_KEY_SLICE_SHORT_NS
                                                                     : GSIM_KEY_SLICE_LONG_NS] =
            true;
    return gsim_arbiter_set_lane(model->shared.of_gpu[gpu], place, &here, 0, now_ns);
}

static void become_spatial(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_space space = gsim_space_of_device(gsim_machine_profile_at(model, gpu));
    model->gpus[gpu].is_spatial = true;
    gsim_arbiter_set_spaces(model->shared.of_gpu[gpu], &space, 1, now_ns);
}

bool gsim_shared_cut(struct gsim_model *model, uint32_t gpu, const struct gsim_space *instances,
                     uint16_t n, int64_t now_ns) {
    struct gsim_arbiter *arbiter = gsim_arbiters_at(model, gpu);
    if (!arbiter)
        return false;
    bool is_done = true;
    model->gpus[gpu].is_spatial = true;
    gsim_arbiter_set_spaces(arbiter, instances, n, now_ns);
    for (uint16_t i = 0; i < n; i++)
        is_done &= gsim_arbiter_set_lane(arbiter, i, &plain_lane, i, now_ns);
    gsim_next_report_anew(&model->shared, gpu, now_ns);
    return is_done;
}

bool gsim_shared_manage(struct gsim_model *model, uint32_t gpu,
                        const struct gsim_arrangement *arrangement) {
    struct gsim_arbiter *arbiter = gsim_arbiters_at(model, gpu);
    model->gpus[gpu].parts = GSIM_PARTS_ITERATIONS;
    if (arbiter)
        arrange_memory(model, gpu, arbiter, arrangement);
    return arbiter != NULL;
}

void gsim_shared_disband(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    model->gpus[gpu].memory = GSIM_MEMORY_RESIDENT;
    model->gpus[gpu].parts = 0;
    if (!model->gpus[gpu].is_spatial)
        return;
    model->gpus[gpu].is_spatial = false;
    gsim_arbiter_set_spaces(model->shared.of_gpu[gpu], NULL, 0, now_ns);
}

/* Whether a lane halts the running job where a kernel or its blocks end, or kills work that has to
 * run again. */
static bool halts_at_kernels(const struct gsim_lane *lane) {
    if (lane->discipline == GSIM_DISCIPLINE_PADDING)
        return true;
    return lane->discipline == GSIM_DISCIPLINE_PRIORITY &&
           gsim_lane_urgency(lane).stop != GSIM_STOP_SAVE &&
           gsim_lane_urgency(lane).stop != GSIM_STOP_SWITCH &&
           gsim_lane_urgency(lane).stop != GSIM_STOP_INCREMENTAL;
}

static uint8_t parts_of(const struct gsim_arrangement *arrangement) {
    bool by_iteration = gsim_shared_pages(arrangement->memory);
    bool by_kernel = arrangement->memory == GSIM_MEMORY_OVERFLOW, by_turn = false;
    bool by_length = false;
    for (uint16_t i = 0; i < arrangement->n_lanes; i++) {
        const struct gsim_lane *lane = &arrangement->lanes[i];
        by_turn |= lane->ends_at_boundary || lane->discipline == GSIM_DISCIPLINE_BOUNDARY;
        by_kernel |= lane->caps_launches || halts_at_kernels(lane);
        by_length |= gsim_lane_counts_ahead(lane);
    }
    return (uint8_t)((by_iteration || by_turn ? GSIM_PARTS_ITERATIONS : 0) |
                     (by_turn ? GSIM_PARTS_TURNS : 0) | (by_kernel ? GSIM_PARTS_KERNELS : 0) |
                     (by_length ? GSIM_PARTS_LENGTHS : 0));
}

bool gsim_shared_arrange(struct gsim_model *model, uint32_t gpu,
                         const struct gsim_arrangement *arrangement, int64_t now_ns) {
    struct gsim_arbiter *arbiter = gsim_arbiters_at(model, gpu);
    model->gpus[gpu].parts = parts_of(arrangement);
    model->gpus[gpu].n_lanes = arrangement->n_lanes;
    if (!arbiter || !note_entries(model, arrangement, now_ns))
        return false;
    if (gsim_arbiter_present(arbiter) == 0)
        arrange_memory(model, gpu, arbiter, arrangement);
    if (gsim_arrangement_is_split(arrangement) && !model->gpus[gpu].is_spatial)
        become_spatial(model, gpu, now_ns);
    bool is_done = true;
    for (uint16_t i = 0; i < arrangement->n_lanes; i++)
        is_done &= arrange_lane(model, gpu, i, &arrangement->lanes[i], now_ns);
    for (uint32_t i = 0; is_done && i < arrangement->n_entries; i++)
        move_entry(model, gpu, &arrangement->entries[i], now_ns);
    gsim_next_report_anew(&model->shared, gpu, now_ns);
    return is_done;
}

void gsim_shared_forget(struct gsim_model *model, gsim_slot slot) {
    if (gsim_mostly(slot >= model->shared.capacity))
        return;
    struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    *sharer = (struct gsim_shared_job){.parts_left = sharer->parts_left,
                                       .parts_capacity = sharer->parts_capacity};
}

static void begin_with(struct gsim_model *model, gsim_slot slot, struct gsim_memory_use sum) {
    if (slot < model->shared.capacity)
        model->shared.by_slot[slot].sum = model->shared.by_slot[slot].before = sum;
}

void gsim_shared_lose(struct gsim_model *model, gsim_slot slot) {
    struct gsim_memory_use sum = gsim_shared_memory_use(model, slot);
    gsim_shared_forget(model, slot);
    begin_with(model, slot, sum);
}

void gsim_shared_inherit(struct gsim_model *model, gsim_slot slot, gsim_slot failed) {
    if (failed >= model->shared.capacity)
        return;
    if (gsim_shared_job_reserve(model, slot))
        begin_with(model, slot, model->shared.by_slot[failed].sum);
    else
        model->is_out_of_memory = true;
}

bool gsim_shared_knows_of(const struct gsim_model *model, gsim_slot slot) {
    return slot < model->shared.capacity;
}

/* --- joining and leaving ---------------------------------------------------------------------- */

/* On a GPU that is not arranged, shares are reservations: each has a lane of its own. */
static uint16_t own_lane(struct gsim_model *model, struct gsim_arbiter *arbiter, int64_t now_ns) {
    uint16_t lane = gsim_arbiter_free_lane(arbiter);
    if (!gsim_arbiter_set_lane(arbiter, lane, &plain_lane, 0, now_ns))
        model->is_out_of_memory = true;
    return lane;
}

void gsim_shared_join(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    uint32_t gpu = gsim_machine_info(model, slot)->units[0].gpu;
    struct gsim_arbiter *arbiter = gsim_arbiters_at(model, gpu);
    struct gsim_member newcomer;
    uint64_t rate_q32 = gsim_speed_q32(model, slot);
    struct gsim_shared_job *sharer =
        arbiter ? gsim_shared_job_come(model, slot, rate_q32, now_ns, &newcomer) : NULL;
    if (!sharer) {
        model->is_out_of_memory = true;
        return;
    }
    struct gsim_machine_job *job = &model->jobs[slot];
    if (sharer->has_worked) { /* the rest of its work needs no GPU */
        gsim_machine_run_at(model, slot, rate_q32, now_ns);
        return;
    }
    if (!model->gpus[gpu].takes_turns)
        newcomer.how.lane = own_lane(model, arbiter, now_ns);
    model->is_out_of_memory |= !gsim_gang_paging_gather(model, slot, now_ns);
    enum gsim_arrival arrival = gsim_shared_job_ready(model, slot, &newcomer, now_ns);
    sharer->member = gsim_arbiter_join(arbiter, &newcomer, arrival, now_ns);
    job->is_turning = sharer->member != GSIM_NO_MEMBER;
    model->is_out_of_memory |= !job->is_turning;
    if (job->is_turning)
        note_joined(model, sharer);
    gsim_link_shares_count(model, gsim_machine_info(model, slot), now_ns);
    model->progress[slot].is_untold = job->is_turning;
    gsim_next_report_anew(&model->shared, gpu, now_ns);
}

static void book(struct gsim_model *model, gsim_slot slot, const struct gsim_member *member,
                 int64_t now_ns) {
    struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    const struct gsim_context *context = &member->context;
    sharer->sum = sharer->before;
    struct gsim_memory_use use =
        gsim_arbiter_use(model->shared.of_gpu[sharer->gpu], sharer->member, sharer->n_gpus);
    gsim_memory_use_add(&sharer->sum, &use, 1);
    sharer->taken_ns = gsim_context_taken_ns(context, now_ns);
    model->progress[slot] =
        (struct gsim_progress){.done = gsim_process_done(&sharer->process, context),
                               .since_ns = now_ns,
                               .is_untold = model->jobs[slot].is_turning};
    if (sharer->process.is_open_loop)
        model->shared.logs[sharer->log].n_served = context->sums.done_iterations;
}

/* Gives observers the spans of a GPU. */
static void deliver(const struct gsim_model *model, uint32_t gpu, struct gsim_arbiter *arbiter) {
    const struct gsim_slice_log *spans =
        model->setup.observer ? gsim_arbiter_take_spans(arbiter) : NULL;
    for (uint32_t i = 0; spans && i < spans->n; i++) {
        struct gsim_span span = spans->list[i];
        span.gpu = gpu;
        span.job = gsim_machine_info(model, span.job)->index;
        gsim_observe_span(model->setup.observer, &span);
    }
}

void gsim_shared_leave(struct gsim_model *model, gsim_slot slot, bool keeps_memory,
                       int64_t now_ns) {
    struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    struct gsim_arbiter *arbiter = model->shared.of_gpu[sharer->gpu];
    gsim_arbiter_settle(arbiter, now_ns);
    deliver(model, sharer->gpu, arbiter);
    const struct gsim_member *member = gsim_arbiter_member(arbiter, sharer->member);
    sharer->left = member->context;
    sharer->left_ns = now_ns;
    sharer->has_left = true;
    book(model, slot, member, now_ns);
    if (sharer->has_worked)
        model->progress[slot].done += (gsim_work)(now_ns - member->finish_ns) * sharer->rate_q32;
    sharer->left_done = model->progress[slot].done;
    sharer->before = sharer->sum;
    sharer->is_parked = keeps_memory;
    if (keeps_memory) {
        sharer->parked = gsim_arbiter_park(arbiter, sharer->member, now_ns);
    } else {
        /* the job does not wait for these pages any more */
        sharer->before.stall_ns -= member->state.stall_ns;
        sharer->sum = sharer->before;
        gsim_arbiter_leave(arbiter, sharer->member, now_ns);
    }
    deliver(model, sharer->gpu, arbiter); /* that it left, while the slot is the job's */
    gsim_gang_paging_scatter(model, slot, now_ns);
    gsim_link_shares_count(model, gsim_machine_info(model, slot), now_ns);
    model->jobs[slot].is_turning = false;
    model->progress[slot].is_untold = false;
    gsim_next_report_anew(&model->shared, sharer->gpu, now_ns);
}

bool gsim_shared_exit(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                      int64_t now_ns) {
    const struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    if (stop == GSIM_STOP_SAVE)
        return true;
    bool is_there = gsim_arbiter_exit(
        model->shared.of_gpu[sharer->gpu], sharer->member,
        stop == GSIM_STOP_ITERATION ? GSIM_EXIT_ITERATION : GSIM_EXIT_KERNEL, now_ns);
    gsim_next_report_anew(&model->shared, sharer->gpu, now_ns);
    return is_there;
}

bool gsim_shared_has_worked(const struct gsim_model *model, gsim_slot slot) {
    return slot < model->shared.capacity && model->shared.by_slot[slot].has_worked;
}

void gsim_shared_watch(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    if (!job->is_turning)
        return;
    struct gsim_arbiter *arbiter = model->shared.of_gpu[sharer->gpu];
    struct gsim_watched_work watched = gsim_shared_job_watched(
        model, slot, &gsim_arbiter_member(arbiter, sharer->member)->context);
    gsim_arbiter_watch(arbiter, sharer->member, watched.iterations, watched.done, now_ns);
    gsim_next_report_anew(&model->shared, sharer->gpu, now_ns);
}

/* --- time ------------------------------------------------------------------------------------- */

static void report_member(struct gsim_model *model, const struct gsim_member *member,
                          unsigned reports, int64_t now_ns) {
    gsim_slot slot = member->how.job;
    struct gsim_shared_job *sharer = &model->shared.by_slot[slot];
    if (reports & GSIM_REPORT_WORKED) {
        sharer->has_worked = true;
        gsim_machine_expect(model, slot, ENDS,
                            member->finish_ns +
                                gsim_process_time_ns(sharer->process.tail_ns, sharer->rate_q32));
    } else if (reports & GSIM_REPORT_LEFT) {
        gsim_machine_expect(model, slot, STOPS, now_ns);
    } else if (reports & GSIM_REPORT_WATCHED) {
        gsim_machine_expect(model, slot, IS_WATCHED, now_ns);
    }
}

static void book_all(struct gsim_model *model, const struct gsim_arbiter *arbiter, int64_t now_ns) {
    for (uint16_t m = 0; m < gsim_arbiter_members(arbiter); m++) {
        const struct gsim_member *member = gsim_arbiter_member(arbiter, m);
        if (member->is_present)
            book(model, member->how.job, member, now_ns);
    }
}

static void settle_one(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_arbiter *arbiter = model->shared.of_gpu[gpu];
    unsigned reports;
    uint16_t place;
    model->is_out_of_memory |= gsim_arbiter_has_failed(arbiter);
    if (gsim_arbiter_settle(arbiter, now_ns))
        while ((place = gsim_arbiter_take(arbiter, &reports)) != GSIM_NO_MEMBER)
            report_member(model, gsim_arbiter_member(arbiter, place), reports, now_ns);
    deliver(model, gpu, arbiter);
    book_all(model, arbiter, now_ns);
}

void gsim_shared_settle(struct gsim_model *model, int64_t now_ns) {
    struct gsim_shared *shared = &model->shared;
    while (gsim_eventq_next(&shared->ahead) <= now_ns &&
           shared->is_due[gsim_eventq_first(&shared->ahead)]) {
        uint32_t gpu = gsim_eventq_first(&shared->ahead);
        settle_one(model, gpu, now_ns);
        gsim_next_report_anew(shared, gpu, now_ns + 1);
    }
    for (uint32_t i = 0; i < shared->n_close; i++)
        if (gsim_next_report_occupied(shared, shared->close[i]))
            settle_one(model, shared->close[i], now_ns);
}

void gsim_shared_tell(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_arbiter *arbiter = model->shared.of_gpu[model->shared.by_slot[slot].gpu];
    (void)gsim_arbiter_settle(arbiter, now_ns);
    book_all(model, arbiter, now_ns);
}

struct gsim_memory_use gsim_shared_memory_use(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_shared *shared = &model->shared;
    return slot < shared->capacity ? shared->by_slot[slot].sum : (struct gsim_memory_use){0};
}

int64_t gsim_shared_request_ns(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_shared *shared = &model->shared;
    bool is_known = slot < shared->capacity && shared->by_slot[slot].is_described;
    return is_known ? shared->by_slot[slot].process.pace_ns : 0;
}

int64_t gsim_shared_taken_ns(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_shared *shared = &model->shared;
    bool takes_turns = slot < shared->capacity && shared->by_slot[slot].is_described;
    return takes_turns ? shared->by_slot[slot].taken_ns : -1;
}

void gsim_shared_stats(const struct gsim_shared *shared, struct gsim_model_stats *out) {
    for (uint32_t i = 0; i < shared->n_active; i++) {
        struct gsim_arbiter_stats one = gsim_arbiter_stats(shared->of_gpu[shared->active[i]]);
        out->slices += one.slices;
        out->switch_ns += one.switch_ns;
        out->skipped_ns += one.skipped_ns;
        out->steps += one.steps;
        out->is_approximate |= one.is_approximate;
    }
}
