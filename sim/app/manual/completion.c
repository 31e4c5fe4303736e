/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One table of words serves three shells: bash and zsh get it as `case` statements, fish as one
 * `complete` command for each option. Where the table has no words, shells complete file names. */
#include "sim/app/manual/completion.h"

#include <string.h>

#include "models/hardware/profile.h"
#include "gsim/trace.h"
#include "sim/app/setup/apps.h"
#include "sim/app/results/db_schema.h"
#include "sim/app/figures/figure.h"
#include "sim/app/manual/page.h"
#include "policies/registry.h"
#include "sim/base/embedded.h"
#include "sim/base/text.h"
#include "traces/fit.h"
#include "traces/profiler.h"
#include "traces/read.h"

enum { MAX_NAMES = 256 };

/* A list of words; each is printed with a space before it. */
typedef void words_fn(struct gsim_cli *cli);

/* --- lists ------------------------------------------------------------------------------------ */

static void put(struct gsim_cli *cli, const char *word, const char *end) {
    fprintf(cli->io->out, " %s%s", word, end);
}

static void policies(struct gsim_cli *cli) {
    for (int i = 0; gsim_policies[i]; i++)
        put(cli, gsim_policies[i]->name, "");
}

static void devices(struct gsim_cli *cli) {
    char names[MAX_NAMES][48];
    int n = gsim_profile_names(names, MAX_NAMES);
    for (int i = 0; i < n; i++)
        put(cli, names[i], "");
}

static void apps(struct gsim_cli *cli) {
    char names[MAX_NAMES][48];
    int n = gsim_apps_names(names, MAX_NAMES);
    for (int i = 0; i < n; i++)
        put(cli, names[i], "");
}

static void figures(struct gsim_cli *cli) {
    struct gsim_figure figure;
    for (int at = 0; gsim_figure_at(at, cli->arena, &figure); at++)
        put(cli, figure.name, "");
}

static void formats(struct gsim_cli *cli) {
    for (int i = 0; gsim_trace_formats[i]; i++)
        put(cli, gsim_trace_formats[i]->name, "");
    for (int i = 0; gsim_profilers[i]; i++)
        put(cli, gsim_profilers[i]->name, "");
}

