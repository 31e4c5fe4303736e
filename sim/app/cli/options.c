/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options: parsing, and the help; both use one table. */
#include "sim/app/cli/options.h"
#include "sim/app/identity/program.h"

#include <string.h>

#include "sim/api/compat.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "traces/profiler.h"
#include "traces/read.h"
#include "traces/distribution.h"
#include "traces/spec_read.h"

const struct gsim_command gsim_commands[] = {
#define GSIM_COMMAND(symbol, name, bit, operands, summary) {name, operands, summary, bit},
#include "sim/app/cli/commands.def"
#undef GSIM_COMMAND
    {0}};

const struct gsim_option_def gsim_option_defs[GSIM_OPT_COUNT] = {
#define GSIM_OPTION(symbol, name, argument, is_repeatable, commands, help)                         \
    [GSIM_OPT_##symbol] = {name, argument, is_repeatable, commands, help},
#include "sim/app/cli/options.def"
#undef GSIM_OPTION
};

/* Whether an option of `run` was given to `sweep`, where it is a key of the grid. */
static bool is_key_of_grid(const struct gsim_command *command, const char *name) {
    bool is_key = false;
    for (int o = 0; o < GSIM_OPT_COUNT; o++)
        is_key |= gsim_option_defs[o].commands & GSIM_IN_GRID &&
                  strcmp(gsim_option_defs[o].name, name) == 0;
    return is_key && command->bit == GSIM_IN_SWEEP;
}

static enum gsim_status unknown(struct gsim_cli *cli, const struct gsim_command *command,
                                const char *name) {
    const char *names[GSIM_OPT_COUNT];
    int n = 0;
    for (int o = 0; o < GSIM_OPT_COUNT; o++)
        if (gsim_option_defs[o].commands & (unsigned)command->bit)
            names[n++] = gsim_option_defs[o].name;
    if (is_key_of_grid(command, name))
        return gsim_fail(
            cli->log, GSIM_USAGE, NULL, 0,
            "%s has no option '--%s': it is a key of the grid, a line '%s = ...' there",
            command->name, name, name);
    int close = gsim_text_suggest(name, names, n);
    if (close >= 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "%s has no option '--%s'; did you mean '--%s'?", command->name, name,
                         names[close]);
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                     "%s has no option '--%s'; 'gsim %s --help' lists its options", command->name,
                     name, command->name);
}

static int find_option(const struct gsim_command *command, const char *name, size_t length) {
    for (int o = 0; o < GSIM_OPT_COUNT; o++)
        if (strlen(gsim_option_defs[o].name) == length &&
            strncmp(gsim_option_defs[o].name, name, length) == 0 &&
            (gsim_option_defs[o].commands & (unsigned)command->bit))
            return o;
    return -1;
}

static enum gsim_status store(struct gsim_cli *cli, int option, const char *value) {
    const struct gsim_option_def *def = &gsim_option_defs[option];
    if (cli->value[option] && !def->is_repeatable && def->argument)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--%s is given twice", def->name);
    if (def->is_repeatable) {
        int n = 0;
        while (cli->repeats[option][n])
            n++;
        if (n == GSIM_MAX_REPEATS)
            return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--%s: at most %d times", def->name,
                             GSIM_MAX_REPEATS);
        cli->repeats[option][n] = value;
    }
    cli->value[option] = value;
    return GSIM_OK;
}

/* --name, --name=value, --name value. *at is the index of the argument; moves over a value. */
static enum gsim_status take_long(struct gsim_cli *cli, const struct gsim_command *command,
                                  int *at) {
    const char *name = cli->argv[*at] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    int option = find_option(command, name, length);
    if (option < 0)
        return unknown(cli, command, gsim_arena_strndup(cli->arena, name, length));
    const struct gsim_option_def *def = &gsim_option_defs[option];
    if (!def->argument && equals)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--%s takes no value", def->name);
    if (!def->argument)
        return store(cli, option, "");
    if (equals)
        return store(cli, option, equals + 1);
    if (*at + 1 >= cli->argc)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--%s needs a value: --%s %s", def->name,
                         def->name, def->argument);
    return store(cli, option, cli->argv[++*at]);
}

