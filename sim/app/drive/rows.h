/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the rows of a trace can be run as processes. */
#ifndef GSIM_APP_ROWS_H
#define GSIM_APP_ROWS_H

#include "gsim/trace.h"

/* Refuses rows that no process can be made of: requests of open-loop jobs, and a command of a
 * program that is not there. */
enum gsim_status gsim_rows_check(const struct gsim_trace *trace, struct gsim_log *log);
/* Whether some row has no command. */
bool gsim_rows_need_work(const struct gsim_trace *trace);

#endif
