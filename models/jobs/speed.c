/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a job runs where it is, compared with where its duration was measured: one node of the
 * device of reference. A gang runs as fast as its slowest member. Spread over nodes, or over the
 * switches above them, it is slower by a factor of the device's profile; models in which a single
 * tensor dwarfs the others have another factor. A device runs jobs by the ratio `speed_milli` of
 * its profile; a job with an application profile runs by the ratio of its iteration's times here
 * and on the cluster's first device. A job that was given more GPUs than it asked for is faster by
 * a part of each; a job that was given fewer, or less of each, is slower in proportion, unless its
 * shape says that it keeps its rate.
 *
 * A job of a model that stands in the table of speeds (--rates) runs by the table instead: its rate
 * is the ratio of the row for its GPUs and nodes to the row by which its work is counted. Beside
 * another job its row is that of its model beside the other's; without such a row it cannot run
 * there. */
#include "models/jobs/speed.h"
#include "models/jobs/fewest_nodes.h"
#include "sim/base/hints.h"

static bool is_neutral(const struct gsim_profile *profile) {
    const int64_t *value = profile->value;
    return value[GSIM_KEY_SPEED_MILLI] == GSIM_PACE_ONE_MILLI &&
           value[GSIM_KEY_GANG_NODES_PPM] == GSIM_PPM &&
           value[GSIM_KEY_GANG_NODES_SKEWED_PPM] == GSIM_PPM &&
           value[GSIM_KEY_GANG_SWITCHES_PPM] == GSIM_PPM &&
           value[GSIM_KEY_GANG_SWITCHES_SKEWED_PPM] == GSIM_PPM;
}

/* What the table said of a question, and the question. Jobs of few models start again and again on
 * GPUs that are alike. */
struct gsim_speed_found {
    uint32_t row, kind, asked, gpus, nodes; /* gpus 0: no answer is kept here */
    uint16_t type;
    struct gsim_host host;
    struct gsim_rated rated;
    gsim_u128 ratio_q64; /* to the speed of reference; 0: it cannot run so, or has no row */
};
enum { MOST_FOUND = 256 };

static enum gsim_status find_devices(struct gsim_model *model, struct gsim_log *log) {
    const struct gsim_model_setup *setup = &model->setup;
    const struct gsim_rates *rates = setup->trace->rates;
    uint32_t *device = gsim_arena_array(setup->arena, setup->n_profiles, sizeof *device);
    if (!device)
        return gsim_no_memory(log, "opening the device model");
    for (uint16_t type = 0; type < setup->n_profiles; type++) {
        const struct gsim_profile *profile = setup->profiles[type];
        const char *name =
            gsim_device_stem(profile->in_rates ? profile->in_rates : profile->name, setup->arena);
        if (!name)
            return gsim_no_memory(log, "opening the device model");
        device[type] = gsim_rates_device(rates, name);
        if (device[type] == GSIM_NO_KIND)
            return gsim_fail(log, GSIM_BAD_INPUT, rates->path, 0,
                             "no row is of '%s', which nodes of the cluster have; the table has "
                             "'%s'%s",
                             name, rates->device[0], rates->n_devices > 1 ? " and others" : "");
    }
    model->rates_device = device;
    model->found = gsim_arena_array(setup->arena, MOST_FOUND, sizeof *model->found);
    return model->found ? GSIM_OK : gsim_no_memory(log, "opening the device model");
}

static enum gsim_status find_goodput_devices(struct gsim_model *model, struct gsim_log *log) {
    const struct gsim_model_setup *setup = &model->setup;
    uint32_t *device = gsim_arena_array(setup->arena, setup->n_profiles, sizeof *device);
    bool is_there = device;
    for (uint16_t type = 0; type < setup->n_profiles && is_there; type++) {
        const struct gsim_profile *profile = setup->profiles[type];
        const char *name =
            gsim_device_stem(profile->in_rates ? profile->in_rates : profile->name, setup->arena);
        is_there = name;
        device[type] = name ? gsim_goodput_device(setup->trace->goodput, name) : 0;
    }
    model->goodput_device = device;
    return is_there ? GSIM_OK : gsim_no_memory(log, "opening the device model");
}

/* The largest part of a host's memory that falls to a GPU of a type; INT64_MAX: as much as any row
 * wants. */
