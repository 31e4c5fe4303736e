/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim list: policies, devices, applications, formats, and the parts of each. */
#include <string.h>

#include "models/hardware/mig.h"
#include "models/hardware/profile.h"
#include "models/hardware/validated.h"
#include "sim/app/setup/apps.h"
#include "sim/app/setup/foreign.h"
#include "sim/app/cli/options.h"
#include "sim/app/results/db_schema.h"
#include "sim/app/figures/figure.h"
#include "sim/app/manual/reference.h"
#include "sim/app/manual/reference_pages.h"
#include "policies/registry.h"
#include "sim/api/compat.h"
#include "sim/base/text.h"
#include "traces/profiler.h"
#include "traces/read.h"

enum { MAX_DEVICES = 256 };

static void list_policy(FILE *out, const struct gsim_policy *policy) {
    fprintf(out, "%-14s %s", policy->name, policy->summary);
    if (policy->is_oracle)
        fprintf(out, " (oracle%s%s)", policy->oracle_where ? " " : "",
                policy->oracle_where ? policy->oracle_where : "");
    putc('\n', out);
}

static void list_policies(FILE *out) {
    for (int i = 0; gsim_policies[i]; i++)
        list_policy(out, gsim_policies[i]);
}

static void print_policy(FILE *out, const struct gsim_policy *policy) {
    fprintf(out, "%s: %s\n  source: %s\n  known deviations: %s\n", policy->name, policy->summary,
            policy->paper, policy->deviations);
    if (policy->alias)
        fprintf(out, "  also called: %s\n", policy->alias);
    if (policy->shares_gpus)
        fprintf(out, "  jobs of one GPU share GPUs with others\n");
    if (policy->is_oracle)
        fprintf(out, "  oracle: it knows true durations%s%s\n", policy->oracle_where ? " " : "",
                policy->oracle_where ? policy->oracle_where : "");
    for (int r = 1; r < GSIM_REFERENCE_COUNT; r++)
        if (policy->references & 1u << r)
            fprintf(out, "  reference=%s: by the rules of that public simulator\n",
                    gsim_compat_of((enum gsim_reference)r)->name);
    for (const struct gsim_param_def *def = policy->params; def && def->type; def++) {
        fprintf(out, "  --set %s.%s=%s", policy->name, def->name, def->fallback);
        gsim_reference_range(out, def);
        fprintf(out, "\n      %s\n", def->help);
    }
}

static enum gsim_status list_devices(struct gsim_cli *cli) {
    char names[MAX_DEVICES][48];
    int n = gsim_profile_names(names, MAX_DEVICES);
    for (int i = 0; i < n; i++) {
        struct gsim_profile profile;
        enum gsim_status status = gsim_profile_load(names[i], cli->arena, &profile, cli->log);
        if (status != GSIM_OK)
            return status;
        fprintf(cli->io->out, "%-12s %s\n", names[i], profile.title);
    }
    return GSIM_OK;
}

/* Prints what the device was validated against, and the keys that the validation rests on. */
static void print_validated(FILE *out, const struct gsim_profile *profile) {
    for (int m = 0; m < GSIM_MECHANISM_COUNT; m++) {
        enum gsim_mechanism mechanism = (enum gsim_mechanism)m;
        const struct gsim_validated *claim = &profile->validated[m];
        if (claim->text)
            fprintf(out, "validated.%s = %s | %s\n", gsim_validated_name(mechanism), claim->text,
                    claim->source);
        else
            fprintf(out, "validated.%s: not claimed; %s\n", gsim_validated_name(mechanism),
                    gsim_validated_otherwise(mechanism));
        fprintf(out, "    %s:", gsim_validated_title(mechanism));
        const enum gsim_key *key = gsim_validated_keys(mechanism);
        fputs(*key == GSIM_KEY_COUNT ? " no key" : "", out);
        for (; *key != GSIM_KEY_COUNT; key++)
            fprintf(out, " %s", gsim_key_name(*key));
        fputc('\n', out);
    }
}

