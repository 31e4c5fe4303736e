/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/apps.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"
#include "gsim/units.h"
#include "traces/app_reader.h"
#include "traces/csv.h"
#include "sim/base/units.h"

static const int64_t most_count = 1000000000, most_ops = INT64_C(1) << 60;

/* --- cells ------------------------------------------------------------------------------------ */

static enum gsim_status take_bytes(struct gsim_app_reader *r, enum gsim_app_column column,
                                   int64_t *out) {
    if (!r->cell[column])
        return GSIM_OK;
    if (gsim_parse_bytes(r->cell[column], out) == GSIM_PARSE_OK && *out >= 0 && *out <= most_ops)
        return GSIM_OK;
    return gsim_app_refuse(r, column, "a number of bytes, such as 25e6 or 24MiB");
}

static enum gsim_status take_ppm(struct gsim_app_reader *r, enum gsim_app_column column,
                                 int64_t least_ppm, const char *form, uint32_t *out) {
    int64_t ppm;
    if (!r->cell[column])
        return GSIM_OK;
    if (gsim_parse_ppm(r->cell[column], &ppm) != GSIM_PARSE_OK || ppm < least_ppm || ppm > GSIM_PPM)
        return gsim_app_refuse(r, column, form);
    *out = (uint32_t)ppm;
    return GSIM_OK;
}

static enum gsim_status take_share(struct gsim_app_reader *r, enum gsim_app_column column,
                                   uint32_t *out) {
    return take_ppm(r, column, 1, "a share above 0 up to 1, such as 0.5 or 50%", out);
}

/* A part of a kernel's time, of which a profiler tells 0 where there is none. */
static enum gsim_status take_busy(struct gsim_app_reader *r, enum gsim_app_column column,
                                  uint32_t *out) {
    return take_ppm(r, column, 0, "a part from 0 to 1, such as 0.5 or 50%", out);
}

static enum gsim_status take_choice(struct gsim_app_reader *r, enum gsim_app_column column,
                                    const char *choices, int *out) {
    if (!r->cell[column])
        return GSIM_OK;
    int choice = gsim_text_choice(r->cell[column], choices);
    if (choice < 0)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line, "%s: '%.64s' is not one of %s",
                         gsim_app_columns[column], r->cell[column], choices);
    *out = choice;
    return GSIM_OK;
}

/* --- memory that kernels touch ---------------------------------------------------------------- */

/* Cuts "@rw" off the end of the text. Returns -1 for any other text behind an @. */
static int take_access(char *text) {
    char *at = strchr(text, '@');
    if (!at)
        return GSIM_ACCESS_UNKNOWN;
    *at = '\0';
    int choice = gsim_text_choice(at + 1, "r|w|rw");
    return choice < 0 ? -1 : choice + GSIM_ACCESS_READ;
}

static bool take_part(char *text, struct gsim_app_extent *out) {
    int64_t from = 0, to = GSIM_PPM;
    char *dash = strchr(text, '-');
    if (!dash)
        return false;
    *dash = '\0';
    if (gsim_parse_ppm(text, &from) != GSIM_PARSE_OK ||
        gsim_parse_ppm(dash + 1, &to) != GSIM_PARSE_OK || from < 0 || from >= to || to > GSIM_PPM)
        return false;
    out->from_ppm = (uint32_t)from;
    out->to_ppm = (uint32_t)to;
    return true;
}

/* Reads "kv:0%-25%@rw". Returns NULL, or its fault. */
static const char *parse_extent(const struct gsim_app *app, char *text,
                                struct gsim_app_extent *out) {
    int access = take_access(text);
    char *colon = strchr(text, ':');
    *out = (struct gsim_app_extent){.to_ppm = (uint32_t)GSIM_PPM};
    if (access < 0)
        return "is not read (@r), written (@w) or both (@rw)";
    out->access = (uint8_t)access;
    if (colon) {
        *colon = '\0';
        if (!take_part(colon + 1, out))
            return "is no part of a buffer: parts go from 0% to 100%, as in kv:0%-25%";
    }
    for (uint32_t b = 0; b < app->n_buffers; b++)
        if (strcmp(app->buffers[b].name, text) == 0) {
            out->buffer = (uint16_t)b;
            return NULL;
        }
    return "is of no buffer that a row of this file names";
}

