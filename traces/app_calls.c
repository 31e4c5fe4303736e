/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program of an application profile: its calls in order, and what would make it wait for ever.
 */
#include <string.h>

#include "gsim/units.h"
#include "traces/app_reader.h"

static enum gsim_status fail(struct gsim_app_reader *r, const char *text, const char *name) {
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line, text, name);
}

/* The number of this name in a list that ends with NULL or is full; a new name is added to it.
 * Returns `most` where there is no room. */
static uint32_t number_of(const char **names, uint32_t most, const char *name) {
    uint32_t n = 0;
    while (n < most && names[n] && strcmp(names[n], name) != 0)
        n++;
    if (n < most)
        names[n] = name;
    return n;
}

static enum gsim_status take_stream(struct gsim_app_reader *r, struct gsim_app_call *call) {
    uint32_t n =
        number_of(r->streams, GSIM_APP_STREAMS_MOST, r->cell[STREAM] ? r->cell[STREAM] : "");
    if (n == GSIM_APP_STREAMS_MOST)
        return fail(r, "stream '%.64s' is one more than the 1024 that a program may have",
                    r->cell[STREAM]);
    call->stream = (uint16_t)n;
    if (n >= r->app->n_streams)
        r->app->n_streams = (uint16_t)(n + 1);
    return GSIM_OK;
}

static enum gsim_status take_launch(struct gsim_app_reader *r, struct gsim_app_call *call) {
    struct gsim_app *app = r->app;
    /* launches of one kernel often follow each other, and the last one added is likely */
    uint32_t k = app->n_kernels;
    while (k > 0 && strcmp(r->kernels[k - 1].name, r->cell[NAME]) != 0)
        k--;
    if (k == 0)
        return fail(r,
                    "the row launches '%.64s'; accepted: a kernel, copy or set of a row before it",
                    r->cell[NAME]);
    call->kernel = k - 1;
    r->is_launched[k - 1] = true;
    enum gsim_status status =
        gsim_app_take_number(r, TIME, GSIM_NS_PER_US, 0, GSIM_NS_PER_S * 86400, &call->time_ns);
    if (status == GSIM_OK && call->time_ns >= 0 && !r->kernels[k - 1].device)
        return fail(r,
                    "the time of a launch is one on the device of its kernel, and kernel '%.64s' "
                    "names no device",
                    r->cell[NAME]);
    return status == GSIM_OK ? take_stream(r, call) : status;
}

static bool is_recorded(const struct gsim_app_reader *r, uint32_t event) {
    for (uint32_t c = 0; c < r->app->n_calls; c++)
        if (r->calls[c].kind == GSIM_CALL_RECORD && r->calls[c].event == event)
            return true;
    return false;
}

static enum gsim_status take_event(struct gsim_app_reader *r, struct gsim_app_call *call) {
    uint32_t n = number_of(r->events, GSIM_APP_ROWS_MOST, r->cell[NAME]);
    if (n == GSIM_APP_ROWS_MOST)
        return fail(r, "event '%.64s' is one more than the 4096 that a program may have",
                    r->cell[NAME]);
    if (call->kind != GSIM_CALL_RECORD && !is_recorded(r, n))
        return fail(r,
                    "the row waits for event '%.64s', which no row before it records: the program "
                    "would wait for ever",
                    r->cell[NAME]);
    call->event = (uint16_t)n;
    if (n >= r->app->n_events)
        r->app->n_events = (uint16_t)(n + 1);
    return call->kind == GSIM_CALL_WAIT_EVENT ? GSIM_OK : take_stream(r, call);
}

static enum gsim_status take_wait(struct gsim_app_reader *r, struct gsim_app_call *call) {
    if (strcmp(r->cell[NAME], "device") == 0)
        return GSIM_OK;
    call->kind =
        strcmp(r->cell[NAME], "stream") == 0 ? GSIM_CALL_WAIT_STREAM : GSIM_CALL_WAIT_EVENT;
    return call->kind == GSIM_CALL_WAIT_STREAM ? take_stream(r, call) : take_event(r, call);
}

