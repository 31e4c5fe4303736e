/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that a run reads, wherever they are named: the command line, the spec, the cluster, the
 * trace's rows, the policy's parameters. Built-in devices and applications are in the list as well,
 * so that a database holds their contents. */
#include <string.h>

#include "sim/exec/exec.h"
#include "sim/app/setup/apps.h"
#include "sim/app/setup/cluster_parts.h"
#include "sim/app/identity/config.h"
#include "sim/base/embedded.h"
#include "traces/spec.h"

struct collecting {
    struct gsim_cli *cli;
    struct gsim_named_file *file;
    int n, capacity;
    enum gsim_status status;
};

static void put_input(struct collecting *c, const char *kind,
                      const struct gsim_file_content *content, bool is_built_in) {
    for (int i = 0; i < c->n; i++) /* two nodes may name one device in two ways */
        if (strcmp(c->file[i].kind, kind) == 0 && c->file[i].content == content)
            return;
    if (c->n == c->capacity) {
        int capacity = c->capacity ? 2 * c->capacity : 8;
        struct gsim_named_file *grown =
            gsim_arena_array(c->cli->arena, (size_t)capacity, sizeof *grown);
        if (!grown) {
            c->status = gsim_no_memory(c->cli->log, "listing inputs");
            return;
        }
        if (c->n)
            memcpy(grown, c->file, (size_t)c->n * sizeof *grown);
        c->file = grown;
        c->capacity = capacity;
    }
    c->file[c->n++] = (struct gsim_named_file){kind, content, is_built_in};
}

/* Adds a file; path NULL adds none. is_watched is false for a trace, spec or device, which is read
 * once, and true for files that each run of a sweep reads again. */
static void add_file(struct collecting *c, const char *kind, const char *path, bool is_watched) {
    const struct gsim_file_content *content;
    if (!path || c->status != GSIM_OK)
        return;
    c->status = gsim_contents_take(c->cli->contents, path, is_watched, &content, c->cli->log);
    if (c->status == GSIM_OK)
        put_input(c, kind, content, false);
}

/* Adds a built-in file. An unknown name is left out here; the run refuses it. */
static void add_built_in(struct collecting *c, const char *kind, const char *name) {
    const struct gsim_file_content *content =
        name && c->status == GSIM_OK ? gsim_contents_built_in(c->cli->contents, name) : NULL;
    if (content)
        put_input(c, kind, content, true);
}

static void add_devices(struct collecting *c, const struct gsim_cluster_spec *cluster) {
    for (uint16_t p = 0; p < cluster->n_profiles; p++) {
        const char *name = cluster->profiles[p]->name;
        if (gsim_profile_is_path(name))
            add_file(c, "device", name, false);
        else
            add_built_in(c, "device",
                         gsim_arena_printf(c->cli->arena, "models/devices/%s.ini", name));
    }
    add_built_in(c, "device", "models/devices/assumed.ini");
}

static void add_app(struct collecting *c, const char *name) {
    const struct gsim_embedded *built_in = gsim_apps_embedded(name);
    if (gsim_apps_is_path(name))
        add_file(c, "app", name, true);
    else if (built_in)
        add_built_in(c, "app", built_in->name);
}

/* Adds the applications that a trace names; specs draw none. */
static void add_apps(struct collecting *c, const struct gsim_names *names) {
    for (uint32_t n = 0; n < names->n; n++)
        add_app(c, names->name[n]);
}

static void add_inputs_of(struct collecting *c, const struct gsim_params *params) {
    for (int i = 0; i < params->n; i++)
        if (params->defs[i].type == GSIM_PARAM_FILE && *params->values[i].text)
            add_file(
                c,
                gsim_arena_printf(c->cli->arena, "set.%s.%s", params->owner, params->defs[i].name),
                params->values[i].text, true);
}

/* Adds the files of a policy from outside. All runs have the shared object that was loaded; a
 * program is started for each run, and reads its files again. */
static void add_policy(struct collecting *c, const struct gsim_contender *contender) {
    const struct gsim_file_content *loaded;
    int n = gsim_foreign_files(c->cli->foreign, contender->policy, &loaded);
    bool is_program = gsim_exec_command(contender->typed) != NULL;
    if (n < 0)
        c->status = gsim_fail(c->cli->log, GSIM_USAGE, NULL, 0,
                              "the policy '%s' stands in no file that could tell its runs from "
                              "those of another version of it, as a database must",
                              contender->policy->name);
    for (int i = 0; i < n && c->status == GSIM_OK; i++) {
        add_file(c, "policy", loaded[i].path, is_program);
        if (c->status == GSIM_OK &&
            strcmp(c->file[c->n - 1].content->sha256, loaded[i].sha256) != 0)
            c->status = gsim_fail(c->cli->log, GSIM_FAILED, loaded[i].path, 0,
                                  "the policy has changed since gsim loaded it; begin again");
    }
}

enum gsim_status gsim_list_inputs(struct gsim_cli *cli, const struct gsim_setup *setup,
                                  int contender, struct gsim_identity *out) {
    struct collecting c = {.cli = cli};
    add_file(&c, setup->spec ? "spec" : "trace", setup->trace_path, false);
    for (const char *const *path = setup->spec ? setup->spec->file : NULL; path && *path; path++)
        add_file(&c, "values", *path, false);
    add_file(&c, "by-model", cli->value[GSIM_OPT_BY_MODEL], false);
    add_file(&c, "gpu-mem", cli->value[GSIM_OPT_GPU_MEM], false);
    add_file(&c, "rates", cli->value[GSIM_OPT_RATES], false);
    add_file(&c, "goodput", cli->value[GSIM_OPT_GOODPUT], false);
    add_file(&c, "cluster", cli->value[GSIM_OPT_CLUSTER], true);
    add_file(&c, "slurm-conf", cli->value[GSIM_OPT_SLURM_CONF], true);
    add_file(&c, "kueue-conf", cli->value[GSIM_OPT_KUEUE_CONF], true);
    add_devices(&c, &setup->cluster);
    add_apps(&c, &setup->trace.names[GSIM_COL_APP]);
    add_inputs_of(&c, &setup->contender[contender].params);
    for (uint32_t g = 0; g < setup->cluster.n_groups; g++)
        if (gsim_cluster_part(&setup->cluster, g))
            add_inputs_of(&c, gsim_cluster_part(&setup->cluster, g)->params);
    add_policy(&c, &setup->contender[contender]);
    out->input = c.file;
    out->n_inputs = c.n;
    return c.status;
}
