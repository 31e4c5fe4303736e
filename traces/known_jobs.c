/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/known_jobs.h"

#include <stdio.h>
#include <string.h>

struct entry {
    const char *key; /* NULL: the place is free */
    uint32_t job;
    const char *id; /* of a fellow, which may have been left out; NULL: the job is there */
};

struct gsim_known_jobs {
    struct entry *table;
    uint32_t n, n_buckets; /* a power of two */
    uint32_t n_indexed; /* jobs that are in the table with their ids and arrays */
};

static struct entry *place(struct entry *table, uint32_t n_buckets, const char *key) {
    uint32_t at = (uint32_t)gsim_build_hash(key, strlen(key)) & (n_buckets - 1);
    while (table[at].key && strcmp(table[at].key, key) != 0)
        at = (at + 1) & (n_buckets - 1);
    return &table[at];
}

static bool grow(struct gsim_builder *b, struct gsim_known_jobs *known) {
    uint32_t n_buckets = known->n_buckets ? 2 * known->n_buckets : 256;
    struct entry *table = gsim_arena_array(b->arena, n_buckets, sizeof *table);
    if (!table)
        return false;
    for (uint32_t i = 0; i < known->n_buckets; i++)
        if (known->table[i].key)
            *place(table, n_buckets, known->table[i].key) = known->table[i];
    known->table = table;
    known->n_buckets = n_buckets;
    return true;
}

/* NULL: no memory, where a job is as one that the log does not have. */
static struct gsim_known_jobs *open_known(struct gsim_builder *b) {
    if (!b->known)
        b->known = gsim_arena_alloc(b->arena, sizeof *b->known);
    if (b->known && 2 * b->known->n >= b->known->n_buckets && !grow(b, b->known))
        return NULL;
    return b->known;
}

static int64_t end_of(const struct gsim_builder *b, uint32_t job) {
    const int64_t *end_ns = b->column[GSIM_COL_LOGGED_END_NS];
    return end_ns ? end_ns[job] : -1;
}

static void add(struct gsim_builder *b, struct gsim_known_jobs *known, const char *key,
                uint32_t job) {
    struct entry *entry = place(known->table, known->n_buckets, key);
    known->n += !entry->key;
    if (!entry->key || end_of(b, job) >= end_of(b, entry->job))
        *entry = (struct entry){key, job, NULL};
}

/* Ids move while jobs are added, so that the table has copies. */
static bool index_jobs(struct gsim_builder *b) {
    struct gsim_known_jobs *known = open_known(b);
    const int64_t *array = b->column[GSIM_COL_ARRAY];
    while (known && known->n_indexed < b->n) {
        uint32_t job = known->n_indexed++;
        const char *id = gsim_arena_strdup(b->arena, b->id_text + b->id_at[job]);
        if (!id)
            return false;
        add(b, known, id, job);
        if (array && array[job] >= 0)
            add(b, known, b->names[GSIM_COL_ARRAY].name[array[job]], job);
        known = open_known(b);
    }
    return known != NULL;
}

/* A later run of a job is ID#2. */
static bool is_run_of(const char *own, const char *id) {
    size_t length = strlen(id);
    return strncmp(own, id, length) == 0 && (own[length] == '\0' || own[length] == '#');
}

/* The job of the key, if it was not left out; -1: there is none. */
static int64_t find(const struct gsim_builder *b, const char *key) {
    const struct entry *entry = place(b->known->table, b->known->n_buckets, key);
    bool is_there = entry->key && entry->job < b->n &&
                    (!entry->id || is_run_of(b->id_text + b->id_at[entry->job], entry->id));
    return is_there ? (int64_t)entry->job : -1;
}

/* The row under way is the job of the key, unless another one of the key ended later. */
static void add_row(struct gsim_builder *b, const char *key) {
    const char *id = gsim_arena_strdup(b->arena, b->row.id);
    if (!key || !id || !open_known(b))
        return;
    int64_t last = find(b, key);
    int64_t end_ns = b->row.ran_to_s < 0 ? -1 : b->row.ran_to_s * GSIM_NS_PER_S;
    struct entry *entry = place(b->known->table, b->known->n_buckets, key);
    if (last >= 0 && end_of(b, (uint32_t)last) > end_ns)
        return;
    b->known->n += !entry->key;
    *entry = (struct entry){key, b->n, id};
}

int64_t gsim_known_job(struct gsim_builder *b, const char *id, size_t length) {
    char key[64];
    if (length >= sizeof key || !index_jobs(b))
        return -1;
    memcpy(key, id, length);
    key[length] = '\0';
    return find(b, key);
}

/* "/3/train": no id has a '/'. */
static const char *fellow_key(struct gsim_builder *b, uint64_t user, const char *name) {
    return gsim_arena_printf(b->arena, "/%llu/%s", (unsigned long long)user, name);
}

int64_t gsim_known_fellow(struct gsim_builder *b, uint64_t user, const char *name) {
    const char *key = fellow_key(b, user, name);
    return key && open_known(b) ? find(b, key) : -1;
}

void gsim_known_add_fellow(struct gsim_builder *b, uint64_t user, const char *name) {
    add_row(b, fellow_key(b, user, name));
}

void gsim_known_add_task(struct gsim_builder *b, const char *array, int64_t task) {
    add_row(b, gsim_arena_printf(b->arena, "%s_%lld", array, (long long)task));
}
