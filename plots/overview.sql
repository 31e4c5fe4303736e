-- mean JCT, P99 latency, throughput and useful GPU time of each policy: panels for each trace, a mark a value of --x
-- needs: finished jobs
-- any
CREATE TEMP TABLE value_of AS
SELECT run_id, trace, policy, jct_mean_s, latency_p99_s, throughput_jobs_per_h, gpu_useful,
       coalesce((SELECT a.value FROM attribute AS a WHERE a.run_id = c.run_id AND a.key = axes.x), '-') AS value
FROM chosen AS c, axes WHERE completed > 0;
CREATE TEMP TABLE facet AS
SELECT trace, row_number() OVER (ORDER BY min(run_id)) AS facet,
       replace(trace, rtrim(trace, replace(trace, '/', '')), '') AS name FROM chosen GROUP BY trace;
CREATE TEMP TABLE mark AS
SELECT value, row_number() OVER (ORDER BY min(run_id)) AS mark FROM value_of GROUP BY value;
CREATE TEMP TABLE of_policy AS
SELECT policy, row_number() OVER (ORDER BY min(run_id)) AS line FROM chosen GROUP BY policy;

-- A page has three traces and three values at most; they are spread evenly over the pages.
CREATE TEMP TABLE cut AS
SELECT facet_pages, mark_pages, (facets - 1) / facet_pages + 1 AS facets, (marks - 1) / mark_pages + 1 AS marks
FROM (SELECT facets, marks, (facets - 1) / 3 + 1 AS facet_pages, (marks - 1) / 3 + 1 AS mark_pages
      FROM (SELECT (SELECT count(*) FROM facet) AS facets, (SELECT count(*) FROM mark) AS marks))
WHERE marks > 0;
CREATE TEMP TABLE facet_here AS
SELECT facet, row_number() OVER (ORDER BY facet) AS place, trace, name
FROM facet, cut, sheet WHERE (facet - 1) / cut.facets = (page - 1) / mark_pages;
CREATE TEMP TABLE mark_here AS
SELECT mark, row_number() OVER (ORDER BY mark) AS place, value
FROM mark, cut, sheet WHERE (mark - 1) / cut.marks = (page - 1) % mark_pages;

-- The unit of JCTs is that of the shortest one.
CREATE TEMP TABLE jct_unit AS
SELECT seconds, unit FROM unit WHERE above_s < (SELECT min(jct_mean_s) FROM value_of) ORDER BY above_s DESC LIMIT 1;

-- The mean of each measure over the runs of one policy, trace and value. A measure that no run has,
-- such as the latency without requests, has no panel.
CREATE TEMP TABLE measured AS
SELECT facet, column1 AS measure, mark, line, avg(y) AS y, low_bar(y, run_id IN copies) AS low, high_bar(y, run_id IN copies) AS high
FROM (SELECT *, CASE column1 WHEN 1 THEN jct_mean_s / seconds WHEN 2 THEN 1000 * latency_p99_s WHEN 3 THEN throughput_jobs_per_h
                ELSE 100 * gpu_useful END AS y
      FROM value_of, jct_unit JOIN (VALUES (1), (2), (3), (4)))
JOIN facet USING (trace) JOIN mark USING (value) JOIN of_policy USING (policy)
GROUP BY facet, measure, mark, line;
-- GPUs that jobs share may be useful for more than all of the time: an interval that goes on beyond it ends at the edge.
CREATE TEMP TABLE panel AS
SELECT measure, row_number() OVER (ORDER BY measure) AS panel,
       coalesce(min(CASE WHEN measure < 3 THEN y END), 0) AS least,
       CASE measure WHEN 4 THEN max(max(y), min(coalesce(max(high), 0), 100)) ELSE max(coalesce(high, y)) END AS most
FROM measured WHERE y IS NOT NULL GROUP BY measure;
-- A figure one column wide has two panels side by side, a figure two columns wide has all of them.
CREATE TEMP TABLE form AS
SELECT count(*) AS panels, is_double, CASE WHEN is_double THEN count(*) ELSE min(2, count(*)) END AS across FROM panel, sheet;

