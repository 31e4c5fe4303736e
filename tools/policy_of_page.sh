#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# policy_of_page.sh BUILD FOLDER: FOLDER/gsim with the policy of docs/writing-a-policy.md. Its code
# comes from the page, and the list of policies has the line that the page shows.
set -eu
build=$1 out=$2
page=docs/writing-a-policy.md
mkdir -p "$out/policies"
awk '/^```$/ { inside = 0 } inside { print } /^```c$/ { inside = 1 }' $page >"$out/policies/slf.c"
{
    cat policies/list.def
    sed -n 's/^    \(GSIM_POLICY(.*)\)$/\1/p' $page
} >"$out/policies/list.def"
libs=$(sed -n 's/^LIBS *= //p' Makefile)
for file in "$out/policies/slf.c" policies/registry.c; do
    ${CC:-gcc} -std=c11 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$out" -I. -Iinclude -c \
        -o "$out/$(basename "$file" .c).o" "$file"
done
# shellcheck disable=SC2086
${CC:-gcc} -o "$out/gsim" "$build/sim/app/main.o" "$out/registry.o" "$out/slf.o" "$build/libapp.a" "$build/libgsim.a" $libs
