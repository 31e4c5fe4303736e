/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/check/written.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const gsim_written_fields[GSIM_WRITTEN_FIELDS] = {
#define GSIM_FIELD_TEXT(name, help) #name,
#define GSIM_FIELD_INT(name, help) #name,
#define GSIM_FIELD_REAL(name, help) #name,
#define GSIM_FIELD_BOOL(name, help) #name,
#include "gsim/fields.def"
};

enum gsim_status gsim_written_broken(struct gsim_written *w, const char *format, ...) {
    char text[GSIM_LOG_TEXT];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return gsim_fail(w->log, GSIM_FAILED, w->path, 0, "%s%s%s", w->run, *w->run ? ": " : "", text);
}

void gsim_written_begin(struct gsim_written *w, struct gsim_arena *arena, struct gsim_log *log) {
    *w = (struct gsim_written){.arena = arena, .log = log, .run = ""};
    for (int f = 0; f < GSIM_WRITTEN_FIELDS; f++)
        w->number[f] = NAN;
}

struct gsim_written_job *gsim_written_add(struct gsim_written *w, const char *id) {
    if (w->n_jobs == w->capacity) {
        uint32_t capacity = w->capacity ? 2 * w->capacity : 256;
        struct gsim_written_job *grown = gsim_arena_grow(
            w->arena, w->jobs, w->capacity * sizeof *grown, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        w->jobs = grown;
        w->capacity = capacity;
    }
    struct gsim_written_job *job = &w->jobs[w->n_jobs];
    job->id = gsim_arena_strndup(w->arena, id, strlen(id));
    for (int c = 0; c < GSIM_WRITTEN_COLUMNS; c++)
        job->value[c] = -1;
    w->n_jobs += job->id != NULL;
    return job->id ? job : NULL;
}

bool gsim_written_is_more(double a, double b) {
    return a > b + GSIM_WRITTEN_SLACK * (1 + fabs(b));
}
