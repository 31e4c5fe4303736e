/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/jobs/link_shares.h"

#include "models/jobs/link_parts.h"
#include "models/jobs/next_report.h"
#include "models/jobs/shared_state.h"

#include "sim/base/hints.h"

enum { FIRST_WINDOW_NS = GSIM_NS_PER_S, IS_NEWS = 64, GROWS_BY = 8 };

/* --- opening ---------------------------------------------------------------------------------- */

/* A root may carry less than the one GPU below it asks for. */
static bool has_limited_root(const struct gsim_wiring *wiring, uint32_t n_gpus) {
    for (uint32_t gpu = 0; wiring->root_of_gpu && gpu < n_gpus; gpu++)
        if (wiring->root_bytes_per_s[wiring->root_of_gpu[gpu]] != INT64_MAX)
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
    about->first[GSIM_PAGED_OWN] = gpu;
    about->first[GSIM_PAGED_ROOT] = first_of(host, wiring->root_of_gpu, gpu);
    about->first[GSIM_PAGED_DOMAIN] =
        first_of(host, model->transfers.domains.hosts.domain_of_gpu, gpu);
}

/* A copy of a whole job is on each link of its GPU, in its own way and in both. */
static bool allocate_loads(struct gsim_link_shares *link_shares,
                           const struct gsim_model_setup *setup) {
    enum { WAYS_OF_COPY = 2 };
    struct gsim_arena *arena = setup->arena;
    size_t n_copies = GSIM_DIRECTIONS * (size_t)setup->n_gpus,
           n_asked = n_copies * GSIM_PAGED_LINKS * WAYS_OF_COPY;
    bool is_done = true;
    for (enum gsim_paged_link link = GSIM_PAGED_OWN; link < GSIM_PAGED_LINKS; link++) {
        link_shares->loads[link] =
            gsim_arena_array(arena, setup->n_gpus, sizeof *link_shares->loads[link]);
        is_done &= link_shares->loads[link] != NULL;
    }
    link_shares->under_way = gsim_arena_array(arena, n_copies, sizeof *link_shares->under_way);
    link_shares->copies = gsim_arena_array(arena, n_asked, sizeof *link_shares->copies);
    return is_done && link_shares->under_way && link_shares->copies;
}

static bool allocate(struct gsim_link_shares *link_shares, const struct gsim_model_setup *setup) {
    uint32_t n_gpus = setup->n_gpus, n = setup->wiring.n_nodes;
    struct gsim_arena *arena = setup->arena;
    gsim_eventq_init(&link_shares->windows, arena);
    link_shares->gpus = gsim_arena_array(arena, n_gpus, sizeof *link_shares->gpus);
    link_shares->hosts = gsim_arena_array(arena, n, sizeof *link_shares->hosts);
    link_shares->disturbed = gsim_arena_array(arena, n, sizeof *link_shares->disturbed);
    link_shares->found = gsim_arena_array(arena, n_gpus, sizeof *link_shares->found);
    return link_shares->gpus && link_shares->hosts && link_shares->disturbed &&
           link_shares->found && allocate_loads(link_shares, setup) &&
           gsim_eventq_reserve(&link_shares->windows, n);
}

void gsim_link_shares_init(struct gsim_model *model) {
    const struct gsim_model_setup *setup = &model->setup;
    model->link_shares.is_on =
        model->transfers.domains.is_bottleneck || has_limited_root(&setup->wiring, setup->n_gpus);
}

bool gsim_link_shares_open(struct gsim_model *model) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    const struct gsim_model_setup *setup = &model->setup;
    if (link_shares->is_open)
        return true;
    if (!allocate(link_shares, setup) || !gsim_transfers_meet_pagers(&model->transfers, setup))
        return false;
    for (uint32_t gpu = setup->n_gpus; gpu-- > 0;) {
        struct gsim_link_shares_host *host = &link_shares->hosts[setup->wiring.node_of_gpu[gpu]];
        link_shares->gpus[gpu].shares = gsim_pager_whole();
        host->first_gpu = gpu;
        host->n_gpus++;
    }
    for (uint32_t gpu = 0; gpu < setup->n_gpus; gpu++)
        find_groups(model, gpu);
    link_shares->is_open = true;
    return true;
}

static void look_later(struct gsim_link_shares *link_shares, uint32_t node, int64_t now_ns) {
    link_shares->disturbed_ns = now_ns;
    if (link_shares->hosts[node].is_disturbed)
        return;
    link_shares->hosts[node].is_disturbed = true;
    link_shares->disturbed[link_shares->n_disturbed++] = node;
}

