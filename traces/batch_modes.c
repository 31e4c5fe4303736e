/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the jobs of Shockwave's traces change their batch size. Source of the numbers:
 * uw-mad-dash/shockwave @ 8a44f4a (MIT), scheduler/utils.py (get_gns_bs_pattern) and
 * scheduler/scheduler.py (_simulate_accordion, dataset_size_dict); Zheng et al., "Shockwave: Fair
 * and Efficient Cluster Scheduling for Dynamic Adaptation in Machine Learning", NSDI 2023.
 *
 * gns doubles the batch at measured epochs. accordion has the batch of the trace in the epochs in
 * which the gradient changes much, and the largest one in all others. A batch size scales the
 * iterations of an epoch, and the job makes as many epochs as its iterations in the trace are. */
#include "traces/batch_modes.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"

struct model {
    const char *name;
    int64_t samples; /* of an epoch */
    int64_t most; /* the largest batch; 0: the batch never changes */
};

static const struct model models[] = {{"ResNet-18", 50000, 256},
                                      {"ResNet-50", 100000, 128},
                                      {"Transformer", 10000, 0},
                                      {"LM", 59675, 80},
                                      {"Recommendation", 117907, 8192}};

/* The epochs, from 0, at which a job of gns doubles its batch. */
static const struct doubling {
    const char *name;
    int64_t batch;
    uint32_t gpus;
    int64_t epoch[4];
} doublings[] = {{"ResNet-18", 16, 1, {31, 41, 51, 71}},
                 {"ResNet-18", 32, 1, {21, 31, 51}},
                 {"ResNet-18", 64, 1, {11, 31}},
                 {"ResNet-18", 128, 1, {11}},
                 {"ResNet-18", 16, 2, {21, 31, 91, 111}},
                 {"ResNet-18", 32, 2, {11, 21, 41}},
                 {"ResNet-18", 64, 2, {21, 41}},
                 {"ResNet-18", 128, 2, {41}},
                 {"ResNet-18", 16, 4, {11, 21, 81, 91}},
                 {"ResNet-18", 32, 4, {21, 31, 61}},
                 {"ResNet-18", 64, 4, {11, 61}},
                 {"ResNet-18", 128, 4, {11}},
                 {"ResNet-50", 64, 1, {101}},
                 {"ResNet-50", 32, 2, {101, 111}},
                 {"ResNet-50", 64, 2, {81}},
                 {"ResNet-50", 32, 4, {131, 221}},
                 {"ResNet-50", 64, 4, {191}},
                 {"LM", 5, 1, {31, 41, 61, 71}},
                 {"LM", 10, 1, {11, 21, 41}},
                 {"LM", 20, 1, {11, 41}},
                 {"LM", 40, 1, {11}},
                 {"LM", 5, 2, {31, 51, 61, 71}},
                 {"LM", 10, 2, {11, 31, 41}},
                 {"LM", 20, 2, {31, 41}},
                 {"LM", 40, 2, {11}},
                 {"LM", 5, 4, {11, 31, 71, 91}},
                 {"LM", 10, 4, {11, 31, 61}},
                 {"LM", 20, 4, {11, 61}},
                 {"LM", 40, 4, {61}},
                 {"Recommendation", 512, 1, {21, 41, 71, 91}},
                 {"Recommendation", 1024, 1, {21, 51, 91}},
                 {"Recommendation", 2048, 1, {21, 41}},
                 {"Recommendation", 4096, 1, {41}}};

struct job {
    const struct model *model;
    char name[32];
    int64_t batch;
    uint32_t gpus;
    enum { STATIC = 0, ACCORDION, GNS } mode;
};

static int64_t gns_batch(const struct job *job, int64_t epoch) {
    int64_t batch = job->batch;
    for (size_t i = 0; i < sizeof doublings / sizeof *doublings; i++) {
        const struct doubling *d = &doublings[i];
        if (strcmp(d->name, job->name) != 0 || d->batch != job->batch || d->gpus != job->gpus)
            continue;
        for (int k = 0; k < 4 && d->epoch[k] > 0 && epoch >= d->epoch[k]; k++)
            batch *= 2;
    }
    return batch < job->model->most ? batch : job->model->most;
}

