/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No constant moves a number without being named: each key that a device assumes is given another
 * value, in runs that reach every mechanism, and where any number of the result is another one, the
 * result must have listed the key in `assumed`, or a key that is a share of it. Each key given by
 * hand stands in `given`. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/hardware/profile.h"
#include "sim/app/cli/cli.h"
#include "tests/support/runner.h"

/* The runs below reach that many keys; fewer, and they have lost sight of some mechanism. */
enum { MAX_WORDS = 32 + 2 * GSIM_KEY_COUNT, LEAST_REACHED = 50 };

struct fixture {
    char folder[64], path[96];
    struct gsim_arena *arena;
};

static int open_fixture(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    if (!f)
        return -1;
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/gsim_named_XXXXXX");
    f->arena = gsim_arena_new();
    if (!f->arena || !mkdtemp(f->folder))
        return -1;
    (void)snprintf(f->path, sizeof f->path, "%s/trace.csv", f->folder);
    return 0;
}

static int close_fixture(void **state) {
    struct fixture *f = *state;
    (void)unlink(f->path);
    (void)rmdir(f->folder);
    gsim_arena_free(f->arena);
    free(f);
    return 0;
}

/* --- what is run ------------------------------------------------------------------------------ */

/* Durations and memory, as a laboratory's log has them. */
static const char plain[] = "job_id,submit_s,duration_s,mem_gib\n"
                            "a,0,20,10\nb,1,12,9\nc,2,6,8\nd,3,3,4\n";
/* Two of them fit a t4 but for their contexts. */
static const char halves[] = "job_id,submit_s,duration_s,mem_gib\n"
                             "a,0,20,7.2\nb,1,12,7.2\nc,2,6,7.2\n";
/* A hundredth of that, for demand paging, which takes long. */
static const char brief[] = "job_id,submit_s,duration_s,mem_gib\n"
                            "a,0,0.4,10\nb,0.1,0.4,9\nc,0.2,0.2,8\nd,0.3,0.1,4\n";
static const char bare[] = "job_id,submit_s,duration_s\na,0,20\nb,1,12\nc,2,6\n";
/* Trainings that wait for their kernels or do not, with all that a row can say. */
static const char full[] =
    "job_id,submit_s,iterations,gpu_ms,kernels,mem_gib,host_gap_ms,sync,hbm_gbps,sm_fraction,"
    "priority,class\n"
    "a,0,60,50,40,10,2,iteration,100,0.6,0,opportunistic\n"
    "b,0.5,40,40,30,9,,kernel,50,0.7,1,production\n"
    "c,1,30,30,20,8,1,none,,,2,production\n";
static const char cold[] = "job_id,submit_s,iterations,gpu_ms,kernels,mem_gib\n"
                           "a,0,40,50,40,6\nb,0,40,50,40,5\n";
static const char served[] =
    "job_id,submit_s,iterations,requests,period_ms,gpu_ms,kernels,mem_gib,priority,class\n"
    "a,0,40,,,50,40,4,0,opportunistic\nb,0.5,,60,20,1,3,2,1,production\n";
static const char gangs[] = "job_id,submit_s,duration_s,gpus,mem_gib,model,load_gib\n"
                            "a,0,20,1,8,resnet50,\nb,1,9,2,6,vgg16,2\nc,2,6,1,8,resnet50,4\n"
                            "d,3,5,2,7,vgg16,\n";
static const char named[] = "job_id,submit_s,duration_s,app\n"
                            "a,0,20,resnet50-train\nb,1,9,bert-infer\n";

struct scenario {
    const char *text, *words;
};

