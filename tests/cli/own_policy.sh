#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Policies from outside of the program: shared objects, wherever a policy is named. $1 is gsim.
set -u
# shellcheck disable=SC2086 # $threads is two words or none
case $1 in
/*) gsim=$1 ;;
*) gsim=$PWD/$1 ;;
esac
root=$PWD
# A sanitizer's allocator may be locked by another thread at the moment in which a run's process
# begins, and stays so in it (the C library's does not): with sanitizers there is one thread.
san= threads=
case $gsim in *-san-*) san=1 threads="-j 1" ;; esac
# Equal results from two sides are numbers, and more random traces than a few have the code of these few: with sanitizers
# they are of CASES=all.
# Of what makes a policy bad, any is made as small as the others are: with sanitizers one that ends its process and one that
# gsim refuses.
numbers=1 reps=30 programs=6 broken="segv rule starve"
case ${CASES-}$gsim in all*) ;; *-san-*) numbers= reps=8 programs=2 broken="segv rule" ;; esac
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unset TMPDIR
# Builds with sanitizers catch the signals of crashes, which are what is looked for here.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0"
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
expect "and by its name" 0 "^narrow-first " "$gsim" compare $threads --policies fifo,./narrow.so --set narrow-first.placement=any --gpus-per-node 4 t.csv
expect "a misspelt parameter" 2 "did you mean 'placement'" "$gsim" --policy ./narrow.so --set placemet=any --gpus-per-node 4 t.csv
if [ -z "$san" ]; then
printf 'trace = t.csv\npolicy = fifo, ./narrow.so, las\ngpus-per-node = 4, 5\nset.narrow-first.placement = any, spread\nset.las.quantum = 10s, 20s\n' >g.ini
expect "a sweep; its keys are its own" 0 "10 of 10 runs are in r.db, 10 of them new" "$gsim" sweep g.ini -o r.db
expect "which knows its runs again" 0 "0 of them new" "$gsim" sweep g.ini -o r.db
expect "a key of no policy of the grid" 3 "no policy of this grid knows 'reef.x'" sh -c "printf 'set.reef.x = 1\n' | cat g.ini - >b.ini; '$gsim' sweep b.ini -o b.db"
fi

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
if [ -z "$san" ]; then
expect "which a sweep says" 0 "4 of 10 runs are there with other contents of ./narrow.so" "$gsim" sweep g.ini -o r.db
fi
expect "the database has the file" 0 "^run 1 is reproduced" "$gsim" repro own.db 1 --from-database

# --- what cannot be used
expect "two of one name" 3 "the policy of the file is called 'narrow-first', and so is that of ./narrow.so" "$gsim" compare $threads --policies ./narrow.so,./first.so --gpus-per-node 4 t.csv
expect "one twice" 2 "policy './narrow.so' is named twice" "$gsim" compare $threads --policies ./narrow.so,./narrow.so --gpus-per-node 4 t.csv
expect "a missing file" 3 "^gsim: ./none.so: cannot read the policy: No such file" "$gsim" --policy ./none.so t.csv
expect "a folder" 3 "a folder is no policy; a shared object is expected: cc -shared" "$gsim" --policy ./include t.csv
expect "no shared object" 3 "^gsim: ./t.csv: the file cannot be loaded as a policy, a shared object" "$gsim" --policy ./t.csv t.csv
echo 'int nothing;' >nothing.c
build nothing.so nothing.c
expect "an object without a policy" 3 "the shared object exports no policy: one of its files needs GSIM_POLICY_EXPORT" "$gsim" --policy ./nothing.so t.csv
sed 's/define GSIM_ABI .*/define GSIM_ABI 77/' include/gsim/policy.h >policy.h
mkdir -p other/gsim && cp include/gsim/* other/gsim && mv policy.h other/gsim
cc -std=c11 -shared -fPIC -Iother -I"$root/examples/policy" -o other.so narrow.c
expect "an object of another interface" 3 "built with headers of interface 77, and this gsim has [0-9]*: build it again" "$gsim" --policy ./other.so t.csv
sed 's/"narrow-first"/"fifo"/' narrow.c >fifo.c
build fifo.so fifo.c
expect "a name that is built in" 3 "the policy of the file is called 'fifo', and so is one that is built in" "$gsim" --policy ./fifo.so t.csv
sed '/\.paper = /d' narrow.c >poor.c
build poor.so poor.c
expect "a table with a gap" 3 "the policy of the file has no .paper" "$gsim" --policy ./poor.so t.csv
sed 's/gsim_settings_place(ctx/gsim_no_such_thing(ctx/; s/^struct state {/bool gsim_no_such_thing(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, enum gsim_rule rule);\n&/' narrow.c >lost.c
build lost.so lost.c
expect "a call of what gsim does not have" 3 "undefined symbol: gsim_no_such_thing" "$gsim" --policy ./lost.so t.csv
expect "a grid says the line" 3 "^gsim: b.ini:2: ./none.so: cannot read the policy" sh -c "printf 'trace = t.csv\npolicy = ./none.so\n' >b.ini; '$gsim' sweep b.ini -o b.db"

# --- one that is bad ends its own run only, and says where
build bad.so "$root/tests/support/bad_policy.c" -Wno-infinite-recursion
bad() { # how: runs it
    how=$1
    shift
    "$gsim" run --policy ./bad.so --set how="$how" --nodes 1 --gpus-per-node 4 "$@" t.csv
}
expect "a good run of the bad policy" 0 "^bad on t.csv" bad none
# j2 asks for 3 of 4 GPUs, and j1 has 2 from 5 s to 62 s
where="in decide at 62.000000000 s, with job 'j2' at hand"
expect "an invalid address" 1 "^gsim: ./bad.so: policy 'bad' crashed $where: Segmentation fault" bad segv
expect "a status without a reason" 1 "^gsim: ./bad.so: policy 'bad' ends the run $where, and ctx->log has no reason" bad silent
expect "an abort" 1 "policy 'bad' crashed $where: Aborted" bad abort
expect "a division by zero" 1 "policy 'bad' crashed $where: Floating point exception" bad divide
expect "a stack that is used up" 1 "policy 'bad' crashed $where: Segmentation fault" bad stack
expect "an exit" 1 "policy 'bad' ended the process (exit 0) $where" bad exit
expect "a loop" 1 "policy 'bad' does not come back within 1s (--policy-timeout) from ${where#in }" bad loop --policy-timeout 1s
expect "what it prints is seen" 0 "^here is slot" bad print
expect "a broken rule" 1 "policy 'bad' broke a rule at 15.000000000 s: preempting job 'j2' (queued)" bad rule
expect "a GPU that is named twice" 1 "placing job 'j2' (queued): on a unit that is named twice" bad twice
expect "less than nothing of a host" 1 "placing job 'j2' (queued): a part of a host is nothing, or more" bad part
expect "a watch of no kind" 1 "watching job 'j2' (queued): there is no such kind of watch" bad kind
expect "a shape of no rule" 1 "placing job 'j2' (queued): a shape has a GPU at least, a share of it, and one of" bad order
expect "a stop of no way" 1 "preempting job 'j1' (running): there is no such way to stop a job" bad way
expect "a stop that keeps nowhere" 1 "preempting job 'j1' (running): there is no such place for a job's state" bad keep
expect "more GPUs than there are do not fit" 0 "^bad on t.csv" bad wide
sed 's/fallback = "none"/fallback = "nothing"/' "$root/tests/support/bad_policy.c" >default.c
build default.so default.c -Wno-infinite-recursion
expect "a default that is no value" 2 "^gsim: bad.how: the default 'nothing' is not one of" "$gsim" --policy ./default.so t.csv
expect "jobs that wait for ever" 1 "policy 'bad' leaves [0-9]* jobs* waiting for ever" bad starve
bad segv --timeline line.json >out 2>&1
[ ! -e line.json ] && [ ! -e line.json.part ]
say "no part of a timeline stays" $?
"$gsim" run --policy ./bad.so --set how=loop --policy-timeout 60s --nodes 1 --gpus-per-node 4 t.csv >out 2>&1 &
pid=$!
# The run's process is in the loop when it has had half a second of a processor: its start takes a tenth at most.
tries=1200
while [ $tries -gt 0 ] && ! awk '$14 >= 50 { found = 1 } END { exit !found }' "/proc/$(pgrep -P $pid | head -n 1)/stat" 2>/dev/null; do
    sleep 0.05
    tries=$((tries - 1))
done
kill -TERM $pid
wait $pid
code=$?
grep -q "interrupted: policy 'bad' does not come back from decide" out && [ $code = 1 ]
say "an interruption ends a loop (exit $code)" $?
if [ -z "$san" ]; then
printf 'trace = t.csv\npolicy = fifo, ./bad.so\ngpus-per-node = 4, 5\nset.bad.how = none, segv, abort\n' >bad.ini
expect "a sweep goes on without it" 1 "^bad.ini: 4 of 8 runs are in bad.db, 4 of them new; 4 failed" "$gsim" sweep bad.ini -o bad.db
expect "and names the run" 1 "run [0-9]: ./bad.so: policy 'bad' crashed in decide" "$gsim" sweep bad.ini -o bad.db
fi
expect "a comparison says which" 1 "policy 'bad' crashed $where" "$gsim" compare $threads --policies fifo,./bad.so --set how=segv --nodes 1 --gpus-per-node 4 t.csv

# --- beside nodes with a policy of their own; the first job of the trace is theirs
printf '[node notebooks]\ngpus = 1\ndevice = h200\npolicy = timeslice\n[node]\ngpus = 4\ndevice = h200\n' >parts.ini
{ echo job_id,submit_s,duration_s,gpus,partition && echo first,0,10,1,notebooks && sed 's/$/,/' rows; } >parts.csv
ends() { "$gsim" run --quiet "$@" --force --jobs-csv jobs.csv >out 2>&1 && cut -d, -f1,3,4 jobs.csv | grep '^j[0-9]'; }
ends --policy ./narrow.so --cluster parts.ini parts.csv >of_part && ends --policy ./narrow.so --gpus-per-node 4 t.csv >alone && cmp -s of_part alone
say "its jobs end as in a run of its nodes alone" $?
expect "a crash there names its job" 1 "policy 'bad' crashed $where: Segmentation fault" \
    "$gsim" run --policy ./bad.so --set how=segv --cluster parts.ini parts.csv

# --- a policy has the same results from outside as from within: summary, jobs, timeline, database
copies() { # policy, trace, more arguments
    own=$1 trace=$root/$2
    shift 2
    cc -std=c11 -O1 -shared -fPIC -I"$root" -I"$root/include" -DCOPIED="\"policies/$own.c\"" -DORIGINAL=gsim_policy_"$own" -o copy.so "$root/tests/support/copied_policy.c"
    for policy in "$own" ./copy.so; do
        rm -f own.sqlite
        "$gsim" run --policy "$policy" "$@" --db own.sqlite --samples 32 --jobs-csv jobs.csv --timeline line.json --format json "$trace" >run 2>&1
        { sed "s/\"$own\"/\"copy\"/; s/\"wall_s\":[^,}]*//; s/^gsim: $own:/gsim: copy:/; s/of $own/of copy/; s/validated: $own/validated: copy/" run && cat jobs.csv line.json &&
            for table in job request sample gpu; do sqlite3 own.sqlite "select * from $table"; done; } >"$(basename "$policy").seen"
    done
    diff "$own.seen" copy.so.seen >out
    [ $? = 0 ] && [ "$(wc -l <copy.so.seen)" -gt 20 ]
    say "$own has equal results from outside, over $trace" $?
}
copies timeslice traces/samples/realtime.csv --set quantum=20ms
if [ -n "$numbers" ]; then
    copies las traces/samples/small_lab.csv
    copies xsched tests/golden/reef.csv
