/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/samples.h"

enum { N_QUANTITIES = GSIM_SAMPLED_BUSY + 1 };

static const char *const quantity_names[N_QUANTITIES] = {"queue", "running", "busy_gpus"};

enum { OCCUPANTS_PER_STEP = 16 }; /* occupant changes to keep, for each step */

struct samples_list {
    struct gsim_sample *list;
    uint32_t n, capacity;
};

struct gsim_samples {
    struct gsim_observer observer;
    struct gsim_arena *arena;
    struct gsim_occupancy occupancy;
    uint32_t most, n; /* steps: the limit, and those begun */
    int64_t first_ns, width_ns;
    int64_t since_ns; /* the time up to which steps are filled; -1: no change yet */
    gsim_i128 *sum[N_QUANTITIES]; /* by step: quantity times ns */
    struct samples_list occupants;
    const char ***lane_name; /* by GPU, then by lane */
    uint32_t *n_lane_names;
    bool has_overflowed; /* more occupant changes than the limit: the result has none */
    bool has_failed;
};

/* --- means over steps ------------------------------------------------------------------------- */

/* Makes steps twice as wide, and half as many. */
static void widen(struct gsim_samples *s) {
    for (int q = 0; q < N_QUANTITIES; q++) {
        for (uint32_t i = 0; i < s->n; i += 2)
            s->sum[q][i / 2] = s->sum[q][i] + (i + 1 < s->n ? s->sum[q][i + 1] : 0);
        for (uint32_t i = (s->n + 1) / 2; i < s->n; i++)
            s->sum[q][i] = 0;
    }
    s->n = (s->n + 1) / 2;
    s->width_ns *= 2;
}

static int64_t value_now(const struct gsim_samples *s, enum gsim_sampled quantity) {
    if (quantity == GSIM_SAMPLED_QUEUE)
        return s->occupancy.n_waiting;
    return quantity == GSIM_SAMPLED_RUNNING ? s->occupancy.n_placed : s->occupancy.busy_ppm;
}

/* Adds the present values, which have held since the last change, to the steps up to now. */
static void fill(struct gsim_samples *s, int64_t now_ns) {
    if (s->since_ns < 0)
        s->first_ns = s->since_ns = now_ns;
    while ((now_ns - s->first_ns) / s->width_ns >= s->most)
        widen(s);
    while (s->since_ns < now_ns) {
        uint32_t step = (uint32_t)((s->since_ns - s->first_ns) / s->width_ns);
        int64_t end_ns = s->first_ns + (step + 1) * s->width_ns;
        end_ns = end_ns < now_ns ? end_ns : now_ns;
        for (int q = 0; q < N_QUANTITIES; q++)
            s->sum[q][step] +=
                (gsim_i128)value_now(s, (enum gsim_sampled)q) * (end_ns - s->since_ns);
        s->n = step + 1;
        s->since_ns = end_ns;
    }
}

/* --- the jobs on each GPU --------------------------------------------------------------------- */

static bool append(struct gsim_samples *s, struct samples_list *list, struct gsim_sample sample) {
    struct gsim_sample *grown =
        gsim_arena_room(s->arena, list->list, list->n, &list->capacity, sizeof *grown);
    if (!grown)
        return false;
    list->list = grown;
    list->list[list->n++] = sample;
    return true;
}

static const char *lane_name(struct gsim_samples *s, uint32_t gpu, uint32_t lane) {
    while (s->n_lane_names[gpu] <= lane) {
        uint32_t n = s->n_lane_names[gpu];
        const char **grown = gsim_arena_grow(s->arena, s->lane_name[gpu], n * sizeof *grown,
                                             (n + 1) * sizeof *grown);
        if (!grown)
            return NULL;
        s->lane_name[gpu] = grown;
        grown[n] = gsim_arena_printf(s->arena, "gpu %u.%u", gpu, n);
        if (!grown[n])
            return NULL;
        s->n_lane_names[gpu]++;
    }
    return s->lane_name[gpu][lane];
}

static void note_occupant(struct gsim_samples *s, const struct gsim_change *change, uint32_t gpu) {
    uint32_t lane = gsim_occupancy_lane(&s->occupancy, gpu, change->job);
    const char *name = lane_name(s, gpu, lane);
    struct gsim_sample sample = {change->now_ns, name, change->is_on ? (double)change->job : -1.0};
    if (!name || !append(s, &s->occupants, sample))
        s->has_failed = true;
    s->has_overflowed = s->occupants.n > s->most * OCCUPANTS_PER_STEP;
}

static void note_occupants(struct gsim_samples *s, const struct gsim_change *change) {
    for (uint32_t u = 0; u < change->n_units && !s->has_overflowed && !s->has_failed; u++)
        note_occupant(s, change, change->units[u].gpu);
}

/* --- the observer ----------------------------------------------------------------------------- */

