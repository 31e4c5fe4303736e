/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/sm_array.h"

#include <assert.h>
#include <string.h>

#include "models/gpu/clock.h"
#include "models/gpu/memory_queue.h"
#include "sim/base/hints.h"
#include "sim/base/wide.h"

static void take(struct gsim_sm_room *free, const struct gsim_sm_room *need, int64_t n) {
    free->threads -= n * need->threads;
    free->register_bytes -= n * need->register_bytes;
    free->shared_bytes -= n * need->shared_bytes;
    free->blocks -= n * need->blocks;
}

static int64_t at_least_one(int64_t blocks) {
    return blocks > 0 ? blocks : 1;
}

/* --- a kernel alone --------------------------------------------------------------------------- */

struct alone {
    struct gsim_sm_room need;
    int64_t per_sm; /* blocks that an SM holds when the kernel has the device alone */
    int64_t in_flight; /* blocks of all SMs */
};

static struct alone of_alone(const struct gsim_space *space, const struct gsim_sm_kernel *kernel) {
    struct gsim_sm_room sm = gsim_sm_room(space->profile);
    struct alone alone = {.need = gsim_sm_room_of_kernel(space->profile, kernel)};
    int64_t sms = space->profile->value[GSIM_KEY_SMS];
    int64_t blocks = kernel->whole_blocks > 0 ? kernel->whole_blocks : kernel->blocks;
    alone.per_sm = at_least_one(gsim_sm_room_fit(&sm, &alone.need));
    alone.in_flight = blocks < alone.per_sm * sms ? blocks : alone.per_sm * sms;
    if (alone.in_flight < alone.per_sm * sms)
        alone.per_sm = (alone.in_flight + sms - 1) / sms;
    return alone;
}

/* --- placing ---------------------------------------------------------------------------------- */

/* All kernels, and the order in which they are served. */
struct array {
    const struct gsim_space *space;
    struct gsim_sm_kernel *kernels;
    uint16_t *by_age;
    uint32_t n;
    struct gsim_sm_room sm; /* an empty one */
    struct alone alone[GSIM_ARRAY_KERNELS_MAX]; /* of kernels that hold SMs, or are served */
    uint16_t holder[GSIM_ARRAY_KERNELS_MAX]; /* kernels with blocks on SMs */
    uint32_t n_holders;
    uint16_t waiting[GSIM_ARRAY_KERNELS_MAX]; /* kernels of which blocks have not begun */
    uint32_t n_waiting;
};

/* Blocks that have not ended, by the work that is left. */
static int64_t blocks_left(const struct gsim_sm_kernel *kernel) {
    gsim_work blocks = kernel->left * (gsim_work)kernel->blocks;
    return (int64_t)((blocks + kernel->all - 1) / kernel->all);
}

/* The end of the SMs from this one on that have as many blocks as it has. */
static int64_t end_of_run(const uint8_t *blocks, int64_t sm, int64_t end) {
    uint64_t alike = blocks[sm] * UINT64_C(0x0101010101010101), eight;
    int64_t next = sm + 1;
    for (; next + (int64_t)sizeof eight <= end; next += (int64_t)sizeof eight) {
        memcpy(&eight, &blocks[next], sizeof eight);
        if (eight != alike)
            break;
    }
    while (next < end && blocks[next] == blocks[sm])
        next++;
    return next;
}

/* SMs beside each other with as many blocks. */
struct run {
    int64_t first, n;
    uint8_t blocks;
};

struct runs {
    struct run run[GSIM_ARRAY_SMS_MAX];
    uint32_t n;
};

static void find_runs(const uint8_t *blocks, int64_t first, int64_t end, struct runs *out) {
    out->n = 0;
    for (int64_t sm = first, next; sm < end; sm = next) {
        next = end_of_run(blocks, sm, end);
        out->run[out->n++] = (struct run){sm, next - sm, blocks[sm]};
    }
}

static int64_t sum_up_to(const struct runs *runs, int64_t level) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < runs->n; i++)
        sum += runs->run[i].n * (runs->run[i].blocks < level ? runs->run[i].blocks : level);
    return sum;
}