static int64_t most_memory_beside(const struct gsim_model *model, uint16_t type) {
    const struct gsim_wiring *wiring = &model->setup.wiring;
    int64_t most_bytes = wiring->part_of_host ? 0 : INT64_MAX;
    for (uint32_t gpu = 0; wiring->part_of_host && gpu < model->setup.n_gpus; gpu++) {
        int64_t bytes = wiring->part_of_host[wiring->node_of_gpu[gpu]].mem_bytes;
        if (model->setup.type_of_gpu[gpu] == type)
            most_bytes = bytes <= 0 ? INT64_MAX : bytes > most_bytes ? bytes : most_bytes;
    }
    return most_bytes;
}

/* Whether a job of that model and width can run on GPUs of a type with that part of a host's memory
 * beside each, on one node or on as many nodes as it has GPUs. */
static bool can_run_beside(const struct gsim_model *model, uint32_t kind, uint32_t gpus,
                           uint16_t type, struct gsim_host host) {
    for (uint32_t nodes = 1;; nodes = gpus) {
        struct gsim_rated rated = gsim_rates_find(model->setup.trace->rates, kind,
                                                  model->rates_device[type], gpus, nodes, host);
        if (!rated.is_there || rated.tempo.digits > 0)
            return true;
        if (nodes == gpus)
            return false;
    }
}

/* Whether a job that learns has steps on GPUs of a type. */
static bool has_steps(const struct gsim_model *model, uint32_t job, uint16_t type) {
    const struct gsim_trace *trace = model->setup.trace;
    const struct gsim_phases *phases = gsim_goodput_phases(trace, job);
    return !phases ||
           gsim_goodput_there(trace->goodput, phases->app, model->goodput_device[type])->n_steps >
               0;
}

/* Whether the job can: in each of its phases, where it has some. */
static bool job_can_run_beside(const struct gsim_model *model, uint32_t job, uint16_t type,
                               struct gsim_host host) {
    const struct gsim_trace *trace = model->setup.trace;
    const struct gsim_phases *phases = gsim_phases_of_job(trace, job);
    for (uint32_t i = 0; i < (phases ? phases->n : 1); i++) {
        uint32_t kind = phases ? phases->phase[i].kind : gsim_rates_of_job(trace, job);
        if (kind != GSIM_NO_KIND &&
            !can_run_beside(model, kind, gsim_trace_gpus(trace, job), type, host))
            return false;
    }
    return true;
}

bool gsim_speed_can_run_on(const struct gsim_model *model, uint32_t job, uint32_t gpu,
                           struct gsim_host most) {
    const struct gsim_wiring *wiring = &model->setup.wiring;
    uint16_t type = model->setup.type_of_gpu[gpu];
    if (model->setup.trace->goodput)
        return has_steps(model, job, type);
    struct gsim_host host = most;
    if (wiring->part_of_host)
        host = gsim_lesser_host(host, wiring->part_of_host[wiring->node_of_gpu[gpu]]);
    return job_can_run_beside(model, job, type, host);
}

/* A gang over several nodes has the least part of a host of any of them beside each GPU. */
bool gsim_speed_can_run_across(const struct gsim_model *model, uint32_t job) {
    const struct gsim_wiring *wiring = &model->setup.wiring;
    if (model->setup.trace->goodput || !wiring->part_of_host ||
        gsim_trace_gpus(model->setup.trace, job) < 2)
        return true;
    struct gsim_host least = gsim_host_ample;
    for (uint32_t gpu = 0; gpu < model->setup.n_gpus; gpu++)
        least = gsim_lesser_host(least, wiring->part_of_host[wiring->node_of_gpu[gpu]]);
    for (uint32_t gpu = 0; gpu < model->setup.n_gpus; gpu++)
        if ((gpu == 0 || model->setup.type_of_gpu[gpu] != model->setup.type_of_gpu[gpu - 1]) &&
            !job_can_run_beside(model, job, model->setup.type_of_gpu[gpu], least))
            return false;
    return true;
}

