/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importers: public traces are read as their own columns say, what is left out is counted with its
 * reason, and what cannot be read is refused with line and column. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/trace_file.h"

static enum gsim_status read_with(struct fixture *f, const char *path, const char *assume) {
    const char *const list[] = {assume, NULL};
    struct gsim_trace_options options = {.assume = list};
    f->log = (struct gsim_log){0};
    f->trace = (struct gsim_trace){0};
    return gsim_trace_read(path, NULL, &options, f->arena, &f->trace, &f->log);
}

static enum gsim_status read_text_with(struct fixture *f, const char *text, const char *assume) {
    put(f, text, strlen(text));
    return read_with(f, f->path, assume);
}

/* As the program reads a log: rows that cannot be read are left out. */
static enum gsim_status read_leniently(struct fixture *f, const char *text) {
    const struct gsim_trace_options options = {.is_lenient = true};
    put(f, text, strlen(text));
    f->log = (struct gsim_log){0};
    f->trace = (struct gsim_trace){0};
    return gsim_trace_read(f->path, NULL, &options, f->arena, &f->trace, &f->log);
}

static void expect_job(const struct fixture *f, uint32_t job, const char *id, int64_t submit_s,
                       int64_t service_s, uint32_t gpus) {
    assert_true(job < f->trace.n_jobs);
    assert_string_equal(gsim_trace_id(&f->trace, job), id);
    assert_int_equal(f->trace.submit_ns[job], submit_s * S);
    assert_int_equal(f->trace.service_ns[job], service_s * S);
    assert_int_equal(gsim_trace_gpus(&f->trace, job), gpus);
}

static void expect_name(const struct fixture *f, enum gsim_column column, uint32_t job,
                        const char *name) {
    int64_t at = gsim_trace_get(&f->trace, column, job);
    assert_true(at >= 0);
    assert_string_equal(f->trace.names[column].name[at], name);
}

static void expect_warning(const struct fixture *f, const char *text) {
    for (int64_t i = 0; i < f->log.n_warnings; i++)
        if (strstr(f->log.warnings[i].text, text))
            return;
    print_message("no warning says: %s\n", text);
    fail();
}

static void refuse_row(struct fixture *f, const char *header, const char *row,
                       const char *expected) {
    char text[2048];
    (void)snprintf(text, sizeof text, "%s%s\n", header, row);
    refuse(f, text, expected);
}

/* --- clusters' logs --------------------------------------------------------------------------- */

static const char helios_header[] = "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,"
                                    "start_time,end_time,duration,queue\n";

static void test_helios(void **state) {
    struct fixture *f = *state;
    char text[1024];
    (void)snprintf(text, sizeof text, "%s%s", helios_header,
                   "7,ua,vcx,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:28,"
                   "2020-06-09 18:45:37,249,1\n"
                   "8,ub,vcy,0,16,1,COMPLETED,2020-06-09 18:41:00,2020-06-09 18:41:28,"
                   "2020-06-09 18:45:37,249,28\n"
                   "9,ub,vcy,1,1,1,CANCELLED,2020-06-10 18:41:27,,,0,0\n");
    assert_int_equal(read_text(f, text), GSIM_OK);
    assert_string_equal(f->trace.format, "helios");
    assert_int_equal(f->trace.n_jobs, 2);
    assert_int_equal(f->trace.n_dropped, 1);
    expect_job(f, 0, "7", 0, 249, 4); /* the trace begins with the first that is kept */
    expect_job(f, 1, "9", 86400, 0, 1);
    expect_name(f, GSIM_COL_USER, 0, "ua");
    expect_name(f, GSIM_COL_VC, 1, "vcy");
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_CPUS_MILLI, 0), 16000);
    expect_warning(f, "left out 1 row (the first is line 3): they ask for no GPU");
    refuse_row(f, helios_header, "7,u,v,4,16,1,FAILED,yesterday,,,249,1",
               "2: column 'submit_time': 'yesterday' is not a timestamp");
    refuse_row(f, helios_header, "7,u,v,-4,16,1,FAILED,2020-06-09 18:41:27,,,249,1",
               "2: column 'gpu_num': '-4' is not a number of GPUs");
    refuse_row(f, helios_header, "7,u,v,1.5,16,1,FAILED,2020-06-09 18:41:27,,,249,1",
               "2: column 'gpu_num': '1.5' is not a number of GPUs");
    refuse_row(f, helios_header, "7,u,v,4,16,1,FAILED,2020-06-09 18:41:27,,,1e300,1",
               "2: column 'duration': '1e300' is not a time in seconds");
    refuse_row(f, helios_header, "7,u,v,0,16,1,FAILED,2020-06-09 18:41:27,,,1,1",
               " no job is left");
}

/* Files of days, joined by cat with the later one in front: times count from the first job of all,
 * 00:10 of 1 April, so that 00:30 of 2 April is 86400 + 1200 s. */
