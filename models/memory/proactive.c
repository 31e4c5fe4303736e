/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A switch: rank, evict for the missing chunks, populate in the order of the sweep. A quote is this
 * call on a copy of the residency. */
#include "models/memory/proactive.h"

#include <stdlib.h>

#include "gsim/units.h"
#include "sim/base/hints.h"

struct gsim_proactive gsim_proactive_default(const struct gsim_profile *profile) {
    return (struct gsim_proactive){.rates = gsim_copy_rates_migrate(profile),
                                   .alternate_ns = profile->value[GSIM_KEY_PCIE_ALTERNATE_NS],
                                   .chunk_bytes = profile->value[GSIM_KEY_UVM_CHUNK_BYTES],
                                   .is_pipelined = true,
                                   .has_early_start = true,
                                   .copies_clean = profile->value[GSIM_KEY_UVM_CLEAN_COPY] != 0};
}

/* The time of moving these bytes on an idle link, pipelined or not. */
static int64_t move_ns(const struct gsim_proactive *proactive, int64_t bytes_in,
                       int64_t bytes_out) {
    if (proactive->is_pipelined)
        return gsim_copy_duplex_ns(&proactive->rates, bytes_in, bytes_out, proactive->chunk_bytes);
    return gsim_copy_serial_ns(&proactive->rates, bytes_in, bytes_out, proactive->chunk_bytes,
                               proactive->alternate_ns);
}

static void rank_ranges(struct gsim_residency *residency, const struct gsim_range *ranges,
                        uint32_t n, int64_t key) {
    for (uint32_t i = 0; i < n; i++)
        if (ranges[i].n > 0)
            gsim_residency_set_next_use(residency, ranges[i].buffer, key);
}

/* Sets the next uses for Belady's order: a buffer that is predicted of a turn is used when the turn
 * begins, a buffer that is predicted of none never again. The first turn is about to run. A buffer
 * has one next use, so memory that moves separately should have buffers of its own. */
static void rank_all(const struct gsim_proactive *proactive, struct gsim_residency *residency,
                     const struct gsim_turn *turns, uint32_t n_turns) {
    bool is_all = proactive->predicts_allocations || proactive->false_positive_ppm > 0;
    int64_t begins_ns = 0;
    for (uint32_t b = 0; b < residency->n_buffers; b++)
        if (residency->buffers[b].is_open)
            gsim_residency_set_next_use(residency, b, INT64_MAX);
    for (uint32_t t = 1; t < n_turns; t++)
        begins_ns += turns[t - 1].run_ns;
    for (uint32_t t = n_turns; t > 0; t--) { /* backwards: the nearest use stands */
        const struct gsim_turn *turn = &turns[t - 1];
        /* the turn that is about to run comes before all others; of a task, memory that its
         * iterations do not touch goes first */
        int64_t key = t > 1 ? begins_ns : -2;
        rank_ranges(residency, turn->unused, is_all ? turn->n_unused : 0, key + 1);
        rank_ranges(residency, turn->used, turn->n_used, key);
        if (t > 1)
            begins_ns -= turns[t - 2].run_ns;
    }
}

/* --- prediction ------------------------------------------------------------------------------- */

static int64_t total(const struct gsim_range *ranges, uint32_t n) {
    int64_t chunks = 0;
    for (uint32_t i = 0; i < n; i++)
        chunks += ranges[i].n;
    return chunks;
}

/* The first `most` chunks of some ranges. The part that is not predicted is the end of the working
 * set. */
struct predicted {
    const struct gsim_range *ranges;
    uint32_t n;
    int64_t most;
};

struct prediction {
    struct predicted part[2]; /* used ranges, unused ranges */
};

static struct prediction predict(const struct gsim_proactive *proactive,
                                 const struct gsim_turn *turn) {
    int64_t used = total(turn->used, turn->n_used);
    int64_t missed = used * proactive->false_negative_ppm / GSIM_PPM;
    int64_t besides = used * proactive->false_positive_ppm / GSIM_PPM;
    struct prediction prediction = {
        {{turn->used, turn->n_used, used - missed}, {turn->unused, turn->n_unused, besides}}};
    if (proactive->predicts_allocations) {
        prediction.part[0].most = used;
        prediction.part[1].most = total(turn->unused, turn->n_unused);
    }
    return prediction;
}

