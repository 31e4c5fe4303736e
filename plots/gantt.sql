-- which job is on which GPU, over time, of one run
-- needs: samples over time of one run with few changes (--db, --samples N; choose it with --where run_id=N)
-- one run
SELECT unit AS var_unit, 0.9 + 0.11 * min(32, gpus) AS var_height, gpus AS var_gpus, (SELECT policy FROM chosen) AS var_policy
FROM time_unit, chosen;
CREATE TEMP TABLE held AS
SELECT CAST(substr(name, 5, instr(name, '.') - 5) AS INTEGER) AS gpu,
       CAST(substr(name, instr(name, '.') + 1) AS INTEGER) AS lane,
       time_ns AS begin_ns, value AS job,
       coalesce(lead(time_ns) OVER (PARTITION BY name ORDER BY time_ns),
                (SELECT max(time_ns) FROM sample AS s WHERE s.run_id = sample.run_id)) AS end_ns
FROM sample JOIN chosen USING (run_id) WHERE name GLOB 'gpu *';
SELECT job AS job, begin_ns / 1e9 / seconds AS begin, end_ns / 1e9 / seconds AS end,
       gpu - 0.42 + 0.84 * lane / (1 + most) AS low, gpu - 0.42 + 0.84 * (lane + 1) / (1 + most) AS high
FROM held JOIN (SELECT gpu, max(lane) AS most FROM held GROUP BY gpu) USING (gpu), time_unit
WHERE job >= 0 AND end_ns > begin_ns ORDER BY gpu, lane, begin_ns;
-- Names of jobs, on the bars that are wide enough.
SELECT h.job AS job, (h.begin_ns + h.end_ns) / 2e9 / seconds AS middle, gpu - 0.42 + 0.84 * (lane + 0.5) / (1 + most) AS y,
       job_id
FROM held AS h JOIN (SELECT gpu, max(lane) AS most FROM held GROUP BY gpu) USING (gpu), time_unit
JOIN job AS j ON j.job = h.job AND j.run_id = (SELECT run_id FROM chosen)
WHERE h.job >= 0 AND most = 0 AND h.end_ns - h.begin_ns > 0.012 * (2 + length(job_id)) *
      ((SELECT max(held.end_ns) FROM held) - (SELECT min(held.begin_ns) FROM held))
  AND (SELECT max(gpu) FROM held) < 32
ORDER BY gpu, h.begin_ns;
