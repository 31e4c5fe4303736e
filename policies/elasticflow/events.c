/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/events.h"

#include <string.h>

/* The first event at or after a time. */
static uint32_t find(const struct elasticflow_events *events, int64_t time) {
    uint32_t low = 0, high = events->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (events->event[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct elasticflow_event *seek(struct elasticflow_events *events, int64_t time) {
    uint32_t at = find(events, time);
    return at < events->n && events->event[at].time == time ? &events->event[at] : NULL;
}

struct elasticflow_event *elasticflow_events_at(struct elasticflow_events *events, int64_t time) {
    uint32_t at = find(events, time);
    if (at < events->n && events->event[at].time == time)
        return &events->event[at];
    if (events->n == events->capacity) {
        uint32_t capacity = 2 * events->capacity + 16;
        struct elasticflow_event *grown = gsim_arena_grow(
            events->arena, events->event, events->n * sizeof *grown, capacity * sizeof *grown);
        if (!grown) {
            events->has_failed = true;
            return NULL;
        }
        events->event = grown;
        events->capacity = capacity;
    }
    struct elasticflow_event *event = &events->event[at];
    memmove(event + 1, event, (events->n - at) * sizeof *event);
    *event = (struct elasticflow_event){.time = time};
    events->n++;
    return event;
}

static void drop(struct elasticflow_events *events, uint32_t at) {
    events->n--;
    memmove(&events->event[at], &events->event[at + 1], (events->n - at) * sizeof *events->event);
}

void elasticflow_events_remove(struct elasticflow_events *events, int64_t time) {
    if (seek(events, time))
        drop(events, find(events, time));
}

void elasticflow_events_add_end(struct elasticflow_events *events, struct elasticflow_job *job,
                                int64_t end) {
    struct elasticflow_event *event = elasticflow_events_at(events, end);
    if (event && job->event_at != end)
        event->n_ends++;
    job->event_at = end;
}

void elasticflow_events_end(struct elasticflow_events *events, struct elasticflow_job *job,
                            int64_t old_end, int64_t end) {
    struct elasticflow_event *event = seek(events, old_end);
    if (old_end == end)
        return;
    if (event && job->event_at == old_end)
        event->n_ends--;
    if (event && event->n_ends == 0 && event->n_starts == 0)
        elasticflow_events_remove(events, old_end);
    elasticflow_events_add_end(events, job, end);
}

int64_t elasticflow_events_next(struct elasticflow_events *events, int64_t now, int64_t slot,
                                void (*merged)(void *arg, int64_t from, int64_t to), void *arg) {
    if (events->n == 0)
        return -1;
    struct elasticflow_event *event = events->event;
    int64_t to = now + slot, next = event[0].time;
    while (next - now <= slot && events->n > 1) {
        merged(arg, event[0].time, to);
        event[0].time = to;
        next = event[1].time;
        if (next - now > slot)
            break;
        merged(arg, next, to);
        event[0].n_starts += event[1].n_starts;
        event[0].n_ends += event[1].n_ends;
        drop(events, 1);
    }
    return event[0].time;
}
