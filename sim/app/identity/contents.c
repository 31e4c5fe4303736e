/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/identity/contents.h"
#include "sim/base/embedded.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct entry {
    struct entry *next;
    bool is_built_in, is_watched;
    struct gsim_file_content content;
};

struct gsim_contents {
    struct gsim_arena *arena; /* holds this struct as well */
    pthread_mutex_t lock;
    struct entry *first;
    int64_t most_kept;
};

void gsim_digest_hex(const uint8_t digest[GSIM_DIGEST_BYTES], char text[65]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < GSIM_DIGEST_BYTES; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[2 * GSIM_DIGEST_BYTES] = '\0';
}

/* --- one file --------------------------------------------------------------------------------- */

/* The bytes read so far. They are dropped once the file grows past `most`. */
struct keeping {
    struct gsim_arena *arena;
    char *bytes;
    int64_t size, capacity, most;
};

static bool keep(struct keeping *k, const uint8_t *bytes, size_t n) {
    k->size += (int64_t)n;
    if (k->most < 0)
        return true;
    if (k->size > k->most) {
        k->most = -1;
        k->bytes = NULL;
        return true;
    }
    if (k->size > k->capacity) {
        int64_t capacity = k->size > 2 * k->capacity ? k->size : 2 * k->capacity;
        char *grown = gsim_arena_alloc(k->arena, (size_t)capacity);
        if (!grown)
            return false;
        if (k->bytes)
            memcpy(grown, k->bytes, (size_t)(k->size - (int64_t)n));
        k->bytes = grown;
        k->capacity = capacity;
    }
    memcpy(k->bytes + k->size - (int64_t)n, bytes, n);
    return true;
}

enum gsim_status gsim_content_read(const char *path, int64_t most_kept, struct gsim_arena *arena,
                                   struct gsim_file_content *out, struct gsim_log *log) {
    uint8_t bytes[65536];
    struct sha256_ctx context;
    struct keeping k = {.arena = arena, .most = most_kept};
    FILE *file = fopen(path, "rb");
    if (!file)
        return gsim_fail(log, GSIM_BAD_INPUT, path, 0, "the file cannot be read: %s",
                         strerror(errno));
    sha256_init(&context);
    size_t n;
    bool has_room = true;
    while (has_room && (n = fread(bytes, 1, sizeof bytes, file)) > 0) {
        sha256_update(&context, n, bytes);
        has_room = keep(&k, bytes, n);
    }
    bool is_bad = ferror(file) != 0;
    (void)fclose(file);
    if (!has_room)
        return gsim_no_memory(log, "reading a file");
    *out = (struct gsim_file_content){.path = path, .size = k.size};
    if (k.most >= 0)
        out->bytes = k.bytes ? k.bytes : "";
    sha256_digest(&context, GSIM_DIGEST_BYTES, out->digest);
    gsim_digest_hex(out->digest, out->sha256);
    return is_bad ? gsim_fail(log, GSIM_BAD_INPUT, path, 0, "the file cannot be read") : GSIM_OK;
}

/* --- all files -------------------------------------------------------------------------------- */

struct gsim_contents *gsim_contents_new(int64_t most_kept) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_contents *contents = arena ? gsim_arena_alloc(arena, sizeof *contents) : NULL;
    if (!contents) {
        gsim_arena_free(arena);
        return NULL;
    }
    contents->arena = arena;
    contents->most_kept = most_kept;
    (void)pthread_mutex_init(&contents->lock, NULL);
    return contents;
}

void gsim_contents_free(struct gsim_contents *contents) {
    if (!contents)
        return;
    (void)pthread_mutex_destroy(&contents->lock);
    gsim_arena_free(contents->arena);
}

static struct entry *find(const struct gsim_contents *contents, const char *path,
                          bool is_built_in) {
    struct entry *entry = contents->first;
    while (entry && (entry->is_built_in != is_built_in || strcmp(entry->content.path, path) != 0))
        entry = entry->next;
    return entry;
}

static const struct gsim_file_content *put(struct gsim_contents *contents, struct entry *entry) {
    entry->next = contents->first;
    contents->first = entry;
    return &entry->content;
}

static enum gsim_status load(struct gsim_contents *contents, const char *path, struct entry **out,
                             struct gsim_log *log) {
    struct entry *entry = gsim_arena_alloc(contents->arena, sizeof *entry);
    const char *own = gsim_arena_strdup(contents->arena, path);
    if (!entry || !own)
        return gsim_no_memory(log, "reading a file");
    enum gsim_status status =
        gsim_content_read(own, contents->most_kept, contents->arena, &entry->content, log);
    /* a failed read is not stored, so the next caller gets the error as well */
    if (status != GSIM_OK)
        return status;
    (void)put(contents, entry);
    *out = entry;
    return GSIM_OK;
}

enum gsim_status gsim_contents_take(struct gsim_contents *contents, const char *path,
                                    bool is_watched, const struct gsim_file_content **out,
                                    struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    (void)pthread_mutex_lock(&contents->lock);
    struct entry *entry = find(contents, path, false);
    if (!entry)
        status = load(contents, path, &entry, log);
    if (status == GSIM_OK) {
        entry->is_watched |= is_watched;
        *out = &entry->content;
    }
    (void)pthread_mutex_unlock(&contents->lock);
    return status;
}

static const struct gsim_file_content *load_built_in(struct gsim_contents *contents,
                                                     const char *name) {
    const struct gsim_embedded *file = gsim_embedded_find(name);
    struct entry *entry = file ? gsim_arena_alloc(contents->arena, sizeof *entry) : NULL;
    if (!entry)
        return NULL;
    struct sha256_ctx context;
    entry->is_built_in = true;
    entry->content = (struct gsim_file_content){
        .path = file->name, .size = (int64_t)file->size, .bytes = file->bytes};
    sha256_init(&context);
    sha256_update(&context, file->size, file->bytes);
    sha256_digest(&context, GSIM_DIGEST_BYTES, entry->content.digest);
    gsim_digest_hex(entry->content.digest, entry->content.sha256);
    return put(contents, entry);
}

const struct gsim_file_content *gsim_contents_built_in(struct gsim_contents *contents,
                                                       const char *name) {
    (void)pthread_mutex_lock(&contents->lock);
    const struct entry *entry = find(contents, name, true);
    const struct gsim_file_content *content =
        entry ? &entry->content : load_built_in(contents, name);
    (void)pthread_mutex_unlock(&contents->lock);
    return content;
}

enum gsim_status gsim_contents_check(struct gsim_contents *contents, struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    for (const struct entry *entry = contents->first; entry; entry = entry->next) {
        struct gsim_file_content now;
        if (!entry->is_watched)
            continue;
        enum gsim_status read =
            gsim_content_read(entry->content.path, -1, contents->arena, &now, log);
        if (read == GSIM_OK && strcmp(now.sha256, entry->content.sha256) != 0)
            read =
                gsim_fail(log, GSIM_FAILED, entry->content.path, 0,
                          "the file was changed while runs read it: their results may be of either "
                          "version; --force runs them again");
        status = status == GSIM_OK ? read : status;
    }
    return status;
}