/* A model that needs more of a host's memory than falls to any GPU could run nowhere. */
static enum gsim_status refuse_lack_of_memory(const struct gsim_model *model,
                                              struct gsim_log *log) {
    const struct gsim_trace *trace = model->setup.trace;
    enum gsim_status status = GSIM_OK;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        uint32_t gpus = gsim_trace_gpus(trace, job);
        bool can_run = false, could_run = false;
        for (uint16_t type = 0; type < model->setup.n_profiles && !can_run; type++) {
            struct gsim_host most = {INT64_MAX, most_memory_beside(model, type)};
            can_run = job_can_run_beside(model, job, type, most);
            could_run |= job_can_run_beside(model, job, type, gsim_host_ample);
        }
        if (!can_run && could_run)
            status = gsim_fail(log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                               "job '%s': by %s its model needs more of a host's memory for each "
                               "of %u GPUs than falls to any GPU of the cluster (host_mem)",
                               gsim_trace_id(trace, job), trace->rates->path, gpus);
    }
    return status;
}

enum gsim_status gsim_speed_init(struct gsim_model *model, struct gsim_log *log) {
    const struct gsim_model_setup *setup = &model->setup;
    model->has_speeds =
        setup->trace->app_rate_q32 != NULL || setup->trace->rates || setup->trace->goodput;
    model->has_shares = setup->trace->column[GSIM_COL_SHARE_PPM] != NULL;
    for (uint16_t type = 0; type < setup->n_profiles; type++)
        model->has_speeds |= !is_neutral(setup->profiles[type]);
    enum gsim_status status = setup->trace->goodput ? find_goodput_devices(model, log) : GSIM_OK;
    status = status == GSIM_OK && setup->trace->rates ? find_devices(model, log) : status;
    if (status == GSIM_OK && setup->trace->rates && setup->trace->rates->has_host_memory)
        status = refuse_lack_of_memory(model, log);
    return status;
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

/* The GPUs on which a job runs, or would run. */
struct site {
    const struct gsim_profile *profile; /* of the first GPU */
    const uint16_t *types; /* the types of its GPUs, in any order, at least one */
    uint32_t n_types;
    uint32_t n_units; /* 0: a pool: the job has as many GPUs as it asks for */
    uint32_t nodes;
    bool spans_nodes, spans_switches;
    struct gsim_host host; /* beside each GPU */
    bool is_beside; /* another job shares the GPUs */
    uint32_t other; /* its kind in the table; GSIM_NO_KIND: none */
};

enum { MOST_TYPES = 64 };

static uint32_t add_type(uint16_t *types, uint32_t n, uint16_t type) {
    for (uint32_t i = 0; i < n; i++)
        if (types[i] == type)
            return n;
    if (n < MOST_TYPES)
        types[n++] = type;
    return n;
}

static bool is_on_node_of_another(const struct gsim_model *model, const struct gsim_job *about,
                                  uint32_t unit) {
    const uint32_t *node_of_gpu = model->setup.wiring.node_of_gpu;
    for (uint32_t u = 0; u < unit; u++)
        if (node_of_gpu[about->units[u].gpu] == node_of_gpu[about->units[unit].gpu])
            return true;
    return false;
}

/* What a job has beside each of its GPUs: as much as it was given, else the least of its nodes'
 * parts. */
static struct gsim_host job_host(const struct gsim_model *model, const struct gsim_job *about) {
    const struct gsim_wiring *wiring = &model->setup.wiring;
    struct gsim_host host = gsim_host_ample;
    if (about->host.cpus_milli > 0 || about->host.mem_bytes > 0)
        return gsim_lesser_host(host, about->host);
    for (uint32_t u = 0; wiring->part_of_host && u < about->n_units; u++)
        host =
            gsim_lesser_host(host, wiring->part_of_host[wiring->node_of_gpu[about->units[u].gpu]]);
    return host;
}

/* The site of a job's units. A policy may have named them in any order. */
static struct site site_of(const struct gsim_model *model, const struct gsim_job *about,
                           uint16_t types[MOST_TYPES]) {
    const struct gsim_wiring *wiring = &model->setup.wiring;
    struct site site = {.profile = gsim_machine_profile(model, about->units, about->n_units),
                        .types = types,
                        .n_units = about->n_units,
                        .nodes = 1,
                        .host = job_host(model, about)};
    uint32_t first = about->n_units ? wiring->node_of_gpu[about->units[0].gpu] : 0, last = first;
    if (about->n_units == 0)
        site.n_types = add_type(types, 0, 0);
    for (uint32_t u = 0; u < about->n_units; u++) {
        uint32_t node = wiring->node_of_gpu[about->units[u].gpu];
        site.n_types = add_type(types, site.n_types, model->setup.type_of_gpu[about->units[u].gpu]);
        site.nodes += node != last && !is_on_node_of_another(model, about, u);
        last = node;
        site.spans_nodes |= node != first;
        site.spans_switches |=
            wiring->switch_of_node && wiring->switch_of_node[node] != wiring->switch_of_node[first];
    }
    return site;
}

/* The key of the rate of a gang that is spread over nodes or switches; GSIM_KEY_COUNT: it is on one
 * node. */
static enum gsim_key span_key(const struct gsim_model *model, const struct gsim_job *about,
                              const struct site *site) {
    bool is_skewed = gsim_trace_skew(model->setup.trace, about->index) > 0;
    if (site->spans_switches)
        return is_skewed ? GSIM_KEY_GANG_SWITCHES_SKEWED_PPM : GSIM_KEY_GANG_SWITCHES_PPM;
    if (site->spans_nodes)
        return is_skewed ? GSIM_KEY_GANG_NODES_SKEWED_PPM : GSIM_KEY_GANG_NODES_PPM;
    return GSIM_KEY_COUNT;
}

static uint64_t slowest_rate_q32(struct gsim_model *model, const struct gsim_job *about,
                                 const struct site *site) {
    uint64_t slowest = UINT64_MAX;
    for (uint32_t i = 0; i < site->n_types; i++) {
        uint64_t rate = device_rate_q32(model, about->index, site->types[i]);
        slowest = rate < slowest ? rate : slowest;
    }
    return slowest;
}

/* The rate on more GPUs than the job asked for: each further GPU is worth a part of one of its
 * own. */
static uint64_t grown_rate_q32(struct gsim_model *model, const struct gsim_job *about,
                               const struct site *site, uint64_t rate) {
    int64_t own = about->gpus, more = (int64_t)site->n_units - own;
    int64_t worth_ppm = site->profile->value[GSIM_KEY_GANG_GROWN_PPM];
    model->has_key[GSIM_KEY_GANG_GROWN_PPM] = true;
    return (uint64_t)gsim_muldiv_floor((int64_t)rate, own * GSIM_PPM + more * worth_ppm,
                                       own * GSIM_PPM);
}

/* The rate on fewer GPUs than the job asked for, or on a smaller share of each: in proportion to
 * what it holds. */
static uint64_t shrunk_rate_q32(struct gsim_model *model, const struct gsim_job *about,
                                const struct site *site, uint64_t rate) {
    int64_t asked_ppm = (int64_t)about->gpus * gsim_trace_share(model->setup.trace, about->index);
    int64_t held_ppm = (int64_t)site->n_units * about->share_ppm;
    if (site->n_units == 0 || about->keeps_rate || held_ppm >= asked_ppm)
        return rate;
    model->has_key[GSIM_KEY_GANG_FEWER_PPM] = true;
    held_ppm = gsim_muldiv_floor(held_ppm, site->profile->value[GSIM_KEY_GANG_FEWER_PPM], GSIM_PPM);
    return held_ppm >= asked_ppm ? rate
                                 : (uint64_t)gsim_muldiv_floor((int64_t)rate, held_ppm, asked_ppm);
}

static uint64_t some_pace_q32(struct gsim_model *model, const struct gsim_job *about,
                              const struct site *site) {
    bool is_uniform = !model->has_speeds && model->setup.n_profiles == 1;
    uint64_t rate = is_uniform ? GSIM_RATE_ONE : slowest_rate_q32(model, about, site);
    enum gsim_key key = span_key(model, about, site);
    if (key < GSIM_KEY_COUNT) {
        model->has_key[key] = true;
        rate = (uint64_t)gsim_muldiv_floor((int64_t)rate, site->profile->value[key], GSIM_PPM);
    }
    if (site->n_units > about->gpus)
        rate = grown_rate_q32(model, about, site, rate);
    rate = shrunk_rate_q32(model, about, site, rate);
    return rate > 0 ? rate : 1;
}

/* --- by a table ------------------------------------------------------------------------------- */

/* The speed on the slowest GPUs of the site; not there: the table has no row of the model on one of
 * its devices. Beyond all rows is a gang, and not a job that was given more GPUs than it asked
 * for. */
static struct gsim_rated rated_at(const struct gsim_model *model, uint32_t kind,
                                  const struct gsim_job *about, const struct site *site) {
    const struct gsim_rates *rates = model->setup.trace->rates;
    struct gsim_rated slowest = {.is_there = false};
    bool is_beyond = false;
    uint32_t gpus = site->n_units ? site->n_units : about->gpus;
    for (uint32_t i = 0; i < site->n_types; i++) {
        struct gsim_rated one = gsim_rates_find(rates, kind, model->rates_device[site->types[i]],
                                                gpus, site->nodes, site->host);
        if (!one.is_there || one.tempo.digits == 0)
            return one;
        is_beyond |= one.is_beyond;
        if (i == 0 || gsim_tempo_ratio_q64(one.tempo, slowest.tempo) >> 64 == 0)
            slowest = one;
    }
    slowest.is_beyond = is_beyond && gpus == about->gpus;
    return slowest;
}

/* What the table says, and the speed relative to that by which the work is counted. */
static struct gsim_speed_found found_at(const struct gsim_model *model, uint32_t row, uint32_t kind,
                                        const struct gsim_job *about, const struct site *site) {
    struct gsim_speed_found found = {.row = row,
                                     .kind = kind,
                                     .asked = about->gpus,
                                     .gpus = site->n_units ? site->n_units : about->gpus,
                                     .nodes = site->nodes,
                                     .type = site->types[0],
                                     .host = site->host};
    found.rated = rated_at(model, row, about, site);
    if (found.rated.is_there && found.rated.tempo.digits > 0)
        found.ratio_q64 = gsim_tempo_ratio_q64(
            found.rated.tempo, gsim_rates_reference(model->setup.trace->rates, kind, about->gpus));
    return found;
}

static bool is_answer(const struct gsim_speed_found *found, uint32_t row, uint32_t kind,
                      const struct gsim_job *about, const struct site *site) {
    uint32_t gpus = site->n_units ? site->n_units : about->gpus;
    return found->row == row && found->kind == kind && found->gpus == gpus &&
           found->asked == about->gpus && found->nodes == site->nodes &&
           found->type == site->types[0] && found->host.cpus_milli == site->host.cpus_milli &&
           found->host.mem_bytes == site->host.mem_bytes;
}

/* As found_at, from what was asked before where the GPUs are of one type. */
static struct gsim_speed_found found_again(struct gsim_model *model, uint32_t row, uint32_t kind,
                                           const struct gsim_job *about, const struct site *site) {
    struct gsim_speed_found *kept =
        &model->found[(row * 31 + about->gpus * 7 + site->types[0]) % MOST_FOUND];
    if (site->n_types > 1)
        return found_at(model, row, kind, about, site);
    if (!is_answer(kept, row, kind, about, site))
        *kept = found_at(model, row, kind, about, site);
    return *kept;
}

/* The speed at a site, and that of the table, which is 0 where the job runs by its own columns. */
static struct gsim_speed speed_at(struct gsim_model *model, gsim_slot slot,
                                  const struct gsim_job *about, const struct site *site,
                                  struct gsim_tempo *tempo) {
    uint32_t kind = model->jobs[slot].kind;
    uint32_t row = kind;
    struct gsim_speed_found found = {.row = row};
    if (gsim_rarely(site->is_beside))
        row = kind == GSIM_NO_KIND
                  ? kind
                  : gsim_rates_beside(model->setup.trace->rates, kind, site->other);
    if (row != GSIM_NO_KIND)
        found = found_again(model, row, kind, about, site);
    *tempo = found.rated.tempo;
    if (site->is_beside && !found.rated.is_there)
        return (struct gsim_speed){0};
    if (!found.rated.is_there) {
        model->is_unrated |= kind != GSIM_NO_KIND;
        return (struct gsim_speed){.rate_q32 = some_pace_q32(model, about, site)};
    }
    if (found.rated.tempo.digits == 0)
        return (struct gsim_speed){0};
    model->is_beyond |= found.rated.is_beyond;
    struct gsim_speed speed = {(uint64_t)(found.ratio_q64 >> 32), (uint32_t)found.ratio_q64};
    return speed.rate_q32 > 0 ? speed : (struct gsim_speed){.rate_q32 = 1};
}

/* --- by epochs -------------------------------------------------------------------------------- */

/* The job's GPUs by node, the nodes in the order in which it holds them. */
static struct gsim_spread spread_of(const struct gsim_model *model, const struct gsim_job *about) {
    const uint32_t *node_of_gpu = model->setup.wiring.node_of_gpu;
    uint16_t type = model->setup.type_of_gpu[about->units[0].gpu];
    struct gsim_spread spread = {.device = model->goodput_device[type]};
    uint32_t nodes[GSIM_MOST_SPREAD];
    for (uint32_t u = 0; u < about->n_units; u++) {
        uint32_t node = node_of_gpu[about->units[u].gpu], at = 0;
        while (at < spread.n && nodes[at] != node)
            at++;
        at = at < GSIM_MOST_SPREAD ? at : GSIM_MOST_SPREAD - 1;
        spread.n += at == spread.n;
        nodes[at] = node;
        spread.gpus[at]++;
    }
    return spread;
}

static struct gsim_speed speed_in_phase(const struct gsim_model *model, gsim_slot slot,
                                        const struct gsim_spread *spread) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    gsim_u128 q64 = gsim_goodput_pace_q64(model->setup.trace->goodput, job->phases, job->at_phase,
                                          spread, job->batch);
    struct gsim_speed speed = {(uint64_t)(q64 >> 32), (uint32_t)q64};
    return speed.rate_q32 > 0 || q64 == 0 ? speed : (struct gsim_speed){.rate_q32 = 1};
}