fi

# --- check-policy
expect "a sound policy" 0 "^./narrow.so: $reps random traces and clusters, each run twice" "$gsim" check-policy ./narrow.so --reps $reps
expect "one that is built in" 0 "^srtf: $reps random traces" "$gsim" check-policy srtf --reps $reps
for how in $broken; do
    rm -f bad-broken.csv
    expect "$how is found" 1 "^broken with 3 jobs: gsim check-policy ./bad.so bad-broken.csv --device [a-z0-9]* --nodes" "$gsim" check-policy ./bad.so --set how=$how
    again=$(sed -n 's/^broken with .*: gsim //p' out)
    # shellcheck disable=SC2086
    expect "and shown again by the command" 1 "^gsim: .*policy 'bad' \(crashed\|broke a rule\|leaves\)" "$gsim" $again
    [ "$(wc -l <bad-broken.csv)" = 4 ]
    say "with few jobs" $?
done
cat >static.c <<'C'
#include <gsim/lib.h>
/* Every second run serves in the other order: a global that survives the run. */
struct state { struct gsim_queue waiting; };
static int n_runs;
static enum gsim_status open_it(struct gsim_ctx *ctx) {
    n_runs++;
    gsim_queue_init(&((struct state *)ctx->state)->waiting);
    return GSIM_OK;
}
static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_queue_append(&((struct state *)ctx->state)->waiting, ctx, slot);
}
static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_queue *waiting = &((struct state *)ctx->state)->waiting;
    while (waiting->first != GSIM_NO_SLOT) {
        gsim_slot slot = n_runs % 2 ? waiting->first : waiting->last;
        struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_ANY);
        if (!gsim_plan_place(plan, slot, &shape))
            return;
        gsim_queue_remove(waiting, ctx, slot);
    }
}
static const struct gsim_policy moody = {.name = "moody", .summary = "moody", .paper = "none", .deviations = "none known",
    .state_size = sizeof(struct state), .job_size = sizeof(struct gsim_queue_link),
    .open = open_it, .on_arrival = on_arrival, .decide = decide};
