/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/goodput.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/decimal.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "traces/csv.h"

enum target {
    ROW = 0,
    APPLICATION,
    PLACEMENT,
    NODES,
    GPUS,
    BATCH,
    STEP_S,
    SYNC_S,
    EPOCH,
    PROGRESS,
    GRAD_SQR,
    GRAD_VAR,
    ITERATIONS,
    MAX_BATCH,
    MIN_LOCAL,
    MAX_LOCAL,
    MOST_GPUS,
    DEVICE, /* the only column that a table may lack */
    N_TARGETS
};
static const char *const names[N_TARGETS] = {
    "row",        "application", "placement", "nodes",     "gpus",      "batch",
    "step_s",     "sync_s",      "epoch",     "progress",  "grad_sqr",  "grad_var",
    "iterations", "max_batch",   "min_local", "max_local", "most_gpus", "device"};
enum kind { LIMITS = 0, STEP, EPOCHS, N_KINDS };
static const char *const kinds[N_KINDS] = {"limits", "step", "epoch"};
enum { MOST_ROWS = 1000000, MOST_APPS = 1000, MOST_DEVICES = 64, MOST_BATCH = 1 << 24 };

/* The numbers that a column accepts, and their unit. */
struct form {
    const char *of;
    bool is_whole;
    double least, most;
};
static const struct form forms[N_TARGETS] = {
    [NODES] = {"nodes", true, 1, GSIM_MAX_GANG},
    [GPUS] = {"GPUs", true, 1, GSIM_MAX_GANG},
    [MOST_GPUS] = {"GPUs", true, 1, GSIM_MAX_GANG},
    [EPOCH] = {"the epoch, from 0", true, 0, MOST_ROWS},
    [BATCH] = {"samples", true, 1, MOST_BATCH},
    [MAX_BATCH] = {"samples", true, 1, MOST_BATCH},
    [MIN_LOCAL] = {"samples", true, 1, MOST_BATCH},
    [MAX_LOCAL] = {"samples", true, 1, MOST_BATCH},
    [STEP_S] = {"seconds", false, 1e-9, 1e30},
    [SYNC_S] = {"seconds", false, 0, 1e30},
    [PROGRESS] = {"the progress at the end of the epoch", false, 0, 1e30},
    [GRAD_SQR] = {"the square of the gradient", false, 0, 1e30},
    [GRAD_VAR] = {"the variance of the gradient", false, 0, 1e30},
    [ITERATIONS] = {"iterations", false, 0, 1e30},
};

/* Of an application on a device. */
struct limits {
    uint32_t app, device, min_local, max_local;
};

struct reading {
    struct gsim_arena *arena;
    struct gsim_log *log;
    struct gsim_goodput *goodput;
    enum target target[GSIM_MAX_FIELD_COLUMNS];
    struct gsim_step_row *steps;
    struct gsim_epoch_row *epochs;
    struct limits *limits; /* rows */
    uint32_t n_limits, limits_capacity;
    const char *device[MOST_DEVICES];
    uint32_t n_devices;
    uint32_t n_steps, steps_capacity, n_epochs, epochs_capacity, apps_capacity;
    /* the row under way; cells that are empty are 0 and not there */
    double value[N_TARGETS];
    bool is_there[N_TARGETS];
    uint32_t app, device_of_row;
    int kind;
    enum target bad; /* the column of its first bad cell; N_TARGETS: none */
    char bad_text[64];
    bool is_out_of_memory;
};

/* --- cells ------------------------------------------------------------------------------------ */

/* "limits, step, epoch"; "": no memory. */
static const char *names_of(const struct reading *r, const char *const *name, int n) {
    const char *list = name[0];
    for (int i = 1; i < n && list; i++)
        list = gsim_arena_printf(r->arena, "%s, %s", list, name[i]);
    return list ? list : "";
}

