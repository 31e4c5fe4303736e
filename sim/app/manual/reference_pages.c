/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/manual/reference_pages.h"

void gsim_reference_cell(FILE *out, const char *text) {
    for (const char *p = text; *p; p++)
        fprintf(out, *p == '|' ? "\\%c" : "%c", *p);
}

void gsim_reference_title(FILE *out, const char *title, const char *kind) {
    fprintf(out,
            "# %s\n\n<!-- made by 'gsim list %s --format md' (make docs-reference); do not "
            "edit -->\n\n",
            title, kind);
}
