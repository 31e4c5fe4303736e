/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/jobs/link_shares.h"

#include "models/jobs/machine.h"
#include "sim/base/hints.h"

enum { FIRST_WINDOW_NS = GSIM_NS_PER_S, IS_NEWS = 64, GROWS_BY = 8 };

/* --- opening ---------------------------------------------------------------------------------- */

static bool has_shared_root(const struct gsim_wiring *wiring, uint32_t n_gpus) {
    for (uint32_t gpu = 1; wiring->root_of_gpu && gpu < n_gpus; gpu++)
        if (wiring->root_of_gpu[gpu] == wiring->root_of_gpu[gpu - 1] &&
            wiring->root_bytes_per_s[wiring->root_of_gpu[gpu]] != INT64_MAX)
            return true;
    return false;
}

/* The first GPU of a host in the group of this GPU. */
static uint32_t first_of(const struct gsim_link_shares_host *host, const uint32_t *group_of_gpu,
                         uint32_t gpu) {
    uint32_t first = host->first_gpu;
    while (first < gpu && group_of_gpu && group_of_gpu[first] != group_of_gpu[gpu])
        first++;
    return group_of_gpu ? first : gpu;
}

static void find_groups(struct gsim_model *model, uint32_t gpu) {
    const struct gsim_wiring *wiring = &model->setup.wiring;
    const struct gsim_link_shares_host *host = &model->link_shares.hosts[wiring->node_of_gpu[gpu]];
    struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    about->first_below_root = first_of(host, wiring->root_of_gpu, gpu);
    about->first_in_domain = first_of(host, model->transfers.domains.hosts.domain_of_gpu, gpu);
}

bool gsim_link_shares_init(struct gsim_model *model) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    const struct gsim_model_setup *setup = &model->setup;
    link_shares->is_on =
        model->transfers.domains.is_bottleneck || has_shared_root(&setup->wiring, setup->n_gpus);
    if (!link_shares->is_on)
        return true;
    uint32_t n = setup->wiring.n_nodes;
    gsim_eventq_init(&link_shares->windows, setup->arena);
    link_shares->gpus = gsim_arena_array(setup->arena, setup->n_gpus, sizeof *link_shares->gpus);
    link_shares->hosts = gsim_arena_array(setup->arena, n, sizeof *link_shares->hosts);
    link_shares->disturbed = gsim_arena_array(setup->arena, n, sizeof *link_shares->disturbed);
    link_shares->below_root =
        gsim_arena_array(setup->arena, setup->n_gpus, sizeof *link_shares->below_root);
    link_shares->in_domain =
        gsim_arena_array(setup->arena, setup->n_gpus, sizeof *link_shares->in_domain);
    if (!link_shares->gpus || !link_shares->hosts || !link_shares->disturbed ||
        !link_shares->below_root || !link_shares->in_domain ||
        !gsim_eventq_reserve(&link_shares->windows, n))
        return false;
    for (uint32_t gpu = setup->n_gpus; gpu-- > 0;) {
        struct gsim_link_shares_host *host = &link_shares->hosts[setup->wiring.node_of_gpu[gpu]];
        link_shares->gpus[gpu].shares = gsim_pager_whole();
        host->first_gpu = gpu;
        host->n_gpus++;
    }
    for (uint32_t gpu = 0; gpu < setup->n_gpus; gpu++)
        find_groups(model, gpu);
    return true;
}

void gsim_link_shares_disturb(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    if (gsim_mostly(!link_shares->is_on))
        return;
    uint32_t node = model->setup.wiring.node_of_gpu[gpu];
    link_shares->disturbed_ns = now_ns;
    if (link_shares->hosts[node].is_disturbed)
        return;
    link_shares->hosts[node].is_disturbed = true;
    link_shares->disturbed[link_shares->n_disturbed++] = node;
}

/* --- a GPU ------------------------------------------------------------------------------------ */

/* The arbiter that has the GPU's memory: its own, or that of a gang. */
static uint32_t keeper_of(const struct gsim_shared *shared, uint32_t gpu) {
    return shared->taken_by[gpu] > 0 ? shared->taken_by[gpu] - 1 : gpu;
}

static struct gsim_paged paged(const struct gsim_model *model, uint32_t gpu) {
    const struct gsim_shared *shared = &model->shared;
    return gsim_arbiter_paged(shared->of_gpu[gpu], shared->of_gpu[keeper_of(shared, gpu)], gpu);
}

