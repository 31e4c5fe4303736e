/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A driven run beside its simulation: what gsim compare --real shows, as tables and as a figure. */
#ifndef GSIM_APP_REAL_H
#define GSIM_APP_REAL_H

#include "sim/app/compare/lengths.h"
#include "sim/app/results/db_real.h"

/* The parts of a job's JCT, real less simulated, in the order of the columns. */
enum gsim_real_part {
    GSIM_REAL_STARTS,
    GSIM_REAL_DURATIONS,
    GSIM_REAL_SHARING,
    GSIM_REAL_OVERHEAD,
    GSIM_REAL_QUEUEING,
    GSIM_REAL_PARTS
};
extern const char *const gsim_real_part_names[GSIM_REAL_PARTS];

struct gsim_beside {
    double real_s, simulated_s; /* JCT */
    double part_s[GSIM_REAL_PARTS];
};

/* What jobs of one process took in the mean until they computed. */
struct gsim_real_starts {
    double real_s, simulated_s;
    uint32_t n;
    /* by how much of itself a simulated start was off in the mean; 0: none was simulated */
    int64_t off_ppm;
};

/* What processes took in the mean to end, of jobs that told when their work was done. */
struct gsim_real_ends {
    double real_s, simulated_s;
    uint32_t n;
};

/* Copies of jobs' states by the driver, and sums over them: x is a job's memory in GiB, y the time
 * in s. */
enum gsim_real_image_way { GSIM_REAL_OUT, GSIM_REAL_BACK, GSIM_REAL_IMAGE_WAYS };
struct gsim_real_images {
    double x, y, xx, xy;
    double keys_y; /* by the device's keys */
    uint32_t n;
};

struct gsim_real {
    struct gsim_cli *cli;
    struct gsim_setup *setup;
    struct gsim_db_real_found run;
    struct gsim_db_real_job *jobs; /* by job of the trace */
    int64_t *startup_ns; /* by job: from its first start until it computed; -1: not told */
    int64_t
        *ending_ns; /* by job: from the end of its work until its process was gone; -1: not told */
    struct gsim_result asked, started, observed; /* the simulations */
    /* as asked, but processes end at once: what their jobs stall is their starts and stops */
    struct gsim_result endless;
    struct gsim_beside *beside;
    struct gsim_beside mean;
    struct gsim_real_starts starts;
    struct gsim_real_ends ends;
    struct gsim_note *notes; /* the record */
    uint32_t n_notes;
    struct gsim_real_images images[GSIM_REAL_IMAGE_WAYS];
    struct gsim_lengths lengths;
    uint32_t n_beside; /* jobs that both finished */
    bool shares;
    bool knows_starts; /* of some job it is known when it began to compute */
};

/* Reads what the record of the run says of the starts and ends of processes. */
enum gsim_status gsim_real_read_processes(struct gsim_real *r, struct gsim_db *db);
/* Whether a time of the run is another one than that of the simulation: by a tenth and more. */
bool gsim_real_is_notable(double real_s, double simulated_s);
enum gsim_status gsim_real_measure_images(struct gsim_real *r);
/* Prints the ways that took a notable time, with the keys that take it over. */
void gsim_real_print_images(const struct gsim_real *r);
/* The trace with the starts that processes really had, where these are known. NULL: there is no
 * memory. */
struct gsim_trace *gsim_real_started_trace(const struct gsim_real *r);
/* Whether the job came to its end in reality and in the simulations. */
bool gsim_real_finished(const struct gsim_real *r, uint32_t job);
/* Whether a run of this policy has the part. */
bool gsim_real_has(const struct gsim_real *r, enum gsim_real_part part);
/* Draws JCTs and the parts of errors into the file of -o, which has been checked. */
enum gsim_status gsim_real_draw(struct gsim_real *r);

#endif