static void fields(struct gsim_cli *cli) {
    static const char *const names[] = {
#define NAME(name, help) #name,
#define GSIM_FIELD_TEXT NAME
#define GSIM_FIELD_INT NAME
#define GSIM_FIELD_REAL NAME
#define GSIM_FIELD_BOOL NAME
#include "gsim/fields.def"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put(cli, names[i], "");
}

static void columns(struct gsim_cli *cli) {
    static const char *const names[GSIM_COL_COUNT] = {
#define GSIM_COLUMN(symbol, name, kind, help) [GSIM_COL_##symbol] = name,
#include "gsim/columns.def"
#undef GSIM_COLUMN
    };
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        put(cli, names[c], "=");
}

/* Prints the words of --set: parameters by their policy, and keys of devices. */
static void keys(struct gsim_cli *cli) {
    for (int i = 0; gsim_policies[i]; i++)
        for (const struct gsim_param_def *def = gsim_policies[i]->params; def && def->type; def++)
            fprintf(cli->io->out, " %s.%s=", gsim_policies[i]->name, def->name);
    for (int k = 0; k < GSIM_KEY_COUNT; k++)
        put(cli, gsim_key_name((enum gsim_key)k), "=");
    put(cli, "reference", "=");
}

static void suites(struct gsim_cli *cli) {
    static const char folder[] = "experiments/validate/";
    const char *last = "";
    size_t n = 0;
    for (const struct gsim_embedded *file = gsim_embedded_files; file->name; file++) {
        if (strncmp(file->name, folder, sizeof folder - 1) != 0)
            continue;
        const char *suite = file->name + sizeof folder - 1;
        if (n == 0 || strncmp(suite, last, n + 1) != 0) {
            last = suite;
            n = strcspn(suite, "/");
            fprintf(cli->io->out, " %.*s", (int)n, suite);
        }
    }
}

static void distributions(struct gsim_cli *cli) {
    for (int kind = 0; kind < GSIM_DIST_COUNT; kind++)
        if (gsim_fit_knows((enum gsim_dist_kind)kind))
            put(cli, gsim_dists[kind].name, "");
}

static void commands(struct gsim_cli *cli) {
    for (const struct gsim_command *c = gsim_commands; c->name; c++)
        put(cli, c->name, "");
}

static void topics(struct gsim_cli *cli) {
    const struct gsim_embedded *page;
    commands(cli);
    for (int n = 0; (page = gsim_page_at(n)) != NULL; n++) {
        char name[64];
        gsim_page_topic(page, name, sizeof name);
        put(cli, name, "");
    }
}

static void words(struct gsim_cli *cli) {
    commands(cli);
    fputs(" help version man completion", cli->io->out);
}

static void shells(struct gsim_cli *cli) {
    fputs(" bash zsh fish", cli->io->out);
}

static void kinds(struct gsim_cli *cli) {
    fputs(" policies devices apps formats figures tables columns results parameters", cli->io->out);
}

/* --- a list for each option ------------------------------------------------------------------- */

/* The words of an option with an argument that names no choices; NULL: the option takes a file, a
 * number, or free text. */
static words_fn *words_of(int option) {
    static words_fn *const lists[GSIM_OPT_COUNT] = {
        [GSIM_OPT_POLICY] = policies, [GSIM_OPT_POLICIES] = policies,
        [GSIM_OPT_DEVICE] = devices,  [GSIM_OPT_SET] = keys,
        [GSIM_OPT_ASSUME] = columns,  [GSIM_OPT_FIGURE] = figures,
        [GSIM_OPT_X] = fields,        [GSIM_OPT_Y] = fields,
        [GSIM_OPT_VALUE] = fields,    [GSIM_OPT_TRACE_FORMAT] = formats,
    };
    return lists[option];
}

/* Whether the argument is a list "a|b|c" of plain words. */
static bool is_choice(const char *argument) {
    return argument && argument[strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789-|")] == '\0';
}

static void put_values(struct gsim_cli *cli, int option) {
    const char *argument = gsim_option_defs[option].argument;
    if (words_of(option)) {
        words_of(option)(cli);
        return;
    }
    fputc(' ', cli->io->out);
    for (const char *p = argument; *p; p++)
        fputc(*p == '|' ? ' ' : *p, cli->io->out);
}

static bool has_values(int option) {
    return words_of(option) || is_choice(gsim_option_defs[option].argument);
}

/* The operands of a command, or of a kind of `gsim list`. */
static const struct {
    const char *command;
    words_fn *words;
} operands[] = {{"list", kinds},        {"import", formats},  {"validate", suites},
                {"fit", distributions}, {"help", topics},     {"completion", shells},
                {"policies", policies}, {"devices", devices}, {"formats", formats},
                {"apps", apps},         {"figures", figures}};
enum { OPERANDS = sizeof operands / sizeof *operands };

/* --- bash and zsh ----------------------------------------------------------------------------- */

static void put_case_of_values(struct gsim_cli *cli) {
    FILE *out = cli->io->out;
    fputs("    case $previous in\n", out);
    for (int o = 0; o < GSIM_OPT_COUNT; o++) {
        if (!has_values(o))
            continue;
        fprintf(out, "    --%s) values=\"", gsim_option_defs[o].name);
        put_values(cli, o);
        fputs("\" ;;\n", out);
    }
    fputs("    esac\n", out);
}

/* Prints the options with values that have no list: shells offer files there, or the user types the
 * value. */
static void put_case_of_free(struct gsim_cli *cli) {
    const char *bar = "    ";
    fputs("    case $previous in\n", cli->io->out);
    for (int o = 0; o < GSIM_OPT_COUNT; o++)
        if (gsim_option_defs[o].argument && !has_values(o)) {
            fprintf(cli->io->out, "%s--%s", bar, gsim_option_defs[o].name);
            bar = "|";
        }
    fputs("|-o|-j) is_free=1 ;;\n    esac\n", cli->io->out);
}

static void put_case_of_options(struct gsim_cli *cli) {
    FILE *out = cli->io->out;
    fputs("    case $command in\n", out);
    for (const struct gsim_command *c = gsim_commands; c->name; c++) {
        fprintf(out, "    %s) options=\"", c->name);
        for (int o = 0; o < GSIM_OPT_COUNT; o++)
            if (gsim_option_defs[o].commands & (unsigned)c->bit)
                fprintf(out, " --%s", gsim_option_defs[o].name);
        fputs("\" ;;\n", out);
    }
    fputs("    esac\n    case $operand in\n", out);
    for (int i = 0; i < OPERANDS; i++) {
        fprintf(out, "    %s) values=\"", operands[i].command);
        operands[i].words(cli);
        fputs("\" ;;\n", out);
    }
    fputs("    esac\n", out);
}

static const char bash_begin[] =
    "# bash completion of gsim; made by 'gsim completion bash'\n"
    "_gsim() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local command=run operand= values= options= is_free= head= i\n"
    "    if [ \"$word\" = = ]; then word=; "
    "elif [ \"$previous\" = = ]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case \" $gsim_words \" in *\" ${COMP_WORDS[i]} \"*)\n"
    "            [ $i -gt 1 ] || command=${COMP_WORDS[i]} ;; esac\n"
    "    done\n"
    "    if [ $COMP_CWORD -gt 1 ]; then operand=$command; fi\n"
    "    if [ $COMP_CWORD -gt 2 ] && [ \"$command\" = list ]; then operand=${COMP_WORDS[2]}; fi\n";
static const char bash_end[] =
    "    if [ -z \"$values\" ]; then\n"
    "        [ -z \"$is_free\" ] || return 0\n"
    "        values=$operands\n"
    "        [ $COMP_CWORD -gt 1 ] || values=$gsim_words\n"
    "        case $word in -*) values=$options ;; esac\n"
    "    elif [ \"$previous\" = --policies ]; then\n"
    "        case $word in *,*) head=${word%,*}, word=${word##*,} ;; esac\n"
    "    fi\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$values\" -- \"$word\")\n"
    "    case ${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac\n"
    "    return 0\n"
    "}\n"
    "complete -o default -F _gsim gsim\n";

static void put_words(struct gsim_cli *cli) {
    fputs("gsim_words=\"", cli->io->out);
    words(cli);
    fputs("\"\n", cli->io->out);
}

/* Prints the tables. Operands come first, since the values of an option take precedence. */
static void put_tables(struct gsim_cli *cli) {
    put_case_of_options(cli);
    fputs("    local operands=$values\n    values=\n", cli->io->out);
    put_case_of_values(cli);
    put_case_of_free(cli);
}

static void put_bash(struct gsim_cli *cli) {
    put_words(cli);
    fputs(bash_begin, cli->io->out);
    put_tables(cli);
    fputs(bash_end, cli->io->out);
}

static const char zsh_begin[] =
    "_gsim() {\n"
    "    local word=$words[CURRENT] previous=$words[CURRENT-1]\n"
    "    local command=run operand= values= options= is_free=\n"
    "    if (( CURRENT > 2 )) && [[ \" $gsim_words \" == *\" $words[2] \"* ]]; then "
    "command=$words[2]; fi\n"
    "    if (( CURRENT > 2 )); then operand=$command; fi\n"
    "    if (( CURRENT > 3 )) && [[ $command == list ]]; then operand=$words[3]; fi\n";
static const char zsh_end[] = "    if [[ -z $values ]]; then\n"
                              "        if [[ -n $is_free ]]; then _files; return; fi\n"
                              "        values=$operands\n"
                              "        if (( CURRENT == 2 )); then values=$gsim_words; fi\n"
                              "        if [[ $word == -* ]]; then values=$options; fi\n"
                              "    elif [[ $previous == --policies ]]; then\n"
                              "        compset -P '*,'\n"
                              "    fi\n"
                              "    if [[ $values == *=* ]]; then compadd -S '' -- ${=values}; "
                              "else compadd -- ${=values}; fi\n"
                              "    if [[ -z $values || $word != -* ]]; then _files; fi\n"
                              "}\n"
                              "_gsim \"$@\"\n";

static void put_zsh(struct gsim_cli *cli) {
    fputs("#compdef gsim\n# zsh completion of gsim; made by 'gsim completion zsh'\n", cli->io->out);
    put_words(cli);
    fputs(zsh_begin, cli->io->out);
    put_tables(cli);
    fputs(zsh_end, cli->io->out);
}

/* --- fish ------------------------------------------------------------------------------------- */

/* Prints a text in single quotes of fish. */
static void put_quoted(FILE *out, const char *text) {
    fputc('\'', out);
    for (const char *p = text; *p; p++)
        fprintf(out, *p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
    fputc('\'', out);
}

/* Prints the commands that have the option; options of `run` hold as well where no command is
 * named. */
static void put_condition(FILE *out, unsigned bits) {
    fputs(" -n '", out);
    if (bits & GSIM_IN_RUN)
        fputs("not __fish_seen_subcommand_from $gsim_others; or ", out);
    fputs("__fish_seen_subcommand_from", out);
    for (const struct gsim_command *c = gsim_commands; c->name; c++)
        if (bits & (unsigned)c->bit)
            fprintf(out, " %s", c->name);
    fputc('\'', out);
}

static void put_fish_option(struct gsim_cli *cli, int option) {
    const struct gsim_option_def *def = &gsim_option_defs[option];
    FILE *out = cli->io->out;
    fputs("complete -c gsim", out);
    put_condition(out, def->commands);
    fprintf(out, " -l %s%s", def->name, def->argument ? " -r" : "");
    if (has_values(option)) {
        fprintf(out, "%s -a '", strstr(def->argument, "FILE") ? "" : " -f");
        put_values(cli, option);
        fputc('\'', out);
    }
    fputs(" -d ", out);
    put_quoted(out, def->help);
    fputc('\n', out);
}

static void put_fish(struct gsim_cli *cli) {
    FILE *out = cli->io->out;
    fputs("# fish completion of gsim; made by 'gsim completion fish'\nset -g gsim_others", out);
    for (const struct gsim_command *c = gsim_commands + 1; c->name; c++)
        put(cli, c->name, "");
    fputc('\n', out);
    for (const struct gsim_command *c = gsim_commands; c->name; c++) {
        fprintf(out, "complete -c gsim -n __fish_use_subcommand -a %s -d ", c->name);
        put_quoted(out, c->summary);
        fputc('\n', out);
    }
    fputs("complete -c gsim -n __fish_use_subcommand -a 'help version man completion'\n", out);
    for (int i = 0; i < OPERANDS; i++) {
        fprintf(out, "complete -c gsim -n '__fish_seen_subcommand_from %s' -a '",
                operands[i].command);
        operands[i].words(cli);
        fputs("'\n", out);
    }
    for (int o = 0; o < GSIM_OPT_COUNT; o++)
        put_fish_option(cli, o);
}

enum gsim_status gsim_completion(struct gsim_cli *cli, const char *shell) {
    static void (*const print[])(struct gsim_cli *) = {put_bash, put_zsh, put_fish};
    int choice = shell ? gsim_text_choice(shell, "bash|zsh|fish") : -1;
    if (choice < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "completion of which shell? gsim completion bash|zsh|fish");
    print[choice](cli);
    return GSIM_OK;
}
