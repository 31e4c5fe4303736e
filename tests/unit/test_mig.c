/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MIG: the tables of the real devices, and layouts that the driver makes and refuses. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "models/hardware/mig.h"
#include "models/hardware/profile.h"
#include "sim/base/ini.h"
#include "gsim/units.h"

static const struct gsim_mig *load(const char *device, struct gsim_arena *arena) {
    static struct gsim_log log;
    struct gsim_profile profile;
    log = (struct gsim_log){0};
    assert_int_equal(gsim_profile_load(device, arena, &profile, &log), GSIM_OK);
    return profile.mig;
}

static int open_arena(void **state) {
    *state = gsim_arena_new();
    return *state ? 0 : -1;
}

static int close_arena(void **state) {
    gsim_arena_free(*state);
    return 0;
}

/* Each instance begins where its profile may, on slices that no other one has. */
static void expect_sound(const struct gsim_mig *mig, const struct gsim_mig_layout *layout) {
    uint32_t taken = 0;
    for (int i = 0; i < layout->n; i++) {
        const struct gsim_mig_profile *profile = &mig->profile[layout->instance[i].profile];
        uint32_t start = layout->instance[i].start;
        uint32_t slices = ((UINT32_C(1) << profile->slices) - 1) << start;
        assert_true(profile->starts >> start & 1);
        assert_int_equal(taken & slices, 0);
        taken |= slices;
    }
}

/* The layout of n instances of a profile. */
static enum gsim_status parse_many(const struct gsim_mig *mig, const char *profile, int n,
                                   struct gsim_mig_layout *layout) {
    static struct gsim_log log;
    char text[256] = "";
    log = (struct gsim_log){0};
    for (int i = 0; i < n; i++) {
        strcat(text, i > 0 ? "," : "");
        strcat(text, profile);
    }
    return gsim_mig_parse(mig, text, layout, &log);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* How many instances of each profile fit alone: as nvidia-smi mig -lgip says under "Instances". */
static void as_many_instances_fit_as_nvidia_smi_says(void **state) {
    static const struct {
        const char *device, *profile;
        int most;
        int64_t sms;
        double gib;
    } rows[] = {
        {"a100-40", "1g.5gb", 7, 14, 4.75},    {"a100-40", "1g.10gb", 4, 14, 9.62},
        {"a100-40", "2g.10gb", 3, 28, 9.62},   {"a100-40", "3g.20gb", 2, 42, 19.5},
        {"a100-40", "4g.20gb", 1, 56, 19.5},   {"a100-40", "7g.40gb", 1, 98, 39.25},
        {"a100-80", "1g.10gb", 7, 14, 9.5},    {"a100-80", "7g.80gb", 1, 98, 79},
        {"h100-sxm", "1g.10gb", 7, 16, 9.75},  {"h100-sxm", "1g.20gb", 4, 26, 19.62},
        {"h100-sxm", "2g.20gb", 3, 32, 19.62}, {"h100-sxm", "3g.40gb", 2, 60, 39.38},
        {"h100-sxm", "4g.40gb", 1, 64, 39.38}, {"h100-sxm", "7g.80gb", 1, 132, 79.12},
        {"h200", "2g.35gb", 3, 32, 32.25},     {"h200", "3g.71gb", 2, 60, 69.8},
        {"b200", "1g.23gb", 7, 18, 20.5},      {"b200", "1g.45gb", 4, 30, 44.25},
        {"b200", "2g.45gb", 3, 36, 44.25},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gsim_mig *mig = load(rows[i].device, *state);
        assert_non_null(mig);
        int p = gsim_mig_find(mig, rows[i].profile);
        assert_true(p >= 0);
        assert_int_equal(mig->profile[p].sms, rows[i].sms);
        assert_true(mig->profile[p].mem_bytes == (int64_t)(rows[i].gib * (double)GSIM_GIB + 0.5));
        struct gsim_mig_layout layout;
        assert_int_equal(parse_many(mig, rows[i].profile, rows[i].most, &layout), GSIM_OK);
        assert_int_equal(layout.n, rows[i].most);
        expect_sound(mig, &layout);
        assert_int_equal(parse_many(mig, rows[i].profile, rows[i].most + 1, &layout), GSIM_USAGE);
    }
    assert_null(load("v100", *state));
}

/* The MIG user guide lists both with up to seven instances, but not how many SMs they have: what is
 * assumed fits into the device, and says that it is. */
static void what_nobody_published_of_instances_is_assumed(void **state) {
    static const struct {
        const char *device, *one, *half;
        int64_t sms, hbm_bytes;
    } rows[] = {{"h100-pcie", "1g.10gb", "3g.40gb", 114, 85017493504},
                {"b200", "1g.23gb", "3g.90gb", 148, 191501854310}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gsim_mig *mig = load(rows[i].device, *state);
        assert_non_null(mig);
        assert_int_equal(mig->n, 6);
        for (int p = 0; p < mig->n; p++) {
            int64_t most = mig->slices / mig->profile[p].slices;
            assert_true(mig->profile[p].sms <= rows[i].sms);
            assert_true(most * mig->profile[p].mem_bytes <= rows[i].hbm_bytes);
        }
        assert_true(mig->profile[gsim_mig_find(mig, rows[i].half)].is_assumed);
        assert_true(2 * mig->profile[gsim_mig_find(mig, rows[i].half)].sms <= rows[i].sms);
        assert_true(7 * mig->profile[gsim_mig_find(mig, rows[i].one)].sms <= rows[i].sms);
    }
}

static void an_instance_has_its_eighths(void **state) {
    const struct gsim_mig *mig = load("a100-40", *state);
    assert_int_equal(mig->slices, 8);
    assert_int_equal(
        gsim_mig_part(mig, &mig->profile[gsim_mig_find(mig, "3g.20gb")], 1555000000000),
        777500000000);
    assert_int_equal(gsim_mig_part(mig, &mig->profile[gsim_mig_find(mig, "1g.5gb")], 800), 100);
    assert_int_equal(gsim_mig_part(mig, &mig->profile[gsim_mig_find(mig, "7g.40gb")], 800), 800);
}

/* --- layouts ---------------------------------------------------------------------------------- */

static void layouts_that_the_driver_makes(void **state) {
    static const char *const texts[] = {
        "7g.40gb",
        "4g.20gb,3g.20gb",
        "3g.20gb,4g.20gb",
        "4g.20gb,2g.10gb,1g.5gb",
        "1g.5gb,2g.10gb,4g.20gb", /* the order is of no matter */
        "3g.20gb,3g.20gb",
        "3g.20gb,2g.10gb,1g.5gb,1g.5gb",
        "2g.10gb,2g.10gb,2g.10gb,1g.5gb",
        "1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb",
        "3g.20gb@4,2g.10gb@0,1g.5gb@3",
        "1g.10gb,1g.10gb,1g.10gb,1g.10gb",
    };
    const struct gsim_mig *mig = load("a100-40", *state);
    static struct gsim_log log;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct gsim_mig_layout layout;
        assert_int_equal(gsim_mig_parse(mig, texts[i], &layout, &log), GSIM_OK);
        expect_sound(mig, &layout);
        /* instances stand in the order of the text */
        assert_int_equal(strncmp(mig->profile[layout.instance[0].profile].name, texts[i], 2), 0);
    }
}

