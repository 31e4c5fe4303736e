-- share of requests served within a latency, in exact steps
-- needs: open-loop jobs (column 'requests' of the trace)
-- lines
-- A curve of more than 2000 requests is drawn through about 2000 of its points.
CREATE TEMP TABLE IF NOT EXISTS latency_step AS
SELECT series, label, latency_ns / 1e9 AS x, rank * 1.0 / n AS y
FROM (
    SELECT series, label, latency_ns,
           row_number() OVER (PARTITION BY series ORDER BY latency_ns) AS rank,
           count(*) OVER (PARTITION BY series) AS n
    FROM request JOIN member USING (run_id))
WHERE latency_ns > 0 AND (rank = 1 OR rank = n OR rank > n - 50 OR rank * 2000 / n > (rank - 1) * 2000 / n);
SELECT max(2.2, 1.5 + 0.15 * n) AS var_height FROM on_sheet; -- the key takes up to a line a series
-- The axis begins above the lowest half percent of requests, which may lie far below the rest.
DELETE FROM span;
INSERT INTO span SELECT min(x) / 1.1, (SELECT max(x) * 1.1 FROM latency_step) FROM latency_step
WHERE y >= min(0.005, (SELECT max(y) FROM latency_step));
SELECT first AS var_first, last AS var_last FROM span WHERE first > 0;
SELECT series, label, x, y FROM latency_step ORDER BY series, y;
SELECT at, name FROM axis_tic WHERE kind = 'time';
