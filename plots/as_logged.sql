-- share of jobs that began at most so much later than in the log
-- needs: finished jobs of a trace that has the log's starts (logged_start_s)
-- lines
-- with placed.sql
-- A curve of more than 2000 jobs is drawn through about 2000 of its points. A policy that does what
-- the log's scheduler did is a step at 0; jobs that begin earlier than there are left of it.
CREATE TEMP TABLE IF NOT EXISTS as_logged_step AS
SELECT series, label, curve_x(curve, place) / 3.6e12 AS x, curve_rank(curve, place) / n AS y
FROM (
    SELECT series, label, curve_of(start_ns - logged_start_ns, 2000, 1) AS curve, count(*) AS n
    FROM member JOIN job USING (run_id) JOIN placed ON place = place_of + job
    WHERE start_ns IS NOT NULL AND logged_start_ns IS NOT NULL AND (submit_ns, job) BETWEEN (from_ns, from_job) AND (to_ns, to_job)
    GROUP BY series) JOIN place
WHERE x IS NOT NULL;
SELECT max(2.2, 1.5 + 0.15 * n) AS var_height FROM on_sheet; -- the key takes up to a line a series
-- The axis leaves out the hundredth of the jobs at each end, which may lie far from the rest.
SELECT min(x) - 0.1 AS var_first, max(x) + 0.1 AS var_last FROM as_logged_step
WHERE y >= 0.01 AND y <= 0.99 HAVING count(*) > 0;
SELECT series, label, x, y FROM as_logged_step ORDER BY series, y;
