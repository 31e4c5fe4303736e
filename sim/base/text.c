/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Typos: a name that begins with the word wins, otherwise the closest name if it is close enough to
 * be meant. */
#include "sim/base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 };

static int least(int a, int b) {
    return a < b ? a : b;
}

int gsim_text_distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return 255;
    int row[3][LONGEST + 1]; /* two rows back, one back, the current one */
    for (size_t j = 0; j <= m; j++)
        row[1][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        row[2][0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int is_other = a[i - 1] != b[j - 1];
            int best = least(least(row[1][j] + 1, row[2][j - 1] + 1), row[1][j - 1] + is_other);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, row[0][j - 2] + 1);
            row[2][j] = best;
        }
        memcpy(row[0], row[1], sizeof row[0]);
        memcpy(row[1], row[2], sizeof row[1]);
    }
    return row[1][m];
}

static char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

/* Copies in lower case, cut after as many letters as a distance looks at. */
static void lower_copy(char out[LONGEST + 2], const char *text) {
    size_t n = 0;
    for (; text[n] && n <= LONGEST; n++)
        out[n] = lower(text[n]);
    out[n] = '\0';
}

bool gsim_text_abbreviates(const char *word, const char *name) {
    size_t n = 0;
    while (word[n] && lower(word[n]) == lower(name[n]))
        n++;
    return n >= 2 && !word[n];
}

int gsim_text_suggest(const char *word, const char *const *names, int count) {
    char small[LONGEST + 2], name[LONGEST + 2];
    int found = -1, closest = 255, length = (int)strlen(word);
    bool is_begun = false;
    lower_copy(small, word);
    for (int i = 0; i < count; i++) {
        bool begins = gsim_text_abbreviates(word, names[i]);
        lower_copy(name, names[i]);
        int distance = gsim_text_distance(small, name);
        if (begins > is_begun || (begins == is_begun && distance < closest)) {
            closest = distance;
            found = i;
            is_begun = begins;
        }
    }
    int tolerance = length / 3; /* a third of the letters may be wrong, at least two */
    bool is_close = closest <= (tolerance < 2 ? 2 : tolerance) && closest < length;
    return is_begun || is_close ? found : -1;
}

enum { MOST_PLAIN = 64 };

/* Copies letters and digits in lower case; false: too long to be a slip of any name. */
static bool plain(char *out, const char *text, size_t length) {
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        bool is_kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 128;
        if (n == MOST_PLAIN - 1)
            return false;
        if (is_kept)
            out[n++] = c;
    }
    out[n] = '\0';
    return true;
}

/* The length without a unit behind the last '_'. */
static size_t stem_length(const char *text) {
    static const char units[] =
        "ns|us|ms|s|sec|secs|second|seconds|m|min|mins|minutes|h|hr|hours|d|days|"
        "time|b|bytes|kb|kib|mb|mib|gb|gib|tb|tib|gbps|mbps|fraction|ppm|pct";
    const char *last = strrchr(text, '_');
    return last && gsim_text_choice(last + 1, units) >= 0 ? (size_t)(last - text) : strlen(text);
}

/* The nearness of a word to a name, 1 the nearest; 0: no near miss. */
static int nearness(const char *word, const char *name) {
    char a[MOST_PLAIN], b[MOST_PLAIN], a_stem[MOST_PLAIN], b_stem[MOST_PLAIN];
    if (!plain(a, word, strlen(word)) || !plain(b, name, strlen(name)) ||
        !plain(a_stem, word, stem_length(word)) || !plain(b_stem, name, stem_length(name)))
        return 0;
    size_t n = strlen(a), m = strlen(b);
    if (strcmp(a, b) == 0)
        return 1;
    bool is_plural = (n == m + 1 && a[m] == 's' && strncmp(a, b, m) == 0) ||
                     (m == n + 1 && b[n] == 's' && strncmp(a, b, n) == 0);
    if (is_plural && n > 1)
        return 2;
    if (*a_stem && strcmp(a_stem, b_stem) == 0)
        return 3;
    int distance = gsim_text_distance(a, b);
    if ((n >= 4 && distance == 1) || (n >= 8 && distance == 2))
        return 4;
    return n >= 3 && strncmp(a, b, n) == 0 ? 5 : 0;
}

int gsim_text_near_miss(const char *word, const char *const *names, int count) {
    int found = -1, nearest = 6;
    for (int i = 0; i < count; i++) {
        int near = nearness(word, names[i]);
        if (near > 0 && near < nearest) {
            nearest = near;
            found = i;
        }
    }
    return found;
}

int gsim_text_choice(const char *word, const char *choices) {
    size_t n = strlen(word);
    for (int i = 0; *choices; i++) {
        const char *bar = strchr(choices, '|');
        size_t length = bar ? (size_t)(bar - choices) : strlen(choices);
        if (length == n && strncmp(word, choices, n) == 0)
            return i;
        choices += length + (bar != NULL);
    }
    return -1;
}

int gsim_text_utf8_length(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    int n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : 0;
    if (p[0] >= 0xf0 && p[0] < 0xf5)
        n = 4;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool is_long = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool is_no_character = (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf4 && p[1] >= 0x90);
    return is_long || is_no_character ? 0 : n;
}

bool gsim_text_is_utf8(const char *text, size_t length) {
    for (size_t i = 0, n; i < length; i += n) {
        char next[5] = ""; /* the text may end in a character */
        if ((unsigned char)text[i] >= 0x80)
            memcpy(next, text + i, length - i < 4 ? length - i : 4);
        n = next[0] ? (size_t)gsim_text_utf8_length(next) : 1;
        if (n == 0)
            return false;
    }
    return true;
}

int gsim_text_json(const char *text, char piece[8]) {
    unsigned char first = (unsigned char)*text;
    int n = gsim_text_utf8_length(text);
    if (n == 0 || first < 32)
        snprintf(piece, 8, "\\u%04x", first);
    else
        snprintf(piece, 8, "%s%.*s", first == '"' || first == '\\' ? "\\" : "", n, text);
    return n ? n : 1;
}

bool gsim_text_begins(const char *text, const char *prefix) {
    for (; *prefix; text++, prefix++) {
        if (lower(*text) != *prefix)
            return false;
    }
    return true;
}

uint32_t gsim_text_sum(uint32_t sum, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)text[i]) * UINT32_C(16777619);
    return sum * UINT32_C(16777619); /* the end, a zero byte */
}

const char *gsim_plural(int64_t n) {
    return n == 1 ? "" : "s";
}