GSIM_POLICY_EXPORT(moody)
C
build moody.so static.c
expect "a global that survives a run" 1 "policy 'moody' is not deterministic: job" "$gsim" check-policy ./moody.so
sed 's/enum gsim_status open_it(struct gsim_ctx \*ctx) {/&\n    if (!ctx->view->trace->column[GSIM_COL_DEADLINE_NS])\n        return gsim_fail(ctx->log, GSIM_BAD_INPUT, NULL, 0, "a column deadline_s is needed");/' static.c >picky.c
build picky.so picky.c
expect "one that refuses every trace" 3 "the policy refuses every trace: a column deadline_s is needed" "$gsim" check-policy ./picky.so --reps 5
expect "options of a trace" 2 "--nodes is drawn at random; it can be given with a trace" "$gsim" check-policy fifo --nodes 2
expect "a trace of one's own" 0 "^fifo over t.csv, run twice" "$gsim" check-policy fifo t.csv --gpus-per-node 4
expect "no policy" 2 "which policy? gsim check-policy ./mine.so" "$gsim" check-policy

# --- chance: fixed by the seed, others in each replication, and memory of one decide
cat >lots.c <<'C'
#include <gsim/lib.h>
/* Serves waiting jobs in an order that is drawn by lot at every decide. */
struct state { struct gsim_random random; };
static enum gsim_status open_lots(struct gsim_ctx *ctx) {
    gsim_random_open(&((struct state *)ctx->state)->random, ctx, "lots");
    return GSIM_OK;
}
static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    const struct gsim_view *view = ctx->view;
    gsim_slot *waiting = gsim_arena_array(gsim_plan_scratch(plan), view->jobs.n_active, sizeof *waiting);
    uint32_t n = 0;
    for (uint32_t i = 0; i < view->jobs.n_active; i++)
        if (gsim_common_waits(view, view->jobs.active[i]))
            waiting[n++] = view->jobs.active[i];
    for (; n > 0; n--) {
        uint32_t drawn = (uint32_t)gsim_random_below(&state->random, n);
        struct gsim_shape shape = gsim_shape_of(view, waiting[drawn], GSIM_RULE_ANY);
        if (!gsim_plan_place(plan, waiting[drawn], &shape))
            return;
        waiting[drawn] = waiting[n - 1];
    }
}
static const struct gsim_policy lots = {.name = "lots", .summary = "by lot", .paper = "none", .deviations = "none known",
    .state_size = sizeof(struct state), .open = open_lots, .decide = decide};
