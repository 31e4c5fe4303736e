-- share of jobs slowed down by more than a factor; Jain's index of slowdowns in the key
-- needs: finished jobs
-- lines
SELECT 1.9 + 0.07 * n AS var_height FROM on_sheet;
CREATE TEMP TABLE slowed AS
SELECT series, (end_ns - submit_ns) * 1.0 / service_ns AS slowdown,
       row_number() OVER (PARTITION BY series ORDER BY (end_ns - submit_ns) * 1.0 / service_ns) AS rank,
       count(*) OVER (PARTITION BY series) AS n
FROM job JOIN member USING (run_id) WHERE end_ns IS NOT NULL AND service_ns > 0;
DELETE FROM span;
INSERT INTO span SELECT min(1, min(slowdown)) / 1.1, max(2, max(slowdown)) * 1.1 FROM slowed;
SELECT first AS var_first, last AS var_last, 0.7 / (SELECT max(n) FROM slowed) AS var_least FROM span WHERE first > 0;
SELECT series, label || printf(' %.2f', jain) AS label, slowdown AS x, 1 - (rank - 1.0) / n AS y
FROM slowed JOIN (SELECT series, label, avg(jain) AS jain FROM chosen JOIN member USING (run_id) GROUP BY series)
    USING (series)
WHERE rank = 1 OR rank = n OR rank > n - 200 OR rank * 1000 / n > (rank - 1) * 1000 / n
ORDER BY series, rank;
SELECT at, name FROM axis_tic WHERE kind = 'number';
