/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program, as a function: `main` only adds streams and signals. */
#ifndef GSIM_APP_CLI_H
#define GSIM_APP_CLI_H

#include "sim/app/cli/streams.h"

/* Runs the program and returns the exit code. */
int gsim_cli(int argc, char **argv, const struct gsim_io *io);

#endif
