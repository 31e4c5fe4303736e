#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Modules (a source with its header) include each other in no circle, so that each can be read after those
# that it needs; and files call each other in no circle, by the names that they define and need.
# The files of sim/core stand around one private header (core.h) and count as one module.
set -u
. tests/support/check.sh
# Prints "MODULE MODULE" for each include of a tree.
edges() {
    (cd "$1" && find include sim models policies traces -name '*.[ch]' | xargs grep -H '^#include "[^"]*\.h"') |
        sed 's/\.[ch]:#include "\([^"]*\)\.h".*/ \1/' | sed 's| gsim/| include/gsim/|; s|sim/core/[a-z_]*|sim/core|g' |
        awk '$1 != $2' | sort -u
}
circles() { edges "$1" | tsort 2>&1 >/dev/null | sed -n 's/^tsort: //p' | grep -v 'contains a loop'; }
circles . >"$tmp/log"
[ ! -s "$tmp/log" ]
say "modules include each other in no circle" $?
mkdir -p "$tmp/tree/include" "$tmp/tree/models/gpu" "$tmp/tree/policies" "$tmp/tree/traces" "$tmp/tree/sim"
echo '#include "models/gpu/b.h"' >"$tmp/tree/models/gpu/a.c"
echo '#include "models/gpu/c.h"' >"$tmp/tree/models/gpu/b.h"
echo '#include "models/gpu/a.h"' >"$tmp/tree/models/gpu/c.c"
circles "$tmp/tree" >"$tmp/log"
grep -q models/gpu/b "$tmp/log"
say "the rule of circles finds one" $?
# Prints "FILE FILE" for each file that needs a name which the other defines.
calls() { # folder of sources
    python3 tests/support/names.py "$1" | awk '
        { file = $0; sub(/\.o:.*/, "", file); sub(/^sim\/core\/.*/, "sim/core", file) }
        $2 == "U" { needs[++n] = file " " $3 }
        $2 == "T" { owner[$3] = file }
        END {
            for (i = 1; i <= n; i++) {
                split(needs[i], pair, " ")
                if (pair[2] in owner && owner[pair[2]] != pair[1])
                    print pair[1], owner[pair[2]]
            }
        }' | sort -u
}
knots() { calls "$1" | tsort 2>&1 >/dev/null | sed -n 's/^tsort: //p' | grep -v 'contains a loop'; }
knots . >"$tmp/log"
[ "$(calls . | wc -l)" -gt 2000 ] && [ ! -s "$tmp/log" ]
say "files call each other in no circle" $?
mkdir -p "$tmp/calls/models"
echo 'void b(void); void a(void); void a(void) { b(); }' >"$tmp/calls/models/a.c"
echo 'void b(void); void a(void); void b(void) { a(); }' >"$tmp/calls/models/b.c"
knots "$tmp/calls" | grep -q models/b >"$tmp/log"
say "the rule of calls finds one" $?
