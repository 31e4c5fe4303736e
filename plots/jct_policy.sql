-- mean job completion time of each policy, with the 95 % interval over replications and seeds
-- needs: finished jobs
-- bars
SELECT unit AS var_unit, (SELECT max(runs) > 1 FROM series) AS var_has_intervals,
       0.55 + 0.2 * (SELECT n FROM on_sheet) AS var_height FROM time_unit;
SELECT series, label, sum(jct_mean_s) / count(*) / seconds AS mean,
       low_end(jct_mean_s) / seconds AS low, high_end(jct_mean_s) / seconds AS high
FROM chosen JOIN member USING (run_id), time_unit
WHERE jct_mean_s IS NOT NULL
GROUP BY series ORDER BY series;
