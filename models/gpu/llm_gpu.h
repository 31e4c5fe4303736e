/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GPU that serves requests with one language model or several. Each is a process; the steps of
 * these (models/gpu/batching.h) take turns on the GPU, those of the one that ran longest ago first.
 * A turn of another process than the one before costs a switch away from an idle context.
 *
 *   awake   all models have their memory all the time
 *   sleep   a model that sleeps has its weights on the host alone, and no keys and values (vLLM's
 *           sleep mode, level 1). At first models are awake in the order of their file, as far as
 *           there is memory. Of those that sleep and have requests, the one that has had them for
 *           the longest time, since they came or it was put to sleep with them, is woken once its
 *           memory is free: its weights are copied in. For that,
 *           awake models are put to sleep, if that makes room enough: those without requests, the
 *           one that ran longest ago first; then those that have been awake for the quantum and
 *           have generated a token since they woke (else models could wake each other for ever),
 *           the one that is awake longest first. Its requests wait and are computed again. The
 *           weights of one model are copied at a time, one way; other models go on meanwhile. */
#ifndef GSIM_MODELS_GPU_LLM_GPU_H
#define GSIM_MODELS_GPU_LLM_GPU_H

#include "gsim/status.h"
#include "models/gpu/batching.h"

struct gsim_llm_run {
    const struct gsim_llms *llms;
    const struct gsim_llm_requests *requests;
    const struct gsim_profile *profile;
    struct gsim_llm_listener listener;
    void (*span)(void *arg, const struct gsim_llm_span *span); /* NULL: not watched */
    void *arg;
    /* results */
    struct gsim_llm_served *served; /* by request */
    struct gsim_llm_sums *sums; /* by model */
    int64_t end_ns; /* of the last request */
    int64_t switches; /* turns of another process than the one before */
};

/* Whether the models can serve the requests on this device: memory, and room for each request. */
enum gsim_status gsim_llm_gpu_check(const struct gsim_llms *llms,
                                    const struct gsim_llm_requests *requests,
                                    const struct gsim_profile *profile, struct gsim_log *log);
/* Serves all requests, after the check; fills the results. */
enum gsim_status gsim_llm_gpu_serve(struct gsim_llm_run *run, struct gsim_arena *arena,
                                    struct gsim_log *log);

#endif
