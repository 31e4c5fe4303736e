/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An order of which mostly the beginning is asked for: n items are piled up in time n, and each one
 * taken costs log n. Comparisons are those of qsort, and no two items may be equal.
 *
 * It is a binary heap in place: the items below item i are 2 i + 1 and 2 i + 2. All of it stands
 * here so that a caller has code for its own items and comparison, where its heap is a
 * variable of its own. */
#ifndef GSIM_POLICIES_LIB_HEAP_H
#define GSIM_POLICIES_LIB_HEAP_H

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define GSIM_HEAP_ITEM 64u /* bytes of an item, at most */

struct gsim_heap {
    void *items; /* of `size` bytes each */
    size_t n, size;
    int (*by_rank)(const void *left, const void *right);
};

static inline char *gsim_heap_item(const struct gsim_heap *heap, size_t at) {
    return (char *)heap->items + at * heap->size;
}

static inline void gsim_heap_sink(const struct gsim_heap *heap, size_t at) {
    char moved[GSIM_HEAP_ITEM];
    memcpy(moved, gsim_heap_item(heap, at), heap->size);
    for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
        child += child + 1 < heap->n &&
                 heap->by_rank(gsim_heap_item(heap, child + 1), gsim_heap_item(heap, child)) < 0;
        if (heap->by_rank(moved, gsim_heap_item(heap, child)) < 0)
            break;
        memcpy(gsim_heap_item(heap, at), gsim_heap_item(heap, child), heap->size);
    }
    memcpy(gsim_heap_item(heap, at), moved, heap->size);
}

static inline void gsim_heap_pile(const struct gsim_heap *heap) {
    assert(heap->size <= GSIM_HEAP_ITEM);
    for (size_t at = heap->n / 2; at-- > 0;)
        gsim_heap_sink(heap, at);
}

/* Moves the first item behind the others, which are one fewer then, and returns it there. */
static inline const void *gsim_heap_take(struct gsim_heap *heap) {
    char first[GSIM_HEAP_ITEM];
    char *last = gsim_heap_item(heap, --heap->n);
    memcpy(first, heap->items, heap->size);
    memcpy(heap->items, last, heap->size);
    memcpy(last, first, heap->size);
    if (heap->n > 1)
        gsim_heap_sink(heap, 0);
    return last;
}

/* Puts the first item where it belongs after its rank has become later. */
static inline void gsim_heap_put_back(const struct gsim_heap *heap) {
    if (heap->n > 1)
        gsim_heap_sink(heap, 0);
}

#endif
