/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/serving.h"

#include <math.h>
#include <stddef.h>

#include "sim/base/units.h"
#include "sim/core/stats.h"

static const double p[] = {0.5, 0.9, 0.99};
enum { P50 = 0, P90, P99, N_P };

void gsim_serving_note(struct gsim_serving_gaps *gaps, uint32_t request, int64_t gap_ns) {
    if (gaps->n == gaps->capacity) {
        size_t more = gaps->capacity ? 2 * gaps->capacity : 4096;
        int64_t *gap = gsim_arena_grow_raw(gaps->arena, gaps->gap_ns, more * sizeof *gap);
        gaps->gap_ns = gap ? gap : gaps->gap_ns;
        uint32_t *of = gsim_arena_grow_raw(gaps->arena, gaps->request, more * sizeof *of);
        gaps->request = of ? of : gaps->request;
        gaps->has_failed |= !gap || !of;
        if (gaps->has_failed)
            return;
        gaps->capacity = more;
    }
    gaps->gap_ns[gaps->n] = gap_ns;
    gaps->request[gaps->n++] = request;
}

/* --- results ---------------------------------------------------------------------------------- */

/* The requests of one model, or of all (model = llms->n). */
struct part {
    const struct gsim_serving *serving;
    uint32_t model;
    int64_t *times_ns; /* scratch */
};

static bool has(const struct part *part, uint32_t request) {
    return part->model == part->serving->llms->n ||
           part->serving->requests->list[request].model == part->model;
}

static double seconds(int64_t time_ns) {
    return (double)time_ns / (double)GSIM_NS_PER_S;
}

enum measure { TTFT, TPOT, LATENCY, QUEUE };

/* The measure of a request; -1: it has none. */
static int64_t measure_ns(const struct gsim_serving *serving, uint32_t request,
                          enum measure measure) {
    const struct gsim_llm_served *one = &serving->served[request];
    int64_t arrival_ns = serving->requests->list[request].arrival_ns;
    switch (measure) {
    case TTFT:
        return one->first_ns - arrival_ns;
    case TPOT:
        return one->generated > 1 ? (one->last_ns - one->first_ns) / (one->generated - 1) : -1;
    case LATENCY:
        return one->last_ns - arrival_ns;
    case QUEUE:
        return one->admitted_ns - arrival_ns;
    }
    return -1;
}

/* The mean in seconds, and quantiles; NaN where no request has the measure. */
static double spread(const struct part *part, enum measure measure, double *quantiles) {
    size_t n = 0;
    gsim_i128 sum_ns = 0;
    for (uint32_t r = 0; r < part->serving->requests->n; r++) {
        int64_t time_ns = has(part, r) ? measure_ns(part->serving, r, measure) : -1;
        if (time_ns < 0)
            continue;
        part->times_ns[n++] = time_ns;
        sum_ns += time_ns;
    }
    gsim_quantiles_s(part->times_ns, n, p, quantiles, N_P);
    return n > 0 ? (double)sum_ns / (double)n / (double)GSIM_NS_PER_S : (double)NAN;
}

static void measure_requests(const struct part *part, struct gsim_serving_result *out) {
    double q[N_P];
    out->ttft_mean_s = spread(part, TTFT, q);
    out->ttft_p50_s = q[P50], out->ttft_p90_s = q[P90], out->ttft_p99_s = q[P99];
    out->tpot_mean_s = spread(part, TPOT, q);
    out->tpot_p50_s = q[P50], out->tpot_p90_s = q[P90], out->tpot_p99_s = q[P99];
    out->latency_mean_s = spread(part, LATENCY, q);
    out->latency_p50_s = q[P50], out->latency_p90_s = q[P90], out->latency_p99_s = q[P99];
    out->queue_mean_s = spread(part, QUEUE, q);
    out->queue_p99_s = q[P99];
}

static void measure_gaps(const struct part *part, struct gsim_serving_result *out) {
    const struct gsim_serving_gaps *gaps = part->serving->gaps;
    double q[N_P];
    size_t n = 0;
    int64_t most_ns = -1;
    for (size_t g = 0; g < gaps->n; g++) {
        if (!has(part, gaps->request[g]))
            continue;
        part->times_ns[n++] = gaps->gap_ns[g];
        most_ns = gaps->gap_ns[g] > most_ns ? gaps->gap_ns[g] : most_ns;
    }
    gsim_quantiles_s(part->times_ns, n, p, q, N_P);
    out->itl_p50_s = q[P50], out->itl_p90_s = q[P90], out->itl_p99_s = q[P99];
    out->itl_max_s = n > 0 ? seconds(most_ns) : (double)NAN;
}

/* A request of one token has no time per token: any target of it is met. */
static bool is_in_time(const struct gsim_serving *serving, uint32_t request) {
    const struct gsim_llm *llm = &serving->llms->list[serving->requests->list[request].model];
    return measure_ns(serving, request, TTFT) <= llm->ttft_target_ns &&
           measure_ns(serving, request, TPOT) <= llm->tpot_target_ns;
}

