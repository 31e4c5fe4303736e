-- Tables that every figure starts from. From the runs that --where picks, the program has made:
--   chosen      rows of `run`
--   attribute   (run_id, key, value): the columns and settings of a run, by name
--   asked       one row: the keys that --x, --y and --value name, the value of --target, the price of a
--               GPU for an hour, and the policy that comes first, or NULL
-- and the functions quantity(text), a number with or without a unit, and over rows low_bar(x, is_copy)
-- and high_bar(x, is_copy): the ends of the 95 % interval of their mean, by Johnson's t on its logarithm
-- as in gsim compare, or, where rows are of copies, the least and the most; NULL for a single row.

-- Shaken and resampled copies of a trace that is not among the runs as it is. Their spread says how
-- sensitive it is, and is no chance of a mean.
CREATE TEMP TABLE copies AS
SELECT run_id FROM chosen
WHERE replication > 0 AND run_id IN (SELECT run_id FROM setting WHERE key IN ('shake', 'resample'));

-- The settings in which runs of one policy differ; seeds and replications are pooled.
CREATE TEMP TABLE distinguishing AS
SELECT policy, key
FROM chosen JOIN setting USING (run_id)
WHERE key NOT IN ('policy', 'seed', 'replication')
GROUP BY policy, key
HAVING count(DISTINCT value) > 1
    OR count(*) < (SELECT count(*) FROM chosen AS c WHERE c.policy = chosen.policy);

-- The distinguishing settings of a run in full, and in brief: a trace by its file name, a number or
-- a switch with the last part of its key, a word alone.
CREATE TEMP TABLE part AS
SELECT run_id, key, ' ' || key || '=' || value AS full,
       ' ' || CASE WHEN quantity(value) IS NULL AND value NOT IN ('on', 'off') THEN ''
                   WHEN key LIKE 'set.' || d.policy || '.%' THEN substr(key, 6 + length(d.policy)) || '='
                   WHEN key LIKE 'set.%' THEN substr(key, 5) || '=' ELSE key || '=' END ||
       CASE key WHEN 'trace' THEN replace(value, rtrim(value, replace(value, '/', '')), '') ELSE value END AS brief
FROM chosen JOIN distinguishing AS d USING (policy) JOIN setting USING (run_id, key);
CREATE TEMP TABLE labelled AS
SELECT run_id, policy, policy || coalesce(group_concat(full, ''), '') AS full,
       policy || coalesce(group_concat(brief, ''), '') AS brief
FROM chosen LEFT JOIN (SELECT * FROM part ORDER BY run_id, key) USING (run_id) GROUP BY run_id;

-- Runs with one label are one series, in the order of their first run; those of the policy that
-- comes first stand in front.
CREATE TEMP TABLE series AS
SELECT row_number() OVER (ORDER BY min(policy IS NOT (SELECT first FROM asked)), min(run_id)) AS series, full, count(*) AS runs,
       CASE count(*) OVER (PARTITION BY min(brief)) WHEN 1 THEN min(brief) ELSE full END AS label
FROM labelled GROUP BY full;

-- The page to draw, which the program inserts: its series, and whether it is two columns wide;
-- on_sheet counts the series on the page, for heights.
CREATE TEMP TABLE sheet (page INTEGER, first INTEGER, last INTEGER, is_double INTEGER);
CREATE TEMP VIEW on_sheet AS SELECT count(*) AS n FROM series JOIN sheet ON series BETWEEN first AND last;

-- Jobs of the warm-up and the cool-down count in no figure of JCT, waiting and slowdown, as they do not in a run's own
-- results: from and to are the first and the last job in between, in the order of arrival.
CREATE TEMP TABLE counted AS
SELECT run_id, nth = 1 + warmup_jobs AS is_first, nth = jobs - cooldown_jobs AS is_last, submit_ns, job
FROM (SELECT run_id, submit_ns, job, row_number() OVER (PARTITION BY run_id ORDER BY submit_ns, job) AS nth FROM job
      WHERE run_id IN (SELECT run_id FROM chosen WHERE warmup_jobs > 0 OR cooldown_jobs > 0)) JOIN chosen USING (run_id)
WHERE nth IN (1 + warmup_jobs, jobs - cooldown_jobs);
CREATE TEMP TABLE member AS
SELECT labelled.run_id AS run_id, series, label, coalesce(f.submit_ns, -1) AS from_ns, coalesce(f.job, 0) AS from_job,
       coalesce(l.submit_ns, 9223372036854775807) AS to_ns, coalesce(l.job, 0) AS to_job, place_of
FROM labelled JOIN series USING (full)
     JOIN (SELECT run_id, min(run_id) OVER (PARTITION BY trace_jobs) << 32 AS place_of FROM chosen) AS p ON p.run_id = labelled.run_id
     LEFT JOIN counted AS f ON f.run_id = labelled.run_id AND f.is_first LEFT JOIN counted AS l ON l.run_id = labelled.run_id AND l.is_last;
CREATE INDEX temp.member_of_run ON member (run_id);
-- Jobs that are grouped by series are read a series after the other, by its runs; else SQLite sorts all of them.
CREATE INDEX temp.member_by_series ON member (series, run_id, label);