static enum gsim_status resolve_touches(struct gsim_app_reader *r, struct gsim_app_kernel *kernel,
                                        const char *touches) {
    struct gsim_app_extent *extents =
        gsim_arena_array(r->arena, GSIM_APP_EXTENTS_MOST, sizeof *extents);
    if (!extents)
        return gsim_no_memory(r->log, "reading an application profile");
    kernel->touches = extents;
    for (const char *p = touches; *(p += strspn(p, " "));) {
        char one[128];
        size_t length = strcspn(p, " ");
        (void)snprintf(one, sizeof one, "%.*s", (int)(length < 127 ? length : 127), p);
        const char *wrong = "is one more than the 64 that a kernel may have";
        if (kernel->n_touches < GSIM_APP_EXTENTS_MOST)
            wrong = parse_extent(r->app, one, &extents[kernel->n_touches++]);
        if (wrong)
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, kernel->line, "touches: '%.*s' %s",
                             (int)(length < 64 ? length : 64), p, wrong);
        p += length;
    }
    return GSIM_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

static enum gsim_status take_time(struct gsim_app_reader *r, struct gsim_app_kernel *kernel) {
    kernel->device = r->cell[DEVICE];
    if (!kernel->device == !r->cell[TIME])
        return gsim_app_take_number(r, TIME, GSIM_NS_PER_US, 0, GSIM_NS_PER_S * 86400,
                                    &kernel->time_ns);
    return gsim_fail(
        r->log, GSIM_BAD_INPUT, r->path, r->line,
        "a kernel's time_us is its time on one device: give time_us and device, or neither");
}

static enum gsim_status take_small_l1(struct gsim_app_reader *r, struct gsim_app_kernel *kernel) {
    enum { MOST_TIMES = 1000 };
    enum gsim_status status = gsim_app_take_number(r, SMALL_L1, GSIM_NS_PER_US, 0,
                                                   GSIM_NS_PER_S * 86400, &kernel->small_l1_ns);
    if (status != GSIM_OK || !r->cell[SMALL_L1])
        return status;
    if (kernel->time_ns > 0 && kernel->small_l1_ns >= kernel->time_ns &&
        kernel->small_l1_ns / MOST_TIMES <= kernel->time_ns)
        return GSIM_OK;
    return gsim_fail(
        r->log, GSIM_BAD_INPUT, r->path, r->line,
        "small_l1_us is what a launch takes with the smallest L1: at least its time_us, "
        "at most a thousand times that");
}

static enum gsim_status take_traffic(struct gsim_app_reader *r, struct gsim_app_kernel *kernel) {
    enum gsim_status status = take_bytes(r, DRAM_BYTES, &kernel->dram_bytes);
    if (status == GSIM_OK)
        status = take_bytes(r, STORED_BYTES, &kernel->stored_bytes);
    if (status == GSIM_OK && kernel->stored_bytes > kernel->dram_bytes)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line,
                         "stored_bytes are part of the dram_bytes of kernel '%.64s': they are at "
                         "most as many",
                         kernel->name);
    return status;
}

static enum gsim_status take_work(struct gsim_app_reader *r, struct gsim_app_kernel *kernel) {
    int precision = GSIM_PRECISION_FP32;
    enum gsim_status status = gsim_app_take_number(r, FLOPS, 1, 0, most_ops, &kernel->flops);
    if (status == GSIM_OK)
        status = take_bytes(r, BYTES, &kernel->bytes);
    if (status == GSIM_OK)
        status = take_traffic(r, kernel);
    if (status == GSIM_OK)
        status = take_choice(r, PRECISION, "fp32|tf32|fp16|int8", &precision);
    if (status == GSIM_OK)
        status = take_share(r, EFFICIENCY, &kernel->efficiency_ppm);
    if (status == GSIM_OK)
        status = take_share(r, CLOCK, &kernel->clock_ppm);
    if (status == GSIM_OK)
        status = take_time(r, kernel);
    if (status == GSIM_OK)
        status = take_small_l1(r, kernel);
    if (status == GSIM_OK)
        status = take_busy(r, ISSUE, &kernel->busy.issue_ppm);
    if (status == GSIM_OK)
        status = take_busy(r, TENSOR, &kernel->busy.tensor_ppm);
    kernel->precision = (enum gsim_precision)precision;
    if (status == GSIM_OK && kernel->flops < 0 && kernel->bytes < 0 && kernel->time_ns < 0)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line,
                         "kernel '%s' has no flops, no bytes and no time_us", kernel->name);
    return status;
}

