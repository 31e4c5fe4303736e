/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces: what a file says is what is read, what is wrong with it is said with line and column,
 * and what is written reads back as the same. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/trace_file.h"
#include "traces/input.h"

#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

/* --- the native format ------------------------------------------------------------------------ */

static void test_a_plain_trace(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s,gpus\n"
                                  "a,0,1.5,1\n"
                                  "b,0.000000001,100,8\n"),
                     GSIM_OK);
    const struct gsim_trace *t = &f->trace;
    assert_int_equal(t->n_jobs, 2);
    assert_string_equal(t->format, "native");
    assert_string_equal(gsim_trace_id(t, 1), "b");
    assert_int_equal(t->submit_ns[1], 1);
    assert_int_equal(t->service_ns[0], S + S / 2);
    assert_int_equal(gsim_trace_gpus(t, 1), 8);
    assert_int_equal(gsim_trace_line(t, 1), 3);
    assert_null(t->line);
    assert_null(t->order);
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        assert_null(t->column[c]);
}

static void test_columns_in_any_order_and_defaults(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "duration_s,user,job_id,mem_gib,submit_s,class\n"
                                  "3,ann,x,1.5,2,production\n"
                                  "4,,y,,2,\n"),
                     GSIM_OK);
    const struct gsim_trace *t = &f->trace;
    assert_null(t->gpus);
    assert_int_equal(gsim_trace_gpus(t, 0), 1);
    assert_int_equal(gsim_trace_get(t, GSIM_COL_MEM_BYTES, 0),
                     INT64_C(1610612736)); /* 1.5 * 2^30 */
    assert_int_equal(gsim_trace_get(t, GSIM_COL_MEM_BYTES, 1), -1);
    assert_int_equal(gsim_trace_get(t, GSIM_COL_CLASS, 0), GSIM_CLASS_PRODUCTION);
    assert_string_equal(t->names[GSIM_COL_USER].name[gsim_trace_get(t, GSIM_COL_USER, 0)], "ann");
    assert_int_equal(gsim_trace_get(t, GSIM_COL_USER, 1), -1);
    assert_int_equal(gsim_trace_get(t, GSIM_COL_VC, 1), -1);
}

/* 10 * (max(100 ms, 30 ms) + 20 ms) + 1 s = 2.2 s; with 130 ms of host time the host sets the
 * pace: 10 * (130 + 20) ms + 1 s = 2.5 s. One that waits for each kernel launches nothing ahead:
 * 10 * (100 + 30 + 20) ms + 1 s = 2.5 s. */
static void test_service_from_iterations(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "job_id,submit_s,iterations,gpu_ms,host_gap_ms,host_ms,sync,"
                                  "host_tail_s\n"
                                  "a,0,10,100,20,30,iteration,1\n"
                                  "b,0,10,100,20,130,iteration,1\n"
                                  "c,0,10,100,,,,\n"
                                  "d,0,10,100,20,30,kernel,1\n"
                                  "e,0,10,100,20,30,none,1\n"),
                     GSIM_OK);
    assert_int_equal(f->trace.service_ns[0], 2200000000);
    assert_int_equal(f->trace.service_ns[1], 2500000000);
    assert_int_equal(f->trace.service_ns[2], 1000000000);
    assert_int_equal(f->trace.service_ns[3], 2500000000);
    assert_int_equal(f->trace.service_ns[4], 2200000000);
}

static void test_shares_of_a_gpu(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s,gpus\na,0,1,0.25\nb,0,1,2\nc,0,1,\n"),
                     GSIM_OK);
    assert_int_equal(gsim_trace_share(&f->trace, 0), 250000);
    assert_int_equal(gsim_trace_gpus(&f->trace, 0), 1);
    assert_int_equal(gsim_trace_share(&f->trace, 1), GSIM_PPM);
    assert_int_equal(gsim_trace_gpus(&f->trace, 1), 2);
    assert_int_equal(gsim_trace_gpus(&f->trace, 2), 1);
}

static void test_arrival_order_is_stable(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s\na,5,1\nb,3,1\nc,5,1\nd,3,1\n"),
                     GSIM_OK);
    static const uint32_t expected[] = {1, 3, 0, 2};
    assert_non_null(f->trace.order);
    assert_memory_equal(f->trace.order, expected, sizeof expected);
}

/* A byte order mark (1), a comment with a quote (2), the header (3), a blank line (4), jobs with
 * CRLF (5, 6), a comment (7), an id over two lines (8, 9), a job without an end of line (10). */
