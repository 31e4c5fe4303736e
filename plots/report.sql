-- The sentences and tables of `gsim report`, in their order; names of columns are the heads of the tables.
-- The date of a page is that of its runs, so that a database has one page.
CREATE TEMP TABLE IF NOT EXISTS on_page AS SELECT run_id FROM chosen UNION SELECT run_id FROM changed;
WITH made AS (SELECT min(started_at) AS first, max(started_at) AS last, group_concat(DISTINCT program) AS programs
              FROM on_page JOIN run_perf USING (run_id))
SELECT (SELECT count(*) FROM on_page) || iif((SELECT count(*) FROM on_page) = 1, ' run of ', ' runs of ') || replace(substr(first, 1, 16), 'T', ' ') ||
       CASE substr(last, 1, 16) WHEN substr(first, 1, 16) THEN '' ELSE ' to ' ||
           CASE substr(last, 1, 10) WHEN substr(first, 1, 10) THEN substr(last, 12, 5) ELSE replace(substr(last, 1, 16), 'T', ' ') END END ||
       ' UTC, by gsim ' || replace(programs, ',', ' and ') || '.'
FROM made WHERE first IS NOT NULL;
-- Comparisons of which all runs are on the page, the latest first.
CREATE TEMP TABLE IF NOT EXISTS said AS
SELECT row_number() OVER (ORDER BY c.rowid DESC) AS nth, c.*, over GLOB '95 %*' AS has_intervals FROM comparison AS c
WHERE runs = (SELECT count(*) FROM compared AS d JOIN on_page USING (run_id) WHERE d.comparison = c.comparison)
ORDER BY nth LIMIT 8;
SELECT argv, advice FROM said WHERE advice <> '' ORDER BY nth;
SELECT argv, verdict || iif(verdict = '', '', char(10)) || over FROM said
UNION ALL SELECT NULL, 'none: gsim compare and gsim advise judge runs, and no such comparison is of these runs alone'
WHERE NOT EXISTS (SELECT 1 FROM said) AND (SELECT count(*) FROM series) > 1;
SELECT label AS "policy", humane(mean_s) AS "JCT mean", humane(mean_low_s) || ' to ' || humane(mean_high_s) AS "interval",
       iif(is_first, '', humane(difference_s)) AS "difference",
       iif(is_first, '', humane(difference_low_s) || ' to ' || humane(difference_high_s)) AS "interval of the difference",
       iif(is_first, '', fixed(ratio, 3)) AS "ratio",
       iif(is_first, '', fixed(ratio_low, 3) || ' to ' || fixed(ratio_high, 3)) AS "interval of the ratio",
       iif(is_first, '', iif(p IS NULL, '-', printf(iif(p < 0.001, '< 0.001', '%.2g'), p))) AS "p", below AS "traces below the first"
FROM (SELECT nth, series, label, d.*, (SELECT policy FROM chosen WHERE run_id = d.run_id) = said.first AS is_first
      FROM said JOIN compared AS d USING (comparison) JOIN member USING (run_id) WHERE said.comparison IN (
          SELECT comparison FROM compared WHERE mean_low_s IS NOT NULL))
GROUP BY nth, series ORDER BY nth, series;
SELECT label AS "policy", runs AS "runs", min(jobs) AS "jobs", sum(unfinished) AS "unfinished",
       humane(avg(jct_mean_s)) AS "JCT mean",
       CASE WHEN low_end(jct_mean_s) IS NOT NULL AND NOT max(run_id IN copies) AND count(DISTINCT jct_mean_s) > 1 THEN humane(low_end(jct_mean_s)) || ' to ' || humane(high_end(jct_mean_s))
            WHEN count(*) = 1 THEN (SELECT humane(mean_low_s) || ' to ' || humane(mean_high_s) FROM said JOIN compared AS d USING (comparison)
                                    WHERE has_intervals AND d.run_id = chosen.run_id ORDER BY nth LIMIT 1) END AS "95 %",
       humane(avg(jct_p50_s)) AS "median",
       humane(avg(jct_p95_s)) AS "p95", humane(avg(jct_p99_s)) AS "p99",
       humane(avg(wait_mean_s)) AS "wait mean", fixed(avg(slowdown_mean), 2) AS "slowdown",
       fixed(avg(jain), 3) AS "Jain", humane(avg(makespan_s)) AS "makespan",
       fixed(100 * avg(gpu_busy), 1) || ' %' AS "GPUs held",
       fixed(avg(preemptions), 0) AS "preempted", fixed(avg(migrations), 0) AS "migrated"
