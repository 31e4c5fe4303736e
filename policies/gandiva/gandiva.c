/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gandiva: jobs take turns on their server in slices of a minute, are suspended and resumed at the
 * ends of their iterations, and the scheduler learns by looking. Source: Xiao et al., "Gandiva:
 * Introspective Cluster Scheduling for Deep Learning", OSDI 2018. A job is allotted to a server
 * (servers.c), has its turns there (turns.c), is migrated to another server only where that pays
 * (moves.c), and may be packed onto a GPU with another job (pairs.c); each of these files says what
 * it takes from the paper, and where it deviates.
 *
 * variant=tiresias, as in that simulator: nodes belong to gang sizes, no job is packed or migrated.
 * variant=gavel: slices of 360 s, partners at random, and a pair is kept if it does more than one
 * job alone. In both the cluster is one server, and a job comes back on any GPUs.
 *
 * Further deviations: packed jobs share by time slices, or by SMs (share=); a gang that does not
 * fit on its server is passed over, by default for ever (the paper has no rule for it; patience= is
 * this project's), but a gang over several servers for a slice at most; variant=gavel packs jobs of
 * one GPU, where Gavel pairs any two of one width; grow=on: any job grows, since a trace does not
 * say which could; where slices are free and the trace does not say how jobs use a GPU, packing
 * cannot pay and is tried only if packing=on is said. */
#include "policies/gandiva/servers.h"
#include "policies/lib/common.h"
#include "policies/lib/settings.h"

enum variant { PAPER, TIRESIAS, GAVEL };
enum { GAVEL_SLICE_S = 360 };

struct state {
    struct gsim_servers servers;
    struct gsim_pairs pairs;
    struct gsim_growth growth;
    bool is_gathering, is_growing, has_freed;
};

/* Pairs leave together, at the end of their slice. */
static bool yields(const struct gsim_ctx *ctx, gsim_slot victim) {
    return !((const struct gsim_gandiva_job *)gsim_job_state(ctx, victim))->packable.is_packed;
}

static void placed(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, uint32_t mark) {
    struct state *state = ctx->state;
    (void)gsim_pairs_pack(&state->pairs, ctx, plan, slot, mark);
}

static void set_packing(struct state *state, const struct gsim_ctx *ctx, enum variant variant) {
    state->pairs =
        (struct gsim_pairs){.servers = &state->servers,
                            .is_on = gsim_param(ctx->params, "packing") && variant != TIRESIAS,
                            .is_spatial = gsim_param(ctx->params, "share") == 1,
                            .is_introspective = variant == PAPER,
                            .is_hopeless = !gsim_param_full(ctx->params, "packing")->is_set &&
                                           !gsim_common_sees_use(ctx)};
    gsim_random_open(&state->pairs.random, ctx, "partners");
}

static enum gsim_status open_gandiva(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    enum variant variant = (enum variant)gsim_param(ctx->params, "variant");
    bool migrates = gsim_param(ctx->params, "migration") && variant == PAPER;
    enum gsim_status status = gsim_settings_open_memory(ctx);
    set_packing(state, ctx, variant);
    state->is_gathering = migrates;
    state->is_growing = gsim_param(ctx->params, "grow") && variant == PAPER;
    state->growth.after_ns = gsim_param(ctx->params, "grow_after");
    state->servers =
        (struct gsim_servers){.slice_ns = gsim_param(ctx->params, "slice"),
                              .is_one = variant != PAPER,
                              .scatters = variant != TIRESIAS,
                              .is_balancing = migrates,
                              .preemption = gsim_settings_preemption(ctx, GSIM_KEEP_HOST),
                              .yields = yields,
                              .placed = placed};
    if (variant == GAVEL && !gsim_param_full(ctx->params, "slice")->is_set)
        state->servers.slice_ns = GAVEL_SLICE_S * GSIM_NS_PER_S;
    state->servers.is_packing = state->pairs.is_on;
    if (state->pairs.is_on && state->pairs.is_introspective)
        state->servers.profile = gsim_pairs_profile;
    if (status == GSIM_OK)
        status = gsim_servers_init(&state->servers, ctx);
    return status == GSIM_OK ? gsim_pairs_init(&state->pairs, ctx) : status;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_servers_completed(&state->servers, ctx, slot);
    gsim_pairs_completed(&state->pairs, ctx, slot);
    state->has_freed = true;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    struct gsim_servers *servers = &state->servers;
    state->has_freed |= ctx->view->cluster.n_repairs != servers->n_repairs;
    gsim_servers_book(servers, ctx);
    gsim_pairs_keep(&state->pairs, ctx, plan);
    if (state->is_growing && servers->n_waiting + ctx->view->changes.n_arrived > 0)
        gsim_servers_shrink(servers, ctx, plan);
    gsim_servers_serve(servers, ctx, plan);
    gsim_pairs_end_slices(&state->pairs, ctx, plan);
    if (state->is_gathering && state->has_freed && gsim_servers_suffice(servers))
        state->has_freed = gsim_servers_gather(servers, ctx, plan);
    if (state->is_growing)
        gsim_servers_grow(&state->growth, servers, ctx, plan);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM_AS("affinity"),
    GSIM_PREEMPT_PARAM_AS("suspend, the paper's (0.1 to 1 s)"),
    GSIM_MEMORY_PARAM,
    {.name = "patience",
     .type = GSIM_PARAM_INT,
     .fallback = "0",
     .max = 1000000,
     .help =
         "slices for which a job that waits is passed by others that fit; then its server pushes "
         "out jobs for it first. 0: for ever, but 1 where a gang needs several servers"},
    {.name = "slice",
     .type = GSIM_PARAM_TIME,
     .fallback = "60s",
     .min = 1,
     .max = GSIM_TIME_MAX,
     .help = "how long a job runs before it gives way, from the end of its copy-in"},
    {.name = "packing", .type = GSIM_PARAM_BOOL, .fallback = "on", .help = "try two jobs on a GPU"},
    {.name = "share",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "time",
     .choices = "time|space",
     .help = "what packed jobs share: the driver's time slices, or the SMs, side by side (MPS)"},
    {.name = "migration",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "jobs move to less loaded servers and to idle GPUs, gangs are gathered"},
    {.name = "grow",
     .type = GSIM_PARAM_BOOL,
     .fallback = "off",
     .help = "give jobs idle GPUs of their node"},
    {.name = "grow_after",
     .type = GSIM_PARAM_TIME,
     .fallback = "60s",
     .min = 1,
     .max = GSIM_TIME_MAX,
     .help = "once no job has waited or come for this time (not published)"},
    {.name = "variant",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "paper",
     .choices = "paper|tiresias|gavel",
     .help = "as the paper says, or as two other simulators have it"},
    {0}};

const struct gsim_policy gsim_policy_gandiva = {
    .name = "gandiva",
    .summary = "slices at iteration ends, affinity, packing while it pays, migration",
    .paper = "Xiao et al., Gandiva, OSDI 2018",
    .deviations =
        "where no server with gangs of its size has as few rounds, a job takes turns on the "
        "least loaded server, not in a queue; jobs migrate while others wait if a quote says "
        "that they wait less by more (no published rule); a gang that does not fit is passed "
        "over (patience=0), one over several servers for a slice; a job that is packed is "
        "suspended first; variant=gavel packs single GPUs; with grow=on all jobs can",
    .shares_gpus = true,
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct gsim_gandiva_job),
    .open = open_gandiva,
    .on_completion = on_completion,
    .decide = decide,
};