SELECT panels AS var_panels, across AS var_across, (panels - 1) / across + 1 AS var_rows, is_double AS var_is_double,
       (SELECT count(*) FROM facet_here) AS var_facets, (SELECT count(*) FROM mark_here) AS var_marks,
       (SELECT count(*) FROM of_policy) AS var_lines, (SELECT min(30, max(length(policy))) FROM of_policy) AS var_longest,
       facet_pages * mark_pages AS var_pages
FROM form, cut;
-- Heights in inches: the key; a trace's name; a row's panels; the axis below them.
SELECT CASE WHEN is_double THEN 0.2 ELSE 0.05 + 0.14 * (SELECT count(*) FROM mark_here) END AS var_key_in, 0.2 AS var_name_in, 0.5 AS var_foot_in, CASE WHEN is_double THEN 0.05 ELSE 0.5 END AS var_between_in FROM form;
SELECT CASE WHEN is_double THEN 0.2 ELSE 0.05 + 0.14 * (SELECT count(*) FROM mark_here) END + facets * 0.2 + rows * (0.1 + 0.125 * lines) + 0.5 + (rows - 1) * CASE WHEN is_double THEN 0.05 ELSE 0.5 END AS var_height
FROM (SELECT is_double, (SELECT count(*) FROM facet_here) AS facets, (SELECT count(*) FROM of_policy) AS lines,
             (SELECT count(*) FROM facet_here) * ((panels - 1) / across + 1) AS rows FROM form);
SELECT f.place AS facet, panel, m.place AS mark, line, y, low, high
FROM measured JOIN panel USING (measure) JOIN facet_here AS f USING (facet) JOIN mark_here AS m USING (mark)
WHERE y IS NOT NULL ORDER BY f.place, panel, m.place, line;
SELECT line, policy FROM of_policy ORDER BY line;
SELECT place, name FROM facet_here ORDER BY place;
SELECT mark, replace(name, ' bytes', '') || ' ' || CASE WHEN x LIKE '%bytes' THEN printf('%.4g GiB', quantity(value) / 1073741824.0)
                                                        ELSE value END AS label
FROM (SELECT m.place AS mark, m.value, x, name FROM mark_here AS m, axes JOIN measure_name ON key = x) ORDER BY mark;
SELECT panel, CASE measure WHEN 1 THEN 'mean JCT (' || unit || ')' WHEN 2 THEN 'P99 latency (ms)' WHEN 3 THEN 'jobs/h'
              ELSE 'GPUs useful (%)' END AS title
FROM panel, jct_unit ORDER BY panel;
SELECT panel, least, most FROM panel ORDER BY panel;
-- Texts for policies without a value for a trace, in place of one mark or of all marks.
CREATE TEMP TABLE missing AS
SELECT f.facet, f.place, panel, panel.measure, m.place AS mark, of_policy.line, max(CASE WHEN y IS NULL THEN 'no requests' END) AS text
FROM facet_here AS f JOIN of_policy JOIN panel JOIN mark_here AS m
LEFT JOIN measured ON measured.facet = f.facet AND measured.mark = m.mark AND measured.line = of_policy.line
    AND measured.measure = panel.measure
WHERE y IS NULL GROUP BY f.facet, panel, m.place, of_policy.line;
UPDATE missing SET text = 'not run' WHERE NOT EXISTS (SELECT 1 FROM measured AS c JOIN mark_here AS m USING (mark)
    WHERE c.facet = missing.facet AND c.line = missing.line AND m.place = missing.mark);
-- A policy without the setting was run, and has the mark '-'; one with it has none to miss there.
DELETE FROM missing WHERE text = 'not run' AND (mark IN (SELECT place FROM mark_here WHERE value = '-')
    OR line IN (SELECT line FROM of_policy JOIN value_of USING (policy) WHERE value = '-'));
SELECT place AS facet, panel, avg(mark) AS mark, line, min(text) AS text FROM missing
GROUP BY place, panel, line, CASE (SELECT count(*) FROM missing AS m WHERE m.place = missing.place AND m.panel = missing.panel
    AND m.line = missing.line) WHEN (SELECT count(*) FROM mark_here) THEN 0 ELSE mark END
ORDER BY place, panel, line, mark;
