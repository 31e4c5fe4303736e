/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links: first-come engines with rates that change when a neighbour begins or ends a transfer. Each
 * engine's head has one event ahead. When a head begins or ends, the rates of the other engine of
 * its GPU and, if the root is shared, of all engines below that root are computed again. */
#include "models/links/link.h"

#include <assert.h>

#include "sim/base/hints.h"

struct gsim_link_job {
    struct gsim_transfer asked;
    struct gsim_progress progress; /* of the nanoseconds that the transfer takes alone */
    int64_t begin_ns;
    /* bytes per second that the transfer could reach on its own, and beside the other engine */
    int64_t asks[2];
    uint32_t next; /* on the engine, or among the unused */
};

static uint32_t engine_of(uint32_t gpu, enum gsim_direction direction) {
    return 2 * gpu + (uint32_t)direction;
}
static struct gsim_link_job *head_of(const struct gsim_link *link, uint32_t engine) {
    uint32_t head = link->engines[engine].head;
    return head == GSIM_LINK_NONE ? NULL : &link->jobs[head];
}

/* --- engines ---------------------------------------------------------------------------------- */

/* Rings of the GPUs of each group, in one pass; the table of groups is scratch. */
static bool make_rings(struct gsim_link *link, const uint32_t *group_of_gpu, uint32_t *next) {
    uint32_t n_groups = 0;
    for (uint32_t gpu = 0; gpu < link->n_gpus; gpu++)
        n_groups = group_of_gpu[gpu] >= n_groups ? group_of_gpu[gpu] + 1 : n_groups;
    uint32_t *last = gsim_arena_array(link->arena, n_groups, sizeof *last);
    if (!last)
        return false;
    for (uint32_t group = 0; group < n_groups; group++)
        last[group] = UINT32_MAX;
    for (uint32_t gpu = 0; gpu < link->n_gpus; gpu++) {
        uint32_t *before = &last[group_of_gpu[gpu]];
        next[gpu] = gpu;
        if (*before != UINT32_MAX) {
            next[gpu] = next[*before];
            next[*before] = gpu;
        }
        *before = gpu;
    }
    return true;
}

bool gsim_link_init(struct gsim_link *link, uint32_t n_gpus, const uint32_t *root_of_gpu,
                    const int64_t *root_bytes_per_s, struct gsim_arena *arena) {
    *link = (struct gsim_link){.arena = arena,
                               .n_gpus = n_gpus,
                               .root_of_gpu = root_of_gpu,
                               .root_bytes_per_s = root_bytes_per_s,
                               .first_unused = GSIM_LINK_NONE};
    link->engines = gsim_arena_array(arena, 2 * (size_t)n_gpus, sizeof *link->engines);
    link->next_below = gsim_arena_array(arena, n_gpus, sizeof *link->next_below);
    gsim_eventq_init(&link->queue, arena);
    if (!link->engines || !link->next_below || !gsim_eventq_reserve(&link->queue, 2 * n_gpus))
        return false;
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++) {
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++)
            link->engines[engine_of(gpu, d)] =
                (struct gsim_link_engine){.head = GSIM_LINK_NONE, .tail = GSIM_LINK_NONE};
        link->next_below[gpu] = gpu;
    }
    return !root_of_gpu || make_rings(link, root_of_gpu, link->next_below);
}

bool gsim_link_share_hosts(struct gsim_link *link, const struct gsim_link_hosts *hosts,
                           const bool *is_given) {
    link->hosts = hosts;
    link->is_host_given = is_given;
    link->next_in_domain =
        gsim_arena_array(link->arena, link->n_gpus, sizeof *link->next_in_domain);
    link->next_in_host = gsim_arena_array(link->arena, link->n_gpus, sizeof *link->next_in_host);
    return link->next_in_domain && link->next_in_host &&
           make_rings(link, hosts->domain_of_gpu, link->next_in_domain) &&
           make_rings(link, hosts->host_of_gpu, link->next_in_host);
}

bool gsim_link_is_busy(const struct gsim_link *link, uint32_t gpu, enum gsim_direction direction) {
    return link->engines[engine_of(gpu, direction)].head != GSIM_LINK_NONE;
}

/* --- rates ------------------------------------------------------------------------------------ */

/* The rate of an engine's head under a root without limit; 0 for an idle engine. */
static uint64_t wanted_q32(const struct gsim_link *link, uint32_t engine) {
    const struct gsim_link_job *job = head_of(link, engine);
    if (!job)
        return 0;
    return head_of(link, engine ^ 1) ? job->asked.cost.both_q32 : GSIM_RATE_ONE;
}

