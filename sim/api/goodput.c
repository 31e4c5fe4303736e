/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/api/goodput.h"

#include <string.h>

#include "sim/base/units.h"

struct gsim_tempo gsim_tempo_near(double value) {
    enum { FRACTION_BITS = 52, EXPONENT_BIAS = 1023 };
    uint64_t bits, hidden = UINT64_C(1) << FRACTION_BITS;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> FRACTION_BITS);
    return exponent == 0 ? (struct gsim_tempo){0}
                         : gsim_tempo_of((bits & (hidden - 1)) | hidden,
                                         exponent - EXPONENT_BIAS - FRACTION_BITS);
}

uint32_t gsim_goodput_app(const struct gsim_goodput *goodput, const char *name) {
    for (uint32_t i = 0; i < goodput->n_apps; i++)
        if (strcmp(goodput->app[i].name, name) == 0)
            return i;
    return GSIM_NO_KIND;
}

uint32_t gsim_goodput_of_job(const struct gsim_trace *trace, uint32_t job) {
    int64_t model = gsim_trace_get(trace, GSIM_COL_MODEL, job);
    if (!trace->goodput || model < 0)
        return GSIM_NO_KIND;
    return gsim_goodput_app(trace->goodput, trace->names[GSIM_COL_MODEL].name[model]);
}

/* --- devices ---------------------------------------------------------------------------------- */

uint32_t gsim_goodput_device(const struct gsim_goodput *goodput, const char *name) {
    for (uint32_t d = 1; d < goodput->n_devices; d++)
        if (strcmp(goodput->device[d], name) == 0)
            return d;
    return 0;
}

const struct gsim_app_there *gsim_goodput_there(const struct gsim_goodput *goodput, uint32_t app,
                                                uint32_t device) {
    return &goodput->there[app * goodput->n_devices + device];
}

uint32_t gsim_goodput_first(const struct gsim_goodput *goodput, uint32_t app) {
    uint32_t device = 0;
    while (device + 1 < goodput->n_devices &&
           gsim_goodput_there(goodput, app, device)->n_steps == 0)
        device++;
    return device;
}

/* --- where and with which batch --------------------------------------------------------------- */

struct gsim_spread gsim_goodput_packed(uint32_t device, uint32_t gpus, uint32_t node_gpus) {
    struct gsim_spread spread = {.device = device};
    while (gpus > 0 && spread.n < GSIM_MOST_SPREAD) {
        bool is_last = spread.n == GSIM_MOST_SPREAD - 1;
        uint32_t here = gpus < node_gpus || is_last ? gpus : node_gpus;
        spread.gpus[spread.n++] = here;
        gpus -= here;
    }
    return spread;
}

static uint32_t gpus_of(const struct gsim_spread *spread) {
    uint32_t gpus = 0;
    for (uint32_t i = 0; i < spread->n; i++)
        gpus += spread->gpus[i];
    return gpus;
}

static uint32_t quotient_up(uint32_t a, uint32_t b) {
    return a / b + (a % b != 0);
}

/* The batch by which a job keeps its batch size over all GPUs: as few summed steps as the limits
 * allow, but one at least on one GPU beyond the smallest batch: of one step alone the variance is
 * unknown. */
static struct gsim_batch batch_for(const struct gsim_goodput *goodput, uint32_t number,
                                   const struct gsim_spread *spread, uint32_t batch,
                                   uint32_t least_summed) {
    const struct gsim_app_limits *app = &goodput->app[number];
    const struct gsim_app_there *there = gsim_goodput_there(goodput, number, spread->device);
    uint32_t gpus = gpus_of(spread);
    uint32_t each = quotient_up(batch, gpus), steps = quotient_up(each, there->max_local);
    if (gpus == 1 && batch > app->init_batch && steps < 2)
        steps = 2;
    steps = steps > least_summed ? steps : least_summed + 1;
    uint32_t local = quotient_up(each, steps);
    uint64_t most = app->max_batch / ((uint64_t)gpus * steps);
    local = local > most ? (uint32_t)most : local;
    return (struct gsim_batch){local > 0 ? local : 1, steps - 1};
}

/* --- the time of a step ----------------------------------------------------------------------- */

/* The digits of the GPUs by node, begun with node `first`; 0: there are too many. */
static uint64_t digits_from(const struct gsim_spread *spread, uint32_t first) {
    enum { MOST_DIGITS = 18 };
    uint64_t digits = 0;
    for (uint32_t i = 0; i < spread->n; i++) {
        uint32_t gpus = spread->gpus[(first + i) % spread->n];
        if (gpus > 9 || spread->n > MOST_DIGITS)
            return 0;
        digits = digits * 10 + gpus;
    }
    return digits;
}

