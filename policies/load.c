/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies that are shared objects of their own. What they call is found in the program, or in the
 * libgsim.so that loads them. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "policies/registry.h"

static const char symbol[] = "gsim_policy_exported";

/* Messages of the loader are about ELF; these name the usual mistakes. */
enum gsim_status gsim_policies_check_file(const char *path, struct gsim_log *log) {
    struct stat about;
    if (stat(path, &about) != 0)
        return gsim_fail(log, GSIM_BAD_INPUT, path, 0, "cannot read the policy: %s",
                         strerror(errno));
    if (S_ISREG(about.st_mode))
        return GSIM_OK;
    return gsim_fail(log, GSIM_BAD_INPUT, path, 0,
                     "%s is no policy; a shared object is expected: cc -shared -fPIC -o mine.so "
                     "mine.c $(pkg-config --cflags gsim)",
                     S_ISDIR(about.st_mode) ? "a folder" : "a special file");
}

/* A name without '/' would be looked for in the system's folders. */
static void *open_object(const char *path, struct gsim_log *log) {
    char here[4096];
    (void)snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *object = strlen(path) < sizeof here - 3 ? dlopen(here, RTLD_NOW | RTLD_LOCAL) : NULL;
    const char *why = object ? NULL : dlerror();
    if (!object)
        (void)gsim_fail(
            log, GSIM_BAD_INPUT, path, 0,
            "the file cannot be loaded as a policy, a shared object that was built with cc "
            "-shared -fPIC: %.300s",
            why ? why : "the path of the file is too long");
    return object;
}

static const struct gsim_policy_export *find_export(void *object, const char *path,
                                                    struct gsim_log *log) {
    const struct gsim_policy_export *export = dlsym(object, symbol);
    if (!export)
        (void)gsim_fail(log, GSIM_BAD_INPUT, path, 0,
                        "the shared object exports no policy: one of its files needs "
                        "GSIM_POLICY_EXPORT(table) from "
                        "gsim/policy.h");
    else if (export->abi != GSIM_ABI || export->policy_size != sizeof(struct gsim_policy) ||
             export->ctx_size != sizeof(struct gsim_ctx))
        (void)gsim_fail(log, GSIM_BAD_INPUT, path, 0,
                        "the shared object was built with headers of interface %u, and this gsim "
                        "has %u%s: build "
                        "it again with this gsim's headers",
                        export->abi, GSIM_ABI,
                        export->abi == GSIM_ABI ? " with tables of other sizes" : "");
    else
        return export;
    return NULL;
}

static bool is_name(const char *name) {
    static const char may[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+";
    return *name && strspn(name, may) == strlen(name);
}

static bool is_built_in(const char *name) {
    for (int n = 0; gsim_policies[n]; n++)
        if (strcmp(name, gsim_policies[n]->name) == 0 ||
            (gsim_policies[n]->alias && strcmp(name, gsim_policies[n]->alias) == 0))
            return true;
    return false;
}

/* What the program prints and relies on. */
static enum gsim_status check_table(const struct gsim_policy *policy, const char *path,
                                    struct gsim_log *log) {
    const char *lacks = !policy               ? "table"
                        : !policy->name       ? ".name"
                        : !policy->summary    ? ".summary"
                        : !policy->paper      ? ".paper"
                        : !policy->deviations ? ".deviations"
                        : !policy->decide     ? ".decide"
                                              : NULL;
    if (lacks)
        return gsim_fail(
            log, GSIM_BAD_INPUT, path, 0,
            "the policy of the file has no %s; name, summary, paper, deviations and decide are "
            "what each policy has",
            lacks);
    if (!is_name(policy->name))
        return gsim_fail(log, GSIM_BAD_INPUT, path, 0,
                         "'%.100s' cannot be the name of a policy: letters, digits, '-', '_' and "
                         "'+' make one",
                         policy->name);
    if (is_built_in(policy->name))
        return gsim_fail(
            log, GSIM_BAD_INPUT, path, 0,
            "the policy of the file is called '%s', and so is one that is built in: results must "
            "tell them apart",
            policy->name);
    return GSIM_OK;
}

const struct gsim_policy *gsim_policies_load(const char *path, struct gsim_log *log) {
    void *object = gsim_policies_check_file(path, log) == GSIM_OK ? open_object(path, log) : NULL;
    const struct gsim_policy_export *export = object ? find_export(object, path, log) : NULL;
    if (export && check_table(export->policy, path, log) == GSIM_OK)
        return export->policy;
    if (object)
        (void)dlclose(object);
    return NULL;
}
