/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GSIM_POLICIES_MURI_ANTMAN_H
#define GSIM_POLICIES_MURI_ANTMAN_H

#include "policies/muri/state.h"

bool muri_antman(struct muri *muri);
/* Gives back the GPUs of a job that has ended. */
void muri_antman_release(struct muri *muri, uint32_t number);

#endif