GSIM_POLICY_EXPORT(lots)
C
build lots.so lots.c
drawn() { "$gsim" run --policy ./lots.so --nodes 1 --gpus-per-node 4 --quiet --jobs-csv lots.csv "$@" >out 2>&1 && cksum <lots.csv; }
lab=$root/traces/samples/small_lab.csv
one=$(drawn --seed 1 "$lab") again=$(drawn --seed 1 "$lab") other=$(drawn --seed 2 "$lab")
[ "$one" = "$again" ] && [ "$one" != "$other" ] && [ -n "$one" ]
say "a seed draws its lots again, and another seed others" $?
expect "lots are no reason not to be repeatable" 0 "^./lots.so: $reps random traces" "$gsim" check-policy ./lots.so --reps $reps
if [ -z "$san" ]; then
printf 'trace = %s\npolicy = ./lots.so\nseed = 1..4\nnodes = 1\ngpus-per-node = 4\n' "$lab" >lots.ini
"$gsim" sweep lots.ini -o lots.db >out 2>&1
expect "so a sweep's seeds replicate it" 0 "^4$" sqlite3 lots.db "select count(distinct jct_mean_s) from run"
fi

# --- a scheduler that is another program
if ! command -v python3 >/dev/null; then
    echo "ok schedulers in Python # SKIP there is no python3"
    exit 0
