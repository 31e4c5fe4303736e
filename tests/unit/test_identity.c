/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run is known by: sums of files as they were read, and of the program as far as it can change
 * the run. */
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

#include "sim/app/identity/contents.h"
#include "sim/app/identity/program.h"
#include "policies/registry.h"

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void make_file(char *path) {
    int file = mkstemp(path);
    assert_int_not_equal(file, -1);
    assert_int_equal(close(file), 0);
}

/* The sums are those of FIPS 180-4's examples, "abc" and the empty message. */
static const char of_abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char of_nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static void contents_are_read_once(void **state) {
    (void)state;
    char path[] = "/tmp/gsim-identity-XXXXXX";
    static struct gsim_log log;
    const struct gsim_file_content *first, *second;
    struct gsim_contents *contents = gsim_contents_new(3);
    log = (struct gsim_log){0};
    make_file(path);
    write_file(path, "abc");
    assert_int_equal(gsim_contents_take(contents, path, false, &first, &log), GSIM_OK);
    assert_string_equal(first->sha256, of_abc);
    assert_int_equal(first->size, 3);
    assert_memory_equal(first->bytes, "abc", 3);
    write_file(path, "abcd");
    assert_int_equal(gsim_contents_take(contents, path, false, &second, &log), GSIM_OK);
    assert_ptr_equal(first, second);
    gsim_contents_free(contents);
    contents = gsim_contents_new(3);
    assert_int_equal(gsim_contents_take(contents, path, false, &second, &log), GSIM_OK);
    assert_null(second->bytes); /* four bytes are more than are kept */
    assert_int_equal(second->size, 4);
    assert_string_not_equal(second->sha256, of_abc);
    write_file(path, "");
    gsim_contents_free(contents);
    contents = gsim_contents_new(0);
    assert_int_equal(gsim_contents_take(contents, path, false, &second, &log), GSIM_OK);
    assert_string_equal(second->sha256, of_nothing);
    assert_non_null(second->bytes);
    gsim_contents_free(contents);
    (void)remove(path);
}

/* A file that each run opens again must not change while a sweep is under way. */
static void a_watched_file_that_changes_is_told(void **state) {
    (void)state;
    char path[] = "/tmp/gsim-identity-XXXXXX";
    static struct gsim_log log;
    const struct gsim_file_content *content;
    log = (struct gsim_log){0};
    make_file(path);
    write_file(path, "abc");
    for (int is_watched = 0; is_watched < 2; is_watched++) {
        struct gsim_contents *contents = gsim_contents_new(1 << 20);
        write_file(path, "abc");
        assert_int_equal(gsim_contents_take(contents, path, is_watched, &content, &log), GSIM_OK);
        assert_int_equal(gsim_contents_check(contents, &log), GSIM_OK);
        write_file(path, "abd");
        assert_int_equal(gsim_contents_check(contents, &log), is_watched ? GSIM_FAILED : GSIM_OK);
        gsim_contents_free(contents);
    }
    assert_non_null(strstr(log.errors[0].text, "changed while runs read it"));
    (void)remove(path);
}

static const struct gsim_source *find(const char *owner, const char *part) {
    for (const struct gsim_source *source = gsim_sources; *source->owner; source++)
        if (strcmp(source->owner, owner) == 0 && strcmp(source->part, part) == 0)
            return source;
    return NULL;
}

static void parts_count_for_their_policies(void **state) {
    (void)state;
    static struct gsim_log log;
    const struct gsim_policy *las = gsim_policies_find("las", &log);
    const struct gsim_policy *easy = gsim_policies_find("easy-backfill", &log);
    const struct gsim_source *core = find("all", "sim/core");
    const struct gsim_source *own = find("las", "policies/las.c");
    const struct gsim_source *dashed = find("easy_backfill", "policies/easy_backfill.c");
    assert_true(core && own && dashed);
    assert_int_equal(strlen(core->sha256), 64);
    assert_true(gsim_source_counts(core, las) && gsim_source_counts(core, easy));
    assert_true(gsim_source_counts(own, las) && !gsim_source_counts(own, easy));
    assert_true(gsim_source_counts(dashed, easy) && !gsim_source_counts(dashed, las));
}

/* The source of the policy by this name in the folder of another one, with which it has files in
 * common. */
static const struct gsim_source *find_in_folders(const char *owner) {
    char end[128];
    (void)snprintf(end, sizeof end, "/%s.c", owner);
    for (const struct gsim_source *source = gsim_sources; *source->owner; source++) {
        size_t n = strlen(source->part), length = strlen(end);
        if (strcmp(source->owner, owner) == 0 && n > length &&
            strcmp(source->part + n - length, end) == 0)
            return source;
    }
    return NULL;
}

/* Otherwise a change of it would go unnoticed. */
static void every_policy_has_its_file(void **state) {
    (void)state;
    for (int p = 0; gsim_policies[p]; p++) {
        const char *symbol = gsim_policies_symbol(gsim_policies[p]);
        char file[128];
        (void)snprintf(file, sizeof file, "policies/%s.c", symbol);
        const struct gsim_source *source = find(symbol, file);
        if (!source)
            source = find_in_folders(symbol);
        if (!source)
            print_message("# neither %s nor a file of a folder\n", file);
        assert_non_null(source);
        /* and the headers that it includes: settings of its own, or a site's */
        assert_true(find(source->owner, "policies/lib/settings.h") ||
                    find(source->owner, "policies/slurm/state.h"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_are_read_once),
        cmocka_unit_test(a_watched_file_that_changes_is_told),
        cmocka_unit_test(parts_count_for_their_policies),
        cmocka_unit_test(every_policy_has_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
