/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/llm_models.h"

#include <stddef.h>
#include <string.h>

#include "sim/base/ini.h"
#include "sim/base/text.h"
#include "sim/base/units.h"

enum { MOST_MODELS = 1024 };

enum kind { COUNT, BYTES, TIME, SHARE, CHOICE };

/* A key of a section. Choices are stored as their places. */
struct key {
    const char *name;
    enum kind kind;
    size_t at;
    int64_t least, most;
    const char *choices;
    const char *fallback; /* NULL: the key has to be given; "": GSIM_NEVER */
    bool is_assumed; /* without it the result rests on a guess */
};

#define MODEL(name) offsetof(struct reading, model.name)
#define GPU(name) offsetof(struct reading, gpu.name)

/* Choices are read as numbers, and put into their fields by their types at the end. */
struct reading {
    const char *path;
    struct gsim_ini ini;
    struct gsim_arena *arena;
    struct gsim_log *log;
    struct gsim_llm model;
    struct gsim_llms gpu;
    int64_t tied, precision, batching, preempt, swap_full, sharing, sleep_copies;
    const char **assumed;
    uint32_t n_assumed;
};

#define PARTS_MOST INT64_C(1000000)
/* Blocks of 16 tokens are vLLM's default; those of batch_tokens and sequences are of the device. */
static const struct key model_keys[] = {
    {"parameters", COUNT, MODEL(parameters), 1, INT64_C(100000000000000), NULL, NULL, false},
    {"layers", COUNT, MODEL(layers), 1, PARTS_MOST, NULL, NULL, false},
    {"hidden", COUNT, MODEL(hidden), 1, PARTS_MOST, NULL, NULL, false},
    {"heads", COUNT, MODEL(heads), 1, PARTS_MOST, NULL, NULL, false},
    {"kv_heads", COUNT, MODEL(kv_heads), 1, PARTS_MOST, NULL, NULL, false},
    {"head_dim", COUNT, MODEL(head_dim), 1, PARTS_MOST, NULL, NULL, false},
    {"vocabulary", COUNT, MODEL(vocabulary), 1, 100 * PARTS_MOST, NULL, NULL, false},
    {"tied", CHOICE, offsetof(struct reading, tied), 0, 0, "no|yes", "no", false},
    {"weight_bits", COUNT, MODEL(weight_bits), 1, 64, NULL, "16", false},
    {"kv_bits", COUNT, MODEL(kv_bits), 8, 64, NULL, "16", false},
    {"precision", CHOICE, offsetof(struct reading, precision), 0, 0, "fp32|tf32|fp16|int8", "fp16",
     false},
    {"compute_efficiency", SHARE, MODEL(compute_ppm), 1, GSIM_PPM, NULL, "100%", true},
    {"memory_efficiency", SHARE, MODEL(memory_ppm), 1, GSIM_PPM, NULL, "100%", true},
    {"host", TIME, MODEL(host_ns), 0, GSIM_NS_PER_S, NULL, "0ms", true},
    {"host_part", TIME, MODEL(part_ns), 0, GSIM_NS_PER_S, NULL, "0ms", true},
    {"per_sequence", TIME, MODEL(sequence_ns), 0, GSIM_NS_PER_S, NULL, "0ms", true},
    {"activations", BYTES, MODEL(activation_bytes), 0, GSIM_GIB, NULL, "0MiB", true},
    {"pad_tokens", COUNT, MODEL(pad_tokens), 1, PARTS_MOST, NULL, "1", false},
    {"pad_sequences", COUNT, MODEL(pad_sequences), 1, PARTS_MOST, NULL, "1", false},
    {"attention_tile", COUNT, MODEL(attention_tile), 1, PARTS_MOST, NULL, "", true},
    {"attention_blocks", COUNT, MODEL(attention_blocks), 1, 1024, NULL, "", false},
    {"attention_splits", COUNT, MODEL(attention_splits), 1, 1024, NULL, "", false},
    {"attention_efficiency", SHARE, MODEL(attention_ppm), 1, GSIM_PPM, NULL, "", false},
    {"memory", BYTES, MODEL(mem_bytes), 1, INT64_MAX, NULL, NULL, false},
    {"other_memory", BYTES, MODEL(other_bytes), 0, INT64_MAX, NULL, "0MiB", true},
    {"block_tokens", COUNT, MODEL(block_tokens), 1, PARTS_MOST, NULL, "16", false},
    {"batch_tokens", COUNT, MODEL(batch_tokens), 1, 100 * PARTS_MOST, NULL, "", false},
    {"sequences", COUNT, MODEL(sequences), 1, PARTS_MOST, NULL, "", false},
    {"batching", CHOICE, offsetof(struct reading, batching), 0, 0, "step|request", "step", false},
    {"preempt", CHOICE, offsetof(struct reading, preempt), 0, 0, "recompute|swap", "recompute",
     false},
    {"swap_memory", BYTES, MODEL(swap_bytes), 0, INT64_MAX, NULL, "0MiB", false},
    {"swap_full", CHOICE, offsetof(struct reading, swap_full), 0, 0, "recompute|fail", "recompute",
     false},
    {"ttft_target", TIME, MODEL(ttft_target_ns), 1, GSIM_TIME_MAX / 4, NULL, "", false},
    {"tpot_target", TIME, MODEL(tpot_target_ns), 1, GSIM_TIME_MAX / 4, NULL, "", false},
};
static const struct key gpu_keys[] = {
    {"sharing", CHOICE, offsetof(struct reading, sharing), 0, 0, "awake|sleep", "awake", false},
    {"quantum", TIME, GPU(quantum_ns), 1, GSIM_TIME_MAX / 4, NULL, "", false},
    {"sleep_copies", CHOICE, offsetof(struct reading, sleep_copies), 0, 0, "no|yes", "yes", false},
    {"sleep", TIME, GPU(sleep_ns), 0, 3600 * GSIM_NS_PER_S, NULL, "0ms", true},
    {"wake", TIME, GPU(wake_ns), 0, 3600 * GSIM_NS_PER_S, NULL, "0ms", true},
};
enum {
    N_MODEL_KEYS = sizeof model_keys / sizeof *model_keys,
    N_GPU_KEYS = sizeof gpu_keys / sizeof *gpu_keys
};

