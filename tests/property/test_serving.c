/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Language models that serve requests, against a plain walk of the rules (models/gpu/batching.h,
 * models/gpu/llm_gpu.h): random models, requests and ways to share a GPU end each token at the
 * same nanosecond. The walk keeps lists, counts blocks anew each time that it needs them, and has
 * the times of steps and copies from formulas of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/llm_gpu.h"
#include "sim/base/rng.h"
#include "tests/support/runner.h"

enum { MOST_MODELS = 4, MOST_REQUESTS = 40, CASES = 4000 / TEST_FEWER };

static int64_t pick(gsl_rng *rng, int64_t low, int64_t high) {
    return low + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(high - low + 1));
}

/* --- the plain walk --------------------------------------------------------------------------- */

struct list {
    int n, at[MOST_REQUESTS];
};

static void insert(struct list *list, int place, int request) {
    memmove(&list->at[place + 1], &list->at[place], (size_t)(list->n - place) * sizeof(int));
    list->at[place] = request;
    list->n++;
}

static int take_out(struct list *list, int place) {
    int request = list->at[place];
    list->n--;
    memmove(&list->at[place], &list->at[place + 1], (size_t)(list->n - place) * sizeof(int));
    return request;
}

struct seen {
    int64_t computed, output, granted, first_ns, last_ns, preemptions, swaps, lost;
};

struct model {
    struct list waiting, running, swapped;
    enum { AWAKE, FALLING, ASLEEP, WAKING } state;
    int64_t awake_ns, ran_ns, wants_ns, steps, sleeps, wakes, emitted; /* since it woke */
};

struct walk {
    const struct gsim_llms *llms;
    const struct gsim_llm_requests *requests;
    const struct gsim_profile *profile;
    struct seen seen[MOST_REQUESTS];
    struct model model[MOST_MODELS];
    int64_t now_ns;
    int stepping, changing, before, arrived;
    int64_t step_ns, change_ns; /* ends */
    bool has_slept;
};

static int64_t value(const struct walk *w, enum gsim_key key) {
    return w->profile->value[key];
}

static int64_t up(gsim_i128 a, gsim_i128 b) {
    return (int64_t)((a + b - 1) / b);
}

static int64_t token_bytes(const struct gsim_llm *llm) {
    return 2 * llm->layers * llm->kv_heads * llm->head_dim * llm->kv_bits / 8;
}

static int64_t all_blocks(const struct gsim_llm *llm) {
    int64_t weights = up((gsim_i128)llm->parameters * llm->weight_bits, 8);
    return (llm->mem_bytes - weights - llm->other_bytes) / (token_bytes(llm) * llm->block_tokens);
}

static int64_t used_blocks(const struct walk *w, const struct gsim_llm *llm,
                           const struct list *list) {
    int64_t n = 0;
    for (int i = 0; i < list->n; i++)
        n += up(w->seen[list->at[i]].computed + w->seen[list->at[i]].granted, llm->block_tokens);
    return n;
}

static int64_t lacks(const struct walk *w, int request) {
    return w->requests->list[request].prompt + w->seen[request].output - w->seen[request].computed;
}

static int64_t roof_ns(const struct walk *w, const struct gsim_llm *llm, gsim_i128 flops,
                       int64_t compute_ppm, gsim_i128 bytes) {
    int64_t compute_ns = up(flops * GSIM_NS_PER_S, value(w, GSIM_KEY_FP16_FLOPS_PER_S));
    int64_t memory_ns = up(bytes * GSIM_NS_PER_S, value(w, GSIM_KEY_HBM_BYTES_PER_S));
    compute_ns = up((gsim_i128)compute_ns * GSIM_PPM, compute_ppm);
    memory_ns = up((gsim_i128)memory_ns * GSIM_PPM, llm->memory_ppm);
    return compute_ns > memory_ns ? compute_ns : memory_ns;
}

static int64_t copies_ns(const struct walk *w, const struct gsim_llm *llm, int64_t blocks,
                         enum gsim_key rate, enum gsim_key each) {
    int64_t block_bytes = token_bytes(llm) * llm->block_tokens;
    return blocks == 0 ? 0
                       : up((gsim_i128)blocks * block_bytes * GSIM_NS_PER_S, value(w, rate)) +
                             blocks * 2 * llm->layers * value(w, each);
}

