/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines with the separator of the fields in texts by users, and so with more fields than the
 * header. Where one column alone may have such texts, all that is too much is its own; where
 * several may, the cells of the other columns say which of them it is. */
#ifndef GSIM_TRACES_FREE_TEXTS_H
#define GSIM_TRACES_FREE_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

enum { GSIM_MOST_FREE_TEXTS = 8 };

/* Whether a text may stand in the column of that name; of a free text, its part up to the first
 * separator. */
typedef bool gsim_text_fits(const char *column, const char *text);

struct gsim_free_texts {
    uint32_t column[GSIM_MOST_FREE_TEXTS], n; /* those that may have separators, in order */
    const char *const *names; /* of all columns */
    uint32_t n_columns;
    gsim_text_fits *fits; /* NULL: any text may stand anywhere */
};

/* Finds out how many of the parts of a line belong to each free text beyond the first one. false:
 * several ways are possible, or none. */
bool gsim_free_texts_place(const struct gsim_free_texts *texts, char *const *part, uint32_t n_parts,
                           uint32_t more[GSIM_MOST_FREE_TEXTS]);

#endif
