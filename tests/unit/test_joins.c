/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a user gives beside a trace: tables of models, measured memory. They fill what is empty,
 * never what is there, and the trace says that they did. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/trace_file.h"
#include "sim/base/hostlist.h"

struct beside {
    char path[96];
    struct gsim_trace_options options;
    const char *assume[2];
};

static void put_beside(const struct fixture *f, struct beside *b, const char *text) {
    (void)snprintf(b->path, sizeof b->path, "%s/beside.csv", f->folder);
    FILE *file = fopen(b->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static enum gsim_status read_beside(struct fixture *f, struct beside *b, const char *trace) {
    put(f, trace, strlen(trace));
    f->log = (struct gsim_log){0};
    f->trace = (struct gsim_trace){0};
    enum gsim_status status =
        gsim_trace_read(f->path, NULL, &b->options, f->arena, &f->trace, &f->log);
    (void)unlink(b->path);
    return status;
}

static enum gsim_status read_by_model(struct fixture *f, const char *table, const char *trace,
                                      const char *assume) {
    struct beside b = {.assume = {assume}};
    put_beside(f, &b, table);
    b.options = (struct gsim_trace_options){.assume = b.assume, .by_model = b.path};
    return read_beside(f, &b, trace);
}

static enum gsim_status read_measured(struct fixture *f, const char *usage, const char *trace,
                                      const char *assume) {
    struct beside b = {.assume = {assume}};
    put_beside(f, &b, usage);
    b.options = (struct gsim_trace_options){.assume = b.assume, .gpu_mem = b.path};
    return read_beside(f, &b, trace);
}

static void expect_text(const struct fixture *f, const char *text) {
    assert_true(f->log.n_errors > 0);
    if (!strstr(f->log.errors[0].text, text))
        assert_string_equal(f->log.errors[0].text, text);
}

static int64_t mem_mib(const struct fixture *f, uint32_t job) {
    int64_t bytes = gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, job);
    return bytes < 0 ? bytes : bytes >> 20;
}

/* --- tables of models ------------------------------------------------------------------------- */

static const char synergy[] = "0,a,0,10,1\n1,a,0,10,4\n2,b,0,10,1\n";

/* 10 iterations of 100 ms, of 50 ms (any other gang), of 7 ms (assumed, for want of a row). */
static void test_models_fill_by_gang(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_by_model(f, "model,gpus,gpu_ms,mem_gib,app\na,1,100,3,\na,,50,2,\n",
                                   synergy, "gpu_ms=7"),
                     GSIM_OK);
    static const int64_t service_ms[] = {1000, 500, 70}, mem[] = {3072, 2048, -1};
    for (uint32_t job = 0; job < 3; job++) {
        assert_int_equal(f->trace.service_ns[job], service_ms[job] * (S / 1000));
        assert_int_equal(mem_mib(f, job), mem[job]);
    }
    assert_null(f->trace.column[GSIM_COL_APP]);
    assert_int_equal(strncmp(f->trace.assumed[0], "by-model=", 9), 0);
    assert_string_equal(f->trace.assumed[1], "gpu_ms=7");
    assert_null(f->trace.assumed[2]);
}

static void test_models_leave_what_is_there(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_by_model(f, "model,duration_s,mem_gib\nm,9,1\n",
                                   "job_id,submit_s,duration_s,model,mem_gib\n"
                                   "a,0,5,m,4\nb,0,5,m,\nc,0,5,n,\n",
                                   NULL),
                     GSIM_OK);
    assert_int_equal(f->trace.service_ns[0], 5 * S);
    assert_int_equal(mem_mib(f, 0), 4096);
    assert_int_equal(mem_mib(f, 1), 1024);
    assert_int_equal(mem_mib(f, 2), -1);
}

