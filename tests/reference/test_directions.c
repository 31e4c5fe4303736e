/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every parameter of the systems that share a GPU (Salus, TGS, AntMan, REEF) moves what its paper says
 * it moves, in the direction that it says. One row a direction: a small trace, two values, and who is
 * better off with the second. What exactly comes out is held elsewhere, by hand. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "gsim/params.h"
#include "tests/support/runner.h"

enum metric { START, END, LATENCY }; /* of a job; of all requests */
enum relation { SOONER, LATER, SAME }; /* with the second value */

struct effect {
    enum metric metric;
    int job;
    enum relation relation;
};

struct direction {
    const char *policy, *param, *first, *second;
    const char *other; /* "param=value" that goes with both, or NULL */
    const char *rows;
    uint32_t nodes, gpus;
    struct effect effect[2]; /* the second one may be empty */
    int n_effects;
};

#define COLUMNS                                                                                    \
    "job_id,submit_s,duration_s,gpus,iterations,gpu_ms,host_gap_ms,kernels,blocks,mem_gib,"        \
    "persistent_gib,sm_fraction,requests,period_ms,class,idempotent\n"

/* Three gangs of 2 on two nodes of 3: the third one starts at once where it may be scattered. */
#define GANGS "a,0,10,2,,,,,,,,,,,,\nb,0,10,2,,,,,,,,,,,,\nc,0,10,2,,,,,,,,,,,,\n"
#define PLACEMENT(name)                                                                            \
    { name, "placement", "consolidate", "any", NULL, GANGS, 2, 3, {{END, 2, SOONER}}, 1 }

/* One lane of memory: a long job, then a short one that needs half as much. */
#define LANE "a,0,,1,20,1000,,1,,120,0,1,,,,\nb,2.5,,1,4,1000,,1,,60,0,1,,,,\n"

/* A production job whose GPU is idle for half of the time, and an opportunistic one of so many
 * iterations of 0.1 s; both launch kernels of 1 ms and 100 blocks. */
#define PRODUCTION "p,0,,1,2000,50,50,50,100,,,,,,production,\n"
#define BRIEF PRODUCTION "o,0,,1,20,100,,100,100,,,,,,opportunistic,\n"
#define LASTING PRODUCTION "o,0,,1,200,100,,100,100,,,,,,opportunistic,\n"
/* The same without gaps, where they are in each other's way, and with kernels of 0.1 ms. */
#define RIVAL                                                                                      \
    "p,0,,1,2000,100,,1000,400,,,,,,production,\no,0,,1,200,100,,1000,50,,,,,,opportunistic,\n"
#define LASTING_RIVAL                                                                              \
    "p,0,,1,2000,100,,1000,400,,,,,,production,\no,0,,1,1000,100,,1000,50,,,,,,opportunistic,\n"

/* Half a GPU's SMs for 5 ms every 20 ms, beside kernels of 0.5 ms that would fill all of them. */
#define INFERENCES "r,0,,1,,0.5,,10,,,,0.5,500,20,realtime,\nb,0,,1,1000,10,,20,,,,1,,,batch,1\n"

/* A request every 1.2 ms that takes 0.5 ms on half of the SMs, beside kernels on two fifths. */
#define BESIDE "r,0,,1,,0.5,,10,,,,0.5,500,1.2,realtime,\nb,0,,1,60,10,,20,,,,0.4,,,batch,1\n"

#define LINE                                                                                       \
    "a,0,,1,50,1000,,1,,100,,,,,,\n"                                                               \
    "b,1,,1,10,1000,,1,,100,,,,,,\nc,2,,1,10,1000,,1,,20,,,,,,\n"

/* Two GPUs, of which a has one, b needs both, and c would have the other. */
#define BEHIND_A_GANG "a,0,100,1,,,,,,,,,,,,\nb,1,10,2,,,,,,,,,,,,\nc,2,10,1,,,,,,,,,,,,\n"

