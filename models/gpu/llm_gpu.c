/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/llm_gpu.h"

#include "gsim/units.h"
#include "models/links/copy.h"

struct server {
    struct gsim_batching batching;
    enum gsim_llm_state state;
    int64_t awake_ns; /* since when it is awake */
    bool has_generated; /* a token since then */
    int64_t ran_ns; /* end of its last step; before the first, -1 */
    /* Not awake: since when it has had requests, or slept with them; GSIM_NEVER: it has none. */
    int64_t wants_ns;
};

struct gpu {
    struct gsim_llm_run *run;
    struct server *servers;
    int64_t free_bytes, now_ns;
    uint32_t n_arrived;
    /* the model that runs a step; the one that ran last; GSIM_LLM_NONE: none */
    uint32_t running, last;
    int64_t began_ns, ends_ns; /* begin and end of the step; GSIM_NEVER: none is under way */
    uint32_t changing; /* the model that falls asleep or wakes */
    int64_t change_ns, changed_ns;
    bool has_slept; /* memory has been freed */
};

/* Memory of the GPU for the models: all but the contexts of their processes. */
static int64_t bytes_of(const struct gsim_llms *llms, const struct gsim_profile *profile) {
    return profile->value[GSIM_KEY_HBM_BYTES] -
           (int64_t)llms->n * profile->value[GSIM_KEY_CONTEXT_BYTES];
}

static const struct gsim_llm *llm_of(const struct gpu *gpu, uint32_t model) {
    return &gpu->run->llms->list[model];
}

/* --- what cannot be served -------------------------------------------------------------------- */

static enum gsim_status check_model(const struct gsim_llms *llms, const struct gsim_llm *llm,
                                    int64_t bytes, const struct gsim_profile *profile,
                                    struct gsim_log *log) {
    struct gsim_llm_memory memory = gsim_llm_memory_of(llm);
    if (llm->mem_bytes > bytes)
        return gsim_fail(log, GSIM_BAD_INPUT, llms->path, llm->line,
                         "model '%s' has memory of %lld bytes; device %s has %lld for the models, "
                         "without the contexts of %u processes",
                         llm->name, (long long)llm->mem_bytes, profile->name, (long long)bytes,
                         llms->n);
    if (memory.blocks < 1)
        return gsim_fail(log, GSIM_BAD_INPUT, llms->path, llm->line,
                         "model '%s' has memory of %lld bytes, which leaves no block of %lld bytes "
                         "for keys and values beside weights of %lld and other memory of %lld",
                         llm->name, (long long)llm->mem_bytes, (long long)memory.block_bytes,
                         (long long)memory.weight_bytes, (long long)llm->other_bytes);
    return GSIM_OK;
}

/* The last token of the output has no keys and values. */
static enum gsim_status check_request(const struct gsim_llm_requests *requests,
                                      const struct gsim_llm_request *request,
                                      const struct gsim_llm *llm, struct gsim_log *log) {
    struct gsim_llm_memory memory = gsim_llm_memory_of(llm);
    gsim_i128 room = (gsim_i128)memory.blocks * llm->block_tokens;
    if (request->prompt + request->output - 1 <= room)
        return GSIM_OK;
    return gsim_fail(log, GSIM_BAD_INPUT, requests->path, request->line,
                     "request '%s' has %lld tokens of prompt and %lld of output; the cache of "
                     "model '%s' has room for %lld",
                     request->id, (long long)request->prompt, (long long)request->output, llm->name,
                     (long long)room);
}

enum gsim_status gsim_llm_gpu_check(const struct gsim_llms *llms,
                                    const struct gsim_llm_requests *requests,
                                    const struct gsim_profile *profile, struct gsim_log *log) {
    int64_t bytes = bytes_of(llms, profile);
    gsim_i128 all = 0;
    enum gsim_status status = GSIM_OK;
    for (uint32_t m = 0; m < llms->n && status == GSIM_OK; m++) {
        status = check_model(llms, &llms->list[m], bytes, profile, log);
        all += llms->list[m].mem_bytes;
    }
    if (status == GSIM_OK && llms->sharing == GSIM_LLM_AWAKE && all > bytes)
        status = gsim_fail(log, GSIM_BAD_INPUT, llms->path, 0,
                           "the models have %lld bytes together; device %s has %lld for them, "
                           "without the contexts of their processes: 'sharing = sleep' lets them "
                           "take turns in it",
                           (long long)all, profile->name, (long long)bytes);
    for (uint32_t r = 0; r < requests->n && status == GSIM_OK; r++)
        status =
            check_request(requests, &requests->list[r], &llms->list[requests->list[r].model], log);
    return status;
}