/* Blocks leave one after another the SM with the most of them, the first of equals, until `keep`
 * are left; there are more. */
static void level_down(uint8_t *blocks, int64_t first, int64_t end, int64_t keep) {
    struct runs runs;
    int64_t level = (keep + end - first - 1) / (end - first);
    find_runs(blocks, first, end, &runs);
    while (sum_up_to(&runs, level) < keep)
        level++;
    int64_t over = sum_up_to(&runs, level) - keep;
    for (uint32_t i = 0; i < runs.n; i++) {
        const struct run *run = &runs.run[i];
        if (run->blocks < level)
            continue;
        int64_t lower = over < run->n ? over : run->n;
        memset(&blocks[run->first], (int)level - 1, (size_t)lower);
        memset(&blocks[run->first + lower], (int)level, (size_t)(run->n - lower));
        over -= lower;
    }
}

/* The end of the SMs from this one on that hold as much of each kernel as it does. */
static int64_t end_of_alike(const struct array *array, int64_t sm, int64_t end) {
    for (uint32_t i = 0; i < array->n_holders; i++)
        end = end_of_run(array->kernels[array->holder[i]].held->blocks, sm, end);
    return end;
}

static int64_t room_at(const struct array *array, const struct gsim_sm_room *need, int64_t sm) {
    struct gsim_sm_room free = array->sm;
    for (uint32_t i = 0; i < array->n_holders; i++) {
        uint16_t kernel = array->holder[i];
        take(&free, &array->alone[kernel].need, array->kernels[kernel].held->blocks[sm]);
    }
    return gsim_sm_room_fit(&free, need);
}

static bool may_use(const struct gsim_sm_kernel *kernel, int64_t sm) {
    return sm >= kernel->first_sm && sm < kernel->first_sm + kernel->n_sms &&
           (!kernel->only || gsim_sm_set_has(kernel->only, sm));
}

/* Leaves out SMs that the kernel may not use; returns how many blocks fit the others. */
static int64_t keep_to_its_own(const struct gsim_sm_kernel *kernel, uint8_t *fits) {
    int64_t all = 0, end = kernel->first_sm + kernel->n_sms;
    for (int64_t sm = kernel->first_sm; sm < end; sm++) {
        fits[sm] = may_use(kernel, sm) ? fits[sm] : 0;
        all += fits[sm];
    }
    return all;
}

/* How many blocks of the kernel fit each of its SMs; returns how many in all. */
static int64_t find_fits(const struct array *array, uint16_t number, uint8_t *fits) {
    const struct gsim_sm_kernel *kernel = &array->kernels[number];
    int64_t all = 0, end = kernel->first_sm + kernel->n_sms;
    for (int64_t sm = kernel->first_sm, next; sm < end; sm = next) {
        int64_t one = room_at(array, &array->alone[number].need, sm);
        next = end_of_alike(array, sm, end);
        memset(&fits[sm], (int)one, (size_t)(next - sm));
        all += one * (next - sm);
    }
    return gsim_rarely(kernel->only != NULL) ? keep_to_its_own(kernel, fits) : all;
}

/* --- L1 --------------------------------------------------------------------------------------- */

/* The SMs from this one on, before `end`. */
static void add_sms(struct gsim_sm_set *set, int64_t sm, int64_t end) {
    while (sm < end) {
        int64_t next = sm / 64 * 64 + 64 < end ? sm / 64 * 64 + 64 : end;
        set->word[sm / 64] |= UINT64_MAX >> (64 - (next - sm)) << (sm % 64);
        sm = next;
    }
}

