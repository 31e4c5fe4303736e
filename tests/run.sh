#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh: runs every suite in the builds named, as many at once as there are processors, and counts.
# What is printed has one order whatever ends first; the last line is "N passed, N failed". The suites
# that took most of the processors' time are listed before it, on standard error, and what failed is there again.
# Variables: BUILDS, the build folders whose programs are run; CASES=all, nothing is left out in any build;
# PYTHON, which runs tests/python; SLOWEST, how many suites are listed at the end (10); ONLY, a pattern of
# grep: suites of other names are left out, for short ways from an edit to a run.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0
failed=0
n=0
runner=
tmp=$(mktemp -d) || exit 1
stop() {
    for group in $runner; do kill -- "-$group" 2>/dev/null; done
    rm -rf "$tmp"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP

# Scripts say python3, and start it some 400 times. Where that is a script itself, which looks for the interpreter anew
# in each start (pyenv), a start takes ten times as long: they are given the interpreter. One of a virtual environment
# knows it by its own path, and stays where it is.
mkdir "$tmp/bin"
interpreter=$("${PYTHON:-python3}" -c 'import sys
if sys.prefix == sys.base_prefix: print(sys.executable)') && [ -n "$interpreter" ] && ln -s "$interpreter" "$tmp/bin/python3"
PATH=$tmp/bin:$PATH
export PATH

# --- what is to run: number N has a name, a command and maybe a title printed before it ------------
suite() { # name, command...: words without blanks
    case ${ONLY:+asked} in asked) printf '%s\n' "$1" | grep -q -e "$ONLY" || return 0 ;; esac
    n=$((n + 1))
    echo "$1" >"$tmp/$n.name"
    shift
    echo "$*" >"$tmp/$n.sh"
}
title() {
    echo "== $1" >"$tmp/$((n + 1)).title"
}
# What takes longest is begun first, so that no processor is idle at the end; the list above SLOWEST says
# what belongs here.
slow='cli/validate.sh rules/analyse.sh rules/install.sh property/test_arbiter relations cli/growth.sh cli/threads.sh
python/policy.py property/test_named cli/plots.sh reference/test_validate cli/own_policy.sh python/package.py cli/devices.sh
property/test_runs cli/hosts.sh property/test_sweeps cli/sweep.sh reference/test_pairs property/test_failures
analytic/test_queues papers simulator random same.bytes slurm.py fuzz/replay plainly cli/ analytic/ property/ reference/ fuzz/ python/ site/ rules/'
# All suites run in the first build, which has the flags that users get. A build with sanitizers is many
# times slower, and is there for memory that is read or written by mistake: where a suite holds numbers by
# long runs, property tests and random runs, which are in all builds, reach the code of its models; and where it holds
# what a result says, or decides again by a record, every run and cli/drive_stops do as well. Of 37 600 branches that the
# suites with sanitizers reach, golden files and cli/window reach six alone.
# CASES=all leaves none out, and adds a build by another compiler at its highest level of optimisation,
# which runs all programs.
numbers='cli/budget.sh cli/devices.sh cli/dirty_log.sh cli/drive_bad.sh cli/drive_delays.sh cli/estimates.sh cli/goodput.sh cli/growth.sh
cli/host_copies.sh cli/hosts.sh cli/isolation.sh cli/lithos.sh cli/live.sh cli/loops.sh cli/lucid.sh cli/msched.sh cli/muri.sh
cli/phases.sh cli/release.sh cli/replays.sh cli/row_order.sh cli/starts.sh cli/surroundings.sh cli/themis.sh cli/touches.sh
cli/window.sh golden analytic/ property/test_adaptive property/test_named property/test_sweeps reference/'
# What these check has no number of a long run, and no case that is left out with sanitizers: the build that has
# sanitizers makes each of their checks, and the first build makes none again. It compiles the code that they run for a
# short build, not for speed.
once='cli/calibrate.sh cli/check.sh cli/choices.sh cli/cluster.sh cli/compare.sh cli/inputs.sh cli/names.sh cli/page.sh
cli/parts.sh cli/repro.sh cli/serve.sh cli/tables.sh'
# cli/validate.sh has the tables of test_validate in the first build.
is_left_out() { # build, suite
    case ${CASES-}$1,$2 in
    all*) return 1 ;;
    *,reference/test_validate) return 0 ;;
    "${BUILDS%% *}",*)
        case $BUILDS in *-san-*) ;; *) return 1 ;; esac
        case $1 in *-san-*) return 1 ;; esac
        for name in $once; do
            case $2 in "$name"*) return 0 ;; esac
        done
        return 1
        ;;
    esac
    for name in $numbers; do
        case $2 in "$name"*) return 0 ;; esac
    done
    return 1
}
# What a program with sanitizers frees stays out of use until 256 MB more are freed, so that a long run allocates memory
# never touched before, whose pages were a quarter of its time. 16 MB are what clang takes where memory is scarce: a use of
# what was freed is found up to there. CASES=all has all of it.
case ${CASES-} in all) ;; *) export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=16" ;; esac
# To look for leaks at its end, and to note ten calls of each allocation, is half of a short run with sanitizers; to mark
# what lies between globals is a fifth of the page faults that are left, for walks past their ends, since an index past the
# end of an array is found without it. Both are looked for where each command ends with each of its outputs, well and badly, in the programs of
# tests and random runs; CASES=all looks everywhere.
lightly() { # build, script
    case ${CASES-}$1,$2 in
    all* | *full_disk.sh | *exit_codes.sh) ;;
    *-san-*) echo env "ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:malloc_context_size=1:report_globals=0" ;;
    esac
}
scripts() { # build
    for cli in tests/cli/*.sh; do
        is_left_out "$1" "${cli#tests/}" && continue
        case $cli in
        */validate.sh) # the pages show its rows, which are computed once
            [ "$1" = "${BUILDS%% *}" ] || continue
            suite "$1 $cli, tests/rules/pages.sh" "export ROWS=$tmp/rows.csv; sh $cli $1/gsim; a=\$?; sh tests/rules/pages.sh $1 && exit \$a"
            continue
            ;;
        *) [ "$1" = "${BUILDS%% *}" ] || [ "$1" = "${BUILDS##* }" ] || continue ;;
        esac
        suite "$1 $cli" $(lightly "$1" "$cli") sh "$cli" "$1/gsim"
    done
    is_left_out "$1" golden || suite "$1 golden" sh tests/golden/run.sh "$1/gsim"
}
inputs() { # build
    case $1 in
    *-san-*) suite "$1/tests/fuzz/replay" sh tests/fuzz/replay.sh "$1/tests/fuzz/replay" ;;
    esac
}
# The suites that the Makefile put into the build's one program.
programs() { # build
    suites=$("$1/tests/all") || suites=none # that there are none is a failure
    for suite in $suites; do
        is_left_out "$1" "$suite" || suite "$1/tests/$suite" "$1/tests/all" "$suite"
    done
}
title sweeps
suite "sweeps spread over tasks" sh tests/sweep/spread.sh "${BUILDS%% *}"
for build in $BUILDS; do
    title "$build"
    scripts "$build"
    inputs "$build"
    programs "$build"
