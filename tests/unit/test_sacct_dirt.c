/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What real logs of sacct have in them that no page of Slurm shows: types of GPU that are parts of one, times that
 * cannot be, other encodings. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/trace_file.h"

static enum gsim_status read_log(struct fixture *f, const char *text) {
    put(f, text, strlen(text));
    return read_put(f);
}

/* A job that was submitted when the trace begins. */
static void expect_job(const struct fixture *f, uint32_t job, const char *id, int64_t service_s, uint32_t gpus) {
    assert_true(job < f->trace.n_jobs);
    assert_string_equal(gsim_trace_id(&f->trace, job), id);
    assert_int_equal(f->trace.submit_ns[job], 0);
    assert_int_equal(f->trace.service_ns[job], service_s * S);
    assert_int_equal(gsim_trace_gpus(&f->trace, job), gpus);
}

static void expect_warning(const struct fixture *f, const char *text) {
    bool is_said = false;
    for (int64_t i = 0; i < f->log.n_warnings; i++)
        is_said |= strstr(f->log.warnings[i].text, text) != NULL;
    assert_true(is_said);
}

/* MIG instances under the names that Slurm gives them and that sites do; whole GPUs whose names look a little
 * alike. Rows 2 to 6 are instances, of a whole GPU and an instance too, and 1, 7 and 8 are none. */
static void test_sacct_mig_names(void **state) {
    struct fixture *f = *state;
    static const char text[] = "JobIDRaw|Submit|State|ElapsedRaw|AllocTRES\n"
                               "1|2024-03-01T00:00:00|COMPLETED|10|gres/gpu:a100=2,gres/gpu=2\n"
                               "2|2024-03-01T00:00:00|COMPLETED|10|gres/gpu:a100_3g.20gb=1,gres/gpu=1\n"
                               "3|2024-03-01T00:00:00|COMPLETED|10|gres/gpu:nvidia_a100_1g.5gb+me=3\n"
                               "4|2024-03-01T00:00:00|COMPLETED|10|gres/gpu:1c.3g.20gb=1,gres/gpu=1\n"
                               "5|2024-03-01T00:00:00|COMPLETED|10|gres/gpu:a100-sxm4-40gb_1g.5gb=1\n"
                               "6|2024-03-01T00:00:00|COMPLETED|10|gres/gpu=3,gres/gpu:a100=2,gres/gpu:a100_1g.5gb=1\n"
                               "7|2024-03-01T00:00:00|COMPLETED|10|gres/gpu:a100-sxm4-40gb=1,gres/gpu=1\n"
                               "8|2024-03-01T00:00:00|COMPLETED|10|gres/gpu:rtx3g.2=1,gres/gpu:1g.5gb=0\n";
    assert_int_equal(read_log(f, text), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 3);
    expect_job(f, 0, "1", 10, 2);
    expect_job(f, 1, "7", 10, 1);
    expect_job(f, 2, "8", 10, 1);
    expect_warning(f, "left out 5 rows (the first is line 3): they had MIG instances");
}

/* Job 2 was submitted at Slurm's time 0, on the clock of Berlin: with it the trace would begin 54 years
 * before job 1. Job 3 has an elapsed time of an hour, and 10 minutes from Start to End. */
static void test_sacct_times_that_cannot_be(void **state) {
    struct fixture *f = *state;
    static const char text[] = "JobIDRaw|Submit|Start|End|State|ElapsedRaw|AllocTRES\n"
                               "1|2024-03-01T00:00:00|2024-03-01T00:01:00|2024-03-01T00:01:10|COMPLETED|10|gres/gpu=1\n"
                               "2|1970-01-01T01:00:00|2024-03-01T00:01:00|2024-03-01T00:01:10|COMPLETED|10|gres/gpu=1\n"
                               "3|2024-03-01T00:00:00|2024-03-01T00:01:00|2024-03-01T00:11:00|COMPLETED|3600|gres/gpu=1\n";
    assert_int_equal(read_log(f, text), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 2);
    expect_job(f, 0, "1", 10, 1);
    expect_job(f, 1, "3", 3600, 1);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_START_NS, 1), 60 * S);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_END_NS, 1), -1);
    expect_warning(f, "left out 1 row (the first is line 3): Slurm did not record when they were submitted");
    expect_warning(f, "1 row (the first is line 4): their elapsed time is longer than End - Start");
}

