/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part that a GPU which pages gets of the links that it shares: its own link with copies of
 * whole jobs, the root and the host's memory with both copies and other GPUs that page. */
#include "models/jobs/link_parts.h"

#include <string.h>

/* Bytes per second of a second's work, as a fraction with 32 bits. */
#define PART(a, b) ((gsim_u128)(a)*GSIM_RATE_ONE / (gsim_u128)(b))

/* --- demand ----------------------------------------------------------------------------------- */

static const struct gsim_pager *pager_of(const struct gsim_model *model, uint32_t gpu) {
    return gsim_arbiter_pager(model->shared.of_gpu[gpu]);
}

static bool migrates(const struct gsim_pager *pager) {
    return pager->manager == GSIM_MEMORY_PROACTIVE;
}

bool gsim_link_parts_is_at_once(const struct gsim_pager *pager) {
    return migrates(pager) && pager->proactive.is_pipelined;
}

/* What a GPU that pages on demand asks of one way: over a coherent link its kernels read inwards,
 * and copies take memory out. */
static int64_t asks_by_faults(const struct gsim_pager *pager, enum gsim_host_way how) {
    const struct gsim_pager_rates *alone = &pager->alone;
    if (!pager->remote.is_on)
        return alone->copy_bytes_per_s;
    return how == GSIM_HOST_IN ? alone->remote_bytes_per_s : alone->migrate.bytes_per_s[GSIM_D2H];
}

/* The bytes per second that the GPU asks of one way while it copies in, out or both ways at once;
 * 0: none. */
static int64_t asks(const struct gsim_pager *pager, enum gsim_host_way how,
                    enum gsim_host_way way) {
    const struct gsim_copy_rates *rates = &pager->alone.migrate;
    if (how != GSIM_HOST_BOTH) {
        int64_t alone = migrates(pager)
                            ? rates->bytes_per_s[how == GSIM_HOST_IN ? GSIM_H2D : GSIM_D2H]
                            : asks_by_faults(pager, how);
        return way == how || way == GSIM_HOST_BOTH ? alone : 0;
    }
    if (!gsim_link_parts_is_at_once(pager)) /* both ways take turns */
        return 0;
    return way == GSIM_HOST_BOTH || rates->both_bytes_per_s == INT64_MAX
               ? rates->both_bytes_per_s
               : rates->both_bytes_per_s / 2;
}

void gsim_link_parts_note_wants(struct gsim_model *model, uint32_t gpu) {
    struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    const struct gsim_pager *pager = pager_of(model, gpu);
    model->link_shares.hosts[model->setup.wiring.node_of_gpu[gpu]].is_weighed = false;
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++) {
        about->most[way] = 0;
        for (enum gsim_host_way how = GSIM_HOST_IN; how < GSIM_HOST_WAYS; how++) {
            int64_t wants = asks(pager, how, way);
            about->wants[how][way] = wants;
            about->most[way] = wants > about->most[way] ? wants : about->most[way];
        }
    }
}

/* The part of all time in which the GPU copies in this way. */
static uint64_t busy_q32(const struct gsim_link_shares_gpu *about, enum gsim_host_way way,
                         int64_t asked) {
    int64_t most = about->most[way];
    if (most == 0 || asked <= 0)
        return 0;
    return asked < most ? (uint64_t)PART(asked, most) : GSIM_RATE_ONE;
}

/* --- copies of whole jobs --------------------------------------------------------------------- */

static const struct gsim_link_shares_host *host_shares_of(const struct gsim_model *model,
                                                          uint32_t gpu) {
    return &model->link_shares.hosts[model->setup.wiring.node_of_gpu[gpu]];
}

static int64_t root_carries(const struct gsim_model *model, uint32_t gpu) {
    const struct gsim_wiring *wiring = &model->setup.wiring;
    return wiring->root_of_gpu ? wiring->root_bytes_per_s[wiring->root_of_gpu[gpu]] : INT64_MAX;
}

/* Finds the copies of whole jobs that are under way on a host. */
static void find_copies(struct gsim_model *model, const struct gsim_link_shares_host *host) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    uint32_t n = 0, end = host->first_gpu + host->n_gpus;
    for (uint32_t gpu = host->first_gpu; host->n_copying > 0 && gpu < end; gpu++)
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
            int64_t wants = gsim_link_asks(&model->transfers.pcie, gpu, d);
            int64_t most = root_carries(model, gpu);
            link_shares->under_way[n] =
                (struct gsim_link_copy){gpu, (uint8_t)d, wants < most ? wants : most};
            n += wants > 0;
        }
    link_shares->n_under_way = n;
}