static bool is_slower(struct gsim_speed a, struct gsim_speed b) {
    return a.rate_q32 != b.rate_q32 ? a.rate_q32 < b.rate_q32 : a.low < b.low;
}

/* On units, of several devices as fast as on the slowest; or without any on as many GPUs as the job
 * asks for, of the first device on which it can run. */
static struct gsim_speed speed_by_epochs(const struct gsim_model *model, gsim_slot slot,
                                         const struct gsim_job *about) {
    const struct gsim_goodput *goodput = model->setup.trace->goodput;
    uint32_t app = model->jobs[slot].phases->app;
    struct gsim_spread spread;
    if (about->n_units == 0) {
        spread = gsim_goodput_packed(gsim_goodput_first(goodput, app), about->gpus,
                                     goodput->app[app].node_gpus);
        return speed_in_phase(model, slot, &spread);
    }
    spread = spread_of(model, about);
    struct gsim_speed slowest = speed_in_phase(model, slot, &spread);
    for (uint32_t u = 1; u < about->n_units; u++) {
        uint32_t device = model->goodput_device[model->setup.type_of_gpu[about->units[u].gpu]];
        if (device == spread.device)
            continue;
        spread.device = device;
        struct gsim_speed speed = speed_in_phase(model, slot, &spread);
        slowest = is_slower(speed, slowest) ? speed : slowest;
    }
    return slowest;
}

