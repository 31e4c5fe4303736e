/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Language models that serve requests on a GPU, and these requests, as their files give them; no
 * device is chosen yet. Read by traces/llm_models.c and traces/llm_requests.c, immutable
 * afterwards. Below, what became of the requests (models/gpu/llm_gpu.h). */
#ifndef GSIM_API_LLM_H
#define GSIM_API_LLM_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/units.h"
#include "sim/api/app.h"

/* When waiting requests are let in: before each step, or when no request is left of those that were
 * let in together. */
enum gsim_llm_batching { GSIM_LLM_BY_STEP = 0, GSIM_LLM_BY_REQUEST };

/* What becomes of the keys and values of a request that gives up its blocks. */
enum gsim_llm_preempt { GSIM_LLM_RECOMPUTE = 0, GSIM_LLM_SWAP };

/* What happens where the host has no room for these: they are computed again, or the server ends,
 * as vLLM's V0 does. */
enum gsim_llm_full { GSIM_LLM_FULL_RECOMPUTES = 0, GSIM_LLM_FULL_FAILS };

/* A dense decoder: its shape, as its config.json has it, and how its server is set up. */
struct gsim_llm {
    const char *name;
    int64_t line; /* of its section */
    int64_t parameters, layers, hidden, heads, kv_heads, head_dim, vocabulary;
    bool is_tied; /* the head is the embedding table */
    int64_t weight_bits, kv_bits; /* of a weight, and of a number of the cache */
    enum gsim_precision precision;
    int64_t compute_ppm, memory_ppm; /* parts of the peak and the bandwidth that steps reach */
    int64_t host_ns; /* of each step, in which the GPU has nothing to do */
    int64_t part_ns; /* of a step with a part of a prompt, beside host_ns */
    int64_t sequence_ns; /* of a step, for each of its sequences */
    int64_t activation_bytes; /* that kernels beside products and attention move for a token */
    /* Steps compute a multiple of this number of tokens: those with a part of a prompt, and those
     * that generate alone. 0: as many as there are. */
    int64_t pad_tokens, pad_sequences;
    int64_t attention_ppm; /* part of the peak that attention of parts of prompts reaches */
    /* Tokens of a part of a prompt that a block attends with, for a head; blocks that an SM holds;
     * blocks that a sequence with one token has, for a head of keys. Tile 0: attention is spread
     * over all SMs; splits 0: that of one token is. */
    int64_t attention_tile, attention_blocks, attention_splits;
    int64_t mem_bytes; /* on the GPU: weights, cache and the rest */
    int64_t other_bytes; /* the rest: activations, graphs */
    int64_t block_tokens; /* tokens of a block of the cache */
    int64_t batch_tokens, sequences; /* of a step, at most; GSIM_NEVER: as vLLM has it */
    enum gsim_llm_batching batching;
    enum gsim_llm_preempt preempt;
    int64_t swap_bytes; /* room on the host for keys and values */
    enum gsim_llm_full swap_full;
    int64_t ttft_target_ns, tpot_target_ns; /* of a request that is in time; GSIM_NEVER: any is */
};

enum gsim_llm_sharing { GSIM_LLM_AWAKE = 0, GSIM_LLM_SLEEP };

/* The models that share a GPU. */
struct gsim_llms {
    const char *path; /* for messages */
    struct gsim_llm *list;
    uint32_t n;
    enum gsim_llm_sharing sharing;
    int64_t quantum_ns; /* a model with work may be put to sleep after this; GSIM_NEVER: never */
    bool sleep_copies; /* weights are copied to the host each time that their model sleeps */
    int64_t sleep_ns, wake_ns; /* besides copying */
    const char *const *assumed; /* keys with defaults, as "llama.efficiency"; ends with NULL */
};

struct gsim_llm_request {
    const char *id;
    int64_t line;
    int64_t arrival_ns, prompt, output; /* tokens, at least one of each */
    uint32_t model; /* place in gsim_llms.list */
};

/* In the order of their arrivals; those of one instant in the order of the file. */
struct gsim_llm_requests {
    const char *path;
    struct gsim_llm_request *list;
    uint32_t n;
    int64_t n_empty; /* rows without an output, which are left out (BurstGPT's failures) */
};

/* --- what became of them ---------------------------------------------------------------------- */

/* What a step computes, and what it moves between the cache and the host before. */
struct gsim_llm_work {
    int64_t tokens; /* computed */
    int64_t emitted; /* tokens generated: one of each sequence without tokens left to compute */
    int64_t sequences;
    gsim_i128 pairs; /* of a computed token and a token up to it */
    int64_t context; /* tokens of its sequences at the end of the step, with keys and values */
    /* Of these, sequences that compute one token: how many, their context and the longest one's. */
    int64_t ones, ones_context, longest_one;
    /* Of all others: tiles of a head, the tokens that these attend to, and the longest context. */
    int64_t tiles, longest_part;
    gsim_i128 tile_keys;
    int64_t blocks_out, blocks_in; /* of each sequence, in one copy after the other */
};

/* How far a request is. Times are GSIM_NEVER until they are known. */
struct gsim_llm_served {
    int64_t computed, generated; /* tokens with keys and values; tokens of the output */
    int64_t blocks; /* on the GPU, or on the host */
    int64_t granted; /* tokens of the step under way */
    int64_t admitted_ns, first_ns, last_ns; /* let in first; its first and latest token */
    int64_t preemptions, swaps; /* times it gave up its blocks; of these, to the host */
    int64_t recomputed; /* tokens that it lost */
    uint32_t next; /* in its queue */
};

/* Sums by model. */
struct gsim_llm_sums {
    int64_t steps, busy_ns, sequences; /* sequences: summed over the steps */
    int64_t tokens; /* computed, those computed again included */
    int64_t blocks_out, blocks_in;
    int64_t least_free_blocks, blocks;
    int64_t sleeps, wakes, wake_ns; /* time of falling asleep and waking */
};

enum gsim_llm_state {
    GSIM_LLM_IS_AWAKE = 0,
    GSIM_LLM_FALLS_ASLEEP,
    GSIM_LLM_SLEEPS,
    GSIM_LLM_WAKES
};

/* What happened on the GPU: a step, or a model that was put to sleep or woken. */
struct gsim_llm_span {
    enum gsim_llm_state state; /* GSIM_LLM_IS_AWAKE: a step */
    uint32_t model;
    int64_t begin_ns, end_ns;
    int64_t
        blocks; /* of a step: in use at its end, before requests that are done give theirs back */
    const struct gsim_llm_work *work; /* of a step */
};

#endif