/* Job 1 ran for an hour when the log was written, and counts as a job of an hour. Job 2 was past its limit of a minute,
 * job 3 had no second yet. Job 4 had 4 GPUs for 10 s, then 2 for 20: the first part is a job as well, and the second
 * waits for nothing. */
static void test_sacct_jobs_that_run_on(void **state) {
    struct fixture *f = *state;
    static const char text[] =
        "JobIDRaw|Submit|Start|End|State|ElapsedRaw|TimelimitRaw|AllocTRES\n"
        "1|2024-03-01T00:00:00|2024-03-01T00:01:00|Unknown|RUNNING|3600|60|gres/gpu=4\n"
        "2|2024-03-01T00:00:00|2024-03-01T00:01:00|Unknown|RUNNING|61|1|gres/gpu=4\n"
        "3|2024-03-01T00:00:00|2024-03-01T01:01:00|Unknown|CONFIGURING|0|1|gres/gpu=4\n"
        "4|2024-03-01T00:00:00|2024-03-01T00:01:00|2024-03-01T00:01:10|RESIZING|10|60|gres/gpu=4\n"
        "4|2024-03-01T00:00:00|2024-03-01T00:01:10|2024-03-01T00:01:30|COMPLETED|20|60|gres/gpu=2\n";
    assert_int_equal(read_log(f, text), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 3);
    expect_job(f, 0, "1", 3600, 4);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_START_NS, 0), 60 * S);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_END_NS, 0), 3660 * S);
    expect_job(f, 1, "4", 10, 4);
    assert_string_equal(gsim_trace_id(&f->trace, 2), "4#2");
    assert_int_equal(f->trace.submit_ns[2], 70 * S);
    assert_int_equal(f->trace.service_ns[2], 20 * S);
    expect_warning(f, "1 row (the first is line 2): they had not ended yet: here they run for as long");
    expect_warning(f, "left out 1 row (the first is line 3): they had not ended yet though they were past");
    expect_warning(f, "left out 1 row (the first is line 4): they had begun in the second");
}

/* The logs of two days, joined: job 1 ran on both, and job 2, which was requeued, stands in both with its two runs. */
static void test_sacct_logs_that_were_joined(void **state) {
    struct fixture *f = *state;
    static const char header[] = "JobIDRaw|Submit|Start|End|State|ElapsedRaw|AllocTRES\n";
    static const char requeued[] =
        "2|2024-03-01T00:00:00|2024-03-01T00:00:00|2024-03-01T00:01:00|NODE_FAIL|60|gres/gpu=1\n"
        "2|2024-03-01T00:00:00|2024-03-01T00:02:00|2024-03-01T00:04:00|COMPLETED|120|gres/gpu=1\n";
    static const char running[] = "1|2024-03-01T00:00:00|2024-03-01T00:00:00|Unknown|RUNNING|300|gres/gpu=1\n";
    static const char ended[] =
        "1|2024-03-01T00:00:00|2024-03-01T00:00:00|2024-03-01T00:10:00|COMPLETED|600|gres/gpu=1\n";
    for (int i = 0; i < 2; i++) {
        char text[2048];
        (void)snprintf(text, sizeof text, "%s%s%s%s%s", header, i ? ended : running, requeued, i ? running : ended,
                       requeued);
        assert_int_equal(read_log(f, text), GSIM_OK);
        assert_int_equal(f->trace.n_jobs, 3);
        uint32_t one = i ? 0 : 2;
        expect_job(f, one, "1", 600, 1);
        expect_job(f, i ? 1 : 0, "2", 60, 1);
        assert_string_equal(gsim_trace_id(&f->trace, i ? 2 : 1), "2#2");
        assert_int_equal(f->trace.submit_ns[i ? 2 : 1], 60 * S);
    }
    expect_warning(f, "left out 1 row (the first is line 5): another row of their job has the same start");
    expect_warning(f, "left out 2 rows (the first is line 6): they repeat a row before them");
}

/* A list of what ran from 09:00 on: of the time before, it has jobs 1 and 3 alone, which began then, and jobs 2 and 4,
 * which waited. The first end is that of job 3, at 09:00. */
