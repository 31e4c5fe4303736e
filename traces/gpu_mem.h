/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --gpu-mem FILE.csv: measured GPU memory, joined to the jobs of a trace. A file has a column with
 * the memory (memory.used [MiB] of nvidia-smi, DCGM_FI_DEV_FB_USED, mem_gib, ...), and either
 *   - the job (job_id, JobID, hpc_job, ...): its largest row counts, or
 *   - the node and the time (hostname, timestamp): a sample belongs to the job that ran on that
 *     node then, if there was only one; samples of shared nodes are counted and left out, since
 *     Slurm does not log which GPUs each job had.
 * A job's mem_gib is the largest value of any of its GPUs. Memory that the trace itself gives
 * stays. */
#ifndef GSIM_TRACES_GPU_MEM_H
#define GSIM_TRACES_GPU_MEM_H

#include "traces/build.h"

struct gsim_gpu_mem;

enum gsim_status gsim_gpu_mem_read(struct gsim_builder *builder, const char *path,
                                   struct gsim_gpu_mem **out);
/* To be called before builder->row is added, while only its own cells are filled. measured may be
 * NULL, here and below. */
enum gsim_status gsim_gpu_mem_fill(struct gsim_gpu_mem *measured, struct gsim_builder *builder,
                                   int64_t line);
/* To be called for a row that is left out: a job that it belongs to was on its nodes too, and
 * samples of nodes on which it was itself beside a job belong to neither. */
enum gsim_status gsim_gpu_mem_pass(struct gsim_gpu_mem *measured, struct gsim_builder *builder);
/* To be called when all rows are added: joins samples of nodes to jobs. Warns about samples without
 * a job. */
enum gsim_status gsim_gpu_mem_finish(struct gsim_gpu_mem *measured, struct gsim_builder *builder);
/* "gpu-mem=FILE.csv 9f3c12ab", with a hash of the file; NULL when no job was measured. */
const char *gsim_gpu_mem_name(const struct gsim_gpu_mem *measured);

#endif
