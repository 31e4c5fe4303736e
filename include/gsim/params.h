/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters as data: a plug-in declares a table; `--set`, help, the man page and the config hash
 * are made from it. Values are kept in base units as integers. */
#ifndef GSIM_PARAMS_H
#define GSIM_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/status.h"

enum gsim_param_type {
    GSIM_PARAM_END = 0, /* ends a table */
    GSIM_PARAM_BOOL, /* on|off (also true|false, yes|no, 1|0) -> 1 or 0 */
    GSIM_PARAM_INT,
    GSIM_PARAM_TIME, /* ns; a bare number is seconds, or refused (is_in_seconds) */
    GSIM_PARAM_BYTES, /* a number without a unit is accepted from GSIM_LEAST_BARE_BYTES on */
    GSIM_PARAM_RATE, /* bytes per second */
    GSIM_PARAM_PPM, /* "5%" or a bare ratio */
    GSIM_PARAM_CHOICE, /* `choices` is "a|b|c"; the value is the position */
    GSIM_PARAM_CHOICE_TIME, /* a name of `choices` (value -1 - position) or a time (value >= 0) */
    GSIM_PARAM_TEXT,
    GSIM_PARAM_FILE, /* a path; the file's content is part of a run's identity */
    GSIM_PARAM_INT_LIST, /* comma separated whole numbers; `list`, value is the count */
};

struct gsim_param_def {
    const char *name; /* without the owner: "quantum" is set as las.quantum= or quantum= */
    enum gsim_param_type type;
    const char *fallback; /* the default, as the user would type it */
    /* where the default is a name: about how long; decides only how a number without a unit is
     * read */
    const char *usual;
    /* base units, inclusive; both 0: the type's limits; max 0 below min: no limit above */
    int64_t min, max;
    const char *choices;
    const char *help; /* one line, no full stop */
};

struct gsim_param_value {
    int64_t value;
    const char *text; /* as given, or the default */
    const int64_t *list;
    bool is_set; /* given by the user */
};

/* The resolved table of one owner ("las", "device", ...). */
struct gsim_params {
    const char *owner;
    const struct gsim_param_def *defs; /* may be NULL: no parameters */
    struct gsim_param_value *values;
    int n;
};

/* The largest value of a parameter with limits. */
int64_t gsim_param_most(const struct gsim_param_def *def);
/* Sets all values to their defaults. GSIM_USAGE: a default is none of the values that the table
 * accepts, or a row lacks something. */
enum gsim_status gsim_params_init(struct gsim_params *params, const char *owner,
                                  const struct gsim_param_def *defs, struct gsim_arena *arena,
                                  struct gsim_log *log);
/* Sets a value; the key comes without its owner. GSIM_USAGE and a message with the accepted values
 * when the text is not accepted. */
enum gsim_status gsim_params_set(struct gsim_params *params, const char *key, const char *text,
                                 struct gsim_arena *arena, struct gsim_log *log);
/* Position in the table, or -1. */
int gsim_params_find(const struct gsim_params *params, const char *key);
/* The name must be in the table; the function asserts it. */
int64_t gsim_param(const struct gsim_params *params, const char *name);
const struct gsim_param_value *gsim_param_full(const struct gsim_params *params, const char *name);

/* Writes a value in the form in which it can be typed. buffer holds at least 40 bytes. */
int gsim_param_format(char *buffer, enum gsim_param_type type, int64_t value);

/* `--set KEY=VALUE` resolution over several owners: KEY is "owner.name", or "name" when exactly one
 * owner knows it. Unknown or ambiguous keys are usage errors with a suggestion. */
enum gsim_status gsim_params_assign(struct gsim_params *const *owners, int n_owners,
                                    const char *key, const char *text, struct gsim_arena *arena,
                                    struct gsim_log *log);

#endif
