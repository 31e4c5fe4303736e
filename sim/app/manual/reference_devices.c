/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the reference of devices: a description of each, the sources of its numbers, and what was
 * validated. */
#include <string.h>

#include "models/hardware/profile.h"
#include "models/hardware/validated.h"
#include "sim/app/manual/reference_pages.h"

enum { MAX_DEVICES = 256 };

/* Prints a rate for a table, in units of 10^9 or 10^12 a second. */
static void print_rate(FILE *out, const struct gsim_profile *profile, enum gsim_key key,
                       double unit) {
    if (strcmp(profile->text[key], "unlimited") == 0)
        fputs(" | unlimited", out);
    else
        fprintf(out, " | %.1f", (double)profile->value[key] / unit);
}

static void print_chip(FILE *out, const struct gsim_profile *profile) {
    int n[GSIM_TAG_COUNT] = {0};
    for (int k = 0; k < GSIM_KEY_COUNT; k++)
        n[profile->tag[k]]++;
    fprintf(out, "| [`%s`](#%s) | %s | %lld | %.1f", profile->name, profile->name, profile->title,
            (long long)profile->value[GSIM_KEY_SMS],
            (double)profile->value[GSIM_KEY_HBM_BYTES] / (double)(1 << 30));
    print_rate(out, profile, GSIM_KEY_HBM_PEAK_BYTES_PER_S, 1e9);
    print_rate(out, profile, GSIM_KEY_FP16_FLOPS_PER_S, 1e12);
    print_rate(out, profile, GSIM_KEY_PCIE_PEAK, 1e9);
    fprintf(out, " | %d / %d / %d / %d |\n", n[GSIM_TAG_MEASURED], n[GSIM_TAG_PUBLISHED],
            n[GSIM_TAG_FITTED], n[GSIM_TAG_ASSUMED]);
}

static void print_mechanisms(FILE *out, const struct gsim_profile *profile) {
    fputs("\n| mechanism | held against |\n|---|---|\n", out);
    for (int m = 0; m < GSIM_MECHANISM_COUNT; m++) {
        const struct gsim_validated *claim = &profile->validated[m];
        enum gsim_mechanism mechanism = (enum gsim_mechanism)m;
        fprintf(out, "| %s | ", gsim_validated_title(mechanism));
        if (claim->text) {
            gsim_reference_cell(out, claim->text);
            fputs("; ", out);
            gsim_reference_cell(out, claim->source);
        } else {
            fprintf(out, "not claimed; %s", gsim_validated_otherwise(mechanism));
        }
        fputs(" |\n", out);
    }
}

static void print_device(FILE *out, const struct gsim_profile *profile) {
    fprintf(out, "\n### %s\n\n%s, file [models/devices/%s.ini](../../models/devices/%s.ini).\n",
            profile->name, profile->title, profile->name, profile->name);
    bool has_claim = false;
    for (int m = 0; m < GSIM_MECHANISM_COUNT; m++)
        has_claim |= profile->validated[m].text != NULL;
    if (has_claim)
        print_mechanisms(out, profile);
    else
        fputs("No mechanism was held against this device.\n", out);
}

static void print_keys(FILE *out, const struct gsim_profile *profile) {
    fprintf(out,
            "\n## Keys\n\nEvery device has every key; the values of `%s` stand here as an "
            "example.\n\n| key | `%s` | how it is known | meaning |\n|---|---|---|---|\n",
            profile->name, profile->name);
    for (int k = 0; k < GSIM_KEY_COUNT; k++) {
        enum gsim_key key = (enum gsim_key)k;
        fprintf(out, "| `%s` | %s | %s | ", gsim_key_name(key), profile->text[k],
                gsim_tag_name((enum gsim_tag)profile->tag[k]));
        gsim_reference_cell(out, gsim_key_help(key));
        fputs(" |\n", out);
    }
}

static const char intro[] =
    "A device is a file of numbers, each with a tag (measured, published, fitted or assumed) and a "
    "source;\n`gsim list devices NAME` shows all of them. Keys that a file does not give come from "
    "[assumed.ini](../../models/devices/assumed.ini).\nA number is changed with `--set KEY=VALUE`, "
    "and a whole device with `--device FILE.ini`.\n\nMemory is in GiB, bandwidths are those of "
    "datasheets in GB/s, FP16 is dense in Tflop/s, and the last\ncolumn counts the keys that were "
    "measured, published, fitted and assumed.\n\n"
    "| device | name | SMs | memory | HBM | FP16 | PCIe | keys |\n"
    "|---|---|---:|---:|---:|---:|---:|---|\n";

enum gsim_status gsim_reference_devices(struct gsim_cli *cli) {
    char names[MAX_DEVICES][48];
    int n = gsim_profile_names(names, MAX_DEVICES);
    FILE *out = cli->io->out;
    struct gsim_profile *profiles = gsim_arena_alloc(cli->arena, (size_t)n * sizeof *profiles);
    if (!profiles)
        return gsim_fail(cli->log, GSIM_FAILED, NULL, 0, "out of memory");
    gsim_reference_title(out, "Devices", "devices");
    fputs(intro, out);
    for (int i = 0; i < n; i++) {
        enum gsim_status status = gsim_profile_load(names[i], cli->arena, &profiles[i], cli->log);
        if (status != GSIM_OK)
            return status;
        print_chip(out, &profiles[i]);
    }
    fputs("\n## What was validated\n\nA result on a device, or by a mechanism, that is not claimed "
          "here says so in its field\n`outside_validated`.\n",
          out);
    for (int i = 0; i < n; i++)
        print_device(out, &profiles[i]);
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], "h200") == 0)
            print_keys(out, &profiles[i]);
    return GSIM_OK;
}
