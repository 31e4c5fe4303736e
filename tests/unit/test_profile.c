/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device profiles: every listed device is complete and says where its numbers are from, the H200's
 * are those of the measured tables, and what is wrong in a file is named by its line. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/hardware/derived.h"
#include "sim/base/embedded.h"
#include "sim/base/ini.h"
#include "sim/base/units.h"
#include "tests/support/profile_fixture.h"

static enum gsim_status set(struct fixture *f, const char *key, const char *text) {
    bool known = false;
    f->log = (struct gsim_log){0};
    enum gsim_status status = gsim_profile_set(&f->profile, key, text, &known, f->arena, &f->log);
    assert_true(known);
    return status;
}

static void assert_error(const struct fixture *f, const char *expected) {
    assert_true(f->log.n_errors > 0);
    if (!strstr(f->log.errors[0].text, expected))
        fail_msg("expected '%s' in '%s'", expected, f->log.errors[0].text);
}

/* --- the listed devices ----------------------------------------------------------------------- */

static const char *const listed[] = {
    "a10",      "a100-40", "a100-80", "a6000",   "b200",       "gh200", "h100-pcie",
    "h100-sxm", "h200",    "ideal",   "l4",      "l40s",       "p100",  "rtx2080ti",
    "rtx3080",  "rtx3090", "rtx4090", "rtx5080", "rtx6000ada", "t4",    "v100"};
enum { N_LISTED = sizeof listed / sizeof *listed };

static void the_listed_devices_are_there_in_order(void **state) {
    (void)state;
    char names[64][48];
    int n = gsim_profile_names(names, 64);
    assert_int_equal(n, N_LISTED);
    for (int i = 0; i < n; i++)
        assert_string_equal(names[i], listed[i]);
}

static void every_value_has_a_tag_and_a_source(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < N_LISTED; i++) {
        assert_int_equal(load(f, listed[i]), GSIM_OK);
        assert_string_equal(f->profile.name, listed[i]);
        assert_true(strlen(f->profile.title) > 0);
        for (int k = 0; k < GSIM_KEY_COUNT; k++) {
            assert_true(f->profile.value[k] >= 0);
            assert_in_range(f->profile.tag[k], GSIM_TAG_MEASURED, GSIM_TAG_ASSUMED);
            assert_true(f->profile.source[k] && strlen(f->profile.source[k]) > 0);
            assert_true(f->profile.text[k] && strlen(f->profile.text[k]) > 0);
        }
    }
}

static void a_definition_assumes_nothing_and_costs_nothing(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "ideal"), GSIM_OK);
    for (int k = 0; k < GSIM_KEY_COUNT; k++) {
        assert_int_equal(f->profile.tag[k], GSIM_TAG_PUBLISHED);
        const char *name = gsim_key_name((enum gsim_key)k);
        if (strstr(name, "_ns") && strncmp(name, "slice.", 6) != 0)
            assert_int_equal(f->profile.value[k], 0);
        if (strncmp(name, "pcie.", 5) == 0 && strstr(name, "_per_s"))
            assert_true(f->profile.value[k] == INT64_MAX);
    }
}

static void nothing_runs_faster_than_its_peak(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < N_LISTED; i++) {
        assert_int_equal(load(f, listed[i]), GSIM_OK);
        const int64_t *value = f->profile.value;
        int64_t link = value[GSIM_KEY_PCIE_PEAK];
        assert_true(value[GSIM_KEY_HBM_BYTES_PER_S] <= value[GSIM_KEY_HBM_PEAK_BYTES_PER_S]);
        assert_true(value[GSIM_KEY_PCIE_H2D] <= link && value[GSIM_KEY_PCIE_D2H] <= link);
        assert_true(value[GSIM_KEY_PCIE_DUPLEX] / 2 <= link);
        assert_true(value[GSIM_KEY_PCIE_H2D_REUSED] <= value[GSIM_KEY_PCIE_H2D]);
        assert_true(value[GSIM_KEY_MIGRATE_IN] <= link && value[GSIM_KEY_MIGRATE_OUT] <= link);
        assert_true(value[GSIM_KEY_UVM_COPY] <= link);
    }
}

