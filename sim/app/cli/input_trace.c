/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/cli/input_trace.h"

enum gsim_status gsim_input_trace(const struct gsim_cli *cli, const char *path,
                                  struct gsim_trace *out) {
    struct gsim_trace_options options = {.is_lenient = !gsim_option_is_on(cli, GSIM_OPT_STRICT)};
    return gsim_trace_read(path, cli->value[GSIM_OPT_TRACE_FORMAT], &options, cli->arena, out,
                           cli->log);
}