static bool is_too_much(const struct gsim_model *model, uint32_t gpu) {
    const struct gsim_shared *shared = &model->shared;
    return gsim_arbiter_is_too_much(shared->of_gpu[gpu], shared->of_gpu[keeper_of(shared, gpu)],
                                    gpu);
}

static bool is_paging(const struct gsim_model *model, uint32_t gpu) {
    const struct gsim_shared *shared = &model->shared;
    if (!shared->of_gpu || !shared->of_gpu[gpu] ||
        !gsim_shared_pages((enum gsim_memory)model->gpus[gpu].memory))
        return false;
    return gsim_next_report_occupied(shared, keeper_of(shared, gpu)) && is_too_much(model, gpu);
}

/* The bytes per second that the GPU asks of one way while it copies in, out or both ways at once;
 * 0: none. */
static int64_t asks(const struct gsim_model *model, uint32_t gpu, enum gsim_host_way how,
                    enum gsim_host_way way) {
    const struct gsim_pager *pager = gsim_arbiter_pager(model->shared.of_gpu[gpu]);
    const struct gsim_copy_rates *rates = &pager->alone.migrate;
    bool migrates = pager->manager == GSIM_MEMORY_PROACTIVE;
    if (how != GSIM_HOST_BOTH) {
        int64_t alone = migrates ? rates->bytes_per_s[how == GSIM_HOST_IN ? GSIM_H2D : GSIM_D2H]
                                 : pager->alone.copy_bytes_per_s;
        return way == how || way == GSIM_HOST_BOTH ? alone : 0;
    }
    if (!migrates || !pager->proactive.is_pipelined) /* both ways take turns */
        return 0;
    return way == GSIM_HOST_BOTH || rates->both_bytes_per_s == INT64_MAX
               ? rates->both_bytes_per_s
               : rates->both_bytes_per_s / 2;
}

/* The most that the GPU ever asks of one way. */
static int64_t asks_most(const struct gsim_model *model, uint32_t gpu, enum gsim_host_way way) {
    int64_t most = 0;
    for (enum gsim_host_way how = GSIM_HOST_IN; how < GSIM_HOST_WAYS; how++)
        most = asks(model, gpu, how, way) > most ? asks(model, gpu, how, way) : most;
    return most;
}

static void settle(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    (void)gsim_arbiter_settle(model->shared.of_gpu[keeper_of(&model->shared, gpu)], now_ns);
}

/* Begins the GPU's window. */
static void begin_window(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    if (!about->is_paging)
        return;
    settle(model, gpu, now_ns);
    struct gsim_paged now = paged(model, gpu);
    about->bytes[GSIM_H2D] = now.bytes_in;
    about->bytes[GSIM_D2H] = now.bytes_out;
}

/* The average rate of this many bytes in the window, at this share of the GPU's rates. Bytes on
 * their way may have left with their job. */
static int64_t average(int64_t bytes, uint64_t share_q32, int64_t window_ns, int64_t most) {
    if (bytes <= 0)
        return 0;
    gsim_i128 alone = ((gsim_i128)bytes << 32) / (gsim_i128)share_q32;
    gsim_i128 bytes_per_s = alone * GSIM_NS_PER_S / window_ns;
    return bytes_per_s < most ? (int64_t)bytes_per_s : most;
}

/* Where clean pages are copied out too, as much goes out as comes in, and chance decides how much
 * of each a window sees. */
static void even_out(const struct gsim_pager *pager, int64_t *found) {
    int64_t in = found[GSIM_HOST_IN], out = found[GSIM_HOST_OUT];
    bool is_at_once = pager->manager == GSIM_MEMORY_PROACTIVE && pager->proactive.is_pipelined;
    if (!pager->uvm.copies_clean)
        return;
    int64_t each = is_at_once ? (in > out ? in : out) : in / 2 + out / 2;
    found[GSIM_HOST_IN] = found[GSIM_HOST_OUT] = each;
    if (is_at_once && found[GSIM_HOST_BOTH] < 2 * each)
        found[GSIM_HOST_BOTH] = 2 * each;
}