static bool has_target(const struct part *part) {
    bool has_one = false;
    for (uint32_t m = 0; m < part->serving->llms->n; m++) {
        const struct gsim_llm *llm = &part->serving->llms->list[m];
        has_one |= (part->model == part->serving->llms->n || part->model == m) &&
                   (llm->ttft_target_ns != GSIM_NEVER || llm->tpot_target_ns != GSIM_NEVER);
    }
    return has_one;
}

static void count_requests(const struct part *part, struct gsim_serving_result *out) {
    const struct gsim_llm_requests *requests = part->serving->requests;
    int64_t first_ns = GSIM_NEVER, last_ns = 0, in_time = 0;
    for (uint32_t r = 0; r < requests->n; r++) {
        const struct gsim_llm_served *one = &part->serving->served[r];
        if (!has(part, r))
            continue;
        out->requests++;
        in_time += is_in_time(part->serving, r);
        out->prompt_tokens += requests->list[r].prompt;
        out->output_tokens += one->generated;
        out->preemptions += one->preemptions;
        out->swaps += one->swaps;
        out->recomputed_tokens += one->recomputed;
        first_ns =
            requests->list[r].arrival_ns < first_ns ? requests->list[r].arrival_ns : first_ns;
        last_ns = one->last_ns > last_ns ? one->last_ns : last_ns;
    }
    if (out->requests == 0)
        return;
    out->duration_s = seconds(last_ns - first_ns);
    out->in_time = has_target(part) ? (double)in_time / (double)out->requests : (double)NAN;
    out->requests_per_s = (double)out->requests / out->duration_s;
    out->output_tokens_per_s = (double)out->output_tokens / out->duration_s;
}

static void add_sums(const struct part *part, struct gsim_serving_result *out) {
    int64_t busy_ns = 0, sequences = 0, wake_ns = 0;
    for (uint32_t m = 0; m < part->serving->llms->n; m++) {
        const struct gsim_llm_sums *sums = &part->serving->sums[m];
        if (part->model != part->serving->llms->n && part->model != m)
            continue;
        double peak = 1 - (double)sums->least_free_blocks / (double)sums->blocks;
        out->steps += sums->steps;
        out->swapped_out_bytes += sums->blocks_out * part->serving->block_bytes[m];
        out->swapped_in_bytes += sums->blocks_in * part->serving->block_bytes[m];
        out->sleeps += sums->sleeps;
        out->wakes += sums->wakes;
        out->kv_peak = peak > out->kv_peak ? peak : out->kv_peak;
        busy_ns += sums->busy_ns;
        sequences += sums->sequences;
        wake_ns += sums->wake_ns;
    }
    out->batch_mean = out->steps > 0 ? (double)sequences / (double)out->steps : (double)NAN;
    out->gpu_busy = seconds(busy_ns) / out->duration_s;
    out->sleep_wake_s = seconds(wake_ns);
}

enum gsim_status gsim_serving_measure(struct gsim_serving *serving, struct gsim_arena *arena,
                                      struct gsim_log *log) {
    uint32_t n = serving->llms->n;
    size_t most = serving->requests->n;
    most = serving->gaps->n > most ? serving->gaps->n : most;
    struct part part = {.serving = serving,
                        .times_ns = gsim_arena_grow_raw(arena, NULL, (most + 1) * sizeof(int64_t))};
    serving->results = gsim_arena_array(arena, n + 1, sizeof *serving->results);
    if (!part.times_ns || !serving->results || serving->gaps->has_failed)
        return gsim_no_memory(log, "measuring requests");
    for (uint32_t i = 0; i <= n; i++) {
        struct gsim_serving_result *out = &serving->results[i];
        part.model = i == 0 ? n : i - 1;
        *out = (struct gsim_serving_result){.duration_s = (double)NAN,
                                            .requests_per_s = (double)NAN,
                                            .output_tokens_per_s = (double)NAN,
                                            .in_time = (double)NAN};
        count_requests(&part, out);
        add_sums(&part, out);
        measure_requests(&part, out);
        measure_gaps(&part, out);
    }
    gsim_arena_drop(arena, part.times_ns);
    return GSIM_OK;
}

/* --- text ------------------------------------------------------------------------------------- */

