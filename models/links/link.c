/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links: first-come engines with rates that change when a neighbour begins or ends a transfer. Each
 * engine's head has one event ahead. When a head begins or ends, the rates of the other engine of
 * its GPU and, if the root is shared, of all engines below that root are computed again. */
#include "models/links/link.h"

#include <assert.h>

#include "models/links/link_rates.h"
#include "sim/base/hints.h"

/* --- costs ------------------------------------------------------------------------------------ */

struct gsim_copy_rates gsim_copy_rates_pinned(const struct gsim_profile *profile, bool is_reused) {
    enum gsim_key in = is_reused ? GSIM_KEY_PCIE_H2D_REUSED : GSIM_KEY_PCIE_H2D;
    return (struct gsim_copy_rates){
        .bytes_per_s = {profile->value[in], profile->value[GSIM_KEY_PCIE_D2H]},
        .both_bytes_per_s = profile->value[GSIM_KEY_PCIE_DUPLEX],
        .copy_ns = {profile->value[GSIM_KEY_PCIE_H2D_COPY_NS],
                    profile->value[GSIM_KEY_PCIE_D2H_COPY_NS]},
        .both_copy_ns = profile->value[GSIM_KEY_PCIE_DUPLEX_COPY_NS],
        .sync_ns = profile->value[GSIM_KEY_PCIE_SYNC_NS]};
}

struct gsim_copy_rates gsim_copy_rates_migrate(const struct gsim_profile *profile) {
    return (struct gsim_copy_rates){
        .bytes_per_s = {profile->value[GSIM_KEY_MIGRATE_IN], profile->value[GSIM_KEY_MIGRATE_OUT]},
        .both_bytes_per_s = profile->value[GSIM_KEY_MIGRATE_BOTH]};
}

struct gsim_copy_rates gsim_copy_rates_prefetch(const struct gsim_profile *profile) {
    return (struct gsim_copy_rates){.bytes_per_s = {profile->value[GSIM_KEY_UVM_PREFETCH_IN],
                                                    profile->value[GSIM_KEY_UVM_PREFETCH_OUT]},
                                    .both_bytes_per_s = profile->value[GSIM_KEY_PCIE_DUPLEX]};
}

static int64_t bytes_ns(int64_t bytes, int64_t bytes_per_s) {
    return bytes_per_s == INT64_MAX ? 0 : gsim_muldiv_ceil(bytes, GSIM_NS_PER_S, bytes_per_s);
}

static int64_t n_copies(int64_t bytes, int64_t chunk_bytes) {
    return chunk_bytes > 0 ? (bytes + chunk_bytes - 1) / chunk_bytes : 1;
}

int64_t gsim_copy_ns(const struct gsim_copy_rates *rates, enum gsim_direction direction,
                     int64_t bytes, int64_t chunk_bytes) {
    if (bytes <= 0)
        return 0;
    return bytes_ns(bytes, rates->bytes_per_s[direction]) +
           n_copies(bytes, chunk_bytes) * rates->copy_ns[direction];
}

/* A direction's part of the ceiling: half, or more where the other direction cannot use its
 * half. */
static int64_t both_rate(const struct gsim_copy_rates *rates, enum gsim_direction direction) {
    int64_t own = rates->bytes_per_s[direction];
    int64_t other = rates->bytes_per_s[direction == GSIM_H2D ? GSIM_D2H : GSIM_H2D];
    int64_t ceiling = rates->both_bytes_per_s;
    if (ceiling == INT64_MAX)
        return own;
    int64_t left = ceiling - (other < ceiling / 2 ? other : ceiling / 2);
    return left > 0 && left < own ? left : own;
}

int64_t gsim_copy_both_ns(const struct gsim_copy_rates *rates, enum gsim_direction direction,
                          int64_t bytes, int64_t chunk_bytes) {
    if (bytes <= 0)
        return 0;
    int64_t alone_ns = gsim_copy_ns(rates, direction, bytes, chunk_bytes);
    int64_t both_ns = bytes_ns(bytes, both_rate(rates, direction)) +
                      n_copies(bytes, chunk_bytes) * rates->both_copy_ns;
    return both_ns > alone_ns ? both_ns : alone_ns;
}

static uint64_t ratio_q32(int64_t alone_ns, int64_t both_ns) {
    if (alone_ns >= both_ns)
        return GSIM_RATE_ONE;
    uint64_t ratio = (uint64_t)(((gsim_u128)alone_ns << 32) / (gsim_u128)both_ns);
    return ratio ? ratio : 1;
}

