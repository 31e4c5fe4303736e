/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* languages of a thread */
#include "sim/app/cli/language.h"

#include <locale.h>
#include <stdlib.h>

struct language {
    locale_t own, before;
};

void *gsim_language_begin(void) {
    struct language *language = malloc(sizeof *language);
    locale_t base = language ? duplocale(uselocale((locale_t)0)) : (locale_t)0;
    locale_t own = base ? newlocale(LC_NUMERIC_MASK, "C", base) : (locale_t)0;
    if (!own) {
        if (base)
            freelocale(base);
        free(language);
        return NULL;
    }
    *language = (struct language){own, uselocale(own)};
    return language;
}

void gsim_language_end(void *language) {
    struct language *it = language;
    if (!it)
        return;
    (void)uselocale(it->before);
    freelocale(it->own);
    free(it);
}
