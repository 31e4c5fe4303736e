/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/batching.h"

#include <assert.h>

bool gsim_batching_open(struct gsim_batching *batching, const struct gsim_llm *llm,
                        const struct gsim_llm_requests *requests, struct gsim_llm_served *served,
                        const struct gsim_llm_listener *listener, struct gsim_arena *arena) {
    struct gsim_llm_memory memory = gsim_llm_memory_of(llm);
    int64_t most = llm->sequences < requests->n ? llm->sequences : (int64_t)requests->n;
    *batching = (struct gsim_batching){
        .llm = llm,
        .memory = memory,
        .requests = requests->list,
        .served = served,
        .listener = *listener,
        .waiting = {GSIM_LLM_NONE, GSIM_LLM_NONE},
        .swapped = {GSIM_LLM_NONE, GSIM_LLM_NONE},
        .too_large = GSIM_LLM_NONE,
        .running = gsim_arena_array(arena, (size_t)most + 1, sizeof *batching->running),
        .free_blocks = memory.blocks,
        .least_free_blocks = memory.blocks,
        .host_blocks = memory.block_bytes > 0 ? llm->swap_bytes / memory.block_bytes : 0};
    return batching->running != NULL;
}

/* --- queues ----------------------------------------------------------------------------------- */

static void push_front(struct gsim_batching *b, struct gsim_llm_queue *queue, uint32_t request) {
    b->served[request].next = queue->first;
    queue->first = request;
    if (queue->last == GSIM_LLM_NONE)
        queue->last = request;
}

static void push_back(struct gsim_batching *b, struct gsim_llm_queue *queue, uint32_t request) {
    b->served[request].next = GSIM_LLM_NONE;
    if (queue->last == GSIM_LLM_NONE)
        queue->first = request;
    else
        b->served[queue->last].next = request;
    queue->last = request;
}

/* Requests are numbered in the order of their arrivals. */
static void push_by_arrival(struct gsim_batching *b, struct gsim_llm_queue *queue,
                            uint32_t request) {
    uint32_t at = queue->first;
    if (at == GSIM_LLM_NONE || request < at) {
        push_front(b, queue, request);
        return;
    }
    while (b->served[at].next != GSIM_LLM_NONE && b->served[at].next < request)
        at = b->served[at].next;
    b->served[request].next = b->served[at].next;
    b->served[at].next = request;
    if (queue->last == at)
        queue->last = request;
}

