/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim serve: language models on a GPU that serve a trace of requests, by continuous batching. */
#include <string.h>

#include "models/gpu/llm_gpu.h"
#include "sim/study/outfile.h"
#include "sim/app/cli/options.h"
#include "sim/app/cli/output_file.h"
#include "sim/base/text.h"
#include "sim/study/serving.h"
#include "sim/study/serving_timeline.h"
#include "sim/study/timeline.h"
#include "traces/llm_models.h"
#include "traces/llm_requests.h"

#define REQUESTS_CSV_BEGINS "request_id,model,arrival_s,"

struct serving {
    struct gsim_cli *cli;
    struct gsim_profile profile;
    struct gsim_llms llms;
    struct gsim_llm_requests requests;
    struct gsim_llm_run run;
    struct gsim_serving_gaps gaps;
    struct gsim_outfile csv, timeline;
    enum gsim_output_format format;
};

static enum gsim_status check_options(struct serving *s) {
    struct gsim_cli *cli = s->cli;
    const char *format = cli->value[GSIM_OPT_FORMAT];
    int choice = format ? gsim_text_choice(format, "table|csv|json") : GSIM_OUTPUT_TABLE;
    if (choice < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--format: '%s' is not one of table, csv, json", format);
    s->format = (enum gsim_output_format)choice;
    if (!cli->value[GSIM_OPT_MODELS])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "which models serve the requests? gsim serve --models models.ini "
                         "requests.csv ('gsim help serving')");
    return gsim_one_operand(cli, "a file of requests", "gsim serve --models FILE.ini REQUESTS.csv");
}

/* --time-scale: times since the first arrival become this part of themselves, rounded down. */
static enum gsim_status scale(struct serving *s) {
    struct gsim_llm_requests *requests = &s->requests;
    int64_t ppm, first_ns = requests->list[0].arrival_ns;
    enum gsim_status status = gsim_option_ratio(s->cli, GSIM_OPT_TIME_SCALE, &ppm);
    for (uint32_t r = 0; r < requests->n && status == GSIM_OK && ppm > 0; r++) {
        gsim_i128 since_ns = requests->list[r].arrival_ns - first_ns;
        gsim_i128 arrival_ns = first_ns + since_ns * ppm / GSIM_PPM;
        if (arrival_ns >= GSIM_TIME_MAX)
            return gsim_fail(s->cli->log, GSIM_BAD_INPUT, requests->path, requests->list[r].line,
                             "scaled, the request arrives past the end of the clock (146 years)");
        requests->list[r].arrival_ns = (int64_t)arrival_ns;
    }
    return status;
}

static enum gsim_status read_files(struct serving *s) {
    struct gsim_cli *cli = s->cli;
    const char *device = cli->value[GSIM_OPT_DEVICE];
    enum gsim_status status =
        gsim_profile_load(device ? device : "h200", cli->arena, &s->profile, cli->log);
    if (status == GSIM_OK)
        status = gsim_llm_models_read(cli->value[GSIM_OPT_MODELS], cli->repeats[GSIM_OPT_SPEC],
                                      cli->arena, &s->llms, cli->log);
    for (uint32_t m = 0; m < s->llms.n && status == GSIM_OK; m++)
        gsim_llm_fill(&s->llms.list[m], &s->profile);
    if (status == GSIM_OK)
        status =
            gsim_llm_requests_read(cli->operand[0], &s->llms, cli->arena, &s->requests, cli->log);
    if (status == GSIM_OK)
        status = scale(s);
    if (status == GSIM_OK && s->requests.n_empty > 0)
        gsim_warn(cli->log, s->requests.path, 0,
                  "%lld requests without response tokens failed, and are left out",
                  (long long)s->requests.n_empty);
    return status == GSIM_OK ? gsim_llm_gpu_check(&s->llms, &s->requests, &s->profile, cli->log)
                             : status;
}

/* --- files that are written ------------------------------------------------------------------- */

static enum gsim_status open_file(struct gsim_cli *cli, enum gsim_option option,
                                  const char *begins_with, struct gsim_outfile *out) {
    const char *path = cli->value[option];
    if (!path)
        return GSIM_OK;
    enum gsim_status status = gsim_output_file_check_own(cli, path, begins_with);
    return status == GSIM_OK ? gsim_outfile_open(out, path, cli->arena, cli->log) : status;
}

static enum gsim_status open_files(struct serving *s) {
    const char *timeline = s->cli->value[GSIM_OPT_TIMELINE];
    size_t n = timeline ? strlen(timeline) : 0;
    if (n > 3 && strcmp(timeline + n - 3, ".gz") == 0)
        return gsim_fail(s->cli->log, GSIM_USAGE, NULL, 0,
                         "--timeline: gsim serve writes %s without compression: name it .json",
                         timeline);
    enum gsim_status status =
        open_file(s->cli, GSIM_OPT_REQUESTS_CSV, REQUESTS_CSV_BEGINS, &s->csv);
    if (status == GSIM_OK)
        status = open_file(s->cli, GSIM_OPT_TIMELINE, GSIM_TIMELINE_BEGINS, &s->timeline);
    return status;
}

