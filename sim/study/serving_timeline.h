/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a GPU that serves requests did, for Perfetto: a process a model with its steps, and
 * the times in which it fell asleep or woke; beside these the blocks of its cache in use. */
#ifndef GSIM_STUDY_SERVING_TIMELINE_H
#define GSIM_STUDY_SERVING_TIMELINE_H

#include <stdio.h>

#include "sim/api/llm.h"

void gsim_serving_timeline_begin(FILE *out, const struct gsim_llms *llms);
void gsim_serving_timeline_add(FILE *out, const struct gsim_llm_span *span);
void gsim_serving_timeline_end(FILE *out);

#endif
