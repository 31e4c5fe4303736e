/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates: what an engine's transfer gets beside the other engine of its GPU, below a root, from the
 * memory of a host, and beside paging. */
#include "models/links/link_rates.h"

/* --- rates ------------------------------------------------------------------------------------ */

/* The rate of an engine's head under a root without limit; 0 for an idle engine. */
static uint64_t wanted_q32(const struct gsim_link *link, uint32_t engine) {
    const struct gsim_link_job *job = gsim_link_head_of(link, engine);
    if (!job)
        return 0;
    return gsim_link_head_of(link, engine ^ 1) ? job->both_q32 : GSIM_RATE_ONE;
}

/* Bytes per second at a rate; a transfer that takes no time asks for nothing. */
static int64_t demand(const struct gsim_link_job *job, uint64_t rate_q32) {
    if (job->alone_ns == 0)
        return 0;
    gsim_i128 alone = (gsim_i128)job->asked.bytes * GSIM_NS_PER_S / job->alone_ns;
    gsim_i128 bytes_per_s = alone * rate_q32 >> 32;
    return bytes_per_s > INT64_MAX ? INT64_MAX : (int64_t)bytes_per_s;
}

/* Max-min fairness: the level at which all heads that want more share equally what the modest heads
 * leave. */
static int64_t fair_level(const struct gsim_link *link, uint32_t gpu,
                          enum gsim_direction direction) {
    int64_t carried = link->root_bytes_per_s[link->root_of_gpu[gpu]];
    int64_t level = 0;
    for (;;) {
        int64_t left = carried, n_above = 0;
        uint32_t other = gpu;
        do {
            uint32_t engine = gsim_link_engine_of(other, direction);
            if (gsim_link_head_of(link, engine)) {
                int64_t wants = demand(gsim_link_head_of(link, engine), wanted_q32(link, engine));
                if (wants > level)
                    n_above++;
                else
                    left -= wants;
            }
            other = link->next_below[other];
        } while (other != gpu);
        if (n_above == 0)
            return INT64_MAX;
        int64_t next = left / n_above > 0 ? left / n_above : 1;
        if (next <= level)
            return level;
        level = next;
    }
}

uint64_t gsim_link_rate_below(const struct gsim_link_job *job, uint64_t wanted, int64_t level) {
    int64_t wants = demand(job, wanted);
    if (wants <= level)
        return wanted;
    uint64_t rate = (uint64_t)((gsim_u128)wanted * (uint64_t)level / (uint64_t)wants);
    return rate ? rate : 1;
}

static void set_rate(struct gsim_link *link, uint32_t engine, uint64_t rate_q32, int64_t now_ns) {
    struct gsim_link_job *job = gsim_link_head_of(link, engine);
    struct gsim_progress *progress = &job->progress;
    progress->done += gsim_work_done(progress->rate_q32, now_ns - progress->since_ns);
    progress->since_ns = now_ns;
    progress->rate_q32 = rate_q32;
    gsim_work left = gsim_work_of_ns(job->alone_ns) - progress->done;
    int64_t takes_ns = left > 0 ? gsim_work_time(left, rate_q32) : 0;
    gsim_eventq_set(&link->queue, engine, now_ns + takes_ns, engine);
}

bool gsim_link_is_root_shared(const struct gsim_link *link, uint32_t gpu) {
    return link->root_of_gpu && link->root_bytes_per_s[link->root_of_gpu[gpu]] != INT64_MAX;
}

/* demand() at a rate of one; most copies are short enough for one register. */
static int64_t alone_bytes_per_s(const struct gsim_link_job *job) {
    int64_t ns = job->alone_ns, bytes = job->asked.bytes;
    if (ns == 0 || ns > INT64_MAX / GSIM_NS_PER_S || bytes / ns >= INT64_MAX / GSIM_NS_PER_S)
        return demand(job, GSIM_RATE_ONE);
    return bytes / ns * GSIM_NS_PER_S + bytes % ns * GSIM_NS_PER_S / ns;
}

void gsim_link_find_asks(struct gsim_link_job *job) {
    job->asks[0] = alone_bytes_per_s(job);
    job->asks[1] = (int64_t)((gsim_u128)job->asks[0] * job->both_q32 >> 32);
}

/* --- rates beside paging ---------------------------------------------------------------------- */

