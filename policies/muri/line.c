/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Under rule=muri-s, jobs that share no GPUs run by the least GPU time left, and those that do not
 * fit are passed over. Where gangs divide each other and the nodes, a gang fits where there are
 * GPUs enough (calm.c). So of each width the first jobs of a line run, and a whole decision is how
 * many they are. It is found from what it was: the jobs with the most time left are taken back
 * until no job that waits comes before one that runs, and from there on jobs are taken as they
 * stand. Time left falls where jobs run, and stays where they wait. A line that is out of order
 * even so is left to a whole decision. */
#include "policies/muri/line.h"

#include <string.h>

#include "policies/lib/common.h"
#include "policies/muri/order.h"
#include "policies/muri/pack.h"
#include "policies/muri/place.h"
#include "policies/muri/room.h"

struct muri_width {
    uint32_t gpus, n, n_running;
    uint32_t *job; /* by time left */
    bool is_closed; /* its next job does not fit */
};

struct muri_lines {
    uint32_t n; /* the widest first */
    struct muri_width *width;
    uint64_t n_gpus; /* of jobs that run */
    uint32_t *touched, n_touched; /* jobs taken or taken back in this event */
    uint32_t *moving, n_moving; /* jobs on their way to or from GPUs, in the order of the lines */
    uint32_t *loose, n_loose; /* jobs that wait, and are stopping still */
};

static bool open_lines(struct gsim_ctx *ctx, struct muri *muri, struct muri_lines *lines) {
    for (uint32_t i = 0; i < muri->n_jobs; i++) {
        uint32_t gpus = muri->job[i].gpus, w = 0, at;
        while (w < lines->n && lines->width[w].gpus > gpus)
            w++;
        if (w == lines->n || lines->width[w].gpus != gpus) {
            for (at = lines->n++; at > w; at--)
                lines->width[at] = lines->width[at - 1];
            lines->width[w] = (struct muri_width){.gpus = gpus};
        }
        lines->width[w].n++;
    }
    for (uint32_t w = 0; w < lines->n; w++) {
        struct muri_width *width = &lines->width[w];
        width->job = gsim_arena_array(ctx->arena, width->n, sizeof *width->job);
        if (!width->job)
            return false;
        for (uint32_t i = 0; i < muri->n_jobs; i++)
            if (muri->job[i].gpus == width->gpus)
                muri->job[i].width = w;
    }
    return true;
}

bool muri_line_open(struct gsim_ctx *ctx, struct muri *muri) {
    uint32_t n = muri->n_jobs;
    if (muri->rule != MURI_S || muri->n_exclusive != n || muri->n_lost_gpus > 0)
        return true;
    struct muri_lines *lines = gsim_arena_array(ctx->arena, 1, sizeof *lines);
    if (!lines)
        return false;
    muri->lines = lines;
    lines->width = gsim_arena_array(ctx->arena, n, sizeof *lines->width);
    lines->touched = gsim_arena_array(ctx->arena, n, sizeof *lines->touched);
    lines->moving = gsim_arena_array(ctx->arena, n, sizeof *lines->moving);
    lines->loose = gsim_arena_array(ctx->arena, n, sizeof *lines->loose);
    return lines->width && lines->touched && lines->moving && lines->loose &&
           open_lines(ctx, muri, lines);
}

static struct muri_width *line_of(const struct muri *muri, uint32_t number) {
    return &muri->lines->width[muri->job[number].width];
}

/* --- to lines and back ------------------------------------------------------------------------ */

static bool is_moving(const struct muri_job *job) {
    return job->is_placed != job->has_wanted;
}

void muri_line_note(struct muri *muri) {
    struct muri_lines *lines = muri->lines;
    muri->is_lined = lines && !muri->is_stuck && !muri->is_scattered;
    if (!muri->is_lined)
        return;
    for (uint32_t w = 0; w < lines->n; w++)
        lines->width[w].n = lines->width[w].n_running = 0;
    lines->n_gpus = lines->n_moving = lines->n_loose = 0;
    for (uint32_t i = 0; i < muri->n_order && muri->is_lined; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        struct muri_width *width = line_of(muri, muri->order[i]);
        job->runs = job->has_wanted;
        if (job->runs) {
            muri->is_lined = width->n_running == width->n;
            width->n_running++;
            lines->n_gpus += job->gpus;
        } else
            lines->loose[lines->n_loose++] = muri->order[i];
        if (is_moving(job))
            lines->moving[lines->n_moving++] = muri->order[i];
        width->job[width->n++] = muri->order[i];
    }
}