/* --- sleep ------------------------------------------------------------------------------------ */

static int64_t weights_ns(const struct gpu *gpu, uint32_t model, enum gsim_direction direction) {
    struct gsim_copy_rates rates = gsim_copy_rates_pinned(gpu->run->profile, gpu->has_slept);
    return gsim_copy_ns(&rates, direction, gsim_llm_memory_of(llm_of(gpu, model)).weight_bytes, 0);
}

static void tell(const struct gpu *gpu, const struct gsim_llm_span *span) {
    if (gpu->run->span)
        gpu->run->span(gpu->run->arg, span);
}

static void change(struct gpu *gpu, uint32_t model, enum gsim_llm_state state, int64_t takes_ns) {
    gpu->servers[model].state = state;
    gpu->changing = model;
    gpu->change_ns = gpu->now_ns;
    gpu->changed_ns = gpu->now_ns + takes_ns;
}

static void wake(struct gpu *gpu, uint32_t model) {
    gpu->free_bytes -= llm_of(gpu, model)->mem_bytes;
    gpu->run->sums[model].wakes++;
    change(gpu, model, GSIM_LLM_WAKES, weights_ns(gpu, model, GSIM_H2D) + gpu->run->llms->wake_ns);
}

static void put_to_sleep(struct gpu *gpu, uint32_t model) {
    const struct gsim_llms *llms = gpu->run->llms;
    struct server *server = &gpu->servers[model];
    gsim_batching_forget(&server->batching);
    server->wants_ns = gsim_batching_has_work(&server->batching) ? gpu->now_ns : GSIM_NEVER;
    gpu->run->sums[model].sleeps++;
    change(gpu, model, GSIM_LLM_FALLS_ASLEEP,
           llms->sleep_ns + (llms->sleep_copies ? weights_ns(gpu, model, GSIM_D2H) : 0));
}

/* The change that was under way is over. */
static void end_change(struct gpu *gpu) {
    struct server *server = &gpu->servers[gpu->changing];
    tell(gpu, &(struct gsim_llm_span){.state = server->state,
                                      .model = gpu->changing,
                                      .begin_ns = gpu->change_ns,
                                      .end_ns = gpu->now_ns});
    gpu->run->sums[gpu->changing].wake_ns += gpu->now_ns - gpu->change_ns;
    if (server->state == GSIM_LLM_FALLS_ASLEEP) {
        server->state = GSIM_LLM_SLEEPS;
        gpu->free_bytes += llm_of(gpu, gpu->changing)->mem_bytes;
        gpu->has_slept = true;
    } else {
        server->state = GSIM_LLM_IS_AWAKE;
        server->awake_ns = gpu->now_ns;
        server->has_generated = false;
    }
    gpu->changing = GSIM_LLM_NONE;
    gpu->changed_ns = GSIM_NEVER;
}

/* The model that has waited longest for its memory. */
static uint32_t to_wake(const struct gpu *gpu) {
    uint32_t first = GSIM_LLM_NONE;
    for (uint32_t m = 0; m < gpu->run->llms->n; m++) {
        const struct server *server = &gpu->servers[m];
        if (server->state == GSIM_LLM_SLEEPS && server->wants_ns != GSIM_NEVER &&
            (first == GSIM_LLM_NONE || server->wants_ns < gpu->servers[first].wants_ns))
            first = m;
    }
    return first;
}

static bool is_idle(const struct server *server) {
    return !gsim_batching_has_work(&server->batching);
}

static bool may_sleep(const struct gpu *gpu, uint32_t model) {
    const struct server *server = &gpu->servers[model];
    int64_t quantum_ns = gpu->run->llms->quantum_ns;
    if (server->state != GSIM_LLM_IS_AWAKE || model == gpu->running)
        return false;
    return is_idle(server) || (server->has_generated && quantum_ns != GSIM_NEVER &&
                               gpu->now_ns - server->awake_ns >= quantum_ns);
}

static bool sleeps_before(const struct server *one, const struct server *other) {
    if (is_idle(one) != is_idle(other))
        return is_idle(one);
    return is_idle(one) ? one->ran_ns < other->ran_ns : one->awake_ns < other->awake_ns;
}

