/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make fuzz: inputs that the coverage of earlier ones suggests (libFuzzer). */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/target.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    if (!fuzz_begin())
        abort();
    (void)atexit(fuzz_end);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    int code;
    const char *wrong = fuzz_one(bytes, n, &code);
    if (wrong) {
        fprintf(stderr, "fuzz: %s\n", wrong);
        abort();
    }
    return 0;
}
