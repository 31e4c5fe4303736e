-- share of jobs slowed down by more than a factor; Jain's index of slowdowns in the key
-- needs: finished jobs
-- lines
CREATE TEMP TABLE IF NOT EXISTS slowed AS
SELECT series, curve_x(curve, place) AS slowdown, curve_rank(curve, place) AS rank, n
FROM (
    SELECT series, curve_of((end_ns - submit_ns) * 1.0 / service_ns, 1000, 200) AS curve, count(*) AS n
    FROM job JOIN member USING (run_id) WHERE end_ns IS NOT NULL AND service_ns > 0
        AND (submit_ns, job) BETWEEN (from_ns, from_job) AND (to_ns, to_job) GROUP BY series) JOIN place
WHERE slowdown IS NOT NULL;
SELECT max(2.2, 1.5 + 0.15 * n) AS var_height FROM on_sheet; -- the key takes up to a line a series
DELETE FROM span;
INSERT INTO span SELECT min(1, min(slowdown)) / 1.1, max(2, max(slowdown)) * 1.1 FROM slowed;
SELECT first AS var_first, last AS var_last, 0.7 / (SELECT max(n) FROM slowed) AS var_least FROM span WHERE first > 0;
SELECT series, label || ' ' || fixed(jain, 2) AS label, slowdown AS x, 1 - (rank - 1.0) / n AS y
FROM slowed JOIN (SELECT series, label, avg(jain) AS jain FROM chosen JOIN member USING (run_id) GROUP BY series)
    USING (series)
ORDER BY series, rank;
SELECT at, name FROM axis_tic WHERE kind = 'number';
