#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Pages show the output of this build: results of commands, tables of gsim validate, figures (make
# docs-pages docs-figures). The policy of docs/writing-a-policy.md is compiled from the page, and
# every policy has an entry. $1 is a build.
set -u
build=$1 gsim=$1/gsim
. tests/support/check.sh
pages="docs/first-hour.md docs/one-gpu.md docs/capacity.md docs/questions.md docs/embedding.md docs/own-policy.md $(echo docs/models/*.md)"
# shellcheck disable=SC2086
sh tools/pages.sh "$gsim" "$tmp/pages" $pages 2>"$tmp/log"
say "pages can be made" $?
for page in $pages; do
    diff "$page" "$tmp/pages/$page" >"$tmp/log"
    say "$page shows what gsim says (make docs-pages)" $?
done
grep -h '^<!-- validate: ' docs/models/*.md | grep -o '[a-z0-9]*/[a-z0-9_]*' | sort -u >"$tmp/shown"
printf '%s\n' experiments/validate/*/*.csv experiments/validate/*/*.ini | sed 's|experiments/validate/||; s|\.[a-z]*$||' | sort | uniq -d |
    grep -v -e '^reference/' -e '^theory/queues' -e '^theory/schedules' | comm -23 - "$tmp/shown" | sed 's/^/on no page of a model: /' >"$tmp/log"
[ ! -s "$tmp/log" ]
say "every table of a model stands on its page" $?

sh tools/policy_of_page.sh "$build" "$tmp/policy" >"$tmp/log" 2>&1
say "the policy of docs/writing-a-policy.md compiles" $?
sh tools/pages.sh "$tmp/policy/gsim" "$tmp/pages" docs/writing-a-policy.md 2>"$tmp/log" &&
    diff docs/writing-a-policy.md "$tmp/pages/docs/writing-a-policy.md" >"$tmp/log"
say "and does what the page shows (make docs-pages)" $?

sh docs/figures/draw.sh "$gsim" "$tmp/figures" >"$tmp/log" 2>&1
for figure in docs/figures/*.svg; do
    # Figures drawn by gnuplot differ between its versions.
    grep -qi gnuplot "$figure" || cmp "$figure" "$tmp/figures/$(basename "$figure")"
done >>"$tmp/log" 2>&1
[ ! -s "$tmp/log" ]
say "figures are what draw.sh draws (make docs-figures)" $?

# Each policy that shares GPUs has a row in the table of docs/one-gpu.md.
for policy in $("$gsim" list policies | awk '{ print $1 }'); do
    "$gsim" list policies "$policy" | grep -q "share GPUs with others" || continue
    grep -q "^| \`$policy\` |" docs/one-gpu.md || echo "$policy is not in the table"
done >"$tmp/log"
[ ! -s "$tmp/log" ]
say "docs/one-gpu.md has every policy that shares GPUs" $?

# Decisions: numbered without gaps, each in the list, each with a status and a reason.
n=0
for file in docs/decisions/[0-9]*.md; do
    n=$((n + 1))
    case $file in docs/decisions/$(printf %03d $n)-*) ;; *) echo "$file: expected number $n" ;; esac
    grep -q '^Status: ' "$file" && grep -q '^\*\*Reason\.\*\*' "$file" || echo "$file: no status or reason"
    grep -q "($(basename "$file"))" docs/decisions/README.md || echo "$file is not in the list"
done >"$tmp/log"
[ ! -s "$tmp/log" ]
say "decisions are numbered, listed and reasoned" $?