static void test_helios_days(void **state) {
    struct fixture *f = *state;
    static const char first[] = "1,ua,vcx,4,16,1,FAILED,2020-04-01 00:10:00,2020-04-01 00:11:00,"
                                "2020-04-01 00:12:00,60,60\n";
    static const char second[] = "2,ua,vcx,2,8,1,COMPLETED,2020-04-02 00:30:00,"
                                 "2020-04-02 00:30:00,2020-04-02 00:31:00,60,0\n";
    char text[1024];
    (void)snprintf(text, sizeof text, "%s%s%s%s", helios_header, second, helios_header, first);
    assert_int_equal(read_leniently(f, text), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 2);
    expect_job(f, 0, "2", 86400 + 1200, 60, 2);
    expect_job(f, 1, "1", 0, 60, 4);
    expect_warning(f, "left out 1 row (the first is line 3): they repeat the header");
    (void)snprintf(text, sizeof text, "%s%s%s%s", helios_header, first, helios_header, first);
    assert_int_equal(read_leniently(f, text), GSIM_BAD_INPUT);
    expect_error(f, "4: column 'job_id': '1' stands on line 2 already");
}

static const char openb_header[] =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";

static void test_openb(void **state) {
    struct fixture *f = *state;
    char text[1024];
    (void)snprintf(text, sizeof text, "%s%s", openb_header,
                   "a,12000,16384,1,460,,LS,Running,100,300,150\n"
                   "b,6500,16384,8,1000,G1|G2,BE,Failed,90,300,299\n"
                   "c,6500,16384,0,0,,BE,Failed,10,300,299\n"
                   "d,6500,16384,1,1000,,BE,Pending,10,300,\n"
                   "e,6500,16384,1,1000,,BE,Running,10,,20\n");
    assert_int_equal(read_text(f, text), GSIM_OK);
    assert_string_equal(f->trace.format, "openb");
    assert_int_equal(f->trace.n_jobs, 2);
    assert_int_equal(f->trace.n_dropped, 3);
    expect_job(f, 0, "a", 10, 150, 1);
    expect_job(f, 1, "b", 0, 1, 8);
    assert_int_equal(gsim_trace_share(&f->trace, 0), 460000);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_CLASS, 0), GSIM_CLASS_PRODUCTION);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_CLASS, 1), GSIM_CLASS_OPPORTUNISTIC);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_CPUS_MILLI, 1), 6500);
    expect_name(f, GSIM_COL_GPU_TYPE, 1, "G1|G2");
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_GPU_TYPE, 0), -1);
    assert_null(f->trace.column[GSIM_COL_MEM_BYTES]); /* memory_mib is the host's */
    expect_warning(f, "they ask for no GPU");
    expect_warning(f, "line 5): they were never scheduled");
    expect_warning(f, "they were not deleted");
    refuse_row(f, openb_header, "a,1,1,2,500,,LS,Running,1,3,2", "2: gpu_milli: several GPUs");
    refuse_row(f, openb_header, "a,1,1,1,1500,,LS,Running,1,3,2",
               "2: column 'gpu_milli': '1500' is not a share of a GPU");
    refuse_row(f, openb_header, "a,1,1,1,1000,,LS,Running,1,2,3",
               "2: deletion_time is before scheduled_time");
    refuse_row(f, openb_header, "a,1,1,1,1000,,best,Running,1,2,3",
               "2: column 'qos': 'best' is not one of LS");
    refuse(f, "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1000\n",
           "1: no column 'creation_time', which the format 'openb' has");
}

static const char sacct_header[] = "JobIDRaw|User|Account|State|Submit|ElapsedRaw|TimelimitRaw|"
                                   "AllocTRES|AllocCPUS\n";

static void test_sacct(void **state) {
    struct fixture *f = *state;
    char text[2048];
    (void)snprintf(text, sizeof text, "%s%s", sacct_header,
                   "1|ann|lab|COMPLETED|2024-02-29T23:59:00|100|60|cpu=8,gres/gpu:a100=2,gres/gpu=2"
                   ",mem=64G|8\n"
                   "1.batch||lab|COMPLETED|2024-02-29T23:59:00|100||cpu=8,gres/gpu=2|8\n"
                   "2|ann|lab|CANCELLED by 0|2024-03-01T00:00:00|0|60||0\n"
                   "3|ann|lab|RUNNING|2024-03-01T00:00:00|10|UNLIMITED|cpu=1,gres/gpu=1|1\n"
                   "4|bob|lab|TIMEOUT|2024-03-01T00:00:00|10|UNLIMITED|gres/gpu:v100=1,"
                   "gres/gpu:a100=2|\n"
                   "5|bob|lab|FAILED|2024-03-01T00:00:00|10|1|cpu=1|1\n"
                   "6|bob|lab|PENDING|2024-03-01T00:00:00|0|1||1\n"
                   "7|bob|lab|COMPLETED|2024-03-01T00:00:00|9|1|gres/gpu:1g.10gb=2,gres/gpu=2|1\n");
    assert_int_equal(read_text(f, text), GSIM_OK);
    assert_string_equal(f->trace.format, "sacct");
    assert_int_equal(f->trace.n_jobs, 2);
    assert_int_equal(f->trace.n_dropped, 6);
    expect_job(f, 0, "1", 0, 100, 2);
    expect_job(f, 1, "4", 60, 10, 3); /* over a leap day */
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LIMIT_NS, 0), 3600 * S);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LIMIT_NS, 1), -1);
    expect_name(f, GSIM_COL_VC, 1, "lab");
    expect_warning(f, "line 3): they are steps");
    expect_warning(f, "line 4): they ended before they ran");
    expect_warning(f, "line 5): they had not ended yet");
    expect_warning(f, "line 7): they had no GPU");
    expect_warning(f, "line 8): they had not started");
    expect_warning(f, "line 9): they had MIG instances");
    expect_warning(f, "1 row (the first is line 6): they had GPUs of another type");
}

/* What a trace has no column for is counted: parts that wait for each other, and types of GPUs where there
 * are several. */