static enum gsim_status print_device(struct gsim_cli *cli, const char *name) {
    struct gsim_profile profile;
    enum gsim_status status = gsim_profile_load(name, cli->arena, &profile, cli->log);
    if (status != GSIM_OK)
        return status;
    fprintf(cli->io->out, "%s: %s\n", name, profile.title);
    if (profile.products)
        fprintf(cli->io->out, "products: %s\n", profile.products);
    for (int k = 0; k < GSIM_KEY_COUNT; k++)
        fprintf(cli->io->out, "%s = %s | %s | %s\n    %s\n", gsim_key_name((enum gsim_key)k),
                profile.text[k], gsim_tag_name((enum gsim_tag)profile.tag[k]), profile.source[k],
                gsim_key_help((enum gsim_key)k));
    for (int p = 0; profile.mig && p < profile.mig->n; p++) {
        char text[128];
        (void)gsim_mig_format(&profile.mig->profile[p], text, sizeof text);
        fprintf(cli->io->out, "mig.%s = %s | %s%s\n    %s\n", profile.mig->profile[p].name, text,
                profile.mig->profile[p].is_assumed ? "assumed | " : "",
                profile.mig->profile[p].source, "SMs:memory:slices of the memory:first slice");
    }
    print_validated(cli->io->out, &profile);
    return GSIM_OK;
}

static enum gsim_status list_apps(struct gsim_cli *cli) {
    char names[MAX_DEVICES][48];
    int n = gsim_apps_names(names, MAX_DEVICES);
    for (int i = 0; i < n; i++) {
        struct gsim_app app;
        enum gsim_status status = gsim_apps_load(names[i], NULL, 0, cli->arena, &app, cli->log);
        if (status != GSIM_OK)
            return status;
        fprintf(cli->io->out, "%-22s %s\n", names[i], app.title);
    }
    return GSIM_OK;
}

static void print_amount(FILE *out, const char *what, int64_t amount) {
    if (amount >= 0)
        fprintf(out, " %s %lld", what, (long long)amount);
}

/* Prints the application's profile, and the times that follow from it on the default device. */
static enum gsim_status print_app(struct gsim_cli *cli, const char *name) {
    static const char *const precision[] = {"fp32", "tf32", "fp16", "int8"};
    struct gsim_app app;
    struct gsim_roofline_cost cost;
    struct gsim_profile profile;
    FILE *out = cli->io->out;
    enum gsim_status status = gsim_apps_load(name, NULL, 0, cli->arena, &app, cli->log);
    if (status == GSIM_OK)
        status = gsim_profile_load("h200", cli->arena, &profile, cli->log);
    if (status == GSIM_OK)
        status = gsim_roofline_cost(&app, &profile, &cost, cli->log);
    if (status != GSIM_OK)
        return status;
    fprintf(out, "%s: %s\n  from: %s\n", name, app.title, app.path);
    for (uint32_t b = 0; b < app.n_buffers; b++)
        fprintf(out, "  buffer %s: %lld bytes\n", app.buffers[b].name,
                (long long)app.buffers[b].bytes);
    for (uint32_t k = 0; k < app.n_kernels; k++) {
        const struct gsim_app_kernel *kernel = &app.kernels[k];
        fprintf(out, "  kernel %s: %lld x", kernel->name, (long long)kernel->count);
        print_amount(out, precision[kernel->precision], kernel->flops);
        print_amount(out, "bytes", kernel->bytes);
        fputc('\n', out);
    }
    fprintf(out,
            "  an iteration on an h200: %.3f ms in %lld kernels, %.1f %% of it bound by memory\n",
            (double)cost.gpu_ns / 1e6, (long long)cost.kernels, (double)cost.memory_ppm / 1e4);
    return GSIM_OK;
}