static struct gsim_range cut_range(struct gsim_range range, int64_t most) {
    if (range.n > most)
        range.n = most > 0 ? (uint32_t)most : 0;
    return range;
}

/* --- eviction --------------------------------------------------------------------------------- */

static struct gsim_moved missing(const struct gsim_residency *residency,
                                 const struct predicted *part) {
    struct gsim_moved sum = {0};
    int64_t left = part->most;
    for (uint32_t i = 0; i < part->n && left > 0; i++) {
        struct gsim_range range = cut_range(part->ranges[i], left);
        struct gsim_moved moved = gsim_residency_missing(residency, range);
        sum.hits += moved.hits;
        sum.in += moved.in;
        sum.zeroed += moved.zeroed;
        left -= range.n;
    }
    return sum;
}

static void use_predicted(struct gsim_residency *residency, const struct predicted *part) {
    int64_t left = part->most;
    for (uint32_t i = 0; i < part->n && left > 0; i++) {
        struct gsim_range range = cut_range(part->ranges[i], left);
        (void)gsim_residency_touch(residency, range, false);
        left -= range.n;
    }
}

/* Chunks that have to go for a prediction. */
static uint32_t needed(const struct gsim_residency *residency,
                       const struct prediction *prediction) {
    int64_t need = -(int64_t)gsim_residency_free(residency), hits = 0;
    for (int p = 0; p < 2; p++) {
        struct gsim_moved part = missing(residency, &prediction->part[p]);
        need += part.in + part.zeroed;
        hits += part.hits;
    }
    int64_t most = (int64_t)residency->n_resident - hits; /* all except its own */
    need = need < most ? need : most;
    return need > 0 ? (uint32_t)need : 0;
}

/* --- eviction by the order of touches --------------------------------------------------------- */

static bool grow(struct gsim_residency *residency, void **block, size_t *room, size_t n,
                 size_t size) {
    if (n <= *room)
        return true;
    void *grown = gsim_arena_grow(residency->arena, *block, *room * size, 2 * n * size);
    if (!grown) {
        residency->has_failed = true;
        return false;
    }
    *block = grown;
    *room = 2 * n;
    return true;
}

/* For each chunk of a task the turns of its own before it is used. */
static bool note_upcoming(struct gsim_residency *residency, const struct gsim_upcoming *task,
                          struct gsim_upcoming_scratch *scratch) {
    const struct gsim_touch_order *order = task->order;
    if (!grow(residency, (void **)&scratch->turns, &scratch->turns_room, order->n_chunks,
              sizeof *scratch->turns))
        return false;
    gsim_touch_order_turns(order, task->ahead, scratch->turns);
    return true;
}

/* Chunks from `from` on that have one next use. */
static uint32_t n_alike(const uint32_t *turns, uint32_t from, uint32_t to) {
    uint32_t n = 1;
    while (from + n < to && turns[from + n] == turns[from])
        n++;
    return n;
}

/* Chunks that a turn uses, by the kernels that touch them first. */
struct firsts {
    struct gsim_residency *residency;
    struct gsim_upcoming_scratch *scratch;
    uint32_t buffer, n; /* ranges so far */
    uint32_t n_left; /* chunks that no range has yet */
};

static uint32_t n_used_chunks(const uint32_t *turns, uint32_t n) {
    uint32_t sum = 0;
    for (uint32_t c = 0; c < n; c++)
        sum += turns[c] == 0;
    return sum;
}

static bool add_range(struct firsts *firsts, uint32_t first, uint32_t n, int64_t at_ns) {
    struct gsim_upcoming_scratch *scratch = firsts->scratch;
    if (!grow(firsts->residency, (void **)&scratch->used, &scratch->used_room, firsts->n + 1U,
              sizeof *scratch->used) ||
        !grow(firsts->residency, (void **)&scratch->used_ns, &scratch->used_ns_room, firsts->n + 1U,
              sizeof *scratch->used_ns))
        return false;
    scratch->used[firsts->n] = (struct gsim_range){firsts->buffer, first, n};
    scratch->used_ns[firsts->n++] = at_ns;
    firsts->n_left -= n;
    for (uint32_t c = first; c < first + n; c++)
        scratch->turns[c] = GSIM_TURNS_NEVER; /* the turn has it */
    return true;
}