done
# gsim without shared libraries, of the objects that the first build's has: where a suite is thousands of runs of
# a few jobs each, loading libraries is most of each. None of these suites brings a policy of its own, which needs
# them; golden files and tests/cli are run by the program that users get.
started=${BUILDS%% *}/tests/static
[ -x "$started" ] || started=${BUILDS%% *}/gsim
# Fixed seeds here, so that what fails is due to what changed; make fuzz-runs tries fresh ones.
title "random runs"
for build in $BUILDS; do
    case $build in
    *-san-*) suite "$build random runs" "${PYTHON:-python3}" tests/fuzz/random_runs.py "$build/gsim" --runs 25 --first 900000 ;;
    "${BUILDS%% *}")
        cases=$build/tests/fuzz/cases
        suite "$build random runs" "${PYTHON:-python3}" tests/fuzz/random_runs.py "$started" --cases "$cases" --runs 500 --first 900000
        suite "$build random mixtures" "${PYTHON:-python3}" tests/fuzz/random_runs.py "$started" --cases "$cases" --mixtures --runs 150 --first 1
        ;;
    esac
done
suite "what random runs never draw" "${PYTHON:-python3}" tests/fuzz/undrawn.py "$started"
title relations
suite "relations between runs" "${PYTHON:-python3}" tests/relations/run.py "$started"
suite "policies by their papers' rules" "${PYTHON:-python3}" tests/reference/derived.py "$started"
title "a plain second simulator"
suite "jobs as in a plain simulator" "${PYTHON:-python3}" tests/plain/run.py "$started"
suite "results as summed plainly" "${PYTHON:-python3}" tests/plain/results.py "$started"
suite "reports as summed plainly" "${PYTHON:-python3}" tests/plain/bills.py "$started"
suite "advices as summed plainly" "${PYTHON:-python3}" tests/plain/advise.py "$started"
suite "intervals of single runs as by plain batches" "${PYTHON:-python3}" tests/plain/batches.py "$started"
suite "plans as of all numbers of nodes" "${PYTHON:-python3}" tests/plain/plans.py "$started"
suite "pairs of programs as explained plainly" "${PYTHON:-python3}" tests/plain/pairs.py "$started"
suite "servers as served plainly" "${PYTHON:-python3}" tests/plain/serve.py "$started"
title python
for script in tests/python/*.py; do
    case $script in */tap.py) continue ;; esac
    suite "$script" env "GSIM=${BUILDS%% *}/gsim" "${PYTHON:-python3}" "$script"
