/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Treap over arrays indexed by id. */
#include "sim/base/index.h"

#include <assert.h>

#include "sim/base/hints.h"
#include "sim/base/wide.h"

/* A fixed, well mixed priority for each id. */
static uint64_t priority_of(uint32_t id) {
    uint64_t state = id;
    return gsim_mix_next(&state);
}

static bool is_less(const struct gsim_index_node *a, int64_t key, uint64_t tie) {
    return a->key < key || (a->key == key && a->tie < tie);
}

void gsim_index_init(struct gsim_index *index, struct gsim_arena *arena) {
    *index =
        (struct gsim_index){.arena = arena, .root = GSIM_NO_ID, .end = {GSIM_NO_ID, GSIM_NO_ID}};
}

GSIM_COLD static bool grow(struct gsim_index *index, uint32_t id) {
    uint32_t capacity = index->capacity ? index->capacity : 64;
    while (capacity <= id)
        capacity *= 2;
    struct gsim_index_node *grown = gsim_arena_grow(
        index->arena, index->node, index->capacity * sizeof *grown, capacity * sizeof *grown);
    if (!grown)
        return false;
    index->node = grown;
    struct gsim_index_links *links = gsim_arena_grow(
        index->arena, index->links, index->capacity * sizeof *links, capacity * sizeof *links);
    if (!links)
        return false;
    index->links = links;
    index->capacity = capacity;
    return true;
}

/* --- sizes ------------------------------------------------------------------------------------ */

static bool has_fitting(const struct gsim_index *index, uint32_t top, int64_t most) {
    return top != GSIM_NO_ID && index->node[top].least <= most;
}

/* Computes the least size anew after the subtree below id has changed. */
static void renew_least(struct gsim_index *index, uint32_t id) {
    struct gsim_index_node *node = &index->node[id];
    node->least = node->size;
    for (int side = 0; side < 2; side++)
        if (has_fitting(index, node->child[side], node->least))
            node->least = index->node[node->child[side]].least;
}

/* A member of this size has come below id: above one that had less already nothing changes. */
static void lower_above(struct gsim_index *index, uint32_t id, int64_t size) {
    for (; index->is_sized && id != GSIM_NO_ID && index->node[id].least > size;
         id = index->node[id].parent)
        index->node[id].least = size;
}

/* A member has gone from below id: above one with as little as before nothing changes. */
static void renew_above(struct gsim_index *index, uint32_t id) {
    for (int64_t was; index->is_sized && id != GSIM_NO_ID; id = index->node[id].parent) {
        was = index->node[id].least;
        renew_least(index, id);
        if (index->node[id].least == was)
            return;
    }
}

/* The first member of the subtree that fits; the subtree must have one. */
static uint32_t first_fitting(const struct gsim_index *index, uint32_t top, int64_t most) {
    for (;;) {
        const struct gsim_index_node *node = &index->node[top];
        if (has_fitting(index, node->child[0], most))
            top = node->child[0];
        else if (node->size <= most)
            return top;
        else
            top = node->child[1];
    }
}

uint32_t gsim_index_fitting(const struct gsim_index *index, uint32_t id, int64_t most) {
    assert(index->is_sized || id == GSIM_NO_ID);
    if (id == GSIM_NO_ID || index->node[id].size <= most)
        return id;
    if (index->node[index->root].least > most)
        return GSIM_NO_ID; /* the climb from a member would find that on each level */
    while (id != GSIM_NO_ID && index->node[id].size > most) {
        uint32_t right = index->node[id].child[1], parent = index->node[id].parent;
        if (has_fitting(index, right, most))
            return first_fitting(index, right, most);
        while (parent != GSIM_NO_ID && index->node[parent].child[1] == id) {
            id = parent;
            parent = index->node[id].parent;
        }
        id = parent; /* the left subtree came before */
    }
    return id;
}

/* --- the tree --------------------------------------------------------------------------------- */

/* Puts `child` where `old` hangs below `parent` (GSIM_NO_ID: at the root). */
static void hang(struct gsim_index *index, uint32_t parent, uint32_t old, uint32_t child) {
    if (parent == GSIM_NO_ID)
        index->root = child;
    else
        index->node[parent].child[index->node[parent].child[1] == old] = child;
    if (child != GSIM_NO_ID)
        index->node[child].parent = parent;
}

/* Rotates id above its parent. */
static void rotate_up(struct gsim_index *index, uint32_t id) {
    struct gsim_index_node *node = index->node;
    uint32_t parent = node[id].parent;
    int side = node[parent].child[1] == id;
    uint32_t inner = node[id].child[!side];
    hang(index, node[parent].parent, parent, id);
    node[parent].child[side] = inner;
    if (inner != GSIM_NO_ID)
        node[inner].parent = parent;
    node[id].child[!side] = parent;
    node[parent].parent = id;
    if (index->is_sized) {
        node[id].least = node[parent].least; /* the members are those that were below the parent */
        renew_least(index, parent);
    }
}

/* Links id between two neighbours, either of which may be absent. */
static void link_between(struct gsim_index *index, uint32_t before, uint32_t id, uint32_t after) {
    index->links[id].beside[0] = before;
    index->links[id].beside[1] = after;
    *(before == GSIM_NO_ID ? &index->end[0] : &index->links[before].beside[1]) = id;
    *(after == GSIM_NO_ID ? &index->end[1] : &index->links[after].beside[0]) = id;
}

