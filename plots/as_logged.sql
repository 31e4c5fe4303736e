-- share of jobs that began at most so much later than in the log
-- needs: finished jobs of a trace that has the log's starts (logged_start_s)
-- lines
-- A curve of more than 2000 jobs is drawn through about 2000 of its points. A policy that does what
-- the log's scheduler did is a step at 0; jobs that begin earlier than there are left of it.
SELECT max(2.2, 1.5 + 0.15 * n) AS var_height FROM on_sheet; -- the key takes up to a line a series
CREATE TEMP TABLE as_logged_step AS
SELECT series, label, later_ns / 3.6e12 AS x, rank * 1.0 / n AS y
FROM (
    SELECT series, label, start_ns - logged_start_ns AS later_ns,
           row_number() OVER (PARTITION BY series ORDER BY start_ns - logged_start_ns) AS rank,
           count(*) OVER (PARTITION BY series) AS n
    FROM job JOIN member USING (run_id) JOIN run USING (run_id)
         JOIN trace_job USING (trace_jobs, job)
    WHERE start_ns IS NOT NULL AND logged_start_ns IS NOT NULL)
WHERE rank = 1 OR rank = n OR rank * 2000 / n > (rank - 1) * 2000 / n;
-- The axis leaves out the hundredth of the jobs at each end, which may lie far from the rest.
SELECT min(x) - 0.1 AS var_first, max(x) + 0.1 AS var_last FROM as_logged_step
WHERE y >= 0.01 AND y <= 0.99 HAVING count(*) > 0;
SELECT series, label, x, y FROM as_logged_step ORDER BY series, y;
