-- a result over two parameters of a sweep (--x, --y, --value; mean over seeds)
-- needs: runs that differ in the keys of --x and --y
-- any
CREATE TEMP TABLE cell AS
SELECT (SELECT a.value FROM attribute AS a, axes WHERE a.run_id = c.run_id AND a.key = axes.x) AS x,
       (SELECT a.value FROM attribute AS a, axes WHERE a.run_id = c.run_id AND a.key = axes.y) AS y,
       (SELECT quantity(a.value) / scale FROM attribute AS a JOIN measure USING (key), axes WHERE a.run_id = c.run_id
        AND a.key = coalesce(axes.value, 'slowdown_mean')) AS value
FROM chosen AS c;
CREATE TEMP TABLE columns AS SELECT x, row_number() OVER (ORDER BY quantity(x), x) AS at
FROM (SELECT DISTINCT x FROM cell WHERE x IS NOT NULL);
CREATE TEMP TABLE rows AS SELECT y, row_number() OVER (ORDER BY quantity(y), y DESC) AS at
FROM (SELECT DISTINCT y FROM cell WHERE y IS NOT NULL);
CREATE TEMP TABLE tile AS
SELECT columns.at AS column, rows.at AS row, avg(cell.value) AS value
FROM cell JOIN columns USING (x) JOIN rows USING (y)
WHERE cell.value IS NOT NULL AND (SELECT count(*) FROM columns) > 1 GROUP BY columns.at, rows.at;
SELECT (SELECT name FROM measure_name WHERE key = x) AS var_x, (SELECT name FROM measure_name WHERE key = y) AS var_y,
       (SELECT name FROM measure_name WHERE key = coalesce(axes.value, 'slowdown_mean')) AS var_value,
       (SELECT count(*) FROM columns) AS var_columns, (SELECT count(*) FROM rows) AS var_rows,
       (SELECT sum(max(4, length(x))) > 40 FROM columns) AS var_is_crowded,
       (SELECT min(tile.value) FROM tile) AS var_least, (SELECT max(tile.value) FROM tile) AS var_most FROM axes;
SELECT column, row, value FROM tile ORDER BY row, column;
SELECT at, x FROM columns WHERE (SELECT count(*) FROM columns) > 1 ORDER BY at;
SELECT at, y FROM rows WHERE (SELECT count(*) FROM columns) > 1 ORDER BY at;
