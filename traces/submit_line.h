/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job's command line as sacct's SubmitLine has it: `sbatch -p gpu,long --array=0-99%5 run.sh`.
 * Options of the script itself (#SBATCH lines) are not in it. Sources: sbatch(1) and sacct(1) of
 * Slurm 23.11. */
#ifndef GSIM_TRACES_SUBMIT_LINE_H
#define GSIM_TRACES_SUBMIT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gsim_text_part {
    const char *at; /* NULL: it is not there */
    size_t length;
};

struct gsim_submit_line {
    struct gsim_text_part features; /* --constraint */
    struct gsim_text_part partitions; /* --partition */
    struct gsim_text_part dependency;
    struct gsim_text_part name; /* --job-name, else that of the script */
    struct gsim_text_part nodes; /* --nodes */
    /* Whether it asks for GPUs or tasks by node (--gres, --gpus-per-node, --ntasks-per-node). */
    bool is_by_node;
    int64_t array_limit; /* tasks that may run at once; -1: no limit is given */
    bool is_held; /* --begin or --hold: the job waits for a time, or for a person */
};

void gsim_submit_line_read(const char *text, struct gsim_submit_line *out);

#endif
