/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers with a point, read from text and written into it. A program that embeds gsim may have a
 * language in which numbers have commas; strtod and printf of the C library go by that. No other
 * file of the library reads or writes a real number by these (tests/rules/doubles.sh). */
#ifndef GSIM_BASE_DECIMAL_H
#define GSIM_BASE_DECIMAL_H

#include <stdarg.h>
#include <stddef.h>

/* strtod, in the language C. */
double gsim_decimal_read(const char *text, char **end);
/* vsnprintf, in the language C. */
__attribute__((format(printf, 3, 0))) int gsim_decimal_print(char *buffer, size_t size,
                                                             const char *format, va_list args);

#endif