/* --- values ----------------------------------------------------------------------------------- */

static enum gsim_status refuse(const struct reading *r, const struct key *key, const char *value,
                               int64_t line) {
    static const char *const forms[] = {[COUNT] = "a number such as 32",
                                        [BYTES] = "a size such as 24GiB",
                                        [TIME] = "a time such as 2ms",
                                        [SHARE] = "a share above 0 such as 70%"};
    if (key->kind == CHOICE)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, "%s: '%.60s' is not one of %s",
                         key->name, value, key->choices);
    if (key->kind == COUNT)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line,
                         "%s: '%.60s' is not a whole number from %lld to %lld", key->name, value,
                         (long long)key->least, (long long)key->most);
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, "%s: '%.60s' is not %s", key->name,
                     value, forms[key->kind]);
}

static bool parse(const struct key *key, const char *value, int64_t *out) {
    enum gsim_parse parsed = GSIM_PARSE_SYNTAX;
    switch (key->kind) {
    case COUNT:
        parsed = gsim_parse_int(value, out);
        break;
    case BYTES:
        parsed = gsim_parse_size(value, out);
        break;
    case TIME:
        parsed = gsim_is_bare(value) ? GSIM_PARSE_BARE : gsim_parse_time(value, 1, out);
        break;
    case SHARE:
        parsed = gsim_parse_ppm(value, out);
        break;
    case CHOICE:
        *out = gsim_text_choice(value, key->choices);
        return *out >= 0;
    }
    return parsed == GSIM_PARSE_OK && *out >= key->least && *out <= key->most;
}

static const struct key *key_of(const struct key *keys, int n, const char *name) {
    for (int k = 0; k < n; k++)
        if (strcmp(keys[k].name, name) == 0)
            return &keys[k];
    return NULL;
}

static int64_t *field(struct reading *r, const struct key *key) {
    return (int64_t *)(void *)((char *)r + key->at);
}

