/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An order of which mostly the beginning is asked for: n items are piled up in time n, and each one
 * taken costs log n. Comparisons are those of qsort, and no two items may be equal. */
#ifndef GSIM_POLICIES_LIB_HEAP_H
#define GSIM_POLICIES_LIB_HEAP_H

#include <stddef.h>

#define GSIM_HEAP_ITEM 64u /* bytes of an item, at most */

struct gsim_heap {
    void *items; /* of `size` bytes each */
    size_t n, size;
    int (*by_rank)(const void *left, const void *right);
};

void gsim_heap_pile(const struct gsim_heap *heap);
/* Moves the first item behind the others, which are one fewer then, and returns it there. */
const void *gsim_heap_take(struct gsim_heap *heap);
/* Puts the first item where it belongs after its rank has become later. */
void gsim_heap_put_back(const struct gsim_heap *heap);

#endif
