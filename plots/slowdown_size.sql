-- slowdown of small and large jobs: median and quartiles by GPU time
-- needs: finished jobs
-- lines
-- Limits between sizes, in seconds of a GPU; the axis shows the limits that jobs reach.
CREATE TEMP TABLE IF NOT EXISTS size_limit AS
SELECT row_number() OVER (ORDER BY column1) AS size, column1 AS below_s, column2 AS name
FROM (VALUES (0.001, '1 ms'), (0.01, '10 ms'), (0.1, '100 ms'), (1, '1 s'), (10, '10 s'), (60, '1 min'), (600, '10 min'),
             (3600, '1 h'), (36000, '10 h'), (360000, '100 h'), (3600000, '1000 h'));
CREATE INDEX IF NOT EXISTS temp.limit_of ON size_limit (below_s);
CREATE TEMP TABLE IF NOT EXISTS sized AS
SELECT series, label, size, cell_of(quartiles, size, 1) AS median, cell_of(quartiles, size, 0) AS low,
       cell_of(quartiles, size, 2) AS high
FROM (
    SELECT series, label, quartiles_by(
               coalesce((SELECT size FROM size_limit WHERE below_s > service_ns / 1e9 * gpus_ppm / 1e6 ORDER BY below_s LIMIT 1),
                        (SELECT 1 + max(size) FROM size_limit)), (end_ns - submit_ns) * 1.0 / service_ns) AS quartiles
    FROM member JOIN job USING (run_id)
    WHERE end_ns IS NOT NULL AND service_ns > 0 AND (submit_ns, job) BETWEEN (from_ns, from_job) AND (to_ns, to_job)
    GROUP BY series)
JOIN (SELECT size FROM size_limit UNION ALL SELECT 1 + max(size) FROM size_limit)
WHERE cell_of(quartiles, size, 1) IS NOT NULL;
SELECT max(2.2, 1.5 + 0.15 * n) AS var_height FROM on_sheet; -- the key takes up to a line a series
SELECT min(size) - 0.5 AS var_first, max(size) + 0.5 AS var_last FROM sized;
SELECT series, label, size, median, low, high FROM sized ORDER BY series, size;
-- Tics are the limits, each at the upper end of its class of sizes.
SELECT size + 0.5 AS at, name FROM size_limit WHERE size BETWEEN (SELECT min(size) - 1 FROM sized) AND (SELECT max(size) FROM sized)
ORDER BY size;