static void measure(struct gsim_model *model, uint32_t gpu, int64_t since_ns, int64_t now_ns) {
    struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    int64_t found[GSIM_HOST_WAYS];
    if (!about->is_paging)
        return;
    settle(model, gpu, now_ns);
    struct gsim_paged now = paged(model, gpu);
    int64_t in = now.bytes_in - about->bytes[GSIM_H2D];
    int64_t out = now.bytes_out - about->bytes[GSIM_D2H];
    const int64_t bytes[GSIM_HOST_WAYS] = {in, out, in + out};
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
        found[way] = average(bytes[way], about->shares.q32[way], now_ns - since_ns,
                             asks_most(model, gpu, way));
    even_out(gsim_arbiter_pager(model->shared.of_gpu[gpu]), found);
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++) {
        int64_t most = asks_most(model, gpu, way);
        about->asks[way] = about->asks[way] / 2 + (found[way] < most ? found[way] : most) / 2;
    }
}

/* --- shares ----------------------------------------------------------------------------------- */

static void add_asks(struct gsim_crowd_sum *sum, const struct gsim_link_shares_gpu *about) {
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
        sum->asks[way] += about->asks[way];
}

/* Sums once for all GPUs of a host, since the averages stay as they are while shares are given. */
static void sum_asks(struct gsim_link_shares *link_shares,
                     const struct gsim_link_shares_host *host) {
    uint32_t end = host->first_gpu + host->n_gpus;
    for (uint32_t gpu = host->first_gpu; gpu < end; gpu++)
        link_shares->below_root[gpu] = link_shares->in_domain[gpu] = (struct gsim_crowd_sum){0};
    for (uint32_t gpu = host->first_gpu; gpu < end; gpu++) {
        const struct gsim_link_shares_gpu *about = &link_shares->gpus[gpu];
        if (!about->is_paging)
            continue;
        add_asks(&link_shares->below_root[about->first_below_root], about);
        add_asks(&link_shares->in_domain[about->first_in_domain], about);
    }
}

/* The share of the bandwidth of a group in one way, for a GPU of it that now asks for `own`. */
static uint64_t share_of(const struct gsim_crowd_sum *group,
                         const struct gsim_link_shares_gpu *about, enum gsim_host_way way,
                         int64_t own, int64_t carried) {
    if (carried == INT64_MAX || own == INT64_MAX || own == 0)
        return GSIM_RATE_ONE;
    gsim_i128 asked = own + group->asks[way] - about->asks[way];
    if (asked <= carried)
        return GSIM_RATE_ONE;
    uint64_t share = (uint64_t)(((gsim_u128)carried << 32) / (gsim_u128)asked);
    return share > 0 ? share : 1;
}

static uint64_t share_of_root(const struct gsim_model *model, uint32_t gpu,
                              enum gsim_host_way how) {
    const struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    const struct gsim_crowd_sum *group = &model->link_shares.below_root[about->first_below_root];
    const struct gsim_wiring *wiring = &model->setup.wiring;
    uint64_t least = GSIM_RATE_ONE;
    for (enum gsim_host_way way = GSIM_HOST_IN; wiring->root_of_gpu && way < GSIM_HOST_BOTH;
         way++) {
        uint64_t share = share_of(group, about, way, asks(model, gpu, how, way),
                                  wiring->root_bytes_per_s[wiring->root_of_gpu[gpu]]);
        least = share < least ? share : least;
    }
    return least;
}

/* Both ways count together where the domain copies both ways. */
static uint64_t share_of_domain(const struct gsim_model *model, uint32_t gpu,
                                enum gsim_host_way how) {
    const struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    const struct gsim_crowd_sum *group = &model->link_shares.in_domain[about->first_in_domain];
    const struct gsim_link_hosts *hosts = &model->transfers.domains.hosts;
    const int64_t *carried = hosts->rates[hosts->domain_of_gpu[gpu]].bytes_per_s;
    bool is_both = group->asks[GSIM_HOST_IN] > 0 && group->asks[GSIM_HOST_OUT] > 0;
    uint64_t least = GSIM_RATE_ONE;
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++) {
        uint64_t share = share_of(group, about, way, asks(model, gpu, how, way), carried[way]);
        if (way != GSIM_HOST_BOTH || is_both)
            least = share < least ? share : least;
    }
    return least;
}

static bool is_news(uint64_t was, uint64_t is) {
    uint64_t by = is > was ? is - was : was - is;
    return by > was / IS_NEWS || (is == GSIM_RATE_ONE && by > 0);
}