static enum gsim_status close_file(struct serving *s, struct gsim_outfile *file,
                                   enum gsim_status status) {
    if (!file->path)
        return status;
    if (status == GSIM_OK)
        return gsim_outfile_close(file, s->cli->log);
    gsim_outfile_abandon(file);
    return status;
}

/* --- the run ---------------------------------------------------------------------------------- */

static void on_token(void *arg, uint32_t request, int64_t gap_ns) {
    struct serving *s = arg;
    if (s->run.served[request].generated > 1)
        gsim_serving_note(&s->gaps, request, gap_ns);
}

static void on_span(void *arg, const struct gsim_llm_span *span) {
    struct serving *s = arg;
    gsim_serving_timeline_add(s->timeline.file, span);
}

/* Constants of the device with the tag `assumed` by which the times were computed, and keys of the
 * models that have their defaults. */
static const char *assumed_of(const struct serving *s) {
    static const enum gsim_key keys[] = {
        GSIM_KEY_FP32_FLOPS_PER_S, GSIM_KEY_TF32_FLOPS_PER_S, GSIM_KEY_FP16_FLOPS_PER_S,
        GSIM_KEY_INT8_OPS_PER_S,   GSIM_KEY_HBM_BYTES_PER_S,  GSIM_KEY_HBM_BYTES,
        GSIM_KEY_CONTEXT_BYTES,    GSIM_KEY_SWITCH_IDLE_NS,   GSIM_KEY_PCIE_H2D,
        GSIM_KEY_PCIE_H2D_REUSED,  GSIM_KEY_PCIE_D2H};
    struct gsim_arena *arena = s->cli->arena;
    const char *text = "";
    for (const char *const *key = s->llms.assumed; text && *key; key++)
        text = gsim_arena_printf(arena, "%s%s%s", text, *text ? ", " : "", *key);
    for (size_t k = 0; text && k < sizeof keys / sizeof *keys; k++)
        if (s->profile.tag[keys[k]] == GSIM_TAG_ASSUMED)
            text =
                gsim_arena_printf(arena, "%s%s%s", text, *text ? ", " : "", gsim_key_name(keys[k]));
    return text;
}

static enum gsim_status report(struct serving *s) {
    struct gsim_arena *arena = s->cli->arena;
    int64_t *block_bytes = gsim_arena_array(arena, s->llms.n, sizeof *block_bytes);
    struct gsim_serving serving = {.llms = &s->llms,
                                   .requests = &s->requests,
                                   .served = s->run.served,
                                   .sums = s->run.sums,
                                   .gaps = &s->gaps,
                                   .block_bytes = block_bytes,
                                   .device = s->profile.name,
                                   .assumed = assumed_of(s)};
    if (!block_bytes || !serving.assumed)
        return gsim_no_memory(s->cli->log, "measuring requests");
    for (uint32_t m = 0; m < s->llms.n; m++)
        block_bytes[m] = gsim_llm_memory_of(&s->llms.list[m]).block_bytes;
    enum gsim_status status = gsim_serving_measure(&serving, arena, s->cli->log);
    if (status != GSIM_OK)
        return status;
    gsim_serving_write(s->cli->io->out, &serving, s->format);
    if (s->csv.path)
        gsim_serving_write_requests(s->csv.file, &serving);
    return GSIM_OK;
}

static enum gsim_status serve(struct serving *s) {
    s->gaps.arena = s->cli->arena;
    s->run = (struct gsim_llm_run){.llms = &s->llms,
                                   .requests = &s->requests,
                                   .profile = &s->profile,
                                   .listener = {on_token, s},
                                   .span = s->timeline.path ? on_span : NULL,
                                   .arg = s};
    if (s->timeline.path)
        gsim_serving_timeline_begin(s->timeline.file, &s->llms);
    enum gsim_status status = gsim_llm_gpu_serve(&s->run, s->cli->arena, s->cli->log);
    if (s->timeline.path)
        gsim_serving_timeline_end(s->timeline.file);
    return status == GSIM_OK ? report(s) : status;
}

enum gsim_status gsim_command_serve(struct gsim_cli *cli) {
    struct serving s = {.cli = cli};
    enum gsim_status status = check_options(&s);
    if (status == GSIM_OK)
        status = read_files(&s);
    if (status == GSIM_OK)
        status = open_files(&s);
    if (status == GSIM_OK)
        status = serve(&s);
    status = close_file(&s, &s.csv, status);
    return close_file(&s, &s.timeline, status);
}
