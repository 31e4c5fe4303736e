/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/arbiter.h"

#include <assert.h>

#include "models/gpu/arbiter_walk.h"
#include "models/gpu/gate.h"
#include "models/gpu/turn_memory.h"
#include "gsim/units.h"

/* --- opening ---------------------------------------------------------------------------------- */

struct gsim_arbiter *gsim_arbiter_new(const struct gsim_arbiter_options *options,
                                      struct gsim_arena *arena) {
    struct gsim_arbiter *arbiter = gsim_arena_alloc(arena, sizeof *arbiter);
    if (!arbiter)
        return NULL;
    arbiter->options = *options;
    arbiter->arena = arbiter->solved.arena = arena;
    arbiter->shares = gsim_pager_whole();
    for (int i = 0; i < 2; i++)
        arbiter->spans[i] = (struct gsim_slice_log){.arena = arena,
                                                    .from_ns = options->watch_from_ns,
                                                    .until_ns = options->watch_until_ns,
                                                    .has_kernels = options->watches_kernels};
    if (options->watch_until_ns > 0) {
        arbiter->committed.spans = &arbiter->spans[0];
        arbiter->ahead.spans = &arbiter->spans[1];
    }
    return arbiter;
}

static bool grow_members(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes,
                         uint16_t capacity) {
    struct gsim_member *members =
        gsim_arena_grow(arbiter->arena, lanes->members, lanes->capacity * sizeof *members,
                        capacity * sizeof *members);
    if (!members)
        return false;
    lanes->members = members;
    lanes->capacity = capacity;
    return true;
}

static bool grow_lanes(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes, uint16_t n) {
    struct gsim_gpu_lane *lane = gsim_arena_grow(arbiter->arena, lanes->lane,
                                                 lanes->n_lanes * sizeof *lane, n * sizeof *lane);
    if (!lane)
        return false;
    lanes->lane = lane;
    for (uint16_t i = lanes->n_lanes; i < n; i++)
        gsim_gpu_lane_init(&lane[i], arbiter->options.quantum_ns);
    lanes->n_lanes = n;
    return true;
}

/* The copies that look ahead and that remember a cycle are as large as the committed state, which
 * grows last, so that a copy is never the smaller one, also where memory ends. */
static bool reserve(struct gsim_arbiter *arbiter, uint16_t members, uint16_t lane) {
    struct gsim_lanes *all[] = {&arbiter->cycle.per_period, &arbiter->cycle.seen, &arbiter->ahead,
                                &arbiter->committed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (members > all[i]->capacity && !grow_members(arbiter, all[i], members))
            return false;
        if (lane > all[i]->n_lanes && !grow_lanes(arbiter, all[i], lane))
            return false;
    }
    return true;
}

/* --- changes by the owner --------------------------------------------------------------------- */

bool gsim_arbiter_set_lane(struct gsim_arbiter *arbiter, uint16_t number,
                           const struct gsim_lane *how, uint16_t space, int64_t now_ns) {
    assert(how->discipline != GSIM_DISCIPLINE_PADDING || arbiter->n_spaces > 0);
    gsim_arbiter_disturb(arbiter, now_ns);
    if (number >= arbiter->committed.n_lanes && !reserve(arbiter, 0, (uint16_t)(number + 1)))
        return false;
    struct gsim_gpu_lane *lane = &arbiter->committed.lane[number];
    struct gsim_lane_gpu gpu = gsim_arbiter_lane_gpu(arbiter, &arbiter->committed);
    int64_t was_ns = lane->how.quantum_ns;
    lane->how = *how;
    if (how->quantum_ns == 0)
        lane->how.quantum_ns = arbiter->options.quantum_ns;
    lane->spec.space = space;
    if (lane->how.quantum_ns > was_ns)
        gsim_turn_lengthen(&gpu, lane, now_ns);
    gsim_side_by_side_forget(&arbiter->solved);
    gsim_side_by_side_unsolve(&arbiter->committed, arbiter->n_spaces, lane);
    return true;
}

