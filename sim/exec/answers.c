/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An answer: {"n": NUMBER, "plan": [VERB, ...], "wake_ns": TIME}, the last two optional. The
 * number is that of the line that it answers: a line too many would otherwise pass for the
 * answer to the next question. Each verb is an object of one of the verbs' names with the job,
 * and of its options; the plan takes them in order. */
#include <string.h>

#include "sim/exec/answer.h"
#include "sim/exec/exec.h"
#include "sim/base/text.h"

static bool take_int(const struct gsim_answer *r, const char *key, yajl_val value, int64_t least,
                     int64_t *out) {
    return gsim_answer_int(r, key, value, least, INT64_MAX, out);
}

static bool take_choice(const struct gsim_answer *r, const char *key, yajl_val value,
                        const char *choices, int *out) {
    *out = YAJL_IS_STRING(value) ? gsim_text_choice(YAJL_GET_STRING(value), choices) : -1;
    return *out >= 0 || gsim_answer_bad(r, "'%s' is not one of %s", key, choices);
}

/* --- a verb ----------------------------------------------------------------------------------- */

/* ARRANGE has options of its own (arrangement.c). */
enum verb { PLACE, PREEMPT, MOVE, WATCH, COST, ARRANGE };
static const char verbs[] = "place|preempt|move|watch|cost|arrange";
static const char rules[] = "consolidate|any|spread|fullest|affinity|random";
static const enum gsim_rule rule_of[] = {GSIM_RULE_CONSOLIDATE, GSIM_RULE_ANY,
                                         GSIM_RULE_SPREAD,      GSIM_RULE_FULLEST,
                                         GSIM_RULE_AFFINITY,    GSIM_RULE_RANDOM};
static const char keeps[] = "resident|pageable|host|storage|image|discard";

/* A verb with its options; gpus 0: as many as the job asks for. */
struct order {
    enum verb verb;
    uint32_t job;
    gsim_slot slot;
    struct gsim_shape shape;
    int64_t gpus, node, threshold_ns;
    enum gsim_rule rule;
    int stop, keep;
    struct gsim_unit *on; /* NULL: any */
    uint32_t n_on;
};

static bool take_job(const struct gsim_answer *r, struct order *order, const char *verb,
                     yajl_val value) {
    int64_t job = 0;
    if (!take_int(r, verb, value, 0, &job) || !gsim_answer_slot(r, job, &order->slot))
        return false;
    order->job = (uint32_t)job;
    return true;
}

static bool take_option(const struct gsim_answer *r, struct order *order, const char *key,
                        yajl_val value) {
    int rule = 0;
    if (strcmp(key, "gpus") == 0 && order->verb != WATCH)
        return take_int(r, key, value, 1, &order->gpus);
    if (strcmp(key, "node") == 0 && order->verb != WATCH)
        return take_int(r, key, value, 0, &order->node) &&
               (order->node < r->ctx->view->cluster.n_nodes ||
                gsim_answer_bad(r, "there is no node %lld", (long long)order->node));
    if (strcmp(key, "on") == 0 && order->verb == PLACE)
        return gsim_answer_gpus(r, value, gsim_plan_scratch(r->plan), &order->on, &order->n_on);
    if (strcmp(key, "rule") == 0) {
        bool is_fine = take_choice(r, key, value, rules, &rule);
        order->rule = is_fine ? rule_of[rule] : GSIM_RULE_ANY;
        return is_fine;
    }
    if (strcmp(key, "stop") == 0)
        return take_choice(r, key, value, GSIM_ANSWER_STOPS, &order->stop);
    if (strcmp(key, "keep") == 0)
        return take_choice(r, key, value, keeps, &order->keep);
    if (strcmp(key, "attained_ns") == 0)
        return take_int(r, key, value, 0, &order->threshold_ns);
    return gsim_answer_bad(
        r,
        "no verb and no option is called '%s'; verbs are %s, and options gpus, node, "
        "on, rule, stop, keep and attained_ns",
        key, verbs);
}

