/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that embeds gsim: it runs a trace under fifo and under a policy of its own, on one
 * node, and prints the mean job completion time of each. */
#include <gsim/run.h>
#include <stdio.h>
#include <stdlib.h>

#include "../policy/narrow_first.h"

/* One run; everything that it allocates lives in its arena. */
static enum gsim_status run(const struct gsim_policy *policy, const struct gsim_trace *trace,
                            const struct gsim_cluster_spec *cluster, struct gsim_log *log) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_params params;
    struct gsim_result result = {0};
    enum gsim_status status =
        gsim_params_init(&params, policy->name, policy->params, arena, log);
    if (status == GSIM_OK)
        status = gsim_run(&(struct gsim_run_options){.trace = trace,
                                                     .cluster = cluster,
                                                     .policy = policy,
                                                     .policy_params = &params,
                                                     .model = &gsim_model_device,
                                                     .device_name = "h200",
                                                     .until_ns = GSIM_NEVER},
                          arena, &result, log);
    if (status == GSIM_OK)
        printf("%-14s mean JCT %.1f s\n", policy->name, result.summary.jct_mean_s);
    gsim_arena_free(arena);
    return status;
}

static enum gsim_status compare(const char *path, uint32_t n_gpus, struct gsim_arena *arena,
                                struct gsim_log *log) {
    struct gsim_trace trace = {0};
    enum gsim_status status = gsim_trace_read(path, NULL, NULL, arena, &trace, log);
    const struct gsim_profile *h200 = gsim_device_load("h200", arena, log);
    if (status != GSIM_OK || !h200)
        return log->status;
    struct gsim_node_group node = {
        .count = 1, .gpus_per_node = n_gpus, .hbm_bytes = gsim_device_memory(h200)};
    struct gsim_cluster_spec cluster = {
        .groups = &node, .n_groups = 1, .profiles = &h200, .n_profiles = 1};
    status = run(gsim_policies_find("fifo", log), &trace, &cluster, log);
    return status == GSIM_OK ? run(&narrow_first, &trace, &cluster, log) : status;
}

int main(int argc, char **argv) {
    static struct gsim_log log;
    if (argc != 3) {
        fprintf(stderr, "usage: %s TRACE GPUS\n", argv[0]);
        return GSIM_USAGE;
    }
    struct gsim_arena *arena = gsim_arena_new();
    enum gsim_status status = compare(argv[1], (uint32_t)strtoul(argv[2], NULL, 10), arena, &log);
    for (int64_t i = 0; i < log.n_errors && i < GSIM_LOG_ENTRIES; i++)
        fprintf(stderr, "%s\n", log.errors[i].text);
    gsim_arena_free(arena);
    return status;
}