static struct gsim_app_call *add(struct gsim_app_reader *r) {
    struct gsim_app *app = r->app;
    if (app->n_calls == r->calls_capacity) {
        uint32_t before = r->calls_capacity, capacity = before ? before * 2 : 256;
        struct gsim_app_call *grown =
            gsim_arena_grow(r->arena, r->calls, before * sizeof *grown, capacity * sizeof *grown);
        int64_t *grow_ns = gsim_arena_grow(r->arena, r->grow_ns, before * sizeof *grow_ns,
                                           capacity * sizeof *grow_ns);
        if (!grown || !grow_ns)
            return NULL;
        r->calls = grown;
        r->grow_ns = grow_ns;
        r->calls_capacity = capacity;
        app->calls = grown;
    }
    return &r->calls[app->n_calls];
}

/* A launch that takes longer each time. */
static enum gsim_status take_growth(struct gsim_app_reader *r, const struct gsim_app_call *call) {
    int64_t *grow_ns = &r->grow_ns[r->app->n_calls];
    *grow_ns = 0;
    enum gsim_status status =
        gsim_app_take_number(r, GROW, GSIM_NS_PER_US, 0, GSIM_NS_PER_S, grow_ns);
    if (status != GSIM_OK || *grow_ns == 0)
        return status;
    if (call->kind != GSIM_CALL_LAUNCH || r->n_phases == 0)
        return fail(r, "grow_us is of a launch in a phase; leave it empty%s", "");
    return r->kernels[call->kernel].time_ns >= 0
               ? GSIM_OK
               : fail(r, "grow_us adds to a time: kernel '%.64s' has no time_us", r->cell[NAME]);
}

enum gsim_status gsim_app_take_call(struct gsim_app_reader *r, enum gsim_app_call_kind kind) {
    if (r->app->n_calls == GSIM_APP_CALLS_MOST)
        return fail(
            r, "more calls than a program may have; accepted: 2^20 at most, phases written out%s",
            "");
    struct gsim_app_call *call = add(r);
    if (!call)
        return gsim_no_memory(r->log, "reading a program");
    *call = (struct gsim_app_call){.line = r->line, .time_ns = -1, .kind = kind};
    enum gsim_status status =
        gsim_app_take_number(r, HOST, GSIM_NS_PER_US, 0, GSIM_NS_PER_S * 86400, &call->host_ns);
    if (status != GSIM_OK)
        return status;
    if (kind == GSIM_CALL_LAUNCH)
        status = take_launch(r, call);
    else if (kind == GSIM_CALL_WAIT_DEVICE)
        status = take_wait(r, call);
    else
        status = take_event(r, call);
    if (status == GSIM_OK)
        status = take_growth(r, call);
    r->app->n_calls += status == GSIM_OK;
    return status;
}

/* --- phases ----------------------------------------------------------------------------------- */

static enum gsim_status fail_phase(struct gsim_app_reader *r, const char *text) {
    const struct gsim_app_phase *phase = &r->phase[r->n_phases - 1];
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, phase->line, text, phase->name);
}

/* The call is made again, for the n-th time after the first. */
static enum gsim_status make_again(struct gsim_app_reader *r, uint32_t from, int64_t n) {
    struct gsim_app_call *call = add(r);
    if (!call)
        return gsim_no_memory(r->log, "reading a program");
    *call = r->calls[from];
    call->again = (uint32_t)n;
    int64_t grow_ns = r->grow_ns[from], *own_ns = &r->grow_ns[r->app->n_calls];
    *own_ns = 0;
    if (grow_ns > 0) {
        int64_t first_ns = call->time_ns < 0 ? r->kernels[call->kernel].time_ns : call->time_ns;
        if (grow_ns > (GSIM_NS_PER_S * 86400 - first_ns) / n)
            return fail_phase(r,
                              "phase '%.64s' lets a launch grow past a day; accepted: time_us, and "
                              "grow_us for each time but the first, that are a day together at "
                              "most");
        call->time_ns = first_ns + n * grow_ns;
    }
    r->app->n_calls++;
    return GSIM_OK;
}

