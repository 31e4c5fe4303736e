/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured speeds as data: how many iterations per second a model makes on a device, by the number
 * of its GPUs and of the nodes that they are on. Read from a table (traces/rates.h), then immutable
 * and shared by threads.
 *
 * Speeds are kept as 64 bits and a power of two, so that the ratio of two of them, by which work is
 * charged, is exact to 2^-62. Between two rows the speed is linear in the number of GPUs; below the
 * narrowest row it is in proportion to them; beyond the widest row further GPUs add nothing. A row
 * of 0 says that the model cannot run so; between it and the next row it cannot run either.
 *
 * Rows may say which part of the host was beside each GPU. With another part the speed follows the
 * CPUs by the same rule, over the rows that were measured with no more memory; with less memory
 * than any row the model cannot run.
 *
 * Rows may say which model another job on the GPUs trained: they are of a kind of their own, the
 * model beside that one. A model without a row beside another cannot share GPUs with it. */
#ifndef GSIM_API_RATES_H
#define GSIM_API_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/job.h"
#include "gsim/trace.h"
#include "gsim/units.h"

/* digits * 2^exponent, with the top bit of digits set; digits 0: there is no such speed. */
struct gsim_tempo {
    uint64_t digits;
    int exponent;
};

struct gsim_rate_row {
    uint32_t kind, device; /* positions in the lists of the table */
    uint32_t gpus;
    uint32_t nodes; /* 0: on any number of nodes */
    uint32_t line; /* of the file */
    struct gsim_host host; /* beside each GPU; 0: with any */
    struct gsim_tempo tempo; /* iterations per second */
};

struct gsim_rates {
    const char *path;
    const char **device; /* in the order in which the table names them */
    uint32_t n_devices;
    const char **kind; /* the models */
    uint32_t n_kinds;
    /* The kinds from n_kinds on: a model beside another, in the order of both. */
    const struct gsim_rates_pair { uint32_t kind, beside; } * pair;
    uint32_t n_pairs;
    const struct gsim_rate_row *rows; /* by kind, device, nodes, GPUs, CPUs, memory */
    uint32_t n_rows;
    bool has_host_memory; /* some row says which part of a host's memory it was measured with */
    /* by kind * n_devices + device, pairs included: its first row; one more at the end */
    const uint32_t *first;
    /* By name of GSIM_COL_PHASES: those of its jobs, a list by gang (sim/api/phases.h). */
    struct gsim_phases **phases;
    uint32_t n_phases;
};

#define GSIM_NO_KIND UINT32_MAX

/* value * 2^exponent. */
struct gsim_tempo gsim_tempo_of(uint64_t value, int exponent);
/* a / b as Q64.64, rounded down. Saturates. */
gsim_u128 gsim_tempo_ratio_q64(struct gsim_tempo a, struct gsim_tempo b);
/* The time of n iterations in ns, rounded up; -1: past the end of the clock. */
int64_t gsim_tempo_time_ns(struct gsim_tempo tempo, int64_t n);

/* The name by which a table knows a device: that of its file, without folder and ending. NULL: no
 * memory. */
const char *gsim_device_stem(const char *name, struct gsim_arena *arena);
/* The position of a model or a device; GSIM_NO_KIND: the table does not have it. */
uint32_t gsim_rates_kind(const struct gsim_rates *rates, const char *model);
uint32_t gsim_rates_device(const struct gsim_rates *rates, const char *device);
/* The kind of a model beside another; GSIM_NO_KIND: the table has no row of it. */
uint32_t gsim_rates_beside(const struct gsim_rates *rates, uint32_t kind, uint32_t other);
/* The kind of a job; GSIM_NO_KIND: the trace has no table, or the table no row for its model. */
uint32_t gsim_rates_of_job(const struct gsim_trace *trace, uint32_t job);

struct gsim_rated {
    struct gsim_tempo tempo; /* 0: it cannot run so */
    bool is_there; /* the table has rows of the model on the device */
    bool is_beyond; /* all that apply are narrower: further GPUs add nothing */
};

/* A host of which each GPU has as much as any row wants. */
extern const struct gsim_host gsim_host_ample;

/* The speed on that many GPUs of that many nodes, with that part of the host beside each; without a
 * row for the nodes, the rows of the most nodes below apply. */
struct gsim_rated gsim_rates_find(const struct gsim_rates *rates, uint32_t kind, uint32_t device,
                                  uint32_t gpus, uint32_t nodes, struct gsim_host host);
/* The least of the host beside each GPU with which the model is fastest there, by the rows of that
 * many GPUs, or of the next wider ones; 0: its speed does not depend on it. */
struct gsim_host gsim_rates_wants(const struct gsim_rates *rates, uint32_t kind, uint32_t device,
                                  uint32_t gpus, uint32_t nodes);
/* The speed by which the job's work is counted: on its own number of GPUs of the first device of
 * the table on which it can run so, on as few nodes as there is a row for, with an ample host. */
struct gsim_tempo gsim_rates_reference(const struct gsim_rates *rates, uint32_t kind,
                                       uint32_t gpus);
/* GPUs of the widest row of the model on any device. */
uint32_t gsim_rates_widest(const struct gsim_rates *rates, uint32_t kind);

#endif
