/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nsight Systems' summary of kernels (cuda_gpu_kern_sum) as CSV: a row per kernel. It has no host
 * times, no iterations and no instants: kernels of several streams that overlapped are added up. */
#include <string.h>

#include "sim/base/units.h"
#include "traces/csv.h"
#include "traces/profiler.h"

enum target { NOTHING, NAME, TOTAL, INSTANCES };
static const char *const columns[] = {
    [NAME] = "Name", [TOTAL] = "Total Time (ns)", [INSTANCES] = "Instances"};
enum { N_TARGETS = 4 };

struct nsys {
    struct gsim_kernels *kernels;
    struct gsim_log *log;
    enum target target[GSIM_MAX_FIELD_COLUMNS];
    char name[GSIM_MAX_FIELD_BYTES + 1];
    size_t length;
    int64_t number[N_TARGETS];
    enum target bad;
};

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    struct nsys *p = arg;
    bool has[N_TARGETS] = {true};
    for (uint32_t i = 0; i < n; i++)
        for (int t = NAME; t < N_TARGETS; t++)
            if (strcmp(names[i], columns[t]) == 0) {
                p->target[i] = (enum target)t;
                has[t] = true;
            }
    for (int t = NAME; t < N_TARGETS; t++)
        if (!has[t])
            return gsim_fail(p->log, GSIM_BAD_INPUT, p->kernels->path, line,
                             "no column '%s', which cuda_gpu_kern_sum has", columns[t]);
    return GSIM_OK;
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct nsys *p = arg;
    enum target target = p->target[column];
    if (target == NAME) {
        memcpy(p->name, text, length + 1);
        p->length = length;
        p->bad = length > 0 ? p->bad : NAME;
    } else if (target != NOTHING && (gsim_parse_int(text, &p->number[target]) != GSIM_PARSE_OK ||
                                     p->number[target] < (target == INSTANCES))) {
        p->bad = target;
    }
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct nsys *p = arg;
    enum target bad = p->bad;
    p->bad = NOTHING;
    if (bad != NOTHING)
        return gsim_fail(p->log, GSIM_BAD_INPUT, p->kernels->path, line, "column '%s' is not %s",
                         columns[bad], bad == NAME ? "a name" : "a whole number");
    return gsim_kernels_add(p->kernels, p->name, p->length, p->number[INSTANCES], p->number[TOTAL],
                            line);
}

static enum gsim_status read_nsys(struct gsim_input *input, struct gsim_kernels *out,
                                  struct gsim_arena *arena, struct gsim_log *log) {
    struct nsys *p = gsim_arena_alloc(arena, sizeof *p);
    if (!p)
        return gsim_no_memory(log, "reading a profile");
    p->kernels = out;
    p->log = log;
    struct gsim_csv_user user = {p, on_header, on_field, on_row, NULL};
    return gsim_csv_read(input, &user, arena, log);
}

const struct gsim_profiler gsim_profiler_nsys = {
    .name = "nsys",
    .summary = "an application profile from Nsight Systems' cuda_gpu_kern_sum",
    .notes =
        "profile some iterations, say 20, and sum them up,\n"
        "  nsys stats --quiet --report cuda_gpu_kern_sum --format csv run.nsys-rep >kernels.csv\n"
        "  gsim import nsys kernels.csv --device h200 --iterations 20 -o app.csv\n"
        "Host times are not in it: add rows host,launch and host,gap if you know them. Nor does it "
        "say\n"
        "when kernels ran: those that overlapped on several streams are added up, which kineto "
        "avoids.\n",
    .read = read_nsys,
};