static void share(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    struct gsim_shared *shared = &model->shared;
    const struct gsim_host_memory *domains = &model->transfers.domains;
    struct gsim_pager_shares shares = gsim_pager_whole();
    bool has_news = false;
    if (!about->is_paging)
        return;
    for (enum gsim_host_way how = GSIM_HOST_IN; how < GSIM_HOST_WAYS; how++) {
        uint64_t of_root = share_of_root(model, gpu, how);
        uint64_t of_domain = share_of_domain(model, gpu, how);
        shares.q32[how] = of_root < of_domain ? of_root : of_domain;
        has_news |= is_news(about->shares.q32[how], shares.q32[how]);
        model->link_shares.was_host_limited |=
            of_domain < GSIM_RATE_ONE && !domains->is_given[domains->hosts.domain_of_gpu[gpu]];
    }
    if (!has_news)
        return;
    about->shares = shares;
    uint32_t keeper = keeper_of(shared, gpu);
    gsim_arbiter_set_shares(shared->of_gpu[gpu], shared->of_gpu[keeper], &shares, now_ns);
    gsim_next_report_anew(shared, keeper, now_ns);
}

static void share_all(struct gsim_model *model, const struct gsim_link_shares_host *host,
                      int64_t now_ns) {
    sum_asks(&model->link_shares, host);
    for (uint32_t k = 0; k < host->n_gpus; k++)
        share(model, host->first_gpu + k, now_ns);
}

/* --- windows ---------------------------------------------------------------------------------- */

static void expect_end(struct gsim_link_shares *link_shares, uint32_t node, int64_t length_ns) {
    struct gsim_link_shares_host *host = &link_shares->hosts[node];
    host->length_ns = length_ns;
    if (host->n_paging > 1)
        gsim_eventq_set(&link_shares->windows, node, host->since_ns + length_ns, node);
    else
        gsim_eventq_cancel(&link_shares->windows, node);
}

/* Counts paging GPUs anew: a GPU that begins to page is taken to copy all the time. */
static bool find_paging(struct gsim_model *model, struct gsim_link_shares_host *host) {
    bool has_changed = false;
    host->n_paging = 0;
    for (uint32_t gpu = host->first_gpu; gpu < host->first_gpu + host->n_gpus; gpu++) {
        struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
        bool is = is_paging(model, gpu);
        host->n_paging += is;
        if (is == about->is_paging)
            continue;
        has_changed = true;
        about->is_paging = is;
        for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
            about->asks[way] = is ? asks_most(model, gpu, way) : 0;
    }
    return has_changed;
}

static void look_at(struct gsim_model *model, uint32_t node, int64_t now_ns) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    struct gsim_link_shares_host *host = &link_shares->hosts[node];
    host->is_disturbed = false;
    if (find_paging(model, host)) {
        host->since_ns = now_ns;
        for (uint32_t k = 0; host->n_paging > 1 && k < host->n_gpus; k++)
            begin_window(model, host->first_gpu + k, now_ns);
        share_all(model, host, now_ns);
        expect_end(link_shares, node, FIRST_WINDOW_NS);
    } else if (host->n_paging > 1 && host->since_ns + host->length_ns > now_ns + FIRST_WINDOW_NS) {
        expect_end(link_shares, node, now_ns + FIRST_WINDOW_NS - host->since_ns);
    }
}

static void end_window(struct gsim_model *model, uint32_t node, int64_t now_ns) {
    struct gsim_link_shares_host *host = &model->link_shares.hosts[node];
    for (uint32_t k = 0; k < host->n_gpus; k++)
        measure(model, host->first_gpu + k, host->since_ns, now_ns);
    for (uint32_t k = 0; k < host->n_gpus; k++)
        begin_window(model, host->first_gpu + k, now_ns);
    host->since_ns = now_ns;
    share_all(model, host, now_ns);
    expect_end(&model->link_shares, node, host->length_ns + host->length_ns / GROWS_BY);
}

int64_t gsim_link_shares_next_ns(struct gsim_model *model) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    for (uint32_t i = 0; i < link_shares->n_disturbed; i++)
        look_at(model, link_shares->disturbed[i], link_shares->disturbed_ns);
    link_shares->n_disturbed = 0;
    return gsim_eventq_next(&link_shares->windows);
}

void gsim_link_shares_serve(struct gsim_model *model, int64_t now_ns) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    while (gsim_eventq_next(&link_shares->windows) <= now_ns) {
        struct gsim_event_key key;
        uint32_t node = gsim_eventq_pop(&link_shares->windows, &key);
        end_window(model, node, now_ns);
    }
}
