/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands and options of the program, as they were typed. */
#ifndef GSIM_APP_OPTIONS_H
#define GSIM_APP_OPTIONS_H

#include "gsim/arena.h"
#include "sim/app/cli/streams.h"

enum gsim_command_bit {
    GSIM_IN_RUN = 1,
    GSIM_IN_COMPARE = 2,
    GSIM_IN_GENERATE = 4,
    GSIM_IN_IMPORT = 8,
    GSIM_IN_LIST = 16,
    GSIM_IN_SWEEP = 32,
    GSIM_IN_MERGE = 64,
    GSIM_IN_PLOT = 128,
    GSIM_IN_REPORT = 256,
    GSIM_IN_VALIDATE = 512,
    GSIM_IN_FIT = 1024,
    GSIM_IN_CALIBRATE = 2048,
    GSIM_IN_REPRO = 4096,
    GSIM_IN_TABLE = 8192,
    GSIM_IN_RESAMPLE = 16384,
    GSIM_IN_DESCRIBE = 32768,
    GSIM_IN_CHECK = 65536,
    GSIM_IN_DRIVE = 131072,
    GSIM_IN_CHECK_RUN = 262144,
    GSIM_IN_EXPLAIN = 524288,
    GSIM_IN_GRID = 0x100000, /* no command: the option is a key of a grid */
    GSIM_IN_PLAN = 0x200000,
    GSIM_IN_SERVE = 0x400000,
    GSIM_IN_ADVISE = 0x800000,
    GSIM_IN_ALL = 0xefffff,
};

enum gsim_option {
#define GSIM_OPTION(symbol, name, argument, is_repeatable, commands, help) GSIM_OPT_##symbol,
#include "sim/app/cli/options.def"
#undef GSIM_OPTION
    GSIM_OPT_COUNT
};

enum { GSIM_MAX_REPEATS = 256, GSIM_MAX_OPERANDS = 1024 };

struct gsim_devices;
struct gsim_contents;
struct gsim_foreign;

struct gsim_cli {
    const struct gsim_io *io;
    struct gsim_arena *arena;
    struct gsim_log *log;
    const char *value[GSIM_OPT_COUNT]; /* NULL: not given; "" for a flag that is given */
    const char *repeats[GSIM_OPT_COUNT][GSIM_MAX_REPEATS + 1]; /* NULL-terminated */
    const char *operand[GSIM_MAX_OPERANDS];
    int n_operands;
    /* see sim/app/identity/contents.h; NULL until a run is identified */
    struct gsim_contents *contents;
    struct gsim_foreign *foreign; /* see sim/app/setup/foreign.h */
    struct gsim_devices *devices; /* see sim/app/setup/devices.h; NULL: shared with no other run */
    int argc;
    char **argv;
};

struct gsim_command {
    const char *name;
    const char *operands; /* "TRACE.csv" */
    const char *summary;
    enum gsim_command_bit bit;
};
extern const struct gsim_command gsim_commands[]; /* ends with a NULL name */

struct gsim_option_def {
    const char *name, *argument;
    bool is_repeatable;
    unsigned commands;
    const char *help;
};
extern const struct gsim_option_def gsim_option_defs[GSIM_OPT_COUNT];

/* Reads the arguments from argv[from] on into cli. */
enum gsim_status gsim_options_parse(struct gsim_cli *cli, const struct gsim_command *command,
                                    int from);
bool gsim_option_is_on(const struct gsim_cli *cli, enum gsim_option option);
/* The value of an option that is a whole number within limits, or the fallback if it is not
 * given. */
enum gsim_status gsim_option_int(struct gsim_cli *cli, enum gsim_option option, int64_t fallback,
                                 int64_t least, int64_t most, int64_t *out);
/* A ratio above 0, such as 0.8 or 80%, in ppm; 0 if it is not given. */
enum gsim_status gsim_option_ratio(struct gsim_cli *cli, enum gsim_option option, int64_t *ppm);
/* Checks that the command has exactly one operand; `what` names it ("grid"), `usage` is the usage
 * line. */
enum gsim_status gsim_one_operand(struct gsim_cli *cli, const char *what, const char *usage);
void gsim_print_help(FILE *out, const struct gsim_command *command); /* NULL: help on the program */
void gsim_print_man(FILE *out);

/* What runs each command. */
#define GSIM_COMMAND(symbol, name, bit, operands, summary)                                         \
    enum gsim_status gsim_command_##symbol(struct gsim_cli *cli);
#include "sim/app/cli/commands.def"
#undef GSIM_COMMAND

#endif