/* Writes down what the copies on a link ask for in each way, from here on. Returns where that
 * ends. */
static int64_t *note_copies(const struct gsim_link_shares *link_shares, enum gsim_paged_link link,
                            uint32_t first, int64_t *out) {
    struct gsim_link_load *load = &link_shares->loads[link][first];
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++) {
        load->copies[way] = out;
        for (uint32_t i = 0; i < link_shares->n_under_way; i++) {
            const struct gsim_link_copy *copy = &link_shares->under_way[i];
            bool is_in = copy->direction == GSIM_H2D;
            bool counts = way == GSIM_HOST_BOTH || (way == GSIM_HOST_IN) == is_in;
            if (counts && link_shares->gpus[copy->gpu].first[link] == first)
                *out++ = copy->bytes_per_s;
        }
        load->n_copies[way] = (uint32_t)(out - load->copies[way]);
    }
    return out;
}

/* Max-min fairness between n copies and a crowd of GPUs that page. The crowd asks for `wants` and
 * counts as users_q32 users. Returns the bytes per second of the crowd. */
static gsim_i128 crowd_gets(const int64_t *copies, uint32_t n, gsim_i128 wants, uint64_t users_q32,
                            int64_t carried) {
    gsim_i128 level = 0;
    for (;;) {
        gsim_i128 left = carried, above_q32 = 0, most = (level * users_q32) >> 32;
        for (uint32_t i = 0; i < n; i++) {
            above_q32 += copies[i] > level ? (gsim_i128)GSIM_RATE_ONE : 0;
            left -= copies[i] > level ? 0 : copies[i];
        }
        above_q32 += wants > most ? (gsim_i128)users_q32 : 0;
        left -= wants > most ? 0 : wants;
        if (above_q32 == 0)
            return wants;
        gsim_i128 next = (left << 32) / above_q32;
        if (next <= level)
            return wants < most ? wants : most;
        level = next;
    }
}

/* --- loads ------------------------------------------------------------------------------------ */

static struct gsim_link_load *load_of(const struct gsim_link_shares *link_shares, uint32_t gpu,
                                      enum gsim_paged_link link) {
    return &link_shares->loads[link][link_shares->gpus[gpu].first[link]];
}

static int64_t carried_by(const struct gsim_model *model, uint32_t gpu, enum gsim_paged_link link,
                          enum gsim_host_way way) {
    const struct gsim_link_hosts *hosts = &model->transfers.domains.hosts;
    const struct gsim_link *pcie = &model->transfers.pcie;
    if (link == GSIM_PAGED_OWN)
        return gsim_link_is_copying(pcie, gpu) ? pcie->pagers->carried[gpu].bytes_per_s[way]
                                               : INT64_MAX;
    if (link == GSIM_PAGED_ROOT)
        return way == GSIM_HOST_BOTH ? INT64_MAX : root_carries(model, gpu);
    return hosts->rates[hosts->domain_of_gpu[gpu]].bytes_per_s[way];
}

/* What the links of a host carry, and the copies on them, stay while its shares are found. */
static void begin_loads(struct gsim_model *model, const struct gsim_link_shares_host *host) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    int64_t *copies = link_shares->copies;
    uint32_t end = host->first_gpu + host->n_gpus;
    find_copies(model, host);
    for (enum gsim_paged_link link = GSIM_PAGED_OWN; link < GSIM_PAGED_LINKS; link++)
        for (uint32_t gpu = host->first_gpu; gpu < end; gpu++) {
            if (link_shares->gpus[gpu].first[link] != gpu)
                continue;
            struct gsim_link_load *load = &link_shares->loads[link][gpu];
            for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
                load->carried[way] = carried_by(model, gpu, link, way);
            copies = note_copies(link_shares, link, gpu, copies);
        }
}

static void add_asks(const struct gsim_link_shares *link_shares, uint32_t gpu) {
    const struct gsim_link_shares_gpu *about = &link_shares->gpus[gpu];
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++) {
        uint64_t busy = link_shares->n_under_way ? busy_q32(about, way, about->asks[way]) : 0;
        for (enum gsim_paged_link link = GSIM_PAGED_OWN; link < GSIM_PAGED_LINKS; link++) {
            struct gsim_link_load *load = load_of(link_shares, gpu, link);
            load->asks[way] += about->asks[way];
            load->busy_q32[way] += busy;
        }
    }
}

