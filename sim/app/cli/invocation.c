/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/cli/invocation.h"

#include <string.h>

const char *gsim_shell_quote(struct gsim_arena *arena, const char *text) {
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "-_./=,:+%@";
    if (*text && strspn(text, safe) == strlen(text))
        return text;
    char *quoted = gsim_arena_alloc(arena, 4 * strlen(text) + 3), *at = quoted;
    if (!quoted)
        return NULL;
    *at++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            at += sprintf(at, "'\\''");
        else
            *at++ = *text;
    }
    memcpy(at, "'", 2);
    return quoted;
}

static const char *append(struct gsim_arena *arena, const char *line, const char *word) {
    const char *quoted = line ? gsim_shell_quote(arena, word) : NULL;
    return quoted ? gsim_arena_printf(arena, "%s %s", line, quoted) : NULL;
}

const char *gsim_typed_command(const struct gsim_cli *cli, enum gsim_option left_out) {
    const char *line = gsim_shell_quote(cli->arena, cli->argv[0]);
    for (int i = 1; i < cli->argc; i++) {
        bool is_left_out = left_out < GSIM_OPT_COUNT && strncmp(cli->argv[i], "--", 2) == 0 &&
                           strcmp(cli->argv[i] + 2, gsim_option_defs[left_out].name) == 0;
        if (!is_left_out)
            line = append(cli->arena, line, cli->argv[i]);
    }
    return line;
}

/* --- the options of a run --------------------------------------------------------------------- */

enum { MAX_SETTINGS = 2 * GSIM_MAX_REPEATS + GSIM_OPT_COUNT };

struct listing {
    const struct gsim_cli *cli;
    const struct gsim_policy *policy;
    struct gsim_setting setting[MAX_SETTINGS + 1];
    enum gsim_option option[MAX_SETTINGS];
    int n;
    bool is_out_of_memory;
};

static void add(struct listing *l, enum gsim_option option, const char *key, const char *value) {
    l->is_out_of_memory |= !key || !value;
    l->option[l->n] = option;
    l->setting[l->n++] = (struct gsim_setting){key, value};
}

/* The last of several --set of one key counts, as in a run. */
static void add_repeats(struct listing *l, enum gsim_option option) {
    struct gsim_arena *arena = l->cli->arena;
    for (const char *const *text = l->cli->repeats[option]; *text; text++) {
        const char *equals = strchr(*text, '=');
        if (!equals)
            continue;
        const char *key = gsim_arena_strndup(arena, *text, (size_t)(equals - *text));
        if (!key ||
            (option == GSIM_OPT_SET && !gsim_setup_meets(l->cli->foreign, l->policy, key))) {
            l->is_out_of_memory |= !key;
            continue;
        }
        const char *name = gsim_arena_printf(arena, "%s.%s", gsim_option_defs[option].name, key);
        int at = 0;
        while (name && at < l->n && strcmp(l->setting[at].key, name) != 0)
            at++;
        if (at < l->n)
            l->setting[at].value = equals + 1;
        else
            add(l, option, name, equals + 1);
    }
}

static struct listing *list_options(const struct gsim_cli *cli, const struct gsim_setup *setup,
                                    int contender, uint64_t replication) {
    struct listing *l = gsim_arena_alloc(cli->arena, sizeof *l);
    if (!l)
        return NULL;
    l->cli = cli;
    l->policy = setup->contender[contender].policy;
    for (int o = 0; o < GSIM_OPT_COUNT; o++) {
        const struct gsim_option_def *def = &gsim_option_defs[o];
        /* replication 0 is the default */
        bool is_first = o == GSIM_OPT_REPLICATION && replication == 0;
        if (!(def->commands & GSIM_IN_GRID) || o == GSIM_OPT_REPS || is_first)
            continue;
        if (o == GSIM_OPT_POLICY)
            add(l, GSIM_OPT_POLICY, def->name, setup->contender[contender].typed);
        else if (o == GSIM_OPT_REPLICATION)
            add(l, GSIM_OPT_REPLICATION, def->name,
                gsim_arena_printf(cli->arena, "%llu", (unsigned long long)replication));
        else if (def->is_repeatable)
            add_repeats(l, (enum gsim_option)o);
        else if (cli->value[o])
            add(l, (enum gsim_option)o, def->name, def->argument ? cli->value[o] : "on");
    }
    return l->is_out_of_memory ? NULL : l;
}

const char *gsim_run_command(const struct gsim_cli *cli, const struct gsim_setup *setup,
                             int contender, uint64_t replication) {
    const struct listing *l = list_options(cli, setup, contender, replication);
    const char *line = l ? "gsim run" : NULL;
    for (int i = 0; line && i < l->n; i++) {
        const struct gsim_option_def *def = &gsim_option_defs[l->option[i]];
        const char *value = l->setting[i].value;
        if (def->is_repeatable) /* the key without "set." or "assume." */
            value = gsim_arena_printf(cli->arena, "%s=%s",
                                      l->setting[i].key + strlen(def->name) + 1, value);
        line = gsim_arena_printf(cli->arena, "%s --%s", line, def->name);
        if (def->argument)
            line = value ? append(cli->arena, line, value) : NULL;
    }
    return append(cli->arena, line, setup->trace_path);
}

const struct gsim_setting *gsim_run_settings(const struct gsim_cli *cli,
                                             const struct gsim_setup *setup, int contender,
                                             uint64_t replication) {
    struct listing *l = list_options(cli, setup, contender, replication);
    if (!l || l->n == MAX_SETTINGS)
        return NULL;
    add(l, GSIM_OPT_COUNT, "trace", setup->trace_path);
    l->setting[l->n] = (struct gsim_setting){0};
    return l->setting;
}
