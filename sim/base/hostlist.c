/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/hostlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 100000, MAX_DIGITS = 9, MAX_NAME = 256 };

struct hosts {
    bool (*each)(void *arg, const char *node, size_t length);
    void *arg;
    int n;
    const char *prefix, *suffix;
    size_t prefix_length, suffix_length;
};

static bool pass(struct hosts *h, const char *number) {
    char name[MAX_NAME];
    int n = snprintf(name, sizeof name, "%.*s%s%.*s", (int)h->prefix_length, h->prefix, number,
                     (int)h->suffix_length, h->suffix);
    return n > 0 && n < MAX_NAME && ++h->n <= MAX_NODES && h->each(h->arg, name, (size_t)n);
}

/* Passes the nodes of "01-03" or "7", with as many digits as the first number. */
static bool pass_range(struct hosts *h, const char *text, size_t length) {
    char number[MAX_DIGITS + 2];
    size_t width = strspn(text, "0123456789");
    long first = strtol(text, NULL, 10), last = first;
    if (width == 0 || width > MAX_DIGITS || width > length)
        return false;
    if (width < length) {
        size_t rest = length - width - 1;
        if (text[width] != '-' || rest == 0 || rest > MAX_DIGITS ||
            strspn(text + width + 1, "0123456789") != rest)
            return false;
        last = strtol(text + width + 1, NULL, 10);
    }
    for (long i = first; i <= last; i++) {
        (void)snprintf(number, sizeof number, "%0*ld", (int)width, i);
        if (!pass(h, number))
            return false;
    }
    return first <= last;
}

static bool pass_ranges(struct hosts *h, const char *text, const char *end) {
    while (text < end) {
        size_t length = strcspn(text, ",]");
        if (!pass_range(h, text, length))
            return false;
        text += length + 1;
    }
    return true;
}

bool gsim_hostlist_each(const char *list, bool (*each)(void *arg, const char *node, size_t length),
                        void *arg) {
    struct hosts h = {.each = each, .arg = arg};
    while (*list) {
        h.prefix = list;
        h.prefix_length = strcspn(list, "[,");
        h.suffix = "";
        h.suffix_length = 0;
        const char *end = list + h.prefix_length;
        bool is_ok = true;
        if (*end == '[') {
            const char *close = strchr(end, ']');
            h.suffix = close ? close + 1 : "";
            h.suffix_length = strcspn(h.suffix, ",[");
            is_ok = close && close > end + 1 && h.suffix[h.suffix_length] != '[' &&
                    pass_ranges(&h, end + 1, close);
            end = h.suffix + h.suffix_length;
        } else {
            is_ok = h.prefix_length > 0 && pass(&h, "");
        }
        if (!is_ok)
            return false;
        list = end + (*end == ',');
    }
    return true;
}
