/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which two jobs share a GPU, and when any do. Lucid sorts jobs into three classes by what they do
 * to others on a GPU; it learns the classes from measurements of pairs. Here the class is that of
 * the speed that the job would have on average beside each job that was measured so far, if the
 * two took turns: in the time of one, both run at full speed where their parts of the time with
 * kernels come to no more than 1, and at 1 over the sum where they do. Where --rates has rows of
 * models beside each other, the speed is theirs, as a part of that alone, and 0 beside a model for
 * which there is no row; only jobs with rows beside each other share. */
#include "policies/lib/common.h"
#include "policies/lucid/lucid.h"

enum { UNKNOWN = 100 };

/* Among the jobs that were measured, a job that failed and was measured again once. */
static void count(struct lucid *lucid, const struct lucid_job *job, struct lucid_end *own) {
    int64_t part = job->use_ppm * (LUCID_PARTS - 1) / GSIM_PPM;
    if (own->is_measured)
        return;
    own->is_measured = true;
    lucid->used[part]++;
    lucid->last_used[lucid->n_measured++ % LUCID_PARTS] = (uint8_t)part;
    if (job->kind != GSIM_NO_KIND)
        lucid->n_of_kind[job->kind]++;
}

void lucid_measure(struct gsim_ctx *ctx, gsim_slot slot) {
    struct lucid *lucid = ctx->state;
    struct lucid_job *job = lucid_job(ctx, slot);
    int64_t ran_ns = gsim_ran_ns(ctx->view, slot), busy_ns = gsim_count(ctx, slot).busy_ns;
    if (ran_ns <= 0)
        return;
    bool is_seen = gsim_common_sees_use(ctx);
    job->use_ppm =
        is_seen && busy_ns < ran_ns ? gsim_muldiv_floor(busy_ns, GSIM_PPM, ran_ns) : GSIM_PPM;
    job->n_counted = job->sum_ppm = 0;
    job->kind = lucid->pairs ? gsim_rates_of_job(ctx->view->trace, ctx->view->jobs.index[slot])
                             : GSIM_NO_KIND;
    count(lucid, job, &lucid->end[ctx->view->jobs.index[slot]]);
}

/* --- by a table of pairs ---------------------------------------------------------------------- */

static struct gsim_tempo tempo_of(const struct lucid *lucid, uint32_t kind) {
    return gsim_rates_find(lucid->pairs, kind, lucid->device, 1, 1, gsim_host_ample).tempo;
}

/* The speed of a model beside another one, as a part of its speed alone; to the nearest, so that 95
 * of 100 iterations a second are 95 %. */
static int64_t paired_ppm(const struct lucid *lucid, uint32_t kind, uint32_t other) {
    uint32_t beside = gsim_rates_beside(lucid->pairs, kind, other);
    if (beside == GSIM_NO_KIND)
        return 0;
    struct gsim_tempo alone = tempo_of(lucid, kind), paired = tempo_of(lucid, beside);
    if (alone.digits == 0 || paired.digits == 0)
        return 0;
    const gsim_u128 half = (gsim_u128)1 << 63;
    return (int64_t)((gsim_tempo_ratio_q64(paired, alone) * GSIM_PPM + half) >> 64);
}

/* Adds up the speeds beside all measured jobs; returns how many have a model in the table. */
static int64_t sum_paired(const struct lucid *lucid, struct lucid_job *job) {
    int64_t n = 0;
    job->sum_ppm = 0;
    for (uint32_t other = 0; other < lucid->pairs->n_kinds; other++) {
        if (lucid->n_of_kind[other] == 0)
            continue;
        job->sum_ppm += lucid->n_of_kind[other] * paired_ppm(lucid, job->kind, other);
        n += lucid->n_of_kind[other];
    }
    return n;
}

static bool runs_beside(struct gsim_ctx *ctx, gsim_slot slot, gsim_slot other, uint32_t gpu) {
    struct gsim_where where = {
        .type = ctx->view->cluster.type[gpu], .gpus = 1, .beside = other + 1};
    return gsim_ask_rate(ctx, slot, &where).digits > 0;
}

/* --- by the use of the GPU -------------------------------------------------------------------- */

/* Of the speed alone. */
static int64_t speed_ppm(int64_t use_ppm, int64_t other_ppm) {
    int64_t sum_ppm = use_ppm + other_ppm;
    return sum_ppm <= GSIM_PPM ? GSIM_PPM : gsim_muldiv_floor(GSIM_PPM, GSIM_PPM, sum_ppm);
}

