/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live view as text. */
#ifndef GSIM_APP_LIVE_DRAW_H
#define GSIM_APP_LIVE_DRAW_H

#include <stdio.h>

#include "sim/app/live/face.h"

struct gsim_live_page {
    const char *note;
    const struct gsim_live_face *faces;
    uint32_t n_shown, n; /* faces that are given, and runs that go on */
    int columns, rows; /* of the terminal */
};

/* Draws the view within the terminal's size: a paragraph a run where all runs have room for one,
 * else a line a run. Returns the number of lines; the cursor stands below them. */
int gsim_live_draw(FILE *out, const struct gsim_live_page *page);
/* A run in one sentence, as a log has it. */
void gsim_live_say(FILE *out, const struct gsim_live_face *face);

#endif