void gsim_arbiter_set_spaces(struct gsim_arbiter *arbiter, const struct gsim_space *spaces,
                             uint16_t n, int64_t now_ns) {
    assert(n <= GSIM_SPACES_MAX);
    gsim_arbiter_disturb(arbiter, now_ns);
    for (uint16_t i = 0; i < n; i++)
        arbiter->spaces[i] = spaces[i];
    arbiter->n_spaces = n;
    gsim_side_by_side_forget(&arbiter->solved);
    arbiter->committed.unsolved = 0;
    for (uint16_t i = 0; i < arbiter->committed.n_lanes; i++) {
        assert(arbiter->committed.lane[i].spec.n == 0);
        arbiter->committed.lane[i].state.rate_q32 = GSIM_RATE_ONE;
        arbiter->committed.lane[i].state.is_used = false;
        arbiter->committed.lane[i].is_by_blocks = false;
    }
}

void gsim_arbiter_set_memory(struct gsim_arbiter *arbiter, const struct gsim_pager *pager) {
    struct gsim_store *store = &arbiter->committed.store;
    enum gsim_memory before = store->pager ? store->pager->manager : GSIM_MEMORY_RESIDENT;
    struct gsim_uvm uvm = arbiter->pager.uvm;
    uint64_t stamp = arbiter->pager.stamp;
    if (pager)
        arbiter->pager = *pager;
    arbiter->pager.stamp = stamp;
    if (pager && before == pager->manager)
        arbiter->pager.uvm = uvm; /* the pager has its scratch space already */
    if (pager)
        gsim_pager_share(&arbiter->pager, &arbiter->shares);
    if (before != (pager ? pager->manager : GSIM_MEMORY_RESIDENT))
        gsim_pager_store_init(store, pager ? &arbiter->pager : NULL, arbiter->arena);
}

void gsim_arbiter_set_shares(struct gsim_arbiter *arbiter, struct gsim_arbiter *keeper,
                             const struct gsim_pager_shares *shares, int64_t now_ns) {
    struct gsim_lanes *lanes = &keeper->committed;
    int64_t was_bytes_per_s = arbiter->pager.uvm.copy_bytes_per_s;
    gsim_arbiter_disturb(keeper, now_ns);
    arbiter->shares = *shares;
    gsim_pager_share(&arbiter->pager, shares);
    /* a gang waits for the pages of another of its GPUs, or hardly for these */
    if (keeper != arbiter)
        return;
    for (uint16_t place = 0; place < lanes->capacity; place++) {
        struct gsim_member *member = &lanes->members[place];
        if (member->is_present)
            member->state.stall_ns =
                gsim_tenant_repace(&member->tenant, member->state.stall_ns, was_bytes_per_s,
                                   arbiter->pager.uvm.copy_bytes_per_s);
    }
    struct gsim_lane_gpu gpu = gsim_arbiter_lane_gpu(keeper, lanes);
    gsim_gpu_lanes_plan(&gpu, lanes->lane, lanes->n_lanes, now_ns);
}

uint16_t gsim_arbiter_free_lane(const struct gsim_arbiter *arbiter) {
    uint16_t lane = 0;
    while (lane < arbiter->committed.n_lanes && arbiter->committed.lane[lane].spec.n > 0)
        lane++;
    return lane;
}

static uint16_t free_place(struct gsim_arbiter *arbiter) {
    struct gsim_lanes *lanes = &arbiter->committed;
    for (uint16_t place = 0; place < lanes->capacity; place++)
        if (!lanes->members[place].is_present)
            return place;
    uint16_t old = lanes->capacity, capacity = (uint16_t)(old ? old * 2 : 1);
    bool is_free = capacity <= GSIM_CONTEXTS_MAX && reserve(arbiter, capacity, 0);
    return is_free ? old : GSIM_NO_MEMBER;
}

