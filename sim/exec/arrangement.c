/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verb "arrange" of an answer: how GPUs are shared from now on. An object has the fields of the
 * structs of gsim/arrangement.h by their names; a field that is not there is 0, or the first of its
 * choices. */
#include "sim/exec/exec.h"

#include <string.h>

#include "sim/base/text.h"
#include "sim/exec/answer.h"

/* A field: a whole number, or a word of choices; "false|true" stands for a truth value. */
struct field {
    const char *name;
    const char *choices; /* NULL: a number */
    int64_t least, most;
};

#define NUMBER(name, least, most)                                                                  \
    { name, NULL, least, most }
#define FLAG(name)                                                                                 \
    { name, "false|true", 0, 0 }

enum {
    DISCIPLINE,
    FIRST_SM,
    N_SMS,
    CAP,
    LANE_QUANTUM,
    RELEASE,
    AT_BOUNDARY,
    CAPS_LAUNCHES,
    TURNS,
    VGPUS,
    STOP,
    IN_FLIGHT,
    PIECES,
    BOUND,
    SLICE,
    HINT,
    IS_FAIR,
    OPENS,
    RANK,
    BELOW_SMS,
    BOUND_PPM,
    AHEAD_PPM,
    WAIT,
    WHOLE,
    ATOM,
    BORROWS,
    SLIP_PPM,
    N_OF_LANE
};
static const struct field of_lane[N_OF_LANE] = {
    {"discipline", "exclusive|ps|rr|priority|boundary|padding|interleaved|pair", 0, 0},
    NUMBER("first_sm", 0, UINT16_MAX),
    NUMBER("n_sms", 0, UINT16_MAX),
    NUMBER("cap_ppm", 0, GSIM_PPM),
    NUMBER("quantum_ns", GSIM_QUANTUM_LONG, GSIM_TIME_MAX),
    NUMBER("idle_release_ns", 0, GSIM_TIME_MAX),
    FLAG("ends_at_boundary"),
    FLAG("caps_launches"),
    {"turns", "used|equal|fixed", 0, 0},
    NUMBER("most_vgpus", 0, UINT16_MAX),
    {"stop", GSIM_ANSWER_STOPS, 0, 0},
    NUMBER("in_flight", 0, GSIM_TIME_MAX),
    NUMBER("pieces", 0, GSIM_TIME_MAX),
    NUMBER("bound_ns", 0, GSIM_TIME_MAX),
    NUMBER("slice_ns", 0, GSIM_TIME_MAX),
    NUMBER("hint_ns", 0, GSIM_TIME_MAX),
    FLAG("is_fair"),
    {"opens", "open|apart|idle", 0, 0},
    NUMBER("rank", 0, UINT16_MAX),
    NUMBER("below_sms", 0, UINT16_MAX),
    NUMBER("bound_ppm", 0, GSIM_PPM),
    NUMBER("ahead_ppm", 0, GSIM_PPM),
    NUMBER("wait_ns", 0, GSIM_TIME_MAX),
    NUMBER("whole_ns", 0, GSIM_TIME_MAX),
    NUMBER("atom_ns", 0, GSIM_TIME_MAX),
    FLAG("borrows"),
    NUMBER("slip_ppm", 0, GSIM_PPM),
};

enum {
    JOB,
    LANE,
    QUANTUM,
    PRIORITY,
    WEIGHT,
    MEM_CAP,
    YIELDS,
    KEEPS_KERNELS,
    LAUNCH_CAP,
    REFILL,
    LAUNCH_SHARE,
    N_OF_ENTRY
};
static const struct field of_entry[N_OF_ENTRY] = {
    NUMBER("job", 0, UINT32_MAX),
    NUMBER("lane", 0, UINT16_MAX),
    NUMBER("quantum_ns", GSIM_QUANTUM_LONG, GSIM_TIME_MAX),
    NUMBER("priority", INT32_MIN, INT32_MAX),
    NUMBER("weight", 0, INT32_MAX),
    NUMBER("mem_cap_bytes", 0, GSIM_TIME_MAX),
    FLAG("memory_yields"),
    FLAG("keeps_kernels"),
    NUMBER("launch_cap", 0, GSIM_TIME_MAX),
    NUMBER("launch_refill_ns", 0, GSIM_TIME_MAX),
    NUMBER("launch_share_ppm", 0, GSIM_PPM),
};

