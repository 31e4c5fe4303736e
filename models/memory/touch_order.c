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
    return part->from_ns + gsim_muldiv_floor(part->to_ns - part->from_ns,
                                             part->before + (position - part->at), part->all);
}

uint32_t gsim_touch_order_part_after(const struct gsim_touch_order *order, int64_t ns) {
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
    uint32_t i = gsim_touch_order_part_after(order, ns);
    if (i == order->n_parts)
        return order->n;
    const struct gsim_touch_part *part = &order->parts[i];
    if (ns <= part->from_ns)
        return part->at;
    return part->at +
           (uint32_t)gsim_muldiv_floor(ns - part->from_ns, part->all, part->to_ns - part->from_ns);
}