/* A driver keeps some of the memory for itself, so a round number of GiB is that of the card. */
static void the_memory_is_what_the_driver_leaves(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < N_LISTED; i++) {
        assert_int_equal(load(f, listed[i]), GSIM_OK);
        bool is_told = f->profile.tag[GSIM_KEY_HBM_BYTES] != GSIM_TAG_FITTED &&
                       strcmp(listed[i], "ideal") != 0;
        if (is_told && f->profile.value[GSIM_KEY_HBM_BYTES] % ((int64_t)1 << 30) == 0)
            fail_msg("%s: hbm_bytes is the card's memory", listed[i]);
    }
}

static void curves_rise_and_end_on_the_device(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < N_LISTED; i++) {
        assert_int_equal(load(f, listed[i]), GSIM_OK);
        const struct gsim_curve_point *point = f->profile.curve[GSIM_KEY_HBM_BY_SMS];
        int64_t n = f->profile.value[GSIM_KEY_HBM_BY_SMS];
        assert_true(point && n > 0);
        for (int64_t p = 1; p < n; p++)
            assert_true(point[p - 1].x < point[p].x && point[p - 1].y <= point[p].y);
        assert_true(point[n - 1].x <= f->profile.value[GSIM_KEY_SMS]);
        assert_true(point[n - 1].y <= f->profile.value[GSIM_KEY_HBM_BYTES_PER_S]);
    }
}

