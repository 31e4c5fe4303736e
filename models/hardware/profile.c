/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads device profiles: built-in ones by name, the user's by path; fills the gaps from
 * assumed.ini; applies --set. */
#include "models/hardware/profile.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "models/hardware/derived.h"
#include "models/hardware/mig.h"
#include "models/hardware/validated.h"
#include "sim/base/embedded.h"
#include "sim/base/ini.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "gsim/units.h"

static const char *const forms[] = {
    [GSIM_KIND_INT] = "a whole number",
    [GSIM_KIND_PPM] = "parts per million, a whole number, or a share such as 50%",
    [GSIM_KIND_BYTES] = "a number of bytes, such as 16e9 or 16GB",
    [GSIM_KIND_RATE] = "a rate per second above zero, such as 25e9 or 25GB/s, or 'unlimited'",
    [GSIM_KIND_NS] = "a time in ns, such as 2080000 or 2.08ms",
    [GSIM_KIND_BOOL] = "on or off",
    [GSIM_KIND_CURVE] = "a curve x:y,x:y,... with rising x (plain, or all as shares: 3%:8%,...)",
};

/* --- files ------------------------------------------------------------------------------------ */

struct loading {
    struct gsim_profile *profile;
    const char *path;
    struct gsim_arena *arena;
    struct gsim_log *log;
    bool is_set[GSIM_KEY_COUNT];
};

