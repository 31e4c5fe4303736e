/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shares of the entries, by the objective: equal parts of the cluster or of the time, or those
 * of a file that another program's solver returned; other objectives have files of their own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/gavel/allox.h"
#include "policies/gavel/optimum.h"
#include "policies/gavel/packing.h"
#include "policies/gavel/queue.h"
#include "policies/gavel/shares.h"
#include "sim/base/decimal.h"

/* --- rules ------------------------------------------------------------------------------------ */

/* A cluster of its own for each job, of a part of each device type. */
static void isolate(struct gavel *gavel) {
    for (uint32_t i = 0; i < gavel->rounds.n; i++)
        gavel_split_equally(gavel, &gavel->rounds.entry[i], gavel->rounds.n);
}

/* An equal part of each device type's time for each job, whatever its gang; a job has no more than
 * all of its own time. */
static void share_time(struct gavel *gavel) {
    double there = 0;
    for (uint32_t type = 0; type < gavel->n_types; type++)
        there += gavel->n_gpus[type];
    for (uint32_t i = 0; i < gavel->rounds.n; i++)
        for (uint32_t type = 0; type < gavel->n_types; type++)
            gavel->rounds.entry[i].of[type].share =
                gavel->n_gpus[type] / (there > gavel->rounds.n ? there : gavel->rounds.n);
}

/* --- shares of a file ------------------------------------------------------------------------- */

static enum gsim_status bad_row(struct gsim_ctx *ctx, const char *path, int64_t line,
                                const char *what) {
    return gsim_fail(ctx->log, GSIM_BAD_INPUT, path, line,
                     "%s; a row of shares is time_s,job or job+job,device,share", what);
}

/* Cuts the text at the next comma; NULL: there is none. */
static char *cut(char *text) {
    char *comma = text ? strchr(text, ',') : NULL;
    if (comma)
        *comma++ = '\0';
    return comma;
}

/* The number of the device type of that name, which is the name of a device or of its file. */
static uint32_t type_called(const struct gsim_ctx *ctx, const struct gavel *gavel,
                            const char *name) {
    for (uint32_t type = 0; type < gavel->n_types; type++) {
        const char *own = gsim_ask_device(ctx, (uint16_t)type);
        if (own && strcmp(own, name) == 0)
            return type;
    }
    return GAVEL_NO_TYPE;
}

static enum gsim_status take_row(struct gsim_ctx *ctx, struct gavel *gavel, char *text,
                                 int64_t line) {
    struct gavel_replay *replay = &gavel->replay;
    struct gavel_replay_row *row = &replay->row[replay->n];
    char *jobs = cut(text), *device = cut(jobs), *share = cut(device), *end;
    if (!share)
        return bad_row(ctx, replay->path, line, "there are fewer than four cells");
    row->time_s = gsim_decimal_read(text, &end);
    bool is_ok = *text && !*end;
    row->member[0] = (uint32_t)strtoul(jobs, &end, 10);
    row->member[1] = GSIM_NO_MEMBER;
    if (*end == '+')
        row->member[1] = (uint32_t)strtoul(end + 1, &end, 10);
    is_ok &= *jobs && !*end;
    row->share = gsim_decimal_read(share, &end);
    is_ok &= *share && !*end && row->share >= 0 && row->share <= 1;
    if (!is_ok)
        return bad_row(ctx, replay->path, line, "a cell is no number, or a share is not in 0 to 1");
    row->type = type_called(ctx, gavel, device);
    if (row->type == GAVEL_NO_TYPE)
        return bad_row(ctx, replay->path, line, "the cluster has no device of that name");
    row->line = line;
    replay->n++;
    return GSIM_OK;
}

enum gsim_status gavel_read_shares(struct gsim_ctx *ctx, struct gavel *gavel, const char *path) {
    enum { LINE = 256 };
    char text[LINE];
    struct gavel_replay *replay = &gavel->replay;
    FILE *file = fopen(path, "r");
    if (!file)
        return gsim_fail(ctx->log, GSIM_BAD_INPUT, path, 0, "the file cannot be read: %s",
                         strerror(errno));
    enum gsim_status status = GSIM_OK;
    uint32_t capacity = 0;
    replay->path = path;
    for (int64_t line = 1; status == GSIM_OK && fgets(text, LINE, file); line++) {
        text[strcspn(text, "\r\n")] = '\0';
        if (replay->n == capacity) {
            uint32_t more = capacity ? 2 * capacity : 1024;
            struct gavel_replay_row *grown = gsim_arena_grow(
                ctx->arena, replay->row, capacity * sizeof *grown, more * sizeof *grown);
            if (!grown) {
                status = gsim_no_memory(ctx->log, "reading shares");
                break;
            }
            replay->row = grown;
            capacity = more;
        }
        bool is_header = line == 1 && (*text < '0' || *text > '9');
        if (*text && *text != '#' && !is_header)
            status = take_row(ctx, gavel, text, line);
    }
    (void)fclose(file);
    return status;
}

