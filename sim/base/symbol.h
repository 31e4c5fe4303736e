/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of libraries that are opened as the program runs. */
#ifndef GSIM_SYMBOL_H
#define GSIM_SYMBOL_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Stores a function's address in a pointer to a function, through memory: dlsym returns a pointer
 * to an object, and C has no cast between the two. */
static inline bool gsim_symbol(void *library, const char *name, void *function, size_t size) {
    void *address = dlsym(library, name);
    memcpy(function, &address, size);
    return address != NULL;
}

#endif
