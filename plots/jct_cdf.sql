-- share of jobs done within a job completion time, in exact steps
-- needs: finished jobs
-- lines
-- A curve of more than 2000 jobs is drawn through about 2000 of its points.
-- Jobs that never end count below the line: the curve then stays below 1.
CREATE TEMP TABLE IF NOT EXISTS jct_step AS
SELECT series, label, curve_x(curve, place) / 1e9 AS x, curve_rank(curve, place) / n AS y
FROM (
    SELECT series, label, curve_of(end_ns - submit_ns, 2000, 1) AS curve, count(*) AS n
    FROM job JOIN member USING (run_id) WHERE (submit_ns, job) BETWEEN (from_ns, from_job) AND (to_ns, to_job) GROUP BY series) JOIN place
WHERE x > 0;
SELECT max(2.2, 1.5 + 0.15 * n) AS var_height FROM on_sheet; -- the key takes up to a line a series
-- The axis begins above the lowest half percent of jobs, which may lie far below the rest.
DELETE FROM span;
INSERT INTO span SELECT min(x) / 1.1, (SELECT max(x) * 1.1 FROM jct_step) FROM jct_step
WHERE y >= min(0.005, (SELECT max(y) FROM jct_step));
SELECT first AS var_first, last AS var_last FROM span WHERE first > 0;
SELECT series, label, x, y FROM jct_step ORDER BY series, y;
SELECT at, name FROM axis_tic WHERE kind = 'time';