static enum gsim_status on_header(void *arg, const char *const *header, uint32_t n, int64_t line) {
    struct reading *r = arg;
    bool has[N_TARGETS] = {false};
    for (uint32_t i = 0; i < n; i++) {
        int t = 0;
        while (t < N_TARGETS && strcmp(header[i], names[t]) != 0)
            t++;
        if (t == N_TARGETS)
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->goodput->path, line,
                             "a table of goodput has no column '%.64s'; accepted: %s", header[i],
                             names_of(r, names, N_TARGETS));
        r->target[i] = (enum target)t;
        has[t] = true;
    }
    for (int t = 0; t < N_TARGETS; t++)
        if (!has[t] && t != DEVICE)
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->goodput->path, line,
                             "no column '%s'; a table of goodput has %s, and device if need be",
                             names[t], names_of(r, names, DEVICE));
    return GSIM_OK;
}

static uint32_t app_named(struct reading *r, const char *name) {
    struct gsim_goodput *goodput = r->goodput;
    uint32_t at = gsim_goodput_app(goodput, name), n = goodput->n_apps;
    if (at != GSIM_NO_KIND || n == MOST_APPS)
        return at;
    if (n == r->apps_capacity) {
        uint32_t more = n ? 2 * n : 8;
        struct gsim_app_limits *grown =
            gsim_arena_grow(r->arena, goodput->app, n * sizeof *grown, more * sizeof *grown);
        r->is_out_of_memory |= !grown;
        if (!grown)
            return GSIM_NO_KIND;
        goodput->app = grown;
        r->apps_capacity = more;
    }
    goodput->app[n] = (struct gsim_app_limits){.name = gsim_arena_strdup(r->arena, name)};
    r->is_out_of_memory |= !goodput->app[n].name;
    goodput->n_apps += goodput->app[n].name != NULL;
    return n;
}

/* 0: none is named. MOST_DEVICES: there are too many. */
static uint32_t device_named(struct reading *r, const char *name) {
    uint32_t d = 1;
    if (!*name)
        return 0;
    while (d < r->n_devices && strcmp(r->device[d], name) != 0)
        d++;
    if (d < r->n_devices || d == MOST_DEVICES)
        return d;
    r->device[d] = gsim_arena_strdup(r->arena, name);
    r->is_out_of_memory |= !r->device[d];
    r->n_devices = d + 1;
    return d;
}

static bool take_whole(const char *text, double *out) {
    int64_t value;
    bool is_whole = gsim_parse_int(text, &value) == GSIM_PARSE_OK;
    *out = is_whole ? (double)value : 0;
    return is_whole;
}

/* Digits from 1 to 9, of which a double holds 15 exactly. */
static bool take_placement(const char *text, double *out) {
    size_t n = strlen(text);
    return n <= 15 && strspn(text, "123456789") == n && take_whole(text, out);
}

static bool take_decimal(const char *text, double *out) {
    char *end;
    *out = gsim_decimal_read(text, &end);
    return *text && !*end;
}

static bool take_number(const struct form *form, const char *text, double *out) {
    bool is_number = form->is_whole ? take_whole(text, out) : take_decimal(text, out);
    return is_number && *out >= form->least && *out <= form->most;
}

