-- What every figure starts from. The program has made, of the runs that --where picks:
--   chosen      rows of `run`
--   attribute   (run_id, key, value): its columns and settings, by name
--   asked       one row: the keys that --x, --y and --value name, or NULL
-- and the functions quantity(text), a number with or without a unit, and half_width(x), over rows, of
-- the 95 % interval of their mean by Student's t.

-- Settings that tell the runs of one policy apart; seeds and replications are pooled.
CREATE TEMP TABLE distinguishing AS
SELECT policy, key
FROM chosen JOIN setting USING (run_id)
WHERE key NOT IN ('policy', 'seed', 'replication')
GROUP BY policy, key
HAVING count(DISTINCT value) > 1
    OR count(*) < (SELECT count(*) FROM chosen AS c WHERE c.policy = chosen.policy);

-- A trace goes by its file name, and keys of --set without "set." and the policy's name.
CREATE TEMP TABLE labelled AS
SELECT run_id, policy || coalesce((
    SELECT group_concat(part, '') FROM (
        SELECT ' ' || CASE WHEN key LIKE 'set.' || d.policy || '.%' THEN substr(key, 6 + length(d.policy))
                          WHEN key LIKE 'set.%' THEN substr(key, 5) ELSE key END || '=' ||
            CASE key WHEN 'trace' THEN replace(value, rtrim(value, replace(value, '/', '')), '')
            ELSE value END AS part
        FROM setting AS s JOIN distinguishing AS d USING (key)
        WHERE s.run_id = chosen.run_id AND d.policy = chosen.policy
        ORDER BY key)), '') AS label
FROM chosen;

-- Runs with one label are one series, in the order of their first run.
CREATE TEMP TABLE series AS
SELECT row_number() OVER (ORDER BY min(run_id)) AS series, label, count(*) AS runs
FROM labelled GROUP BY label;

CREATE TEMP TABLE member AS
SELECT run_id, series, label FROM labelled JOIN series USING (label);
CREATE INDEX temp.member_of_run ON member (run_id);

-- The unit in which times of these runs are read best.
CREATE TEMP TABLE time_unit AS
SELECT CASE WHEN longest > 3 * 86400 THEN 86400.0 WHEN longest > 3 * 3600 THEN 3600.0
            WHEN longest > 180 THEN 60.0 WHEN longest > 1 THEN 1.0 ELSE 0.001 END AS seconds,
       CASE WHEN longest > 3 * 86400 THEN 'd' WHEN longest > 3 * 3600 THEN 'h'
            WHEN longest > 180 THEN 'min' WHEN longest > 1 THEN 's' ELSE 'ms' END AS unit
FROM (SELECT max(jct_p95_s) AS longest FROM chosen);

-- Keys of the axes: what is asked for, or settings that differ between runs, numbers first.
CREATE TEMP TABLE varying AS
SELECT key, row_number() OVER (ORDER BY min(quantity(value) IS NOT NULL) DESC, key) AS rank
FROM chosen JOIN setting USING (run_id)
WHERE key NOT IN ('policy', 'seed', 'replication', 'trace')
GROUP BY key
HAVING count(DISTINCT value) > 1 OR count(*) < (SELECT count(*) FROM chosen);

CREATE TEMP TABLE axes AS
SELECT coalesce(x, (SELECT key FROM varying WHERE rank = 1), 'gpus') AS x,
       coalesce(y, 'policy') AS y, value
FROM asked;