static bool ends_in(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static void the_unit_is_in_the_key(void **state) {
    (void)state;
    static const char *const kinds[][2] = {
#define GSIM_KEY(symbol, name, kind, help) {name, #kind},
#include "models/hardware/keys.def"
#undef GSIM_KEY
    };
    for (int k = 0; k < GSIM_KEY_COUNT; k++) {
        const char *name = kinds[k][0], *kind = kinds[k][1];
        bool is_time = ends_in(name, "_ns") || ends_in(name, "_ns_per_gib");
        assert_int_equal(strcmp(kind, "NS") == 0, is_time);
        assert_int_equal(strcmp(kind, "BYTES") == 0, ends_in(name, "bytes"));
        assert_int_equal(strcmp(kind, "RATE") == 0 || strcmp(kind, "CURVE") == 0,
                         ends_in(name, "_per_s"));
        assert_true(strlen(gsim_key_help((enum gsim_key)k)) > 0);
    }
}

/* In assumed.ini everything is assumed, or a device would inherit a claim that is not its own. */
static void assumed_ini_claims_nothing(void **state) {
    struct fixture *f = *state;
    const struct gsim_embedded *file = gsim_embedded_find("models/devices/assumed.ini");
    assert_non_null(file);
    struct gsim_ini ini;
    assert_int_equal(gsim_ini_read_text(file->name, (const char *)file->bytes, file->size, f->arena,
                                        &ini, &f->log),
                     GSIM_OK);
    for (int i = 0; i < ini.n; i++)
        if (strcmp(ini.entries[i].key, "title") != 0)
            assert_true(strstr(ini.entries[i].value, "| assumed |") ||
                        strstr(ini.entries[i].value, "| published | by definition"));
}

static void embedded_files_are_sorted(void **state) {
    (void)state;
    for (const struct gsim_embedded *file = gsim_embedded_files; file[0].name && file[1].name;
         file++)
        assert_true(strcmp(file[0].name, file[1].name) < 0);
}

/* --- the H200 against its tables -------------------------------------------------------------- */

static void the_h200_is_what_was_measured(void **state) {
    struct fixture *f = *state;
    static const struct {
        enum gsim_key key;
        int64_t value;
    } rows[] = {
        {GSIM_KEY_HBM_BYTES, 150109880320}, /* what the driver says */
        {GSIM_KEY_HBM_BYTES_PER_S, 3975800000000}, /* hbm_by_sms.csv: 264 blocks */
        {GSIM_KEY_PCIE_H2D, 55341000000}, /* pcie.csv: h2d, 1 GiB, 55.341 */
        {GSIM_KEY_PCIE_D2H, 55365000000}, /* pcie.csv: d2h, 1 GiB, 55.365 */
        {GSIM_KEY_CHECKPOINT_OUT_NS, 320400000}, /* suspend_cost.csv: 0 GiB, 320.4 ms */
        {GSIM_KEY_CHECKPOINT_OUT_NS_PER_GIB, 394750000}, /* (3478.4 - 320.4) / 8 = 394.75 ms */
        {GSIM_KEY_CHECKPOINT_IN_NS, 169000000}, /* suspend_cost.csv: 0 GiB, 169.0 ms */
        {GSIM_KEY_CHECKPOINT_IN_NS_PER_GIB, 137900000}, /* (1272.2 - 169.0) / 8 = 137.9 ms */
        {GSIM_KEY_UVM_FAULT_NS, 25050}, /* uvm.csv: median of 24.764 25.050 26.789 */
        {GSIM_KEY_UVM_PREFETCH_IN, 50920000000}, /* uvm.csv: median of 50.54 50.92 51.01 */
        {GSIM_KEY_UVM_PREFETCH_OUT, 19790000000}, /* uvm.csv: median of 17.24 19.79 21.17 */
    };
    assert_int_equal(load(f, "h200"), GSIM_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (f->profile.value[rows[i].key] != rows[i].value)
            fail_msg("%s", gsim_key_name(rows[i].key));
}

/* (N - 1) quanta and N switches make the time off the device: 2408.4, 4653.6 and 6896.6 us for two,
 * three and four processes (timeslice_quanta.csv, full_state 0). Within one percent. */
static void quantum_and_switch_give_the_time_off(void **state) {
    struct fixture *f = *state;
    static const int64_t off_ns[] = {2408400, 4653600, 6896600};
    assert_int_equal(load(f, "h200"), GSIM_OK);
    for (int64_t n = 2; n <= 4; n++) {
        int64_t model = (n - 1) * f->profile.value[GSIM_KEY_SLICE_QUANTUM_NS] +
                        n * f->profile.value[GSIM_KEY_SWITCH_PREEMPT_NS];
        int64_t error = model - off_ns[n - 2];
        assert_true(error < off_ns[n - 2] / 100 && -error < off_ns[n - 2] / 100);
    }
}

/* Copying 8 GiB out and freeing it: 158.668 ms; back into memory used before: 175.364 ms (medians
 * of suspend_cost.csv). Within half a percent. */
static void suspending_8_gib_costs_what_was_measured(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "h200"), GSIM_OK);
    double bytes = 8.0 * (double)GSIM_GIB;
    double out_ms = bytes / (double)f->profile.value[GSIM_KEY_PCIE_D2H] * 1e3 +
                    8.0 * (double)f->profile.value[GSIM_KEY_SUSPEND_FREE_NS_PER_GIB] / 1e6;
    double in_ms = bytes / (double)f->profile.value[GSIM_KEY_PCIE_H2D_REUSED] * 1e3;
    assert_true(out_ms > 158.668 * 0.995 && out_ms < 158.668 * 1.005);
    assert_true(in_ms > 175.364 * 0.995 && in_ms < 175.364 * 1.005);
}

/* The table itself, where it is at hand: GSIM_SHARED or ../shared. */
static void the_curve_is_the_table(void **state) {
    struct fixture *f = *state;
    const char *shared = getenv("GSIM_SHARED");
    char path[512], line[64];
    (void)snprintf(path, sizeof path, "%s/validation/h200/hbm_by_sms.csv",
                   shared ? shared : "../shared");
    FILE *file = fopen(path, "r");
    if (!file) {
        print_message("no %s: skipped\n", path);
        skip();
    }
    assert_int_equal(load(f, "h200"), GSIM_OK);
    const struct gsim_curve_point *point = f->profile.curve[GSIM_KEY_HBM_BY_SMS];
    int64_t n = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        char *comma = strchr(line, ',');
        int64_t blocks = strtoll(line, NULL, 10), rate;
        assert_non_null(comma);
        assert_int_equal(
            gsim_parse_decimal(comma + 1, strcspn(comma + 1, "\r\n"), 1000000000, &rate),
            GSIM_PARSE_OK);
        if (blocks > f->profile.value[GSIM_KEY_SMS]) { /* two blocks an SM: the peak */
            assert_true(rate == f->profile.value[GSIM_KEY_HBM_BYTES_PER_S]);
            continue;
        }
        assert_true(n < f->profile.value[GSIM_KEY_HBM_BY_SMS]);
        assert_true(point[n].x == blocks && point[n].y == rate);
        n++;
    }
    (void)fclose(file);
    assert_int_equal(n, f->profile.value[GSIM_KEY_HBM_BY_SMS]);
}

