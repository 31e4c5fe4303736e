/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First the SMs are shared, then follows the rate of each holder with its SMs undisturbed, then the
 * memory's bandwidth is shared by filling up: holders that would draw less than their part are
 * served, the rest share the remainder. */
#include "models/gpu/space.h"

#include <assert.h>

struct gsim_space gsim_space_of_device(const struct gsim_profile *profile) {
    return (struct gsim_space){profile, profile->value[GSIM_KEY_SMS],
                               profile->value[GSIM_KEY_HBM_BYTES_PER_S]};
}

struct gsim_space gsim_space_of_instance(const struct gsim_profile *profile,
                                         const struct gsim_mig_profile *instance) {
    return (struct gsim_space){
        profile, instance->sms,
        gsim_mig_part(profile->mig, instance, profile->value[GSIM_KEY_HBM_BYTES_PER_S])};
}

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* --- the curve -------------------------------------------------------------------------------- */

static int64_t on(const struct gsim_profile *profile, enum gsim_key curve, int64_t sms) {
    const struct gsim_curve_point *points = profile->curve[curve];
    int64_t n = profile->value[curve];
    struct gsim_curve_point low = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        if (sms <= points[i].x * GSIM_SM) {
            int64_t beyond = sms - low.x * GSIM_SM, width = (points[i].x - low.x) * GSIM_SM;
            int64_t rise = points[i].y - low.y; /* a curve may fall */
            return low.y + (rise < 0 ? -gsim_muldiv_ceil(-rise, beyond, width)
                                     : gsim_muldiv_floor(rise, beyond, width));
        }
        low = points[i];
    }
    return low.y;
}

static int64_t on_curve(const struct gsim_profile *profile, int64_t sms) {
    return on(profile, GSIM_KEY_HBM_BY_SMS, sms);
}

int64_t gsim_space_bandwidth(const struct gsim_space *space, int64_t sms) {
    return min_i64(on_curve(space->profile, sms), space->peak_bytes_per_s);
}

int64_t gsim_space_staged_bandwidth(const struct gsim_space *space, int64_t sms) {
    const struct gsim_profile *profile = space->profile;
    if (profile->value[GSIM_KEY_HBM_STAGED_BY_SMS] == 0)
        return gsim_space_bandwidth(space, sms);
    int64_t drawn = on(profile, GSIM_KEY_HBM_STAGED_BY_SMS, sms);
    if (space->peak_bytes_per_s >= profile->value[GSIM_KEY_HBM_BYTES_PER_S])
        return drawn;
    int64_t all = on(profile, GSIM_KEY_HBM_STAGED_BY_SMS, INT64_MAX / GSIM_SM);
    return min_i64(drawn, gsim_muldiv_floor(all, space->peak_bytes_per_s,
                                            profile->value[GSIM_KEY_HBM_BYTES_PER_S]));
}

bool gsim_space_is_staged(const struct gsim_profile *profile, int64_t shared_bytes) {
    return shared_bytes > 0 && 2 * shared_bytes >= profile->value[GSIM_KEY_SM_SHARED_BYTES];
}

static int64_t of_device(const struct gsim_profile *profile, uint32_t ppm) {
    return profile->value[GSIM_KEY_SMS] * (int64_t)ppm;
}

uint32_t gsim_space_memory_ppm(const struct gsim_profile *profile, uint32_t fill_ppm,
                               int64_t hbm_bytes_per_s) {
    int64_t most = on_curve(profile, of_device(profile, fill_ppm));
    if (hbm_bytes_per_s >= most)
        return (uint32_t)GSIM_PPM;
    return (uint32_t)gsim_muldiv_floor(hbm_bytes_per_s, GSIM_PPM, most);
}

/* --- SMs -------------------------------------------------------------------------------------- */

static int64_t end_sm(const struct gsim_space *space, const struct gsim_holder *holder) {
    return holder->n_sms ? (int64_t)holder->first_sm + holder->n_sms : space->sms;
}

static int64_t width(const struct gsim_space *space, const struct gsim_holder *holder) {
    return holder->n_sms ? holder->n_sms : space->sms;
}

/* How many blocks the holder puts on its SMs; all else follows from that. */
static void spread(const struct gsim_space *space, struct gsim_holder *holder) {
    uint32_t ppm = holder->cap_ppm < holder->fill_ppm ? holder->cap_ppm : holder->fill_ppm;
    holder->wanted = min_i64(of_device(space->profile, ppm), width(space, holder) * GSIM_SM);
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
    int64_t alone = on_curve(space->profile, of_device(space->profile, holder->fill_ppm));
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

/* The bandwidth that the SMs of all drawing holders can draw together; more when one holder alone
 * reached more, with more blocks an SM than the curve was measured with. */
static int64_t room(const struct gsim_space *space, const struct gsim_holder *holders, uint32_t n) {
    gsim_i128 sms = 0;
    int64_t largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (holders[i].hbm_bytes_per_s == 0)
            continue;
        sms += holders[i].wanted;
        largest = max_i64(largest, reached_alone(space, &holders[i]));
    }
    int64_t most = space->sms * GSIM_SM;
    int64_t together = gsim_space_bandwidth(space, sms > most ? most : (int64_t)sms);
    return min_i64(max_i64(together, largest), space->peak_bytes_per_s);
}

/* The cap that filling up puts on every holder: bytes_per_s for each `sms` of SM time. */
struct level {
    gsim_i128 bytes_per_s, sms;
};

static int64_t at_level(const struct level *level, const struct gsim_holder *holder) {
    return (int64_t)(level->bytes_per_s * holder->memory_sms / level->sms);
}

static bool is_below(const struct level *level, const struct gsim_holder *holder) {
    return holder->drawn_bytes_per_s * level->sms <= level->bytes_per_s * holder->memory_sms;
}

/* Holders below the level leave the rest to the others, for which the level rises; at most as many
 * rounds as there are holders, since each round that changes anything finds more of them below. */
static struct level fill_up(const struct gsim_holder *holders, uint32_t n, int64_t room) {
    struct level level = {0, 1};
    for (uint32_t n_below = 0;;) {
        struct level next = {room, 0};
        uint32_t below = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (is_below(&level, &holders[i])) {
                next.bytes_per_s -= holders[i].drawn_bytes_per_s;
                below++;
            } else {
                next.sms += holders[i].memory_sms;
            }
        }
        if (next.sms == 0 || (level.bytes_per_s > 0 && below == n_below))
            return level;
        level = next;
        n_below = below;
    }
}

static void share_bandwidth(const struct gsim_space *space, struct gsim_holder *holders,
                            uint32_t n) {
    gsim_i128 demand = 0;
    int64_t most = room(space, holders, n);
    for (uint32_t i = 0; i < n; i++)
        demand += holders[i].drawn_bytes_per_s;
    if (demand <= most)
        return;
    struct level level = fill_up(holders, n, most);
    for (uint32_t i = 0; i < n; i++) {
        struct gsim_holder *holder = &holders[i];
        if (is_below(&level, holder))
            continue;
        holder->drawn_bytes_per_s = at_level(&level, holder);
        gsim_u128 bytes_q32 = (gsim_u128)(uint64_t)holder->drawn_bytes_per_s << 32;
        holder->rate_q32 = bounded_rate(bytes_q32 / (uint64_t)holder->hbm_bytes_per_s);
    }
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
    share_bandwidth(space, holders, n);
}
