/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps of language models (models/gpu/llm.h) beside measured and published times. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/gpu/llm.h"
#include "sim/app/setup/apps.h"
#include "traces/llm_models.h"

/* Parts of the roofs: found with the two programs of the first test, used in all. */
enum { COMPUTE_PPM = 590000, MEMORY_PPM = 780000 };

/* Eight layers of a Llama of 7 G parameters, as the bytes of its kernels show: products of 4096 by
 * 12288, 4096 and 22016, and of 11008 by 4096. */
static const struct gsim_llm eight_layers = {
    .parameters = 8 * (INT64_C(4) * 4096 * 4096 + INT64_C(3) * 4096 * 11008) + 2 * 4096,
    .layers = 8,
    .hidden = 4096,
    .heads = 32,
    .kv_heads = 32,
    .head_dim = 128,
    .vocabulary = 1,
    .weight_bits = 16,
    .kv_bits = 16,
    .precision = GSIM_PRECISION_FP16,
    .compute_ppm = COMPUTE_PPM,
    .memory_ppm = MEMORY_PPM,
    .block_tokens = 16};

/* Llama 3 8B (config.json) with weights of one byte, as MSched's authors ran it. */
static const struct gsim_llm llama3_int8 = {.parameters = INT64_C(8030261248),
                                            .layers = 32,
                                            .hidden = 4096,
                                            .heads = 32,
                                            .kv_heads = 8,
                                            .head_dim = 128,
                                            .vocabulary = 128256,
                                            .weight_bits = 8,
                                            .kv_bits = 16,
                                            .precision = GSIM_PRECISION_FP16,
                                            .compute_ppm = COMPUTE_PPM,
                                            .memory_ppm = MEMORY_PPM,
                                            .block_tokens = 16};

static struct gsim_profile device(const char *name, struct gsim_arena *arena) {
    struct gsim_profile profile;
    struct gsim_log log = {0};
    assert_int_equal(gsim_profile_load(name, arena, &profile, &log), GSIM_OK);
    return profile;
}

/* n sequences that compute this many tokens each beside those that they have. */
static struct gsim_llm_work work_of(int64_t n, int64_t had, int64_t tokens) {
    return (struct gsim_llm_work){.tokens = n * tokens,
                                  .emitted = n,
                                  .sequences = n,
                                  .pairs = n * (tokens * had + tokens * (tokens + 1) / 2),
                                  .context = n * (had + tokens)};
}

static void near_ns(int64_t ns, int64_t expected_ns, int64_t permille) {
    int64_t off_ns = ns > expected_ns ? ns - expected_ns : expected_ns - ns;
    if (off_ns * 1000 > expected_ns * permille)
        fail_msg("%lld ns instead of %lld", (long long)ns, (long long)expected_ns);
}

/* The GPU time of an iteration of a measured program. */
static int64_t measured_ns(const char *app_name, struct gsim_arena *arena) {
    struct gsim_app app;
    struct gsim_log log = {0};
    int64_t ns = 0;
    assert_int_equal(gsim_apps_load(app_name, NULL, 0, arena, &app, &log), GSIM_OK);
    for (uint32_t c = 0; c < app.n_calls; c++)
        if (app.calls[c].kind == GSIM_CALL_LAUNCH)
            ns += app.calls[c].time_ns;
    return ns;
}

/* Four sequences, by the blocks of the programs' kernels: a block a row in layer norms. */
static void test_the_programs_of_which_the_parts_are(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_profile h200 = device("h200", arena);
    struct gsim_llm_work decode = work_of(4, 256, 1), prefill = work_of(4, 0, 256);
    (void)state;
    near_ns(gsim_llm_step_ns(&eight_layers, &h200, &decode),
            measured_ns("h200-llama-decode", arena), 10);
    near_ns(gsim_llm_step_ns(&eight_layers, &h200, &prefill),
            measured_ns("h200-llama-prefill", arena), 10);
    gsim_arena_free(arena);
}

/* A step of 12.7 ms (MSched, arXiv 2512.24637), on another GPU than the parts are from. */
static void test_a_published_step(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_profile rtx5080 = device("rtx5080", arena);
    struct gsim_llm_work decode = work_of(1, 2048, 1);
    (void)state;
    near_ns(gsim_llm_step_ns(&llama3_int8, &rtx5080, &decode), 12700000, 30);
    gsim_arena_free(arena);
}

/* The server of experiments/serving, by its models.ini. */
static struct gsim_llm measured_server(struct gsim_arena *arena) {
    struct gsim_llms llms;
    struct gsim_log log = {0};
    assert_int_equal(
        gsim_llm_models_read("experiments/serving/models.ini", NULL, arena, &llms, &log), GSIM_OK);
    return llms.list[0];
}