/* Writes out the calls of the phase that ends here. */
static enum gsim_status end_phase(struct gsim_app_reader *r) {
    if (r->n_phases == 0)
        return GSIM_OK;
    const struct gsim_app_phase *phase = &r->phase[r->n_phases - 1];
    uint32_t first = phase->first, n = r->app->n_calls - first;
    if (n == 0)
        return fail_phase(r, "phase '%.64s' has no calls; accepted: rows of kind launch, "
                             "wait, record or after behind it");
    if (phase->count > (GSIM_APP_CALLS_MOST - first) / n)
        return fail_phase(r, "with phase '%.64s' an iteration has more calls than a program may "
                             "have; accepted: 2^20 at most, each as often as its phase's count");
    enum gsim_status status = GSIM_OK;
    for (int64_t again = 1; again < phase->count && status == GSIM_OK; again++)
        for (uint32_t c = 0; c < n && status == GSIM_OK; c++)
            status = make_again(r, first + c, again);
    return status;
}

enum gsim_status gsim_app_take_phase(struct gsim_app_reader *r) {
    struct gsim_app_phase phase = {.name = r->cell[NAME], .line = r->line, .count = 1};
    enum gsim_status status =
        gsim_app_take_number(r, COUNT, 1, 1, GSIM_APP_CALLS_MOST, &phase.count);
    if (status == GSIM_OK)
        status = end_phase(r);
    for (uint32_t i = 0; i < r->n_phases && status == GSIM_OK; i++)
        if (strcmp(r->phase[i].name, phase.name) == 0)
            return fail(r, "phase '%.64s' stands twice", phase.name);
    if (status == GSIM_OK && r->n_phases == GSIM_APP_PHASES_MOST)
        return fail(r, "phase '%.64s' is one more than the 1024 that a program may have",
                    phase.name);
    phase.first = r->app->n_calls;
    if (status == GSIM_OK)
        r->phase[r->n_phases++] = phase;
    return status;
}

/* --- the whole program ------------------------------------------------------------------------ */

static enum gsim_status check_launches(struct gsim_app_reader *r) {
    struct gsim_app *app = r->app;
    for (uint32_t k = 0; k < app->n_kernels; k++)
        if (!r->is_launched[k])
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->kernels[k].line,
                             "kernel '%.64s' is launched by no row, where others are",
                             r->kernels[k].name);
    for (uint32_t k = 0; k < app->n_kernels; k++)
        r->kernels[k].count = 0;
    for (uint32_t c = 0; c < app->n_calls; c++)
        r->kernels[app->calls[c].kernel].count += app->calls[c].kind == GSIM_CALL_LAUNCH;
    return GSIM_OK;
}

enum gsim_status gsim_app_finish_calls(struct gsim_app_reader *r) {
    struct gsim_app *app = r->app;
    enum gsim_status status = end_phase(r);
    if (status != GSIM_OK || (app->n_calls == 0 && app->sync_every == 1))
        return status;
    if (app->n_calls == 0)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, 0,
                         "a wait after several iterations (sync with a count) needs a program: "
                         "rows of kind launch");
    if (app->sync == GSIM_SYNC_KERNEL)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, 0,
                         "a program says where its host waits: sync is iteration or none");
    status = check_launches(r);
    const int64_t most_ns = GSIM_NS_PER_S * 86400;
    app->launch_ns = app->host_ns;
    app->host_ns = 0;
    for (uint32_t c = 0; c < app->n_calls && app->host_ns <= most_ns; c++)
        app->host_ns += app->calls[c].host_ns;
    if (status == GSIM_OK && app->host_ns + app->gap_ns > most_ns)
        return gsim_fail(
            r->log, GSIM_BAD_INPUT, r->path, 0,
            "the host needs more than a day for an iteration; accepted: host_us and the "
            "gap of all calls, a day together at most");
    return status;
}
