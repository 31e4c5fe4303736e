/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/small.h"

#include <string.h>

#include "sim/base/random.h"
#include "sim/base/sort.h"

enum { N = GSIM_SMALL_JOBS };

static int64_t *draw(struct gsim_random *random, struct gsim_arena *arena, int64_t step,
                     uint64_t most) {
    int64_t *cells = gsim_arena_array(arena, N, sizeof *cells);
    for (int i = 0; cells && i < N; i++)
        cells[i] = step * (int64_t)gsim_random_below(random, most);
    return cells;
}

static bool name_jobs(struct gsim_trace *trace, struct gsim_arena *arena) {
    enum { WIDTH = 4 };
    char *text = gsim_arena_alloc(arena, N * WIDTH);
    uint32_t *at = gsim_arena_array(arena, N, sizeof *at);
    for (uint32_t i = 0; text && at && i < N; i++) {
        at[i] = i * WIDTH;
        (void)snprintf(text + at[i], WIDTH, "j%u", i);
    }
    trace->id_text = text;
    trace->id_at = at;
    return text && at;
}

bool gsim_small_draw(uint64_t seed, int64_t scale_ns, struct gsim_arena *arena,
                     struct gsim_trace *out) {
    struct gsim_random random;
    gsim_random_seed(&random, seed, 0, "small");
    *out = (struct gsim_trace){.path = "random", .format = "native", .n_jobs = N};
    int64_t *submit_ns = draw(&random, arena, scale_ns, 40);
    out->service_ns = draw(&random, arena, scale_ns, 20);
    uint32_t *gpus = gsim_arena_array(arena, N, sizeof *gpus);
    uint32_t *order = gsim_arena_array(arena, N, sizeof *order);
    bool is_narrow = seed % 4 < 2; /* mostly one GPU, so that most jobs can share */
    for (int i = 0; gpus && i < N; i++)
        gpus[i] = 1 + (uint32_t)gsim_random_below(&random, 6) * !(is_narrow && i % 8);
    out->submit_ns = submit_ns;
    out->gpus = gpus;
    out->order = order;
    out->column[GSIM_COL_MEM_BYTES] = draw(&random, arena, GSIM_GIB, is_narrow ? 30 : 100);
    out->column[GSIM_COL_CLASS] = draw(&random, arena, 1, GSIM_CLASS_COUNT);
    out->column[GSIM_COL_PRIORITY] = draw(&random, arena, 1, 3);
    out->column[GSIM_COL_IDEMPOTENT] = draw(&random, arena, 1, 2);
    return name_jobs(out, arena) && submit_ns && out->service_ns && gpus && order &&
           out->column[GSIM_COL_MEM_BYTES] && out->column[GSIM_COL_CLASS] &&
           out->column[GSIM_COL_PRIORITY] && out->column[GSIM_COL_IDEMPOTENT] &&
           gsim_sort_order(submit_ns, order, N);
}

bool gsim_small_describe(struct gsim_trace *trace, uint64_t seed, bool has_shares,
                         struct gsim_arena *arena) {
    static const char *const users[] = {"ann", "bob", "cho"};
    enum { USERS = sizeof users / sizeof *users, PARTS = 4 };
    struct gsim_random random;
    gsim_random_seed(&random, seed, 0, "described");
    int64_t *limit_ns = gsim_arena_array(arena, N, sizeof *limit_ns);
    int64_t *share_ppm = gsim_arena_array(arena, N, sizeof *share_ppm);
    const char **names = gsim_arena_array(arena, USERS, sizeof *names);
    trace->column[GSIM_COL_USER] = draw(&random, arena, 1, USERS);
    if (!limit_ns || !share_ppm || !names || !trace->column[GSIM_COL_USER])
        return false;
    memcpy(names, users, sizeof users);
    trace->names[GSIM_COL_USER] = (struct gsim_names){.n = USERS, .name = names};
    for (uint32_t i = 0; i < N; i++) {
        int64_t times = 1 + (int64_t)gsim_random_below(&random, 4);
        limit_ns[i] = times * (trace->service_ns[i] + GSIM_NS_PER_S);
        bool is_part = trace->gpus[i] == 1;
        int64_t parts = is_part ? 1 + (int64_t)gsim_random_below(&random, PARTS) : PARTS;
        share_ppm[i] = parts * (GSIM_PPM / PARTS);
    }
    trace->column[GSIM_COL_LIMIT_NS] = limit_ns;
    if (has_shares)
        trace->column[GSIM_COL_SHARE_PPM] = share_ppm;
    return true;
}

/* Copies the cells of the jobs that stay. */
static void *cut(const void *cells, size_t size, const uint32_t *job, uint32_t n,
                 struct gsim_arena *arena) {
    char *copy = cells ? gsim_arena_array(arena, n, size) : NULL;
    for (uint32_t i = 0; copy && i < n; i++)
        memcpy(copy + i * size, (const char *)cells + job[i] * size, size);
    return copy;
}

bool gsim_small_subset(const struct gsim_trace *trace, const bool *is_out, struct gsim_arena *arena,
                       struct gsim_trace *out) {
    uint32_t *job = gsim_arena_array(arena, trace->n_jobs, sizeof *job);
    uint32_t *order = gsim_arena_array(arena, trace->n_jobs, sizeof *order);
    uint32_t n = 0;
    for (uint32_t i = 0; job && i < trace->n_jobs; i++)
        if (!is_out[i])
            job[n++] = i;
    if (!job || !order)
        return false;
    *out = *trace;
    out->n_jobs = n;
    out->id_at = cut(trace->id_at, sizeof *trace->id_at, job, n, arena);
    out->submit_ns = cut(trace->submit_ns, sizeof *trace->submit_ns, job, n, arena);
    out->service_ns = cut(trace->service_ns, sizeof *trace->service_ns, job, n, arena);
    out->gpus = cut(trace->gpus, sizeof *trace->gpus, job, n, arena);
    out->order = order;
    bool is_whole = out->id_at && out->submit_ns && out->service_ns && out->gpus;
    for (int c = 0; c < GSIM_COL_COUNT; c++) {
        out->column[c] = cut(trace->column[c], sizeof *trace->column[c], job, n, arena);
        is_whole &= !trace->column[c] || out->column[c];
    }
    return is_whole && gsim_sort_order(out->submit_ns, order, n);
}