struct moved {
    int64_t out, in; /* blocks */
};

/* What the sequences of a step are, each looked at anew. */
struct batch {
    int64_t tokens, emitted, sequences, context, pairs, part_context;
    int64_t ones, ones_context, longest_one; /* sequences that compute one token */
    int64_t tiles, keys, longest_part; /* of all others, by the tile */
};

static void see_tiles(struct batch *batch, int64_t had, int64_t tokens, int64_t tile) {
    for (int64_t at = 0; at < tokens; at += tile) {
        batch->tiles++;
        batch->keys += had + (at + tile < tokens ? at + tile : tokens);
    }
    if (had + tokens > batch->longest_part)
        batch->longest_part = had + tokens;
}

static struct batch batch_of(const struct walk *w, const struct gsim_llm *llm,
                             const struct model *model) {
    struct batch batch = {0};
    for (int i = 0; i < model->running.n; i++) {
        const struct seen *one = &w->seen[model->running.at[i]];
        int64_t all = one->computed + one->granted;
        if (one->granted == 0)
            continue;
        batch.sequences++;
        batch.tokens += one->granted;
        batch.emitted += one->granted == lacks(w, model->running.at[i]);
        batch.context += all;
        for (int64_t t = 1; t <= one->granted; t++)
            batch.pairs += one->computed + t;
        if (one->granted == 1) {
            batch.ones++;
            batch.ones_context += all;
            batch.longest_one = all > batch.longest_one ? all : batch.longest_one;
        } else {
            batch.part_context += all;
            if (llm->attention_tile > 0)
                see_tiles(&batch, one->computed, one->granted, llm->attention_tile);
        }
    }
    return batch;
}

/* Rounds of blocks of mean length before the last one, and the longest one in it. */
static int64_t rounds(int64_t sum, int64_t items, gsim_i128 blocks, gsim_i128 slots,
                      int64_t longest) {
    gsim_i128 whole = 0;
    while (blocks > slots) {
        blocks -= slots;
        whole++;
    }
    return up(sum * whole, items) + longest;
}

static int64_t attention_takes_ns(const struct walk *w, const struct gsim_llm *llm,
                                  const struct batch *b) {
    gsim_i128 pair = (gsim_i128)4 * llm->layers * llm->head_dim, token = token_bytes(llm);
    gsim_i128 slots = value(w, GSIM_KEY_SMS) * llm->attention_blocks,
              moved = b->ones_context + b->ones;
    int64_t each = llm->kv_heads * llm->attention_splits, ns = 0;
    if (llm->attention_tile == 0)
        return roof_ns(w, llm, pair * llm->heads * b->pairs, llm->compute_ppm,
                       token * (b->context + b->tokens));
    gsim_i128 bytes = token * moved;
    if (b->ones > 0 && each > 0)
        bytes = up(token * slots *
                       rounds((int64_t)moved, b->ones, b->ones * each, slots, b->longest_one + 1),
                   each);
    ns = roof_ns(w, llm, pair * llm->heads * b->ones_context, llm->attention_ppm, bytes);
    if (b->tiles == 0)
        return ns;
    int64_t keys = rounds(b->keys, b->tiles, b->tiles * llm->heads, slots, b->longest_part);
    return ns + roof_ns(w, llm, pair * llm->attention_tile * keys * slots, llm->attention_ppm,
                        token * (b->part_context + b->tokens - b->ones));
}

