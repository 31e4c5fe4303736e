/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim describe: the facts of traces on which schedulers depend, side by side. */
#include <math.h>
#include <string.h>

#include "sim/app/cli/input_trace.h"
#include "sim/app/cli/options.h"
#include "sim/study/output.h"
#include "sim/app/setup/setup.h"
#include "sim/app/workload/picture.h"
#include "sim/study/facts.h"
#include "sim/base/text.h"
#include "traces/generate.h"
#include "traces/spec.h"
#include "traces/spec_read.h"

enum { MOST_TRACES = 16, FORMAT_TABLE = 0, FORMAT_CSV, FORMAT_JSON };

static enum gsim_status read_trace(struct gsim_cli *cli, const char *path, struct gsim_trace *out) {
    const struct gsim_spec *spec;
    if (!gsim_setup_is_spec(path))
        return gsim_input_trace(cli, path, out);
    enum gsim_status status = gsim_spec_read(path, NULL, cli->arena, &spec, cli->log);
    return status == GSIM_OK ? gsim_trace_generate(spec, spec->seed, 0, cli->arena, out, cli->log)
                             : status;
}

static const char *file_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The part of a path that tells it from the others: its file, or all of it where another trace has
 * a file of that name. */
static const char *short_name(const struct gsim_cli *cli, int trace) {
    const char *path = cli->operand[trace];
    for (int t = 0; t < cli->n_operands; t++)
        if (t != trace && strcmp(file_of(cli->operand[t]), file_of(path)) == 0)
            return path;
    return file_of(path);
}

/* Of a path that is too long for its column the end, which has the file and its folder. */
static const char *fitted(const char *name, size_t width) {
    size_t n = strlen(name);
    return strchr(name, '/') && n > width ? name + (n - width) : name;
}

static void put_number(FILE *out, double value, int width) {
    char text[40] = "-";
    if (isfinite(value))
        (void)snprintf(text, sizeof text, fabs(value) >= 1000 ? "%.0f" : "%.4g", value);
    fprintf(out, " %*s", width, text);
}

static void write_table(const struct gsim_cli *cli, const double *value, FILE *out) {
    fprintf(out, "%-44s", "");
    for (int t = 0; t < cli->n_operands; t++)
        fprintf(out, " %16.16s", fitted(short_name(cli, t), 16));
    fputc('\n', out);
    for (int f = 0; f < GSIM_FACT_COUNT; f++) {
        const struct gsim_fact_def *def = &gsim_fact_defs[f];
        char name[64];
        (void)snprintf(name, sizeof name, "%s%s%s%s", def->name, *def->unit ? " (" : "", def->unit,
                       *def->unit ? ")" : "");
        fprintf(out, "%-44s", name);
        for (int t = 0; t < cli->n_operands; t++)
            put_number(out, value[t * GSIM_FACT_COUNT + f], 16);
        fputc('\n', out);
    }
}

static void write_csv(const struct gsim_cli *cli, const double *value, FILE *out) {
    fputs("trace,fact,unit,value\n", out);
    for (int t = 0; t < cli->n_operands; t++)
        for (int f = 0; f < GSIM_FACT_COUNT; f++) {
            gsim_put_csv_text(out, cli->operand[t]);
            fputc(',', out);
            gsim_put_csv_text(out, gsim_fact_defs[f].name);
            fprintf(out, ",%s,", gsim_fact_defs[f].unit);
            gsim_put_real(out, value[t * GSIM_FACT_COUNT + f], false);
            fputc('\n', out);
        }
}

/* The units of facts that have one; the others are counts and ratios. */
static void write_units(FILE *out) {
    const char *before = "";
    fputs(",\"units\":{", out);
    for (int f = 0; f < GSIM_FACT_COUNT; f++) {
        if (!*gsim_fact_defs[f].unit)
            continue;
        fputs(before, out);
        gsim_put_json_text(out, gsim_fact_defs[f].name);
        fputc(':', out);
        gsim_put_json_text(out, gsim_fact_defs[f].unit);
        before = ",";
    }
    fputc('}', out);
}

static void write_json(const struct gsim_cli *cli, const double *value, FILE *out) {
    for (int t = 0; t < cli->n_operands; t++) {
        fputs(t ? ",\n {\"trace\":" : "[{\"trace\":", out);
        gsim_put_json_text(out, cli->operand[t]);
        for (int f = 0; f < GSIM_FACT_COUNT; f++) {
            fputc(',', out);
            gsim_put_json_text(out, gsim_fact_defs[f].name);
            fputc(':', out);
            gsim_put_real(out, value[t * GSIM_FACT_COUNT + f], true);
        }
        write_units(out);
        fputc('}', out);
    }
    fputs("]\n", out);
}

enum gsim_status gsim_command_describe(struct gsim_cli *cli) {
    double value[MOST_TRACES * GSIM_FACT_COUNT];
    const char *text = cli->value[GSIM_OPT_FORMAT];
    int format = text ? gsim_text_choice(text, "table|csv|json") : FORMAT_TABLE;
    if (format < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--format: '%s' is not one of table, csv, json", text);
    if (cli->n_operands < 1 || cli->n_operands > MOST_TRACES)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "which trace? gsim describe %s, %d at most",
                         "trace.csv [other.csv ...]", MOST_TRACES);
    struct gsim_trace *traces =
        gsim_arena_array(cli->arena, (size_t)cli->n_operands, sizeof *traces);
    const char *names[MOST_TRACES];
    enum gsim_status status = traces ? GSIM_OK : gsim_no_memory(cli->log, "describing a trace");
    for (int t = 0; t < cli->n_operands && status == GSIM_OK; t++) {
        names[t] = short_name(cli, t);
        status = read_trace(cli, cli->operand[t], &traces[t]);
        if (status == GSIM_OK &&
            !gsim_facts_of(&traces[t], cli->arena, &value[t * GSIM_FACT_COUNT]))
            status = gsim_no_memory(cli->log, "describing a trace");
    }
    if (status == GSIM_OK && cli->value[GSIM_OPT_OUTPUT])
        status = gsim_picture_draw(cli, traces, names, cli->n_operands);
    if (status != GSIM_OK)
        return status;
    (format == FORMAT_JSON  ? write_json
     : format == FORMAT_CSV ? write_csv
                            : write_table)(cli, value, cli->io->out);
    return GSIM_OK;
}