/* Whether the gradient changes much in the epoch. */
static bool is_critical(const struct job *job, int64_t epoch) {
    if (strcmp(job->name, "ResNet-50") == 0)
        return epoch % 30 < 10;
    if (strcmp(job->name, "Recommendation") == 0)
        return epoch < (job->batch <= 1024 ? 30 : job->batch == 2048 ? 40 : 10);
    if (strcmp(job->name, "ResNet-18") == 0 &&
        ((epoch >= 150 && epoch < 160) || (epoch >= 250 && epoch < 260)))
        return true;
    return epoch < 10;
}

static int64_t batch_in(const struct job *job, int64_t epoch) {
    if (job->mode == STATIC || job->model->most <= job->batch)
        return job->batch;
    if (job->mode == GNS)
        return gns_batch(job, epoch);
    return is_critical(job, epoch) ? job->batch : job->model->most;
}

/* "LM (batch size 10)" */
static bool read_name(struct job *job, const char *text) {
    static const char middle[] = " (batch size ";
    const char *paren = strstr(text, middle);
    size_t n = paren ? (size_t)(paren - text) : 0;
    int read = 0;
    long long batch = 0;
    if (n == 0 || n >= sizeof job->name ||
        sscanf(paren + sizeof middle - 1, "%9lld)%n", &batch, &read) != 1 || read == 0 || batch < 1)
        return false;
    memcpy(job->name, text, n);
    job->name[n] = '\0';
    job->batch = batch;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, job->name) == 0)
            job->model = &models[i];
    return job->model != NULL;
}

static bool read_job(const struct gsim_builder *b, struct job *job) {
    static const char *const modes[] = {"static", "accordion", "gns"};
    const struct gsim_row *row = &b->row;
    int64_t mode = row->cell[GSIM_COL_BATCH_MODE], model = row->cell[GSIM_COL_MODEL];
    *job = (struct job){.gpus = row->gpus};
    if (mode < 0 || model < 0 || row->cell[GSIM_COL_ITERATIONS] <= 0)
        return false;
    int at = 0;
    while (at < 3 && strcmp(modes[at], b->names[GSIM_COL_BATCH_MODE].name[mode]) != 0)
        at++;
    job->mode = at == GNS ? GNS : at == ACCORDION ? ACCORDION : STATIC;
    return at < 3 && read_name(job, b->names[GSIM_COL_MODEL].name[model]);
}

static int64_t quotient_up(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

/* Iterations with this batch from one epoch to another; the last epoch may be a part of one, of
 * `rest` iterations with the first batch. */
static int64_t iterations_in(const struct job *job, int64_t batch, int64_t n_epochs, int64_t rest) {
    int64_t epoch = quotient_up(job->model->samples, batch);
    int64_t first = quotient_up(job->model->samples, job->batch);
    return n_epochs * epoch + quotient_up(rest * epoch, first);
}

bool gsim_batch_modes_fill(struct gsim_builder *builder) {
    struct gsim_row *row = &builder->row;
    char text[GSIM_MAX_FIELD_BYTES];
    struct job job;
    size_t used = 0;
    if (!read_job(builder, &job))
        return true;
    int64_t first = quotient_up(job.model->samples, job.batch);
    int64_t whole = row->cell[GSIM_COL_ITERATIONS] / first;
    int64_t rest = row->cell[GSIM_COL_ITERATIONS] % first, end = whole + (rest > 0);
    for (int64_t from = 0, to; from < end; from = to) {
        int64_t batch = batch_in(&job, from);
        for (to = from + 1; to < end && batch_in(&job, to) == batch;)
            to++;
        int64_t n = (to < whole ? to : whole) - from;
        int part = snprintf(
            text + used, sizeof text - used, "%s%lld/%lld %s (batch size %lld)", used ? "; " : "",
            (long long)iterations_in(&job, batch, n, to > whole ? rest : 0),
            (long long)quotient_up(job.model->samples, batch), job.name, (long long)batch);
        if (part < 0 || used + (size_t)part >= sizeof text)
            return true; /* more changes than a cell has room for: the job keeps its batch */
        used += (size_t)part;
    }
    row->cell[GSIM_COL_PHASES] = gsim_build_intern(builder, GSIM_COL_PHASES, text, used);
    return row->cell[GSIM_COL_PHASES] >= 0;
}
