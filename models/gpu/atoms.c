/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/atoms.h"

/* --- sets of SMs ------------------------------------------------------------------------------ */

enum { WORDS = GSIM_ARRAY_SMS_MAX / 64 };

/* The first bits of a word, as many. */
static uint64_t below(int64_t bits) {
    return bits <= 0 ? 0 : bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static struct gsim_sm_set range_of(int64_t first, int64_t n) {
    struct gsim_sm_set set;
    for (int w = 0; w < WORDS; w++)
        set.word[w] = below(first + n - 64 * w) & ~below(first - 64 * w);
    return set;
}

/* The SMs that the lane owns. */
static struct gsim_sm_set own_of(const struct gsim_gpu_lane *lane) {
    return range_of(lane->how.first_sm, lane->how.n_sms);
}

static void join(struct gsim_sm_set *to, const struct gsim_sm_set *other) {
    for (int w = 0; w < WORDS; w++)
        to->word[w] |= other->word[w];
}

static void leave_out(struct gsim_sm_set *from, const struct gsim_sm_set *other) {
    for (int w = 0; w < WORDS; w++)
        from->word[w] &= ~other->word[w];
}

static struct gsim_sm_set both(struct gsim_sm_set one, const struct gsim_sm_set *other) {
    for (int w = 0; w < WORDS; w++)
        one.word[w] &= other->word[w];
    return one;
}

/* The lowest bits of a word, as many; all of them when there are fewer. */
static uint64_t lowest(uint64_t word, int64_t bits) {
    if (__builtin_popcountll(word) <= bits)
        return word;
    uint64_t left = word;
    for (int64_t i = 0; i < bits; i++)
        left &= left - 1;
    return word & ~left;
}

/* Adds the first SMs of the pool, until the set has n. */
static void add_up_to(struct gsim_sm_set *set, const struct gsim_sm_set *pool, int64_t n) {
    int64_t lacks = n - gsim_sm_set_count(set);
    for (int w = 0; w < WORDS && lacks > 0; w++) {
        uint64_t added = lowest(pool->word[w] & ~set->word[w], lacks);
        set->word[w] |= added;
        lacks -= __builtin_popcountll(added);
    }
}

/* --- the SMs of an atom ----------------------------------------------------------------------- */

static bool is_under_way(const struct gsim_gpu_lane *lane) {
    return lane->state.atom_blocks > 0;
}

static bool is_beside(const struct gsim_lanes *lanes, uint16_t i, uint16_t number, uint16_t mine) {
    return i != mine && lanes->lane[i].spec.space == number && lanes->lane[i].spec.n > 0;
}

/* The SMs of atoms of other lanes that are under way. */
static struct gsim_sm_set used_beside(const struct gsim_lanes *lanes, uint16_t number,
                                      uint16_t mine) {
    struct gsim_sm_set used = {{0}};
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        if (is_beside(lanes, i, number, mine))
            join(&used, &lanes->lane[i].state.atom_sms);
    return used;
}

/* The SMs that other lanes own and do not lend now: a lane keeps all of them from when its kernel
 * is launched until its atom has chosen some. */
static struct gsim_sm_set kept_beside(const struct gsim_lanes *lanes, uint16_t number,
                                      uint16_t mine) {
    struct gsim_sm_set kept = {{0}};
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        const struct gsim_gpu_lane *lane = &lanes->lane[i];
        if (!is_beside(lanes, i, number, mine))
            continue;
        if (is_under_way(lane) || gsim_gpu_lane_running(lane) == GSIM_NO_MEMBER)
            continue;
        struct gsim_sm_set own = own_of(lane);
        join(&kept, &own);
    }
    return kept;
}

static struct gsim_sm_set owned_beside(const struct gsim_lanes *lanes, uint16_t number,
                                       uint16_t mine) {
    struct gsim_sm_set owned = {{0}};
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        struct gsim_sm_set own = own_of(&lanes->lane[i]);
        if (is_beside(lanes, i, number, mine))
            join(&owned, &own);
    }
    return owned;
}