enum {
    MEMORY,
    PIPELINE,
    EARLY_START,
    EVICTS_LRU,
    BY_TEMPLATE,
    MISSED,
    SPARE,
    MAX_CLIENTS,
    IS_SERVED,
    N_OF_WHOLE
};
static const struct field of_whole[N_OF_WHOLE] = {
    {"memory", "resident|uvm|lru|proactive|lanes|overflow", 0, 0},
    FLAG("pipeline"),
    FLAG("early_start"),
    FLAG("evicts_lru"),
    FLAG("predict_by_template"),
    NUMBER("missed_ppm", 0, GSIM_PPM),
    NUMBER("spare_ppm", 0, GSIM_PPM),
    NUMBER("max_clients", 0, UINT16_MAX),
    FLAG("is_served"),
};

/* --- reading ---------------------------------------------------------------------------------- */

static bool take_field(const struct gsim_answer *r, const struct field *field, yajl_val value,
                       int64_t *out) {
    if (!field->choices)
        return gsim_answer_int(r, field->name, value, field->least, field->most, out);
    const char *word = YAJL_IS_TRUE(value)    ? "true"
                       : YAJL_IS_FALSE(value) ? "false"
                                              : YAJL_GET_STRING(value);
    *out = word ? gsim_text_choice(word, field->choices) : -1;
    return *out >= 0 || gsim_answer_bad(r, "'%s' is not one of %s", field->name, field->choices);
}

/* Reads an object into one number for each field; keys in `others` are left to the caller. */
static bool take_fields(const struct gsim_answer *r, const char *what, yajl_val object,
                        const struct field *fields, int n, const char *others, int64_t *out) {
    if (!YAJL_IS_OBJECT(object))
        return gsim_answer_bad(r, "%s is an object", what);
    memset(out, 0, (size_t)n * sizeof *out);
    for (size_t i = 0; i < YAJL_GET_OBJECT(object)->len; i++) {
        const char *key = YAJL_GET_OBJECT(object)->keys[i];
        int at = 0;
        if (gsim_text_choice(key, others) >= 0)
            continue;
        while (at < n && strcmp(key, fields[at].name) != 0)
            at++;
        if (at == n)
            return gsim_answer_bad(r, "%s has no '%s'", what, key);
        if (!take_field(r, &fields[at], YAJL_GET_OBJECT(object)->values[i], &out[at]))
            return false;
    }
    return true;
}

static bool take_lane(const struct gsim_answer *r, yajl_val value, struct gsim_lane *lane) {
    int64_t n[N_OF_LANE];
    if (!take_fields(r, "a lane", value, of_lane, N_OF_LANE, "", n))
        return false;
    *lane = (struct gsim_lane){.discipline = (enum gsim_discipline)n[DISCIPLINE],
                               .first_sm = (uint16_t)n[FIRST_SM],
                               .n_sms = (uint16_t)n[N_SMS],
                               .cap_ppm = (uint32_t)n[CAP],
                               .quantum_ns = n[LANE_QUANTUM],
                               .idle_release_ns = n[RELEASE],
                               .ends_at_boundary = n[AT_BOUNDARY] != 0,
                               .caps_launches = n[CAPS_LAUNCHES] != 0,
                               .gate = {.opens = (enum gsim_gate)n[OPENS],
                                        .rank = (uint16_t)n[RANK],
                                        .below_sms = (uint16_t)n[BELOW_SMS],
                                        .bound_ppm = (uint32_t)n[BOUND_PPM],
                                        .ahead_ppm = (uint32_t)n[AHEAD_PPM],
                                        .wait_ns = n[WAIT],
                                        .whole_ns = n[WHOLE]},
                               .atoms = {.atom_ns = n[ATOM],
                                         .borrows = n[BORROWS] != 0,
                                         .slip_ppm = (uint32_t)n[SLIP_PPM]}};
    if (lane->discipline == GSIM_DISCIPLINE_RR)
        lane->slices =
            (struct gsim_lane_slices){(enum gsim_turns_rule)n[TURNS], (uint16_t)n[VGPUS]};
    else if (lane->discipline == GSIM_DISCIPLINE_BOUNDARY)
        lane->whole.is_fair = n[IS_FAIR] != 0;
    else
        lane->urgent = (struct gsim_lane_urgency){
            (enum gsim_stop)n[STOP], n[IN_FLIGHT], n[PIECES], n[BOUND], n[SLICE], n[HINT]};
    return true;
}

