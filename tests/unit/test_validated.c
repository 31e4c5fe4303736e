/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which mechanisms a profile may call validated: those whose constants are what a suite ran with,
 * whatever the profile is called. */
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

#include "models/hardware/validated.h"
#include "tests/support/profile_fixture.h"
#include "sim/base/embedded.h"

static void set(struct fixture *f, const char *key, const char *text) {
    bool known = false;
    assert_int_equal(gsim_profile_set(&f->profile, key, text, &known, f->arena, &f->log), GSIM_OK);
    assert_true(known);
}

static const char *doubt(struct fixture *f, enum gsim_mechanism mechanism, int64_t n) {
    const struct gsim_profile *own = &f->profile;
    return gsim_validated_doubt(&own, 1, mechanism, n, f->arena);
}

static void assert_doubt(struct fixture *f, enum gsim_mechanism mechanism, int64_t n,
                         const char *expected) {
    const char *text = doubt(f, mechanism, n);
    if (!text || !strstr(text, expected))
        fail_msg("expected '%s' in '%s'", expected, text ? text : "(no doubt)");
}

/* The listed device's text with one line exchanged, as a file of the user's. */
static enum gsim_status load_copy(struct fixture *f, const char *device, const char *line,
                                  const char *instead) {
    char name[96], path[] = "/tmp/gsim_test_validated_XXXXXX";
    (void)snprintf(name, sizeof name, "models/devices/%s.ini", device);
    const struct gsim_embedded *file = gsim_embedded_find(name);
    assert_non_null(file);
    const char *text = gsim_arena_strndup(f->arena, (const char *)file->bytes, file->size);
    const char *at = line ? strstr(text, line) : text;
    assert_non_null(at);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "w");
    assert_non_null(out);
    (void)fprintf(out, "%.*s%s%s", (int)(at - text), text, instead, at + (line ? strlen(line) : 0));
    assert_int_equal(fclose(out), 0);
    enum gsim_status status = load(f, path);
    (void)unlink(path);
    return status;
}

/* --- what listed devices claim ---------------------------------------------------------------- */

/* Some table of the suite ran this device; h200 is what tables run that name none. */
static bool ran(struct fixture *f, const char *suite, const char *device) {
    char folder[96], line[96];
    (void)snprintf(folder, sizeof folder, "experiments/validate/%s/", suite);
    (void)snprintf(line, sizeof line, "device = %.64s\n", device);
    bool has_run = false;
    for (const struct gsim_embedded *file = gsim_embedded_files; file->name; file++) {
        if (strncmp(file->name, folder, strlen(folder)) != 0 || !strstr(file->name, ".ini"))
            continue;
        const char *text = gsim_arena_strndup(f->arena, (const char *)file->bytes, file->size);
        has_run |= strstr(text, line) != NULL ||
                   (strcmp(device, "h200") == 0 && !strstr(text, "device = "));
    }
    return has_run;
}

/* A claim names a suite that ran this device, and by its own constants it holds. */
static void listed_devices_claim_what_a_suite_ran(void **state) {
    struct fixture *f = *state;
    char names[64][48];
    int n = gsim_profile_names(names, 64), n_claims = 0;
    for (int i = 0; i < n; i++) {
        assert_int_equal(load(f, names[i]), GSIM_OK);
        for (int m = 0; m < GSIM_MECHANISM_COUNT; m++) {
            const struct gsim_validated *claim = &f->profile.validated[m];
            if (!claim->text)
                continue;
            n_claims++;
            assert_string_equal(claim->device, names[i]);
            if (!ran(f, claim->suite, names[i]))
                fail_msg("%s: no table of '%s' runs it", names[i], claim->suite);
            if (doubt(f, (enum gsim_mechanism)m, 0))
                fail_msg("%s: %s", names[i], doubt(f, (enum gsim_mechanism)m, 0));
        }
    }
    assert_true(n_claims > GSIM_MECHANISM_COUNT);
}