static enum gsim_status take_needs(struct gsim_app_reader *r, struct gsim_app_kernel *kernel) {
    enum gsim_status status = take_share(r, SM_FRACTION, &kernel->sm_ppm);
    if (status == GSIM_OK)
        status = gsim_app_take_number(r, SMS, 1, 1, most_count, &kernel->sms);
    if (status == GSIM_OK)
        status = gsim_app_take_number(r, REGISTERS_KIB, 1024, 0, most_ops, &kernel->register_bytes);
    if (status == GSIM_OK)
        status = gsim_app_take_number(r, SHARED, 1024, 0, most_ops, &kernel->shared_bytes);
    if (status == GSIM_OK)
        status = gsim_app_take_number(r, PARTED, 1024, 1, most_ops, &kernel->parted_bytes);
    return status;
}

static enum gsim_status take_blocks(struct gsim_app_reader *r, struct gsim_app_kernel *kernel) {
    enum { REGISTER_BYTES = 4 };
    int64_t registers = 0;
    int spreads = 0, alike = 0;
    enum gsim_status status =
        gsim_app_take_number(r, BLOCKS, 1, 1, GSIM_APP_MOST_BLOCKS, &kernel->blocks);
    if (status == GSIM_OK)
        status = take_choice(r, SPREADS, "no|yes", &spreads);
    kernel->spreads = spreads > 0;
    if (status == GSIM_OK)
        status = take_choice(r, ALIKE, "no|yes", &alike);
    kernel->is_alike = alike > 0;
    if (status == GSIM_OK)
        status = gsim_app_take_number(r, THREADS, 1, 1, GSIM_APP_MOST_THREADS, &kernel->threads);
    if (status == GSIM_OK)
        status = gsim_app_take_number(r, REGISTERS, 1, 0, GSIM_APP_MOST_REGISTERS, &registers);
    if (status != GSIM_OK || !r->cell[REGISTERS])
        return status;
    if (r->cell[REGISTERS_KIB] || kernel->threads == 0)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line,
                         "registers are those of a thread: they go with threads, and without "
                         "registers_kib");
    kernel->register_bytes = registers * REGISTER_BYTES * kernel->threads;
    return GSIM_OK;
}

static enum gsim_status take_kernel(struct gsim_app_reader *r, enum gsim_app_unit unit) {
    struct gsim_app_kernel *kernel = &r->kernels[r->app->n_kernels];
    *kernel = (struct gsim_app_kernel){.name = r->cell[NAME],
                                       .unit = unit,
                                       .line = r->line,
                                       .count = 1,
                                       .flops = -1,
                                       .bytes = -1,
                                       .dram_bytes = -1,
                                       .stored_bytes = -1,
                                       .time_ns = -1,
                                       .small_l1_ns = -1,
                                       .efficiency_ppm = (uint32_t)GSIM_PPM,
                                       .clock_ppm = (uint32_t)GSIM_PPM,
                                       .sm_ppm = (uint32_t)GSIM_PPM,
                                       .sms = 1};
    enum gsim_status status = gsim_app_take_number(r, COUNT, 1, 1, most_count, &kernel->count);
    if (status == GSIM_OK)
        status = take_work(r, kernel);
    if (status == GSIM_OK)
        status = take_needs(r, kernel);
    if (status == GSIM_OK)
        status = take_blocks(r, kernel);
    r->touches[r->app->n_kernels++] = r->cell[TOUCHES] ? r->cell[TOUCHES] : "";
    return status;
}

