/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/turns.h"

#include <assert.h>

#include "models/machine.h"
#include "sim/base/hints.h"

/* A lane in which a context is alone, or takes turns of the length that the device has. */
static const struct gsim_lane plain_lane = {.discipline = GSIM_DISCIPLINE_RR};

/* --- arbiters --------------------------------------------------------------------------------- */

static struct gsim_vgpu_rule vgpu_rule(const struct gsim_lane *lane,
                                       const struct gsim_profile *profile) {
    static const enum gsim_vgpu_scheduler schedulers[] = {[GSIM_TURNS_USED] = GSIM_VGPU_BEST_EFFORT,
                                                          [GSIM_TURNS_EQUAL] = GSIM_VGPU_EQUAL,
                                                          [GSIM_TURNS_FIXED] = GSIM_VGPU_FIXED};
    return gsim_vgpu_rule(profile, schedulers[lane->turns], 1, lane->most_vgpus,
                          lane->quantum_ns > 0 ? lane->quantum_ns : 0);
}

static int64_t quantum_of(const struct gsim_lane *lane, const struct gsim_profile *profile) {
    if (lane->most_vgpus > 0)
        return vgpu_rule(lane, profile).quantum_ns;
    if (lane->quantum_ns == GSIM_QUANTUM_SHORT)
        return profile->value[GSIM_KEY_SLICE_SHORT_NS];
    if (lane->quantum_ns == GSIM_QUANTUM_LONG)
        return profile->value[GSIM_KEY_SLICE_LONG_NS];
    return lane->quantum_ns > 0 ? lane->quantum_ns : profile->value[GSIM_KEY_SLICE_QUANTUM_NS];
}

static bool open_table(struct gsim_model *model) {
    struct gsim_turns *turns = &model->turns;
    uint32_t n = model->setup.n_gpus;
    if (turns->of_gpu)
        return true;
    turns->active = gsim_arena_array(model->setup.arena, n, sizeof *turns->active);
    turns->of_gpu = gsim_arena_array(model->setup.arena, n, sizeof *turns->of_gpu);
    turns->close = gsim_arena_array(model->setup.arena, n, sizeof *turns->close);
    turns->is_close = gsim_arena_array(model->setup.arena, n, sizeof *turns->is_close);
    turns->is_due = gsim_arena_array(model->setup.arena, n, sizeof *turns->is_due);
    turns->taken_by = gsim_arena_array(model->setup.arena, n, sizeof *turns->taken_by);
    gsim_eventq_init(&turns->ahead, model->setup.arena);
    return turns->taken_by && turns->active && turns->of_gpu && turns->close && turns->is_close &&
           turns->is_due && gsim_eventq_reserve(&turns->ahead, n);
}

static struct gsim_switch_costs switch_costs(const struct gsim_profile *profile) {
    return (struct gsim_switch_costs){.preempt_ns = profile->value[GSIM_KEY_SWITCH_PREEMPT_NS],
                                      .preempt_full_ns =
                                          profile->value[GSIM_KEY_SWITCH_PREEMPT_FULL_NS],
                                      .idle_ns = profile->value[GSIM_KEY_SWITCH_IDLE_NS],
                                      .halt = gsim_halt_costs_of(profile),
                                      .cold_ns = profile->value[GSIM_KEY_SWITCH_COLD_NS],
                                      .lookahead_ns = profile->value[GSIM_KEY_SWITCH_LOOKAHEAD_NS]};
}

struct gsim_arbiter *gsim_turns_arbiter(struct gsim_model *model, uint32_t gpu) {
    struct gsim_turns *turns = &model->turns;
    if (!open_table(model))
        return NULL;
    if (turns->of_gpu[gpu])
        return turns->of_gpu[gpu];
    const struct gsim_profile *profile = gsim_machine_profile_at(model, gpu);
    struct gsim_arbiter_options options = {.costs = switch_costs(profile),
                                           .quantum_ns = profile->value[GSIM_KEY_SLICE_QUANTUM_NS],
                                           .slice_budget = model->setup.slice_budget,
                                           .is_plain = model->setup.is_plain,
                                           .is_exact = model->setup.is_exact};
    (void)gsim_observe_slices(model->setup.observer, &options.watch_from_ns,
                              &options.watch_until_ns);
    turns->of_gpu[gpu] = gsim_arbiter_new(&options, model->setup.arena);
    if (turns->of_gpu[gpu])
        turns->active[turns->n_active++] = gpu;
    return turns->of_gpu[gpu];
}

/* --- arranging -------------------------------------------------------------------------------- */

static bool is_on_devices(const struct gsim_model *model, const struct gsim_lane *lane) {
    for (uint16_t type = 0; type < model->setup.n_profiles; type++)
        if ((int64_t)lane->first_sm + lane->n_sms >
            model->setup.profiles[type]->value[GSIM_KEY_SMS])
            return false;
    return lane->cap_ppm <= GSIM_PPM && (lane->n_sms > 0 || lane->first_sm == 0);
}

