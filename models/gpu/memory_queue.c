/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The unknown is the number of bytes on their way. With more of them a load takes longer, and
 * kernels that wait for memory only part of their time have more of theirs under way; the solution
 * is where both agree, found by secants. */
#include "models/gpu/memory_queue.h"

#include <assert.h>

#include "sim/base/hints.h"

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* --- the curve, read as the time of a load ---------------------------------------------------- */

/* What SMs draw with kernels of which this part loads and stores nothing, where the rest of the
 * bytes is half stored, as those of copies. */
static int64_t mixed_bandwidth(const struct gsim_space *space, uint32_t loads_ppm, int64_t sms) {
    const struct gsim_profile *profile = space->profile;
    int64_t copies = gsim_space_curve(profile, GSIM_KEY_HBM_BY_SMS, sms);
    if (loads_ppm == 0 || profile->value[GSIM_KEY_HBM_LOADS_BY_SMS] == 0)
        return min_i64(copies, space->peak_bytes_per_s);
    int64_t loads = gsim_space_curve(profile, GSIM_KEY_HBM_LOADS_BY_SMS, sms);
    int64_t mixed = gsim_muldiv_floor(copies, GSIM_PPM - (int64_t)loads_ppm, GSIM_PPM) +
                    gsim_muldiv_floor(loads, loads_ppm, GSIM_PPM);
    return min_i64(mixed, space->peak_bytes_per_s);
}

struct queue {
    const struct gsim_space *space;
    uint32_t loads_ppm; /* of all that the kernels move */
    int64_t first, last; /* SMs of the curve's ends: up to the first one memory counts as idle */
    int64_t low, top; /* bytes a second there */
    int64_t gives; /* the most that all kernels draw together: more where one does so alone */
    int shift; /* times of loads are bytes on their way, shifted so, over bytes a second */
};

static int bits_of(int64_t value) {
    return value > 0 ? 64 - __builtin_clzll((unsigned long long)value) : 0;
}

static struct queue queue_of(const struct gsim_space *space, uint32_t loads_ppm) {
    enum { TIME_BITS = 24 };
    const struct gsim_curve_point *points = space->profile->curve[GSIM_KEY_HBM_BY_SMS];
    int64_t n = space->profile->value[GSIM_KEY_HBM_BY_SMS];
    struct queue queue = {.space = space, .loads_ppm = loads_ppm};
    if (n == 0)
        return queue;
    queue.first = points[0].x * GSIM_SM;
    queue.last = points[n - 1].x * GSIM_SM;
    queue.low = mixed_bandwidth(space, loads_ppm, queue.first);
    queue.top = queue.gives = mixed_bandwidth(space, loads_ppm, queue.last);
    queue.shift = bits_of(queue.top) + TIME_BITS;
    return queue;
}

/* The load with these bytes on their way. Loads above the curve have its last time, up to the
 * most. */
static int64_t load_at(const struct queue *queue, int64_t under_way) {
    if (under_way <= queue->last)
        return mixed_bandwidth(queue->space, queue->loads_ppm, under_way);
    int64_t load = gsim_muldiv_floor(queue->top, under_way, queue->last);
    return min_i64(load, queue->gives);
}

/* Little's law: bytes on their way over bytes a second. */
static uint64_t time_of(const struct queue *queue, int64_t under_way, int64_t load) {
    return (uint64_t)(((gsim_u128)(uint64_t)under_way << queue->shift) / (uint64_t)load);
}

static uint64_t time_at(const struct queue *queue, int64_t under_way) {
    if (under_way <= queue->first)
        return time_of(queue, queue->first, queue->low);
    return time_of(queue, under_way, load_at(queue, under_way));
}

/* The inverse of the mixed curve, which the memory of a space cuts off where it gives less. */
static int64_t under_way_of(const struct gsim_space *space, uint32_t loads_ppm,
                            int64_t bytes_per_s) {
    const struct gsim_curve_point *points = space->profile->curve[GSIM_KEY_HBM_BY_SMS];
    struct gsim_space unbound = {space->profile, space->sms, INT64_MAX};
    int64_t n = space->profile->value[GSIM_KEY_HBM_BY_SMS];
    struct gsim_curve_point low = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        int64_t y = mixed_bandwidth(&unbound, loads_ppm, points[i].x * GSIM_SM);
        int64_t high = min_i64(y, space->peak_bytes_per_s);
        if (bytes_per_s <= high && high > low.y)
            return low.x * GSIM_SM + gsim_muldiv_floor((points[i].x - low.x) * GSIM_SM,
                                                       bytes_per_s - low.y, y - low.y);
        low = (struct gsim_curve_point){points[i].x, high};
    }
    return low.y > 0 ? gsim_muldiv_floor(low.x * GSIM_SM, bytes_per_s, low.y) : 0;
}

int64_t gsim_memory_queue_under_way(const struct gsim_space *space, int64_t bytes_per_s) {
    return under_way_of(space, 0, bytes_per_s);
}

/* --- a kernel on fewer SMs -------------------------------------------------------------------- */

