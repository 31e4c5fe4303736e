/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the reference of columns and result fields; the pages of policies and devices are in
 * reference_policies.c and reference_devices.c. */
#include "sim/app/manual/reference.h"

#include <string.h>

#include "gsim/trace.h"
#include "sim/app/manual/reference_pages.h"
#include "sim/base/text.h"

/* The kinds of `gsim list` that have a page, as gsim_text_choice takes them. */
static const char page_kinds[] = "columns|results|devices|parameters|policies";

/* --- columns of a trace ----------------------------------------------------------------------- */

static const struct {
    const char *name, *unit, *help;
} first_columns[] = {
    {"job_id", "text", "unique text"},
    {"submit_s", "seconds", "seconds from the trace's start"},
    {"duration_s", "seconds", "service time alone on its GPUs (or iterations and gpu_ms)"},
    {"gpus", "number", "gang size, default 1; a fraction below 1 asks for a share"},
};
enum { FIRST_COLUMNS = sizeof first_columns / sizeof *first_columns };

static const char own_columns[] =
    "columns of your own, which are passed over; other names are passed over with a warning, and "
    "refused if they nearly equal a name of this list";

struct column {
    const char *name, *unit, *help;
};
#define UNIT_COUNT "number"
#define UNIT_MS "milliseconds"
#define UNIT_SYNC "word"
#define UNIT_NAME "text"
#define UNIT_SHARE "ratio"
#define UNIT_GIB "GiB"
#define UNIT_SECONDS "seconds"
#define UNIT_MILLI "number"
#define UNIT_RATIO "ratio"
#define UNIT_GBPS "GB/s"
#define UNIT_CLASS "word"
#define UNIT_SIGNED "number"
#define UNIT_BOOL "0 or 1"
#define UNIT_JOB "job_id"
static const struct column column_pages[GSIM_COL_COUNT] = {
#define GSIM_COLUMN(symbol, name, kind, help) [GSIM_COL_##symbol] = {name, UNIT_##kind, help},
#include "gsim/columns.def"
#undef GSIM_COLUMN
};

void gsim_reference_list_columns(FILE *out) {
    for (int c = 0; c < FIRST_COLUMNS; c++)
        fprintf(out, "%-18s %s\n", first_columns[c].name, first_columns[c].help);
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        if (c != GSIM_COL_SHARE_PPM)
            fprintf(out, "%-18s %s\n", column_pages[c].name, column_pages[c].help);
    fprintf(out, "%-18s %s\n", "x_...", own_columns);
}

static void print_column(FILE *out, const char *name, const char *unit, const char *help) {
    fprintf(out, "| `%s` | %s | ", name, unit);
    gsim_reference_cell(out, help);
    fputs(" |\n", out);
}

static void print_columns(FILE *out) {
    gsim_reference_title(out, "Columns of a trace", "columns");
    fputs(
        "A native trace is a CSV file with a header. The first four columns are needed, all others "
        "are\noptional: a cell that is empty is unknown, and stays so. Cells are plain numbers in "
        "the unit of\ntheir column; `--assume` takes values with a unit (`mem_gib=16GiB`).\n\n"
        "| column | unit | meaning for the job |\n|---|---|---|\n",
        out);
    for (int c = 0; c < FIRST_COLUMNS; c++)
        print_column(out, first_columns[c].name, first_columns[c].unit, first_columns[c].help);
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        if (c != GSIM_COL_SHARE_PPM)
            print_column(out, column_pages[c].name, column_pages[c].unit, column_pages[c].help);
    print_column(out, "x_...", "", own_columns);
}

/* --- fields of a result ----------------------------------------------------------------------- */

static const struct {
    const char *name, *type, *help;
} field_pages[] = {
#define GSIM_FIELD_TEXT(name, help) {#name, "text", help},
#define GSIM_FIELD_INT(name, help) {#name, "whole number", help},
#define GSIM_FIELD_REAL(name, help) {#name, "number", help},
#define GSIM_FIELD_BOOL(name, help) {#name, "true or false", help},
#include "gsim/fields.def"
};
enum { FIELD_PAGES = sizeof field_pages / sizeof *field_pages };

static const struct {
    const char *name, *type, *help;
} serving_fields[] = {
#define GSIM_SERVING_INT(name, help) {#name, "whole number", help},
#define GSIM_SERVING_REAL(name, help) {#name, "number", help},
#include "sim/study/serving_fields.def"
};
enum { SERVING_FIELDS = sizeof serving_fields / sizeof *serving_fields };

void gsim_reference_list_results(FILE *out) {
    for (int f = 0; f < FIELD_PAGES; f++)
        fprintf(out, "%-22s %s\n", field_pages[f].name, field_pages[f].help);
}

static void print_results(FILE *out) {
    gsim_reference_title(out, "Fields of a result", "results");
    fputs("`--format json` and `--format csv` write these fields in this order, and a database has "
          "them as\ncolumns of its table `run`. An unknown value (a mean of no jobs, latencies "
          "without requests) is\n`null` in JSON and empty in CSV. A name that ends in `_s` is in "
          "seconds.\n\n| field | type | meaning |\n|---|---|---|\n",
          out);
    for (int f = 0; f < FIELD_PAGES; f++)
        print_column(out, field_pages[f].name, field_pages[f].type, field_pages[f].help);
    fputs("\n## Requests to language models\n\n`gsim serve` writes these fields, of all models "
          "together and of each ([serving](../models/serving.md)).\n\n"
          "| field | type | meaning |\n|---|---|---|\n",
          out);
    for (int f = 0; f < SERVING_FIELDS; f++)
        print_column(out, serving_fields[f].name, serving_fields[f].type, serving_fields[f].help);
}

enum gsim_status gsim_reference_print(struct gsim_cli *cli, const char *kind) {
    FILE *out = cli->io->out;
    switch (gsim_text_choice(kind, page_kinds)) {
    case 0:
        print_columns(out);
        return GSIM_OK;
    case 1:
        print_results(out);
        return GSIM_OK;
    case 2:
        return gsim_reference_devices(cli);
    case 3:
        gsim_reference_parameters(out);
        return GSIM_OK;
    case 4:
        gsim_reference_policies(out);
        return GSIM_OK;
    default:
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--format md is of %s, not of '%s'",
                         page_kinds, kind);
    }
}