static bool pages(const struct gsim_link *link, uint32_t gpu, enum gsim_host_way way) {
    return link->pagers && link->pagers->of_gpu[gpu].takes[way] > 0;
}

enum { WAY_IN = 1 << GSIM_H2D, WAY_OUT = 1 << GSIM_D2H };

static enum gsim_host_way way_of(unsigned ways) {
    if (ways == (WAY_IN | WAY_OUT))
        return GSIM_HOST_BOTH;
    return ways == WAY_IN ? GSIM_HOST_IN : GSIM_HOST_OUT;
}

/* The part of a link that its transfers get beside paging. Each GPU that pages is a user that now
 * copies at its peak and now not at all. Transfers lose what the peaks of single GPUs cost them,
 * each for its part of the time, and at least what all take on average. With one GPU that is exact,
 * as far as it pages in a steady way; where transfers ask for all, they get all that paging leaves.
 * By what transfers would get if no GPU paged, so that no loss counts on two links. */
static int64_t left_by_paging(struct gsim_link *link, const uint32_t *next, uint32_t gpu,
                              unsigned ways, int64_t carried) {
    enum gsim_host_way way = way_of(ways);
    gsim_i128 singly = 0, takes = 0, asked = 0;
    uint32_t other = gpu;
    do {
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++)
            asked += ways >> d & 1 ? link->engines[gsim_link_engine_of(other, d)].unpaged : 0;
        other = next[other];
    } while (other != gpu);
    asked = asked < carried ? asked : carried;
    do {
        const struct gsim_link_paging *paging = &link->pagers->of_gpu[other];
        gsim_i128 over = paging->peak[way] - (carried - asked);
        takes += paging->takes[way];
        if (paging->takes[way] > 0 && over > 0)
            singly += paging->takes[way] * over / paging->peak[way];
        other = next[other];
    } while (other != gpu);
    gsim_i128 together = takes - (carried - asked);
    gsim_i128 lost = singly > together ? singly : together;
    link->has_met_paging |= lost > 0 && asked > 0;
    if (lost <= 0)
        return carried;
    return lost < asked ? (int64_t)(asked - lost) : 1;
}

/* --- rates where hosts are shared ------------------------------------------------------------- */

/* Caps the engines of a ring at `carried` bytes per second together, max-min fair. ways: a bit for
 * each direction that counts. Returns whether any engine gets less. */
static bool cap_ring(struct gsim_link *link, const uint32_t *next, uint32_t gpu, unsigned ways,
                     int64_t carried) {
    int64_t level = 0, sum = 0, n_above = 1;
    uint32_t other = gpu;
    do {
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++)
            sum += ways >> d & 1 ? link->engines[gsim_link_engine_of(other, d)].gets : 0;
        other = next[other];
    } while (other != gpu);
    if (sum <= carried)
        return false;
    while (n_above > 0) {
        int64_t left = carried;
        n_above = 0;
        do {
            for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
                int64_t gets =
                    ways >> d & 1 ? link->engines[gsim_link_engine_of(other, d)].gets : 0;
                n_above += gets > level;
                left -= gets > level ? 0 : gets;
            }
            other = next[other];
        } while (other != gpu);
        int64_t raised = n_above > 0 && left / n_above > 0 ? left / n_above : 1;
        if (raised <= level)
            break;
        level = raised;
    }
    do {
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++)
            if (ways >> d & 1 && link->engines[gsim_link_engine_of(other, d)].gets > level)
                link->engines[gsim_link_engine_of(other, d)].gets = level;
        other = next[other];
    } while (other != gpu);
    return true;
}

/* As cap_ring, with what paging leaves of the link where it counts. */
static bool cap(struct gsim_link *link, const uint32_t *next, uint32_t gpu, unsigned ways,
                int64_t carried) {
    if (link->pagers && link->pagers->count && carried != INT64_MAX)
        carried = left_by_paging(link, next, gpu, ways, carried);
    return cap_ring(link, next, gpu, ways, carried);
}

/* The ways in which the engines of a domain copy, or its GPUs page. */
static unsigned ways_of(const struct gsim_link *link, uint32_t gpu) {
    unsigned ways = 0;
    uint32_t other = gpu;
    do {
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++)
            ways |= link->engines[gsim_link_engine_of(other, d)].gets > 0 ? 1u << d : 0;
        ways |= pages(link, other, GSIM_HOST_IN) ? WAY_IN : 0;
        ways |= pages(link, other, GSIM_HOST_OUT) ? WAY_OUT : 0;
        other = link->next_in_domain[other];
    } while (other != gpu);
    return ways;
}