static const char of_a_window[] =
    "JobIDRaw|Submit|Start|End|State|ElapsedRaw|TimelimitRaw|AllocTRES\n"
    "1|2024-03-01T00:00:00|2024-03-01T00:01:00|2024-03-01T10:01:00|COMPLETED|36000|660|gres/gpu=4\n"
    "2|2024-03-01T07:00:00|2024-03-01T09:30:00|2024-03-01T10:00:00|COMPLETED|1800|60|gres/gpu=1\n"
    "3|2024-03-01T08:00:00|2024-03-01T08:00:00|2024-03-01T09:00:00|COMPLETED|3600|60|gres/gpu=1\n"
    "4|2024-03-01T06:30:00|2024-03-01T09:40:00|2024-03-01T09:50:00|COMPLETED|600|60|gres/gpu=1\n"
    "5|2024-03-01T09:10:00|2024-03-01T09:10:00|2024-03-01T09:20:00|COMPLETED|600|60|gres/gpu=1\n";

static enum gsim_status read_from(struct fixture *f, const char *text, const char *log_from) {
    const struct gsim_trace_options options = {.is_lenient = true, .log_from = log_from};
    put(f, text, strlen(text));
    return gsim_trace_read(f->path, "sacct", &options, f->arena, &f->trace, &f->log);
}

/* Job 1 has 61 minutes of its ten hours left, and as much of its limit of eleven hours as is left at 09:00: 121
 * minutes. Job 4, which was submitted first, comes before job 2. */
static void test_sacct_a_log_begins_later(void **state) {
    struct fixture *f = *state;
    static const char *const from[] = {"first-end", "9h", "2024-03-01T09:00:00"};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        assert_int_equal(read_from(f, of_a_window, from[i]), GSIM_OK);
        assert_int_equal(f->trace.n_jobs, 4);
        expect_job(f, 0, "1", 3660, 4);
        assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_START_NS, 0), 0);
        assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_END_NS, 0), 3660 * S);
        assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LIMIT_NS, 0), 121 * 60 * S);
        assert_string_equal(gsim_trace_id(&f->trace, 1), "2");
        assert_int_equal(f->trace.submit_ns[1], 2);
        assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_START_NS, 1), 1800 * S);
        assert_int_equal(f->trace.submit_ns[2], 1);
        assert_int_equal(f->trace.submit_ns[3], 600 * S);
        assert_string_equal(f->trace.assumed[0], "submit_s: the log from 9h after its first submission on");
    }
    expect_warning(f, "1 row (the first is line 2): they ran when the log begins (--log-from)");
    expect_warning(f, "2 rows (the first is line 5): they waited when the log begins");
    expect_warning(f, "left out 1 row (the first is line 4): they had ended when the log begins");
}

/* Job 1 ran for nine days when 40 jobs of an hour came, one an hour: in the time before the first end, that of job 2, some
 * 225 would have begun, and 2 did. Of 20 minutes in place of nine days nothing can be said. */
static void test_sacct_where_a_log_begins(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        char text[8192];
        int n = snprintf(text, sizeof text, "JobIDRaw|Submit|Start|End|State|ElapsedRaw|AllocTRES\n"
                         "1|%s|%s|2024-03-12T00:00:00|COMPLETED|%d|gres/gpu=1\n",
                         i ? "2024-03-09T23:40:00" : "2024-03-01T00:00:00",
                         i ? "2024-03-09T23:40:00" : "2024-03-01T00:00:00", i ? 173400 + 1200 : 950400);
        for (int job = 2; job < 42; job++)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "%d|2024-03-%02dT%02d:00:00|2024-03-%02dT%02d:00:00|2024-03-%02dT%02d:00:00|COMPLETED|3600|"
                          "gres/gpu=1\n", job, 10 + job / 24, job % 24, 10 + job / 24, job % 24, 10 + (job + 1) / 24,
                          (job + 1) % 24);
        assert_int_equal(read_from(f, text, "auto"), GSIM_OK);
        assert_int_equal(f->trace.n_jobs, i ? 41 : 40);
    }
}

/* With jobs of an hour from 01:00 on, one an hour, as many began before the first end as behind it: nothing is cut.
 * Nor is it where the user says when the log begins, or nothing. */
