/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of application profiles, as its files share it: apps.c has the kernels and the
 * memory, app_calls.c the program that launches them, app_memory.c the memory of its phases,
 * app_cells.c the columns. No other file includes it. */
#ifndef GSIM_TRACES_APP_READER_H
#define GSIM_TRACES_APP_READER_H

#include "sim/api/app.h"
#include "traces/input.h"

enum gsim_app_column {
    KIND = 0,
    NAME,
    COUNT,
    FLOPS,
    BYTES,
    PRECISION,
    EFFICIENCY,
    TIME,
    DEVICE,
    TOUCHES,
    SM_FRACTION,
    SMS,
    REGISTERS_KIB,
    SHARED,
    BLOCKS,
    THREADS,
    REGISTERS,
    STREAM,
    HOST,
    DRAM_BYTES,
    STORED_BYTES,
    JOULES,
    CLOCK,
    GROW,
    PHASE,
    GROW_BYTES,
    SMALL_L1,
    ISSUE,
    TENSOR,
    PARTED,
    SPREADS,
    ALIKE,
    N_COLUMNS
};

/* Far above any program, and low enough that sums over an iteration stay within the clock. */
enum {
    GSIM_APP_ROWS_MOST = 4096,
    GSIM_APP_CALLS_MOST = 1 << 20,
    GSIM_APP_EXTENTS_MOST = 64,
    GSIM_APP_STREAMS_MOST = 1024
};

/* Calls that an iteration makes several times before it goes on. */
struct gsim_app_phase {
    const char *name;
    int64_t line, count;
    uint32_t first; /* call */
};

/* When a buffer is there. */
struct gsim_app_lifetime {
    const char *phase; /* in this phase only; NULL: always */
    int64_t line;
};

struct gsim_app_reader {
    struct gsim_arena *arena;
    struct gsim_log *log;
    const char *path;
    struct gsim_app *app;
    struct gsim_app_kernel *kernels;
    struct gsim_app_buffer *buffers;
    struct gsim_app_lifetime lifetime[GSIM_APP_ROWS_MOST]; /* by buffer */
    const char *touches[GSIM_APP_ROWS_MOST]; /* resolved when all buffers are known */
    struct gsim_app_call *calls;
    int64_t *grow_ns; /* by call: by how much a launch takes longer each time in its phase */
    uint32_t calls_capacity;
    const char *streams[GSIM_APP_STREAMS_MOST];
    const char *events[GSIM_APP_ROWS_MOST];
    bool is_launched[GSIM_APP_ROWS_MOST]; /* kernels */
    struct gsim_app_phase phase[GSIM_APP_PHASES_MOST];
    uint32_t n_phases; /* the last one goes on */
    enum gsim_app_column target[GSIM_MAX_FIELD_COLUMNS];
    const char *cell[N_COLUMNS]; /* of the row; NULL: empty */
    int64_t line;
    bool is_out_of_memory;
};

extern const char *const gsim_app_columns[N_COLUMNS];

/* A cell that is not of this form. */
enum gsim_status gsim_app_refuse(struct gsim_app_reader *r, enum gsim_app_column column,
                                 const char *form);
/* Reads a number times a scale; an empty cell leaves the default. */
enum gsim_status gsim_app_take_number(struct gsim_app_reader *r, enum gsim_app_column column,
                                      int64_t scale, int64_t least, int64_t most, int64_t *out);

/* A row of the kinds launch, wait, record and after. */
enum gsim_status gsim_app_take_call(struct gsim_app_reader *r, enum gsim_app_call_kind kind);
/* A row of the kind phase: the calls that follow, until the next one, are made several times. */
enum gsim_status gsim_app_take_phase(struct gsim_app_reader *r);
/* What only the whole file tells of its memory: how large buffers of phases become, the most memory
 * that there is at one time, and launches that touch buffers which are not there. It
 * comes after gsim_app_finish_calls, which writes out the calls of the last phase. */
enum gsim_status gsim_app_finish_memory(struct gsim_app_reader *r);
/* What only the whole file tells of its program: kernels without a launch, and the like. */
enum gsim_status gsim_app_finish_calls(struct gsim_app_reader *r);

#endif
