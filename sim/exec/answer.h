/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An answer of a scheduler while it is read; a mistake in it ends the run. */
#ifndef GSIM_EXEC_ANSWER_H
#define GSIM_EXEC_ANSWER_H

#include <yajl/yajl_tree.h>

#include "gsim/policy.h"

/* The words of enum gsim_stop. */
#define GSIM_ANSWER_STOPS "kernel|iteration|block|save|flush|incremental|cheapest|switch"

struct gsim_answer {
    struct gsim_ctx *ctx;
    struct gsim_plan *plan;
    const char *text;
};

/* Says that the answer is wrong, and shows its beginning; false. */
__attribute__((format(printf, 2, 3))) bool gsim_answer_bad(const struct gsim_answer *r,
                                                           const char *format, ...);
bool gsim_answer_int(const struct gsim_answer *r, const char *key, yajl_val value, int64_t least,
                     int64_t most, int64_t *out);
/* The slot of a job by its number in the trace. */
bool gsim_answer_slot(const struct gsim_answer *r, int64_t job, gsim_slot *slot);
/* A list of one or more GPUs by their numbers in the cluster, each once. */
bool gsim_answer_gpus(const struct gsim_answer *r, yajl_val value, struct gsim_arena *arena,
                      struct gsim_unit **units, uint32_t *n);
/* Follows the verb "arrange". */
bool gsim_answer_arrange(const struct gsim_answer *r, yajl_val object);

#endif