int64_t gsim_copy_duplex_ns(const struct gsim_copy_rates *rates, int64_t bytes_in,
                            int64_t bytes_out, int64_t chunk_bytes) {
    const int64_t bytes[] = {bytes_in, bytes_out};
    gsim_work need[GSIM_DIRECTIONS];
    uint64_t rate[GSIM_DIRECTIONS];
    int64_t until[GSIM_DIRECTIONS]; /* the end if the other direction were busy as long */
    for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
        int64_t alone_ns = gsim_copy_ns(rates, d, bytes[d], chunk_bytes);
        if (alone_ns == 0)
            return gsim_copy_ns(rates, d == GSIM_H2D ? GSIM_D2H : GSIM_H2D,
                                bytes[d == GSIM_H2D ? GSIM_D2H : GSIM_H2D], chunk_bytes);
        need[d] = gsim_work_of_ns(alone_ns);
        rate[d] = ratio_q32(alone_ns, gsim_copy_both_ns(rates, d, bytes[d], chunk_bytes));
        until[d] = gsim_work_time(need[d], rate[d]);
    }
    enum gsim_direction last = until[GSIM_H2D] > until[GSIM_D2H] ? GSIM_H2D : GSIM_D2H;
    int64_t first_ns = until[last == GSIM_H2D ? GSIM_D2H : GSIM_H2D];
    gsim_work left = need[last] - gsim_work_done(rate[last], first_ns);
    return first_ns + (left > 0 ? gsim_work_time(left, GSIM_RATE_ONE) : 0);
}

int64_t gsim_copy_serial_ns(const struct gsim_copy_rates *rates, int64_t bytes_in,
                            int64_t bytes_out, int64_t chunk_bytes, int64_t alternate_ns) {
    int64_t alone_ns = gsim_copy_ns(rates, GSIM_H2D, bytes_in, chunk_bytes) +
                       gsim_copy_ns(rates, GSIM_D2H, bytes_out, chunk_bytes);
    if (bytes_in <= 0 || bytes_out <= 0) /* copies in one direction never turn round */
        return alone_ns;
    int64_t turns = 2 * n_copies(bytes_in < bytes_out ? bytes_in : bytes_out, chunk_bytes);
    return alone_ns + turns * alternate_ns;
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
            link->engines[gsim_link_engine_of(gpu, d)] =
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
    return link->engines[gsim_link_engine_of(gpu, direction)].head != GSIM_LINK_NONE;
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
            gsim_link_find_asks(&link->jobs[at]);
    link->pagers = pagers;
    return true;
}

void gsim_link_set_paging(struct gsim_link *link, uint32_t gpu,
                          const struct gsim_link_paging *paging) {
    link->pagers->of_gpu[gpu] = *paging;
}

void gsim_link_repage(struct gsim_link *link, uint32_t gpu, int64_t now_ns) {
    gsim_link_rerate(link, gpu, now_ns);
}

int64_t gsim_link_asks(const struct gsim_link *link, uint32_t gpu, enum gsim_direction direction) {
    const struct gsim_link_job *job = gsim_link_head_of(link, gsim_link_engine_of(gpu, direction));
    bool is_both = gsim_link_head_of(link, gsim_link_engine_of(gpu, direction) ^ 1) != NULL;
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
    int64_t extra_ns = transfer->is_synchronous ? transfer->rates->sync_ns : 0;
    int64_t alone_ns = extra_ns + gsim_copy_ns(transfer->rates, transfer->direction,
                                               transfer->bytes, transfer->chunk_bytes);
    int64_t both_ns = extra_ns + gsim_copy_both_ns(transfer->rates, transfer->direction,
                                                   transfer->bytes, transfer->chunk_bytes);
    *job = (struct gsim_link_job){.asked = *transfer,
                                  .alone_ns = alone_ns,
                                  .both_q32 = ratio_q32(alone_ns, both_ns),
                                  .next = GSIM_LINK_NONE};
    if (link->hosts || link->pagers)
        gsim_link_find_asks(job);
    struct gsim_link_engine *engine =
        &link->engines[gsim_link_engine_of(transfer->gpu, transfer->direction)];
    if (engine->head != GSIM_LINK_NONE) {
        link->jobs[engine->tail].next = handle;
        engine->tail = handle;
        return handle;
    }
    engine->head = engine->tail = handle;
    begin(link, handle, now_ns);
    note_change(link, transfer->gpu, now_ns);
    gsim_link_rerate(link, transfer->gpu, now_ns);
    return handle;
}