static void refuse(const struct gsim_mig *mig, const char *text, const char *expected) {
    static struct gsim_log log;
    struct gsim_mig_layout layout;
    log = (struct gsim_log){0};
    assert_int_equal(gsim_mig_parse(mig, text, &layout, &log), GSIM_USAGE);
    if (!strstr(log.errors[0].text, expected))
        fail_msg("expected '%s' in '%s'", expected, log.errors[0].text);
}

static void layouts_that_the_driver_refuses(void **state) {
    const struct gsim_mig *mig = load("a100-40", *state);
    refuse(mig, "4g.20gb,4g.20gb",
           "mig.layout: '4g.20gb,4g.20gb' does not fit: beside the first 1 of these 2 instances "
           "there is room for 3g.20gb, 2g.10gb, 1g.10gb, 1g.5gb");
    refuse(mig, "3g.20gb,3g.20gb,1g.5gb", "room for nothing"); /* all eight slices are taken */
    refuse(mig, "2g.10gb,2g.10gb,2g.10gb,2g.10gb", "does not fit"); /* none begins at 6 */
    refuse(mig, "7g.40gb,1g.5gb", "does not fit");
    refuse(mig, "1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb", "does not fit");
    refuse(mig, "3g.20gb@2", "may not begin at '2'");
    refuse(mig, "1g.5gb@7", "may not begin at '7'");
    refuse(mig, "3g.20gb@0,2g.10gb@2", "overlap");
    refuse(mig, "3g.40gb", "accepted: 7g.40gb, 4g.20gb, 3g.20gb, 2g.10gb, 1g.10gb, 1g.5gb");
    refuse(mig, "", "no MIG profile is called ''");
    refuse(mig, "1g.5gb,", "no MIG profile is called ''");
    refuse(mig,
           "1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,"
           "1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb",
           "more instances than any device has");
}

/* --- files ------------------------------------------------------------------------------------ */

static void read_bad(const char *text, const char *expected, struct gsim_arena *arena) {
    static struct gsim_log log;
    struct gsim_ini ini;
    const struct gsim_mig *mig;
    log = (struct gsim_log){0};
    assert_int_equal(gsim_ini_read_text("mine.ini", text, strlen(text), arena, &ini, &log),
                     GSIM_OK);
    assert_int_equal(gsim_mig_read(&ini, arena, &mig, &log), GSIM_BAD_INPUT);
    assert_true(log.n_errors > 0);
    if (strncmp(log.errors[0].text, expected, strlen(expected)) != 0)
        assert_string_equal(log.errors[0].text, expected);
}

static void a_bad_table_is_named_by_its_line(void **state) {
    read_bad("[mig]\nslices = 0 | assumed | x\n", "mine.ini:2: mig.slices: '0' is not", *state);
    read_bad("[mig]\nslices = 8 | assumed | x\n1g = 14:5GiB:1 | assumed | x\n",
             "mine.ini:3: mig.1g: '14:5GiB:1' is not", *state);
    read_bad("[mig]\nslices = 8 | assumed | x\n1g = 14:5GiB:1:0,0 | assumed | x\n",
             "mine.ini:3: mig.1g: ", *state);
    read_bad("[mig]\n1g = 14:5GiB:1:0 | assumed\n", "mine.ini:2: mig.1g: expected", *state);
    read_bad("[mig]\nslices = 8 | assumed | x\n3g = 42:20GiB:4:0,5 | assumed | x\n",
             "mine.ini: mig.3g: 4 slices from 5 on", *state);
    read_bad("[mig]\nslices = 8 | assumed | x\n1g = 1:1GiB:1:0 | assumed | x\n"
             "1g = 1:1GiB:1:0 | assumed | x\n",
             "mine.ini:4: mig.1g: the profile stands twice", *state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_instances_fit_as_nvidia_smi_says),
        cmocka_unit_test(what_nobody_published_of_instances_is_assumed),
        cmocka_unit_test(an_instance_has_its_eighths),
        cmocka_unit_test(layouts_that_the_driver_makes),
        cmocka_unit_test(layouts_that_the_driver_refuses),
        cmocka_unit_test(a_bad_table_is_named_by_its_line),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
