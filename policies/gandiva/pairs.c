/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gandiva's packing: two jobs of one GPU on one GPU. Source: Xiao et al., "Gandiva", OSDI 2018,
 * section 4.3. Jobs first run alone, in turns, and that is when they are profiled: which part of
 * the time the GPU had kernels of the job. While GPUs are short, a job that gets its turn is
 * packed with the job of the lowest utilisation among those that wait on its server and the one
 * that it pushes out. At the end of a slice the work that both got done, by their counters, is
 * held against what a slice of each gets done between two suspensions, by quotes: if packing did
 * less, the pair is undone, and the two are not packed with each other next; after three failures a
 * job is left alone. When GPUs are idle a pair is taken apart if what it lacks of two jobs alone
 * is more, in a slice, than the move takes. */
#include "policies/gandiva/servers.h"
#include "policies/lib/common.h"
#include "policies/lib/settings.h"

enum { TRIES = 3 };

static struct gsim_packable *own(const struct gsim_ctx *ctx, gsim_slot slot) {
    return &((struct gsim_gandiva_job *)gsim_job_state(ctx, slot))->packable;
}

/* --- profiles ---------------------------------------------------------------------------- */

/* Adds the time that the job has run, and had kernels, since its counters were last asked, if it
 * ran alone. The failure of a node takes back counters of work, also of a job that waits and keeps
 * the time that it ran: they are asked whenever a job is stopped or begins, so that no run is
 * counted without its work. */
void gsim_pairs_profile(const struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_packable *job = own(ctx, slot);
    int64_t busy_ns = gsim_count(ctx, slot).busy_ns, ran_ns = gsim_ran_ns(ctx->view, slot);
    if (!job->is_packed && busy_ns >= job->seen_busy_ns) {
        job->busy_ns += busy_ns - job->seen_busy_ns;
        job->ran_ns += ran_ns - job->seen_ran_ns;
    }
    job->seen_busy_ns = busy_ns;
    job->seen_ran_ns = ran_ns;
}

/* The part of its time alone in which the job had kernels on its GPU; above 1 where it has not run
 * for a slice yet, so that nothing is known. */
static int64_t utilisation_ppm(const struct gsim_pairs *pairs, const struct gsim_ctx *ctx,
                               gsim_slot slot) {
    const struct gsim_packable *job = own(ctx, slot);
    gsim_pairs_profile(ctx, slot);
    if (job->ran_ns < pairs->servers->slice_ns)
        return GSIM_PPM + 1;
    return gsim_muldiv_floor(job->busy_ns, GSIM_PPM, job->ran_ns);
}

/* --- making a pair ----------------------------------------------------------------------- */

/* Two jobs on a GPU take turns, or run side by side on the SMs that they can fill (MPS). */
static bool share(const struct gsim_pairs *pairs, const struct gsim_ctx *ctx,
                  struct gsim_plan *plan, uint32_t gpu, gsim_slot one, gsim_slot other) {
    const struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR,
                                   .cap_ppm = pairs->is_spatial ? (uint32_t)GSIM_PPM : 0};
    const struct gsim_lane lanes[2] = {lane, lane};
    const struct gsim_entry entries[2] = {{.job = one}, {.job = other, .lane = pairs->is_spatial}};
    struct gsim_unit unit = {.gpu = gpu};
    struct gsim_arrangement how = ctx->devices ? *ctx->devices : (struct gsim_arrangement){0};
    how.lanes = lanes;
    how.n_lanes = pairs->is_spatial ? 2 : 1;
    how.is_served = pairs->is_spatial;
    how.entries = entries;
    how.n_entries = 2;
    return gsim_plan_arrange(plan, &unit, 1, &how);
}

static bool is_packable(const struct gsim_pairs *pairs, const struct gsim_ctx *ctx,
                        gsim_slot slot) {
    return gsim_turn_is_single(ctx, slot) && own(ctx, slot)->n_foes < TRIES &&
           (!pairs->is_introspective || utilisation_ppm(pairs, ctx, slot) <= GSIM_PPM);
}

