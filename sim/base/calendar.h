/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timestamps of logs: "2017-10-09 07:01:55", or with a T between the halves. They have no time
 * zone, so an hour that the clocks skip or repeat is off by an hour. */
#ifndef GSIM_BASE_CALENDAR_H
#define GSIM_BASE_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds since 1970-01-01 on the log's own clock; years 1970 to 2099. */
bool gsim_calendar_parse(const char *text, size_t length, int64_t *seconds);

#endif