fi
cp "$root/examples/exec/narrow_first.py" sched.py
build narrow.so narrow.c
beside=$root/traces/samples/small_lab.csv
[ -n "$numbers" ] || beside=t.csv
for policy in ./narrow.so 'exec:python3 sched.py'; do
    "$gsim" run --policy "$policy" --nodes 2 --gpus-per-node 4 --jobs-csv jobs.csv --quiet "$beside" >out 2>&1
    mv jobs.csv "jobs.$(echo "$policy" | tail -c 3)"
done
cmp jobs.so jobs.py >out 2>&1 && [ "$(wc -l <jobs.py)" -eq "$(grep -vc '^#' "$beside")" ]
say "a scheduler in Python decides as one in C" $?
expect "list shows what it is" 0 "--set exec:python3 sched.py.timeout=10s" "$gsim" list policies 'exec:python3 sched.py'
expect "a comparison" 0 "^exec:python3 sched.py " "$gsim" compare $threads --policies "fifo,exec:python3 sched.py" --gpus-per-node 4 t.csv
if [ -z "$san" ]; then
printf 'trace = t.csv\npolicy = fifo, exec:python3 sched.py\ngpus-per-node = 4, 5\n' >x.ini
expect "a sweep" 0 "^x.ini: 4 of 4 runs are in x.db, 4 of them new" "$gsim" sweep x.ini -o x.db
expect "knows its runs again" 0 "0 of them new" "$gsim" sweep x.ini -o x.db
expect "its files are inputs" 0 "^policy|sched.py$" sqlite3 x.db "select distinct kind, path from input_list where kind = 'policy'"
echo '# changed' >>sched.py
expect "and a change is another run" 0 "2 of 4 runs are there with other contents of sched.py" "$gsim" sweep x.ini -o x.db
run=$(sqlite3 x.db "select max(run_id) from run where policy like 'exec%'")
echo '# changed again' >>sched.py
expect "the database has the file as it was" 0 "^run $run is reproduced" "$gsim" repro x.db "$run" --from-database
fi

