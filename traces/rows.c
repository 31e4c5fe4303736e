/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/rows.h"
#include "traces/repeats.h"

#include <string.h>

#include "traces/after.h"
#include "traces/log_from.h"

enum gsim_status gsim_rows_listen(struct gsim_rows *rows, struct gsim_input *input,
                                  struct gsim_arena *arena, struct gsim_log *log) {
    const size_t prefix = strlen(GSIM_TOLD_PREFIX);
    const char *at, *newline;
    size_t n;
    enum gsim_status status = gsim_input_peek(input, &at, &n, log);
    for (; n > 0 && *at == '#' && (newline = memchr(at, '\n', n)); at = newline + 1) {
        size_t length = (size_t)(newline - at);
        n -= length + 1;
        if (length <= prefix || length > prefix + GSIM_MAX_FIELD_BYTES ||
            strncmp(at, GSIM_TOLD_PREFIX, prefix) != 0 || rows->n_told == GSIM_MAX_TOLD)
            continue;
        const char *told = gsim_arena_strndup(arena, at + prefix, length - prefix);
        if (!told)
            return gsim_no_memory(log, "reading a trace");
        rows->told[rows->n_told++] = told;
    }
    return status;
}

enum gsim_status gsim_rows_begin(struct gsim_rows *rows, struct gsim_builder *builder,
                                 const struct gsim_trace_options *options) {
    rows->b = builder;
    builder->is_lenient = options && options->is_lenient;
    builder->shards = options ? options->shards : 0;
    rows->log_from = options ? options->log_from : NULL;
    builder->fates.list = options ? options->left_out : NULL;
    enum gsim_status status = GSIM_OK;
    if (options && options->gpu_mem)
        status = gsim_gpu_mem_read(builder, options->gpu_mem, &rows->gpu_mem);
    if (status == GSIM_OK && options && options->by_model)
        status = gsim_by_model_read(builder, options->by_model, &rows->by_model);
    if (status == GSIM_OK && options && options->rates)
        status = gsim_rates_read(options->rates, builder->arena, &rows->rates, builder->log);
    if (status == GSIM_OK && options && options->goodput)
        status = gsim_goodput_read(options->goodput, builder->arena, &rows->goodput, builder->log);
    return status == GSIM_OK ? gsim_assume_read(builder, options, rows->assumed, &rows->n_assumed)
                             : status;
}

/* Keeps start, end and nodes of the run, which is what a schedule can be held against. */
static enum gsim_status keep_log(struct gsim_builder *b) {
    struct gsim_row *row = &b->row;
    int64_t from_ns = row->cell[GSIM_COL_LOGGED_START_NS];
    int64_t to_ns = row->cell[GSIM_COL_LOGGED_END_NS];
    if (from_ns < 0 && row->ran_from_s >= 0) {
        from_ns = row->ran_from_s * GSIM_NS_PER_S;
        to_ns = row->ran_to_s < 0 ? -1 : row->ran_to_s * GSIM_NS_PER_S;
    }
    row->cell[GSIM_COL_LOGGED_START_NS] = row->cell[GSIM_COL_LOGGED_END_NS] = -1;
    if (from_ns < 0)
        return GSIM_OK;
    if (from_ns < row->submit_ns || (to_ns >= 0 && to_ns < from_ns)) {
        row->loss =
            "they began before they were submitted, or ended before they began: their start "
            "and end in the log are not kept";
        return GSIM_OK;
    }
    row->cell[GSIM_COL_LOGGED_START_NS] = from_ns;
    row->cell[GSIM_COL_LOGGED_END_NS] = to_ns;
    if (*row->nodes)
        row->cell[GSIM_COL_LOGGED_NODES] =
            gsim_build_intern(b, GSIM_COL_LOGGED_NODES, row->nodes, strlen(row->nodes));
    return *row->nodes && row->cell[GSIM_COL_LOGGED_NODES] < 0
               ? gsim_no_memory(b->log, "reading a trace")
               : GSIM_OK;
}

static bool has_wrong_nodes(const struct gsim_row *row) {
    int64_t nodes = row->cell[GSIM_COL_NUM_NODES];
    return nodes == 0 || nodes > (int64_t)row->gpus;
}

