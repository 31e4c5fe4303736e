/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the reference of policies (with the source and the file of each) and of parameters. */
#include <string.h>

#include "sim/api/compat.h"
#include "sim/app/identity/program.h"
#include "sim/app/manual/reference_pages.h"
#include "policies/registry.h"

/* A parameter that this number of policies have in common is described once. */
enum { LEAST_COMMON = 3 };

void gsim_reference_range(FILE *out, const struct gsim_param_def *def) {
    char low[40], high[40];
    if (def->choices)
        fprintf(out, " [%s%s]", def->choices, def->type == GSIM_PARAM_CHOICE_TIME ? "|TIME" : "");
    if (def->min == 0 && def->max == 0)
        return;
    gsim_param_format(low, def->type, def->min);
    gsim_param_format(high, def->type, gsim_param_most(def));
    if (gsim_param_most(def) == INT64_MAX)
        fprintf(out, " [at least %s]", low);
    else
        fprintf(out, " [%s to %s]", low, high);
}

/* --- policies --------------------------------------------------------------------------------- */

static void print_references(FILE *out, const struct gsim_policy *policy) {
    for (int r = 1; r < GSIM_REFERENCE_COUNT; r++)
        if (policy->references & 1u << r)
            fprintf(out, "- `--set reference=%s`: by the rules of that public simulator\n",
                    gsim_compat_of((enum gsim_reference)r)->name);
}

/* The policy's own file: policies/NAME.c, or policies/NAME/NAME.c. */
static const char *file_of(const struct gsim_policy *policy) {
    const char *symbol = gsim_policies_symbol(policy);
    size_t length = strlen(symbol);
    for (const struct gsim_source *source = gsim_sources; *source->owner; source++) {
        const char *name = strrchr(source->part, '/');
        if (strcmp(source->owner, symbol) == 0 && name && strncmp(name + 1, symbol, length) == 0 &&
            strcmp(name + 1 + length, ".c") == 0)
            return source->part;
    }
    return "policies/list.def";
}

static void print_policy(FILE *out, const struct gsim_policy *policy) {
    const char *file = file_of(policy);
    fprintf(out,
            "\n## %s\n\n%s.\n\n- source: %s\n- known deviations: %s\n- file: "
            "[%s](../../%s)\n",
            policy->name, policy->summary, policy->paper, policy->deviations, file, file);
    if (policy->is_oracle)
        fprintf(out, "- oracle: it knows true durations%s%s\n", policy->oracle_where ? " " : "",
                policy->oracle_where ? policy->oracle_where : "");
    if (policy->alias)
        fprintf(out, "- also called: `%s`\n", policy->alias);
    print_references(out, policy);
    if (policy->params)
        fprintf(out, "- parameters: [parameters](parameters.md#%s)\n", policy->name);
}

void gsim_reference_policies(FILE *out) {
    gsim_reference_title(out, "Policies", "policies");
    fputs("An oracle knows how long each job will take, which no scheduler does: it is a bound to "
          "compare with.\nWhere GPUs are shared, jobs of one GPU run beside others "
          "([one-gpu](../one-gpu.md) has these policies\nside by side).\n\n"
          "| policy | what it does | oracle | shares GPUs |\n|---|---|---|---|\n",
          out);
    for (int i = 0; gsim_policies[i]; i++) {
        const struct gsim_policy *policy = gsim_policies[i];
        fprintf(out, "| [`%s`](#%s) | ", policy->name, policy->name);
        gsim_reference_cell(out, policy->summary);
        fprintf(out, " | %s | %s |\n",
                !policy->is_oracle     ? ""
                : policy->oracle_where ? "in part"
                                       : "yes",
                policy->shares_gpus ? "yes" : "");
    }
    for (int i = 0; gsim_policies[i]; i++)
        print_policy(out, gsim_policies[i]);
}

/* --- parameters ------------------------------------------------------------------------------- */

static const struct gsim_param_def *find(const struct gsim_policy *policy,
                                         const struct gsim_param_def *like) {
    for (const struct gsim_param_def *def = policy->params; def && def->type; def++)
        if (strcmp(def->name, like->name) == 0 && strcmp(def->help, like->help) == 0)
            return def;
    return NULL;
}

