/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting jobs by rank in lines, one for each wish (gsim_ask_wish): where a gang of a wish finds no
 * room, a pass goes by all of its line that are no narrower, and need not look at them. */
#ifndef GSIM_POLICIES_LIB_WISH_LINES_H
#define GSIM_POLICIES_LIB_WISH_LINES_H

#include "gsim/policy.h"
#include "sim/base/index.h"

/* Lines at most; the last one is of all further wishes. */
enum { GSIM_WISH_LINES_MOST = 64 };

struct gsim_wish_line {
    uint64_t wish;
    bool is_mixed; /* of several wishes, so that no job of it speaks for others */
    struct gsim_index jobs; /* by rank, then in order of the trace; the size is the job's need */
    /* Members of the index are named by numbers of the line's own, so that it has no more room than
     * jobs: by number the job, of unused numbers another one. Of a single line a job is its own
     * number. */
    uint32_t *job, n_ids, ids_capacity, unused;
    /* in a pass */
    uint32_t at; /* the member to be looked at next */
    uint32_t unplaced, unforced; /* the smallest gangs that found no room, and none by force */
};

struct gsim_wish_place {
    uint32_t line, id; /* line: 1 + its number; 0: the job does not wait */
};

/* Zeroed, then gsim_wish_lines_init. */
struct gsim_wish_lines {
    struct gsim_arena *arena;
    bool is_by_wish; /* else there is one line */
    struct gsim_wish_line *line;
    uint32_t n;
    uint32_t n_jobs;
    struct gsim_wish_place *place; /* by job, where there are lines by wish */
    uint32_t capacity;
};

/* rule: of all placements. false: no memory. */
bool gsim_wish_lines_init(struct gsim_wish_lines *lines, const struct gsim_ctx *ctx,
                          enum gsim_rule rule);
/* The job waits. false: no memory. */
bool gsim_wish_lines_add(struct gsim_wish_lines *lines, const struct gsim_ctx *ctx, gsim_slot slot,
                         int64_t rank, int64_t need);
/* Does nothing if the job does not wait. */
void gsim_wish_lines_remove(struct gsim_wish_lines *lines, gsim_slot slot);
/* The waiting job of the best rank; GSIM_NO_SLOT: no job waits. */
gsim_slot gsim_wish_lines_first(const struct gsim_wish_lines *lines);

static inline bool gsim_wish_lines_has(const struct gsim_wish_lines *lines, gsim_slot slot) {
    return lines->is_by_wish ? slot < lines->capacity && lines->place[slot].line > 0
                             : gsim_index_has(&lines->line->jobs, slot);
}
static inline struct gsim_wish_line *gsim_wish_lines_of(const struct gsim_wish_lines *lines,
                                                        gsim_slot slot) {
    return &lines->line[lines->is_by_wish ? lines->place[slot].line - 1 : 0];
}
static inline int64_t gsim_wish_lines_rank(const struct gsim_wish_lines *lines, gsim_slot slot) {
    return gsim_index_key(&gsim_wish_lines_of(lines, slot)->jobs,
                          lines->is_by_wish ? lines->place[slot].id : slot);
}
/* The job of a member; GSIM_NO_SLOT of GSIM_NO_ID. */
static inline gsim_slot gsim_wish_lines_job(const struct gsim_wish_lines *lines,
                                            const struct gsim_wish_line *line, uint32_t id) {
    return lines->is_by_wish && id != GSIM_NO_ID ? line->job[id] : id;
}
/* Whether a member of one line goes before one of another. */
static inline bool gsim_wish_lines_is_before(const struct gsim_wish_line *a, uint32_t id_a,
                                             const struct gsim_wish_line *b, uint32_t id_b) {
    int64_t rank_a = gsim_index_key(&a->jobs, id_a), rank_b = gsim_index_key(&b->jobs, id_b);
    return rank_a != rank_b
               ? rank_a < rank_b
               : gsim_index_tie(&a->jobs, id_a) < gsim_index_tie(&b->jobs, id_b);
}

#endif