/* The SMs that the next atom of the lane's kernel has: `wants` of them, where it can. Of its
 * own it prefers those that it has not lent, and of others' those that no lane owns, which no owner
 * takes back. */
static struct gsim_sm_set sms_of_next(const struct gsim_space *space, uint16_t number,
                                      const struct gsim_lanes *lanes, uint16_t mine,
                                      int64_t wants) {
    const struct gsim_gpu_lane *lane = &lanes->lane[mine];
    struct gsim_sm_set own = own_of(lane), out = {{0}}, unlent = own;
    struct gsim_sm_set used = used_beside(lanes, number, mine);
    struct gsim_sm_set kept = kept_beside(lanes, number, mine);
    struct gsim_sm_set free = range_of(0, space->sms);
    leave_out(&unlent, &used);
    add_up_to(&out, &unlent, wants);
    add_up_to(&out, &own, wants);
    leave_out(&free, &used);
    leave_out(&free, &kept);
    struct gsim_sm_set unowned = free, owned = owned_beside(lanes, number, mine);
    leave_out(&unowned, &owned);
    if (lane->how.atoms.borrows) {
        add_up_to(&out, &unowned, wants);
        add_up_to(&out, &free, wants);
    }
    return out;
}

/* --- atoms ------------------------------------------------------------------------------------ */

/* A kernel in blocks: the work of this number of them, rounded up. */
static gsim_work work_of(const struct gsim_sm_kernel *kernel, int64_t blocks) {
    return (kernel->all * (gsim_work)blocks + kernel->blocks - 1) / kernel->blocks;
}

static int64_t blocks_done(const struct gsim_sm_kernel *kernel) {
    return (int64_t)((kernel->all - kernel->left) * (gsim_work)kernel->blocks / kernel->all);
}

/* The blocks of an atom on this number of SMs: whole waves. */
static int64_t blocks_of_atom(const struct gsim_space *space, int64_t atom_ns,
                              const struct gsim_atom *atom, int64_t sms) {
    const struct gsim_sm_kernel *kernel = atom->kernel;
    struct gsim_sm_room sm = gsim_sm_room(space->profile);
    struct gsim_sm_room need = gsim_sm_room_of_kernel(space->profile, kernel);
    int64_t per_sm = gsim_sm_room_fit(&sm, &need);
    int64_t wave = (per_sm > 0 ? per_sm : 1) * sms, left = kernel->blocks - blocks_done(kernel);
    gsim_work block = kernel->all * (gsim_work)atom->needs.in_flight;
    gsim_work waves = gsim_work_of_ns(atom_ns) * (gsim_work)kernel->blocks / block;
    gsim_work blocks = (waves > 1 ? waves : 1) * (gsim_work)wave;
    return blocks < left ? (int64_t)blocks : left;
}

static void begin(const struct gsim_space *space, uint16_t number, struct gsim_lanes *lanes,
                  const struct gsim_atom *atom) {
    struct gsim_gpu_lane *lane = &lanes->lane[atom->lane];
    int64_t step = space->profile->value[GSIM_KEY_MPS_SMS];
    int64_t left = atom->kernel->blocks - blocks_done(atom->kernel);
    int64_t wants = atom->needs.sms < left ? atom->needs.sms : left;
    wants = step > 1 ? (wants + step - 1) / step * step : wants;
    struct gsim_sm_set sms = sms_of_next(space, number, lanes, atom->lane, wants);
    int64_t n = gsim_sm_set_count(&sms);
    if (n == 0)
        return;
    lane->state.atom_sms = sms;
    lane->state.atom_first = blocks_done(atom->kernel);
    lane->state.atom_blocks = blocks_of_atom(space, lane->how.atoms.atom_ns, atom, n);
}