sched() { # name, exit code, pattern, lines of Python for each decision, which has the number n
    {
        echo 'import json, os, signal, sys, time'
        echo 'def say(**fields): print(json.dumps(fields), flush=True)'
        echo 'sys.stdin.readline(); say(n=0)'
        echo 'for line in sys.stdin:'
        echo '    state = json.loads(line); n = state["n"]'
        echo "    $4"
    } >wrong.py
    expect "$1" "$2" "$3" "$gsim" run --policy 'exec:python3 wrong.py' --set timeout="${5:-120s}" --nodes 1 --gpus-per-node 4 t.csv
}
expect "a program that is not there" 3 "cannot start './none': No such file" "$gsim" --policy 'exec:./none a' t.csv
expect "no command" 2 "needs the command of a scheduler" "$gsim" --policy 'exec: ' t.csv
expect "a quote without an end" 2 "a quote does not end" "$gsim" --policy "exec:sh -c 'x" t.csv
expect "one that ends at once" 1 "the program ended (exit 3) instead of answering" "$gsim" --policy "exec:sh -c 'exit 3'" t.csv
sched "an early end" 1 "wrong.py: the program ended (exit 4) instead of answering" 'sys.exit(4)'
sched "a signal" 1 "the program ended by a signal instead of answering: Segmentation fault" 'os.kill(os.getpid(), signal.SIGSEGV)'
sched "silence" 1 "no answer within 2s (--set timeout=TIME)" 'time.sleep(60)' 2s
sched "no JSON" 1 "at 5s: the answer is not JSON .*its answer was 'hello'" 'print("hello", flush=True)'
sched "an empty line" 1 "the answer is not JSON (an empty line)" 'print(flush=True)'
sched "a list" 1 "an answer is an object" 'print("[]", flush=True)'
sched "two lines" 1 "the program wrote more than one line as an answer" 'print(json.dumps({"n": n}) + "\\n{}", flush=True)'
sched "a second line that comes later" 1 "the answer is to line 1, and line 2 was asked\\|the program wrote more than one line" 'say(n=n); time.sleep(0.05); say(n=n)'
sched "a misspelt key" 1 "an answer has 'n', 'plan' and 'wake_ns', and no 'plans'" 'say(n=n, plans=[])'
sched "a misspelt verb" 1 "an object of the plan has no verb\|no verb and no option is called 'plce'" 'say(n=n, plan=[{"plce": 0}])'
sched "a misspelt rule" 1 "'rule' is not one of consolidate|any" 'say(n=n, plan=[{"place": 0, "rule": "best"}])'
sched "a job that is not there" 1 "no job 7 is in the system" 'say(n=n, plan=[{"place": 7}])'
sched "a job of no trace" 1 "no job 70 is in the system" 'say(n=n, plan=[{"place": 70}])'
sched "a verb that breaks a rule" 1 "broke a rule at 5.000000000 s: preempting job 'j1' (queued)" 'say(n=n, plan=[{"preempt": 0}])'
sched "a time that has passed" 1 "'wake_ns' is not later than now_ns" 'say(n=n, wake_ns=1)'
sched "a node that is not there" 1 "there is no node 5" 'say(n=n, plan=[{"place": 0, "node": 5}])'
sched "nothing at all" 1 "leaves 8 jobs waiting for ever" 'say(n=n)'
sched "an answer without its number" 1 "an answer has the 'n' of its line, 1 here" 'say()'
sched "what does not fit, for ever" 1 "1000 answers to one decision had jobs that do not fit" 'say(n=n, plan=[{"place": 1 if state["now_ns"] >= 10**10 else 0}])'
sched "the cost of stopping a job that does not run" 1 "job 0 does not run" 'say(n=n, plan=[{"cost": 0}])'
# a scheduler that asks for costs, and preempts the job that is cheaper to stop
cat >costs.py <<'P'
import json, sys
sys.stdin.readline()
print('{"n": 0}', flush=True)
for line in sys.stdin:
    s = json.loads(line)
    plan = []
    if "costs" in s:
        for c in s["costs"]:
            assert c["is_possible"] and c["save_ns"] > 0 and c["resume_ns"] > 0, c
            assert c["bytes_out"] == {0: 8, 1: 2}[c["job"]] << 30, c
        cheap = min(s["costs"], key=lambda c: c["stop_ns"] + c["save_ns"])
        assert cheap["job"] == 1, s
        plan = [{"preempt": 1, "stop": "save", "keep": "host"}]
        sys.stderr.write("asked\n")
    elif s.get("timer"):
        plan = [{"cost": r["job"], "stop": "save", "keep": "host"} for r in s["running"]]
    elif "refused" not in s:
        ready = [j["job"] for j in s["arrived"]] + [e["job"] for e in s["settled"] if e["state"] != "running"]
        plan = [{"place": j} for j in ready]
    print(json.dumps({"n": s["n"], "plan": plan, "wake_ns": 10**10 if s["now_ns"] < 10**10 else None}), flush=True)