static void cap_domain(struct gsim_link *link, uint32_t gpu) {
    uint32_t domain = link->hosts->domain_of_gpu[gpu];
    const int64_t *carried = link->hosts->rates[domain].bytes_per_s;
    bool is_limited = cap(link, link->next_in_domain, gpu, WAY_IN, carried[GSIM_HOST_IN]);
    is_limited |= cap(link, link->next_in_domain, gpu, WAY_OUT, carried[GSIM_HOST_OUT]);
    if (ways_of(link, gpu) == (WAY_IN | WAY_OUT))
        is_limited |=
            cap(link, link->next_in_domain, gpu, WAY_IN | WAY_OUT, carried[GSIM_HOST_BOTH]);
    link->was_host_limited |= is_limited && !link->is_host_given[domain];
}

/* Sets the bytes per second that each engine of a ring would get from an idle host, and the sum of
 * each way. */
static void ask(struct gsim_link *link, const uint32_t *next, uint32_t gpu, int64_t *sum) {
    uint32_t other = gpu;
    sum[GSIM_H2D] = sum[GSIM_D2H] = 0;
    do {
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
            uint32_t engine = gsim_link_engine_of(other, d);
            const struct gsim_link_job *job = gsim_link_head_of(link, engine);
            int64_t gets = job ? job->asks[gsim_link_head_of(link, engine ^ 1) != NULL] : 0;
            link->engines[engine].gets = gets;
            sum[d] = gets < INT64_MAX - sum[d] ? sum[d] + gets : INT64_MAX;
        }
        other = next[other];
    } while (other != gpu);
}

/* Whether the GPU is the first of its group among the GPUs of its host. */
static bool is_lead(const uint32_t *group_of_gpu, uint32_t gpu) {
    return gpu == 0 || group_of_gpu[gpu - 1] != group_of_gpu[gpu];
}

static void cap_root(struct gsim_link *link, uint32_t gpu) {
    int64_t carried = link->root_bytes_per_s[link->root_of_gpu[gpu]];
    (void)cap(link, link->next_below, gpu, WAY_IN, carried);
    (void)cap(link, link->next_below, gpu, WAY_OUT, carried);
}

/* Roots cap first, then the host's memory caps the rates that the roots let through. */
static void cap_host(struct gsim_link *link, uint32_t gpu) {
    uint32_t other = gpu;
    do {
        if (is_lead(link->root_of_gpu, other))
            cap_root(link, other);
        other = link->next_in_host[other];
    } while (other != gpu);
    do {
        if (is_lead(link->hosts->domain_of_gpu, other))
            cap_domain(link, other);
        other = link->next_in_host[other];
    } while (other != gpu);
}

/* The link of a GPU that pages carries its transfers as well. */
static void cap_own(struct gsim_link *link, uint32_t gpu) {
    const struct gsim_link_pagers *pagers = link->pagers;
    const int64_t *carried = pagers->carried[gpu].bytes_per_s;
    if (!pages(link, gpu, GSIM_HOST_IN) && !pages(link, gpu, GSIM_HOST_OUT))
        return;
    (void)cap(link, pagers->self, gpu, WAY_IN, carried[GSIM_HOST_IN]);
    (void)cap(link, pagers->self, gpu, WAY_OUT, carried[GSIM_HOST_OUT]);
    (void)cap(link, pagers->self, gpu, WAY_IN | WAY_OUT, carried[GSIM_HOST_BOTH]);
}

/* A head with an unchanged rate keeps its event. */
static void settle_rate(struct gsim_link *link, uint32_t engine, int64_t now_ns) {
    const struct gsim_link_job *job = gsim_link_head_of(link, engine);
    struct gsim_link_engine *about = &link->engines[engine];
    if (!job)
        return;
    uint64_t wanted = wanted_q32(link, engine);
    bool is_as_before =
        job->progress.rate_q32 > 0 && about->got == about->gets && about->wanted_q32 == wanted;
    if (is_as_before)
        return;
    about->got = about->gets;
    about->wanted_q32 = wanted;
    set_rate(link, engine, gsim_link_rate_below(job, wanted, about->gets), now_ns);
}

