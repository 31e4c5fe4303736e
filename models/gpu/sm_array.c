/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/sm_array.h"
#include "models/gpu/sm_waves.h"

#include <assert.h>
#include <string.h>

#include "sim/base/hints.h"

static void take(struct gsim_sm_room *free, const struct gsim_sm_room *need, int64_t n) {
    free->threads -= n * need->threads;
    free->register_bytes -= n * need->register_bytes;
    free->shared_bytes -= n * need->shared_bytes;
    free->blocks -= n * need->blocks;
}

/* --- placing ---------------------------------------------------------------------------------- */

/* All kernels, and the order in which they are served. */
struct array {
    const struct gsim_space *space;
    struct gsim_sm_kernel *kernels;
    uint16_t *by_age;
    uint32_t n;
    struct gsim_sm_room sm; /* an empty one */
    uint16_t holder[GSIM_ARRAY_KERNELS_MAX]; /* kernels with blocks on SMs */
    uint32_t n_holders;
    bool has_tried; /* blocks of some kernel were to be put on SMs */
    uint16_t waiting[GSIM_ARRAY_KERNELS_MAX]; /* kernels of which blocks have not begun */
    uint32_t n_waiting;
    /* How SMs are parted: those that are not empty, and those that were not when all was looked at
     * last; others 0. */
    uint8_t parting[GSIM_ARRAY_SMS_MAX];
};

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
        next = gsim_sm_end_of_run(blocks, sm, end);
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

/* The end of the SMs from this one on that hold as much of each kernel as it does, and are parted
 * alike. */
static int64_t end_of_alike(const struct array *array, int64_t sm, int64_t end) {
    end = gsim_sm_end_of_run(array->parting, sm, end);
    for (uint32_t i = 0; i < array->n_holders; i++)
        end = gsim_sm_end_of_run(array->kernels[array->holder[i]].held->blocks, sm, end);
    return end;
}

/* How an empty SM is parted for a kernel, which has waited if blocks were there until now. A whole
 * kernel takes all of its memory. */
static uint8_t parted_anew(const struct array *array, uint16_t number, int64_t sm) {
    const struct gsim_sm_alone *alone = &array->kernels[number].alone;
    if (alone->parting == 0 || array->parting[sm] == 0 ||
        array->kernels[number].held->parting[sm] == 0)
        return alone->parting;
    if (alone->parting_after_wait > 0)
        return alone->parting_after_wait;
    return array->parting[sm] >= alone->least_parting ? array->parting[sm] : alone->parting;
}

