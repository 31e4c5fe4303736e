/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of the command from its name, and the report of its errors. */
#include "sim/app/cli/cli.h"

#include <string.h>

#include "sim/app/cli/language.h"
#include "sim/app/cli/options.h"
#include "sim/app/identity/contents.h"
#include "sim/app/identity/program.h"
#include "sim/app/manual/completion.h"
#include "sim/app/manual/page.h"
#include "sim/app/setup/foreign.h"
#include "sim/base/text.h"
#include "sim/study/output.h"

/* In the order of gsim_commands. */
static enum gsim_status (*const runs[])(struct gsim_cli *cli) = {
#define GSIM_COMMAND(symbol, name, bit, operands, summary) gsim_command_##symbol,
#include "sim/app/cli/commands.def"
#undef GSIM_COMMAND
};

static const struct gsim_command *find_command(const char *name) {
    for (const struct gsim_command *command = gsim_commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

static void print_entry(FILE *err, const struct gsim_log_entry *entry) {
    fputs("gsim: ", err);
    gsim_put_plain(err, 0, entry->text);
    fputc('\n', err);
}

static void print_log(const struct gsim_io *io, const struct gsim_log *log, bool is_quiet) {
    for (int64_t i = 0; i < log->n_warnings && i < GSIM_LOG_ENTRIES && !is_quiet; i++)
        print_entry(io->err, &log->warnings[i]);
    if (log->n_warnings > GSIM_LOG_ENTRIES && !is_quiet)
        fprintf(io->err, "gsim: and %lld more warnings\n",
                (long long)(log->n_warnings - GSIM_LOG_ENTRIES));
    for (int64_t i = 0; i < log->n_errors && i < GSIM_LOG_ENTRIES; i++)
        print_entry(io->err, &log->errors[i]);
    if (log->n_errors > GSIM_LOG_ENTRIES)
        fprintf(io->err, "gsim: and %lld more errors\n",
                (long long)(log->n_errors - GSIM_LOG_ENTRIES));
}

/* A topic is a command or a page of docs/. */
static enum gsim_status unknown_topic(struct gsim_cli *cli, const char *topic) {
    enum { MAX_TOPICS = 256, LONGEST_TOPIC = 64 };
    char topics[MAX_TOPICS][LONGEST_TOPIC];
    const char *names[MAX_TOPICS];
    const struct gsim_embedded *page;
    int n = 0, n_pages = 0;
    for (const struct gsim_command *c = gsim_commands; c->name && n < MAX_TOPICS; c++)
        names[n++] = c->name;
    for (; n < MAX_TOPICS && (page = gsim_page_at(n_pages)) != NULL; n_pages++) {
        gsim_page_topic(page, topics[n], LONGEST_TOPIC);
        names[n] = topics[n];
        n++;
    }
    int close = gsim_text_suggest(topic, names, n);
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "no command and no page is called '%s'%s%s%s",
                     topic, close >= 0 ? "; did you mean '" : "; 'gsim help' lists them",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

static bool is_plain_command(const char *word);

/* A command without options is explained by its line in the list of all. */
static enum gsim_status help(struct gsim_cli *cli, const char *topic) {
    topic = topic && is_plain_command(topic) ? NULL : topic;
    const struct gsim_command *command = topic ? find_command(topic) : NULL;
    const struct gsim_embedded *page = topic ? gsim_page_find(topic) : NULL;
    FILE *out = cli->io->out;
    if (topic && !command && !page)
        return unknown_topic(cli, topic);
    if (page && !command)
        return gsim_page_print(out, page, cli->arena, cli->log);
    gsim_print_help(out, command);
    if (page)
        fprintf(out, "\n'gsim help %s.md' shows the page of that name.\n", topic);
    if (!topic) {
        fputs("\npages ('gsim help PAGE' shows one):\n", out);
        gsim_page_list(out);
    }
    return GSIM_OK;
}

static void print_version(FILE *out) {
    char name[64];
    gsim_program_name(name);
    fprintf(out, "gsim %s\n", name);
}

static enum gsim_status run_command(struct gsim_cli *cli, const struct gsim_command *command,
                                    int from) {
    enum gsim_status status = gsim_options_parse(cli, command, from);
    if (status != GSIM_OK)
        return status;
    if (gsim_option_is_on(cli, GSIM_OPT_HELP)) {
        gsim_print_help(cli->io->out, from > 1 ? command : NULL);
        return GSIM_OK;
    }
    if (gsim_option_is_on(cli, GSIM_OPT_VERSION)) {
        print_version(cli->io->out);
        return GSIM_OK;
    }
    return runs[command - gsim_commands](cli);
}

/* Commands that have no options. */
static enum gsim_status say_version(struct gsim_cli *cli, const char *word) {
    (void)word;
    print_version(cli->io->out);
    return GSIM_OK;
}

static enum gsim_status say_man(struct gsim_cli *cli, const char *word) {
    (void)word;
    gsim_print_man(cli->io->out);
    return GSIM_OK;
}

static const struct {
    const char *name;
    enum gsim_status (*say)(struct gsim_cli *cli, const char *word);
} plain_commands[] = {
    {"help", help}, {"version", say_version}, {"man", say_man}, {"completion", gsim_completion}};
enum { PLAIN_COMMANDS = sizeof plain_commands / sizeof *plain_commands };

static bool is_plain_command(const char *word) {
    for (int i = 0; i < PLAIN_COMMANDS; i++)
        if (strcmp(word, plain_commands[i].name) == 0)
            return true;
    return false;
}

/* A word that is no option, no file and close to a command is a typo of it. */
static enum gsim_status check_word(struct gsim_cli *cli, const char *word) {
    const char *names[32];
    int n = 0;
    for (const struct gsim_command *command = gsim_commands; command->name; command++)
        names[n++] = command->name;
    for (int i = 0; i < PLAIN_COMMANDS; i++)
        names[n++] = plain_commands[i].name;
    bool looks_like_file = strchr(word, '.') || strchr(word, '/') || *word == '-';
    if (looks_like_file)
        return GSIM_OK;
    FILE *file = fopen(word, "rb");
    if (file) {
        (void)fclose(file);
        return GSIM_OK;
    }
    int close = gsim_text_suggest(word, names, n);
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "no command and no file is called '%s'%s%s%s",
                     word, close >= 0 ? "; did you mean '" : "; 'gsim --help' shows the commands",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

static enum gsim_status dispatch(struct gsim_cli *cli) {
    if (cli->argc < 2) {
        gsim_print_help(cli->io->err, NULL);
        return GSIM_USAGE;
    }
    const char *word = cli->argv[1];
    const struct gsim_command *command = find_command(word);
    if (command)
        return run_command(cli, command, 2);
    for (int i = 0; i < PLAIN_COMMANDS; i++)
        if (strcmp(word, plain_commands[i].name) == 0)
            return plain_commands[i].say(cli, cli->argc > 2 ? cli->argv[2] : NULL);
    enum gsim_status status = check_word(cli, word);
    return status == GSIM_OK ? run_command(cli, &gsim_commands[0], 1) : status;
}

/* Policies of the program that calls this one are known from the start. */
static enum gsim_status take_policies(struct gsim_cli *cli) {
    const struct gsim_callers_policy *at = cli->io->policies;
    enum gsim_status status = GSIM_OK;
    for (; at && at->policy && status == GSIM_OK; at++)
        status = gsim_foreign_put(cli->foreign, at->policy, at->file, cli->log);
    return status;
}

static int run_program(int argc, char **argv, const struct gsim_io *io) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_cli *cli = arena ? gsim_arena_alloc(arena, sizeof *cli) : NULL;
    struct gsim_log *log = io->log;
    if (arena && !log)
        log = gsim_arena_alloc(arena, sizeof *log);
    if (!cli || !log) {
        fputs("gsim: out of memory\n", io->err);
        gsim_arena_free(arena);
        return GSIM_FAILED;
    }
    /* one by one: the struct is large, zeroed, and mostly never touched */
    cli->io = io;
    cli->arena = arena;
    cli->log = log;
    cli->foreign = gsim_foreign_new();
    cli->argc = argc;
    cli->argv = argv;
    enum gsim_status status = cli->foreign ? take_policies(cli) : gsim_no_memory(log, "starting");
    if (status == GSIM_OK)
        status = dispatch(cli);
    /* Output that could not be written makes the command fail. */
    if ((fflush(io->out) != 0 || ferror(io->out)) && status == GSIM_OK)
        status = gsim_fail(log, GSIM_FAILED, "standard output", 0, "the output cannot be written");
    if (!io->log)
        print_log(io, log, gsim_option_is_on(cli, GSIM_OPT_QUIET));
    gsim_contents_free(cli->contents);
    gsim_foreign_free(cli->foreign);
    gsim_arena_free(arena);
    return (int)status;
}

int gsim_cli(int argc, char **argv, const struct gsim_io *io) {
    void *language = gsim_language_begin();
    int status = run_program(argc, argv, io);
    gsim_language_end(language);
    return status;
}