FROM chosen JOIN member USING (run_id) JOIN series USING (series, label)
GROUP BY series ORDER BY series;
-- with placed.sql
-- Waits until a job's first start, of jobs that began in the log and in the run. Their sums pass 64 bits in ns.
-- Rows come a series after the other, so that none are kept or sorted.
WITH late AS NOT MATERIALIZED (
    SELECT series, label, t.logged_wait_ns AS logged_ns, j.start_ns - j.submit_ns AS wait_ns
    FROM member JOIN job AS j USING (run_id) JOIN placed AS t ON t.place = place_of + j.job
    WHERE t.logged_start_ns IS NOT NULL AND j.start_ns IS NOT NULL AND (j.submit_ns, j.job) BETWEEN (from_ns, from_job) AND (to_ns, to_job))
SELECT label AS "policy", count(*) AS "jobs", humane(avg(logged_ns) / 1e9) AS "wait as logged", humane(avg(wait_ns) / 1e9) AS "wait",
       CASE WHEN total(logged_ns) > 0 THEN iif(total(wait_ns) < total(logged_ns), '', '+') || fixed(100.0 * total(wait_ns) / total(logged_ns) - 100, 1) || ' %' END AS "off",
       humane(avg(abs(wait_ns - logged_ns)) / 1e9) AS "off by job",
       fixed(100.0 * avg(abs(wait_ns - logged_ns) <= 60e9), 1) || ' %' AS "in 1 min"
FROM late GROUP BY series ORDER BY series;
WITH range AS MATERIALIZED (
    SELECT series, label, replication, seed, jct_mean_s, jct_p99_s, wait_mean_s
    FROM changed JOIN member ON member.run_id = original)
SELECT r.label AS "policy", count(*) AS "traces", humane(avg(r.jct_mean_s)) AS "JCT mean",
       humane(min(r.jct_mean_s)) || ' to ' || humane(max(r.jct_mean_s)) AS "JCT mean, range",
       humane(min(r.jct_p99_s)) || ' to ' || humane(max(r.jct_p99_s)) AS "p99, range",
       humane(min(r.wait_mean_s)) || ' to ' || humane(max(r.wait_mean_s)) AS "wait mean, range",
       CASE WHEN r.series <> f.series THEN fixed(min(r.jct_mean_s / f.jct_mean_s), 3) || ' to ' || fixed(max(r.jct_mean_s / f.jct_mean_s), 3) END AS "ratio to the first policy",
       CASE WHEN r.series <> f.series THEN sum(r.jct_mean_s < f.jct_mean_s) || '/' || count(*) END AS "below it"
FROM range AS r LEFT JOIN range AS f ON f.series = (SELECT min(series) FROM range) AND f.replication = r.replication AND f.seed = r.seed
GROUP BY r.series ORDER BY r.series;
-- Energy: idle GPUs draw energy.idle_w, computing ones energy.busy_w, the watts of the datasheet, which most jobs stay
-- below, each for as long as its device computed. Nodes that are down draw nothing.
WITH drawn AS MATERIALIZED (
    SELECT run_id, min(busy_w) AS least_w, max(is_assumed) AS is_assumed, sum(idle_w * (p.gpus * makespan_s - p.down_s)) / 3.6e6 AS up_kwh,
           sum((busy_w - idle_w) * p.computing_s) / 3.6e6 AS more_kwh, sum(idle_w * p.held_s) / 3.6e6 AS held_kwh
    FROM chosen AS c JOIN power AS p USING (run_id) GROUP BY run_id),
bill AS MATERIALIZED (
    SELECT series, label, gpus * makespan_s / 3600 AS hours, gpu_busy, coalesce(gpu_down, 0) AS down, device, is_assumed,
           up_kwh, more_kwh, held_kwh, least_w > 0 AS has_watts,
           (SELECT price FROM asked) AS price
    FROM chosen AS c JOIN drawn USING (run_id) JOIN member USING (run_id))
