/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completions for shells, from the lists of commands, options, policies, devices and so on: what
 * `gsim completion bash|zsh|fish` prints and `make install` installs. */
#ifndef GSIM_APP_COMPLETION_H
#define GSIM_APP_COMPLETION_H

#include "sim/app/cli/options.h"

enum gsim_status gsim_completion(struct gsim_cli *cli, const char *shell);

#endif
