/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instances are sets of memory slices, kept as bits; there are few enough to try all placements. */
#include "models/hardware/mig.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "models/hardware/keys.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "gsim/units.h"

/* --- reading a device's file ------------------------------------------------------------------ */

struct mig_reading {
    const char *path;
    struct gsim_arena *arena;
    struct gsim_log *log;
    struct gsim_mig *mig;
};

static uint32_t bits(uint32_t slices, uint32_t start) {
    return ((UINT32_C(1) << slices) - 1) << start;
}

/* Cuts the text at its first colon; the part before it is NUL-terminated. */
static char *cut(char **text) {
    char *part = *text, *colon = part ? strchr(part, ':') : NULL;
    *text = colon ? colon + 1 : NULL;
    if (colon)
        *colon = '\0';
    return part;
}

static bool parse_starts(char *text, uint32_t *starts) {
    *starts = 0;
    while (text && *text) {
        char *comma = strchr(text, ',');
        int64_t start;
        if (comma)
            *comma = '\0';
        if (gsim_parse_int(text, &start) != GSIM_PARSE_OK || start < 0 ||
            start >= GSIM_MIG_SLICES_MAX || *starts & UINT32_C(1) << start)
            return false;
        *starts |= UINT32_C(1) << start;
        text = comma ? comma + 1 : NULL;
    }
    return *starts != 0;
}

static bool parse_profile(char *text, struct gsim_mig_profile *out) {
    char *sms = cut(&text), *mem = cut(&text), *slices = cut(&text);
    int64_t n;
    if (!sms || !mem || !slices || gsim_parse_int(sms, &out->sms) != GSIM_PARSE_OK ||
        gsim_parse_bytes(mem, &out->mem_bytes) != GSIM_PARSE_OK ||
        gsim_parse_int(slices, &n) != GSIM_PARSE_OK || !parse_starts(text, &out->starts))
        return false;
    out->slices = (uint32_t)n;
    return out->sms > 0 && out->mem_bytes > 0 && n > 0 && n <= GSIM_MIG_SLICES_MAX;
}

static bool is_larger(const struct gsim_mig_profile *a, const struct gsim_mig_profile *b) {
    return a->slices != b->slices ? a->slices > b->slices : a->sms > b->sms;
}

static void insert(struct gsim_mig *mig, const struct gsim_mig_profile *profile) {
    int at = mig->n++;
    for (; at > 0 && is_larger(profile, &mig->profile[at - 1]); at--)
        mig->profile[at] = mig->profile[at - 1];
    mig->profile[at] = *profile;
}

static enum gsim_status take_slices(struct mig_reading *r, const struct gsim_ini_entry *entry,
                                    const char *text) {
    int64_t n;
    if (gsim_parse_int(text, &n) != GSIM_PARSE_OK || n < 1 || n > GSIM_MIG_SLICES_MAX)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, entry->line,
                         "mig.slices: '%s' is not a number of slices from 1 to %d", text,
                         GSIM_MIG_SLICES_MAX);
    r->mig->slices = (uint32_t)n;
    return GSIM_OK;
}

static enum gsim_status take_profile(struct mig_reading *r, const struct gsim_ini_entry *entry) {
    const char *part[3];
    struct gsim_mig_profile profile = {.name = entry->key};
    if (!gsim_key_split(entry->value, part, r->arena))
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, entry->line,
                         "mig.%s: expected 'value | tag | source', each not empty", entry->key);
    if (gsim_text_choice(part[1], "measured|published|fitted|assumed") < 0)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, entry->line,
                         "mig.%s: '%s' is no tag; accepted: measured, published, fitted, assumed",
                         entry->key, part[1]);
    if (strcmp(entry->key, "slices") == 0)
        return take_slices(r, entry, part[0]);
    if (r->mig->n == GSIM_MIG_PROFILES_MAX || gsim_mig_find(r->mig, entry->key) >= 0)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, entry->line,
                         "mig.%s: the profile stands twice, or there are more than %d profiles",
                         entry->key, GSIM_MIG_PROFILES_MAX);
    char *text = gsim_arena_strdup(r->arena, part[0]);
    if (!text)
        return gsim_no_memory(r->log, "reading a device profile");
    if (!parse_profile(text, &profile))
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, entry->line,
                         "mig.%s: '%s' is not SMs:memory:slices:starts, such as 42:19.5GiB:4:0,4",
                         entry->key, part[0]);
    profile.source = part[2];
    profile.is_assumed = strcmp(part[1], "assumed") == 0;
    insert(r->mig, &profile);
    return GSIM_OK;
}