static bool take(struct reading *r, enum target target, const char *text) {
    double *value = &r->value[target];
    r->is_there[target] = *text != '\0';
    switch (target) {
    case ROW:
        for (r->kind = 0; r->kind < N_KINDS && strcmp(text, kinds[r->kind]) != 0;)
            r->kind++;
        return r->kind < N_KINDS;
    case APPLICATION:
        r->app = *text ? app_named(r, text) : GSIM_NO_KIND;
        return r->app != GSIM_NO_KIND || r->is_out_of_memory;
    case DEVICE:
        r->device_of_row = device_named(r, text);
        return r->device_of_row < MOST_DEVICES;
    case PLACEMENT:
        return !*text || take_placement(text, value);
    default:
        return !*text || take_number(&forms[target], text, value);
    }
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct reading *r = arg;
    (void)length;
    if (take(r, r->target[column], text) || r->bad != N_TARGETS)
        return;
    r->bad = r->target[column];
    (void)snprintf(r->bad_text, sizeof r->bad_text, "%s", text);
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool grow(struct reading *r, void **list, uint32_t n, uint32_t *capacity, size_t size) {
    uint32_t more = *capacity ? 2 * *capacity : 256;
    if (n < *capacity)
        return true;
    void *grown = gsim_arena_grow(r->arena, *list, n * size, more * size);
    r->is_out_of_memory |= !grown;
    if (!grown)
        return false;
    *list = grown;
    *capacity = more;
    return true;
}

static uint32_t count_of(const struct reading *r, enum target target) {
    return (uint32_t)r->value[target];
}

static void add_step(struct reading *r) {
    void *list = r->steps;
    if (!grow(r, &list, r->n_steps, &r->steps_capacity, sizeof *r->steps))
        return;
    r->steps = list;
    struct gsim_step_row row = {.app = r->app,
                                .device = r->device_of_row,
                                .place = (uint64_t)r->value[PLACEMENT],
                                .nodes = count_of(r, NODES),
                                .gpus = count_of(r, GPUS),
                                .local = count_of(r, BATCH),
                                .step = {r->value[STEP_S], r->value[SYNC_S]}};
    struct gsim_app_limits *app = &r->goodput->app[r->app];
    for (uint64_t digits = row.place; digits > 0; digits /= 10) {
        uint32_t gpus = (uint32_t)(digits % 10);
        row.nodes++;
        row.gpus += gpus;
        app->node_gpus = gpus > app->node_gpus ? gpus : app->node_gpus;
    }
    r->steps[r->n_steps++] = row;
}

static void add_epoch(struct reading *r) {
    void *list = r->epochs;
    if (!grow(r, &list, r->n_epochs, &r->epochs_capacity, sizeof *r->epochs))
        return;
    r->epochs = list;
    r->epochs[r->n_epochs++] = (struct gsim_epoch_row){.app = r->app,
                                                       .batch = count_of(r, BATCH),
                                                       .epoch = count_of(r, EPOCH),
                                                       .progress = r->value[PROGRESS],
                                                       .grad_sqr = r->value[GRAD_SQR],
                                                       .grad_var = r->value[GRAD_VAR],
                                                       .iterations = r->value[ITERATIONS]};
}

static void add_limits(struct reading *r) {
    struct gsim_app_limits *app = &r->goodput->app[r->app];
    void *list = r->limits;
    if (!grow(r, &list, r->n_limits, &r->limits_capacity, sizeof *r->limits))
        return;
    r->limits = list;
    r->limits[r->n_limits++] =
        (struct limits){r->app, r->device_of_row, count_of(r, MIN_LOCAL), count_of(r, MAX_LOCAL)};
    app->max_batch = count_of(r, MAX_BATCH);
    app->most_gpus = count_of(r, MOST_GPUS);
    app->is_given = true;
}

static bool has_limits(const struct reading *r) {
    bool has = false;
    for (uint32_t i = 0; i < r->n_limits; i++)
        has |= r->limits[i].app == r->app && r->limits[i].device == r->device_of_row;
    return has;
}

/* Whether the application has other limits on another device, of those that it has everywhere. */
static bool has_other_limits(const struct reading *r) {
    const struct gsim_app_limits *app = &r->goodput->app[r->app];
    return app->is_given &&
           (app->max_batch != count_of(r, MAX_BATCH) || app->most_gpus != count_of(r, MOST_GPUS));
}

/* The fault of a row with readable cells; NULL: none. */
static const char *fault_of(const struct reading *r) {
    const bool *is = r->is_there;
    bool by_nodes = is[NODES] && is[GPUS];
    if (r->goodput->n_apps == MOST_APPS || r->n_steps + r->n_epochs >= MOST_ROWS)
        return "is one too many: at most 999 applications and 10^6 steps and epochs fit";
    if (r->kind == LIMITS && has_limits(r))
        return "stands twice";
    if (r->kind == LIMITS && has_other_limits(r))
        return "has another max_batch or most_gpus than that of another device";
    if (r->kind == EPOCHS && r->device_of_row > 0)
        return "is of all devices, and names one";
    if (r->kind == LIMITS && !(is[MAX_BATCH] && is[MIN_LOCAL] && is[MAX_LOCAL]))
        return "needs max_batch, min_local and max_local";
    if (r->kind == STEP && !(is[BATCH] && is[STEP_S] && is[SYNC_S]))
        return "needs batch, step_s and sync_s";
    if (r->kind == STEP && (is[PLACEMENT] ? is[NODES] || is[GPUS] : !by_nodes))
        return "needs a placement, or nodes and gpus, and not both";
    if (r->kind == STEP && r->value[SYNC_S] > r->value[STEP_S])
        return "has a sync_s above its step_s";
    if (r->kind == STEP && by_nodes && r->value[NODES] > r->value[GPUS])
        return "has more nodes than GPUs";
    if (r->kind == EPOCHS &&
        !(is[BATCH] && is[EPOCH] && is[PROGRESS] && is[GRAD_SQR] && is[GRAD_VAR]))
        return "needs batch, epoch, progress, grad_sqr and grad_var";
    if (r->kind == EPOCHS && !(r->value[GRAD_SQR] + r->value[GRAD_VAR] > 0))
        return "has a gradient of 0";
    return NULL;
}

static enum gsim_status refuse_cell(const struct reading *r, int64_t line) {
    const struct form *form = &forms[r->bad];
    const char *accepted =
        r->bad == ROW           ? names_of(r, kinds, N_KINDS)
        : r->bad == APPLICATION ? "a name, one of at most 999 applications"
        : r->bad == DEVICE      ? "the name of a device, one of at most 63"
        : r->bad == PLACEMENT
            ? "the GPUs on each node, at most 15 digits from 1 to 9, such as 44"
            : gsim_arena_printf(r->arena, "a %snumber from %.10g to %.10g (%s)",
                                form->is_whole ? "whole " : "", form->least, form->most, form->of);
    if (!accepted || gsim_arena_has_failed(r->arena))
        return gsim_no_memory(r->log, "reading a table of goodput");
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->goodput->path, line,
                     "column '%s': '%s' cannot be read; accepted: %s", names[r->bad], r->bad_text,
                     accepted);
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct reading *r = arg;
    const char *path = r->goodput->path;
    if (r->is_out_of_memory)
        return gsim_no_memory(r->log, "reading a table of goodput");
    if (r->bad != N_TARGETS)
        return refuse_cell(r, line);
    const char *fault = fault_of(r);
    if (fault)
        return gsim_fail(r->log, GSIM_BAD_INPUT, path, line, "a row '%s' %s", kinds[r->kind],
                         fault);
    if (r->kind == LIMITS)
        add_limits(r);
    else if (r->kind == STEP)
        add_step(r);
    else
        add_epoch(r);
    memset(r->value, 0, sizeof r->value);
    r->device_of_row = 0;
    return r->is_out_of_memory ? gsim_no_memory(r->log, "reading a table of goodput") : GSIM_OK;
}

