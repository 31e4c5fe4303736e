/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/output.h"
#include "sim/exec/exec.h"
#include "sim/core/core.h"
#include "traces/cells.h"

void gsim_exec_write_hello(FILE *out, const struct gsim_ctx *ctx) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    fprintf(out, "{\"n\":0,\"gsim\":%d,\"seed\":%llu,\"replication\":%llu,\"nodes\":[", GSIM_ABI,
            (unsigned long long)ctx->seed, (unsigned long long)ctx->replication);
    for (uint32_t n = 0; n < cluster->n_nodes; n++)
        fprintf(out, "%s{\"gpus\":%u,\"type\":%u,\"memory_bytes\":%lld}", n ? "," : "",
                cluster->node_first_gpu[n + 1] - cluster->node_first_gpu[n],
                cluster->type[cluster->node_first_gpu[n]],
                (long long)cluster->hbm_bytes[cluster->node_first_gpu[n]]);
    fputs("]}\n", out);
}

/* --- a job that arrives ---------------------------------------------------------------------- */

static const char *const symbols[GSIM_COL_COUNT] = {
#define GSIM_COLUMN(symbol, name, kind, help) [GSIM_COL_##symbol] = #symbol,
#include "gsim/columns.def"
#undef GSIM_COLUMN
};

/* The column's symbol in lower case, which has the unit of its cells: "mem_bytes". */
static void put_key(FILE *out, const char *symbol) {
    fputs(",\"", out);
    for (; *symbol; symbol++)
        putc(*symbol >= 'A' && *symbol <= 'Z' ? *symbol - 'A' + 'a' : *symbol, out);
    fputs("\":", out);
}

static void put_cell(FILE *out, const struct gsim_trace *trace, enum gsim_column column,
                     uint32_t job) {
    int64_t cell = gsim_trace_get(trace, column, job);
    char text[GSIM_MAX_FIELD_BYTES];
    bool may_be_negative = gsim_columns[column].kind == GSIM_CELL_SIGNED;
    if (!trace->column[column] || (cell < 0 && !may_be_negative))
        return;
    put_key(out, symbols[column]);
    if (gsim_cell_is_text(column)) {
        gsim_cell_format(trace, column, cell, text, sizeof text);
        gsim_put_json_text(out, text);
    } else {
        fprintf(out, "%lld", (long long)cell);
    }
}

static void put_job(FILE *out, const struct gsim_view *view, gsim_slot slot) {
    uint32_t job = view->jobs.index[slot];
    fprintf(out, "{\"job\":%u,\"id\":", job);
    gsim_put_json_text(out, gsim_trace_id(view->trace, job));
    fprintf(out, ",\"submit_ns\":%lld,\"gpus\":%u", (long long)view->jobs.submit_ns[slot],
            view->jobs.gpus[slot]);
    if (view->jobs.service_ns)
        fprintf(out, ",\"service_ns\":%lld", (long long)view->jobs.service_ns[slot]);
    for (int column = 0; column < GSIM_COL_COUNT; column++)
        put_cell(out, view->trace, (enum gsim_column)column, job);
    putc('}', out);
}

/* --- the world ------------------------------------------------------------------------------- */

static void put_idle(FILE *out, const struct gsim_view *view) {
    const struct gsim_view_cluster *cluster = &view->cluster;
    fputs(",\"idle\":[", out);
    for (uint32_t n = 0; n < cluster->n_nodes; n++) {
        uint32_t n_idle = 0;
        for (uint32_t g = cluster->node_first_gpu[n]; g < cluster->node_first_gpu[n + 1]; g++)
            n_idle += gsim_gpu_is_idle(view, g);
        fprintf(out, "%s%u", n ? "," : "", n_idle);
    }
    putc(']', out);
}

static void put_units(FILE *out, const struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units);
    fputs(",\"on\":[", out);
    for (uint32_t u = 0; u < n; u++)
        fprintf(out, "%s%u", u ? "," : "", units[u].gpu);
    putc(']', out);
}

static void put_running(FILE *out, const struct gsim_view *view, const struct gsim_plan *plan) {
    const char *comma = "";
    fputs(",\"running\":[", out);
    for (uint32_t i = 0; i < view->jobs.n_active; i++) {
        gsim_slot slot = view->jobs.active[i];
        if (view->jobs.state[slot] != GSIM_RUNNING)
            continue;
        fprintf(out, "%s{\"job\":%u,\"attained_ns\":%lld", comma, view->jobs.index[slot],
                (long long)gsim_attained_ns(view, slot));
        put_units(out, plan, slot);
        putc('}', out);
        comma = ",";
    }
    putc(']', out);
}

void gsim_exec_write_changes(FILE *out, const struct gsim_ctx *ctx, const struct gsim_plan *plan) {
    const struct gsim_exec *exec = ctx->state;
    const struct gsim_view *view = ctx->view;
    const struct gsim_view_changes *changes = &view->changes;
    fprintf(out, "{\"n\":%lld,\"now_ns\":%lld,\"timer\":%s,\"ended\":[", (long long)exec->n_asked,
            (long long)view->now_ns, exec->is_timer ? "true" : "false");
    for (uint32_t i = 0; i < changes->n_completed; i++)
        fprintf(out, "%s%u", i ? "," : "", view->jobs.index[changes->completed[i]]);
    fputs("],\"arrived\":[", out);
    for (uint32_t i = 0; i < changes->n_arrived; i++) {
        fputs(i ? "," : "", out);
        put_job(out, view, changes->arrived[i]);
    }
    fputs("],\"settled\":[", out);
    for (uint32_t i = 0; i < changes->n_settled; i++)
        fprintf(out, "%s{\"job\":%u,\"state\":\"%s\"}", i ? "," : "",
                view->jobs.index[changes->settled[i]],
                gsim_state_names[view->jobs.state[changes->settled[i]]]);
    putc(']', out);
    put_idle(out, view);
    put_running(out, view, plan);
    fputs("}\n", out);
}

static void put_quotes(FILE *out, const struct gsim_exec *exec) {
    for (uint32_t i = 0; i < exec->n_quotes; i++) {
        const struct gsim_quote *quote = &exec->quotes[i].quote;
        fprintf(out, "%s{\"job\":%u,\"is_possible\":%s", i ? "," : ",\"costs\":[",
                exec->quotes[i].job, quote->is_possible ? "true" : "false");
        if (quote->is_possible)
            fprintf(out,
                    ",\"stop_ns\":%lld,\"save_ns\":%lld,\"resume_ns\":%lld,\"lost_ns\":%lld,"
                    "\"bytes_out\":%lld,\"bytes_in\":%lld",
                    (long long)quote->stop_ns, (long long)quote->save_ns,
                    (long long)quote->resume_ns, (long long)quote->lost_ns,
                    (long long)quote->bytes_out, (long long)quote->bytes_in);
        if (!quote->is_possible && quote->missing)
            fprintf(out, ",\"missing\":\"%s\"", quote->missing);
        putc('}', out);
    }
    fputs(exec->n_quotes ? "]" : "", out);
}

void gsim_exec_write_refused(FILE *out, const struct gsim_ctx *ctx) {
    const struct gsim_exec *exec = ctx->state;
    fprintf(out, "{\"n\":%lld,\"now_ns\":%lld,\"refused\":[", (long long)exec->n_asked,
            (long long)ctx->view->now_ns);
    for (uint32_t i = 0; i < exec->n_refused; i++)
        fprintf(out, "%s%u", i ? "," : "", exec->refused[i]);
    putc(']', out);
    put_quotes(out, exec);
    put_idle(out, ctx->view);
    fputs("}\n", out);
}