struct gsim_speed gsim_speed_beside(struct gsim_model *model, gsim_slot slot, gsim_slot other) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    uint16_t types[MOST_TYPES];
    struct gsim_tempo tempo;
    struct site site = site_of(model, about, types);
    site.is_beside = other != GSIM_NO_SLOT;
    site.other = site.is_beside ? model->jobs[other].kind : GSIM_NO_KIND;
    return speed_at(model, slot, about, &site, &tempo);
}

GSIM_APART static struct gsim_speed some_speed(struct gsim_model *model, gsim_slot slot,
                                               const struct gsim_job *about) {
    if (gsim_machine_learns(&model->jobs[slot]))
        return speed_by_epochs(model, slot, about);
    return gsim_speed_beside(model, slot, GSIM_NO_SLOT);
}

/* Of a gang over several nodes that meets another one on a node. */
GSIM_APART static struct gsim_speed met_speed(struct gsim_model *model, gsim_slot slot,
                                              struct gsim_speed alone) {
    const struct gsim_profile *profile = gsim_machine_profile_of(model, slot);
    uint64_t met_ppm = (uint64_t)profile->value[GSIM_KEY_GANG_MET_PPM];
    model->has_key[GSIM_KEY_GANG_MET_PPM] = true;
    gsim_u128 q64 = ((gsim_u128)alone.rate_q32 << 32 | alone.low) * met_ppm / GSIM_PPM;
    struct gsim_speed speed = {(uint64_t)(q64 >> 32), (uint32_t)q64};
    return speed.rate_q32 > 0 ? speed : (struct gsim_speed){.rate_q32 = 1};
}

