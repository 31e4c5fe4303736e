-- Jobs that end at other times under another policy: the first run of the policy `against`, and the
-- run of the policy `other` in which all other settings are equal. The change is in seconds; the jobs
-- that change most come first.
CREATE TEMP TABLE couple AS
SELECT a.run_id AS one, b.run_id AS two
FROM chosen AS a JOIN against ON a.policy = against.policy JOIN chosen AS b ON b.policy = against.other
WHERE (SELECT group_concat(k, ' ') FROM (SELECT key || '=' || value AS k FROM setting
           WHERE run_id = a.run_id AND key <> 'policy' AND key NOT LIKE 'set.%' ORDER BY key))
   IS (SELECT group_concat(k, ' ') FROM (SELECT key || '=' || value AS k FROM setting
           WHERE run_id = b.run_id AND key <> 'policy' AND key NOT LIKE 'set.%' ORDER BY key))
ORDER BY one IN (SELECT run_id FROM changed), one, two LIMIT 1;
CREATE TEMP TABLE moved AS
SELECT p.job, p.job_id, p.gpus_ppm / 1e6 AS gpus, p.service_ns / 1e9 AS service_s,
       (p.end_ns - p.submit_ns) / 1e9 AS one_s, (q.end_ns - q.submit_ns) / 1e9 AS two_s, (q.end_ns - p.end_ns) / 1e9 AS change_s
FROM couple JOIN job AS p ON p.run_id = one JOIN job AS q ON q.run_id = two AND q.job = p.job
WHERE p.end_ns IS NOT NULL AND q.end_ns IS NOT NULL;
SELECT one, two, (SELECT count(*) FROM moved) AS jobs, (SELECT count(*) FROM moved WHERE change_s < 0) AS sooner,
       (SELECT count(*) FROM moved WHERE change_s > 0) AS later, (SELECT avg(change_s) FROM moved) AS mean_s
FROM couple;
SELECT moved.job_id, coalesce(user, '') AS user, moved.gpus, service_s, one_s, two_s, change_s
FROM moved LEFT JOIN trace_job ON trace_job.job = moved.job
    AND trace_jobs = (SELECT trace_jobs FROM chosen, couple WHERE run_id = one)
WHERE change_s <> 0 ORDER BY abs(change_s) DESC, moved.job LIMIT 20;
