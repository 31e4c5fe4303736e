/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages of docs/, which are built into the program, as plain text for a terminal. */
#ifndef GSIM_APP_PAGE_H
#define GSIM_APP_PAGE_H

#include <stdio.h>

#include "gsim/arena.h"
#include "gsim/status.h"

struct gsim_embedded;

/* The page of a topic. A topic is the name of a page without its folder and ".md" ("time-slices");
 * the name with ".md" and the path are understood too. NULL: there is no such page. */
const struct gsim_embedded *gsim_page_find(const char *topic);
/* The n-th page in the order in which topics are listed; NULL past the last page. */
const struct gsim_embedded *gsim_page_at(int n);
/* Writes the topic of a page: "time-slices" for docs/models/time-slices.md. */
void gsim_page_topic(const struct gsim_embedded *page, char *topic, size_t size);
void gsim_page_list(FILE *out);

/* Prints Markdown as text: wrapped paragraphs, aligned tables, code unchanged. */
enum gsim_status gsim_page_print(FILE *out, const struct gsim_embedded *page,
                                 struct gsim_arena *arena, struct gsim_log *log);

#endif