/* Opens the memory of a newcomer on this GPU and on those of its gang. */
static bool open_memory(struct gsim_lanes *lanes, struct gsim_member *newcomer, bool is_carried) {
    struct gsim_tenant_spec spec = newcomer->tenant.spec;
    return gsim_pager_open(&lanes->store, &newcomer->tenant, &spec, is_carried) &&
           gsim_gang_memory_open(&lanes->gang, &spec, is_carried);
}

uint16_t gsim_arbiter_join(struct gsim_arbiter *arbiter, const struct gsim_member *newcomer,
                           enum gsim_arrival arrival, int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    struct gsim_member member = *newcomer;
    assert(member.how.lane < lanes->n_lanes && !member.is_present);
    gsim_arbiter_disturb(arbiter, now_ns);
    struct gsim_lane_gpu gpu = gsim_arbiter_lane_gpu(arbiter, lanes);
    gsim_turn_cut(&gpu, lanes->lane, now_ns);
    if (arrival != GSIM_ARRIVAL_PARKED &&
        !open_memory(lanes, &member, arrival == GSIM_ARRIVAL_CARRIED))
        return GSIM_NO_MEMBER;
    uint16_t place = free_place(arbiter);
    if (place == GSIM_NO_MEMBER) {
        gsim_pager_close(&lanes->store, &member.tenant);
        return GSIM_NO_MEMBER;
    }
    member.is_present = true;
    member.finish_ns = GSIM_NEVER;
    lanes->members[place] = member;
    gpu = gsim_arbiter_lane_gpu(arbiter, lanes); /* of more members */
    gsim_gpu_lane_join(&gpu, &lanes->lane[member.how.lane], place, now_ns);
    if (lanes->store.pager && lanes->n_lanes > 1) /* sweeps of all lanes were cut */
        gsim_gpu_lanes_plan(&gpu, lanes->lane, lanes->n_lanes, now_ns);
    gsim_side_by_side_forget(&arbiter->solved);
    gsim_gate_look_at_newcomer(lanes, member.how.lane);
    gsim_lanes_choose_anchor(lanes);
    arbiter->n_present++;
    return place;
}

static void leave_lane(struct gsim_arbiter *arbiter, uint16_t member, int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    struct gsim_lane_gpu gpu = gsim_arbiter_lane_gpu(arbiter, lanes);
    struct gsim_gpu_lane *lane = &lanes->lane[lanes->members[member].how.lane];
    gsim_gpu_lane_leave(&gpu, lane, member, now_ns);
    if (arbiter->n_spaces > 0 && lane->spec.n == 0)
        lane->state.is_used = false; /* contexts side by side: no context is left to switch from */
    gsim_side_by_side_forget(&arbiter->solved);
    gsim_side_by_side_unsolve(lanes, arbiter->n_spaces, lane);
}

static void step_out(struct gsim_arbiter *arbiter, uint16_t member, int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    assert(member < lanes->capacity && lanes->members[member].is_present);
    gsim_arbiter_disturb(arbiter, now_ns);
    leave_lane(arbiter, member, now_ns);
    lanes->members[member].is_present = false;
    if (lanes->store.pager)
        gsim_slice_log_tell(lanes->spans, GSIM_SPAN_RESIDENT, lanes->members[member].how.job,
                            now_ns, now_ns, 0);
    gsim_memory_use_add(&arbiter->gone, &lanes->members[member].tenant.sum, 1);
    arbiter->n_present--;
    lanes->members[member].reports = 0;
    gsim_lanes_choose_anchor(lanes);
}

void gsim_arbiter_leave(struct gsim_arbiter *arbiter, uint16_t member, int64_t now_ns) {
    step_out(arbiter, member, now_ns);
    gsim_pager_close(&arbiter->committed.store, &arbiter->committed.members[member].tenant);
    gsim_gang_memory_close(&arbiter->committed.gang);
}

struct gsim_parked gsim_arbiter_park(struct gsim_arbiter *arbiter, uint16_t member,
                                     int64_t now_ns) {
    step_out(arbiter, member, now_ns);
    const struct gsim_member *left = &arbiter->committed.members[member];
    return (struct gsim_parked){left->tenant, left->state.stall_ns};
}