static void test_sacct_says_what_a_trace_cannot(void **state) {
    struct fixture *f = *state;
    static const char text[] = "JobIDRaw|JobID|Submit|State|ElapsedRaw|AllocTRES\n"
                               "1|1|2024-03-01T00:00:00|COMPLETED|10|gres/gpu:a100=1,gres/gpu=1\n"
                               "2|2+0|2024-03-01T00:00:00|COMPLETED|10|gres/gpu:a100=1,gres/gpu=1\n"
                               "3|2+1|2024-03-01T00:00:00|COMPLETED|10|gres/gpu:a100=1,gres/gpu=1\n"
                               "4|4|2024-03-01T00:00:00|COMPLETED|10|gres/gpu:v100=1,gres/gpu=1\n";
    assert_int_equal(read_text(f, text), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 3); /* 2+0 and 2+1 are one of two GPUs */
    assert_int_equal(f->trace.gpus[1], 2);
    assert_int_equal(f->trace.n_dropped, 1);
    expect_warning(f, "left out 1 row (the first is line 4): they are parts of heterogeneous jobs");
    expect_warning(f, "1 row (the first is line 5): they had GPUs of another type");
    const char *end = strstr(text, "2|2+0");
    put(f, text, (size_t)(end - text));
    assert_int_equal(read_put(f), GSIM_OK);
    assert_int_equal(f->log.n_warnings, 0);
}

/* Job 1 ran from 01:00 to 04:00 of the night in which 02:00 became 03:00: two hours. Job 2 began at 02:50 of the
 * night in which 03:00 became 02:00, and ended 20 minutes later at 02:10. Job 3 was suspended for three of four
 * hours. Job 4 has no AllocTRES though it ran. */
static void test_sacct_clocks(void **state) {
    struct fixture *f = *state;
    assert_int_equal(
        read_text(
            f, "JobIDRaw|Submit|Start|End|State|ElapsedRaw|ReqTRES|AllocTRES\n"
               "1|2026-03-29T00:30:00|2026-03-29T01:00:00|2026-03-29T04:00:00|COMPLETED|7200|gres/"
               "gpu=1|gres/gpu=1\n"
               "2|2026-10-25T01:30:00|2026-10-25T02:50:00|2026-10-25T02:10:00|COMPLETED|1200|gres/"
               "gpu=1|gres/gpu=1\n"
               "3|2026-10-26T00:00:00|2026-10-26T01:00:00|2026-10-26T05:00:00|COMPLETED|3600|gres/"
               "gpu=1|gres/gpu=1\n"
               "4|2026-10-26T00:00:00|2026-10-26T01:00:00|2026-10-26T02:00:00|COMPLETED|3600|gres/"
               "gpu=1|\n"),
        GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 3);
    expect_job(f, 0, "1", 0, 7200, 1);
    assert_int_equal(f->trace.service_ns[1], 1200 * S);
    assert_int_equal(f->trace.service_ns[2], 3600 * S);
    /* 00:30 is time 0 */
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_START_NS, 0), 1800 * S);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_END_NS, 0), (1800 + 7200) * S);
    int64_t start_ns = gsim_trace_get(&f->trace, GSIM_COL_LOGGED_START_NS, 1);
    assert_int_equal(start_ns - f->trace.submit_ns[1], 80 * 60 * S);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_END_NS, 1) - start_ns, 1200 * S);
    expect_warning(f, "2 rows (the first is line 2): their End is an hour off");
    expect_warning(f, "1 row (the first is line 4): they were suspended");
    expect_warning(f, "line 5): they ran and asked for GPUs (gres/gpu in ReqTRES)");
}

/* How a log that sacct wrote otherwise is to be written. */
static void test_sacct_written_otherwise(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *text, *error;
    } logs[] = {
        {"       JobID     Submit      State \n------------ ---------- ---------- \n           1 "
         "2026-03-30 COMPLETED\n",
         "1: no column 'Submit', which the format 'sacct' has: nothing in its first line is parted "
         "by '|'"},
        {"1|2026-03-30T00:00:00|COMPLETED|10|gres/gpu=1\n",
         "its first line is no header, which sacct leaves out with --noheader (-n)"},
        {"JobID|Submit|State|Elapsed|ReqTRES\n1|2026-03-30T00:00:00|COMPLETED|00:10:00|gres/"
         "gpu=1\n",
         "1: no column 'AllocTRES', which the format 'sacct' has; sacct --format=... takes it in"}};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        put(f, logs[i].text, strlen(logs[i].text));
        assert_int_equal(gsim_trace_read(f->path, "sacct", NULL, f->arena, &f->trace, &f->log),
                         GSIM_BAD_INPUT);
        assert_non_null(strstr(f->log.errors[0].text, logs[i].error));
        f->log = (struct gsim_log){0};
    }
}