static enum gsim_status unknown_key(struct loading *l, int64_t line, const char *name) {
    const char *names[GSIM_KEY_COUNT];
    for (int k = 0; k < GSIM_KEY_COUNT; k++)
        names[k] = gsim_keys[k].name;
    int close = gsim_text_suggest(name, names, GSIM_KEY_COUNT);
    return gsim_fail(l->log, GSIM_BAD_INPUT, l->path, line, "a device has no key '%s'%s%s%s", name,
                     close >= 0 ? "; did you mean '" : "; 'gsim list devices h200' shows them",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

static enum gsim_status take_key(struct loading *l, int key, const struct gsim_ini_entry *entry) {
    const char *part[3];
    struct gsim_profile *profile = l->profile;
    if (l->is_set[key])
        return gsim_fail(l->log, GSIM_BAD_INPUT, l->path, entry->line, "key '%s' stands twice",
                         gsim_keys[key].name);
    if (!gsim_key_split(entry->value, part, l->arena))
        return gsim_arena_has_failed(l->arena)
                   ? gsim_no_memory(l->log, "reading a device")
                   : gsim_fail(l->log, GSIM_BAD_INPUT, l->path, entry->line,
                               "key '%s': expected 'value | tag | source', each not empty",
                               gsim_keys[key].name);
    int tag = gsim_text_choice(part[1], "measured|published|fitted|assumed");
    if (tag < 0)
        return gsim_fail(l->log, GSIM_BAD_INPUT, l->path, entry->line,
                         "key '%s': '%s' is not a tag (measured, published, fitted, assumed)",
                         gsim_keys[key].name, part[1]);
    if (!gsim_value_parse(profile, key, part[0], l->arena))
        return gsim_fail(l->log, GSIM_BAD_INPUT, l->path, entry->line, "key '%s': '%s' is not %s",
                         gsim_keys[key].name, part[0], forms[gsim_keys[key].kind]);
    if (!profile->rule[key] && !gsim_value_is_in_range(profile, key))
        return gsim_fail(l->log, GSIM_BAD_INPUT, l->path, entry->line,
                         "key '%s': %s is out of range; accepted: %lld to %lld",
                         gsim_keys[key].name, part[0], (long long)gsim_value_least(key),
                         (long long)gsim_value_most(key));
    l->is_set[key] = true;
    profile->tag[key] = (uint8_t)tag;
    profile->text[key] = part[0];
    profile->source[key] = part[2];
    return GSIM_OK;
}

/* "section.key"; NULL: no memory. */
static const char *full_name(struct gsim_arena *arena, const struct gsim_ini_entry *entry) {
    size_t section = strlen(entry->section), key = strlen(entry->key);
    char *name = gsim_arena_alloc(arena, section + 1 + key + 1);
    if (!name)
        return NULL;
    memcpy(name, entry->section, section);
    name[section] = '.';
    memcpy(name + section + 1, entry->key, key);
    return name;
}

static enum gsim_status take_entry(struct loading *l, const struct gsim_ini_entry *entry) {
    bool is_device = strcmp(entry->section, "device") == 0;
    if (strcmp(entry->section, "mig") == 0 || strcmp(entry->section, "validated") == 0)
        return GSIM_OK; /* read by gsim_mig_read, gsim_validated_read */
    if (is_device && strcmp(entry->key, "title") == 0) {
        if (!l->profile->title)
            l->profile->title = entry->value;
        return GSIM_OK;
    }
    if (is_device && strcmp(entry->key, "products") == 0) {
        l->profile->products = entry->value;
        return GSIM_OK;
    }
    if (!*entry->section)
        return gsim_fail(l->log, GSIM_BAD_INPUT, l->path, entry->line,
                         "'%s' stands above all sections; keys of the GPU as a whole stand in "
                         "[device]",
                         entry->key);
    const char *name = is_device ? entry->key : full_name(l->arena, entry);
    if (!name)
        return gsim_no_memory(l->log, "reading a device profile");
    int key = gsim_key_find(name);
    return key < 0 ? unknown_key(l, entry->line, name) : take_key(l, key, entry);
}

static const struct gsim_embedded *embedded(const char *name) {
    char path[96];
    if ((size_t)snprintf(path, sizeof path, "models/devices/%s.ini", name) >= sizeof path)
        return NULL;
    return gsim_embedded_find(path);
}

static enum gsim_status read_embedded(struct loading *l, const struct gsim_embedded *file,
                                      struct gsim_ini *ini) {
    l->path = file->name;
    return gsim_ini_read_text(file->name, (const char *)file->bytes, file->size, l->arena, ini,
                              l->log);
}

static enum gsim_status take_all(struct loading *l, const struct gsim_ini *ini) {
    enum gsim_status worst = GSIM_OK;
    for (int i = 0; i < ini->n; i++) {
        enum gsim_status status = take_entry(l, &ini->entries[i]);
        if (status != GSIM_OK)
            worst = status;
    }
    return worst;
}

static enum gsim_status fill_gaps(struct loading *l) {
    struct gsim_profile defaults = {.name = "assumed"};
    struct loading from = {.profile = &defaults, .arena = l->arena, .log = l->log};
    const struct gsim_embedded *file = embedded("assumed");
    struct gsim_ini ini;
    assert(file);
    enum gsim_status status = read_embedded(&from, file, &ini);
    if (status == GSIM_OK)
        status = take_all(&from, &ini);
    for (int k = 0; status == GSIM_OK && k < GSIM_KEY_COUNT; k++) {
        if (l->is_set[k])
            continue;
        if (!from.is_set[k])
            return gsim_fail(l->log, GSIM_BAD_INPUT, l->path, 0,
                             "the key '%s' (%s) is missing, and nothing is assumed for it",
                             gsim_keys[k].name, gsim_keys[k].help);
        l->profile->value[k] = defaults.value[k];
        l->profile->curve[k] = defaults.curve[k];
        l->profile->text[k] = defaults.text[k];
        l->profile->rule[k] = defaults.rule[k];
        l->profile->source[k] = defaults.source[k];
        l->profile->tag[k] = defaults.tag[k];
    }
    return status;
}

/* Another number is another device, however close its name: b300 is no typo of b200. So only a name
 * that was begun, or written in capitals, is suggested; else all names are listed. */
static enum gsim_status unknown_device(const char *name, struct gsim_log *log) {
    char names[128][48], listed[GSIM_LOG_TEXT - 128] = "", meant[GSIM_LOG_TEXT - 128] = "";
    size_t n_listed = 0, n_meant = 0;
    int n = gsim_profile_names(names, 128);
    for (int i = 0; i < n; i++) {
        if (n_listed < sizeof listed)
            n_listed += (size_t)snprintf(listed + n_listed, sizeof listed - n_listed, "%s%s",
                                         n_listed ? ", " : "", names[i]);
        if (n_meant < sizeof meant && gsim_text_abbreviates(name, names[i]))
            n_meant += (size_t)snprintf(meant + n_meant, sizeof meant - n_meant, "%s'%s'",
                                        n_meant ? " or " : "", names[i]);
    }
    if (n_meant)
        return gsim_fail(log, GSIM_USAGE, NULL, 0, "no device is called '%s'; did you mean %s?",
                         name, meant);
    return gsim_fail(log, GSIM_USAGE, NULL, 0,
                     "no device is called '%s'; listed are %s, and a file of your own ends in .ini",
                     name, listed);
}

int gsim_profile_names(char (*out)[48], int most) {
    static const char folder[] = "models/devices/";
    const size_t skip = sizeof folder - 1;
    int n = 0;
    for (const struct gsim_embedded *file = gsim_embedded_files; file->name && n < most; file++) {
        size_t length = strlen(file->name);
        if (strncmp(file->name, folder, skip) != 0 || length < skip + 5)
            continue;
        (void)snprintf(out[n], 48, "%.*s", (int)(length - skip - 4), file->name + skip);
        n += strcmp(out[n], "assumed") != 0;
    }
    return n;
}

bool gsim_profile_is_path(const char *name) {
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".ini") == 0);
}

