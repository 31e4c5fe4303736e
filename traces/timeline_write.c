/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of several iterations a launch's work takes the mean, and the host's time before a call the
 * median: a program's first iterations are late here and there. Host times are those under the
 * profiler; a trace's row says how fast the host really is. */
#include <string.h>

#include "gsim/units.h"
#include "sim/base/sort.h"
#include "sim/base/text.h"
#include "traces/cells.h"
#include "traces/csv.h"
#include "traces/kernel_name.h"
#include "traces/timeline.h"

enum { MOST_KERNELS = 4096 };

struct kernel_row {
    uint32_t record; /* the first of its launches */
    int64_t n, total_ns;
    struct gsim_ncu_traffic traffic;
    char name[GSIM_KERNEL_NAME_SHORT + 16];
};

struct writer {
    const struct gsim_timeline *timeline;
    struct kernel_row *row;
    uint32_t n_rows;
    const struct gsim_timeline_phase *phase; /* the one that is being written */
    uint32_t *row_of; /* by step of the first iteration of each phase, by the step's place */
    int64_t *sorted; /* a time of every iteration of the phase */
    FILE *out;
    struct gsim_ncu *bytes; /* NULL: the program says nothing of them */
    bool has_growth; /* whether a launch takes longer each time that its phase is repeated */
};

static const struct gsim_timeline_iteration *iteration_of(const struct writer *w, uint32_t i) {
    return &w->timeline->iteration[w->phase->first + i];
}

static const struct gsim_timeline_step *step_of(const struct writer *w, uint32_t i, uint32_t step) {
    return &w->timeline->step[iteration_of(w, i)->first + step];
}

static uint32_t *row_of(const struct writer *w, uint32_t step) {
    return &w->row_of[iteration_of(w, 0)->first + step];
}

static const struct gsim_timeline_record *record_of(const struct gsim_timeline *timeline,
                                                    uint32_t record) {
    return &timeline->record[record];
}

static void put_us(int64_t ns, FILE *out) {
    char text[64];
    gsim_cell_decimal(text, ns, GSIM_NS_PER_US);
    fputs(text, out);
}

/* --- times over the iterations ---------------------------------------------------------------- */

static int64_t median(int64_t *values, uint32_t n) {
    return gsim_sort_i64(values, n) ? (values[(n - 1) / 2] + values[n / 2]) / 2 : values[0];
}

static int64_t host_ns(const struct writer *w, uint32_t step) {
    for (uint32_t i = 0; i < w->phase->n; i++)
        w->sorted[i] = step_of(w, i, step)->host_ns;
    return median(w->sorted, w->phase->n);
}

static int64_t rest_ns(const struct writer *w) {
    for (uint32_t i = 0; i < w->phase->n; i++)
        w->sorted[i] = iteration_of(w, i)->rest_ns;
    return median(w->sorted, w->phase->n);
}

static int64_t dur_ns(const struct writer *w, uint32_t step) {
    gsim_i128 sum = 0;
    for (uint32_t i = 0; i < w->phase->n; i++)
        sum += step_of(w, i, step)->dur_ns;
    return (int64_t)((sum + w->phase->n / 2) / w->phase->n);
}

/* --- kernels ---------------------------------------------------------------------------------- */

static bool is_same_kernel(const struct gsim_timeline_record *a,
                           const struct gsim_timeline_record *b) {
    return a->what == b->what && a->name == b->name && a->blocks == b->blocks &&
           a->threads == b->threads && a->registers == b->registers &&
           a->shared_bytes == b->shared_bytes;
}

/* A row's name: the short one, with its number where other rows have that too. */
static void name_row(struct writer *w, struct kernel_row *row) {
    const struct gsim_names *names = &w->timeline->names->names[GSIM_COL_APP];
    char one[GSIM_KERNEL_NAME_SHORT], other[GSIM_KERNEL_NAME_SHORT];
    uint32_t n = 0;
    gsim_kernel_name_shorten(names->name[record_of(w->timeline, row->record)->name], one);
    for (const struct kernel_row *before = w->row; before < row; before++) {
        gsim_kernel_name_shorten(names->name[record_of(w->timeline, before->record)->name], other);
        n += strcmp(one, other) == 0;
    }
    (void)snprintf(row->name, sizeof row->name, n > 0 ? "%s.%u" : "%s", one, n + 1);
}

/* Of calls, and of kernels that the counters do not have. */
static const struct gsim_ncu_traffic no_traffic = {-1, -1};