/* One part of a prompt behind `had` tokens, and sequences with one token. */
static int64_t server_ns(const struct gsim_llm *llm, const struct gsim_profile *profile,
                         int64_t part, int64_t had, int64_t ones, int64_t context) {
    struct gsim_llm_work work = {.emitted = ones + (part > 0)};
    for (int64_t one = 0; one < ones; one++)
        gsim_llm_work_add(llm, &work, context, 1);
    if (part > 0)
        gsim_llm_work_add(llm, &work, had, part);
    return gsim_llm_step_ns(llm, profile, &work);
}

/* What 4096 tokens before a part of a prompt cost, and sequences beside the first, as steps of
 * experiments/serving/steps_h200.csv differ. */
static void test_measured_steps(void **state) {
    static const struct {
        int64_t part, longer_ns;
    } behind[] = {{64, 4226000}, {256, 4668000}, {512, 4702000}, {1024, 9500000}, {2048, 19733000}};
    static const struct {
        int64_t ones, context, longer_ns;
    } more[] = {{64, 128, 1710000}, {64, 960, 3556000}, {128, 128, 3491000}, {128, 960, 7058000}};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_profile h200 = device("h200", arena);
    struct gsim_llm llm = measured_server(arena);
    (void)state;
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        near_ns(server_ns(&llm, &h200, behind[i].part, 4096, 0, 0) -
                    server_ns(&llm, &h200, behind[i].part, 0, 0, 0),
                behind[i].longer_ns, 110);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        near_ns(server_ns(&llm, &h200, 0, 0, more[i].ones, more[i].context) -
                    server_ns(&llm, &h200, 0, 0, 1, more[i].context),
                more[i].longer_ns, 110);
    gsim_arena_free(arena);
}

/* Tiles of 4 tokens of parts of 10 behind 5, and of 2 behind 30: 9, 13, 15 and 32 tokens. */
static void test_tiles(void **state) {
    struct gsim_llm llm = {.attention_tile = 4};
    struct gsim_llm_work work = {0};
    (void)state;
    gsim_llm_work_add(&llm, &work, 5, 10);
    gsim_llm_work_add(&llm, &work, 30, 2);
    gsim_llm_work_add(&llm, &work, 99, 1);
    assert_int_equal(work.tiles, 4);
    assert_true(work.tile_keys == 9 + 13 + 15 + 32);
    assert_int_equal(work.longest_part, 32);
    assert_int_equal(work.ones, 1);
    assert_int_equal(work.longest_one, 100);
    assert_int_equal(work.sequences, 3);
}

/* 8030261248 parameters are those of its safetensors; 32 x 2 x 8 x 128 numbers a token. */
static void test_memory(void **state) {
    struct gsim_llm llm = llama3_int8;
    (void)state;
    llm.mem_bytes = llm.parameters + 131072 * 16 * 10 + 131072 * 16 - 1;
    struct gsim_llm_memory memory = gsim_llm_memory_of(&llm);
    assert_int_equal(memory.token_bytes, 131072);
    assert_int_equal(memory.block_bytes, 131072 * 16);
    assert_int_equal(memory.copy_bytes, 8 * 128 * 2 * 16);
    assert_int_equal(memory.blocks, 10);
    llm.mem_bytes = llm.parameters;
    assert_int_equal(gsim_llm_memory_of(&llm).blocks, 0);
}

/* get_batch_defaults of vllm/engine/arg_utils.py. */
static void test_defaults_of_the_server(void **state) {
    static const struct {
        const char *device;
        int64_t tokens, sequences;
    } rows[] = {{"h200", 8192, 1024},
                {"h100-sxm", 8192, 1024},
                {"a100-80", 2048, 256},
                {"rtx5080", 2048, 256}};
    struct gsim_arena *arena = gsim_arena_new();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gsim_profile profile = device(rows[i].device, arena);
        struct gsim_llm llm = {.batch_tokens = GSIM_NEVER, .sequences = GSIM_NEVER};
        gsim_llm_fill(&llm, &profile);
        assert_int_equal(llm.batch_tokens, rows[i].tokens);
        assert_int_equal(llm.sequences, rows[i].sequences);
        llm.sequences = 3;
        gsim_llm_fill(&llm, &profile);
        assert_int_equal(llm.sequences, 3);
    }
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_programs_of_which_the_parts_are),
        cmocka_unit_test(test_a_published_step),
        cmocka_unit_test(test_measured_steps),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_defaults_of_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