/* The order and the packings, but for jobs that have come with this event. */
void muri_line_leave(struct muri *muri) {
    struct muri_lines *lines = muri->lines;
    muri->is_lined = false;
    muri->n_order = muri->packings.n = 0;
    for (uint32_t w = 0; w < lines->n; w++)
        for (uint32_t i = 0; i < lines->width[w].n; i++)
            if (muri->job[lines->width[w].job[i]].is_active)
                muri->order[muri->n_order++] = lines->width[w].job[i];
    muri_pack_alone(muri);
}

/* --- places in a line ------------------------------------------------------------------------- */

static double rank_now(const struct gsim_ctx *ctx, const struct muri *muri, struct muri_job *job) {
    if (job->runs)
        job->rank = muri_own_rank(ctx, muri, job);
    return job->rank;
}

/* The first place behind all jobs with less time left, or behind those with as much, too. */
static uint32_t place_by_rank(const struct gsim_ctx *ctx, const struct muri *muri,
                              const struct muri_job *job, bool is_behind_equals) {
    const struct muri_width *width = &muri->lines->width[job->width];
    uint32_t from = 0, to = width->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        double other = rank_now(ctx, muri, &muri->job[width->job[middle]]);
        if (other < job->rank || (is_behind_equals && other == job->rank))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static uint32_t place_of(const struct gsim_ctx *ctx, const struct muri *muri, uint32_t number) {
    const struct muri_width *width = line_of(muri, number);
    uint32_t at = place_by_rank(ctx, muri, &muri->job[number], false);
    while (at < width->n && width->job[at] != number)
        at++;
    if (at < width->n)
        return at;
    for (at = 0; width->job[at] != number;) /* while all jobs run, one may have passed another */
        at++;
    return at;
}

static void leave_lines(struct muri *muri) {
    for (uint32_t i = 0; i < muri->n_ended; i++) {
        struct muri_job *job = &muri->job[muri->ended[i]];
        struct muri_width *width = line_of(muri, muri->ended[i]);
        uint32_t at = 0;
        if (!job->is_active)
            continue;
        while (width->job[at] != muri->ended[i])
            at++;
        width->n--;
        memmove(width->job + at, width->job + at + 1, (width->n - at) * sizeof *width->job);
        if (at < width->n_running) {
            width->n_running--;
            muri->lines->n_gpus -= job->gpus;
            muri_leave(muri, job);
        }
        job->is_active = false;
    }
}

/* Whether the jobs that were told to stop have as much left as before. */
static bool are_loose_settled(const struct gsim_ctx *ctx, struct muri *muri) {
    struct muri_lines *lines = muri->lines;
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < lines->n_loose; i++) {
        const struct muri_job *job = &muri->job[lines->loose[i]];
        if (!job->is_active || job->runs)
            continue;
        double rank = muri_own_rank(ctx, muri, job);
        if (job->rank < rank || job->rank > rank)
            return false;
        if (!gsim_common_waits(ctx->view, job->slot))
            lines->loose[n_kept++] = lines->loose[i];
    }
    lines->n_loose = n_kept;
    return true;
}

/* Time left of the jobs that run. false: a line is no longer in order, since jobs run at different
 * speeds. */
static bool renew_ranks(const struct gsim_ctx *ctx, struct muri *muri) {
    for (uint32_t w = 0; w < muri->lines->n; w++) {
        const struct muri_width *width = &muri->lines->width[w];
        double least = -1;
        for (uint32_t i = 0; i < width->n_running; i++) {
            double rank = rank_now(ctx, muri, &muri->job[width->job[i]]);
            if (rank < least)
                return false;
            least = rank;
        }
        if (width->n_running < width->n && muri->job[width->job[width->n_running]].rank < least)
            return false;
    }
    return true;
}

