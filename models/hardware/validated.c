/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/hardware/validated.h"

#include <string.h>

#include "sim/base/ini.h"
#include "sim/base/text.h"
#include "sim/base/units.h"

#define GSIM_MECHANISM(symbol, name, title, otherwise, ...)                                        \
    static const enum gsim_key keys_of_##symbol[] = {__VA_ARGS__, GSIM_KEY_COUNT};
#include "models/hardware/mechanisms.def"
#undef GSIM_MECHANISM

static const struct {
    const char *name, *title, *otherwise;
    const enum gsim_key *keys;
} mechanisms[GSIM_MECHANISM_COUNT] = {
#define GSIM_MECHANISM(symbol, name, title, otherwise, ...)                                        \
    [GSIM_MECHANISM_##symbol] = {name, title, otherwise, keys_of_##symbol},
#include "models/hardware/mechanisms.def"
#undef GSIM_MECHANISM
};

const char *gsim_validated_name(enum gsim_mechanism mechanism) {
    return mechanisms[mechanism].name;
}

const char *gsim_validated_title(enum gsim_mechanism mechanism) {
    return mechanisms[mechanism].title;
}

const char *gsim_validated_otherwise(enum gsim_mechanism mechanism) {
    return mechanisms[mechanism].otherwise;
}

const enum gsim_key *gsim_validated_keys(enum gsim_mechanism mechanism) {
    return mechanisms[mechanism].keys;
}

static bool has_key(enum gsim_mechanism mechanism, int key) {
    const enum gsim_key *own = mechanisms[mechanism].keys;
    while (*own != GSIM_KEY_COUNT && (int)*own != key)
        own++;
    return *own != GSIM_KEY_COUNT;
}

/* --- reading a device's file ------------------------------------------------------------------ */

struct reading {
    const struct gsim_ini *ini;
    const struct gsim_ini_entry *entry;
    struct gsim_profile *profile;
    struct gsim_validated *claims;
    struct gsim_arena *arena;
    struct gsim_log *log;
};

static enum gsim_status wrong(struct reading *r, const char *what, const char *accepted) {
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->ini->path, r->entry->line, "validated.%s: %s; %s",
                     r->entry->key, what, accepted);
}

static int find_mechanism(const char *name) {
    for (int m = 0; m < GSIM_MECHANISM_COUNT; m++)
        if (strcmp(mechanisms[m].name, name) == 0)
            return m;
    return -1;
}

static enum gsim_status unknown_mechanism(struct reading *r) {
    const char *names[GSIM_MECHANISM_COUNT];
    for (int m = 0; m < GSIM_MECHANISM_COUNT; m++)
        names[m] = mechanisms[m].name;
    int close = gsim_text_suggest(r->entry->key, names, GSIM_MECHANISM_COUNT);
    return wrong(r, "there is no such mechanism",
                 close >= 0 ? gsim_arena_printf(r->arena, "did you mean '%s'?", names[close])
                            : "'gsim list devices h200' shows them");
}

bool gsim_validated_is_own(const struct gsim_validated *claim, const struct gsim_profile *profile) {
    return strcmp(claim->device, "itself") == 0 || strcmp(claim->device, profile->name) == 0;
}

/* The next word; commas stand for spaces. NULL at the end. */
static char *next_word(char **text) {
    char *word = *text + strspn(*text, " ,");
    size_t length = strcspn(word, " ,");
    *text = word + length + (word[length] != '\0');
    word[length] = '\0';
    return length ? word : NULL;
}

static enum gsim_status take_with(struct reading *r, enum gsim_mechanism mechanism, char *rest,
                                  struct gsim_validated *claim) {
    for (char *word = next_word(&rest); word; word = next_word(&rest)) {
        int key = gsim_key_find(word);
        if (key < 0 || !has_key(mechanism, key))
            return wrong(r, "'with' names no key of the mechanism", word);
        claim->with[key] = true;
    }
    return GSIM_OK;
}

/* "SUITE on DEVICE[, at most N][, with KEY KEY...]" */
static enum gsim_status take_claim(struct reading *r, enum gsim_mechanism mechanism, char *text,
                                   struct gsim_validated *claim) {
    static const char form[] = "expected 'SUITE on DEVICE[, at most N][, with KEY...] | source'";
    claim->suite = next_word(&text);
    const char *on = next_word(&text);
    claim->device = next_word(&text);
    if (!claim->device || strcmp(on, "on") != 0)
        return wrong(r, "no suite and device", form);
    if (strpbrk(claim->device, "/.")) /* files could refer to each other for ever */
        return wrong(r, "the device after 'on' is a file", "name a listed one, or 'itself'");
    char *word = next_word(&text);
    if (word && strcmp(word, "at") == 0) {
        const char *most = next_word(&text), *number = next_word(&text);
        if (!number || strcmp(most, "most") != 0 ||
            gsim_parse_int(number, &claim->at_most) != GSIM_PARSE_OK || claim->at_most < 1)
            return wrong(r, "no number after 'at most'", form);
        word = next_word(&text);
    }
    if (word && strcmp(word, "with") != 0)
        return wrong(r, "a word too many", form);
    return take_with(r, mechanism, text, claim);
}