static uint64_t place_of(const struct gsim_spread *spread) {
    uint64_t least = digits_from(spread, 0);
    for (uint32_t i = 1; i < spread->n; i++) {
        uint64_t digits = digits_from(spread, i);
        least = digits < least ? digits : least;
    }
    return least;
}

static uint32_t apart(uint32_t a, uint32_t b) {
    return a > b ? a - b : b - a;
}

/* Whether rows of one group suit a placement better than those of another. */
static bool is_nearer(const struct gsim_step_row *a, const struct gsim_step_row *b, uint32_t gpus,
                      uint32_t nodes) {
    if (apart(a->gpus, gpus) != apart(b->gpus, gpus))
        return apart(a->gpus, gpus) < apart(b->gpus, gpus);
    if (apart(a->nodes, nodes) != apart(b->nodes, nodes))
        return apart(a->nodes, nodes) < apart(b->nodes, nodes);
    return a->place == 0 && b->place != 0;
}

static const struct gsim_step_group *group_of(const struct gsim_goodput *goodput, uint32_t app,
                                              const struct gsim_spread *spread) {
    const struct gsim_app_there *there = gsim_goodput_there(goodput, app, spread->device);
    const struct gsim_step_group *best = &goodput->group[there->first_step];
    uint64_t place = place_of(spread);
    uint32_t gpus = gpus_of(spread);
    for (uint32_t g = 0; g < there->n_steps; g++) {
        const struct gsim_step_group *group = &goodput->group[there->first_step + g];
        if (place != 0 && goodput->steps[group->first].place == place)
            return group;
        if (is_nearer(&goodput->steps[group->first], &goodput->steps[best->first], gpus, spread->n))
            best = group;
    }
    return best;
}

static double between(double low, double high, double part, double whole) {
    return (high - low) / whole * part + low;
}

static struct gsim_step step_of(const struct gsim_goodput *goodput, uint32_t app,
                                const struct gsim_spread *spread, uint32_t local) {
    const struct gsim_step_group *group = group_of(goodput, app, spread);
    const struct gsim_step_row *row = &goodput->steps[group->first];
    uint32_t i = 0;
    while (i + 1 < group->n && row[i + 1].local <= local)
        i++;
    if (i + 1 == group->n || local <= row[i].local)
        return row[i].step;
    double part = local - row[i].local, whole = row[i + 1].local - row[i].local;
    return (struct gsim_step){between(row[i].step.step_s, row[i + 1].step.step_s, part, whole),
                              between(row[i].step.sync_s, row[i + 1].step.sync_s, part, whole)};
}

/* --- the gain of a step ----------------------------------------------------------------------- */

/* The rows of an epoch with the batch sizes next to this one, which may be one row. */
struct neighbours {
    const struct gsim_epoch_row *low, *high;
};

static struct neighbours beside(const struct gsim_goodput *goodput,
                                const struct gsim_app_limits *app, uint32_t epoch, uint32_t batch) {
    const struct gsim_epoch_row *low = NULL, *high = NULL;
    for (uint32_t s = 0; s < app->n_sizes && !high; s++) {
        const struct gsim_epoch_row *row = &goodput->epochs[goodput->size[app->first_size + s]];
        low = row->batch <= batch || !low ? row : low;
        high = row->batch >= batch ? row : NULL;
    }
    return (struct neighbours){low + epoch, high ? high + epoch : low + epoch};
}

struct gradient {
    double sqr, var;
};

static struct gradient gradient_of(const struct gsim_goodput *goodput,
                                   const struct gsim_app_limits *app, uint32_t epoch,
                                   uint32_t batch) {
    struct neighbours at = beside(goodput, app, epoch, batch);
    const struct gsim_epoch_row *low = at.low, *high = at.high;
    if (low->batch == high->batch)
        return (struct gradient){low->grad_sqr, low->grad_var};
    double up = (double)batch - low->batch, down = (double)high->batch - batch;
    double whole = high->batch - low->batch;
    return (struct gradient){(up * high->grad_sqr + down * low->grad_sqr) / whole,
                             (up * high->grad_var + down * low->grad_var) / whole};
}