static int64_t step_takes_ns(const struct walk *w, const struct gsim_llm *llm,
                             const struct model *model, struct moved moved) {
    gsim_i128 head = (gsim_i128)llm->vocabulary * llm->hidden;
    gsim_i128 body = llm->parameters - (llm->is_tied ? 1 : 2) * head;
    struct batch b = batch_of(w, llm, model);
    bool has_part = b.ones < b.sequences;
    int64_t unit = has_part ? llm->pad_tokens : llm->pad_sequences, tokens = b.tokens;
    while (tokens % unit)
        tokens++;
    int64_t ns = roof_ns(w, llm, 2 * (body * tokens + head * b.emitted), llm->compute_ppm,
                         (body + (b.emitted > 0 ? head : 0)) * llm->weight_bits / 8);
    ns += roof_ns(w, llm, 0, GSIM_PPM, (gsim_i128)tokens * llm->activation_bytes);
    ns += attention_takes_ns(w, llm, &b);
    ns += has_part ? llm->part_ns + b.sequences * llm->sequence_ns : tokens * llm->sequence_ns;
    ns += copies_ns(w, llm, moved.out, GSIM_KEY_PCIE_D2H, GSIM_KEY_PCIE_D2H_COPY_NS);
    ns += copies_ns(w, llm, moved.in, GSIM_KEY_PCIE_H2D, GSIM_KEY_PCIE_H2D_COPY_NS);
    return llm->host_ns + ns;
}

/* Whether the request can have this many tokens more, where `held` of its blocks are there. */
static bool has_room(const struct walk *w, const struct gsim_llm *llm, const struct model *model,
                     int request, int64_t held, int64_t tokens) {
    int64_t needed = up(w->seen[request].computed + tokens, llm->block_tokens) - held;
    return needed <= all_blocks(llm) - used_blocks(w, llm, &model->running);
}

static int64_t granted(const struct walk *w, const struct model *model) {
    int64_t tokens = 0;
    for (int i = 0; i < model->running.n; i++)
        tokens += w->seen[model->running.at[i]].granted;
    return tokens;
}

static int64_t most(const struct walk *w, const struct gsim_llm *llm, const struct model *model,
                    int request) {
    int64_t left = llm->batch_tokens - granted(w, model);
    return lacks(w, request) < left ? lacks(w, request) : left;
}

/* The last running request gives up; true: by a copy to the host. */
static void give_up(struct walk *w, const struct gsim_llm *llm, struct model *model,
                    struct moved *moved) {
    int request = take_out(&model->running, model->running.n - 1);
    struct seen *one = &w->seen[request];
    int64_t blocks = up(one->computed, llm->block_tokens);
    int64_t host = llm->swap_bytes / (token_bytes(llm) * llm->block_tokens) -
                   used_blocks(w, llm, &model->swapped);
    one->preemptions++;
    if (llm->preempt == GSIM_LLM_SWAP && blocks <= host) {
        int place = 0;
        while (place < model->swapped.n && model->swapped.at[place] < request)
            place++;
        insert(&model->swapped, place, request);
        one->swaps++;
        moved->out += blocks;
        return;
    }
    one->lost += one->computed;
    one->computed = 0;
    insert(&model->waiting, 0, request);
}

/* Lets requests of a line in, as long as there is room; the first that finds none ends it. */
static void join(struct walk *w, const struct gsim_llm *llm, struct model *model, struct list *line,
                 struct moved *moved) {
    while (line->n > 0 && model->running.n < llm->sequences &&
           granted(w, model) < llm->batch_tokens) {
        int request = line->at[0];
        int64_t tokens = most(w, llm, model, request);
        if (!has_room(w, llm, model, request, 0, tokens))
            return;
        moved->in += up(w->seen[request].computed, llm->block_tokens);
        w->seen[request].granted = tokens;
        insert(&model->running, model->running.n, take_out(line, 0));
    }
}

static int64_t begin_step(struct walk *w, int m) {
    const struct gsim_llm *llm = &w->llms->list[m];
    struct model *model = &w->model[m];
    struct moved moved = {0, 0};
    bool is_cut = false;
    bool is_shut = llm->batching == GSIM_LLM_BY_REQUEST && model->running.n + model->swapped.n > 0;
    for (int i = 0; i < model->running.n && granted(w, model) < llm->batch_tokens; i++) {
        int request = model->running.at[i];
        int64_t tokens = most(w, llm, model, request);
        int64_t held = up(w->seen[request].computed, llm->block_tokens);
        while (i < model->running.n && !has_room(w, llm, model, request, held, tokens)) {
            give_up(w, llm, model, &moved);
            is_cut = true;
        }
        if (i < model->running.n)
            w->seen[request].granted = tokens;
    }
    if (!is_cut)
        join(w, llm, model, &model->swapped, &moved);
    if (!is_cut && !is_shut && model->swapped.n == 0)
        join(w, llm, model, &model->waiting, &moved);
    return step_takes_ns(w, llm, model, moved);
}