static uint32_t pop(struct gsim_batching *b, struct gsim_llm_queue *queue) {
    uint32_t request = queue->first;
    queue->first = b->served[request].next;
    if (queue->first == GSIM_LLM_NONE)
        queue->last = GSIM_LLM_NONE;
    return request;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static int64_t blocks_for(const struct gsim_batching *b, int64_t tokens) {
    return (tokens + b->llm->block_tokens - 1) / b->llm->block_tokens;
}

/* Tokens that it knows and has no keys and values of. */
static int64_t lacking(const struct gsim_batching *b, uint32_t request) {
    const struct gsim_llm_served *one = &b->served[request];
    return b->requests[request].prompt + one->generated - one->computed;
}

static void give_back(struct gsim_batching *b, uint32_t request) {
    b->free_blocks += b->served[request].blocks;
    b->served[request].blocks = 0;
}

/* --- giving up -------------------------------------------------------------------------------- */

/* The request that was let in last gives up its blocks. */
static void preempt_last(struct gsim_batching *b) {
    uint32_t request = b->running[--b->n_running];
    struct gsim_llm_served *one = &b->served[request];
    bool swaps = b->llm->preempt == GSIM_LLM_SWAP && one->blocks <= b->host_blocks;
    one->preemptions++;
    if (!swaps && b->llm->swap_full == GSIM_LLM_FULL_FAILS && b->too_large == GSIM_LLM_NONE)
        b->too_large = request;
    if (!swaps) {
        give_back(b, request);
        one->recomputed += one->computed;
        one->computed = 0;
        push_front(b, &b->waiting, request);
        return;
    }
    one->swaps++;
    b->free_blocks += one->blocks;
    b->host_blocks -= one->blocks;
    b->work.blocks_out += one->blocks;
    push_by_arrival(b, &b->swapped, request);
}

/* --- a step ----------------------------------------------------------------------------------- */

/* The request computes this many tokens in the step; it has the blocks for them. */
static void grant(struct gsim_batching *b, uint32_t request, int64_t tokens) {
    struct gsim_llm_served *one = &b->served[request];
    struct gsim_llm_work *work = &b->work;
    one->granted = tokens;
    work->emitted += lacking(b, request) == tokens;
    gsim_llm_work_add(b->llm, work, one->computed, tokens);
}

static int64_t fitting(const struct gsim_batching *b, uint32_t request) {
    int64_t left = b->llm->batch_tokens - b->work.tokens, lacks = lacking(b, request);
    return lacks < left ? lacks : left;
}

/* Blocks that it needs beyond those that count as its own. */
static bool take_blocks(struct gsim_batching *b, uint32_t request, int64_t own, int64_t tokens) {
    struct gsim_llm_served *one = &b->served[request];
    int64_t all = blocks_for(b, one->computed + tokens);
    if (all - own > b->free_blocks)
        return false;
    b->free_blocks -= all - own;
    one->blocks = all;
    if (b->free_blocks < b->least_free_blocks)
        b->least_free_blocks = b->free_blocks;
    return true;
}

/* Returns whether all could go on. */
static bool go_on(struct gsim_batching *b) {
    bool none_lost = true;
    for (uint32_t at = 0; at < b->n_running && b->work.tokens < b->llm->batch_tokens; at++) {
        uint32_t request = b->running[at];
        int64_t tokens = fitting(b, request);
        while (at < b->n_running && !take_blocks(b, request, b->served[request].blocks, tokens)) {
            preempt_last(b);
            none_lost = false;
        }
        if (at < b->n_running)
            grant(b, request, tokens);
    }
    return none_lost;
}

static bool has_place(const struct gsim_batching *b) {
    return b->n_running < b->llm->sequences && b->work.tokens < b->llm->batch_tokens;
}

static void swap_in(struct gsim_batching *b) {
    while (b->swapped.first != GSIM_LLM_NONE && has_place(b)) {
        uint32_t request = b->swapped.first;
        int64_t tokens = fitting(b, request), were = b->served[request].blocks;
        if (!take_blocks(b, request, 0, tokens))
            return;
        b->host_blocks += were;
        b->work.blocks_in += were;
        b->running[b->n_running++] = pop(b, &b->swapped);
        grant(b, request, tokens);
    }
}

static void let_in(struct gsim_batching *b, int64_t now_ns) {
    while (b->waiting.first != GSIM_LLM_NONE && has_place(b)) {
        uint32_t request = b->waiting.first;
        int64_t tokens = fitting(b, request);
        if (!take_blocks(b, request, 0, tokens))
            return;
        if (b->served[request].admitted_ns == GSIM_NEVER)
            b->served[request].admitted_ns = now_ns;
        b->running[b->n_running++] = pop(b, &b->waiting);
        grant(b, request, tokens);
    }
}

void gsim_batching_arrive(struct gsim_batching *b, uint32_t request) {
    b->served[request] = (struct gsim_llm_served){
        .admitted_ns = GSIM_NEVER, .first_ns = GSIM_NEVER, .last_ns = GSIM_NEVER};
    push_back(b, &b->waiting, request);
}

bool gsim_batching_has_work(const struct gsim_batching *b) {
    return b->n_running > 0 || b->waiting.first != GSIM_LLM_NONE ||
           b->swapped.first != GSIM_LLM_NONE;
}

const struct gsim_llm_work *gsim_batching_begin(struct gsim_batching *b, int64_t now_ns) {
    assert(gsim_batching_has_work(b));
    b->work = (struct gsim_llm_work){0};
    bool is_open = b->llm->batching == GSIM_LLM_BY_STEP ||
                   (b->n_running == 0 && b->swapped.first == GSIM_LLM_NONE);
    bool none_lost = go_on(b);
    if (none_lost)
        swap_in(b);
    if (none_lost && is_open && b->swapped.first == GSIM_LLM_NONE)
        let_in(b, now_ns);
    assert(b->work.tokens > 0); /* each request fits an empty cache */
    return &b->work;
}

/* --- the end of a step ------------------------------------------------------------------------ */

static void emit(struct gsim_batching *b, uint32_t request, int64_t now_ns) {
    struct gsim_llm_served *one = &b->served[request];
    bool is_first = one->first_ns == GSIM_NEVER;
    int64_t before_ns = is_first ? b->requests[request].arrival_ns : one->last_ns;
    one->generated++;
    if (is_first)
        one->first_ns = now_ns;
    one->last_ns = now_ns;
    if (b->listener.token)
        b->listener.token(b->listener.arg, request, now_ns - before_ns);
}

uint32_t gsim_batching_end(struct gsim_batching *b, int64_t now_ns) {
    uint32_t kept = 0, n = b->n_running;
    for (uint32_t at = 0; at < n; at++) {
        uint32_t request = b->running[at];
        struct gsim_llm_served *one = &b->served[request];
        bool emits = one->granted > 0 && lacking(b, request) == one->granted;
        one->computed += one->granted;
        one->granted = 0;
        if (emits)
            emit(b, request, now_ns);
        if (one->generated == b->requests[request].output)
            give_back(b, request);
        else
            b->running[kept++] = request;
    }
    b->n_running = kept;
    return n - kept;
}

static void forget_one(struct gsim_batching *b, struct gsim_llm_queue *queue, uint32_t request) {
    struct gsim_llm_served *one = &b->served[request];
    one->recomputed += one->computed;
    one->computed = 0;
    one->blocks = 0;
    push_back(b, queue, request);
}

void gsim_batching_forget(struct gsim_batching *b) {
    struct gsim_llm_queue queue = {GSIM_LLM_NONE, GSIM_LLM_NONE}, waiting = b->waiting;
    for (uint32_t at = 0; at < b->n_running; at++) {
        b->served[b->running[at]].preemptions++;
        b->free_blocks += b->served[b->running[at]].blocks;
        forget_one(b, &queue, b->running[at]);
    }
    b->n_running = 0;
    while (b->swapped.first != GSIM_LLM_NONE) {
        uint32_t request = pop(b, &b->swapped);
        b->host_blocks += b->served[request].blocks;
        forget_one(b, &queue, request);
    }
    if (queue.first == GSIM_LLM_NONE)
        return;
    b->served[queue.last].next = waiting.first;
    b->waiting = (struct gsim_llm_queue){
        queue.first, waiting.first == GSIM_LLM_NONE ? queue.last : waiting.last};
}