static void test_lines_are_exact(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "\xef\xbb\xbf# it's \"open\n"
                                  "# two\n"
                                  "job_id,submit_s,duration_s\r\n"
                                  "\n"
                                  "a,0,1\r\n"
                                  "b,0,1\r\n"
                                  "# c,0,1\n"
                                  "\"d\n#e\",0,1\n"
                                  "f,0,1"),
                     GSIM_OK);
    static const int64_t lines[] = {5, 6, 8, 10};
    assert_int_equal(f->trace.n_jobs, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(gsim_trace_line(&f->trace, i), lines[i]);
    assert_string_equal(gsim_trace_id(&f->trace, 2), "d\n#e");
}

static void test_cells_that_do_not_fit(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *row, *expected;
    } cases[] = {
        {"a,0,1,two", "2: column 'gpus': 'two' is not a number of GPUs (1, 2, … or a fraction "
                      "below 1)"},
        {"a,0,1,0", "2: column 'gpus': '0' is not a number of GPUs"},
        {"a,0,1,1.5", "2: column 'gpus': '1.5' is not a number of GPUs"},
        {"a,0,1,-1", "2: column 'gpus': '-1' is not a number of GPUs"},
        {"a,0,1,99999999999", "2: column 'gpus': '99999999999' is not a number of GPUs"},
        {"a,-1,1,1", "2: column 'submit_s': '-1' is not a time in seconds"},
        {"a,x,1,1", "2: column 'submit_s': 'x' is not a time in seconds"},
        {"a,,1,1", "2: column 'submit_s': '' is not a time in seconds"},
        {"a,0,-0.5,1", "2: column 'duration_s': '-0.5' is not a time in seconds"},
        {"a,0,nan,1", "2: column 'duration_s': 'nan' is not a time in seconds"},
        {"a,0,1e30,1", "2: column 'duration_s': '1e30' is not a time in seconds"},
        {"a,9e9,1,1", "2: column 'submit_s'"},
        {",0,1,1", "2: column 'job_id': '' is not an id"},
        {"a,0,,1", "2: job 'a' has neither duration_s nor iterations and gpu_ms"},
        {"a,0,1", "2: 3 fields; the header has 4 columns"},
        {"a,0,1,1,1", "2: 5 fields; the header has 4 columns"},
        {"a\"b,0,1,1", "2: a quote where none may stand"},
        {"\"a,0,1,1", "2: a quote is left open"},
        {"a,0,1,\x1b[31m\x07", "2: column 'gpus': '?[31m?' is not a number of GPUs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "job_id,submit_s,duration_s,gpus\n%s\n", cases[i].row);
        refuse(f, text, cases[i].expected);
    }
}

static void test_twenty_errors_are_listed_then_counted(void **state) {
    struct fixture *f = *state;
    char text[4096] = "job_id,submit_s,duration_s\n";
    for (int i = 0; i < 30; i++)
        (void)snprintf(text + strlen(text), 32, "j%d,0,bad\n", i);
    assert_int_equal(read_text(f, text), GSIM_BAD_INPUT);
    assert_int_equal(f->log.n_errors, 30);
    assert_non_null(strstr(f->log.errors[GSIM_LOG_ENTRIES - 1].text, "trace.csv:21: "));
}

static void test_headers_that_do_not_do(void **state) {
    struct fixture *f = *state;
    refuse(f, "", " the file is empty");
    refuse(f, "\n\n# nothing\n", " the file is empty");
    refuse(f, "job_id,submit_s,duration_s\n", " the trace has a header but no jobs");
    refuse(f, "submit_s,duration_s\n0,1\n", "1: no column 'job_id'");
    refuse(f, "job_id,duration_s\na,1\n", "1: no column 'submit_s'");
    refuse(f, "job_id,submit_s\na,1\n", "1: no column 'duration_s'");
    refuse(f, "job_id,submit_s,duration_s,gpus,gpus\na,1,1,1,1\n", "1: column 'gpus' stands twice");
    refuse(f, "hello\nworld\n", "1: 'hello' is not the header of a known trace format");
}

static void test_an_unknown_column_is_a_warning(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s,colour\na,0,1,x\nb,0,1,y\n"),
                     GSIM_OK);
    assert_int_equal(f->log.n_warnings, 1);
    assert_non_null(strstr(f->log.warnings[0].text, "unknown column 'colour' is ignored"));
}

