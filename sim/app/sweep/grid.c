/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a grid and enumerates its runs, trace by trace and policy by policy. A key that a policy
 * does not know multiplies no runs: a grid of ten policies with a parameter each is no product of
 * ten parameters. */
#include "sim/app/sweep/grid.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/setup/setup.h"
#include "sim/base/text.h"
#include "sim/base/units.h"

enum { MAX_KEYS = 128, MAX_VALUES = 1 << 20, MAX_RUNS = 10000000 };

/* The list of one key in a section [skip NAME]. */
struct skip {
    const char *section;
    int key;
    bool *is_named; /* by position in the key's values */
};

struct reading {
    struct gsim_grid *grid;
    struct gsim_foreign *foreign;
    struct gsim_arena *arena;
    struct gsim_log *log;
    const struct gsim_policy **policy; /* by position in the policy key's values */
    int policy_key;
    bool *is_spec; /* by position in the trace key's values */
    bool *meets; /* by policy and key */
    struct skip *skips;
    int n_skips;
};

__attribute__((format(printf, 3, 4))) static enum gsim_status
bad(const struct reading *r, int64_t line, const char *format, ...) {
    char text[GSIM_LOG_TEXT];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->grid->path, line, "%s", text);
}

/* --- keys ------------------------------------------------------------------------------------- */

static const char *const dotted[] = {"set.", "assume.", "spec."};
static const enum gsim_option dotted_option[] = {GSIM_OPT_SET, GSIM_OPT_ASSUME, GSIM_OPT_SPEC};

