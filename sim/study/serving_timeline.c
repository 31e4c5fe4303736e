/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/serving_timeline.h"

#include "sim/study/output.h"
#include "sim/study/timeline.h"

/* A model is a process; its number is its place in the file, from 1. */
void gsim_serving_timeline_begin(FILE *out, const struct gsim_llms *llms) {
    fputs(GSIM_TIMELINE_BEGINS "\"ms\",\"traceEvents\":[\n", out);
    for (uint32_t m = 0; m < llms->n; m++) {
        fprintf(out, "%s{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":{\"name\":",
                m > 0 ? ",\n" : "", m + 1);
        gsim_put_json_text(out, llms->list[m].name);
        fputs("}}", out);
    }
}

/* Microseconds, to the nanosecond. */
static void put_span_us(FILE *out, const char *name, int64_t time_ns) {
    fprintf(out, ",\"%s\":%lld.%03lld", name, (long long)(time_ns / GSIM_NS_PER_US),
            (long long)(time_ns % GSIM_NS_PER_US));
}

static const char *span_name(const struct gsim_llm_span *span) {
    if (span->state != GSIM_LLM_IS_AWAKE)
        return span->state == GSIM_LLM_WAKES ? "wakes" : "falls asleep";
    return span->work->emitted == span->work->tokens ? "decode" : "prefill";
}

static const char *category_of(const struct gsim_llm_span *span) {
    if (span->state == GSIM_LLM_IS_AWAKE)
        return "slice";
    return span->state == GSIM_LLM_WAKES ? "copy in" : "copy out";
}

static void put_blocks(FILE *out, const struct gsim_llm_span *span) {
    fprintf(out, ",\n{\"name\":\"blocks\",\"ph\":\"C\",\"pid\":%u", span->model + 1);
    put_span_us(out, "ts", span->begin_ns);
    fprintf(out, ",\"args\":{\"blocks\":%lld}}", (long long)span->blocks);
}

void gsim_serving_timeline_add(FILE *out, const struct gsim_llm_span *span) {
    fprintf(out, ",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%u,\"tid\":1",
            span_name(span), category_of(span), span->model + 1);
    put_span_us(out, "ts", span->begin_ns);
    put_span_us(out, "dur", span->end_ns - span->begin_ns);
    if (span->state == GSIM_LLM_IS_AWAKE)
        fprintf(out, ",\"args\":{\"sequences\":%lld,\"tokens\":%lld,\"generated\":%lld}",
                (long long)span->work->sequences, (long long)span->work->tokens,
                (long long)span->work->emitted);
    fputc('}', out);
    put_blocks(out, span);
}

void gsim_serving_timeline_end(FILE *out) {
    fputs("\n]}\n", out);
}
