/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/hardware/keys.h"

#include <string.h>

const struct gsim_key_def gsim_keys[GSIM_KEY_COUNT] = {
#define GSIM_KEY(symbol, name, kind, help)                                                         \
    [GSIM_KEY_##symbol] = {name, GSIM_KIND_##kind, sizeof name - 1, help},
#include "models/hardware/keys.def"
#undef GSIM_KEY
};

const char *gsim_key_name(enum gsim_key key) {
    return gsim_keys[key].name;
}

const char *gsim_key_help(enum gsim_key key) {
    return gsim_keys[key].help;
}

enum gsim_key gsim_key_called(const char *name, size_t length) {
    int k = 0;
    while (k < GSIM_KEY_COUNT &&
           (gsim_keys[k].length != length || memcmp(gsim_keys[k].name, name, length) != 0))
        k++;
    return (enum gsim_key)k;
}

const char *gsim_tag_name(enum gsim_tag tag) {
    static const char *const names[GSIM_TAG_COUNT] = {"measured", "published", "fitted", "assumed",
                                                      "given"};
    return names[tag];
}

int gsim_key_find(const char *name) {
    enum gsim_key key = gsim_key_called(name, strlen(name));
    return key < GSIM_KEY_COUNT ? (int)key : -1;
}

bool gsim_key_is_shown_only(int key) {
    static const enum gsim_key shown[] = {
        GSIM_KEY_PCIE_H2D_COPY_NS, GSIM_KEY_PCIE_D2H_COPY_NS,       GSIM_KEY_PCIE_DUPLEX_COPY_NS,
        GSIM_KEY_PCIE_SYNC_NS,     GSIM_KEY_SUSPEND_PIN_NS_PER_GIB, GSIM_KEY_CONTEXT_CREATE_NS};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if ((int)shown[i] == key)
            return true;
    return false;
}

bool gsim_key_split(const char *text, const char *part[3], struct gsim_arena *arena) {
    for (int i = 0; i < 3; i++) {
        const char *bar = i < 2 ? strchr(text, '|') : text + strlen(text);
        if (!bar)
            return false;
        const char *end = bar;
        while (text < end && *text == ' ')
            text++;
        while (end > text && end[-1] == ' ')
            end--;
        part[i] = gsim_arena_strndup(arena, text, (size_t)(end - text));
        if (!part[i] || !*part[i])
            return false;
        text = bar + 1;
    }
    return true;
}