static bool may_meet(const struct gsim_ctx *ctx, gsim_slot a, gsim_slot b) {
    return own(ctx, a)->foe != ctx->view->jobs.index[b] + 1 &&
           own(ctx, b)->foe != ctx->view->jobs.index[a] + 1;
}

/* The search for a partner. */
struct search {
    const struct gsim_pairs *pairs;
    gsim_slot slot, found;
    int64_t least_ppm; /* utilisation of the job that is found */
    uint64_t n; /* jobs seen so far */
    bool is_friend;
};

static void consider(struct search *search, struct gsim_ctx *ctx, struct gsim_random *random,
                     gsim_slot other) {
    gsim_slot slot = search->slot;
    if (other == slot || search->is_friend || own(ctx, other)->is_packed ||
        !is_packable(search->pairs, ctx, other))
        return;
    search->is_friend = own(ctx, slot)->friend == other + 1;
    if (search->is_friend)
        search->found = other;
    if (search->is_friend || !may_meet(ctx, slot, other) || own(ctx, other)->friend)
        return;
    search->n++;
    if (search->pairs->is_introspective) {
        int64_t ppm = utilisation_ppm(search->pairs, ctx, other);
        if (search->found != GSIM_NO_SLOT && ppm >= search->least_ppm)
            return;
        search->least_ppm = ppm;
        search->found = other;
    } else if (search->found == GSIM_NO_SLOT || gsim_random_below(random, search->n) == 0) {
        search->found = other;
    }
}

/* A friend if it waits, or is pushed out; else the job of the lowest utilisation, or one at
 * random. */
static gsim_slot find_partner(struct gsim_pairs *pairs, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_servers *servers = pairs->servers;
    struct search search = {.pairs = pairs, .slot = slot, .found = GSIM_NO_SLOT};
    const struct gsim_server *at = &servers->of[gsim_turn_of(ctx, slot)->only.server];
    for (gsim_slot other = at->line.first; other != GSIM_NO_SLOT;
         other = gsim_turn_of(ctx, other)->after)
        consider(&search, ctx, &pairs->random, other);
    for (uint32_t v = 0; v < servers->eviction.n && pairs->is_introspective; v++)
        consider(&search, ctx, &pairs->random, servers->eviction.victims[v].slot);
    return search.found;
}

/* What a slice of the job costs: a suspension and the way back. */
static int64_t slice_costs_ns(const struct gsim_pairs *pairs, const struct gsim_ctx *ctx,
                              gsim_slot slot) {
    const struct gsim_preemption *way = &pairs->servers->preemption;
    struct gsim_quote quote = gsim_ask(ctx, slot, way->stop, way->keep, NULL, 0);
    return quote.is_possible ? quote.save_ns + quote.resume_ns : 0;
}

/* The work of two slices, one of each job, as a share of the time that they take with what each of
 * them costs. */
static int64_t slicing_ppm(const struct gsim_pairs *pairs, const struct gsim_ctx *ctx,
                           gsim_slot one, gsim_slot other) {
    int64_t work_ns = gsim_common_times(2, pairs->servers->slice_ns);
    if (!pairs->is_introspective)
        return GSIM_PPM;
    int64_t costs_ns = slice_costs_ns(pairs, ctx, one) + slice_costs_ns(pairs, ctx, other);
    return gsim_muldiv_floor(work_ns, GSIM_PPM, work_ns + costs_ns);
}

/* Notes whether slices of jobs that have come cost time. */
static void look_at_costs(struct gsim_pairs *pairs, const struct gsim_ctx *ctx) {
    for (uint32_t i = 0; i < ctx->view->changes.n_arrived && !pairs->have_costs; i++)
        pairs->have_costs = slice_costs_ns(pairs, ctx, ctx->view->changes.arrived[i]) > 0;
}

/* Without looking for a partner, which is among all jobs that wait. */
static bool may_pay(struct gsim_pairs *pairs, const struct gsim_ctx *ctx, gsim_slot slot) {
    if (!pairs->is_hopeless || !pairs->is_introspective)
        return !pairs->is_hopeless;
    pairs->have_costs = pairs->have_costs || slice_costs_ns(pairs, ctx, slot) > 0;
    return pairs->have_costs;
}

