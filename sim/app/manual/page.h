/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages of docs/, which are built into the program, as plain text for a terminal. */
#ifndef GSIM_APP_PAGE_H
#define GSIM_APP_PAGE_H

#include <stdio.h>

#include "gsim/arena.h"
#include "gsim/status.h"

struct gsim_embedded;

/* A topic is the name of a page without its folder and ".md" ("time-slices"); the name with ".md"
 * and the path are understood too. NULL: there is no such page. */
const struct gsim_embedded *gsim_page_find(const char *topic);
/* The n-th page in the order in which topics are listed; NULL past the last one. */
const struct gsim_embedded *gsim_page_at(int n);
/* "time-slices" of docs/models/time-slices.md. */
void gsim_page_topic(const struct gsim_embedded *page, char *topic, size_t size);
void gsim_page_list(FILE *out);

/* Markdown as text: wrapped paragraphs, aligned tables, code as it stands. */
enum gsim_status gsim_page_print(FILE *out, const struct gsim_embedded *page,
                                 struct gsim_arena *arena, struct gsim_log *log);

#endif