static double gain_of(const struct gsim_goodput *goodput, const struct gsim_app_limits *app,
                      uint32_t epoch, uint32_t batch) {
    struct gradient at = gradient_of(goodput, app, epoch, batch);
    double scale = (double)batch / app->init_batch;
    return (at.var + at.sqr) / (at.var / scale + at.sqr);
}

/* Progress at the end of the first n epochs: the least of all batch sizes. */
static double progress_after(const struct gsim_goodput *goodput, const struct gsim_app_limits *app,
                             uint32_t n) {
    double least = 0;
    for (uint32_t s = 0; s < app->n_sizes && n > 0; s++) {
        double one = goodput->epochs[goodput->size[app->first_size + s] + n - 1].progress;
        least = s == 0 || one < least ? one : least;
    }
    return least;
}

/* The time of the steps of an iteration. */
static double iteration_s(const struct gsim_goodput *goodput, uint32_t app,
                          const struct gsim_spread *spread, struct gsim_batch batch) {
    struct gsim_step step = step_of(goodput, app, spread, batch.local);
    return step.step_s + (step.step_s - step.sync_s) * batch.summed;
}

struct gsim_tempo gsim_goodput_tempo(const struct gsim_goodput *goodput,
                                     const struct gsim_phases *phases,
                                     const struct gsim_spread *spread, uint32_t least_summed) {
    struct gsim_batch batch = batch_for(goodput, phases->app, spread, phases->batch, least_summed);
    return gsim_tempo_near(1 / iteration_s(goodput, phases->app, spread, batch));
}

/* The time of a phase there, in s, with a batch that a policy has set; local 0: with its own. */
static double phase_s(const struct gsim_goodput *goodput, const struct gsim_phases *phases,
                      uint32_t phase, const struct gsim_spread *spread, struct gsim_batch batch) {
    const struct gsim_app_limits *app = &goodput->app[phases->app];
    uint32_t gpus = gpus_of(spread);
    if (batch.local == 0)
        batch = batch_for(goodput, phases->app, spread, phases->batch, 0);
    double takes_s = iteration_s(goodput, phases->app, spread, batch);
    double gain = gain_of(goodput, app, phase, gpus * batch.local * (batch.summed + 1));
    return (progress_after(goodput, app, phase + 1) - progress_after(goodput, app, phase)) /
           (gain / takes_s);
}

uint32_t gsim_goodput_most_gpus(const struct gsim_goodput *goodput,
                                const struct gsim_phases *phases, uint32_t device) {
    const struct gsim_app_limits *app = &goodput->app[phases->app];
    const struct gsim_app_there *there = gsim_goodput_there(goodput, phases->app, device);
    uint32_t most = there->n_steps > 0 ? phases->batch / there->min_local : 0;
    if (app->most_gpus > 0 && app->most_gpus < most)
        most = app->most_gpus;
    return most > 0 ? most : 1;
}

static double iterations_by(const struct gsim_goodput *goodput, const struct gsim_phases *phases,
                            uint32_t phase) {
    struct neighbours at = beside(goodput, &goodput->app[phases->app], phase, phases->batch);
    if (at.low->batch == at.high->batch)
        return at.low->iterations;
    double up = (double)phases->batch - at.low->batch,
           down = (double)at.high->batch - phases->batch;
    double whole = at.high->batch - at.low->batch;
    return (up * at.high->iterations + down * at.low->iterations) / whole;
}

int64_t gsim_goodput_iterations_after(const struct gsim_goodput *goodput,
                                      const struct gsim_phases *phases, uint32_t phase) {
    double all = iterations_by(goodput, phases, phases->n - 1);
    return all > 0 ? (int64_t)(all - iterations_by(goodput, phases, phase)) : -1;
}

static struct gsim_number number_near(double value) {
    struct gsim_tempo tempo = gsim_tempo_near(value);
    return (struct gsim_number){tempo.digits, tempo.exponent};
}

void gsim_goodput_learning(const struct gsim_goodput *goodput, const struct gsim_phases *phases,
                           uint32_t phase, const struct gsim_spread *spread,
                           struct gsim_batch batch, struct gsim_learning *out) {
    const struct gsim_app_limits *app = &goodput->app[phases->app];
    const struct gsim_app_there *there = gsim_goodput_there(goodput, phases->app, spread->device);
    uint32_t gpus = gpus_of(spread);
    *out = (struct gsim_learning){.app = phases->app,
                                  .init_batch = app->init_batch,
                                  .max_batch = app->max_batch,
                                  .min_local = there->min_local,
                                  .max_local = there->max_local,
                                  .most_gpus = app->most_gpus,
                                  .own_batch = phases->batch,
                                  .gpus = gpus,
                                  .nodes = spread->n};
    if (gpus == 0)
        return;
    if (batch.local == 0)
        batch = batch_for(goodput, phases->app, spread, phases->batch, 0);
    out->batch = batch;
    struct gsim_step step = step_of(goodput, phases->app, spread, out->batch.local);
    struct gradient gradient =
        gradient_of(goodput, app, phase, gpus * out->batch.local * (out->batch.summed + 1));
    out->step_s = number_near(step.step_s);
    out->sync_s = number_near(step.sync_s);
    out->grad_sqr = number_near(gradient.sqr);
    out->grad_var = number_near(gradient.var);
}

