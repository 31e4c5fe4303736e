/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/memory/touch_order.h"

/* The turn that a walk over the order has come to, and when it began. */
struct turn {
    uint32_t n;
    int64_t began_ns, run_ns;
};

/* The walk comes from a kernel that ends at was_ns to one that begins at at_ns. A turn ends with
 * the kernel in which its time is up; of kernels that touch nothing the length does not count. */
static void come_to(struct turn *turn, int64_t was_ns, int64_t at_ns) {
    int64_t up_ns = turn->began_ns + turn->run_ns;
    if (at_ns < up_ns)
        return;
    turn->began_ns = was_ns > up_ns ? was_ns : up_ns;
    int64_t more = (at_ns - turn->began_ns) / turn->run_ns;
    int64_t n = turn->n + INT64_C(1) + more;
    turn->n = n < GSIM_TURNS_NEVER ? (uint32_t)n : GSIM_TURNS_NEVER - 1;
    turn->began_ns += more * turn->run_ns;
}

/* The first touch of a chunk stands. */
static void note_turns(const struct gsim_touch_order *order, uint32_t from, uint32_t to,
                       int64_t later_ns, struct turn *turn, uint32_t *turns) {
    for (uint32_t i = from; i < to; i++) {
        const struct gsim_touch_part *part = &order->parts[i];
        int64_t was_ns = turn->began_ns;
        if (i > 0)
            was_ns = order->parts[i - 1].to_ns + later_ns;
        else if (later_ns > 0)
            was_ns = order->parts[order->n_parts - 1].to_ns + later_ns - order->all_ns;
        come_to(turn, was_ns, part->from_ns + later_ns);
        for (uint32_t c = part->first; c < part->first + part->n; c++)
            if (turns[c] == GSIM_TURNS_NEVER)
                turns[c] = turn->n;
    }
}

void gsim_touch_order_turns(const struct gsim_touch_order *order, int64_t done_ns, int64_t run_ns,
                            uint32_t *turns) {
    uint32_t present = gsim_touch_order_part_after(order, done_ns);
    struct turn turn = {0, done_ns, run_ns};
    for (uint32_t c = 0; c < order->n_chunks; c++)
        turns[c] = GSIM_TURNS_NEVER;
    note_turns(order, present, order->n_parts, 0, &turn, turns);
    note_turns(order, 0, present, order->all_ns, &turn, turns);
}