static const struct direction directions[] = {
    PLACEMENT("salus"),
    PLACEMENT("tgs"),
    PLACEMENT("antman"),
    PLACEMENT("reef"),
    PLACEMENT("orion"),
    PLACEMENT("gpreempt"),
    PLACEMENT("tally"),
    PLACEMENT("lithos"),
    PLACEMENT("green"),

    /* who has least left, who came last, and everybody in turn: better for the short job */
    {"salus", "order", "fifo", "srtf", NULL, LANE, 1, 1, {{END, 1, SOONER}, {END, 0, LATER}}, 2},
    {"salus", "order", "fifo", "preempt", NULL, LANE, 1, 1, {{END, 1, SOONER}, {END, 0, LATER}}, 2},
    {"salus", "order", "fifo", "pack", NULL, LANE, 1, 1, {{END, 1, SOONER}, {END, 0, LATER}}, 2},
    /* by memory x time the smaller job gets two turns of three */
    {"salus", "order", "pack", "fair", NULL, LANE, 1, 1, {{END, 1, SOONER}}, 1},
    /* with less than 60 GiB left there is no second lane */
    {"salus",
     "reserve",
     "300MiB",
     "60GiB",
     NULL,
     "a,0,,1,10,1000,,1,,60,60,0.5,,,,\nb,0,,1,10,1000,,1,,60,60,0.5,,,,\n",
     1,
     1,
     {{END, 1, LATER}, {END, 0, SAME}},
     2},
    /* who keeps something fits beside a job of the same size in a lane of the whole GPU only */
    {"salus",
     "lanes",
     "many",
     "one",
     "order=srtf",
     "a,0,,1,10,1000,,1,,80,5,1,,,,\nb,0.5,,1,2,1000,,1,,80,5,1,,,,\n",
     1,
     1,
     {{END, 1, SOONER}, {END, 0, LATER}},
     2},

    /* what has no room waits, or comes in by faults */
    {"tgs",
     "memory",
     "resident",
     "uvm",
     NULL,
     "o,0,,1,600,100,,100,100,100,,,,,opportunistic,\np,10,,1,600,100,,100,100,100,,,,,production,"
     "\n",
     1,
     1,
     {{START, 1, SOONER}, {END, 0, LATER}},
     2},
    /* while the production job is measured alone, the other one stands still */
    {"tgs", "report", "1s", "5s", NULL, BRIEF, 1, 1, {{END, 1, LATER}}, 1},
    {"tgs", "profile", "5", "10", NULL, BRIEF, 1, 1, {{END, 1, LATER}}, 1},
    /* a budget for a longer time is a lower rate */
    {"tgs", "refill", "50ms", "500ms", "initial=1000", BRIEF, 1, 1, {{END, 1, LATER}}, 1},
    {"tgs", "initial", "100", "20000", NULL, BRIEF, 1, 1, {{END, 1, SOONER}}, 1},
    {"tgs", "tolerance", "1%", "10%", NULL, RIVAL, 1, 1, {{END, 1, SOONER}}, 1},
    {"tgs", "tolerance", "1%", "10%", NULL, LASTING_RIVAL, 1, 1, {{END, 0, LATER}}, 1},

    /* a gang takes the GPU from a guest: what that did is on the host, or lost */
    {"antman",
     "preempt",
     "suspend",
     "discard",
     NULL,
     "o,0,100,1,,,,,,1,,,,,opportunistic,\ng,50,10,2,,,,,,1,,,,,production,\n",
     1,
     2,
     {{END, 0, LATER}},
     1},
    /* who has no room waits for it, or works on the host's memory */
    {"antman",
     "overflow",
     "off",
     "on",
     NULL,
     "p,0,,1,2000,50,50,50,100,100,,,,,production,\no,10,,1,600,100,,100,100,60,,,,,opportunistic,"
     "\n",
     1,
     1,
     {{START, 1, SOONER}},
     1},
    /* the share of the guest grows from window to window */
    {"antman", "window", "5s", "20s", NULL, LASTING, 1, 1, {{END, 1, LATER}}, 1},
    /* fewer switches for the same share */
    {"antman", "refill", "5ms", "500ms", NULL, LASTING_RIVAL, 1, 1, {{END, 1, SOONER}}, 1},
    {"antman", "tolerance", "1%", "20%", "window=2s", RIVAL, 1, 1, {{END, 1, SOONER}}, 1},
    {"antman", "tolerance", "1%", "20%", NULL, LASTING_RIVAL, 1, 1, {{END, 0, LATER}}, 1},
    /* the guest comes when the GPU's use is known: half of it, which is too much or not */
    {"antman",
     "busy",
     "40%",
     "80%",
     NULL,
     PRODUCTION "o,30,,1,200,100,,100,100,,,,,,opportunistic,\n",
     1,
     1,
     {{END, 1, SOONER}},
     1},
    /* who waits for a guaranteed place starts without one; a single kernel, which no cap holds back */
    {"antman",
     "patience",
     "10s",
     "10m",
     "busy=200%",
     "a,0,100,1,,,,,,,,,,,production,\nb,0,10,1,1,,,1,,,,,,,production,\n",
     1,
     1,
     {{END, 1, LATER}, {END, 0, SOONER}},
     2},

    /* each kernel in the device's queue has to start and see the flag */
    {"reef", "in_flight", "2", "8", NULL, INFERENCES, 1, 1, {{LATENCY, 0, LATER}}, 1},
    /* with one, the host waits for every kernel */
    {"reef",
     "in_flight",
     "1",
     "2",
     "padding=off",
     INFERENCES,
     1,
     1,
     {{LATENCY, 0, LATER}, {END, 1, SOONER}},
     2},
    {"reef", "padding", "off", "on", NULL, INFERENCES, 1, 1, {{END, 1, SOONER}}, 1},

    /* kernels that leave room for each other, until the best-effort ones need too much, or both are
     * bound by arithmetic; what is launched ahead is in the way of a request */
    {"orion", "sms", "0", "20", NULL, BESIDE, 1, 1, {{END, 1, LATER}}, 1},
    {"orion", "bound", "60%", "30%", NULL, BESIDE, 1, 1, {{END, 1, LATER}}, 1},
    {"orion", "ahead", "0%", "100%", NULL, INFERENCES, 1, 1, {{LATENCY, 0, LATER}}, 1},
    {"orion", "queue", "fifo", "backfill", NULL, LINE, 1, 1, {{START, 2, SOONER}}, 1},

    /* a longer slice keeps the service waiting; a hint hides the switch to it */
    {"gpreempt", "slice", "1us", "400us", NULL, INFERENCES, 1, 1, {{LATENCY, 0, LATER}}, 1},
    {"gpreempt", "hint", "0", "100us", NULL, INFERENCES, 1, 1, {{LATENCY, 0, SOONER}}, 1},
    {"gpreempt", "queue", "fifo", "backfill", NULL, LINE, 1, 1, {{START, 2, SOONER}}, 1},
    /* the training goes on later after each request */
    {"tally", "wait", "0", "1ms", NULL, INFERENCES, 1, 1, {{END, 1, LATER}}, 1},
    {"tally", "queue", "fifo", "backfill", NULL, LINE, 1, 1, {{START, 2, SOONER}}, 1},
    /* more SMs */
    {"green", "part", "20%", "50%", NULL, INFERENCES, 1, 1, {{END, 1, SOONER}}, 1},
    {"green", "queue", "fifo", "backfill", NULL, LINE, 1, 1, {{START, 2, SOONER}}, 1},
    {"lithos", "queue", "fifo", "backfill", NULL, LINE, 1, 1, {{START, 2, SOONER}}, 1},

    /* behind a job that has no room, one that has */
    {"salus", "queue", "fifo", "backfill", NULL, LINE, 1, 1, {{START, 2, SOONER}}, 1},
    {"reef", "queue", "fifo", "backfill", NULL, LINE, 1, 1, {{START, 2, SOONER}}, 1},
    {"tgs", "queue", "fifo", "backfill", NULL, BEHIND_A_GANG, 1, 2, {{START, 2, SOONER}}, 1},
    {"antman", "queue", "fifo", "backfill", NULL, BEHIND_A_GANG, 1, 2, {{START, 2, SOONER}}, 1},
    /* the first job gives way when it is so far ahead, or ends */
    {"reef", "queue_quantum", "1h", "5s", "queue=las", LINE, 1, 1, {{START, 1, SOONER}}, 1},
};