static int64_t speed_beside_ppm(const struct lucid_job *job, int64_t part) {
    return speed_ppm(job->use_ppm, part * GSIM_PPM / (LUCID_PARTS - 1));
}

/* Adds the job's speeds beside the jobs that were measured since it was looked at last; beside all
 * of them, where more were measured than parts are told apart. */
static void catch_up(const struct lucid *lucid, struct lucid_job *job) {
    bool is_far_behind = lucid->n_measured - job->n_counted > LUCID_PARTS;
    if (is_far_behind)
        job->sum_ppm = 0;
    for (int64_t part = 0; is_far_behind && part < LUCID_PARTS; part++)
        job->sum_ppm += (int64_t)lucid->used[part] * speed_beside_ppm(job, part);
    for (int64_t n = job->n_counted; !is_far_behind && n < lucid->n_measured; n++)
        job->sum_ppm += speed_beside_ppm(job, lucid->last_used[n % LUCID_PARTS]);
    job->n_counted = lucid->n_measured;
}

uint32_t lucid_score(const struct lucid *lucid, struct lucid_job *job) {
    if (job->use_ppm < 0 || lucid->n_measured == 0)
        return UNKNOWN;
    int64_t n = lucid->n_measured;
    if (lucid->pairs && job->kind == GSIM_NO_KIND)
        return UNKNOWN;
    if (lucid->pairs)
        n = sum_paired(lucid, job);
    else
        catch_up(lucid, job);
    int64_t mean_ppm = job->sum_ppm / n;
    return mean_ppm >= lucid->tiny_ppm ? 0 : mean_ppm >= lucid->medium_ppm ? 1 : 2;
}

/* --- a partner -------------------------------------------------------------------------------- */

/* Two classes come to no more than the limit; the guest is not much longer than its host. */
static bool suits(struct gsim_ctx *ctx, const struct lucid *lucid, gsim_slot slot, uint32_t score,
                  uint32_t gpu) {
    const struct gsim_view *view = ctx->view;
    struct lucid_job *host = lucid_job(ctx, lucid->host[gpu]);
    if (lucid->pairs && (!runs_beside(ctx, slot, lucid->host[gpu], gpu) ||
                         !runs_beside(ctx, lucid->host[gpu], slot, gpu)))
        return false;
    return score + lucid_score(lucid, host) <= lucid->most_score &&
           lucid_job(ctx, slot)->key / 2 <= host->key &&
           view->cluster.mem_used[gpu] + gsim_job_memory(view, slot) <=
               view->cluster.hbm_bytes[gpu];
}

/* Whether the GPU has one sharer alone. */
static bool is_open(const struct gsim_ctx *ctx, const struct lucid *lucid, uint32_t gpu) {
    return lucid->n_sharers[gpu] == 1 && ctx->view->cluster.clients[gpu] == 1;
}

static int64_t room_on(const struct gsim_ctx *ctx, uint32_t gpu) {
    return ctx->view->cluster.hbm_bytes[gpu] - ctx->view->cluster.mem_used[gpu];
}

/* No job in line is of a lower class: that of a job with less use than the least is none above. By
 * a table of pairs any may be of the lowest. */
static uint32_t lowest_class(struct lucid *lucid) {
    int64_t part = 0;
    if (lucid->pairs)
        return 0;
    while (part < LUCID_PARTS && lucid->n_by_use[part] == 0)
        part++;
    if (part == LUCID_PARTS)
        return UNKNOWN;
    int64_t use_ppm = part * GSIM_PPM / (LUCID_PARTS - 1);
    if (lucid->least_use.use_ppm != use_ppm)
        lucid->least_use = (struct lucid_job){.use_ppm = use_ppm};
    return lucid_score(lucid, &lucid->least_use);
}

/* A host has room for each class that does not come to too much with its own. */
void lucid_find_hosts(struct gsim_ctx *ctx) {
    struct lucid *lucid = ctx->state;
    for (uint32_t class = 0; class < LUCID_CLASSES; class ++)
        lucid->room_bytes[class] = -1;
    for (uint32_t gpu = 0; gpu < lucid->n_main && lucid->shares; gpu++) {
        if (!is_open(ctx, lucid, gpu))
            continue;
        uint32_t score = lucid_score(lucid, lucid_job(ctx, lucid->host[gpu]));
        int64_t room = room_on(ctx, gpu);
        for (uint32_t class = 0; class < LUCID_CLASSES; class ++)
            if (class + score <= lucid->most_score && room > lucid->room_bytes[class])
                lucid->room_bytes[class] = room;
    }
    lucid->lowest_class = lowest_class(lucid);
}

