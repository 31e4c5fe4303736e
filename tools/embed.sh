#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# embed.sh OUT.c FILE...: writes the files as byte arrays, sorted by name, so that the program finds
# its data from any folder. The bytes stand in strings: compilers read these twenty times as fast as
# lists of numbers. Variable: TABLE, the name of the C table (default gsim_embedded_files).
set -eu
out=$1
shift
tmp=$out.tmp
LC_ALL=C
export LC_ALL
# Names hold no spaces: they are paths in this tree.
# shellcheck disable=SC2046
set -- $(printf '%s\n' "$@" | sort -u)
{
    echo '/* Made by tools/embed.sh; do not edit. */'
    echo '#include "sim/base/embedded.h"'
    echo '#pragma GCC diagnostic ignored "-Woverlength-strings"'
    n=0
    for file in "$@"; do
        echo "static const unsigned char file_$n[] ="
        od -An -v -to1 "$file" | sed 's/ /\\/g; s/.*/"&"/'
        echo '"";'
        n=$((n + 1))
    done
    echo "const struct gsim_embedded ${TABLE:-gsim_embedded_files}[] = {"
    n=0
    for file in "$@"; do
        echo "    {\"$file\", file_$n, sizeof file_$n - 1},"
        n=$((n + 1))
    done
    echo '    {0, 0, 0},'
    echo '};'
} >"$tmp"
mv "$tmp" "$out"