static void test_sacct_a_log_that_begins_with_its_first_job(void **state) {
    struct fixture *f = *state;
    static const char text[] = "JobIDRaw|Submit|Start|End|State|ElapsedRaw|AllocTRES\n"
                               "1|2024-03-01T00:00:00|2024-03-01T00:00:00|2024-03-01T10:00:00|COMPLETED|36000|gres/gpu=1\n"
                               "2|2024-03-01T01:00:00|2024-03-01T01:00:00|2024-03-01T02:00:00|COMPLETED|3600|gres/gpu=1\n"
                               "3|2024-03-01T02:00:00|2024-03-01T02:00:00|2024-03-01T03:00:00|COMPLETED|3600|gres/gpu=1\n"
                               "4|2024-03-01T03:00:00|2024-03-01T03:00:00|2024-03-01T04:00:00|COMPLETED|3600|gres/gpu=1\n";
    assert_int_equal(read_from(f, text, "auto"), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 4);
    expect_job(f, 0, "1", 36000, 1);
    assert_null(f->trace.assumed);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_from(f, of_a_window, i ? NULL : "0s"), GSIM_OK);
        assert_int_equal(f->trace.n_jobs, 5);
        expect_job(f, 0, "1", 36000, 4);
    }
    assert_int_equal(read_from(f, of_a_window, "9"), GSIM_USAGE);
    assert_int_equal(read_from(f, of_a_window, "2024-13-01"), GSIM_USAGE);
    assert_int_equal(read_from(f, of_a_window, "30d"), GSIM_BAD_INPUT); /* no job is left */
    assert_int_equal(read_from(f, "JobIDRaw|Submit|State|ElapsedRaw|AllocTRES\n"
                                  "1|2024-03-01T00:00:00|COMPLETED|10|gres/gpu=1\n", "first-end"), GSIM_USAGE);
}

/* Two clusters that count their jobs alike: 1 and 2 of alpha are the trace, with the memory of alpha's step. 1 of
 * beta would take the place of alpha's, and its step would give that job 2 GiB. */
static void test_sacct_of_two_clusters(void **state) {
    struct fixture *f = *state;
    static const char text[] = "Cluster|JobIDRaw|Submit|State|ElapsedRaw|AllocTRES|NTasks|TRESUsageInMax\n"
                               "alpha|1|2024-03-01T00:00:00|COMPLETED|10|gres/gpu=1||\n"
                               "beta|1.0|2024-03-01T00:00:00|COMPLETED|10|gres/gpu=1|1|gres/gpumem=2G\n"
                               "alpha|1.0|2024-03-01T00:00:00|COMPLETED|10|gres/gpu=1|1|gres/gpumem=1G\n"
                               "beta|1|2024-03-01T00:00:00|COMPLETED|20|gres/gpu=4||\n"
                               "beta|2|2024-03-01T00:00:00|RUNNING|20|gres/gpu=4||\n"
                               "alpha|2|2024-03-01T00:00:00|COMPLETED|30|gres/gpu=2||\n";
    assert_int_equal(read_log(f, text), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 2);
    expect_job(f, 0, "1", 10, 1);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, 0), INT64_C(1) << 30);
    expect_job(f, 1, "2", 30, 2);
    expect_warning(f, "left out 3 rows (the first is line 3): they are of another cluster than the first row");
}

/* 1,5G is no G of 1 byte and no 64,5G 64 MiB: such rows are left out. Job 3's numbers are followed by names, of which one
 * begins with a digit as those of a database without names do, and job 4's end without a unit: 2 GiB of 2048 MiB. */
static void test_sacct_decimal_commas(void **state) {
    struct fixture *f = *state;
    const struct gsim_trace_options options = {.is_lenient = true};
    static const char text[] = "JobIDRaw|Submit|State|ElapsedRaw|AllocTRES|NTasks|TRESUsageInMax\n"
                               "1|2024-03-01T00:00:00|COMPLETED|10|cpu=8,mem=64,5G,gres/gpu=1||\n"
                               "2|2024-03-01T00:00:00|COMPLETED|10|mem=64.5G,gres/gpu=1||\n"
                               "2.0|2024-03-01T00:00:00|COMPLETED|10|gres/gpu=1|1|cpu=00:01:00,gres/gpumem=1,5G,mem=3G\n"
                               "3|2024-03-01T00:00:00|COMPLETED|10|mem=1T,1002=3,gres/gpu=1||\n"
                               "4|2024-03-01T00:00:00|COMPLETED|10|gres/gpu=1,mem=2048||\n"
                               "5|2024-03-01T00:00:00|COMPLETED|10|gres/gpu=1,mem=64Q||\n";
    put(f, text, strlen(text));
    assert_int_equal(gsim_trace_read(f->path, "sacct", &options, f->arena, &f->trace, &f->log), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 3);
    expect_job(f, 0, "2", 10, 1);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_HOST_MEM_BYTES, 0), INT64_C(129) << 29);
    assert_true(gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, 0) < 0);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_HOST_MEM_BYTES, 1), INT64_C(1) << 40);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_HOST_MEM_BYTES, 2), INT64_C(2) << 30);
    expect_warning(f, "left out 2 rows (the first is line 2): the column 'AllocTRES' has no list such as");
    expect_warning(f, "left out 1 row (the first is line 4): the column 'TRESUsageInMax' has no list such as");
}

