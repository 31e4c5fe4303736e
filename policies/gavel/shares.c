/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shares of the entries: equal parts of the cluster, first come first served, or those of a
 * file that another program's solver returned. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/gavel/allox.h"
#include "policies/gavel/optimum.h"
#include "policies/gavel/shares.h"

/* --- rules ------------------------------------------------------------------------------------ */

/* A cluster of its own for each job, of a part of each device type. */
static void isolate(struct gavel *gavel) {
    struct gsim_rounds *rounds = &gavel->rounds;
    for (uint32_t i = 0; i < rounds->n; i++) {
        struct gsim_round_entry *entry = &rounds->entry[i];
        double sum = 0;
        for (uint32_t t = 0; t < gavel->n_types; t++) {
            uint32_t type = gavel->by_name[t];
            entry->share[type] = (double)gavel->n_gpus[type] / rounds->n / entry->gpus;
            sum += entry->share[type];
        }
        for (uint32_t type = 0; type < gavel->n_types; type++)
            entry->share[type] /= sum > 1 ? sum : 1;
    }
}

/* Jobs in the order of their arrival take GPUs of the type on which they are fastest, until one
 * finds none. */
static void serve_in_order(struct gavel *gavel) {
    struct gsim_rounds *rounds = &gavel->rounds;
    uint32_t left[GSIM_ROUND_TYPES];
    memcpy(left, gavel->n_gpus, sizeof left);
    for (uint32_t i = 0; i < rounds->n; i++)
        memset(rounds->entry[i].share, 0, sizeof rounds->entry[i].share);
    for (uint32_t i = 0; i < rounds->n; i++) {
        struct gsim_round_entry *entry = &rounds->entry[i];
        uint32_t best = GAVEL_NO_TYPE;
        for (uint32_t t = 0; t < gavel->n_types; t++) {
            uint32_t type = gavel->by_name[t];
            bool runs = entry->per_s[0][type] > 0 || gavel->is_reference; /* or holds a place */
            if (left[type] >= entry->gpus && runs &&
                (best == GAVEL_NO_TYPE || entry->per_s[0][type] > entry->per_s[0][best]))
                best = type;
        }
        if (best == GAVEL_NO_TYPE)
            return;
        entry->share[best] = 1;
        left[best] -= entry->gpus;
    }
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
    row->time_s = strtod(text, &end);
    bool is_ok = *text && !*end;
    row->member[0] = (uint32_t)strtoul(jobs, &end, 10);
    row->member[1] = GSIM_NO_MEMBER;
    if (*end == '+')
        row->member[1] = (uint32_t)strtoul(end + 1, &end, 10);
    is_ok &= *jobs && !*end;
    row->share = strtod(share, &end);
    is_ok &= *share && !*end && row->share >= 0 && row->share <= 1;
    if (!is_ok)
        return bad_row(ctx, replay->path, line, "a cell is no number, or a share is not in 0 to 1");
    row->type = type_called(ctx, gavel, device);
    if (row->type == GAVEL_NO_TYPE)
        return bad_row(ctx, replay->path, line, "the cluster has no device of that name");
    replay->n++;
    return GSIM_OK;
}

enum gsim_status gavel_read_shares(struct gsim_ctx *ctx, struct gavel *gavel, const char *path) {
    enum { LINE = 256 };
    char text[LINE];
    struct gavel_replay *replay = &gavel->replay;
    FILE *file = fopen(path, "r");
    if (!file)
        return gsim_fail(ctx->log, GSIM_BAD_INPUT, path, 0, "cannot read it: %s", strerror(errno));
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

static bool replay(struct gsim_ctx *ctx, struct gavel *gavel) {
    struct gavel_replay *replay = &gavel->replay;
    const uint32_t from = replay->next;
    for (uint32_t i = 0; i < gavel->rounds.n; i++)
        memset(gavel->rounds.entry[i].share, 0, sizeof gavel->rounds.entry[i].share);
    for (; replay->next < replay->n && is_of_now(gavel, &replay->row[replay->next]);
         replay->next++) {
        const struct gavel_replay_row *row = &replay->row[replay->next];
        struct gsim_round_entry *entry =
            gsim_rounds_find(&gavel->rounds, row->member[0], row->member[1]);
        if (entry)
            entry->share[row->type] = row->share;
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
    for (uint32_t i = 0; i < gavel->rounds.n; i++)
        gavel->rounds.entry[i].has_share = true;
    if (gavel->objective == GAVEL_ISOLATED)
        isolate(gavel);
    else if (gavel->objective == GAVEL_FIFO)
        serve_in_order(gavel);
    else if (gavel->objective == GAVEL_SHARES)
        is_done = replay(ctx, gavel);
    else if (gavel->objective == GAVEL_ALLOX)
        is_done = gavel_queue(ctx, gavel);
    else
        is_done = gavel_optimise(ctx, gavel);
    return is_done;
}
