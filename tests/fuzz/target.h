/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One input: what somebody might give to gsim. The first line is a command line, without the program;
 * a line '=== NAME' begins a file of that name. */
#ifndef GSIM_TESTS_FUZZ_TARGET_H
#define GSIM_TESTS_FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes an empty folder, and goes there: an input touches nothing else. */
bool fuzz_begin(void);
/* Runs gsim on it, for a moment at most. NULL: fine; else what is wrong. *code: its exit code, -1 when
 * it was not run. */
const char *fuzz_one(const uint8_t *bytes, size_t n, int *code);
void fuzz_end(void);

#endif