/* --- compiling -------------------------------------------------------------------------------- */

static int rank(uint64_t a, uint64_t b) {
    return a == b ? 0 : a < b ? -1 : 1;
}

/* By where, and not by batch: equal rows are of one group. */
static int by_place(const struct gsim_step_row *a, const struct gsim_step_row *b) {
    int order = rank(a->app, b->app);
    order = order ? order : rank(a->device, b->device);
    order = order ? order : rank(a->place, b->place);
    order = order ? order : rank(a->nodes, b->nodes);
    return order ? order : rank(a->gpus, b->gpus);
}

static int by_step(const void *left, const void *right) {
    const struct gsim_step_row *a = left, *b = right;
    int order = by_place(a, b);
    return order ? order : rank(a->local, b->local);
}

static int by_epoch(const void *left, const void *right) {
    const struct gsim_epoch_row *a = left, *b = right;
    int order = rank(a->app, b->app);
    order = order ? order : rank(a->batch, b->batch);
    return order ? order : rank(a->epoch, b->epoch);
}

static enum gsim_status group_steps(struct reading *r) {
    struct gsim_goodput *goodput = r->goodput;
    struct gsim_step_group *group = gsim_arena_array(r->arena, r->n_steps + 1, sizeof *group);
    uint32_t n = 0;
    if (!group)
        return gsim_no_memory(r->log, "reading a table of goodput");
    qsort(r->steps, r->n_steps, sizeof *r->steps, by_step);
    for (uint32_t i = 0; i < r->n_steps; i++) {
        struct gsim_app_limits *app = &goodput->app[r->steps[i].app];
        if (i > 0 && by_step(&r->steps[i - 1], &r->steps[i]) == 0)
            return gsim_fail(r->log, GSIM_BAD_INPUT, goodput->path, 0,
                             "a step of '%.64s' with batch %u on %u GPUs of %u nodes stands twice",
                             app->name, r->steps[i].local, r->steps[i].gpus, r->steps[i].nodes);
        if (i == 0 || by_place(&r->steps[i - 1], &r->steps[i]) != 0) {
            struct gsim_app_there *there =
                &goodput->there[r->steps[i].app * goodput->n_devices + r->steps[i].device];
            group[n++] = (struct gsim_step_group){.first = i};
            there->first_step = there->n_steps++ ? there->first_step : n - 1;
        }
        group[n - 1].n++;
    }
    goodput->steps = r->steps;
    goodput->group = group;
    return GSIM_OK;
}

