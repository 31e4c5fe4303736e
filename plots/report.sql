-- The tables of `gsim report`, in their order; names of columns are the heads of the tables.
SELECT label AS "policy", runs AS "runs", min(jobs) AS "jobs", sum(unfinished) AS "unfinished",
       humane(avg(jct_mean_s)) AS "JCT mean", humane(avg(jct_p50_s)) AS "median",
       humane(avg(jct_p95_s)) AS "p95", humane(avg(jct_p99_s)) AS "p99",
       humane(avg(wait_mean_s)) AS "wait mean", printf('%.2f', avg(slowdown_mean)) AS "slowdown",
       printf('%.3f', avg(jain)) AS "Jain", humane(avg(makespan_s)) AS "makespan",
       printf('%.1f %%', 100 * avg(gpu_busy)) AS "GPUs held",
       CAST(avg(preemptions) AS INTEGER) AS "preempted", CAST(avg(migrations) AS INTEGER) AS "migrated"
FROM chosen JOIN member USING (run_id) JOIN series USING (series, label)
GROUP BY series ORDER BY series;
SELECT run_id AS "run", label AS "policy", seed AS "seed", replication AS "replication", trace AS "trace",
       device AS "device", gpus AS "GPUs", version AS "gsim", substr(config, 1, 12) AS "identity", argv AS "command"
FROM chosen JOIN member USING (run_id) ORDER BY run_id LIMIT 200;
SELECT label AS "policy", CASE WHEN approximate THEN 'yes' ELSE '' END AS "extrapolated",
       deviation AS "not as its source", assumed AS "rests on assumed constants",
       given AS "constants given by hand", outside_validated AS "outside what was validated"
FROM chosen JOIN member USING (run_id)
WHERE approximate OR deviation <> '' OR assumed <> '' OR given <> '' OR outside_validated <> ''
GROUP BY series, approximate, deviation, assumed, given, outside_validated ORDER BY series;
