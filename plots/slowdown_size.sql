-- slowdown of small and large jobs: median and quartiles by GPU time
-- needs: finished jobs
-- lines
CREATE TEMP TABLE sized AS
SELECT series, label, size, slowdown,
       row_number() OVER (PARTITION BY series, size ORDER BY slowdown) AS rank,
       count(*) OVER (PARTITION BY series, size) AS n
FROM (
    SELECT series, label, (end_ns - submit_ns) * 1.0 / service_ns AS slowdown,
           CASE WHEN gpu_s < 60 THEN 1 WHEN gpu_s < 600 THEN 2 WHEN gpu_s < 3600 THEN 3
                WHEN gpu_s < 36000 THEN 4 WHEN gpu_s < 360000 THEN 5 ELSE 6 END AS size
    FROM (SELECT *, service_ns / 1e9 * gpus_ppm / 1e6 AS gpu_s FROM job) JOIN member USING (run_id)
    WHERE end_ns IS NOT NULL AND service_ns > 0);
SELECT series, label, size, min(CASE WHEN rank * 2 >= n THEN slowdown END) AS median,
       min(CASE WHEN rank * 4 >= n THEN slowdown END) AS low,
       min(CASE WHEN rank * 4 >= 3 * n THEN slowdown END) AS high
FROM sized GROUP BY series, size ORDER BY series, size;
