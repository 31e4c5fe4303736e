/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ordered index: a set of small dense ids (job slots) kept sorted by (key, tie), with insert,
 * remove, first, last, next and previous in O(log n). Policies keep their ranked queues in it. It
 * is a treap with a fixed hash of the id as priority: equal operations give equal trees. */
#ifndef GSIM_BASE_INDEX_H
#define GSIM_BASE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

#define GSIM_NO_ID UINT32_MAX

struct gsim_index_node {
    int64_t key;
    uint64_t tie;
    uint32_t child[2];
    uint32_t parent;
    bool is_member;
    int64_t size, least; /* in a sized index: the member's size, and the least of its subtree */
};

/* The neighbours in order: a walk needs no climbing, and touches nothing but these. */
struct gsim_index_links {
    uint32_t beside[2];
};

struct gsim_index {
    struct gsim_arena *arena;
    struct gsim_index_node *node; /* by id */
    struct gsim_index_links *links; /* by id */
    uint32_t capacity;
    uint32_t root;
    uint32_t end[2]; /* first and last */
    uint32_t n;
    bool is_sized;
};

void gsim_index_init(struct gsim_index *index, struct gsim_arena *arena);
/* Adds a member. false: no memory. id must not be a member; (key, tie) must be unique. */
bool gsim_index_insert(struct gsim_index *index, uint32_t id, int64_t key, uint64_t tie);
/* Adds a member with a size, for gsim_index_fitting; in such an index all members have sizes. */
bool gsim_index_insert_sized(struct gsim_index *index, uint32_t id, int64_t key, uint64_t tie,
                             int64_t size);
/* In a sized index: the new member probably stands right behind this one (GSIM_NO_ID: no telling
 * where), and is put there without a search if so. */
bool gsim_index_insert_after(struct gsim_index *index, uint32_t id, int64_t key, uint64_t tie,
                             int64_t size, uint32_t before);
/* Does nothing when id is not a member. */
void gsim_index_remove(struct gsim_index *index, uint32_t id);
/* Walking gives GSIM_NO_ID at the end. To remove the current id while walking, fetch the next id
 * first. */
static inline uint32_t gsim_index_first(const struct gsim_index *index) {
    return index->end[0];
}

static inline uint32_t gsim_index_last(const struct gsim_index *index) {
    return index->end[1];
}

static inline uint32_t gsim_index_next(const struct gsim_index *index, uint32_t id) {
    return index->links[id].beside[1];
}

static inline uint32_t gsim_index_prev(const struct gsim_index *index, uint32_t id) {
    return index->links[id].beside[0];
}

/* Sets a new key. The member must stay between its neighbours once all keys that change together
 * have changed; until then nothing may be inserted or sought. */
static inline void gsim_index_set_key(struct gsim_index *index, uint32_t id, int64_t key) {
    index->node[id].key = key;
}

/* In a sized index. */
static inline int64_t gsim_index_size(const struct gsim_index *index, uint32_t id) {
    return index->node[id].size;
}

/* The first member at or after member id with a size of at most `most`, in O(log n); GSIM_NO_ID:
 * there is none, or id was GSIM_NO_ID. */
uint32_t gsim_index_fitting(const struct gsim_index *index, uint32_t id, int64_t most);

/* The first member at or after (key, tie). */
uint32_t gsim_index_seek(const struct gsim_index *index, int64_t key, uint64_t tie);

/* The first member of which the fact is true; it must be true of all members after that, too. */
uint32_t gsim_index_first_where(const struct gsim_index *index,
                                bool (*is_true)(const void *of, uint32_t id), const void *of);

static inline bool gsim_index_has(const struct gsim_index *index, uint32_t id) {
    return id < index->capacity && index->node[id].is_member;
}

static inline int64_t gsim_index_key(const struct gsim_index *index, uint32_t id) {
    return index->node[id].key;
}

static inline uint64_t gsim_index_tie(const struct gsim_index *index, uint32_t id) {
    return index->node[id].tie;
}

#endif