/* Another table is another run: its contents show in what is recorded. */
static void test_another_table_is_recorded_as_such(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_by_model(f, "model,gpu_ms\na,1\nb,1\n", synergy, NULL), GSIM_OK);
    const char *first = f->trace.assumed[0];
    assert_int_equal(read_by_model(f, "model,gpu_ms\na,1\nb,2\n", synergy, NULL), GSIM_OK);
    assert_string_not_equal(first, f->trace.assumed[0]);
    assert_int_equal(read_by_model(f, "model,gpu_ms\na,1\nb,1\n", synergy, NULL), GSIM_OK);
    assert_string_equal(first, f->trace.assumed[0]);
}

static void test_tables_that_do_not_do(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *table, *expected;
    } cases[] = {
        {"gpus,gpu_ms\n1,1\n", "beside.csv:1: a table of models has a column 'model'"},
        {"model\na\n", "beside.csv:1: a table of models has"},
        {"model,gpu_m\na,1\n", "beside.csv:1: a trace has no column 'gpu_m'"},
        {"model,gpu_ms,gpu_ms\na,1,1\n", "beside.csv:1: column 'gpu_ms' stands twice"},
        {"model,gpu_ms\na,1\na,2\n", "beside.csv:3: model 'a' with these GPUs stands there"},
        {"model,gpu_ms\na,fast\n", "beside.csv:2: column 'gpu_ms': 'fast' is not a time in"},
        {"model,gpus,gpu_ms\na,0.5,1\n", "beside.csv:2: column 'gpus': '0.5' is not a number"},
        {"model,gpu_ms\n,1\n", "beside.csv:2: column 'model': '' is not a name"},
        {"model,gpu_ms\na,1\n", "trace.csv:3: job '2' of model 'b' has neither duration_s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_by_model(f, cases[i].table, synergy, NULL), GSIM_BAD_INPUT);
        expect_text(f, cases[i].expected);
    }
}

/* The published workloads, 160 jobs each; the sums of num_replicas by a script of its own. Times come
 * from a table: the gang's size in seconds, so that the sum is known as well. */
static void test_real_pollux_workloads(void **state) {
    struct fixture *f = *state;
    static const uint32_t replicas[] = {1092, 1077, 921, 1043, 1032, 1134, 1151, 1187};
    struct beside b = {0};
    static const char *const apps[] = {"bert",     "cifar10", "deepspeech2",
                                       "imagenet", "ncf",     "yolov3"};
    char table[8192] = "model,gpus,duration_s\n";
    for (int n = 0; n < 48 * 6; n++) /* gangs of up to 48 */
        (void)snprintf(table + strlen(table), sizeof table - strlen(table), "%s,%d,%d\n",
                       apps[n % 6], n / 6 + 1, n / 6 + 1);
    for (int i = 0; i < 8; i++) {
        char path[96];
        (void)snprintf(path, sizeof path, "../shared/traces/pollux/workloads/workload-%d.csv",
                       i + 1);
        if (access(path, R_OK) != 0) {
            print_message("# skipped: no %s\n", path);
            skip();
        }
        put_beside(f, &b, table);
        b.options = (struct gsim_trace_options){.by_model = b.path};
        f->log = (struct gsim_log){0};
        enum gsim_status status =
            gsim_trace_read(path, NULL, &b.options, f->arena, &f->trace, &f->log);
        (void)unlink(b.path);
        assert_int_equal(status, GSIM_OK);
        assert_string_equal(f->trace.format, "pollux");
        assert_int_equal(f->trace.n_jobs, 160);
        uint32_t gpus = 0;
        int64_t service_s = 0;
        for (uint32_t job = 0; job < 160; job++) {
            gpus += gsim_trace_gpus(&f->trace, job);
            service_s += f->trace.service_ns[job] / S;
        }
        assert_int_equal(gpus, replicas[i]);
        assert_int_equal(service_s, replicas[i]);
    }
}

/* --- measured memory -------------------------------------------------------------------------- */