static enum gsim_status unknown_key(const struct reading *r, const struct gsim_ini_entry *entry) {
    const char *names[GSIM_OPT_COUNT + 1] = {"trace"};
    int n = 1;
    for (int o = 0; o < GSIM_OPT_COUNT; o++)
        if (gsim_option_defs[o].commands & GSIM_IN_GRID && o != GSIM_OPT_SET &&
            o != GSIM_OPT_ASSUME && o != GSIM_OPT_SPEC) /* which are no keys without their part */
            names[n++] = gsim_option_defs[o].name;
    int close = gsim_text_suggest(entry->key, names, n);
    return bad(r, entry->line, "no key of a grid is called '%s'%s%s%s", entry->key,
               close >= 0 ? "; did you mean '"
                          : "; there are trace, the long options of a run, set.KEY, "
                            "assume.COLUMN and spec.SECTION.KEY",
               close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

/* Finds the option of a key; *option is -1 for the trace. false if the key is no option. */
static bool find_option(const char *name, int *option, const char **part) {
    *part = NULL;
    *option = -1;
    if (strcmp(name, "trace") == 0)
        return true;
    for (size_t i = 0; i < sizeof dotted / sizeof *dotted; i++)
        if (strncmp(name, dotted[i], strlen(dotted[i])) == 0 && name[strlen(dotted[i])]) {
            *option = (int)dotted_option[i];
            *part = name + strlen(dotted[i]);
            return true;
        }
    for (int o = 0; o < GSIM_OPT_COUNT; o++)
        if (gsim_option_defs[o].commands & GSIM_IN_GRID && !gsim_option_defs[o].is_repeatable &&
            strcmp(gsim_option_defs[o].name, name) == 0) {
            *option = o;
            return true;
        }
    return false;
}

int gsim_grid_find(const struct gsim_grid *grid, const char *name) {
    for (int k = 0; k < grid->n_keys; k++)
        if (strcmp(grid->key[k].name, name) == 0)
            return k;
    return -1;
}

/* --- values ----------------------------------------------------------------------------------- */

static enum gsim_status add_value(const struct reading *r, struct gsim_grid_key *key,
                                  const char *text, size_t length) {
    if (key->n >= MAX_VALUES)
        return bad(r, key->line, "more than %d values", MAX_VALUES);
    if (key->n == 0 || (key->n >= 8 && (key->n & (key->n - 1)) == 0)) {
        uint32_t room = key->n ? 2 * key->n : 8;
        const char **grown =
            gsim_arena_grow(r->arena, key->value, key->n * sizeof *grown, room * sizeof *grown);
        if (!grown)
            return gsim_no_memory(r->log, "reading a grid");
        key->value = grown;
    }
    char *value = gsim_arena_strndup(r->arena, text, length);
    key->value[key->n++] = value;
    return value ? GSIM_OK : gsim_no_memory(r->log, "reading a grid");
}

/* Adds the whole numbers of FROM..TO or FROM..TO/STEP. */
static enum gsim_status add_range(const struct reading *r, struct gsim_grid_key *key,
                                  const char *text) {
    char *end, number[32];
    long long from = strtoll(text, &end, 10);
    long long to = strtoll(end + 2, &end, 10), step = 1;
    if (*end == '/')
        step = strtoll(end + 1, &end, 10);
    if (*end || step < 1 || to < from || (to - from) / step >= MAX_VALUES)
        return bad(r, key->line,
                   "'%s' is not a range; 1..10 counts to ten, 10..100/10 in tens, upwards", text);
    enum gsim_status status = GSIM_OK;
    for (long long n = from; n <= to && status == GSIM_OK; n += step) {
        int length = snprintf(number, sizeof number, "%lld", n);
        status = add_value(r, key, number, (size_t)length);
    }
    return status;
}

/* Whether a value is a range: digits, two dots, a digit, which no other value looks like. */
static bool is_range(const char *text) {
    size_t n = strspn(text, "0123456789");
    return n > 0 && n < 18 && text[n] == '.' && text[n + 1] == '.' &&
           isdigit((unsigned char)text[n + 2]) && strlen(text + n) < 40;
}

static enum gsim_status add_item(const struct reading *r, struct gsim_grid_key *key,
                                 const char *from, size_t length) {
    while (length && isspace((unsigned char)*from))
        from++, length--;
    while (length && isspace((unsigned char)from[length - 1]))
        length--;
    if (length == 0)
        return bad(r, key->line, "'%s': a value is empty", key->name);
    if (*from == '"') {
        if (length < 2 || from[length - 1] != '"')
            return bad(r, key->line, "'%s': a quote is not closed", key->name);
        return add_value(r, key, from + 1, length - 2);
    }
    const char *text = gsim_arena_strndup(r->arena, from, length);
    if (!text)
        return gsim_no_memory(r->log, "reading a grid");
    return is_range(text) ? add_range(r, key, text) : add_value(r, key, text, length);
}

static enum gsim_status add_list(const struct reading *r, struct gsim_grid_key *key,
                                 const char *text) {
    for (;;) {
        size_t length = 0;
        for (bool is_quoted = false; text[length] && (is_quoted || text[length] != ','); length++)
            is_quoted ^= text[length] == '"';
        enum gsim_status status = add_item(r, key, text, length);
        if (status != GSIM_OK || !text[length])
            return status;
        text += length + 1;
    }
}

/* Spreads reps = N, which is short for replication = 0..N-1. */
static enum gsim_status spread_reps(const struct reading *r, struct gsim_grid_key *key) {
    int64_t reps;
    if (gsim_grid_find(r->grid, "replication") >= 0)
        return bad(r, key->line, "reps = N is short for replication = 0..N-1; give one of them");
    if (key->n != 1 || gsim_parse_int(key->value[0], &reps) != GSIM_PARSE_OK || reps < 1 ||
        reps > MAX_VALUES)
        return bad(r, key->line, "reps: one whole number from 1 to %d", MAX_VALUES);
    *key = (struct gsim_grid_key){
        .name = "replication", .option = GSIM_OPT_REPLICATION, .line = key->line};
    char last[32];
    (void)snprintf(last, sizeof last, "0..%lld", (long long)(reps - 1));
    return add_range(r, key, last);
}

static enum gsim_status read_key(const struct reading *r, const struct gsim_ini_entry *entry) {
    struct gsim_grid *grid = r->grid;
    int at = gsim_grid_find(grid, entry->key);
    if (at < 0) {
        at = grid->n_keys;
        struct gsim_grid_key *key = &grid->key[at];
        *key = (struct gsim_grid_key){.name = entry->key, .line = entry->line};
        if (!find_option(entry->key, &key->option, &key->part))
            return unknown_key(r, entry);
        if (++grid->n_keys == MAX_KEYS)
            return bad(r, entry->line, "more than %d keys", MAX_KEYS - 1);
    }
    return add_list(r, &grid->key[at], entry->value);
}

/* --- order of keys, and the keys of each run -------------------------------------------------- */

static bool fills_gaps(const struct gsim_grid_key *key) {
    return key->option == GSIM_OPT_ASSUME || key->option == GSIM_OPT_BY_MODEL ||
           key->option == GSIM_OPT_GPU_MEM || key->option == GSIM_OPT_RATES ||
           key->option == GSIM_OPT_GOODPUT || key->option == GSIM_OPT_LOG_FROM;
}

/* Whether the key says how replications of a trace file differ from it. */
static bool is_of_file(const struct gsim_grid_key *key) {
    return key->option == GSIM_OPT_SHAKE || key->option == GSIM_OPT_RESAMPLE ||
           key->option == GSIM_OPT_BLOCK || key->option == GSIM_OPT_NEAR;
}

/* Whether a trace file can have replications. */
static bool changes_file(const struct gsim_grid *grid) {
    return gsim_grid_find(grid, "shake") >= 0 || gsim_grid_find(grid, "resample") >= 0;
}

static bool is_of_cluster(const struct gsim_grid_key *key) {
    return key->option == GSIM_OPT_NODES || key->option == GSIM_OPT_GPUS_PER_NODE ||
           key->option == GSIM_OPT_CLUSTER || key->option == GSIM_OPT_SLURM_CONF;
}

/* Under a load, jobs arrive faster on a larger cluster. */
static bool changes_trace(const struct gsim_grid *grid, const struct gsim_grid_key *key) {
    switch (key->option) {
    case -1:
    case GSIM_OPT_TRACE_FORMAT:
    case GSIM_OPT_SEED:
    case GSIM_OPT_SHAKE:
    case GSIM_OPT_RESAMPLE:
    case GSIM_OPT_BLOCK:
    case GSIM_OPT_NEAR:
    case GSIM_OPT_REPLICATION:
    case GSIM_OPT_SPEC:
    case GSIM_OPT_TIME_SCALE:
    case GSIM_OPT_LOAD:
        return true;
    default:
        return fills_gaps(key) || (is_of_cluster(key) && gsim_grid_find(grid, "load") >= 0);
    }
}

static int rank(const struct gsim_grid *grid, const struct gsim_grid_key *key) {
    if (key->option == -1)
        return 0;
    return changes_trace(grid, key) ? 1 : key->option == GSIM_OPT_POLICY ? 2 : 3;
}

static void order_keys(struct gsim_grid *grid) {
    for (int i = 1; i < grid->n_keys; i++)
        for (int k = i; k > 0 && rank(grid, &grid->key[k]) < rank(grid, &grid->key[k - 1]); k--) {
            struct gsim_grid_key swapped = grid->key[k];
            grid->key[k] = grid->key[k - 1];
            grid->key[k - 1] = swapped;
        }
}

static enum gsim_status find_policies(struct reading *r) {
    const struct gsim_grid_key *key = &r->grid->key[r->policy_key];
    r->policy = gsim_arena_array(r->arena, key->n, sizeof *r->policy);
    struct gsim_log *scratch = gsim_arena_alloc(r->arena, sizeof *scratch);
    if (!r->policy || !scratch)
        return gsim_no_memory(r->log, "reading a grid");
    for (uint32_t i = 0; i < key->n; i++) {
        r->policy[i] = gsim_foreign_find(r->foreign, key->value[i], scratch);
        if (!r->policy[i])
            return bad(r, key->line, "%s", scratch->errors[0].text);
    }
    return GSIM_OK;
}

static enum gsim_status find_specs(struct reading *r) {
    const struct gsim_grid_key *key = &r->grid->key[0];
    int reps = gsim_grid_find(r->grid, "replication");
    bool is_any = false;
    r->is_spec = gsim_arena_array(r->arena, key->n, sizeof *r->is_spec);
    if (!r->is_spec)
        return gsim_no_memory(r->log, "reading a grid");
    for (uint32_t i = 0; i < key->n; i++)
        is_any |= r->is_spec[i] = gsim_setup_is_spec(key->value[i]);
    if (reps >= 0 && !is_any && !changes_file(r->grid))
        return bad(r, r->grid->key[reps].line,
                   "replications need a trace that can be drawn again: a spec .ini, 'resample' or "
                   "'shake'");
    return GSIM_OK;
}

static enum gsim_status find_meetings(struct reading *r) {
    const struct gsim_grid *grid = r->grid;
    uint32_t n_policies = grid->key[r->policy_key].n;
    size_t n_keys = (size_t)grid->n_keys;
    r->meets = gsim_arena_array(r->arena, n_keys * n_policies, sizeof *r->meets);
    if (!r->meets)
        return gsim_no_memory(r->log, "reading a grid");
    for (size_t k = 0; k < n_keys; k++) {
        const struct gsim_grid_key *key = &grid->key[k];
        bool is_any = false;
        for (uint32_t p = 0; p < n_policies; p++)
            is_any |= r->meets[p * n_keys + k] =
                key->option != GSIM_OPT_SET ||
                gsim_setup_meets(r->foreign, r->policy[p], key->part);
        if (!is_any)
            return bad(r, key->line, "no policy of this grid knows '%s'", key->part);
    }
    return GSIM_OK;
}

/* The number of values of key k for runs with these choices of earlier keys; 0: the key does not
 * apply to such runs. */
static uint32_t radix(const struct reading *r, const uint32_t *choice, int k) {
    const struct gsim_grid_key *key = &r->grid->key[k];
    bool is_met = true, is_spec = k > 0 && r->is_spec[choice[0]];
    if (k > r->policy_key)
        is_met = r->meets[choice[r->policy_key] * (size_t)r->grid->n_keys + (size_t)k];
    else if (key->option == GSIM_OPT_REPLICATION)
        is_met = is_spec || changes_file(r->grid);
    else if (fills_gaps(key) || is_of_file(key))
        /* a drawn trace has no gaps to fill, and is drawn again instead of changed */
        is_met = !is_spec;
    else if (key->option == GSIM_OPT_SPEC)
        is_met = is_spec;
    return is_met ? key->n : 0;
}

/* --- [skip NAME] ------------------------------------------------------------------------------ */

static enum gsim_status name_values(const struct reading *r, const struct gsim_ini_entry *entry,
                                    const struct gsim_grid_key *key, bool *is_named) {
    struct gsim_grid_key list = {.name = entry->key, .line = entry->line};
    enum gsim_status status = add_list(r, &list, entry->value);
    for (uint32_t i = 0; i < list.n && status == GSIM_OK; i++) {
        uint32_t v = 0;
        while (v < key->n && strcmp(key->value[v], list.value[i]) != 0)
            v++;
        if (v < key->n) {
            is_named[v] = true;
            continue;
        }
        int close = gsim_text_suggest(list.value[i], key->value, (int)key->n);
        status = bad(r, entry->line, "'%s' is no value of '%s' in this grid%s%s%s", list.value[i],
                     key->name, close >= 0 ? "; did you mean '" : "",
                     close >= 0 ? key->value[close] : "", close >= 0 ? "'?" : "");
    }
    return status;
}

/* The grid's keys: " trace, policy, nodes". */
static const char *list_keys(const struct reading *r) {
    const char *list = "";
    for (int k = 0; list && k < r->grid->n_keys; k++)
        list = gsim_arena_printf(r->arena, "%s%s %s", list, k ? "," : "", r->grid->key[k].name);
    return list ? list : "";
}

static enum gsim_status read_skip(struct reading *r, const struct gsim_ini_entry *entry) {
    int k = gsim_grid_find(r->grid, entry->key);
    if (k < 0)
        return bad(r, entry->line, "[%s]: this grid has no key '%s'; it has%s", entry->section,
                   entry->key, list_keys(r));
    struct skip *skip = &r->skips[r->n_skips++];
    *skip = (struct skip){.section = entry->section, .key = k};
    skip->is_named = gsim_arena_array(r->arena, r->grid->key[k].n, sizeof *skip->is_named);
    return skip->is_named ? name_values(r, entry, &r->grid->key[k], skip->is_named)
                          : gsim_no_memory(r->log, "reading a grid");
}

/* Whether all lists of a section name the run's values. */
static bool is_skipped(const struct reading *r, const uint32_t *choice) {
    for (int i = 0; i < r->n_skips;) {
        const char *section = r->skips[i].section;
        bool is_hit = true;
        for (; i < r->n_skips && strcmp(r->skips[i].section, section) == 0; i++) {
            uint32_t value = choice[r->skips[i].key];
            is_hit = is_hit && value != GSIM_GRID_UNMET && r->skips[i].is_named[value];
        }
        if (is_hit)
            return true;
    }
    return false;
}

/* --- enumeration ------------------------------------------------------------------------------ */

static enum gsim_status keep_run(const struct reading *r, const uint32_t *choice,
                                 int64_t *capacity) {
    struct gsim_grid *grid = r->grid;
    size_t row = (size_t)grid->n_keys * sizeof *choice;
    if (is_skipped(r, choice))
        return GSIM_OK;
    if (grid->n_runs == MAX_RUNS)
        return bad(r, 0, "more than %d runs", MAX_RUNS);
    if (grid->n_runs == *capacity) {
        int64_t more = *capacity ? *capacity * 2 : 256;
        uint32_t *grown = gsim_arena_grow_raw(r->arena, grid->choice, (size_t)more * row);
        if (!grown)
            return gsim_no_memory(r->log, "reading a grid");
        grid->choice = grown;
        *capacity = more;
    }
    memcpy(grid->choice + grid->n_runs++ * grid->n_keys, choice, row);
    return GSIM_OK;
}

/* Sets every key from k on to its first value. */
static void reset_from(const struct reading *r, uint32_t *choice, int k) {
    for (; k < r->grid->n_keys; k++)
        choice[k] = radix(r, choice, k) ? 0 : GSIM_GRID_UNMET;
}

static enum gsim_status enumerate(const struct reading *r) {
    uint32_t choice[MAX_KEYS];
    int64_t capacity = 0;
    reset_from(r, choice, 0);
    for (;;) {
        enum gsim_status status = keep_run(r, choice, &capacity);
        if (status != GSIM_OK)
            return status;
        int k = r->grid->n_keys - 1;
        while (k >= 0 && (choice[k] == GSIM_GRID_UNMET || choice[k] + 1 >= radix(r, choice, k)))
            k--;
        if (k < 0)
            return GSIM_OK;
        choice[k]++;
        reset_from(r, choice, k + 1);
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Checks the values of a flag, such as `exact`. */
static enum gsim_status check_flag(const struct reading *r, const struct gsim_grid_key *key) {
    bool is_flag = key->option >= 0 && !gsim_option_defs[key->option].argument;
    for (uint32_t i = 0; i < key->n && is_flag; i++)
        if (gsim_text_choice(key->value[i], "on|off") < 0)
            return bad(r, key->line, "%s: '%s' is not one of on, off", key->name, key->value[i]);
    return GSIM_OK;
}

static enum gsim_status read_keys(struct reading *r, const struct gsim_ini *ini) {
    enum gsim_status status = GSIM_OK;
    for (int i = 0; i < ini->n && status == GSIM_OK; i++) {
        const struct gsim_ini_entry *entry = &ini->entries[i];
        if (!*entry->section)
            status = read_key(r, entry);
        else if (strncmp(entry->section, "skip", 4) != 0)
            status = bad(r, entry->line,
                         "no section [%s] in a grid: its keys stand above all sections, and "
                         "[skip NAME] leaves out runs",
                         entry->section);
    }
    if (status != GSIM_OK)
        return status;
    int reps = gsim_grid_find(r->grid, "reps");
    if (reps >= 0)
        status = spread_reps(r, &r->grid->key[reps]);
    for (int k = 0; k < r->grid->n_keys && status == GSIM_OK; k++)
        status = check_flag(r, &r->grid->key[k]);
    order_keys(r->grid);
    r->policy_key = gsim_grid_find(r->grid, "policy");
    if (status == GSIM_OK && gsim_grid_find(r->grid, "trace") < 0)
        status = bad(r, 0, "no trace; 'trace = FILE, FILE' says which");
    if (status == GSIM_OK && r->policy_key < 0)
        status = bad(r, 0, "no policy; 'policy = fifo, srtf' says which");
    return status;
}

static enum gsim_status read_skips(struct reading *r, const struct gsim_ini *ini) {
    enum gsim_status status = GSIM_OK;
    r->skips = gsim_arena_array(r->arena, (size_t)ini->n, sizeof *r->skips);
    if (!r->skips)
        return gsim_no_memory(r->log, "reading a grid");
    for (int i = 0; i < ini->n && status == GSIM_OK; i++)
        if (*ini->entries[i].section)
            status = read_skip(r, &ini->entries[i]);
    return status;
}

enum gsim_status gsim_grid_make(const struct gsim_ini *ini, struct gsim_foreign *foreign,
                                struct gsim_arena *arena, struct gsim_grid *out,
                                struct gsim_log *log) {
    struct reading r = {.grid = out, .foreign = foreign, .arena = arena, .log = log};
    *out = (struct gsim_grid){.path = ini->path};
    out->key = gsim_arena_array(arena, MAX_KEYS, sizeof *out->key);
    if (!out->key)
        return gsim_no_memory(log, "reading a grid");
    enum gsim_status status = read_keys(&r, ini);
    if (status == GSIM_OK)
        status = find_policies(&r);
    if (status == GSIM_OK)
        status = find_specs(&r);
    if (status == GSIM_OK)
        status = find_meetings(&r);
    if (status == GSIM_OK)
        status = read_skips(&r, ini);
    if (status == GSIM_OK)
        status = enumerate(&r);
    if (status == GSIM_OK && out->n_runs == 0)
        status = bad(&r, 0, "every run is skipped");
    return status;
}

enum gsim_status gsim_grid_read(const char *path, struct gsim_foreign *foreign,
                                struct gsim_arena *arena, struct gsim_grid *out,
                                struct gsim_log *log) {
    struct gsim_ini ini;
    enum gsim_status status = gsim_ini_read_file(path, arena, &ini, log);
    return status == GSIM_OK ? gsim_grid_make(&ini, foreign, arena, out, log) : status;
}

/* --- a run ------------------------------------------------------------------------------------ */

enum gsim_status gsim_grid_apply(const struct gsim_grid *grid, int64_t run, struct gsim_cli *cli) {
    const uint32_t *choice = grid->choice + run * grid->n_keys;
    int n_repeats[GSIM_OPT_COUNT] = {0};
    for (int k = 0; k < grid->n_keys; k++) {
        const struct gsim_grid_key *key = &grid->key[k];
        if (choice[k] == GSIM_GRID_UNMET)
            continue;
        const char *value = key->value[choice[k]];
        if (key->option == -1) {
            cli->operand[cli->n_operands++] = value;
            continue;
        }
        if (key->part) {
            value = gsim_arena_printf(cli->arena, "%s=%s", key->part, value);
            cli->repeats[key->option][n_repeats[key->option]++] = value;
        }
        if (!value)
            return gsim_no_memory(cli->log, "starting a run");
        if (gsim_option_defs[key->option].argument)
            cli->value[key->option] = value;
        else if (strcmp(value, "on") == 0)
            cli->value[key->option] = "";
    }
    return GSIM_OK;
}

uint64_t gsim_grid_trace_of(const struct gsim_grid *grid, int64_t run) {
    const uint32_t *choice = grid->choice + run * grid->n_keys;
    bool is_drawn = gsim_setup_is_spec(grid->key[0].value[choice[0]]);
    uint64_t sum = 0;
    for (int k = 0; k < grid->n_keys; k++) /* a changed file depends on the seed as well */
        is_drawn |= grid->key[k].option == GSIM_OPT_REPLICATION && choice[k] != GSIM_GRID_UNMET &&
                    strcmp(grid->key[k].value[choice[k]], "0") != 0;
    for (int k = 0; k < grid->n_keys; k++) {
        const struct gsim_grid_key *key = &grid->key[k];
        bool is_for_it = changes_trace(grid, key) && choice[k] != GSIM_GRID_UNMET &&
                         (is_drawn || key->option != GSIM_OPT_SEED);
        if (changes_trace(grid, key)) /* a number in mixed radix */
            sum = sum * key->n + (is_for_it ? choice[k] : 0);
    }
    return sum;
}
