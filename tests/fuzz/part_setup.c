/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that set up a run: specs, grids, clusters, devices, a site's files, models that serve; and
 * files of results, as `gsim check` reads them. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "models/hardware/profile.h"
#include "sim/app/check/written.h"
#include "sim/app/setup/cluster_file.h"
#include "sim/app/setup/devices.h"
#include "sim/app/setup/foreign.h"
#include "sim/app/sweep/grid.h"
#include "sim/base/ini.h"
#include "sim/site/kueue.h"
#include "sim/site/slurm.h"
#include "tests/fuzz/parts.h"
#include "traces/generate.h"
#include "traces/llm_models.h"
#include "traces/llm_requests.h"
#include "traces/spec.h"
#include "traces/spec_read.h"

enum { MOST_DRAWN = 40 };

enum gsim_status fuzz_spec(struct fuzz_in *in) {
    const struct gsim_spec *spec = NULL;
    struct gsim_trace trace;
    if (strstr(in->bytes, "file")) /* beside the input's own lie descriptors, which may be pipes */
        return GSIM_OK;
    enum gsim_status status = gsim_spec_read(fuzz_path(in), NULL, in->arena, &spec, in->log);
    if (status != GSIM_OK || spec->n_jobs > MOST_DRAWN)
        return status;
    return gsim_trace_generate(spec, 1, 0, in->arena, &trace, in->log);
}

/* Policies from outside would be loaded, or started. */
static bool is_inside(const struct fuzz_in *in) {
    return !strchr(in->bytes, '/') && !strstr(in->bytes, ".so") && !strstr(in->bytes, "exec:");
}

enum gsim_status fuzz_grid(struct fuzz_in *in) {
    static struct gsim_foreign *foreign;
    struct gsim_ini ini;
    struct gsim_grid grid = {0};
    if (!foreign)
        foreign = gsim_foreign_new();
    if (!is_inside(in))
        return GSIM_OK;
    enum gsim_status status =
        gsim_ini_read_text("grid.ini", in->bytes, in->n, in->arena, &ini, in->log);
    return status == GSIM_OK ? gsim_grid_make(&ini, foreign, in->arena, &grid, in->log) : status;
}

static struct gsim_cli *program(struct fuzz_in *in) {
    static struct gsim_cli cli;
    static struct gsim_devices *devices;
    if (!devices)
        devices = gsim_devices_new();
    cli.arena = in->arena;
    cli.log = in->log;
    cli.devices = devices;
    return &cli;
}

enum gsim_status fuzz_cluster(struct fuzz_in *in) {
    struct gsim_cluster_spec cluster = {0};
    return is_inside(in) ? gsim_cluster_file_read(program(in), fuzz_path(in), "h200", &cluster)
                         : GSIM_OK;
}

enum gsim_status fuzz_device(struct fuzz_in *in) {
    struct gsim_profile profile;
    return gsim_profile_load(fuzz_path(in), in->arena, &profile, in->log);
}

enum gsim_status fuzz_slurm_conf(struct fuzz_in *in) {
    struct gsim_slurm slurm;
    struct gsim_node_group *groups;
    enum gsim_status status = gsim_slurm_read(fuzz_path(in), in->arena, &slurm, in->log);
    if (status != GSIM_OK)
        return status;
    gsim_slurm_warn(&slurm, in->log);
    (void)gsim_slurm_shards_of_gpu(&slurm);
    uint32_t n_nodes = gsim_slurm_count_nodes(&slurm);
    if (n_nodes > 0 && gsim_slurm_groups(&slurm, in->arena, n_nodes, &groups) == 0)
        fuzz_wrong(in, "%u nodes with GPUs are in no group", n_nodes);
    return status;
}

enum gsim_status fuzz_kueue(struct fuzz_in *in) {
    struct gsim_kueue kueue;
    enum gsim_status status = gsim_kueue_read(fuzz_path(in), in->arena, &kueue, in->log);
    if (status == GSIM_OK) {
        gsim_kueue_warn(&kueue, in->log);
        (void)gsim_kueue_queue(&kueue, "default/q");
    }
    return status;
}

enum gsim_status fuzz_llm_models(struct fuzz_in *in) {
    struct gsim_llms llms;
    return gsim_llm_models_read(fuzz_path(in), NULL, in->arena, &llms, in->log);
}

enum gsim_status fuzz_llm_requests(struct fuzz_in *in) {
    struct gsim_llm model[2] = {{.name = "a"}, {.name = "b"}};
    struct gsim_llms llms = {.path = "models.ini", .list = model, .n = 2};
    struct gsim_llm_requests requests;
    return gsim_llm_requests_read(fuzz_path(in), &llms, in->arena, &requests, in->log);
}

enum gsim_status fuzz_written(struct fuzz_in *in) {
    static struct gsim_written written; /* the program has it in an arena, zeroed */
    memset(&written, 0, sizeof written);
    gsim_written_begin(&written, in->arena, in->log);
    if (strcmp(in->argument, "jobs") == 0)
        return gsim_written_read_csv(&written, fuzz_path(in));
    if (strcmp(in->argument, "run") == 0)
        return gsim_written_read_json(&written, fuzz_path(in));
    return gsim_written_check_timeline(&written, fuzz_path(in));
}
