-- GPUs in use and jobs waiting over time, of the first run of each series
-- needs: samples over time (runs with --db take them, a sweep with --samples N)
-- lines
CREATE TEMP TABLE first_run AS SELECT min(run_id) AS run_id, series, label FROM member GROUP BY series;
CREATE TEMP TABLE shown_time AS
SELECT * FROM unit WHERE above_s < (SELECT max(time_ns) / 1e9 FROM sample JOIN first_run USING (run_id))
ORDER BY above_s DESC LIMIT 1;
SELECT unit AS var_unit, 2.75 + 0.15 * (SELECT n FROM on_sheet) AS var_height, (SELECT max(gpus) FROM chosen) AS var_gpus,
       min(time_ns) / 1e9 / seconds AS var_first, max(time_ns) / 1e9 / seconds AS var_last
FROM sample JOIN first_run USING (run_id), shown_time;
SELECT series, label, time_ns / 1e9 / seconds AS time, value
FROM sample JOIN first_run USING (run_id), shown_time
WHERE name = 'busy_gpus' ORDER BY series, time_ns;
SELECT series, label, time_ns / 1e9 / seconds AS time, value
FROM sample JOIN first_run USING (run_id), shown_time
WHERE name = 'queue' ORDER BY series, time_ns;
