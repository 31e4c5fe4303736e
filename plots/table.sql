-- The values of `gsim table`: of each run, one for each column of the table. `chosen`, `attribute`,
-- `asked` and plots/common.sql are there; `against` names the policy to which the others are compared,
-- and `grouping` the column of a trace by which jobs are grouped, or NULL.

-- A unit holds the runs that are compared: all settings but the policy and its parameters. A
-- parameter in which the runs of the first policy differ tells units apart as well.
CREATE TEMP TABLE unit_of AS
SELECT run_id, coalesce(group_concat(key || '=' || value, ' '), '') AS unit
FROM (SELECT chosen.run_id, key, value FROM chosen LEFT JOIN setting ON setting.run_id = chosen.run_id AND key <> 'policy'
          AND (key NOT LIKE 'set.%' OR key IN (SELECT key FROM distinguishing, against WHERE distinguishing.policy = against.policy))
      ORDER BY chosen.run_id, key)
GROUP BY run_id;

-- The row of a run: its policy with what tells its runs apart, but for the axis.
CREATE TEMP TABLE row_of AS
SELECT c.run_id, c.policy || coalesce((SELECT group_concat(p.brief, '') FROM (SELECT * FROM part ORDER BY key) AS p, asked
           WHERE p.run_id = c.run_id AND p.key IS NOT asked.x), '') AS row
FROM chosen AS c;

-- The results that --value names, in order.
CREATE TEMP TABLE wanted AS
WITH RECURSIVE list (position, key, rest) AS (
    SELECT 0, NULL, (SELECT value FROM asked) || ','
    UNION ALL SELECT position + 1, substr(rest, 1, instr(rest, ',') - 1), substr(rest, instr(rest, ',') + 1)
    FROM list WHERE rest <> '')
SELECT position, key FROM list WHERE position > 0 AND key <> '';

-- Without --by: the results of runs, in a column each, or the first of them by --x.
CREATE TEMP TABLE reading AS
SELECT a.run_id, wanted.position AS place, (SELECT name FROM measure_name AS m WHERE m.key = a.key) AS head,
       quantity(a.value) / (SELECT scale FROM measure AS m WHERE m.key = a.key) AS y
FROM wanted JOIN attribute AS a USING (key) JOIN chosen USING (run_id), asked, grouping
WHERE asked.x IS NULL AND grouping.by IS NULL
UNION ALL
SELECT a.run_id, rank() OVER (ORDER BY quantity(b.value), b.value),
       (SELECT name FROM measure_name AS m WHERE m.key = a.key) || ', ' || b.key || ' = ' || b.value,
       quantity(a.value) / (SELECT scale FROM measure AS m WHERE m.key = a.key)
FROM wanted JOIN attribute AS a USING (key) JOIN chosen USING (run_id)
JOIN asked JOIN attribute AS b ON b.run_id = a.run_id AND b.key = asked.x, grouping
WHERE wanted.position = 1 AND grouping.by IS NULL;

-- With --by: the first result over the jobs of each group. Jobs of the warm-up and the cool-down are
-- left out, as in the run's own results.
CREATE TEMP TABLE grouped AS
SELECT * FROM (
    SELECT j.run_id, jobs, warmup_jobs, cooldown_jobs,
           row_number() OVER (PARTITION BY j.run_id ORDER BY j.submit_ns, j.job) AS nth,
           CASE grouping.by WHEN 'user' THEN t.user WHEN 'vc' THEN t.vc WHEN 'class' THEN t.class WHEN 'model' THEN t.model
               WHEN 'gpus' THEN printf('%g GPU%s', j.gpus_ppm / 1e6, iif(j.gpus_ppm = 1e6, '', 's'))
               ELSE CASE WHEN j.service_ns < 60e9 THEN 'below 1 min' WHEN j.service_ns < 600e9 THEN '1 to 10 min'
                   WHEN j.service_ns < 3600e9 THEN '10 to 60 min' WHEN j.service_ns < 36000e9 THEN '1 to 10 h' ELSE 'from 10 h' END END AS name,
           CASE grouping.by WHEN 'gpus' THEN j.gpus_ppm WHEN 'size' THEN (j.service_ns >= 60e9) + (j.service_ns >= 600e9)
               + (j.service_ns >= 3600e9) + (j.service_ns >= 36000e9) ELSE 0 END AS place,
           (j.end_ns - j.submit_ns) / 1e9 AS jct_s, CASE WHEN j.end_ns IS NOT NULL THEN j.wait_ns / 1e9 END AS wait_s, j.service_ns / 1e9 AS service_s,
           j.gpus_ppm / 1e6 AS gpus
    FROM chosen JOIN job AS j USING (run_id) LEFT JOIN trace_job AS t ON t.trace_jobs = chosen.trace_jobs AND t.job = j.job, grouping
    WHERE grouping.by IS NOT NULL)
WHERE nth > warmup_jobs AND nth <= jobs - cooldown_jobs;
-- The groups with the most GPU time stand alone, the others together.
CREATE TEMP TABLE group_of AS
SELECT coalesce(name, '(none)') AS name, min(place) AS place, (SELECT by IN ('gpus', 'size') FROM grouping) AS is_ordered,
       row_number() OVER (ORDER BY sum(service_s * gpus) DESC, name) AS rank
FROM grouped GROUP BY coalesce(name, '(none)');
-- Results of groups that runs have as well are named and scaled as those are.
CREATE TEMP TABLE of_group AS
SELECT key, coalesce((SELECT name FROM measure_name AS m WHERE m.key = w.key),
           CASE key WHEN 'gpu_hours' THEN 'GPU hours' WHEN 'wait_p95_s' THEN 'wait p95 (s)' ELSE key END) AS name,
       coalesce((SELECT scale FROM measure AS m WHERE m.key = w.key), 1) AS scale
