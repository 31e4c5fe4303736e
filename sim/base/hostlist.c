/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/hostlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "A maximum of two numeric ranges may be included" in a name (slurm.conf(5), NodeName). */
enum { MAX_NODES = 100000, MAX_DIGITS = 9, MAX_NAME = 256, MAX_BRACKETS = 2 };

struct hosts {
    bool (*each)(void *arg, const char *node, size_t length);
    void *arg;
    int n;
};

/* A name as far as it is known, and the part of the list that is left of it. */
struct half {
    char name[MAX_NAME];
    size_t length;
    const char *rest, *end;
};

static bool pass(struct hosts *h, const struct half *half);

static bool append(struct half *half, const char *text, size_t length) {
    if (length >= MAX_NAME - half->length)
        return false;
    memcpy(half->name + half->length, text, length);
    half->length += length;
    half->name[half->length] = '\0';
    return true;
}

/* Passes the nodes of "01-03" or "7", with as many digits as the first number. */
static bool pass_range(struct hosts *h, const struct half *half, const char *text, size_t length) {
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
        struct half longer = *half;
        int n = snprintf(number, sizeof number, "%0*ld", (int)width, i);
        if (n < 0 || !append(&longer, number, (size_t)n) || !pass(h, &longer))
            return false;
    }
    return first <= last;
}

/* Passes what a name with a bracket stands for, rack[0-1]n[01-20]: each number of the first one,
 * with each of the second. */
static bool pass(struct hosts *h, const struct half *half) {
    struct half longer = *half;
    size_t plain = strcspn(half->rest, "[");
    if (half->rest + plain >= half->end) {
        return append(&longer, half->rest, (size_t)(half->end - half->rest)) && longer.length > 0 &&
               ++h->n <= MAX_NODES && h->each(h->arg, longer.name, longer.length);
    }
    const char *text = half->rest + plain + 1, *close = strchr(text, ']');
    if (!append(&longer, half->rest, plain) || !close || close == text)
        return false;
    longer.rest = close + 1;
    while (text < close) {
        size_t length = strcspn(text, ",]");
        if (!pass_range(h, &longer, text, length))
            return false;
        text += length + 1;
    }
    return true;
}

/* The comma behind the first name of a list, or the end. */
static const char *end_of_name(const char *list) {
    bool is_inside = false;
    for (; *list && (is_inside || *list != ','); list++)
        is_inside = *list == '[' || (is_inside && *list != ']');
    return list;
}

bool gsim_hostlist_each(const char *list, bool (*each)(void *arg, const char *node, size_t length),
                        void *arg) {
    struct hosts h = {.each = each, .arg = arg};
    while (*list) {
        const char *end = end_of_name(list);
        int n_brackets = 0;
        for (const char *at = list; at < end; at++)
            n_brackets += *at == '[';
        struct half half = {.rest = list, .end = end};
        if (n_brackets > MAX_BRACKETS || !pass(&h, &half))
            return false;
        list = end + (*end == ',');
    }
    return true;
}
