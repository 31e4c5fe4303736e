/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canonical form of which memory is where (models/memory/residency.h): equal states are equal
 * in each number. */
#include "models/memory/residency.h"

struct writing {
    int64_t *out;
    size_t room, n;
};

static void put(struct writing *w, int64_t value) {
    if (w->n < w->room)
        w->out[w->n] = value;
    w->n++;
}

static void put_contents(const struct gsim_residency *r, uint32_t buffer, struct writing *w) {
    uint32_t at = r->buffers[buffer].first_extent;
    while (at != UINT32_MAX) {
        const struct gsim_extent *extent = &r->extents[at];
        int64_t n = 0;
        for (; at != UINT32_MAX && r->extents[at].content == extent->content;
             at = r->extents[at].after)
            n += r->extents[at].n;
        put(w, n);
        put(w, extent->content);
    }
}

static void put_ages(const struct gsim_residency *r, struct writing *w) {
    for (uint32_t at = r->oldest; at != UINT32_MAX;) {
        const struct gsim_extent *extent = &r->extents[at];
        uint32_t end = extent->first;
        for (; at != UINT32_MAX && r->extents[at].buffer == extent->buffer &&
               r->extents[at].first == end;
             at = r->extents[at].newer)
            end = r->extents[at].first + r->extents[at].n;
        put(w, extent->buffer);
        put(w, extent->first);
        put(w, end);
    }
}

size_t gsim_residency_state(const struct gsim_residency *residency, int64_t *out, size_t room) {
    struct writing w = {out, room, 0};
    for (uint32_t b = 0; b < residency->n_buffers; b++)
        if (residency->buffers[b].is_open) {
            put(&w, b);
            put_contents(residency, b, &w);
        }
    put(&w, -1);
    if (residency->eviction != GSIM_EVICT_BELADY) /* Belady does not look at age */
        put_ages(residency, &w);
    return w.n;
}