/* A key that is not given has its default, which is noted where it is a guess. */
static enum gsim_status take_default(struct reading *r, const char *section, int64_t line,
                                     const struct key *keys, const struct key *key) {
    if (!key->fallback)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, line, "section [%s] has no key '%s'",
                         section, key->name);
    if (!*key->fallback)
        *field(r, key) = GSIM_NEVER;
    else if (!parse(key, key->fallback, field(r, key)))
        return refuse(r, key, key->fallback, line);
    if (key->is_assumed && (keys != gpu_keys || r->sharing == GSIM_LLM_SLEEP))
        r->assumed[r->n_assumed++] = gsim_arena_printf(r->arena, "%s.%s=%s", section, key->name,
                                                       *key->fallback ? key->fallback : "none");
    return GSIM_OK;
}

static enum gsim_status read_keys(struct reading *r, const char *section, int64_t line,
                                  const struct key *keys, int n) {
    for (int k = 0; k < n; k++) {
        const struct gsim_ini_entry *entry = gsim_ini_find(&r->ini, section, keys[k].name);
        enum gsim_status status = GSIM_OK;
        if (!entry)
            status = take_default(r, section, line, keys, &keys[k]);
        else if (!parse(&keys[k], entry->value, field(r, &keys[k])))
            status = refuse(r, &keys[k], entry->value, entry->line);
        if (status != GSIM_OK)
            return status;
    }
    return GSIM_OK;
}

/* --- sections --------------------------------------------------------------------------------- */

static enum gsim_status check_shape(const struct reading *r) {
    const struct gsim_llm *llm = &r->model;
    gsim_i128 tables = (gsim_i128)llm->vocabulary * llm->hidden * (llm->is_tied ? 1 : 2);
    const char *why = NULL;
    if (tables >= llm->parameters)
        why = "the tables of the model (vocabulary x hidden, twice unless tied) have more than its "
              "parameters";
    else if (llm->heads % llm->kv_heads)
        why = "heads is no multiple of kv_heads";
    else if (llm->preempt == GSIM_LLM_SWAP && llm->swap_bytes == 0)
        why = "preempt = swap needs swap_memory, the room on the host";
    else if (llm->preempt != GSIM_LLM_SWAP && llm->swap_full == GSIM_LLM_FULL_FAILS)
        why = "swap_full = fail needs preempt = swap";
    else if (llm->attention_tile > 0 && llm->attention_blocks == 0)
        why = "attention_tile needs attention_blocks, the blocks that an SM holds";
    else if (llm->attention_tile == 0 &&
             (llm->attention_blocks > 0 || llm->attention_splits > 0 || llm->attention_ppm > 0))
        why = "attention_blocks, attention_splits and attention_efficiency need attention_tile, "
              "the tokens that a block attends with";
    return why ? gsim_fail(r->log, GSIM_BAD_INPUT, r->path, llm->line, "model '%s': %s", llm->name,
                           why)
               : GSIM_OK;
}

/* How attention is cut into blocks, where that is known; else 0. */
static void fill_attention(struct gsim_llm *llm) {
    int64_t *keys[] = {&llm->attention_tile, &llm->attention_blocks, &llm->attention_splits,
                       &llm->attention_ppm};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (*keys[k] == GSIM_NEVER)
            *keys[k] = 0;
}

static enum gsim_status read_model(struct reading *r, const char *name, int64_t line) {
    r->model = (struct gsim_llm){.name = name, .line = line};
    enum gsim_status status = read_keys(r, name, line, model_keys, N_MODEL_KEYS);
    r->model.is_tied = r->tied != 0;
    r->model.precision = (enum gsim_precision)r->precision;
    r->model.batching = (enum gsim_llm_batching)r->batching;
    r->model.preempt = (enum gsim_llm_preempt)r->preempt;
    r->model.swap_full = (enum gsim_llm_full)r->swap_full;
    fill_attention(&r->model);
    if (status == GSIM_OK)
        status = check_shape(r);
    if (r->model.attention_ppm == 0)
        r->model.attention_ppm = r->model.compute_ppm;
    return status;
}

