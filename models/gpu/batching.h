/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Continuous batching: the server of one language model, step by step, by the rules of vLLM's V1
 * scheduler (Orca's scheduling at each iteration, and blocks of keys and values).
 *
 * A request knows the tokens of its prompt and those that it has generated; a step computes some of
 * the known tokens that have no keys and values yet, and where none is left after it, the request
 * generates a token. Before each step
 *
 *   1. running requests, in the order in which they were let in, get as many tokens as they lack,
 *      while the step's budget of tokens lasts, and the blocks for these. Where no block is free
 *      the request that was let in last gives up its blocks and waits, before all others;
 *   2. if none had to, requests come back in the order of their arrivals that had their keys and
 *      values swapped to the host, while blocks and the budget last;
 *   3. if none is on the host either, waiting requests are let in, in order, while there are blocks
 *      for the part of the prompt that the budget has room for. Where batching=request, they are
 *      let in only when none of those before is left (the scheduling that Orca was held against).
 *
 * A request that gave up its blocks computes its tokens again, generated ones as if they were of
 * the prompt; or, where preempt=swap and the host has room, its blocks go to the host and come back
 * (vLLM's V0, and the paper). Where the host has no room V0 ends with an error; swap_full says
 * whether the request is computed again instead. A request gives its blocks back with its last
 * token. */
#ifndef GSIM_MODELS_GPU_BATCHING_H
#define GSIM_MODELS_GPU_BATCHING_H

#include "gsim/arena.h"
#include "models/gpu/llm.h"

#define GSIM_LLM_NONE UINT32_MAX

/* Hears of each token at the end of its step, with the time since the token before it, or since
 * the arrival of the request. */
struct gsim_llm_listener {
    void (*token)(void *arg, uint32_t request, int64_t gap_ns);
    void *arg;
};

struct gsim_llm_queue {
    uint32_t first, last; /* GSIM_LLM_NONE: empty */
};

struct gsim_batching {
    const struct gsim_llm *llm;
    struct gsim_llm_memory memory;
    const struct gsim_llm_request *requests; /* all of the GPU's */
    struct gsim_llm_served *served; /* by request */
    struct gsim_llm_listener listener;
    struct gsim_llm_queue waiting, swapped;
    uint32_t *running; /* in the order in which they were let in */
    uint32_t n_running;
    int64_t free_blocks, least_free_blocks;
    int64_t host_blocks; /* free ones */
    uint32_t too_large; /* with swap_full=fail: a request that the host had no room for */
    struct gsim_llm_work work; /* of the step under way */
};

/* false: no memory. */
bool gsim_batching_open(struct gsim_batching *batching, const struct gsim_llm *llm,
                        const struct gsim_llm_requests *requests, struct gsim_llm_served *served,
                        const struct gsim_llm_listener *listener, struct gsim_arena *arena);
void gsim_batching_arrive(struct gsim_batching *batching, uint32_t request);
bool gsim_batching_has_work(const struct gsim_batching *batching);
/* Plans the next step; there is work. */
const struct gsim_llm_work *gsim_batching_begin(struct gsim_batching *batching, int64_t now_ns);
/* The step is over. Returns the requests that are done with it. */
uint32_t gsim_batching_end(struct gsim_batching *batching, int64_t now_ns);
/* Between two steps: all keys and values are lost, on the GPU and on the host; their requests wait,
 * in the order in which they were let in, before all others. */
void gsim_batching_forget(struct gsim_batching *batching);

#endif
