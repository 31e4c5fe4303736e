/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arithmetic as text: numbers, + - * /, brackets, and calls by name, with arguments and a place,
 * which the caller evaluates: "1e6 * latency_p99_s - 108", "jct_s(bert)@alone", "copy_us(h2d
 * 4096)". */
#ifndef GSIM_APP_EXPRESSION_H
#define GSIM_APP_EXPRESSION_H

#include "gsim/arena.h"
#include "gsim/status.h"

enum { GSIM_MAX_ARGUMENTS = 12 };

struct gsim_call {
    const char *name;
    const char *argument[GSIM_MAX_ARGUMENTS]; /* separated by spaces */
    int n_arguments;
    const char *place; /* the word behind '@'; NULL: none */
};

struct gsim_expression {
    const char *text;
    const char *file; /* path for messages */
    int64_t line;
    /* Computes the value of a call. */
    enum gsim_status (*value)(void *arg, const struct gsim_call *call, double *out);
    void *arg;
};

/* Computes the value of an expression. A division by zero gives NaN, and so does every operation on
 * NaN. */
enum gsim_status gsim_expression_value(const struct gsim_expression *expression,
                                       struct gsim_arena *arena, double *out, struct gsim_log *log);

#endif