static bool add_part(struct firsts *firsts, const struct gsim_touch_part *part, int64_t at_ns) {
    const uint32_t *turns = firsts->scratch->turns;
    uint32_t end = part->first + part->n;
    for (uint32_t c = part->first, n; c < end; c += n) {
        n = n_alike(turns, c, end);
        if (turns[c] == 0 && !add_range(firsts, c, n, at_ns))
            return false;
    }
    return true;
}

/* When the kernel of a part begins, in run time from the begin of the turn. */
static int64_t begins_ns(const struct gsim_upcoming *task, uint32_t part, uint32_t present) {
    const struct gsim_touch_order *order = task->order;
    int64_t at_ns = order->parts[part].from_ns + (part < present ? order->all_ns : 0);
    return at_ns <= task->ahead.done_ns
               ? 0
               : gsim_muldiv_floor(at_ns - task->ahead.done_ns, task->iteration_ns, order->all_ns);
}

/* Cuts a turn with a known order down to what its kernels touch, in the order in which they do. All
 * that a kernel touches must be there when it begins. */
static void use_in_turn(struct gsim_residency *residency, struct gsim_turn *turn,
                        struct gsim_upcoming_scratch *scratch) {
    const struct gsim_touch_order *order = turn->upcoming.order;
    struct firsts firsts = {
        .residency = residency, .scratch = scratch, .buffer = turn->used[0].buffer};
    if (!note_upcoming(residency, &turn->upcoming, scratch))
        return;
    uint32_t present = gsim_touch_order_part_after(order, turn->upcoming.ahead.done_ns);
    firsts.n_left = n_used_chunks(scratch->turns, order->n_chunks);
    for (uint32_t k = 0; k < order->n_parts && firsts.n_left > 0; k++) {
        uint32_t part = (present + k) % order->n_parts;
        if (!add_part(&firsts, &order->parts[part], begins_ns(&turn->upcoming, part, present)))
            return;
    }
    turn->used = scratch->used;
    turn->used_ns = scratch->used_ns;
    turn->n_used = firsts.n;
}

/* Appends the resident chunks of a range. */
static void append_use(struct gsim_residency *residency, struct gsim_later_use use, size_t *n,
                       struct gsim_upcoming_scratch *scratch) {
    struct gsim_range left = use.range;
    while (left.n > 0) {
        enum gsim_content content;
        use.range = left;
        use.range.n = gsim_residency_alike(residency, left, &content);
        if (content >= GSIM_CLEAN && grow(residency, (void **)&scratch->uses, &scratch->uses_room,
                                          *n + 1, sizeof *scratch->uses))
            scratch->uses[(*n)++] = use;
        left.first += use.range.n;
        left.n -= use.range.n;
    }
}

/* Appends the resident chunks of a turn's task that may go: all except what the next turn uses. */
static void append_uses(struct gsim_residency *residency, const struct gsim_turn *turn,
                        uint32_t place, size_t *n_uses, struct gsim_upcoming_scratch *scratch) {
    struct gsim_range all = gsim_range_whole(residency, turn->used[0].buffer);
    bool is_known = turn->upcoming.order != NULL;
    if (is_known && !note_upcoming(residency, &turn->upcoming, scratch))
        return;
    for (uint32_t c = 0, n; c < all.n; c += n) {
        uint32_t turns = is_known ? scratch->turns[c] : 0;
        n = is_known ? n_alike(scratch->turns, c, all.n) : all.n;
        if (place > 0 || turns > 0)
            append_use(residency, (struct gsim_later_use){{all.buffer, c, n}, turns, place}, n_uses,
                       scratch);
    }
}

/* The later use first; of equal uses, as elsewhere, the higher chunk. */
static int compare_uses(const void *a, const void *b) {
    const struct gsim_later_use *one = a, *other = b;
    if (one->turns != other->turns)
        return one->turns > other->turns ? -1 : 1;
    if (one->place != other->place)
        return one->place > other->place ? -1 : 1;
    return one->range.first > other->range.first ? -1 : one->range.first < other->range.first;
}