P
printf 'job_id,submit_s,duration_s,gpus,mem_gib\nbig,0,100,1,8\nsmall,0,100,1,2\n' >sized.csv
"$gsim" run --policy 'exec:python3 costs.py' --nodes 1 --gpus-per-node 2 --quiet sized.csv >out 2>&1 && grep -q asked out && grep -q 'preemptions  *1 ' out
say "costs are told, and the cheaper job is stopped" $?
# a scheduler that preempts, moves, wakes and asks for fewer GPUs, by a program of sh
cat >turns.py <<'P'
import json, sys
sys.stdin.readline()
print('{"n": 0}', flush=True)
wait, have = [], {}
for line in sys.stdin:
    s = json.loads(line)
    plan = []
    if "refused" not in s:
        wait = [j for j in wait if j not in s["ended"]] + [j["job"] for j in s["arrived"]]
        wait += [e["job"] for e in s["settled"] if e["state"] in ("paused", "held", "queued")]
        plan = [{"preempt": r["job"], "stop": "iteration", "keep": "storage"} for r in s["running"] if s["timer"]]
        plan += [{"place": j, "rule": "any", "gpus": 1} for j in wait[:sum(s["idle"])]]
        wait = wait[sum(s["idle"]):]
    print(json.dumps({"n": s["n"], "plan": plan, "wake_ns": s["now_ns"] + 40 * 10**9 if wait else None}), flush=True)
P
expect "preemption, timers and fewer GPUs" 0 "preemptions  *[1-9]" "$gsim" run --policy 'exec:python3 turns.py' --device ideal --nodes 1 --gpus-per-node 3 --quiet t.csv
cp out first
"$gsim" run --policy 'exec:python3 turns.py' --device ideal --nodes 1 --gpus-per-node 3 --quiet t.csv 2>&1 | cmp - first >out 2>&1
say "a run that is repeated has equal bytes" $?
expect "check-policy of a program" 0 "^exec:python3 sched.py: $programs random traces" "$gsim" check-policy 'exec:python3 sched.py' --reps $programs
# --- the decisions of a scheduler that exists, from a file
cp "$root/examples/exec/replay.py" replay.py
replayed() { # trace, decisions, more arguments
    trace=$1 decisions=$2
    shift 2
    "$gsim" run --policy "exec:python3 replay.py $decisions" --nodes 2 --gpus-per-node 4 --force --jobs-csv replayed.csv --quiet "$@" "$trace" >out 2>&1
}
for policy in sjf ${numbers:+easy-backfill}; do
    "$gsim" run --policy $policy --nodes 2 --gpus-per-node 4 --force --jobs-csv own.csv --quiet "$beside" >out 2>&1
    awk -F, 'NR == 1 { print "time_s,verb,job_id" } NR > 1 { print $3 ",start," $1 }' own.csv >decided.csv
    replayed "$beside" decided.csv && cmp own.csv replayed.csv >>out 2>&1 && grep -q 'replay: 0 decisions were not followed, 0 late' out
    say "the decisions of $policy, replayed from a file, give its results" $?
done
printf 'job_id,submit_s,duration_s,gpus\na,0,100,4\nb,10,20,4\nc,15,5,4\n' >three.csv
printf 'time_s,verb,job_id,node\n2,start,a,1\n12,stop,a,\n12,start,b,1\n14,start,c,0\n40,start,a,0\n50,start,z,\n' >decided.csv
replayed three.csv decided.csv --device ideal && grep -q 'replay: 1 decisions were not followed, 1 late, by at most 1 s' out &&
    [ "$(cut -d, -f1,3,4,10 replayed.csv | sed 1d | tr '\n' ' ')" = "a,2.000000000,130.000000000,1 b,12.000000000,32.000000000,0 c,15.000000000,20.000000000,0 " ]
