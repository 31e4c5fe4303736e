/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of application profiles, and cells with numbers. */
#include <stdio.h>
#include <string.h>

#include "sim/base/units.h"
#include "traces/app_reader.h"

const char *const gsim_app_columns[N_COLUMNS] = {
    [KIND] = "kind",
    [NAME] = "name",
    [COUNT] = "count",
    [FLOPS] = "flops",
    [BYTES] = "bytes",
    [PRECISION] = "precision",
    [EFFICIENCY] = "efficiency",
    [TIME] = "time_us",
    [DEVICE] = "device",
    [TOUCHES] = "touches",
    [SM_FRACTION] = "sm_fraction",
    [SMS] = "sms",
    [REGISTERS_KIB] = "registers_kib",
    [SHARED] = "shared_kib",
    [BLOCKS] = "blocks",
    [THREADS] = "threads",
    [REGISTERS] = "registers",
    [STREAM] = "stream",
    [HOST] = "host_us",
    [DRAM_BYTES] = "dram_bytes",
    [STORED_BYTES] = "stored_bytes",
    [JOULES] = "joules",
    [CLOCK] = "clock",
    [GROW] = "grow_us",
    [PHASE] = "phase",
    [GROW_BYTES] = "grow_bytes",
    [SMALL_L1] = "small_l1_us",
    [ISSUE] = "issue",
    [TENSOR] = "tensor",
    [PARTED] = "parted_kib",
    [SPREADS] = "spreads",
    [ALIKE] = "alike",
};

enum gsim_status gsim_app_refuse(struct gsim_app_reader *r, enum gsim_app_column column,
                                 const char *form) {
    const char *text = r->cell[column];
    (void)gsim_fail(r->log, GSIM_BAD_INPUT, r->path, r->line, "%s: '%.64s' is not %s",
                    gsim_app_columns[column], text ? text : "", form);
    return GSIM_BAD_INPUT;
}

static bool parse_scaled(const char *text, int64_t scale, int64_t most, int64_t *out) {
    return gsim_parse_decimal(text, strlen(text), scale, out) == GSIM_PARSE_OK && *out >= 0 &&
           *out <= most;
}

/* Reads a number; an empty cell leaves the default. */
enum gsim_status gsim_app_take_number(struct gsim_app_reader *r, enum gsim_app_column column,
                                      int64_t scale, int64_t least, int64_t most, int64_t *out) {
    if (!r->cell[column])
        return GSIM_OK;
    if (parse_scaled(r->cell[column], scale, most, out) && *out >= least)
        return GSIM_OK;
    char form[64];
    (void)snprintf(form, sizeof form, "a number of at most %lld", (long long)(most / scale));
    bool is_too_large = parse_scaled(r->cell[column], scale, INT64_MAX, out) && *out > most;
    const char *from = least > 0 ? "a number above zero" : "a number of zero or more";
    return gsim_app_refuse(r, column, is_too_large ? form : from);
}
