/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/llm.h"

#include <string.h>

#include "gsim/units.h"
#include "models/gpu/roofline.h"
#include "models/links/copy.h"

enum { BITS = 8 };

static int64_t bounded(gsim_i128 value, int64_t most) {
    return value > most ? most : (int64_t)value;
}

static gsim_i128 head_weights(const struct gsim_llm *llm) {
    return (gsim_i128)llm->vocabulary * llm->hidden;
}

/* Weights that each token passes through: without the head and the embedding table. */
static gsim_i128 body_weights(const struct gsim_llm *llm) {
    return llm->parameters - head_weights(llm) * (llm->is_tied ? 1 : 2);
}

struct gsim_llm_memory gsim_llm_memory_of(const struct gsim_llm *llm) {
    gsim_i128 half_bits = (gsim_i128)llm->kv_heads * llm->head_dim * llm->kv_bits;
    gsim_i128 token = 2 * llm->layers * half_bits / BITS;
    gsim_i128 weights = ((gsim_i128)llm->parameters * llm->weight_bits + BITS - 1) / BITS;
    gsim_i128 room = (gsim_i128)llm->mem_bytes - llm->other_bytes - weights;
    gsim_i128 block = token * llm->block_tokens;
    return (struct gsim_llm_memory){
        .weight_bytes = bounded(weights, INT64_MAX),
        .token_bytes = bounded(token, INT64_MAX),
        .block_bytes = bounded(block, INT64_MAX),
        .copy_bytes = bounded(half_bits / BITS * llm->block_tokens, INT64_MAX),
        .blocks = room > 0 && block > 0 ? bounded(room / block, INT64_MAX) : 0};
}

/* vLLM asks for the memory and for the name as well (vllm/engine/arg_utils.py): it leaves out every
 * A100, also one of 80 GB. */
void gsim_llm_fill(struct gsim_llm *llm, const struct gsim_profile *profile) {
    bool is_large = profile->value[GSIM_KEY_HBM_BYTES] >= 70 * GSIM_GIB &&
                    strncmp(profile->name, "a100", 4) != 0;
    if (llm->batch_tokens == GSIM_NEVER)
        llm->batch_tokens = is_large ? 8192 : 2048;
    if (llm->sequences == GSIM_NEVER)
        llm->sequences = is_large ? 1024 : 256;
}

/* --- a step ----------------------------------------------------------------------------------- */

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static gsim_i128 up(gsim_i128 a, gsim_i128 b) {
    return (a + b - 1) / b;
}

/* Tile j of a part attends to all tokens before the part, and to those up to its own last one. */
static void add_part(const struct gsim_llm *llm, struct gsim_llm_work *work, int64_t had,
                     int64_t tokens) {
    int64_t tile = llm->attention_tile, tiles = (int64_t)up(tokens, tile);
    work->tiles += tiles;
    work->tile_keys += (gsim_i128)tiles * had + (gsim_i128)tile * tiles * (tiles - 1) / 2 + tokens;
    work->longest_part = larger(work->longest_part, had + tokens);
}

void gsim_llm_work_add(const struct gsim_llm *llm, struct gsim_llm_work *work, int64_t had,
                       int64_t tokens) {
    work->tokens += tokens;
    work->sequences++;
    work->pairs += (gsim_i128)tokens * had + (gsim_i128)tokens * (tokens + 1) / 2;
    work->context += had + tokens;
    if (tokens > 1 && llm->attention_tile > 0)
        add_part(llm, work, had, tokens);
    if (tokens > 1)
        return;
    work->ones++;
    work->ones_context += had + 1;
    work->longest_one = larger(work->longest_one, had + 1);
}

static gsim_i128 padded(gsim_i128 n, int64_t unit) {
    return unit > 1 ? up(n, unit) * unit : n;
}

static bool has_part(const struct gsim_llm_work *work) {
    return work->ones < work->sequences;
}

/* Tokens that it computes, those of the padding included, and its sequences likewise. */
static gsim_i128 tokens_of(const struct gsim_llm *llm, const struct gsim_llm_work *work) {
    return padded(work->tokens, has_part(work) ? llm->pad_tokens : llm->pad_sequences);
}

static gsim_i128 sequences_of(const struct gsim_llm *llm, const struct gsim_llm_work *work) {
    return has_part(work) ? work->sequences : padded(work->sequences, llm->pad_sequences);
}

static gsim_i128 host_ns(const struct gsim_llm *llm, const struct gsim_llm_work *work) {
    return llm->host_ns + (has_part(work) ? llm->part_ns : 0) +
           sequences_of(llm, work) * llm->sequence_ns;
}

/* --- time ------------------------------------------------------------------------------------- */

/* Each roof is reached in a part of its own: products of few tokens are near the bandwidth, those
 * of many further from the arithmetic. */