/* Where no links are shared, paging matters only to copies over the link of its own GPU. */
void gsim_link_shares_disturb(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    if (gsim_mostly(!link_shares->is_open))
        return;
    uint32_t node = model->setup.wiring.node_of_gpu[gpu];
    link_shares->gpus[gpu].is_still = false;
    if (link_shares->is_on || gsim_eventq_has(&link_shares->windows, node) ||
        gsim_link_is_copying(&model->transfers.pcie, gpu))
        look_later(link_shares, node, now_ns);
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

static void settle_link(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    (void)gsim_arbiter_settle(model->shared.of_gpu[keeper_of(&model->shared, gpu)], now_ns);
}

static struct gsim_link_shares_host *host_of(const struct gsim_model *model, uint32_t gpu) {
    return &model->link_shares.hosts[model->setup.wiring.node_of_gpu[gpu]];
}

/* Begins to count from the last tally on. */
static void begin_count(struct gsim_link_shares_gpu *about, int64_t now_ns) {
    about->since_ns = now_ns;
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
        about->demand[way] = 0;
}

/* Begins to count what the GPU pages, from its committed state on. */
static void count_anew(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    struct gsim_paged now = paged(model, gpu);
    about->bytes[GSIM_H2D] = now.bytes_in;
    about->bytes[GSIM_D2H] = now.bytes_out;
    begin_count(about, now_ns);
}

/* Begins the GPU's window. Of a GPU that is still nothing has arrived since its last one.
 * has_tallied: at this instant. */
static void begin_window(struct gsim_model *model, uint32_t gpu, int64_t now_ns, bool has_tallied) {
    struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    if (!about->is_paging)
        return;
    if (about->is_still) {
        about->since_ns = now_ns;
        return;
    }
    if (has_tallied) {
        begin_count(about, now_ns);
        return;
    }
    settle_link(model, gpu, now_ns);
    count_anew(model, gpu, now_ns);
}

static void begin_paging(struct gsim_model *model, uint32_t gpu, bool is) {
    struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    about->is_paging = is;
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
        about->asks[way] = is ? about->most[way] : 0;
    about->found[GSIM_HOST_IN] = -1;
}

static void count_one(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    if (gsim_mostly(!link_shares->is_open) || !model->shared.of_gpu[gpu] ||
        gsim_eventq_has(&link_shares->windows, model->setup.wiring.node_of_gpu[gpu]))
        return;
    if (!link_shares->is_on && is_paging(model, gpu) != link_shares->gpus[gpu].is_paging)
        begin_paging(model, gpu, !link_shares->gpus[gpu].is_paging);
    if (link_shares->gpus[gpu].is_paging || link_shares->is_on)
        count_anew(model, gpu, now_ns);
}

void gsim_link_shares_count(struct gsim_model *model, const struct gsim_job *about,
                            int64_t now_ns) {
    for (uint32_t u = 0; u < about->n_units; u++) {
        count_one(model, about->units[u].gpu, now_ns);
        gsim_link_shares_disturb(model, about->units[u].gpu, now_ns);
    }
}

/* The bytes that would have moved at full rates while these moved at the share. */
static gsim_i128 at_full_rate(int64_t bytes, uint64_t share_q32) {
    if (share_q32 == GSIM_RATE_ONE || bytes == 0)
        return bytes;
    return (gsim_i128)bytes * (gsim_i128)GSIM_RATE_ONE / (gsim_i128)share_q32;
}

/* Adds the bytes that have arrived since the last tally to what the GPU would have moved at full
 * rates. Bytes on their way may have left with their job. */
static void tally(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    settle_link(model, gpu, now_ns);
    struct gsim_paged now = paged(model, gpu);
    int64_t in = now.bytes_in - about->bytes[GSIM_H2D];
    int64_t out = now.bytes_out - about->bytes[GSIM_D2H];
    const int64_t bytes[GSIM_HOST_WAYS] = {in, out, in + out};
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
        about->demand[way] += at_full_rate(bytes[way], about->shares.q32[way]);
    about->bytes[GSIM_H2D] = now.bytes_in;
    about->bytes[GSIM_D2H] = now.bytes_out;
}

/* Where clean pages are copied out too, as much goes out as comes in, and chance decides how much
 * of each a window sees. */
static void even_out(const struct gsim_pager *pager, int64_t *found) {
    int64_t in = found[GSIM_HOST_IN], out = found[GSIM_HOST_OUT];
    bool is_at_once = gsim_link_parts_is_at_once(pager);
    if (!pager->uvm.copies_clean)
        return;
    int64_t each = is_at_once ? (in > out ? in : out) : in / 2 + out / 2;
    found[GSIM_HOST_IN] = found[GSIM_HOST_OUT] = each;
    if (is_at_once && found[GSIM_HOST_BOTH] < 2 * each)
        found[GSIM_HOST_BOTH] = 2 * each;
}

/* Bytes per second, up to `most`; few bytes are divided in 64 bits. */
static int64_t average(gsim_i128 bytes, int64_t ns, int64_t most) {
    if (bytes <= 0)
        return 0;
    gsim_i128 bytes_per_s = bytes <= INT64_MAX / GSIM_NS_PER_S ? (int64_t)bytes * GSIM_NS_PER_S / ns
                                                               : bytes * GSIM_NS_PER_S / ns;
    return bytes_per_s < most ? (int64_t)bytes_per_s : most;
}

/* The average of what the GPU asked for since its window began. */
static void find_average(struct gsim_model *model, uint32_t gpu, int64_t now_ns, int64_t *found) {
    const struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    tally(model, gpu, now_ns);
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
        found[way] = average(about->demand[way], now_ns - about->since_ns, about->most[way]);
    const struct gsim_pager *pager = gsim_arbiter_pager(model->shared.of_gpu[gpu]);
    even_out(pager, found);
    if (gsim_link_parts_is_at_once(pager))
        return;
    /* copies that take turns have no share of both ways by which the sum could be found */
    gsim_i128 both = (gsim_i128)found[GSIM_HOST_IN] + found[GSIM_HOST_OUT];
    int64_t most = about->most[GSIM_HOST_BOTH];
    found[GSIM_HOST_BOTH] = both < most ? (int64_t)both : most;
}

/* A GPU that paged nothing in its window, and has all that its contexts may touch, pages nothing
 * until they come or go. */
static bool is_still(const struct gsim_model *model, uint32_t gpu) {
    const struct gsim_shared *shared = &model->shared;
    const int64_t *found = model->link_shares.gpus[gpu].found;
    return found[GSIM_HOST_IN] == 0 && found[GSIM_HOST_OUT] == 0 &&
           gsim_arbiter_has_all(shared->of_gpu[gpu], shared->of_gpu[keeper_of(shared, gpu)], gpu);
}

/* Returns whether the GPU asks for more or less than before. */
static bool set_asks(struct gsim_link_shares_gpu *about, const int64_t *asks) {
    bool is_news = false;
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++) {
        is_news |= about->asks[way] != asks[way];
        about->asks[way] = asks[way];
    }
    return is_news;
}