struct gsim_speed gsim_speed_of(struct gsim_model *model, gsim_slot slot) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    bool is_uniform = !model->has_speeds && model->setup.n_profiles == 1;
    bool is_together = about->is_on_one_node || about->n_units == 1;
    bool is_as_asked = !model->has_shares && (about->n_units == about->gpus || !about->n_units);
    if (gsim_mostly(is_together && is_uniform && is_as_asked))
        return (struct gsim_speed){.rate_q32 = GSIM_RATE_ONE};
    struct gsim_speed speed = some_speed(model, slot, about);
    return gsim_rarely(model->jobs[slot].is_met) ? met_speed(model, slot, speed) : speed;
}

uint64_t gsim_speed_q32(struct gsim_model *model, gsim_slot slot) {
    return gsim_speed_of(model, slot).rate_q32;
}

uint64_t gsim_speed_beside_q32(struct gsim_model *model, gsim_slot slot, gsim_slot other) {
    return gsim_speed_beside(model, slot, other).rate_q32;
}

/* A table of speeds may have rows for any nodes, and the factors of gangs may be above 1 in a
 * profile of a user's own. */
static bool is_fastest_together(const struct gsim_profile *profile) {
    return profile->value[GSIM_KEY_GANG_NODES_PPM] <= GSIM_PPM &&
           profile->value[GSIM_KEY_GANG_NODES_SKEWED_PPM] <= GSIM_PPM &&
           profile->value[GSIM_KEY_GANG_SWITCHES_PPM] <= GSIM_PPM &&
           profile->value[GSIM_KEY_GANG_SWITCHES_SKEWED_PPM] <= GSIM_PPM;
}

