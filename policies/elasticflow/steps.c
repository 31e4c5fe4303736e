/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/steps.h"

#include <string.h>

int64_t elasticflow_steps_find(const struct elasticflow_steps *steps, int64_t time) {
    int64_t low = 0, high = steps->n;
    if (high > 0 && steps->step[high - 1].time <= time) /* most steps come at the end */
        return high - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (steps->step[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

bool elasticflow_steps_have(const struct elasticflow_steps *steps, int64_t time) {
    int64_t at = elasticflow_steps_find(steps, time);
    return at >= 0 && steps->step[at].time == time;
}

static bool has_room(struct elasticflow_steps *steps, uint32_t n) {
    if (n <= steps->capacity)
        return true;
    uint32_t capacity = n < 8 ? 16 : 2 * n;
    struct elasticflow_step *step = gsim_arena_grow(
        steps->arena, steps->step, steps->capacity * sizeof *step, capacity * sizeof *step);
    if (!step) {
        steps->has_failed = true;
        return false;
    }
    steps->step = step;
    steps->capacity = capacity;
    return true;
}

void elasticflow_steps_set(struct elasticflow_steps *steps, int64_t time, int64_t gpus) {
    int64_t at = elasticflow_steps_find(steps, time);
    if (at >= 0 && steps->step[at].time == time) {
        steps->step[at].gpus = gpus;
        return;
    }
    if (!has_room(steps, steps->n + 1))
        return;
    struct elasticflow_step *place = &steps->step[at + 1];
    memmove(place + 1, place, (steps->n - (size_t)(at + 1)) * sizeof *place);
    *place = (struct elasticflow_step){time, gpus};
    steps->n++;
}

void elasticflow_steps_add(struct elasticflow_steps *steps, int64_t time, int64_t gpus) {
    uint32_t n = steps->n;
    if (n > 0 && n < steps->capacity && steps->step[n - 1].time < time) /* most come at the end */
        steps->step[steps->n++] = (struct elasticflow_step){time, gpus};
    else if (!elasticflow_steps_have(steps, time))
        elasticflow_steps_set(steps, time, gpus);
}

void elasticflow_steps_merge(struct elasticflow_steps *steps) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < steps->n; i++)
        if (n == 0 || steps->step[i].gpus != steps->step[n - 1].gpus)
            steps->step[n++] = steps->step[i];
    steps->n = n;
}

void elasticflow_steps_copy(struct elasticflow_steps *to, const struct elasticflow_steps *from) {
    to->n = 0;
    if (!has_room(to, from->n))
        return;
    memcpy(to->step, from->step, from->n * sizeof *from->step);
    to->n = from->n;
}

/* Adds a step behind the others, unless it changes nothing. There is room. */
static void append(struct elasticflow_steps *steps, int64_t time, int64_t gpus) {
    if (steps->n == 0 || steps->step[steps->n - 1].gpus != gpus)
        steps->step[steps->n++] = (struct elasticflow_step){time, gpus};
}

/* The time of the next step of those from `at` on; INT64_MAX: none. */
static int64_t time_of(const struct elasticflow_steps *steps, uint32_t at) {
    return at < steps->n ? steps->step[at].time : INT64_MAX;
}

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The free GPUs plus `sign` times those of a plan, up to its end. */
static void add_plan(struct elasticflow_steps *to, const struct elasticflow_steps *free,
                     const struct elasticflow_steps *plan, int64_t end, int64_t n_gpus,
                     int64_t sign) {
    int64_t has = n_gpus, had = 0;
    bool ends = elasticflow_steps_find(free, end - 1) >= 0; /* the end is a step too */
    to->n = 0;
    if (!has_room(to, free->n + plan->n + 1))
        return;
    for (uint32_t f = 0, p = 0; f < free->n || p < plan->n || ends;) {
        int64_t time = ends ? earlier(time_of(plan, p), end) : time_of(plan, p);
        for (; f < free->n && free->step[f].time < time; f++) {
            has = free->step[f].gpus;
            append(to, free->step[f].time, has + (free->step[f].time < end ? sign * had : 0));
        }
        if (p == plan->n && !ends)
            return;
        if (time_of(free, f) == time)
            has = free->step[f++].gpus;
        if (time_of(plan, p) == time)
            had = plan->step[p++].gpus;
        ends &= time != end;
        append(to, time, has + (time < end ? sign * had : 0));
    }
}

void elasticflow_steps_give_back(struct elasticflow_steps *to, const struct elasticflow_steps *free,
                                 const struct elasticflow_steps *plan, int64_t end,
                                 int64_t n_gpus) {
    add_plan(to, free, plan, end, n_gpus, 1);
}

void elasticflow_steps_take(struct elasticflow_steps *to, const struct elasticflow_steps *free,
                            const struct elasticflow_steps *plan, int64_t end) {
    add_plan(to, free, plan, end, 0, -1);
}

int64_t elasticflow_steps_area(const struct elasticflow_steps *steps, int64_t end) {
    int64_t area = 0;
    for (uint32_t i = 0; i < steps->n; i++) {
        int64_t until = i + 1 < steps->n ? steps->step[i + 1].time : end;
        area += steps->step[i].gpus * (until - steps->step[i].time);
    }
    return area;
}