/* The profile that the suite of a claim ran: this profile, as its file has it, or a listed one. */
static enum gsim_status load_reference(const struct gsim_profile *own, struct gsim_validated *claim,
                                       struct gsim_arena *arena, struct gsim_log *log) {
    struct gsim_profile *reference = gsim_arena_alloc(arena, sizeof *reference);
    if (!reference)
        return gsim_no_memory(log, "reading a device profile");
    *reference = *own;
    claim->reference = reference;
    return gsim_validated_is_own(claim, own)
               ? GSIM_OK
               : gsim_profile_load(claim->device, arena, reference, log);
}

/* Claims of several mechanisms that name one device have one reference. */
static enum gsim_status attach_references(struct gsim_profile *profile, struct gsim_arena *arena,
                                          struct gsim_log *log) {
    struct gsim_validated *claims = profile->validated;
    enum gsim_status status = GSIM_OK;
    for (int m = 0; m < GSIM_MECHANISM_COUNT && status == GSIM_OK; m++) {
        for (int n = 0; n < m && claims[m].device && !claims[m].reference; n++)
            if (claims[n].device && strcmp(claims[n].device, claims[m].device) == 0)
                claims[m].reference = claims[n].reference;
        if (claims[m].device && !claims[m].reference)
            status = load_reference(profile, &claims[m], arena, log);
    }
    return status;
}

enum gsim_status gsim_profile_load(const char *name_or_path, struct gsim_arena *arena,
                                   struct gsim_profile *out, struct gsim_log *log) {
    *out = (struct gsim_profile){.name = gsim_arena_strdup(arena, name_or_path)};
    struct loading l = {.profile = out, .path = name_or_path, .arena = arena, .log = log};
    struct gsim_ini ini = {0};
    enum gsim_status status;
    const struct gsim_embedded *file =
        gsim_profile_is_path(name_or_path) ? NULL : embedded(name_or_path);
    if (file && strcmp(name_or_path, "assumed") != 0)
        status = read_embedded(&l, file, &ini);
    else if (gsim_profile_is_path(name_or_path))
        status = gsim_ini_read_file(name_or_path, arena, &ini, log);
    else
        status = unknown_device(name_or_path, log);
    if (status == GSIM_OK)
        status = take_all(&l, &ini);
    if (status == GSIM_OK)
        status = gsim_mig_read(&ini, arena, &out->mig, log);
    if (status == GSIM_OK)
        status = fill_gaps(&l);
    if (status == GSIM_OK)
        status = gsim_values_derive(out, l.path, GSIM_BAD_INPUT, arena, log);
    if (!out->title)
        out->title = out->name;
    if (status == GSIM_OK)
        status = gsim_validated_read(&ini, out, arena, log);
    return status == GSIM_OK ? attach_references(out, arena, log) : status;
}

