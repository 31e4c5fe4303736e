/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Gittins index of a history of service: the best chance to end per second invested. Sources:
 * Gittins, "Bandit processes and dynamic allocation indices" (1979); for clusters Gu et al.,
 * "Tiresias" (NSDI 2019). All arithmetic is in whole numbers, since the index decides which job
 * runs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policies/lib/gittins.h"
#include "sim/base/sort.h"
#include "sim/base/units.h"

enum { LINE = 64, INDEX_BITS = 40, SORT_IN_EVERY = 16, STEPS = 8 };

/* --- the history ------------------------------------------------------------------------------ */

static bool append(struct gsim_history *h, int64_t sample, struct gsim_arena *arena) {
    int64_t *grown =
        gsim_arena_room(arena, h->added, h->n_added, &h->added_capacity, sizeof *grown);
    if (!grown)
        return false;
    h->added = grown;
    h->added[h->n_added++] = sample;
    return true;
}

static bool make_room(struct gsim_history *h, uint32_t n, struct gsim_arena *arena) {
    if (n <= h->capacity)
        return true;
    uint32_t capacity = n * 2;
    int64_t *sample = gsim_arena_grow_raw(arena, h->sample, capacity * sizeof *sample);
    if (sample)
        h->sample = sample;
    int64_t *sum = sample ? gsim_arena_grow_raw(arena, h->sum, (capacity + 1) * sizeof *sum) : NULL;
    if (!sum)
        return false;
    h->sum = sum;
    h->capacity = capacity;
    return true;
}

static bool sort_in(struct gsim_history *h, struct gsim_arena *arena) {
    if (!make_room(h, h->n + h->n_added, arena))
        return false;
    memcpy(h->sample + h->n, h->added, h->n_added * sizeof *h->added);
    h->n += h->n_added;
    h->n_added = 0;
    h->sum[0] = 0;
    if (!gsim_sort_i64(h->sample, h->n))
        return false;
    for (uint32_t i = 0; i < h->n; i++)
        h->sum[i + 1] = h->sum[i] + h->sample[i];
    return true;
}

bool gsim_history_add(struct gsim_history *history, int64_t sample, struct gsim_arena *arena) {
    if (!append(history, sample, arena))
        return false;
    return (uint64_t)history->n_added * SORT_IN_EVERY < history->n || sort_in(history, arena);
}

static enum gsim_status read_line(struct gsim_history *h, const char *path, int64_t line,
                                  const char *text, struct gsim_arena *arena,
                                  struct gsim_log *log) {
    int64_t sample;
    size_t length = strcspn(text, "\r\n");
    if (length == 0 || (line == 1 && text[0] > '9')) /* a header starts with a letter */
        return GSIM_OK;
    if (gsim_parse_decimal(text, length, 1, &sample) != GSIM_PARSE_OK || sample < 0 ||
        sample > GSIM_TIME_MAX / GSIM_NS_PER_S)
        return gsim_fail(log, GSIM_BAD_INPUT, path, line,
                         "'%.*s' is not a number of seconds of service, 0 or more", (int)length,
                         text);
    return append(h, sample, arena) ? GSIM_OK : gsim_no_memory(log, "reading a history");
}

enum gsim_status gsim_history_read(struct gsim_history *history, const char *path,
                                   struct gsim_arena *arena, struct gsim_log *log) {
    char text[LINE];
    enum gsim_status status = GSIM_OK;
    FILE *file = fopen(path, "r");
    if (!file)
        return gsim_fail(log, GSIM_BAD_INPUT, path, 0, "the file cannot be read: %s",
                         strerror(errno));
    for (int64_t line = 1; status == GSIM_OK && fgets(text, sizeof text, file); line++)
        status = read_line(history, path, line, text, arena, log);
    (void)fclose(file);
    if (status == GSIM_OK && history->n_added == 0)
        return gsim_fail(log, GSIM_BAD_INPUT, path, 0, "a history needs one number at least");
    if (status == GSIM_OK && !sort_in(history, arena))
        return gsim_no_memory(log, "reading a history");
    return status;
}

uint32_t gsim_history_above(const struct gsim_history *history, int64_t age) {
    uint32_t from = 0, to = history->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (history->sample[middle] > age)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

/* --- the index -------------------------------------------------------------------------------- */

/* As gsim_history_above; a job's age grows by little from one event to the next, so the search
 * starts near the last place. */
static uint32_t above_near(const struct gsim_history *h, int64_t age, uint32_t near) {
    uint32_t i = near <= h->n ? near : h->n;
    for (int step = 0; step < STEPS; step++) {
        if (i < h->n && h->sample[i] <= age)
            i++;
        else if (i > 0 && h->sample[i - 1] > age)
            i--;
        else
            return i;
    }
    return gsim_history_above(h, age);
}

int64_t gsim_gittins_index_near(const struct gsim_history *history, int64_t age, int64_t delta,
                                uint32_t near[2]) {
    const struct gsim_history *h = history;
    uint32_t i = near[0] = above_near(h, age, near[0]), k = h->n;
    if (i == h->n)
        return 0;
    if (delta <= GSIM_NEVER - age - 1)
        k = near[1] = above_near(h, age + delta, near[1]);
    gsim_i128 service = (gsim_i128)(h->sum[k] - h->sum[i]) - (gsim_i128)age * (k - i);
    if (k < h->n)
        service += (gsim_i128)delta * (h->n - k);
    if (k - i < 1u << (62 - INDEX_BITS) && service <= INT64_MAX) /* mostly true, and much faster */
        return ((int64_t)(k - i) << INDEX_BITS) / (int64_t)service;
    return (int64_t)(((gsim_i128)(k - i) << INDEX_BITS) / service);
}

int64_t gsim_gittins_index(const struct gsim_history *history, int64_t age, int64_t delta) {
    uint32_t near[2] = {gsim_history_above(history, age), history->n};
    return gsim_gittins_index_near(history, age, delta, near);
}

static int64_t divide_rounding(gsim_i128 a, gsim_i128 b) {
    return (int64_t)((2 * a + b) / (2 * b));
}

static int64_t public_index(const struct gsim_history *h, int64_t age, int64_t delta) {
    uint32_t i = gsim_history_above(h, age), k = gsim_history_above(h, age + delta);
    if (age + delta > h->sample[h->n - 1] - 1)
        k = h->n - 1;
    int64_t left = (int64_t)h->n - i;
    int64_t chance_e5 = divide_rounding((gsim_i128)(k - i) * 100000, left);
    int64_t service = (h->sum[k] - h->sum[i] + delta * ((int64_t)h->n - k)) / left;
    /* 10^6 chance / service, to four digits: (10^6 x 10^4 / 10^5) chance_e5 / service */
    return divide_rounding((gsim_i128)chance_e5 * 100000, service > 0 ? service : 1);
}

int64_t *gsim_gittins_public(const struct gsim_history *history, int64_t delta,
                             struct gsim_arena *arena) {
    int64_t *index = gsim_arena_array(arena, history->n, sizeof *index);
    for (uint32_t i = 0; index && i < history->n; i++)
        index[i] = public_index(history, history->sample[i] - 1, delta);
    return index;
}
