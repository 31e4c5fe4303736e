/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes events of a timeline, up to the most that it may have. */
#include "sim/study/timeline_private.h"
#include "sim/base/text.h"

#include <stdarg.h>

void gsim_event_put(struct gsim_run_timeline *t, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text || gzwrite(t->gz, text, (unsigned)n) != n)
        t->cannot_write = true;
}

void gsim_event_text(struct gsim_run_timeline *t, const char *text) {
    char piece[8];
    while (*text) {
        text += gsim_text_json(text, piece);
        gsim_event_put(t, "%s", piece);
    }
}

void gsim_event_us(struct gsim_run_timeline *t, const char *key, int64_t time_ns) {
    gsim_event_put(t, ",\"%s\":%lld.%03d", key, (long long)(time_ns / 1000), (int)(time_ns % 1000));
}

void gsim_event_separate(struct gsim_run_timeline *t) {
    gsim_event_put(t, t->has_written ? ",\n" : "\n");
    t->has_written = true;
}

/* Begins an event, or counts it as left out and returns false. */
bool gsim_event_begin(struct gsim_run_timeline *t) {
    if (t->n_events >= t->options.most) {
        if (t->n_left_out++ == 0)
            t->full_ns = t->now_ns;
        return false;
    }
    gsim_event_separate(t);
    gsim_event_put(t, "{");
    t->n_events++;
    return true;
}

/* Writes a span clipped to the window, up to its name, and leaves the event open; false if no part
 * of the span is in the window. */
bool gsim_event_open_span(struct gsim_run_timeline *t, uint32_t pid, uint32_t tid, int64_t begin_ns,
                          int64_t end_ns) {
    begin_ns = begin_ns > t->options.from_ns ? begin_ns : t->options.from_ns;
    end_ns = end_ns < t->options.to_ns ? end_ns : t->options.to_ns;
    if (end_ns <= begin_ns || !gsim_event_begin(t))
        return false;
    gsim_event_put(t, "\"ph\":\"X\",\"pid\":%u,\"tid\":%u", pid, tid);
    gsim_event_us(t, "ts", begin_ns);
    gsim_event_us(t, "dur", end_ns - begin_ns);
    gsim_event_put(t, ",\"name\":\"");
    return true;
}

/* A span of a job; the text `name` stands before the job's name. */
bool gsim_event_span(struct gsim_run_timeline *t, uint32_t pid, uint32_t tid, int64_t begin_ns,
                     int64_t end_ns, const char *name, uint32_t job, const char *category) {
    if (!gsim_event_open_span(t, pid, tid, begin_ns, end_ns))
        return false;
    gsim_event_put(t, "%s", name);
    gsim_event_text(t, gsim_trace_id(t->occupancy.scene.trace, job));
    gsim_event_put(t, "\",\"cat\":\"%s\"", category);
    return true;
}

void gsim_event_counter(struct gsim_run_timeline *t, const char *name, int64_t at_ns,
                        int64_t value_ppm) {
    if (!gsim_event_begin(t))
        return;
    gsim_event_put(t, "\"ph\":\"C\",\"pid\":%d,\"name\":\"%s\"", GSIM_PID_CLUSTER, name);
    gsim_event_us(t, "ts", at_ns);
    gsim_event_put(t, ",\"args\":{\"value\":%lld", (long long)(value_ppm / GSIM_PPM));
    if (value_ppm % GSIM_PPM)
        gsim_event_put(t, ".%06lld", (long long)(value_ppm % GSIM_PPM));
    gsim_event_put(t, "}}");
}