/* --- files of the user's ---------------------------------------------------------------------- */

/* Fourteen lines; a test appends the fifteenth, under [pcie]. */
static const char chip[] = "[device]\n"
                           "sms = 10 | measured | here\n"
                           "hbm_bytes = 1000 | measured | here\n"
                           "hbm_bytes_per_s = 1e9 | measured | here\n"
                           "l2_bytes = 10 | measured | here\n"
                           "fp32_flops_per_s = 1e12 | measured | here\n"
                           "fp16_flops_per_s = 1e12 | measured | here\n"
                           "max_clients = 4 | measured | here\n"
                           "[sm]\n"
                           "register_bytes = 1024 | measured | here\n"
                           "shared_bytes = 1024 | measured | here\n"
                           "threads = 1024 | measured | here\n"
                           "[pcie]\n"
                           "h2d_bytes_per_s = 50e9 | measured | here\n";

static enum gsim_status load_text(struct fixture *f, const char *text, const char *more) {
    char path[] = "/tmp/gsim_test_profile_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fputs(more, file);
    assert_int_equal(fclose(file), 0);
    enum gsim_status status = load(f, path);
    (void)unlink(path);
    return status;
}

/* The peak is 113.87 % of 50e9 = 56.935e9; both ways 158.69 % of that = 90.3501515e9; the memory's
 * peak is 120.73 % of 1e9. */
static void gaps_are_filled_as_shares(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load_text(f, chip, ""), GSIM_OK);
    const struct gsim_profile *profile = &f->profile;
    assert_true(profile->value[GSIM_KEY_HBM_PEAK_BYTES_PER_S] == 1207300000);
    assert_true(profile->value[GSIM_KEY_PCIE_PEAK] == 56935000000);
    assert_true(profile->value[GSIM_KEY_PCIE_DUPLEX] == 90350151500);
    assert_string_equal(profile->text[GSIM_KEY_PCIE_DUPLEX], "90350151500");
    assert_int_equal(profile->tag[GSIM_KEY_PCIE_DUPLEX], GSIM_TAG_ASSUMED);
    assert_int_equal(profile->tag[GSIM_KEY_PCIE_H2D], GSIM_TAG_MEASURED);
}

/* On 10 SMs the first three points (0.3, 0.6 and 1.2 SMs) meet at one SM and the last of
 * them, 27.03 percent, stands; then 2.5, 5, 7.5 and 10 SMs, halves rounded up. */
static void the_curve_follows_the_device(void **state) {
    struct fixture *f = *state;
    static const struct gsim_curve_point expected[] = {
        {1, 270300000}, {3, 484800000}, {5, 778800000}, {8, 896000000}, {10, 977100000}};
    assert_int_equal(load_text(f, chip, ""), GSIM_OK);
    assert_int_equal(f->profile.value[GSIM_KEY_HBM_BY_SMS], 5);
    for (int i = 0; i < 5; i++) {
        assert_true(f->profile.curve[GSIM_KEY_HBM_BY_SMS][i].x == expected[i].x);
        assert_true(f->profile.curve[GSIM_KEY_HBM_BY_SMS][i].y == expected[i].y);
    }
}

