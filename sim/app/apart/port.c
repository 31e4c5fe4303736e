/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/apart/port.h"

#include <string.h>

void gsim_port_bytes(struct gsim_port *port, void *bytes, size_t size) {
    if (port->has_failed || size == 0)
        return;
    size_t n = port->arena ? fread(bytes, 1, size, port->file) : fwrite(bytes, 1, size, port->file);
    port->has_failed = n != size;
}

/* Passes a block of memory, or that there is none. */
static void *pass_block(struct gsim_port *port, const void *block, size_t size) {
    bool is_there = block != NULL;
    gsim_port_bytes(port, &is_there, sizeof is_there);
    if (!is_there || port->has_failed)
        return NULL;
    void *own = port->arena ? gsim_arena_alloc(port->arena, size) : (void *)(uintptr_t)block;
    port->has_failed |= !own;
    gsim_port_bytes(port, own, size);
    return own;
}

/* Passes count objects; the type of the pointer stays. */
#define PASS(port, pointer, count)                                                                 \
    ((pointer) = pass_block(port, pointer, (count) * sizeof *(pointer)))

static void pass_text(struct gsim_port *port, const char **text) {
    size_t length = !port->arena && *text ? strlen(*text) : 0;
    gsim_port_bytes(port, &length, sizeof length);
    *text = pass_block(port, *text, length + 1);
}

/* --- parts ------------------------------------------------------------------------------------ */

static void pass_summary(struct gsim_port *port, struct gsim_summary *s) {
    gsim_port_bytes(port, s, sizeof *s);
#define GSIM_FIELD_TEXT(name, help) pass_text(port, &s->name);
#define GSIM_FIELD_INT(name, help)
#define GSIM_FIELD_REAL(name, help)
#define GSIM_FIELD_BOOL(name, help)
#include "gsim/fields.def"
}

static void pass_gpus(struct gsim_port *port, struct gsim_result *result) {
    struct gsim_gpu_result *gpus =
        pass_block(port, result->gpus, (size_t)result->summary.gpus * sizeof *gpus);
    for (int64_t gpu = 0; gpus && gpu < result->summary.gpus; gpu++) {
        const char *device = gpus[gpu].device;
        pass_text(port, &device);
        if (port->arena)
            gpus[gpu].device = device;
    }
    result->gpus = gpus;
}

static void pass_jobs(struct gsim_port *port, struct gsim_job_results *jobs) {
    gsim_port_bytes(port, &jobs->n, sizeof jobs->n);
    PASS(port, jobs->submit_ns, jobs->n);
    PASS(port, jobs->start_ns, jobs->n);
    PASS(port, jobs->end_ns, jobs->n);
    PASS(port, jobs->wait_ns, jobs->n);
    PASS(port, jobs->preemptions, jobs->n);
    PASS(port, jobs->migrations, jobs->n);
    PASS(port, jobs->faults, jobs->n);
    PASS(port, jobs->bytes_in, jobs->n);
    PASS(port, jobs->bytes_out, jobs->n);
    PASS(port, jobs->stall_ns, jobs->n);
    PASS(port, jobs->held_ns, jobs->n);
    PASS(port, jobs->declined, jobs->n);
}

static void pass_requests(struct gsim_port *port, struct gsim_result *result) {
    gsim_port_bytes(port, &result->n_request_logs, sizeof result->n_request_logs);
    size_t n = result->n_request_logs;
    struct gsim_request_log *logs = pass_block(port, result->requests, n * sizeof *logs);
    for (size_t i = 0; logs && i < n && !port->has_failed; i++) {
        struct gsim_request_log log = logs[i];
        PASS(port, log.arrival_ns, (size_t)log.n_served);
        PASS(port, log.latency_ns, (size_t)log.n_served);
        if (port->arena)
            logs[i] = log;
    }
    result->requests = logs;
}

static void pass_samples(struct gsim_port *port, struct gsim_result *result) {
    gsim_port_bytes(port, &result->n_samples, sizeof result->n_samples);
    size_t n = result->n_samples;
    struct gsim_sample *samples = pass_block(port, result->samples, n * sizeof *samples);
    for (size_t i = 0; samples && i < n && !port->has_failed; i++) {
        const char *name = samples[i].name;
        pass_text(port, &name);
        if (port->arena)
            samples[i].name = name;
    }
    result->samples = samples;
}

static void pass_assumed(struct gsim_port *port, struct gsim_result *result) {
    uint32_t n = 0;
    while (!port->arena && result->assumed && result->assumed[n])
        n++;
    gsim_port_bytes(port, &n, sizeof n);
    const char **texts = pass_block(port, result->assumed, (n + 1) * sizeof *texts);
    for (uint32_t i = 0; texts && i < n && !port->has_failed; i++) {
        const char *text = texts[i];
        pass_text(port, &text);
        if (port->arena)
            texts[i] = text;
    }
    result->assumed = texts;
}

void gsim_port_result(struct gsim_port *port, struct gsim_result *result) {
    gsim_port_bytes(port, &result->steps, sizeof result->steps);
    pass_summary(port, &result->summary);
    pass_gpus(port, result);
    pass_jobs(port, &result->jobs);
    pass_requests(port, result);
    pass_samples(port, result);
    pass_assumed(port, result);
}
