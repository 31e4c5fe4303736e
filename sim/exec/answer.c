/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/answer.h"

#include <stdarg.h>

#include "sim/exec/exec.h"

bool gsim_answer_bad(const struct gsim_answer *r, const char *format, ...) {
    struct gsim_exec *exec = r->ctx->state;
    char why[200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    char now[32];
    (void)gsim_param_format(now, GSIM_PARAM_TIME, r->ctx->view->now_ns);
    r->ctx->status =
        gsim_fail(r->ctx->log, GSIM_FAILED, NULL, 0, "exec:%s: at %s: %s; its answer was '%.100s'",
                  exec->scheduler.command, now, why, r->text);
    return false;
}

bool gsim_answer_int(const struct gsim_answer *r, const char *key, yajl_val value, int64_t least,
                     int64_t most, int64_t *out) {
    bool is_whole = YAJL_IS_INTEGER(value);
    if (is_whole && YAJL_GET_INTEGER(value) > most)
        return gsim_answer_bad(r, "'%s' is more than %lld", key, (long long)most);
    if (!is_whole || YAJL_GET_INTEGER(value) < least)
        return gsim_answer_bad(r, "'%s' is not a whole number of at least %lld", key,
                               (long long)least);
    *out = YAJL_GET_INTEGER(value);
    return true;
}

bool gsim_answer_slot(const struct gsim_answer *r, int64_t job, gsim_slot *slot) {
    const struct gsim_exec *exec = r->ctx->state;
    bool is_known = job < r->ctx->view->trace->n_jobs && exec->slot_of[job] != GSIM_NO_SLOT;
    *slot = is_known ? exec->slot_of[job] : GSIM_NO_SLOT;
    return is_known || gsim_answer_bad(r, "no job %lld is in the system", (long long)job);
}

bool gsim_answer_gpus(const struct gsim_answer *r, yajl_val value, struct gsim_arena *arena,
                      struct gsim_unit **units, uint32_t *n) {
    size_t count = YAJL_IS_ARRAY(value) ? YAJL_GET_ARRAY(value)->len : 0;
    uint32_t n_gpus = r->ctx->view->cluster.n_gpus;
    uint8_t *is_named = gsim_arena_array(arena, n_gpus + 1, sizeof *is_named);
    *units = gsim_arena_array(arena, count + 1, sizeof **units);
    if (!is_named || !*units)
        return false;
    if (count == 0)
        return gsim_answer_bad(r, "GPUs are a list of their numbers, such as [0, 1]");
    for (size_t i = 0; i < count; i++) {
        int64_t gpu = 0;
        if (!gsim_answer_int(r, "GPU", YAJL_GET_ARRAY(value)->values[i], 0, n_gpus - 1, &gpu))
            return false;
        if (is_named[gpu]++)
            return gsim_answer_bad(r, "GPU %lld is named twice", (long long)gpu);
        (*units)[i].gpu = (uint32_t)gpu;
    }
    *n = (uint32_t)count;
    return true;
}
