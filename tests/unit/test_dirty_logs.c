/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs as they come: bad rows, headers in the middle, runs of requeued jobs, steps with their
 * measurements. Each row that is no job, or lost something, is counted with its reason. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/trace_file.h"

static enum gsim_status read_lenient(struct fixture *f, const char *text, const char *gpu_mem) {
    struct gsim_trace_options options = {.is_lenient = true, .gpu_mem = gpu_mem};
    put(f, text, strlen(text));
    f->log = (struct gsim_log){0};
    f->trace = (struct gsim_trace){0};
    return gsim_trace_read(f->path, NULL, &options, f->arena, &f->trace, &f->log);
}

static void expect_warning(const struct fixture *f, const char *text) {
    for (int64_t i = 0; i < f->log.n_warnings; i++)
        if (strstr(f->log.warnings[i].text, text))
            return;
    for (int64_t i = 0; i < f->log.n_warnings; i++)
        print_message("%s\n", f->log.warnings[i].text);
    print_message("no warning says: %s\n", text);
    fail();
}

static int64_t cell_s(const struct fixture *f, enum gsim_column column, uint32_t job) {
    int64_t ns = gsim_trace_get(&f->trace, column, job);
    return ns < 0 ? ns : ns / S;
}

#define HEADER "JobID|JobName|State|Submit|Start|End|ElapsedRaw|AllocTRES|NodeList\n"
#define JOB(id, name, state, submit, start, end, elapsed)                                          \
    id "|" name "|" state "|" submit "|" start "|" end "|" elapsed "|gres/gpu=1|gpu01\n"

static const char dirty[] = HEADER JOB("1", "a", "COMPLETED", "100", "110", "120", "10")
    JOB("2", "lr=1|x|y", "COMPLETED", "100", "120", "140", "20") /* names have separators */
    HEADER JOB("3", "c", "COMPLETED", "[N/A]", "120", "140", "20")
        JOB("4", "d", "COMPLETED", "soon", "120", "140",
            "20") "5|cut\n" JOB("6", "e", "COMPLETED", "130", "135", "141", "6");

static void test_bad_rows_are_counted(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_lenient(f, dirty, NULL), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 3);
    assert_int_equal(f->trace.n_dropped, 4);
    assert_string_equal(gsim_trace_id(&f->trace, 1), "2");
    assert_int_equal(gsim_trace_line(&f->trace, 2), 8);
    expect_warning(f, "left out 1 row (the first is line 4): they repeat the header");
    expect_warning(f,
                   "left out 2 rows (the first is line 5): the column 'Submit' has no time such");
    expect_warning(f, "(there stands '[N/A]')");
    expect_warning(f, "left out 1 row (the first is line 7): they have fewer fields than the 9");
    refuse(f, dirty, "4: column 'Submit': 'Submit' is not a time such as");
}

/* A line of which a disk left NUL bytes, in the middle of a log and at its end without a newline. */
static void test_lines_of_nul_bytes(void **state) {
    struct fixture *f = *state;
    static const char text[] =
        HEADER JOB("1", "a", "COMPLETED", "100", "110", "120", "10") "2|b\0\0\0\n" JOB(
            "3", "c", "COMPLETED", "100", "110", "120", "10") "\0\0\0\0";
    struct gsim_trace_options options = {.is_lenient = true};
    put(f, text, sizeof text - 1);
    assert_int_equal(gsim_trace_read(f->path, NULL, &options, f->arena, &f->trace, &f->log),
                     GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 2);
    expect_warning(f, "left out 2 rows (the first is line 3): they have NUL bytes");
    options.is_lenient = false;
    assert_int_equal(gsim_trace_read(f->path, NULL, &options, f->arena, &f->trace, &f->log),
                     GSIM_BAD_INPUT);
    assert_non_null(strstr(f->log.errors[0].text, "3: a NUL byte; a trace is text"));
}

/* Names, comments and command lines with separators in one log: the other columns say where each
 * ends. Names and comments adjoin, so what belongs to which of them stays open, and changes nothing
 * else. Row 4 is cut off, and no cell of row 5 is the time of a submission. */