/* Adds the SMs with blocks of the kernel that have the smallest L1. */
static void add_small(const struct gsim_sm_kernel *kernel, struct gsim_sm_set *out) {
    const struct gsim_sm_set *small = &kernel->held->small_l1;
    struct gsim_sm_set has = {{0}};
    if ((small->word[0] | small->word[1] | small->word[2]) == 0 && !kernel->fills_shared)
        return;
    for (int64_t sm = 0, next; sm < GSIM_ARRAY_SMS_MAX; sm = next) {
        next = end_of_run(kernel->held->blocks, sm, GSIM_ARRAY_SMS_MAX);
        if (kernel->held->blocks[sm] > 0)
            add_sms(&has, sm, next);
    }
    for (uint32_t i = 0; i < sizeof has.word / sizeof has.word[0]; i++)
        out->word[i] |= kernel->fills_shared ? has.word[i] : has.word[i] & small->word[i];
}

/* Kernels that wait, or go on to further SMs, find these as they are: an SM parts its memory anew
 * only when it has been empty. */
GSIM_APART static void follow_l1(const struct array *array, const uint16_t *numbers, uint32_t n) {
    struct gsim_sm_set small = {{0}};
    for (uint32_t i = 0; i < array->n_holders; i++)
        add_small(&array->kernels[array->holder[i]], &small);
    for (uint32_t i = 0; i < n; i++)
        array->kernels[numbers[i]].held->small_l1 = small;
}

/* The kernel begins beside others on SMs, or in the place of those that were there until now. */
GSIM_APART static void begin_with_l1(const struct array *array, uint16_t number) {
    struct gsim_sm_set *own = &array->kernels[number].held->small_l1, before = *own;
    follow_l1(array, &number, 1);
    for (uint32_t i = 0; i < sizeof before.word / sizeof before.word[0]; i++)
        own->word[i] |= before.word[i];
}

/* Blocks go one by one to an SM with the most room for them. */
static void place(struct array *array, uint16_t number, int64_t n) {
    struct gsim_sm_kernel *kernel = &array->kernels[number];
    struct gsim_sm_held *held = kernel->held;
    int64_t first = kernel->first_sm, end = kernel->first_sm + kernel->n_sms;
    uint8_t fits[GSIM_ARRAY_SMS_MAX], rest[GSIM_ARRAY_SMS_MAX] = {0};
    int64_t all = find_fits(array, number, fits);
    if (all > n) {
        memcpy(&rest[first], &fits[first], kernel->n_sms);
        level_down(rest, first, end, all - n);
    }
    for (int64_t sm = first; sm < end; sm++)
        held->blocks[sm] = (uint8_t)(held->blocks[sm] + fits[sm] - rest[sm]);
    if (gsim_rarely(kernel->is_l1_followed))
        begin_with_l1(array, number);
    if (held->n == 0)
        array->holder[array->n_holders++] = number;
    held->n += (uint32_t)(all < n ? all : n);
}

/* The last blocks of a kernel that ran in several waves end one after another. They may be on SMs
 * that new blocks may not go to any more, where a cap has moved meanwhile. */
static void release(struct gsim_sm_kernel *kernel, int64_t keep) {
    level_down(kernel->held->blocks, 0, GSIM_ARRAY_SMS_MAX, keep);
    kernel->held->n = (uint32_t)keep;
}

static bool is_all_there(const struct gsim_sm_kernel *kernel) {
    return kernel->held->pace >= kernel->blocks;
}

/* Blocks that began together end one after another, over the last part of their kernel: a third of
 * them at a time, when half of these would have ended, so that as much SM time gets free as if each
 * left by itself. The last one ends with its kernel. */
static void end_unevenly(const struct gsim_profile *profile, struct gsim_sm_kernel *kernel) {
    enum { STEPS = 3 };
    gsim_work spread = kernel->all * (gsim_work)profile->value[GSIM_KEY_JOB_SPREAD_PPM] / GSIM_PPM;
    for (int64_t part = STEPS - 1; part >= 0; part--) {
        gsim_work at = spread * (gsim_work)(2 * part + 1) / (2 * STEPS);
        if (kernel->left > at) {
            kernel->look = at;
            return;
        }
        int64_t keep = part > 0 ? (kernel->blocks * part + STEPS - 1) / STEPS : 1;
        if (kernel->held->n > keep)
            release(kernel, keep);
    }
}

