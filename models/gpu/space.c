/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First the SMs are shared, then follows the rate of each holder with its SMs undisturbed, then
 * how much longer its loads take beside those of the others. */
#include "models/gpu/space.h"

#include "models/gpu/memory_queue.h"

#include <assert.h>

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t of_device(const struct gsim_profile *profile, uint32_t ppm) {
    return profile->value[GSIM_KEY_SMS] * (int64_t)ppm;
}

/* --- SMs -------------------------------------------------------------------------------------- */

static int64_t end_sm(const struct gsim_space *space, const struct gsim_holder *holder) {
    return holder->n_sms ? (int64_t)holder->first_sm + holder->n_sms : space->sms;
}

static int64_t width(const struct gsim_space *space, const struct gsim_holder *holder) {
    return holder->n_sms ? holder->n_sms : space->sms;
}

static int64_t cap_of(const struct gsim_profile *profile, const struct gsim_holder *holder) {
    return holder->has_steps ? gsim_space_cap_sms(profile, holder->cap_ppm) * GSIM_SM
                             : of_device(profile, holder->cap_ppm);
}

/* How many blocks the holder puts on its SMs; all else follows from that. */
static void spread(const struct gsim_space *space, struct gsim_holder *holder) {
    int64_t most = min_i64(cap_of(space->profile, holder), width(space, holder) * GSIM_SM);
    holder->wanted = min_i64(of_device(space->profile, holder->fill_ppm), most);
    holder->density = holder->wanted / width(space, holder);
    holder->computing = gsim_muldiv_floor(holder->density, GSIM_PPM - holder->memory_ppm, GSIM_PPM);
}

/* The blocks of all holders on an SM; the part of them that computes. */
struct load {
    int64_t all, compute;
};

static struct load load_at(const struct gsim_space *space, const struct gsim_holder *holders,
                           uint32_t n, int64_t sm) {
    struct load load = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        const struct gsim_holder *holder = &holders[i];
        if (sm < holder->first_sm || sm >= end_sm(space, holder))
            continue;
        load.all += holder->density;
        load.compute += holder->computing;
    }
    return load;
}

/* The first SM after this one at which a holder's range begins or ends. */
static int64_t next_edge(const struct gsim_space *space, const struct gsim_holder *holders,
                         uint32_t n, int64_t sm) {
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        int64_t first = holders[i].first_sm, end = end_sm(space, &holders[i]);
        if (first > sm)
            next = min_i64(next, first);
        if (end > sm)
            next = min_i64(next, end);
    }
    return next;
}

static int64_t part_of(int64_t density, int64_t load, int64_t sms) {
    return load <= GSIM_SM ? density * sms : gsim_muldiv_floor(density * sms, GSIM_SM, load);
}

static bool have_no_ranges(const struct gsim_holder *holders, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (holders[i].n_sms > 0)
            return false;
    return true;
}

/* everywhere: the load of all SMs where they are alike, else NULL. */
static void share_sms(const struct gsim_space *space, const struct gsim_holder *holders, uint32_t n,
                      const struct load *everywhere, struct gsim_holder *mine) {
    bool is_crowded = false, is_computing_crowded = false;
    mine->sms = mine->memory_sms = 0;
    for (int64_t sm = mine->first_sm, end = end_sm(space, mine); sm < end;) {
        int64_t next = everywhere ? end : min_i64(next_edge(space, holders, n, sm), end);
        struct load load = everywhere ? *everywhere : load_at(space, holders, n, sm);
        mine->sms += part_of(mine->density, load.compute, next - sm);
        mine->memory_sms += part_of(mine->density, load.all, next - sm);
        is_crowded |= load.all > GSIM_SM;
        is_computing_crowded |= load.compute > GSIM_SM;
        sm = next;
    }
    /* An undisturbed holder loses nothing to rounding. */
    mine->sms = is_computing_crowded ? max_i64(mine->sms, 1) : mine->wanted;
    mine->memory_sms = is_crowded ? max_i64(mine->memory_sms, 1) : mine->wanted;
}

/* --- rates ------------------------------------------------------------------------------------ */

/* Above zero, so that every kernel ends; never above the rate alone. */
static uint64_t bounded_rate(gsim_u128 rate_q32) {
    if (rate_q32 > GSIM_RATE_ONE)
        return GSIM_RATE_ONE;
    return rate_q32 > 0 ? (uint64_t)rate_q32 : 1;
}