/* 1-02:03:04 is 93784 s; 59:59 of a limit is 3599 s. Epoch seconds are as good as dates. */
static void test_sacct_in_words(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "JobID|Submit|State|Elapsed|Timelimit|AllocTRES|Name\n"
                                  "9_1|1700000000|COMPLETED|1-02:03:04|59:59|gres/gpu=1|a \"b\n"
                                  "9_2|1700000060|COMPLETED|00:00:01|UNLIMITED|gres/gpu=8|\n"),
                     GSIM_OK);
    expect_job(f, 0, "9_1", 0, 93784, 1);
    expect_job(f, 1, "9_2", 60, 1, 8);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LIMIT_NS, 0), 3599 * S);
    static const struct {
        const char *row, *expected;
    } cases[] = {
        {"1|x|COMPLETED|1:00|1:00|gres/gpu=1|", "2: column 'Submit': 'x' is not a time such as"},
        {"1|0|COMPLETED|1:60|1:00|gres/gpu=1|", "2: column 'Elapsed': '1:60' is not a time"},
        {"1|0|COMPLETED|99999999999999999999-00:00:00|1:00|gres/gpu=1|", "2: column 'Elapsed'"},
        {"1|0|COMPLETED|1:00|-5|gres/gpu=1|", "2: column 'Timelimit': '-5' is not a time"},
        {"1|0|COMPLETED|1:00|1:00|gres/gpu=two|", "2: column 'AllocTRES': 'gres/gpu=two' is not"},
        {"1|0|COMPLETED|1:00|1:00|gres/gpu|", NULL},
        {"1|0|COMPLETED|1:00|1:00|gres/gpu=99999999999|", "2: column 'AllocTRES'"},
        {"1|0|COMPLETED|1:00|1:00|gres/gpu=1|a|b", "2: 8 fields; the header has 7"},
        {"|0|COMPLETED|1:00|1:00|gres/gpu=1|", "2: column 'JobID': '' is not an id"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse_row(f, "JobID|Submit|State|Elapsed|Timelimit|AllocTRES|Name\n", cases[i].row,
                   cases[i].expected ? cases[i].expected : " no job is left");
}

static void test_swf(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "; Version: 2.2\n"
                                  "    1   3  10   100   4 -1 -1  4 3600 -1 1 3 1 -1 2 1 -1 -1\n"
                                  "2 5 10 -1 4 -1 -1 4 3600 -1 0 3 1 -1 2 1 -1 -1\n"
                                  "3\t5 10 50 -1 -1 -1 6 -1 -1 0 -1 1 -1 -1 1 -1 -1\n"
                                  ";\n"
                                  "4 5 10 50 -1 -1 -1 -1 -1 -1 0 3 1 -1 2 1 -1 -1\n"
                                  "5 5 10 50 4 -1 -1 4 -1 -1 2 3 1 -1 2 1 -1 -1\n"
                                  "6 5 10 0 4 -1 -1 4 -1 -1 5 3 1 -1 2 1 -1 -1\n"),
                     GSIM_OK);
    assert_string_equal(f->trace.format, "swf");
    assert_int_equal(f->trace.n_jobs, 2);
    assert_int_equal(f->trace.n_dropped, 4);
    expect_job(f, 0, "1", 0, 100, 4);
    expect_job(f, 1, "3", 2, 50, 6); /* what was requested, where nobody says what was given */
    assert_int_equal(gsim_trace_line(&f->trace, 1), 4);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LIMIT_NS, 0), 3600 * S);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_USER, 1), -1);
    expect_name(f, GSIM_COL_VC, 0, "2");
    expect_warning(f, "each is taken for one GPU");
    expect_warning(f, "line 3): their run time is not known");
    expect_warning(f, "line 6): their number of processors is not known");
    expect_warning(f, "line 7): they are parts of a job");
    expect_warning(f, "line 8): they were cancelled before they ran");
    refuse(f, ";\n1 3 10 x 4 -1 -1 4 3600 -1 1 3 1 -1 2 1 -1 -1\n",
           "2: column 'run_time': 'x' is not a time in seconds, or -1");
    refuse(f, ";\n1 3 10 5 4 -1 -1 4 3600 -1 1 3 1 -1 2 1 -1\n",
           "2: 17 fields; a line of this format has 18");
    refuse(f, ";\n1 3 10 5 4 -1 -1 4 3600 -1 9 3 1 -1 2 1 -1 -1\n",
           "2: column 'status': '9' is not a status");
}

/* Two attempts of 74 s and 10 s; the gang is the last one's. */
#define PHILLY_JOB(id, rest) "{\"jobid\": \"" id "\", \"status\": \"Pass\"" rest "}"
#define PHILLY_ATTEMPT(from, to)                                                                   \
    "{\"start_time\": " from ", \"end_time\": " to                                                 \
    ", \"detail\": [{\"ip\": \"m\", \"gpus\": [\"gpu0\", \"gpu1\"]}]}"
#define PHILLY_SUBMIT ", \"submitted_time\": \"2017-10-07 01:11:39\""

