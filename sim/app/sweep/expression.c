/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sum := product {(+|-) product}; product := factor {(*|/) factor};
 * factor := number | - factor | ( sum ) | name [ ( arguments ) ] [ @ place ] */
#include "sim/app/sweep/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BRACKETS = 32 };

struct expression_reading {
    const struct gsim_expression *expression;
    const char *at;
    struct gsim_arena *arena;
    struct gsim_log *log;
    int depth;
};

static enum gsim_status read_sum(struct expression_reading *r, double *out);
static enum gsim_status read_factor(struct expression_reading *r, double *out);

static char peek(struct expression_reading *r) {
    while (*r->at == ' ')
        r->at++;
    return *r->at;
}

static enum gsim_status bad_expression(struct expression_reading *r, const char *what) {
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->expression->file, r->expression->line,
                     "'%s': %s at '%.20s'", r->expression->text, what, r->at);
}

static bool is_of_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Takes the next characters as a name or an argument; NULL: no memory. */
static const char *take(struct expression_reading *r, size_t length) {
    const char *text = gsim_arena_strndup(r->arena, r->at, length);
    r->at += length;
    return text;
}

static const char *take_name(struct expression_reading *r) {
    size_t length = 0;
    while (is_of_name(r->at[length]))
        length++;
    return take(r, length);
}

static enum gsim_status read_arguments(struct expression_reading *r, struct gsim_call *call) {
    for (r->at++; peek(r) != ')'; call->n_arguments++) {
        size_t length = strcspn(r->at, " ()");
        if (length == 0 || call->n_arguments == GSIM_MAX_ARGUMENTS)
            return bad_expression(r, "arguments are words and end with ')'");
        call->argument[call->n_arguments] = take(r, length);
        if (!call->argument[call->n_arguments])
            return gsim_no_memory(r->log, "reading an expression");
    }
    r->at++;
    return GSIM_OK;
}

static enum gsim_status read_call(struct expression_reading *r, double *out) {
    struct gsim_call call = {.name = take_name(r)};
    enum gsim_status status = GSIM_OK;
    if (*r->at == '(')
        status = read_arguments(r, &call);
    if (status == GSIM_OK && *r->at == '@') {
        r->at++;
        call.place = take_name(r);
    }
    if (status != GSIM_OK)
        return status;
    return call.name ? r->expression->value(r->expression->arg, &call, out)
                     : gsim_no_memory(r->log, "reading an expression");
}

static enum gsim_status read_brackets(struct expression_reading *r, double *out) {
    if (++r->depth > MOST_BRACKETS)
        return bad_expression(r, "too many brackets");
    r->at++;
    enum gsim_status status = read_sum(r, out);
    if (status == GSIM_OK && peek(r) != ')')
        return bad_expression(r, "')' is missing");
    r->at += status == GSIM_OK;
    r->depth--;
    return status;
}

static enum gsim_status read_negative(struct expression_reading *r, double *out) {
    if (++r->depth > MOST_BRACKETS)
        return bad_expression(r, "too many signs");
    r->at++;
    enum gsim_status status = read_factor(r, out);
    *out = -*out;
    r->depth--;
    return status;
}

static enum gsim_status read_factor(struct expression_reading *r, double *out) {
    char c = peek(r);
    if (c == '(')
        return read_brackets(r, out);
    if (c == '-')
        return read_negative(r, out);
    if (!isdigit((unsigned char)c) && c != '.')
        return is_of_name(c) ? read_call(r, out) : bad_expression(r, "neither a number nor a name");
    char *end;
    *out = strtod(r->at, &end);
    if (end == r->at)
        return bad_expression(r, "no number");
    r->at = end;
    return GSIM_OK;
}

static enum gsim_status read_product(struct expression_reading *r, double *out) {
    enum gsim_status status = read_factor(r, out);
    while (status == GSIM_OK && (peek(r) == '*' || peek(r) == '/')) {
        bool divides = *r->at++ == '/';
        double factor = NAN;
        status = read_factor(r, &factor);
        if (divides)
            *out = factor > 0 || factor < 0 ? *out / factor : (double)NAN;
        else
            *out *= factor;
    }
    return status;
}

static enum gsim_status read_sum(struct expression_reading *r, double *out) {
    enum gsim_status status = read_product(r, out);
    while (status == GSIM_OK && (peek(r) == '+' || peek(r) == '-')) {
        bool subtracts = *r->at++ == '-';
        double term = 0;
        status = read_product(r, &term);
        *out += subtracts ? -term : term;
    }
    return status;
}

enum gsim_status gsim_expression_value(const struct gsim_expression *expression,
                                       struct gsim_arena *arena, double *out,
                                       struct gsim_log *log) {
    struct expression_reading r = {
        .expression = expression, .at = expression->text, .arena = arena, .log = log};
    enum gsim_status status = read_sum(&r, out);
    return status == GSIM_OK && peek(&r) ? bad_expression(&r, "the rest means nothing") : status;
}
