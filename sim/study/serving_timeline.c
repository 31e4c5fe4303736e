/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/serving_timeline.h"

#include "sim/study/output.h"
#include "sim/study/timeline.h"

void gsim_serving_timeline_begin(FILE *out, const struct gsim_llms *llms) {
    fputs(GSIM_TIMELINE_BEGINS "\"ms\",\"traceEvents\":[\n", out);
    for (uint32_t m = 0; m < llms->n; m++) {
        fprintf(out,
                "%s{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"args\":{\"name\":",
                m > 0 ? ",\n" : "", m);
        gsim_put_json_text(out, llms->list[m].name);
        fputs("}}", out);
    }
}

/* Microseconds, to the nanosecond. */
static void put_us(FILE *out, const char *name, int64_t time_ns) {
    fprintf(out, ",\"%s\":%lld.%03lld", name, (long long)(time_ns / GSIM_NS_PER_US),
            (long long)(time_ns % GSIM_NS_PER_US));
}

static const char *name_of(const struct gsim_llm_span *span) {
    if (span->state != GSIM_LLM_IS_AWAKE)
        return span->state == GSIM_LLM_WAKES ? "wakes" : "falls asleep";
    return span->work->emitted == span->work->tokens ? "decode" : "prefill";
}

static void put_counter(FILE *out, const char *model, int64_t time_ns, int64_t blocks) {
    fputs(",\n{\"name\":", out);
    gsim_put_json_text(out, model);
    fputs(",\"ph\":\"C\",\"pid\":1", out);
    put_us(out, "ts", time_ns);
    fprintf(out, ",\"args\":{\"blocks\":%lld}}", (long long)blocks);
}

void gsim_serving_timeline_add(FILE *out, const struct gsim_llms *llms,
                               const struct gsim_llm_span *span) {
    fprintf(out, ",\n{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%u", name_of(span),
            span->model);
    put_us(out, "ts", span->begin_ns);
    put_us(out, "dur", span->end_ns - span->begin_ns);
    if (span->state == GSIM_LLM_IS_AWAKE)
        fprintf(out, ",\"args\":{\"sequences\":%lld,\"tokens\":%lld,\"generated\":%lld}",
                (long long)span->work->sequences, (long long)span->work->tokens,
                (long long)span->work->emitted);
    fputc('}', out);
    put_counter(out, llms->list[span->model].name, span->begin_ns, span->blocks);
}

void gsim_serving_timeline_end(FILE *out) {
    fputs("\n]}\n", out);
}