/* -o FILE, -j N, -h */
static enum gsim_status take_short(struct gsim_cli *cli, const struct gsim_command *command,
                                   int *at) {
    static const struct {
        char letter;
        enum gsim_option option;
    } letters[] = {{'o', GSIM_OPT_OUTPUT}, {'j', GSIM_OPT_JOBS}, {'h', GSIM_OPT_HELP}};
    const char *text = cli->argv[*at];
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        const struct gsim_option_def *def = &gsim_option_defs[letters[i].option];
        if (text[1] != letters[i].letter || !(def->commands & (unsigned)command->bit))
            continue;
        if (!def->argument)
            return store(cli, (int)letters[i].option, "");
        if (text[2])
            return store(cli, (int)letters[i].option, text + 2);
        if (*at + 1 < cli->argc)
            return store(cli, (int)letters[i].option, cli->argv[++*at]);
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "-%c needs a value: -%c %s", text[1],
                         text[1], def->argument);
    }
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                     "%s has no option '%s'; 'gsim %s --help' lists its options", command->name,
                     text, command->name);
}

enum gsim_status gsim_options_parse(struct gsim_cli *cli, const struct gsim_command *command,
                                    int from) {
    bool are_over = false;
    for (int at = from; at < cli->argc; at++) {
        const char *text = cli->argv[at];
        enum gsim_status status = GSIM_OK;
        if (!are_over && strcmp(text, "--") == 0)
            are_over = true;
        else if (!are_over && strncmp(text, "--", 2) == 0)
            status = take_long(cli, command, &at);
        else if (!are_over && text[0] == '-' && text[1])
            status = take_short(cli, command, &at);
        else if (cli->n_operands < GSIM_MAX_OPERANDS)
            cli->operand[cli->n_operands++] = text;
        else
            status = gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "too many arguments");
        if (status != GSIM_OK)
            return status;
    }
    return GSIM_OK;
}

bool gsim_option_is_on(const struct gsim_cli *cli, enum gsim_option option) {
    return cli->value[option] != NULL;
}

enum gsim_status gsim_option_ratio(struct gsim_cli *cli, enum gsim_option option, int64_t *ppm) {
    const char *text = cli->value[option];
    *ppm = 0;
    if (!text)
        return GSIM_OK;
    if (gsim_parse_ppm(text, ppm) == GSIM_PARSE_OK && *ppm > 0 && *ppm <= 1000 * GSIM_PPM)
        return GSIM_OK;
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                     "--%s: '%s' is not a ratio from 0.000001 to 1000, such as 0.8 or 80%%",
                     gsim_option_defs[option].name, text);
}

enum gsim_status gsim_option_int(struct gsim_cli *cli, enum gsim_option option, int64_t fallback,
                                 int64_t least, int64_t most, int64_t *out) {
    *out = fallback;
    const char *text = cli->value[option];
    if (!text)
        return GSIM_OK;
    if (gsim_parse_int(text, out) == GSIM_PARSE_OK && *out >= least && *out <= most)
        return GSIM_OK;
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                     "--%s: '%s' is not a whole number from %lld to %lld",
                     gsim_option_defs[option].name, text, (long long)least, (long long)most);
}

enum gsim_status gsim_one_operand(struct gsim_cli *cli, const char *what, const char *usage) {
    if (cli->n_operands == 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "which %s? %s", what, usage);
    if (cli->n_operands > 1)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "one %s at a time; '%s' is too many: %s",
                         what, cli->operand[1], usage);
    return GSIM_OK;
}

/* --- help ------------------------------------------------------------------------------------- */

static void print_options(FILE *out, unsigned commands) {
    for (int o = 0; o < GSIM_OPT_COUNT; o++) {
        const struct gsim_option_def *def = &gsim_option_defs[o];
        char name[64];
        if (!(def->commands & commands))
            continue;
        (void)snprintf(name, sizeof name, "--%s%s%s", def->name, def->argument ? " " : "",
                       def->argument ? def->argument : "");
        fprintf(out, "  %-30s %s%s\n", name, def->help, def->is_repeatable ? " (repeatable)" : "");
    }
}

static void print_formats(FILE *out) {
    fputs("\nformats (told from the header where that is certain, so that gsim run reads them too; "
          ".gz and .zst as well):\n",
          out);
    for (int i = 0; gsim_trace_formats[i]; i++)
        fprintf(out, "  %-10s %s\n", gsim_trace_formats[i]->name, gsim_trace_formats[i]->summary);
    for (int i = 0; gsim_profilers[i]; i++)
        fprintf(out, "  %-10s %s\n", gsim_profilers[i]->name, gsim_profilers[i]->summary);
    for (int i = 0; gsim_trace_formats[i]; i++)
        if (gsim_trace_formats[i]->notes)
            fprintf(out, "\n%s: %s", gsim_trace_formats[i]->name, gsim_trace_formats[i]->notes);
    for (int i = 0; gsim_profilers[i]; i++)
        fprintf(out, "\n%s: %s", gsim_profilers[i]->name, gsim_profilers[i]->notes);
}