static void test_a_column_nearly_of_a_known_name_is_refused(void **state) {
    struct fixture *f = *state;
    refuse(f, "job_id,submit_s,duration_s,uesr\na,0,1,x\n",
           "1: unknown column 'uesr'; did you mean 'user'?");
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s,user,uesr,x_gpus\na,0,1,u,x,7\n"),
                     GSIM_OK);
    assert_int_equal(f->log.n_warnings, 1);
    assert_int_equal(gsim_trace_share(&f->trace, 0), GSIM_PPM); /* one GPU */
}

static void test_duplicate_ids_name_both_lines(void **state) {
    struct fixture *f = *state;
    refuse(f, "job_id,submit_s,duration_s\na,0,1\nb,0,1\n\na,0,1\n",
           "5: column 'job_id': 'a' stands on line 2 already");
    refuse(f, "job_id,submit_s,duration_s\n1,0,1\n2,0,1\n1,0,1\n",
           "4: column 'job_id': '1' stands on line 2 already");
}

static void test_a_nul_byte_is_refused(void **state) {
    struct fixture *f = *state;
    static const char text[] = "job_id,submit_s,duration_s\na,0,1\nb,\0,1\n";
    put(f, text, sizeof text - 1);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, "3: a NUL byte");
}

static void test_ten_million_columns_are_refused(void **state) {
    struct fixture *f = *state;
    size_t n = 20000000;
    char *text = malloc(n);
    assert_non_null(text);
    for (size_t i = 0; i < n; i += 2)
        memcpy(text + i, "a,", 2);
    memcpy(text, "job_id,", 7);
    put(f, text, n);
    free(text);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, "1: more than 256 columns");
}

static void test_a_huge_field_is_refused(void **state) {
    struct fixture *f = *state;
    size_t n = 5000000;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'x', n);
    memcpy(text, "job_id,submit_s,duration_s\n\"", 28);
    put(f, text, n);
    free(text);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, "2: a field of more than 4096 bytes");
}

static void test_files_that_cannot_be_read(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, " the file cannot be read: No such file or directory");
    f->log = (struct gsim_log){0};
    assert_int_equal(gsim_trace_read(f->folder, NULL, NULL, f->arena, &f->trace, &f->log),
                     GSIM_BAD_INPUT);
    assert_non_null(strstr(f->log.errors[0].text, "a directory; a trace is a file"));
    if (geteuid() == 0)
        return; /* root reads everything */
    put(f, "job_id", 6);
    assert_int_equal(chmod(f->path, 0), 0);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, " the file cannot be read: Permission denied");
}

/* --- compression ------------------------------------------------------------------------------ */

enum { BIG_JOBS = 60000 }; /* about 1 MB: several chunks */
enum { TWO_CHUNKS = 20000 }; /* jobs, of 356 kB: one boundary of chunks is within them */

static char *make_jobs(int jobs, size_t *n) {
    size_t size = (size_t)jobs * 32 + 64, at;
    char *text = malloc(size);
    assert_non_null(text);
    at = (size_t)snprintf(text, size, "job_id,submit_s,duration_s\n");
    for (int i = 0; i < jobs; i++) {
        if (i % 1000 == 0)
            at += (size_t)snprintf(text + at, size - at, "# %d\n", i);
        at += (size_t)snprintf(text + at, size - at, "j%d,%d,%d.5\n", i, i, i % 977);
    }
    *n = at;
    return text;
}

/* The header, and behind it a comment before each thousand jobs. */
static void expect_big(const struct fixture *f) {
    assert_int_equal(f->trace.n_jobs, BIG_JOBS);
    for (uint32_t i = 0; i < BIG_JOBS; i++) {
        assert_int_equal(f->trace.submit_ns[i], i * S);
        assert_int_equal(f->trace.service_ns[i], i % 977 * S + S / 2);
        assert_int_equal(gsim_trace_line(&f->trace, i), 2 + i + i / 1000 + 1);
        assert_int_equal(strtol(gsim_trace_id(&f->trace, i) + 1, NULL, 10), i);
    }
}

static void put_gzip(const struct fixture *f, const char *text, size_t n) {
    gzFile file = gzopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)n), n);
    assert_int_equal(gzclose(file), Z_OK);
}

static void put_zstd(const struct fixture *f, const char *text, size_t n) {
    size_t room = ZSTD_compressBound(n);
    void *packed = malloc(room);
    assert_non_null(packed);
    size_t size = ZSTD_compress(packed, room, text, n, 3);
    assert_false(ZSTD_isError(size));
    put(f, packed, size);
    free(packed);
}

