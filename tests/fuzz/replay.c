/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay FOLDER COPIES: runs every input of the folder (seeds.sh) as it is, and so many copies that are
 * changed at random, the same ones each time. One TAP line an input; what a sanitizer or an assertion
 * stops has no line, and its name is the last one that was said to begin. `replay FOLDER COPIES parts`:
 * each reader (parts.h) takes changed copies of the folder's texts (texts.py). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "tests/fuzz/parts.h"
#include "tests/fuzz/target.h"

enum { MAX_SEEDS = 2048, MAX_BYTES = 16384 };

struct seed {
    char name[256];
    char bytes[MAX_BYTES];
    size_t n;
};

static int by_name(const void *a, const void *b) {
    const struct seed *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static size_t read_seeds(const char *folder, struct seed *seeds) {
    DIR *dir = opendir(folder);
    size_t n = 0;
    for (struct dirent *entry; dir && n < MAX_SEEDS && (entry = readdir(dir));) {
        char path[1024];
        if (entry->d_name[0] == '.')
            continue;
        struct seed *seed = &seeds[n++];
        (void)snprintf(seed->name, sizeof seed->name, "%s", entry->d_name);
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        seed->n = file ? fread(seed->bytes, 1, sizeof seed->bytes, file) : 0;
        if (file)
            (void)fclose(file);
    }
    if (dir)
        (void)closedir(dir);
    qsort(seeds, n, sizeof *seeds, by_name);
    return n;
}

/* --- changes ------------------------------------------------------------------------------------ */

static size_t below(gsl_rng *rng, size_t n) {
    return n ? gsl_rng_uniform_int(rng, n) : 0;
}

/* Replaces `cut` bytes at `at`. */
static void splice(struct seed *seed, size_t at, size_t cut, const char *with, size_t n) {
    cut = cut < seed->n - at ? cut : seed->n - at;
    if (seed->n - cut + n > sizeof seed->bytes)
        return;
    memmove(seed->bytes + at + n, seed->bytes + at + cut, seed->n - at - cut);
    memcpy(seed->bytes + at, with, n);
    seed->n += n - cut;
}

/* A cell or word gives way to one that is hard to digest. */
static void harden(struct seed *seed, gsl_rng *rng) {
    static const char *const hard[] = {"0",     "-1",
                                       "",      "9223372036854775807",
                                       "1e308", "0.0000000001",
                                       "nan",   "\"",
                                       "1e9",   "inf",
                                       "#",     "18446744073709551616",
                                       "0.5",   "2",
                                       ",",     "\xff\xfe",
                                       "=",     "%n",
                                       "1e-9",  "99999999999999999999",
                                       "1/0",   "..",
                                       "65536"};
    static const char ends[] = ",= \n\t|:;";
    size_t at = below(rng, seed->n), from = at, end = at;
    while (from > 0 && !memchr(ends, seed->bytes[from - 1], sizeof ends - 1))
        from--;
    while (end < seed->n && !memchr(ends, seed->bytes[end], sizeof ends - 1))
        end++;
    const char *with = hard[below(rng, sizeof hard / sizeof *hard)];
    splice(seed, from, end - from, with, strlen(with));
}

static size_t line_from(const struct seed *seed, size_t at) {
    while (at > 0 && seed->bytes[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const struct seed *seed, size_t at) {
    while (at < seed->n && seed->bytes[at] != '\n')
        at++;
    return at < seed->n ? at + 1 : at;
}

static void change(struct seed *seed, const struct seed *other, gsl_rng *rng) {
    size_t at = below(rng, seed->n), from = line_from(seed, at), end = line_end(seed, at);
    size_t there = below(rng, other->n), other_from = line_from(other, there);
    char byte = (char)below(rng, 256);
    switch (below(rng, 6)) {
    case 0:
        splice(seed, at, below(rng, 2), &byte, 1);
        break;
    case 1: /* a line goes */
        splice(seed, from, end - from, "", 0);
        break;
    case 2: /* one of another input comes */
        splice(seed, from, 0, other->bytes + other_from, line_end(other, there) - other_from);
        break;
    case 3: /* the end is missing */
        seed->n = at;
        break;
    default:
        harden(seed, rng);
    }
}

/* --- running them ------------------------------------------------------------------------------- */

static bool run(const struct seed *seed, const char *name, int copy, int *code) {
    const char *wrong = fuzz_one((const uint8_t *)seed->bytes, seed->n, code);
    if (wrong)
        printf("# %s, copy %d: %s\n%.*s\n", name, copy, wrong, (int)seed->n, seed->bytes);
    return wrong == NULL;
}

/* The seed in the array's last place becomes a changed copy of another one. */
static const struct seed *changed_copy(struct seed *seeds, const struct seed *of, size_t n,
                                       gsl_rng *rng) {
    struct seed *changed = &seeds[MAX_SEEDS];
    *changed = *of;
    for (size_t k = below(rng, 4) + 1; k > 0 && changed->n > 0; k--)
        change(changed, &seeds[below(rng, n)], rng);
    return changed;
}

static bool replay_commands(struct seed *seeds, size_t n, int copies) {
    bool is_fine = true;
    for (size_t i = 0; i < n; i++) {
        gsl_rng *rng = gsim_rng_stream(1, i, "fuzz");
        int code, ended[5] = {0};
        bool ok = run(&seeds[i], seeds[i].name, 0, &code);
        for (int copy = 1; ok && copy <= copies; copy++) {
            int copy_code;
            ok = run(changed_copy(seeds, &seeds[i], n, rng), seeds[i].name, copy, &copy_code);
            ended[ok && copy_code > 0 ? copy_code : 0]++;
        }
        gsl_rng_free(rng);
        printf("%s input %s: exit %d, its copies %d x 0, %d x 1, %d x 2, %d x 3, %d x 4\n",
               ok ? "ok" : "not ok", seeds[i].name, code, ended[0], ended[1], ended[2], ended[3],
               ended[4]);
        (void)fflush(stdout);
        is_fine = is_fine && ok;
    }
    return is_fine;
}

/* --- readers alone ------------------------------------------------------------------------------ */

static bool run_part(const struct fuzz_part *part, const struct seed *seed) {
    const char *wrong = fuzz_part_one(part, (const uint8_t *)seed->bytes, seed->n);
    if (wrong)
        printf("# %s, %s: %s\n%.*s\n", part->name, seed->name, wrong, (int)seed->n, seed->bytes);
    return wrong == NULL;
}

/* Each reader takes what once broke one, and changed copies of any texts. */
static bool replay_parts(struct seed *seeds, size_t n, int copies) {
    bool is_fine = true;
    for (const struct fuzz_part *part = fuzz_parts; part->name; part++) {
        gsl_rng *rng = gsim_rng_stream(1, (uint64_t)(part - fuzz_parts), "parts");
        bool ok = true;
        for (size_t i = 0; ok && i < n; i++)
            ok = strncmp(seeds[i].name, "parts-", 6) != 0 || run_part(part, &seeds[i]);
        for (int copy = 0; ok && copy < copies; copy++)
            ok = run_part(part, changed_copy(seeds, &seeds[below(rng, n)], n, rng));
        gsl_rng_free(rng);
        printf("%s reader %s: %d inputs\n", ok ? "ok" : "not ok", part->name, copies);
        (void)fflush(stdout);
        is_fine = is_fine && ok;
    }
    return is_fine;
}

static int count_parts(void) {
    int n = 0;
    while (fuzz_parts[n].name)
        n++;
    return n;
}

int main(int argc, char **argv) {
    struct seed *seeds = calloc(MAX_SEEDS + 1, sizeof *seeds);
    bool of_parts = argc == 4 && strcmp(argv[3], "parts") == 0;
    size_t n = (argc == 3 || of_parts) && seeds ? read_seeds(argv[1], seeds) : 0;
    bool is_fine = n > 0 && (of_parts ? fuzz_parts_begin() : fuzz_begin());
    if (!is_fine) {
        (void)fprintf(stderr,
                      "usage: replay SEEDS COPIES [parts], where SEEDS is a folder with some\n");
        free(seeds);
        return 1;
    }
    printf("1..%d\n", of_parts ? count_parts() : (int)n);
    is_fine =
        of_parts ? replay_parts(seeds, n, atoi(argv[2])) : replay_commands(seeds, n, atoi(argv[2]));
    if (!of_parts)
        fuzz_end();
    free(seeds);
    return is_fine ? 0 : 1;
}
