#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The mixes of figures.sh as tables, fifty pairs of a production and an opportunistic job, and Salus'
# orders on fifty traces. Writes results.md beside itself; a few minutes on two cores.
# run.sh GSIM
set -eu
gsim=${1:-./gsim}
here=$(dirname "$0")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

sweep() { # the database of a grid of this folder
    sed "s|HERE|$here|g" "$here/$1.ini" >"$tmp/$1.ini"
    "$gsim" sweep --quiet "$tmp/$1.ini" -o "$tmp/$1.db" >&2
}
head_of() { # names of columns
    printf '| policy |'; printf ' %s |' "$@"; printf '\n|---|'
    for _ in "$@"; do printf -- '---:|'; done; printf '\n'
}
rows() { # database, query: its rows as those of a Markdown table
    sqlite3 -separator ' | ' "$1" "$2" | sed 's/^/| /; s/$/ |/'
}

# Kinds of jobs take turns in the specs, so a job's number says of which kind it is.
mix() { # spec, kinds, memory, places of two kinds
    rows "$tmp/sharing/results.db" "
        SELECT policy, printf('%.0f', first), printf('%.0f', second), printf('%.0f', 1000 * avg(latency_p99_s)),
               printf('%.1f', avg(throughput_jobs_per_h)), printf('%.0f %%', 100 * avg(gpu_useful))
        FROM run JOIN setting USING (run_id) JOIN (
            SELECT policy, avg(CASE job % $2 WHEN $4 THEN (end_ns - submit_ns) / 1e9 END) AS first,
                   avg(CASE job % $2 WHEN $5 THEN (end_ns - submit_ns) / 1e9 END) AS second
            FROM job JOIN run USING (run_id) JOIN setting USING (run_id)
            WHERE trace LIKE '%$1.ini' AND key = 'set.hbm_bytes' AND value = '$3' GROUP BY policy) USING (policy)
        WHERE trace LIKE '%$1.ini' AND key = 'set.hbm_bytes' AND value = '$3'
        GROUP BY policy ORDER BY min(run_id)"
}
with_and_without_room() { # title, heads of two columns, spec, kinds, places of two kinds
    for memory in 150109880320 64GiB; do
        fits='all memory of an H200'; [ $memory = 64GiB ] && fits='64 GiB a GPU'
        printf '\n## %s, %s\n\n' "$1" "$fits"
        head_of "$2" "$3" 'P99 of requests (ms)' 'jobs/h' useful
        mix "$4" "$5" $memory "$6" "$7"
    done
}
mixes() {
    with_and_without_room 'Production and opportunistic jobs' 'JCT of production trainings (s)' \
        'of opportunistic ones (s)' production 3 0 2
    with_and_without_room 'Real-time services and batch jobs' 'JCT of services (s)' \
        'of batch trainings (s)' realtime 2 0 1
}

# How far the opportunistic job came while the production job was there, at its own pace alone: what
# it had left to do afterwards took what was left.
pair="WITH two AS (
    SELECT r.run_id, policy, value AS memory, p.end_ns * 1.0 AS p_end, p.service_ns * 1.0 AS p_alone,
           o.end_ns * 1.0 AS o_end, o.service_ns * 1.0 AS o_alone
    FROM run AS r JOIN setting USING (run_id) JOIN job AS p USING (run_id) JOIN job AS o USING (run_id)
    WHERE key = 'set.hbm_bytes' AND p.job = 0 AND o.job = 1),
  pair AS (SELECT *, p_end / p_alone AS production, o_end / o_alone AS other,
           max(0, o_alone - max(0, o_end - p_end)) / min(p_end, o_end) AS pace FROM two),
  mean AS (SELECT policy, memory, min(run_id) AS at, avg(production) AS production, max(production) AS worst,
           sum(production > 1.05) AS beyond, avg(pace) AS pace, avg(other) AS other FROM pair GROUP BY policy, memory)"
pairs() {
    for memory in 150109880320 64GiB; do
        fits='both fit'; [ $memory = 64GiB ] && fits='one fits'
        printf '\n## Fifty pairs, %s\n\n' "$fits"
        head_of 'production, over alone' worst 'pairs beyond 1.05' 'pace of the opportunistic job meanwhile' 'its JCT, over alone'
        rows "$tmp/pairs_grid.db" "$pair
            SELECT policy, printf('%.3f', production), printf('%.3f', worst), beyond, printf('%.3f', pace),
                   printf('%.3f', other) FROM mean WHERE memory = '$memory' ORDER BY at"
        printf '\n'
        sqlite3 "$tmp/pairs_grid.db" "$pair
            SELECT printf('TGS to MPS: the pace of the opportunistic job %s, its JCT x %.3f.',
                          CASE WHEN m.pace < 1e-3 THEN printf('%.3f to none', t.pace) ELSE printf('x %.2f', t.pace / m.pace) END,
                          t.other / m.other)
            FROM mean AS t, mean AS m WHERE t.policy = 'tgs' AND m.policy = 'mps'
                AND t.memory = '$memory' AND m.memory = '$memory'"
    done
}

salus() {
    printf '\n## Salus, fifty traces\n\n'
    head_of 'mean JCT (s)' 'over that of srtf' 'over traces'
    rows "$tmp/salus_grid.db" "WITH one AS (
            SELECT replication, CASE policy WHEN 'salus' THEN 'salus, ' || value ELSE policy END AS name,
                   min(run_id) AS at, jct_mean_s AS jct
            FROM run LEFT JOIN (SELECT run_id, value FROM setting WHERE key = 'set.salus.order') USING (run_id)
            GROUP BY run_id)
        SELECT one.name, printf('%.0f', avg(one.jct)), printf('%.2f', avg(one.jct) / avg(best.jct)),
               printf('%.2f to %.2f', min(one.jct / best.jct), max(one.jct / best.jct))
        FROM one JOIN one AS best USING (replication) WHERE best.name = 'salus, srtf' GROUP BY one.name ORDER BY min(one.at)"
}

sh "$here/figures.sh" "$gsim" "$tmp" >&2
sweep pairs_grid
sweep salus_grid
{
    cat "$here/preface.md"
    mixes
    pairs
    salus
} >"$tmp/results.md"
mv "$tmp/results.md" "$here/results.md"
