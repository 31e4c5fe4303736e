#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The README's first screen is the program's output for a sound experiment: no warning, no silenced
# note, intervals, and no line beyond 100 columns. $1 is a build.
set -u
gsim=$1/gsim
. tests/support/check.sh
sh tools/readme.sh "$gsim" demo >"$tmp/README.md" 2>"$tmp/log" && diff README.md "$tmp/README.md" >"$tmp/log"
say "README shows what make demo prints (make readme)" $?
sh tools/demo.sh "$gsim" >"$tmp/out" 2>"$tmp/err" && ! grep -v "^gsim: assumed, not known: " "$tmp/err" >"$tmp/log"
say "gsim has nothing to say against it" $?
! grep -e --quiet -e "no intervals" -e "cannot tell" "$tmp/out" >"$tmp/log" && grep -q "95 % intervals" "$tmp/out" && grep -q "^verdict" "$tmp/out"
say "and is sure of it" $?
awk 'length > 100' "$tmp/out" >"$tmp/log"
[ ! -s "$tmp/log" ]
say "in 100 columns" $?
sed -n '/^# gsim$/,/demo: begin/p' README.md >"$tmp/log"
grep -q '^    make demo ' "$tmp/log" && grep -q '^    make check ' "$tmp/log"
say "the first screen has the command that runs gsim and the one that tests it" $?
[ "$(grep -c '^    [a-z./]' "$tmp/log")" = 3 ] && [ "$(grep -c '^!\[' "$tmp/log")" = 1 ]
say "it has three commands and one figure" $?
awk '/^\|/ && length > 100 { print "README.md:" FNR }' README.md >"$tmp/log"
[ ! -s "$tmp/log" ]
say "no table of the README is wider than 100 columns" $?