static void test_memory_by_job(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_measured(f, "job_id,mem_mib,index\nb,100,0\nb,300,1\nb,200,2\nz,9,0\n",
                                   "job_id,submit_s,duration_s,mem_gib\na,0,1,\nb,0,1,\nc,0,1,4\n",
                                   "mem_gib=1"),
                     GSIM_OK);
    static const int64_t mib[] = {1024, 300, 4096};
    for (uint32_t job = 0; job < 3; job++)
        assert_int_equal(mem_mib(f, job), mib[job]);
    assert_int_equal(strncmp(f->trace.assumed[0], "gpu-mem=", 8), 0);
    assert_string_equal(f->trace.assumed[1], "mem_gib=1");
    assert_non_null(strstr(f->log.warnings[0].text, "of 1 job of 3"));
}

/* An empty cell says that nobody measured; zero is a measurement. */
static void test_measurements_of_nothing(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_measured(f, "job_name,max_gpu_wrk_mem\na,\nb,0\nc,2.3994140625\n",
                                   "job_id,submit_s,duration_s\na,0,1\nb,0,1\nc,0,1\n", NULL),
                     GSIM_OK);
    static const int64_t mib[] = {-1, 0, 2457};
    for (uint32_t job = 0; job < 3; job++)
        assert_int_equal(mem_mib(f, job), mib[job]);
}

static const char sacct[] =
    "JobIDRaw|State|Submit|Start|End|ElapsedRaw|AllocTRES|NodeList\n"
    "1|COMPLETED|2024-05-31T12:00:00|2024-05-31T12:00:00|2024-05-31T12:01:40|100|gres/"
    "gpu=2|n[1-2]\n"
    "2|COMPLETED|2024-05-31T12:00:00|2024-05-31T12:01:00|2024-05-31T12:01:50|50|gres/gpu=2|n2\n"
    "3|COMPLETED|2024-05-31T12:00:00|2024-05-31T13:01:00|2024-05-31T13:01:50|50|gres/gpu=2|n2\n";

/* Job 1 has n1 from 12:00:00 to before 12:01:40 and shares n2 from 12:01:00, when its 900 stand
 * alone still. After it, n2 is job 2's alone. Nobody is on n9, nor on n1 at 12:01:40. */
static void test_memory_by_node_and_time(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_measured(f,
                                   "hostname, timestamp, index, memory.used [MiB]\n"
                                   "n1, 2024/05/31 12:01:39.900, 0, 700 MiB\n"
                                   "n1, 2024/05/31 12:01:40.000, 0, 5000 MiB\n"
                                   "n2, 2024/05/31 12:00:59.000, 0, 900 MiB\n"
                                   "n2, 2024/05/31 12:01:00.000, 0, 6000 MiB\n"
                                   "n2, 2024-05-31T12:01:45, 0, 80\n"
                                   "n9, 2024/05/31 12:01:00.000, 0, 7000 MiB\n",
                                   sacct, "mem_gib=1"),
                     GSIM_OK);
    static const int64_t mib[] = {900, 80, 1024};
    for (uint32_t job = 0; job < 3; job++)
        assert_int_equal(mem_mib(f, job), mib[job]);
    assert_non_null(strstr(f->log.warnings[0].text, "of 2 jobs of 3"));
    assert_non_null(strstr(f->log.warnings[1].text, "left out 1 samples of nodes that several"));
    assert_non_null(strstr(f->log.warnings[1].text, "1 when no job"));
    assert_non_null(strstr(f->log.warnings[2].text, "1 sample of nodes on which no job of the trace"
                                                    " ran (the first: 'n9')"));
    assert_int_equal(f->log.n_warnings, 3);
}

/* Slurm's n1 is the host n1.x.org; n2 may be n2.x.org or n2.y.org, so it is neither; an address is
 * no node that is called by its first number. */
