#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# room.sh FILE...: prints one source file that has in it all files of a room, so that one run of the compiler makes
# one object of them. What a file asks of the C library (#define _GNU_SOURCE) has to come before any header, and so
# stands before all files.
set -u
sed -n 's/ *\/\*.*//; /^#define _[A-Z_]*_SOURCE/p' "$@" | LC_ALL=C sort -u
printf '#include "%s"\n' "$@"