static gsim_work work_of_blocks(const struct gsim_sm_kernel *kernel, int64_t blocks) {
    return kernel->all * (gsim_work)blocks / (gsim_work)kernel->blocks;
}

/* Blocks that run or have not begun. As long as the kernel has not done the work of as many blocks
 * as it has, or had when it ran alone, none of them has ended. */
static int64_t blocks_to_be_there(const struct gsim_sm_kernel *kernel, int64_t has) {
    int64_t left = blocks_left(kernel), done = kernel->blocks - left;
    if (done > 0 && done >= has)
        kernel->held->some_ended = 1;
    return kernel->held->some_ended ? left : kernel->blocks;
}

/* --- blocks that leave ------------------------------------------------------------------------ */

enum { LEAVING_STEPS = 3 };

/* Blocks of a bound kernel that are on SMs that it may not use any more. */
static int64_t strays(const struct gsim_sm_kernel *kernel) {
    int64_t n = 0;
    for (int64_t sm = 0; kernel->only && sm < GSIM_ARRAY_SMS_MAX; sm++)
        n += may_use(kernel, sm) ? 0 : kernel->held->blocks[sm];
    return n;
}

/* Of blocks that have no successors on their SMs: they end one after another, a third of them at a
 * time; where blocks began together, and none has ended, together. */
static void begin_to_leave(struct gsim_sm_kernel *kernel, int64_t going) {
    struct gsim_sm_held *held = kernel->held;
    gsim_work work = work_of_blocks(kernel, held->n);
    if (!held->some_ended) {
        held->leaving = going;
        held->leaves_at = kernel->all - work;
        return;
    }
    held->leaving = (going + LEAVING_STEPS - 1) / LEAVING_STEPS;
    held->leaves_at = kernel->left - work / LEAVING_STEPS;
}

/* This number of blocks end, first those on SMs that the kernel may not use. */
static void let_go(struct gsim_sm_kernel *kernel, int64_t n) {
    struct gsim_sm_held *held = kernel->held;
    int64_t keep = held->n - n;
    for (int64_t sm = 0; kernel->only && sm < GSIM_ARRAY_SMS_MAX && n > 0; sm++) {
        int64_t out = may_use(kernel, sm) ? 0 : held->blocks[sm] < n ? held->blocks[sm] : n;
        held->blocks[sm] = (uint8_t)(held->blocks[sm] - out);
        n -= out;
    }
    release(kernel, keep);
    held->pace = (uint16_t)keep;
}

/* The blocks leave that are due to. The next ones do after as much time, in which those that stay
 * do less. */
static void leave_on(struct gsim_sm_kernel *kernel) {
    struct gsim_sm_held *held = kernel->held;
    while (held->n > 0 && kernel->left <= held->leaves_at) {
        bool all_go = kernel->is_stopped || !kernel->only;
        int64_t going = all_go ? (int64_t)held->n : strays(kernel);
        int64_t out = going < held->leaving ? going : held->leaving;
        if (out == 0)
            return;
        held->leaves_at -= work_of_blocks(kernel, held->n - out) / LEAVING_STEPS;
        let_go(kernel, out);
    }
}

static void stay(struct gsim_sm_held *held) {
    held->leaving = 0;
    held->leaves_at = 0;
}

/* Blocks of a bound kernel leave the SMs that it may not use, unless all blocks have begun: then
 * they have no successors anyway. */
static void run_out(struct gsim_sm_kernel *kernel) {
    struct gsim_sm_held *held = kernel->held;
    int64_t going = is_all_there(kernel) ? 0 : strays(kernel);
    if (going == 0) {
        stay(held);
        return;
    }
    if (held->leaving == 0)
        begin_to_leave(kernel, going);
    if (held->leaves_at >= kernel->left) /* by a part of a block: at the next instant */
        held->leaves_at = kernel->left - 1;
    if (kernel->look < held->leaves_at)
        kernel->look = held->leaves_at;
}

/* --- serving ---------------------------------------------------------------------------------- */