static void what_is_wrong_is_named_by_its_line(void **state) {
    struct fixture *f = *state;
    static const char *const rows[][2] = {
        {"d2h_bytes_per_s = 1e9 | guessed | here\n", ":15: key 'pcie.d2h_bytes_per_s': 'guessed'"},
        {"d2h_bytes_per_s = 1e9 | measured |\n", ":15: key 'pcie.d2h_bytes_per_s': expected"},
        {"d2h_bytes_per_s = 1e9 | measured\n", ":15: key 'pcie.d2h_bytes_per_s': expected"},
        {"d2h_bytes_per_s = 1e9\n", ":15: key 'pcie.d2h_bytes_per_s': expected"},
        {"d2h_byte_per_s = 1e9 | measured | here\n", "did you mean 'pcie.d2h_bytes_per_s'?"},
        {"h2d_bytes_per_s = 1e9 | measured | here\n", ":15: key 'pcie.h2d_bytes_per_s' stands twi"},
        {"d2h_bytes_per_s = fast | measured | here\n",
         ":15: key 'pcie.d2h_bytes_per_s': 'fast' is"},
        {"d2h_bytes_per_s = 0 | measured | here\n", ":15: key 'pcie.d2h_bytes_per_s': '0' is"},
        {"sync_ns = -1 | measured | here\n", ":15: key 'pcie.sync_ns': -1 is out of range; acc"},
        {"[slice]\nquantum_ns = 0 | measured | here\n", ":16: key 'slice.quantum_ns': 0 is out of"},
        {"d2h_bytes_per_s = 5% of sms | measured | here\n", ":15: key 'pcie.d2h_bytes_per_s': '5%"},
        {"[sm]\nhbm_curve_bytes_per_s = 4:1e9,2:2e9 | measured | here\n", ":16: key 'sm.hbm_curve"},
        {"[sm]\nhbm_curve_bytes_per_s = 4:1e9 8:2e9 | measured | here\n", ":16: key 'sm.hbm_curve"},
        {"just words\n", ":15: neither"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(load_text(f, chip, rows[i][0]), GSIM_BAD_INPUT);
        assert_error(f, rows[i][1]);
    }
}

static void an_over_long_line_is_refused(void **state) {
    struct fixture *f = *state;
    char line[256];
    (void)snprintf(line, sizeof line, "sync_ns = 1 | measured | %0200d\n", 0);
    assert_int_equal(load_text(f, chip, line), GSIM_BAD_INPUT);
    assert_error(f, ":15: the line is longer than");
}

static void all_errors_of_a_file_are_found_at_once(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load_text(f, chip, "a = 1\nb = 2\nsync_ns = x | measured | here\n"),
                     GSIM_BAD_INPUT);
    assert_int_equal(f->log.n_errors, 3);
}

static void a_chip_s_own_facts_are_never_assumed(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load_text(f, "[device]\nsms = 10 | measured | here\n", ""), GSIM_BAD_INPUT);
    assert_error(f, "the key 'hbm_bytes'");
}

/* Without the link's rate and without its peak, each would follow from the other. */
static void shares_must_start_from_a_number(void **state) {
    struct fixture *f = *state;
    char text[sizeof chip];
    memcpy(text, chip, sizeof chip);
    *strstr(text, "[pcie]") = '\0';
    assert_int_equal(load_text(f, text, ""), GSIM_BAD_INPUT);
    assert_error(f, "comes back to itself");
}

static void an_unknown_device_gets_a_suggestion(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "h20"), GSIM_USAGE);
    assert_error(f, "did you mean 'h200'?");
    assert_int_equal(load(f, "a100"), GSIM_USAGE);
    assert_error(f, "did you mean 'a100-40' or 'a100-80'?");
    assert_int_equal(load(f, "H100"), GSIM_USAGE);
    assert_error(f, "did you mean 'h100-pcie' or 'h100-sxm'?");
    assert_int_equal(load(f, "H200"), GSIM_USAGE);
    assert_error(f, "did you mean 'h200'?");
    assert_int_equal(load(f, "assumed"), GSIM_USAGE);
    assert_int_equal(load(f, "./nosuch.ini"), GSIM_BAD_INPUT);
    assert_error(f, "./nosuch.ini: the file cannot be read");
}