static void test_philly_log(void **state) {
    struct fixture *f = *state;
    assert_int_equal(
        read_text(
            f,
            "[\n" PHILLY_JOB(
                "a",
                ", \"attempts\": [" PHILLY_ATTEMPT(
                    "\"2017-10-07 01:12:09\"",
                    "\"2017-10-07 01:13:23\"") ",\n"
                                               "{\"start_time\": \"2017-10-07 01:14:00\","
                                               " \"end_time\": \"2017-10-07 01:14:10\", "
                                               "\"detail\": ["
                                               "{\"gpus\": [\"gpu0\"], \"new\": {\"x\": [1, "
                                               "{}]}},"
                                               " {\"gpus\": [\"gpu0\", \"gpu1\"]}]}]"
                                               ", \"vc\": \"v\", \"user\": "
                                               "\"u\"" PHILLY_SUBMIT) ",\n" PHILLY_JOB("b",
                                                                                       ", "
                                                                                       "\"atte"
                                                                                       "mpts\""
                                                                                       ": "
                                                                                       "["
                                                                                       "]" PHILLY_SUBMIT) ",\n" PHILLY_JOB("c",
                                                                                                                           ", \"attempts\": [" PHILLY_ATTEMPT(
                                                                                                                               "\"2017-10-07 01:12:09\"",
                                                                                                                               "null") "]" PHILLY_SUBMIT) ",\n" PHILLY_JOB("d",
                                                                                                                                                                           ", \"attempts\": [" PHILLY_ATTEMPT(
                                                                                                                                                                               "\"2017-10-07 01:12:09\"",
                                                                                                                                                                               "\"2017-10-07 01:12:08\"") "]" PHILLY_SUBMIT) ",\n" PHILLY_JOB("e",
                                                                                                                                                                                                                                              ", \"submitted_time\": \"None\"") "\n]\n"),
        GSIM_OK);
    assert_string_equal(f->trace.format, "philly");
    assert_int_equal(f->trace.n_jobs, 1);
    assert_int_equal(f->trace.n_dropped, 4);
    expect_job(f, 0, "a", 0, 84, 3);
    assert_int_equal(gsim_trace_line(&f->trace, 0), 2);
    expect_name(f, GSIM_COL_VC, 0, "v");
    expect_name(f, GSIM_COL_USER, 0, "u");
    expect_warning(f, "line 4): they were never started");
    expect_warning(f, "line 5): an attempt of theirs has no start or no end");
    expect_warning(f, "line 6): an attempt of theirs ends before it starts");
    expect_warning(f, "line 7): they have no submitted_time");
}

static void test_philly_logs_that_do_not_do(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"[\n{\"jobid\": \"a\",", "2: parse error: premature EOF"},
        {"[\n{\"jobid\": \"a\"}\n", "3: parse error: premature EOF"},
        {"[\n{\"jobid\": tru}]", "2: lexical error"},
        {"[]]", "1: parse error: trailing garbage"},
        {"[]", " the trace has a header but no jobs"},
        {"[\n\n7]", "3: in the list of jobs stands a number"},
        {"[[", "1: in the list of jobs stands a list"},
        {"[{\"jobid\": 12345678901234567890123}]", "1: key 'jobid': it is a number"},
        {"[{\"jobid\": {\"x\": 1}}]", "1: key 'jobid': it is an object"},
        {"[{\"attempts\": \"two\"}]", "1: key 'attempts': it is a text"},
        {"[{\"attempts\": {}}]", "1: key 'attempts': it is an object"},
        {"[{\"attempts\": [null]}]", "1: in 'attempts' stands nothing (null)"},
        {"[{\"attempts\": [{\"detail\": [{\"gpus\": [3]}]}]}]", "1: in 'gpus' stands a number"},
        {"[{\"attempts\": [{\"start_time\": \"today\"}]}]",
         "1: column 'start_time': 'today' is not a timestamp"},
        {"[{" PHILLY_SUBMIT "}]", "1: parse error"},
        {"[{\"submitted_time\": \"2017-10-07 01:11:39\"}]", "1: a job without 'jobid'"},
        {"[{\"jobid\": \"\\u0000\"}]", "1: a NUL character in a text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(f, cases[i].text, cases[i].expected);
    size_t n = 1000000;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, '[', n);
    memcpy(text, "[{\"x\":", 6);
    put(f, text, n);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, "1: lists and objects nested more than 64 deep");
    memset(text + 6, 'x', n - 6);
    text[6] = '"';
    put(f, text, n);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, "1: ");
    text[n - 1] = '"';
    put(f, text, n);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, "1: a text of 999992 bytes");
    free(text);
}

/* A log of several chunks: each job on a line of its own, wherever a chunk ends. */
static void test_a_long_philly_log(void **state) {
    struct fixture *f = *state;
    enum { JOBS = 4000 };
    size_t room = JOBS * 320, at = 2;
    char *text = malloc(room);
    assert_non_null(text);
    memcpy(text, "[\n", 2);
    for (int i = 0; i < JOBS; i++)
        at +=
            (size_t)snprintf(text + at, room - at,
                             "{\"jobid\": \"j%d\"" PHILLY_SUBMIT ", \"attempts\": [" PHILLY_ATTEMPT(
                                 "\"2017-10-07 01:12:00\"", "\"2017-10-07 01:13:%02d\"") "]}%s\n",
                             i, i % 60, i + 1 < JOBS ? "," : "]");
    put(f, text, at);
    free(text);
    assert_int_equal(read_put(f), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, JOBS);
    for (uint32_t i = 0; i < JOBS; i++) {
        assert_int_equal(gsim_trace_line(&f->trace, i), 2 + i);
        assert_int_equal(f->trace.service_ns[i], (60 + i % 60) * S);
        assert_int_equal(gsim_trace_gpus(&f->trace, i), 2);
    }
}

/* --- simulators' traces ----------------------------------------------------------------------- */