/* Whether there are GPUs for all jobs, whatever their order: no two are to find theirs. */
static bool do_all_fit(const struct gsim_ctx *ctx, const struct muri *muri) {
    const struct gsim_view *view = ctx->view;
    uint64_t gpus = muri->lines->n_gpus;
    if (view->changes.n_arrived + muri->lines->n_moving > 1)
        return false;
    for (uint32_t w = 0; w < muri->lines->n; w++)
        if (muri->lines->width[w].n_running < muri->lines->width[w].n)
            return false;
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        gpus += view->jobs.gpus[view->changes.arrived[i]];
    return gpus <= muri->n_up_gpus;
}

static void touch(struct muri *muri, struct muri_job *job, bool runs) {
    job->runs = runs;
    if (!job->is_touched)
        muri->lines->touched[muri->lines->n_touched++] = (uint32_t)(job - muri->job);
    job->is_touched = true;
}

static void join_lines(const struct gsim_ctx *ctx, struct muri *muri) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->changes.n_arrived; i++) {
        uint32_t number = view->jobs.index[view->changes.arrived[i]];
        struct muri_job *job = &muri->job[number];
        struct muri_width *width = line_of(muri, number);
        job->rank = muri_own_rank(ctx, muri, job);
        job->came = i + 1;
        job->runs = false; /* its rank is new */
        uint32_t at = place_by_rank(ctx, muri, job, true);
        memmove(width->job + at + 1, width->job + at, (width->n - at) * sizeof *width->job);
        width->job[at] = number;
        width->n++;
        touch(muri, job, at < width->n_running);
        if (at < width->n_running) {
            width->n_running++;
            muri->lines->n_gpus += job->gpus;
        }
    }
}

/* --- which jobs run --------------------------------------------------------------------------- */

/* Jobs of different widths with equal ranks: the widest first, and after them those that have just
 * come. */
static bool is_ahead(const struct muri_job *a, const struct muri_job *b) {
    if (a->rank < b->rank || a->rank > b->rank)
        return a->rank < b->rank;
    return a->came != b->came ? a->came < b->came : a->gpus > b->gpus;
}

/* The last job that runs, or the first one that waits in a line that is open. */
static struct muri_job *outermost(const struct muri *muri, bool runs) {
    struct muri_job *found = NULL;
    for (uint32_t w = 0; w < muri->lines->n; w++) {
        const struct muri_width *width = &muri->lines->width[w];
        if (runs ? width->n_running == 0 : width->n_running == width->n || width->is_closed)
            continue;
        struct muri_job *job = &muri->job[width->job[width->n_running - runs]];
        if (!found || (runs ? is_ahead(found, job) : is_ahead(job, found)))
            found = job;
    }
    return found;
}

static void take_back(struct muri *muri) {
    struct muri_lines *lines = muri->lines;
    for (;;) {
        struct muri_job *last = outermost(muri, true), *next = outermost(muri, false);
        if (!last || (lines->n_gpus <= muri->n_up_gpus && !(next && is_ahead(next, last))))
            return;
        lines->width[last->width].n_running--;
        lines->n_gpus -= last->gpus;
        touch(muri, last, false);
    }
}

static void take(struct muri *muri) {
    struct muri_lines *lines = muri->lines;
    for (struct muri_job *next; (next = outermost(muri, false));) {
        struct muri_width *width = &lines->width[next->width];
        width->is_closed = lines->n_gpus + next->gpus > muri->n_up_gpus;
        if (width->is_closed)
            continue;
        width->n_running++;
        lines->n_gpus += next->gpus;
        touch(muri, next, true);
    }
    for (uint32_t w = 0; w < lines->n; w++)
        lines->width[w].is_closed = false;
}

/* --- their GPUs ------------------------------------------------------------------------------- */

static void note_moving(const struct gsim_ctx *ctx, struct muri *muri, uint32_t number) {
    struct muri_job *job = &muri->job[number];
    if (!job->is_noted) {
        job->is_noted = true;
        job->place = place_of(ctx, muri, number);
        muri->lines->moving[muri->lines->n_moving++] = number;
    }
}

/* Lists as moving the jobs that were, those that are taken and those that are taken back, and makes
 * free what the latter had, and what those had in mind that are to find GPUs. */