static struct gsim_ncu_traffic traffic_of(const struct writer *w,
                                          const struct gsim_timeline_record *record) {
    const struct gsim_names *names = &w->timeline->names->names[GSIM_COL_APP];
    if (!w->bytes || record->what != GSIM_TIMELINE_KERNEL)
        return no_traffic;
    return gsim_ncu_traffic(w->bytes, names->name[record->name], record->blocks, record->threads);
}

static bool add_kernel(struct writer *w, uint32_t step) {
    const struct gsim_timeline *timeline = w->timeline;
    uint32_t record = step_of(w, 0, step)->record, k = 0;
    while (k < w->n_rows &&
           !is_same_kernel(record_of(timeline, w->row[k].record), record_of(timeline, record)))
        k++;
    if (k == MOST_KERNELS)
        return false;
    if (k == w->n_rows) {
        w->row[k].record = record;
        w->row[k].traffic = traffic_of(w, record_of(timeline, record));
        name_row(w, &w->row[w->n_rows++]);
    }
    w->row[k].n += w->phase->count;
    w->row[k].total_ns += dur_ns(w, step) * w->phase->count;
    *row_of(w, step) = k;
    return true;
}

static bool has_stored(const struct writer *w) {
    return w->bytes && w->bytes->has[GSIM_NCU_STORED];
}

/* A cell of a column that there may be. */
static void put_bytes(const struct writer *w, bool has_column, int64_t bytes) {
    if (has_column)
        fputc(',', w->out);
    if (has_column && bytes >= 0)
        fprintf(w->out, "%lld", (long long)bytes);
}

/* The columns of growth and of bytes come last, where there are any. */
static void end_row(const struct writer *w, int64_t grow_ns,
                    const struct gsim_ncu_traffic *traffic) {
    if (w->has_growth)
        fputc(',', w->out);
    if (grow_ns > 0)
        put_us(grow_ns, w->out);
    put_bytes(w, w->bytes != NULL, traffic->bytes);
    put_bytes(w, has_stored(w), traffic->stored_bytes);
    fputc('\n', w->out);
}

/* Whether a copy goes to the host, by the name that PyTorch gives it, or the number (cudaMemcpyKind
 * 2) in a database of Nsight Systems. Copies to the GPU may be small, which take turns. */
static bool is_to_host(const struct writer *w, const struct gsim_timeline_record *record) {
    const char *name = w->timeline->names->names[GSIM_COL_APP].name[record->name];
    return record->what == GSIM_TIMELINE_COPY &&
           (strstr(name, "DtoH") != NULL || strcmp(name, "Memcpy 2") == 0);
}

static void put_kernel(const struct writer *w, const struct kernel_row *row, const char *device) {
    static const char *const kinds[] = {[GSIM_TIMELINE_KERNEL] = "kernel",
                                        [GSIM_TIMELINE_COPY] = "copy",
                                        [GSIM_TIMELINE_SET] = "set"};
    const struct gsim_timeline_record *record = record_of(w->timeline, row->record);
    char text[64] = "";
    fprintf(w->out, "%s,", is_to_host(w, record) ? "host_copy" : kinds[record->what]);
    gsim_csv_put(row->name, w->out);
    fputs(",,", w->out);
    put_us(row->total_ns / row->n, w->out);
    fprintf(w->out, ",%s,", device);
    if (record->blocks > 0)
        fprintf(w->out, "%lld", (long long)record->blocks);
    fputc(',', w->out);
    if (record->threads > 0)
        fprintf(w->out, "%lld,%lld,", (long long)record->threads, (long long)record->registers);
    else
        fputs(",,", w->out);
    if (record->shared_bytes > 0)
        gsim_cell_decimal(text, record->shared_bytes, 1024);
    fprintf(w->out, "%s,,", text);
    end_row(w, 0, &row->traffic);
}

/* --- the program ------------------------------------------------------------------------------ */

static void put_stream(const struct gsim_timeline_step *step, FILE *out) {
    if (step->stream >= 0)
        fprintf(out, "%lld", (long long)step->stream);
}

/* The host's time after the last call of a phase that is repeated comes before its first one. */
static int64_t host_ns_here(const struct writer *w, uint32_t step) {
    int64_t before_ns = step == 0 && w->timeline->n_phases > 1 ? rest_ns(w) : 0;
    return before_ns + host_ns(w, step);
}

