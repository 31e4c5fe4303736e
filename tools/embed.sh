#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# embed.sh OUT.c FILE...: writes C that holds the files, sorted by name, so that the program finds its
# data from any folder. The assembler reads the bytes from the files themselves: as text for the compiler
# they are four times as many, and take a second of processor time to write and to read.
# Variable: TABLE, the name of the C table (default gsim_embedded_files).
set -eu
out=$1
shift
tmp=$out.tmp
LC_ALL=C
export LC_ALL
# Names hold no spaces: they are paths in this tree.
# shellcheck disable=SC2046
set -- $(printf '%s\n' "$@" | sort -u)
table=${TABLE:-gsim_embedded_files}
wc -c "$@" | awk -v table="$table" '
    BEGIN {
        n = 0
        print "/* Made by tools/embed.sh; do not edit. */"
        print "#include \"sim/base/embedded.h\""
    }
    # Not the sum, which has no path.
    $2 ~ /\// {
        bytes[n] = $1
        name[n++] = $2
    }
    END {
        for (i = 0; i < n; i++)
            printf "__asm__(\".section .rodata\\n%s_%d: .incbin \\\"%s\\\"\\n.byte 0\\n.previous\\n\");\n", table, i, name[i]
        for (i = 0; i < n; i++)
            printf "extern const unsigned char file_%d[] __asm__(\"%s_%d\");\n", i, table, i
        printf "const struct gsim_embedded %s[] = {\n", table
        for (i = 0; i < n; i++)
            printf "    {\"%s\", file_%d, %d},\n", name[i], i, bytes[i]
        print "    {0, 0, 0},\n};"
    }' >"$tmp"
mv "$tmp" "$out"