static void test_hosts_are_known_by_their_first_label(void **state) {
    struct fixture *f = *state;
    static const char log[] = "JobIDRaw|State|Submit|Start|End|ElapsedRaw|AllocTRES|NodeList\n"
                              "1|COMPLETED|2024-05-31T12:00:00|2024-05-31T12:00:00|2024-05-31T12:"
                              "01:40|100|gres/gpu=1|n1\n"
                              "2|COMPLETED|2024-05-31T12:00:00|2024-05-31T12:00:00|2024-05-31T12:"
                              "01:40|100|gres/gpu=1|n2\n"
                              "3|COMPLETED|2024-05-31T12:00:00|2024-05-31T12:00:00|2024-05-31T12:"
                              "01:40|100|gres/gpu=1|10\n"
                              "4|COMPLETED|2024-05-31T12:00:00|2024-05-31T12:00:00|2024-05-31T12:"
                              "01:40|100|gres/gpu=1|n4\n";
    assert_int_equal(read_measured(f,
                                   "hostname,timestamp,mem_mib\n"
                                   "n1.x.org,2024-05-31T12:01:00,700\n"
                                   "n2.x.org,2024-05-31T12:01:00,800\n"
                                   "n2.y.org,2024-05-31T12:01:00,900\n"
                                   "10.0.0.1,2024-05-31T12:01:00,1000\n"
                                   "n4,2024-05-31T12:01:00,1100\n"
                                   "n4.x.org,2024-05-31T12:01:00,1200\n",
                                   log, NULL),
                     GSIM_OK);
    static const int64_t mib[] = {700, -1, -1, 1100};
    for (uint32_t job = 0; job < 4; job++)
        assert_int_equal(mem_mib(f, job), mib[job]);
    assert_non_null(strstr(f->log.warnings[1].text, "4 samples of nodes on which no job of the "
                                                    "trace ran (the first: 'n2.x.org')"));
}

/* 1717156859 is 12:00:59 UTC of that day. */
static void test_clocks_of_two_kinds_are_told(void **state) {
    struct fixture *f = *state;
    static const char seconds[] =
        "JobIDRaw|State|Submit|Start|End|ElapsedRaw|AllocTRES|NodeList\n"
        "1|COMPLETED|1717156800|1717156800|1717156900|100|gres/gpu=1|n2\n";
    static const struct {
        const char *usage, *log, *told;
    } cases[] = {
        {"hostname,timestamp,mem_mib\nn2,1717156859,900\n", sacct,
         "times here are seconds since 1970, or UTC, and those of "},
        {"hostname,timestamp,mem_mib\nn2,2024-05-31T12:00:59Z,900\n", sacct,
         "times here are seconds since 1970, or UTC, and those of "},
        {"hostname,timestamp,mem_mib\nn2,2024-05-31T12:00:59,900\n", seconds,
         "times here are dates without a time zone, and those of "},
        {"hostname,timestamp,mem_mib\nn2,2024-05-31T12:00:59,900\n", sacct, NULL},
        {"hostname,timestamp,mem_mib\nn2,1717156859,900\n", seconds, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_measured(f, cases[i].usage, cases[i].log, NULL), GSIM_OK);
        assert_int_equal(mem_mib(f, 0), 900);
        assert_int_equal(f->log.n_warnings, cases[i].told ? 2 : 1);
        if (cases[i].told)
            assert_non_null(strstr(f->log.warnings[1].text, cases[i].told));
    }
}

