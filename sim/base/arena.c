/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE 1 /* madvise */
/* Small blocks are cut from chunks; growable blocks form a doubly linked list. */
#include "gsim/arena.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/decimal.h"

enum { ALIGN = 16, CHUNK_BYTES = 64 * 1024, PAGE = 4096, LARGE_PAGE = 2 * 1024 * 1024 };

struct chunk {
    struct chunk *next;
    size_t used, n_zeroed, size;
    _Alignas(ALIGN) unsigned char bytes[];
};

/* Precedes every growable block. */
struct grown {
    struct grown *next, *prev;
    _Alignas(ALIGN) unsigned char bytes[];
};

struct gsim_arena {
    atomic_int n_more_owners; /* beside the first */
    atomic_bool has_failed;
    bool has_threads;
    pthread_mutex_t lock; /* of what follows, once threads use the arena */
    struct chunk *chunks;
    struct grown *grown;
};

struct gsim_arena *gsim_arena_new(void) {
    return calloc(1, sizeof(struct gsim_arena));
}

void gsim_arena_share(struct gsim_arena *arena) {
    atomic_fetch_add(&arena->n_more_owners, 1);
}

void gsim_arena_free(struct gsim_arena *arena) {
    if (!arena || atomic_fetch_sub(&arena->n_more_owners, 1) > 0)
        return;
    if (arena->has_threads)
        (void)pthread_mutex_destroy(&arena->lock);
    for (struct chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    for (struct grown *block = arena->grown, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(arena);
}

void gsim_arena_use_threads(struct gsim_arena *arena) {
    if (!arena->has_threads)
        (void)pthread_mutex_init(&arena->lock, NULL);
    arena->has_threads = true;
}

static void lock(struct gsim_arena *arena) {
    if (arena->has_threads)
        (void)pthread_mutex_lock(&arena->lock);
}

static void unlock(struct gsim_arena *arena) {
    if (arena->has_threads)
        (void)pthread_mutex_unlock(&arena->lock);
}

bool gsim_arena_has_failed(const struct gsim_arena *arena) {
    return atomic_load_explicit(&arena->has_failed, memory_order_relaxed);
}

static void fail(struct gsim_arena *arena) {
    atomic_store_explicit(&arena->has_failed, true, memory_order_relaxed);
}

static struct chunk *chunk_add(struct gsim_arena *arena, size_t size) {
    /* calloc: the kernel hands out large chunks already zeroed and untouched. Others it would zero,
     * and touch; so they are zeroed as they are used. */
    bool is_zeroed = size > 4 * (size_t)CHUNK_BYTES;
    struct chunk *chunk =
        is_zeroed ? calloc(1, sizeof(struct chunk) + size) : malloc(sizeof(struct chunk) + size);
    if (!chunk) {
        fail(arena);
        return NULL;
    }
    chunk->used = 0;
    chunk->size = size;
    chunk->n_zeroed = is_zeroed ? size : 0;
    /* A block with a chunk of its own is linked behind the current chunk, which still has room. */
    if (arena->chunks && size > CHUNK_BYTES) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    return chunk;
}

/* Zeroes a chunk up to the page in which a block ends. */
static void zero(struct chunk *chunk, size_t end) {
    size_t until = (end + PAGE - 1) / PAGE * PAGE;
    until = until < chunk->size ? until : chunk->size;
    memset(chunk->bytes + chunk->n_zeroed, 0, until - chunk->n_zeroed);
    chunk->n_zeroed = until;
}

static void *cut_block(struct gsim_arena *arena, size_t size) {
    struct chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        chunk = chunk_add(arena, size > CHUNK_BYTES / 4 ? size + CHUNK_BYTES : CHUNK_BYTES);
        if (!chunk)
            return NULL;
    }
    void *block = chunk->bytes + chunk->used;
    chunk->used += size;
    if (chunk->used > chunk->n_zeroed)
        zero(chunk, chunk->used);
    return block;
}

void *gsim_arena_alloc(struct gsim_arena *arena, size_t size) {
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    lock(arena);
    void *block = cut_block(arena, size > 0 ? size : ALIGN);
    unlock(arena);
    return block;
}

void *gsim_arena_array(struct gsim_arena *arena, size_t count, size_t size) {
    if (size && count > SIZE_MAX / 2 / size)
        return NULL;
    return gsim_arena_alloc(arena, count * size);
}

static struct grown *grown_of(void *block) {
    return (struct grown *)(void *)((unsigned char *)block - offsetof(struct grown, bytes));
}

static void grown_link(struct gsim_arena *arena, struct grown *block) {
    block->prev = NULL;
    block->next = arena->grown;
    if (block->next)
        block->next->prev = block;
    arena->grown = block;
}

static void grown_unlink(struct gsim_arena *arena, struct grown *block) {
    if (block->next)
        block->next->prev = block->prev;
    if (block->prev)
        block->prev->next = block->next;
    else
        arena->grown = block->next;
}

/* The first touch of a page costs as much as the events of several jobs. A kernel without large
 * pages ignores the advice. The advice covers all pages of the block, also the pages at its ends
 * that fill no large page: a block of two kinds of memory could not be remapped when it grows, but
 * only copied. */
static void use_large_pages(void *block, size_t size) {
    uintptr_t from = (uintptr_t)block / PAGE * PAGE;
    uintptr_t until = ((uintptr_t)block + size + PAGE - 1) / PAGE * PAGE;
#ifdef MADV_HUGEPAGE
    if (size >= LARGE_PAGE)
        (void)madvise((void *)from, until - from, MADV_HUGEPAGE);
#endif
}

static void *regrow(struct gsim_arena *arena, void *block, size_t new_size, bool is_zeroed) {
    struct grown *old = block ? grown_of(block) : NULL, *moved;
    if (old)
        grown_unlink(arena, old);
    if (old || !is_zeroed)
        moved = realloc(old, sizeof(struct grown) + new_size);
    else /* the kernel hands out fresh large blocks zeroed and untouched */
        moved = calloc(1, sizeof(struct grown) + new_size);
    if (moved)
        use_large_pages(moved, sizeof(struct grown) + new_size);
    if (!moved)
        fail(arena);
    if (moved || old)
        grown_link(arena, moved ? moved : old);
    return moved ? moved->bytes : NULL;
}

static void *regrow_locked(struct gsim_arena *arena, void *block, size_t new_size, bool is_zeroed) {
    if (new_size > SIZE_MAX / 2)
        return NULL;
    lock(arena);
    void *grown = regrow(arena, block, new_size, is_zeroed);
    unlock(arena);
    return grown;
}

/* No calloc: a block that was let go before would be zeroed, and each of its pages touched. */
void *gsim_arena_grow_raw(struct gsim_arena *arena, void *block, size_t new_size) {
    return regrow_locked(arena, block, new_size, false);
}

void *gsim_arena_grow(struct gsim_arena *arena, void *block, size_t old_size, size_t new_size) {
    unsigned char *grown = regrow_locked(arena, block, new_size, true);
    if (grown && block && new_size > old_size)
        memset(grown + old_size, 0, new_size - old_size);
    return grown;
}

void *gsim_arena_room(struct gsim_arena *arena, void *table, uint32_t n, uint32_t *capacity,
                      size_t size) {
    enum { FIRST = 64 };
    if (n < *capacity)
        return table;
    if (*capacity > UINT32_MAX / 2)
        return NULL;
    uint32_t more = *capacity ? 2 * *capacity : FIRST;
    void *grown = gsim_arena_grow_raw(arena, table, more * size);
    if (grown)
        *capacity = more;
    return grown;
}

void gsim_arena_drop(struct gsim_arena *arena, void *block) {
    if (!block)
        return;
    lock(arena);
    grown_unlink(arena, grown_of(block));
    unlock(arena);
    free(grown_of(block));
}

char *gsim_arena_strndup(struct gsim_arena *arena, const char *text, size_t length) {
    char *copy = gsim_arena_alloc(arena, length + 1);
    if (copy)
        memcpy(copy, text, length); /* the arena zeroes, so the text ends */
    return copy;
}

char *gsim_arena_strdup(struct gsim_arena *arena, const char *text) {
    return gsim_arena_strndup(arena, text, strlen(text));
}

char *gsim_arena_printf(struct gsim_arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = gsim_decimal_print(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : gsim_arena_alloc(arena, (size_t)length + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    (void)gsim_decimal_print(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}