static enum gsim_status add(struct gsim_rows *rows, int64_t line) {
    struct gsim_builder *b = rows->b;
    if (b->row.wrong) {
        gsim_build_refuse(b, line, b->row.wrong);
        return GSIM_OK;
    }
    enum gsim_status status = b->row.drop ? gsim_gpu_mem_pass(rows->gpu_mem, b)
                                          : gsim_gpu_mem_fill(rows->gpu_mem, b, line);
    if (b->row.drop) {
        gsim_build_drop(b, line);
        return status;
    }
    if (status == GSIM_OK && rows->by_model)
        status = gsim_by_model_fill(rows->by_model, b);
    if (!gsim_assume_fill(b, rows->assumed, rows->n_assumed))
        return gsim_no_memory(b->log, "reading a trace");
    if (has_wrong_nodes(&b->row)) {
        gsim_build_refuse(
            b, line,
            "column 'num_nodes': a job lies on one node at least, and on no more nodes "
            "than it has GPUs");
        return GSIM_OK;
    }
    if (status == GSIM_OK && rows->rates)
        status = gsim_rates_fill(rows->rates, b, line);
    if (status == GSIM_OK && rows->goodput)
        status = gsim_goodput_fill(rows->goodput, b, line);
    if (status == GSIM_OK && b->is_absolute && b->has_column[GSIM_COL_LOGGED_START_NS])
        status = keep_log(b);
    if (status != GSIM_OK || !gsim_build_times(b, line))
        return status;
    gsim_build_keep(b, line);
    return gsim_build_add(b, line);
}

enum gsim_status gsim_rows_add(struct gsim_rows *rows, int64_t line) {
    enum gsim_status status = add(rows, line);
    gsim_build_clear_row(rows->b);
    return status;
}

enum gsim_status gsim_rows_finish(struct gsim_rows *rows, const char *format,
                                  struct gsim_trace *out) {
    enum gsim_status status = gsim_gpu_mem_finish(rows->gpu_mem, rows->b);
    if (status == GSIM_OK)
        status = gsim_assume_check(rows->b, rows->assumed, rows->n_assumed);
    if (status == GSIM_OK && !rows->b->is_numbered)
        status = gsim_repeats_find(rows->b);
    const char *cut = NULL;
    if (status == GSIM_OK)
        status = gsim_log_from_cut(rows->b, rows->log_from, &cut);
    if (status == GSIM_OK) /* archives name jobs that they do not have, as do logs that were cut */
        status = gsim_after_link(rows->b, strcmp(format, "native") != 0 || cut);
    if (status == GSIM_OK && !gsim_build_forget_names(rows->b))
        status = gsim_no_memory(rows->b->log, "reading a trace");
    if (status == GSIM_OK)
        status = gsim_build_finish(rows->b, format, out);
    if (status != GSIM_OK)
        return status;
    const char **list = gsim_arena_array(
        rows->b->arena, (size_t)(rows->n_assumed + rows->n_told) + 6, sizeof *list);
    if (!list)
        return gsim_no_memory(rows->b->log, "reading a trace");
    int n = 0;
    for (; n < rows->n_told; n++)
        list[n] = rows->told[n];
    if (cut)
        list[n++] = cut;
    if (gsim_gpu_mem_name(rows->gpu_mem))
        list[n++] = gsim_gpu_mem_name(rows->gpu_mem);
    if (gsim_by_model_is_used(rows->by_model))
        list[n++] = gsim_by_model_name(rows->by_model);
    for (int i = 0; i < rows->n_assumed; i++)
        if (rows->assumed[i].is_used)
            list[n++] = rows->assumed[i].text;
    out->rates = rows->rates;
    if (rows->rates && (list[n] = gsim_rates_name(rows->rates, out, rows->b->arena)) != NULL)
        n++;
    out->goodput = rows->goodput;
    if (rows->goodput && (list[n] = gsim_goodput_name(rows->goodput, out, rows->b->arena)) != NULL)
        n++;
    out->assumed = n ? list : NULL;
    return GSIM_OK;
}
