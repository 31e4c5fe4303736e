/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make fuzz PARTS=NAME: a reader alone (parts.h), by inputs that coverage suggests (libFuzzer). The
 * environment's FUZZ_PART names it. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/parts.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const struct fuzz_part *part;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    part = fuzz_part_find(getenv("FUZZ_PART"));
    if (part && fuzz_parts_begin())
        return 0;
    fprintf(stderr, "FUZZ_PART is one of these:\n");
    for (part = fuzz_parts; part->name; part++)
        printf("%s\n", part->name);
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const char *wrong = fuzz_part_one(part, bytes, n);
    if (wrong) {
        fprintf(stderr, "fuzz: %s: %s\n", part->name, wrong);
        abort();
    }
    return 0;
}
