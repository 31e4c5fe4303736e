/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/setup/set.h"

#include <string.h>

#include "models/hardware/derived.h"
#include "sim/app/setup/devices.h"
#include "sim/base/units.h"

enum gsim_status gsim_set_cut(struct gsim_cli *cli, const char *text, const char **key,
                              const char **value) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--set: '%s' is not of the form KEY=VALUE",
                         text);
    *key = gsim_arena_strndup(cli->arena, text, (size_t)(equals - text));
    *value = equals + 1;
    return *key ? GSIM_OK : gsim_no_memory(cli->log, "reading --set");
}

const char *gsim_set_device(const char *key) {
    static const char prefix[] = "speed.";
    const size_t n = sizeof prefix - 1;
    return strncmp(key, prefix, n) == 0 && key[n] ? key + n : NULL;
}

bool gsim_set_is_of_devices(const char *key) {
    return gsim_key_called(key, strlen(key)) < GSIM_KEY_COUNT || gsim_set_device(key);
}

static enum gsim_status set_profile(struct gsim_cli *cli, struct gsim_profile *profile,
                                    const char *key, const char *value) {
    bool is_known;
    int64_t milli;
    const char *device = gsim_set_device(key);
    if (!device)
        return gsim_profile_set(profile, key, value, &is_known, cli->arena, cli->log);
    if (strcmp(device, profile->name) != 0)
        return GSIM_OK;
    if (gsim_parse_decimal(value, strlen(value), 1000, &milli) != GSIM_PARSE_OK || milli < 1)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "%s: '%s' is not a ratio of at least 0.001, such as 0.5", key, value);
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)milli);
    return gsim_profile_set(profile, gsim_key_name(GSIM_KEY_SPEED_MILLI), text, &is_known,
                            cli->arena, cli->log);
}

static enum gsim_status load_device(struct gsim_cli *cli, const char *name,
                                    struct gsim_profile *out) {
    const struct gsim_profile *shared;
    if (!cli->devices)
        return gsim_profile_load(name, cli->arena, out, cli->log);
    enum gsim_status status = gsim_devices_take(cli->devices, name, &shared, cli->log);
    if (status == GSIM_OK)
        *out = *shared;
    return status;
}

enum gsim_status gsim_set_profile(struct gsim_cli *cli, const char *name,
                                  const struct gsim_profile **out) {
    struct gsim_profile *profile = gsim_arena_alloc(cli->arena, sizeof *profile);
    if (!profile)
        return gsim_no_memory(cli->log, "reading a device");
    enum gsim_status status = load_device(cli, name, profile);
    for (const char *const *text = cli->repeats[GSIM_OPT_SET]; status == GSIM_OK && *text; text++) {
        const char *key, *value;
        status = gsim_set_cut(cli, *text, &key, &value);
        if (status == GSIM_OK)
            status = set_profile(cli, profile, key, value);
    }
    *out = profile;
    return status == GSIM_OK ? gsim_derived_check(profile, cli->log) : status;
}

bool gsim_set_is_host_moot(const struct gsim_profile *profile) {
    return profile->value[GSIM_KEY_PCIE_D2H] == INT64_MAX;
}
