-- a result against a parameter that squeezes the GPUs (--x, --value), a line for each policy
-- needs: runs that differ in a numeric key (--x)
-- lines
CREATE TEMP TABLE point AS
SELECT policy, run_id,
       (SELECT quantity(a.value) / scale FROM attribute AS a JOIN measure USING (key), axes
        WHERE a.run_id = c.run_id AND a.key = axes.x) AS x,
       (SELECT quantity(a.value) / scale FROM attribute AS a JOIN measure USING (key), axes WHERE a.run_id = c.run_id
        AND a.key = coalesce(axes.value, 'throughput_jobs_per_h')) AS y
FROM chosen AS c;
CREATE TEMP TABLE line AS SELECT policy, row_number() OVER (ORDER BY min(run_id)) AS series FROM point GROUP BY policy;
SELECT (SELECT name FROM measure_name WHERE key = axes.x) AS var_x,
       (SELECT name FROM measure_name WHERE key = coalesce(axes.value, 'throughput_jobs_per_h')) AS var_value,
       (SELECT min(x) > 0 AND max(x) >= 10 * min(x) FROM point) AS var_is_wide,
       (SELECT min(x) FROM point) AS var_first, (SELECT max(x) FROM point) AS var_last,
       (SELECT min(y) > 0 AND max(y) >= 50 * min(y) FROM point) AS var_is_tall,
       (SELECT min(y) FROM point) AS var_least, (SELECT max(y) FROM point) AS var_most FROM axes;
SELECT series, label, x, y, low, min(most_of((SELECT value FROM axes)), high) AS high
FROM (SELECT series, policy AS label, x, avg(y) AS y, low_bar(y, run_id IN copies) AS low, high_bar(y, run_id IN copies) AS high
      FROM point JOIN line USING (policy)
      WHERE x IS NOT NULL AND y IS NOT NULL AND (SELECT count(DISTINCT x) FROM point) > 1 GROUP BY series, x)
ORDER BY series, x;
-- If a logarithmic axis has few values, each value is a tic.
SELECT DISTINCT x, printf('%g', x) AS name FROM point
WHERE (SELECT count(DISTINCT x) <= 8 AND min(x) > 0 AND max(x) >= 10 * min(x) FROM point) AND x IS NOT NULL ORDER BY x;