static void list_moving(const struct gsim_ctx *ctx, struct muri *muri) {
    struct muri_lines *lines = muri->lines;
    uint32_t n_before = lines->n_moving;
    lines->n_moving = 0;
    for (uint32_t i = 0; i < n_before; i++)
        if (muri->job[lines->moving[i]].is_active)
            note_moving(ctx, muri, lines->moving[i]);
    for (uint32_t i = 0; i < lines->n_touched; i++) {
        struct muri_job *job = &muri->job[lines->touched[i]];
        job->is_touched = false;
        if (job->runs != job->has_wanted || job->is_placed != job->runs)
            note_moving(ctx, muri, lines->touched[i]);
    }
    lines->n_touched = 0;
    muri_sort_by_place(muri, lines->moving, lines->n_moving);
    for (uint32_t i = 0; i < lines->n_moving; i++) {
        struct muri_job *job = &muri->job[lines->moving[i]];
        job->is_noted = false;
        if (job->has_wanted && !(job->runs && job->is_placed))
            muri_leave(muri, job);
        if (job->has_wanted && !job->runs)
            lines->loose[lines->n_loose++] = lines->moving[i];
        job->has_wanted = job->has_wanted && job->runs && job->is_placed;
    }
}

static bool find_beside(struct muri *muri) {
    struct muri_lines *lines = muri->lines;
    for (uint32_t i = 0; i < lines->n_moving; i++) {
        struct muri_job *job = &muri->job[lines->moving[i]];
        if (job->runs && !job->has_wanted && !muri_find(muri, job))
            return false;
    }
    return true;
}

/* All jobs anew, the widest first: those that wait move, too, if they have to leave GPUs. */
static bool find_all(struct muri *muri) {
    struct muri_lines *lines = muri->lines;
    uint32_t n = 0, n_before = lines->n_moving, at = 0;
    memcpy(muri->line, lines->moving, n_before * sizeof *lines->moving);
    muri_clear(muri);
    for (uint32_t w = 0; w < lines->n; w++) {
        struct muri_width *width = &lines->width[w];
        for (uint32_t i = 0; i < width->n_running; i++) {
            if (!muri_find(muri, &muri->job[width->job[i]]))
                return false;
            lines->moving[n++] = width->job[i];
        }
        for (; at < n_before && muri->job[muri->line[at]].width == w; at++)
            if (!muri->job[muri->line[at]].runs)
                lines->moving[n++] = muri->line[at];
    }
    lines->n_moving = n;
    return true;
}

/* --- an event --------------------------------------------------------------------------------- */

static void move_jobs(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri) {
    struct muri_lines *lines = muri->lines;
    uint32_t n = lines->n_moving;
    muri_place(ctx, plan, muri, lines->moving, n);
    lines->n_moving = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is_moving(&muri->job[lines->moving[i]]))
            lines->moving[lines->n_moving++] = lines->moving[i];
    if (muri->is_stuck)
        muri_line_leave(muri);
}

static bool decide_by_lines(const struct gsim_ctx *ctx, struct muri *muri) {
    leave_lines(muri);
    bool do_fit = do_all_fit(ctx, muri);
    if (!do_fit && (!are_loose_settled(ctx, muri) || !renew_ranks(ctx, muri)))
        return false;
    join_lines(ctx, muri);
    if (!do_fit)
        take_back(muri);
    take(muri);
    list_moving(ctx, muri);
    bool is_found = find_beside(muri) || ((!do_fit || renew_ranks(ctx, muri)) && find_all(muri));
    for (uint32_t i = 0; i < ctx->view->changes.n_arrived; i++) {
        struct muri_job *job = &muri->job[ctx->view->jobs.index[ctx->view->changes.arrived[i]]];
        job->came = 0;
        job->is_active = is_found;
    }
    return is_found;
}

bool muri_line_serve(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri,
                     bool is_event) {
    if (is_event && !decide_by_lines(ctx, muri)) {
        muri_line_leave(muri);
        return false;
    }
    if (muri->lines->n_moving > 0)
        move_jobs(ctx, plan, muri);
    return true;
}