static void test_plain_gzip_and_zstd_are_the_same(void **state) {
    struct fixture *f = *state;
    size_t n;
    char *text = make_jobs(BIG_JOBS, &n);
    put(f, text, n);
    assert_int_equal(read_put(f), GSIM_OK);
    expect_big(f);
    put_gzip(f, text, n);
    assert_int_equal(read_put(f), GSIM_OK);
    expect_big(f);
    put_zstd(f, text, n);
    assert_int_equal(read_put(f), GSIM_OK);
    expect_big(f);
    free(text);
}

/* More bytes than are read at once, plain and compressed; the path names no file. */
static void test_a_trace_in_memory(void **state) {
    struct fixture *f = *state;
    size_t n;
    char *text = make_jobs(BIG_JOBS, &n);
    put(f, text, n);
    assert_int_equal(read_put(f), GSIM_OK);
    const struct gsim_trace of_file = f->trace;
    size_t room = ZSTD_compressBound(n);
    void *packed = malloc(room);
    assert_non_null(packed);
    const struct gsim_trace_options as[] = {
        {.bytes = text, .n_bytes = n},
        {.bytes = packed, .n_bytes = ZSTD_compress(packed, room, text, n, 3)}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gsim_trace_read("<jobs>", NULL, &as[i], f->arena, &f->trace, &f->log),
                         GSIM_OK);
        expect_same(&f->trace, &of_file);
        assert_string_equal(f->trace.path, "<jobs>");
    }
    const struct gsim_trace_options empty = {.bytes = ""};
    assert_int_equal(gsim_trace_read("<jobs>", NULL, &empty, f->arena, &f->trace, &f->log),
                     GSIM_BAD_INPUT);
    assert_non_null(strstr(f->log.errors[0].text, "<jobs>: the file is empty"));
    free(packed);
    free(text);
}

static void cut_file(const struct fixture *f) {
    struct stat about;
    assert_int_equal(stat(f->path, &about), 0);
    assert_int_equal(truncate(f->path, about.st_size / 2), 0);
}

static void test_damaged_compression_is_an_error(void **state) {
    struct fixture *f = *state;
    size_t n;
    char *text = make_jobs(BIG_JOBS, &n);
    put_gzip(f, text, n);
    cut_file(f);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, " the file cannot be read: the compressed data ends too early");
    put_zstd(f, text, n);
    cut_file(f);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, " the file cannot be read: the compressed data ends too early");
    put(f, "\x1f\x8bgarbage that is no gzip", 26);
    assert_int_equal(read_put(f), GSIM_BAD_INPUT);
    expect_error(f, " the file cannot be read: the gzip data is damaged");
    free(text);
}

/* A chunk may end anywhere: a comment of growing length moves every boundary over the rows. */
static void test_chunk_boundaries_do_not_show(void **state) {
    struct fixture *f = *state;
    size_t n, room;
    char *text = make_jobs(TWO_CHUNKS, &n), *moved = malloc(n + 64);
    assert_non_null(moved);
    assert_in_range(n, GSIM_INPUT_CHUNK + 1, 2 * GSIM_INPUT_CHUNK);
    for (size_t shift = 0; shift < 24; shift++) {
        room = n + shift + 2;
        moved[0] = '#';
        memset(moved + 1, '"', shift);
        moved[shift + 1] = '\n';
        memcpy(moved + shift + 2, text, n);
        put(f, moved, room);
        assert_int_equal(read_put(f), GSIM_OK);
        assert_int_equal(f->trace.n_jobs, TWO_CHUNKS);
        assert_int_equal(gsim_trace_line(&f->trace, TWO_CHUNKS - 1),
                         2 + TWO_CHUNKS + TWO_CHUNKS / 1000);
    }
    free(text);
    free(moved);
}

/* --- assumptions, other formats --------------------------------------------------------------- */

static enum gsim_status read_assuming(struct fixture *f, const char *text, const char *assume) {
    const char *const list[] = {assume, NULL};
    struct gsim_trace_options options = {.assume = list};
    put(f, text, strlen(text));
    f->log = (struct gsim_log){0};
    return gsim_trace_read(f->path, NULL, &options, f->arena, &f->trace, &f->log);
}