static struct gsim_server *server_of(const struct gsim_pairs *pairs, const struct gsim_ctx *ctx,
                                     uint32_t gpu) {
    return &pairs->servers->of[pairs->servers->is_one ? 0 : ctx->view->cluster.node_of_gpu[gpu]];
}

static void time_begins(const struct gsim_ctx *ctx, struct gsim_pair *pair) {
    pair->since_ns = ctx->view->now_ns;
    for (int m = 0; m < 2; m++)
        pair->work_ns[m] = gsim_count(ctx, pair->member[m]).work_ns;
}

static void begin_pair(struct gsim_pairs *pairs, struct gsim_ctx *ctx, gsim_slot slot,
                       gsim_slot partner, uint32_t gpu, bool joins_later) {
    for (int m = 0; m < 2; m++) {
        struct gsim_packable *job = own(ctx, m ? partner : slot);
        gsim_pairs_profile(ctx, m ? partner : slot);
        job->is_packed = true;
    }
    server_of(pairs, ctx, gpu)->n_pairs++;
    struct gsim_pair *pair = &pairs->of[pairs->n++];
    *pair = (struct gsim_pair){.member = {slot, partner}, .gpu = gpu, .joins_later = joins_later};
    time_begins(ctx, pair);
}

/* On its server, or on others of which the lines leave it so. */
static bool is_any_idle(const struct gsim_pairs *pairs, const struct gsim_ctx *ctx,
                        gsim_slot slot) {
    const struct gsim_servers *servers = pairs->servers;
    uint32_t server = gsim_turn_of(ctx, slot)->only.server;
    return servers->idle_elsewhere > 0 || gsim_servers_idle(servers, ctx->view, server) > 0;
}

bool gsim_pairs_pack(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot slot, uint32_t mark) {
    const struct gsim_unit *units;
    if (!pairs->is_on || is_any_idle(pairs, ctx, slot) || !is_packable(pairs, ctx, slot) ||
        !may_pay(pairs, ctx, slot) || gsim_plan_units(plan, slot, &units) != 1)
        return false;
    gsim_slot partner = find_partner(pairs, ctx, slot);
    if (partner == GSIM_NO_SLOT ||
        (pairs->is_hopeless && slicing_ppm(pairs, ctx, slot, partner) == GSIM_PPM))
        return false;
    struct gsim_unit unit = units[0];
    bool joins_later = !gsim_common_waits(ctx->view, partner);
    gsim_plan_rollback(plan, mark);
    if (share(pairs, ctx, plan, unit.gpu, slot, partner) &&
        gsim_plan_place_on(plan, slot, &unit, 1) &&
        (joins_later || gsim_plan_place_on(plan, partner, &unit, 1))) {
        begin_pair(pairs, ctx, slot, partner, unit.gpu, joins_later);
        if (!joins_later)
            gsim_servers_has_placed(pairs->servers, ctx, plan, partner);
        return true;
    }
    gsim_plan_rollback(plan, mark); /* no memory for both */
    (void)gsim_plan_place_on(plan, slot, &unit, 1);
    return false;
}

/* --- undoing it -------------------------------------------------------------------------- */

static void drop(const struct gsim_ctx *ctx, struct gsim_pair *pair, int m) {
    gsim_pairs_profile(ctx, pair->member[m]);
    own(ctx, pair->member[m])->is_packed = false;
    pair->member[m] = GSIM_NO_SLOT;
}

/* The work of the pair since both run, as a share of the time. */
static int64_t packed_ppm(const struct gsim_ctx *ctx, const struct gsim_pair *pair) {
    int64_t work_ns = 0, elapsed_ns = ctx->view->now_ns - pair->since_ns;
    for (int m = 0; m < 2; m++)
        work_ns += gsim_count(ctx, pair->member[m]).work_ns - pair->work_ns[m];
    return elapsed_ns > 0 ? gsim_muldiv_floor(work_ns, GSIM_PPM, elapsed_ns) : 0;
}

/* The friend of the job, if it has one, and the job have been friends. */
static void part(const struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_packable *job = own(ctx, slot);
    if (job->friend)
        own(ctx, job->friend - 1)->friend = 0;
    job->friend = 0;
}