static const struct scenario scenarios[] = {
    {plain, "--policy fifo"},
    {plain, "--policy timeslice --set context.bytes=0"},
    {plain, "--policy suspend --set quantum=2s"},
    {plain, "--policy suspend --set quantum=2s --host-mem 12GiB"},
    {plain, "--policy srtf --set preempt=checkpoint"},
    {plain, "--policy srtf --set preempt=checkpoint --host-mem 12GiB"},
    {plain, "--policy srtf --set preempt=restart"},
    {plain, "--policy srtf --set preempt=suspend --nodes 2 --gpus-per-node 1"},
    {plain, "--policy gandiva --set slice=2s --nodes 2 --gpus-per-node 2"},
    {plain, "--policy las --set preempt=paging --set memory=uvm --set quantum=2s"},
    {brief, "--policy uvm"},
    {plain, "--policy msched"},
    {plain, "--policy nvshare --set quantum=3s"},
    {plain, "--policy adaptive --set quantum=2s"},
    {plain, "--policy tgs"},
    {plain, "--policy mps --set context.bytes=0"},
    {plain, "--policy xsched"},
    {halves, "--policy timeslice"},
    {halves, "--policy mps"},
    {halves, "--policy xsched"},
    {halves, "--policy gandiva --set slice=2s"},
    {halves, "--policy gandiva --set slice=2s --set preempt=pause"},
    {bare, "--policy gandiva --set slice=2s"},
    {bare, "--policy timeslice"},
    {bare, "--policy salus --assume mem_gib=3GiB"},
    {full, "--policy timeslice"},
    {full, "--policy mps"},
    {full, "--policy uvm"},
    {full, "--policy msched"},
    {full, "--policy xsched"},
    {full, "--policy chimera"},
    {served, "--policy chimera --set preempt=flush --assume idempotent=1"},
    {served, "--policy chimera --set preempt=incremental"},
    {served, "--policy chimera --set preempt=kernel-slice"},
    {served, "--policy chimera --set preempt=slice"},
    {full, "--policy antman"},
    {full, "--policy antman --set overflow=off --set preempt=discard"},
    {full, "--policy gang-rr --set slice=500ms --set preempt=pause"},
    {cold, "--policy timeslice"},
    {cold, "--policy uvm"},
    {served, "--policy timeslice"},
    {served, "--policy xsched"},
    {served, "--policy reef"},
    {served, "--policy orion"},
    {served, "--policy gpreempt"},
    {served, "--policy tally"},
    {served, "--policy lithos"},
    {served, "--policy green"},
    {full, "--policy green --set part=30%"},
    {served, "--policy chimera"},
    {served, "--policy tgs"},
    {served, "--policy mps"},
    {gangs, "--policy fifo --nodes 2 --gpus-per-node 1"},
    {gangs, "--policy fifo --set placement=spread --nodes 2 --gpus-per-node 2"},
    {gangs, "--policy gandiva --set slice=2s --set grow=on --nodes 1 --gpus-per-node 4"},
    {gangs, "--policy srtf --set preempt=suspend --nodes 2 --gpus-per-node 2"},
    {gangs, "--policy srtf --set preempt=suspend --nodes 1 --gpus-per-node 2"},
    {full, "--policy fifo"},
    {cold, "--policy vgpu --set per_gpu=2"},
    {bare, "--policy timeslice --set quantum=short"},
    {bare, "--policy timeslice --set quantum=long"},
    {named, "--policy fifo"},
    {named, "--policy timeslice"},
};

/* Has most of its constants from assumed.ini. */
static const char device[] = "t4";

/* --- running one ------------------------------------------------------------------------------ */

