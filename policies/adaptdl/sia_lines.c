/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which jobs a tick looks at. A job that has had no GPUs yet, and has one configuration alone,
 * gains by it as each other such job of its age does that asks for as many GPUs. It gains most
 * until it is as old as a restart, and from then on the more, the older it is. Of these the
 * programme gives GPUs to those that gain most, of equal ones to the first, and to no more than fit
 * together (policies/lib/knapsack.h). So they stand in lines, one for each number of GPUs, and a
 * tick looks at the first jobs of each line, and at the first ones of those that are younger than a
 * restart. All other jobs are looked at one by one. */
#include "policies/adaptdl/sia.h"

#include <string.h>

#include "sim/base/sort.h"

/* --- lines ------------------------------------------------------------------------------------ */

static struct adaptdl_line *line_of(const struct sia *sia, uint32_t gpus) {
    for (uint32_t l = 0; l < sia->n_lines; l++)
        if (sia->line[l].gpus == gpus)
            return &sia->line[l];
    return NULL;
}

static struct adaptdl_line *add_line(struct gsim_ctx *ctx, struct sia *sia, uint32_t gpus) {
    struct adaptdl_line *line =
        gsim_arena_room(ctx->arena, sia->line, sia->n_lines, &sia->room_lines, sizeof *line);
    if (!line)
        return NULL;
    sia->line = line;
    line += sia->n_lines++;
    *line = (struct adaptdl_line){gpus, ADAPTDL_NONE, ADAPTDL_NONE};
    return line;
}

/* Behind the jobs that came before it. */
static void join(struct sia *sia, struct adaptdl_line *line, uint32_t number) {
    struct adaptdl_job *job = sia->adaptdl.job;
    uint32_t before = line->last;
    while (before != ADAPTDL_NONE && adaptdl_came_later(&sia->adaptdl, before, number))
        before = job[before].before;
    uint32_t *after = before != ADAPTDL_NONE ? &job[before].after : &line->first;
    job[number].before = before;
    job[number].after = *after;
    *(*after != ADAPTDL_NONE ? &job[*after].before : &line->last) = number;
    *after = number;
    sia->job[number].is_in_line = true;
}

static void leave(struct sia *sia, uint32_t number) {
    struct adaptdl_job *all = sia->adaptdl.job;
    const struct adaptdl_job *job = &all[number];
    struct adaptdl_line *line = line_of(sia, job->gpus);
    *(job->before != ADAPTDL_NONE ? &all[job->before].after : &line->first) = job->after;
    *(job->after != ADAPTDL_NONE ? &all[job->after].before : &line->last) = job->before;
    sia->job[number].is_in_line = false;
}

static void show(struct sia *sia, uint32_t number) {
    adaptdl_insert(&sia->adaptdl, sia->shown, sia->n_shown++, number);
}

/* On nodes of several kinds a job has several configurations. The simulator's restarts differ by
 * application, and where the programme may be cut short, each row of it matters. */
void sia_open_lines(struct sia *sia) {
    sia->has_lines =
        sia->n_kinds == 1 && !sia->is_reference && gsim_knapsack_is_exact(&sia->knapsack);
}

bool sia_line_up(struct gsim_ctx *ctx, struct sia *sia, uint32_t number) {
    uint32_t gpus = sia->adaptdl.job[number].gpus;
    if (!sia->has_lines || sia_learner(sia, 0, number)->is_learner) {
        show(sia, number);
        return true;
    }
    struct adaptdl_line *line = line_of(sia, gpus);
    line = line ? line : add_line(ctx, sia, gpus);
    if (!line)
        return false;
    join(sia, line, number);
    return true;
}

void sia_step_forth(struct sia *sia, uint32_t number) {
    if (!sia->job[number].is_in_line)
        return;
    leave(sia, number);
    show(sia, number);
}

void sia_leave(struct sia *sia, uint32_t number) {
    uint32_t at = 0;
    if (sia->job[number].is_in_line) {
        leave(sia, number);
        return;
    }
    while (sia->shown[at] != number)
        at++;
    memmove(sia->shown + at, sia->shown + at + 1, (--sia->n_shown - at) * sizeof *sia->shown);
}

/* --- the jobs of a tick ----------------------------------------------------------------------- */

static bool is_young(const struct gsim_ctx *ctx, const struct sia *sia, uint32_t number) {
    return ctx->view->now_ns - sia->job[number].submit_ns < sia->job[number].restart_ns;
}

static void list(struct sia *sia, uint32_t number) {
    sia->listed[sia->n_listed++] = number;
}

/* The first of the line that are older than a restart, and the first of the others. */
static void list_line(const struct gsim_ctx *ctx, struct sia *sia,
                      const struct adaptdl_line *line) {
    const struct adaptdl_job *job = sia->adaptdl.job;
    uint32_t most = line->gpus > 0 ? sia->knapsack.capacity[0] / line->gpus : 0;
    uint32_t old = line->first, young = ADAPTDL_NONE;
    for (uint32_t n = line->last; n != ADAPTDL_NONE && is_young(ctx, sia, n); n = job[n].before)
        young = n;
    for (uint32_t i = 0; i < most && old != young; i++, old = job[old].after)
        list(sia, old);
    for (uint32_t i = 0; i < most && young != ADAPTDL_NONE; i++, young = job[young].after)
        list(sia, young);
}

/* Sorts the listed jobs by the order in which they came. false: no memory. */
static bool sort(struct sia *sia) {
    for (uint32_t i = 0; i < sia->n_listed; i++) {
        uint32_t number = sia->listed[i];
        sia->key[i] = (int64_t)sia->adaptdl.job[number].came << 32 | number;
    }
    if (!gsim_sort_i64(sia->key, sia->n_listed))
        return false;
    for (uint32_t i = 0; i < sia->n_listed; i++)
        sia->listed[i] = (uint32_t)sia->key[i];
    return true;
}

bool sia_list(const struct gsim_ctx *ctx, struct sia *sia) {
    memcpy(sia->listed, sia->shown, sia->n_shown * sizeof *sia->listed);
    sia->n_listed = sia->n_shown;
    for (uint32_t l = 0; l < sia->n_lines; l++)
        list_line(ctx, sia, &sia->line[l]);
    return sia->n_listed == sia->n_shown || sort(sia);
}
