/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of an application profile by phase: buffers that are there in one phase only, and may
 * grow with each time that its calls are made, as a KV cache does by token. A job has the memory of
 * its largest phase. */
#include <string.h>

#include "gsim/units.h"
#include "traces/app_reader.h"

static const int64_t most_bytes = INT64_C(1) << 60;

static enum gsim_status fail(struct gsim_app_reader *r, int64_t line, const char *text,
                             const char *name, const char *phase) {
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, text, name, phase);
}

/* The number of the phase that a buffer is of; n_phases where there is no such phase. */
static uint32_t phase_of(const struct gsim_app_reader *r, uint32_t buffer) {
    uint32_t p = 0;
    while (p < r->n_phases && strcmp(r->phase[p].name, r->lifetime[buffer].phase) != 0)
        p++;
    return p;
}

/* The buffer is as large as it becomes; adds it to the memory of its phase. */
static enum gsim_status grow(struct gsim_app_reader *r, uint32_t b, int64_t *phase_bytes) {
    struct gsim_app_buffer *buffer = &r->buffers[b];
    const struct gsim_app_lifetime *lifetime = &r->lifetime[b];
    uint32_t p = phase_of(r, b);
    int64_t grow_bytes = buffer->grow_bytes;
    if (p == r->n_phases)
        return fail(r, lifetime->line, "buffer '%.64s' is of phase '%.64s', which no row names",
                    buffer->name, lifetime->phase);
    int64_t times = r->phase[p].count - 1;
    if (times > 0 && grow_bytes > (most_bytes - buffer->bytes) / times)
        return fail(r, lifetime->line,
                    "buffer '%.64s' grows past 2^60 bytes while phase '%.64s' lasts", buffer->name,
                    lifetime->phase);
    buffer->bytes += times * grow_bytes;
    buffer->phase = p + 1;
    if (phase_bytes[p] > most_bytes - buffer->bytes)
        return fail(r, lifetime->line, "with buffer '%.64s' phase '%.64s' has more than 2^60 bytes",
                    buffer->name, lifetime->phase);
    phase_bytes[p] += buffer->bytes;
    return GSIM_OK;
}

static enum gsim_status add_largest_phase(struct gsim_app_reader *r, const int64_t *phase_bytes) {
    uint32_t largest = 0;
    for (uint32_t p = 1; p < r->n_phases; p++)
        largest = phase_bytes[p] > phase_bytes[largest] ? p : largest;
    if (r->app->mem_bytes > most_bytes - phase_bytes[largest])
        return fail(r, r->phase[largest].line,
                    "with phase '%.64s' the buffers have more than 2^60 bytes%s",
                    r->phase[largest].name, "");
    r->app->mem_bytes += phase_bytes[largest];
    return GSIM_OK;
}

/* --- touches ---------------------------------------------------------------------------------- */

static bool is_in(const struct gsim_app_reader *r, uint32_t phase, uint32_t call) {
    uint32_t end = phase + 1 < r->n_phases ? r->phase[phase + 1].first : r->app->n_calls;
    return call >= r->phase[phase].first && call < end;
}

/* A launch touches the buffers of its own phase and those that are always there. */
static enum gsim_status check_launch(struct gsim_app_reader *r, uint32_t c) {
    const struct gsim_app_kernel *kernel = &r->kernels[r->calls[c].kernel];
    for (uint32_t t = 0; t < kernel->n_touches; t++) {
        uint32_t b = kernel->touches[t].buffer;
        if (r->lifetime[b].phase && !is_in(r, phase_of(r, b), c))
            return gsim_fail(
                r->log, GSIM_BAD_INPUT, r->path, r->calls[c].line,
                "the row launches '%.64s', which touches buffer '%.64s', and that is there "
                "in phase '%.64s' only",
                kernel->name, r->buffers[b].name, r->lifetime[b].phase);
    }
    return GSIM_OK;
}

enum gsim_status gsim_app_finish_memory(struct gsim_app_reader *r) {
    static const char nowhere[] = "buffer '%.64s' is of phase '%.64s', and the file has no phases";
    int64_t phase_bytes[GSIM_APP_PHASES_MOST] = {0};
    enum gsim_status status = GSIM_OK;
    for (uint32_t b = 0; b < r->app->n_buffers && status == GSIM_OK; b++) {
        if (r->lifetime[b].phase && r->n_phases == 0)
            return fail(r, r->lifetime[b].line, nowhere, r->buffers[b].name, r->lifetime[b].phase);
        if (r->lifetime[b].phase)
            status = grow(r, b, phase_bytes);
    }
    if (status == GSIM_OK && r->n_phases > 0)
        status = add_largest_phase(r, phase_bytes);
    for (uint32_t c = 0; c < r->app->n_calls && r->n_phases > 0 && status == GSIM_OK; c++)
        if (r->calls[c].kind == GSIM_CALL_LAUNCH)
            status = check_launch(r, c);
    return status;
}
