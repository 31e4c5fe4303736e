-- a result against the GPUs of the cluster (--target, --value), a line for each policy and factor of arrivals
-- needs: runs on several numbers of GPUs (gsim plan -o, gsim sweep)
-- lines
CREATE TEMP TABLE capacity_point AS
SELECT policy || CASE WHEN (SELECT count(DISTINCT value) > 1 FROM setting JOIN chosen USING (run_id) WHERE key = 'time-scale')
           THEN coalesce((SELECT printf(' x%.4g', 1 / quantity(value)) FROM setting AS s
                          WHERE s.run_id = c.run_id AND key = 'time-scale'), '') ELSE '' END AS label,
       run_id, gpus AS x,
       (SELECT quantity(a.value) / scale FROM attribute AS a JOIN measure USING (key), axes
        WHERE a.run_id = c.run_id AND a.key = coalesce(axes.value, 'wait_p95_s')) AS y
FROM chosen AS c;
CREATE TEMP TABLE capacity_line AS
SELECT label, row_number() OVER (ORDER BY min(run_id)) AS series FROM capacity_point GROUP BY label;
-- With a target the plot shows its surroundings: what few GPUs do to a queue is off its scale.
CREATE TEMP TABLE capacity_target AS
SELECT target / (SELECT scale FROM measure WHERE key = asked.value) AS y FROM asked;
SELECT (SELECT name FROM measure_name WHERE key = coalesce(axes.value, 'wait_p95_s')) AS var_value,
       (SELECT max(x) FROM capacity_point) AS var_last,
       coalesce((SELECT 1.4 * max(x) FROM capacity_point AS p WHERE p.y > t.y), 1e18) AS var_near,
       (SELECT max(y) FROM capacity_point) AS var_most, t.y IS NOT NULL AS var_has_target, coalesce(t.y, 0) AS var_target,
       1.6 + 0.12 * (SELECT count(*) FROM capacity_line) AS var_height
FROM axes, capacity_target AS t;
SELECT series, label, x, y, low, min(most_of((SELECT value FROM axes)), high) AS high
FROM (SELECT series, label, x, avg(y) AS y, low_bar(y, run_id IN copies) AS low, high_bar(y, run_id IN copies) AS high
      FROM capacity_point JOIN capacity_line USING (label)
      WHERE y IS NOT NULL AND (SELECT count(DISTINCT x) FROM capacity_point) > 1 GROUP BY series, x)
ORDER BY series, x;
