/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gandiva: jobs take turns in slices of a minute, are suspended and resumed at the ends of their
 * iterations, and the scheduler learns by looking. Source: Xiao et al., "Gandiva: Introspective
 * Cluster Scheduling for Deep Learning", OSDI 2018. Gangs go where gangs of their size are
 * (affinity), else to empty nodes, else to any GPUs. When jobs wait and one of a single GPU gets its
 * turn, another is packed onto its GPU; after the slice the work that both got done, by their
 * counters, is held against what a slice gets done between two suspensions, by quotes: the pair is
 * packed again only if packing did more; after three failures a job is left alone. When nobody
 * waits, a gang scattered over more nodes than it needs is migrated. variant=tiresias, as in that
 * simulator: nodes belong to gang sizes, nobody is packed or migrated. variant=gavel: slices of
 * 360 s, partners at random, and a pair is kept if it does more than one job alone. Deviations:
 * packed jobs share by time slices, or by SMs (share=); who waits is served round robin, not by
 * node, and a gang that does not fit is passed over, by default for ever (the paper has no rule for
 * it; patience= is this project's); the first packable job that waits is packed, where the paper takes
 * the one that a profile of its own says leaves most; variant=gavel packs jobs of one GPU, where
 * Gavel pairs any two of one width; grow=on: any job grows, since a trace does not say which could;
 * where slices are free and the trace does not say how jobs use a GPU, packing cannot pay and is
 * tried only if packing=on is said. */
#include "policies/gandiva/moves.h"
#include "policies/lib/common.h"
#include "policies/lib/settings.h"
#include "policies/lib/slices.h"
#include "sim/base/index.h"
#include "sim/base/wide.h"

enum { PAPER, TIRESIAS, GAVEL, TRIES = 3, GAVEL_SLICE_S = 360 };

struct pair {
    gsim_slot member[2]; /* GSIM_NO_SLOT: it has left */
    uint32_t gpu;
    int64_t work_ns[2]; /* when the pair was made */
    bool is_over; /* told to leave, or broken up by an end */
};

struct job {
    uint32_t friend; /* with whom packing paid: its place in the trace + 1 */
    uint32_t foe; /* with whom it last did not */
    uint8_t n_foes;
    bool is_packed;
};

struct state {
    struct gsim_slices slices; /* first */
    struct pair *pairs;
    uint32_t n_pairs, variant;
    uint64_t random;
    struct gsim_growth growth;
    bool is_packing, is_spatial, is_migrating, is_growing, has_freed;
    bool is_hopeless; /* nothing says that jobs leave GPUs idle: who slices for free packs none */
};

static struct job *own(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

/* --- packing ---------------------------------------------------------------------------------- */

/* Two on a GPU take turns, or run beside each other on whatever SMs they can fill (MPS). */
static bool share(const struct state *s, const struct gsim_ctx *ctx, struct gsim_plan *plan,
                  uint32_t gpu, gsim_slot one, gsim_slot other) {
    const struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR,
                                   .cap_ppm = s->is_spatial ? (uint32_t)GSIM_PPM : 0};
    const struct gsim_lane lanes[2] = {lane, lane};
    const struct gsim_entry entries[2] = {{.job = one}, {.job = other, .lane = s->is_spatial}};
    struct gsim_unit unit = {.gpu = gpu};
    struct gsim_arrangement how = ctx->devices ? *ctx->devices : (struct gsim_arrangement){0};
    how.lanes = lanes;
    how.n_lanes = s->is_spatial ? 2 : 1;
    how.is_served = s->is_spatial;
    how.entries = entries;
    how.n_entries = 2;
    return gsim_plan_arrange(plan, &unit, 1, &how);
}

static bool is_packable(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->view->jobs.gpus[slot] == 1 && ctx->view->jobs.share_ppm[slot] == GSIM_PPM &&
           own(ctx, slot)->n_foes < TRIES;
}

static bool may_meet(const struct gsim_ctx *ctx, gsim_slot a, gsim_slot b) {
    return own(ctx, a)->foe != ctx->view->jobs.index[b] + 1 &&
           own(ctx, b)->foe != ctx->view->jobs.index[a] + 1;
}

/* A friend if it waits, else the first packable one, or one at random. */
static gsim_slot find_partner(struct state *s, const struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_slot found = GSIM_NO_SLOT;
    uint64_t n = 0;
    for (gsim_slot other = gsim_index_first(&s->slices.waiting); other != GSIM_NO_ID;
         other = gsim_index_next(&s->slices.waiting, other)) {
        if (other == slot || !is_packable(ctx, other))
            continue;
        if (own(ctx, slot)->friend == ctx->view->jobs.index[other] + 1)
            return other;
        if (!may_meet(ctx, slot, other) || own(ctx, other)->friend)
            continue;
        n++;
        if (found == GSIM_NO_SLOT || (s->variant == GAVEL && gsim_mix_next(&s->random) % n == 0))
            found = other;
    }
    return found;
}

/* What a slice gets done between two suspensions, as a share of the time. */
static int64_t slicing_ppm(const struct state *s, const struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_quote quote =
        gsim_ask(ctx, slot, s->slices.preemption.stop, s->slices.preemption.keep, NULL, 0);
    if (s->variant == GAVEL || !quote.is_possible)
        return GSIM_PPM;
    return gsim_muldiv_floor(s->slices.slice_ns, GSIM_PPM,
                             s->slices.slice_ns + quote.save_ns + quote.resume_ns);
}

static void placed(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, uint32_t mark) {
    struct state *s = ctx->state;
    const struct gsim_unit *units;
    if (!s->is_packing || ctx->view->cluster.n_idle_gpus > 0 || !is_packable(ctx, slot) ||
        (s->is_hopeless && slicing_ppm(s, ctx, slot) == GSIM_PPM) ||
        gsim_plan_units(plan, slot, &units) != 1)
        return;
    gsim_slot partner = find_partner(s, ctx, slot);
    if (partner == GSIM_NO_SLOT)
        return;
    struct gsim_unit unit = units[0];
    gsim_plan_rollback(plan, mark);
    if (share(s, ctx, plan, unit.gpu, slot, partner) && gsim_plan_place_on(plan, slot, &unit, 1) &&
        gsim_plan_place_on(plan, partner, &unit, 1)) {
        gsim_index_remove(&s->slices.waiting, partner);
        own(ctx, slot)->is_packed = own(ctx, partner)->is_packed = true;
        int64_t done[2] = {gsim_count(ctx, slot).work_ns, gsim_count(ctx, partner).work_ns};
        s->pairs[s->n_pairs++] =
            (struct pair){{slot, partner}, unit.gpu, {done[0], done[1]}, false};
        return;
    }
    gsim_plan_rollback(plan, mark); /* no memory for both */
    (void)gsim_plan_place_on(plan, slot, &unit, 1);
}

static void judge(const struct state *s, const struct gsim_ctx *ctx, const struct pair *pair) {
    int64_t work_ns = 0, elapsed_ns = 0; /* since the first of them ran */
    for (int m = 0; m < 2; m++) {
        int64_t ran_ns = ctx->view->now_ns - ctx->view->jobs.changed_ns[pair->member[m]];
        work_ns += gsim_count(ctx, pair->member[m]).work_ns - pair->work_ns[m];
        elapsed_ns = ran_ns > elapsed_ns ? ran_ns : elapsed_ns;
    }
    bool pays = elapsed_ns > 0 && gsim_muldiv_floor(work_ns, GSIM_PPM, elapsed_ns) >
                                      slicing_ppm(s, ctx, pair->member[0]);
    for (int m = 0; m < 2; m++) {
        struct job *job = own(ctx, pair->member[m]);
        uint32_t other = ctx->view->jobs.index[pair->member[!m]] + 1;
        job->friend = pays ? other : 0;
        job->foe = pays ? 0 : other;
        job->n_foes += !pays;
    }
}

/* Slices of pairs end together, when both are due and somebody waits. */
static void end_pair(struct state *s, const struct gsim_ctx *ctx, struct gsim_plan *plan,
                     struct pair *pair) {
    for (int m = 0; m < 2; m++)
        if (pair->member[m] != GSIM_NO_SLOT &&
            gsim_slices_end_ns(&s->slices, pair->member[m]) > ctx->view->now_ns)
            return;
    if (pair->member[0] != GSIM_NO_SLOT && pair->member[1] != GSIM_NO_SLOT)
        judge(s, ctx, pair);
    pair->is_over = true;
    for (int m = 0; m < 2; m++)
        if (pair->member[m] != GSIM_NO_SLOT) {
            (void)gsim_plan_preempt(plan, pair->member[m], s->slices.preemption.stop,
                                    s->slices.preemption.keep);
            gsim_index_remove(&s->slices.running, pair->member[m]);
        }
}

/* A GPU that both have left can be had whole again. */
static void keep_pairs(struct state *s, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    for (uint32_t p = 0; p < s->n_pairs;) {
        struct pair *pair = &s->pairs[p];
        for (int m = 0; m < 2; m++)
            if (pair->member[m] != GSIM_NO_SLOT && pair->is_over &&
                gsim_common_waits(ctx->view, pair->member[m])) {
                own(ctx, pair->member[m])->is_packed = false;
                pair->member[m] = GSIM_NO_SLOT;
            }
        if (pair->member[0] == GSIM_NO_SLOT && pair->member[1] == GSIM_NO_SLOT) {
            (void)gsim_settings_make_whole(ctx, plan, pair->gpu);
            *pair = s->pairs[--s->n_pairs];
            continue;
        }
        if (!pair->is_over && s->slices.waiting.n > 0)
            end_pair(s, ctx, plan, pair);
        p++;
    }
}

/* --- hooks ------------------------------------------------------------------------------------ */

static int64_t rank(const struct gsim_ctx *ctx, gsim_slot slot) {
    (void)slot;
    return ctx->view->now_ns; /* round robin */
}

static bool yields(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot victim,
                   gsim_slot slot) {
    (void)plan, (void)slot;
    return !own(ctx, victim)->is_packed; /* pairs leave together, see end_pair */
}

static enum gsim_status open_gandiva(struct gsim_ctx *ctx) {
    struct state *s = ctx->state;
    s->variant = (uint32_t)gsim_param(ctx->params, "variant");
    s->is_packing = gsim_param(ctx->params, "packing") && s->variant != TIRESIAS;
    s->is_spatial = gsim_param(ctx->params, "share") == 1;
    s->is_hopeless = !gsim_param_full(ctx->params, "packing")->is_set && !gsim_common_sees_use(ctx);
    s->is_migrating = gsim_param(ctx->params, "migration") && s->variant == PAPER;
    s->is_growing = gsim_param(ctx->params, "grow") && s->variant == PAPER;
    s->growth.after_ns = gsim_param(ctx->params, "grow_after");
    enum gsim_status status = gsim_settings_open_memory(ctx);
    s->slices = (struct gsim_slices){.slice_ns = gsim_param(ctx->params, "slice"),
                                     .scatters = s->variant != TIRESIAS,
                                     .rank = rank,
                                     .yields = yields,
                                     .preemption = gsim_settings_preemption(ctx, GSIM_KEEP_HOST),
                                     .placed = placed};
    if (s->variant == GAVEL && !gsim_param_full(ctx->params, "slice")->is_set)
        s->slices.slice_ns = GAVEL_SLICE_S * GSIM_NS_PER_S;
    gsim_slices_init(&s->slices, ctx);
    s->pairs = gsim_arena_array(ctx->arena, ctx->view->cluster.n_gpus, sizeof *s->pairs);
    return s->pairs ? status : gsim_no_memory(ctx->log, "opening gandiva");
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *s = ctx->state;
    gsim_slices_completed(&s->slices, slot);
    s->has_freed = true;
    for (uint32_t p = 0; p < s->n_pairs && own(ctx, slot)->is_packed; p++)
        for (int m = 0; m < 2; m++)
            if (s->pairs[p].member[m] == slot)
                s->pairs[p].member[m] = GSIM_NO_SLOT;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *s = ctx->state;
    gsim_slices_book(&s->slices, ctx);
    keep_pairs(s, ctx, plan);
    if (s->is_growing && s->slices.waiting.n > 0)
        gsim_moves_shrink(&s->slices, ctx, plan);
    gsim_slices_decide(&s->slices, ctx, plan);
    if (s->is_growing)
        gsim_moves_grow(&s->growth, &s->slices, ctx, plan);
    if (s->is_migrating && s->has_freed && s->slices.waiting.n == 0)
        s->has_freed = gsim_moves_gather(&s->slices, ctx, plan);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM_AS("affinity"),
    GSIM_PREEMPT_PARAM_AS("suspend, the paper's (0.1 to 1 s)"),
    GSIM_MEMORY_PARAM,
    GSIM_PATIENCE_PARAM_AS("0"),
    {.name = "slice",
     .type = GSIM_PARAM_TIME,
     .fallback = "60s",
     .min = 1,
     .max = GSIM_TIME_MAX,
     .help = "how long a job runs before it gives way, from the end of its copy-in"},
    {.name = "packing", .type = GSIM_PARAM_BOOL, .fallback = "on", .help = "try two on a GPU"},
    {.name = "share",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "time",
     .choices = "time|space",
     .help = "what packed jobs share: the driver's time slices, or the SMs, side by side (MPS)"},
    {.name = "migration", .type = GSIM_PARAM_BOOL, .fallback = "on", .help = "gather gangs"},
    {.name = "grow",
     .type = GSIM_PARAM_BOOL,
     .fallback = "off",
     .help = "give jobs idle GPUs of their node"},
    {.name = "grow_after",
     .type = GSIM_PARAM_TIME,
     .fallback = "60s",
     .min = 1,
     .max = GSIM_TIME_MAX,
     .help = "once nobody has waited or come for so long (not published)"},
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
    .deviations = "one round robin for the cluster passes over wide gangs (patience=0); the "
                  "first packable job is packed, not the least utilised, and judged when a job "
                  "waits; variant=gavel packs single GPUs; with grow=on all jobs can; a job "
                  "comes back where there is room, not on its own server",
    .shares_gpus = true,
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct job),
    .open = open_gandiva,
    .on_completion = on_completion,
    .decide = decide,
};