/* Each batch size has a row for each epoch, and progress rises. */
static enum gsim_status check_size(const struct reading *r, const struct gsim_app_limits *app,
                                   uint32_t first, uint32_t n) {
    const struct gsim_epoch_row *row = &r->epochs[first];
    for (uint32_t i = 0; i < n; i++)
        if (row[i].epoch != i || !(row[i].progress > (i ? row[i - 1].progress : 0)))
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->goodput->path, 0,
                             "the epochs of '%.64s' with batch %u are not 0, 1, ... of rising "
                             "progress",
                             app->name, row->batch);
    return GSIM_OK;
}

static enum gsim_status group_epochs(struct reading *r) {
    struct gsim_goodput *goodput = r->goodput;
    uint32_t *size = gsim_arena_array(r->arena, r->n_epochs + 1, sizeof *size), n = 0;
    if (!size)
        return gsim_no_memory(r->log, "reading a table of goodput");
    qsort(r->epochs, r->n_epochs, sizeof *r->epochs, by_epoch);
    for (uint32_t i = 0, to; i < r->n_epochs; i = to) {
        struct gsim_app_limits *app = &goodput->app[r->epochs[i].app];
        for (to = i; to < r->n_epochs && r->epochs[to].app == r->epochs[i].app &&
                     r->epochs[to].batch == r->epochs[i].batch;)
            to++;
        if (check_size(r, app, i, to - i) != GSIM_OK)
            return GSIM_BAD_INPUT;
        if (app->n_sizes++ == 0) {
            app->first_size = n;
            app->init_batch = r->epochs[i].batch;
            app->n_epochs = to - i;
        }
        app->n_epochs = to - i < app->n_epochs ? to - i : app->n_epochs;
        size[n++] = i;
    }
    goodput->epochs = r->epochs;
    goodput->size = size;
    return GSIM_OK;
}