/* The GPU's window ends. Returns whether it asks for more or less than before. */
static bool measure(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    bool is_first = about->found[GSIM_HOST_IN] < 0;
    int64_t asks[GSIM_HOST_WAYS] = {0};
    if (!about->is_paging || about->is_still)
        return false;
    find_average(model, gpu, now_ns, about->found);
    about->is_still = is_still(model, gpu);
    for (enum gsim_host_way way = GSIM_HOST_IN; !about->is_still && way < GSIM_HOST_WAYS; way++) {
        int64_t most = about->most[way];
        int64_t found = about->found[way] < most ? about->found[way] : most;
        asks[way] = is_first && host_of(model, gpu)->n_copying > 0
                        ? found
                        : about->asks[way] / 2 + found / 2;
    }
    return set_asks(about, asks);
}

/* Whether nothing is on its way to the GPU, and nothing will be until contexts come or go. */
static bool is_quiet(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    const struct gsim_shared *shared = &model->shared;
    const struct gsim_arbiter *own = shared->of_gpu[gpu],
                              *keeper = shared->of_gpu[keeper_of(shared, gpu)];
    settle_link(model, gpu, now_ns);
    return gsim_arbiter_has_all(own, keeper, gpu) && !gsim_arbiter_is_moving(own, keeper, gpu);
}

/* Before the first copy: the GPU asks for what it paged in its last window. Without one it asks for
 * nothing where it is quiet, else for what it paged since its contexts last came or went, where
 * that is long enough to tell. */