static bool read_order(const struct gsim_answer *r, yajl_val value, struct order *order) {
    *order = (struct order){
        .slot = GSIM_NO_SLOT, .node = -1, .stop = GSIM_STOP_ITERATION, .keep = GSIM_KEEP_STORAGE};
    if (!YAJL_IS_OBJECT(value))
        return gsim_answer_bad(r, "'plan' is a list of objects, such as {\"place\": 3}");
    size_t n = YAJL_GET_OBJECT(value)->len, n_verbs = 0;
    for (int pass = 0; pass < 2; pass++) /* the verb first, wherever it stands */
        for (size_t i = 0; i < n; i++) {
            const char *key = YAJL_GET_OBJECT(value)->keys[i];
            yajl_val of = YAJL_GET_OBJECT(value)->values[i];
            int verb = gsim_text_choice(key, verbs);
            bool is_fine = true;
            if (verb >= 0 && pass == 0) {
                order->verb = (enum verb)verb;
                is_fine = take_job(r, order, key, of) && n_verbs++ == 0;
            } else if (verb < 0 && pass == 1) {
                is_fine = take_option(r, order, key, of);
            }
            if (!is_fine)
                return r->ctx->status == GSIM_OK ? gsim_answer_bad(r, "an object has one verb")
                                                 : false;
        }
    return n_verbs == 1 || gsim_answer_bad(r, "an object of the plan has no verb of %s", verbs);
}

static struct gsim_shape shape_of(const struct gsim_answer *r, const struct order *order) {
    struct gsim_shape shape = gsim_shape_of(r->ctx->view, order->slot, order->rule);
    if (order->gpus > 0 && shape.gpus != (uint32_t)order->gpus) {
        shape.gpus = (uint32_t)order->gpus;
        shape.share_ppm = GSIM_PPM;
    }
    shape.within = (uint32_t)(order->node + 1);
    return shape;
}

static bool refuse(const struct gsim_answer *r, uint32_t job) {
    struct gsim_exec *exec = r->ctx->state;
    uint32_t *grown = gsim_arena_room(r->ctx->arena, exec->refused, exec->n_refused,
                                      &exec->refused_capacity, sizeof *grown);
    if (!grown) {
        r->ctx->status = gsim_no_memory(r->ctx->log, "reading an answer");
        return false;
    }
    exec->refused = grown;
    exec->refused[exec->n_refused++] = job;
    return true;
}

/* Notes what it costs to stop the job now, and to resume it on the units that it has. It changes
 * nothing. */
static bool quote(const struct gsim_answer *r, const struct order *order) {
    struct gsim_exec *exec = r->ctx->state;
    struct gsim_exec_quote *grown = gsim_arena_room(r->ctx->arena, exec->quotes, exec->n_quotes,
                                                    &exec->quotes_capacity, sizeof *grown);
    if (!grown) {
        r->ctx->status = gsim_no_memory(r->ctx->log, "reading an answer");
        return false;
    }
    exec->quotes = grown;
    enum gsim_state state = (enum gsim_state)r->ctx->view->jobs.state[order->slot];
    if (state != GSIM_RUNNING)
        return gsim_answer_bad(r, "job %u does not run, so there is no cost of stopping it",
                               order->job);
    exec->quotes[exec->n_quotes++] = (struct gsim_exec_quote){
        order->job, gsim_ask(r->ctx, order->slot, (enum gsim_stop)order->stop,
                             (enum gsim_keep)order->keep, NULL, 0)};
    return true;
}

/* false: the answer cannot be followed on. A verb that breaks a rule ends the run by itself. */
static bool follow(const struct gsim_answer *r, const struct order *order) {
    struct gsim_shape shape = shape_of(r, order);
    bool fits = true;
    if (order->gpus > (int64_t)r->ctx->view->cluster.n_gpus)
        return gsim_answer_bad(r, "the cluster has no %lld GPUs", (long long)order->gpus);
    if (order->verb == COST)
        return quote(r, order);
    if (order->verb == PLACE && order->on)
        fits = gsim_plan_place_on(r->plan, order->slot, order->on, order->n_on);
    else if (order->verb == PLACE)
        fits = gsim_plan_place(r->plan, order->slot, &shape);
    else if (order->verb == PREEMPT)
        fits = gsim_plan_preempt(r->plan, order->slot, (enum gsim_stop)order->stop,
                                 (enum gsim_keep)order->keep);
    else if (order->verb == MOVE)
        fits = gsim_plan_move(r->plan, order->slot, &shape);
    else
        gsim_plan_watch(r->plan, order->slot, GSIM_WATCH_ATTAINED, order->threshold_ns);
    return fits || refuse(r, order->job);
}