static void test_assumptions_fill_and_are_recorded(void **state) {
    struct fixture *f = *state;
    static const char some[] = "job_id,submit_s,duration_s,mem_gib\na,0,1,8\nb,0,1,\n";
    assert_int_equal(read_assuming(f, some, "mem_gib=20GiB"), GSIM_OK);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, 0), 8 * GSIM_GIB);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_MEM_BYTES, 1), 20 * GSIM_GIB);
    assert_non_null(f->trace.assumed);
    assert_string_equal(f->trace.assumed[0], "mem_gib=20GiB");
    assert_int_equal(read_assuming(f, some, "limit_s=2h"), GSIM_OK);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_LIMIT_NS, 1), 7200 * S);
    assert_int_equal(read_assuming(f, some, "mem_gb=1"), GSIM_USAGE);
    assert_non_null(strstr(f->log.errors[0].text, "did you mean 'mem_gib'?"));
    assert_int_equal(read_assuming(f, some, "mem_gib=much"), GSIM_USAGE);
    assert_int_equal(read_assuming(f, some, "mem_gib"), GSIM_USAGE);
    assert_int_equal(read_assuming(f, some, "gpus=0.5"), GSIM_USAGE);
}

static void test_tiresias_files(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "job_id,num_gpu,submit_time,iterations,model_name,duration,"
                                  "interval\n0,8,30,133,vgg11,147,23\n"),
                     GSIM_OK);
    assert_string_equal(f->trace.format, "tiresias");
    assert_int_equal(gsim_trace_gpus(&f->trace, 0), 8);
    assert_int_equal(f->trace.submit_ns[0], 30 * S);
    assert_int_equal(f->trace.service_ns[0], 147 * S);
    assert_string_equal(f->trace.names[GSIM_COL_MODEL].name[0], "vgg11");
}

/* 32 %: a share; 150 %: two of 75 %; 300 %: three whole ones. CPUs: 1600 % are 16. */
static void test_pai_files(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "job_id,submit_time,duration,num_gpu_pct,num_cpu_pct,user_dur\n"
                                  "0,0,10,32,1600,1\n1,0,10,150,50,1\n2,5,10,300,100,1\n"),
                     GSIM_OK);
    assert_string_equal(f->trace.format, "pai");
    static const int64_t gpus[] = {1, 2, 3}, share[] = {320000, 750000, 1000000},
                         cpus[] = {16000, 500, 1000};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(gsim_trace_gpus(&f->trace, i), gpus[i]);
        assert_int_equal(gsim_trace_share(&f->trace, i), share[i]);
        assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_CPUS_MILLI, i), cpus[i]);
    }
}

/* From 2016-02-28 23:59:59 over the leap day to 2016-03-01 00:00:00: 86401 s. */
static void test_philly_files(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "timestamp,duration,num_gpus,gpu_time,cluster\n"
                                  "2016-03-01 00:00:00,66.0,1,66.0,11cb48\n"
                                  "2016-02-28 23:59:59,2951.0,4,2951.0,6214e9\n"),
                     GSIM_OK);
    assert_string_equal(f->trace.format, "philly");
    assert_int_equal(f->trace.submit_ns[0], 86401 * S);
    assert_int_equal(f->trace.submit_ns[1], 0);
    assert_string_equal(gsim_trace_id(&f->trace, 1), "1");
    assert_int_equal(f->trace.service_ns[1], 2951 * S);
    assert_string_equal(f->trace.names[GSIM_COL_VC].name[1], "6214e9");
    refuse(f, "timestamp,duration,num_gpus,gpu_time,cluster\n2016-13-01 00:00:00,1,1,1,a\n",
           "2: column 'timestamp': '2016-13-01 00:00:00' is not a timestamp");
    refuse(f, "timestamp,duration,num_gpus,gpu_time,cluster\n2017-02-29 00:00:00,1,1,1,a\n",
           "2: column 'timestamp': '2017-02-29 00:00:00' is not a timestamp");
}

