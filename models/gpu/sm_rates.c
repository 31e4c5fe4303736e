/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast kernels run with the blocks that they have on SMs: by their part of the SMs, the loads
 * of all of them, and the clock at which they are within the limit of power. */
#include "models/gpu/sm_array.h"

#include <assert.h>
#include <string.h>

#include "models/gpu/clock.h"
#include "models/gpu/memory_queue.h"
#include "sim/base/hints.h"
#include "sim/base/wide.h"

static int64_t at_least_one(int64_t blocks) {
    return blocks > 0 ? blocks : 1;
}

/* --- a kernel alone --------------------------------------------------------------------------- */

struct gsim_sm_alone gsim_sm_alone_of(const struct gsim_space *space,
                                      const struct gsim_sm_kernel *kernel) {
    struct gsim_sm_room sm = gsim_sm_room(space->profile);
    struct gsim_sm_alone alone = {.need = gsim_sm_room_of_kernel(space->profile, kernel)};
    int64_t sms = space->profile->value[GSIM_KEY_SMS];
    int64_t blocks = kernel->whole_blocks > 0 ? kernel->whole_blocks : kernel->blocks;
    alone.per_sm = at_least_one(gsim_sm_room_fit(&sm, &alone.need));
    gsim_sm_part(&sm, kernel, &alone);
    alone.at_once = blocks < alone.per_sm * sms ? blocks : alone.per_sm * sms;
    if (alone.at_once < alone.per_sm * sms)
        alone.per_sm = (alone.at_once + sms - 1) / sms;
    return alone;
}

/* --- rates ------------------------------------------------------------------------------------ */

/* SMs' worth of blocks. */
static int64_t worth(const struct gsim_sm_alone *alone, int64_t blocks) {
    return blocks * GSIM_SM / alone->per_sm;
}

static gsim_u128 over_q32(int64_t all, int64_t part) {
    return ((gsim_u128)(uint64_t)all << 32) / (uint64_t)(part > 0 ? part : 1);
}

static gsim_u128 time_of(const struct gsim_sm_kernel *kernel,
                         const struct gsim_sm_stretch *stretch) {
    return (gsim_u128)(uint64_t)(GSIM_PPM - kernel->memory_ppm) * stretch->compute_q32 +
           (gsim_u128)kernel->memory_ppm * stretch->memory_q32 +
           (gsim_u128)(uint64_t)GSIM_PPM * stretch->begins_q32;
}

static uint64_t rate_of(const struct gsim_sm_kernel *kernel,
                        const struct gsim_sm_stretch *stretch) {
    gsim_u128 rate = ((gsim_u128)(uint64_t)GSIM_PPM << 64) / time_of(kernel, stretch);
    return rate < GSIM_RATE_ONE ? (uint64_t)rate : GSIM_RATE_ONE;
}

static int64_t bandwidth(const struct gsim_space *space, const struct gsim_sm_kernel *kernel,
                         int64_t sms) {
    return gsim_space_is_staged(space->profile, kernel->shared_bytes)
               ? gsim_space_staged_bandwidth(space, sms)
               : gsim_space_bandwidth(space, sms);
}

/* Blocks that a cap crowds on fewer SMs than alone draw what these can. */
static int64_t at_most_its_sms(const struct gsim_sm_kernel *kernel, int64_t has) {
    return has < kernel->n_sms * GSIM_SM ? has : kernel->n_sms * GSIM_SM;
}

/* What SMs draw that are busy with loads follows from the bytes that are on their way to them. An
 * SM with few threads has fewer than it can have; threads that stage what they read have all. */
static int64_t with_its_threads(const struct gsim_profile *profile,
                                const struct gsim_sm_alone *alone, int64_t sms) {
    int64_t enough = profile->value[GSIM_KEY_SM_MEMORY_THREADS];
    int64_t threads = alone->per_sm * alone->need.threads;
    return threads < enough ? gsim_muldiv_floor(sms, threads, enough) : sms;
}

static int64_t under_way(const struct gsim_space *space, const struct gsim_sm_kernel *kernel,
                         const struct gsim_sm_alone *alone, int64_t has) {
    if (gsim_space_is_staged(space->profile, kernel->shared_bytes))
        return gsim_memory_queue_under_way(
            space, gsim_space_staged_bandwidth(space, at_most_its_sms(kernel, has)));
    return at_most_its_sms(kernel, with_its_threads(space->profile, alone, has));
}