static enum gsim_status take(struct reading *r) {
    const char *bar = strchr(r->entry->value, '|');
    int mechanism = find_mechanism(r->entry->key);
    if (mechanism < 0)
        return unknown_mechanism(r);
    struct gsim_validated claim = {0}, *place = &r->claims[mechanism];
    if (place->text)
        return wrong(r, "the mechanism stands twice", "leave one");
    if (!bar || !bar[1 + strspn(bar + 1, " ")])
        return wrong(r, "no source", "expected 'SUITE on DEVICE | source'");
    size_t length = (size_t)(bar - r->entry->value);
    while (length > 0 && r->entry->value[length - 1] == ' ')
        length--;
    claim.text = gsim_arena_strndup(r->arena, r->entry->value, length);
    claim.source = bar + 1 + strspn(bar + 1, " ");
    char *words = gsim_arena_strndup(r->arena, r->entry->value, length);
    if (!claim.text || !words)
        return gsim_no_memory(r->log, "reading a device profile");
    enum gsim_status status = take_claim(r, (enum gsim_mechanism)mechanism, words, &claim);
    *place = claim;
    return status;
}

enum gsim_status gsim_validated_read(const struct gsim_ini *ini, struct gsim_profile *profile,
                                     struct gsim_arena *arena, struct gsim_log *log) {
    struct reading r = {.ini = ini, .profile = profile, .arena = arena, .log = log};
    r.claims = gsim_arena_array(arena, GSIM_MECHANISM_COUNT, sizeof *r.claims);
    if (!r.claims)
        return gsim_no_memory(log, "reading a device profile");
    enum gsim_status worst = GSIM_OK;
    for (int i = 0; i < ini->n; i++) {
        r.entry = &ini->entries[i];
        enum gsim_status status = strcmp(r.entry->section, "validated") == 0 ? take(&r) : GSIM_OK;
        worst = status != GSIM_OK ? status : worst;
    }
    profile->validated = r.claims;
    return worst;
}

/* --- whether a claim holds -------------------------------------------------------------------- */

static bool is_same(const struct gsim_profile *a, const struct gsim_profile *b, int key) {
    const struct gsim_curve_point *p = a->curve[key], *q = b->curve[key];
    if (a->value[key] != b->value[key] || !p != !q)
        return false;
    for (int64_t i = 0; p && i < a->value[key]; i++)
        if (p[i].x != q[i].x || p[i].y != q[i].y)
            return false;
    return true;
}

/* The origin of a value, in a word or two. */
static const char *origin(const struct gsim_profile *profile, int key) {
    return profile->rule[key] ? profile->rule[key]
                              : gsim_tag_name((enum gsim_tag)profile->tag[key]);
}

static const char *and_more(int n, struct gsim_arena *arena) {
    return n > 1 ? gsim_arena_printf(arena, ", and %d more like that", n - 1) : "";
}

/* Why a mechanism is in doubt on a device: `head` is the reason for all devices that are alike in
 * it, and `detail` the constants of this device, in brackets behind its name where is_aside. Both
 * are NULL where there is no doubt. */
struct doubt {
    const char *head, *detail;
    bool is_aside;
};

/* The doubt where the profile claims nothing: names the constants without a source, if there are
 * any. */
static struct doubt unclaimed(const struct gsim_profile *profile, enum gsim_mechanism mechanism,
                              struct gsim_arena *arena) {
    int n = 0, first = -1;
    for (const enum gsim_key *key = mechanisms[mechanism].keys; *key != GSIM_KEY_COUNT; key++) {
        if (profile->tag[*key] != GSIM_TAG_ASSUMED && profile->tag[*key] != GSIM_TAG_GIVEN)
            continue; /* its source says where the value is from */
        if (first < 0 ||
            (profile->tag[*key] == GSIM_TAG_GIVEN && profile->tag[first] != GSIM_TAG_GIVEN))
            first = (int)*key;
        n++;
    }
    struct doubt doubt = {.head = mechanisms[mechanism].otherwise, .is_aside = true};
    if (first >= 0)
        doubt.detail = gsim_arena_printf(
            arena, "%s=%s is %s%s", gsim_key_name((enum gsim_key)first), profile->text[first],
            gsim_tag_name((enum gsim_tag)profile->tag[first]), and_more(n, arena));
    return doubt;
}

/* Names the constants that differ from those that were validated. */
static const char *changed(const struct gsim_profile *profile, enum gsim_mechanism mechanism,
                           const struct gsim_validated *claim, struct gsim_arena *arena) {
    int n = 0, first = -1;
    for (const enum gsim_key *key = mechanisms[mechanism].keys; *key != GSIM_KEY_COUNT; key++)
        if (!is_same(profile, claim->reference, (int)*key)) {
            first = first < 0 ? (int)*key : first;
            n++;
        }
    if (first < 0)
        return NULL;
    return gsim_arena_printf(arena, "validated with %s=%s (%s), not %s (%s)%s",
                             gsim_key_name((enum gsim_key)first), claim->reference->text[first],
                             claim->reference->name, profile->text[first], origin(profile, first),
                             and_more(n, arena));
}

