/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of the language models that share a GPU:
 *
 *     [gpu]
 *     sharing = sleep        ; or awake
 *     [llama]                ; a section a model
 *     parameters = 8030261248
 *     layers = 32
 *     ...
 *
 * The keys are in llm_models.c, the page about serving explains them. */
#ifndef GSIM_TRACES_LLM_MODELS_H
#define GSIM_TRACES_LLM_MODELS_H

#include "gsim/arena.h"
#include "gsim/status.h"
#include "sim/api/llm.h"

/* keys: "SECTION.KEY=VALUE" in place of the file's, ends with NULL; NULL: none. */
enum gsim_status gsim_llm_models_read(const char *path, const char *const *keys,
                                      struct gsim_arena *arena, struct gsim_llms *out,
                                      struct gsim_log *log);

#endif
