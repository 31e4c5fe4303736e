/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A call's time counts as the host's up to its end, when its kernel can begin. A wait takes the
 * host until the work that it waits for has ended; the rest of its time, in which the host learns
 * of that, belongs to the call after it. Calls that launch nothing (events, attributes) are part of
 * the host time before the next. */
#include "traces/timeline.h"

#include <string.h>

#include "gsim/units.h"
#include "sim/base/sort.h"
#include "traces/input.h"
#include "traces/profiler.h"

const struct gsim_profiler gsim_profiler_timeline = {
    .name = "timeline",
    .summary = "a program, launch by launch: rows, a Chrome trace (PyTorch), or Nsight's database",
    .notes =
        "rows of iterations, calls and their kernels (what, t_ns, dur_ns, corr, stream, grid, "
        "block,\n"
        "regs, shared_bytes, name, and kind where a file has several programs), or a trace as for\n"
        "kineto, with prof.step() after each iteration, or the database of Nsight Systems (nsys\n"
        "export --type sqlite) with a range of NVTX around each iteration, which --kind names:\n"
        "  gsim import timeline rows.csv.gz --device h200 --kind vit_train --sync-every 4 -o "
        "app.csv\n"
        "and name app.csv in a trace's column app, with iterations and duration_s, or host_ms, as\n"
        "they are without the profiler, which makes the host slower ('gsim help programs').\n",
};

enum gsim_status gsim_timeline_read(struct gsim_timeline *timeline) {
    struct gsim_input *input = NULL;
    const char *text;
    size_t n;
    enum gsim_status status =
        gsim_input_open(timeline->path, timeline->arena, &input, timeline->log);
    if (status == GSIM_OK)
        status = gsim_input_peek_text(input, &text, &n, timeline->log);
    if (status == GSIM_OK)
        status = n > 0 && (*text == '{' || *text == '[')
                     ? gsim_timeline_read_kineto(timeline, input)
                     : gsim_timeline_read_csv(timeline, input);
    gsim_input_close(input);
    return status;
}

/* --- joining ---------------------------------------------------------------------------------- */

/* The records in two orders: iterations and calls by time, and work by what joins it to calls. */
struct joining {
    struct gsim_timeline *timeline;
    uint32_t *by_time, *work; /* records */
    uint32_t n_work;
    bool *is_called; /* by record: work that has a call */
    bool *is_launched; /* by record: work that is in the program already */
    int64_t joined_ns; /* the work of all calls */
};

static const char *name_of(const struct gsim_timeline *timeline, uint32_t record) {
    return timeline->names->names[GSIM_COL_APP].name[timeline->record[record].name];
}

static bool is_work(const struct gsim_timeline_record *record) {
    return record->what >= GSIM_TIMELINE_KERNEL;
}

static bool is_wait(const char *name) {
    return strstr(name, "Synchronize") != NULL;
}

/* Calls of these names have work on the GPU, mostly. */
static bool is_launch(const char *name) {
    return strstr(name, "Launch") || strstr(name, "Memcpy") || strstr(name, "Memset");
}