struct field {
    const char *name;
    size_t at;
    bool is_real;
};
static const struct field fields[] = {
#define GSIM_SERVING_INT(name, help) {#name, offsetof(struct gsim_serving_result, name), false},
#define GSIM_SERVING_REAL(name, help) {#name, offsetof(struct gsim_serving_result, name), true},
#include "sim/study/serving_fields.def"
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

static double real_of(const struct gsim_serving_result *result, const struct field *field) {
    return *(const double *)(const void *)((const char *)result + field->at);
}

static int64_t int_of(const struct gsim_serving_result *result, const struct field *field) {
    return *(const int64_t *)(const void *)((const char *)result + field->at);
}

static void put_value(FILE *out, const struct gsim_serving_result *result,
                      const struct field *field, bool is_json) {
    if (field->is_real)
        gsim_put_real(out, real_of(result, field), is_json);
    else
        fprintf(out, "%lld", (long long)int_of(result, field));
}

static void write_object(FILE *out, const struct gsim_serving_result *result, const char *indent) {
    for (int f = 0; f < N_FIELDS; f++) {
        fprintf(out, "%s%s\"%s\": ", f > 0 ? ",\n" : "", indent, fields[f].name);
        put_value(out, result, &fields[f], true);
    }
}

static const char *sharing_of(const struct gsim_serving *serving) {
    return serving->llms->sharing == GSIM_LLM_SLEEP ? "sleep" : "awake";
}

static void put_pair(FILE *out, const char *name, const char *text) {
    fprintf(out, "  \"%s\": ", name);
    gsim_put_json_text(out, text);
    fputs(",\n", out);
}

static void write_json(FILE *out, const struct gsim_serving *serving) {
    fputs("{\n", out);
    put_pair(out, "trace", serving->requests->path);
    put_pair(out, "device", serving->device);
    put_pair(out, "sharing", sharing_of(serving));
    put_pair(out, "assumed", serving->assumed);
    write_object(out, &serving->results[0], "  ");
    fputs(",\n  \"models\": [\n", out);
    for (uint32_t m = 0; m < serving->llms->n; m++) {
        fputs("    {\n      \"model\": ", out);
        gsim_put_json_text(out, serving->llms->list[m].name);
        fputs(",\n", out);
        write_object(out, &serving->results[m + 1], "      ");
        fprintf(out, "\n    }%s\n", m + 1 < serving->llms->n ? "," : "");
    }
    fputs("  ]\n}\n", out);
}

static const char *name_of(const struct gsim_serving *serving, uint32_t column) {
    return column == 0 ? "all" : serving->llms->list[column - 1].name;
}

static void write_csv(FILE *out, const struct gsim_serving *serving) {
    fputs("model,device,sharing", out);
    for (int f = 0; f < N_FIELDS; f++)
        fprintf(out, ",%s", fields[f].name);
    fputc('\n', out);
    for (uint32_t i = 0; i <= serving->llms->n; i++) {
        gsim_put_csv_text(out, name_of(serving, i));
        fputc(',', out);
        gsim_put_csv_text(out, serving->device);
        fprintf(out, ",%s", sharing_of(serving));
        for (int f = 0; f < N_FIELDS; f++) {
            fputc(',', out);
            put_value(out, &serving->results[i], &fields[f], false);
        }
        fputc('\n', out);
    }
}

/* One model has one column: that of all would say nothing else. */
static void write_table(FILE *out, const struct gsim_serving *serving) {
    uint32_t n = serving->llms->n, first = n == 1;
    fprintf(out, "%s on one %s, sharing %s\n%-22s", serving->requests->path, serving->device,
            sharing_of(serving), "");
    for (uint32_t i = first; i <= n; i++)
        fprintf(out, " %16.16s", name_of(serving, i));
    fputc('\n', out);
    for (int f = 0; f < N_FIELDS; f++) {
        fprintf(out, "%-22s", fields[f].name);
        for (uint32_t i = first; i <= n; i++)
            if (!fields[f].is_real)
                fprintf(out, " %16lld", (long long)int_of(&serving->results[i], &fields[f]));
            else
                gsim_put_cell(out, 16, 6, real_of(&serving->results[i], &fields[f]));
        fputc('\n', out);
    }
    fprintf(out, "assumed: %s\n", *serving->assumed ? serving->assumed : "nothing");
}

void gsim_serving_write(FILE *out, const struct gsim_serving *serving,
                        enum gsim_output_format format) {
    if (format == GSIM_OUTPUT_JSON)
        write_json(out, serving);
    else if (format == GSIM_OUTPUT_CSV)
        write_csv(out, serving);
    else
        write_table(out, serving);
}

static void put_time_cell(FILE *out, int64_t time_ns) {
    char text[32] = "";
    if (time_ns >= 0)
        (void)gsim_format_seconds(text, time_ns, 9);
    fprintf(out, ",%s", text);
}

void gsim_serving_write_requests(FILE *out, const struct gsim_serving *serving) {
    fputs("request_id,model,arrival_s,prompt_tokens,output_tokens,queue_s,ttft_s,tpot_s,latency_s,"
          "preemptions,swaps,recomputed_tokens\n",
          out);
    for (uint32_t r = 0; r < serving->requests->n; r++) {
        const struct gsim_llm_request *request = &serving->requests->list[r];
        const struct gsim_llm_served *one = &serving->served[r];
        gsim_put_csv_text(out, request->id);
        fputc(',', out);
        gsim_put_csv_text(out, serving->llms->list[request->model].name);
        put_time_cell(out, request->arrival_ns);
        fprintf(out, ",%lld,%lld", (long long)request->prompt, (long long)request->output);
        put_time_cell(out, measure_ns(serving, r, QUEUE));
        put_time_cell(out, measure_ns(serving, r, TTFT));
        put_time_cell(out, measure_ns(serving, r, TPOT));
        put_time_cell(out, measure_ns(serving, r, LATENCY));
        fprintf(out, ",%lld,%lld,%lld\n", (long long)one->preemptions, (long long)one->swaps,
                (long long)one->recomputed);
    }
}
