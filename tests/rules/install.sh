#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What `make install` puts down is enough for another program: every header compiles on its own from
# there, and a small program builds with nothing but gsim.pc and runs.
set -u
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
say() { # name, status
    if [ "$2" -eq 0 ]; then echo "ok $1"; else echo "not ok $1"; sed 's/^/# /' "$tmp/log"; fi
}
make -s WERROR=1 install PREFIX=/opt/gsim DESTDIR="$tmp" >"$tmp/log" 2>&1
say "make install" $?
root=$tmp/opt/gsim
(cd "$root/include/gsim" && find . -name '*.h') | sed 's|^\./||' | while read -r header; do
    echo "#include \"$header\"" >"$tmp/one.c"
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$root/include/gsim" -fsyntax-only "$tmp/one.c" ||
        echo "$header does not stand alone"
done >"$tmp/log" 2>&1
[ ! -s "$tmp/log" ]
say "installed headers stand alone" $?
cat >"$tmp/use.c" <<'C'
#include <stdio.h>
#include "traces/read.h"
int main(int argc, char **argv) {
    static struct gsim_log log;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = {0};
    gsim_trace_read(argv[argc - 1], NULL, NULL, arena, &trace, &log);
    printf("%u jobs\n", trace.n_jobs);
    gsim_arena_free(arena);
}
C
flags=$(PKG_CONFIG_LIBDIR="$root/lib/pkgconfig:$(pkg-config --variable pc_path pkg-config)" \
    pkg-config --define-variable=prefix="$root" --cflags --libs gsim 2>"$tmp/log")
# shellcheck disable=SC2086
gcc -std=c11 -o "$tmp/use" "$tmp/use.c" $flags >>"$tmp/log" 2>&1 &&
    "$tmp/use" tests/golden/three.csv >>"$tmp/log" 2>&1
grep -q '^4 jobs$' "$tmp/log"
say "a program builds with gsim.pc" $?
for file in bin/gsim lib/libgsim.a share/man/man1/gsim.1; do
    [ -s "$root/$file" ] || echo "no $file"
done >"$tmp/log"
[ ! -s "$tmp/log" ]
say "program, library and man page are there" $?