static void begin_samples(void *arg, const struct gsim_scene *scene) {
    struct gsim_samples *s = arg;
    gsim_occupancy_begin(&s->occupancy, scene, s->arena);
    s->lane_name = gsim_arena_array(s->arena, scene->n_gpus, sizeof *s->lane_name);
    s->n_lane_names = gsim_arena_array(s->arena, scene->n_gpus, sizeof *s->n_lane_names);
    s->has_failed = s->occupancy.has_failed || !s->lane_name || !s->n_lane_names;
}

static void change_samples(void *arg, const struct gsim_change *change) {
    struct gsim_samples *s = arg;
    if (s->has_failed)
        return;
    fill(s, change->now_ns);
    if (change->was_on && !change->is_on)
        note_occupants(s, change);
    gsim_occupancy_apply(&s->occupancy, change);
    s->has_failed |= s->occupancy.has_failed;
    if (!change->was_on && change->is_on)
        note_occupants(s, change);
}

static void end_samples(void *arg, int64_t now_ns) {
    struct gsim_samples *s = arg;
    if (!s->has_failed && s->since_ns >= 0)
        fill(s, now_ns);
}

struct gsim_samples *gsim_samples_new(struct gsim_arena *arena, uint32_t most) {
    struct gsim_samples *s = gsim_arena_alloc(arena, sizeof *s);
    for (int q = 0; s && q < N_QUANTITIES; q++) {
        s->sum[q] = gsim_arena_array(arena, most, sizeof **s->sum);
        if (!s->sum[q])
            return NULL;
    }
    if (!s)
        return NULL;
    s->observer = (struct gsim_observer){
        .arg = s, .begin = begin_samples, .change = change_samples, .end = end_samples};
    s->arena = arena;
    s->most = most;
    s->width_ns = 1;
    s->since_ns = -1;
    return s;
}

const struct gsim_observer *gsim_samples_observer(struct gsim_samples *samples,
                                                  const struct gsim_observer *next) {
    samples->observer.next = next;
    return &samples->observer;
}

/* --- the list --------------------------------------------------------------------------------- */

static double scale_of(enum gsim_sampled quantity) {
    return quantity == GSIM_SAMPLED_BUSY ? (double)GSIM_PPM : 1;
}

/* The last step is as wide as it has got. */
static double mean_of_step(const struct gsim_samples *s, enum gsim_sampled quantity, uint32_t i) {
    int64_t width_ns = s->width_ns;
    if (i + 1 == s->n)
        width_ns = s->since_ns - (s->first_ns + i * s->width_ns);
    return (double)s->sum[quantity][i] / (double)width_ns / scale_of(quantity);
}

double gsim_samples_now(const struct gsim_samples *s, enum gsim_sampled quantity) {
    return (double)value_now(s, quantity) / scale_of(quantity);
}

uint32_t gsim_samples_steps(const struct gsim_samples *s, enum gsim_sampled quantity,
                            double *steps) {
    for (uint32_t i = 0; i < s->n; i++)
        steps[i] = mean_of_step(s, quantity, i);
    return s->n;
}

static bool list_means(struct gsim_samples *s, struct samples_list *list,
                       enum gsim_sampled quantity) {
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t begin_ns = s->first_ns + i * s->width_ns;
        double mean = mean_of_step(s, quantity, i);
        if (!append(s, list, (struct gsim_sample){begin_ns, quantity_names[quantity], mean}))
            return false;
    }
    /* the value at the end of the run closes the last step */
    double last = gsim_samples_now(s, quantity);
    return append(s, list, (struct gsim_sample){s->since_ns, quantity_names[quantity], last});
}

/* Lists the occupants. If a lane changes several times at one instant, the last occupant counts. */
static bool list_occupants(struct gsim_samples *s, struct samples_list *list) {
    for (uint32_t i = 0; i < s->occupants.n; i++) {
        const struct gsim_sample *sample = &s->occupants.list[i];
        bool is_replaced = false;
        for (uint32_t k = i + 1; k < s->occupants.n && !is_replaced; k++) {
            if (s->occupants.list[k].time_ns != sample->time_ns)
                break;
            is_replaced = s->occupants.list[k].name == sample->name;
        }
        if (!is_replaced && !append(s, list, *sample))
            return false;
    }
    return true;
}

bool gsim_samples_finish(struct gsim_samples *s, struct gsim_result *result) {
    struct samples_list list = {0};
    result->n_samples = 0;
    if (s->has_failed)
        return false;
    if (s->since_ns < 0)
        return true;
    for (int q = 0; q < N_QUANTITIES; q++)
        if (!list_means(s, &list, (enum gsim_sampled)q))
            return false;
    if (!s->has_overflowed && !list_occupants(s, &list))
        return false;
    result->samples = list.list;
    result->n_samples = list.n;
    return true;
}