static enum gsim_status open_devices(struct reading *r) {
    struct gsim_goodput *goodput = r->goodput;
    goodput->n_devices = r->n_devices;
    goodput->device = gsim_arena_array(r->arena, r->n_devices, sizeof *goodput->device);
    goodput->there =
        gsim_arena_array(r->arena, (size_t)goodput->n_apps * r->n_devices, sizeof *goodput->there);
    if (!goodput->device || !goodput->there)
        return gsim_no_memory(r->log, "reading a table of goodput");
    for (uint32_t d = 0; d < r->n_devices; d++)
        goodput->device[d] = r->device[d];
    return GSIM_OK;
}

/* What no row says of a device, those say that name none. Where an application has no steps it
 * cannot run. */
static void fill_devices(struct reading *r) {
    struct gsim_goodput *goodput = r->goodput;
    for (uint32_t i = 0; i < r->n_limits; i++) {
        struct gsim_app_there *there =
            &goodput->there[r->limits[i].app * goodput->n_devices + r->limits[i].device];
        there->min_local = r->limits[i].min_local;
        there->max_local = r->limits[i].max_local;
    }
    for (uint32_t app = 0; app < goodput->n_apps; app++) {
        struct gsim_app_there *any = &goodput->there[app * goodput->n_devices];
        for (uint32_t d = 1; d < goodput->n_devices; d++) {
            if (any[d].n_steps == 0) {
                any[d].first_step = any->first_step;
                any[d].n_steps = any->n_steps;
            }
            if (any[d].max_local == 0) {
                any[d].min_local = any->min_local;
                any[d].max_local = any->max_local;
            }
        }
    }
}

static const char *missing_of(const struct gsim_goodput *goodput, uint32_t app) {
    const struct gsim_app_there *there =
        gsim_goodput_there(goodput, app, gsim_goodput_first(goodput, app));
    if (!goodput->app[app].is_given)
        return kinds[LIMITS];
    return there->n_steps == 0              ? kinds[STEP]
           : goodput->app[app].n_sizes == 0 ? kinds[EPOCHS]
                                            : NULL;
}

static enum gsim_status check_there(const struct reading *r, uint32_t number, uint32_t device) {
    const struct gsim_app_limits *app = &r->goodput->app[number];
    const struct gsim_app_there *there = gsim_goodput_there(r->goodput, number, device);
    if (there->n_steps == 0)
        return GSIM_OK;
    if (there->max_local == 0)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->goodput->path, 0,
                         "application '%.64s' has steps on '%.64s', and no row 'limits' that names "
                         "it or no device",
                         app->name, device ? r->device[device] : "any device");
    if (there->min_local > there->max_local || there->max_local > app->max_batch ||
        app->max_batch < app->init_batch)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->goodput->path, 0,
                         "application '%.64s': min_local <= max_local <= max_batch does not "
                         "hold, or max_batch is below its smallest batch of epochs",
                         app->name);
    return GSIM_OK;
}

static enum gsim_status check_apps(const struct reading *r) {
    const struct gsim_goodput *goodput = r->goodput;
    enum gsim_status status = GSIM_OK;
    for (uint32_t i = 0; i < goodput->n_apps && status == GSIM_OK; i++) {
        struct gsim_app_limits *app = &goodput->app[i];
        const char *missing = missing_of(goodput, i);
        if (missing)
            return gsim_fail(r->log, GSIM_BAD_INPUT, goodput->path, 0,
                             "application '%.64s' has no row '%s'", app->name, missing);
        for (uint32_t d = 0; d < goodput->n_devices && status == GSIM_OK; d++)
            status = check_there(r, i, d);
        app->node_gpus = app->node_gpus ? app->node_gpus : 1;
    }
    return status;
}