static const char *assumed(enum gsim_mechanism mechanism, const struct gsim_validated *claim,
                           struct gsim_arena *arena) {
    int n = 0, first = -1;
    for (const enum gsim_key *key = mechanisms[mechanism].keys; *key != GSIM_KEY_COUNT; key++)
        if (claim->reference->tag[*key] == GSIM_TAG_ASSUMED && !claim->with[*key]) {
            first = first < 0 ? (int)*key : first;
            n++;
        }
    if (first < 0)
        return NULL;
    return gsim_arena_printf(arena, "%s=%s of %s is assumed, not validated%s",
                             gsim_key_name((enum gsim_key)first), claim->reference->text[first],
                             claim->reference->name, and_more(n, arena));
}

static struct doubt doubt_of(const struct gsim_profile *profile, enum gsim_mechanism mechanism,
                             int64_t n_at_once, struct gsim_arena *arena) {
    const struct gsim_validated *claim = profile->validated ? &profile->validated[mechanism] : NULL;
    if (!claim || !claim->text)
        return unclaimed(profile, mechanism, arena);
    const char *detail = changed(profile, mechanism, claim, arena);
    if (!detail)
        detail = assumed(mechanism, claim, arena);
    if (!detail && claim->at_most > 0 && n_at_once > claim->at_most)
        detail = gsim_arena_printf(arena, "trusted with up to %lld at once, not with %lld",
                                   (long long)claim->at_most, (long long)n_at_once);
    return (struct doubt){.detail = detail};
}

static bool is_alike(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* "a100-80, v100": the devices with the doubt of the first of them. */
static const char *names_of(const struct gsim_profile *const *profiles, const struct doubt *doubts,
                            uint16_t n, uint16_t first, struct gsim_arena *arena) {
    const char *names = profiles[first]->name;
    for (uint16_t i = first + 1; i < n && names; i++)
        if (doubts[i].is_aside == doubts[first].is_aside && doubts[i].head == doubts[first].head &&
            is_alike(doubts[i].detail, doubts[first].detail))
            names = gsim_arena_printf(arena, "%s, %s", names, profiles[i]->name);
    return names;
}

static bool is_there_before(const struct doubt *doubts, uint16_t at) {
    for (uint16_t i = 0; i < at; i++)
        if (doubts[i].is_aside == doubts[at].is_aside && doubts[i].head == doubts[at].head &&
            is_alike(doubts[i].detail, doubts[at].detail))
            return true;
    return false;
}

/* "time slices: validated on an H200 only (t4: ... is assumed; a10, l4: ...)"; NULL: no doubt of
 * that kind. */
static const char *say_aside(const struct gsim_profile *const *profiles, const struct doubt *doubts,
                             uint16_t n, const char *title, struct gsim_arena *arena) {
    const char *head = NULL, *all = NULL;
    for (uint16_t i = 0; i < n; i++) {
        if (!doubts[i].is_aside || is_there_before(doubts, i))
            continue;
        const char *names = names_of(profiles, doubts, n, i, arena);
        head = doubts[i].head;
        if (doubts[i].detail)
            names = gsim_arena_printf(arena, "%s: %s", names, doubts[i].detail);
        else if (n == 1)
            continue;
        all = all ? gsim_arena_printf(arena, "%s; %s", all, names) : names;
    }
    if (!head)
        return NULL;
    return all ? gsim_arena_printf(arena, "%s: %s (%s)", title, head, all)
               : gsim_arena_printf(arena, "%s: %s", title, head);
}

const char *gsim_validated_doubt(const struct gsim_profile *const *profiles, uint16_t n,
                                 enum gsim_mechanism mechanism, int64_t n_at_once,
                                 struct gsim_arena *arena) {
    const char *title = mechanisms[mechanism].title;
    struct doubt *doubts = gsim_arena_array(arena, n, sizeof *doubts);
    for (uint16_t i = 0; doubts && i < n; i++)
        doubts[i] = doubt_of(profiles[i], mechanism, n_at_once, arena);
    const char *all = doubts ? say_aside(profiles, doubts, n, title, arena) : NULL;
    for (uint16_t i = 0; doubts && i < n; i++) {
        if (doubts[i].is_aside || !doubts[i].detail || is_there_before(doubts, i))
            continue;
        const char *names = names_of(profiles, doubts, n, i, arena);
        const char *one =
            n == 1 ? gsim_arena_printf(arena, "%s: %s", title, doubts[i].detail)
                   : gsim_arena_printf(arena, "%s (%s): %s", title, names, doubts[i].detail);
        all = all ? gsim_arena_printf(arena, "%s; %s", all, one) : one;
    }
    return all;
}