static void end_step(struct walk *w, int m) {
    struct model *model = &w->model[m];
    for (int i = 0; i < model->running.n; i++) {
        int request = model->running.at[i];
        struct seen *one = &w->seen[request];
        int64_t left = lacks(w, request) - one->granted;
        bool emits = one->granted > 0 && left == 0;
        one->computed += one->granted;
        one->granted = 0;
        if (!emits)
            continue;
        one->output++;
        model->emitted++;
        one->last_ns = w->now_ns;
        one->first_ns = one->output == 1 ? w->now_ns : one->first_ns;
        if (one->output == w->requests->list[request].output)
            take_out(&model->running, i--);
    }
    model->steps++;
    model->ran_ns = w->now_ns;
}

static bool has_work(const struct model *model) {
    return model->waiting.n + model->running.n + model->swapped.n > 0;
}

static int64_t free_bytes(const struct walk *w) {
    int64_t bytes =
        value(w, GSIM_KEY_HBM_BYTES) - (int64_t)w->llms->n * value(w, GSIM_KEY_CONTEXT_BYTES);
    for (uint32_t m = 0; m < w->llms->n; m++)
        bytes -= w->model[m].state == ASLEEP ? 0 : w->llms->list[m].mem_bytes;
    return bytes;
}

static int64_t weights_ns(const struct walk *w, int m, enum gsim_key rate, enum gsim_key each) {
    const struct gsim_llm *llm = &w->llms->list[m];
    int64_t bytes = up((gsim_i128)llm->parameters * llm->weight_bits, 8);
    return up((gsim_i128)bytes * GSIM_NS_PER_S, value(w, rate)) + value(w, each);
}

/* Idle models before others, then by when they ran or woke, then by number. */
static int victim_of(const struct walk *w, int64_t wanted) {
    int victim = -1;
    int64_t room = free_bytes(w);
    for (int m = 0; m < (int)w->llms->n; m++) {
        const struct model *one = &w->model[m], *best = victim < 0 ? NULL : &w->model[victim];
        bool is_old = one->emitted > 0 && w->llms->quantum_ns != GSIM_NEVER &&
                      w->now_ns - one->awake_ns >= w->llms->quantum_ns;
        if (one->state != AWAKE || m == w->stepping || (has_work(one) && !is_old))
            continue;
        room += w->llms->list[m].mem_bytes;
        bool is_better = !best || has_work(one) < has_work(best);
        if (best && has_work(one) == has_work(best))
            is_better = has_work(one) ? one->awake_ns < best->awake_ns : one->ran_ns < best->ran_ns;
        victim = is_better ? m : victim;
    }
    return room >= wanted ? victim : -1;
}

static void forget(struct walk *w, struct model *model) {
    struct list *lines[] = {&model->swapped, &model->running};
    for (int l = 0; l < 2; l++)
        while (lines[l]->n > 0) {
            int request = take_out(lines[l], lines[l]->n - 1);
            w->seen[request].preemptions += l == 1;
            w->seen[request].lost += w->seen[request].computed;
            w->seen[request].computed = 0;
            insert(&model->waiting, 0, request);
        }
}

static void choose_sleep(struct walk *w) {
    int wanted = -1;
    for (int m = 0; m < (int)w->llms->n; m++)
        if (w->model[m].state == ASLEEP && has_work(&w->model[m]) &&
            (wanted < 0 || w->model[m].wants_ns < w->model[wanted].wants_ns))
            wanted = m;
    if (w->changing >= 0 || wanted < 0)
        return;
    if (free_bytes(w) >= w->llms->list[wanted].mem_bytes) {
        enum gsim_key rate = w->has_slept ? GSIM_KEY_PCIE_H2D_REUSED : GSIM_KEY_PCIE_H2D;
        w->changing = wanted;
        w->model[wanted].state = WAKING;
        w->model[wanted].wakes++;
        w->change_ns =
            w->now_ns + w->llms->wake_ns + weights_ns(w, wanted, rate, GSIM_KEY_PCIE_H2D_COPY_NS);
        return;
    }
    int victim = victim_of(w, w->llms->list[wanted].mem_bytes);
    if (victim < 0)
        return;
    forget(w, &w->model[victim]);
    w->changing = victim;
    w->model[victim].state = FALLING;
    w->model[victim].sleeps++;
    w->model[victim].wants_ns = w->now_ns;
    w->change_ns = w->now_ns + w->llms->sleep_ns;
    if (w->llms->sleep_copies)
        w->change_ns += weights_ns(w, victim, GSIM_KEY_PCIE_D2H, GSIM_KEY_PCIE_D2H_COPY_NS);
}

