/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of records, tables and keys share: lists that grow, notes, Slurm's forms of
 * times and of TRES. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "gsim/units.h"
#include "sim/base/units.h"
#include "sim/site/slurm_read.h"

enum { MOST_OF_VALUE = 60, MOST_NOTES = 200, MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400 };
#define MOST_MIB (INT64_C(1) << 40) /* an EiB: times a minute in ns it is beyond any limit */

static void out_of_memory(struct gsim_slurm_reading *r) {
    r->status = gsim_no_memory(r->log, "reading slurm.conf");
}

void *gsim_slurm_add(struct gsim_slurm_reading *r, void **list, uint32_t *n, size_t size) {
    if ((*n & (*n - 1)) == 0) { /* room doubles at 0, 1, 2, 4, ... entries */
        size_t room = *n ? 2 * (size_t)*n : 1;
        void *grown = gsim_arena_grow(r->arena, *list, *n * size, room * size);
        if (!grown) {
            out_of_memory(r);
            return NULL;
        }
        *list = grown;
    }
    return (char *)*list + (*n)++ * size;
}

const char *gsim_slurm_keep(struct gsim_slurm_reading *r, const char *text, size_t length) {
    const char *kept = gsim_arena_strndup(r->arena, text, length);
    if (!kept)
        out_of_memory(r);
    return kept ? kept : "";
}

void gsim_slurm_note(struct gsim_slurm_reading *r, const char *key, const char *value,
                     const char *assumed) {
    size_t length = strlen(value);
    const char *what = gsim_arena_printf(r->arena, "%s=%.*s%s", key, (int)MOST_OF_VALUE, value,
                                         length > MOST_OF_VALUE ? "..." : "");
    for (uint32_t i = 0; what && i < r->out->n_notes; i++)
        if (strcmp(r->out->note[i].what, what) == 0)
            return;
    if (r->out->n_notes == MOST_NOTES)
        return;
    struct gsim_slurm_note *note =
        gsim_slurm_add(r, (void **)&r->out->note, &r->out->n_notes, sizeof *note);
    if (note)
        *note = (struct gsim_slurm_note){what ? what : key, assumed, r->line};
}

void gsim_slurm_note_modes(struct gsim_slurm_reading *r, const char *value) {
    if (gsim_slurm_lists(value, "SUSPEND", 7))
        gsim_slurm_note(r, "PreemptMode", value, "REQUEUE: no job is suspended");
    else if (gsim_slurm_lists(value, "GANG", 4))
        gsim_slurm_note(r, "PreemptMode", value, "jobs take no turns");
    if (gsim_slurm_lists(value, "WITHIN", 6))
        gsim_slurm_note(r, "PreemptMode", "WITHIN", "no job is preempted by one of its own QOS");
    if (gsim_slurm_lists(value, "PRIORITY", 8))
        gsim_slurm_note(r, "PreemptMode", "PRIORITY",
                        "a job may be preempted by one of lower priority");
}

void gsim_slurm_refuse(struct gsim_slurm_reading *r, const char *key, const char *value,
                       const char *form) {
    r->status = gsim_fail(r->log, GSIM_BAD_INPUT, r->out->path, r->line, "%s: '%.80s' is not %s",
                          key, value, form);
}