/* Every start leaves room for its instance. */
static enum gsim_status check_profiles(struct mig_reading *r) {
    const struct gsim_mig *mig = r->mig;
    for (int p = 0; p < mig->n; p++)
        for (uint32_t start = 0; start < GSIM_MIG_SLICES_MAX; start++)
            if (mig->profile[p].starts >> start & 1 && start + mig->profile[p].slices > mig->slices)
                return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, 0,
                                 "mig.%s: %u slices from %u on; the device has %u (mig.slices)",
                                 mig->profile[p].name, mig->profile[p].slices, start, mig->slices);
    return GSIM_OK;
}

enum gsim_status gsim_mig_read(const struct gsim_ini *ini, struct gsim_arena *arena,
                               const struct gsim_mig **out, struct gsim_log *log) {
    struct mig_reading r = {.path = ini->path, .arena = arena, .log = log};
    enum gsim_status worst = GSIM_OK;
    *out = NULL;
    for (int i = 0; i < ini->n; i++) {
        if (strcmp(ini->entries[i].section, "mig") != 0)
            continue;
        if (!r.mig && !(r.mig = gsim_arena_alloc(arena, sizeof *r.mig)))
            return gsim_no_memory(log, "reading a device profile");
        enum gsim_status status = take_profile(&r, &ini->entries[i]);
        worst = status != GSIM_OK ? status : worst;
    }
    *out = r.mig;
    return worst == GSIM_OK && r.mig ? check_profiles(&r) : worst;
}

/* --- placing ---------------------------------------------------------------------------------- */

int gsim_mig_find(const struct gsim_mig *mig, const char *name) {
    for (int p = 0; p < mig->n; p++)
        if (strcmp(mig->profile[p].name, name) == 0)
            return p;
    return -1;
}

/* Position of a profile, or -1; a short name such as "3g" is the smallest profile with that name
 * before its point. */
static int find_short(const struct gsim_mig *mig, const char *name) {
    int found = gsim_mig_find(mig, name);
    size_t length = strlen(name);
    for (int p = 0; found < 0 && p < mig->n; p++) {
        const char *full = mig->profile[mig->n - 1 - p].name; /* the smallest first */
        if (strncmp(full, name, length) == 0 && full[length] == '.')
            found = mig->n - 1 - p;
    }
    return found;
}

int64_t gsim_mig_part(const struct gsim_mig *mig, const struct gsim_mig_profile *profile,
                      int64_t whole) {
    return gsim_muldiv_floor(whole, profile->slices, mig->slices);
}

static uint32_t taken_by(const struct gsim_mig *mig, struct gsim_mig_instance instance) {
    return bits(mig->profile[instance.profile].slices, instance.start);
}

static bool may_start(const struct gsim_mig *mig, int profile, uint32_t start, uint32_t taken) {
    const struct gsim_mig_profile *p = &mig->profile[profile];
    return (p->starts >> start & 1) && !(bits(p->slices, start) & taken);
}

int gsim_mig_format(const struct gsim_mig_profile *profile, char *buffer, size_t size) {
    char mem[32];
    gsim_format_bytes(mem, profile->mem_bytes);
    int n = snprintf(buffer, size, "%lld:%s:%u:", (long long)profile->sms, mem, profile->slices);
    for (uint32_t start = 0, is_next = 0; start < GSIM_MIG_SLICES_MAX; start++)
        if (profile->starts >> start & 1 && (size_t)n < size)
            n += snprintf(buffer + n, size - (size_t)n, "%s%u", is_next++ ? "," : "", start);
    return n;
}

/* --- layouts as text -------------------------------------------------------------------------- */

static const uint8_t anywhere = UINT8_MAX;

/* Places the instances that may lie anywhere, the largest first: profiles are in that order. */
static bool place_rest(const struct gsim_mig *mig, struct gsim_mig_layout *layout, uint32_t taken) {
    int next = -1;
    for (int i = 0; i < layout->n; i++)
        if (layout->instance[i].start == anywhere &&
            (next < 0 || layout->instance[i].profile < layout->instance[next].profile))
            next = i;
    if (next < 0)
        return true;
    struct gsim_mig_instance *instance = &layout->instance[next];
    for (uint32_t start = 0; start < mig->slices; start++) {
        if (!may_start(mig, instance->profile, start, taken))
            continue;
        instance->start = (uint8_t)start;
        if (place_rest(mig, layout, taken | taken_by(mig, *instance)))
            return true;
    }
    instance->start = anywhere;
    return false;
}

/* Names of MIG profiles for a message. */
struct names {
    char text[GSIM_LOG_TEXT / 2];
    size_t length;
};

static void name(struct names *names, const struct gsim_mig_profile *profile) {
    if (names->length < sizeof names->text - 32)
        names->length += (size_t)snprintf(names->text + names->length, 32, "%s%.24s",
                                          names->length ? ", " : "", profile->name);
}

static enum gsim_status unknown(const struct gsim_mig *mig, const char *text,
                                struct gsim_log *log) {
    struct names names = {.length = 0};
    for (int p = 0; p < mig->n; p++)
        name(&names, &mig->profile[p]);
    return gsim_fail(log, GSIM_USAGE, NULL, 0,
                     "mig.layout: no MIG profile is called '%s'; accepted: %s", text, names.text);
}