static void test_several_free_texts(void **state) {
    struct fixture *f = *state;
    static const char text[] =
        "JobID|JobName|Comment|User|Submit|Eligible|State|ElapsedRaw|AllocTRES|Partition|"
        "SubmitLine\n"
        "1|a|b|c||amy|100|100|COMPLETED|10|gres/gpu=1|gpu|sbatch x.sh\n"
        "2|a||ben|100|100|COMPLETED|20|gres/gpu=2|gpu|/bin/sbatch -C a1|v1 --wrap a|b|c\n"
        "3|x|y||cem|100|100|COMPLETED|30|gres/gpu=4|gpu|srun python t.py|tee log\n"
        "4|x||9|100|100|COMPLETED|30|gres/gpu=4|gpu\n"
        "5|x|y||dan|soon|100|COMPLETED|40|gres/gpu=4|gpu|srun p\n"
        "6|x|y|dan|110|110|COMPLETED|40|gres/gpu=4|gpu|\n";
    static const int64_t seconds[] = {10, 20, 30, 40};
    static const char *const users[] = {"amy", "ben", "cem", "dan"};
    static const uint32_t gpus[] = {1, 2, 4, 4};
    assert_int_equal(read_lenient(f, text, NULL), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 4);
    for (uint32_t job = 0; job < 4; job++) {
        const char *const *names = f->trace.names[GSIM_COL_USER].name;
        assert_string_equal(names[f->trace.column[GSIM_COL_USER][job]], users[job]);
        assert_int_equal(f->trace.service_ns[job], seconds[job] * S);
        assert_int_equal(gsim_trace_gpus(&f->trace, job), gpus[job]);
    }
    assert_string_equal(
        f->trace.names[GSIM_COL_FEATURES].name[f->trace.column[GSIM_COL_FEATURES][1]], "a1|v1");
    assert_int_equal(f->trace.n_dropped, 2);
}

static void test_start_end_and_nodes_are_kept(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_lenient(f, dirty, NULL), GSIM_OK);
    assert_int_equal(cell_s(f, GSIM_COL_LOGGED_START_NS, 0), 10); /* since the first submission */
    assert_int_equal(cell_s(f, GSIM_COL_LOGGED_END_NS, 1), 40);
    assert_int_equal(cell_s(f, GSIM_COL_LOGGED_START_NS, 2), 35);
    assert_string_equal(
        f->trace.names[GSIM_COL_LOGGED_NODES].name[f->trace.column[GSIM_COL_LOGGED_NODES][2]],
        "gpu01");
    assert_int_equal(
        read_lenient(f, HEADER JOB("1", "a", "COMPLETED", "100", "90", "120", "30"), NULL),
        GSIM_OK);
    assert_int_equal(cell_s(f, GSIM_COL_LOGGED_START_NS, 0), -1);
    expect_warning(f, "1 row (the first is line 2): they began before they were submitted");
}

/* A node failed at 150 s, the job came back into the queue then, and ran again from 170 s; the last
 * row stands twice, since two exports overlap. */
static void test_runs_of_a_requeued_job(void **state) {
    struct fixture *f = *state;
    static const char text[] = HEADER JOB("7", "a", "NODE_FAIL", "100", "110", "150", "40")
        JOB("8", "b", "COMPLETED", "100", "110", "150", "40")
            JOB("7", "a", "REQUEUED", "100", "170", "180", "10")
                JOB("7", "a", "COMPLETED", "181", "190", "200", "10")
                    JOB("7", "a", "COMPLETED", "181", "190", "200", "10");
    assert_int_equal(read_lenient(f, text, NULL), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 4);
    assert_string_equal(gsim_trace_id(&f->trace, 2), "7#2");
    assert_string_equal(gsim_trace_id(&f->trace, 3), "7#3");
    assert_int_equal(f->trace.submit_ns[2], 50 * S); /* not 0: the job ran until then */
    assert_int_equal(f->trace.submit_ns[3], 81 * S);
    assert_int_equal(gsim_trace_line(&f->trace, 3), 5);
    expect_warning(f, "2 rows (the first is line 4): they are further runs of jobs before them");
    expect_warning(f, "left out 1 row (the first is line 6): they repeat a row before them");
}

/* A job of four GPUs with a task on each had 10 GiB on one of them; one with a task of two GPUs
 * 30 GiB on both together; of the last nobody knows how many tasks it had. */