bool gsim_slurm_lists(const char *names, const char *name, size_t length) {
    for (const char *at = names; *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",");
        if (n == length && strncasecmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* Reads a number of at most nine digits. */
static bool take_number(const char **text, int64_t *out) {
    size_t n = strspn(*text, "0123456789");
    bool is_ok = n > 0 && n <= 9 && gsim_parse_decimal(*text, n, 1, out) == GSIM_PARSE_OK;
    *text += n;
    return is_ok;
}

/* Reads up to three numbers with ':' between them. */
static int take_parts(const char **text, int64_t part[3]) {
    int n = 0;
    while (n < 3 && take_number(text, &part[n])) {
        n++;
        if (**text != ':')
            return n;
        (*text)++;
    }
    return 0;
}

bool gsim_slurm_time(const char *text, int64_t *ns) {
    static const int64_t plain[3][3] = {
        {MINUTE_S}, {MINUTE_S, 1}, {HOUR_S, MINUTE_S, 1}}; /* units by the number of parts */
    static const int64_t after_days[3] = {HOUR_S, MINUTE_S, 1};
    int64_t days = 0, part[3] = {0}, seconds = 0;
    const char *dash = strchr(text, '-');
    if (strcasecmp(text, "UNLIMITED") == 0 || strcasecmp(text, "INFINITE") == 0) {
        *ns = -1;
        return true;
    }
    if (dash && (!take_number(&text, &days) || *text++ != '-'))
        return false;
    int n = take_parts(&text, part);
    for (int i = 0; i < n; i++)
        seconds += part[i] * (dash ? after_days[i] : plain[n - 1][i]);
    seconds += days * DAY_S;
    *ns = seconds * GSIM_NS_PER_S;
    return n > 0 && *text == '\0' && seconds < GSIM_TIME_MAX / 2 / GSIM_NS_PER_S;
}

bool gsim_slurm_gpus(const char *text, int64_t *gpus, bool *others) {
    static const char name[] = "gres/gpu=";
    const size_t length = sizeof name - 1;
    *gpus = -1;
    *others = false;
    for (const char *at = text; *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",");
        const char *number = at + length;
        if (strncasecmp(at, name, length) != 0)
            *others = true;
        else if (!take_number(&number, gpus) || number != at + n)
            return false;
        at += n;
    }
    return true;
}

/* --- TRES ------------------------------------------------------------------------------------- */

/* A size in MiB: "512G", "1.5T", or without a letter in MiB. */
static bool mib_of(const char *text, size_t length, int64_t *mib) {
    static const char letters[] = "MGTP";
    const char *letter =
        length > 0 ? strchr(letters, toupper((unsigned char)text[length - 1])) : NULL;
    bool is_kib = length > 0 && toupper((unsigned char)text[length - 1]) == 'K';
    int64_t scale = letter ? INT64_C(1) << 10 * (letter - letters) : 1;
    size_t digits = letter || is_kib ? length - 1 : length;
    if (gsim_parse_decimal(text, digits, scale, mib) != GSIM_PARSE_OK || *mib < 0 ||
        *mib > MOST_MIB)
        return false;
    if (is_kib)
        *mib = (*mib + 1023) / 1024;
    return true;
}

/* The place of a type of GPU among those that limits and weights name; GSIM_SLURM_TRES: there is
 * none left. */
static int type_place(struct gsim_slurm_reading *r, const char *type, size_t length) {
    struct gsim_slurm *out = r->out;
    for (uint32_t t = 0; t < out->n_types; t++)
        if (strlen(out->type[t]) == length && strncasecmp(out->type[t], type, length) == 0)
            return GSIM_SLURM_FIRST_TYPE + (int)t;
    if (out->n_types == GSIM_SLURM_MOST_TYPES)
        return GSIM_SLURM_TRES;
    out->type[out->n_types] = gsim_slurm_keep(r, type, length);
    return GSIM_SLURM_FIRST_TYPE + (int)out->n_types++;
}

int gsim_slurm_tres_called(struct gsim_slurm_reading *r, const char *name, size_t length) {
    static const char gpu[] = "gres/gpu:";
    const size_t n = sizeof gpu - 1;
    if (gsim_slurm_lists("cpu", name, length))
        return GSIM_SLURM_CPUS;
    if (gsim_slurm_lists("mem", name, length))
        return GSIM_SLURM_MEM;
    if (gsim_slurm_lists("gres/gpu", name, length))
        return GSIM_SLURM_GPUS;
    if (gsim_slurm_lists("gres/shard", name, length))
        return GSIM_SLURM_SHARDS;
    return length > n && strncasecmp(name, gpu, n) == 0 ? type_place(r, name + n, length - n)
                                                        : GSIM_SLURM_TRES;
}

/* Reads a count; -1 takes a limit back, and stands for no count. */
static bool take_amount(const char *text, size_t length, int which, int64_t *out) {
    if (length == 2 && strncmp(text, "-1", 2) == 0) {
        *out = -1;
        return true;
    }
    if (which == GSIM_SLURM_MEM)
        return mib_of(text, length, out);
    return length <= 12 && strspn(text, "0123456789") >= length &&
           gsim_parse_decimal(text, length, 1, out) == GSIM_PARSE_OK;
}

bool gsim_slurm_take_tres(struct gsim_slurm_reading *r, const char *column, const char *text,
                          int64_t out[GSIM_SLURM_TRES]) {
    for (const char *at = text; *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ","), name = strcspn(at, "=,");
        int which = name < n ? gsim_slurm_tres_called(r, at, name) : -1;
        if (which < 0)
            return false;
        if (which == GSIM_SLURM_TRES)
            gsim_slurm_note(r, column, gsim_slurm_keep(r, at, n),
                            "no limit: gsim does not count it");
        else if (!take_amount(at + name + 1, n - name - 1, which, &out[which]))
            return false;
        at += n;
    }
    return true;
}