enum { DIRECTIONS = sizeof directions / sizeof *directions };

static struct gsim_result play(struct fixture *f, const struct direction *row, const char *value) {
    const char *const sets[] = {gsim_arena_printf(f->arena, "%s=%s", row->param, value), row->other,
                                NULL};
    struct test_run run = {.trace = &f->trace,
                           .policy = row->policy,
                           .device = "h200",
                           .sets = sets,
                           .nodes = row->nodes,
                           .gpus_per_node = row->gpus};
    return test_run(&run, f->arena);
}

static double measure(const struct gsim_result *result, const struct effect *effect) {
    if (effect->metric == LATENCY)
        return result->summary.latency_mean_s;
    const int64_t *times = effect->metric == START ? result->jobs.start_ns : result->jobs.end_ns;
    return (double)times[effect->job] / 1e9;
}

static bool holds(enum relation relation, double first, double second) {
    switch (relation) {
    case SOONER:
        return second < first;
    case LATER:
        return second > first;
    case SAME:
        return second >= first && second <= first;
    }
    return false;
}

static void test_directions(void **state) {
    struct fixture *f = *state;
    int n_wrong = 0;
    for (int i = 0; i < DIRECTIONS; i++) {
        const struct direction *row = &directions[i];
        const char *text = gsim_arena_printf(f->arena, COLUMNS "%s", row->rows);
        if (read_text(f, text) != GSIM_OK)
            fail_msg("%s", f->log.errors[0].text);
        struct gsim_result first = play(f, row, row->first), second = play(f, row, row->second);
        for (int e = 0; e < row->n_effects; e++) {
            const struct effect *effect = &row->effect[e];
            double before = measure(&first, effect), after = measure(&second, effect);
            if (holds(effect->relation, before, after))
                continue;
            n_wrong++;
            print_message("# %s.%s from %s to %s: job %d: %.9f, then %.9f\n", row->policy,
                          row->param, row->first, row->second, effect->job, before, after);
        }
    }
    assert_int_equal(n_wrong, 0);
}

/* Parameters of queue= that one policy stands for (above), or other tests (test_sharing_queue). */
static bool is_of_queue(const char *name) {
    return strncmp(name, "queue_", strlen("queue_")) == 0;
}

/* So that none is forgotten when it comes. */
static void test_every_parameter_has_a_direction(void **state) {
    (void)state;
    static const char *const policies[] = {"salus", "tgs", "antman", "reef", "orion"};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        const struct gsim_param_def *param = test_policy(policies[p])->params;
        for (; param->name; param++) {
            int n = 0;
            for (int i = 0; i < DIRECTIONS; i++)
                n += strcmp(directions[i].policy, policies[p]) == 0 &&
                     strcmp(directions[i].param, param->name) == 0;
            if (n == 0 && !is_of_queue(param->name))
                fail_msg("%s.%s has no row here", policies[p], param->name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_directions),
        cmocka_unit_test(test_every_parameter_has_a_direction),
    };
    return cmocka_run_group_tests_name("what parameters do", tests, NULL, NULL);
}