/* Where a line of the curve, x = from + slope * y, has the answer r: the part that does not wait
 * takes had / has times as long, and each SM waits for x(b / r) r / x(b) of its wait alone. So r is
 * the quotient of two lengths, here in millionths of an SM. */
static gsim_u128 longer_by_line(const struct gsim_fewer_sms *kernel, int64_t under_way,
                                struct gsim_curve_point low, struct gsim_curve_point high) {
    int64_t width = (high.x - low.x) * GSIM_SM, rise = high.y - low.y;
    int64_t from = low.x * GSIM_SM - gsim_muldiv_floor(width, low.y, rise);
    int64_t above = kernel->most_under_way - under_way +
                    gsim_muldiv_floor(width, kernel->draws_bytes_per_s, rise);
    int64_t below = gsim_muldiv_floor(kernel->most_under_way, kernel->has, kernel->had) - from;
    return ((gsim_u128)(uint64_t)above << 32) / (uint64_t)below;
}

/* From the top of the curve down to the line on which the kernel is. */
uint64_t gsim_memory_queue_on_fewer(const struct gsim_space *space, struct gsim_fewer_sms kernel) {
    struct gsim_space device = gsim_space_of_device(space->profile);
    const struct gsim_curve_point *points = space->profile->curve[GSIM_KEY_HBM_BY_SMS];
    int64_t most_drawn = gsim_space_bandwidth(&device, kernel.had);
    kernel.draws_bytes_per_s = min_i64(kernel.draws_bytes_per_s, most_drawn);
    int64_t under_way = gsim_memory_queue_under_way(&device, kernel.draws_bytes_per_s);
    gsim_u128 by_sms_q32 = ((gsim_u128)(uint64_t)kernel.had << 32) / (uint64_t)kernel.has;
    gsim_u128 longer_q32 = by_sms_q32;
    kernel.most_under_way = max_i64(kernel.most_under_way, under_way);
    for (int64_t i = space->profile->value[GSIM_KEY_HBM_BY_SMS] - 1; i >= 0; i--) {
        struct gsim_curve_point low = i > 0 ? points[i - 1] : (struct gsim_curve_point){0, 0};
        if (low.y >= kernel.draws_bytes_per_s || points[i].y <= low.y)
            continue;
        longer_q32 = longer_by_line(&kernel, under_way, low, points[i]);
        if (((gsim_u128)(uint64_t)kernel.draws_bytes_per_s << 32) >= longer_q32 * (uint64_t)low.y)
            break;
    }
    return (uint64_t)(longer_q32 < by_sms_q32 ? longer_q32 : by_sms_q32);
}

/* --- kernels beside each other ---------------------------------------------------------------- */

/* A loader with what follows from it. */
struct waiter {
    int64_t under_way; /* of its own, where no other kernel loads */
    uint64_t time; /* of its loads there */
    uint64_t waits_q32; /* part of its time in which it waits for them */
};

/* From its own curve to that of all: memory that is idle takes as long for the loads of both. */
static void join(const struct queue *queue, int64_t own_low, struct waiter *waiter) {
    waiter->under_way = gsim_muldiv_floor(waiter->under_way, own_low, queue->low);
    waiter->time =
        (uint64_t)((gsim_u128)waiter->time * (uint64_t)own_low / (uint64_t)queue->low);
}

static uint64_t times_idle(const struct queue *queue, int64_t low, uint64_t time) {
    uint64_t idle = time_of(queue, queue->first, low);
    return time > idle ? (uint64_t)(((gsim_u128)time << 32) / idle) : GSIM_RATE_ONE;
}

static struct waiter waiter_of(const struct queue *queue, struct gsim_loader *loader) {
    int64_t at = min_i64(loader->at_bytes_per_s, queue->gives);
    int64_t all = under_way_of(queue->space, loader->loads_ppm, at);
    int64_t low = mixed_bandwidth(queue->space, loader->loads_ppm, queue->first);
    struct waiter out = {.under_way = all};
    if (at != loader->draws_bytes_per_s)
        out.under_way = gsim_muldiv_floor(all, loader->draws_bytes_per_s, at);
    out.time = all <= queue->first ? time_of(queue, queue->first, low) : time_of(queue, all, at);
    out.waits_q32 = ((uint64_t)min_i64(out.under_way, loader->most_under_way) << 32) /
                    (uint64_t)loader->most_under_way;
    loader->load_q32 = times_idle(queue, low, out.time);
    if (loader->loads_ppm != queue->loads_ppm)
        join(queue, low, &out);
    return out;
}

/* The time of an iteration in which loads take `time`, in those alone: both by the waiter's. */
static gsim_u128 length(const struct waiter *waiter, uint64_t time) {
    return (gsim_u128)(GSIM_RATE_ONE - waiter->waits_q32) * waiter->time +
           (gsim_u128)waiter->waits_q32 * time;
}

/* The bytes that all have on their way where loads take as long as with these. */
static int64_t under_way_at(const struct queue *queue, const struct waiter *waiters, uint32_t n,
                            int64_t under_way) {
    uint64_t time = time_at(queue, under_way);
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct waiter *waiter = &waiters[i];
        if (time <= waiter->time) {
            sum += waiter->under_way;
            continue;
        }
        uint64_t longer = (uint64_t)(length(waiter, time) >> 32);
        sum += (int64_t)((gsim_u128)(uint64_t)waiter->under_way * time / longer);
    }
    return sum;
}