/* Chunks of buffers that no turn uses. */
static uint32_t n_never_used(const struct gsim_residency *residency) {
    uint32_t n = 0;
    for (uint32_t b = 0; b < residency->n_buffers; b++)
        if (residency->buffers[b].is_open && residency->buffers[b].next_use == INT64_MAX)
            n += residency->buffers[b].n_resident;
    return n;
}

static void add_out(struct gsim_moved *sum, struct gsim_moved out) {
    sum->out_dirty += out.out_dirty;
    sum->out_clean += out.out_clean;
}

/* First memory that no turn uses, then the chunks with the last next use. */
static struct gsim_moved evict_last_used(struct gsim_residency *residency,
                                         const struct gsim_turn *turns, uint32_t n_turns,
                                         uint32_t need, struct gsim_upcoming_scratch *scratch) {
    uint32_t never = n_never_used(residency);
    size_t n_uses = 0;
    never = never < need ? never : need;
    struct gsim_moved sum = gsim_residency_evict(residency, never);
    need -= never;
    for (uint32_t t = 0; t < n_turns && need > 0; t++)
        if (turns[t].n_used > 0)
            append_uses(residency, &turns[t], t, &n_uses, scratch);
    if (n_uses > 0)
        qsort(scratch->uses, n_uses, sizeof *scratch->uses, compare_uses);
    for (size_t i = 0; i < n_uses && need > 0; i++) {
        struct gsim_range out = scratch->uses[i].range;
        uint32_t n = out.n < need ? out.n : need;
        out.first += out.n - n;
        out.n = n;
        add_out(&sum, gsim_residency_evict_range(residency, out));
        need -= n;
    }
    return sum;
}

/* Whether memory comes by what the kernels of a turn touch. Predictions of memory that they do not
 * touch know no such order. */
static inline bool is_by_touches(const struct gsim_proactive *proactive,
                                 const struct gsim_turn *turns, uint32_t n_turns) {
    bool is_any = false;
    for (uint32_t t = 0; t < n_turns; t++)
        is_any |= turns[t].upcoming.order != NULL;
    return is_any && !proactive->predicts_allocations && proactive->false_positive_ppm == 0;
}

/* --- population ------------------------------------------------------------------------------- */

/* A walk through a prediction in the order of the sweep: first to count the chunks that will come,
 * then to bring them in and to see how late each is for a sweep that begins at once. */
struct walk {
    struct gsim_residency *residency;
    const struct gsim_turn *turn;
    struct gsim_moved moved; /* so far */
    int64_t room;
    int64_t passed, n_sweep; /* chunks of the sweep so far, and in all */
    int64_t n_in, ns; /* chunks that will come and their time; 0 while counting */
    /* memory goes out: chunks that are filled here come in their order too, as room is made */
    bool is_full;
    const int64_t *needed_ns; /* when the present range must be there; NULL: by the sweep */
    int64_t late_ns; /* the worst so far */
};

/* Notes the lateness of the chunk that arrives as number `came` and is touched after `passed`
 * others. */
static void is_touched(struct walk *walk, int64_t came, int64_t passed) {
    int64_t arrives_ns = gsim_muldiv_ceil(walk->ns, came, walk->n_in);
    int64_t needed_ns = walk->needed_ns
                            ? *walk->needed_ns
                            : gsim_muldiv_floor(walk->turn->sweep_ns, passed, walk->n_sweep);
    if (arrives_ns - needed_ns > walk->late_ns)
        walk->late_ns = arrives_ns - needed_ns;
}

/* Brings a range of missing chunks of one kind, for which there is room. Within them lateness is
 * linear, so the first and the last decide. */
static void bring_range(struct walk *walk, struct gsim_range range, enum gsim_content content) {
    *(content == GSIM_ON_HOST ? &walk->moved.in : &walk->moved.zeroed) += range.n;
    walk->room -= range.n;
    if (walk->n_in == 0)
        return;
    (void)gsim_residency_populate(walk->residency, range);
    if ((walk->is_full || content == GSIM_ON_HOST) && walk->passed < walk->n_sweep) {
        int64_t came = walk->moved.in + (walk->is_full ? walk->moved.zeroed : 0);
        is_touched(walk, came - range.n + 1, walk->passed);
        is_touched(walk, came, walk->passed + range.n - 1);
    }
}

