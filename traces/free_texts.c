/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/free_texts.h"

#include <string.h>

/* The most ways that are tried for a line. Forms of the other columns leave a few at most; without
 * them a line of many separators has more ways than are worth trying. */
enum { MOST_TRIES = 4096 };

struct placing {
    const struct gsim_free_texts *texts;
    char *const *part;
    uint32_t more[GSIM_MOST_FREE_TEXTS]; /* the way that is tried */
    uint32_t *found;
    bool has_found, is_open; /* is_open: two ways differ in more than texts that adjoin */
    int n_tries;
};

/* Whether free text k, and the columns behind it up to the next one, may stand where they do when
 * `before` parts too many stand before them, and as many as more[k] in the text. */
static bool fits(const struct placing *p, uint32_t k, uint32_t before) {
    const struct gsim_free_texts *t = p->texts;
    uint32_t own = t->column[k], end = k + 1 < t->n ? t->column[k + 1] : t->n_columns;
    if (!t->fits)
        return true;
    if (!t->fits(t->names[own], p->part[own + before]))
        return false;
    for (uint32_t c = own + 1; c < end; c++)
        if (!t->fits(t->names[c], p->part[c + before + p->more[k]]))
            return false;
    return true;
}

/* Whether the way that is tried puts the columns between free texts where the found one does. */
static bool is_like_found(const struct placing *p) {
    const struct gsim_free_texts *t = p->texts;
    uint32_t own = 0, found = 0;
    for (uint32_t k = 0; k + 1 < t->n; k++) {
        own += p->more[k];
        found += p->found[k];
        if (own != found && t->column[k] + 1 < t->column[k + 1])
            return false;
    }
    return true;
}

static void take(struct placing *p) {
    p->is_open = p->is_open || (p->has_found && !is_like_found(p));
    if (!p->has_found)
        memcpy(p->found, p->more, sizeof p->more);
    p->has_found = true;
}

/* Tries all ways for the free texts from k on, with `left` parts too many. */
static void try_from(struct placing *p, uint32_t k, uint32_t before, uint32_t left) {
    bool is_last = k + 1 == p->texts->n;
    for (uint32_t more = is_last ? left : 0; more <= left && !p->is_open; more++) {
        if (p->n_tries++ == MOST_TRIES) {
            p->is_open = true;
            return;
        }
        p->more[k] = more;
        if (!fits(p, k, before))
            continue;
        if (is_last)
            take(p);
        else
            try_from(p, k + 1, before + more, left - more);
    }
}

bool gsim_free_texts_place(const struct gsim_free_texts *texts, char *const *part, uint32_t n_parts,
                           uint32_t more[GSIM_MOST_FREE_TEXTS]) {
    struct placing p = {.texts = texts, .part = part, .found = more};
    memset(more, 0, sizeof p.more);
    if (texts->n == 1)
        more[0] = n_parts - texts->n_columns;
    else if (texts->n > 1)
        try_from(&p, 0, 0, n_parts - texts->n_columns);
    return texts->n == 1 || (p.has_found && !p.is_open);
}
