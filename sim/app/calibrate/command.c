/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim calibrate: a device profile of this machine's GPU. Keys that are not measured (switches of
 * full state, driver checkpoints, promises of datasheets) come from a listed device, line by line
 * with their own tag and source. The command starts `gsim calibrate turns` twice to see two
 * processes share the GPU. */
#include <string.h>

#include "models/hardware/profile.h"
#include "sim/calibrate/calibrate.h"
#include "sim/app/calibrate/processes.h"
#include "sim/app/cli/output_file.h"
#include "sim/app/cli/options.h"
#include "sim/app/setup/devices.h"
#include "sim/study/outfile.h"

enum { DEVICE_NAME = 48 };

static enum gsim_status load_base(struct gsim_cli *cli, const char *gpu, const char **name,
                                  struct gsim_profile *base) {
    enum gsim_status status = GSIM_OK;
    *name = cli->value[GSIM_OPT_DEVICE];
    if (!*name)
        status = gsim_product_device(gpu, cli->arena, name, cli->log);
    if (status != GSIM_OK)
        return status;
    if (!*name)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "'%s' is no listed device; say --device NAME ('gsim list devices') for "
                         "the keys that are not measured",
                         gpu);
    return gsim_profile_load(*name, cli->arena, base, cli->log);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* The part of a key before its dot; "device" where there is none. */
static void section_of(char *section, const char *key) {
    size_t n = strcspn(key, ".");
    (void)snprintf(section, DEVICE_NAME, "%.*s", (int)(key[n] ? n : strlen("device")),
                   key[n] ? key : "device");
}

static void write_key(FILE *out, const struct gsim_measurement *m, const struct gsim_profile *base,
                      enum gsim_key key) {
    const char *name = gsim_key_name(key), *dot = strchr(name, '.');
    const struct gsim_measured *measured = &m->of[key];
    name = dot ? dot + 1 : name;
    if (measured->text)
        fprintf(out, "%s = %s | measured | %s\n", name, measured->text, measured->how);
    else
        fprintf(out, "%s = %s | %s | %s: %s\n", name,
                base->rule[key] ? base->rule[key] : base->text[key], gsim_tag_name(base->tag[key]),
                base->name, base->source[key]);
}

static bool is_written(const struct gsim_measurement *m, const struct gsim_profile *base,
                       enum gsim_key key) {
    return m->of[key].text ||
           /* an assumed key is added when the profile is read */
           base->tag[key] != GSIM_TAG_ASSUMED;
}

/* Writes the keys of a section, and its head before the first of them. */
static void write_section(FILE *out, const struct gsim_measurement *m,
                          const struct gsim_profile *base, const char *section, bool *has_head) {
    char own[DEVICE_NAME];
    for (int key = 0; key < GSIM_KEY_COUNT; key++) {
        section_of(own, gsim_key_name((enum gsim_key)key));
        if (strcmp(own, section) != 0 || !is_written(m, base, (enum gsim_key)key))
            continue;
        if (!*has_head)
            fprintf(out, "\n[%s]\n", section);
        *has_head = true;
        write_key(out, m, base, (enum gsim_key)key);
    }
}

/* Whether an earlier key belongs to the section of this key. */
static bool is_begun(int key, const char *section) {
    char own[DEVICE_NAME];
    for (int before = 0; before < key; before++) {
        section_of(own, gsim_key_name((enum gsim_key)before));
        if (strcmp(own, section) == 0)
            return true;
    }
    return false;
}

static void write_profile(FILE *out, const struct gsim_measurement *m,
                          const struct gsim_profile *base) {
    char section[DEVICE_NAME];
    fprintf(out,
            "# %s, measured by gsim calibrate under a driver of CUDA %d.%d. Lines with a source\n"
            "# that begins with '%s:' are those of that listed device.\n[device]\ntitle = %s\n",
            m->cuda->name, m->cuda->driver / 1000, m->cuda->driver % 1000 / 10, base->name,
            m->cuda->name);
    for (int key = 0; key < GSIM_KEY_COUNT; key++) {
        section_of(section, gsim_key_name((enum gsim_key)key));
        bool has_head = strcmp(section, "device") == 0; /* its head was written above */
        if (!is_begun(key, section))
            write_section(out, m, base, section, &has_head);
    }
}

static void say(const struct gsim_cli *cli, const struct gsim_measurement *m, const char *base) {
    int n = 0;
    for (int key = 0; key < GSIM_KEY_COUNT; key++)
        n += m->of[key].text != NULL;
    if (!gsim_option_is_on(cli, GSIM_OPT_QUIET))
        fprintf(cli->io->err, "gsim: %s: %d keys measured, the others are those of %s\n",
                m->cuda->name, n, base);
}

static enum gsim_status calibrate(struct gsim_cli *cli, struct gsim_measurement *m) {
    struct gsim_profile base;
    struct gsim_outfile out;
    const char *name;
    enum gsim_status status = load_base(cli, m->cuda->name, &name, &base);
    if (status == GSIM_OK)
        status = gsim_output_file_open(cli, &out);
    if (status != GSIM_OK)
        return status;
    gsim_measure_turns(m);
    status = gsim_measure(m);
    if (status != GSIM_OK) {
        gsim_outfile_abandon(&out);
        return status;
    }
    write_profile(out.file, m, &base);
    say(cli, m, name);
    return gsim_output_file_close(cli, &out);
}

enum gsim_status gsim_command_calibrate(struct gsim_cli *cli) {
    struct gsim_cuda cuda;
    const char *what = cli->n_operands == 1 ? cli->operand[0] : "";
    bool is_turner = strcmp(what, "turns") == 0;
    if (strcmp(what, "processes") == 0) /* which open the driver each, and this one does not */
        return gsim_calibrate_processes(cli);
    struct gsim_measurement *m = gsim_arena_alloc(cli->arena, sizeof *m);
    if (!m)
        return gsim_no_memory(cli->log, "measuring");
    if (cli->n_operands > 0 && !is_turner)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "gsim calibrate takes no file to read, and no word but 'processes'");
    enum gsim_status status = gsim_cuda_open(&cuda, cli->log);
    if (status != GSIM_OK)
        return status;
    *m = (struct gsim_measurement){
        .cuda = &cuda, .arena = cli->arena, .log = cli->log, .turns = cli->io->out};
    status = is_turner ? gsim_watch_turns(m) : calibrate(cli, m);
    gsim_cuda_close(&cuda);
    return status;
}