static void clear_loads(const struct gsim_link_shares *link_shares,
                        const struct gsim_link_shares_host *host) {
    uint32_t end = host->first_gpu + host->n_gpus;
    for (enum gsim_paged_link link = GSIM_PAGED_OWN; link < GSIM_PAGED_LINKS; link++)
        for (uint32_t gpu = host->first_gpu; gpu < end; gpu++)
            for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++) {
                link_shares->loads[link][gpu].asks[way] = 0;
                link_shares->loads[link][gpu].busy_q32[way] = 0;
            }
}

/* Sums once for all GPUs of a host, since the averages stay as they are while shares are given. */
static void sum_asks(struct gsim_link_shares *link_shares,
                     const struct gsim_link_shares_host *host) {
    uint32_t end = host->first_gpu + host->n_gpus;
    clear_loads(link_shares, host);
    for (uint32_t gpu = host->first_gpu; gpu < end; gpu++)
        if (link_shares->gpus[gpu].is_paging)
            add_asks(link_shares, gpu);
}

static bool is_used(const struct gsim_link_load *load, enum gsim_host_way way) {
    return load->asks[way] > 0 || load->n_copies[way] > 0;
}

/* Whether some GPU may get less of the link in this way than it asks for. most: for which one GPU
 * asks while it copies. Both ways count together where a domain copies both ways. */
static bool is_tight(const struct gsim_link_load *load, enum gsim_paged_link link,
                     enum gsim_host_way way, int64_t most) {
    if (load->carried[way] == INT64_MAX)
        return false;
    if (load->n_copies[way] == 0 && most + load->asks[way] <= load->carried[way])
        return false;
    return link != GSIM_PAGED_DOMAIN || way != GSIM_HOST_BOTH ||
           (is_used(load, GSIM_HOST_IN) && is_used(load, GSIM_HOST_OUT));
}

static void find_most(const struct gsim_link_shares *link_shares,
                      const struct gsim_link_shares_host *host, int64_t *most) {
    uint32_t end = host->first_gpu + host->n_gpus;
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
        most[way] = 0;
    for (uint32_t gpu = host->first_gpu; gpu < end; gpu++) {
        const struct gsim_link_shares_gpu *about = &link_shares->gpus[gpu];
        for (enum gsim_host_way way = GSIM_HOST_IN; about->is_paging && way < GSIM_HOST_WAYS; way++)
            most[way] = about->most[way] > most[way] ? about->most[way] : most[way];
    }
}

/* Returns whether any link of the host is tight. */
static bool find_tight(const struct gsim_link_shares *link_shares,
                       const struct gsim_link_shares_host *host) {
    int64_t most[GSIM_HOST_WAYS];
    uint32_t end = host->first_gpu + host->n_gpus;
    bool is_any = false;
    find_most(link_shares, host, most);
    for (enum gsim_paged_link link = GSIM_PAGED_OWN; link < GSIM_PAGED_LINKS; link++)
        for (uint32_t gpu = host->first_gpu; gpu < end; gpu++) {
            struct gsim_link_load *load = &link_shares->loads[link][gpu];
            for (enum gsim_host_way way = GSIM_HOST_IN;
                 link_shares->gpus[gpu].first[link] == gpu && way < GSIM_HOST_WAYS; way++)
                is_any |= load->is_tight[way] = is_tight(load, link, way, most[way]);
        }
    return is_any;
}

/* --- links that suffice ----------------------------------------------------------------------- */

/* Whether a link, of what its GPUs can ask for together was summed in its load, carries all of it.
 * Its carried rates are those without copies. */
static bool suffices(const struct gsim_model *model, uint32_t gpu, enum gsim_paged_link link) {
    const struct gsim_link_load *load = load_of(&model->link_shares, gpu, link);
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
        if (load->asks[way] > carried_by(model, gpu, link, way))
            return false;
    return true;
}

/* Sums what the GPUs can ask for at most, not what they ask for: this holds whichever of them
 * pages. */
bool gsim_link_parts_suffice(const struct gsim_model *model,
                             const struct gsim_link_shares_host *host) {
    const struct gsim_link_shares *link_shares = &model->link_shares;
    uint32_t end = host->first_gpu + host->n_gpus;
    bool is_all = true;
    clear_loads(link_shares, host);
    for (uint32_t gpu = host->first_gpu; gpu < end; gpu++)
        for (enum gsim_paged_link link = GSIM_PAGED_ROOT; link < GSIM_PAGED_LINKS; link++)
            for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
                load_of(link_shares, gpu, link)->asks[way] += link_shares->gpus[gpu].most[way];
    for (uint32_t gpu = host->first_gpu; gpu < end; gpu++)
        for (enum gsim_paged_link link = GSIM_PAGED_ROOT; link < GSIM_PAGED_LINKS; link++)
            is_all &= link_shares->gpus[gpu].first[link] != gpu || suffices(model, gpu, link);
    return is_all;
}