/* Gives the kernel what it can have. Returns whether all of its blocks have begun. */
static bool begin_blocks(struct array *array, uint16_t number) {
    struct gsim_sm_kernel *kernel = &array->kernels[number];
    struct gsim_sm_held *held = kernel->held;
    if (gsim_rarely(held->leaving > 0) && !kernel->only)
        stay(held);
    if (is_all_there(kernel)) {
        end_unevenly(array->space->profile, kernel);
        return true;
    }
    if (held->n == 0)
        array->alone[number] = of_alone(array->space, kernel);
    int64_t left =
        blocks_to_be_there(kernel, kernel->ran_alone ? array->alone[number].in_flight : held->n);
    if (left > held->pace) {
        place(array, number, left - held->n);
        held->pace = (uint16_t)held->n;
    }
    if (left > held->pace) {
        kernel->look =
            work_of_blocks(kernel, held->some_ended ? held->pace : kernel->blocks - held->n);
        return false;
    }
    if (is_all_there(kernel)) {
        end_unevenly(array->space->profile, kernel);
        return true;
    }
    if (left < held->n)
        release(kernel, left);
    /* the last wave is looked at again when half of its blocks have left, down to a quarter */
    if (held->n * 4 > held->pace)
        kernel->look = work_of_blocks(kernel, held->n / 2);
    return true;
}

static bool serve(struct array *array, uint16_t number) {
    bool is_served = begin_blocks(array, number);
    if (gsim_rarely(array->kernels[number].only != NULL))
        run_out(&array->kernels[number]);
    return is_served;
}

/* No block of the kernel may begin. Returns whether all have. */
static bool hold_back(struct array *array, uint16_t number) {
    struct gsim_sm_kernel *kernel = &array->kernels[number];
    struct gsim_sm_held *held = kernel->held;
    if (held->n == 0)
        return false;
    if (is_all_there(kernel) || blocks_to_be_there(kernel, held->n) <= held->pace)
        return serve(array, number);
    if (held->leaving == 0)
        begin_to_leave(kernel, held->n);
    kernel->look = held->leaves_at;
    return false;
}

/* --- rates ------------------------------------------------------------------------------------ */

/* SMs' worth of blocks. */
static int64_t worth(const struct alone *alone, int64_t blocks) {
    return blocks * GSIM_SM / alone->per_sm;
}

static gsim_u128 over_q32(int64_t all, int64_t part) {
    return ((gsim_u128)(uint64_t)all << 32) / (uint64_t)(part > 0 ? part : 1);
}

/* How many times longer than alone each part of the kernel's time takes; what it draws on its SMs,
 * and the bytes that are on their way to it while it waits for them, in those of an SM. */
struct stretch {
    gsim_u128 compute_q32, memory_q32;
    uint64_t begins_q32; /* the longer wait when it begins, in times alone */
    int64_t draws_bytes_per_s, under_way;
};

static gsim_u128 time_of(const struct gsim_sm_kernel *kernel, const struct stretch *stretch) {
    return (gsim_u128)(uint64_t)(GSIM_PPM - kernel->memory_ppm) * stretch->compute_q32 +
           (gsim_u128)kernel->memory_ppm * stretch->memory_q32 +
           (gsim_u128)(uint64_t)GSIM_PPM * stretch->begins_q32;
}