uint64_t gsim_speed_most_q32(struct gsim_model *model, gsim_slot slot) {
    const struct gsim_model_setup *setup = &model->setup;
    uint64_t most_q32 = 0;
    if (setup->trace->rates || setup->trace->goodput)
        return 0;
    for (uint16_t type = 0; type < setup->n_profiles; type++) {
        uint64_t rate_q32 = device_rate_q32(model, gsim_machine_info(model, slot)->index, type);
        if (!is_fastest_together(setup->profiles[type]))
            return 0;
        most_q32 = rate_q32 > most_q32 ? rate_q32 : most_q32;
    }
    return most_q32;
}

/* The nodes that a policy sees with GPUs of a type; NULL: no memory. */
static const struct gsim_nodes_of_type *nodes_of(struct gsim_model *model, uint16_t type,
                                                 struct gsim_gpu_span seen) {
    const struct gsim_nodes_of_type *of_type =
        gsim_fewest_nodes_of(&model->nodes_seen, &model->setup, seen);
    model->is_out_of_memory |= !of_type;
    return of_type ? &of_type[type] : NULL;
}

/* The site that a policy asks about. */
static struct site site_there(struct gsim_model *model, const struct gsim_where *where,
                              struct gsim_gpu_span seen) {
    const struct gsim_nodes_of_type *there = nodes_of(model, where->type, seen);
    uint32_t nodes = where->nodes;
    if (nodes == 0 && there)
        nodes = gsim_fewest_nodes(there, where->gpus);
    struct gsim_host host = where->host;
    if (host.cpus_milli <= 0 && host.mem_bytes <= 0 && there)
        host = there->part;
    return (struct site){.profile = model->setup.profiles[where->type],
                         .types = &where->type,
                         .n_types = 1,
                         .n_units = where->gpus,
                         .nodes = nodes,
                         .spans_nodes = nodes > 1,
                         .is_beside = where->beside > 0,
                         .other =
                             where->beside > 0 ? model->jobs[where->beside - 1].kind : GSIM_NO_KIND,
                         .host = gsim_lesser_host(gsim_host_ample, host)};
}

/* On nodes that are equally full, but for the last one: as full as the fullest that the policy
 * sees, unless it says on how many. */
static struct gsim_spread spread_there(struct gsim_model *model, const struct gsim_where *where,
                                       struct gsim_gpu_span seen) {
    const struct gsim_nodes_of_type *there = nodes_of(model, where->type, seen);
    uint32_t each = there ? gsim_fullest_node(there) : 1;
    if (where->nodes > 0)
        each = where->gpus / where->nodes + (where->gpus % where->nodes != 0);
    return gsim_goodput_packed(model->goodput_device[where->type], where->gpus, each);
}