say "stops, nodes, and what cannot be followed in time" $?
printf 'time_s,verb,job_id\n2,begin,a\n' >decided.csv
expect "a verb that is none" 1 "'begin' is neither start nor stop" "$gsim" run --policy 'exec:python3 replay.py decided.csv' --gpus-per-node 4 three.csv
# --- GPUs that jobs share: the lanes of timeslice, by lines
cat >slices.py <<'P'
import json, sys
print(json.dumps({"n": json.loads(sys.stdin.readline())["n"]}), flush=True)
for line in sys.stdin:
    s = json.loads(line)
    jobs = [j["job"] for j in s.get("arrived", [])]
    lane = {"discipline": "rr", "quantum_ns": 20000000}
    plan = [{"arrange": [0], "lanes": [lane], "entries": [{"job": j} for j in jobs]}] if jobs else []
    print(json.dumps({"n": s["n"], "plan": plan + [{"place": j, "on": [0]} for j in jobs]}), flush=True)
P
printf 'job_id,submit_s,duration_s,gpus\na,0,20,1\nb,5,10,1\nc,6,1,1\n' >beside.csv
"$gsim" run --policy timeslice --set quantum=20ms --gpus-per-node 1 --force --jobs-csv own.csv --quiet beside.csv >out 2>&1
"$gsim" run --policy 'exec-sharing:python3 slices.py' --gpus-per-node 1 --force --jobs-csv shared.csv --quiet beside.csv >>out 2>&1 &&
    cmp own.csv shared.csv >>out 2>&1 && [ "$(sed -n 2p own.csv | cut -d, -f4)" != 20.000000000 ]
say "jobs share a GPU as under timeslice" $?
expect "under exec: they do not" 1 "GPUs are shared under exec-sharing:" "$gsim" run --policy 'exec:python3 slices.py' --gpus-per-node 1 beside.csv
arranging() { # name, pattern, arrangement
    sed "s/^    plan = .*/    plan = [$3] if jobs else []/" slices.py >wrong.py
    expect "$1" 1 "$2" "$gsim" run --policy 'exec-sharing:python3 wrong.py' --gpus-per-node 1 beside.csv
}
arranging "an arrangement without a lane" "has 1 to 256 lanes" '{"arrange": [0]}'
arranging "a misspelt field of a lane" "a lane has no 'quantum'" '{"arrange": [0], "lanes": [{"discipline": "rr", "quantum": 1}]}'
arranging "a discipline that is none" "'discipline' is not one of exclusive|ps" '{"arrange": [0], "lanes": [{"discipline": "fair"}]}'
arranging "a number that is too large" "'cap_ppm' is more than 1000000" '{"arrange": [0], "lanes": [{"discipline": "rr", "cap_ppm": 2000000}]}'
arranging "a lane that is not there" "there is no lane 1" '{"arrange": [0], "lanes": [lane], "entries": [{"job": 0, "lane": 1}]}'
arranging "a hint without a switch of contexts" "slice_ns and hint_ns of a lane need stop=switch" '{"arrange": [0], "lanes": [{"discipline": "priority", "stop": "save", "hint_ns": 1000}]}'
arranging "atoms beside a lane without any" "run as atoms (atom_ns) in all lanes of a GPU or in none" '{"arrange": [0], "lanes": [{"discipline": "rr", "atom_ns": 1000, "borrows": True}, {"discipline": "rr"}]}'
arranging "more SMs than there are" "a lane has more SMs than the device" '{"arrange": [0], "lanes": [{"discipline": "rr", "first_sm": 130, "n_sms": 8}]}'
arranging "a GPU that is not there" "'GPU' is more than 0" '{"arrange": [1], "lanes": [lane]}'
arranging "a GPU that is named twice" "GPU 0 is named twice" '{"arrange": [0, 0], "lanes": [lane]}'
arranging "an option of another verb" "an arrangement has no 'gpus'" '{"arrange": [0], "lanes": [lane], "gpus": 1}'
# nothing stays behind
"$gsim" run --policy "exec:sh -c 'sleep 77 & sleep 77'" --set timeout=1s t.csv >out 2>&1
tries=200
while pgrep -f '^sleep 77$' >out && [ $tries -gt 0 ]; do
    sleep 0.05
    tries=$((tries - 1))
done
[ ! -s out ]
say "what the scheduler started ends with it" $?