static enum gsim_status check_entry(const struct reading *r, const struct gsim_ini_entry *entry) {
    bool is_gpu = strcmp(entry->section, "gpu") == 0;
    const struct key *keys = is_gpu ? gpu_keys : model_keys;
    int n = is_gpu ? N_GPU_KEYS : N_MODEL_KEYS;
    const char *names[N_MODEL_KEYS];
    if (!*entry->section)
        return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, entry->line,
                         "'%.60s' stands before the first section: [gpu], or a model's name",
                         entry->key);
    if (key_of(keys, n, entry->key))
        return GSIM_OK;
    for (int k = 0; k < n; k++)
        names[k] = keys[k].name;
    int close = gsim_text_suggest(entry->key, names, n);
    return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, entry->line, "[%s] has no key '%.60s'%s%s%s",
                     is_gpu ? "gpu" : "a model", entry->key,
                     close >= 0 ? "; did you mean '" : "; see 'gsim help serving'",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

static bool is_seen(const struct gsim_llm *list, uint32_t n, const char *name) {
    for (uint32_t m = 0; m < n; m++)
        if (strcmp(list[m].name, name) == 0)
            return true;
    return false;
}

static enum gsim_status read_sections(struct reading *r, struct gsim_llm *list, uint32_t *n) {
    enum gsim_status status = GSIM_OK;
    for (int e = 0; e < r->ini.n && status == GSIM_OK; e++) {
        const struct gsim_ini_entry *entry = &r->ini.entries[e];
        status = check_entry(r, entry);
        if (status != GSIM_OK || strcmp(entry->section, "gpu") == 0 ||
            is_seen(list, *n, entry->section))
            continue;
        if (*n == MOST_MODELS)
            return gsim_fail(r->log, GSIM_BAD_INPUT, r->path, entry->line, "more than %d models",
                             MOST_MODELS);
        status = read_model(r, entry->section, entry->line);
        list[(*n)++] = r->model;
    }
    return status;
}

/* --- the file --------------------------------------------------------------------------------- */

static enum gsim_status add_keys(struct reading *r, const char *const *keys) {
    int n = 0;
    while (keys && keys[n])
        n++;
    struct gsim_ini_entry *entries =
        gsim_arena_array(r->arena, (size_t)(r->ini.n + n) + 1, sizeof *entries);
    if (!entries)
        return gsim_no_memory(r->log, "reading models");
    for (int e = 0; e < r->ini.n; e++)
        entries[e] = r->ini.entries[e];
    for (int k = 0; k < n; k++) {
        char *section = gsim_arena_strdup(r->arena, keys[k]);
        char *sign = section ? strchr(section, '=') : NULL;
        char *dot = section ? strchr(section, '.') : NULL;
        if (!sign || !dot || dot > sign)
            return gsim_fail(r->log, GSIM_USAGE, NULL, 0,
                             "--spec: '%s' is not SECTION.KEY=VALUE, as in gpu.sharing=sleep",
                             keys[k]);
        *sign = *dot = '\0';
        entries[r->ini.n++] = (struct gsim_ini_entry){section, dot + 1, sign + 1, 0};
    }
    r->ini.entries = entries;
    return GSIM_OK;
}

enum gsim_status gsim_llm_models_read(const char *path, const char *const *keys,
                                      struct gsim_arena *arena, struct gsim_llms *out,
                                      struct gsim_log *log) {
    struct reading r = {.path = path, .arena = arena, .log = log};
    struct gsim_llm *list = gsim_arena_array(arena, MOST_MODELS, sizeof *list);
    r.assumed =
        gsim_arena_array(arena, MOST_MODELS * N_MODEL_KEYS + N_GPU_KEYS + 1, sizeof *r.assumed);
    if (!list || !r.assumed)
        return gsim_no_memory(log, "reading models");
    uint32_t n = 0;
    enum gsim_status status = gsim_ini_read_file(path, arena, &r.ini, log);
    if (status == GSIM_OK)
        status = gsim_ini_once(&r.ini, arena, log);
    if (status == GSIM_OK)
        status = add_keys(&r, keys);
    if (status == GSIM_OK)
        status = read_sections(&r, list, &n);
    if (status == GSIM_OK)
        status = read_keys(&r, "gpu", 0, gpu_keys, N_GPU_KEYS);
    if (status == GSIM_OK && n == 0)
        status = gsim_fail(log, GSIM_BAD_INPUT, path, 0, "no model: a section of its name each");
    *out = r.gpu;
    out->path = path;
    out->list = list;
    out->n = n;
    out->sharing = (enum gsim_llm_sharing)r.sharing;
    out->sleep_copies = r.sleep_copies != 0;
    out->assumed = r.assumed;
    return status;
}