done
title "a site's scheduler"
for script in tests/site/slurm*.sh tests/site/kueue.sh tests/site/vc.sh tests/site/slurm.py; do
    case $script in
    *.py) suite "$script" "${PYTHON:-python3}" "$script" "$started" ;;
    *) suite "$script" sh "$script" "${BUILDS%% *}/gsim" ;;
    esac
done
title rules
for rule in tests/rules/*.sh; do
    case $rule in */pages.sh) continue ;; esac # above
    suite "$rule" sh "$rule" "${BUILDS%% *}"
done
# The program that users get is linked in another way than that of the first build.
suite "same bytes from every build" sh tests/same_bytes.sh "$BUILDS" "$([ "${CASES-}" != all ] || echo build/gcc-O2)"

# --- running, and counting in the order above ----------------------------------------------------
# Each check that failed, with what it says of itself in the lines behind it. They are printed again at the end, where
# they are in sight whatever is cut from the middle of a long log.
failures() { # name, log
    echo "failed: $1"
    awk '/^not ok / && !/# SKIP/ { left = 12 } /^ok / { left = 0 } left-- > 0 { print "  " $0 }' "$2"
}
# One program reads the log of a suite: it adds up its TAP, where cmocka writes a skipped test as 'not ok N # SKIP'. A
# failure is added when the command ended badly and no test says so: it crashed, say, or a sanitizer stopped it. A
# program that leaves before its plan "1..N" is done has failed too, whatever it returns.
ended() { # name, log, exit code
    awk -v name="$1" -v file="$2" -v code="$3" '
        /^ok / { good++; next }
        /^not ok .*# SKIP/ { left_out++; next }
        /^not ok / { bad++; next }
        /^1\.\.[0-9]*$/ { plan += substr($0, 4) }
        /skipped/ { reasons++ }
        END {
            ran = good + bad + left_out
            if (code != 0 && !bad) wrong = "ended with " code
            else if (ran == 0 || ran < plan) wrong = "ran " ran " of its " plan + 0 " tests"
            if (wrong) { print "not ok - " name " " wrong >>file; bad++ }
            print good + 0, bad + 0, left_out + 0, reasons + 0
        }' "$2" >"$tmp/counts"
    read -r p f skipped reasons <"$tmp/counts"
    passed=$((passed + p))
    failed=$((failed + f))
    if [ "$f" -gt 0 ]; then
        echo "FAILED in $1:"
        cat "$2"
        failures "$1" "$2" >>"$tmp/failures"
        return
    fi
    case $skipped in
    0) echo "  $1: $p passed" ;;
    *) echo "  $1: $p passed, $skipped skipped" ;;
    esac
    [ "$reasons" -eq 0 ] || sed -n '/^\(not \)*ok /d; /skipped/s/^#* */    /p' "$2" | sort -u
}
order() { # prints the numbers, the slow suites first
    {
        for name in $slow; do (cd "$tmp" && grep -l -- "$name" $(seq -f %g.name "$n")); done
        seq -f %g.name "$n"
    } | awk '!seen[$0]++ { sub(/\.name$/, ""); print }'
}
# Processor time of each suite and of all: unlike the clock's it hardly depends on what else is running.
slowest() {
    (cd "$tmp" && awk '
        function seconds(text,    part) { split(text, part, "[ms]"); return 60 * part[1] + part[2] }
        FNR == 1 { name = FILENAME; sub(/times$/, "name", name) }
        FNR == 2 {
            s = seconds($1) + seconds($2)
            all += s
            getline suite <name
            close(name)
            printf "%8.1f s   %s\n", s, suite
        }
        END { printf "%8.1f s  all suites, of processor time\n", all }' ./*.times) | sort -rn | head -n $((${SLOWEST:-10} + 1))
}
cat >"$tmp/one" <<'END'
sh "$1.sh" >"$1.log" 2>&1
echo $? >"$1.ended"
times >"$1.times"
mv "$1.ended" "$1.code"
END
# Real processes sleep for their work: these scripts wait for five seconds of each six. They keep no processor from the others.
order >"$tmp/order"
waiting=$(cd "$tmp" && grep -l -- 'cli/drive' ./*.name | sed 's/^\.\///; s/\.name$//')
printf '%s\n' $waiting | grep -xFf - "$tmp/order" >"$tmp/waiting"
printf '%s\n' $waiting | grep -vxFf - "$tmp/order" >"$tmp/working"
# A process group for each, so that an interrupted run leaves no process behind.
export CMOCKA_MESSAGE_OUTPUT=tap
# Some of the others wait as well, for a clock or a file: one more of them at once than there are processors.
for kind in waiting working; do
    setsid xargs -P "$(($(nproc) + 1))" -I{} sh "$tmp/one" "$tmp/{}" <"$tmp/$kind" &
    runner="$runner $!"
done
# shellcheck disable=SC2086
is_running() { kill -0 ${runner##* } 2>/dev/null || kill -0 ${runner% *} 2>/dev/null; }
i=1
while [ "$i" -le "$n" ]; do
    # A look ten times a second was a tenth of a processor, for as long as the suites ran.
    while [ ! -e "$tmp/$i.code" ] && is_running; do sleep 1; done
    [ ! -e "$tmp/$i.title" ] || cat "$tmp/$i.title"
    name= code=255 # of a suite that was interrupted
    read -r name <"$tmp/$i.name"
    [ ! -e "$tmp/$i.code" ] || read -r code <"$tmp/$i.code"
    [ -e "$tmp/$i.log" ] || : >"$tmp/$i.log"
    ended "$name" "$tmp/$i.log" "$code"
    i=$((i + 1))
done
wait
runner=
slowest >&2
[ ! -e "$tmp/failures" ] || cat "$tmp/failures"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
