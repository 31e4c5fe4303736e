#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The pages in the terminal: `gsim help` lists them all, each is printed as text, and a typo gets a
# suggestion. $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh
topics() {
    for page in docs/*.md docs/models/*.md docs/reference/*.md; do
        [ -f "$page" ] && basename "$page" .md
    done
}

"$gsim" help >"$tmp/help" 2>"$tmp/log"
for topic in $(topics); do
    grep -q "^  $topic " "$tmp/help" || echo "$topic is not listed"
done >"$tmp/log"
[ ! -s "$tmp/log" ]
say "gsim help lists every page" $?

for topic in $(topics); do
    "$gsim" help "$topic.md" >"$tmp/page" 2>&1 || echo "$topic: exit code $?"
    [ "$(wc -l <"$tmp/page")" -gt 5 ] || echo "$topic is empty"
    # Outside code, marks of Markdown are gone.
    grep -v '^    ' "$tmp/page" | grep -n -e '\*\*' -e '^#' -e '](' -e '<!--' | sed "s/^/$topic: /"
done >"$tmp/log"
[ ! -s "$tmp/log" ]
say "each is printed as text" $?

topics | sort | uniq -d >"$tmp/log"
[ ! -s "$tmp/log" ]
say "no two pages have one name" $?

"$gsim" help columns >"$tmp/page" 2>"$tmp/log" && grep -q '^mem_gib  *GiB  *memory allocated' "$tmp/page"
say "tables are aligned" $?
awk 'length > 100' "$tmp/page" >"$tmp/log"
[ ! -s "$tmp/log" ]
say "in 100 columns" $?

"$gsim" help colums >"$tmp/log" 2>&1
[ $? -eq 2 ] && grep -q "did you mean 'columns'" "$tmp/log"
say "a typo gets a suggestion" $?
"$gsim" help compare >"$tmp/log" 2>&1 && grep -q -e '--policies' "$tmp/log" && grep -q "gsim help compare.md" "$tmp/log"
say "a command comes before a page of its name" $?
# Summaries of commands begin in one column, whatever the length of names.
"$gsim" help >"$tmp/log" 2>&1
[ "$(sed -n "/^commands/,/^exit/p" "$tmp/log" | grep "^  [a-z]" | cut -c42-43 | grep -vc "^ [^ ]")" = 0 ]
say "summaries of commands stand below each other" $?
for word in help version man completion; do
    "$gsim" help "$word" >"$tmp/log" 2>&1 && grep -q "^  completion  *bash|zsh|fish" "$tmp/log"
    say "help $word shows the list that explains it" $?
done

# The examples of the man page run as they are written, one after another: on a log of sacct, and a grid of its trace.
case $gsim in /*) ;; *) gsim=$PWD/$gsim ;; esac
"$gsim" man | sed -n '/^\.SH EXAMPLES/,/^\.SH EXIT/s/^\.B gsim //p' | sed 's/\\-/-/g' >"$tmp/examples"
mkdir "$tmp/shop"
awk 'BEGIN {
    print "JobIDRaw|User|Submit|Start|End|ElapsedRaw|State|AllocTRES|NodeList"
    for (i = 0; i < 24; i++) {
        start = i * 60 + 5
        printf "%d|u%d|2024-05-01T10:%02d:00|2024-05-01T11:%02d:05|2024-05-01T12:%02d:05|3600|COMPLETED|cpu=8,gres/gpu=1|n%d\n",
            i + 1, i % 3, i, i, i, i % 2
    }
}' >"$tmp/shop/jobs.txt"
printf 'trace = trace.csv\npolicy = fifo, las\nnodes = 1, 2\n' >"$tmp/shop/grid.ini"
: >"$tmp/log"
while read -r example; do
    case $example in plot*) command -v gnuplot >/dev/null || continue ;; esac
    # shellcheck disable=SC2086 # words of an example have no blanks
    (cd "$tmp/shop" && "$gsim" $example) </dev/null >"$tmp/out" 2>&1 || { echo "gsim $example: exit code $?"; cat "$tmp/out"; } >>"$tmp/log"
done <"$tmp/examples"
[ "$(wc -l <"$tmp/examples")" -ge 8 ] && [ ! -s "$tmp/log" ] && [ -s "$tmp/shop/run.json" ] && [ -s "$tmp/shop/results.db" ]
say "the examples of the man page run as they are written" $?