/* --- shares ----------------------------------------------------------------------------------- */

/* The share of a link in one way, for a GPU that now asks for `own`. */
static uint64_t share_in(struct gsim_link_shares *link_shares, uint32_t gpu,
                         enum gsim_paged_link link, enum gsim_host_way way, int64_t own) {
    const struct gsim_link_shares_gpu *about = &link_shares->gpus[gpu];
    const struct gsim_link_load *load = load_of(link_shares, gpu, link);
    if (own == INT64_MAX)
        return GSIM_RATE_ONE;
    uint32_t n = load->n_copies[way];
    gsim_i128 asked = own + load->asks[way] - about->asks[way], gets = load->carried[way];
    if (n > 0) {
        uint64_t others_q32 = load->busy_q32[way] - busy_q32(about, way, about->asks[way]);
        gets =
            crowd_gets(load->copies[way], n, asked, GSIM_RATE_ONE + others_q32, load->carried[way]);
        link_shares->has_met_copies |= gets < asked;
    }
    if (asked <= gets)
        return GSIM_RATE_ONE;
    uint64_t share = (uint64_t)PART(gets, asked);
    return share > 0 ? share : 1;
}

/* The least share over the ways of a link, while the GPU copies in, out or both ways at once. */
static uint64_t share_of(struct gsim_link_shares *link_shares, uint32_t gpu,
                         enum gsim_paged_link link, enum gsim_host_way how) {
    const bool *is_tight = load_of(link_shares, gpu, link)->is_tight;
    uint64_t least = GSIM_RATE_ONE;
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++) {
        int64_t own = link_shares->gpus[gpu].wants[how][way];
        if (!is_tight[way] || own <= 0)
            continue;
        uint64_t share = share_in(link_shares, gpu, link, way, own);
        least = share < least ? share : least;
    }
    return least;
}

/* Copies under faults take turns in both directions at one rate: the rate at which the bytes of a
 * while take as long as at the shares of each direction. */
static void even_shares(const struct gsim_link_shares_gpu *about,
                        struct gsim_pager_shares *shares) {
    gsim_u128 in = (gsim_u128)about->asks[GSIM_HOST_IN],
              out = (gsim_u128)about->asks[GSIM_HOST_OUT];
    uint64_t of_in = shares->q32[GSIM_HOST_IN], of_out = shares->q32[GSIM_HOST_OUT];
    uint64_t even = of_in < of_out ? of_in : of_out;
    if (in + out > 0) {
        gsim_u128 takes = (in << 32) / of_in + (out << 32) / of_out;
        even = (uint64_t)PART(in + out, takes);
    }
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
        shares->q32[way] = even > 0 ? even : 1;
}

static struct gsim_pager_shares find_shares(struct gsim_model *model, uint32_t gpu) {
    const struct gsim_host_memory *domains = &model->transfers.domains;
    struct gsim_link_shares *link_shares = &model->link_shares;
    struct gsim_pager_shares shares;
    for (enum gsim_host_way how = GSIM_HOST_IN; how < GSIM_HOST_WAYS; how++) {
        uint64_t of_domain = share_of(link_shares, gpu, GSIM_PAGED_DOMAIN, how);
        shares.q32[how] = of_domain;
        for (enum gsim_paged_link link = GSIM_PAGED_OWN; link < GSIM_PAGED_DOMAIN; link++) {
            uint64_t share = share_of(link_shares, gpu, link, how);
            shares.q32[how] = share < shares.q32[how] ? share : shares.q32[how];
        }
        link_shares->was_host_limited |=
            of_domain < GSIM_RATE_ONE && !domains->is_given[domains->hosts.domain_of_gpu[gpu]];
    }
    if (host_shares_of(model, gpu)->n_copying > 0 && !migrates(pager_of(model, gpu)))
        even_shares(&link_shares->gpus[gpu], &shares);
    return shares;
}

/* --- demand at other shares ------------------------------------------------------------------- */

/* What the GPU is going to ask for at shares other than those at which it was measured: what it
 * computes between its copies takes as long as before, and its copies take longer or shorter. */