static gsim_i128 roof_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                         gsim_i128 flops, int64_t compute_ppm, gsim_i128 bytes) {
    struct gsim_roofline kernel = {.flops = bounded(flops, INT64_MAX),
                                   .bytes = bounded(bytes, INT64_MAX),
                                   .precision = llm->precision,
                                   .sm_ppm = (uint32_t)GSIM_PPM,
                                   .efficiency_ppm = (uint32_t)GSIM_PPM};
    struct gsim_roofline_time time = gsim_roofline(profile, &kernel);
    gsim_i128 compute_ns = up((gsim_i128)time.compute_ns * GSIM_PPM, compute_ppm);
    gsim_i128 memory_ns = up((gsim_i128)time.memory_ns * GSIM_PPM, llm->memory_ppm);
    return compute_ns > memory_ns ? compute_ns : memory_ns;
}

static gsim_i128 products_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                             const struct gsim_llm_work *work) {
    gsim_i128 body = body_weights(llm), head = head_weights(llm);
    gsim_i128 flops = 2 * (body * tokens_of(llm, work) + head * work->emitted);
    gsim_i128 read = work->emitted > 0 ? body + head : body;
    return roof_ns(llm, profile, flops, llm->compute_ppm, read * llm->weight_bits / BITS);
}

static gsim_i128 elementwise_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                                const struct gsim_llm_work *work) {
    if (llm->activation_bytes == 0)
        return 0;
    return roof_ns(llm, profile, 0, GSIM_PPM, tokens_of(llm, work) * llm->activation_bytes);
}

/* Products of a token with one token before it or itself, in all layers, for these heads. */
static gsim_i128 pair_flops(const struct gsim_llm *llm, int64_t heads) {
    return (gsim_i128)4 * llm->layers * llm->head_dim * heads;
}

static int64_t slots_of(const struct gsim_llm *llm, const struct gsim_profile *profile) {
    return larger(1, profile->value[GSIM_KEY_SMS]) * llm->attention_blocks;
}

/* Tokens that the slot reads or attends to that is done last: those of the mean item for each
 * round of blocks before the last one, and those of the longest item. */
static gsim_i128 last_slot(gsim_i128 sum, gsim_i128 items, gsim_i128 blocks, gsim_i128 slots,
                           gsim_i128 longest) {
    return up(sum * ((blocks - 1) / slots), items) + longest;
}

/* Sequences with one token: each block reads its part of the keys and values of a sequence, at a
 * slot's part of the bandwidth. */
static gsim_i128 ones_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                         const struct gsim_llm_work *work) {
    gsim_i128 token = gsim_llm_memory_of(llm).token_bytes, slots = slots_of(llm, profile);
    gsim_i128 each = (gsim_i128)llm->kv_heads * llm->attention_splits;
    gsim_i128 moved = work->ones_context + work->ones, bytes = token * moved;
    if (work->ones > 0 && each > 0)
        bytes =
            up(token * slots *
                   last_slot(moved, work->ones, work->ones * each, slots, work->longest_one + 1),
               each);
    return roof_ns(llm, profile, pair_flops(llm, llm->heads) * work->ones_context,
                   llm->attention_ppm, bytes);
}

static gsim_i128 parts_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                          const struct gsim_llm_work *work) {
    if (work->tiles == 0)
        return 0;
    gsim_i128 slots = slots_of(llm, profile), tiles = (gsim_i128)work->tiles * llm->heads;
    gsim_i128 keys = last_slot(work->tile_keys, work->tiles, tiles, slots, work->longest_part);
    gsim_i128 bytes = (gsim_i128)gsim_llm_memory_of(llm).token_bytes *
                      (work->context - work->ones_context + work->tokens - work->ones);
    return roof_ns(llm, profile, pair_flops(llm, 1) * llm->attention_tile * keys * slots,
                   llm->attention_ppm, bytes);
}

static gsim_i128 attention_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                              const struct gsim_llm_work *work) {
    gsim_i128 bytes =
        (gsim_i128)gsim_llm_memory_of(llm).token_bytes * (work->context + work->tokens);
    if (llm->attention_tile > 0)
        return ones_ns(llm, profile, work) + parts_ns(llm, profile, work);
    return roof_ns(llm, profile, pair_flops(llm, llm->heads) * work->pairs, llm->compute_ppm,
                   bytes);
}

/* The copies of a step run in its stream, before its kernels. */
static gsim_i128 swap_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                         const struct gsim_llm_work *work) {
    struct gsim_llm_memory memory = gsim_llm_memory_of(llm);
    struct gsim_copy_rates rates = gsim_copy_rates_pinned(profile, false);
    int64_t out = bounded((gsim_i128)work->blocks_out * memory.block_bytes, INT64_MAX);
    int64_t in = bounded((gsim_i128)work->blocks_in * memory.block_bytes, INT64_MAX);
    return (gsim_i128)gsim_copy_ns(&rates, GSIM_D2H, out, memory.copy_bytes) +
           gsim_copy_ns(&rates, GSIM_H2D, in, memory.copy_bytes);
}

int64_t gsim_llm_step_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                         const struct gsim_llm_work *work) {
    gsim_i128 ns = host_ns(llm, work) + products_ns(llm, profile, work) +
                   elementwise_ns(llm, profile, work) + attention_ns(llm, profile, work) +
                   swap_ns(llm, profile, work);
    return ns < 1 ? 1 : bounded(ns, GSIM_TIME_MAX / 2);
}