static void test_measurements_that_do_not_do(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *usage, *expected;
    } cases[] = {
        {"hostname,memory.used [MiB]\nn1,1\n", "beside.csv:1: measured memory has a column such"},
        {"job_id,util\n1,1\n", "beside.csv:1: measured memory has a column such"},
        {"# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).\n"
         "DCGM_FI_DEV_FB_USED{gpu=\"0\",Hostname=\"n1\"} 1\n",
         "beside.csv:1: what an exporter shows (/metrics) is one moment"},
        {"job_id,mem_mib,mem_gib\n1,1,1\n", "beside.csv:1: column 'mem_gib' is of a kind"},
        {"job_id,mem_mib\n1,-5\n", "beside.csv:2: column 'mem_mib': '-5' is no measurement of that "
                                   "kind; accepted: a decimal number of MiB"},
        {"job_id,mem_mib\n1,1e99\n", "beside.csv:2: column 'mem_mib': '1e99' is no"},
        {"host,time,mem_mib\nn1,noon,1\n", "beside.csv:2: column 'time': 'noon' is no"},
        {"host,time,mem_mib\nn1,99999999999999,1\n", "beside.csv:2: column 'time'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_measured(f, cases[i].usage, sacct, NULL), GSIM_BAD_INPUT);
        expect_text(f, cases[i].expected);
    }
    assert_int_equal(read_measured(f, "host,time,mem_mib\nn1,0,1\n",
                                   "JobID|State|Submit|Start|End|ElapsedRaw|AllocTRES|NodeList\n"
                                   "1|C|0|0|9|9|gres/gpu=2|n[3-1]\n",
                                   NULL),
                     GSIM_BAD_INPUT);
    expect_text(f, "trace.csv:2: job '1': 'n[3-1]' is no list of nodes");
}

/* --- PAI's tables ----------------------------------------------------------------------------- */

static enum gsim_status read_pai(struct fixture *f, const char *tasks, const char *jobs) {
    struct beside b = {0};
    put_beside(f, &b, jobs);
    b.options = (struct gsim_trace_options){.table = b.path};
    return read_beside(f, &b, tasks);
}

static void expect_warned(const struct fixture *f, const char *text) {
    for (int64_t i = 0; i < f->log.n_warnings; i++)
        if (strstr(f->log.warnings[i].text, text))
            return;
    fail_msg("no warning says: %s", text);
}

static const char pai_jobs[] = "a,i1,u1,Terminated,100.0,300.0\n"
                               "b,i2,u2,Failed,90.0,200.0\n"
                               "c,i3,u1,Running,90.0,\n"
                               "d,i4,u1,Terminated,10.0,20.0\n"
                               "e,i5,u1,Terminated,95.0,\n"
                               "f,i6,u1,Terminated,95.0,\n"
                               "g,i7,,Terminated,,300.0\n"
                               "h,i8,,Terminated,90.0,300.0\n";

/* a: a parameter server on CPUs and a worker with half a GPU, together from 110 to 250 s.
 * b: two instances with two GPUs each. h: 150 %, two of 75 %. c runs still, d has no GPU, e's
 * instances ask for 50 % and 25 %, f has no task, g was submitted nobody knows when. */
static void test_pai_tables(void **state) {
    struct fixture *f = *state;
    static const char tasks[] = "a,ps,1.0,Terminated,110.0,250.0,600.0,29.3,,\n"
                                "b,worker,2.0,Failed,95.0,96.0,400.0,29.3,200.0,V100\n"
                                "a,worker,1.0,Terminated,120.0,240.0,400.0,29.3,50.0,T4\n"
                                "c,worker,1.0,Running,120.0,,400.0,29.3,100.0,T4\n"
                                "d,worker,1.0,Terminated,120.0,130.0,400.0,29.3,0.0,\n"
                                "e,worker,1.0,Terminated,120.0,130.0,400.0,29.3,50.0,\n"
                                "e,chief,1.0,Terminated,120.0,130.0,400.0,29.3,25.0,\n"
                                "g,worker,1.0,Terminated,120.0,130.0,400.0,29.3,50.0,\n"
                                "h,worker,1.0,Terminated,120.0,130.0,400.0,29.3,150.0,\n"
                                "z,worker,1.0,Terminated,120.0,130.0,400.0,29.3,50.0,\n";
    assert_int_equal(read_pai(f, tasks, pai_jobs), GSIM_OK);
    const struct gsim_trace *t = &f->trace;
    assert_string_equal(t->format, "pai");
    assert_int_equal(t->n_jobs, 3);
    assert_int_equal(t->n_dropped, 5);
    static const struct {
        const char *id;
        int64_t submit_s, service_s, gpus, share_ppm, cpus_milli;
    } jobs[] = {{"a", 10, 140, 1, 500000, 10000},
                {"b", 0, 1, 4, 1000000, 8000},
                {"h", 0, 10, 2, 750000, 4000}};
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal(gsim_trace_id(t, i), jobs[i].id);
        assert_int_equal(t->submit_ns[i], jobs[i].submit_s * S);
        assert_int_equal(t->service_ns[i], jobs[i].service_s * S);
        assert_int_equal(gsim_trace_gpus(t, i), jobs[i].gpus);
        assert_int_equal(gsim_trace_share(t, i), jobs[i].share_ppm);
        assert_int_equal(gsim_trace_get(t, GSIM_COL_CPUS_MILLI, i), jobs[i].cpus_milli);
    }
    assert_int_equal(gsim_trace_get(t, GSIM_COL_USER, 2), -1);
    const char *const *types = t->names[GSIM_COL_GPU_TYPE].name;
    assert_string_equal(types[gsim_trace_get(t, GSIM_COL_GPU_TYPE, 0)], "T4");
    assert_string_equal(types[gsim_trace_get(t, GSIM_COL_GPU_TYPE, 1)], "V100");
    assert_int_equal(gsim_trace_get(t, GSIM_COL_GPU_TYPE, 2), -1);
    expect_warned(f, "left out 1 tasks of jobs that are not in");
    expect_warned(f, "line 3): a task of theirs has no start or no end");
    expect_warned(f, "line 4): they ask for no GPU");
    expect_warned(f, "line 5): their instances ask for different parts");
    expect_warned(f, "line 6): they have no task");
    expect_warned(f, "line 7): their submission");
}

