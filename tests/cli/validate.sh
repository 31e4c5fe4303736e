#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gsim validate: every row keeps to its bound, README says what it says, and a row that misses shows.
# $1 is gsim. Variable: ROWS, a file that the rows are written to, for whatever else needs them.
set -u
gsim=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
ok() { # name, status
    if [ "$2" -eq 0 ]; then echo "ok $1"; else echo "not ok $1"; sed 's/^/# /' "$tmp/out" | tail -20; fi
}

# With CASES=all alone: theory/queues is millions of jobs, and tests/analytic/test_queues.c holds these formulas
# with as many; elastic/pollux_met takes longer than all other tables, and elastic/pollux holds its search,
# tests/cli/rates.sh what meeting costs, tests/cli/goodput.sh that placements depend on it; h200/graphs has no row with a
# bound, so that no number of it is wrong.
suites=
[ "${CASES-}" = all ] || suites=$(cd experiments/validate && ls -d */ elastic/*.csv elastic/*.ini h200/*.csv h200/*.ini theory/*.csv theory/*.ini |
    sed 's|/$||; s|\.[a-z]*$||' | sort | awk '/\// ? $0 == last : !/^(elastic|h200|theory)$/ { print } { last = $0 }' |
    grep -v -e '^theory/queues$' -e '^elastic/pollux_met$' -e '^h200/graphs$')
shown=$(grep -v -c -e '^#' -e '^scenario,' experiments/validate/h200/graphs.csv)
[ "$(grep -c ',,shown$' experiments/validate/h200/graphs.csv)" -eq "$shown" ]
ok "no row of h200/graphs has a bound" $?
# shellcheck disable=SC2086
TMPDIR=$tmp "$gsim" validate $suites --rows-csv "${ROWS:=$tmp/all.csv}" >"$tmp/out" 2>&1
ok "measured rows and public simulators are within their bounds" $?
cp "$tmp/out" "$tmp/whole"
grep -q 'fitted$' "$tmp/out"
ok "fitted rows are marked" $?
awk '/^h200 / { exit !($3 > 100 && $3 == $4 && $6 > 10) } /^reference / { exit !($3 == $4) }' "$tmp/out"
ok "the summary counts rows with a bound, without the fitted" $?
for left in "$tmp"/.gsim-*; do [ ! -e "$left" ]; ok "nothing is left behind" $?; done

# An interrupted validation begins no run, and draws no trace for one: after a second of the processor it took another
# fifteen until all traces of these rows were drawn.
python3 - "$gsim" "$tmp" >"$tmp/out" 2>&1 <<'EOF'
import os, resource, signal, subprocess, sys, time
def taken(pid): # seconds of the processor
    cells = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(cells[11]) + int(cells[12])) / os.sysconf("SC_CLK_TCK")
run = subprocess.Popen([sys.argv[1], "validate", "-j", "1", "theory"], env=dict(os.environ, TMPDIR=sys.argv[2]))
while taken(run.pid) < 1:
    time.sleep(0.01)
before = taken(run.pid)
run.send_signal(signal.SIGINT)
code = run.wait()
whole = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
print("exit", code, "at", before, "s, over at", whole)
sys.exit(code != 4 or whole > 4 * before)
EOF
ok "an interrupted validation ends soon" $?

"$gsim" validate nosuch >"$tmp/out" 2>&1
[ $? -eq 2 ] && grep -q 'there are cluster32, drive, elastic, h200' "$tmp/out"
ok "an unknown suite is a usage error that names those there are" $?
"$gsim" validate preemption/order theory/eviction --format csv >"$tmp/out" 2>&1
[ $? -eq 0 ] && [ "$(cut -d, -f1,2 "$tmp/out" | sort -u | tr '\n' ' ')" = "preemption,order suite,table theory,eviction " ]
ok "tables can be named, each alone" $?
"$gsim" validate preemption/nosuch >"$tmp/out" 2>&1
[ $? -eq 2 ] && grep -q "no suite or table is called 'preemption/nosuch'" "$tmp/out"
ok "an unknown table is a usage error" $?
"$gsim" validate preemption reference --format csv >"$tmp/rows.csv" 2>"$tmp/out"
[ $? -eq 0 ] && [ "$(grep -c within "$tmp/rows.csv")" -gt 80 ] && head -1 "$tmp/rows.csv" | grep -q '^suite,table,scenario,'
ok "rows as csv" $?
grep -e '^suite,' -e '^preemption,' -e '^reference,' "$ROWS" | cmp - "$tmp/rows.csv" >"$tmp/out" 2>&1
ok "--rows-csv has these as well" $?
echo 'of something else' >"$tmp/own.csv"
"$gsim" validate preemption/order --rows-csv "$tmp/own.csv" >"$tmp/out" 2>&1
[ $? -eq 2 ] && grep -q 'own.csv' "$tmp/out" && [ "$(cat "$tmp/own.csv")" = 'of something else' ]
ok "--rows-csv replaces no file of something else" $?
if command -v python3 >"$tmp/which"; then
    "$gsim" validate preemption reference --format json >"$tmp/rows.json" 2>"$tmp/out" && python3 -c '
import csv, json, sys
v = json.load(open(sys.argv[1]))
rows = list(csv.DictReader(open(sys.argv[2])))
assert [r["suite"] for r in v["summary"]] == ["preemption", "reference"], "suites"
assert sum(s["rows"] for s in v["summary"]) == len(v["rows"]) == len(rows), "rows"
for a, b in zip(v["rows"], rows):
    for key in b:
        assert str(a[key] if a[key] is not None else "") == b[key] or float(a[key]) == float(b[key]), (a, b)
    if a["suite"] == "reference" and a["reference"]:
        assert abs(a["error_percent"]) < 2e-3, a
' "$tmp/rows.json" "$tmp/rows.csv" 2>>"$tmp/out"
    ok "json holds the same rows" $?
fi

# The tables hold the facts: each number of a column there is a reference here.
facts() { # file of facts, column, table
    if [ ! -r "../shared/validation/$1" ]; then
        echo "# skipped: ../shared/validation/$1 is not there"
        return
    fi
    grep -v '^#' "../shared/validation/$1" | awk -F, -v column="$2" -v row="$4" -v value="$5" '
        NR == 1 { for (i = 1; i <= NF; i++) { if ($i == column) c = i; if ($i == row) r = i } next }
        $c != "" && (!row || $r == value) { print $c + 0 }' | sort -u >"$tmp/facts"
    sed 's/"[^"]*"/-/g' "experiments/validate/$3" | awk -F, '/^#/ { next } { print $4 + 0 }' | sort -u >"$tmp/held"
    comm -23 "$tmp/facts" "$tmp/held" >"$tmp/out"
    [ -s "$tmp/facts" ] && [ ! -s "$tmp/out" ]
    ok "$3 holds $2 of $1" $?
}
facts h200/timeslice.csv shared_jct_s h200/timeslice.csv "" ""
facts h200/dl_shared.csv jct_s h200/dl_shared.csv "" ""
facts h200/realtime_latency.csv p99_us h200/realtime_latency.csv run shared
facts h200/suspend_resume.csv jct_s h200/suspend_resume.csv "" ""
facts h200/migrate.csv steps_per_s h200/migrate.csv "" ""
facts h200/pcie.csv us_per_copy h200/pcie.csv "" ""
facts h200/spatial.csv together_a_ms h200/spatial.csv "" ""
facts h200/spatial.csv together_b_ms h200/spatial.csv "" ""
for column in avg_jct_s median_jct_s p95_jct_s makespan_s preemptions; do
    facts reference_simulators.csv $column reference/tiresias.csv simulator tiresias
    [ $column = preemptions ] || facts reference_simulators.csv $column reference/pai.csv simulator pai
done

if command -v gnuplot >"$tmp/which"; then
    ROWS=$ROWS sh experiments/published/figures.sh "$gsim" "$tmp" svg >"$tmp/out" 2>&1
    status=$?
    for figure in experiments/published/*.gp; do
        svg=$tmp/published/$(basename "$figure" .gp).svg
        grep -q '</svg>' "$svg" 2>>"$tmp/out" && grep -q '<path' "$svg" || status=1
    done
    ok "published figures beside what gsim says" $status
fi

VALIDATED=$tmp/whole sh tools/readme.sh "$gsim" validate >"$tmp/README.md" 2>"$tmp/out"
# Lines of suites, but for those of which a table with bounds is left out; rows that are only shown count if they are run.
said() { # rows of h200 that were left out
    awk -v left="$1" '/^    h200 / { $2 -= left; $7 -= left; print; next } sub(/^    /, "") { $1 = $1; print }'
}
left=0
[ -z "$suites" ] || left=$shown
sed -n '/^<!-- validate: begin/,/^<!-- validate: end/p' README.md | said "$left" >"$tmp/said"
said 0 <"$tmp/README.md" | grep -vxFf - "$tmp/said" | # lines that are not true
    if [ -n "$suites" ]; then grep -v '^theory \|^elastic '; else cat; fi >>"$tmp/out"
grep -q '^theory ' "$tmp/said" && grep -q '^h200 ' "$tmp/said" && [ ! -s "$tmp/out" ]
ok "what README says of gsim validate is true (make validate-readme)" $?