static void test_memory_of_steps(void **state) {
    struct fixture *f = *state;
    static const char text[] =
        "JobID|State|Submit|ElapsedRaw|AllocTRES|NTasks|TRESUsageInMax\n"
        "1|COMPLETED|0|10|gres/gpu=4||\n"
        "1.batch|COMPLETED|0|10|gres/gpu=4|1|cpu=00:00:01,gres/gpumem=0,gres/gpuutil=0\n"
        "1.0|COMPLETED|0|10|gres/gpu=4|4|cpu=00:00:01,gres/gpumem=10737418240,gres/gpuutil=93\n"
        "1.1|COMPLETED|0|10|gres/gpu=4|4|cpu=00:00:01,gres/gpumem=2G\n"
        "2|COMPLETED|0|10|gres/gpu=2||\n"
        "2.0|COMPLETED|0|10|gres/gpu=2|1|gres/gpumem=30720M,mem=1G\n"
        "3|COMPLETED|0|10|gres/gpu=2||\n"
        "3.0|COMPLETED|0|10|gres/gpu=2||gres/gpumem=30G\n";
    assert_int_equal(read_lenient(f, text, NULL), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 3);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, 0), INT64_C(10) << 30);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, 1), INT64_C(15) << 30);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, 2), -1);
    expect_warning(f, "left out 3 rows (the first is line 4): they are steps, which gave");
    expect_warning(f, "left out 1 row (the first is line 9): they are steps with GPU memory");
}

/* The first job's largest sample is 93 %, the second's (a notebook) 0 %; the third's batch step had
 * no GPU memory, and a step without gpuutil says nothing. The second job alone was idle, whatever
 * the order of the two numbers; its memory is its own all the same. */
static void test_steps_without_work(void **state) {
    struct fixture *f = *state;
    static const char text[] = "JobID|State|Submit|ElapsedRaw|AllocTRES|NTasks|TRESUsageInMax\n"
                               "1|COMPLETED|0|10|gres/gpu=1||\n"
                               "1.0|COMPLETED|0|10|gres/gpu=1|1|gres/gpumem=2G,gres/gpuutil=93\n"
                               "2|COMPLETED|0|10|gres/gpu=1||\n"
                               "2.0|COMPLETED|0|10|gres/gpu=1|1|gres/gpuutil=0,gres/gpumem=3G\n"
                               "3|COMPLETED|0|10|gres/gpu=1||\n"
                               "3.batch|COMPLETED|0|10|gres/gpu=1|1|gres/gpumem=0,gres/gpuutil=0\n"
                               "3.0|COMPLETED|0|10|gres/gpu=1|1|gres/gpumem=4G\n";
    assert_int_equal(read_lenient(f, text, NULL), GSIM_OK);
    for (uint32_t job = 0; job < 3; job++)
        assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, job), (job + 2LL) << 30);
    expect_warning(f, "left out 1 row (the first is line 5): they are steps, which gave their job "
                      "its GPU memory (gres/gpumem), and no sample of them saw work on its GPUs");
    expect_warning(f, "left out 2 rows (the first is line 3): they are steps, which gave");
    refuse(f,
           "JobID|State|Submit|ElapsedRaw|AllocTRES|NTasks|TRESUsageInMax\n"
           "1|COMPLETED|0|10|gres/gpu=1|1|gres/gpumem=2G,gres/gpuutil=x\n",
           "2: column 'TRESUsageInMax': 'gres/gpumem=2G,gres/gpuutil=x' is not a list");
}

