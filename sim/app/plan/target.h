/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --target: a number of a result, and the side of a value on which it has to be; --price. */
#ifndef GSIM_APP_TARGET_H
#define GSIM_APP_TARGET_H

#include "sim/app/cli/options.h"

/* "wait_p95_s < 1h" */
struct gsim_target {
    const char *field; /* a real field of a result */
    bool is_above; /* the field has to be above the value */
    bool is_time; /* value is seconds */
    double value;
    const char *text; /* in words: "wait_p95_s < 1 h" */
};
/* Without --target it is a usage error. */
enum gsim_status gsim_target_read(struct gsim_cli *cli, struct gsim_target *out);
/* The price of a GPU for an hour (--price); NaN if it is not given. */
enum gsim_status gsim_price_read(struct gsim_cli *cli, double *out);

#endif