/* Of records that begin in one instant, an iteration stands before its first call. */
static bool sort_by_time(const struct gsim_timeline *timeline, int64_t *keys, uint32_t *out,
                         uint32_t *order) {
    const struct gsim_timeline_record *record = timeline->record;
    uint32_t *first = order, n = 0;
    for (int is_call = 0; is_call < 2; is_call++)
        for (uint32_t i = 0; i < timeline->n; i++)
            if ((record[i].what != GSIM_TIMELINE_ITERATION) == is_call)
                first[n++] = i;
    for (uint32_t i = 0; i < n; i++)
        keys[i] = record[first[i]].begin_ns;
    if (!gsim_sort_order(keys, out, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        out[i] = first[out[i]];
    return true;
}

static enum gsim_status sort(struct joining *j) {
    struct gsim_timeline *timeline = j->timeline;
    int64_t *keys = gsim_arena_array(timeline->arena, timeline->n + 1, sizeof *keys);
    uint32_t *by_begin = gsim_arena_array(timeline->arena, timeline->n + 1, sizeof *by_begin);
    uint32_t *order = gsim_arena_array(timeline->arena, timeline->n + 1, sizeof *order);
    j->work = gsim_arena_array(timeline->arena, timeline->n + 1, sizeof *j->work);
    j->is_called = gsim_arena_array(timeline->arena, timeline->n + 1, sizeof *j->is_called);
    j->is_launched = gsim_arena_array(timeline->arena, timeline->n + 1, sizeof *j->is_launched);
    if (!keys || !by_begin || !order || !j->work || !j->is_called || !j->is_launched)
        return gsim_no_memory(timeline->log, "joining a timeline");
    if (!sort_by_time(timeline, keys, by_begin, order))
        return gsim_no_memory(timeline->log, "joining a timeline");
    for (uint32_t i = 0; i < timeline->n; i++)
        keys[i] = timeline->record[by_begin[i]].corr;
    if (!gsim_sort_order(keys, order, timeline->n))
        return gsim_no_memory(timeline->log, "joining a timeline");
    for (uint32_t i = 0; i < timeline->n; i++)
        if (is_work(&timeline->record[by_begin[order[i]]]))
            j->work[j->n_work++] = by_begin[order[i]];
    j->by_time = by_begin;
    return GSIM_OK;
}

/* The first work of this call; n_work: it has none. A graph's kernels are all joined to its
 * launch. */
static uint32_t first_work(const struct joining *j, int64_t corr) {
    const struct gsim_timeline_record *record = j->timeline->record;
    uint32_t low = 0, high = j->n_work;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (record[j->work[middle]].corr < corr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < j->n_work && corr >= 0 && record[j->work[low]].corr == corr ? low : j->n_work;
}

/* --- one iteration ---------------------------------------------------------------------------- */

struct walking {
    struct joining *join;
    struct gsim_timeline_iteration *iteration;
    int64_t mark_ns; /* up to when the host's time is told */
    int64_t busy_ns; /* the end of all work that was launched so far */
};

static enum gsim_status add_step(struct walking *w, const struct gsim_timeline_step *step) {
    struct gsim_timeline *timeline = w->join->timeline;
    if (timeline->n_steps == timeline->steps_capacity) {
        uint32_t capacity = timeline->steps_capacity ? timeline->steps_capacity * 2 : 1024;
        struct gsim_timeline_step *grown =
            gsim_arena_grow(timeline->arena, timeline->step,
                            timeline->steps_capacity * sizeof *grown, capacity * sizeof *grown);
        if (!grown)
            return gsim_no_memory(timeline->log, "folding a timeline");
        timeline->step = grown;
        timeline->steps_capacity = capacity;
    }
    timeline->step[timeline->n_steps++] = *step;
    w->iteration->n++;
    w->iteration->host_ns += step->host_ns;
    w->iteration->gpu_ns += step->dur_ns;
    return GSIM_OK;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t end_of(const struct gsim_timeline_record *record) {
    return record->begin_ns + record->dur_ns;
}

/* The host waits from at_ns, at most until the call's end. */
static enum gsim_status wait(struct walking *w, const struct gsim_timeline_record *call,
                             int64_t at_ns) {
    struct gsim_timeline_step step = {.host_ns = later(at_ns - w->mark_ns, 0),
                                      .kind = call->stream >= 0 ? GSIM_CALL_WAIT_STREAM
                                                                : GSIM_CALL_WAIT_DEVICE,
                                      .stream = call->stream};
    int64_t until_ns = w->busy_ns < end_of(call) ? w->busy_ns : end_of(call);
    w->mark_ns = later(later(w->mark_ns, at_ns), until_ns);
    return add_step(w, &step);
}

/* A copy that has ended when its call returns was waited for. */
static bool is_waited_for(const struct gsim_timeline_record *call,
                          const struct gsim_timeline_record *work) {
    return work->what == GSIM_TIMELINE_COPY && end_of(work) <= end_of(call);
}

/* Of two calls of one correlation, as a call of the runtime and that of the driver within it may
 * have, the first has launched the work. */
static enum gsim_status launch(struct walking *w, const struct gsim_timeline_record *call,
                               uint32_t place) {
    struct joining *j = w->join;
    const struct gsim_timeline_record *record = j->timeline->record;
    enum gsim_status status = GSIM_OK;
    int64_t at_ns = end_of(call);
    bool is_waited = false;
    for (; status == GSIM_OK && place < j->n_work && record[j->work[place]].corr == call->corr;
         place++) {
        const struct gsim_timeline_record *work = &record[j->work[place]];
        if (j->is_launched[j->work[place]])
            continue;
        j->is_launched[j->work[place]] = true;
        is_waited |= is_waited_for(call, work);
        if (is_waited)
            at_ns = later(call->begin_ns, work->begin_ns);
        struct gsim_timeline_step step = {.host_ns = later(at_ns - w->mark_ns, 0),
                                          .dur_ns = work->dur_ns,
                                          .record = j->work[place],
                                          .kind = GSIM_CALL_LAUNCH,
                                          .stream = work->stream};
        w->mark_ns = later(w->mark_ns, at_ns);
        w->busy_ns = later(w->busy_ns, end_of(work));
        status = add_step(w, &step);
    }
    return status == GSIM_OK && is_waited ? wait(w, call, at_ns) : status;
}

static enum gsim_status walk(struct joining *j, struct gsim_timeline_iteration *out,
                             const struct gsim_timeline_record *span, uint32_t first,
                             uint32_t last) {
    struct gsim_timeline *timeline = j->timeline;
    struct walking w = {
        .join = j, .iteration = out, .mark_ns = span->begin_ns, .busy_ns = span->begin_ns};
    enum gsim_status status = GSIM_OK;
    *out = (struct gsim_timeline_iteration){.first = timeline->n_steps};
    for (uint32_t i = first; i < last && status == GSIM_OK; i++) {
        const struct gsim_timeline_record *call = &timeline->record[j->by_time[i]];
        if (call->what != GSIM_TIMELINE_CALL)
            continue;
        uint32_t place = first_work(j, call->corr);
        if (place < j->n_work)
            status = launch(&w, call, place);
        else if (is_wait(name_of(timeline, j->by_time[i])))
            status = wait(&w, call, call->begin_ns);
    }
    out->rest_ns = later(end_of(span) - w.mark_ns, 0);
    out->host_ns += out->rest_ns;
    return status;
}

/* --- all iterations --------------------------------------------------------------------------- */

/* Counts what the call has on the GPU; is_inside: it is in an iteration. */
static void count_call(struct joining *j, uint32_t at, bool is_inside) {
    struct gsim_timeline *timeline = j->timeline;
    const struct gsim_timeline_record *call = &timeline->record[at];
    uint32_t place = first_work(j, call->corr);
    if (place == j->n_work && is_launch(name_of(timeline, at))) {
        timeline->left.n_idle++;
        if (timeline->left.idle_line == 0)
            timeline->left.idle_line = call->line;
    }
    timeline->left.n_outside += !is_inside;
    for (; place < j->n_work && timeline->record[j->work[place]].corr == call->corr; place++) {
        const struct gsim_timeline_record *work = &timeline->record[j->work[place]];
        j->is_called[j->work[place]] = true;
        j->joined_ns += work->dur_ns;
        if (!is_inside)
            timeline->left.outside_ns += work->dur_ns;
        timeline->left.n_early += work->begin_ns < call->begin_ns;
        if (work->begin_ns < call->begin_ns && timeline->left.early_line == 0)
            timeline->left.early_line = work->line;
    }
}

static void count_uncalled(struct joining *j) {
    struct gsim_timeline_left *left = &j->timeline->left;
    for (uint32_t i = 0; i < j->n_work; i++) {
        const struct gsim_timeline_record *work = &j->timeline->record[j->work[i]];
        if (j->is_called[j->work[i]])
            continue;
        left->n_uncalled++;
        left->uncalled_ns += work->dur_ns;
        if (left->uncalled_line == 0)
            left->uncalled_line = work->line;
    }
}

static void count_beside(struct joining *j) {
    struct gsim_timeline_left *left = &j->timeline->left;
    int64_t until_ns = INT64_MIN;
    for (uint32_t i = 0; i < j->timeline->n; i++) {
        const struct gsim_timeline_record *work = &j->timeline->record[j->by_time[i]];
        if (!is_work(work))
            continue;
        int64_t end_ns = end_of(work);
        if (work->begin_ns < until_ns)
            left->beside_ns += (end_ns < until_ns ? end_ns : until_ns) - work->begin_ns;
        until_ns = later(until_ns, end_ns);
    }
}

/* Walks the iterations, which follow each other, and counts the calls in them and outside. */
static enum gsim_status walk_all(struct joining *j, uint32_t n_iterations) {
    struct gsim_timeline *timeline = j->timeline;
    enum gsim_status status = GSIM_OK;
    uint32_t n = 0, i = 0;
    int64_t until_ns = INT64_MIN;
    for (; i < timeline->n && status == GSIM_OK; i++) {
        const struct gsim_timeline_record *one = &timeline->record[j->by_time[i]];
        if (one->what == GSIM_TIMELINE_CALL)
            count_call(j, j->by_time[i], one->begin_ns < until_ns);
        if (one->what != GSIM_TIMELINE_ITERATION)
            continue;
        if (one->begin_ns < until_ns)
            return gsim_fail(
                timeline->log, GSIM_BAD_INPUT, timeline->path, one->line,
                "an iteration begins before the one before it has ended; of ranges within "
                "ranges (NVTX), --kind names those that are iterations");
        until_ns = end_of(one);
        uint32_t last = i + 1;
        while (last < timeline->n && timeline->record[j->by_time[last]].begin_ns < until_ns)
            last++;
        status = walk(j, &timeline->iteration[n++], one, i + 1, last);
    }
    timeline->n_iterations = n_iterations;
    return status;
}

/* --- checks and folding ----------------------------------------------------------------------- */

static enum gsim_status check(const struct joining *j, uint32_t n_calls) {
    const struct gsim_timeline *timeline = j->timeline;
    const struct gsim_timeline_left *left = &timeline->left;
    int64_t first_line = j->n_work > 0 ? timeline->record[j->work[0]].line : 0;
    if (j->n_work == 0)
        return gsim_fail(
            timeline->log, GSIM_BAD_INPUT, timeline->path, left->idle_line,
            "the timeline has %u calls that launch, and no kernel, copy or set on the GPU: "
            "the profiler recorded the host only",
            left->n_idle);
    if (n_calls == 0 || left->uncalled_ns > j->joined_ns)
        return gsim_fail(timeline->log, GSIM_BAD_INPUT, timeline->path,
                         left->uncalled_line ? left->uncalled_line : first_line,
                         "%u of %u kernels, copies and sets, this one first, are joined to no "
                         "call of the host (by their correlation): when they are launched is not "
                         "known",
                         left->n_uncalled, j->n_work);
    if (j->joined_ns == 0)
        return gsim_fail(timeline->log, GSIM_BAD_INPUT, timeline->path, first_line,
                         "this kernel and all others last 0 ns, so an iteration would take no "
                         "time on the GPU");
    return GSIM_OK;
}

enum gsim_status gsim_timeline_fold(struct gsim_timeline *timeline) {
    struct joining j = {.timeline = timeline};
    uint32_t n_iterations = 0, n_calls = 0;
    for (uint32_t i = 0; i < timeline->n; i++) {
        n_iterations += timeline->record[i].what == GSIM_TIMELINE_ITERATION;
        n_calls += timeline->record[i].what == GSIM_TIMELINE_CALL;
    }
    if (n_iterations == 0)
        return gsim_fail(
            timeline->log, GSIM_BAD_INPUT, timeline->path, 0,
            "the timeline has no iterations: rows of what=iteration, steps of PyTorch's "
            "profiler (prof.step()), or NVTX ranges");
    timeline->iteration =
        gsim_arena_array(timeline->arena, n_iterations, sizeof *timeline->iteration);
    if (!timeline->iteration)
        return gsim_no_memory(timeline->log, "folding a timeline");
    enum gsim_status status = sort(&j);
    if (status == GSIM_OK)
        status = walk_all(&j, n_iterations);
    if (status != GSIM_OK)
        return status;
    count_uncalled(&j);
    count_beside(&j);
    status = check(&j, n_calls);
    if (status != GSIM_OK)
        return status;
    status = timeline->has_phases ? gsim_timeline_find_phases(timeline)
                                  : gsim_timeline_keep_common(timeline);
    for (uint32_t i = 0; i < timeline->n_iterations && status == GSIM_OK; i++)
        if (timeline->iteration[i].gpu_ns > 0)
            return GSIM_OK;
    if (status != GSIM_OK)
        return status;
    return gsim_fail(timeline->log, GSIM_BAD_INPUT, timeline->path, 0,
                     "no call within an iteration has work on the GPU");
}
