/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/phases.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/units.h"

enum { MOST_PHASES = 4096 };

struct reading {
    const struct gsim_rates *rates;
    struct gsim_builder *b;
    int64_t line;
    uint32_t nth; /* the part under way, from 1 */
};

static const char *id_of(const struct gsim_row *row) {
    return row->id_length ? row->id : "";
}

static enum gsim_status refuse(const struct reading *r, const char *text, const char *what) {
    return gsim_fail(r->b->log, GSIM_BAD_INPUT, r->b->path, r->line,
                     "column 'phases': part %u of job '%.64s', '%.96s', %s; a part is "
                     "ITERATIONS/ITERATIONS_OF_AN_EPOCH MODEL, and parts are separated by ;",
                     r->nth, id_of(&r->b->row), text, what);
}

/* Reads a number above 0 at the cursor. */
static bool take_number(char **at, int64_t *out) {
    const int64_t most = INT64_C(1000000000000);
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return *out > 0 && *out <= most;
}

static void trim(char *text) {
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == ' ')
        text[--n] = '\0';
}

static enum gsim_status take_model(const struct reading *r, const char *text, const char *model,
                                   struct gsim_phase *phase) {
    phase->kind = gsim_rates_kind(r->rates, model);
    if (phase->kind == GSIM_NO_KIND)
        return refuse(r, text, "is of a model without a row in the table of speeds");
    uint32_t gpus = r->b->row.gpus;
    if (gpus > gsim_rates_widest(r->rates, phase->kind) ||
        gsim_rates_reference(r->rates, phase->kind, gpus).digits == 0)
        return refuse(r, text,
                      "is of a model that has no row for as many GPUs as the job asks for");
    return GSIM_OK;
}

/* Reads one part, of which it cuts the blanks at the end. */
static enum gsim_status take_part(const struct reading *r, char *text, struct gsim_phase *phase) {
    char *at = text;
    trim(text);
    if (!take_number(&at, &phase->iterations))
        return refuse(r, text, "begins with no number of iterations above 0");
    phase->epoch_iterations = phase->iterations;
    if (*at == '/') {
        at++;
        if (!take_number(&at, &phase->epoch_iterations))
            return refuse(r, text, "has no number of iterations of an epoch, above 0, after the /");
    }
    if (*at != ' ')
        return refuse(r, text, "has no blank between its numbers and its model");
    return take_model(r, text, at + strspn(at, " "), phase);
}

static uint32_t count_parts(const char *text) {
    uint32_t n = 1;
    for (; *text; text++)
        n += *text == ';';
    return n;
}

/* Sets the end of each phase; false: one lies past the end of the clock. */
static bool time_phases(const struct gsim_rates *rates, struct gsim_phases *phases,
                        int64_t *end_ns) {
    int64_t sum_ns = 0;
    for (uint32_t i = 0; i < phases->n; i++) {
        const struct gsim_phase *phase = &phases->phase[i];
        int64_t takes_ns = gsim_tempo_time_ns(
            gsim_rates_reference(rates, phase->kind, phases->gpus), phase->iterations);
        if (takes_ns < 0 || takes_ns > GSIM_TIME_MAX - sum_ns)
            return false;
        end_ns[i] = sum_ns += takes_ns;
    }
    phases->end_ns = end_ns;
    return true;
}

static enum gsim_status read_parts(struct reading *r, char *text, struct gsim_phase *phase) {
    enum gsim_status status = GSIM_OK;
    while (text && status == GSIM_OK) {
        char *next = strchr(text, ';');
        if (next)
            *next++ = '\0';
        r->nth++;
        status = take_part(r, text + strspn(text, " "), phase++);
        text = next;
    }
    return status;
}

static enum gsim_status read_phases(struct reading *r, const char *text, struct gsim_phases **out) {
    struct gsim_arena *arena = r->b->arena;
    uint32_t n = count_parts(text);
    if (n > MOST_PHASES)
        return gsim_fail(r->b->log, GSIM_BAD_INPUT, r->b->path, r->line,
                         "column 'phases': job '%.64s' has %u parts; a job has at most %d",
                         id_of(&r->b->row), n, MOST_PHASES);
    struct gsim_phases *phases = gsim_arena_alloc(arena, sizeof *phases);
    struct gsim_phase *phase = gsim_arena_array(arena, n, sizeof *phase);
    int64_t *end_ns = gsim_arena_array(arena, n, sizeof *end_ns);
    char *copy = gsim_arena_strdup(arena, text);
    if (!phases || !phase || !end_ns || !copy)
        return gsim_no_memory(r->b->log, "reading a trace");
    *phases = (struct gsim_phases){.gpus = r->b->row.gpus, .n = n, .phase = phase};
    enum gsim_status status = read_parts(r, copy, phase);
    if (status == GSIM_OK && !time_phases(r->rates, phases, end_ns))
        status = gsim_fail(r->b->log, GSIM_BAD_INPUT, r->b->path, r->line,
                           "column 'phases': by %s job '%.64s' lasts past the end of the clock "
                           "(146 years)",
                           r->rates->path, id_of(&r->b->row));
    *out = phases;
    return status;
}

/* Makes room for the list of a text. */
static bool know_text(struct gsim_rates *rates, struct gsim_arena *arena, int64_t text) {
    uint32_t n = rates->n_phases;
    if (text < n)
        return true;
    uint32_t more = text < 32 ? 64 : 2 * (uint32_t)text;
    struct gsim_phases **grown =
        gsim_arena_grow(arena, rates->phases, n * sizeof *grown, more * sizeof *grown);
    if (!grown)
        return false;
    rates->phases = grown;
    rates->n_phases = more;
    return true;
}

/* A model that the row names is that of its first part. */
static enum gsim_status check_model(const struct reading *r, const struct gsim_phases *phases) {
    int64_t model = r->b->row.cell[GSIM_COL_MODEL];
    const char *first = r->rates->kind[phases->phase[0].kind];
    const char *named = model < 0 ? first : r->b->names[GSIM_COL_MODEL].name[model];
    if (strcmp(named, first) == 0)
        return GSIM_OK;
    return gsim_fail(r->b->log, GSIM_BAD_INPUT, r->b->path, r->line,
                     "column 'phases': job '%.64s' begins with model '%.64s', and its column "
                     "'model' says '%.64s'",
                     id_of(&r->b->row), first, named);
}

enum gsim_status gsim_phases_fill(struct gsim_rates *rates, struct gsim_builder *builder,
                                  int64_t line) {
    struct gsim_row *row = &builder->row;
    struct reading r = {.rates = rates, .b = builder, .line = line};
    int64_t text = row->cell[GSIM_COL_PHASES];
    struct gsim_phases *phases = gsim_phases_find(rates, text, row->gpus);
    if (!phases) {
        if (!know_text(rates, builder->arena, text))
            return gsim_no_memory(builder->log, "reading a trace");
        enum gsim_status status =
            read_phases(&r, builder->names[GSIM_COL_PHASES].name[text], &phases);
        if (status != GSIM_OK)
            return status;
        phases->next = rates->phases[text];
        rates->phases[text] = phases;
    }
    row->cell[GSIM_COL_GPU_NS] = -1; /* of another device than those of the table */
    row->cell[GSIM_COL_ITERATIONS] = gsim_phases_iterations(phases);
    row->service_ns = phases->end_ns[phases->n - 1];
    return check_model(&r, phases);
}
