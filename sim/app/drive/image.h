/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state that a job's processes have on GPUs goes to host memory and comes back, by the driver's
 * checkpoint calls (NVIDIA driver 570 and newer). The calls take seconds, so a process beside
 * `drive` makes them; the job's processes stand still in the meantime, and until they come back. */
#ifndef GSIM_APP_IMAGE_H
#define GSIM_APP_IMAGE_H

#include "sim/app/drive/gpus.h"
#include "sim/app/drive/guard.h"

enum gsim_image_way {
    GSIM_IMAGE_TAKE, /* off the GPUs */
    GSIM_IMAGE_BRING_BACK /* onto the GPUs that it came from, or onto others */
};

/* The state that was taken from a GPU, and the GPU that it comes onto: CUcheckpointGpuPair. */
struct gsim_image_pair {
    struct gsim_gpu_uuid from, to;
};

struct gsim_image_order {
    enum gsim_image_way way;
    pid_t group; /* the group of the job's processes */
    int64_t lock_ms; /* kernels that are launched run to their end first, for so long at most */
    bool is_dry; /* there is no GPU, and processes stand still only */
    const struct gsim_image_pair *pairs; /* a permutation of all GPUs of the machine; NULL: the
                                          * state goes back to where it came from */
    uint32_t n_pairs;
};

enum { GSIM_IMAGE_WORDS = 80 /* bytes of the reason of a failure, at most */ };

/* A transfer under way; pid 0: none. */
struct gsim_image {
    pid_t pid;
    int end_fd; /* readable once it has ended; -1: the kernel has none */
    int words_fd; /* why it failed */
};

/* Why no image can be taken on this machine; NULL: images can be taken. */
const char *gsim_image_refusal(void);
/* Why an image cannot come onto a GPU that it was not taken from; NULL: it can. */
const char *gsim_image_move_refusal(void);
/* Begins a transfer. The pairs are needed until the call returns. */
enum gsim_status gsim_image_begin(struct gsim_image *image, const struct gsim_image_order *order,
                                  const struct gsim_guard *guard, struct gsim_log *log);
/* Whether the transfer has ended, and *is_fine: as it should; else the words say which call of the
 * driver failed, if one did. */
bool gsim_image_ended(struct gsim_image *image, bool *is_fine, char words[GSIM_IMAGE_WORDS]);
/* Ends a transfer of a job that has been given up. */
void gsim_image_abandon(struct gsim_image *image);

#endif
