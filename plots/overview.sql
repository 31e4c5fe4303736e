-- mean JCT, P99 latency, throughput and useful GPU time of each policy: a row of panels a trace, a mark a value of --x (with --double)
-- needs: finished jobs, of three traces and with three values of --x at most
-- any
CREATE TEMP TABLE value_of AS
SELECT run_id, trace, policy, jct_mean_s, latency_p99_s, throughput_jobs_per_h, gpu_useful,
       (SELECT a.value FROM attribute AS a WHERE a.run_id = c.run_id AND a.key = axes.x) AS value
FROM chosen AS c, axes WHERE completed > 0;
CREATE TEMP TABLE facet AS
SELECT trace, row_number() OVER (ORDER BY min(run_id)) AS facet,
       replace(trace, rtrim(trace, replace(trace, '/', '')), '') AS name FROM chosen GROUP BY trace;
CREATE TEMP TABLE mark AS
SELECT value, row_number() OVER (ORDER BY min(run_id)) AS mark FROM value_of GROUP BY value;
CREATE TEMP TABLE of_policy AS
SELECT policy, row_number() OVER (ORDER BY min(run_id)) AS line FROM chosen GROUP BY policy;
DELETE FROM of_policy WHERE (SELECT count(*) FROM facet) > 3 OR (SELECT count(*) FROM mark) > 3;

-- The unit in which the shortest JCT is read best.
CREATE TEMP TABLE jct_unit AS
SELECT seconds, unit FROM unit WHERE above_s < (SELECT min(jct_mean_s) FROM value_of) ORDER BY above_s DESC LIMIT 1;

-- Panels 1 to 4; what runs of one policy, trace and value say of each.
CREATE TEMP TABLE overview AS
SELECT facet, panel, mark, line, avg(y) AS y, half_width(y) AS half
FROM (SELECT *, CASE column1 WHEN 1 THEN jct_mean_s / seconds WHEN 2 THEN 1000 * latency_p99_s WHEN 3 THEN throughput_jobs_per_h
                ELSE 100 * gpu_useful END AS y, column1 AS panel
      FROM value_of, jct_unit JOIN (VALUES (1), (2), (3), (4)))
JOIN facet USING (trace) JOIN mark USING (value) JOIN of_policy USING (policy)
GROUP BY facet, panel, mark, line;

SELECT 0.8 + (SELECT count(*) FROM facet) * (0.25 + 0.125 * (SELECT count(*) FROM of_policy)) AS var_height,
       (SELECT count(*) FROM facet) AS var_facets, (SELECT count(*) FROM mark) AS var_marks,
       (SELECT count(*) FROM of_policy) AS var_lines;
SELECT unit AS var_unit FROM jct_unit;
SELECT min(y) AS var_least1, max(y + coalesce(half, 0)) AS var_most1 FROM overview WHERE panel = 1;
SELECT coalesce(min(y), 0) AS var_least2, coalesce(max(y + coalesce(half, 0)), 1) AS var_most2 FROM overview WHERE panel = 2;
SELECT max(y + coalesce(half, 0)) AS var_most3 FROM overview WHERE panel = 3;
SELECT max(y + coalesce(half, 0)) AS var_most4 FROM overview WHERE panel = 4;
-- Intervals of logarithmic axes do not reach zero.
SELECT facet, panel, mark, line, y, max(y - half, CASE WHEN panel < 3 THEN y / 1000 ELSE 0 END) AS low, y + half AS high
FROM overview WHERE y IS NOT NULL ORDER BY facet, panel, mark, line;
SELECT line, policy FROM of_policy ORDER BY line;
SELECT facet, name FROM facet ORDER BY facet;
SELECT mark, replace(name, ' bytes', '') || ' ' || CASE WHEN x LIKE '%bytes' THEN printf('%.4g GiB', quantity(value) / 1073741824.0)
                                                        ELSE value END AS label
FROM (SELECT mark, mark.value, x, name FROM mark, axes JOIN measure_name ON key = x) ORDER BY mark;
-- Where a policy has no value for a trace: in the place of its mark, or of all marks.
CREATE TEMP TABLE missing AS
SELECT facet, panel, mark, line, max(CASE WHEN y IS NULL THEN 'no requests' END) AS text
FROM facet JOIN of_policy JOIN (SELECT DISTINCT panel FROM overview) JOIN mark
LEFT JOIN overview USING (facet, panel, mark, line)
WHERE y IS NULL GROUP BY facet, panel, mark, line;
UPDATE missing SET text = 'not run' WHERE NOT EXISTS (SELECT 1 FROM overview AS c WHERE c.facet = missing.facet
    AND c.line = missing.line AND c.mark = missing.mark);
SELECT facet, panel, avg(mark) AS mark, line, min(text) AS text FROM missing
GROUP BY facet, panel, line, CASE (SELECT count(*) FROM missing AS m WHERE m.facet = missing.facet AND m.panel = missing.panel
    AND m.line = missing.line) WHEN (SELECT count(*) FROM mark) THEN 0 ELSE mark END
ORDER BY facet, panel, line, mark;