/* --- the answer ------------------------------------------------------------------------------- */

static bool take_verb(const struct gsim_answer *r, yajl_val value) {
    const char *arrange[] = {"arrange", NULL};
    struct order order;
    if (YAJL_IS_OBJECT(value) && yajl_tree_get(value, arrange, yajl_t_any))
        return gsim_answer_arrange(r, value);
    return read_order(r, value, &order) && follow(r, &order);
}

static bool take_plan(const struct gsim_answer *r, yajl_val value) {
    if (!YAJL_IS_ARRAY(value))
        return gsim_answer_bad(r, "'plan' is not a list");
    for (size_t i = 0; i < YAJL_GET_ARRAY(value)->len; i++)
        if (!take_verb(r, YAJL_GET_ARRAY(value)->values[i]))
            return false;
    return true;
}

static bool take_wake(const struct gsim_answer *r, yajl_val value) {
    int64_t wake_ns = GSIM_NEVER;
    if (!YAJL_IS_NULL(value) && !take_int(r, "wake_ns", value, 0, &wake_ns))
        return false;
    if (wake_ns <= r->ctx->view->now_ns)
        return gsim_answer_bad(r, "'wake_ns' is not later than now_ns");
    gsim_plan_wake(r->plan, wake_ns);
    return true;
}

/* The number of the line that it answers. */
static bool take_number(const struct gsim_answer *r, yajl_val answer) {
    const struct gsim_exec *exec = r->ctx->state;
    int64_t n = exec->n_asked - 1, answered = 0;
    const char *path[] = {"n", NULL};
    yajl_val value = yajl_tree_get(answer, path, yajl_t_any);
    if (!value)
        return gsim_answer_bad(r, "an answer has the 'n' of its line, %lld here", (long long)n);
    if (!take_int(r, "n", value, 0, &answered))
        return false;
    return answered == n ||
           gsim_answer_bad(r, "the answer is to line %lld, and line %lld was asked",
                           (long long)answered, (long long)n);
}

static bool take_member(const struct gsim_answer *r, const char *key, yajl_val value) {
    if (strcmp(key, "n") == 0)
        return true;
    if (strcmp(key, "plan") != 0 && strcmp(key, "wake_ns") != 0)
        return gsim_answer_bad(r, "an answer has 'n', 'plan' and 'wake_ns', and no '%s'", key);
    if (!r->plan)
        return gsim_answer_bad(
            r, "the first line comes before the run, and is answered by {\"n\": 0}");
    return strcmp(key, "plan") == 0 ? take_plan(r, value) : take_wake(r, value);
}

static void take_answer(const struct gsim_answer *r, yajl_val answer) {
    if (!YAJL_IS_OBJECT(answer)) {
        (void)gsim_answer_bad(
            r, "an answer is an object, such as {\"n\": 1, \"plan\": [{\"place\": 3}]}");
        return;
    }
    bool is_fine = take_number(r, answer);
    for (size_t i = 0; is_fine && i < YAJL_GET_OBJECT(answer)->len; i++)
        is_fine =
            take_member(r, YAJL_GET_OBJECT(answer)->keys[i], YAJL_GET_OBJECT(answer)->values[i]);
}

enum gsim_status gsim_exec_apply(struct gsim_ctx *ctx, struct gsim_plan *plan, const char *answer) {
    struct gsim_answer r = {.ctx = ctx, .plan = plan, .text = answer};
    char why[160] = "an empty line";
    yajl_val tree = *answer ? yajl_tree_parse(answer, why, sizeof why) : NULL;
    if (tree)
        take_answer(&r, tree);
    else
        (void)gsim_answer_bad(&r, "the answer is not JSON (%.*s)", (int)strcspn(why, "\n"), why);
    yajl_tree_free(tree);
    return ctx->status;
}