void gsim_arbiter_drop(struct gsim_arbiter *arbiter, struct gsim_tenant *parked, uint32_t gpu,
                       int64_t now_ns) {
    struct gsim_store *store = &arbiter->committed.store;
    gsim_arbiter_disturb(arbiter, now_ns);
    for (uint32_t i = 0; i < arbiter->committed.gang.n; i++)
        if (arbiter->committed.gang.part[i].gpu == gpu)
            store = &arbiter->committed.gang.part[i].store;
    gsim_pager_close(store, parked);
}

bool gsim_arbiter_take_in(struct gsim_arbiter *arbiter, struct gsim_arbiter *other, uint32_t gpu,
                          const struct gsim_tenant *parked, int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    uint32_t n = lanes->gang.n;
    assert(arbiter->n_present == 0 && other->n_present == 0);
    gsim_arbiter_disturb(arbiter, now_ns);
    gsim_arbiter_disturb(other, now_ns);
    if (!gsim_gang_memory_reserve(&lanes->gang, n + 1, arbiter->arena) ||
        !gsim_gang_memory_reserve(&arbiter->ahead.gang, n + 1, arbiter->arena) ||
        !gsim_gang_memory_reserve(&arbiter->cycle.seen.gang, n + 1, arbiter->arena) ||
        !gsim_gang_memory_reserve(&arbiter->cycle.per_period.gang, n + 1, arbiter->arena))
        return false;
    struct gsim_gang_part *part = &lanes->gang.part[lanes->gang.n++];
    struct gsim_store unused = part->store;
    *part = (struct gsim_gang_part){.gpu = gpu, .is_open = parked, .store = other->committed.store};
    if (parked) /* the bytes that it moves are counted from zero */
        part->tenant = (struct gsim_tenant){
            .spec = parked->spec, .used = parked->used, .unused = parked->unused};
    other->committed.store = unused;
    return true;
}

struct gsim_tenant gsim_arbiter_give_back(struct gsim_arbiter *arbiter, struct gsim_arbiter *other,
                                          int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    assert(arbiter->n_present == 0 && lanes->gang.n > 0);
    gsim_arbiter_disturb(arbiter, now_ns);
    gsim_arbiter_disturb(other, now_ns);
    struct gsim_gang_part *part = &lanes->gang.part[--lanes->gang.n];
    gsim_memory_use_add(&other->gone, &part->tenant.sum, 1);
    struct gsim_store unused = other->committed.store;
    other->committed.store = part->store;
    part->store = unused;
    return part->tenant;
}

bool gsim_arbiter_exit(struct gsim_arbiter *arbiter, uint16_t place, enum gsim_exit exit_at,
                       int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    gsim_arbiter_disturb(arbiter, now_ns);
    struct gsim_member *member = &lanes->members[place];
    const struct gsim_context *context = &member->context;
    if (context->done == 0 ||
        (exit_at == GSIM_EXIT_KERNEL && gsim_context_is_between_kernels(context)))
        return true;
    member->stop_at = (uint8_t)exit_at;
    struct gsim_lane_gpu gpu = gsim_arbiter_lane_gpu(arbiter, lanes);
    gsim_gpu_lane_plan(&gpu, &lanes->lane[member->how.lane], now_ns);
    return false;
}

void gsim_arbiter_rank(struct gsim_arbiter *arbiter, uint16_t place, const struct gsim_entry *how,
                       int64_t now_ns) {
    gsim_arbiter_disturb(arbiter, now_ns);
    struct gsim_member *member = &arbiter->committed.members[place];
    member->how.priority = how->priority;
    member->how.weight = how->weight;
    member->spec.counted_ns = member->sums.busy_ns;
}