static void test_muri(void **state) {
    struct fixture *f = *state;
    static const char header[] =
        "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,"
        "iteration_time,resource_time_0,resource_time_1,resource_time_2,priority\n";
    char text[1024];
    (void)snprintf(text, sizeof text, "%s%s", header,
                   "0,8,201694000,20,dqn,128,9800,0,490,446,8,0.5,1\n");
    assert_int_equal(read_text(f, text), GSIM_OK);
    assert_string_equal(f->trace.format, "muri");
    assert_int_equal(f->trace.submit_ns[0], 201694 * S);
    assert_int_equal(f->trace.service_ns[0], 9800 * (S / 1000)); /* 20 iterations of 490 ms */
    expect_name(f, GSIM_COL_MODEL, 0, "dqn");
    const struct {
        enum gsim_column column;
        int64_t value;
    } kept[] = {{GSIM_COL_ITERATIONS, 20},
                {GSIM_COL_BATCH, 128},
                {GSIM_COL_ITERATION_NS, 490 * (S / 1000)},
                {GSIM_COL_STAGE_HOST_NS, 446 * (S / 1000)},
                {GSIM_COL_STAGE_GPU_NS, 8 * (S / 1000)},
                {GSIM_COL_STAGE_NET_NS, S / 2000},
                {GSIM_COL_CLASS, GSIM_CLASS_OPPORTUNISTIC}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_int_equal(gsim_trace_get(&f->trace, kept[i].column, 0), kept[i].value);
    refuse_row(f, header, "0,8,1,20,dqn,128,9800,0,490,446,8,0,2",
               "2: column 'priority': '2' is not 0 or 1");
    refuse_row(f, header, "0,8,1,20,dqn,128,9800,0,490,-446,8,0,1",
               "2: column 'resource_time_0': '-446' is not a time in milliseconds");
    refuse_row(f, header, "0,8,-1,20,dqn,128,9800,0,490,446,8,0,1",
               "2: column 'submit_time': '-1' is not a time in milliseconds");
    refuse_row(f, header, "0,8,1,20,dqn,128,9e40,0,490,446,8,0,1",
               "2: column 'duration': '9e40' is not a time in milliseconds");
}

/* 20 steps of 100 ms are 2 s. */
static void test_gavel(void **state) {
    struct fixture *f = *state;
    static const char old[] = "LM (batch size 5)\tcd %s && \"x\t-n\t1\t20\t6.5\t4\n";
    static const char new[] =
        "LM (batch size 5)\tpython3\tlm\t--steps\t1\t20\t4\t2\t-1.000000\t6.5\n";
    assert_int_equal(read_text_with(f, old, "gpu_ms=100"), GSIM_OK);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(f->trace.format, "gavel");
        assert_int_equal(f->trace.submit_ns[0], 6 * S + S / 2);
        assert_int_equal(f->trace.service_ns[0], 2 * S);
        assert_int_equal(gsim_trace_gpus(&f->trace, 0), 4);
        expect_name(f, GSIM_COL_MODEL, 0, "LM (batch size 5)");
        assert_string_equal(f->trace.assumed[0], "gpu_ms=100");
        assert_int_equal(read_text_with(f, new, "gpu_ms=100"), GSIM_OK);
    }
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_WEIGHT_MILLI, 0), 2000);
    assert_null(f->trace.column[GSIM_COL_SLO_MILLI]); /* -1: no job has one */
    assert_int_equal(read_text_with(f, "a\tb\tc\t-n\t1\t20\t1\t1\t1.2\t0\n", "gpu_ms=100"),
                     GSIM_OK);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_SLO_MILLI, 0), 1200);
    assert_int_equal(read_text_with(f, "a\tb\tc\t-n\t1\t20\t1\t1\tsoon\t0\n", "gpu_ms=1"),
                     GSIM_BAD_INPUT);
    expect_error(f, "1: column 'slo': 'soon' is not a factor, or -1");
    refuse(f, new, " no column 'duration_s' or 'gpu_ms': the format 'gavel' has steps");
    assert_int_equal(read_text_with(f, "a\tb\tc\t-n\t1\tmany\t1\t1\t-1\t0\n", "gpu_ms=1"),
                     GSIM_BAD_INPUT);
    expect_error(f, "1: column 'total_steps': 'many' is not a number of steps");
    assert_int_equal(
        read_text_with(f, "a\tb\tc\t-n\t1\t9000000000000000000\t1\t1\t-1\t0\n", "gpu_ms=1000"),
        GSIM_BAD_INPUT);
    expect_error(f, "1: iterations * gpu_ms is past the end of the clock");
}

/* Shockwave's traces have the form of Gavel's, and say how long a job takes alone. */
static void test_shockwave(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f,
                               "LM (batch size 10)\tpython3\tlm\t--steps\t1\t20\t2\tgns\t3\t-1.0\t"
                               "1418\t55\n"),
                     GSIM_OK);
    assert_string_equal(f->trace.format, "gavel");
    expect_job(f, 0, gsim_trace_id(&f->trace, 0), 55, 1418, 2);
    expect_name(f, GSIM_COL_BATCH_MODE, 0, "gns");
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_ITERATIONS, 0), 20);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_WEIGHT_MILLI, 0), 3000);
    expect_name(f, GSIM_COL_PHASES, 0, "20/5968 LM (batch size 10)");
}

static void expect_phases(struct fixture *f, const char *job, const char *mode, int gpus, int steps,
                          const char *wanted) {
    char text[256];
    (void)snprintf(text, sizeof text, "%s\tpython3\tlm\t--steps\t1\t%d\t%d\t%s\t1\t-1.0\t9\t0\n",
                   job, steps, gpus, mode);
    assert_int_equal(read_text(f, text), GSIM_OK);
    expect_name(f, GSIM_COL_PHASES, 0, wanted);
}

/* An epoch of LM has 59675 samples: 5968 steps of 10, 2984 of 20, 1492 of 40, 746 of 80. An epoch
 * of ResNet-18 has 50000: 1563 steps of 32, 196 of 256. */