static int64_t draws_alone(const struct gsim_profile *profile, const struct gsim_sm_kernel *kernel,
                           int64_t had) {
    struct gsim_space device = gsim_space_of_device(profile);
    if (kernel->hbm_bytes_per_s > 0 || kernel->memory_ppm == 0)
        return kernel->hbm_bytes_per_s;
    return gsim_muldiv_floor(bandwidth(&device, kernel, had), kernel->memory_ppm, GSIM_PPM);
}

/* A kernel that draws less than its SMs can waits for its loads in between, on each SM. How kernels
 * do that stage what they read was not measured; unknown bytes are the mean of many kernels. */
static gsim_u128 memory_on_fewer(const struct gsim_space *space,
                                 const struct gsim_sm_kernel *kernel, struct gsim_fewer_sms fewer) {
    if (kernel->hbm_bytes_per_s == 0 || kernel->memory_ppm == 0 || fewer.has >= fewer.had ||
        gsim_space_is_staged(space->profile, kernel->shared_bytes))
        return GSIM_RATE_ONE;
    gsim_u128 compute_q32 = over_q32(fewer.had, fewer.has);
    uint64_t longer_q32 = gsim_memory_queue_on_fewer(space, fewer);
    gsim_u128 less_q32 = (compute_q32 - longer_q32) * GSIM_PPM / kernel->memory_ppm;
    return compute_q32 > less_q32 + GSIM_RATE_ONE ? compute_q32 - less_q32 : GSIM_RATE_ONE;
}

static void slow_down(const struct gsim_space *space, const struct gsim_sm_kernel *kernel,
                      const struct gsim_sm_alone *alone, int64_t has, struct gsim_sm_stretch *out) {
    struct gsim_space device = gsim_space_of_device(space->profile);
    int64_t had = worth(alone, alone->at_once), sms = at_most_its_sms(kernel, has);
    struct gsim_fewer_sms fewer = {had, has, out->draws_bytes_per_s,
                                   with_its_threads(space->profile, alone, had)};
    out->compute_q32 = over_q32(had, has);
    out->memory_q32 = over_q32(bandwidth(&device, kernel, had), bandwidth(space, kernel, sms));
    gsim_u128 least_q32 = memory_on_fewer(space, kernel, fewer);
    out->memory_q32 = out->memory_q32 > least_q32 ? out->memory_q32 : least_q32;
    out->draws_bytes_per_s =
        gsim_muldiv_floor(out->draws_bytes_per_s, (int64_t)rate_of(kernel, out), GSIM_RATE_ONE);
}

static struct gsim_sm_stretch on_sms(const struct gsim_space *space,
                                     const struct gsim_sm_kernel *kernel,
                                     const struct gsim_sm_alone *alone, int64_t has) {
    int64_t had = worth(alone, alone->at_once);
    struct gsim_sm_stretch out = {.compute_q32 = GSIM_RATE_ONE,
                                  .memory_q32 = GSIM_RATE_ONE,
                                  .draws_bytes_per_s = draws_alone(space->profile, kernel, had),
                                  .under_way = under_way(space, kernel, alone, has)};
    if (has != had || has != at_most_its_sms(kernel, has) ||
        space->peak_bytes_per_s < space->profile->value[GSIM_KEY_HBM_BYTES_PER_S])
        slow_down(space, kernel, alone, has, &out);
    return out;
}

/* Times as long as alone: SMs with less L1 do less of the kernel's blocks in a time. */
static uint64_t longer_by_l1(const struct gsim_sm_kernel *kernel) {
    const struct gsim_sm_held *held = kernel->held;
    int64_t all_ppm = (int64_t)GSIM_PPM + kernel->small_l1_ppm;
    int64_t n = kernel->on_small_l1;
    if (n == 0)
        return GSIM_RATE_ONE;
    return (uint64_t)over_q32(held->n * all_ppm, held->n * all_ppm - n * kernel->small_l1_ppm);
}

/* A kernel that finds less in L1 is longer in all that it does. */
static void lose_l1(const struct gsim_sm_kernel *kernel, struct gsim_sm_stretch *out) {
    uint64_t longer_q32 = longer_by_l1(kernel);
    out->compute_q32 = out->compute_q32 * longer_q32 >> 32;
    out->memory_q32 = out->memory_q32 * longer_q32 >> 32;
    out->draws_bytes_per_s =
        gsim_muldiv_floor(out->draws_bytes_per_s, GSIM_RATE_ONE, (int64_t)longer_q32);
}