static void put_step(const struct writer *w, uint32_t step) {
    const struct gsim_timeline_step *one = step_of(w, 0, step);
    struct gsim_timeline_growth takes = {0, 0};
    if (one->kind == GSIM_CALL_LAUNCH) {
        takes = gsim_timeline_grows(w->timeline, w->phase, step);
        fputs("launch,", w->out);
        gsim_csv_put(w->row[*row_of(w, step)].name, w->out);
        fputs(",,", w->out);
        put_us(takes.first_ns, w->out);
    } else {
        fprintf(w->out, "wait,%s,,", one->kind == GSIM_CALL_WAIT_STREAM ? "stream" : "device");
    }
    fputs(",,,,,,", w->out);
    if (one->kind == GSIM_CALL_LAUNCH || one->kind == GSIM_CALL_WAIT_STREAM)
        put_stream(one, w->out);
    fputc(',', w->out);
    put_us(host_ns_here(w, step), w->out);
    end_row(w, takes.grow_ns, &no_traffic);
}

static void put_spread(const struct writer *w, FILE *out) {
    const struct gsim_timeline *timeline = w->timeline;
    fputs("# Of each in us: the host under the profiler, without waits; the GPU's work.\n", out);
    for (uint32_t i = 0; i < timeline->n_iterations; i++) {
        fprintf(out, "# iteration %u: ", i + 1);
        put_us(timeline->iteration[i].host_ns, out);
        fputs(", ", out);
        put_us(timeline->iteration[i].gpu_ns, out);
        fputc('\n', out);
    }
}

static void put_phase(struct writer *w, const struct gsim_timeline_phase *phase) {
    w->phase = phase;
    if (w->timeline->n_phases > 1) {
        fprintf(w->out, "phase,phase%u,%lld,,,,,,,,", (unsigned)(phase - w->timeline->phase) + 1,
                (long long)phase->count);
        end_row(w, 0, &no_traffic);
    }
    for (uint32_t i = 0; i < iteration_of(w, 0)->n; i++)
        put_step(w, i);
}

static void put_calls(struct writer *w) {
    for (uint32_t p = 0; p < w->timeline->n_phases; p++)
        put_phase(w, &w->timeline->phase[p]);
    if (w->timeline->n_phases > 1)
        return;
    fputs("host,gap,,", w->out);
    put_us(rest_ns(w), w->out);
    fputs(",,,,,,,", w->out);
    end_row(w, 0, &no_traffic);
}

static void put_program(struct writer *w, const char *device, int64_t sync_every) {
    const struct gsim_timeline *timeline = w->timeline;
    fprintf(w->out, "# Program of %s, measured on %s: %u iterations.\n",
            timeline->kind ? timeline->kind : "an iteration", device, timeline->n_iterations);
    put_spread(w, w->out);
    fprintf(
        w->out,
        "kind,name,count,time_us,device,blocks,threads,registers,shared_kib,stream,host_us%s%s%s\n"
        "title,",
        w->has_growth ? ",grow_us" : "", w->bytes ? ",dram_bytes" : "",
        has_stored(w) ? ",stored_bytes" : "");
    gsim_csv_put(timeline->kind ? timeline->kind : timeline->path, w->out);
    fputs(",,,,,,,,,", w->out);
    end_row(w, 0, &no_traffic);
    for (uint32_t k = 0; k < w->n_rows; k++)
        put_kernel(w, &w->row[k], device);
    put_calls(w);
    if (sync_every > 0)
        fprintf(w->out, "sync,iteration,%lld,,,,,,,,", (long long)sync_every);
    else
        fputs("sync,none,,,,,,,,,", w->out);
    end_row(w, 0, &no_traffic);
}

/* --- parts left out --------------------------------------------------------------------------- */

static void tell(const struct gsim_timeline *timeline) {
    const struct gsim_timeline_left *left = &timeline->left;
    if (left->n_other > 0)
        gsim_warn(timeline->log, timeline->path, 0,
                  "left out %u of %u iterations: their calls are others than those of the rest%s",
                  left->n_other, left->n_other + timeline->n_iterations,
                  timeline->has_phases ? ", or come in another order" : "");
    if (left->n_outside > 0)
        gsim_warn(timeline->log, timeline->path, 0,
                  "left out %u calls outside of the iterations, with %lld us of work on the GPU",
                  left->n_outside, (long long)(left->outside_ns / GSIM_NS_PER_US));
    if (left->n_uncalled > 0)
        gsim_warn(timeline->log, timeline->path, left->uncalled_line,
                  "left out %u kernels, copies and sets (%lld us) that no call launched",
                  left->n_uncalled, (long long)(left->uncalled_ns / GSIM_NS_PER_US));
    if (left->n_idle > 0)
        gsim_warn(timeline->log, timeline->path, left->idle_line,
                  "%u calls that launch have no work on the GPU; their time is part of the host's "
                  "before the next call",
                  left->n_idle);
    if (left->n_early > 0)
        gsim_warn(timeline->log, timeline->path, left->early_line,
                  "%u kernels, copies and sets, this one first, begin before the call that "
                  "launches them: the profiler's clocks of host and GPU are apart, and waits of "
                  "the host are as wrong",
                  left->n_early);
}