static void unlink_from(struct gsim_index *index, uint32_t id) {
    uint32_t before = index->links[id].beside[0], after = index->links[id].beside[1];
    *(before == GSIM_NO_ID ? &index->end[0] : &index->links[before].beside[1]) = after;
    *(after == GSIM_NO_ID ? &index->end[1] : &index->links[after].beside[0]) = before;
}

/* A place for a member: between two neighbours, below that one of them which has room on the side
 * of the other. */
struct place {
    uint32_t before, after; /* GSIM_NO_ID: none */
};

/* Finds the place on the way down from the root. */
static struct place seek_place(const struct gsim_index *index, int64_t key, uint64_t tie) {
    const struct gsim_index_node *node = index->node;
    uint32_t at = index->root, passed[2] = {GSIM_NO_ID, GSIM_NO_ID};
    while (at != GSIM_NO_ID) {
        int side = is_less(&node[at], key, tie);
        passed[!side] = at;
        at = node[at].child[side];
    }
    return (struct place){passed[0], passed[1]};
}

/* Many a member comes last, or first: times do, for one. */
static struct place place_of(const struct gsim_index *index, int64_t key, uint64_t tie) {
    if (index->n > 0 && is_less(&index->node[index->end[1]], key, tie))
        return (struct place){index->end[1], GSIM_NO_ID};
    if (index->n > 0 && !is_less(&index->node[index->end[0]], key, tie))
        return (struct place){GSIM_NO_ID, index->end[0]};
    return seek_place(index, key, tie);
}

/* Makes room for a member and writes it, not linked to others yet; false: no memory. */
static bool write_member(struct gsim_index *index, uint32_t id, int64_t key, uint64_t tie,
                         int64_t size) {
    if (gsim_rarely(id >= index->capacity) && !grow(index, id))
        return false;
    assert(!index->node[id].is_member);
    index->node[id] = (struct gsim_index_node){.key = key,
                                               .tie = tie,
                                               .child = {GSIM_NO_ID, GSIM_NO_ID},
                                               .is_member = true,
                                               .size = size,
                                               .least = size};
    return true;
}

/* Links the member to others. */
static void put(struct gsim_index *index, uint32_t id, struct place place) {
    struct gsim_index_node *node = index->node;
    bool is_below_after = place.before == GSIM_NO_ID || node[place.before].child[1] != GSIM_NO_ID;
    uint32_t parent = is_below_after ? place.after : place.before;
    node[id].parent = parent;
    link_between(index, place.before, id, place.after);
    if (parent == GSIM_NO_ID)
        index->root = id;
    else
        node[parent].child[!is_below_after] = id;
    lower_above(index, parent, node[id].size);
    uint64_t priority = priority_of(id);
    while (node[id].parent != GSIM_NO_ID && priority < priority_of(node[id].parent))
        rotate_up(index, id);
    index->n++;
}

GSIM_WHOLE static bool insert(struct gsim_index *index, uint32_t id, int64_t key, uint64_t tie,
                              int64_t size) {
    if (!write_member(index, id, key, tie, size))
        return false;
    put(index, id, place_of(index, key, tie));
    return true;
}

bool gsim_index_insert(struct gsim_index *index, uint32_t id, int64_t key, uint64_t tie) {
    assert(!index->is_sized);
    return insert(index, id, key, tie, 0);
}

bool gsim_index_insert_sized(struct gsim_index *index, uint32_t id, int64_t key, uint64_t tie,
                             int64_t size) {
    assert(index->is_sized || index->n == 0);
    index->is_sized = true;
    return insert(index, id, key, tie, size);
}

bool gsim_index_insert_after(struct gsim_index *index, uint32_t id, int64_t key, uint64_t tie,
                             int64_t size, uint32_t before) {
    if (before == GSIM_NO_ID || !is_less(&index->node[before], key, tie))
        return gsim_index_insert_sized(index, id, key, tie, size);
    uint32_t after = gsim_index_next(index, before);
    if (after != GSIM_NO_ID && is_less(&index->node[after], key, tie))
        return gsim_index_insert_sized(index, id, key, tie, size);
    if (!write_member(index, id, key, tie, size))
        return false;
    put(index, id, (struct place){before, after});
    return true;
}

GSIM_WHOLE void gsim_index_remove(struct gsim_index *index, uint32_t id) {
    if (!gsim_index_has(index, id))
        return;
    struct gsim_index_node *node = index->node;
    while (node[id].child[0] != GSIM_NO_ID && node[id].child[1] != GSIM_NO_ID) {
        uint32_t left = node[id].child[0], right = node[id].child[1];
        rotate_up(index, priority_of(left) < priority_of(right) ? left : right);
    }
    uint32_t only = node[id].child[node[id].child[0] == GSIM_NO_ID];
    hang(index, node[id].parent, id, only);
    renew_above(index, node[id].parent);
    unlink_from(index, id);
    node[id].is_member = false;
    index->n--;
}

uint32_t gsim_index_seek(const struct gsim_index *index, int64_t key, uint64_t tie) {
    uint32_t found = GSIM_NO_ID, at = index->root;
    while (at != GSIM_NO_ID) {
        int side = is_less(&index->node[at], key, tie);
        if (!side)
            found = at;
        at = index->node[at].child[side];
    }
    return found;
}

uint32_t gsim_index_first_where(const struct gsim_index *index,
                                bool (*is_true)(const void *of, uint32_t id), const void *of) {
    uint32_t found = GSIM_NO_ID, at = index->root;
    while (at != GSIM_NO_ID) {
        bool is_found = is_true(of, at);
        if (is_found)
            found = at;
        at = index->node[at].child[!is_found];
    }
    return found;
}