enum gsim_status gsim_goodput_read(const char *path, struct gsim_arena *arena,
                                   struct gsim_goodput **out, struct gsim_log *log) {
    struct reading *r = gsim_arena_alloc(arena, sizeof *r);
    struct gsim_goodput *goodput = gsim_arena_alloc(arena, sizeof *goodput);
    if (!r || !goodput)
        return gsim_no_memory(log, "reading a table of goodput");
    goodput->path = path;
    *r = (struct reading){
        .arena = arena, .log = log, .goodput = goodput, .n_devices = 1, .bad = N_TARGETS};
    struct gsim_csv_user user = {r, on_header, on_field, on_row, NULL};
    enum gsim_status status = gsim_csv_read_file(path, &user, arena, log);
    if (status == GSIM_OK && goodput->n_apps == 0)
        status = gsim_fail(log, GSIM_BAD_INPUT, path, 0, "a table of goodput without a row");
    status = status == GSIM_OK ? open_devices(r) : status;
    status = status == GSIM_OK ? group_steps(r) : status;
    status = status == GSIM_OK ? group_epochs(r) : status;
    *out = goodput;
    if (status != GSIM_OK)
        return status;
    fill_devices(r);
    return check_apps(r);
}

/* --- jobs ------------------------------------------------------------------------------------- */

enum gsim_status gsim_goodput_fill(struct gsim_goodput *goodput, struct gsim_builder *builder,
                                   int64_t line) {
    struct gsim_row *row = &builder->row;
    int64_t model = row->cell[GSIM_COL_MODEL], batch = row->cell[GSIM_COL_BATCH];
    if (!goodput || model < 0)
        return GSIM_OK;
    uint32_t app = gsim_goodput_app(goodput, builder->names[GSIM_COL_MODEL].name[model]);
    if (app == GSIM_NO_KIND)
        return GSIM_OK;
    const struct gsim_app_limits *limits = &goodput->app[app];
    const char *id = row->id_length ? row->id : "";
    if (batch > limits->max_batch || (batch > 0 && batch < limits->init_batch))
        return gsim_fail(builder->log, GSIM_BAD_INPUT, builder->path, line,
                         "job '%.64s': by %s, '%.64s' has batches from %u to %u, and not %lld", id,
                         goodput->path, limits->name, limits->init_batch, limits->max_batch,
                         (long long)batch);
    if (row->gpus > limits->max_batch)
        return gsim_fail(builder->log, GSIM_BAD_INPUT, builder->path, line,
                         "job '%.64s' asks for %u GPUs; by %s, a batch of '%.64s' has no more than "
                         "%u parts",
                         id, row->gpus, goodput->path, limits->name, limits->max_batch);
    const struct gsim_phases *phases = gsim_goodput_make(
        goodput, builder->arena, app, row->gpus, batch > 0 ? (uint32_t)batch : limits->init_batch);
    if (!phases)
        return gsim_no_memory(builder->log, "reading a trace");
    if (!phases->end_ns)
        return gsim_fail(builder->log, GSIM_BAD_INPUT, builder->path, line,
                         "job '%.64s': by %s it lasts past the end of the clock (146 years)", id,
                         goodput->path);
    row->cell[GSIM_COL_GPU_NS] = -1;
    row->cell[GSIM_COL_ITERATIONS] = -1;
    row->service_ns = phases->end_ns[phases->n - 1];
    return GSIM_OK;
}

const char *gsim_goodput_name(const struct gsim_goodput *goodput, const struct gsim_trace *trace,
                              struct gsim_arena *arena) {
    uint32_t n = 0, first = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (gsim_goodput_of_job(trace, job) == GSIM_NO_KIND && n++ == 0)
            first = job;
    if (n == 0)
        return NULL;
    const char *text = gsim_arena_printf(
        arena, "goodput=own columns (%u of %u jobs are of no application in %s; the first is '%s')",
        n, trace->n_jobs, goodput->path, gsim_trace_id(trace, first));
    return text ? text : "goodput=own columns";
}