static void end_change(struct walk *w) {
    struct model *model = &w->model[w->changing];
    if (model->state == FALLING) {
        w->has_slept = true;
    } else {
        model->awake_ns = w->now_ns;
        model->emitted = 0;
    }
    model->state = model->state == FALLING ? ASLEEP : AWAKE;
    w->changing = -1;
}

static void choose_step(struct walk *w) {
    int next = -1;
    for (int m = 0; m < (int)w->llms->n && w->stepping < 0; m++)
        if (w->model[m].state == AWAKE && has_work(&w->model[m]) &&
            (next < 0 || w->model[m].ran_ns < w->model[next].ran_ns))
            next = m;
    if (next < 0)
        return;
    int64_t switch_ns = w->before >= 0 && w->before != next ? value(w, GSIM_KEY_SWITCH_IDLE_NS) : 0;
    w->step_ns = w->now_ns + switch_ns + begin_step(w, next);
    w->stepping = w->before = next;
}

static int64_t sooner(int64_t a_ns, int64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

static int64_t next_ns(const struct walk *w) {
    int64_t next = GSIM_NEVER;
    if (w->stepping >= 0)
        next = w->step_ns;
    if (w->changing >= 0)
        next = sooner(next, w->change_ns);
    if (w->arrived < (int)w->requests->n)
        next = sooner(next, w->requests->list[w->arrived].arrival_ns);
    for (uint32_t m = 0; m < w->llms->n && w->llms->quantum_ns != GSIM_NEVER; m++) {
        int64_t end_ns = w->model[m].awake_ns + w->llms->quantum_ns;
        if (w->model[m].state == AWAKE && end_ns > w->now_ns && has_work(&w->model[m]))
            next = sooner(next, end_ns);
    }
    return next;
}

static void walk_all(struct walk *w) {
    w->stepping = w->changing = w->before = -1;
    int64_t room = free_bytes(w);
    for (uint32_t m = 0; m < w->llms->n; m++)
        room += w->llms->list[m].mem_bytes;
    for (uint32_t m = 0; m < w->llms->n; m++) {
        bool fits = w->llms->list[m].mem_bytes <= room;
        room -= fits ? w->llms->list[m].mem_bytes : 0;
        w->model[m].state = fits ? AWAKE : ASLEEP;
        w->model[m].ran_ns = -1;
    }
    for (int64_t next; (next = next_ns(w)) != GSIM_NEVER;) {
        w->now_ns = next;
        if (w->stepping >= 0 && w->step_ns == next) {
            end_step(w, w->stepping);
            w->stepping = -1;
        }
        if (w->changing >= 0 && w->change_ns == next)
            end_change(w);
        for (; w->arrived < (int)w->requests->n && w->requests->list[w->arrived].arrival_ns <= next;
             w->arrived++) {
            struct model *model = &w->model[w->requests->list[w->arrived].model];
            if (!has_work(model))
                model->wants_ns = next;
            insert(&model->waiting, model->waiting.n, w->arrived);
        }
        choose_sleep(w);
        choose_step(w);
    }
}

/* --- random cases ----------------------------------------------------------------------------- */

/* Small layers, so that the cache holds some tens of blocks and requests give them up. */
/* How the kernels of steps are cut, of half of the models. */
static void draw_kernels(gsl_rng *rng, struct gsim_llm *llm) {
    llm->pad_tokens = pick(rng, 0, 1) ? 1 : pick(rng, 1, 70);
    llm->pad_sequences = pick(rng, 0, 1) ? 1 : pick(rng, 1, 9);
    llm->part_ns = pick(rng, 0, 1) * pick(rng, 0, 50000);
    llm->sequence_ns = pick(rng, 0, 1) * pick(rng, 0, 5000);
    llm->activation_bytes = pick(rng, 0, 1) * pick(rng, 0, 1000000);
    llm->attention_ppm = llm->compute_ppm;
    if (pick(rng, 0, 1))
        return;
    llm->attention_tile = pick(rng, 1, 70);
    llm->attention_blocks = pick(rng, 1, 3);
    llm->attention_splits = pick(rng, 0, 9);
    llm->attention_ppm = pick(rng, 10000, GSIM_PPM);
}

static struct gsim_llm draw_model(gsl_rng *rng) {
    struct gsim_llm llm = {.name = "m",
                           .layers = pick(rng, 1, 4),
                           .hidden = 64 * pick(rng, 1, 8),
                           .heads = 8,
                           .kv_heads = pick(rng, 0, 1) ? 8 : 2,
                           .head_dim = 16 * pick(rng, 1, 4),
                           .vocabulary = pick(rng, 100, 2000),
                           .is_tied = pick(rng, 0, 1) == 1,
                           .weight_bits = pick(rng, 0, 1) ? 16 : 8,
                           .kv_bits = pick(rng, 0, 1) ? 16 : 8,
                           .precision = GSIM_PRECISION_FP16,
                           .compute_ppm = pick(rng, 100000, GSIM_PPM),
                           .memory_ppm = pick(rng, 100000, GSIM_PPM),
                           .host_ns = pick(rng, 0, 1) * pick(rng, 0, 100000),
                           .other_bytes = pick(rng, 0, 1) * pick(rng, 0, 1 << 20),
                           .block_tokens = pick(rng, 0, 1) ? 16 : pick(rng, 1, 5),
                           .batch_tokens = pick(rng, 1, 200),
                           .sequences = pick(rng, 1, 12),
                           .batching = pick(rng, 0, 3) ? GSIM_LLM_BY_STEP : GSIM_LLM_BY_REQUEST,
                           .preempt = pick(rng, 0, 1) ? GSIM_LLM_SWAP : GSIM_LLM_RECOMPUTE};
    draw_kernels(rng, &llm);
    llm.parameters = 2 * llm.vocabulary * llm.hidden + pick(rng, 1, 50000000);
    int64_t block_bytes = token_bytes(&llm) * llm.block_tokens;
    llm.swap_bytes = pick(rng, 0, 40) * block_bytes;
    llm.mem_bytes = up((gsim_i128)llm.parameters * llm.weight_bits, 8) + llm.other_bytes +
                    pick(rng, 4, 60) * block_bytes + pick(rng, 0, block_bytes - 1);
    return llm;
}

static void draw_requests(gsl_rng *rng, const struct gsim_llms *llms,
                          struct gsim_llm_requests *out) {
    int64_t now_ns = 0, mean_ns = pick(rng, 1, 2000000);
    out->n = (uint32_t)pick(rng, 1, MOST_REQUESTS);
    for (uint32_t r = 0; r < out->n; r++) {
        struct gsim_llm_request *request = &out->list[r];
        uint32_t model = (uint32_t)pick(rng, 0, llms->n - 1);
        const struct gsim_llm *llm = &llms->list[model];
        int64_t room = all_blocks(llm) * llm->block_tokens;
        now_ns += pick(rng, 0, 3) ? pick(rng, 0, mean_ns) : 0;
        *request = (struct gsim_llm_request){.id = "r", .arrival_ns = now_ns, .model = model};
        request->prompt = pick(rng, 1, room);
        int64_t left = room - request->prompt + 1;
        request->output = pick(rng, 1, left < 60 ? left : 60);
    }
}

static void draw_sharing(gsl_rng *rng, struct gsim_llms *llms, struct gsim_profile *profile) {
    int64_t all = 0, largest = 0;
    for (uint32_t m = 0; m < llms->n; m++) {
        all += llms->list[m].mem_bytes;
        largest = llms->list[m].mem_bytes > largest ? llms->list[m].mem_bytes : largest;
    }
    profile->value[GSIM_KEY_SMS] = pick(rng, 0, 1) ? 132 : pick(rng, 1, 40);
    llms->sharing = pick(rng, 0, 3) ? GSIM_LLM_SLEEP : GSIM_LLM_AWAKE;
    llms->quantum_ns = pick(rng, 0, 1) ? GSIM_NEVER : pick(rng, 100000, 20000000);
    llms->sleep_copies = pick(rng, 0, 1) == 1;
    llms->sleep_ns = pick(rng, 0, 1) * pick(rng, 0, 100000);
    llms->wake_ns = pick(rng, 0, 1) * pick(rng, 0, 100000);
    profile->value[GSIM_KEY_HBM_BYTES] =
        llms->n * profile->value[GSIM_KEY_CONTEXT_BYTES] +
        (llms->sharing == GSIM_LLM_SLEEP ? pick(rng, largest, all) : all);
}

static void compare(const struct walk *w, const struct gsim_llm_run *run) {
    for (uint32_t r = 0; r < run->requests->n; r++) {
        const struct gsim_llm_served *one = &run->served[r];
        assert_int_equal(one->generated, run->requests->list[r].output);
        assert_int_equal(one->first_ns, w->seen[r].first_ns);
        assert_int_equal(one->last_ns, w->seen[r].last_ns);
        assert_int_equal(one->preemptions, w->seen[r].preemptions);
        assert_int_equal(one->swaps, w->seen[r].swaps);
        assert_int_equal(one->recomputed, w->seen[r].lost);
    }
    for (uint32_t m = 0; m < run->llms->n; m++) {
        assert_int_equal(run->sums[m].steps, w->model[m].steps);
        assert_int_equal(run->sums[m].sleeps, w->model[m].sleeps);
        assert_int_equal(run->sums[m].wakes, w->model[m].wakes);
    }
}

/* What the cases have seen: each rule is there some times. */
struct met {
    int64_t preemptions, swaps, sleeps, cut; /* cut: requests that lost tokens */
};

static void run_case(gsl_rng *rng, const struct gsim_profile *device, struct met *met) {
    struct gsim_llm models[MOST_MODELS];
    struct gsim_llm_request list[MOST_REQUESTS];
    struct gsim_profile profile = *device;
    struct gsim_llms llms = {.path = "m.ini", .list = models, .n = (uint32_t)pick(rng, 1, 4)};
    struct gsim_llm_requests requests = {.path = "r.csv", .list = list};
    struct gsim_arena *arena = gsim_arena_new();
    struct walk *walk = gsim_arena_alloc(arena, sizeof *walk);
    struct gsim_log log = {0};
    for (uint32_t m = 0; m < llms.n; m++)
        models[m] = draw_model(rng);
    draw_requests(rng, &llms, &requests);
    draw_sharing(rng, &llms, &profile);
    struct gsim_llm_run run = {.llms = &llms, .requests = &requests, .profile = &profile};
    *walk = (struct walk){.llms = &llms, .requests = &requests, .profile = &profile};
    assert_int_equal(gsim_llm_gpu_check(&llms, &requests, &profile, &log), GSIM_OK);
    assert_int_equal(gsim_llm_gpu_serve(&run, arena, &log), GSIM_OK);
    walk_all(walk);
    compare(walk, &run);
    for (uint32_t r = 0; r < requests.n; r++) {
        met->preemptions += run.served[r].preemptions;
        met->swaps += run.served[r].swaps;
        met->cut += run.served[r].recomputed > 0;
    }
    for (uint32_t m = 0; m < llms.n; m++)
        met->sleeps += run.sums[m].sleeps;
    gsim_arena_free(arena);
}

static void test_serving_is_the_plain_walk(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_profile device;
    struct gsim_log log = {0};
    struct met met = {0};
    gsl_rng *rng = gsim_rng_stream(16, 0, "serving");
    (void)state;
    assert_int_equal(gsim_profile_load("h200", arena, &device, &log), GSIM_OK);
    for (int i = 0; i < CASES; i++)
        run_case(rng, &device, &met);
    assert_true(met.preemptions > CASES && met.swaps > CASES / 2);
    assert_true(met.cut > CASES && met.sleeps > CASES);
    gsl_rng_free(rng);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_serving_is_the_plain_walk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
