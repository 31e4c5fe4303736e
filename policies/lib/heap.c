/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A binary heap in place: the items below item i are 2 i + 1 and 2 i + 2. */
#include "policies/lib/heap.h"

#include <assert.h>
#include <string.h>

static char *item(const struct gsim_heap *heap, size_t at) {
    return (char *)heap->items + at * heap->size;
}

static void sink(const struct gsim_heap *heap, size_t at) {
    char moved[GSIM_HEAP_ITEM];
    memcpy(moved, item(heap, at), heap->size);
    for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
        child += child + 1 < heap->n && heap->by_rank(item(heap, child + 1), item(heap, child)) < 0;
        if (heap->by_rank(moved, item(heap, child)) < 0)
            break;
        memcpy(item(heap, at), item(heap, child), heap->size);
    }
    memcpy(item(heap, at), moved, heap->size);
}

void gsim_heap_pile(const struct gsim_heap *heap) {
    assert(heap->size <= GSIM_HEAP_ITEM);
    for (size_t at = heap->n / 2; at-- > 0;)
        sink(heap, at);
}

const void *gsim_heap_take(struct gsim_heap *heap) {
    char first[GSIM_HEAP_ITEM];
    char *last = item(heap, --heap->n);
    memcpy(first, heap->items, heap->size);
    memcpy(heap->items, last, heap->size);
    memcpy(last, first, heap->size);
    if (heap->n > 1)
        sink(heap, 0);
    return last;
}

void gsim_heap_put_back(const struct gsim_heap *heap) {
    if (heap->n > 1)
        sink(heap, 0);
}
