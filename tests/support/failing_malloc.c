/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An allocator to be preloaded, which says that there is no memory once: at the FAIL_AT-th allocation
 * of the process, counted from 1. COUNT_TO names a file that gets the number of allocations. Programs
 * that it starts have all the memory that there is. The allocations are glibc's. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static atomic_ulong n_allocations;
static unsigned long fail_at;

__attribute__((constructor)) static void begin(void) {
    const char *at = getenv("FAIL_AT");
    fail_at = at ? strtoul(at, NULL, 10) : 0;
    n_allocations = 0;
    unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("COUNT_TO");
    char text[32];
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    int n = snprintf(text, sizeof text, "%lu\n", (unsigned long)n_allocations);
    if (write(fd, text, (size_t)n) != n)
        _exit(99);
    close(fd);
}

static int fails(void) {
    if (atomic_fetch_add(&n_allocations, 1) + 1 != fail_at || fail_at == 0)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size) {
    return fails() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    *out = fails() ? NULL : __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}