static uint64_t rate_of(const struct gsim_sm_kernel *kernel, const struct stretch *stretch) {
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
static int64_t with_its_threads(const struct gsim_profile *profile, const struct alone *alone,
                                int64_t sms) {
    int64_t enough = profile->value[GSIM_KEY_SM_MEMORY_THREADS];
    int64_t threads = alone->per_sm * alone->need.threads;
    return threads < enough ? gsim_muldiv_floor(sms, threads, enough) : sms;
}

static int64_t under_way(const struct gsim_space *space, const struct gsim_sm_kernel *kernel,
                         const struct alone *alone, int64_t has) {
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
                      const struct alone *alone, int64_t has, struct stretch *out) {
    struct gsim_space device = gsim_space_of_device(space->profile);
    int64_t had = worth(alone, alone->in_flight), sms = at_most_its_sms(kernel, has);
    struct gsim_fewer_sms fewer = {had, has, out->draws_bytes_per_s,
                                   with_its_threads(space->profile, alone, had)};
    out->compute_q32 = over_q32(had, has);
    out->memory_q32 = over_q32(bandwidth(&device, kernel, had), bandwidth(space, kernel, sms));
    gsim_u128 least_q32 = memory_on_fewer(space, kernel, fewer);
    out->memory_q32 = out->memory_q32 > least_q32 ? out->memory_q32 : least_q32;
    out->draws_bytes_per_s =
        gsim_muldiv_floor(out->draws_bytes_per_s, (int64_t)rate_of(kernel, out), GSIM_RATE_ONE);
}

static struct stretch on_sms(const struct gsim_space *space, const struct gsim_sm_kernel *kernel,
                             const struct alone *alone, int64_t has) {
    int64_t had = worth(alone, alone->in_flight);
    struct stretch out = {.compute_q32 = GSIM_RATE_ONE,
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
    int64_t n = 0, all_ppm = (int64_t)GSIM_PPM + kernel->small_l1_ppm;
    if (kernel->fills_shared || held->n == 0)
        return GSIM_RATE_ONE;
    for (int64_t sm = 0; sm < GSIM_ARRAY_SMS_MAX; sm++)
        n += gsim_sm_set_has(&held->small_l1, sm) ? held->blocks[sm] : 0;
    return (uint64_t)over_q32(held->n * all_ppm, held->n * all_ppm - n * kernel->small_l1_ppm);
}

/* A kernel that finds less in L1 is longer in all that it does. */
static void lose_l1(const struct gsim_sm_kernel *kernel, struct stretch *out) {
    uint64_t longer_q32 = longer_by_l1(kernel);
    out->compute_q32 = out->compute_q32 * longer_q32 >> 32;
    out->memory_q32 = out->memory_q32 * longer_q32 >> 32;
    out->draws_bytes_per_s =
        gsim_muldiv_floor(out->draws_bytes_per_s, GSIM_RATE_ONE, (int64_t)longer_q32);
}

static struct stretch undisturbed(const struct gsim_space *space,
                                  const struct gsim_sm_kernel *kernel, const struct alone *alone) {
    struct stretch out = on_sms(space, kernel, alone, worth(alone, kernel->held->pace));
    if (gsim_rarely(kernel->small_l1_ppm > 0))
        lose_l1(kernel, &out);
    return out;
}

struct gsim_sm_needs gsim_sm_array_needs(const struct gsim_space *space,
                                         const struct gsim_sm_kernel *kernel, uint32_t slip_ppm) {
    struct alone alone = of_alone(space, kernel);
    gsim_u128 most = ((gsim_u128)(uint64_t)(GSIM_PPM + slip_ppm)) << 32; /* of GSIM_PPM parts */
    int64_t low = 1, high = (alone.in_flight + alone.per_sm - 1) / alone.per_sm;
    while (slip_ppm > 0 && low < high) {
        int64_t middle = (low + high) / 2;
        struct stretch stretch = on_sms(space, kernel, &alone, middle * GSIM_SM);
        if (time_of(kernel, &stretch) <= most)
            high = middle;
        else
            low = middle + 1;
    }
    return (struct gsim_sm_needs){high, alone.in_flight};
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
static void share_power(const struct gsim_space *space, struct gsim_sm_kernel *kernels, uint32_t n,
                        struct stretch *here) {
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
        here[i].compute_q32 = here[i].compute_q32 * clock_alone(&kernels[i]) / clock;
        kernels[i].rate_q32 = rate_of(&kernels[i], &here[i]);
    }
}

/* --- bandwidth -------------------------------------------------------------------------------- */

static struct gsim_loader loader_of(const struct gsim_sm_kernel *kernel,
                                    const struct stretch *stretch) {
    return (struct gsim_loader){.draws_bytes_per_s = stretch->draws_bytes_per_s,
                                .at_bytes_per_s = stretch->draws_bytes_per_s,
                                .alone_bytes_per_s = stretch->draws_bytes_per_s,
                                .loads_ppm = kernel->loads_ppm,
                                .most_under_way = stretch->under_way};
}

/* All of the longer time is waiting for memory. */
static void wait_longer(const struct gsim_sm_kernel *kernel, uint64_t longer_q32,
                        struct stretch *stretch) {
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
static void begin_later(const struct gsim_space *space, const struct gsim_sm_kernel *kernels,
                        uint32_t n, struct loaders *loaders, struct stretch *here) {
    for (uint32_t i = 0; i < n; i++) {
        int64_t alone_ns = (int64_t)gsim_work_to_ns(kernels[i].all);
        if (kernels[i].held->pace == 0 || kernels[i].first_loads.misses_ppm == 0 || alone_ns == 0)
            continue;
        int64_t ns = gsim_first_loads_longer_ns(space->profile, kernels[i].first_loads,
                                                load_beside(space, loaders, i));
        here[i].begins_q32 = (uint64_t)ns * GSIM_RATE_ONE / (uint64_t)alone_ns;
    }
}

/* Loads take longer while several kernels load. */
static void share_memory(const struct gsim_space *space, const struct gsim_sm_kernel *kernels,
                         uint32_t n, struct stretch *here) {
    struct loaders loaders;
    loaders.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (kernels[i].held->pace == 0 || here[i].draws_bytes_per_s == 0)
            continue;
        loaders.loader[loaders.n] = loader_of(&kernels[i], &here[i]);
        loaders.number[loaders.n++] = (uint16_t)i;
    }
    gsim_memory_queue_solve(space, loaders.loader, loaders.n);
    for (uint32_t i = 0; i < loaders.n; i++) {
        uint16_t number = loaders.number[i];
        if (loaders.loader[i].longer_q32 > GSIM_RATE_ONE)
            wait_longer(&kernels[number], loaders.loader[i].longer_q32, &here[number]);
    }
    begin_later(space, kernels, n, &loaders, here);
}

/* The part of its time here that the kernel needs beyond this one of its time alone. */
static uint32_t lost_ppm(const struct gsim_sm_kernel *kernel, gsim_u128 compute_q32,
                         gsim_u128 memory_q32) {
    gsim_u128 longer = (gsim_u128)(uint64_t)(GSIM_PPM - kernel->memory_ppm) * compute_q32 +
                       (gsim_u128)kernel->memory_ppm * memory_q32;
    gsim_u128 ppm = (longer >> 16) * kernel->rate_q32 >> 48;
    return ppm < GSIM_PPM ? (uint32_t)ppm : (uint32_t)GSIM_PPM;
}

static void find_losses(struct gsim_sm_kernel *kernel, const struct stretch *undisturbed,
                        const struct stretch *here) {
    gsim_u128 compute_q32 =
        undisturbed->compute_q32 > GSIM_RATE_ONE ? undisturbed->compute_q32 : GSIM_RATE_ONE;
    kernel->lost.sms_ppm =
        lost_ppm(kernel, compute_q32 - GSIM_RATE_ONE, undisturbed->memory_q32 - GSIM_RATE_ONE);
    gsim_u128 begins_q32 = here->begins_q32; /* of all its time, so of each part */
    kernel->lost.bandwidth_ppm =
        lost_ppm(kernel, begins_q32, begins_q32 + here->memory_q32 - undisturbed->memory_q32);
}

static void find_rates(const struct array *array) {
    const struct gsim_space *space = array->space;
    struct gsim_sm_kernel *kernels = array->kernels;
    uint32_t n = array->n;
    struct stretch stretch[GSIM_ARRAY_KERNELS_MAX], here[GSIM_ARRAY_KERNELS_MAX];
    for (uint32_t i = 0; i < n; i++)
        if (kernels[i].held->pace > 0)
            stretch[i] = undisturbed(space, &kernels[i], &array->alone[i]);
    for (uint32_t i = 0; i < n; i++) {
        kernels[i].rate_q32 = 0;
        if (kernels[i].held->pace > 0)
            here[i] = stretch[i];
    }
    share_memory(space, kernels, n, here);
    for (uint32_t i = 0; i < n; i++)
        if (kernels[i].held->pace > 0)
            kernels[i].rate_q32 = rate_of(&kernels[i], &here[i]);
    share_power(space, kernels, n, here);
    for (uint32_t i = 0; i < n; i++)
        if (kernels[i].held->pace > 0)
            find_losses(&kernels[i], &stretch[i], &here[i]);
}

/* --- all kernels ------------------------------------------------------------------------------ */

static void order(const struct gsim_sm_kernel *kernels, uint16_t *by_age, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        for (; at > 0 && gsim_sm_kernel_goes_before(&kernels[i], &kernels[by_age[at - 1]]); at--)
            by_age[at] = by_age[at - 1];
        by_age[at] = (uint16_t)i;
    }
}

/* How all kernels stand before any is served. */
static void look_around(struct array *array) {
    order(array->kernels, array->by_age, array->n);
    array->sm = gsim_sm_room(array->space->profile);
    array->n_holders = 0;
    for (uint32_t i = 0; i < array->n; i++) {
        if (array->kernels[i].held->n == 0)
            continue;
        if (gsim_rarely(array->kernels[i].held->leaving > 0))
            leave_on(&array->kernels[i]);
        array->alone[i] = of_alone(array->space, &array->kernels[i]);
        array->holder[array->n_holders++] = (uint16_t)i;
    }
}

/* Blocks that leave their SMs matter to kernels that wait, and to a kernel that gets no others.
 * Else it is enough to find them gone when the next kernel comes, by the work that is left. */
static void look_for_others(struct array *array) {
    for (uint32_t i = 0; i < array->n; i++)
        if ((array->n_waiting == 0 || (array->n_waiting == 1 && array->waiting[0] == i)) &&
            array->kernels[i].held->leaving == 0)
            array->kernels[i].look = 0;
}

/* A kernel that ran alone has its blocks on SMs already, whatever comes before it now. */
static void put_back(struct array *array) {
    for (uint32_t i = 0; i < array->n; i++)
        if (gsim_rarely(array->kernels[i].ran_alone) && array->kernels[i].held->n == 0)
            (void)begin_blocks(array, (uint16_t)i);
}

/* Whether a kernel of its queue waits for SMs. */
static bool stands_behind(const struct array *array, const struct gsim_sm_kernel *one) {
    for (uint32_t i = 0; i < array->n_waiting && !one->has_queue; i++) {
        const struct gsim_sm_kernel *it = &array->kernels[array->waiting[i]];
        if (!it->has_queue && it->first_sm == one->first_sm && it->n_sms == one->n_sms)
            return true;
    }
    return false;
}

void gsim_sm_array_solve(const struct gsim_space *space, struct gsim_sm_kernel *kernels,
                         uint16_t *scratch, uint32_t n) {
    struct array array;
    assert(space->sms <= GSIM_ARRAY_SMS_MAX && n <= GSIM_ARRAY_KERNELS_MAX);
    array.space = space;
    array.kernels = kernels;
    array.by_age = scratch;
    array.n = n;
    array.n_waiting = 0;
    look_around(&array);
    put_back(&array);
    for (uint32_t i = 0; i < n; i++) {
        struct gsim_sm_kernel *kernel = &kernels[scratch[i]];
        kernel->look = 0;
        bool is_held_back = kernel->is_stopped || stands_behind(&array, kernel);
        bool is_served = is_held_back ? hold_back(&array, scratch[i]) : serve(&array, scratch[i]);
        if (is_served || kernel->is_stopped)
            continue;
        array.waiting[array.n_waiting++] = scratch[i];
    }
    look_for_others(&array);
    if (n > 0 && gsim_rarely(kernels[0].is_l1_followed))
        follow_l1(&array, array.waiting, array.n_waiting);
    find_rates(&array);
}