-- The places of a curve's points: curve_of has as many as are drawn, and at most those.
CREATE TEMP TABLE place AS WITH RECURSIVE p (place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM p WHERE place < 2001)
SELECT place FROM p;

-- Units of time. A duration has the first unit with a limit that it passes.
CREATE TEMP TABLE unit AS
SELECT column1 AS above_s, column2 AS seconds, column3 AS unit
FROM (VALUES (3 * 86400, 86400.0, 'd'), (3 * 3600, 3600.0, 'h'), (180, 60.0, 'min'), (1, 1.0, 's'), (-1, 0.001, 'ms'));

-- The unit for the times of these runs: that of the longest 95th percentile.
CREATE TEMP TABLE time_unit AS
SELECT seconds, unit FROM unit
WHERE above_s < (SELECT coalesce(max(jct_p95_s), 0) FROM chosen) ORDER BY above_s DESC LIMIT 1;

-- Tics of logarithmic axes. An axis shows those from a level on, by its length: more than 1-2-5,
-- 1-2-5, tens, and on the longest axes the few that have room.
CREATE TEMP TABLE tic AS
WITH scale (kind, one, name, coarse) AS (VALUES
         ('time', 1e-9, ' ns', 1), ('time', 1e-6, ' us', 1), ('time', 1e-3, ' ms', 1), ('time', 1.0, ' s', 1),
         ('time', 60.0, ' min', 1), ('time', 3600.0, ' h', 1), ('time', 3.6e6, '000 h', 0),
         ('number', 1e-3, 'e-3', 1), ('number', 1.0, '', 1), ('number', 1e3, 'k', 1), ('number', 1e6, 'M', 1),
         ('number', 1e9, 'G', 1)),
     step (factor, level) AS (VALUES (1, 3), (2, 1), (3, 1), (5, 1), (10, 2), (20, 1), (30, 1), (50, 1), (100, 2),
         (200, 1), (500, 1),
         (1.5, 0), (2.5, 0), (4, 0), (7, 0), (15, 0), (25, 0), (40, 0), (70, 0), (150, 0), (250, 0), (400, 0), (700, 0))
SELECT kind, one * factor AS at, printf('%g', factor) || name AS name,
       CASE WHEN level = 3 AND NOT coarse THEN 2 ELSE level END AS level
FROM scale JOIN step
WHERE CASE WHEN name IN (' s', ' min') THEN factor <= 30 ELSE factor NOT IN (3, 30) END
UNION ALL SELECT 'time', 3.6e5, '100 h', 3;

-- The tics of an axis, of which a figure inserts the range.
CREATE TEMP TABLE span (first REAL, last REAL);
CREATE TEMP VIEW axis_tic AS
SELECT kind, at, name FROM tic JOIN span ON at BETWEEN first * 0.999 AND last * 1.001
WHERE level >= CASE WHEN last < 6 * first THEN 0 WHEN last < 30 * first THEN 1 WHEN last < 1e6 * first THEN 2 ELSE 3 END
ORDER BY at;

-- The names of results on an axis: times in their unit, names without underscores.
CREATE TEMP TABLE measure AS
SELECT key, CASE WHEN key LIKE '%\_s' ESCAPE '\' THEN coalesce(
           (SELECT seconds FROM unit WHERE above_s < most ORDER BY above_s DESC LIMIT 1), 1) ELSE 1 END AS scale, most
FROM (SELECT key, max(quantity(value)) AS most FROM attribute JOIN chosen USING (run_id) GROUP BY key);
CREATE TEMP VIEW measure_name AS
SELECT key, scale, CASE WHEN key LIKE '%\_s' ESCAPE '\'
    THEN plain || ' (' || (SELECT unit FROM unit WHERE seconds = scale) || ')' ELSE plain END AS name
FROM (SELECT key, scale, CASE key WHEN 'gpus' THEN 'GPUs' ELSE replace(replace(replace(replace(CASE WHEN key LIKE '%\_s' ESCAPE '\'
    THEN substr(key, 1, length(key) - 2) ELSE key END, '_', ' '), 'jct', 'JCT'), 'gpu ', 'GPU '), 'set.', '') END AS plain
    FROM measure);

-- Keys of the axes: the keys of --x and --y, or settings that differ between runs, numbers first. A
-- parameter that one policy has and others have not is no axis, unless runs of that policy differ in it.
CREATE TEMP TABLE varying AS
SELECT key, row_number() OVER (ORDER BY min(quantity(value) IS NOT NULL) DESC, key) AS rank
FROM chosen JOIN setting USING (run_id)
WHERE key NOT IN ('policy', 'seed', 'replication', 'trace')
    AND (key NOT LIKE 'set.%' OR key IN (SELECT key FROM distinguishing))
GROUP BY key
HAVING count(DISTINCT value) > 1 OR count(*) < (SELECT count(*) FROM chosen);

CREATE TEMP TABLE axes AS
SELECT coalesce(x, (SELECT key FROM varying WHERE rank = 1), 'gpus') AS x,
       coalesce(y, 'policy') AS y, value
FROM asked;
