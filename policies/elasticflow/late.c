/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/late.h"

struct pass {
    struct elasticflow *own;
    const struct elasticflow_question *q;
    struct elasticflow_late *late;
    int64_t before; /* GPUs that were free before the plan's last step */
};

static double made_in(const struct pass *p, uint32_t level, int64_t ticks) {
    return (double)ticks * p->q->job->level[level - 1].per_tick;
}

static struct elasticflow_answer answer_of(const struct pass *p, int64_t real_end, int64_t end) {
    return (struct elasticflow_answer){end, real_end, real_end <= p->q->job->deadline};
}

/* Before the deadline. */
static void fill_before(struct pass *p) {
    struct elasticflow_steps *free = &p->own->free_to_be;
    const struct elasticflow_late *late = p->late;
    int64_t last = elasticflow_steps_find(free, late->limit);
    for (int64_t i = elasticflow_steps_find(free, late->from - 1) + 1; i < last; i++) {
        uint32_t level = elasticflow_level(p->q->job, free->step[i].gpus);
        level = level < late->widest ? level : late->widest;
        int64_t time = free->step[i].time, to = free->step[i + 1].time;
        elasticflow_steps_set(&p->own->plan_to_be, time, elasticflow_gpus(p->q->job, level));
        free->step[i].gpus -= elasticflow_gpus(p->q->job, level);
        if (level > 0)
            p->late->left -=
                made_in(p, level, (to == late->limit ? p->q->job->deadline : to) - time);
    }
}

/* Takes the GPUs of the steps between these times. */
static void take(struct pass *p, int64_t from, int64_t to, int64_t gpus) {
    struct elasticflow_steps *free = &p->own->free_to_be;
    for (uint32_t i = 0; i < free->n; i++)
        if (free->step[i].time >= from && free->step[i].time < to)
            free->step[i].gpus -= gpus;
}

static struct elasticflow_answer end_between(struct pass *p, int64_t lat, uint32_t level) {
    struct elasticflow_steps *free = &p->own->free_to_be;
    const struct elasticflow_steps *given = p->q->free;
    int64_t gpus = elasticflow_gpus(p->q->job, level);
    int64_t real_end = elasticflow_ceil((double)lat + p->late->left / made_in(p, level, 1));
    int64_t end = elasticflow_align(p->own, p->q->now, real_end);
    for (uint32_t i = 0; i < given->n; i++)
        if (given->step[i].time >= p->late->limit && given->step[i].time < end)
            p->before = given->step[i].gpus;
    take(p, lat, end, gpus);
    if (lat != end)
        elasticflow_steps_set(free, lat, p->before - gpus);
    if (!elasticflow_steps_have(given, end))
        elasticflow_steps_set(free, end, p->before);
    return answer_of(p, real_end, end);
}

/* After all that is planned the whole cluster is free. */
static struct elasticflow_answer end_after(struct pass *p, int64_t lat) {
    uint32_t level = p->q->level > 0 ? p->q->level : elasticflow_level(p->q->job, p->own->n_gpus);
    int64_t gpus = elasticflow_gpus(p->q->job, level);
    elasticflow_steps_set(&p->own->plan_to_be, lat, gpus);
    int64_t real_end = elasticflow_ceil((double)lat + p->late->left / made_in(p, level, 1));
    int64_t end = elasticflow_align(p->own, p->q->now, real_end);
    elasticflow_steps_set(&p->own->free_to_be, lat, p->own->n_gpus - gpus);
    elasticflow_steps_set(&p->own->free_to_be, end, p->own->n_gpus);
    return answer_of(p, real_end, end);
}

static void note_before(struct pass *p, int64_t lat) {
    int64_t at = elasticflow_steps_find(p->q->free, lat - 1);
    if (at >= 0)
        p->before =
            p->own->free_to_be
                .step[elasticflow_steps_find(&p->own->free_to_be, p->q->free->step[at].time)]
                .gpus;
}

struct elasticflow_answer elasticflow_late(struct elasticflow *elasticflow,
                                           const struct elasticflow_question *question,
                                           struct elasticflow_late *late) {
    struct elasticflow_steps *free = &elasticflow->free_to_be;
    struct pass p = {elasticflow, question, late, elasticflow->n_gpus};
    if (!elasticflow->is_reference || late->widest == 0)
        return (struct elasticflow_answer){ELASTICFLOW_NEVER, ELASTICFLOW_NEVER, false};
    fill_before(&p);
    int64_t lat = late->limit > late->from ? late->limit : late->from;
    for (uint32_t i = 0; i < free->n; i++) {
        int64_t time = free->step[i].time;
        if (time <= late->limit)
            continue;
        int64_t at = elasticflow_steps_find(free, lat);
        uint32_t level = elasticflow_level(question->job, at >= 0 ? free->step[at].gpus : 0);
        elasticflow_steps_set(&elasticflow->plan_to_be, lat,
                              elasticflow_gpus(question->job, level));
        if (level > 0 && made_in(&p, level, time - lat) >= late->left)
            return end_between(&p, lat, level);
        if (level > 0) {
            late->left -= made_in(&p, level, time - lat);
            note_before(&p, lat);
            take(&p, lat, time, elasticflow_gpus(question->job, level));
        }
        lat = time;
    }
    return end_after(&p, lat);
}