/* A kernel that waits for slots of its SMs computes longer; what waits for memory does not. */
static void lose_slots(const struct gsim_sm_kernel *kernel, struct gsim_sm_stretch *out) {
    gsim_u128 before = time_of(kernel, out);
    out->compute_q32 = out->compute_q32 * kernel->crowded_q32 >> 32;
    out->draws_bytes_per_s = gsim_muldiv_floor(out->draws_bytes_per_s, (int64_t)(before >> 20),
                                               (int64_t)(time_of(kernel, out) >> 20));
}

/* SMs' worth of the blocks that decide its speed. What was left of a kernel when it had left its
 * SMs is as fast as alone with all blocks that it would have there at one time then, which may be
 * fewer than those of a wave. */
static int64_t keeps_pace(const struct gsim_sm_kernel *kernel, const struct gsim_sm_alone *alone) {
    int64_t rest = kernel->held->rest_blocks, pace = kernel->held->pace;
    if (gsim_mostly(rest == 0) || rest >= alone->at_once)
        return worth(alone, pace);
    return gsim_muldiv_floor(pace * GSIM_SM, alone->at_once, rest * alone->per_sm);
}

static struct gsim_sm_stretch undisturbed(const struct gsim_space *space,
                                          const struct gsim_sm_kernel *kernel) {
    const struct gsim_sm_alone *alone = &kernel->alone;
    struct gsim_sm_stretch out = on_sms(space, kernel, alone, keeps_pace(kernel, alone));
    if (gsim_rarely(kernel->small_l1_ppm > 0))
        lose_l1(kernel, &out);
    if (kernel->crowded_q32 > GSIM_RATE_ONE)
        lose_slots(kernel, &out);
    return out;
}

/* Atoms are whole waves, so that what memory does not bind of a kernel takes as many times as long
 * as it has waves on these SMs for each wave alone. */
static gsim_u128 in_whole_waves(const struct gsim_sm_kernel *kernel,
                                const struct gsim_sm_alone *alone, int64_t sms) {
    int64_t blocks = kernel->blocks, at_once = sms * alone->per_sm;
    return over_q32((blocks + at_once - 1) / at_once,
                    (blocks + alone->at_once - 1) / alone->at_once);
}

struct gsim_sm_needs gsim_sm_array_needs(const struct gsim_space *space,
                                         const struct gsim_sm_kernel *kernel, uint32_t slip_ppm) {
    struct gsim_sm_alone alone =
        kernel->is_alone_known ? kernel->alone : gsim_sm_alone_of(space, kernel);
    gsim_u128 most = ((gsim_u128)(uint64_t)(GSIM_PPM + slip_ppm)) << 32; /* of GSIM_PPM parts */
    int64_t low = 1, high = (alone.at_once + alone.per_sm - 1) / alone.per_sm;
    while (slip_ppm > 0 && low < high) {
        int64_t middle = (low + high) / 2;
        struct gsim_sm_stretch stretch = on_sms(space, kernel, &alone, middle * GSIM_SM);
        gsim_u128 waves_q32 = in_whole_waves(kernel, &alone, middle);
        if (waves_q32 > stretch.compute_q32)
            stretch.compute_q32 = waves_q32;
        if (time_of(kernel, &stretch) <= most)
            high = middle;
        else
            low = middle + 1;
    }
    return (struct gsim_sm_needs){high, alone.at_once};
}

/* --- power ------------------------------------------------------------------------------------ */

static uint64_t highest_clock(const struct gsim_sm_kernel *kernel) {
    return (uint64_t)GSIM_PPM - kernel->lowers_ppm;
}

static uint64_t clock_alone(const struct gsim_sm_kernel *kernel) {
    uint64_t clock = kernel->power_uw > 0 ? kernel->clock_ppm : (uint64_t)GSIM_PPM;
    return clock * highest_clock(kernel) / (uint64_t)GSIM_PPM;
}

