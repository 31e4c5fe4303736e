#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Modules (a source with its header) include each other in no circle, so that each can be read after those
# that it needs. What stands around one private header counts as one module: sim/core (core.h), models/jobs
# (machine.h), and the program, whose command line names its commands (sim/app).
set -u
. tests/support/check.sh
# Prints "MODULE MODULE" for each include of a tree.
edges() {
    (cd "$1" && find include sim models policies traces -name '*.[ch]' | while read -r file; do
        sed -n 's/^#include "\([^"]*\)\.h".*/\1/p' "$file" | while read -r included; do
            echo "${file%.*} $included"
        done
    done) | sed 's| gsim/| include/gsim/|; s|sim/core/[a-z_]*|sim/core|g; s|models/jobs/[a-z_]*|models/jobs|g; s|sim/app/[a-z_/]*|sim/app|g' |
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