/* The model to put to sleep first; none if all together would not make room enough. */
static uint32_t to_put_to_sleep(const struct gpu *gpu, int64_t bytes) {
    uint32_t first = GSIM_LLM_NONE;
    gsim_i128 room = gpu->free_bytes;
    for (uint32_t m = 0; m < gpu->run->llms->n; m++) {
        if (!may_sleep(gpu, m))
            continue;
        room += llm_of(gpu, m)->mem_bytes;
        if (first == GSIM_LLM_NONE || sleeps_before(&gpu->servers[m], &gpu->servers[first]))
            first = m;
    }
    return room >= bytes ? first : GSIM_LLM_NONE;
}

static void choose_memory(struct gpu *gpu) {
    uint32_t wanted = gpu->changing == GSIM_LLM_NONE ? to_wake(gpu) : GSIM_LLM_NONE;
    if (wanted == GSIM_LLM_NONE)
        return;
    int64_t bytes = llm_of(gpu, wanted)->mem_bytes;
    if (bytes <= gpu->free_bytes) {
        wake(gpu, wanted);
        return;
    }
    uint32_t victim = to_put_to_sleep(gpu, bytes);
    if (victim != GSIM_LLM_NONE)
        put_to_sleep(gpu, victim);
}

/* When a model has been awake for the quantum for which another one waits. */
static int64_t quantum_ends_ns(const struct gpu *gpu) {
    int64_t quantum_ns = gpu->run->llms->quantum_ns, ends_ns = GSIM_NEVER;
    if (quantum_ns == GSIM_NEVER || gpu->changing != GSIM_LLM_NONE || to_wake(gpu) == GSIM_LLM_NONE)
        return GSIM_NEVER;
    for (uint32_t m = 0; m < gpu->run->llms->n; m++) {
        const struct server *server = &gpu->servers[m];
        int64_t end_ns = server->awake_ns + quantum_ns;
        if (server->state == GSIM_LLM_IS_AWAKE && m != gpu->running && end_ns > gpu->now_ns &&
            end_ns < ends_ns)
            ends_ns = end_ns;
    }
    return ends_ns;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void choose_step(struct gpu *gpu) {
    const struct gsim_llm_run *run = gpu->run;
    uint32_t first = GSIM_LLM_NONE;
    for (uint32_t m = 0; m < run->llms->n && gpu->running == GSIM_LLM_NONE; m++) {
        const struct server *server = &gpu->servers[m];
        if (server->state == GSIM_LLM_IS_AWAKE && !is_idle(server) &&
            (first == GSIM_LLM_NONE || server->ran_ns < gpu->servers[first].ran_ns))
            first = m;
    }
    if (first == GSIM_LLM_NONE)
        return;
    const struct gsim_llm_work *work =
        gsim_batching_begin(&gpu->servers[first].batching, gpu->now_ns);
    bool is_switch = gpu->last != GSIM_LLM_NONE && gpu->last != first;
    gpu->run->switches += is_switch;
    gpu->running = gpu->last = first;
    gpu->began_ns = gpu->now_ns + (is_switch ? run->profile->value[GSIM_KEY_SWITCH_IDLE_NS] : 0);
    gpu->ends_ns = gpu->began_ns + gsim_llm_step_ns(llm_of(gpu, first), run->profile, work);
}

static void end_step(struct gpu *gpu) {
    struct server *server = &gpu->servers[gpu->running];
    const struct gsim_batching *batching = &server->batching;
    const struct gsim_llm_work *work = &batching->work;
    struct gsim_llm_sums *sums = &gpu->run->sums[gpu->running];
    sums->steps++;
    sums->busy_ns += gpu->ends_ns - gpu->began_ns;
    sums->sequences += work->sequences;
    sums->tokens += work->tokens;
    sums->blocks_out += work->blocks_out;
    sums->blocks_in += work->blocks_in;
    tell(gpu, &(struct gsim_llm_span){.model = gpu->running,
                                      .begin_ns = gpu->began_ns,
                                      .end_ns = gpu->ends_ns,
                                      .blocks = batching->memory.blocks - batching->free_blocks,
                                      .work = work});
    (void)gsim_batching_end(&server->batching, gpu->now_ns);
    server->ran_ns = gpu->now_ns;
    server->has_generated |= work->emitted > 0;
    gpu->running = GSIM_LLM_NONE;
    gpu->ends_ns = GSIM_NEVER;
    gpu->run->end_ns = gpu->now_ns;
}

/* --- time ------------------------------------------------------------------------------------- */

static void arrive(struct gpu *gpu) {
    const struct gsim_llm_requests *requests = gpu->run->requests;
    while (gpu->n_arrived < requests->n &&
           requests->list[gpu->n_arrived].arrival_ns <= gpu->now_ns) {
        struct server *server = &gpu->servers[requests->list[gpu->n_arrived].model];
        gsim_batching_arrive(&server->batching, gpu->n_arrived++);
        if (server->state != GSIM_LLM_IS_AWAKE && server->wants_ns == GSIM_NEVER)
            server->wants_ns = gpu->now_ns;
    }
}

static int64_t next_ns(const struct gpu *gpu) {
    const struct gsim_llm_requests *requests = gpu->run->requests;
    int64_t next = quantum_ends_ns(gpu);
    if (gpu->n_arrived < requests->n && requests->list[gpu->n_arrived].arrival_ns < next)
        next = requests->list[gpu->n_arrived].arrival_ns;
    if (gpu->ends_ns < next)
        next = gpu->ends_ns;
    return gpu->changed_ns < next ? gpu->changed_ns : next;
}

/* A server that its settings end where the host is full. */
static enum gsim_status check_host(const struct gpu *gpu, struct gsim_log *log) {
    if (gpu->running == GSIM_LLM_NONE)
        return GSIM_OK;
    const struct gsim_batching *batching = &gpu->servers[gpu->running].batching;
    if (batching->too_large == GSIM_LLM_NONE)
        return GSIM_OK;
    const struct gsim_llm_request *request = &gpu->run->requests->list[batching->too_large];
    return gsim_fail(log, GSIM_BAD_INPUT, gpu->run->requests->path, request->line,
                     "request '%s' gives up its blocks at %lld ns and has no room on the host "
                     "(swap_memory of model '%s'), where vLLM's V0 ends; 'swap_full = recompute' "
                     "goes on",
                     request->id, (long long)gpu->now_ns, batching->llm->name);
}

static enum gsim_status serve_all(struct gpu *gpu, struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    for (int64_t next; status == GSIM_OK && (next = next_ns(gpu)) != GSIM_NEVER;) {
        if (next >= GSIM_TIME_MAX)
            return gsim_fail(log, GSIM_BAD_INPUT, gpu->run->requests->path, 0,
                             "serving these requests goes past the end of the clock (146 years)");
        gpu->now_ns = next;
        if (gpu->ends_ns == next)
            end_step(gpu);
        if (gpu->changed_ns == next)
            end_change(gpu);
        arrive(gpu);
        choose_memory(gpu);
        choose_step(gpu);
        status = check_host(gpu, log);
    }
    return status;
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool open_gpu(struct gpu *gpu, struct gsim_arena *arena) {
    struct gsim_llm_run *run = gpu->run;
    const struct gsim_llms *llms = run->llms;
    gpu->servers = gsim_arena_array(arena, llms->n, sizeof *gpu->servers);
    run->served = gsim_arena_array(arena, run->requests->n, sizeof *run->served);
    run->sums = gsim_arena_array(arena, llms->n, sizeof *run->sums);
    if (!gpu->servers || !run->served || !run->sums)
        return false;
    for (uint32_t m = 0; m < llms->n; m++) {
        struct server *server = &gpu->servers[m];
        bool is_awake = llms->list[m].mem_bytes <= gpu->free_bytes;
        if (!gsim_batching_open(&server->batching, &llms->list[m], run->requests, run->served,
                                &run->listener, arena))
            return false;
        server->state = is_awake ? GSIM_LLM_IS_AWAKE : GSIM_LLM_SLEEPS;
        server->ran_ns = -1;
        server->wants_ns = GSIM_NEVER;
        gpu->free_bytes -= is_awake ? llms->list[m].mem_bytes : 0;
    }
    return true;
}

enum gsim_status gsim_llm_gpu_serve(struct gsim_llm_run *run, struct gsim_arena *arena,
                                    struct gsim_log *log) {
    struct gpu gpu = {.run = run,
                      .free_bytes = bytes_of(run->llms, run->profile),
                      .running = GSIM_LLM_NONE,
                      .last = GSIM_LLM_NONE,
                      .ends_ns = GSIM_NEVER,
                      .changing = GSIM_LLM_NONE,
                      .changed_ns = GSIM_NEVER};
    if (!open_gpu(&gpu, arena))
        return gsim_no_memory(log, "serving requests");
    enum gsim_status status = serve_all(&gpu, log);
    for (uint32_t m = 0; m < run->llms->n; m++) {
        run->sums[m].least_free_blocks = gpu.servers[m].batching.least_free_blocks;
        run->sums[m].blocks = gpu.servers[m].batching.memory.blocks;
    }
    return status;
}