FROM wanted AS w WHERE position = 1;
INSERT INTO reading
SELECT run_id, CASE WHEN rank > 12 THEN 1e18 WHEN is_ordered THEN g.place ELSE rank END AS at,
       o.name || ', ' || CASE WHEN rank > 12 THEN 'others' ELSE g.name END,
       CASE o.key WHEN 'jct_mean_s' THEN avg(jct_s) WHEN 'jct_p50_s' THEN quantile_of(jct_s, 0.5)
           WHEN 'jct_p95_s' THEN quantile_of(jct_s, 0.95) WHEN 'jct_p99_s' THEN quantile_of(jct_s, 0.99)
           WHEN 'wait_mean_s' THEN avg(wait_s) WHEN 'wait_p95_s' THEN quantile_of(wait_s, 0.95)
           WHEN 'slowdown_mean' THEN avg(jct_s / nullif(service_s, 0))
           WHEN 'gpu_hours' THEN sum(service_s * gpus) / 3600 WHEN 'jobs' THEN count(*) END / o.scale
FROM grouped JOIN group_of AS g ON g.name = coalesce(grouped.name, '(none)'), of_group AS o
GROUP BY run_id, at, CASE WHEN rank > 12 THEN 'others' ELSE g.name END;

CREATE TEMP TABLE first_of AS SELECT row, min(run_id) AS first FROM row_of GROUP BY row;
CREATE TEMP TABLE placed AS
SELECT run_id, policy, unit, row, first, place, head, y, is_shaken, is_copy,
       is_shaken AND is_copy = max(is_copy) OVER (PARTITION BY place, head, row) AS is_in_range
FROM (SELECT *, run_id IN (SELECT run_id FROM setting WHERE key IN ('shake', 'resample')) AS is_shaken,
             run_id IN (SELECT run_id FROM changed) AS is_copy
      FROM reading JOIN chosen USING (run_id) JOIN unit_of USING (run_id) JOIN row_of USING (run_id) JOIN first_of USING (row)
      WHERE y IS NOT NULL);
CREATE INDEX temp.placed_by_unit ON placed (unit, place, head);
CREATE TEMP TABLE coupled AS
SELECT p.*, b.y AS b, CASE WHEN NOT p.is_copy THEN p.y END AS own, CASE WHEN NOT p.is_copy THEN b.y END AS own_b,
       CASE WHEN p.is_in_range THEN p.y END AS copy, CASE WHEN p.is_in_range THEN b.y END AS copy_b
FROM placed AS p JOIN against
LEFT JOIN placed AS b ON b.unit = p.unit AND b.place = p.place AND b.head = p.head
    AND b.policy = against.policy AND p.policy <> against.policy;

-- With --x all columns are of the first result; groups of --by have none of these.
CREATE TEMP TABLE most_at AS
SELECT DISTINCT place, most_of(key) AS most, key IN ('gpu_useful', 'gpu_work') AS is_work
FROM reading, asked, grouping JOIN wanted ON position = CASE WHEN asked.x IS NULL THEN place ELSE 1 END
WHERE grouping.by IS NULL;

-- Where jobs have whole GPUs these do no more than they are held, so that shares of work end at 1 as well.
-- Runs that are all equal, as those of several seeds of one trace under a policy without chance, are one run:
-- their spread of nothing is no interval, and no test.
CREATE TEMP TABLE repeated AS
SELECT place, head, row, is_one, is_one AND bases <= 1 AS is_one_pair, is_whole
FROM (SELECT place, head, row, count(DISTINCT b) AS bases, min(gives_whole_gpus(chosen.policy) AND gpu_work <= gpu_busy + 1e-9) AS is_whole,
             count(*) > 1 AND NOT max(is_shaken) AND max(count(DISTINCT jct_mean_s), count(DISTINCT makespan_s), count(DISTINCT y)) = 1 AS is_one
      FROM coupled JOIN chosen USING (run_id) GROUP BY place, head, row);

-- Means are of the trace as it is. Its shaken and resampled copies show how sensitive it is, as a range, and no
-- chance of being wrong; where the trace as it is was not chosen, the mean is theirs.
SELECT head, row, CASE WHEN max(is_shaken) THEN max(count(own), count(copy)) ELSE count(y) END AS n, avg(own) AS mean,
       CASE WHEN is_one THEN NULL WHEN NOT max(is_shaken) THEN low_end(y) WHEN count(copy) > 1 THEN min(copy) END AS low,
       CASE WHEN is_one THEN NULL WHEN NOT max(is_shaken) THEN min(high_end(y), coalesce((SELECT CASE WHEN is_work AND is_whole THEN 1 ELSE most END FROM most_at AS m WHERE m.place = coupled.place), 1e308))
           WHEN count(copy) > 1 THEN max(copy) END AS high,
       avg(CASE WHEN own_b IS NOT NULL THEN own END) / nullif(avg(own_b), 0) AS ratio,
       CASE WHEN is_one_pair THEN NULL WHEN NOT max(is_shaken) THEN ratio_low(y, b) WHEN count(copy_b) > 1 THEN min(copy / copy_b) END AS ratio_low,
       CASE WHEN is_one_pair THEN NULL WHEN NOT max(is_shaken) THEN ratio_high(y, b) WHEN count(copy_b) > 1 THEN max(copy / copy_b) END AS ratio_high,
       CASE WHEN NOT max(is_shaken) AND NOT is_one_pair THEN p_of(y, b) END AS p, max(is_shaken) AS is_shaken, max(is_copy) AS has_original,
       count(b) AS pairs, is_one
FROM coupled JOIN repeated USING (place, head, row)
GROUP BY place, head, row ORDER BY place, head, first;