static void print_keys(FILE *out, enum gsim_spec_place place) {
    for (const struct gsim_spec_key *key = gsim_spec_keys; key->name; key++)
        if (key->place == place && strncmp(key->help, "likewise", 8) != 0 &&
            strcmp(key->name, "value") != 0)
            fprintf(out, "    %-14s %s\n", key->name, key->help);
}

static void print_distribution(FILE *out, const struct gsim_dist_def *def) {
    fprintf(out, "    %-14s ", def->name);
    for (int i = 0; i < GSIM_DIST_PARAMS && def->param[i]; i++)
        fprintf(out, "%s%s", i ? ", " : "", def->param[i]);
    fprintf(out, "%s%s\n", def->param[0] ? ": " : "", def->accepts);
}

/* Prints the language of specs, from the lists that the reader uses. */
static void print_spec_language(FILE *out) {
    fputs("\na spec is an INI file with a section for each quantity of a job (docs/specs.md):\n"
          "  [trace]\n",
          out);
    print_keys(out, GSIM_SPEC_TRACE);
    fputs("  [arrival]\n", out);
    print_keys(out, GSIM_SPEC_ARRIVAL);
    fputs("  [duration] in seconds, [gpus], and [COLUMN] for any optional column of a native "
          "trace, in "
          "its\n  unit ('gsim list formats native'); [KIND/duration] and so on for one kind of "
          "jobs\n  [batch_jobs] jobs of a batch, [batch_gap_s] seconds between two of them; "
          "[session] jobs of a\n  user's session in a closed loop, [break_s] seconds between two "
          "sessions\n",
          out);
    print_keys(out, GSIM_SPEC_ANY);
    fputs("  distributions and their parameters\n", out);
    for (int i = 0; i < GSIM_DIST_COUNT; i++)
        if (i != GSIM_DIST_CHOICE)
            print_distribution(out, &gsim_dists[i]);
}

/* Prints the language of grids: the options that are keys of a grid. */
static void print_grid_language(FILE *out) {
    int width = 2;
    fputs(
        "\na grid is an INI file of keys with a value, a list (a, b) or a range (1..10, "
        "10..100/10) "
        "each\n(docs/sweeps.md). Every combination is a run, but for those for which all keys of a "
        "section\n[skip REASON] hold. Keys are trace, set.[POLICY.]KEY, "
        "assume.COLUMN,\nspec.SECTION.KEY and options "
        "of "
        "gsim run:\n ",
        out);
    for (int o = 0; o < GSIM_OPT_COUNT; o++) {
        const struct gsim_option_def *def = &gsim_option_defs[o];
        if (!(def->commands & GSIM_IN_GRID) || def->is_repeatable)
            continue;
        width += 1 + (int)strlen(def->name);
        if (width > 96) {
            fputs("\n ", out);
            width = 3 + (int)strlen(def->name);
        }
        fprintf(out, " %s", def->name);
    }
    fputc('\n', out);
}

void gsim_print_help(FILE *out, const struct gsim_command *command) {
    if (command) {
        fprintf(out, "gsim %s [options]%s%s\n  %s\n\noptions:\n", command->name,
                *command->operands ? " " : "", command->operands, command->summary);
        print_options(out, (unsigned)command->bit);
        if (command->bit == GSIM_IN_IMPORT)
            print_formats(out);
        if (command->bit == GSIM_IN_GENERATE)
            print_spec_language(out);
        if (command->bit == GSIM_IN_SWEEP)
            print_grid_language(out);
        return;
    }
    fputs("gsim: a trace-driven simulator of how jobs share GPUs\n\n"
          "  gsim --policy srtf trace.csv\n"
          "  gsim compare --policies fifo,srtf,las --nodes 2 --gpus-per-node 8 trace.csv\n\n"
          "commands ('gsim COMMAND --help' lists the options of each):\n",
          out);
    for (const struct gsim_command *c = gsim_commands; c->name; c++)
        fprintf(out, "  %-12s %-26s %s\n", c->name, c->operands, c->summary);
    fputs("  help         [COMMAND|PAGE]             a command's options, or a page of the manual; "
          "'gsim help' lists them\n"
          "  completion   bash|zsh|fish              completions for a shell\n"
          "\nexit codes: 0 done, 1 a run failed, 2 usage, 3 bad input, 4 interrupted\n",
          out);
}

