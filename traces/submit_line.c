/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/submit_line.h"

#include <string.h>

#include "sim/base/units.h"

/* Options without a value, or with one only behind '=': a word that follows them is not theirs. */
static const char *const plain[] = {
    "contiguous",    "disable-stdout-job-summary",
    "exclusive",     "get-user-env",
    "hold",          "ignore-pbs",
    "nice",          "no-bell",
    "no-kill",       "no-requeue",
    "no-shell",      "overcommit",
    "oversubscribe", "parsable",
    "propagate",     "pty",
    "quiet",         "reboot",
    "requeue",       "spread-job",
    "stepmgr",       "test-only",
    "use-min-nodes", "verbose",
    "wait",          "wait-for-switches",
    "exact",         "external-launcher",
    "interactive",   "kill-on-invalid-dep",
    "label",         "multi-prog",
    "preserve-env",  "unbuffered",
};
static const char plain_letters[] = "HkOsQvWIKulXEZ"; /* of sbatch, srun and salloc */

struct option {
    struct gsim_text_part name, value;
    char letter; /* of a short one, else 0 */
};

static struct gsim_text_part next_word(const char **text) {
    struct gsim_text_part word = {*text + strspn(*text, " \t"), 0};
    word.length = strcspn(word.at, " \t");
    *text = word.at + word.length;
    return word;
}

static bool is(const struct option *option, const char *name, char letter) {
    return option->letter ? option->letter == letter
                          : option->name.length == strlen(name) &&
                                strncmp(option->name.at, name, option->name.length) == 0;
}

static bool is_plain(const struct option *option) {
    for (size_t i = 0; i < sizeof plain / sizeof *plain && !option->letter; i++)
        if (is(option, plain[i], 0))
            return true;
    return option->letter && strchr(plain_letters, option->letter);
}

/* Splits "--name=value", "--name value", "-n value" and "-nvalue". */
static struct option take_option(struct gsim_text_part word, const char **rest) {
    bool is_long = word.length > 2 && word.at[1] == '-';
    struct option option = {.letter = is_long ? '\0' : word.at[1]};
    size_t name = is_long ? 2 : 1, end = is_long ? name : 2;
    while (is_long && end < word.length && word.at[end] != '=')
        end++;
    option.name = (struct gsim_text_part){word.at + name, end - name};
    if (end < word.length && !(option.letter && is_plain(&option))) {
        end += is_long || word.at[end] == '=';
        option.value = (struct gsim_text_part){word.at + end, word.length - end};
    } else if (!is_plain(&option)) {
        option.value = next_word(rest);
    }
    return option;
}

/* "0-99%5": 5. */
static int64_t limit_of(const struct gsim_text_part *array) {
    const char *mark = array->at ? memchr(array->at, '%', array->length) : NULL;
    int64_t limit;
    if (!mark || gsim_parse_decimal(mark + 1, (size_t)(array->at + array->length - mark) - 1, 1,
                                    &limit) != GSIM_PARSE_OK)
        return -1;
    return limit > 0 ? limit : -1;
}

static void keep(const struct option *option, struct gsim_submit_line *out) {
    if (is(option, "constraint", 'C'))
        out->features = option->value;
    else if (is(option, "partition", 'p'))
        out->partitions = option->value;
    else if (is(option, "dependency", 'd'))
        out->dependency = option->value;
    else if (is(option, "nodes", 'N'))
        out->nodes = option->value;
    else if (is(option, "gpus-per-node", 0) || is(option, "ntasks-per-node", 0) ||
             is(option, "gres", 0))
        out->is_by_node = true;
    else if (is(option, "job-name", 'J'))
        out->name = option->value;
    else if (is(option, "array", 'a'))
        out->array_limit = limit_of(&option->value);
    else if (is(option, "begin", 'b') || is(option, "hold", 'H'))
        out->is_held = true;
}

/* A job without a name has that of its script. */
static void name_by_script(struct gsim_text_part script, struct gsim_submit_line *out) {
    if (out->name.at || script.length == 0)
        return;
    for (size_t i = script.length; i > 0 && script.at[i - 1] != '/'; i--)
        out->name = (struct gsim_text_part){script.at + i - 1, script.length - i + 1};
}

/* Ends at the first word that is no option: it is the script, and what follows is for it. */
void gsim_submit_line_read(const char *text, struct gsim_submit_line *out) {
    *out = (struct gsim_submit_line){.array_limit = -1};
    (void)next_word(&text); /* sbatch */
    struct gsim_text_part word = next_word(&text);
    for (; word.length > 1 && word.at[0] == '-'; word = next_word(&text)) {
        struct option option = take_option(word, &text);
        keep(&option, out);
    }
    name_by_script(word, out);
}