SELECT label AS "policy", fixed(avg(hours), 1) AS "GPU hours", fixed(avg(hours * gpu_busy), 1) AS "held",
       fixed(avg(hours * (1 - gpu_busy - down)), 1) AS "idle",
       CASE WHEN min(has_watts) THEN fixed(avg(up_kwh + more_kwh), 1) END AS "energy (kWh)",
       CASE WHEN min(has_watts) THEN fixed(avg(up_kwh - held_kwh), 1) END AS "of idle GPUs (kWh)",
       CASE WHEN min(has_watts) THEN group_concat(DISTINCT device || CASE WHEN is_assumed THEN ' (idle watts assumed)' ELSE '' END) END AS "watts of",
       CASE WHEN price IS NOT NULL THEN fixed(avg(hours * price), 2) END AS "cost",
       CASE WHEN price IS NOT NULL THEN fixed(avg(hours * (1 - gpu_busy - down) * price), 2) END AS "cost of idle GPUs"
FROM bill WHERE hours IS NOT NULL GROUP BY series ORDER BY series;
-- Users by their GPU hours, those with the most first; each waits less or longer than under the first series. Hours are
-- those that jobs held, also of jobs without an end, so that those of all rows of a policy are all that was held; jobs and
-- waits are of jobs that ended. The last rows have all users but the twelve, and jobs without a user, which are group 0.
-- Hours, cost and jobs are means over all runs of a series, those without a job of the user too. Groups are made by numbers,
-- without sorting jobs. Rows of several users have no quantile: those of its users do not give it.
CREATE TEMP TABLE IF NOT EXISTS sums_of AS
SELECT series, label, sums_by(coalesce(t.person + 1, 0), j.held_ns, iif(j.end_ns IS NULL, NULL, 0),
                              iif(is_counted, t.logged_wait_ns, NULL), iif(is_counted, j.wait_ns, NULL)) AS sums,
       quantile_by(coalesce(t.person + 1, 0), iif(is_counted, j.wait_ns / 1e9, NULL), 0.95) AS p95
FROM (SELECT j.*, series, label, place_of, end_ns IS NOT NULL AND (submit_ns, job) BETWEEN (from_ns, from_job) AND (to_ns, to_job) AS is_counted
      FROM member JOIN job AS j USING (run_id)) AS j LEFT JOIN placed AS t ON t.place = place_of + j.job GROUP BY series;
CREATE TEMP TABLE IF NOT EXISTS person_rank AS
SELECT person + 1 AS person, user, row_number() OVER (ORDER BY total(cell_of(sums, person + 1, 0)) DESC, user) AS rank
FROM person JOIN sums_of GROUP BY person;
CREATE INDEX IF NOT EXISTS temp.rank_of ON person_rank (person, rank);
WITH runs_of AS MATERIALIZED (
    SELECT series, count(*) AS runs FROM chosen AS c JOIN member USING (run_id)
    WHERE EXISTS (SELECT 1 FROM job AS j WHERE j.run_id = c.run_id) GROUP BY series),
shown AS MATERIALIZED (
    SELECT person, user, rank FROM person_rank UNION ALL SELECT 0, NULL, NULL WHERE EXISTS (SELECT 1 FROM person)),
user_of AS MATERIALIZED (
    SELECT series, label, min(coalesce(rank, 13), 13) AS rank, iif(coalesce(rank, 13) > 12, NULL, user) AS user, count(user) AS users,
           total(cell_of(sums, person, 0)) / 3.6e12 AS hours, total(cell_of(sums, person, 5)) AS n,
           sum(cell_of(sums, person, 2)) / nullif(total(cell_of(sums, person, 6)), 0) / 1e9 AS logged_s,
           sum(cell_of(sums, person, 3)) / nullif(total(cell_of(sums, person, 7)), 0) / 1e9 AS wait_s, iif(count(*) = 1, max(cell_of(p95, person, 0)), NULL) AS p95_s
    FROM sums_of JOIN shown WHERE cell_of(sums, person, 4) > 0 GROUP BY series, min(coalesce(rank, 13), 13)),
first_of AS MATERIALIZED (SELECT rank, series, wait_s FROM user_of WHERE series = (SELECT min(series) FROM user_of))
SELECT coalesce(u.user, iif(users > 0, users || ' more user' || iif(users > 1, 's', ''), 'no user')) AS "user",
       u.label AS "policy", printf('%g', fixed(1.0 * u.n / runs, 1)) AS "jobs", fixed(u.hours / runs, 1) AS "GPU hours",
       CASE WHEN price IS NOT NULL THEN fixed(u.hours / runs * price, 2) END AS "cost",
       humane(u.logged_s) AS "wait as logged", humane(u.wait_s) AS "wait mean", humane(u.p95_s) AS "wait p95",
       CASE WHEN u.series = f.series THEN '' WHEN u.wait_s < f.wait_s THEN 'gains ' || humane(f.wait_s - u.wait_s)
           WHEN u.wait_s > f.wait_s THEN 'loses ' || humane(u.wait_s - f.wait_s)
           WHEN u.wait_s = f.wait_s THEN 'as there' END AS "mean wait against the first policy"