/* --- phases ----------------------------------------------------------------------------------- */

gsim_u128 gsim_goodput_pace_q64(const struct gsim_goodput *goodput,
                                const struct gsim_phases *phases, uint32_t phase,
                                const struct gsim_spread *spread, struct gsim_batch batch) {
    if (gsim_goodput_there(goodput, phases->app, spread->device)->n_steps == 0)
        return 0;
    int64_t work_ns = phases->end_ns[phase] - (phase ? phases->end_ns[phase - 1] : 0);
    double takes_ns = phase_s(goodput, phases, phase, spread, batch) * (double)GSIM_NS_PER_S;
    return gsim_tempo_ratio_q64(gsim_tempo_of((uint64_t)work_ns, 0), gsim_tempo_near(takes_ns));
}

static const struct gsim_phases *find(const struct gsim_goodput *goodput, uint32_t app,
                                      uint32_t gpus, uint32_t batch) {
    for (uint32_t i = 0; i < goodput->n_phases; i++) {
        const struct gsim_phases *phases = &goodput->phases[i];
        if (phases->app == app && phases->gpus == gpus && phases->batch == batch)
            return phases;
    }
    return NULL;
}

/* Sets when each phase ends; false: past the end of the clock. */
static bool time_phases(const struct gsim_goodput *goodput, const struct gsim_phases *phases,
                        int64_t *end_ns) {
    struct gsim_spread spread =
        gsim_goodput_packed(gsim_goodput_first(goodput, phases->app), phases->gpus,
                            goodput->app[phases->app].node_gpus);
    int64_t now_ns = 0;
    for (uint32_t i = 0; i < phases->n; i++) {
        double takes_ns =
            phase_s(goodput, phases, i, &spread, (struct gsim_batch){0}) * (double)GSIM_NS_PER_S;
        if (!(takes_ns < (double)(GSIM_TIME_MAX / 4)) || now_ns > GSIM_TIME_MAX / 4)
            return false;
        now_ns += takes_ns < 1 ? 1 : (int64_t)(takes_ns + 0.5);
        end_ns[i] = now_ns;
    }
    return true;
}

const struct gsim_phases *gsim_goodput_make(struct gsim_goodput *goodput, struct gsim_arena *arena,
                                            uint32_t app, uint32_t gpus, uint32_t batch) {
    const struct gsim_phases *known = find(goodput, app, gpus, batch);
    if (known)
        return known;
    if (goodput->n_phases == goodput->phases_capacity) {
        uint32_t n = goodput->n_phases, more = n ? 2 * n : 16;
        struct gsim_phases *grown =
            gsim_arena_grow(arena, goodput->phases, n * sizeof *grown, more * sizeof *grown);
        if (!grown)
            return NULL;
        goodput->phases = grown;
        goodput->phases_capacity = more;
    }
    uint32_t n = goodput->app[app].n_epochs;
    int64_t *end_ns = gsim_arena_array(arena, n, sizeof *end_ns);
    if (!end_ns)
        return NULL;
    struct gsim_phases *phases = &goodput->phases[goodput->n_phases++];
    *phases = (struct gsim_phases){.app = app, .gpus = gpus, .batch = batch, .n = n};
    phases->end_ns = time_phases(goodput, phases, end_ns) ? end_ns : NULL;
    return phases;
}

const struct gsim_phases *gsim_goodput_phases(const struct gsim_trace *trace, uint32_t job) {
    uint32_t app = gsim_goodput_of_job(trace, job);
    int64_t batch = gsim_trace_get(trace, GSIM_COL_BATCH, job);
    if (app == GSIM_NO_KIND)
        return NULL;
    return find(trace->goodput, app, gsim_trace_gpus(trace, job),
                batch > 0 ? (uint32_t)batch : trace->goodput->app[app].init_batch);
}