/* Whether a domain's engines ask for more than its memory carries; mostly it has room for all. */
static bool is_too_much(const struct gsim_link *link, uint32_t gpu, const int64_t *sum) {
    const int64_t *carried = link->hosts->rates[link->hosts->domain_of_gpu[gpu]].bytes_per_s;
    int64_t in = sum[GSIM_H2D], out = sum[GSIM_D2H];
    return in > carried[GSIM_HOST_IN] || out > carried[GSIM_HOST_OUT] ||
           (in > 0 && out > 0 && in > carried[GSIM_HOST_BOTH] - out);
}

/* The ring of the GPUs that share any link with each other. */
static const uint32_t *widest_ring(const struct gsim_link *link) {
    if (!link->hosts)
        return link->next_below;
    return link->root_of_gpu ? link->next_in_host : link->next_in_domain;
}

static void rerate_host(struct gsim_link *link, uint32_t gpu, int64_t now_ns) {
    const uint32_t *next = widest_ring(link);
    uint32_t other = gpu;
    int64_t sum[GSIM_DIRECTIONS];
    ask(link, next, gpu, sum);
    if (link->root_of_gpu)
        cap_host(link, gpu);
    else if (is_too_much(link, gpu, sum))
        cap_domain(link, gpu);
    do {
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++)
            settle_rate(link, gsim_link_engine_of(other, d), now_ns);
        other = next[other];
    } while (other != gpu);
}

/* Caps what the engines of a ring ask for by all links. count: paging takes its part of them. */
static void cap_all(struct gsim_link *link, const uint32_t *next, uint32_t gpu, bool count) {
    uint32_t other = gpu;
    link->pagers->count = count;
    do {
        cap_own(link, other);
        other = next[other];
    } while (other != gpu);
    if (link->hosts && link->root_of_gpu)
        cap_host(link, gpu);
    else if (link->hosts)
        cap_domain(link, gpu);
    else if (gsim_link_is_root_shared(link, gpu))
        cap_root(link, gpu);
    link->pagers->count = false;
}

/* As rerate_host where GPUs page, on whatever links. */
static void rerate_beside_paging(struct gsim_link *link, uint32_t gpu, int64_t now_ns) {
    const uint32_t *next = widest_ring(link);
    uint32_t other = gpu;
    int64_t sum[GSIM_DIRECTIONS];
    ask(link, next, gpu, sum);
    cap_all(link, next, gpu, false);
    do {
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
            struct gsim_link_engine *engine = &link->engines[gsim_link_engine_of(other, d)];
            engine->unpaged = engine->gets;
        }
        other = next[other];
    } while (other != gpu);
    cap_all(link, next, gpu, true);
    do {
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
            uint32_t engine = gsim_link_engine_of(other, d);
            link->engines[engine].got = -1; /* rates may have been set without it */
            settle_rate(link, engine, now_ns);
        }
        other = next[other];
    } while (other != gpu);
}

static bool has_pagers(const struct gsim_link *link, uint32_t gpu) {
    const uint32_t *next = widest_ring(link);
    uint32_t other = gpu;
    bool has = false;
    do {
        has |= pages(link, other, GSIM_HOST_IN) || pages(link, other, GSIM_HOST_OUT);
        other = next[other];
    } while (link->pagers && other != gpu);
    return has;
}

/* A root's ring is walked for each direction, since the rate of the other engine decides the rest
 * for its neighbours. */
void gsim_link_rerate(struct gsim_link *link, uint32_t gpu, int64_t now_ns) {
    bool is_shared = gsim_link_is_root_shared(link, gpu);
    if (link->pagers && has_pagers(link, gpu)) {
        rerate_beside_paging(link, gpu, now_ns);
        return;
    }
    if (link->hosts) {
        rerate_host(link, gpu, now_ns);
        return;
    }
    for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
        int64_t level = is_shared ? fair_level(link, gpu, d) : INT64_MAX;
        uint32_t other = gpu;
        do {
            uint32_t engine = gsim_link_engine_of(other, d);
            const struct gsim_link_job *job = gsim_link_head_of(link, engine);
            if (job)
                set_rate(link, engine, gsim_link_rate_below(job, wanted_q32(link, engine), level),
                         now_ns);
            other = link->next_below[other];
        } while (is_shared && other != gpu);
    }
}