FROM user_of AS u JOIN runs_of USING (series) JOIN asked LEFT JOIN first_of AS f USING (rank)
ORDER BY rank, u.series;
-- Clusters, each once however many runs it has.
WITH node AS MATERIALIZED (
    SELECT run_id, CAST(substr(owner, 7) AS INTEGER) AS nth, json_group_object(key, value) AS has, max(key = 'gpus' AND tag = 'default') AS is_guess
    FROM chosen JOIN parameter USING (run_id) WHERE owner GLOB 'nodes *' GROUP BY run_id, owner),
cluster AS (SELECT run_id, group_concat(has) AS kinds FROM (SELECT * FROM node ORDER BY run_id, nth) GROUP BY run_id),
which AS (SELECT min(run_id) AS run_id, count(*) AS runs FROM cluster GROUP BY kinds),
cells AS (SELECT w.runs, n.run_id, nth, is_guess, has ->> 'count' AS nodes, has ->> 'gpus' AS gpus, has ->> 'device' AS device, has ->> 'gpu_type' AS type,
                 has ->> 'partitions' AS partitions, has ->> 'features' AS features, CAST(has ->> 'cpus_milli' AS INTEGER) AS cpus, CAST(has ->> 'host_mem_bytes' AS INTEGER) AS memory
          FROM which AS w JOIN node AS n USING (run_id))
SELECT runs AS "runs", CAST(nodes AS INTEGER) AS "nodes", gpus || iif(is_guess, ' (guessed)', '') AS "GPUs a node", nodes * gpus AS "GPUs",
       device AS "device", type AS "type of GPU", partitions AS "partitions", features AS "features",
       iif(cpus > 0, printf('%g', cpus / 1000.0), NULL) AS "CPUs a node", iif(memory > 0, printf('%g GiB', memory / 1073741824.0), NULL) AS "memory of a host"
FROM cells ORDER BY run_id, nth LIMIT 200;
WITH read AS (
    SELECT kind, path, size, i.sha256, count(DISTINCT run_id) AS runs, kind = 'built in' AS is_built_in
    FROM on_page JOIN input AS i USING (run_id) GROUP BY kind, path, i.sha256
    UNION ALL SELECT 'grid', grid, (SELECT size FROM input_text AS t WHERE t.sha256 = s.sha256), s.sha256, count(*), 0
    FROM sweep AS s JOIN sweep_run USING (sweep) JOIN on_page USING (run_id) GROUP BY sweep)
SELECT kind AS "input", path AS "path", size AS "bytes", runs AS "runs", sha256 AS "SHA-256" FROM read ORDER BY is_built_in, kind, path LIMIT 200;
SELECT r.run_id AS "run", label AS "policy", seed AS "seed", replication AS "replication", trace AS "trace",
       device AS "device", gpus AS "GPUs", version AS "gsim", substr(config, 1, 12) AS "identity", argv AS "command"
FROM (SELECT run_id, seed, replication, trace, device, gpus, version, config, argv, run_id AS original FROM chosen
      UNION ALL SELECT run_id, seed, replication, trace, device, gpus, version, config, argv, original FROM changed) AS r
     JOIN member ON member.run_id = original ORDER BY r.run_id LIMIT 200;
-- A cluster without an option or a file that says how many GPUs a node has is a guess.
WITH careful AS MATERIALIZED (
    SELECT c.*, (SELECT group_concat(value || ' a node', ', ') FROM parameter AS p
                 WHERE p.run_id = c.run_id AND owner GLOB 'nodes *' AND key = 'gpus' AND tag = 'default') AS guessed FROM chosen AS c)
SELECT label AS "policy", CASE WHEN approximate THEN 'yes' ELSE '' END AS "extrapolated",
       deviation AS "not as its source", assumed AS "rests on assumed constants", coalesce(guessed, '') AS "GPUs that are guessed",
       given AS "constants given by hand", outside_validated AS "outside what was validated"
FROM careful JOIN member USING (run_id)
WHERE approximate OR deviation <> '' OR assumed <> '' OR given <> '' OR outside_validated <> '' OR guessed IS NOT NULL
GROUP BY series, approximate, deviation, assumed, guessed, given, outside_validated ORDER BY series;
