/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/setup/foreign.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "policies/registry.h"
#include "sim/exec/exec.h"

struct entry {
    struct entry *next;
    const char *text; /* as the user gave it */
    const struct gsim_policy *policy;
    struct gsim_file_content *file;
    int n_files;
};

struct gsim_foreign {
    struct gsim_arena *arena; /* holds this struct as well */
    pthread_mutex_t lock;
    struct entry *first, *last;
};

struct gsim_foreign *gsim_foreign_new(void) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_foreign *foreign = arena ? gsim_arena_alloc(arena, sizeof *foreign) : NULL;
    if (!foreign) {
        gsim_arena_free(arena);
        return NULL;
    }
    foreign->arena = arena;
    (void)pthread_mutex_init(&foreign->lock, NULL);
    return foreign;
}

void gsim_foreign_free(struct gsim_foreign *foreign) {
    if (!foreign)
        return;
    (void)pthread_mutex_destroy(&foreign->lock);
    gsim_arena_free(foreign->arena);
}

bool gsim_foreign_is(const char *text) {
    size_t n = strlen(text);
    return gsim_exec_command(text) || strchr(text, '/') ||
           (n > 3 && strcmp(text + n - 3, ".so") == 0);
}

/* --- loading ---------------------------------------------------------------------------------- */

static enum gsim_status read_file(struct gsim_foreign *foreign, struct entry *entry,
                                  const char *path, struct gsim_log *log) {
    enum gsim_status status =
        gsim_content_read(path, -1, foreign->arena, &entry->file[entry->n_files], log);
    entry->n_files += status == GSIM_OK;
    return status;
}

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static enum gsim_status load_own(struct gsim_foreign *foreign, struct entry *entry,
                                 struct gsim_log *log) {
    char **word = gsim_scheduler_words(gsim_exec_command(entry->text), foreign->arena, log);
    entry->policy = word ? gsim_exec_make(entry->text, foreign->arena, log) : NULL;
    int n = 0;
    while (entry->policy && word[n])
        n++;
    entry->file = gsim_arena_array(foreign->arena, (size_t)n + 1, sizeof *entry->file);
    if (!entry->policy || !entry->file)
        return entry->policy ? gsim_no_memory(log, "starting a scheduler") : log->status;
    enum gsim_status status = GSIM_OK;
    for (int i = 0; i < n && status == GSIM_OK; i++)
        if (is_file(word[i]))
            status = read_file(foreign, entry, word[i], log);
    return status;
}

/* The sum that stands for the object's code is that of the bytes before the loader read them; if it
 * read others, the sum after that differs. */
static enum gsim_status load_object(struct gsim_foreign *foreign, struct entry *entry,
                                    struct gsim_log *log) {
    struct gsim_file_content after;
    enum gsim_status status = gsim_policies_check_file(entry->text, log);
    entry->file = gsim_arena_alloc(foreign->arena, sizeof *entry->file);
    if (status == GSIM_OK && !entry->file)
        status = gsim_no_memory(log, "loading a policy");
    if (status == GSIM_OK)
        status = read_file(foreign, entry, entry->text, log);
    if (status != GSIM_OK)
        return status;
    entry->policy = gsim_policies_load(entry->text, log);
    if (!entry->policy)
        return log->status;
    status = gsim_content_read(entry->text, -1, foreign->arena, &after, log);
    if (status == GSIM_OK && strcmp(after.sha256, entry->file->sha256) != 0)
        return gsim_fail(log, GSIM_FAILED, entry->text, 0,
                         "the policy changed while gsim loaded it; begin again");
    return status;
}

/* Results tell policies apart by name. */
static enum gsim_status check_name(const struct gsim_foreign *foreign, const struct entry *entry,
                                   struct gsim_log *log) {
    for (const struct entry *other = foreign->first; other; other = other->next)
        if (strcmp(other->policy->name, entry->policy->name) == 0)
            return gsim_fail(
                log, GSIM_BAD_INPUT, entry->text, 0,
                "the policy of the file is called '%s', and so is that of %s: results must tell "
                "them apart",
                entry->policy->name, other->text);
    return GSIM_OK;
}