int64_t gsim_link_next_time(const struct gsim_link *link) {
    return gsim_eventq_next(&link->queue);
}

bool gsim_link_pop(struct gsim_link *link, int64_t now_ns, struct gsim_transfer_done *out) {
    if (gsim_link_next_time(link) > now_ns)
        return false;
    struct gsim_event_key key;
    uint32_t at = gsim_eventq_pop(&link->queue, &key);
    struct gsim_link_engine *engine = &link->engines[at];
    uint32_t handle = engine->head;
    struct gsim_link_job *job = &link->jobs[handle];
    *out = (struct gsim_transfer_done){.tag = job->asked.tag,
                                       .begin_ns = job->begin_ns,
                                       .end_ns = key.time_ns,
                                       .bytes = job->asked.bytes,
                                       .gpu = job->asked.gpu,
                                       .direction = job->asked.direction};
    engine->head = job->next;
    job->next = link->first_unused;
    link->first_unused = handle;
    if (engine->head == GSIM_LINK_NONE)
        engine->tail = GSIM_LINK_NONE;
    else
        begin(link, engine->head, key.time_ns);
    note_change(link, out->gpu, key.time_ns);
    gsim_link_rerate(link, out->gpu, key.time_ns);
    return true;
}

int64_t gsim_link_together_ns(const struct gsim_link *link, uint32_t gpu, uint32_t n,
                              uint32_t n_in_domain, const struct gsim_copy_rates *rates,
                              enum gsim_direction direction, int64_t bytes) {
    struct gsim_link_job job = {.asked = {.bytes = bytes},
                                .alone_ns = gsim_copy_ns(rates, direction, bytes, 0)};
    int64_t level = INT64_MAX;
    if (job.alone_ns == 0)
        return 0;
    if (gsim_link_is_root_shared(link, gpu))
        level = link->root_bytes_per_s[link->root_of_gpu[gpu]] / n;
    if (link->hosts) {
        const struct gsim_host_rates *host = &link->hosts->rates[link->hosts->domain_of_gpu[gpu]];
        int64_t carried = host->bytes_per_s[direction == GSIM_H2D ? GSIM_HOST_IN : GSIM_HOST_OUT];
        level = carried / n_in_domain < level ? carried / n_in_domain : level;
    }
    uint64_t rate_q32 = gsim_link_rate_below(&job, GSIM_RATE_ONE, level > 0 ? level : 1);
    return gsim_work_time(gsim_work_of_ns(job.alone_ns), rate_q32);
}

/* --- questions -------------------------------------------------------------------------------- */

static gsim_work done_at(const struct gsim_link_job *job, int64_t now_ns) {
    gsim_work need = gsim_work_of_ns(job->alone_ns);
    gsim_work done = job->progress.done +
                     gsim_work_done(job->progress.rate_q32, now_ns - job->progress.since_ns);
    return done < need ? done : need;
}

int64_t gsim_link_carried(const struct gsim_link *link, uint32_t handle, int64_t now_ns) {
    const struct gsim_link_job *job = &link->jobs[handle];
    const struct gsim_link_engine *engine =
        &link->engines[gsim_link_engine_of(job->asked.gpu, job->asked.direction)];
    if (engine->head != handle)
        return 0;
    if (job->alone_ns == 0)
        return job->asked.bytes;
    return gsim_muldiv_floor(job->asked.bytes, gsim_work_to_ns(done_at(job, now_ns)),
                             job->alone_ns);
}

static void put(int64_t value, int64_t *out, size_t room, size_t *n) {
    if (*n < room)
        out[*n] = value;
    (*n)++;
}

size_t gsim_link_state(const struct gsim_link *link, uint32_t gpu, int64_t now_ns, int64_t *out,
                       size_t room) {
    size_t n = 0;
    for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
        const struct gsim_link_engine *engine = &link->engines[gsim_link_engine_of(gpu, d)];
        for (uint32_t at = engine->head; at != GSIM_LINK_NONE; at = link->jobs[at].next) {
            const struct gsim_link_job *job = &link->jobs[at];
            gsim_work done = at == engine->head ? done_at(job, now_ns) : 0;
            put((int64_t)job->asked.tag, out, room, &n);
            put(job->asked.bytes, out, room, &n);
            put(job->alone_ns, out, room, &n);
            put((int64_t)job->both_q32, out, room, &n);
            put(gsim_work_to_ns(done), out, room, &n);
            put((int64_t)(done & UINT32_MAX), out, room, &n);
        }
        put(-1, out, room, &n); /* the end of an engine */
    }
    return n;
}
