#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Completions: bash is given the script and asked; zsh and fish read theirs where they are installed.
# $1 is gsim.
set -u
gsim=$1
. tests/support/check.sh
for shell in bash zsh fish; do
    "$gsim" completion $shell >"$tmp/$shell" 2>"$tmp/log"
    say "completion of $shell" $?
done
# What bash offers for the last word, one a line.
offer() { # words
    bash -c 'source "$1" || exit 1
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        _gsim
        printf "%s\n" "${COMPREPLY[@]}"' offer "$tmp/bash" "$@" >"$tmp/offer" 2>"$tmp/log"
}
expect() { # name, what is to be offered, words...
    name=$1 wanted=$2
    shift 2
    offer "$@"
    tr '\n' ' ' <"$tmp/offer" >>"$tmp/log"
    [ "$(tr '\n' ' ' <"$tmp/offer" | sed 's/ *$//')" = "$wanted" ]
    say "$name" $?
}
expect "commands" "compare completion" gsim comp
expect "options of a command" "--policies --policy-timeout" gsim compare --poli
expect "options of run, which may be left out" "--policy --policy-timeout" gsim --poli
expect "policies" "tiresias timeslice" gsim --policy ti
expect "after =" "tiresias timeslice" gsim --policy = ti
expect "a list of policies" "fifo,las" gsim compare --policies fifo,la
expect "devices" "h200" gsim --device h2
expect "choices" "csv" gsim --format c
expect "parameters of policies" "tgs.report=" gsim --set tgs.rep
expect "columns of a trace" "mem_gib=" gsim --assume mem
expect "what there is a list of" "policies" gsim list po
expect "names of a list" "h100-pcie h100-sxm h200" gsim list devices h
expect "formats" "sacct" gsim import sa
expect "suites" "theory" gsim validate the
expect "pages" "sweeps" gsim help sweeps
expect "files are the shell's" "" gsim --db x

# Every policy, device and option is there, in each shell.
for shell in bash zsh fish; do
    "$gsim" list policies | awk '{ print $1 }'
    "$gsim" list devices | awk '{ print $1 }'
    "$gsim" man | sed -n 's/^\.B \\-\\-\([a-z\\-]*\).*/\1/p' | tr -d '\\'
done | sort -u >"$tmp/names"
for shell in bash zsh fish; do
    tr -c 'a-z0-9-' '\n' <"$tmp/$shell" | sed 's/^--//' | sort -u >"$tmp/has"
    comm -23 "$tmp/names" "$tmp/has" | sed "s/^/$shell: /"
done >"$tmp/log"
[ "$(wc -l <"$tmp/names")" -gt 80 ] && [ ! -s "$tmp/log" ]
say "nothing is missing" $?
for shell in bash zsh fish; do
    if command -v $shell >"$tmp/log" 2>&1; then
        $shell -n "$tmp/$shell" >"$tmp/log" 2>&1
        say "$shell can read it" $?
    fi
done
"$gsim" completion tcsh >"$tmp/log" 2>&1
[ $? -eq 2 ] && grep -q "bash|zsh|fish" "$tmp/log"
say "another shell is refused" $?