static void append(struct gsim_foreign *foreign, struct entry *entry) {
    *(foreign->last ? &foreign->last->next : &foreign->first) = entry;
    foreign->last = entry;
}

static const struct gsim_policy *add(struct gsim_foreign *foreign, const char *text,
                                     struct gsim_log *log) {
    struct entry *entry = gsim_arena_alloc(foreign->arena, sizeof *entry);
    enum gsim_status status = GSIM_OK;
    if (!entry || !(entry->text = gsim_arena_strdup(foreign->arena, text)))
        status = gsim_no_memory(log, "loading a policy");
    if (status == GSIM_OK)
        status = gsim_exec_command(text) ? load_own(foreign, entry, log)
                                         : load_object(foreign, entry, log);
    if (status == GSIM_OK)
        status = check_name(foreign, entry, log);
    if (status != GSIM_OK)
        return NULL;
    append(foreign, entry);
    return entry->policy;
}

enum gsim_status gsim_foreign_put(struct gsim_foreign *foreign, const struct gsim_policy *policy,
                                  const char *file, struct gsim_log *log) {
    struct entry *entry = gsim_arena_alloc(foreign->arena, sizeof *entry);
    struct gsim_log *unread = gsim_arena_alloc(foreign->arena, sizeof *unread);
    if (!entry || !unread)
        return gsim_no_memory(log, "taking a policy");
    *entry = (struct entry){
        .text = policy->name,
        .policy = policy,
        .file = gsim_arena_alloc(foreign->arena, sizeof *entry->file),
    };
    if (!entry->file)
        return gsim_no_memory(log, "taking a policy");
    if (check_name(foreign, entry, log) != GSIM_OK)
        return log->status;
    if (!file || read_file(foreign, entry, file, unread) != GSIM_OK)
        entry->n_files = -1;
    append(foreign, entry);
    return GSIM_OK;
}

/* Loads the policy unless it is loaded; any thread may call this. NULL: the log says why. */
static const struct gsim_policy *take_from_library(struct gsim_foreign *foreign, const char *text,
                                                   struct gsim_log *log) {
    (void)pthread_mutex_lock(&foreign->lock);
    const struct entry *entry = foreign->first;
    while (entry && strcmp(entry->text, text) != 0)
        entry = entry->next;
    const struct gsim_policy *policy = entry ? entry->policy : add(foreign, text, log);
    (void)pthread_mutex_unlock(&foreign->lock);
    return policy;
}

const struct gsim_policy *gsim_foreign_find(struct gsim_foreign *foreign, const char *text,
                                            struct gsim_log *log) {
    if (gsim_foreign_is(text))
        return take_from_library(foreign, text, log);
    (void)pthread_mutex_lock(&foreign->lock);
    const struct entry *put = foreign->first;
    while (put && strcmp(put->text, text) != 0)
        put = put->next;
    (void)pthread_mutex_unlock(&foreign->lock);
    return put ? put->policy : gsim_policies_find(text, log);
}

/* --- looking up ------------------------------------------------------------------------------- */

const struct gsim_policy *gsim_foreign_known(struct gsim_foreign *foreign, int nth) {
    int n = 0;
    while (gsim_policies[n])
        n++;
    if (nth < n)
        return gsim_policies[nth];
    (void)pthread_mutex_lock(&foreign->lock);
    const struct entry *entry = foreign->first;
    for (; entry && n < nth; n++)
        entry = entry->next;
    (void)pthread_mutex_unlock(&foreign->lock);
    return entry ? entry->policy : NULL;
}

int gsim_foreign_files(struct gsim_foreign *foreign, const struct gsim_policy *policy,
                       const struct gsim_file_content **files) {
    (void)pthread_mutex_lock(&foreign->lock);
    const struct entry *entry = foreign->first;
    while (entry && entry->policy != policy)
        entry = entry->next;
    (void)pthread_mutex_unlock(&foreign->lock);
    *files = entry ? entry->file : NULL;
    return entry ? entry->n_files : 0;
}