static void what_nobody_claims_names_its_constants(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "t4"), GSIM_OK);
    assert_doubt(f, GSIM_MECHANISM_SLICES, 2,
                 "validated on an H200 only (t4: slice.quantum_ns=2080000 is assumed, and 9 more");
    assert_int_equal(load(f, "h200"), GSIM_OK);
    assert_doubt(f, GSIM_MECHANISM_EVICTION, 0, "eviction under faults: never measured");
    assert_doubt(f, GSIM_MECHANISM_REMOTE, 0, "memory read over a coherent link: rates as published");
    assert_doubt(f, GSIM_MECHANISM_PLANNING, 0, "migrate.plan_ns=42900 is assumed, and 1 more");
    assert_doubt(f, GSIM_MECHANISM_PS, 0, "an idealisation without switching costs");
}

static void a_definition_has_no_doubts(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "ideal"), GSIM_OK);
    for (int m = 0; m < GSIM_MECHANISM_COUNT; m++)
        assert_null(doubt(f, (enum gsim_mechanism)m, 1000));
}

static void many_at_once_are_beyond(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "h200"), GSIM_OK);
    assert_null(doubt(f, GSIM_MECHANISM_SLICES, 8));
    assert_doubt(f, GSIM_MECHANISM_SLICES, 9, "trusted with up to 8 at once, not with 9");
    assert_doubt(f, GSIM_MECHANISM_SHARING, 3, "trusted with up to 2 at once, not with 3");
}

/* --- constants that are others ---------------------------------------------------------------- */

static void a_constant_given_by_hand_is_told(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "h200"), GSIM_OK);
    set(f, "switch.preempt_ns", "50ms");
    assert_doubt(f, GSIM_MECHANISM_SLICES, 2,
                 "validated with switch.preempt_ns=165000 (h200), not 50ms (given)");
    assert_null(doubt(f, GSIM_MECHANISM_SHARING, 2));
    set(f, "switch.preempt_ns", "0.165ms"); /* what it was */
    assert_null(doubt(f, GSIM_MECHANISM_SLICES, 2));
    set(f, "sm.hbm_curve_bytes_per_s", "4:300.2e9,132:3884.7e9");
    assert_doubt(f, GSIM_MECHANISM_SHARING, 2, "sm.hbm_curve_bytes_per_s=4:300.2e9,8:577.7e9");
}

/* An assumed key that was part of what was held against the suite holds, another does not. */
static void assumed_constants_hold_where_they_are_named(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load(f, "rtx5080"), GSIM_OK);
    assert_int_equal(f->profile.tag[GSIM_KEY_UVM_BLOCK_NS], GSIM_TAG_ASSUMED);
    assert_null(doubt(f, GSIM_MECHANISM_FAULTS, 0));
    assert_int_equal(load_copy(f, "rtx5080", ", with uvm.block_ns, uvm.batch_fault_ns", ""),
                     GSIM_OK);
    assert_doubt(f, GSIM_MECHANISM_FAULTS, 0,
                 "uvm.block_ns=12250 of rtx5080 is assumed, not validated, and 1 more");
}

static void a_copy_says_what_the_device_says(void **state) {
    struct fixture *f = *state;
    struct gsim_profile own;
    const struct gsim_profile *listed_one = &own;
    assert_int_equal(load(f, "h200"), GSIM_OK);
    own = f->profile;
    assert_int_equal(load_copy(f, "h200", NULL, ""), GSIM_OK);
    for (int m = 0; m < GSIM_MECHANISM_COUNT; m++) {
        const char *listed =
            gsim_validated_doubt(&listed_one, 1, (enum gsim_mechanism)m, m % 4, f->arena);
        const char *copy = doubt(f, (enum gsim_mechanism)m, m % 4);
        assert_int_equal(!listed, !copy);
    }
}

/* A copy in which somebody has changed a line claims what is not so. */
static void an_edited_copy_is_told(void **state) {
    struct fixture *f = *state;
    assert_int_equal(
        load_copy(f, "h200", "preempt_ns = 165000 | measured", "preempt_ns = 5 | measured"),
        GSIM_OK);
    assert_doubt(f, GSIM_MECHANISM_SLICES, 2,
                 "validated with switch.preempt_ns=165000 (h200), not 5 (measured)");
    assert_null(doubt(f, GSIM_MECHANISM_MIGRATION, 0));
}

