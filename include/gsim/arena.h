/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arena: every allocation of one run, freed together when the run ends. Nothing inside a run is
 * freed one by one, so an error path never leaks. Small blocks share chunks; a block made with
 * gsim_arena_grow stands alone, so that it can be grown in place while a column gets longer. */
#ifndef GSIM_ARENA_H
#define GSIM_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gsim_arena;

/* NULL when there is no memory. */
struct gsim_arena *gsim_arena_new(void);
/* Gives the arena back, and frees it unless gsim_arena_share gave it more owners. */
void gsim_arena_free(struct gsim_arena *arena);
/* Makes one owner more: the arena lives until each owner has called gsim_arena_free. Any thread may
 * do so. */
void gsim_arena_share(struct gsim_arena *arena);

/* From now on several threads may make, grow and drop blocks at once; before, and without it, one
 * thread at a time. */
void gsim_arena_use_threads(struct gsim_arena *arena);

/* Whether there was no memory for something at some time: what was made since may lack it. */
bool gsim_arena_has_failed(const struct gsim_arena *arena);

/* Zeroed and aligned to 16 bytes; NULL when there is no memory. size 0 gives a valid pointer. */
void *gsim_arena_alloc(struct gsim_arena *arena, size_t size);
/* Like gsim_arena_alloc for count objects; NULL also when count * size overflows. */
void *gsim_arena_array(struct gsim_arena *arena, size_t count, size_t size);
/* block is NULL or came from gsim_arena_grow. The bytes past old_size are zeroed. Returns NULL on
 * failure; the old block is then still valid. */
void *gsim_arena_grow(struct gsim_arena *arena, void *block, size_t old_size, size_t new_size);
/* Like gsim_arena_grow, but the bytes past old_size stay uninitialised: columns of millions of
 * cells are written once, and pages that are never written cost nothing. */
void *gsim_arena_grow_raw(struct gsim_arena *arena, void *block, size_t new_size);
/* A table of cells with room for one more behind its n: it may have moved, and has twice as many
 * cells as before where it was full. NULL when there is no memory; the table is as it was then. An
 * empty table is NULL, of capacity 0. New cells stay uninitialised. */
void *gsim_arena_room(struct gsim_arena *arena, void *table, uint32_t n, uint32_t *capacity,
                      size_t size);
/* Returns a block made by gsim_arena_grow to the system before the arena ends (scratch tables that
 * would otherwise raise the peak). NULL is allowed. */
void gsim_arena_drop(struct gsim_arena *arena, void *block);

char *gsim_arena_strdup(struct gsim_arena *arena, const char *text);
char *gsim_arena_strndup(struct gsim_arena *arena, const char *text, size_t length);
__attribute__((format(printf, 2, 3))) char *gsim_arena_printf(struct gsim_arena *arena,
                                                              const char *format, ...);

#endif