/* Bytes per second at a rate; a transfer that takes no time asks for nothing. */
static int64_t demand(const struct gsim_link_job *job, uint64_t rate_q32) {
    if (job->asked.cost.alone_ns == 0)
        return 0;
    gsim_i128 alone = (gsim_i128)job->asked.bytes * GSIM_NS_PER_S / job->asked.cost.alone_ns;
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
            uint32_t engine = engine_of(other, direction);
            if (head_of(link, engine)) {
                int64_t wants = demand(head_of(link, engine), wanted_q32(link, engine));
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

static uint64_t rate_below(const struct gsim_link_job *job, uint64_t wanted, int64_t level) {
    int64_t wants = demand(job, wanted);
    if (wants <= level)
        return wanted;
    uint64_t rate = (uint64_t)((gsim_u128)wanted * (uint64_t)level / (uint64_t)wants);
    return rate ? rate : 1;
}

static void set_rate(struct gsim_link *link, uint32_t engine, uint64_t rate_q32, int64_t now_ns) {
    struct gsim_link_job *job = head_of(link, engine);
    struct gsim_progress *progress = &job->progress;
    progress->done += gsim_work_done(progress->rate_q32, now_ns - progress->since_ns);
    progress->since_ns = now_ns;
    progress->rate_q32 = rate_q32;
    gsim_work left = gsim_work_of_ns(job->asked.cost.alone_ns) - progress->done;
    int64_t takes_ns = left > 0 ? gsim_work_time(left, rate_q32) : 0;
    gsim_eventq_set(&link->queue, engine, now_ns + takes_ns, engine);
}

static bool is_root_shared(const struct gsim_link *link, uint32_t gpu) {
    return link->root_of_gpu && link->root_bytes_per_s[link->root_of_gpu[gpu]] != INT64_MAX;
}

/* demand() at a rate of one; most copies are short enough for one register. */
static int64_t alone_bytes_per_s(const struct gsim_link_job *job) {
    int64_t ns = job->asked.cost.alone_ns, bytes = job->asked.bytes;
    if (ns == 0 || ns > INT64_MAX / GSIM_NS_PER_S || bytes / ns >= INT64_MAX / GSIM_NS_PER_S)
        return demand(job, GSIM_RATE_ONE);
    return bytes / ns * GSIM_NS_PER_S + bytes % ns * GSIM_NS_PER_S / ns;
}

static void find_asks(struct gsim_link_job *job) {
    job->asks[0] = alone_bytes_per_s(job);
    job->asks[1] = (int64_t)((gsim_u128)job->asks[0] * job->asked.cost.both_q32 >> 32);
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
            asked += ways >> d & 1 ? link->engines[engine_of(other, d)].unpaged : 0;
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
            sum += ways >> d & 1 ? link->engines[engine_of(other, d)].gets : 0;
        other = next[other];
    } while (other != gpu);
    if (sum <= carried)
        return false;
    while (n_above > 0) {
        int64_t left = carried;
        n_above = 0;
        do {
            for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
                int64_t gets = ways >> d & 1 ? link->engines[engine_of(other, d)].gets : 0;
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
            if (ways >> d & 1 && link->engines[engine_of(other, d)].gets > level)
                link->engines[engine_of(other, d)].gets = level;
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
            ways |= link->engines[engine_of(other, d)].gets > 0 ? 1u << d : 0;
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
            uint32_t engine = engine_of(other, d);
            const struct gsim_link_job *job = head_of(link, engine);
            int64_t gets = job ? job->asks[head_of(link, engine ^ 1) != NULL] : 0;
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
    const struct gsim_link_job *job = head_of(link, engine);
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
    set_rate(link, engine, rate_below(job, wanted, about->gets), now_ns);
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
            settle_rate(link, engine_of(other, d), now_ns);
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
    else if (is_root_shared(link, gpu))
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
            struct gsim_link_engine *engine = &link->engines[engine_of(other, d)];
            engine->unpaged = engine->gets;
        }
        other = next[other];
    } while (other != gpu);
    cap_all(link, next, gpu, true);
    do {
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
            uint32_t engine = engine_of(other, d);
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
static void rerate(struct gsim_link *link, uint32_t gpu, int64_t now_ns) {
    bool is_shared = is_root_shared(link, gpu);
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
            uint32_t engine = engine_of(other, d);
            const struct gsim_link_job *job = head_of(link, engine);
            if (job)
                set_rate(link, engine, rate_below(job, wanted_q32(link, engine), level), now_ns);
            other = link->next_below[other];
        } while (is_shared && other != gpu);
    }
}

/* --- pagers ---------------------------------------------------------------------------------- */

/* An engine of this GPU has begun or ended a transfer. */
static void note_change(struct gsim_link *link, uint32_t gpu, int64_t now_ns) {
    struct gsim_link_pagers *pagers = link->pagers;
    if (gsim_mostly(!pagers))
        return;
    pagers->changed_ns = now_ns;
    if (pagers->is_changed[gpu])
        return;
    pagers->is_changed[gpu] = true;
    pagers->changed[pagers->n_changed++] = gpu;
}

bool gsim_link_take_changed(struct gsim_link *link, uint32_t *gpu) {
    struct gsim_link_pagers *pagers = link->pagers;
    if (!pagers || pagers->n_changed == 0)
        return false;
    *gpu = pagers->changed[--pagers->n_changed];
    pagers->is_changed[*gpu] = false;
    return true;
}

bool gsim_link_meet_pagers(struct gsim_link *link, const struct gsim_host_rates *carried,
                           const uint16_t *type_of_gpu) {
    struct gsim_link_pagers *pagers = gsim_arena_alloc(link->arena, sizeof *pagers);
    uint32_t n = link->n_gpus;
    if (!pagers)
        return false;
    pagers->of_gpu = gsim_arena_array(link->arena, n, sizeof *pagers->of_gpu);
    pagers->carried = gsim_arena_array(link->arena, n, sizeof *pagers->carried);
    pagers->self = gsim_arena_array(link->arena, n, sizeof *pagers->self);
    pagers->changed = gsim_arena_array(link->arena, n, sizeof *pagers->changed);
    pagers->is_changed = gsim_arena_array(link->arena, n, sizeof *pagers->is_changed);
    if (!pagers->of_gpu || !pagers->carried || !pagers->self || !pagers->changed ||
        !pagers->is_changed)
        return false;
    for (uint32_t gpu = 0; gpu < n; gpu++) {
        pagers->self[gpu] = gpu;
        pagers->carried[gpu] = carried[type_of_gpu[gpu]];
    }
    for (uint32_t engine = 0; engine < 2 * n; engine++)
        for (uint32_t at = link->engines[engine].head; at != GSIM_LINK_NONE;
             at = link->jobs[at].next)
            find_asks(&link->jobs[at]);
    link->pagers = pagers;
    return true;
}

void gsim_link_set_paging(struct gsim_link *link, uint32_t gpu,
                          const struct gsim_link_paging *paging) {
    link->pagers->of_gpu[gpu] = *paging;
}

void gsim_link_repage(struct gsim_link *link, uint32_t gpu, int64_t now_ns) {
    rerate(link, gpu, now_ns);
}

int64_t gsim_link_asks(const struct gsim_link *link, uint32_t gpu, enum gsim_direction direction) {
    const struct gsim_link_job *job = head_of(link, engine_of(gpu, direction));
    bool is_both = head_of(link, engine_of(gpu, direction) ^ 1) != NULL;
    return job ? job->asks[is_both] : 0;
}

/* --- transfers -------------------------------------------------------------------------------- */

static bool grow(struct gsim_link *link) {
    uint32_t capacity = link->capacity ? 2 * link->capacity : 64;
    struct gsim_link_job *jobs = gsim_arena_grow(
        link->arena, link->jobs, link->capacity * sizeof *jobs, capacity * sizeof *jobs);
    if (!jobs)
        return false;
    for (uint32_t i = capacity; i > link->capacity; i--) {
        jobs[i - 1].next = link->first_unused;
        link->first_unused = i - 1;
    }
    link->jobs = jobs;
    link->capacity = capacity;
    return true;
}

static void begin(struct gsim_link *link, uint32_t handle, int64_t now_ns) {
    struct gsim_link_job *job = &link->jobs[handle];
    job->begin_ns = now_ns;
    job->progress = (struct gsim_progress){.since_ns = now_ns};
}

uint32_t gsim_link_submit(struct gsim_link *link, const struct gsim_transfer *transfer,
                          int64_t now_ns) {
    assert(transfer->gpu < link->n_gpus && transfer->bytes >= 0);
    assert(gsim_link_next_time(link) >= now_ns);
    if (link->first_unused == GSIM_LINK_NONE && !grow(link))
        return GSIM_LINK_NONE;
    uint32_t handle = link->first_unused;
    struct gsim_link_job *job = &link->jobs[handle];
    link->first_unused = job->next;
    *job = (struct gsim_link_job){.asked = *transfer, .next = GSIM_LINK_NONE};
    if (link->hosts || link->pagers)
        find_asks(job);
    struct gsim_link_engine *engine = &link->engines[engine_of(transfer->gpu, transfer->direction)];
    if (engine->head != GSIM_LINK_NONE) {
        link->jobs[engine->tail].next = handle;
        engine->tail = handle;
        return handle;
    }
    engine->head = engine->tail = handle;
    begin(link, handle, now_ns);
    note_change(link, transfer->gpu, now_ns);
    rerate(link, transfer->gpu, now_ns);
    return handle;
}

int64_t gsim_link_next_time(const struct gsim_link *link) {
    return gsim_eventq_next(&link->queue);
}

static void release(struct gsim_link *link, uint32_t handle) {
    link->jobs[handle].next = link->first_unused;
    link->first_unused = handle;
}

/* The engine's next transfer begins; the head's event is out of the queue. */
static void end_head(struct gsim_link *link, uint32_t at, int64_t now_ns) {
    struct gsim_link_engine *engine = &link->engines[at];
    uint32_t handle = engine->head, gpu = link->jobs[handle].asked.gpu;
    engine->head = link->jobs[handle].next;
    release(link, handle);
    if (engine->head == GSIM_LINK_NONE)
        engine->tail = GSIM_LINK_NONE;
    else
        begin(link, engine->head, now_ns);
    note_change(link, gpu, now_ns);
    rerate(link, gpu, now_ns);
}

static void take_out_behind(struct gsim_link *link, uint32_t at, uint32_t before) {
    uint32_t handle = link->jobs[before].next;
    link->jobs[before].next = link->jobs[handle].next;
    if (link->engines[at].tail == handle)
        link->engines[at].tail = before;
    release(link, handle);
}

bool gsim_link_pop(struct gsim_link *link, int64_t now_ns, struct gsim_transfer_done *out) {
    if (gsim_link_next_time(link) > now_ns)
        return false;
    struct gsim_event_key key;
    uint32_t at = gsim_eventq_pop(&link->queue, &key);
    const struct gsim_link_job *job = head_of(link, at);
    *out = (struct gsim_transfer_done){.tag = job->asked.tag,
                                       .begin_ns = job->begin_ns,
                                       .end_ns = key.time_ns,
                                       .bytes = job->asked.bytes,
                                       .gpu = job->asked.gpu,
                                       .direction = job->asked.direction};
    end_head(link, at, key.time_ns);
    return true;
}

void gsim_link_cancel(struct gsim_link *link, uint32_t gpu, enum gsim_direction direction,
                      uint64_t tag, int64_t now_ns) {
    uint32_t at = engine_of(gpu, direction), before = link->engines[at].head, handle;
    while (before != GSIM_LINK_NONE && (handle = link->jobs[before].next) != GSIM_LINK_NONE) {
        if (link->jobs[handle].asked.tag == tag)
            take_out_behind(link, at, before);
        else
            before = handle;
    }
    if (head_of(link, at) && head_of(link, at)->asked.tag == tag) {
        gsim_eventq_cancel(&link->queue, at);
        end_head(link, at, now_ns);
    }
}

int64_t gsim_link_together_ns(const struct gsim_link *link, const struct gsim_transfer *transfer,
                              uint32_t n, uint32_t n_in_domain) {
    const struct gsim_link_job job = {.asked = *transfer};
    int64_t level = INT64_MAX;
    if (transfer->cost.alone_ns == 0)
        return 0;
    if (is_root_shared(link, transfer->gpu))
        level = link->root_bytes_per_s[link->root_of_gpu[transfer->gpu]] / n;
    if (link->hosts) {
        const int64_t *carried =
            link->hosts->rates[link->hosts->domain_of_gpu[transfer->gpu]].bytes_per_s;
        int64_t each =
            carried[transfer->direction == GSIM_H2D ? GSIM_HOST_IN : GSIM_HOST_OUT] / n_in_domain;
        level = each < level ? each : level;
    }
    uint64_t rate_q32 = rate_below(&job, GSIM_RATE_ONE, level > 0 ? level : 1);
    return gsim_work_time(gsim_work_of_ns(transfer->cost.alone_ns), rate_q32);
}
