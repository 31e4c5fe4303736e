/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Types of GPUs as Slurm names them: gres/gpu:TYPE of a log, Gres=gpu:TYPE of slurm.conf. */
#ifndef GSIM_BASE_GPU_TYPE_H
#define GSIM_BASE_GPU_TYPE_H

#include <stdbool.h>

/* Whether the type at the front of this text (it ends at ':', '=', ',', '(' or with the text) is
 * one of MIG instances, each of which Slurm counts like a GPU: a profile (3g.20gb, 1c.3g.20gb,
 * 1g.5gb+me), as NVIDIA's MIG User Guide names them, alone or behind the GPU's name, which is what
 * AutoDetect=nvml makes of it (a100_3g.20gb, nvidia_a100_3g.20gb; gres.conf(5) of Slurm 23.11). */
bool gsim_gpu_type_is_mig(const char *type);

#endif