/* Whether packing pays. Friends are so of each other: a job that has found another one is free for
 * its old friend no more, which may be packed with others then. */
static bool judge(const struct gsim_pairs *pairs, const struct gsim_ctx *ctx,
                  const struct gsim_pair *pair) {
    bool pays = packed_ppm(ctx, pair) > slicing_ppm(pairs, ctx, pair->member[0], pair->member[1]);
    for (int m = 0; m < 2; m++) {
        struct gsim_packable *job = own(ctx, pair->member[m]);
        if (pays || job->friend == pair->member[!m] + 1)
            part(ctx, pair->member[m]);
        job->foe = pays ? 0 : ctx->view->jobs.index[pair->member[!m]] + 1;
        job->n_foes += !pays;
    }
    for (int m = 0; m < 2 && pays; m++)
        own(ctx, pair->member[m])->friend = pair->member[!m] + 1;
    return pays;
}

static bool is_whole(const struct gsim_pair *pair) {
    return pair->member[0] != GSIM_NO_SLOT && pair->member[1] != GSIM_NO_SLOT;
}

/* Moves the second job to an idle GPU, if the cost is won back within a slice. */
static bool split(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_plan *plan,
                  struct gsim_pair *pair) {
    gsim_slot slot = pair->member[1];
    if (ctx->view->cluster.n_idle_gpus == 0)
        return false;
    uint32_t mark = gsim_plan_mark(plan);
    struct gsim_preemption way = gsim_servers_way(pairs->servers);
    struct gsim_quote quote = gsim_ask(ctx, slot, way.stop, way.keep, NULL, 0);
    struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_ANY);
    int64_t lacks_ppm = 2 * GSIM_PPM - packed_ppm(ctx, pair);
    if (!quote.is_possible || way.keep == GSIM_KEEP_DISCARD ||
        gsim_muldiv_floor(lacks_ppm, pairs->servers->slice_ns, GSIM_PPM) <=
            quote.save_ns + quote.resume_ns)
        return false;
    shape.within = pairs->servers->is_one ? 0 : ctx->view->cluster.node_of_gpu[pair->gpu] + 1;
    bool is_moved = gsim_servers_move(pairs->servers, plan, slot, &shape);
    shape.within = 0;
    if (!is_moved && !gsim_servers_move(pairs->servers, plan, slot, &shape)) {
        gsim_plan_rollback(plan, mark);
        return false;
    }
    gsim_servers_has_stopped(pairs->servers, ctx, slot);
    gsim_servers_note_units(pairs->servers, ctx, plan, slot);
    drop(ctx, pair, 1);
    return true;
}

static void renew(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_pair *pair) {
    time_begins(ctx, pair);
    for (int m = 0; m < 2; m++) {
        gsim_turn_of(ctx, pair->member[m])->since_ns = ctx->view->now_ns;
        gsim_servers_enlist(pairs->servers, ctx, pair->member[m], GSIM_TURN_RUNS);
    }
}

static void stop(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_plan *plan,
                 struct gsim_pair *pair) {
    const struct gsim_preemption *way = &pairs->servers->preemption;
    pair->is_over = true;
    for (int m = 0; m < 2; m++)
        if (pair->member[m] != GSIM_NO_SLOT) {
            (void)gsim_plan_preempt(plan, pair->member[m], way->stop, way->keep);
            gsim_servers_is_pushed_out(pairs->servers, ctx, pair->member[m]);
        }
}

/* Slices of pairs end together, when both are over. */
static void end_slice(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      struct gsim_pair *pair) {
    const struct gsim_server *at = server_of(pairs, ctx, pair->gpu);
    bool is_wanted = at->line.n + at->n_wide_waiting > 0;
    for (int m = 0; m < 2; m++)
        if (pair->member[m] != GSIM_NO_SLOT &&
            gsim_turn_end_ns(pairs->servers, ctx, pair->member[m]) > ctx->view->now_ns)
            return;
    if (!is_wanted && (!is_whole(pair) || !pairs->is_introspective))
        return;
    bool pays = is_whole(pair) && judge(pairs, ctx, pair);
    if (is_wanted)
        stop(pairs, ctx, plan, pair);
    else if (split(pairs, ctx, plan, pair))
        return;
    else if (pays)
        renew(pairs, ctx, pair);
    else
        stop(pairs, ctx, plan, pair);
}

