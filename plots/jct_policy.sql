-- mean job completion time of each policy, with the 95 % interval over replications and seeds, or the range over copies
-- needs: finished jobs
-- bars
SELECT unit AS var_unit, (SELECT max(runs) > 1 FROM series) AS var_has_intervals,
       (SELECT count(*) > 0 FROM copies) AS var_has_copies,
       0.55 + 0.2 * (SELECT n FROM on_sheet) AS var_height FROM time_unit;
SELECT series, label, sum(jct_mean_s) / count(*) / seconds AS mean,
       low_bar(jct_mean_s, run_id IN copies) / seconds AS low, high_bar(jct_mean_s, run_id IN copies) / seconds AS high
FROM chosen JOIN member USING (run_id), time_unit
WHERE jct_mean_s IS NOT NULL
GROUP BY series ORDER BY series;