void gsim_arbiter_move(struct gsim_arbiter *arbiter, uint16_t place, uint16_t lane, int64_t gpu_ns,
                       int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    assert(lane < lanes->n_lanes);
    gsim_arbiter_disturb(arbiter, now_ns);
    leave_lane(arbiter, place, now_ns);
    struct gsim_member *member = &lanes->members[place];
    member->how.lane = lane;
    gsim_context_stretch(&member->context, gpu_ns);
    struct gsim_lane_gpu gpu = gsim_arbiter_lane_gpu(arbiter, lanes);
    gsim_gpu_lane_join(&gpu, &lanes->lane[lane], place, now_ns);
    gsim_lanes_choose_anchor(lanes);
}

void gsim_arbiter_cap(struct gsim_arbiter *arbiter, uint16_t place,
                      const struct gsim_launch_cap *cap, int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    gsim_arbiter_disturb(arbiter, now_ns);
    struct gsim_member *member = &lanes->members[place];
    gsim_context_cap(&member->context, cap, now_ns);
    struct gsim_lane_gpu gpu = gsim_arbiter_lane_gpu(arbiter, lanes);
    gsim_gpu_lane_plan(&gpu, &lanes->lane[member->how.lane], now_ns);
}

void gsim_arbiter_overflow(struct gsim_arbiter *arbiter, uint16_t place,
                           struct gsim_overflow overflow, int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    gsim_arbiter_disturb(arbiter, now_ns);
    struct gsim_member *member = &lanes->members[place];
    gsim_context_stretch(&member->context, member->context.spec.gpu_ns + overflow.ns -
                                               member->tenant.spec.overflow.ns);
    member->tenant.spec.overflow = overflow;
    struct gsim_lane_gpu gpu = gsim_arbiter_lane_gpu(arbiter, lanes);
    gsim_gpu_lane_plan(&gpu, &lanes->lane[member->how.lane], now_ns);
}

void gsim_arbiter_watch(struct gsim_arbiter *arbiter, uint16_t member, int64_t iterations,
                        gsim_work done, int64_t now_ns) {
    gsim_arbiter_disturb(arbiter, now_ns);
    arbiter->committed.members[member].watch_iterations = iterations;
    arbiter->committed.members[member].watch_done = done;
}

/* --- questions -------------------------------------------------------------------------------- */

const struct gsim_slice_log *gsim_arbiter_take_spans(struct gsim_arbiter *arbiter) {
    struct gsim_slice_log *spans = arbiter->committed.spans;
    if (!spans)
        return NULL;
    arbiter->taken = *spans;
    gsim_slice_log_clear(spans);
    return &arbiter->taken;
}

struct gsim_memory_use gsim_arbiter_use(const struct gsim_arbiter *arbiter, uint16_t place,
                                        uint32_t n_gpus) {
    const struct gsim_memory_use *one = &arbiter->committed.members[place].tenant.sum;
    struct gsim_memory_use use = {0};
    gsim_memory_use_add(&use, one, n_gpus - arbiter->committed.gang.n);
    gsim_gang_memory_add_use(&arbiter->committed.gang, &use);
    use.stall_ns = one->stall_ns;
    return use;
}

struct gsim_arbiter_stats gsim_arbiter_stats(const struct gsim_arbiter *arbiter) {
    const struct gsim_lanes *lanes = &arbiter->committed;
    struct gsim_arbiter_stats stats = {.skipped_ns = lanes->skipped_ns,
                                       .steps = arbiter->n_steps,
                                       .rounded = arbiter->n_rounded,
                                       .is_approximate = lanes->is_approximate,
                                       .has_shared_blocks = lanes->has_shared_blocks,
                                       .has_unknown_traffic = lanes->has_unknown_traffic,
                                       .has_first_loads = lanes->has_first_loads,
                                       .has_crowded_unequals = lanes->has_crowded_unequals,
                                       .bytes_in = arbiter->gone.bytes_in};
    for (uint16_t i = 0; i < lanes->capacity; i++)
        stats.bytes_in += lanes->members[i].is_present ? lanes->members[i].tenant.sum.bytes_in : 0;
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        stats.slices += lanes->lane[i].sums.n_slices;
        stats.switch_ns += lanes->lane[i].sums.switch_ns;
        stats.vain_slices += lanes->lane[i].sums.n_vain;
    }
    return stats;
}