/* Turns that pass whether they are used or not leave something to use. */
static bool is_worth_switching(const struct gsim_model *model, const struct gsim_lane *lane) {
    for (uint16_t type = 0; lane->turns && type < model->setup.n_profiles; type++) {
        const struct gsim_profile *profile = model->setup.profiles[type];
        struct gsim_switch_costs costs = switch_costs(profile);
        if (quantum_of(lane, profile) <= gsim_switch_most_ns(&costs))
            return false;
    }
    return true;
}

const char *gsim_turns_refuse(const struct gsim_model *model,
                              const struct gsim_arrangement *arrangement) {
    if (arrangement->n_lanes == 0 || arrangement->n_lanes > GSIM_RING_MAX)
        return "a device has 1 to 256 lanes";
    for (uint16_t i = 0; i < arrangement->n_lanes; i++) {
        if (!is_on_devices(model, &arrangement->lanes[i]))
            return "a lane has more SMs than a device of the cluster";
        if (arrangement->lanes[i].turns && arrangement->lanes[i].discipline != GSIM_DISCIPLINE_RR)
            return "turns that pass unused are of lanes with time slices";
        if (!is_worth_switching(model, &arrangement->lanes[i]))
            return "a turn is no longer than the switch to it";
        if (arrangement->n_lanes > 1 && !gsim_turns_knows(arrangement->lanes[i].discipline))
            return "in lanes beside each other contexts take turns, or go by priority";
        if (arrangement->lanes[i].turns && arrangement->memory == GSIM_MEMORY_PROACTIVE)
            return "memory is not moved ahead of turns that pass before it is there";
        if (arrangement->lanes[i].discipline == GSIM_DISCIPLINE_PADDING &&
            arrangement->memory != GSIM_MEMORY_RESIDENT)
            return "what pads other kernels has its memory resident";
    }
    for (uint32_t i = 0; i < arrangement->n_entries; i++) {
        const struct gsim_entry *entry = &arrangement->entries[i];
        if (entry->lane >= arrangement->n_lanes)
            return "an entry names a lane that the arrangement does not have";
        if (entry->mem_cap_bytes > 0 &&
            (arrangement->memory != GSIM_MEMORY_OVERFLOW ||
             arrangement->lanes[entry->lane].discipline != GSIM_DISCIPLINE_RR))
            return "memory is capped where it overflows, in lanes with time slices";
        if (entry->launch_refill_ns > 0 && arrangement->lanes[entry->lane].turns)
            return "launches are not capped where turns pass unused";
    }
    return NULL;
}

/* In kernels: one that has some of the blocks left begins. */
static int64_t launch_cap(const struct gsim_model *model, const struct gsim_entry *how) {
    int64_t blocks = gsim_trace_get(model->setup.trace, GSIM_COL_BLOCKS,
                                    gsim_machine_info(model, how->job)->index);
    return how->launch_cap / (blocks > 0 ? blocks : 1) + 1;
}

/* A share of the time is so many kernels at once, in a period that is long enough for them: at least the
 * one that is named. What a context makes of the time that others leave it is its own affair. */
static void share_time(const struct gsim_entry *how, const struct gsim_context *context,
                       int64_t *cap, int64_t *refill_ns) {
    int64_t kernel_ns = (context->gpu_ns + context->kernels - 1) / context->kernels;
    int64_t part_ns = gsim_muldiv_ceil(how->launch_refill_ns, how->launch_share_ppm, GSIM_PPM);
    *cap = (part_ns + kernel_ns - 1) / kernel_ns;
    *refill_ns = GSIM_TIME_MAX;
    if (kernel_ns < GSIM_TIME_MAX / GSIM_PPM / *cap)
        *refill_ns = gsim_muldiv_ceil(*cap * kernel_ns, GSIM_PPM, how->launch_share_ppm);
}

/* What a job's row did not say has decided something. */
static void note_assumptions(struct gsim_model *model, const struct gsim_turner *turner) {
    const struct gsim_process *process = &turner->process;
    if (process->length_key != GSIM_KEY_COUNT)
        model->turns.has_key[process->length_key] = true;
    model->turns.has_key[GSIM_KEY_JOB_KERNELS] |= process->has_assumed_kernels;
}

