/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/fates.h"

#include <string.h>

#include "traces/csv.h"

static void list_row(struct gsim_fates *fates, int64_t line, const char *id, enum gsim_fate fate,
                     const char *why, const char *example) {
    static const char *const names[] = {[GSIM_FATE_JOB] = "job",
                                        [GSIM_FATE_LESS] = "job with less",
                                        [GSIM_FATE_LEFT_OUT] = "left out",
                                        [GSIM_FATE_BAD] = "not readable"};
    if (!fates->list)
        return;
    if (!fates->is_headed)
        fputs(GSIM_FATES_HEADER "\n", fates->list);
    fates->is_headed = true;
    fprintf(fates->list, "%lld,", (long long)line);
    gsim_csv_put(id, fates->list);
    fprintf(fates->list, ",%s,", names[fate]);
    gsim_csv_put(why ? why : "", fates->list);
    fputc(',', fates->list);
    gsim_csv_put(example ? example : "", fates->list);
    fputc('\n', fates->list);
}

static bool make_room(struct gsim_fates *fates) {
    if (fates->n_reasons < fates->capacity)
        return true;
    uint32_t capacity = fates->capacity ? fates->capacity * 2 : 16;
    struct gsim_reason *grown = gsim_arena_grow(
        fates->arena, fates->reason, fates->n_reasons * sizeof *grown, capacity * sizeof *grown);
    if (!grown)
        return false;
    fates->reason = grown;
    fates->capacity = capacity;
    return true;
}

/* A reason that counts no row yet; NULL: no memory. */
static struct gsim_reason *add_reason(struct gsim_fates *fates, enum gsim_fate fate, int64_t line,
                                      const char *why, const char *example) {
    const char *kept_why = gsim_arena_strdup(fates->arena, why);
    const char *kept = example ? gsim_arena_strdup(fates->arena, example) : NULL;
    if (!kept_why || (example && !kept) || !make_room(fates)) {
        fates->is_failed = true;
        return NULL;
    }
    fates->reason[fates->n_reasons] =
        (struct gsim_reason){.fate = fate, .why = kept_why, .example = kept, .first_line = line};
    return &fates->reason[fates->n_reasons++];
}

void gsim_fates_add(struct gsim_fates *fates, enum gsim_fate fate, int64_t line, const char *id,
                    const char *why, const char *example) {
    uint32_t i = 0;
    list_row(fates, line, id, fate, why, example);
    while (i < fates->n_reasons &&
           (fates->reason[i].fate != fate || strcmp(fates->reason[i].why, why) != 0))
        i++;
    struct gsim_reason *reason =
        i < fates->n_reasons ? &fates->reason[i] : add_reason(fates, fate, line, why, example);
    if (reason)
        reason->n++;
}

void gsim_fates_add_job(struct gsim_fates *fates, int64_t line, const char *id) {
    list_row(fates, line, id, GSIM_FATE_JOB, NULL, NULL);
}

static bool is_no_job(const struct gsim_reason *reason) {
    return reason->fate == GSIM_FATE_LEFT_OUT || reason->fate == GSIM_FATE_BAD;
}

const char *gsim_fates_left_out(const struct gsim_fates *fates, struct gsim_arena *arena) {
    const char *text = "";
    for (uint32_t i = 0; i < fates->n_reasons && text; i++) {
        const struct gsim_reason *r = &fates->reason[i];
        if (is_no_job(r))
            text = gsim_arena_printf(arena, "%s%s%u row%s (%s)", text, *text ? ", " : "", r->n,
                                     r->n == 1 ? "" : "s", r->why);
    }
    return text;
}

uint32_t gsim_fates_say(const struct gsim_fates *fates, const char *path, struct gsim_log *log) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < fates->n_reasons; i++) {
        const struct gsim_reason *r = &fates->reason[i];
        bool is_out = is_no_job(r);
        gsim_warn(log, path, 0, "%s%u row%s (the first is line %lld): %s%s%s%s",
                  is_out ? "left out " : "", r->n, r->n == 1 ? "" : "s", (long long)r->first_line,
                  r->why, r->example ? " (there stands '" : "", r->example ? r->example : "",
                  r->example ? "')" : "");
        n += is_out ? r->n : 0;
    }
    return n;
}
