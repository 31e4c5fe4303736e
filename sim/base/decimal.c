/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers with a point. The thread has the language C for the length of a call: the language of the
 * process is not touched, and other threads do not notice. C libraries have that language ready, so
 * that asking for it takes no memory. */
#define _POSIX_C_SOURCE 200809L /* languages of a thread */
#include "sim/base/decimal.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

struct language {
    locale_t own, before;
};

static struct language language_begin(void) {
    locale_t own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return (struct language){own, uselocale(own)}; /* without one it changes nothing */
}

static void language_end(struct language language) {
    (void)uselocale(language.before);
    if (language.own)
        freelocale(language.own);
}

double gsim_decimal_read(const char *text, char **end) {
    struct language language = language_begin();
    double value = strtod(text, end);
    language_end(language);
    return value;
}

int gsim_decimal_print(char *buffer, size_t size, const char *format, va_list args) {
    struct language language = language_begin();
    int length = vsnprintf(buffer, size, format, args);
    language_end(language);
    return length;
}
