-- share of requests served within a latency, in exact steps
-- needs: open-loop jobs (column 'requests' of the trace)
-- lines
-- As in jct_cdf: of many requests, every so many.
SELECT series, label, latency_ns / 1e6 AS x, rank * 1.0 / n AS y
FROM (
    SELECT series, label, latency_ns,
           row_number() OVER (PARTITION BY series ORDER BY latency_ns) AS rank,
           count(*) OVER (PARTITION BY series) AS n
    FROM request JOIN member USING (run_id))
WHERE latency_ns > 0 AND (rank = 1 OR rank > n - 50 OR rank * 2000 / n > (rank - 1) * 2000 / n)
ORDER BY series, rank;