/* Times with a zone, in the night in which Berlin's 02:00 became 03:00: an hour from 01:30+0100 to 03:30+0200. Job 2 was
 * submitted at 00:30 UTC, as job 1 was, by a clock of New York. */
static void test_sacct_times_with_a_zone(void **state) {
    struct fixture *f = *state;
    static const char text[] =
        "JobIDRaw|Submit|Start|End|State|ElapsedRaw|AllocTRES\n"
        "1|2024-03-31T01:30:00+0100|2024-03-31T01:30:00+0100|2024-03-31T03:30:00+0200|COMPLETED|3600|gres/gpu=1\n"
        "2|2024-03-30T20:30:00-0400|2024-03-31T03:00:00+0200|2024-03-31T03:30:00+0200|COMPLETED|1800|gres/gpu=1\n"
        "3|2024-03-31T01:30:00+01x0|2024-03-31T01:30:00+0100|2024-03-31T03:30:00+0200|COMPLETED|3600|gres/gpu=1\n";
    assert_int_equal(read_from(f, text, NULL), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 2);
    expect_job(f, 0, "1", 3600, 1);
    expect_job(f, 1, "2", 1800, 1);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_END_NS, 0), 3600 * S);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LOGGED_START_NS, 1), 1800 * S);
    assert_int_equal(f->trace.origin_s, 0); /* of UTC, as no file of a site has it */
    assert_int_equal(f->log.n_warnings, 1); /* of row 3 */
}

/* Of all columns (sacct -o ALL) some stand between texts by users: the '|' of job 1 is that of its SubmitLine, since a time
 * stands behind that, and not of SystemComment. */
static void test_sacct_all_columns(void **state) {
    struct fixture *f = *state;
    static const char text[] =
        "JobIDRaw|Submit|ElapsedRaw|AllocTRES|State|SubmitLine|Suspended|SystemComment|SystemCPU|User\n"
        "1|2024-03-01T00:00:00|10|gres/gpu=1|COMPLETED|sbatch --wrap a | b|00:00:00|none|00:01.5|ann\n"
        "2|2024-03-01T00:00:00|10|gres/gpu=1|COMPLETED|sbatch x|00:00:00|no|ne|00:01.5|bob\n";
    assert_int_equal(read_log(f, text), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 2);
    for (uint32_t i = 0; i < 2; i++)
        assert_string_equal(f->trace.names[GSIM_COL_USER].name[f->trace.column[GSIM_COL_USER][i]], i ? "bob" : "ann");
}

/* "JobID" as Windows writes it, in either order of bytes. */
static void test_utf16(void **state) {
    struct fixture *f = *state;
    static const char little[] = "\xff\xfeJ\0o\0b\0I\0D\0\n\0", big[] = "\xfe\xff\0J\0o\0b\0I\0D\0\n";
    put(f, little, sizeof little - 1);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    assert_non_null(strstr(f->log.errors[0].text, "UTF-16; 'iconv -f UTF-16 -t UTF-8 FILE'"));
    put(f, big, sizeof big - 1);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    assert_non_null(strstr(f->log.errors[0].text, "UTF-16; 'iconv -f UTF-16 -t UTF-8 FILE'"));
}

/* sacct --json begins as any JSON does. */
static void test_json(void **state) {
    struct fixture *f = *state;
    put(f, "{\n \"jobs\": []\n}\n", 16);
    f->log = (struct gsim_log){0};
    const struct gsim_trace_options options = {0};
    assert_int_equal(gsim_trace_read(f->path, "sacct", &options, f->arena, &f->trace, &f->log), GSIM_BAD_INPUT);
    assert_non_null(strstr(f->log.errors[0].text, "it is JSON (sacct --json), which is not read"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_sacct_mig_names),
        TEST(test_sacct_times_that_cannot_be),
        TEST(test_sacct_jobs_that_run_on),
        TEST(test_sacct_logs_that_were_joined),
        TEST(test_sacct_a_log_begins_later),
        TEST(test_sacct_where_a_log_begins),
        TEST(test_sacct_a_log_that_begins_with_its_first_job),
        TEST(test_sacct_of_two_clusters),
        TEST(test_sacct_decimal_commas),
        TEST(test_sacct_times_with_a_zone),
        TEST(test_sacct_all_columns),
        TEST(test_utf16),
        TEST(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