static void write_trace(const struct fixture *f, const char *text) {
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* The result as JSON, in the arena; NULL: it is refused. sets: options " --set KEY=VALUE", or none. */
static const char *run(struct fixture *f, const struct scenario *one, const char *sets) {
    char *words[MAX_WORDS], *out = NULL, *err = NULL;
    size_t n_out, n_err;
    int n = 0;
    char *line = gsim_arena_printf(f->arena, "gsim run --quiet --format json --device %s %s%s %s",
                                   device, one->words, sets, f->path);
    for (char *word = strtok(line, " "); word && n < MAX_WORDS; word = strtok(NULL, " "))
        words[n++] = word;
    struct gsim_io io = {.out = open_memstream(&out, &n_out), .err = open_memstream(&err, &n_err)};
    int code = gsim_cli(n, words, &io);
    (void)fclose(io.out);
    (void)fclose(io.err);
    if (code != 0 && !*sets)
        fail_msg("%s: %s", one->words, err);
    const char *json = code == 0 ? gsim_arena_strdup(f->arena, out) : NULL;
    free(out);
    free(err);
    return json;
}

/* The text of a field, with what is before and behind it. */
static const char *field(const char *json, const char *name, size_t *length) {
    char start[48];
    (void)snprintf(start, sizeof start, "\"%s\":\"", name);
    const char *at = strstr(json, start);
    assert_non_null(at);
    at += strlen(start);
    *length = strcspn(at, "\"");
    return at;
}

static bool lists(struct fixture *f, const char *json, const char *name, const char *key) {
    size_t length;
    const char *at = field(json, name, &length);
    const char *list = gsim_arena_strndup(f->arena, at, length);
    const char *item = gsim_arena_printf(f->arena, "%s=", key);
    const char *later = gsim_arena_printf(f->arena, ", %s=", key);
    return strncmp(list, item, strlen(item)) == 0 || strstr(list, later);
}

/* Everything before the texts about the result itself: what a reader would quote. */
static bool has_same_numbers(const char *a, const char *b) {
    size_t n = (size_t)(strstr(a, "\"skipped\"") - a);
    return strncmp(a, b, n) == 0;
}

/* --- another value ---------------------------------------------------------------------------- */

/* Which way a value goes. */
enum way { WAY_UP, WAY_DOWN, WAYS };

/* Keys that take one value other than theirs: those of two values, and shares, which go down alone. */
static bool has_one_other(int key) {
    return gsim_keys[key].kind == GSIM_KIND_BOOL ||
           strstr(gsim_key_name((enum gsim_key)key), "_ppm");
}

/* The option that gives the key another value; empty where there is none. No two keys next to each
 * other change by one factor, so that values that are divided by each other give another quotient. */
static const char *other_value(struct fixture *f, const struct gsim_profile *profile, int key,
                               enum way way) {
    int64_t value = profile->value[key], part = value / (2 + key % 7);
    if (profile->curve[key] || value == INT64_MAX || (way == WAY_DOWN && has_one_other(key)))
        return "";
    const char *name = gsim_key_name((enum gsim_key)key);
    if (gsim_keys[key].kind == GSIM_KIND_BOOL)
        return gsim_arena_printf(f->arena, " --set %s=%s", name, value ? "off" : "on");
    if (strstr(name, "_ppm") || way == WAY_DOWN)
        value -= part;
    else
        value += value > 1 ? part : 1000000;
    return value != profile->value[key]
               ? gsim_arena_printf(f->arena, " --set %s=%lld", name, (long long)value)
               : "";
}

/* A share of this key is in the list. */
static bool lists_share(struct fixture *f, const struct gsim_profile *profile, const char *json,
                        const char *key) {
    for (int k = 0; k < GSIM_KEY_COUNT; k++)
        if (profile->rule[k] && strstr(profile->rule[k], key) &&
            lists(f, json, "assumed", gsim_key_name((enum gsim_key)k)))
            return true;
    return false;
}

/* Whether the result, if this key moves it, does not name it. That durations were measured on the first
 * device says more than its speed of 1. */
static bool is_unnamed(struct fixture *f, const char *base, const struct gsim_profile *profile,
                       int key) {
    const char *name = gsim_key_name((enum gsim_key)key);
    const char *listed = key == GSIM_KEY_SPEED_MILLI ? "durations" : name;
    return profile->tag[key] == GSIM_TAG_ASSUMED && !lists(f, base, "assumed", listed) &&
           !lists_share(f, profile, base, name);
}

/* --- which keys move a result ------------------------------------------------------------------- */

struct trial {
    struct fixture *f;
    const struct scenario *one;
    const struct gsim_profile *profile;
    const char *base; /* the result with the device's values */
    enum way way;
    bool *has_moved; /* by key: in some scenario */
};

/* Whether a run with other values of all these keys has other numbers, or is refused. */
static bool moves(const struct trial *trial, const int *keys, int n) {
    struct fixture *f = trial->f;
    const char *sets = "";
    for (int i = 0; i < n; i++)
        sets = gsim_arena_printf(f->arena, "%s%s", sets,
                                 other_value(f, trial->profile, keys[i], trial->way));
    const char *json = run(f, trial->one, sets);
    for (int i = 0; i < n && json; i++) {
        const char *name = gsim_key_name((enum gsim_key)keys[i]);
        if (!lists(f, json, "given", name))
            fail_msg("%s: %s, of --set, is not in `given`", trial->one->words, name);
    }
    return n > 1 ? !json || !has_same_numbers(trial->base, json)
                 : json && !has_same_numbers(trial->base, json);
}

/* Where keys move nothing together none of them moves anything; where they do each half is tried. With
 * CASES=all each key is tried alone whatever they do together. */
static void try_keys(const struct trial *trial, const int *keys, int n) {
    bool is_alone = n == 1;
    if (n == 0 || ((is_alone || TEST_FEWER_DRAWN > 1) && !moves(trial, keys, n)))
        return;
    if (!is_alone) {
        try_keys(trial, keys, n / 2);
        try_keys(trial, keys + n / 2, n - n / 2);
        return;
    }
    trial->has_moved[*keys] = true;
    if (is_unnamed(trial->f, trial->base, trial->profile, *keys))
        fail_msg("%s: %s moves the result and is not in `assumed`", trial->one->words,
                 gsim_key_name((enum gsim_key) * keys));
}

/* A key that is named here and is known to move some result has nothing left to show. */
static void try_scenario(struct trial *trial, int first) {
    for (trial->way = WAY_UP; trial->way < WAYS; trial->way++)
        for (int of_two_values = 0; of_two_values <= 1; of_two_values++) {
            int keys[GSIM_KEY_COUNT], n = 0;
            for (int key = first; key < GSIM_KEY_COUNT; key += TEST_FEWER)
                if ((gsim_keys[key].kind == GSIM_KIND_BOOL) == of_two_values &&
                    *other_value(trial->f, trial->profile, key, trial->way) &&
                    (!trial->has_moved[key] ||
                     is_unnamed(trial->f, trial->base, trial->profile, key)))
                    keys[n++] = key;
            try_keys(trial, keys, n);
        }
}

static void what_moves_a_number_is_named(void **state) {
    struct fixture *f = *state;
    struct gsim_profile profile;
    struct gsim_log log = {0};
    bool has_moved[GSIM_KEY_COUNT] = {false};
    assert_int_equal(gsim_profile_load(device, f->arena, &profile, &log), GSIM_OK);
    for (size_t s = 0; s < sizeof scenarios / sizeof *scenarios; s++) {
        write_trace(f, scenarios[s].text);
        struct trial trial = {.f = f,
                              .one = &scenarios[s],
                              .profile = &profile,
                              .base = run(f, &scenarios[s], ""),
                              .has_moved = has_moved};
        try_scenario(&trial, (int)s % TEST_FEWER); /* a slow build tries other keys in each */
    }
    int n_moved = 0;
    for (int key = 0; key < GSIM_KEY_COUNT; key++) {
        n_moved += has_moved[key];
        if (has_moved[key] && gsim_key_is_shown_only(key))
            fail_msg("%s moves a result", gsim_key_name((enum gsim_key)key));
    }
    assert_true(n_moved > LEAST_REACHED / TEST_FEWER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_moves_a_number_is_named, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
