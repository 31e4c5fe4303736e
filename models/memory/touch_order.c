/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/memory/touch_order.h"

#include "gsim/units.h"

const struct gsim_touch_part *gsim_touch_order_at(const struct gsim_touch_order *order,
                                                  uint32_t position) {
    uint32_t low = 0, high = order->n_parts - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (order->parts[middle].at <= position)
            low = middle;
        else
            high = middle - 1;
    }
    return &order->parts[low];
}

int64_t gsim_touch_order_ns(const struct gsim_touch_order *order, uint32_t position) {
    if (position >= order->n)
        return order->all_ns;
    const struct gsim_touch_part *part = gsim_touch_order_at(order, position);
    return part->from_ns +
           gsim_muldiv_floor(part->to_ns - part->from_ns, position - part->at, part->n);
}

/* The first part of a kernel that ends after this GPU time; n_parts: there is none. */
static uint32_t part_after(const struct gsim_touch_order *order, int64_t ns) {
    uint32_t low = 0, high = order->n_parts;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (order->parts[middle].to_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t gsim_touch_order_after(const struct gsim_touch_order *order, int64_t ns) {
    uint32_t i = part_after(order, ns);
    if (i == order->n_parts)
        return order->n;
    const struct gsim_touch_part *part = &order->parts[i];
    if (ns <= part->from_ns)
        return part->at;
    return part->at +
           (uint32_t)gsim_muldiv_floor(ns - part->from_ns, part->n, part->to_ns - part->from_ns);
}

/* Backwards, so that the nearest touch of a chunk stands. */
static void note_turns(const struct gsim_touch_order *order, uint32_t from, uint32_t to,
                       int64_t later_ns, int64_t run_ns, uint32_t *turns) {
    for (uint32_t i = to; i > from; i--) {
        const struct gsim_touch_part *part = &order->parts[i - 1];
        int64_t until_ns = part->from_ns + later_ns;
        int64_t n = until_ns > 0 ? until_ns / run_ns : 0;
        uint32_t before = n < GSIM_TURNS_NEVER ? (uint32_t)n : GSIM_TURNS_NEVER - 1;
        for (uint32_t c = part->first; c < part->first + part->n; c++)
            turns[c] = before;
    }
}

void gsim_touch_order_turns(const struct gsim_touch_order *order, int64_t done_ns, int64_t run_ns,
                            uint32_t *turns) {
    uint32_t present = part_after(order, done_ns);
    for (uint32_t c = 0; c < order->n_chunks; c++)
        turns[c] = GSIM_TURNS_NEVER;
    note_turns(order, 0, present, order->all_ns - done_ns, run_ns, turns);
    note_turns(order, present, order->n_parts, -done_ns, run_ns, turns);
}