/* How many times longer the part that is bound by memory takes, in Q32. */
static gsim_u128 memory_stretch(const struct gsim_space *space, const struct gsim_holder *holder) {
    int64_t all = holder->wanted;
    int64_t alone = gsim_space_curve(space->profile, GSIM_KEY_HBM_BY_SMS,
                                     of_device(space->profile, holder->fill_ppm));
    int64_t here = max_i64(gsim_space_bandwidth(space, all), 1);
    gsim_u128 stretch = ((gsim_u128)(uint64_t)alone << 32) / (uint64_t)here;
    if (stretch < GSIM_RATE_ONE)
        stretch = GSIM_RATE_ONE; /* a curve that falls: fewer SMs are not faster */
    if (stretch > UINT64_MAX)
        stretch = UINT64_MAX;
    return stretch * (uint64_t)all / (uint64_t)holder->memory_sms;
}

/* The holder's rate with its SMs while memory has room for all holders. */
static void run_undisturbed(const struct gsim_space *space, struct gsim_holder *holder) {
    uint64_t alone = (uint64_t)of_device(space->profile, holder->fill_ppm);
    gsim_u128 compute = ((gsim_u128)alone << 32) / (uint64_t)holder->sms;
    gsim_u128 time = (gsim_u128)(uint64_t)(GSIM_PPM - holder->memory_ppm) * compute;
    if (holder->memory_ppm > 0)
        time += holder->memory_ppm * memory_stretch(space, holder);
    holder->rate_q32 = bounded_rate(((gsim_u128)(uint64_t)GSIM_PPM << 64) / time);
    holder->drawn_bytes_per_s = gsim_muldiv_floor(
        holder->hbm_bytes_per_s, (int64_t)holder->rate_q32, (int64_t)GSIM_RATE_ONE);
}

/* The bandwidth that the holder reaches alone, unless it has fewer SMs here. */
static int64_t reached_alone(const struct gsim_space *space, const struct gsim_holder *holder) {
    bool is_whole = holder->wanted == of_device(space->profile, holder->fill_ppm);
    return is_whole ? holder->hbm_bytes_per_s : holder->drawn_bytes_per_s;
}

/* On a crowded SM a holder takes turns with the others, which its rate has in it already: at the
 * load that its SMs make together if all blocks there load as much as its own. */
static struct gsim_loader loader_of(const struct gsim_space *space,
                                    const struct gsim_holder *holder) {
    return (struct gsim_loader){.draws_bytes_per_s = holder->drawn_bytes_per_s,
                                .at_bytes_per_s = gsim_muldiv_floor(
                                    holder->drawn_bytes_per_s, holder->wanted, holder->memory_sms),
                                .alone_bytes_per_s = reached_alone(space, holder),
                                .loads_ppm = holder->loads_ppm,
                                .most_under_way = holder->memory_sms};
}

static void slow_down(struct gsim_holder *holder, uint64_t longer_q32) {
    if (longer_q32 == GSIM_RATE_ONE)
        return;
    holder->rate_q32 = bounded_rate(((gsim_u128)holder->rate_q32 << 32) / longer_q32);
    holder->drawn_bytes_per_s =
        (int64_t)(((gsim_u128)(uint64_t)holder->drawn_bytes_per_s << 32) / longer_q32);
}

/* Loads take longer while several holders load. */
static void share_memory(const struct gsim_space *space, struct gsim_holder *holders, uint32_t n) {
    struct gsim_loader loaders[GSIM_LOADERS_MAX];
    uint32_t n_loaders = 0;
    for (uint32_t i = 0; i < n; i++)
        if (holders[i].drawn_bytes_per_s > 0)
            loaders[n_loaders++] = loader_of(space, &holders[i]);
    gsim_memory_queue_solve(space, loaders, n_loaders);
    for (uint32_t i = 0, at = 0; i < n; i++)
        if (holders[i].drawn_bytes_per_s > 0)
            slow_down(&holders[i], loaders[at++].longer_q32);
}

void gsim_space_solve(const struct gsim_space *space, struct gsim_holder *holders, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        assert(holders[i].cap_ppm > 0 && holders[i].fill_ppm > 0);
        assert(holders[i].cap_ppm <= GSIM_PPM && holders[i].fill_ppm <= GSIM_PPM);
        assert(holders[i].memory_ppm <= GSIM_PPM && holders[i].hbm_bytes_per_s >= 0);
        assert(end_sm(space, &holders[i]) <= space->sms);
        spread(space, &holders[i]);
    }
    bool are_alike = have_no_ranges(holders, n);
    struct load everywhere = load_at(space, holders, n, 0);
    for (uint32_t i = 0; i < n; i++) {
        share_sms(space, holders, n, are_alike ? &everywhere : NULL, &holders[i]);
        run_undisturbed(space, &holders[i]);
    }
    share_memory(space, holders, n);
}
