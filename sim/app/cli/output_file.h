/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that a command writes: they replace no other file unless --force is given. */
#ifndef GSIM_APP_OUTPUT_FILE_H
#define GSIM_APP_OUTPUT_FILE_H

#include "sim/app/cli/options.h"
#include "sim/study/outfile.h"

struct gsim_outfile;
/* The check above, but an empty file, or one that begins with the text that gsim writes there
 * (compressed or not), is an earlier result, which the command may write again. */
enum gsim_status gsim_output_file_check_own(struct gsim_cli *cli, const char *path,
                                            const char *begins_with);
/* Opens the file of -o, which must not exist unless --force is given, or standard output. */
enum gsim_status gsim_output_file_open(struct gsim_cli *cli, struct gsim_outfile *out);
enum gsim_status gsim_output_file_close(struct gsim_cli *cli, struct gsim_outfile *out);

#endif
