/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What came of requests to language models: results of all and by model, as text, and a row a
 * request. */
#ifndef GSIM_STUDY_SERVING_H
#define GSIM_STUDY_SERVING_H

#include <stdio.h>

#include "gsim/arena.h"
#include "gsim/status.h"
#include "sim/api/llm.h"
#include "sim/study/output.h"

struct gsim_serving_result {
#define GSIM_SERVING_INT(name, help) int64_t name;
#define GSIM_SERVING_REAL(name, help) double name;
#include "sim/study/serving_fields.def"
};

/* Times between tokens, noted while a run goes on. */
struct gsim_serving_gaps {
    int64_t *gap_ns;
    uint32_t *request;
    size_t n, capacity;
    struct gsim_arena *arena;
    bool has_failed; /* no memory */
};
/* Notes a token that is not the first of its request. */
void gsim_serving_note(struct gsim_serving_gaps *gaps, uint32_t request, int64_t gap_ns);

/* A run that is over. */
struct gsim_serving {
    const struct gsim_llms *llms;
    const struct gsim_llm_requests *requests;
    const struct gsim_llm_served *served;
    const struct gsim_llm_sums *sums;
    const struct gsim_serving_gaps *gaps;
    const int64_t *block_bytes; /* by model */
    const char *device, *assumed;
    /* made of these: of all models, then of each */
    struct gsim_serving_result *results;
};
/* Fills the results. */
enum gsim_status gsim_serving_measure(struct gsim_serving *serving, struct gsim_arena *arena,
                                      struct gsim_log *log);
void gsim_serving_write(FILE *out, const struct gsim_serving *serving,
                        enum gsim_output_format format);
/* One row a request. */
void gsim_serving_write_requests(FILE *out, const struct gsim_serving *serving);

#endif