/* The digits with a unit, as a suggestion; NULL: keys of this kind have no unit. */
static const char *with_units(int key, const char *text, struct gsim_arena *arena) {
    switch (gsim_keys[key].kind) {
    case GSIM_KIND_BYTES:
        return gsim_arena_printf(arena, "%sGiB or %sB", text, text);
    case GSIM_KIND_RATE:
        return strstr(gsim_keys[key].name, "bytes")
                   ? gsim_arena_printf(arena, "%sGB/s or %sB/s", text, text)
                   : gsim_arena_printf(arena, "%se12, written out", text);
    case GSIM_KIND_NS:
        return gsim_arena_printf(arena, "%sus, %sms or %sns", text, text, text);
    case GSIM_KIND_PPM:
        return gsim_arena_printf(arena, "%s%%, or 100%% for all of it", text);
    default:
        return NULL;
    }
}

/* Units of one kind are a thousand apart: a bare number that is this far below the device's value
 * looks like a number in another unit, 80 for 80 GiB or 1 for a ratio of 1. */
static enum gsim_status refuse_bare(const struct gsim_profile *profile, int key, const char *text,
                                    struct gsim_arena *arena, struct gsim_log *log) {
    enum { FAR = 1000 };
    int64_t value, before = profile->value[key];
    const char *likely = with_units(key, text, arena);
    if (!likely || !gsim_is_bare(text) || before == INT64_MAX ||
        gsim_parse_decimal(text, strlen(text), 1, &value) != GSIM_PARSE_OK || value > before / FAR)
        return GSIM_OK;
    return gsim_fail(log, GSIM_USAGE, NULL, 0,
                     "%s: '%s' has no unit and is far below the device's %s; say %s",
                     gsim_keys[key].name, text, profile->text[key], likely);
}

enum gsim_status gsim_profile_set(struct gsim_profile *profile, const char *key, const char *text,
                                  bool *known, struct gsim_arena *arena, struct gsim_log *log) {
    int k = gsim_key_find(key);
    *known = k >= 0;
    if (k < 0)
        return GSIM_OK;
    const char *own = gsim_arena_strdup(arena, text);
    if (!own)
        return gsim_no_memory(log, "setting a device key");
    int64_t before = profile->value[k];
    bool was_assumed = profile->tag[k] == GSIM_TAG_ASSUMED;
    enum gsim_status status = refuse_bare(profile, k, own, arena, log);
    if (status != GSIM_OK)
        return status;
    if (!gsim_value_parse(profile, k, own, arena))
        return gsim_fail(log, GSIM_USAGE, NULL, 0, "%s: '%s' is not %s", key, text,
                         forms[gsim_keys[k].kind]);
    if (!profile->rule[k] && !gsim_value_is_in_range(profile, k))
        return gsim_fail(log, GSIM_USAGE, NULL, 0, "%s: %s is out of range; accepted: %lld to %lld",
                         key, text, (long long)gsim_value_least(k), (long long)gsim_value_most(k));
    if (gsim_key_is_shown_only(k))
        gsim_warn(log, NULL, 0,
                  "--set %s: no run reads it; it is there for 'gsim list devices' and 'gsim "
                  "validate', and results stay as they are",
                  key);
    profile->text[k] = own;
    profile->source[k] = "--set";
    profile->tag[k] = GSIM_TAG_GIVEN;
    bool is_peak =
        k == GSIM_KEY_PCIE_PEAK && gsim_value_derive(profile, k, GSIM_LONGEST_CHAIN, arena);
    if (is_peak && profile->value[k] != before &&
        !gsim_derived_follow_link(profile, before, was_assumed, arena))
        return gsim_no_memory(log, "setting a device key");
    return gsim_values_derive(profile, NULL, GSIM_USAGE, arena, log);
}

/* --- for programs that embed the library ------------------------------------------------------ */

const struct gsim_profile *gsim_device_load(const char *name_or_path, struct gsim_arena *arena,
                                            struct gsim_log *log) {
    struct gsim_profile *profile = gsim_arena_alloc(arena, sizeof *profile);
    if (!profile) {
        gsim_log_error(log, GSIM_FAILED, NULL, 0, "out of memory while reading a device");
        return NULL;
    }
    return gsim_profile_load(name_or_path, arena, profile, log) == GSIM_OK ? profile : NULL;
}

int64_t gsim_device_memory(const struct gsim_profile *profile) {
    return profile->value[GSIM_KEY_HBM_BYTES];
}
