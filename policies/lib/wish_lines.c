/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/wish_lines.h"

#include <assert.h>

static_assert(GSIM_NO_ID == GSIM_NO_SLOT, "no member is no job");

static void open_line(struct gsim_wish_lines *lines, uint64_t wish) {
    struct gsim_wish_line *line = &lines->line[lines->n++];
    *line = (struct gsim_wish_line){.wish = wish,
                                    .is_mixed = lines->n == GSIM_WISH_LINES_MOST,
                                    .unused = GSIM_NO_ID,
                                    .at = GSIM_NO_ID};
    gsim_index_init(&line->jobs, lines->arena);
}

bool gsim_wish_lines_init(struct gsim_wish_lines *lines, const struct gsim_ctx *ctx,
                          enum gsim_rule rule) {
    lines->arena = ctx->arena;
    lines->is_by_wish = gsim_ask_has_wishes_under(ctx->view, rule);
    lines->line = gsim_arena_array(ctx->arena, lines->is_by_wish ? GSIM_WISH_LINES_MOST : 1,
                                   sizeof *lines->line);
    if (lines->line && !lines->is_by_wish)
        open_line(lines, 0);
    return lines->line != NULL;
}

static uint32_t line_for(struct gsim_wish_lines *lines, uint64_t wish) {
    uint32_t l = 0;
    while (l < lines->n && lines->line[l].wish != wish)
        l++;
    if (l == GSIM_WISH_LINES_MOST)
        return GSIM_WISH_LINES_MOST - 1;
    if (l == lines->n)
        open_line(lines, wish);
    return l;
}

/* --- numbers of members ----------------------------------------------------------------------- */

static bool reserve_place(struct gsim_wish_lines *lines, gsim_slot slot) {
    uint32_t was = lines->capacity, capacity = was ? was : 64;
    if (slot < was)
        return true;
    while (capacity <= slot)
        capacity *= 2;
    struct gsim_wish_place *place =
        gsim_arena_grow(lines->arena, lines->place, was * sizeof *place, capacity * sizeof *place);
    if (!place)
        return false;
    lines->place = place;
    lines->capacity = capacity;
    return true;
}

static bool reserve_id(struct gsim_wish_line *line, struct gsim_arena *arena) {
    if (line->unused != GSIM_NO_ID)
        return true;
    uint32_t *job =
        gsim_arena_room(arena, line->job, line->n_ids, &line->ids_capacity, sizeof *job);
    line->job = job ? job : line->job;
    return job != NULL;
}

/* There is room for one. */
static uint32_t take_id(struct gsim_wish_line *line, gsim_slot slot) {
    uint32_t id = line->unused;
    if (id == GSIM_NO_ID)
        id = line->n_ids++;
    else
        line->unused = line->job[id];
    line->job[id] = slot;
    return id;
}

static void give_id_back(struct gsim_wish_line *line, uint32_t id) {
    line->job[id] = line->unused;
    line->unused = id;
}

static bool add_by_wish(struct gsim_wish_lines *lines, const struct gsim_ctx *ctx, gsim_slot slot,
                        int64_t rank, int64_t need) {
    uint32_t l = line_for(lines, gsim_ask_wish(ctx, slot));
    struct gsim_wish_line *line = &lines->line[l];
    if (!reserve_place(lines, slot) || !reserve_id(line, lines->arena))
        return false;
    uint32_t id = take_id(line, slot);
    if (!gsim_index_insert_sized(&line->jobs, id, rank, gsim_nth(ctx->view, slot), need))
        return false;
    lines->place[slot] = (struct gsim_wish_place){l + 1, id};
    return true;
}

/* --- the lines -------------------------------------------------------------------------------- */

bool gsim_wish_lines_add(struct gsim_wish_lines *lines, const struct gsim_ctx *ctx, gsim_slot slot,
                         int64_t rank, int64_t need) {
    bool is_in = lines->is_by_wish ? add_by_wish(lines, ctx, slot, rank, need)
                                   : gsim_index_insert_sized(&lines->line->jobs, slot, rank,
                                                             gsim_nth(ctx->view, slot), need);
    lines->n_jobs += is_in;
    return is_in;
}

void gsim_wish_lines_remove(struct gsim_wish_lines *lines, gsim_slot slot) {
    if (!gsim_wish_lines_has(lines, slot))
        return;
    struct gsim_wish_line *line = gsim_wish_lines_of(lines, slot);
    uint32_t id = lines->is_by_wish ? lines->place[slot].id : slot;
    gsim_index_remove(&line->jobs, id);
    lines->n_jobs--;
    if (!lines->is_by_wish)
        return;
    give_id_back(line, id);
    lines->place[slot].line = 0;
}

gsim_slot gsim_wish_lines_first(const struct gsim_wish_lines *lines) {
    const struct gsim_wish_line *best = NULL;
    uint32_t id = GSIM_NO_ID;
    if (lines->n_jobs == 0)
        return GSIM_NO_SLOT;
    for (uint32_t l = 0; l < lines->n; l++) {
        const struct gsim_wish_line *line = &lines->line[l];
        uint32_t first = gsim_index_first(&line->jobs);
        if (first == GSIM_NO_ID || (best && !gsim_wish_lines_is_before(line, first, best, id)))
            continue;
        best = line;
        id = first;
    }
    return gsim_wish_lines_job(lines, best, id);
}