/* What the kernel would draw at the GPU's highest clock. */
static gsim_u128 power_at_highest(const struct gsim_profile *profile,
                                  const struct gsim_sm_kernel *kernel) {
    gsim_u128 power_uw = (gsim_u128)kernel->power_uw;
    if (power_uw == 0 || kernel->lowers_ppm == 0)
        return power_uw;
    uint64_t part = (highest_clock(kernel) << GSIM_CLOCK_Q) / (uint64_t)GSIM_PPM;
    part = gsim_clock_raised(part, profile->value[GSIM_KEY_POWER_EXPONENT_MILLI], GSIM_CLOCK_ONE);
    return (power_uw << GSIM_CLOCK_Q) / (part > 0 ? part : 1);
}

static gsim_u128 memory_at_highest(const struct gsim_sm_kernel *kernel) {
    return (gsim_u128)(uint64_t)kernel->memory_uw * (uint64_t)GSIM_PPM / highest_clock(kernel);
}

/* One clock for all: what draws more than the limit lowers it for kernels beside it, too, and so
 * does a kernel that the GPU runs at less than its highest clock. */
static void share_power(const struct gsim_space *space, struct gsim_sm_kernel *kernels,
                        uint32_t n) {
    gsim_u128 power_uw = 0, memory_uw = 0;
    uint64_t highest = (uint64_t)GSIM_PPM;
    bool is_lowered = false;
    for (uint32_t i = 0; i < n; i++) {
        power_uw += power_at_highest(space->profile, &kernels[i]) * kernels[i].rate_q32 >> 32;
        memory_uw += memory_at_highest(&kernels[i]) * kernels[i].rate_q32 >> 32;
        is_lowered |= clock_alone(&kernels[i]) < (uint64_t)GSIM_PPM;
        if (kernels[i].rate_q32 > 0 && highest_clock(&kernels[i]) < highest)
            highest = highest_clock(&kernels[i]);
    }
    uint64_t clock = gsim_clock(space->profile, power_uw, memory_uw);
    if (clock == (uint64_t)GSIM_PPM && !is_lowered)
        return;
    clock = clock < highest ? clock : highest;
    for (uint32_t i = 0; i < n; i++) {
        if (kernels[i].rate_q32 == 0)
            continue;
        struct gsim_sm_stretch *here = &kernels[i].here;
        here->compute_q32 = here->compute_q32 * clock_alone(&kernels[i]) / clock;
        kernels[i].rate_q32 = rate_of(&kernels[i], here);
    }
}

/* --- bandwidth -------------------------------------------------------------------------------- */

static struct gsim_loader loader_of(const struct gsim_sm_kernel *kernel,
                                    const struct gsim_sm_stretch *stretch) {
    return (struct gsim_loader){.draws_bytes_per_s = stretch->draws_bytes_per_s,
                                .at_bytes_per_s = stretch->draws_bytes_per_s,
                                .alone_bytes_per_s = stretch->draws_bytes_per_s,
                                .loads_ppm = kernel->loads_ppm,
                                .most_under_way = stretch->under_way};
}

/* All of the longer time is waiting for memory. */
static void wait_longer(const struct gsim_sm_kernel *kernel, uint64_t longer_q32,
                        struct gsim_sm_stretch *stretch) {
    gsim_u128 more = (time_of(kernel, stretch) >> 32) * (longer_q32 - GSIM_RATE_ONE);
    stretch->memory_q32 += more / kernel->memory_ppm;
}

/* Kernels that load, and the numbers of these kernels. */
struct loaders {
    struct gsim_loader loader[GSIM_ARRAY_KERNELS_MAX];
    uint16_t number[GSIM_ARRAY_KERNELS_MAX];
    uint32_t n;
};

/* How many times as long as from idle memory a load takes beside all kernels but this one. Before
 * its data come the kernel draws nothing; of several others what each adds is added up. */
static uint64_t load_beside(const struct gsim_space *space, struct loaders *loaders,
                            uint32_t number) {
    uint64_t times_q32 = GSIM_RATE_ONE;
    for (uint32_t i = 0; i < loaders->n; i++)
        if (loaders->number[i] != number)
            times_q32 += gsim_memory_queue_load(space, &loaders->loader[i]) - GSIM_RATE_ONE;
    return times_q32;
}