static void test_a_pai_job_on_two_types_of_gpus(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_pai(f,
                              "b,ps,1,Failed,95,96,400,1,,MISC\n"
                              "b,w,1,Failed,95,96,400,1,100,T4\n"
                              "b,v,1,Failed,95,96,400,1,100,P100\n",
                              pai_jobs),
                     GSIM_OK);
    int64_t type = gsim_trace_get(&f->trace, GSIM_COL_GPU_TYPE, 0);
    assert_string_equal(f->trace.names[GSIM_COL_GPU_TYPE].name[type], "T4");
    assert_int_equal(gsim_trace_gpus(&f->trace, 0), 2);
    expect_warned(f, "1 row (the first is line 2): their tasks had GPUs of several types");
}

static void test_pai_tables_with_their_headers(void **state) {
    struct fixture *f = *state;
    static const char head[] = "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,"
                               "plan_mem,plan_gpu,gpu_type\n";
    char tasks[512], jobs[512];
    (void)snprintf(tasks, sizeof tasks, "%sb,w,1,Failed,95,96.5,400,1,100,T4\n", head);
    (void)snprintf(jobs, sizeof jobs, "job_name,inst_id,user,status,start_time,end_time\n%s",
                   pai_jobs);
    assert_int_equal(read_pai(f, tasks, jobs), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 1);
    assert_int_equal(gsim_trace_line(&f->trace, 0), 3);
    assert_int_equal(f->trace.service_ns[0], S + S / 2);
}