static enum gsim_status take_buffer(struct gsim_app_reader *r) {
    struct gsim_app_buffer *buffer = &r->buffers[r->app->n_buffers];
    struct gsim_app_lifetime *lifetime = &r->lifetime[r->app->n_buffers];
    *buffer = (struct gsim_app_buffer){.name = r->cell[NAME], .bytes = -1};
    *lifetime = (struct gsim_app_lifetime){.phase = r->cell[PHASE], .line = r->line};
    enum gsim_status status = take_bytes(r, BYTES, &buffer->bytes);
    if (status == GSIM_OK)
        status = take_bytes(r, GROW_BYTES, &buffer->grow_bytes);
    for (uint32_t b = 0; b < r->app->n_buffers; b++)
        if (strcmp(r->buffers[b].name, buffer->name) == 0)
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line, "buffer '%s' stands twice",
                             buffer->name);
    if (status == GSIM_OK && buffer->bytes <= 0)
        return gsim_app_refuse(r, BYTES, "the size of a buffer, 1 byte at least");
    if (status == GSIM_OK && r->app->mem_bytes > most_ops - buffer->bytes)
        return gsim_app_refuse(r, BYTES,
                               "a size with which the buffers are 2^60 bytes together at most");
    if (status == GSIM_OK && buffer->grow_bytes > 0 && !lifetime->phase)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line,
                         "grow_bytes is of a buffer of a phase, and buffer '%.64s' names none",
                         buffer->name);
    buffer->first_bytes = buffer->bytes;
    r->app->n_buffers++;
    r->app->mem_bytes += lifetime->phase ? 0 : buffer->bytes;
    return status;
}

static enum gsim_status take_host(struct gsim_app_reader *r) {
    int which = 0;
    int64_t time_ns = 0;
    enum gsim_status status = take_choice(r, NAME, "launch|gap", &which);
    if (status == GSIM_OK)
        status = gsim_app_take_number(r, TIME, GSIM_NS_PER_US, 0, GSIM_NS_PER_S * 86400, &time_ns);
    *(which == 0 ? &r->app->host_ns : &r->app->gap_ns) = time_ns;
    return status;
}

static enum gsim_status take_sync(struct gsim_app_reader *r) {
    int choice = 0;
    enum gsim_status status = take_choice(r, NAME, "iteration|kernel|none", &choice);
    r->app->sync = (enum gsim_sync)choice;
    r->app->sync_every = 1;
    if (status == GSIM_OK)
        status = gsim_app_take_number(r, COUNT, 1, 1, most_count, &r->app->sync_every);
    return status;
}

static enum gsim_status take_energy(struct gsim_app_reader *r) {
    enum { MICRO = 1000000 };
    int choice = 0;
    enum gsim_status status = take_choice(r, NAME, "iteration", &choice);
    if (status == GSIM_OK && !r->cell[JOULES])
        return gsim_app_refuse(r, JOULES, "the energy of an iteration in joules, such as 6.4");
    if (status == GSIM_OK)
        status = gsim_app_take_number(r, JOULES, MICRO, 1, most_count * MICRO, &r->app->energy_uj);
    return status;
}

static enum gsim_status take_row(struct gsim_app_reader *r) {
    int choice = 0, kind = -1;
    enum gsim_status status = take_choice(
        r, KIND,
        "title|buffer|kernel|host|sync|idempotent|copy|set|launch|wait|record|after|energy|phase|"
        "host_copy",
        &kind);
    if (status == GSIM_OK && (kind < 0 || !r->cell[NAME]))
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line, "a row has a kind and a name");
    if (r->app->n_kernels == GSIM_APP_ROWS_MOST || r->app->n_buffers == GSIM_APP_ROWS_MOST)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line,
                         "more than %d rows of one kind; sum up those that are alike (count)",
                         GSIM_APP_ROWS_MOST);
    switch (kind) {
    case 0:
        r->app->title = r->cell[NAME];
        return GSIM_OK;
    case 1:
        return take_buffer(r);
    case 2:
        return take_kernel(r, GSIM_APP_SMS);
    case 3:
        return take_host(r);
    case 4:
        return take_sync(r);
    case 5:
        status = take_choice(r, NAME, "no|yes", &choice);
        r->app->is_idempotent = choice == 1;
        return status;
    case 6:
        return take_kernel(r, GSIM_APP_COPY);
    case 7:
        return take_kernel(r, GSIM_APP_SET);
    case 8:
        return gsim_app_take_call(r, GSIM_CALL_LAUNCH);
    case 9:
        return gsim_app_take_call(r, GSIM_CALL_WAIT_DEVICE);
    case 10:
        return gsim_app_take_call(r, GSIM_CALL_RECORD);
    case 11:
        return gsim_app_take_call(r, GSIM_CALL_AFTER);
    case 12:
        return take_energy(r);
    case 13:
        return gsim_app_take_phase(r);
    case 14:
        return take_kernel(r, GSIM_APP_HOST_COPY);
    default:
        return status;
    }
}