/* --- the man page ----------------------------------------------------------------------------- */

/* A leading dot or quote would be a roff request, and a plain hyphen would be typeset as a soft
 * one. */
static void put_roff(FILE *out, const char *text) {
    for (const char *p = text; *p; p++) {
        if (*p == '-')
            fputs("\\-", out);
        else if (*p == '\\')
            fputs("\\e", out);
        else if (p == text && (*p == '.' || *p == '\''))
            fprintf(out, "\\&%c", *p);
        else
            fputc(*p, out);
    }
}

static void man_options(FILE *out) {
    fputs(".SH OPTIONS\n", out);
    for (int o = 0; o < GSIM_OPT_COUNT; o++) {
        const struct gsim_option_def *def = &gsim_option_defs[o];
        fputs(".TP\n.B ", out);
        put_roff(out, "--");
        put_roff(out, def->name);
        if (def->argument) {
            fputs(" \\fI", out);
            put_roff(out, def->argument);
            fputs("\\fR", out);
        }
        fputc('\n', out);
        put_roff(out, def->help);
        fprintf(out, "%s (", def->is_repeatable ? " Repeatable." : "");
        const char *comma = "";
        for (const struct gsim_command *c = gsim_commands; c->name; c++)
            if (def->commands & (unsigned)c->bit) {
                fprintf(out, "%s%s", comma, c->name);
                comma = ", ";
            }
        fputs(")\n", out);
    }
}

/* The first commands that a user needs; docs/first-hour.md explains each of them. */
static const struct {
    const char *command, *what;
} examples[] = {
    {"gsim import sacct jobs.txt -o trace.csv", "Slurm's accounting as a trace"},
    {"gsim --policy srtf --nodes 2 --gpus-per-node 8 trace.csv", "one policy on it"},
    {"gsim compare --policies fifo,easy-backfill,las --nodes 2 --gpus-per-node 8 trace.csv",
     "several policies on it"},
    {"gsim compare --policies fifo,las --shake 5% --reps 20 trace.csv",
     "two policies on twenty slightly changed copies of it"},
    {"gsim --policy timeslice --gpus-per-node 1 --timeline run.json trace.csv",
     "what happens on each GPU, for ui.perfetto.dev"},
    {"gsim sweep grid.ini -o results.db", "every combination of a grid, on all cores"},
    {"gsim plot results.db --figure jct_cdf -o jct.pdf", "a figure of it"},
    {"gsim help first-hour", "a page of the manual"},
};

static void man_examples(FILE *out) {
    fputs(".SH EXAMPLES\n", out);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        fputs(".TP\n.B ", out);
        put_roff(out, examples[i].command);
        fputc('\n', out);
        put_roff(out, examples[i].what);
        fputc('\n', out);
    }
}

static void man_fields(FILE *out) {
    fputs(".SH RESULT FIELDS\n", out);
#define MAN_FIELD(name, help) fprintf(out, ".TP\n.B %s\n%s\n", #name, help);
#define GSIM_FIELD_TEXT MAN_FIELD
#define GSIM_FIELD_INT MAN_FIELD
#define GSIM_FIELD_REAL MAN_FIELD
#define GSIM_FIELD_BOOL MAN_FIELD
#include "gsim/fields.def"
}

void gsim_print_man(FILE *out) {
    fputs(".\\\" Made by 'gsim man' (make man); do not edit.\n"
          ".TH GSIM 1 \"\" \"gsim " GSIM_VERSION "\" \"User Commands\"\n"
          ".SH NAME\ngsim \\- simulate how jobs share GPUs under a scheduling policy\n"
          ".SH SYNOPSIS\n",
          out);
    for (const struct gsim_command *c = gsim_commands; c->name; c++) {
        fprintf(out, ".B gsim %s\n[options] ", c->name);
        put_roff(out, c->operands);
        fputs("\n.br\n", out);
    }
    fputs(".B gsim help\n[COMMAND|PAGE]\n.br\n.B gsim completion\nbash|zsh|fish\n", out);
    fputs(".SH COMMANDS\n", out);
    for (const struct gsim_command *c = gsim_commands; c->name; c++) {
        fprintf(out, ".TP\n.B %s\n", c->name);
        put_roff(out, c->summary);
        fputc('\n', out);
    }
    man_options(out);
    man_fields(out);
    man_examples(out);
    fputs(".SH EXIT STATUS\n0 done; 1 a run failed; 2 usage; 3 bad input; 4 interrupted, complete "
          "results were kept.\n",
          out);
}