static enum gsim_status list_formats(struct gsim_cli *cli, const char *name) {
    for (int i = 0; gsim_trace_formats[i]; i++) {
        const struct gsim_trace_format *format = gsim_trace_formats[i];
        if (!name)
            fprintf(cli->io->out, "%-10s %s\n", format->name, format->summary);
        else if (strcmp(name, format->name) == 0) {
            fprintf(cli->io->out, "%s: %s\n  from: %s\n", format->name, format->summary,
                    format->source);
            if (format->notes)
                fprintf(cli->io->out, "\n%s", format->notes);
            if (strcmp(name, "native") == 0)
                gsim_reference_list_columns(cli->io->out);
            return GSIM_OK;
        }
    }
    for (int i = 0; gsim_profilers[i]; i++) {
        const struct gsim_profiler *profiler = gsim_profilers[i];
        if (name && strcmp(name, profiler->name) == 0) {
            fprintf(cli->io->out, "%s: %s\n\n%s", name, profiler->summary, profiler->notes);
            return GSIM_OK;
        }
        if (!name)
            fprintf(cli->io->out, "%-10s %s\n", profiler->name, profiler->summary);
    }
    return name ? gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "no trace format is called '%s'", name)
                : GSIM_OK;
}

static enum gsim_status list_figures(struct gsim_cli *cli, const char *name) {
    struct gsim_figure figure;
    if (name) {
        enum gsim_status status = gsim_figure_find(name, cli->arena, &figure, cli->log);
        if (status == GSIM_OK)
            fprintf(cli->io->out, "%s: %s\n  %s\n", figure.name, figure.summary, figure.needs);
        return status;
    }
    for (int at = 0; gsim_figure_at(at, cli->arena, &figure); at++)
        fprintf(cli->io->out, "%-18s %s\n", figure.name, figure.summary);
    return GSIM_OK;
}

/* Prints the key, the default and the range of every parameter. */
static void list_parameters(FILE *out) {
    for (int i = 0; gsim_policies[i]; i++)
        for (const struct gsim_param_def *def = gsim_policies[i]->params; def && def->type; def++) {
            fprintf(out, "%s.%s=%s", gsim_policies[i]->name, def->name, def->fallback);
            gsim_reference_range(out, def);
            fputc('\n', out);
        }
}

static enum gsim_status list_policy_or_all(struct gsim_cli *cli, const char *name) {
    const struct gsim_policy *policy =
        name ? gsim_foreign_find(cli->foreign, name, cli->log) : NULL;
    if (name && !policy)
        return cli->log->status;
    if (policy)
        print_policy(cli->io->out, policy);
    else
        list_policies(cli->io->out);
    return GSIM_OK;
}

static enum gsim_status list_table(struct gsim_cli *cli, const char *name) {
    if (gsim_db_describe(cli->io->out, name))
        return GSIM_OK;
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                     "no table is called '%s'; 'gsim list tables' shows them", name);
}

static enum gsim_status list_whole(struct gsim_cli *cli, const char *kind, void (*print)(FILE *out),
                                   const char *name) {
    if (name)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "'gsim list %s' shows all of them; '%s' is too many", kind, name);
    print(cli->io->out);
    return GSIM_OK;
}

static enum gsim_status list(struct gsim_cli *cli, const char *kind, const char *name) {
    static const char kinds[] =
        "policies|devices|formats|apps|figures|tables|columns|results|parameters";
    switch (gsim_text_choice(kind, kinds)) {
    case 0:
        return list_policy_or_all(cli, name);
    case 1:
        return name ? print_device(cli, name) : list_devices(cli);
    case 2:
        return list_formats(cli, name);
    case 3:
        return name ? print_app(cli, name) : list_apps(cli);
    case 4:
        return list_figures(cli, name);
    case 5:
        return list_table(cli, name);
    case 6:
        return list_whole(cli, kind, gsim_reference_list_columns, name);
    case 7:
        return list_whole(cli, kind, gsim_reference_list_results, name);
    case 8:
        return list_whole(cli, kind, list_parameters, name);
    default:
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "list what? policies, devices, formats, apps, figures, tables, columns, "
                         "results or parameters%s%s",
                         *kind ? "; not " : "", kind);
    }
}

enum gsim_status gsim_command_list(struct gsim_cli *cli) {
    const char *kind = cli->n_operands ? cli->operand[0] : "";
    const char *name = cli->n_operands > 1 ? cli->operand[1] : NULL;
    const char *format = cli->value[GSIM_OPT_FORMAT];
    if (!format || strcmp(format, "table") == 0)
        return list(cli, kind, name);
    if (strcmp(format, "md") != 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--format of a list is table or md");
    if (name)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--format md is a page of all %s; '%s' is too many", kind, name);
    return gsim_reference_print(cli, kind);
}