static void test_pai_tables_that_do_not_do(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *tasks, *jobs, *expected;
    } cases[] = {
        {"b,w,1.5,Failed,95,96,400,1,100,T4\n", pai_jobs,
         "trace.csv:1: column 'inst_num': '1.5' is not a number of instances"},
        {"b,w,1,Failed,95,96,400,1,many,T4\n", pai_jobs,
         "trace.csv:1: column 'plan_gpu': 'many' is not a per cent of GPUs"},
        {"b,w,1,Failed,-95,96,400,1,100,T4\n", pai_jobs,
         "trace.csv:1: column 'start_time': '-95' is not a time"},
        {"b,w,1,Failed,95,1e40,400,1,100,T4\n", pai_jobs,
         "trace.csv:1: column 'end_time': '1e40' is not a time"},
        {"b,w,1,Failed,95,96,400,1,100,T4\nb,w\n", pai_jobs, "trace.csv:2: 2 fields; a line of"},
        {"b,w,1,Failed,95,96,400,1,100,T4\n", "a,i,u,T,1,2\na,i,u,T,1,2\n",
         "beside.csv:2: job_name 'a' stands there already"},
        {"b,w,1,Failed,95,96,400,1,100,T4\n", "job_name,user\nb,u\n",
         "beside.csv:1: column 'user' stands where the published table has 'inst_id'"},
        {"b,w,1,Failed,95,96,400,1,100,T4\n", "job_name,inst_id\nb,u\n",
         "beside.csv:1: 2 columns; the published table has job_name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_pai(f, cases[i].tasks, cases[i].jobs), GSIM_BAD_INPUT);
        expect_text(f, cases[i].expected);
    }
    refuse(f, "b,w,1,Failed,95,96,400,1,100,T4\n",
           " pai_task_table has neither the user nor the time");
    assert_int_equal(read_pai(f, "job_id,submit_s,duration_s\na,0,1\n", pai_jobs), GSIM_USAGE);
}

/* --- lists of nodes --------------------------------------------------------------------------- */

static bool note_node(void *arg, const char *node, size_t length) {
    char *all = arg;
    (void)snprintf(all + strlen(all), 256 - strlen(all), "%.*s ", (int)length, node);
    return true;
}

static void test_lists_of_nodes(void **state) {
    (void)state;
    static const struct {
        const char *list, *expected;
    } good[] = {
        {"", ""},
        {"login1", "login1 "},
        {"gpu[01-03,7],login1", "gpu01 gpu02 gpu03 gpu7 login1 "},
        {"n[9-11]-ib,m", "n9-ib n10-ib n11-ib m "},
        {"r[1-2]n[08,10]x,m", "r1n08x r1n10x r2n08x r2n10x m "},
    };
    static const char *const bad[] = {
        "gpu[", "gpu[]",        "gpu[1",  "gpu[a-b]",        "gpu[3-1]",       "gpu[1-]", "gpu[-1]",
        ",a",   "a[1]b[2]c[3]", "a[1]b[", "a[1-9999999999]", "a[0-999999999]", "a[1,]b[", "a[1 2]"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char all[256] = "";
        assert_true(gsim_hostlist_each(good[i].list, note_node, all));
        assert_string_equal(all, good[i].expected);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char all[256] = "";
        if (gsim_hostlist_each(bad[i], note_node, all))
            fail_msg("'%s' passes for a list of nodes: %s", bad[i], all);
    }
}

/* --- what an imported file remembers ---------------------------------------------------------- */

static void test_a_filled_trace_says_so_when_it_is_read(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_by_model(f, "model,gpu_ms\na,1\n", synergy, "gpu_ms=7"), GSIM_OK);
    struct gsim_trace first = f->trace;
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    gsim_trace_write(&first, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(read_put(f), GSIM_OK);
    expect_same(&first, &f->trace);
    assert_non_null(f->trace.assumed);
    for (int i = 0; i < 3; i++)
        if (first.assumed[i])
            assert_string_equal(f->trace.assumed[i], first.assumed[i]);
        else
            assert_null(f->trace.assumed[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_models_fill_by_gang),
        TEST(test_models_leave_what_is_there),
        TEST(test_another_table_is_recorded_as_such),
        TEST(test_tables_that_do_not_do),
        TEST(test_real_pollux_workloads),
        TEST(test_memory_by_job),
        TEST(test_memory_by_node_and_time),
        TEST(test_hosts_are_known_by_their_first_label),
        TEST(test_clocks_of_two_kinds_are_told),
        TEST(test_measurements_that_do_not_do),
        TEST(test_measurements_of_nothing),
        TEST(test_pai_tables),
        TEST(test_a_pai_job_on_two_types_of_gpus),
        TEST(test_pai_tables_with_their_headers),
        TEST(test_pai_tables_that_do_not_do),
        TEST(test_lists_of_nodes),
        TEST(test_a_filled_trace_says_so_when_it_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