/* The type that a job asked for binds it, the type that it had does not. */
static void test_partitions_and_types(void **state) {
    struct fixture *f = *state;
    assert_int_equal(
        read_lenient(f,
                     "JobID|State|Submit|ElapsedRaw|ReqTRES|AllocTRES|Partition\n"
                     "1|COMPLETED|0|10|cpu=1,gres/gpu:a100=1|gres/gpu:a100=1,gres/gpu=1|gpu,long\n"
                     "2|COMPLETED|0|10|cpu=1,gres/gpu=1|gres/gpu:v100=1,gres/gpu=1|gpu\n"
                     "3|COMPLETED|0|10|gres/gpu:a100=1,gres/gpu:v100=1|gres/gpu=2|\n",
                     NULL),
        GSIM_OK);
    const int64_t *type = f->trace.column[GSIM_COL_GPU_TYPE];
    const int64_t *partition = f->trace.column[GSIM_COL_PARTITION];
    assert_string_equal(f->trace.names[GSIM_COL_GPU_TYPE].name[type[0]], "a100");
    assert_true(type[1] == -1 && type[2] == -1 && partition[2] == -1);
    assert_string_equal(f->trace.names[GSIM_COL_PARTITION].name[partition[0]], "gpu,long");
    expect_warning(f, "1 row (the first is line 4): they asked for GPUs of several types at once");
    assert_int_equal(f->log.n_warnings, 1);
}

/* The job waited for another until 40 s: no scheduler could have begun it before. */
static void test_eligible(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_lenient(f,
                                  "JobID|State|Submit|Eligible|Start|End|ElapsedRaw|AllocTRES\n"
                                  "1|COMPLETED|0|0|5|15|10|gres/gpu=1\n"
                                  "2|COMPLETED|10|40|45|55|10|gres/gpu=1\n"
                                  "3|COMPLETED|10|Unknown|45|55|10|gres/gpu=1\n",
                                  NULL),
                     GSIM_OK);
    assert_int_equal(f->trace.submit_ns[1], 40 * S);
    assert_int_equal(f->trace.submit_ns[2], 10 * S);
    expect_warning(f,
                   "1 row (the first is line 3): they became eligible after they were submitted");
}

/* Cells without a value, a header of the next node's file, and a row that was cut. */
static void test_measurements(void **state) {
    struct fixture *f = *state;
    char path[112];
    (void)snprintf(path, sizeof path, "%s.usage", f->path);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    (void)fputs("timestamp, hostname, memory.used [MiB]\n111, gpu01, [N/A]\n112, gpu01, 2048 MiB\n"
                "timestamp, hostname, memory.used [MiB]\n113, gpu01, 1024 MiB\n"
                "yesterday, gpu01, 9999 MiB\n114, gpu01\n",
                out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(read_lenient(f, dirty, path), GSIM_OK);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, 0), INT64_C(2) << 30);
    expect_warning(f, "left out 1 row (the first is line 2): they have no value");
    expect_warning(f, "left out 1 row (the first is line 4): they repeat the header");
    expect_warning(f, "line 6): the column 'timestamp' has no measurement (there stands 'yest");
    expect_warning(f, "line 7): they have fewer fields");
    (void)unlink(path);
}

/* The largest sample of the job counts; a series without a job is of an idle GPU, also before the first with a
 * job. */
static void test_answer_of_prometheus(void **state) {
    struct fixture *f = *state;
    char path[112];
    (void)snprintf(path, sizeof path, "%s.usage", f->path);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    (void)fputs("{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
                "{\"metric\":{\"__name__\":\"DCGM_FI_DEV_FB_USED\",\"gpu\":\"0\"},"
                "\"values\":[[120,\"8888\"],[130,\"8888\"]]},\n"
                "{\"metric\":{\"__name__\":\"DCGM_FI_DEV_FB_USED\",\"hpc_job\":\"2\"},"
                "\"values\":[[120,\"1024\"],[130,\"3072\"],[140,\"2048\"]]},\n"
                "{\"metric\":{\"__name__\":\"DCGM_FI_DEV_FB_USED\",\"gpu\":\"1\"},"
                "\"values\":[[120,\"9999\"]]}]}}\n",
                out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(read_lenient(f, dirty, path), GSIM_OK);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, 1), INT64_C(3) << 30);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, 0), -1);
    expect_warning(f, "left out 3 rows (the first is line 1): they have no value");
    expect_warning(f, "measured GPU memory of 1 job of 3");
    (void)unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_bad_rows_are_counted),
        TEST(test_lines_of_nul_bytes),
        TEST(test_several_free_texts),
        TEST(test_start_end_and_nodes_are_kept),
        TEST(test_runs_of_a_requeued_job),
        TEST(test_memory_of_steps),
        TEST(test_steps_without_work),
        TEST(test_partitions_and_types),
        TEST(test_eligible),
        TEST(test_measurements),
        TEST(test_answer_of_prometheus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
