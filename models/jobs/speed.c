/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a job runs where it is, compared with where its duration was measured: one node of the
 * device of reference. A gang runs as fast as its slowest member. Spread over nodes, or over the
 * switches above them, it is slower by a factor of the device's profile; models in which a single
 * tensor dwarfs the others have another factor. A device runs jobs by the ratio `speed_milli` of
 * its profile; a job with an application profile runs by the ratio of its iteration's times here
 * and on the cluster's first device. A job that was given more GPUs than it asked for is faster by
 * a part of each; a job that was given fewer, or less of each, is slower in proportion, unless its
 * shape says that it keeps its rate. */
#include "models/jobs/machine.h"
#include "sim/base/hints.h"

static bool is_neutral(const struct gsim_profile *profile) {
    const int64_t *value = profile->value;
    return value[GSIM_KEY_SPEED_MILLI] == GSIM_PACE_ONE_MILLI &&
           value[GSIM_KEY_GANG_NODES_PPM] == GSIM_PPM &&
           value[GSIM_KEY_GANG_NODES_SKEWED_PPM] == GSIM_PPM &&
           value[GSIM_KEY_GANG_SWITCHES_PPM] == GSIM_PPM &&
           value[GSIM_KEY_GANG_SWITCHES_SKEWED_PPM] == GSIM_PPM;
}

void gsim_speed_init(struct gsim_model *model) {
    const struct gsim_model_setup *setup = &model->setup;
    model->has_paces = setup->trace->app_rate_q32 != NULL;
    model->has_shares = setup->trace->column[GSIM_COL_SHARE_PPM] != NULL;
    for (uint16_t type = 0; type < setup->n_profiles; type++)
        model->has_paces |= !is_neutral(setup->profiles[type]);
}

/* The rate of the job on one device, without the effects of a gang. */
static uint64_t device_rate_q32(struct gsim_model *model, uint32_t job, uint16_t type) {
    const struct gsim_trace *trace = model->setup.trace;
    int64_t app = gsim_trace_get(trace, GSIM_COL_APP, job);
    if (app >= 0 && trace->app_rate_q32)
        return trace->app_rate_q32[(size_t)app * trace->n_app_devices + type];
    model->has_key[GSIM_KEY_SPEED_MILLI] |= model->setup.n_profiles > 1;
    int64_t speed_milli = model->setup.profiles[type]->value[GSIM_KEY_SPEED_MILLI];
    if (speed_milli == GSIM_PACE_ONE_MILLI) /* the common case needs no 128-bit division */
        return GSIM_RATE_ONE;
    return (uint64_t)gsim_muldiv_floor((int64_t)GSIM_RATE_ONE, speed_milli, GSIM_PACE_ONE_MILLI);
}

/* The key of the rate of a gang that is spread over nodes or switches; GSIM_KEY_COUNT: it is on one
 * node. */
static enum gsim_key span_key(const struct gsim_model *model, const struct gsim_job *about) {
    const struct gsim_wiring *wiring = &model->setup.wiring;
    bool is_skewed = gsim_trace_skew(model->setup.trace, about->index) > 0;
    uint32_t first = about->n_units ? wiring->node_of_gpu[about->units[0].gpu] : 0;
    bool spans_nodes = false, spans_switches = false;
    for (uint32_t u = 1; u < about->n_units; u++) {
        uint32_t node = wiring->node_of_gpu[about->units[u].gpu];
        spans_nodes |= node != first;
        spans_switches |=
            wiring->switch_of_node && wiring->switch_of_node[node] != wiring->switch_of_node[first];
    }
    if (spans_switches)
        return is_skewed ? GSIM_KEY_GANG_SWITCHES_SKEWED_PPM : GSIM_KEY_GANG_SWITCHES_PPM;
    if (spans_nodes)
        return is_skewed ? GSIM_KEY_GANG_NODES_SKEWED_PPM : GSIM_KEY_GANG_NODES_PPM;
    return GSIM_KEY_COUNT;
}

static uint64_t slowest_rate_q32(struct gsim_model *model, const struct gsim_job *about) {
    uint64_t slowest = UINT64_MAX;
    for (uint32_t u = 0; u < about->n_units; u++) {
        uint16_t type = model->setup.type_of_gpu[about->units[u].gpu];
        uint64_t rate = device_rate_q32(model, about->index, type);
        slowest = rate < slowest ? rate : slowest;
    }
    return about->n_units ? slowest : device_rate_q32(model, about->index, 0);
}

/* The rate on more GPUs than the job asked for: each further GPU is worth a part of one of its
 * own. */
static uint64_t grown_rate_q32(struct gsim_model *model, const struct gsim_job *about,
                               uint64_t rate) {
    int64_t own = about->gpus, more = (int64_t)about->n_units - own;
    int64_t worth_ppm =
        gsim_machine_profile(model, about->units, about->n_units)->value[GSIM_KEY_GANG_GROWN_PPM];
    model->has_key[GSIM_KEY_GANG_GROWN_PPM] = true;
    return (uint64_t)gsim_muldiv_floor((int64_t)rate, own * GSIM_PPM + more * worth_ppm,
                                       own * GSIM_PPM);
}

/* The rate on fewer GPUs than the job asked for, or on a smaller share of each: in proportion to
 * what it holds. */
static uint64_t shrunk_rate_q32(struct gsim_model *model, const struct gsim_job *about,
                                uint64_t rate) {
    int64_t asked_ppm = (int64_t)about->gpus * gsim_trace_share(model->setup.trace, about->index);
    int64_t held_ppm = (int64_t)about->n_units * about->share_ppm;
    if (about->n_units == 0 || about->keeps_rate || held_ppm >= asked_ppm)
        return rate;
    const struct gsim_profile *profile = gsim_machine_profile(model, about->units, about->n_units);
    model->has_key[GSIM_KEY_GANG_FEWER_PPM] = true;
    held_ppm = gsim_muldiv_floor(held_ppm, profile->value[GSIM_KEY_GANG_FEWER_PPM], GSIM_PPM);
    return held_ppm >= asked_ppm ? rate
                                 : (uint64_t)gsim_muldiv_floor((int64_t)rate, held_ppm, asked_ppm);
}

GSIM_APART static uint64_t some_pace_q32(struct gsim_model *model, const struct gsim_job *about,
                                         bool is_uniform, bool is_together) {
    uint64_t rate = is_uniform ? GSIM_RATE_ONE : slowest_rate_q32(model, about);
    enum gsim_key key = is_together ? GSIM_KEY_COUNT : span_key(model, about);
    if (key < GSIM_KEY_COUNT) {
        const struct gsim_profile *profile =
            gsim_machine_profile(model, about->units, about->n_units);
        model->has_key[key] = true;
        rate = (uint64_t)gsim_muldiv_floor((int64_t)rate, profile->value[key], GSIM_PPM);
    }
    if (about->n_units > about->gpus)
        rate = grown_rate_q32(model, about, rate);
    rate = shrunk_rate_q32(model, about, rate);
    return rate > 0 ? rate : 1;
}

uint64_t gsim_speed_q32(struct gsim_model *model, gsim_slot slot) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    bool is_uniform = !model->has_paces && model->setup.n_profiles == 1;
    bool is_together = about->is_on_one_node || about->n_units == 1;
    bool is_as_asked = !model->has_shares && (about->n_units == about->gpus || !about->n_units);
    if (gsim_mostly(is_together && is_uniform && is_as_asked))
        return GSIM_RATE_ONE;
    return some_pace_q32(model, about, is_uniform, is_together);
}