int64_t lucid_asks_to_share(const struct gsim_ctx *ctx, gsim_slot slot) {
    bool may_share = ctx->view->jobs.gpus[slot] == 1 && lucid_job(ctx, slot)->use_ppm >= 0;
    return may_share ? gsim_job_memory(ctx->view, slot) : INT64_MAX;
}

void lucid_count_waiting(struct lucid *lucid, const struct lucid_job *job, int by) {
    if (job->use_ppm >= 0)
        lucid->n_by_use[job->use_ppm * (LUCID_PARTS - 1) / GSIM_PPM] += (uint32_t)by;
}

int64_t lucid_widest_room(const struct lucid *lucid) {
    int64_t widest = -1;
    for (uint32_t class = lucid->lowest_class; class < LUCID_CLASSES; class ++)
        widest = lucid->room_bytes[class] > widest ? lucid->room_bytes[class] : widest;
    return widest;
}

/* The GPU with the job that does the least to others, of equals the first; n_main: none suits. */
static uint32_t find_host(struct gsim_ctx *ctx, struct lucid *lucid, gsim_slot slot,
                          uint32_t score) {
    uint32_t best = lucid->n_main, least = 0;
    for (uint32_t gpu = 0; gpu < lucid->n_main; gpu++) {
        if (!is_open(ctx, lucid, gpu) || !suits(ctx, lucid, slot, score, gpu))
            continue;
        uint32_t other = lucid_score(lucid, lucid_job(ctx, lucid->host[gpu]));
        if (best == lucid->n_main || other < least) {
            best = gpu;
            least = other;
        }
    }
    return best;
}

/* Without a table of pairs, a job finds no host where one before it found none that does as much to
 * others and asks for as much memory. */
bool lucid_pack(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct lucid *lucid = ctx->state;
    uint32_t score = lucid_score(lucid, lucid_job(ctx, slot));
    int64_t mem_bytes = gsim_job_memory(ctx->view, slot);
    if (ctx->view->jobs.gpus[slot] != 1 || score > lucid->most_score ||
        mem_bytes > lucid->room_bytes[score])
        return false;
    uint32_t best = find_host(ctx, lucid, slot, score);
    if (best == lucid->n_main && !lucid->pairs)
        lucid->room_bytes[score] = mem_bytes - 1;
    struct gsim_unit unit = {.gpu = best};
    if (best == lucid->n_main || !gsim_plan_place_on(plan, slot, &unit, 1))
        return false;
    lucid_job(ctx, slot)->sharing.gpu = best + 1;
    lucid->guest[best] = slot;
    lucid->n_sharers[best] = 2;
    return true;
}

/* --- when ------------------------------------------------------------------------------------- */

bool lucid_binder_arrival(const struct gsim_ctx *ctx, struct lucid *lucid) {
    int64_t *grown = gsim_arena_room(ctx->arena, lucid->arrived_ns, lucid->n_arrived,
                                     &lucid->room_arrived, sizeof *grown);
    if (!grown)
        return false;
    lucid->arrived_ns = grown;
    lucid->arrived_ns[lucid->n_arrived++] = ctx->view->now_ns;
    return true;
}

/* Jobs share while no fewer arrive than on average so far. */
void lucid_binder_look(struct lucid *lucid, int64_t now_ns) {
    if (lucid->binder != LUCID_BIND_AUTO)
        lucid->shares = lucid->binder == LUCID_BIND_ON;
    if (lucid->binder != LUCID_BIND_AUTO || now_ns < lucid->next_look_ns || lucid->n_arrived == 0)
        return;
    lucid->next_look_ns = now_ns + lucid->look_ns;
    while (lucid->first_recent < lucid->n_arrived &&
           lucid->arrived_ns[lucid->first_recent] < now_ns - lucid->window_ns)
        lucid->first_recent++;
    gsim_i128 recent = lucid->n_arrived - lucid->first_recent;
    int64_t since_ns = now_ns - lucid->arrived_ns[0];
    int64_t window_ns = since_ns < lucid->window_ns ? since_ns : lucid->window_ns;
    lucid->shares = recent * since_ns >= (gsim_i128)lucid->n_arrived * window_ns;
}