/* Where two per cent of the work ran beside other work, the program shows it: times of work that is
 * launched in one stream overlap by less, if at all. */
static void tell_beside(const struct writer *w) {
    int64_t all_ns = 0, beside_ns = w->timeline->left.beside_ns;
    for (uint32_t i = 0; i < w->timeline->n; i++)
        if (w->timeline->record[i].what >= GSIM_TIMELINE_KERNEL)
            all_ns += w->timeline->record[i].dur_ns;
    if (beside_ns > all_ns / 50)
        gsim_warn(w->timeline->log, w->timeline->path, 0,
                  "kernels, copies and sets of several streams ran beside each other: they last "
                  "%lld us in all, in %lld us of the GPU; the work of one program runs one after "
                  "another here, so that it takes longer",
                  (long long)(all_ns / GSIM_NS_PER_US),
                  (long long)((all_ns - beside_ns) / GSIM_NS_PER_US));
}

/* How much of the program has bytes, and kernels of the counters that are none of its. */
static enum gsim_status tell_bytes(const struct writer *w) {
    const struct kernel_row *first = NULL;
    uint32_t n = 0, n_kernels = 0, n_unused = 0;
    int64_t without_ns = 0, all_ns = 0;
    for (const struct kernel_row *row = w->row; w->bytes && row < w->row + w->n_rows; row++) {
        if (record_of(w->timeline, row->record)->what != GSIM_TIMELINE_KERNEL)
            continue;
        n_kernels++;
        all_ns += row->total_ns;
        if (row->traffic.bytes >= 0)
            continue;
        n++;
        without_ns += row->total_ns;
        first = first ? first : row;
    }
    for (uint32_t k = 0; w->bytes && k < w->bytes->n; k++)
        n_unused += !w->bytes->kernel[k].is_matched;
    if (n > 0 && n == n_kernels)
        return gsim_fail(w->timeline->log, GSIM_BAD_INPUT, w->bytes->path, 0,
                         "none of its %u kernels has the name, grid and block of a kernel of %s",
                         w->bytes->n, w->timeline->path);
    if (n > 0)
        gsim_warn(w->timeline->log, w->bytes->path, 0,
                  "%u of %u kernels, with %lld of %lld us of an iteration, have no bytes in it: "
                  "none has their name, grid and block; the first is '%s'",
                  n, n_kernels, (long long)(without_ns / GSIM_NS_PER_US),
                  (long long)(all_ns / GSIM_NS_PER_US), first->name);
    if (n_unused > 0)
        gsim_warn(w->timeline->log, w->bytes->path, 0,
                  "left out %u of its %u kernels: the program has none with their name, grid and "
                  "block",
                  n_unused, w->bytes->n);
    return GSIM_OK;
}

/* Finds the kernels of all phases. */
static enum gsim_status find_kernels(struct writer *w) {
    const struct gsim_timeline *timeline = w->timeline;
    for (uint32_t p = 0; p < timeline->n_phases; p++) {
        w->phase = &timeline->phase[p];
        for (uint32_t i = 0; i < iteration_of(w, 0)->n; i++) {
            if (step_of(w, 0, i)->kind != GSIM_CALL_LAUNCH)
                continue;
            if (!add_kernel(w, i))
                return gsim_fail(timeline->log, GSIM_BAD_INPUT, timeline->path,
                                 record_of(timeline, step_of(w, 0, i)->record)->line,
                                 "more than %d different kernels", MOST_KERNELS);
            w->has_growth |= gsim_timeline_grows(timeline, w->phase, i).grow_ns > 0;
        }
    }
    return GSIM_OK;
}

enum gsim_status gsim_timeline_write(const struct gsim_timeline *timeline, const char *device,
                                     int64_t sync_every, struct gsim_ncu *bytes, FILE *out) {
    struct writer w = {.timeline = timeline, .out = out, .bytes = bytes};
    w.row = gsim_arena_array(timeline->arena, MOST_KERNELS, sizeof *w.row);
    w.row_of = gsim_arena_array(timeline->arena, timeline->n_steps + 1, sizeof *w.row_of);
    w.sorted = gsim_arena_array(timeline->arena, timeline->n_iterations, sizeof *w.sorted);
    if (!w.row || !w.row_of || !w.sorted)
        return gsim_no_memory(timeline->log, "writing a program");
    enum gsim_status status = find_kernels(&w);
    if (status != GSIM_OK)
        return status;
    put_program(&w, device, sync_every);
    tell(timeline);
    tell_beside(&w);
    return tell_bytes(&w);
}