/* How many blocks of the kernel an SM has room for, and how it is parted with them. */
static int64_t room_at(const struct array *array, uint16_t number, int64_t sm, uint8_t *parting) {
    const struct gsim_sm_alone *alone = &array->kernels[number].alone;
    struct gsim_sm_room free = array->sm;
    bool is_empty = true;
    for (uint32_t i = 0; i < array->n_holders; i++) {
        int64_t blocks = array->kernels[array->holder[i]].held->blocks[sm];
        take(&free, &array->kernels[array->holder[i]].alone.need, blocks);
        is_empty &= blocks == 0;
    }
    *parting = is_empty ? parted_anew(array, number, sm) : array->parting[sm];
    if (*parting < alone->least_parting)
        return 0;
    free.shared_bytes -=
        array->sm.shared_bytes - gsim_sm_parting_bytes(array->sm.shared_bytes, *parting);
    return gsim_sm_room_fit(&free, &alone->need);
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

/* How many blocks of the kernel fit each of these SMs, and how they are parted then; returns how
 * many blocks in all. fits is 0 before. */
static int64_t find_fits(const struct array *array, uint16_t number, int64_t first, int64_t end,
                         uint8_t *fits, uint8_t *partings) {
    const struct gsim_sm_kernel *kernel = &array->kernels[number];
    int64_t all = 0;
    for (int64_t sm = first, next; sm < end; sm = next) {
        uint8_t parting;
        next = sm + 1;
        if (gsim_rarely(kernel->only && !may_use(kernel, sm)))
            continue;
        int64_t one = room_at(array, number, sm, &parting);
        next = end_of_alike(array, sm, end);
        memset(&fits[sm], (int)one, (size_t)(next - sm));
        memset(&partings[sm], parting, (size_t)(next - sm));
        all += one * (next - sm);
    }
    return gsim_rarely(kernel->only != NULL) ? keep_to_its_own(kernel, fits) : all;
}

static void take_off(uint8_t *restrict fits, const uint8_t *restrict rest) {
    for (int sm = 0; sm < GSIM_ARRAY_SMS_MAX; sm++)
        fits[sm] = (uint8_t)(fits[sm] - rest[sm]);
}

/* Of the blocks that fit, n begin: those that do not are left where most of them would be. */
static void keep_fitting(uint8_t *fits, int64_t first, int64_t end, int64_t all, int64_t n) {
    uint8_t rest[GSIM_ARRAY_SMS_MAX] = {0};
    memcpy(&rest[first], &fits[first], (size_t)(end - first));
    level_down(rest, first, end, all - n);
    take_off(fits, rest);
}

/* SMs get as many blocks more as `fits` says, and are parted for these. */
static void put(uint8_t *restrict blocks, uint8_t *restrict parting, const uint8_t *restrict fits,
                const uint8_t *restrict partings) {
    for (int sm = 0; sm < GSIM_ARRAY_SMS_MAX; sm++) {
        uint8_t was = parting[sm], is = partings[sm];
        blocks[sm] = (uint8_t)(blocks[sm] + fits[sm]);
        parting[sm] = fits[sm] > 0 ? is : was;
    }
}

/* A client with a cap takes any SMs, beside those that it has as many others as the cap leaves: its
 * own first. Returns how many blocks fit there. */
static int64_t keep_to_its_cap(const struct array *array, const struct gsim_sm_kernel *kernel,
                               uint8_t *fits) {
    const uint8_t *blocks = kernel->held->blocks;
    int64_t sms = array->space->sms, more = kernel->n_sms, all = 0;
    for (int64_t sm = 0; sm < sms; sm++)
        more -= blocks[sm] > 0;
    for (int64_t i = 0; i < sms; i++) {
        int64_t sm = (kernel->first_sm + i) % sms;
        if (fits[sm] > 0 && blocks[sm] == 0 && more-- <= 0)
            fits[sm] = 0;
        all += fits[sm];
    }
    return all;
}

/* Blocks that the kernel has on other SMs than those that it takes first. */
static bool has_some_elsewhere(const struct gsim_sm_kernel *kernel) {
    uint32_t n = 0;
    for (int64_t sm = kernel->first_sm; sm < kernel->first_sm + kernel->n_sms; sm++)
        n += kernel->held->blocks[sm];
    return n < kernel->held->n;
}

/* Blocks go one by one to an SM with the most room for them. */
static void place(struct array *array, uint16_t number, int64_t n) {
    struct gsim_sm_kernel *kernel = &array->kernels[number];
    struct gsim_sm_held *held = kernel->held;
    int64_t first = kernel->first_sm, end = kernel->first_sm + kernel->n_sms;
    uint8_t fits[GSIM_ARRAY_SMS_MAX] = {0}, partings[GSIM_ARRAY_SMS_MAX] = {0};
    int64_t all = find_fits(array, number, first, end, fits, partings);
    array->has_tried = true;
    if (kernel->is_pooled && (all < n || has_some_elsewhere(kernel))) {
        first = 0;
        end = array->space->sms;
        memset(fits, 0, sizeof fits);
        (void)find_fits(array, number, first, end, fits, partings);
        all = keep_to_its_cap(array, kernel, fits);
    }
    if (all == 0)
        return;
    if (all > n)
        keep_fitting(fits, first, end, all, n);
    put(held->blocks, array->parting, fits, partings);
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
    return kernel->held->pace >= gsim_sm_kernel_blocks(kernel);
}

/* --- waves ------------------------------------------------------------------------------------ */

/* Blocks that began together end one after another, over the last part of their wave: a third of
 * them at a time, when half of these would have ended, so that as much SM time gets free as if each
 * left by itself. The last one ends with its kernel. */
static void end_unevenly(const struct gsim_profile *profile, struct gsim_sm_kernel *kernel,
                         const struct gsim_sm_waves *waves) {
    enum { STEPS = 3 };
    int64_t spread_ppm = kernel->is_alike ? 0 : profile->value[GSIM_KEY_JOB_SPREAD_PPM];
    gsim_work spread = waves->last_work * (gsim_work)spread_ppm / GSIM_PPM;
    for (int64_t part = STEPS - 1; part >= 0; part--) {
        gsim_work at = spread * (gsim_work)(2 * part + 1) / (2 * STEPS);
        if (kernel->left > at) {
            kernel->look = at;
            return;
        }
        int64_t keep = part > 0 ? (waves->last * part + STEPS - 1) / STEPS : 1;
        if (kernel->held->n > keep)
            release(kernel, keep);
    }
}

static void end_last_wave(const struct gsim_profile *profile, struct gsim_sm_kernel *kernel,
                          int64_t each) {
    struct gsim_sm_waves waves = gsim_sm_waves_of(kernel, each);
    end_unevenly(profile, kernel, &waves);
}

/* The kernel alone, and how many blocks its waves alone have places for; of an atom, in proportion
 * to its blocks. */
static void find_alone(struct array *array, uint32_t number) {
    struct gsim_sm_kernel *kernel = &array->kernels[number];
    if (!kernel->is_alone_known)
        kernel->alone = gsim_sm_alone_of(array->space, kernel);
    int64_t blocks = gsim_sm_kernel_blocks(kernel);
    int64_t whole = kernel->whole_blocks > 0 ? kernel->whole_blocks : blocks;
    int64_t at_once = kernel->alone.at_once < whole ? kernel->alone.at_once : whole;
    int64_t all = (whole + at_once - 1) / at_once * at_once;
    kernel->places = gsim_muldiv_floor(all, blocks, whole);
}

/* --- blocks that leave ------------------------------------------------------------------------ */

enum { LEAVING_STEPS = 3 };

/* Blocks of a bound kernel that are on SMs that it may not use any more. */
static int64_t strays(const struct gsim_sm_kernel *kernel) {
    const uint8_t *blocks = kernel->held->blocks;
    int64_t n = 0;
    for (int64_t sm = 0, next; kernel->only && sm < GSIM_ARRAY_SMS_MAX; sm = next) {
        next = gsim_sm_end_of_run(blocks, sm, GSIM_ARRAY_SMS_MAX);
        for (int64_t at = sm; blocks[sm] > 0 && at < next; at++)
            n += may_use(kernel, at) ? 0 : blocks[at];
    }
    return n;
}

/* Of blocks that have no successors on their SMs: where they are in step they end together, with
 * their wave; else one after another, a third of them at a time. */
static void begin_to_leave(struct gsim_sm_kernel *kernel, int64_t going) {
    struct gsim_sm_held *held = kernel->held;
    int64_t each = gsim_sm_step_of(held, held->n);
    if (each > 0) {
        struct gsim_sm_waves waves = gsim_sm_waves_of(kernel, each);
        gsim_work over = gsim_sm_ended_in_waves(kernel, each) / each;
        held->leaving = going;
        held->leaves_at =
            gsim_sm_kernel_work(kernel) - (over + 1) * gsim_sm_work_of_wave(kernel, &waves);
        return;
    }
    held->leaving = (going + LEAVING_STEPS - 1) / LEAVING_STEPS;
    held->leaves_at = kernel->left - gsim_sm_work_of_blocks(kernel, held->n) / LEAVING_STEPS;
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

/* All blocks of a wave have left their SMs: those that are left go on as a kernel of their own. */
static void keep_rest(struct gsim_sm_kernel *kernel, int64_t each) {
    struct gsim_sm_held *held = kernel->held;
    int64_t left = gsim_sm_kernel_blocks(kernel) - gsim_sm_ended_in_waves(kernel, each);
    held->rest_blocks = left;
    held->rest_work = kernel->left;
    held->step = 0;
    held->some_ended = 0;
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
        int64_t each = gsim_sm_step_of(held, held->n);
        held->leaves_at -= gsim_sm_work_of_blocks(kernel, held->n - out) / LEAVING_STEPS;
        let_go(kernel, out);
        if (held->n == 0 && each > 0)
            keep_rest(kernel, each);
    }
}

static void stay(struct gsim_sm_held *held) {
    held->leaving = 0;
    held->leaves_at = 0;
}

/* Blocks of a bound kernel leave the SMs that it may not use, unless all blocks have begun: then
 * they have no successors anyway, and the kernel is as fast as before, to its end. */
static void run_out(struct gsim_sm_kernel *kernel, bool all_began) {
    struct gsim_sm_held *held = kernel->held;
    int64_t going = all_began ? 0 : strays(kernel);
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

/* The work that is left when the last blocks begin; before any has ended, when one has. */
static gsim_work look_when_all_began(const struct gsim_sm_kernel *kernel, int64_t each) {
    const struct gsim_sm_held *held = kernel->held;
    if (each > 0)
        return gsim_sm_waves_of(kernel, each).last_work;
    return gsim_sm_work_of_blocks(
        kernel, held->some_ended ? held->pace : gsim_sm_kernel_blocks(kernel) - held->n);
}

/* The blocks that its SMs held while no other kernel was there. */
static int64_t had_alone(const struct array *array, uint16_t number) {
    const struct gsim_sm_kernel *kernel = &array->kernels[number];
    const struct gsim_sm_alone *alone = &array->kernels[number].alone;
    int64_t most = gsim_sm_room_fit(&array->sm, &alone->need) * kernel->n_sms;
    return alone->at_once < most ? alone->at_once : most;
}

/* All blocks of the kernel have begun, and this many have not ended. */
static void end_blocks(const struct array *array, struct gsim_sm_kernel *kernel, int64_t left) {
    struct gsim_sm_held *held = kernel->held;
    int64_t each =
        is_all_there(kernel) ? gsim_sm_kernel_blocks(kernel) : gsim_sm_step_of(held, held->pace);
    if (left < held->n)
        release(kernel, left);
    if (each > 0)
        end_last_wave(array->space->profile, kernel, each);
    else if (held->n * 4 > held->pace) /* looked at when half of them have left, to a quarter */
        kernel->look = gsim_sm_work_of_blocks(kernel, held->n / 2);
}

/* What has ended leaves its SMs before any kernel is served, whichever waits for them. */
static void free_ended(const struct array *array, struct gsim_sm_kernel *kernel) {
    if (gsim_rarely(kernel->held->begun.left > 0)) {
        gsim_sm_pieces_go_on(kernel);
        return;
    }
    int64_t n = kernel->held->n;
    int64_t left = is_all_there(kernel) ? gsim_sm_kernel_blocks(kernel)
                                        : gsim_sm_blocks_to_be_there(kernel, n);
    if (left <= kernel->held->pace)
        end_blocks(array, kernel, left);
}

/* More blocks begin where `left` run or have not begun; the kernel has had `has` of them at one
 * time. Returns left. */
static int64_t fill_up(struct array *array, uint16_t number, int64_t has, int64_t left) {
    struct gsim_sm_kernel *kernel = &array->kernels[number];
    struct gsim_sm_held *held = kernel->held;
    if (left > held->pace) {
        place(array, number, left - held->n);
        bool is_last_wave = kernel->ran_alone && left < has;
        held->pace = (uint16_t)(is_last_wave ? has : held->n);
    }
    return left;
}

/* Of a kernel that has pieces: blocks that wait begin where SMs are idle. Returns whether all of
 * its blocks have begun. */
static bool serve_pieces(struct array *array, uint16_t number) {
    struct gsim_sm_kernel *kernel = &array->kernels[number];
    struct gsim_sm_pieces *pieces = &kernel->held->begun;
    if (pieces->waiting > 0) {
        place(array, number, pieces->waiting);
        gsim_sm_pieces_add(kernel);
    }
    kernel->look = gsim_sm_pieces_look(kernel);
    return pieces->waiting == 0;
}

/* Whether the kernel begins now as blocks that have an SM each, of a client with a cap or all
 * alike: in one piece where these are idle. */
static bool begins_in_pieces(struct array *array, uint16_t number) {
    struct gsim_sm_kernel *kernel = &array->kernels[number];
    if (!kernel->may_begin_apart || kernel->held->pace > 0 || kernel->ran_alone ||
        kernel->is_whole || kernel->blocks > kernel->n_sms ||
        gsim_sm_room_fit(&array->sm, &kernel->alone.need) != 1)
        return false;
    gsim_sm_pieces_begin(kernel);
    return true;
}

/* Gives the kernel what it can have. Returns whether all of its blocks have begun. */
static bool begin_blocks(struct array *array, uint16_t number) {
    struct gsim_sm_kernel *kernel = &array->kernels[number];
    struct gsim_sm_held *held = kernel->held;
    if (gsim_rarely(held->begun.left > 0))
        return serve_pieces(array, number);
    if (gsim_rarely(held->leaving > 0) && !kernel->only)
        stay(held);
    if (is_all_there(kernel)) {
        end_blocks(array, kernel, gsim_sm_kernel_blocks(kernel));
        return true;
    }
    if (held->n == 0)
        find_alone(array, number);
    if (begins_in_pieces(array, number))
        return serve_pieces(array, number);
    int64_t has = kernel->ran_alone ? had_alone(array, number) : held->n;
    int64_t left = fill_up(array, number, has, gsim_sm_blocks_to_be_there(kernel, has));
    if (held->step > 0 &&
        gsim_sm_step_of(held, held->pace) == 0) /* out of step, so counted by its work */
        left = fill_up(array, number, held->n, gsim_sm_blocks_to_be_there(kernel, held->n));
    if (left > held->pace) {
        kernel->look = look_when_all_began(kernel, gsim_sm_step_of(held, held->pace));
        return false;
    }
    end_blocks(array, kernel, left);
    return true;
}

static bool serve(struct array *array, uint16_t number) {
    bool is_served = begin_blocks(array, number);
    if (gsim_rarely(array->kernels[number].only != NULL))
        run_out(&array->kernels[number], is_served);
    return is_served;
}

/* No block of the kernel may begin. Returns whether all have. */
static bool hold_back(struct array *array, uint16_t number) {
    struct gsim_sm_kernel *kernel = &array->kernels[number];
    struct gsim_sm_held *held = kernel->held;
    if (held->n == 0)
        return false;
    if (is_all_there(kernel) || gsim_sm_blocks_to_be_there(kernel, held->n) <= held->pace)
        return serve(array, number);
    if (held->leaving == 0)
        begin_to_leave(kernel, held->n);
    kernel->look = held->leaves_at;
    return false;
}

/* --- how SMs are parted ----------------------------------------------------------------------- */

/* Of SMs of which nothing is known yet. */
static void recall_of(uint8_t *restrict parting, const struct gsim_sm_held *held) {
    const uint8_t *restrict was = held->parting;
    if (held->sees_parting == 0)
        return;
    for (int sm = 0; sm < GSIM_ARRAY_SMS_MAX; sm++) {
        uint8_t seen = was[sm];
        parting[sm] = parting[sm] > 0 ? parting[sm] : seen;
    }
}

/* How SMs are parted, by kernels that have blocks there and, where these have just gone, by those
 * that waited beside them. */
static void recall_parting(struct array *array) {
    memset(array->parting, 0, sizeof array->parting);
    for (uint32_t i = 0; i < array->n_holders; i++)
        recall_of(array->parting, array->kernels[array->holder[i]].held);
    for (uint32_t i = 0; i < array->n; i++)
        if (array->kernels[i].held->n == 0)
            recall_of(array->parting, array->kernels[i].held);
}

/* Blocks on SMs of this parting, or of later ones. */
static uint32_t blocks_from(const struct gsim_sm_held *held, uint8_t parting) {
    uint32_t n = 0;
    for (int sm = 0; sm < GSIM_ARRAY_SMS_MAX; sm++) {
        uint8_t blocks = held->blocks[sm];
        n += held->parting[sm] >= parting ? blocks : 0;
    }
    return n;
}

static void forget_empty(uint8_t *restrict parting, const uint8_t *restrict some) {
    for (int sm = 0; sm < GSIM_ARRAY_SMS_MAX; sm++)
        parting[sm] = some[sm] > 0 ? parting[sm] : 0;
}

static void add_blocks(uint8_t *restrict some, const uint8_t *restrict blocks) {
    for (int sm = 0; sm < GSIM_ARRAY_SMS_MAX; sm++)
        some[sm] |= blocks[sm];
}

/* Kernels that have blocks on SMs, and those that wait, see which of them are not empty and how
 * these are parted. */
static void show_parting(struct array *array) {
    uint8_t some[GSIM_ARRAY_SMS_MAX] = {0};
    uint8_t little_l1 = gsim_sm_parting_of_little_l1(array->sm.shared_bytes);
    for (uint32_t i = 0; i < array->n_holders; i++)
        add_blocks(some, array->kernels[array->holder[i]].held->blocks);
    forget_empty(array->parting, some);
    for (uint32_t i = 0; i < array->n; i++) {
        struct gsim_sm_kernel *kernel = &array->kernels[i];
        memcpy(kernel->held->parting, array->parting, sizeof array->parting);
        kernel->held->sees_parting = array->n_holders > 0 || array->has_tried;
        kernel->on_small_l1 = 0;
        if (kernel->small_l1_ppm > 0 && kernel->held->n > 0 && kernel->alone.parting < little_l1)
            kernel->on_small_l1 = blocks_from(kernel->held, little_l1);
    }
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
        const struct gsim_sm_held *held = array->kernels[i].held;
        if (held->n == 0)
            continue;
        find_alone(array, i);
        if (gsim_rarely(held->leaving > 0))
            leave_on(&array->kernels[i]);
        if (held->n == 0)
            continue;
        free_ended(array, &array->kernels[i]);
        array->holder[array->n_holders++] = (uint16_t)i;
    }
    recall_parting(array);
}

/* Whether a kernel is slower since others or its own blocks take slots of its SMs. */
static bool is_crowded(const struct array *array) {
    for (uint32_t i = 0; i < array->n_holders; i++)
        if (array->kernels[array->holder[i]].crowded_q32 > GSIM_RATE_ONE)
            return true;
    return false;
}

/* Whether rates change when blocks of the kernel leave: slots get free, or those that stay have
 * another part of them where L1 is small. */
static bool slows(const struct gsim_sm_kernel *kernel, bool is_crowded) {
    return (is_crowded && kernel->busy.issue_ppm + kernel->busy.tensor_ppm > 0) ||
           (kernel->on_small_l1 > 0 && kernel->on_small_l1 < kernel->held->n);
}

/* Blocks that leave their SMs matter to kernels that wait, to a kernel that gets no others, and to
 * those that are slower for them. Else it is enough to find them gone when the next kernel comes,
 * by the work that is left. */
static void look_for_others(struct array *array) {
    bool crowded = is_crowded(array);
    for (uint32_t i = 0; i < array->n; i++)
        if ((array->n_waiting == 0 || (array->n_waiting == 1 && array->waiting[0] == i)) &&
            array->kernels[i].held->leaving == 0 && array->kernels[i].held->begun.left == 0 &&
            !slows(&array->kernels[i], crowded))
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
                         uint16_t *scratch, uint32_t n, struct gsim_sm_last *last) {
    struct array array;
    assert(space->sms <= GSIM_ARRAY_SMS_MAX && n <= GSIM_ARRAY_KERNELS_MAX);
    array.space = space;
    array.kernels = kernels;
    array.by_age = scratch;
    array.n = n;
    array.n_waiting = 0;
    array.has_tried = false;
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
    show_parting(&array);
    gsim_sm_crowd_find(space, kernels, n);
    look_for_others(&array);
    gsim_sm_rates_find(space, kernels, n, last);
}