/* Alone in its lane a job does not switch, and the gap is part of what was measured. */
static void note_keys(struct gsim_model *model, uint32_t gpu, uint16_t place) {
    static const enum gsim_key switching[] = {
        GSIM_KEY_SWITCH_PREEMPT_NS, GSIM_KEY_SWITCH_IDLE_NS,    GSIM_KEY_SWITCH_COLD_NS,
        GSIM_KEY_LAUNCH_GAP_NS,     GSIM_KEY_LAUNCH_BETWEEN_NS, GSIM_KEY_SWITCH_LOOKAHEAD_NS,
        GSIM_KEY_SLICE_QUANTUM_NS};
    struct gsim_turns *turns = &model->turns;
    const struct gsim_arbiter *arbiter = turns->of_gpu[gpu];
    uint16_t n_beside = gsim_arbiter_present(arbiter);
    uint16_t n_members = gsim_arbiter_in_lane(arbiter, place);
    struct gsim_lane lane = gsim_arbiter_lane(arbiter, place);
    if (model->gpus[gpu].is_spatial) {
        if (!model->gpus[gpu].is_cut && n_beside > turns->most_beside)
            turns->most_beside = n_beside;
        turns->has_key[GSIM_KEY_SMS] = turns->has_key[GSIM_KEY_HBM_BYTES_PER_S] =
            turns->has_key[GSIM_KEY_HBM_BY_SMS] = true;
        if (lane.discipline != GSIM_DISCIPLINE_PADDING)
            return;
    }
    if (n_members > turns->most_members)
        turns->most_members = n_members;
    if (n_members < 2)
        return;
    for (size_t i = 0; i < sizeof switching / sizeof *switching; i++)
        turns->has_key[switching[i]] = true;
    if (!gsim_lane_is_by_priority(&lane))
        return;
    turns->has_halted = true;
    for (enum gsim_key key = GSIM_KEY_PREEMPT_SAVE_NS; key <= GSIM_KEY_PREEMPT_CHECKPOINT_NS; key++)
        turns->has_key[key] |= gsim_halt_uses(&lane, key);
    turns->has_key[GSIM_KEY_LAUNCH_NS] |= gsim_halt_uses(&lane, GSIM_KEY_LAUNCH_NS);
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

/* How long iterations are decides something as soon as there are others, or when a job cannot stay
 * where it is, since it needs more than the GPU has; of a stream of kernels, where one halts
 * another or memory overflows. */
static void note_lengths(struct gsim_model *model, const struct gsim_turner *turner) {
    const struct gsim_arbiter *arbiter = model->turns.of_gpu[turner->gpu];
    const struct gsim_tenant *own = &gsim_arbiter_member(arbiter, turner->member)->tenant;
    int64_t hbm_bytes = gsim_machine_profile_at(model, turner->gpu)->value[GSIM_KEY_HBM_BYTES];
    bool is_alone = gsim_arbiter_present(arbiter) < 2;
    for (uint16_t m = 0; m < gsim_arbiter_members(arbiter); m++) {
        const struct gsim_member *member = gsim_arbiter_member(arbiter, m);
        const struct gsim_turner *one = &model->turns.by_slot[member->how.job];
        bool is_cut =
            has_ranks(arbiter, member->how.lane) || member->tenant.spec.overflow.bytes > 0;
        bool has_ends = !one->process.is_stream && one->process.is_assumed;
        if (member->is_present &&
            (is_cut || (has_ends && (!is_alone || own->spec.used_bytes > hbm_bytes))))
            note_assumptions(model, one);
    }
}

/* A job has come into its lane. */
static void note_joined(struct gsim_model *model, const struct gsim_turner *turner) {
    const struct gsim_arbiter *arbiter = model->turns.of_gpu[turner->gpu];
    note_keys(model, turner->gpu, gsim_arbiter_member(arbiter, turner->member)->how.lane);
    if (model->gpus[turner->gpu].parts)
        note_lengths(model, turner);
}

static void apply_cap(struct gsim_model *model, const struct gsim_turner *turner, int64_t now_ns) {
    struct gsim_arbiter *arbiter = model->turns.of_gpu[turner->gpu];
    const struct gsim_entry *how = &turner->how;
    int64_t cap = launch_cap(model, how), refill_ns = how->launch_refill_ns;
    if (how->launch_share_ppm > 0 && refill_ns > 0)
        share_time(how, &gsim_arbiter_member(arbiter, turner->member)->context, &cap, &refill_ns);
    gsim_arbiter_cap(arbiter, turner->member, cap, refill_ns, now_ns);
    if (refill_ns > 0)
        note_assumptions(model, turner);
    gsim_outlook_anew(&model->turns, turner->gpu, now_ns);
}

static void note_rank(struct gsim_model *model, const struct gsim_turner *turner, int64_t now_ns) {
    struct gsim_arbiter *arbiter = model->turns.of_gpu[turner->gpu];
    uint16_t place = gsim_arbiter_member(arbiter, turner->member)->how.lane;
    struct gsim_lane lane = gsim_arbiter_lane(arbiter, place);
    if (!gsim_lane_is_by_priority(&lane))
        return;
    gsim_arbiter_rank(arbiter, turner->member, &turner->how, now_ns);
    gsim_outlook_anew(&model->turns, turner->gpu, now_ns);
}

static bool is_capped_alike(const struct gsim_model *model, const struct gsim_entry *was,
                            const struct gsim_entry *is) {
    return was->launch_refill_ns == is->launch_refill_ns &&
           was->launch_share_ppm == is->launch_share_ppm &&
           (was->launch_refill_ns == 0 || launch_cap(model, was) == launch_cap(model, is));
}

static void note_memory(struct gsim_model *model, const struct gsim_turner *turner,
                        int64_t now_ns) {
    const struct gsim_entry *how = &turner->how;
    gsim_arbiter_overflow(model->turns.of_gpu[turner->gpu], turner->member,
                          gsim_turner_overflow(model, how->job, turner->gpu), now_ns);
    gsim_outlook_anew(&model->turns, turner->gpu, now_ns);
    if (how->launch_refill_ns > 0 &&
        how->launch_share_ppm > 0) /* its kernels are longer, or shorter */
        apply_cap(model, turner, now_ns);
}

/* The last entry of a job is kept for when it joins. What a running one has from when it joined
 * stays. */
static void note_entry(struct gsim_model *model, const struct gsim_entry *entry, int64_t now_ns) {
    struct gsim_turner *turner = &model->turns.by_slot[entry->job];
    struct gsim_entry was = turner->how;
    was.job = entry->job;
    turner->how = *entry;
    if (!model->jobs[entry->job].is_turning)
        return;
    turner->how.quantum_ns = was.quantum_ns;
    turner->how.memory_yields = was.memory_yields;
    note_rank(model, turner, now_ns);
    if (!is_capped_alike(model, &was, entry))
        apply_cap(model, turner, now_ns);
    if (was.mem_cap_bytes != entry->mem_cap_bytes)
        note_memory(model, turner, now_ns);
}

static bool note_entries(struct gsim_model *model, const struct gsim_arrangement *arrangement,
                         int64_t now_ns) {
    for (uint32_t i = 0; i < arrangement->n_entries; i++) {
        if (!gsim_turner_reserve(model, arrangement->entries[i].job))
            return false;
        note_entry(model, &arrangement->entries[i], now_ns);
    }
    return true;
}

/* A job that runs here goes into the lane that its entry names; the kernels of what can be halted
 * there are as long as if it had left and come back. One that runs elsewhere enters it when it
 * comes. */
static void move_entry(struct gsim_model *model, uint32_t gpu, const struct gsim_entry *entry,
                       int64_t now_ns) {
    const struct gsim_turner *turner = &model->turns.by_slot[entry->job];
    struct gsim_arbiter *arbiter = model->turns.of_gpu[gpu];
    if (!model->jobs[entry->job].is_turning || turner->gpu != gpu ||
        gsim_arbiter_member(arbiter, turner->member)->how.lane == entry->lane)
        return;
    struct gsim_member there = gsim_turner_member(model, entry->job, gpu);
    gsim_arbiter_move(arbiter, turner->member, entry->lane, there.context.gpu_ns, now_ns);
    note_rank(model, turner, now_ns);
    if (turner->how.launch_refill_ns > 0)
        apply_cap(model, turner, now_ns);
    note_joined(model, turner);
}

static void arrange_memory(struct gsim_model *model, uint32_t gpu, struct gsim_arbiter *arbiter,
                           const struct gsim_arrangement *arrangement) {
    struct gsim_pager pager;
    bool is_paging = gsim_turns_pages(arrangement->memory);
    model->turns.has_managed[arrangement->memory] = true;
    if (is_paging)
        gsim_pager_init(&pager, arrangement, gsim_machine_profile_at(model, gpu),
                        model->setup.arena);
    model->gpus[gpu].memory = (uint8_t)arrangement->memory;
    gsim_arbiter_set_memory(arbiter, is_paging ? &pager : NULL);
}

static bool arrange_lane(struct gsim_model *model, uint32_t gpu, uint16_t place,
                         const struct gsim_lane *lane, int64_t now_ns) {
    const struct gsim_profile *profile = gsim_machine_profile_at(model, gpu);
    struct gsim_lane here = *lane;
    here.quantum_ns = quantum_of(lane, profile);
    model->turns.has_vgpus |= lane->most_vgpus > 0;
    if (lane->most_vgpus > 0 && lane->quantum_ns <= 0)
        model->turns.has_key[gsim_vgpu_slice_key(profile, lane->most_vgpus)] = true;
    else if (lane->quantum_ns < 0) /* how long the driver's settings are is documented nowhere */
        model->turns.has_key[lane->quantum_ns == GSIM_QUANTUM_SHORT ? GSIM_KEY_SLICE_SHORT_NS
                                                                    : GSIM_KEY_SLICE_LONG_NS] =
            true;
    return gsim_arbiter_set_lane(model->turns.of_gpu[gpu], place, &here, 0, now_ns);
}

/* Lanes beside each other, or with a part of the SMs, share the device in space; so do those who
 * are padded and those who pad. */
static bool is_spatial(const struct gsim_arrangement *arrangement) {
    const struct gsim_lane *lane = &arrangement->lanes[0];
    return arrangement->n_lanes > 1 || lane->cap_ppm > 0 || lane->n_sms > 0 ||
           lane->discipline == GSIM_DISCIPLINE_PADDING;
}

static void become_spatial(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_space space = gsim_space_of_device(gsim_machine_profile_at(model, gpu));
    model->gpus[gpu].is_spatial = true;
    gsim_arbiter_set_spaces(model->turns.of_gpu[gpu], &space, 1, now_ns);
}

bool gsim_turns_cut(struct gsim_model *model, uint32_t gpu, const struct gsim_space *instances,
                    uint16_t n, int64_t now_ns) {
    struct gsim_arbiter *arbiter = gsim_turns_arbiter(model, gpu);
    if (!arbiter)
        return false;
    bool is_done = true;
    model->gpus[gpu].is_spatial = true;
    gsim_arbiter_set_spaces(arbiter, instances, n, now_ns);
    for (uint16_t i = 0; i < n; i++)
        is_done &= gsim_arbiter_set_lane(arbiter, i, &plain_lane, i, now_ns);
    gsim_outlook_anew(&model->turns, gpu, now_ns);
    return is_done;
}

bool gsim_turns_manage(struct gsim_model *model, uint32_t gpu,
                       const struct gsim_arrangement *arrangement) {
    struct gsim_arbiter *arbiter = gsim_turns_arbiter(model, gpu);
    model->gpus[gpu].parts = GSIM_PARTS_ITERATIONS;
    if (arbiter)
        arrange_memory(model, gpu, arbiter, arrangement);
    return arbiter != NULL;
}

void gsim_turns_disband(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    model->gpus[gpu].memory = GSIM_MEMORY_RESIDENT;
    model->gpus[gpu].parts = 0;
    if (!model->gpus[gpu].is_spatial)
        return;
    model->gpus[gpu].is_spatial = false;
    gsim_arbiter_set_spaces(model->turns.of_gpu[gpu], NULL, 0, now_ns);
}

/* Whether a lane halts the running job where a kernel or its blocks end, or kills what has to run again. */
static bool halts_at_kernels(const struct gsim_lane *lane) {
    if (lane->discipline == GSIM_DISCIPLINE_PADDING)
        return true;
    return lane->discipline == GSIM_DISCIPLINE_PRIORITY && lane->stop != GSIM_STOP_SAVE &&
           lane->stop != GSIM_STOP_INCREMENTAL;
}

static uint8_t parts_of(const struct gsim_arrangement *arrangement) {
    bool by_iteration = gsim_turns_pages(arrangement->memory);
    bool by_kernel = arrangement->memory == GSIM_MEMORY_OVERFLOW, by_turn = false;
    for (uint16_t i = 0; i < arrangement->n_lanes; i++) {
        const struct gsim_lane *lane = &arrangement->lanes[i];
        by_turn |= lane->ends_at_boundary || lane->discipline == GSIM_DISCIPLINE_BOUNDARY;
        by_kernel |= lane->caps_launches || halts_at_kernels(lane);
    }
    return (uint8_t)((by_iteration || by_turn ? GSIM_PARTS_ITERATIONS : 0) |
                     (by_turn ? GSIM_PARTS_TURNS : 0) | (by_kernel ? GSIM_PARTS_KERNELS : 0));
}

bool gsim_turns_arrange(struct gsim_model *model, uint32_t gpu,
                        const struct gsim_arrangement *arrangement, int64_t now_ns) {
    struct gsim_arbiter *arbiter = gsim_turns_arbiter(model, gpu);
    model->gpus[gpu].parts = parts_of(arrangement);
    model->gpus[gpu].n_lanes = arrangement->n_lanes;
    if (!arbiter || !note_entries(model, arrangement, now_ns))
        return false;
    if (gsim_arbiter_present(arbiter) == 0)
        arrange_memory(model, gpu, arbiter, arrangement);
    if (is_spatial(arrangement) && !model->gpus[gpu].is_spatial)
        become_spatial(model, gpu, now_ns);
    bool is_done = true;
    for (uint16_t i = 0; i < arrangement->n_lanes; i++)
        is_done &= arrange_lane(model, gpu, i, &arrangement->lanes[i], now_ns);
    for (uint32_t i = 0; is_done && i < arrangement->n_entries; i++)
        move_entry(model, gpu, &arrangement->entries[i], now_ns);
    gsim_outlook_anew(&model->turns, gpu, now_ns);
    return is_done;
}

void gsim_turns_forget(struct gsim_model *model, gsim_slot slot) {
    if (gsim_mostly(slot >= model->turns.capacity))
        return;
    struct gsim_turner *turner = &model->turns.by_slot[slot];
    *turner = (struct gsim_turner){.wings_left = turner->wings_left,
                                   .wings_capacity = turner->wings_capacity};
}

static void begin_with(struct gsim_model *model, gsim_slot slot, struct gsim_memory_use sum) {
    if (slot < model->turns.capacity)
        model->turns.by_slot[slot].sum = model->turns.by_slot[slot].before = sum;
}

void gsim_turns_lose(struct gsim_model *model, gsim_slot slot) {
    struct gsim_memory_use sum = gsim_turns_memory_use(model, slot);
    gsim_turns_forget(model, slot);
    begin_with(model, slot, sum);
}

void gsim_turns_inherit(struct gsim_model *model, gsim_slot slot, gsim_slot failed) {
    if (failed >= model->turns.capacity)
        return;
    if (gsim_turner_reserve(model, slot))
        begin_with(model, slot, model->turns.by_slot[failed].sum);
    else
        model->is_out_of_memory = true;
}

bool gsim_turns_knows_of(const struct gsim_model *model, gsim_slot slot) {
    return slot < model->turns.capacity;
}

/* --- joining and leaving ---------------------------------------------------------------------- */

bool gsim_turns_takes(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    if (gsim_mostly(!model->has_turners || about->n_units == 0))
        return false;
    const struct gsim_machine_gpu *gpu = &model->gpus[about->units[0].gpu];
    return (about->n_units == 1 && gpu->is_rotating) ||
           gsim_turns_pages((enum gsim_memory)gpu->memory) || gsim_turner_is_open_loop(model, slot);
}

/* On a GPU that is not arranged, shares are reservations: each has a lane of its own. */
static uint16_t lane_for(struct gsim_model *model, struct gsim_arbiter *arbiter, uint32_t gpu,
                         gsim_slot slot, int64_t now_ns) {
    if (model->gpus[gpu].is_rotating)
        return gsim_turner_entered(model, slot, gpu);
    uint16_t lane = gsim_arbiter_free_lane(arbiter);
    if (!gsim_arbiter_set_lane(arbiter, lane, &plain_lane, 0, now_ns))
        model->is_out_of_memory = true;
    return lane;
}

/* It goes on where it left, unless it ran elsewhere meanwhile or lost what it had. */
static void find_place(struct gsim_model *model, gsim_slot slot, const struct gsim_context *whole) {
    struct gsim_turner *turner = &model->turns.by_slot[slot];
    gsim_work done = model->progress[slot].done;
    bool is_there = turner->has_left ? done == turner->left_done : done == 0;
    if (!is_there && !turner->process.is_open_loop) {
        int64_t taken_ns = turner->left.sums.taken_ns;
        turner->left = *whole;
        turner->left.sums.taken_ns = taken_ns;
        gsim_process_put(&turner->process, done, &turner->left);
        turner->left_ns = 0;
        turner->has_left = true;
    }
    if (turner->has_left)
        gsim_process_repace(&turner->left, whole);
    turner->has_worked =
        gsim_context_is_done(turner->has_left ? &turner->left : &turner->process.context);
}

/* What is left to do needs no GPU. */
static void run_host(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    model->progress[slot].since_ns = now_ns;
    model->progress[slot].rate_q32 = model->turns.by_slot[slot].rate_q32;
    gsim_machine_expect_progress(model, slot);
}

static void disturb_all(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    for (uint32_t u = 0; u < about->n_units; u++)
        gsim_crowding_disturb(model, about->units[u].gpu, now_ns);
}

static uint16_t admit(struct gsim_model *model, gsim_slot slot, struct gsim_arbiter *arbiter,
                      const struct gsim_member *newcomer, int64_t now_ns) {
    struct gsim_turner *turner = &model->turns.by_slot[slot];
    if (!turner->has_left)
        return gsim_arbiter_join(arbiter, newcomer, now_ns);
    if (!turner->is_parked)
        return gsim_arbiter_rejoin(arbiter, newcomer, &turner->left, turner->left_ns, now_ns);
    turner->is_parked = false;
    return gsim_arbiter_wake(arbiter, newcomer, &turner->left, turner->left_ns, &turner->parked,
                             now_ns);
}

void gsim_turns_join(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    uint32_t gpu = gsim_machine_info(model, slot)->units[0].gpu;
    struct gsim_arbiter *arbiter = gsim_turns_arbiter(model, gpu);
    struct gsim_turner *turner = arbiter ? gsim_turner_describe(model, slot, now_ns) : NULL;
    if (!turner) {
        model->is_out_of_memory = true;
        return;
    }
    struct gsim_machine_job *job = &model->jobs[slot];
    turner->how.job = slot;
    turner->rate_q32 = gsim_pace_q32(model, slot);
    struct gsim_member newcomer = gsim_turner_member(model, slot, gpu);
    find_place(model, slot, &newcomer.context);
    if (turner->has_worked) {
        run_host(model, slot, now_ns);
        return;
    }
    newcomer.how.lane = lane_for(model, arbiter, gpu, slot, now_ns);
    const struct gsim_job *about = gsim_machine_info(model, slot);
    if (turner->gpu != gpu || (about->n_units > 1 && about->is_moved))
        gsim_turns_drop(model, slot, now_ns); /* it was carried here */
    turner->gpu = gpu;
    model->is_out_of_memory |= !gsim_gangs_gather(model, slot, now_ns);
    turner->member = admit(model, slot, arbiter, &newcomer, now_ns);
    job->is_turning = turner->member != GSIM_NO_MEMBER;
    model->is_out_of_memory |= !job->is_turning;
    if (job->is_turning && (turner->how.launch_refill_ns > 0 || turner->has_left))
        apply_cap(model, turner, now_ns);
    if (job->is_turning)
        note_joined(model, turner);
    disturb_all(model, slot, now_ns);
    model->progress[slot].is_untold = job->is_turning;
    gsim_outlook_anew(&model->turns, gpu, now_ns);
    gsim_turns_watch(model, slot, now_ns);
}

static void book(struct gsim_model *model, gsim_slot slot, const struct gsim_member *member,
                 int64_t now_ns) {
    struct gsim_turner *turner = &model->turns.by_slot[slot];
    const struct gsim_context *context = &member->context;
    turner->sum = turner->before;
    struct gsim_memory_use use =
        gsim_arbiter_use(model->turns.of_gpu[turner->gpu], turner->member, turner->n_gpus);
    gsim_memory_use_add(&turner->sum, &use, 1);
    turner->taken_ns = gsim_context_taken_ns(context, now_ns);
    model->progress[slot] =
        (struct gsim_progress){.done = gsim_process_done(&turner->process, context),
                               .since_ns = now_ns,
                               .is_untold = model->jobs[slot].is_turning};
    if (turner->process.is_open_loop)
        model->turns.logs[turner->log].n_served = context->sums.done_iterations;
}

/* Tells observers what has happened on a GPU. */
static void deliver(const struct gsim_model *model, uint32_t gpu, struct gsim_arbiter *arbiter) {
    const struct gsim_spans *spans =
        model->setup.observer ? gsim_arbiter_take_spans(arbiter) : NULL;
    for (uint32_t i = 0; spans && i < spans->n; i++) {
        struct gsim_span span = spans->list[i];
        span.gpu = gpu;
        span.job = gsim_machine_info(model, span.job)->index;
        gsim_observe_span(model->setup.observer, &span);
    }
}

void gsim_turns_leave(struct gsim_model *model, gsim_slot slot, bool keeps_memory, int64_t now_ns) {
    struct gsim_turner *turner = &model->turns.by_slot[slot];
    struct gsim_arbiter *arbiter = model->turns.of_gpu[turner->gpu];
    gsim_arbiter_settle(arbiter, now_ns);
    deliver(model, turner->gpu, arbiter);
    const struct gsim_member *member = gsim_arbiter_member(arbiter, turner->member);
    turner->left = member->context;
    turner->left_ns = now_ns;
    turner->has_left = true;
    book(model, slot, member, now_ns);
    if (turner->has_worked)
        model->progress[slot].done += (gsim_work)(now_ns - member->finish_ns) * turner->rate_q32;
    turner->left_done = model->progress[slot].done;
    turner->before = turner->sum;
    turner->is_parked = keeps_memory;
    if (keeps_memory) {
        turner->parked = gsim_arbiter_park(arbiter, turner->member, now_ns);
    } else {
        turner->before.stall_ns -= member->state.stall_ns; /* for that it does not wait any more */
        turner->sum = turner->before;
        gsim_arbiter_leave(arbiter, turner->member, now_ns);
    }
    gsim_gangs_scatter(model, slot, now_ns);
    disturb_all(model, slot, now_ns);
    model->jobs[slot].is_turning = false;
    model->progress[slot].is_untold = false;
    gsim_outlook_anew(&model->turns, turner->gpu, now_ns);
}

void gsim_turns_drop(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_turns *turns = &model->turns;
    if (gsim_mostly(slot >= turns->capacity || !turns->by_slot[slot].is_parked))
        return;
    struct gsim_turner *turner = &turns->by_slot[slot];
    turner->before.stall_ns -= turner->parked.stall_ns; /* it does not wait for that any more */
    turner->sum = turner->before;
    gsim_crowding_disturb(model, turner->gpu, now_ns);
    gsim_gangs_free(model, &turner->parked.tenant, turner->gpu, now_ns);
    gsim_gangs_drop(model, slot, now_ns);
    turner->is_parked = false;
}

bool gsim_turns_exit(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                     int64_t now_ns) {
    const struct gsim_turner *turner = &model->turns.by_slot[slot];
    if (stop == GSIM_STOP_SAVE)
        return true;
    bool is_there = gsim_arbiter_exit(
        model->turns.of_gpu[turner->gpu], turner->member,
        stop == GSIM_STOP_ITERATION ? GSIM_EXIT_ITERATION : GSIM_EXIT_KERNEL, now_ns);
    gsim_outlook_anew(&model->turns, turner->gpu, now_ns);
    return is_there;
}

bool gsim_turns_has_worked(const struct gsim_model *model, gsim_slot slot) {
    return slot < model->turns.capacity && model->turns.by_slot[slot].has_worked;
}

/* A threshold of service, or the end of the iteration under way; whichever comes first. */
void gsim_turns_watch(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_turner *turner = &model->turns.by_slot[slot];
    if (!job->is_turning)
        return;
    struct gsim_arbiter *arbiter = model->turns.of_gpu[turner->gpu];
    (void)gsim_arbiter_settle(arbiter, now_ns);
    const struct gsim_context *context = &gsim_arbiter_member(arbiter, turner->member)->context;
    int64_t iterations = -1;
    gsim_work done = 0;
    if (job->threshold_ns >= 0)
        gsim_process_locate(&turner->process, context, job->threshold_ns, &iterations, &done);
    int64_t next = context->sums.done_iterations + 1;
    if (job->is_boundary_watched && (iterations < 0 || next <= iterations)) {
        iterations = next;
        done = 0;
    }
    gsim_arbiter_watch(arbiter, turner->member, iterations, done, now_ns);
    gsim_outlook_anew(&model->turns, turner->gpu, now_ns);
}

/* --- time ------------------------------------------------------------------------------------- */

static void report(struct gsim_model *model, const struct gsim_member *member, unsigned reports,
                   int64_t now_ns) {
    gsim_slot slot = member->how.job;
    struct gsim_turner *turner = &model->turns.by_slot[slot];
    if (reports & GSIM_REPORT_WORKED) {
        turner->has_worked = true;
        gsim_machine_expect(model, slot, ENDS,
                            member->finish_ns +
                                gsim_process_time_ns(turner->process.tail_ns, turner->rate_q32));
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
    struct gsim_arbiter *arbiter = model->turns.of_gpu[gpu];
    unsigned reports;
    uint16_t place;
    model->is_out_of_memory |= gsim_arbiter_has_failed(arbiter);
    if (gsim_arbiter_settle(arbiter, now_ns))
        while ((place = gsim_arbiter_take(arbiter, &reports)) != GSIM_NO_MEMBER)
            report(model, gsim_arbiter_member(arbiter, place), reports, now_ns);
    deliver(model, gpu, arbiter);
    book_all(model, arbiter, now_ns);
}

void gsim_turns_settle(struct gsim_model *model, int64_t now_ns) {
    struct gsim_turns *turns = &model->turns;
    while (gsim_eventq_next(&turns->ahead) <= now_ns &&
           turns->is_due[gsim_eventq_first(&turns->ahead)]) {
        uint32_t gpu = gsim_eventq_first(&turns->ahead);
        settle_one(model, gpu, now_ns);
        gsim_outlook_anew(turns, gpu, now_ns + 1);
    }
    for (uint32_t i = 0; i < turns->n_close; i++)
        if (gsim_outlook_occupied(turns, turns->close[i]))
            settle_one(model, turns->close[i], now_ns);
}

void gsim_turns_tell(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    struct gsim_arbiter *arbiter = model->turns.of_gpu[model->turns.by_slot[slot].gpu];
    (void)gsim_arbiter_settle(arbiter, now_ns);
    book_all(model, arbiter, now_ns);
}

struct gsim_memory_use gsim_turns_memory_use(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_turns *turns = &model->turns;
    return slot < turns->capacity ? turns->by_slot[slot].sum : (struct gsim_memory_use){0};
}

int64_t gsim_turns_request_ns(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_turns *turns = &model->turns;
    bool is_known = slot < turns->capacity && turns->by_slot[slot].is_described;
    return is_known ? turns->by_slot[slot].process.pace_ns : 0;
}

int64_t gsim_turns_taken_ns(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_turns *turns = &model->turns;
    bool takes_turns = slot < turns->capacity && turns->by_slot[slot].is_described;
    return takes_turns ? turns->by_slot[slot].taken_ns : -1;
}

void gsim_turns_stats(const struct gsim_turns *turns, struct gsim_model_stats *out) {
    for (uint32_t i = 0; i < turns->n_active; i++) {
        struct gsim_arbiter_stats one = gsim_arbiter_stats(turns->of_gpu[turns->active[i]]);
        out->slices += one.slices;
        out->switch_ns += one.switch_ns;
        out->skipped_ns += one.skipped_ns;
        out->steps += one.steps;
        out->is_approximate |= one.is_approximate;
    }
}