static void test_formats_by_name(void **state) {
    struct fixture *f = *state;
    put(f, "x", 1);
    assert_int_equal(gsim_trace_read(f->path, "tiresis", NULL, f->arena, &f->trace, &f->log),
                     GSIM_USAGE);
    assert_non_null(strstr(f->log.errors[0].text, "did you mean 'tiresias'?"));
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_back(struct fixture *f, const struct gsim_trace *trace) {
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    gsim_trace_write(trace, file);
    assert_int_equal(fclose(file), 0);
}

static void read_back_same(struct fixture *f, const char *text) {
    assert_int_equal(read_text(f, text), GSIM_OK);
    struct gsim_trace first = f->trace;
    write_back(f, &first);
    assert_int_equal(read_put(f), GSIM_OK);
    assert_int_equal(f->log.n_warnings, 0);
    expect_same(&first, &f->trace);
}

static void test_what_is_written_reads_back(void **state) {
    struct fixture *f = *state;
    read_back_same(f, "job_id,submit_s,duration_s,gpus\n"
                      "\"a, \"\"b\"\"\",0.1,1.000000001,0.123456\n"
                      "\" c \",2,3,4\n\"#d\",1,1000000,1\n\"e\nf\",3,0,1\n\"\tg\",3,0,1\n");
    read_back_same(f, "job_id,submit_s,iterations,gpu_ms,mem_gib,hbm_gbps,sm_fraction,class,sync,"
                      "priority,weight,user,idempotent\n"
                      "a,0,7,1.000001,0.333333333,123.456789012,0.5,realtime,none,-1,0.125,u,1\n"
                      "b,0,7,1,,,,,,-5,,\"x,y\",0\n"
                      "c,0,7,1,,,,,,0,,,\n");
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_PRIORITY, 0), -1);
    assert_int_equal(gsim_trace_get(&f->trace, GSIM_COL_PRIORITY, 2), 0);
    /* a duration beside iterations is kept, where it says something else */
    read_back_same(f,
                   "job_id,submit_s,duration_s,iterations,gpu_ms\na,0,2.5,2,1000\nb,0,,2,1000\n");
}

/* Native CSV has no jobs without a GPU; jobs of other formats that are left out are rows of no file. */
static void test_what_is_left_out_is_not_written(void **state) {
    struct fixture *f = *state;
    static const char pai[] = "job_id,submit_time,duration,num_gpu_pct,num_cpu_pct\n"
                              "1,0,10,0,600\n2,5,10,50,600\n3,6,10,150,600\n4,7,10,100,600\n";
    put(f, pai, sizeof pai - 1);
    assert_int_equal(gsim_trace_read(f->path, "pai", NULL, f->arena, &f->trace, &f->log), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 4);
    struct gsim_trace first = f->trace;
    write_back(f, &first);
    assert_int_equal(read_put(f), GSIM_OK);
    assert_int_equal(f->trace.n_jobs, 2);
    assert_string_equal(gsim_trace_id(&f->trace, 0), "2");
    assert_string_equal(gsim_trace_id(&f->trace, 1), "4");
}

/* Jobs of the public traces, counted with wc -l less the header. */
static void test_public_traces(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *path, *format;
        uint32_t n_jobs;
    } files[] = {
        {"../shared/traces/tiresias/60_job.csv", "tiresias", 60},
        {"../shared/traces/derived/phillymix5000_job.csv", "tiresias", 5000},
        {"../shared/traces/derived/openb_pai_effective_7000.csv", "pai", 7000},
        {"../shared/traces/philly_via_pollux/philly.csv", "philly", 82247},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (access(files[i].path, R_OK) != 0) {
            print_message("no %s: the public traces are not here\n", files[i].path);
            skip();
        }
        assert_int_equal(gsim_trace_read(files[i].path, NULL, NULL, f->arena, &f->trace, &f->log),
                         GSIM_OK);
        assert_string_equal(f->trace.format, files[i].format);
        assert_int_equal(f->trace.n_jobs, files[i].n_jobs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_plain_trace),
        TEST(test_columns_in_any_order_and_defaults),
        TEST(test_service_from_iterations),
        TEST(test_shares_of_a_gpu),
        TEST(test_arrival_order_is_stable),
        TEST(test_lines_are_exact),
        TEST(test_cells_that_do_not_fit),
        TEST(test_twenty_errors_are_listed_then_counted),
        TEST(test_headers_that_do_not_do),
        TEST(test_an_unknown_column_is_a_warning),
        TEST(test_a_column_nearly_of_a_known_name_is_refused),
        TEST(test_duplicate_ids_name_both_lines),
        TEST(test_a_nul_byte_is_refused),
        TEST(test_ten_million_columns_are_refused),
        TEST(test_a_huge_field_is_refused),
        TEST(test_files_that_cannot_be_read),
        TEST(test_plain_gzip_and_zstd_are_the_same),
        TEST(test_a_trace_in_memory),
        TEST(test_damaged_compression_is_an_error),
        TEST(test_chunk_boundaries_do_not_show),
        TEST(test_assumptions_fill_and_are_recorded),
        TEST(test_tiresias_files),
        TEST(test_pai_files),
        TEST(test_philly_files),
        TEST(test_formats_by_name),
        TEST(test_what_is_written_reads_back),
        TEST(test_what_is_left_out_is_not_written),
        TEST(test_public_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
