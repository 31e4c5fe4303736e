-- What a trace says of its jobs, by one number, place_of of a run and the job's place in the trace: a look-up in trace_job
-- compares the name of the trace, of 64 letters, at each step. Users have numbers, in the order of their names.
CREATE TEMP TABLE IF NOT EXISTS person AS
SELECT row_number() OVER (ORDER BY user) - 1 AS person, user
FROM (SELECT DISTINCT user FROM trace_job WHERE trace_jobs IN (SELECT trace_jobs FROM chosen) AND user IS NOT NULL);
CREATE INDEX IF NOT EXISTS temp.person_of ON person (user, person);
CREATE TEMP TABLE IF NOT EXISTS placed AS
SELECT place_of + job AS place, (SELECT person FROM person AS p WHERE p.user = t.user) AS person, logged_start_ns,
       logged_start_ns - logged_submit_ns AS logged_wait_ns
FROM (SELECT DISTINCT trace_jobs, place_of FROM chosen JOIN member USING (run_id)) JOIN trace_job AS t USING (trace_jobs);
CREATE INDEX IF NOT EXISTS temp.placed_by ON placed (place, person, logged_start_ns, logged_wait_ns);
