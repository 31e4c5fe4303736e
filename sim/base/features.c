/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/features.h"

#include <string.h>
#include <strings.h>

enum { MOST_DEEP = 32 };

struct reading {
    const char *at;
    const char *features;
    uint32_t choice;
    struct gsim_constraint found;
    int depth;
    bool is_wrong;
};

static const char marks[] = "&|,()[]*";

static bool has_feature(const char *features, const char *name, size_t length) {
    for (const char *at = features; *at; at += strspn(at, ", ")) {
        size_t n = strcspn(at, ", ");
        if (n == length && strncasecmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* "*4" behind a feature or a group. */
static void take_count(struct reading *r) {
    if (*r->at != '*')
        return;
    size_t n = strspn(++r->at, "0123456789");
    r->is_wrong |= n == 0;
    r->found.has_counts = true;
    r->at += n;
}

static bool take_name(struct reading *r) {
    size_t n = strcspn(r->at, marks);
    bool is_there = has_feature(r->features, r->at, n);
    r->is_wrong |= n == 0;
    r->at += n;
    return is_there;
}

static bool take_list(struct reading *r);

/* A name, or a group in parentheses. */
static bool take_plain(struct reading *r) {
    bool meets;
    if (*r->at != '(') {
        meets = take_name(r);
    } else {
        r->at++;
        r->is_wrong |= ++r->depth > MOST_DEEP;
        meets = !r->is_wrong && take_list(r);
        r->depth--;
        r->is_wrong |= *r->at != ')';
        r->at += *r->at == ')';
    }
    take_count(r);
    return meets;
}

/* What stands in brackets: choices, or features with counts, of which a node has one. */
static bool take_brackets(struct reading *r) {
    uint32_t n = 0;
    bool any = false, chosen = false, has_and = false;
    do {
        r->at++;
        bool meets = take_plain(r);
        any |= meets;
        chosen |= meets && n == r->choice;
        n++;
        has_and |= *r->at == '&' || *r->at == ',';
    } while (!r->is_wrong && *r->at && strchr("|&,", *r->at));
    r->is_wrong |= *r->at != ']' || r->found.n_choices > 0; /* one pair of brackets */
    r->at += *r->at == ']';
    if (has_and)
        return any;
    r->found.n_choices = n;
    return r->choice == GSIM_ANY_CHOICE ? any : chosen;
}

static bool take_list(struct reading *r) {
    bool is_group = r->depth > 0;
    bool meets = *r->at == '[' && !is_group ? take_brackets(r) : take_plain(r);
    while (!r->is_wrong && *r->at && strchr("|&,", *r->at)) {
        bool is_or = *r->at++ == '|';
        bool next = *r->at == '[' && !is_group ? take_brackets(r) : take_plain(r);
        meets = is_or ? meets || next : meets && next;
    }
    return meets;
}

bool gsim_constraint_read(const char *text, struct gsim_constraint *out) {
    struct reading r = {.at = text, .features = "", .choice = GSIM_ANY_CHOICE};
    (void)take_list(&r);
    *out = r.found;
    return !r.is_wrong && *r.at == '\0';
}

bool gsim_constraint_meets(const char *text, const char *features, uint32_t choice) {
    struct reading r = {.at = text, .features = features, .choice = choice};
    return take_list(&r);
}
