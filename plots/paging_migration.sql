-- where GPU time goes: own work, switching and migration, waiting for pages, idle
-- needs: runs that end
-- bars
SELECT 0.95 + 0.2 * n AS var_height FROM on_sheet;
-- If jobs are copied, switching counts as waiting for memory too; the rest of the waiting is paging.
SELECT series, label, avg(gpu_useful) AS useful, avg(switching) AS switching,
       avg(min(max(gpu_busy - gpu_useful - switching, 0), coalesce(stall_s, 0) / (makespan_s * gpus))) AS paging,
       avg(1 - gpu_busy) AS idle
FROM (SELECT *, min(max(gpu_busy - gpu_useful, 0), coalesce(switch_s, 0) / (makespan_s * gpus)) AS switching
      FROM chosen WHERE makespan_s > 0 AND gpu_busy IS NOT NULL)
JOIN member USING (run_id)
GROUP BY series ORDER BY series;