static bool take_entry(const struct gsim_answer *r, yajl_val value, uint16_t n_lanes,
                       struct gsim_entry *entry) {
    int64_t n[N_OF_ENTRY];
    if (!take_fields(r, "an entry", value, of_entry, N_OF_ENTRY, "", n))
        return false;
    if (n[LANE] >= n_lanes)
        return gsim_answer_bad(r, "there is no lane %lld", (long long)n[LANE]);
    *entry = (struct gsim_entry){.lane = (uint16_t)n[LANE],
                                 .quantum_ns = n[QUANTUM],
                                 .priority = (int32_t)n[PRIORITY],
                                 .weight = n[WEIGHT],
                                 .mem_cap_bytes = n[MEM_CAP],
                                 .memory_yields = n[YIELDS] != 0,
                                 .keeps_kernels = n[KEEPS_KERNELS] != 0,
                                 .launch_cap = n[LAUNCH_CAP],
                                 .launch_refill_ns = n[REFILL],
                                 .launch_share_ppm = (uint32_t)n[LAUNCH_SHARE]};
    return gsim_answer_slot(r, n[JOB], &entry->job);
}

/* The list of a key, or an empty one; false: it is no list. */
static bool list_of(const struct gsim_answer *r, yajl_val object, const char *key, size_t *n,
                    yajl_val **items) {
    const char *path[] = {key, NULL};
    yajl_val value = yajl_tree_get(object, path, yajl_t_any);
    *n = 0;
    if (!value)
        return true;
    if (!YAJL_IS_ARRAY(value))
        return gsim_answer_bad(r, "'%s' is not a list", key);
    *n = YAJL_GET_ARRAY(value)->len;
    *items = YAJL_GET_ARRAY(value)->values;
    return *n <= GSIM_MAX_GANG || gsim_answer_bad(r, "'%s' is too long", key);
}

static bool take_parts(const struct gsim_answer *r, yajl_val object, struct gsim_arena *arena,
                       struct gsim_arrangement *out) {
    yajl_val *lane = NULL, *entry = NULL;
    size_t n_lanes, n_entries;
    if (!list_of(r, object, "lanes", &n_lanes, &lane) ||
        !list_of(r, object, "entries", &n_entries, &entry))
        return false;
    if (n_lanes < 1 || n_lanes > 256)
        return gsim_answer_bad(r, "an arrangement has 1 to 256 lanes");
    struct gsim_lane *lanes = gsim_arena_array(arena, n_lanes, sizeof *lanes);
    struct gsim_entry *entries = gsim_arena_array(arena, n_entries + 1, sizeof *entries);
    bool is_fine = lanes && entries;
    out->lanes = lanes;
    out->n_lanes = (uint16_t)n_lanes;
    out->entries = entries;
    out->n_entries = (uint32_t)n_entries;
    for (size_t i = 0; is_fine && i < n_lanes; i++)
        is_fine = take_lane(r, lane[i], &lanes[i]);
    for (size_t i = 0; is_fine && i < n_entries; i++)
        is_fine = take_entry(r, entry[i], out->n_lanes, &entries[i]);
    return is_fine;
}

bool gsim_answer_arrange(const struct gsim_answer *r, yajl_val object) {
    struct gsim_arena *arena = gsim_plan_scratch(r->plan);
    struct gsim_arrangement out = {0};
    struct gsim_unit *units = NULL;
    uint32_t n_units = 0;
    int64_t n[N_OF_WHOLE];
    const char *path[] = {"arrange", NULL};
    if (!r->ctx->policy->shares_gpus)
        return gsim_answer_bad(r, "GPUs are shared under exec-sharing:, and not under exec:");
    if (!arena ||
        !gsim_answer_gpus(r, yajl_tree_get(object, path, yajl_t_any), arena, &units, &n_units) ||
        !take_fields(r, "an arrangement", object, of_whole, N_OF_WHOLE, "arrange|lanes|entries",
                     n) ||
        !take_parts(r, object, arena, &out))
        return false;
    out.memory = (enum gsim_memory)n[MEMORY];
    out.migration = (struct gsim_migration_rule){.pipeline = n[PIPELINE] != 0,
                                                 .early_start = n[EARLY_START] != 0,
                                                 .evicts_lru = n[EVICTS_LRU] != 0,
                                                 .predict_by_template = n[BY_TEMPLATE] != 0,
                                                 .missed_ppm = n[MISSED],
                                                 .spare_ppm = n[SPARE]};
    out.max_clients = (uint16_t)n[MAX_CLIENTS];
    out.is_served = n[IS_SERVED] != 0;
    return gsim_plan_arrange(r->plan, units, n_units, &out);
}