static void measure_so_far(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    const struct gsim_link_shares *link_shares = &model->link_shares;
    struct gsim_link_shares_gpu *about = &link_shares->gpus[gpu];
    static const int64_t nothing[GSIM_HOST_WAYS] = {0};
    bool has_window = gsim_eventq_has(&link_shares->windows, model->setup.wiring.node_of_gpu[gpu]);
    bool is_met = link_shares->is_on || gsim_link_is_copying(&model->transfers.pcie, gpu);
    if (!about->is_paging || !is_met || host_of(model, gpu)->has_met)
        return;
    if (!has_window && is_quiet(model, gpu, now_ns)) {
        (void)set_asks(about, nothing);
        return;
    }
    if (has_window ? about->found[GSIM_HOST_IN] < 0 : now_ns - about->since_ns < FIRST_WINDOW_NS)
        return;
    if (!has_window)
        find_average(model, gpu, now_ns, about->found);
    for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
        about->asks[way] = about->found[way];
}

/* --- shares ---------------------------------------------------------------------------------- */

static bool is_news(uint64_t was, uint64_t is) {
    uint64_t by = is > was ? is - was : was - is;
    return by > was / IS_NEWS || (is == GSIM_RATE_ONE && by > 0);
}

/* Returns whether the shares that were found are other than before. */
static bool share(struct gsim_model *model, uint32_t gpu, int64_t now_ns) {
    struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
    const struct gsim_pager_shares *found = &model->link_shares.found[gpu];
    struct gsim_shared *shared = &model->shared;
    bool has_news = false;
    for (enum gsim_host_way how = GSIM_HOST_IN; how < GSIM_HOST_WAYS; how++)
        has_news |= is_news(about->shares.q32[how], found->q32[how]);
    if (!has_news)
        return false;
    if (gsim_eventq_has(&model->link_shares.windows, model->setup.wiring.node_of_gpu[gpu]))
        tally(model, gpu, now_ns);
    about->shares = *found;
    uint32_t keeper = keeper_of(shared, gpu);
    gsim_arbiter_set_shares(shared->of_gpu[gpu], shared->of_gpu[keeper], found, now_ns);
    gsim_next_report_anew(shared, keeper, now_ns);
    return true;
}

/* The GPUs change what they ask for as soon as copies take a part of their links. */
static void share_all(struct gsim_model *model, struct gsim_link_shares_host *host,
                      int64_t now_ns) {
    bool meets = host->n_copying > 0, foresees = meets || host->has_met;
    gsim_link_parts_find(model, host, model->link_shares.found, foresees);
    for (uint32_t gpu = host->first_gpu; gpu < host->first_gpu + host->n_gpus; gpu++) {
        struct gsim_link_shares_gpu *about = &model->link_shares.gpus[gpu];
        if (!about->is_paging && !foresees)
            continue;
        if (!about->is_paging) /* what it still pages in is in the way of no copy any more */
            model->link_shares.found[gpu] = gsim_pager_whole();
        if (share(model, gpu, now_ns) || !foresees)
            continue;
        for (enum gsim_host_way way = GSIM_HOST_IN; way < GSIM_HOST_WAYS; way++)
            about->asks[way] = about->measured[way];
    }
    if (foresees)
        gsim_link_parts_tell(model, host, now_ns);
    host->has_met = meets;
}

/* --- windows ---------------------------------------------------------------------------------- */

/* Whether the host's GPUs that page have other users of their links. */
static bool is_crowded(const struct gsim_link_shares *link_shares,
                       const struct gsim_link_shares_host *host) {
    return (link_shares->is_on && !host->suffices && host->n_paging > 1) ||
           (host->n_paging > 0 && host->n_copying > 0);
}

static void expect_end(struct gsim_link_shares *link_shares, uint32_t node, int64_t length_ns) {
    struct gsim_link_shares_host *host = &link_shares->hosts[node];
    host->length_ns = length_ns;
    if (is_crowded(link_shares, host))
        gsim_eventq_set(&link_shares->windows, node, host->since_ns + length_ns, node);
    else
        gsim_eventq_cancel(&link_shares->windows, node);
}

/* Counts paging GPUs anew: a GPU that begins to page is taken to copy all the time. */
static bool find_paging(struct gsim_model *model, struct gsim_link_shares_host *host) {
    bool has_changed = false;
    if (!host->is_weighed)
        host->suffices = gsim_link_parts_suffice(model, host);
    host->is_weighed = true;
    host->n_paging = 0;
    for (uint32_t gpu = host->first_gpu; gpu < host->first_gpu + host->n_gpus; gpu++) {
        bool is = is_paging(model, gpu);
        host->n_paging += is;
        if (is == model->link_shares.gpus[gpu].is_paging)
            continue;
        has_changed = true;
        begin_paging(model, gpu, is);
    }
    return has_changed;
}