static void test_phases_of_batch_modes(void **state) {
    struct fixture *f = *state;
    const char *lm = "LM (batch size 10)", *resnet = "ResNet-18 (batch size 32)";
    expect_phases(f, lm, "static", 1, 134583, "134583/5968 LM (batch size 10)");
    /* 22.55 epochs: 11 of 10, 10 of 20, and 1.55 of 40: 1492 + 3287 / 4 rounded up */
    expect_phases(f, lm, "gns", 1, 134583,
                  "65648/5968 LM (batch size 10); 29840/2984 LM (batch size 20); "
                  "2314/1492 LM (batch size 40)");
    expect_phases(f, lm, "gns", 2, 134583, /* on two GPUs it doubles at 11 and 31: 11.55 of 20 */
                  "65648/5968 LM (batch size 10); 34468/2984 LM (batch size 20)");
    expect_phases(f, lm, "accordion", 1, 11 * 5968,
                  "59680/5968 LM (batch size 10); 746/746 LM (batch size 80)");
    expect_phases(f, resnet, "accordion", 1, 151 * 1563, /* critical: 0 to 9, and from 150 */
                  "15630/1563 ResNet-18 (batch size 32); 27440/196 ResNet-18 (batch size 256); "
                  "1563/1563 ResNet-18 (batch size 32)");
    expect_phases(f, "LM (batch size 80)", "accordion", 1, 20 * 746,
                  "14920/746 LM (batch size 80)");
    expect_phases(f, "Transformer (batch size 16)", "gns", 1, 62500,
                  "62500/625 Transformer (batch size 16)");
}

static void test_elasticflow(void **state) {
    struct fixture *f = *state;
    static const char header[] =
        "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration,best_effort\n";
    char text[1024];
    (void)snprintf(text, sizeof text, "%s%s", header,
                   "0,10,7246,resnet50,5896,256,4,3930,0\n1,20,100,gpt2,90,64,1,50,1\n");
    assert_int_equal(read_text(f, text), GSIM_OK);
    assert_string_equal(f->trace.format, "elasticflow");
    expect_job(f, 0, "0", 10, 3930, 4);
    expect_name(f, GSIM_COL_MODEL, 0, "resnet50");
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_ITERATIONS, 0), 7246);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_DEADLINE_NS, 0), 5896 * S);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_BATCH, 1), 64);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_CLASS, 0), -1);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_CLASS, 1), GSIM_CLASS_OPPORTUNISTIC);
    refuse_row(f, header, "0,10,7246,resnet50,soon,256,4,3930,0",
               "2: column 'ddl': 'soon' is not a time in seconds");
    refuse_row(f, header, "0,10,7246,resnet50,5896,256,4,3930,maybe",
               "2: column 'best_effort': 'maybe' is not 0 or 1");
}

static void test_synergy_and_pollux(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text_with(f, "0,res18,0.5,30,2\n1,m5,1,40,1\n", "gpu_ms=100"), GSIM_OK);
    assert_string_equal(f->trace.format, "synergy");
    assert_int_equal(f->trace.submit_ns[0], S / 2);
    expect_job(f, 1, "1", 1, 4, 1);
    expect_name(f, GSIM_COL_MODEL, 0, "res18");
    static const char pollux[] = "name,time,application,num_replicas,batch_size\n"
                                 "ncf-0,35,ncf,4,32768\n";
    refuse(f, pollux, " no column 'duration_s' or 'gpu_ms': the format 'pollux' has no times");
    static const char models[] = "model,duration_s\nncf,9\n";
    char table[128];
    (void)snprintf(table, sizeof table, "%s.models", f->path);
    FILE *file = fopen(table, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(models, 1, sizeof models - 1, file), sizeof models - 1);
    assert_int_equal(fclose(file), 0);
    put(f, pollux, sizeof pollux - 1);
    struct gsim_trace_options options = {.by_model = table};
    f->log = (struct gsim_log){0};
    assert_int_equal(gsim_trace_read(f->path, NULL, &options, f->arena, &f->trace, &f->log),
                     GSIM_OK);
    expect_job(f, 0, "ncf-0", 35, 9, 4);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_BATCH, 0), 32768);
    assert_int_equal(unlink(table), 0);
}

/* --- the real files --------------------------------------------------------------------------- */

struct real {
    const char *path, *format;
    uint32_t n_jobs, n_dropped;
    int64_t gpus_milli; /* sum over jobs of GPUs times 1000 */
    int64_t service_s; /* sum; where the trace has iterations, their sum at a second each */
};

/* Sums over the columns of each file, by a script of its own that knows nothing of gsim. openb:
 * 8152 pods, of which 1088 ask for no GPU. */
