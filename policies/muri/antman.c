/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/muri/antman.h"
bool muri_antman(struct muri *muri) { (void)muri; return false; }
void muri_antman_release(struct muri *muri, uint32_t number) { (void)muri; (void)number; }
