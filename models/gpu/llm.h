/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A language model on a device: where its memory goes, and how long a step of its server takes.
 *
 * A step computes some tokens of each of its sequences: one that is generated, or a part of a
 * prompt. Its matrix products and its attention run one after the other, each as long as the
 * roofline says (models/gpu/roofline.h):
 *
 *   products   2 FLOPs a weight and token (the head's: a token that is generated), against all
 *              weights once, whatever the number of tokens
 *   attention  4 x layers x heads x head_dim FLOPs for each pair of a new token and a token before
 *              it or itself, against the keys and values of each sequence once, and those that are
 *              written
 *
 * Where attention_tile is known, sequences with one token and parts of prompts are two kernels. The
 * latter's blocks have a tile of tokens and a head each, and go over all tokens before these. The
 * GPU holds a number of blocks at a time; so a few blocks behind a long context take as long as
 * many. How long the last of them takes is counted as if the longest one began last.
 *
 * Beside these: time by sequence, and bytes that elementwise kernels move by token. Not counted:
 * rows of the embedding table. */
#ifndef GSIM_MODELS_GPU_LLM_H
#define GSIM_MODELS_GPU_LLM_H

#include "models/hardware/profile.h"
#include "sim/api/llm.h"

struct gsim_llm_memory {
    int64_t weight_bytes, token_bytes, block_bytes; /* token: keys and values of one token */
    int64_t copy_bytes; /* keys, or values, of one layer in a block: what a copy moves at once */
    int64_t blocks; /* blocks of the cache; below 1: the weights and the rest leave no room */
};
struct gsim_llm_memory gsim_llm_memory_of(const struct gsim_llm *llm);

/* Fills batch_tokens and sequences that are not given with the defaults of vLLM's API server
 * (get_batch_defaults in vllm/engine/arg_utils.py). */
void gsim_llm_fill(struct gsim_llm *llm, const struct gsim_profile *profile);

/* A step computes this number of tokens of a sequence that has `had` with keys and values. */
void gsim_llm_work_add(const struct gsim_llm *llm, struct gsim_llm_work *work, int64_t had,
                       int64_t tokens);

/* The time of a step: at least 1 ns, at most half of GSIM_TIME_MAX. */
int64_t gsim_llm_step_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                         const struct gsim_llm_work *work);

#endif
