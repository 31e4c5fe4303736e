/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long the steps of a job take, learned of those that it has made (Pollux, section 3.2). */
#ifndef GSIM_POLICIES_ADAPTDL_FIT_H
#define GSIM_POLICIES_ADAPTDL_FIT_H

#include <stdbool.h>
#include <stdint.h>

/* A step that was made: its time, and that of one that only sums gradients. */
struct pollux_step {
    uint32_t nodes, gpus, local;
    double sums_s, step_s;
};

/* A step that only sums takes base + each * local. Replicas tell each other in base + each *
 * (gpus - 2), by other numbers where they are on one node and where they are not. Both take
 * (sums^overlap + tells^overlap)^(1 / overlap): their sum at 1, nearly the longer one at 10. */
enum pollux_number {
    POLLUX_SUMS_BASE = 0,
    POLLUX_SUMS_EACH,
    POLLUX_NODES_BASE,
    POLLUX_NODES_EACH,
    POLLUX_NODE_BASE,
    POLLUX_NODE_EACH,
    POLLUX_OVERLAP,
    POLLUX_NUMBERS
};

struct pollux_model {
    double number[POLLUX_NUMBERS];
};

/* Room for the logarithms of n steps. */
struct pollux_logs {
    double sums, step;
};

/* The model nearest to the steps by the logarithms of their times, with a slight pull towards
 * little overlap and towards GPUs that do not slow each other. */
struct pollux_model pollux_fit(const struct pollux_step *steps, uint32_t n,
                               struct pollux_logs *room);
/* The time in which replicas tell each other. */
double pollux_tells_s(const struct pollux_model *model, bool is_spread, uint32_t gpus);

#endif