/* Kernels begin later than alone, where others have pushed what they begin with out of L2. */
static void begin_later(const struct gsim_space *space, struct gsim_sm_kernel *kernels, uint32_t n,
                        struct loaders *loaders) {
    for (uint32_t i = 0; i < n; i++) {
        int64_t alone_ns = (int64_t)gsim_work_to_ns(kernels[i].all);
        if (kernels[i].held->pace == 0 || kernels[i].first_loads.misses_ppm == 0 || alone_ns == 0)
            continue;
        int64_t ns = gsim_first_loads_longer_ns(space->profile, kernels[i].first_loads,
                                                load_beside(space, loaders, i));
        kernels[i].here.begins_q32 = (uint64_t)ns * GSIM_RATE_ONE / (uint64_t)alone_ns;
    }
}

/* Loads take longer while several kernels load. */
static void share_memory(const struct gsim_space *space, struct gsim_sm_kernel *kernels,
                         uint32_t n) {
    struct loaders loaders;
    loaders.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (kernels[i].held->pace == 0 || kernels[i].here.draws_bytes_per_s == 0)
            continue;
        loaders.loader[loaders.n] = loader_of(&kernels[i], &kernels[i].here);
        loaders.number[loaders.n++] = (uint16_t)i;
    }
    gsim_memory_queue_solve(space, loaders.loader, loaders.n);
    for (uint32_t i = 0; i < loaders.n; i++) {
        struct gsim_sm_kernel *kernel = &kernels[loaders.number[i]];
        if (loaders.loader[i].longer_q32 > GSIM_RATE_ONE)
            wait_longer(kernel, loaders.loader[i].longer_q32, &kernel->here);
    }
    begin_later(space, kernels, n, &loaders);
}

/* The part of its time here that the kernel needs beyond this one of its time alone. */
static uint32_t lost_ppm(const struct gsim_sm_kernel *kernel, gsim_u128 compute_q32,
                         gsim_u128 memory_q32) {
    gsim_u128 longer = (gsim_u128)(uint64_t)(GSIM_PPM - kernel->memory_ppm) * compute_q32 +
                       (gsim_u128)kernel->memory_ppm * memory_q32;
    gsim_u128 ppm = (longer >> 16) * kernel->rate_q32 >> 48;
    return ppm < GSIM_PPM ? (uint32_t)ppm : (uint32_t)GSIM_PPM;
}

static void find_losses(struct gsim_sm_kernel *kernel) {
    const struct gsim_sm_stretch *undisturbed = &kernel->undisturbed, *here = &kernel->here;
    gsim_u128 compute_q32 =
        undisturbed->compute_q32 > GSIM_RATE_ONE ? undisturbed->compute_q32 : GSIM_RATE_ONE;
    kernel->lost.sms_ppm =
        lost_ppm(kernel, compute_q32 - GSIM_RATE_ONE, undisturbed->memory_q32 - GSIM_RATE_ONE);
    gsim_u128 begins_q32 = here->begins_q32; /* of all its time, so of each part */
    kernel->lost.bandwidth_ppm =
        lost_ppm(kernel, begins_q32, begins_q32 + here->memory_q32 - undisturbed->memory_q32);
}

/* --- kernels that ran last -------------------------------------------------------------------- */

_Static_assert(sizeof(struct gsim_sm_asked) == 120, "no bytes between fields: they are compared");

static struct gsim_sm_asked asked_of(const struct gsim_sm_kernel *kernel) {
    struct gsim_sm_asked out = {
        .blocks = kernel->whole_blocks > 0 ? kernel->whole_blocks : kernel->blocks,
        .threads = kernel->threads,
        .register_bytes = kernel->register_bytes,
        .shared_bytes = kernel->shared_bytes,
        .hbm_bytes_per_s = kernel->hbm_bytes_per_s,
        .power_uw = kernel->power_uw,
        .memory_uw = kernel->memory_uw,
        .crowded_q32 = kernel->crowded_q32,
        .memory_ppm = kernel->memory_ppm,
        .loads_ppm = kernel->loads_ppm,
        .clock_ppm = kernel->clock_ppm,
        .lowers_ppm = kernel->lowers_ppm,
        .first_loads = kernel->first_loads,
        .small_l1_ppm = kernel->small_l1_ppm,
        .n_sms = kernel->n_sms,
        .pace = kernel->held->pace,
        .is_whole = kernel->is_whole,
    };
    out.rest_blocks = (uint32_t)kernel->held->rest_blocks;
    if (kernel->first_loads.misses_ppm > 0)
        out.ns = (int64_t)gsim_work_to_ns(kernel->all);
    out.on_small_l1 = kernel->on_small_l1;
    if (out.on_small_l1 > 0)
        out.n_held = kernel->held->n;
    return out;
}