static void walk_range(struct walk *walk, struct gsim_range range) {
    while (range.n > 0) {
        enum gsim_content content;
        struct gsim_range alike = range;
        alike.n = gsim_residency_alike(walk->residency, range, &content);
        if (content >= GSIM_CLEAN)
            walk->moved.hits += alike.n;
        else if (walk->room > 0)
            bring_range(walk, alike = cut_range(alike, walk->room), content);
        walk->passed += alike.n;
        range.first += alike.n;
        range.n -= alike.n;
    }
}

static void walk_through(struct walk *walk, const struct prediction *prediction) {
    for (int p = 0; p < 2; p++) {
        const struct predicted *part = &prediction->part[p];
        int64_t left = part->most;
        for (uint32_t i = 0; i < part->n && left > 0; i++) {
            struct gsim_range range = cut_range(part->ranges[i], left);
            walk->needed_ns = p == 0 && walk->turn->used_ns ? &walk->turn->used_ns[i] : NULL;
            walk_range(walk, range);
            left -= range.n;
        }
        walk->n_sweep = 0; /* chunks predicted besides the working set are never late */
    }
}

static struct walk begin_walk(struct gsim_residency *residency, const struct gsim_turn *turn) {
    return (struct walk){.residency = residency,
                         .turn = turn,
                         .room = gsim_residency_free(residency),
                         .n_sweep = total(turn->used, turn->n_used)};
}

/* Brings the prediction in, as far as there is room; fills in which chunks came, and when. */
static void populate_predicted(const struct gsim_proactive *proactive,
                               struct gsim_residency *residency, const struct gsim_turn *turn,
                               const struct prediction *prediction, struct gsim_migration *out) {
    struct walk count = begin_walk(residency, turn);
    walk_through(&count, prediction);
    out->moved.hits = count.moved.hits;
    out->moved.in = count.moved.in;
    out->moved.zeroed = count.moved.zeroed;
    out->bytes_in = count.moved.in * proactive->chunk_bytes;
    out->ns = move_ns(proactive, out->bytes_in, out->bytes_out);
    struct walk bring_in = begin_walk(residency, turn);
    bring_in.is_full = out->bytes_out > 0;
    int64_t n_in = count.moved.in + (bring_in.is_full ? count.moved.zeroed : 0);
    bring_in.n_in = n_in > 0 ? n_in : 1;
    bring_in.ns = out->ns;
    walk_through(&bring_in, prediction);
    out->start_ns = proactive->has_early_start ? bring_in.late_ns : out->ns;
}

struct gsim_migration gsim_proactive_switch(const struct gsim_proactive *proactive,
                                            struct gsim_residency *residency,
                                            const struct gsim_turn *turns, uint32_t n_turns,
                                            struct gsim_upcoming_scratch *scratch) {
    struct gsim_migration out = {0};
    struct gsim_turn next = turns[0];
    bool has_order = is_by_touches(proactive, turns, n_turns);
    bool is_by_chunk = has_order && residency->eviction == GSIM_EVICT_BELADY;
    if (gsim_rarely(has_order && next.upcoming.order))
        use_in_turn(residency, &next, scratch);
    struct prediction prediction = predict(proactive, &next);
    struct predicted all = {next.used, next.n_used, total(next.used, next.n_used)};
    rank_all(proactive, residency, turns, n_turns);
    for (int p = 0; p < 2; p++)
        use_predicted(residency,
                      &prediction.part[p]); /* under LRU, the needed chunks are not the oldest */
    uint32_t need = needed(residency, &prediction);
    add_out(&out.moved, is_by_chunk ? evict_last_used(residency, turns, n_turns, need, scratch)
                                    : gsim_residency_evict(residency, need));
    int64_t copied = out.moved.out_dirty + (proactive->copies_clean ? out.moved.out_clean : 0);
    out.bytes_out = copied * proactive->chunk_bytes;
    populate_predicted(proactive, residency, &next, &prediction, &out);
    struct gsim_moved left = missing(residency, &all);
    out.missed = left.in + left.zeroed;
    return out;
}
