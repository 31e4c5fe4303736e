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

/* --- time ------------------------------------------------------------------------------------- */

/* Each roof is reached in a part of its own: products of few tokens are near the bandwidth, those
 * of many further from the arithmetic. */
static gsim_i128 roof_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                         gsim_i128 flops, gsim_i128 bytes) {
    struct gsim_roofline kernel = {.flops = bounded(flops, INT64_MAX),
                                   .bytes = bounded(bytes, INT64_MAX),
                                   .precision = llm->precision,
                                   .sm_ppm = (uint32_t)GSIM_PPM,
                                   .efficiency_ppm = (uint32_t)GSIM_PPM};
    struct gsim_roofline_time time = gsim_roofline(profile, &kernel);
    gsim_i128 compute_ns =
        ((gsim_i128)time.compute_ns * GSIM_PPM + llm->compute_ppm - 1) / llm->compute_ppm;
    gsim_i128 memory_ns =
        ((gsim_i128)time.memory_ns * GSIM_PPM + llm->memory_ppm - 1) / llm->memory_ppm;
    return compute_ns > memory_ns ? compute_ns : memory_ns;
}

static gsim_i128 products_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                             const struct gsim_llm_work *work) {
    gsim_i128 body = body_weights(llm), head = head_weights(llm);
    gsim_i128 flops = 2 * (body * work->tokens + head * work->emitted);
    gsim_i128 read = work->emitted > 0 ? body + head : body;
    return roof_ns(llm, profile, flops, read * llm->weight_bits / BITS);
}

static gsim_i128 attention_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                              const struct gsim_llm_work *work) {
    gsim_i128 flops = 4 * work->pairs * llm->layers * llm->heads * llm->head_dim;
    gsim_i128 bytes =
        (gsim_i128)gsim_llm_memory_of(llm).token_bytes * (work->context + work->tokens);
    return roof_ns(llm, profile, flops, bytes);
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
    gsim_i128 ns = llm->host_ns + products_ns(llm, profile, work) +
                   attention_ns(llm, profile, work) + swap_ns(llm, profile, work);
    return ns < 1 ? 1 : bounded(ns, GSIM_TIME_MAX / 2);
}