static void a_user_s_own_claim_holds_for_its_file(void **state) {
    struct fixture *f = *state;
    assert_int_equal(load_copy(f, "v100", "[preempt]",
                               "[validated]\npreemption = mine on itself, with "
                               "preempt.restore_ns preempt.reset_ns preempt.dirty_ppm "
                               "preempt.incremental_ppm\n  preempt.checkpoint_ns | my tables\n"
                               "[preempt]"),
                     GSIM_OK);
    assert_null(doubt(f, GSIM_MECHANISM_PREEMPTION, 2));
    set(f, "preempt.save_ns", "1ms");
    assert_doubt(f, GSIM_MECHANISM_PREEMPTION, 2, "preempt.save_ns=32000");
}

static void wrong_claims_are_named_by_their_line(void **state) {
    struct fixture *f = *state;
    static const char *const rows[][2] = {
        {"slice = h200 on h200 | here", "did you mean 'slices'?"},
        {"slices = h200 on h200", "validated.slices: no source"},
        {"slices = h200 on h200 |", "validated.slices: no source"},
        {"slices = h200 | here", "validated.slices: no suite and device"},
        {"slices = h200 of h200 | here", "validated.slices: no suite and device"},
        {"slices = h200 on h200, at most many | here", "no number after 'at most'"},
        {"slices = h200 on h200, at most 0 | here", "no number after 'at most'"},
        {"slices = h200 on h200, perhaps | here", "a word too many"},
        {"slices = h200 on h200, with uvm.fault_ns | here", "'with' names no key of the mechanism"},
        {"slices = h200 on ./mine.ini | here", "name a listed one, or 'itself'"},
        {"slices = h200 on nothing | here", "no device is called 'nothing'"},
        {"ps = a on itself | b\nps = a on itself | b", "validated.ps: the mechanism stands twice"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[160];
        (void)snprintf(text, sizeof text, "[validated]\n%s\n[preempt]", rows[i][0]);
        assert_int_not_equal(load_copy(f, "v100", "[preempt]", text), GSIM_OK);
        assert_true(f->log.n_errors > 0);
        if (!strstr(f->log.errors[0].text, rows[i][1]))
            fail_msg("expected '%s' in '%s'", rows[i][1], f->log.errors[0].text);
    }
}

/* --- several devices -------------------------------------------------------------------------- */

static const char *doubt_of_all(struct fixture *f, const char *const *names, uint16_t n,
                                enum gsim_mechanism mechanism) {
    const struct gsim_profile *all[4];
    for (uint16_t i = 0; i < n; i++) {
        struct gsim_profile *copy = gsim_arena_alloc(f->arena, sizeof *copy);
        assert_int_equal(load(f, names[i]), GSIM_OK);
        *copy = f->profile;
        all[i] = copy;
    }
    return gsim_validated_doubt(all, n, mechanism, 2, f->arena);
}

/* What several devices have in common is said once, with their names. */
static void devices_share_a_sentence(void **state) {
    struct fixture *f = *state;
    static const char *const cluster[] = {"h200", "t4", "v100"};
    assert_string_equal(doubt_of_all(f, cluster, 3, GSIM_MECHANISM_SLICES),
                        "time slices and switches: validated on an H200 only (t4, v100: "
                        "slice.quantum_ns=2080000 is assumed, and 9 more like that)");
    assert_string_equal(doubt_of_all(f, cluster, 3, GSIM_MECHANISM_PREEMPTION),
                        "preemption of kernels: held against published ranges and orderings only "
                        "(h200: "
                        "preempt.save_ns=18253 is assumed, and 5 more like that; t4: "
                        "preempt.save_ns=54854 is assumed, and 5 more like that; v100: "
                        "preempt.restore_ns=32000 is assumed, and 4 more like that)");
    assert_string_equal(doubt_of_all(f, cluster, 3, GSIM_MECHANISM_PS),
                        "processor sharing: an idealisation without switching costs (h200, t4, "
                        "v100)");
    assert_null(doubt_of_all(f, cluster, 1, GSIM_MECHANISM_SLICES));
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(listed_devices_claim_what_a_suite_ran),
        CASE(what_nobody_claims_names_its_constants),
        CASE(a_definition_has_no_doubts),
        CASE(many_at_once_are_beyond),
        CASE(a_constant_given_by_hand_is_told),
        CASE(assumed_constants_hold_where_they_are_named),
        CASE(a_copy_says_what_the_device_says),
        CASE(an_edited_copy_is_told),
        CASE(a_user_s_own_claim_holds_for_its_file),
        CASE(wrong_claims_are_named_by_their_line),
        CASE(devices_share_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