static uint32_t taken_by_placed(const struct gsim_mig *mig, const struct gsim_mig_layout *layout) {
    uint32_t taken = 0;
    for (int i = 0; i < layout->n; i++)
        if (layout->instance[i].start != anywhere)
            taken |= taken_by(mig, layout->instance[i]);
    return taken;
}

static bool is_placeable(const struct gsim_mig *mig, struct gsim_mig_layout layout) {
    return place_rest(mig, &layout, taken_by_placed(mig, &layout));
}

/* Names the profiles for which there is room beside the layout's instances, of which as many are
 * kept, from the first on, as fit together. */
static enum gsim_status misfit(const struct gsim_mig *mig, const char *text,
                               const struct gsim_mig_layout *layout, struct gsim_log *log) {
    struct gsim_mig_layout fitting = *layout;
    struct names names = {.length = 0};
    while (!is_placeable(mig, fitting))
        fitting.n--;
    for (int p = 0; p < mig->n; p++) {
        struct gsim_mig_layout more = fitting;
        more.instance[more.n++] = (struct gsim_mig_instance){(uint8_t)p, anywhere};
        if (is_placeable(mig, more))
            name(&names, &mig->profile[p]);
    }
    return gsim_fail(log, GSIM_USAGE, NULL, 0,
                     "mig.layout: '%s' does not fit: beside the first %d of these %d instances "
                     "there is room for %s",
                     text, fitting.n, layout->n, names.length ? names.text : "nothing");
}

/* "3g.20gb" or "3g.20gb@4". */
static enum gsim_status parse_instance(const struct gsim_mig *mig, char *text,
                                       struct gsim_mig_layout *out, struct gsim_log *log) {
    char *at = strchr(text, '@');
    int64_t start = anywhere;
    if (at)
        *at++ = '\0';
    int profile = find_short(mig, text);
    if (profile < 0)
        return unknown(mig, text, log);
    if (at && (gsim_parse_int(at, &start) != GSIM_PARSE_OK || start < 0 || start >= mig->slices ||
               !may_start(mig, profile, (uint32_t)start, 0)))
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "mig.layout: a MIG instance %s may not begin at '%s'; 'gsim list devices "
                         "NAME' shows where",
                         text, at);
    if (out->n == GSIM_MIG_SLICES_MAX)
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "mig.layout: more instances than any device has");
    out->instance[out->n++] = (struct gsim_mig_instance){(uint8_t)profile, (uint8_t)start};
    return GSIM_OK;
}

enum gsim_status gsim_mig_parse(const struct gsim_mig *mig, const char *text,
                                struct gsim_mig_layout *out, struct gsim_log *log) {
    char name[64];
    *out = (struct gsim_mig_layout){0};
    for (const char *p = text; p; p = strpbrk(p, ",+") ? strpbrk(p, ",+") + 1 : NULL) {
        size_t length = strcspn(p, ",+");
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), p);
        enum gsim_status status = parse_instance(mig, name, out, log);
        if (status != GSIM_OK)
            return status;
    }
    uint32_t taken = 0;
    for (int i = 0; i < out->n; i++) {
        if (out->instance[i].start == anywhere)
            continue;
        if (taken & taken_by(mig, out->instance[i]))
            return gsim_fail(log, GSIM_USAGE, NULL, 0, "mig.layout: '%s': two instances overlap",
                             text);
        taken |= taken_by(mig, out->instance[i]);
    }
    return place_rest(mig, out, taken) ? GSIM_OK : misfit(mig, text, out, log);
}

static struct gsim_instance describe_instance(const struct gsim_mig *mig, int profile) {
    const struct gsim_mig_profile *p = &mig->profile[profile];
    return (struct gsim_instance){.name = p->name,
                                  .mem_bytes = p->mem_bytes,
                                  .part_ppm = (uint32_t)gsim_mig_part(mig, p, GSIM_PPM)};
}

enum gsim_status gsim_mig_partition(const struct gsim_mig *mig, const char *device,
                                    const char *layout, struct gsim_partition *out,
                                    struct gsim_log *log) {
    struct gsim_mig_layout parsed;
    if (!mig)
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "a %s cannot be cut into instances: its profile has no section [mig]",
                         device);
    *out = (struct gsim_partition){0};
    for (int p = 0; !layout && p < mig->n; p++)
        out->instance[out->n++] = describe_instance(mig, p);
    if (!layout)
        return GSIM_OK;
    enum gsim_status status = gsim_mig_parse(mig, layout, &parsed, log);
    for (int i = 0; status == GSIM_OK && i < parsed.n; i++)
        out->instance[out->n++] = describe_instance(mig, parsed.instance[i].profile);
    return status;
}