static void foresee_parts(const struct gsim_model *model, uint32_t gpu,
                          const struct gsim_pager_shares *shares, int64_t *out) {
    const struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    bool is_at_once = gsim_link_parts_is_at_once(pager_of(model, gpu));
    gsim_i128 copying = 0, busy = 0, ratio[GSIM_HOST_WAYS];
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++) {
        gsim_i128 part = busy_q32(about, way, about->measured[way]);
        ratio[way] = (gsim_i128)PART(about->shares.q32[way], shares->q32[way]);
        if ((way == GSIM_HOST_BOTH) != is_at_once)
            continue;
        busy += part;
        copying += part * ratio[way] >> 32;
    }
    gsim_i128 idle = busy < (gsim_i128)GSIM_RATE_ONE ? (gsim_i128)GSIM_RATE_ONE - busy : 0;
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++) {
        gsim_i128 asked = about->measured[way];
        if (idle + copying > 0)
            asked = asked * ratio[way] / (idle + copying);
        if (way == GSIM_HOST_BOTH && !is_at_once)
            asked = (gsim_i128)out[GSIM_HOST_IN] + out[GSIM_HOST_OUT];
        out[way] = asked < about->most[way] ? (int64_t)asked : about->most[way];
    }
}

/* Finds the shares once, at what the GPUs ask for now. Returns whether any share is another one
 * than before. */
static bool find_round(struct gsim_model *model, const struct gsim_link_shares_host *host,
                       struct gsim_pager_shares *shares) {
    bool has_changed = false;
    sum_asks(&model->link_shares, host);
    bool is_any_tight = find_tight(&model->link_shares, host);
    for (uint32_t gpu = host->first_gpu; gpu < host->first_gpu + host->n_gpus; gpu++) {
        if (!model->link_shares.gpus[gpu].is_paging)
            continue;
        struct gsim_pager_shares found =
            is_any_tight ? find_shares(model, gpu) : gsim_pager_whole();
        has_changed |= memcmp(&found, &shares[gpu], sizeof found) != 0;
        shares[gpu] = found;
    }
    return has_changed;
}

/* Without copies of whole jobs a GPU on links that suffice gets all that it asks for. */
static void give_all(struct gsim_model *model, const struct gsim_link_shares_host *host,
                     struct gsim_pager_shares *shares) {
    for (uint32_t gpu = host->first_gpu; gpu < host->first_gpu + host->n_gpus; gpu++)
        if (model->link_shares.gpus[gpu].is_paging)
            shares[gpu] = gsim_pager_whole();
}

/* The demand of each GPU goes by the shares of all. Where a round brings no other shares, each
 * later one would bring these. */
void gsim_link_parts_find(struct gsim_model *model, const struct gsim_link_shares_host *host,
                          struct gsim_pager_shares *shares, bool foresees) {
    enum { ROUNDS = 4 };
    struct gsim_link_shares_gpu *gpus = model->link_shares.gpus;
    uint32_t end = host->first_gpu + host->n_gpus;
    if (!foresees && host->is_weighed && host->suffices) {
        give_all(model, host, shares);
        return;
    }
    for (uint32_t gpu = host->first_gpu; gpu < end; gpu++)
        memcpy(gpus[gpu].measured, gpus[gpu].asks, sizeof gpus[gpu].measured);
    begin_loads(model, host);
    for (int round = 0; round < (foresees ? ROUNDS : 1); round++) {
        bool has_changed = find_round(model, host, shares);
        if (round > 0 && !has_changed)
            return;
        for (uint32_t gpu = host->first_gpu; foresees && gpu < end; gpu++)
            if (gpus[gpu].is_paging)
                foresee_parts(model, gpu, &shares[gpu], gpus[gpu].asks);
    }
}

/* --- telling the links ------------------------------------------------------------------------ */

static struct gsim_link_paging paging_of(const struct gsim_model *model, uint32_t gpu) {
    const struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    struct gsim_link_paging paging = {{0}, {0}};
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++) {
        int64_t most = about->most[way];
        if (most == INT64_MAX)
            continue;
        paging.takes[way] = (int64_t)((gsim_u128)about->asks[way] * about->shares.q32[way] >> 32);
        paging.peak[way] = (int64_t)((gsim_u128)most * about->shares.q32[way] >> 32);
    }
    return paging;
}

void gsim_link_parts_tell(struct gsim_model *model, const struct gsim_link_shares_host *host,
                          int64_t now_ns) {
    struct gsim_link *pcie = &model->transfers.pcie;
    uint32_t end = host->first_gpu + host->n_gpus;
    for (uint32_t gpu = host->first_gpu; gpu < end; gpu++) {
        struct gsim_link_paging paging = {{0}, {0}};
        if (host->n_copying > 0 && model->link_shares.gpus[gpu].is_paging)
            paging = paging_of(model, gpu);
        gsim_link_set_paging(pcie, gpu, &paging);
    }
    for (uint32_t gpu = host->first_gpu; gpu < end; gpu++)
        if (gsim_link_is_copying(pcie, gpu))
            gsim_link_repage(pcie, gpu, now_ns);
}