/* A step towards the solution: to where a line through two points of the difference is zero. */
static int64_t step(int64_t last, int64_t last_lacks, int64_t at, int64_t lacks) {
    if (last_lacks == lacks)
        return lacks;
    int64_t further = (int64_t)((gsim_i128)lacks * (at - last) / (last_lacks - lacks));
    return at + further > 0 ? further : lacks;
}

/* As fine as the curve is, and as answers have to be: 6e-8. */
static int64_t all_under_way(const struct queue *queue, const struct waiter *waiters, uint32_t n) {
    enum { MOST_STEPS = 40, FINE = 24 };
    int64_t at = 0;
    for (uint32_t i = 0; i < n; i++)
        at += waiters[i].under_way;
    int64_t lacks = under_way_at(queue, waiters, n, at) - at, further = lacks;
    for (int i = 0; i < MOST_STEPS && (lacks > at >> FINE || -lacks > at >> FINE); i++) {
        int64_t last = at, last_lacks = lacks;
        at += further;
        lacks = under_way_at(queue, waiters, n, at) - at;
        further = step(last, last_lacks, at, lacks);
    }
    return at;
}

static bool is_part(const struct gsim_space *space) {
    return space->peak_bytes_per_s < space->profile->value[GSIM_KEY_HBM_BYTES_PER_S];
}

/* A kernel draws on a device what it was seen to draw there; an instance has part of that. */
static int64_t most_of(const struct gsim_space *space) {
    return is_part(space) ? gsim_space_staged_bandwidth(space, INT64_MAX / GSIM_SM) : INT64_MAX;
}

/* Whether the loads of all may meet: not of one that has what it draws, nor of few. */
static bool may_meet(struct queue *queue, const struct gsim_loader *loaders, uint32_t n) {
    gsim_i128 all = 0;
    if (n == 0 || queue->low <= 0 || queue->top >= INT64_MAX / 2)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        all += loaders[i].draws_bytes_per_s;
        queue->gives = max_i64(queue->gives, loaders[i].alone_bytes_per_s);
    }
    queue->gives = min_i64(queue->gives, most_of(queue->space));
    return all > (n == 1 ? queue->gives : queue->low);
}

/* Whether no kernel, or one that has what it draws, has no other one to wait for. */
static bool meets_none(const struct gsim_space *space, const struct gsim_loader *loaders,
                       uint32_t n) {
    return n == 0 || (n == 1 && !is_part(space) &&
                      loaders[0].alone_bytes_per_s >= loaders[0].draws_bytes_per_s);
}

/* The part of what all draw that loads alone move, in the mean. */
static uint32_t loads_of_all(const struct gsim_loader *loaders, uint32_t n) {
    gsim_i128 all = 0, loads = 0;
    for (uint32_t i = 0; i < n; i++) {
        all += loaders[i].draws_bytes_per_s;
        loads += (gsim_i128)loaders[i].draws_bytes_per_s * loaders[i].loads_ppm;
    }
    return all > 0 ? (uint32_t)(loads / all) : 0;
}

/* Its frame is large. */
GSIM_APART static void meet(const struct gsim_space *space, struct gsim_loader *loaders,
                            uint32_t n) {
    struct queue queue = queue_of(space, loads_of_all(loaders, n));
    struct waiter waiters[GSIM_LOADERS_MAX];
    if (!may_meet(&queue, loaders, n))
        return;
    for (uint32_t i = 0; i < n; i++)
        waiters[i] = waiter_of(&queue, &loaders[i]);
    uint64_t time = time_at(&queue, all_under_way(&queue, waiters, n));
    for (uint32_t i = 0; i < n; i++)
        if (time > waiters[i].time)
            loaders[i].longer_q32 = (uint64_t)(length(&waiters[i], time) / waiters[i].time);
}

void gsim_memory_queue_solve(const struct gsim_space *space, struct gsim_loader *loaders,
                             uint32_t n) {
    assert(n <= GSIM_LOADERS_MAX);
    for (uint32_t i = 0; i < n; i++) {
        loaders[i].longer_q32 = GSIM_RATE_ONE;
        loaders[i].load_q32 = 0;
    }
    if (!meets_none(space, loaders, n))
        meet(space, loaders, n);
}

uint64_t gsim_memory_queue_load(const struct gsim_space *space, struct gsim_loader *loader) {
    if (loader->load_q32 > 0)
        return loader->load_q32;
    struct queue queue = queue_of(space, loader->loads_ppm);
    loader->load_q32 = GSIM_RATE_ONE;
    if (queue.low > 0 && queue.top < INT64_MAX / 2 && loader->draws_bytes_per_s > queue.low) {
        queue.gives = max_i64(queue.gives, loader->alone_bytes_per_s);
        (void)waiter_of(&queue, loader);
    }
    return loader->load_q32;
}