/* One letter off, and another device. */
static void another_device_is_no_typo(void **state) {
    struct fixture *f = *state;
    static const char *const others[] = {"gh300", "b300", "gb200", "h20x", "x"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(load(f, others[i]), GSIM_USAGE);
        assert_null(strstr(f->log.errors[0].text, "did you mean"));
        assert_error(f, "; listed are a10, a100-40, ");
        assert_error(f, "v100, and a file of your own ends in .ini");
    }
}

/* --- --set ------------------------------------------------------------------------------------ */

static void set_takes_units_and_is_tagged(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "h200"), GSIM_OK);
    assert_int_equal(set(f, "hbm_bytes", "20GiB"), GSIM_OK);
    assert_true(f->profile.value[GSIM_KEY_HBM_BYTES] == 20 * GSIM_GIB);
    assert_int_equal(f->profile.tag[GSIM_KEY_HBM_BYTES], GSIM_TAG_GIVEN);
    assert_string_equal(f->profile.text[GSIM_KEY_HBM_BYTES], "20GiB");
    assert_int_equal(set(f, "slice.quantum_ns", "1.5ms"), GSIM_OK);
    assert_int_equal(f->profile.value[GSIM_KEY_SLICE_QUANTUM_NS], 1500000);
    assert_int_equal(set(f, "pcie.h2d_bytes_per_s", "25GB/s"), GSIM_OK);
    assert_true(f->profile.value[GSIM_KEY_PCIE_H2D] == 25000000000);
    assert_int_equal(set(f, "uvm.clean_copy", "off"), GSIM_OK);
    assert_int_equal(f->profile.value[GSIM_KEY_UVM_CLEAN_COPY], 0);
}

/* 87.82 % of 20e9 = 17.564e9, and 88.51 % of that = 15.5458964e9. */
static void shares_follow_what_is_set(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "t4"), GSIM_OK);
    assert_int_equal(set(f, "pcie.peak_bytes_per_s", "20GB/s"), GSIM_OK);
    assert_true(f->profile.value[GSIM_KEY_PCIE_H2D] == 17564000000);
    assert_true(f->profile.value[GSIM_KEY_PCIE_H2D_REUSED] == 15545896400);
    assert_int_equal(f->profile.tag[GSIM_KEY_PCIE_H2D], GSIM_TAG_ASSUMED);
    assert_int_equal(set(f, "pcie.h2d_bytes_per_s", "10GB/s"), GSIM_OK);
    assert_true(f->profile.value[GSIM_KEY_PCIE_H2D_REUSED] == 8851000000);
}

/* Registers and shared memory of all SMs over 90.15 % of what copies reach: of an A100 with 40 GB
 * 108 x 430 080 bytes at 1 288 GB/s, which is the published 40 us; of others, by hand:
 * T4 40 x 327 680 = 13.107 MB at 0.9015 x 0.8283 x 320e9 = 238.95 GB/s, 54.85 us;
 * B200 148 x 495 616 = 73.351 MB at 0.9015 x 0.8283 x 7672e9 = 5728.8 GB/s, 12.80 us;
 * H200 132 x 495 616 = 65.421 MB at 0.9015 x 3975.8e9 = 3584.2 GB/s, 18.25 us. */
static void saving_follows_the_state_and_the_memory(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *device;
        int64_t save_ns;
    } rows[] = {{"t4", 54854}, {"b200", 12804}, {"h200", 18253}, {"a100-40", 40000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(load(f, rows[i].device), GSIM_OK);
        assert_int_equal(f->profile.value[GSIM_KEY_PREEMPT_SAVE_NS], rows[i].save_ns);
        assert_int_equal(f->profile.value[GSIM_KEY_PREEMPT_RESTORE_NS], rows[i].save_ns);
    }
    assert_int_equal(load(f, "t4"), GSIM_OK);
    int64_t before = f->profile.value[GSIM_KEY_PREEMPT_SAVE_NS];
    assert_int_equal(set(f, "sms", "80"), GSIM_OK); /* twice the state */
    assert_in_range(f->profile.value[GSIM_KEY_PREEMPT_SAVE_NS], 2 * before - 1, 2 * before);
    assert_int_equal(load(f, "a100-40"), GSIM_OK); /* the rule makes what is published */
    assert_int_equal(set(f, "preempt.save_ns", "sm state over 90.15% of hbm_bytes_per_s"), GSIM_OK);
    assert_in_range(f->profile.value[GSIM_KEY_PREEMPT_SAVE_NS], 39990, 40010);
}