static bool is_common(const struct gsim_param_def *def) {
    int n = 0;
    for (int i = 0; gsim_policies[i]; i++)
        n += find(gsim_policies[i], def) != NULL;
    return n >= LEAST_COMMON;
}

/* Whether no earlier policy of the list has the parameter. */
static bool is_first(const struct gsim_param_def *def, int at) {
    for (int i = 0; i < at; i++)
        if (find(gsim_policies[i], def))
            return false;
    return true;
}

static void print_values(FILE *out, const struct gsim_param_def *def) {
    static const char *const kinds[] = {[GSIM_PARAM_BOOL] = "on or off",
                                        [GSIM_PARAM_INT] = "whole number",
                                        [GSIM_PARAM_TIME] = "time",
                                        [GSIM_PARAM_BYTES] = "size",
                                        [GSIM_PARAM_RATE] = "rate",
                                        [GSIM_PARAM_PPM] = "share",
                                        [GSIM_PARAM_TEXT] = "text",
                                        [GSIM_PARAM_FILE] = "file",
                                        [GSIM_PARAM_INT_LIST] = "whole numbers, by commas"};
    if (!def->choices)
        fputs(kinds[def->type], out);
    for (const char *p = def->choices; p && *p; p++) {
        if (*p == '|')
            fputs(", ", out);
        else
            fputc(*p, out);
    }
    if (def->type == GSIM_PARAM_CHOICE_TIME)
        fputs(" or a time", out);
    struct gsim_param_def range = *def;
    range.choices = NULL;
    gsim_reference_range(out, &range);
}

static void print_common(FILE *out, const struct gsim_param_def *def) {
    fprintf(out, "\n### %s\n\n", def->name);
    fprintf(out, "%s.\n\nValues: ", def->help);
    print_values(out, def);
    fputs(".\n\nDefaults:", out);
    const char *comma = " ";
    for (int i = 0; gsim_policies[i]; i++) {
        const struct gsim_param_def *own = find(gsim_policies[i], def);
        if (!own)
            continue;
        fprintf(out, "%s`%s.%s=%s`", comma, gsim_policies[i]->name, own->name, own->fallback);
        comma = ", ";
    }
    fputs(".\n", out);
}

static void print_own(FILE *out, const struct gsim_policy *policy) {
    fprintf(out, "\n## %s\n\n", policy->name);
    const char *lead = "In common with others: ";
    for (const struct gsim_param_def *def = policy->params; def->type; def++) {
        if (!is_common(def))
            continue;
        fprintf(out, "%s[`%s=%s`](#%s)", lead, def->name, def->fallback, def->name);
        lead = ", ";
    }
    if (*lead == ',')
        fputs(".\n", out);
    bool has_head = false;
    for (const struct gsim_param_def *def = policy->params; def->type; def++) {
        if (is_common(def))
            continue;
        if (!has_head)
            fputs("\n| parameter | default | values | what it does |\n|---|---|---|---|\n", out);
        has_head = true;
        fprintf(out, "| `%s.%s` | `%s` | ", policy->name, def->name,
                *def->fallback ? def->fallback : " ");
        print_values(out, def);
        fputs(" | ", out);
        gsim_reference_cell(out, def->help);
        fputs(" |\n", out);
    }
}

void gsim_reference_parameters(FILE *out) {
    gsim_reference_title(out, "Parameters of policies", "parameters");
    fputs("`--set KEY=VALUE` sets a parameter; KEY is `POLICY.NAME`, or `NAME` alone where one "
          "policy runs. Keys\nof devices are set likewise ([devices](devices.md)). Besides, "
          "`--set reference=" GSIM_REFERENCES "`\nmakes some policies copies of public simulators "
          "([policies](policies.md)), and `--set speed.DEVICE=RATIO`\nis how fast jobs run on a "
          "device of a mixed cluster.\n\n## In common\n",
          out);
    for (int i = 0; gsim_policies[i]; i++)
        for (const struct gsim_param_def *def = gsim_policies[i]->params; def && def->type; def++)
            if (is_common(def) && is_first(def, i))
                print_common(out, def);
    for (int i = 0; gsim_policies[i]; i++)
        if (gsim_policies[i]->params)
            print_own(out, gsim_policies[i]);
}