/* Whether the GPU carries a copy of a whole job over links that GPUs which page may share. */
static bool is_in_the_way(const struct gsim_model *model, uint32_t gpu) {
    const struct gsim_link_shares *link_shares = &model->link_shares;
    return (link_shares->is_on || link_shares->gpus[gpu].is_paging) &&
           gsim_link_is_copying(&model->transfers.pcie, gpu);
}

static void find_copying(struct gsim_model *model, struct gsim_link_shares_host *host) {
    host->n_copying = 0;
    for (uint32_t gpu = host->first_gpu; gpu < host->first_gpu + host->n_gpus; gpu++)
        host->n_copying += is_in_the_way(model, gpu);
}

static void begin_windows(struct gsim_model *model, struct gsim_link_shares_host *host,
                          int64_t now_ns, bool has_tallied) {
    host->since_ns = now_ns;
    for (uint32_t k = 0; k < host->n_gpus; k++)
        begin_window(model, host->first_gpu + k, now_ns, has_tallied);
}

/* Other GPUs page than before. */
static void meet_pagers(struct gsim_model *model, uint32_t node, int64_t now_ns) {
    struct gsim_link_shares_host *host = &model->link_shares.hosts[node];
    host->since_ns = now_ns;
    if (is_crowded(&model->link_shares, host))
        begin_windows(model, host, now_ns, false);
    share_all(model, host, now_ns);
    expect_end(&model->link_shares, node, FIRST_WINDOW_NS);
}

/* Copies of whole jobs begin or end. A window under way goes on. */
static void meet_copies(struct gsim_model *model, uint32_t node, int64_t now_ns) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    struct gsim_link_shares_host *host = &link_shares->hosts[node];
    bool was_crowded = gsim_eventq_has(&link_shares->windows, node);
    share_all(model, host, now_ns);
    if (was_crowded && is_crowded(link_shares, host))
        return;
    begin_windows(model, host, now_ns, false);
    expect_end(link_shares, node, FIRST_WINDOW_NS);
}

/* Contexts or copies come or go: a long window ends soon. */
static void shorten(struct gsim_link_shares *link_shares, uint32_t node, int64_t now_ns) {
    const struct gsim_link_shares_host *host = &link_shares->hosts[node];
    if (is_crowded(link_shares, host) &&
        host->since_ns + host->length_ns > now_ns + FIRST_WINDOW_NS)
        expect_end(link_shares, node, now_ns + FIRST_WINDOW_NS - host->since_ns);
}

static void look_at(struct gsim_model *model, uint32_t node, int64_t now_ns) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    struct gsim_link_shares_host *host = &link_shares->hosts[node];
    bool has_changed = host->is_changed;
    host->is_disturbed = host->is_changed = false;
    for (uint32_t k = 0; has_changed && k < host->n_gpus; k++)
        measure_so_far(model, host->first_gpu + k, now_ns);
    bool has_others = find_paging(model, host);
    find_copying(model, host);
    if (has_others) {
        meet_pagers(model, node, now_ns);
        return;
    }
    if (has_changed && host->n_paging > 0 && (host->n_copying > 0 || host->has_met))
        meet_copies(model, node, now_ns);
    shorten(link_shares, node, now_ns);
}

static void end_window(struct gsim_model *model, uint32_t node, int64_t now_ns) {
    struct gsim_link_shares_host *host = &model->link_shares.hosts[node];
    bool is_news = host->n_copying > 0 || host->has_met;
    for (uint32_t k = 0; k < host->n_gpus; k++)
        is_news |= measure(model, host->first_gpu + k, now_ns);
    begin_windows(model, host, now_ns, true);
    if (is_news)
        share_all(model, host, now_ns);
    expect_end(&model->link_shares, node, host->length_ns + host->length_ns / GROWS_BY);
}

/* Hosts with engines that have begun or ended copies of whole jobs. */
static void find_changed(struct gsim_model *model) {
    struct gsim_link *pcie = &model->transfers.pcie;
    uint32_t gpu;
    while (gsim_link_take_changed(pcie, &gpu)) {
        uint32_t node = model->setup.wiring.node_of_gpu[gpu];
        look_later(&model->link_shares, node, pcie->pagers->changed_ns);
        model->link_shares.hosts[node].is_changed = true;
    }
}

int64_t gsim_link_shares_next_ns(struct gsim_model *model) {
    struct gsim_link_shares *link_shares = &model->link_shares;
    find_changed(model);
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