static void a_state_rule_is_of_a_time_and_a_rate(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "h200"), GSIM_OK);
    assert_int_equal(set(f, "preempt.save_ns", "sm state over 5% of sms"), GSIM_USAGE);
    assert_int_equal(set(f, "preempt.save_ns", "sm state over 0% of hbm_bytes_per_s"), GSIM_USAGE);
    assert_int_equal(set(f, "preempt.save_ns", "sm state over 5% of nothing"), GSIM_USAGE);
    assert_int_equal(set(f, "pcie.h2d_bytes_per_s", "sm state over 5% of hbm_bytes_per_s"),
                     GSIM_USAGE);
    assert_int_equal(load(f, "ideal"), GSIM_OK); /* no state, no end to the rate */
    assert_int_equal(set(f, "preempt.save_ns", "sm state over 5% of hbm_bytes_per_s"), GSIM_OK);
    assert_int_equal(f->profile.value[GSIM_KEY_PREEMPT_SAVE_NS], 0);
}

/* A quarter of the H200's 63.015 GB/s: rates that were measured at the whole are a quarter, too, within
 * the millionth to which the share is kept. */
static void measured_rates_follow_a_given_peak(void **state) {
    struct fixture *f = *state;
    static const enum gsim_key keys[] = {GSIM_KEY_PCIE_H2D,     GSIM_KEY_PCIE_D2H,
                                         GSIM_KEY_PCIE_DUPLEX,  GSIM_KEY_UVM_COPY,
                                         GSIM_KEY_MIGRATE_BOTH, GSIM_KEY_MIGRATE_IN};
    assert_int_equal(load(f, "h200"), GSIM_OK);
    struct gsim_profile before = f->profile;
    assert_int_equal(set(f, "pcie.d2h_bytes_per_s", "9e9"), GSIM_OK);
    assert_int_equal(set(f, "pcie.peak_bytes_per_s", "15753846154"), GSIM_OK);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i] == GSIM_KEY_PCIE_D2H)
            continue;
        double ratio = (double)f->profile.value[keys[i]] / (double)before.value[keys[i]];
        assert_true(ratio > 0.249999 && ratio < 0.250001);
        assert_int_equal(f->profile.tag[keys[i]], GSIM_TAG_ASSUMED);
    }
    assert_true(f->profile.value[GSIM_KEY_PCIE_D2H] == 9000000000); /* given by hand */
    assert_int_equal(load(f, "h200"), GSIM_OK);
    assert_int_equal(set(f, "pcie.peak_bytes_per_s", "63015384615"), GSIM_OK); /* what it was */
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_true(f->profile.value[keys[i]] == before.value[keys[i]]);
    assert_int_equal(load(f, "ideal"), GSIM_OK); /* unlimited: all of it */
    assert_int_equal(set(f, "pcie.peak_bytes_per_s", "10e9"), GSIM_OK);
    assert_true(f->profile.value[GSIM_KEY_PCIE_H2D] == 10000000000);
    assert_true(f->profile.value[GSIM_KEY_PCIE_DUPLEX] == 20000000000);
}

/* Here the peak was only assumed from the rate that was measured: 113.87 % of 50e9. */
static void a_measured_rate_stays_where_the_peak_was_assumed(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load_text(f, chip, ""), GSIM_OK);
    assert_int_equal(set(f, "pcie.peak_bytes_per_s", "60e9"), GSIM_OK);
    assert_true(f->profile.value[GSIM_KEY_PCIE_H2D] == 50000000000);
    assert_int_equal(f->profile.tag[GSIM_KEY_PCIE_H2D], GSIM_TAG_MEASURED);
    assert_true(f->profile.value[GSIM_KEY_PCIE_D2H] == 52716000000); /* 87.86 % of 60e9 */
    assert_int_equal(load_text(f, chip, ""), GSIM_OK);
    assert_int_equal(set(f, "pcie.peak_bytes_per_s", "40e9"), GSIM_OK);
    assert_true(f->profile.value[GSIM_KEY_PCIE_H2D] == 40000000000); /* it carries no more */
    assert_int_equal(f->profile.tag[GSIM_KEY_PCIE_H2D], GSIM_TAG_ASSUMED);
}