/* The job that was pushed out to be packed is off its GPU, and comes back to it. */
static void join(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_plan *plan,
                 struct gsim_pair *pair) {
    struct gsim_unit unit = {.gpu = pair->gpu};
    gsim_slot slot = pair->member[1];
    uint32_t mark = gsim_plan_mark(plan);
    pair->joins_later = false;
    if (pair->member[0] != GSIM_NO_SLOT && !pair->is_over &&
        share(pairs, ctx, plan, pair->gpu, pair->member[0], slot) &&
        gsim_plan_place_on(plan, slot, &unit, 1)) {
        gsim_servers_has_placed(pairs->servers, ctx, plan, slot);
        time_begins(ctx, pair);
        return;
    }
    gsim_plan_rollback(plan, mark);
    drop(ctx, pair, 1);
}

/* Whether a job of the pair, which both run, began after the time of the pair did: the time begins
 * when the pair is placed, and anew when the jobs do not run at once. */
static bool began_later(const struct gsim_ctx *ctx, const struct gsim_pair *pair) {
    for (int m = 0; m < 2; m++)
        if (ctx->view->jobs.state[pair->member[m]] != GSIM_RUNNING)
            return false;
    return gsim_turn_of(ctx, pair->member[0])->since_ns > pair->since_ns ||
           gsim_turn_of(ctx, pair->member[1])->since_ns > pair->since_ns;
}

static void keep_pair(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      struct gsim_pair *pair) {
    const struct gsim_view *view = ctx->view;
    gsim_slot second = pair->member[1];
    if (pair->joins_later && second != GSIM_NO_SLOT && gsim_common_waits(view, second))
        join(pairs, ctx, plan, pair);
    for (int m = 0; m < 2; m++)
        if (pair->member[m] != GSIM_NO_SLOT && pair->is_over &&
            gsim_common_waits(view, pair->member[m]))
            drop(ctx, pair, m);
    if (is_whole(pair) && !pair->is_over && began_later(ctx, pair))
        time_begins(ctx, pair);
}

/* A GPU that both jobs have left is whole again. Pairs stay in the order in which they were made:
 * two of them may want one idle GPU. */
void gsim_pairs_keep(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    uint32_t n = 0;
    if (pairs->is_on && pairs->is_hopeless)
        look_at_costs(pairs, ctx);
    for (uint32_t p = 0; p < pairs->n; p++) {
        struct gsim_pair *pair = &pairs->of[p];
        keep_pair(pairs, ctx, plan, pair);
        if (pair->member[0] == GSIM_NO_SLOT && pair->member[1] == GSIM_NO_SLOT) {
            (void)gsim_settings_make_whole(ctx, plan, pair->gpu);
            server_of(pairs, ctx, pair->gpu)->n_pairs--;
            continue;
        }
        if (!pair->is_over)
            end_slice(pairs, ctx, plan, pair);
        pairs->of[n++] = *pair;
    }
    pairs->n = n;
}

void gsim_pairs_end_slices(struct gsim_pairs *pairs, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    for (uint32_t p = 0; p < pairs->n; p++)
        if (!pairs->of[p].is_over)
            end_slice(pairs, ctx, plan, &pairs->of[p]);
}

void gsim_pairs_completed(struct gsim_pairs *pairs, const struct gsim_ctx *ctx, gsim_slot slot) {
    part(ctx, slot);
    for (uint32_t p = 0; p < pairs->n && own(ctx, slot)->is_packed; p++)
        for (int m = 0; m < 2; m++)
            if (pairs->of[p].member[m] == slot)
                pairs->of[p].member[m] = GSIM_NO_SLOT;
}

enum gsim_status gsim_pairs_init(struct gsim_pairs *pairs, struct gsim_ctx *ctx) {
    pairs->of = gsim_arena_array(ctx->arena, ctx->view->cluster.n_gpus, sizeof *pairs->of);
    return pairs->of ? GSIM_OK : gsim_no_memory(ctx->log, "opening gandiva");
}
