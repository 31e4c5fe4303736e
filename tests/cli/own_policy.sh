#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Policies from outside of the program: shared objects, wherever a policy is named. $1 is gsim.
set -u
case $1 in
/*) gsim=$1 ;;
*) gsim=$PWD/$1 ;;
esac
root=$PWD
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unset TMPDIR
mkdir "$tmp/include"
cp -r include/gsim "$tmp/include/gsim"
sh tools/lib_header.sh >"$tmp/include/gsim/lib.h"
cd "$tmp" || exit 1

say() { # name, status
    if [ "$2" -eq 0 ]; then echo "ok $1"; else echo "not ok $1"; sed 's/^/# /' out | head -8; fi
}
# expect NAME CODE PATTERN COMMAND...: exit code, and a pattern somewhere in the output
expect() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >out 2>&1
    got=$?
    [ $got -eq "$code" ] && grep -q -e "$pattern" out
    say "$name (exit $got)" $?
}
build() { # object, file, more flags
    object=$1 file=$2
    shift 2
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror -shared -fPIC -Iinclude -I"$root/examples/policy" "$@" -o "$object.new" "$file" && mv "$object.new" "$object"
}

cp "$root/examples/policy/narrow_first.c" narrow.c
build narrow.so narrow.c || echo "not ok the policy of examples/policy compiles"
for i in 1 2 3 4 5 6 7 8; do echo "j$i,$((i * 5)),$((i * 37 % 100 + 20)),$((i % 3 + 1))"; done >rows
{ echo job_id,submit_s,duration_s,gpus && cat rows; } >t.csv

# --- wherever a policy is named
expect "list shows it" 0 "^narrow-first: the job with the fewest GPUs first" "$gsim" list policies ./narrow.so
expect "and its parameters" 0 "--set narrow-first.placement=consolidate" "$gsim" list policies ./narrow.so
expect "a run" 0 "^narrow-first on t.csv" "$gsim" --policy ./narrow.so --gpus-per-node 4 t.csv
expect "a name that ends in .so is a file here" 0 "^narrow-first on t.csv" "$gsim" --policy narrow.so --gpus-per-node 4 t.csv
expect "its parameters can be set" 0 "^narrow-first " "$gsim" --policy ./narrow.so --set placement=any --gpus-per-node 4 t.csv
expect "and by its name" 0 "^narrow-first " "$gsim" compare --policies fifo,./narrow.so --set narrow-first.placement=any --gpus-per-node 4 t.csv
expect "a misspelt parameter" 2 "did you mean 'placement'" "$gsim" --policy ./narrow.so --set placemet=any --gpus-per-node 4 t.csv
printf 'trace = t.csv\npolicy = fifo, ./narrow.so, las\ngpus-per-node = 4, 5\nset.narrow-first.placement = any, spread\nset.las.quantum = 10s, 20s\n' >g.ini
expect "a sweep; its keys are its own" 0 "10 of 10 runs are in r.db, 10 of them new" "$gsim" sweep g.ini -o r.db
expect "which knows its runs again" 0 "0 of them new" "$gsim" sweep g.ini -o r.db
expect "a key of no policy of the grid" 3 "no policy of this grid knows 'reef.x'" sh -c "printf 'set.reef.x = 1\n' | cat g.ini - >b.ini; '$gsim' sweep b.ini -o b.db"

# --- its file is part of a run
"$gsim" run --policy ./narrow.so --gpus-per-node 4 t.csv --db own.db --quiet >out 2>&1
expect "the file is among a run's inputs" 0 "^policy|./narrow.so|[0-9a-f]\{64\}$" sqlite3 own.db "select kind, path, sha256 from input_list where kind = 'policy'"
expect "a run is known again" 0 "has this run already" "$gsim" run --policy ./narrow.so --gpus-per-node 4 t.csv --db own.db --quiet
expect "and repeated from the database" 0 "^run 1 is reproduced" "$gsim" repro own.db 1
expect "what policies share is part of the program" 0 "^1$" sqlite3 own.db "select count(*) from run join build using (build) where part = 'policies/lib/settings.c'"
sed 's/the fewest GPUs first/the least GPUs first/' narrow.c >narrow2.c
cp narrow.so first.so
build narrow.so narrow2.c
expect "a changed file is another run" 1 "was made from other contents of its files" "$gsim" repro own.db 1
expect "which a sweep says" 0 "4 of 10 runs are there with other contents of ./narrow.so" "$gsim" sweep g.ini -o r.db
expect "the database has the file" 0 "^run 1 is reproduced" "$gsim" repro own.db 1 --from-database

# --- what cannot be used
expect "two of one name" 3 "its policy is called 'narrow-first', and so is that of ./narrow.so" "$gsim" compare --policies ./narrow.so,./first.so --gpus-per-node 4 t.csv
expect "one twice" 2 "policy './narrow.so' is named twice" "$gsim" compare --policies ./narrow.so,./narrow.so --gpus-per-node 4 t.csv
expect "a missing file" 3 "^gsim: ./none.so: cannot read the policy: No such file" "$gsim" --policy ./none.so t.csv
expect "a folder" 3 "a folder is no policy; a shared object is expected: cc -shared" "$gsim" --policy ./include t.csv
expect "no shared object" 3 "^gsim: ./t.csv: it cannot be loaded as a policy, a shared object" "$gsim" --policy ./t.csv t.csv
echo 'int nothing;' >nothing.c
build nothing.so nothing.c
expect "an object without a policy" 3 "it exports no policy: one file of it needs GSIM_POLICY_EXPORT" "$gsim" --policy ./nothing.so t.csv
sed 's/define GSIM_ABI .*/define GSIM_ABI 77/' include/gsim/policy.h >policy.h
mkdir -p other/gsim && cp include/gsim/* other/gsim && mv policy.h other/gsim
cc -std=c11 -shared -fPIC -Iother -I"$root/examples/policy" -o other.so narrow.c
expect "an object of another interface" 3 "built with headers of interface 77, and this gsim has [0-9]*: build it again" "$gsim" --policy ./other.so t.csv
sed 's/"narrow-first"/"fifo"/' narrow.c >fifo.c
build fifo.so fifo.c
expect "a name that is built in" 3 "its policy is called 'fifo', and so is one that is built in" "$gsim" --policy ./fifo.so t.csv
sed '/\.paper = /d' narrow.c >poor.c
build poor.so poor.c
expect "a table with a gap" 3 "its policy has no .paper" "$gsim" --policy ./poor.so t.csv
sed 's/gsim_settings_place(ctx/gsim_no_such_thing(ctx/; s/^struct state {/bool gsim_no_such_thing(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, enum gsim_rule rule);\n&/' narrow.c >lost.c
build lost.so lost.c
expect "a call of what gsim does not have" 3 "undefined symbol: gsim_no_such_thing" "$gsim" --policy ./lost.so t.csv
expect "a grid says the line" 3 "^gsim: b.ini:2: ./none.so: cannot read the policy" sh -c "printf 'trace = t.csv\npolicy = ./none.so\n' >b.ini; '$gsim' sweep b.ini -o b.db"