static void what_is_given_must_fit_together(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "h200"), GSIM_OK);
    assert_int_equal(set(f, "hbm_bytes", "1MiB"), GSIM_OK);
    assert_int_equal(gsim_derived_check(&f->profile, &f->log), GSIM_USAGE);
    assert_error(f, "hbm_bytes=1MiB is less than one chunk of memory, uvm.chunk_bytes=2097152");
    assert_int_equal(set(f, "hbm_bytes", "2MiB"), GSIM_OK);
    assert_int_equal(gsim_derived_check(&f->profile, &f->log), GSIM_OK);
    assert_int_equal(set(f, "pcie.duplex_bytes_per_s", "21e9"), GSIM_OK);
    assert_int_equal(set(f, "pcie.peak_bytes_per_s", "10e9"), GSIM_OK);
    assert_int_equal(gsim_derived_check(&f->profile, &f->log), GSIM_USAGE);
    assert_error(f, "pcie.duplex_bytes_per_s=21e9 is more than the link carries");
    assert_int_equal(set(f, "pcie.duplex_bytes_per_s", "20e9"), GSIM_OK);
    assert_int_equal(gsim_derived_check(&f->profile, &f->log), GSIM_OK);
}

static void set_refuses_what_makes_no_device(void **state) {
    struct fixture *f = *state;
    bool known = true;
    assert_int_equal(load(f, "h200"), GSIM_OK);
    assert_int_equal(gsim_profile_set(&f->profile, "nosuch", "1", &known, f->arena, &f->log),
                     GSIM_OK);
    assert_false(known);
    assert_int_equal(f->log.n_errors, 0);
    assert_int_equal(set(f, "sms", "0"), GSIM_USAGE);
    assert_error(f, "sms: 0 is out of range; accepted: 1 to");
    assert_int_equal(set(f, "hbm_bytes", "plenty"), GSIM_USAGE);
    assert_error(f, "hbm_bytes: 'plenty' is not a number of bytes");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_listed_devices_are_there_in_order),
        TEST(every_value_has_a_tag_and_a_source),
        TEST(a_definition_assumes_nothing_and_costs_nothing),
        TEST(nothing_runs_faster_than_its_peak),
        TEST(the_memory_is_what_the_driver_leaves),
        TEST(curves_rise_and_end_on_the_device),
        TEST(the_unit_is_in_the_key),
        TEST(assumed_ini_claims_nothing),
        TEST(embedded_files_are_sorted),
        TEST(the_h200_is_what_was_measured),
        TEST(quantum_and_switch_give_the_time_off),
        TEST(suspending_8_gib_costs_what_was_measured),
        TEST(the_curve_is_the_table),
        TEST(gaps_are_filled_as_shares),
        TEST(the_curve_follows_the_device),
        TEST(what_is_wrong_is_named_by_its_line),
        TEST(an_over_long_line_is_refused),
        TEST(all_errors_of_a_file_are_found_at_once),
        TEST(a_chip_s_own_facts_are_never_assumed),
        TEST(shares_must_start_from_a_number),
        TEST(an_unknown_device_gets_a_suggestion),
        TEST(another_device_is_no_typo),
        TEST(set_takes_units_and_is_tagged),
        TEST(shares_follow_what_is_set),
        TEST(saving_follows_the_state_and_the_memory),
        TEST(a_state_rule_is_of_a_time_and_a_rate),
        TEST(measured_rates_follow_a_given_peak),
        TEST(a_measured_rate_stays_where_the_peak_was_assumed),
        TEST(what_is_given_must_fit_together),
        TEST(set_refuses_what_makes_no_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