/* --- the file --------------------------------------------------------------------------------- */

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    struct gsim_app_reader *r = arg;
    bool is_there[N_COLUMNS] = {false};
    for (uint32_t i = 0; i < n; i++) {
        int c = 0;
        while (c < N_COLUMNS && strcmp(names[i], gsim_app_columns[c]) != 0)
            c++;
        if (c == N_COLUMNS || is_there[c]) {
            int close = gsim_text_near_miss(names[i], gsim_app_columns, N_COLUMNS);
            if (close < 0)
                close = gsim_text_suggest(names[i], gsim_app_columns, N_COLUMNS);
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line,
                             "column '%.64s' stands twice or is unknown%s%s%s", names[i],
                             close >= 0 ? "; did you mean '" : "",
                             close >= 0 ? gsim_app_columns[close] : "", close >= 0 ? "'?" : "");
        }
        is_there[c] = true;
        r->target[i] = (enum gsim_app_column)c;
    }
    if (is_there[KIND] && is_there[NAME])
        return GSIM_OK;
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line,
                     "an application profile has the columns kind and name");
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct gsim_app_reader *r = arg;
    if (length == 0)
        return;
    const char *copy = gsim_arena_strndup(r->arena, text, length);
    r->cell[r->target[column]] = copy;
    r->is_out_of_memory |= !copy;
}

/* Reports a bad row and goes on, so that the remaining rows are checked as well. */
static enum gsim_status on_row(void *arg, int64_t line) {
    struct gsim_app_reader *r = arg;
    r->line = line;
    if (r->is_out_of_memory)
        return gsim_no_memory(r->log, "reading an application profile");
    (void)take_row(r);
    memset(r->cell, 0, sizeof r->cell);
    return GSIM_OK;
}

/* Time of the host alone is no work for a GPU: where a profiler wrote no times of kernels, its
 * program would say that any number of such jobs fit on one GPU. */
static bool takes_gpu_time(const struct gsim_app *app) {
    for (uint32_t c = 0; c < app->n_calls; c++)
        if (app->calls[c].time_ns > 0)
            return true;
    for (uint32_t k = 0; k < app->n_kernels; k++)
        if (app->kernels[k].time_ns > 0 || app->kernels[k].flops > 0 || app->kernels[k].bytes > 0)
            return true;
    return false;
}

static enum gsim_status finish(struct gsim_app_reader *r) {
    struct gsim_app *app = r->app;
    if (app->n_kernels == 0)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, 0,
                         "an application profile has a row of kind kernel at least");
    if (!takes_gpu_time(app))
        return gsim_fail(
            r->log, GSIM_BAD_INPUT, r->path, app->kernels[0].line,
            "kernel '%.64s' and all others last 0, so an iteration would take no time on the "
            "GPU; a kernel has time_us, flops or bytes above 0",
            app->kernels[0].name);
    for (uint32_t k = 0; k < app->n_kernels; k++) {
        enum gsim_status status = resolve_touches(r, &r->kernels[k], r->touches[k]);
        if (status != GSIM_OK)
            return status;
    }
    enum gsim_status status = gsim_app_finish_calls(r);
    return status == GSIM_OK ? gsim_app_finish_memory(r) : status;
}

enum gsim_status gsim_app_read(struct gsim_input *input, struct gsim_arena *arena,
                               struct gsim_app *out, struct gsim_log *log) {
    struct gsim_app_reader *r = gsim_arena_alloc(arena, sizeof *r);
    if (!r)
        return gsim_no_memory(log, "reading an application profile");
    *out = (struct gsim_app){.path = gsim_input_path(input), .sync_every = 1};
    *r = (struct gsim_app_reader){.arena = arena, .log = log, .path = out->path, .app = out};
    r->kernels = gsim_arena_array(arena, GSIM_APP_ROWS_MOST, sizeof *r->kernels);
    r->buffers = gsim_arena_array(arena, GSIM_APP_ROWS_MOST, sizeof *r->buffers);
    if (!r->kernels || !r->buffers)
        return gsim_no_memory(log, "reading an application profile");
    out->kernels = r->kernels;
    out->buffers = r->buffers;
    struct gsim_csv_user user = {r, on_header, on_field, on_row, NULL};
    enum gsim_status status = gsim_csv_read(input, &user, arena, log);
    if (status == GSIM_OK)
        status = finish(r);
    if (!out->title)
        out->title = out->path;
    return status;
}