static const struct real reals[] = {
    {"openb2023/openb_pod_list_default.csv", "openb", 6203, 1949, 5484930, 191369677},
    {"openb2023/openb_pod_list_gpushare100.csv", "openb", 5891, 2261, 3383890, 116703534},
    {"openb2023/openb_pod_list_gpuspec33.csv", "openb", 6203, 1949, 5484930, 191369677},
    {"muri/trace1.csv", "muri", 1494, 0, 7398000, 374174936},
    {"muri/trace2.csv", "muri", 5755, 0, 29825000, 575421048},
    {"muri/trace3.csv", "muri", 992, 0, 9346000, 46489935},
    {"muri/trace4.csv", "muri", 2638, 0, 5310000, 314808424},
    {"synergy/static_100job_6_3_1100.0", "synergy", 100, 0, 100000, 13241816},
    {"gavel/msr_seed0/0e4a51.trace", "gavel", 1181, 0, 3236000, 6815877024},
    {"gavel/msr_seed0/7f04ca.trace", "gavel", 972, 0, 4430000, 13913721875},
    {"gavel/msr_seed0/ee9e8c.trace", "gavel", 2000, 0, 8587000, 9875481880},
    {"gavel/physical_cluster/artifact_evaluation.trace", "gavel", 15, 0, 18000, 304697},
    {"gavel/physical_cluster/debug.trace", "gavel", 14, 0, 17000, 3230357},
    {"gavel/physical_cluster/max_min_fairness.trace", "gavel", 96, 0, 169000, 18166806},
    {"gavel/physical_cluster/minimize_makespan.trace", "gavel", 100, 0, 175000, 42596220},
};

static void check_real(struct fixture *f, const struct real *real, const char *path) {
    int64_t gpus_milli = 0, service_ns = 0;
    bool has_steps = strcmp(real->format, "gavel") == 0 || strcmp(real->format, "synergy") == 0;
    assert_int_equal(read_with(f, path, has_steps ? "gpu_ms=1000" : NULL), GSIM_OK);
    assert_string_equal(f->trace.format, real->format);
    assert_int_equal(f->trace.n_jobs, real->n_jobs);
    assert_int_equal(f->trace.n_dropped, real->n_dropped);
    for (uint32_t job = 0; job < f->trace.n_jobs; job++) {
        gpus_milli += (int64_t)gsim_trace_gpus(&f->trace, job) *
                      (gsim_trace_share(&f->trace, job) / (GSIM_PPM / 1000));
        service_ns += f->trace.service_ns[job] / 1000000; /* ms: the sum of ns would not fit */
    }
    assert_int_equal(gpus_milli, real->gpus_milli);
    assert_int_equal(service_ns, real->service_s * 1000);
}

static void test_real_files(void **state) {
    struct fixture *f = *state;
    int n = 0;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        char path[256];
        (void)snprintf(path, sizeof path, "../shared/traces/%s", reals[i].path);
        if (access(path, R_OK) == 0) {
            check_real(f, &reals[i], path);
            n++;
        } else {
            print_message("# skipped: no %s\n", path);
        }
    }
    if (n == 0)
        skip();
}

struct sum {
    uint32_t n;
    int64_t service_s;
};

/* Jobs with GPUs that ran for 1 to 100 000 s. */
static struct sum sum_of_short_jobs(const struct gsim_trace *trace) {
    struct sum sum = {0};
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        int64_t service_s = trace->service_ns[job] / S;
        if (gsim_trace_share(trace, job) == 0 || service_s < 1 || service_s > 100000)
            continue;
        sum.n++;
        sum.service_s += service_s;
    }
    return sum;
}

/* derived/openb_as_pai.csv was made from the same pods by somebody else: those that ran for 1 to
 * 100 000 s. Both ways lead to the same jobs. */
static void test_openb_is_what_others_made_of_it(void **state) {
    struct fixture *f = *state;
    static const char *const paths[] = {"../shared/traces/openb2023/openb_pod_list_default.csv",
                                        "../shared/traces/derived/openb_as_pai.csv"};
    struct sum sums[2];
    for (int i = 0; i < 2; i++) {
        if (access(paths[i], R_OK) != 0) {
            print_message("# skipped: no %s\n", paths[i]);
            skip();
        }
        assert_int_equal(read_with(f, paths[i], NULL), GSIM_OK);
        sums[i] = sum_of_short_jobs(&f->trace);
    }
    assert_true(sums[0].n > 6000);
    assert_int_equal(sums[0].n, sums[1].n);
    assert_int_equal(sums[0].service_s, sums[1].service_s);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void test_lines_that_are_no_rows(void **state) {
    struct fixture *f = *state;
    static const char nul[] = "JobID|Submit|State|Elapsed|AllocTRES\n1|0|C|1:00|gres\0/gpu=1\n";
    put(f, nul, sizeof nul - 1);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, "2: a NUL byte");
    size_t n = 200000;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'x', n);
    memcpy(text, "JobID|Submit|State|Elapsed|AllocTRES\n", 37);
    put(f, text, n);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, "2: a line of more than 65536 bytes");
    text[37 + 5000] = '\n';
    put(f, text, 37 + 5001);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, "2: a field of 5000 bytes");
    for (size_t i = 37; i < 1037; i++)
        text[i] = i % 2 ? 'a' : '|';
    text[1037] = '\n';
    put(f, text, 1038);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, "2: more than 256 columns");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_helios),
        TEST(test_helios_days),
        TEST(test_openb),
        TEST(test_sacct),
        TEST(test_sacct_clocks),
        TEST(test_sacct_written_otherwise),
        TEST(test_sacct_in_words),
        TEST(test_sacct_says_what_a_trace_cannot),
        TEST(test_swf),
        TEST(test_philly_log),
        TEST(test_philly_logs_that_do_not_do),
        TEST(test_a_long_philly_log),
        TEST(test_muri),
        TEST(test_gavel),
        TEST(test_shockwave),
        TEST(test_phases_of_batch_modes),
        TEST(test_elasticflow),
        TEST(test_synergy_and_pollux),
        TEST(test_real_files),
        TEST(test_openb_is_what_others_made_of_it),
        TEST(test_lines_that_are_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
