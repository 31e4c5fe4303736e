/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The language of numbers. A program that calls this one may have chosen a language in which they
 * have a comma (Qt does for all of its programs): JSON and CSV would have commas then, and 2.5 of a
 * grid would be no number. */
#ifndef GSIM_APP_LANGUAGE_H
#define GSIM_APP_LANGUAGE_H

/* Numbers of this thread have a point from here on; NULL where there is no memory for that. */
void *gsim_language_begin(void);
/* Ends that, with what it returned. */
void gsim_language_end(void *language);

#endif