bool gsim_speed_learning(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                         struct gsim_learning *out) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_job *about = gsim_machine_info(model, slot);
    if (!gsim_machine_learns(job))
        return false;
    struct gsim_spread spread = {
        .device = gsim_goodput_first(model->setup.trace->goodput, job->phases->app)};
    if (about->n_units > 0)
        spread = spread_of(model, about);
    uint32_t phase = job->at_phase;
    const struct gsim_progress *progress = &model->progress[slot];
    gsim_work begun = phase > 0 ? gsim_work_of_ns(job->phases->end_ns[phase - 1]) : 0;
    bool has_run = progress->rate_q32 > 0 && now_ns > progress->since_ns;
    phase -= phase > 0 && progress->done <= begun && !has_run;
    gsim_goodput_learning(model->setup.trace->goodput, job->phases, phase, &spread, job->batch,
                          out);
    return true;
}

bool gsim_speed_learning_on(const struct gsim_model *model, gsim_slot slot, uint16_t type,
                            struct gsim_learning *out) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    if (!gsim_machine_learns(job))
        return false;
    const struct gsim_goodput *goodput = model->setup.trace->goodput;
    struct gsim_spread spread = gsim_goodput_packed(model->goodput_device[type], 1, 1);
    const struct gsim_app_there *there =
        gsim_goodput_there(goodput, job->phases->app, spread.device);
    if (there->n_steps == 0)
        return false;
    struct gsim_batch batch = {there->max_local, 0};
    gsim_goodput_learning(goodput, job->phases, 0, &spread, batch, out);
    return true;
}

bool gsim_speed_may_have_batch(const struct gsim_model *model, gsim_slot slot,
                               struct gsim_batch batch) {
    const struct gsim_phases *phases = model->jobs[slot].phases;
    if (!gsim_machine_learns(&model->jobs[slot]))
        return false;
    const struct gsim_goodput *goodput = model->setup.trace->goodput;
    uint32_t most = 0; /* on any device: the job may be on its way to another */
    for (uint32_t d = 0; d < goodput->n_devices; d++) {
        uint32_t there = gsim_goodput_there(goodput, phases->app, d)->max_local;
        most = there > most ? there : most;
    }
    return batch.local > 0 && batch.local <= most &&
           (uint64_t)batch.local * (batch.summed + 1) <= goodput->app[phases->app].max_batch;
}

static struct gsim_rate rate_by_epochs(struct gsim_model *model, gsim_slot slot,
                                       const struct gsim_where *where, struct gsim_gpu_span seen) {
    const struct gsim_machine_job *job = &model->jobs[slot];
    const struct gsim_goodput *goodput = model->setup.trace->goodput;
    struct gsim_spread spread = spread_there(model, where, seen);
    if (gsim_goodput_there(goodput, job->phases->app, spread.device)->n_steps == 0)
        return (struct gsim_rate){.iterations_after_epoch = -1};
    struct gsim_tempo tempo =
        gsim_goodput_tempo(goodput, job->phases, &spread, where->least_summed);
    return (struct gsim_rate){
        .pace_q32 = speed_in_phase(model, slot, &spread).rate_q32,
        .digits = tempo.digits,
        .exponent = tempo.exponent,
        .most_gpus = gsim_goodput_most_gpus(goodput, job->phases, spread.device),
        .iterations_after_epoch =
            gsim_goodput_iterations_after(goodput, job->phases, job->at_phase)};
}

struct gsim_rate gsim_speed_there(struct gsim_model *model, gsim_slot slot,
                                  const struct gsim_where *where, struct gsim_gpu_span seen) {
    const struct gsim_rates *rates = model->setup.trace->rates;
    if (gsim_machine_learns(&model->jobs[slot]))
        return rate_by_epochs(model, slot, where, seen);
    struct gsim_job about = *gsim_machine_info(model, slot);
    struct site site = site_there(model, where, seen);
    uint32_t kind = model->jobs[slot].kind;
    struct gsim_tempo tempo;
    about.share_ppm = gsim_trace_share(model->setup.trace, about.index);
    about.keeps_rate = false;
    uint64_t pace_q32 = speed_at(model, slot, &about, &site, &tempo).rate_q32;
    struct gsim_rate rate = {.pace_q32 = pace_q32,
                             .digits = tempo.digits,
                             .exponent = tempo.exponent,
                             .iterations_after_epoch = -1};
    if (rates && kind != GSIM_NO_KIND)
        rate.wants = gsim_rates_wants(rates, kind, model->rates_device[where->type], where->gpus,
                                      site.nodes);
    return rate;
}