/* The kernels that run, in their order. Returns how many there are; more than the last ones can be
 * are GSIM_SM_LAST_MOST + 1. */
static uint32_t ask(const struct gsim_sm_kernel *kernels, uint32_t n, struct gsim_sm_asked *out) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (kernels[i].held->pace == 0)
            continue;
        if (found == GSIM_SM_LAST_MOST)
            return found + 1;
        out[found++] = asked_of(&kernels[i]);
    }
    return found;
}

static bool is_equal(const struct gsim_sm_asked *a, const struct gsim_sm_asked *b) {
    return a->blocks == b->blocks && memcmp(a, b, sizeof *a) == 0;
}

static bool is_of(const struct gsim_sm_last *last, const struct gsim_space *space) {
    return last->space.profile == space->profile && last->space.sms == space->sms &&
           last->space.peak_bytes_per_s == space->peak_bytes_per_s;
}

static bool are_last(const struct gsim_sm_last *last, const struct gsim_sm_asked *asked,
                     uint32_t n) {
    bool is_it = n > 0 && last->n == n;
    for (uint32_t i = 0; is_it && i < n; i++)
        is_it = is_equal(&last->asked[i], &asked[i]);
    return is_it;
}

static void answer_as_last(const struct gsim_sm_last *last, struct gsim_sm_kernel *kernels,
                           uint32_t n) {
    for (uint32_t i = 0, at = 0; i < n; i++) {
        kernels[i].rate_q32 = 0;
        if (kernels[i].held->pace == 0)
            continue;
        kernels[i].rate_q32 = last->rate_q32[at];
        kernels[i].lost = last->lost[at++];
    }
}

/* Of a kernel that ran last, whatever ran beside it; NULL: it did not. */
static const struct gsim_sm_stretch *stretch_of(const struct gsim_sm_last *last,
                                                const struct gsim_sm_asked *asked) {
    for (uint32_t i = 0; i < last->n; i++)
        if (is_equal(&last->asked[i], asked))
            return &last->stretch[i];
    return NULL;
}

/* In their order; last->n says how many are kept by now. */
static void keep(struct gsim_sm_last *last, const struct gsim_sm_asked *asked,
                 const struct gsim_sm_kernel *kernel) {
    last->asked[last->n] = *asked;
    last->stretch[last->n] = kernel->undisturbed;
    last->rate_q32[last->n] = kernel->rate_q32;
    last->lost[last->n++] = kernel->lost;
}

/* asked: of those that run; last, asked NULL: nothing is kept. */
static void find(const struct gsim_space *space, struct gsim_sm_kernel *kernels, uint32_t n,
                 const struct gsim_sm_asked *asked, struct gsim_sm_last *last) {
    for (uint32_t i = 0, at = 0; i < n; i++) {
        struct gsim_sm_kernel *kernel = &kernels[i];
        if (kernel->held->pace == 0)
            continue;
        const struct gsim_sm_stretch *known = last ? stretch_of(last, &asked[at++]) : NULL;
        kernel->here = kernel->undisturbed = known ? *known : undisturbed(space, kernel);
    }
    share_memory(space, kernels, n);
    for (uint32_t i = 0; i < n; i++)
        kernels[i].rate_q32 =
            kernels[i].held->pace > 0 ? rate_of(&kernels[i], &kernels[i].here) : 0;
    share_power(space, kernels, n);
    if (last)
        last->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (kernels[i].held->pace == 0)
            continue;
        find_losses(&kernels[i]);
        if (last)
            keep(last, &asked[last->n], &kernels[i]);
    }
}

void gsim_sm_rates_find(const struct gsim_space *space, struct gsim_sm_kernel *kernels, uint32_t n,
                        struct gsim_sm_last *last) {
    struct gsim_sm_asked asked[GSIM_SM_LAST_MOST];
    uint32_t n_asked = last ? ask(kernels, n, asked) : GSIM_SM_LAST_MOST + 1;
    if (n_asked > GSIM_SM_LAST_MOST) {
        find(space, kernels, n, NULL, NULL);
        return;
    }
    if (!is_of(last, space))
        *last = (struct gsim_sm_last){.space = *space};
    if (are_last(last, asked, n_asked))
        answer_as_last(last, kernels, n);
    else
        find(space, kernels, n, asked, last);
}