/* The time of shares in a file is that of its program's clock, which is rounded there. */
static bool is_of_now(const struct gavel *gavel, const struct gavel_replay_row *row) {
    const double most_off_s = 0.001;
    double off = row->time_s - gavel->now_s;
    return off < most_off_s && off > -most_off_s;
}

/* Jobs of a row are of the trace, and of a pair two. */
static bool is_of_trace(struct gsim_ctx *ctx, const struct gavel *gavel,
                        const struct gavel_replay_row *row) {
    uint32_t a = row->member[0], b = row->member[1], n = ctx->view->trace->n_jobs;
    uint32_t last = b != GSIM_NO_MEMBER && b > a ? b : a;
    if (last < n && a != b)
        return true;
    ctx->status =
        last < n ? gsim_fail(ctx->log, GSIM_BAD_INPUT, gavel->replay.path, row->line,
                             "job '%s' shares GPUs with itself; a pair is two jobs",
                             gsim_trace_id(ctx->view->trace, a))
                 : gsim_fail(ctx->log, GSIM_BAD_INPUT, gavel->replay.path, row->line,
                             "there is no job %u; those of the trace are 0 to %u", last, n - 1);
    return false;
}

/* Pairs have equal gangs, and need packing=on. */
static bool is_of_equal_gangs(struct gsim_ctx *ctx, const struct gavel *gavel,
                              const struct gavel_replay_row *row) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t a = row->member[0], b = row->member[1];
    if (b == GSIM_NO_MEMBER)
        return true;
    if (gavel->has_packing && gavel->job[a].gpus == gavel->job[b].gpus)
        return true;
    ctx->status = gsim_fail(
        ctx->log, GSIM_BAD_INPUT, gavel->replay.path, row->line,
        gavel->has_packing ? "jobs '%s' and '%s' share no GPUs: a pair has equally many GPUs each"
                           : "jobs '%s' and '%s' share GPUs: a file with pairs needs packing=on",
        gsim_trace_id(trace, a), gsim_trace_id(trace, b));
    return false;
}

/* NULL: no such jobs have entries. */
static struct gsim_round_entry *entry_of_row(const struct gavel *gavel,
                                             const struct gavel_replay_row *row) {
    uint32_t first = row->member[0], second = row->member[1];
    uint32_t last = second == GSIM_NO_MEMBER ? first : second;
    if (!gavel->job[first].is_active || !gavel->job[last].is_active)
        return NULL;
    return second == GSIM_NO_MEMBER ? &gavel->rounds.entry[gavel->job[first].entry]
                                    : gavel_pair(gavel, first, second);
}

static bool replay(struct gsim_ctx *ctx, struct gavel *gavel) {
    struct gavel_replay *replay = &gavel->replay;
    const uint32_t from = replay->next;
    for (uint32_t i = 0; i < gavel->rounds.n; i++)
        gsim_rounds_unshare(&gavel->rounds, &gavel->rounds.entry[i]);
    for (; replay->next < replay->n && is_of_now(gavel, &replay->row[replay->next]);
         replay->next++) {
        const struct gavel_replay_row *row = &replay->row[replay->next];
        if (!is_of_trace(ctx, gavel, row) || !is_of_equal_gangs(ctx, gavel, row))
            return false;
        struct gsim_round_entry *entry = entry_of_row(gavel, row);
        if (entry)
            entry->of[row->type].share = row->share;
    }
    if (replay->next > from)
        return true;
    ctx->status =
        gsim_fail(ctx->log, GSIM_BAD_INPUT, replay->path, 0,
                  "shares are due at %.6f s; the next of the file are of %.6f s: it is "
                  "of another trace, cluster or policy",
                  gavel->now_s, replay->next < replay->n ? replay->row[replay->next].time_s : -1.0);
    return false;
}

bool gavel_share_out(struct gsim_ctx *ctx, struct gavel *gavel) {
    bool is_done = true;
    for (uint32_t i = 0; i < gavel->rounds.n; i++) {
        gavel->rounds.entry[i].has_share = true;
        if (!gavel_is_pair(&gavel->rounds.entry[i]))
            gavel->job[gavel->rounds.entry[i].member[0]].entry = i;
    }
    if (gavel->replay.path)
        is_done = replay(ctx, gavel);
    else if (gavel->objective == GAVEL_ISOLATED)
        isolate(gavel);
    else if (gavel->objective == GAVEL_PROPORTIONAL)
        share_time(gavel);
    else if (gavel->objective == GAVEL_FIFO)
        is_done = gavel_serve(ctx, gavel);
    else if (gavel->objective == GAVEL_GANDIVA)
        is_done = gavel_pair_at_random(ctx, gavel);
    else if (gavel->objective == GAVEL_ALLOX)
        is_done = gavel_queue(ctx, gavel);
    else
        is_done = gavel_optimise(ctx, gavel);
    return is_done;
}
