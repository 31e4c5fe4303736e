/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/memory/touch_order.h"

/* The turn that a walk over the kernels has come to, and when it began. */
struct turn {
    uint32_t n;
    int64_t began_ns, run_ns;
};

/* The walk comes to a kernel that begins now. */
static void come_to(struct turn *turn, int64_t now_ns, bool begins_iteration) {
    int64_t ran_ns = now_ns - turn->began_ns;
    if (ran_ns < turn->run_ns || (ran_ns == turn->run_ns && !begins_iteration))
        return;
    turn->n++;
    turn->began_ns = now_ns;
}

/* Walks over some kernels of an iteration that begins at later_ns. The first touch of a chunk
 * stands. */
static void note_turns(const struct gsim_touch_order *order, uint32_t from, uint32_t to,
                       int64_t later_ns, struct turn *turn, uint32_t *turns) {
    int64_t now_ns = from > 0 ? order->ends_ns[from - 1] : 0;
    uint32_t p = gsim_touch_order_part_after(order, from > 0 ? now_ns : -1);
    for (uint32_t k = from; k < to; k++) {
        come_to(turn, now_ns + later_ns, k == 0);
        now_ns = order->ends_ns[k];
        for (; p < order->n_parts && order->parts[p].to_ns <= now_ns; p++)
            for (uint32_t c = order->parts[p].first; c < order->parts[p].first + order->parts[p].n;
                 c++)
                if (turns[c] == GSIM_TURNS_NEVER)
                    turns[c] = turn->n;
    }
}

/* The first kernel that ends after this GPU time. */
static uint32_t kernel_after(const struct gsim_touch_order *order, int64_t ns) {
    uint32_t low = 0, high = order->n_kernels;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (order->ends_ns[middle] <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void gsim_touch_order_turns(const struct gsim_touch_order *order, struct gsim_turns_ahead ahead,
                            uint32_t *turns) {
    uint32_t present = kernel_after(order, ahead.done_ns);
    struct turn turn = {0, ahead.done_ns, ahead.run_ns};
    for (uint32_t c = 0; c < order->n_chunks; c++)
        turns[c] = GSIM_TURNS_NEVER;
    note_turns(order, present, order->n_kernels, 0, &turn, turns);
    if (!ahead.is_last)
        note_turns(order, 0, present, order->all_ns, &turn, turns);
}