/* The present atom ends where its work is done; the next one can begin a little later. */
static void end(const struct gsim_space *space, struct gsim_lanes *lanes,
                const struct gsim_atom *atom) {
    struct gsim_gpu_lane *lane = &lanes->lane[atom->lane];
    const struct gsim_sm_kernel *kernel = atom->kernel;
    int64_t between_ns = space->profile->value[GSIM_KEY_LAUNCH_BETWEEN_NS];
    if (is_under_way(lane) &&
        kernel->all - kernel->left >=
            work_of(kernel, lane->state.atom_first + lane->state.atom_blocks)) {
        gsim_gpu_lane_end_atom(lane);
        gsim_sm_held_clear(&lane->state.held);
        lane->times.arrived_ns = lanes->now_ns;
        lane->times.next_atom_ns = between_ns > 0 ? lanes->now_ns + between_ns : GSIM_NEVER;
    }
    if (lane->times.next_atom_ns <= lanes->now_ns)
        lane->times.next_atom_ns = GSIM_NEVER;
    atom->kernel->arrived_ns = lane->times.arrived_ns;
}

static bool is_due(const struct gsim_lanes *lanes, const struct gsim_atom *atom) {
    const struct gsim_gpu_lane *lane = &lanes->lane[atom->lane];
    return !is_under_way(lane) && lane->times.next_atom_ns == GSIM_NEVER &&
           !atom->kernel->is_stopped;
}

/* Which of the kernels without an atom chooses next; NULL: none is left. */
static const struct gsim_atom *first_due(const struct gsim_lanes *lanes,
                                         const struct gsim_atom *atoms, const bool *has_chosen,
                                         uint32_t n) {
    const struct gsim_atom *first = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (!has_chosen[i] && is_due(lanes, &atoms[i]) &&
            (!first || gsim_sm_kernel_goes_before(atoms[i].kernel, first->kernel)))
            first = &atoms[i];
    return first;
}

/* --- what runs now ---------------------------------------------------------------------------- */

/* SMs of the atom that their owners do not need now: of lanes that have chosen them for atoms of
 * their own. */
static struct gsim_sm_set usable(const struct gsim_lanes *lanes, uint16_t number, uint16_t mine) {
    struct gsim_sm_set out = lanes->lane[mine].state.atom_sms,
                       mine_own = own_of(&lanes->lane[mine]);
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        if (!is_beside(lanes, i, number, mine))
            continue;
        struct gsim_sm_set own = own_of(&lanes->lane[i]);
        struct gsim_sm_set taken = both(own, &lanes->lane[i].state.atom_sms);
        leave_out(&taken, &mine_own); /* ranges may overlap: then none of them goes before */
        leave_out(&out, &taken);
    }
    return out;
}

/* The kernel becomes its atom; without one it is on no SMs. */
static void cut(const struct gsim_lanes *lanes, uint16_t number, struct gsim_atom *atom) {
    const struct gsim_lane_state *state = &lanes->lane[atom->lane].state;
    struct gsim_sm_kernel *kernel = atom->kernel;
    atom->only = usable(lanes, number, atom->lane);
    kernel->only = &atom->only;
    kernel->has_queue = true;
    if (state->atom_blocks == 0)
        return;
    gsim_work begin = *atom->end - kernel->all, done = kernel->all - kernel->left;
    gsim_work from = work_of(kernel, state->atom_first);
    gsim_work until = work_of(kernel, state->atom_first + state->atom_blocks);
    kernel->whole_blocks = kernel->blocks;
    kernel->blocks = state->atom_blocks;
    kernel->all = until - from;
    kernel->left = until - done;
    *atom->end = begin + until;
}

void gsim_atoms_choose(const struct gsim_space *space, uint16_t number, struct gsim_lanes *lanes,
                       struct gsim_atom *atoms, uint32_t n) {
    bool has_chosen[GSIM_CONTEXTS_MAX] = {false};
    const struct gsim_atom *next;
    for (uint32_t i = 0; i < n; i++)
        end(space, lanes, &atoms[i]);
    while ((next = first_due(lanes, atoms, has_chosen, n)) != NULL) {
        has_chosen[next - atoms] = true;
        begin(space, number, lanes, next);
    }
    for (uint32_t i = 0; i < n; i++)
        cut(lanes, number, &atoms[i]);
}
