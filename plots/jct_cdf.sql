-- share of jobs done within a job completion time, in exact steps
-- needs: finished jobs
-- lines
SELECT unit AS var_unit FROM time_unit;
-- A curve of more than 2000 jobs shows every so many of its steps: all points are of the curve.
-- Jobs that never end count below the line: the curve then stays below 1.
SELECT series, label, jct / seconds AS x, rank * 1.0 / n AS y
FROM (
    SELECT series, label, (end_ns - submit_ns) / 1e9 AS jct, end_ns IS NOT NULL AS is_done,
           row_number() OVER (PARTITION BY series ORDER BY end_ns IS NULL, end_ns - submit_ns) AS rank,
           count(*) OVER (PARTITION BY series) AS n
    FROM job JOIN member USING (run_id)), time_unit
WHERE is_done AND jct > 0 AND (rank = 1 OR rank = n OR rank * 2000 / n > (rank - 1) * 2000 / n)
ORDER BY series, rank;
