/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/read.h"

#include <string.h>

#include "sim/api/goodput.h"
#include "sim/base/text.h"
#include "traces/input.h"

#define GSIM_TRACE_FORMAT(symbol) extern const struct gsim_trace_format gsim_format_##symbol;
#include "traces/list.def"
#include "traces/format.h"
#undef GSIM_TRACE_FORMAT

const struct gsim_trace_format *const gsim_trace_formats[] = {
#define GSIM_TRACE_FORMAT(symbol) &gsim_format_##symbol,
#include "traces/list.def"
#undef GSIM_TRACE_FORMAT
    NULL};

enum { MAX_FORMATS = 64 };

/* What a name that is none may mean: systems and tools, of which the formats have other names. */
static const char *meant_by(const char *name) {
    static const struct {
        const char *names, *format;
    } known[] = {
        {"slurm|slurmdbd|squeue|scontrol|sreport", "'sacct' reads jobs of Slurm that have ended"},
        {"k8s|kubernetes|kubectl|pods|kueue|kubeflow",
         "'kube' reads pods of Kubernetes, with labels and Workloads of Kueue"},
        {"microsoft", "'philly' reads traces of Microsoft's Philly"},
        {"sensetime", "'helios' reads traces of SenseTime's Helios"},
        {"alibaba", "'pai' and 'openb' read traces of Alibaba's clusters"},
        {"nsight|nsys-rep", "gsim import nsys reads profiles of Nsight Systems"},
        {"pytorch|torch|chrome", "gsim import kineto reads profiles of PyTorch"},
        {"dcgm|prometheus|nvidia-smi|gpu-mem",
         "--gpu-mem FILE reads measured memory beside a trace"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (gsim_text_choice(name, known[i].names) >= 0)
            return known[i].format;
    return NULL;
}

static enum gsim_status find_named(const char *name, const struct gsim_trace_format **out,
                                   struct gsim_log *log) {
    const char *names[MAX_FORMATS];
    int n = 0;
    for (; gsim_trace_formats[n]; n++) {
        names[n] = gsim_trace_formats[n]->name;
        if (strcmp(names[n], name) == 0) {
            *out = gsim_trace_formats[n];
            return GSIM_OK;
        }
    }
    const char *meant = meant_by(name);
    if (meant)
        return gsim_fail(log, GSIM_USAGE, NULL, 0, "no trace format is called '%s'; %s", name,
                         meant);
    int close = gsim_text_suggest(name, names, n);
    return gsim_fail(log, GSIM_USAGE, NULL, 0, "no trace format is called '%s'%s%s%s", name,
                     close >= 0 ? "; did you mean '" : "; 'gsim list formats' shows them",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

static enum gsim_status find_sniffed(struct gsim_input *input, const struct gsim_trace_format **out,
                                     struct gsim_log *log) {
    const char *header;
    int surest = 0;
    enum gsim_status status = gsim_input_peek_line(input, &header, log);
    if (status != GSIM_OK)
        return status;
    for (int i = 0; gsim_trace_formats[i]; i++) {
        int sure = gsim_trace_formats[i]->sniff(header);
        if (sure > surest)
            *out = gsim_trace_formats[i];
        surest = sure > surest ? sure : surest;
    }
    if (surest > 0)
        return GSIM_OK;
    if (!*header)
        return gsim_fail(log, GSIM_BAD_INPUT, gsim_input_path(input), 0,
                         "the file is empty; a trace has a header line and a line a job");
    return gsim_fail(log, GSIM_BAD_INPUT, gsim_input_path(input), 1,
                     "'%.60s' is not the header of a known trace format; a native trace has "
                     "job_id,submit_s,duration_s,gpus ('gsim list formats' shows the others)",
                     header);
}

/* The times of a job with a row in the table of speeds are those of the devices named there. A row
 * without a duration and without the GPU time of an iteration has its times from its
 * application. */
static bool has_measured_times(const struct gsim_trace *trace) {
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (gsim_rates_of_job(trace, job) != GSIM_NO_KIND ||
            gsim_goodput_of_job(trace, job) != GSIM_NO_KIND)
            continue;
        else if (trace->service_ns[job] > 0 || gsim_trace_get(trace, GSIM_COL_GPU_NS, job) >= 0)
            return true;
    return false;
}

enum gsim_status gsim_trace_read(const char *path, const char *format,
                                 const struct gsim_trace_options *options, struct gsim_arena *arena,
                                 struct gsim_trace *out, struct gsim_log *log) {
    struct gsim_input *input = NULL;
    const struct gsim_trace_format *reader = NULL;
    enum gsim_status status =
        options && options->bytes
            ? gsim_input_open_bytes(path, options->bytes, options->n_bytes, arena, &input, log)
            : gsim_input_open(path, arena, &input, log);
    if (status == GSIM_OK)
        status = format ? find_named(format, &reader, log) : find_sniffed(input, &reader, log);
    if (status == GSIM_OK && options && options->table && strcmp(reader->name, "pai") != 0)
        status = gsim_fail(log, GSIM_USAGE, NULL, 0,
                           "the format '%s' has one file, not also %s; cat joins a log's files "
                           "of rows",
                           reader->name, options->table);
    if (status == GSIM_OK)
        status = reader->read(input, options, arena, out, log);
    if (status == GSIM_OK)
        out->has_measured_times = has_measured_times(out);
    gsim_input_close(input);
    return status;
}
