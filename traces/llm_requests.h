/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests to language models, a row each, told from the header:
 *
 *     arrival_s,prompt_tokens,output_tokens          and, if need be, request_id and model
 *     TIMESTAMP,ContextTokens,GeneratedTokens        Azure's LLM inference traces
 *     Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type      BurstGPT
 *
 * Times of the latter two count from the first row's. Rows of BurstGPT without response tokens are
 * requests that failed; they are left out and counted. */
#ifndef GSIM_TRACES_LLM_REQUESTS_H
#define GSIM_TRACES_LLM_REQUESTS_H

#include "gsim/arena.h"
#include "gsim/status.h"
#include "sim/api/llm.h"

enum gsim_status gsim_llm_requests_read(const char *path, const struct gsim_llms *llms,
                                        struct gsim_arena *arena, struct gsim_llm_requests *out,
                                        struct gsim_log *log);

#endif
