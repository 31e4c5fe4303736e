#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# To follow a job onto a GPU, from `admit` of the model to the first kernel, a reader meets each file once
# or twice. The reader is simulated on the static calls of models/:
#   - a file that is opened is read for all functions that the walk has called in it by then, with
#     all that these use in that file; calls into other files are noted in order;
#   - the next file is the first one noted on the highest floor that has any (jobs, gpu, memory,
#     links, hardware), so a floor is left when nothing on it is noted any more;
#   - a function is read once, and a file is opened again only for functions that were not called
#     when it was read. That is a return.
# Functions in headers are accessors of the struct beside them: they open no file.
# A reader without patience follows each call at once, and comes back for the rest of the function: the
# walk is then depth first over single functions, each read once, and a file is met anew whenever the next
# function that is read is in another one. Both counts of returns are held where they stand. They rose, from 6
# and 155, with eighteen files more on the way (66 of 48): turns of a ring in a short loop, iterations that are
# passed many at once, rounds of vGPUs, the bandwidth's curve, how long loads wait, an iteration alone, what
# kernels begin with, copies beside turns, what SMs have room for, how they part their memory, how crowded they are and
# how fast kernels run there, a job that has its GPU and all its memory to itself, and kernels that begin in pieces;
# three of them are parts of files that had 800 lines.
# A third reader is the job: of the calls in a function, the walk follows those that hand the job on, in one
# of its forms (its slot, its rows in the tables, its process, member, context, memory or cargo).
# `sh tests/rules/walk.sh BUILD FILE FUNCTION [deep|job]` shows the walk from another function.
set -u
# Prints "OPENED FILES RETURNS MOST", then a line for each stay: file, number of functions, the first.
walk() { # root, file without .c, function, and "deep" to follow each call at once, "job" those that hand a job on
    (cd "$1" && find models -name '*.c' | LC_ALL=C sort | xargs awk -v first_file="$2" -v first_name="$3" -v how="${4:-}" '
        function floor(file) {
            if (file ~ /^models\/jobs\//) return 1
            if (file ~ /^models\/gpu\//) return 2
            if (file ~ /^models\/memory\//) return 3
            if (file ~ /^models\/links\//) return 4
            return 5
        }
        # The line without comments and strings; a comment may go on.
        function code(line,    out, end) {
            out = ""
            gsub(/"([^"\\]|\\.)*"/, "", line)
            while (line != "") {
                if (inside) {
                    end = index(line, "*/")
                    if (!end) return out
                    inside = 0
                    line = substr(line, end + 2)
                } else if (match(line, /\/\*|\/\//)) {
                    out = out substr(line, 1, RSTART - 1)
                    if (substr(line, RSTART, 2) == "//") return out
                    inside = 1
                    line = substr(line, RSTART + 2)
                } else
                    return out line
            }
            return out
        }
        # Whether a parameter is a form of the job.
        function has_form(head) {
            sub(/^[^(]*\(/, "(", head)
            gsub(/[^a-z_0-9]+/, " ", head)
            return (head " ") ~ forms
        }
        BEGIN {
            forms = " (gsim_(slot|job|machine_job|shared_job|process|member|member_spec|tenant|tenant_spec" \
                    "|context|left|parked|loading|cargo|transfer)|uint16_t (member|place)) "
        }
        FNR == 1 { file = FILENAME; sub(/\.c$/, "", file); inside = 0; head = ""; key = "" }
        {
            line = code($0)
            if (key == "") {
                if (line ~ /^[A-Za-z_]/ && line !~ /^[a-z_]+:$/) head = line
                else if (head != "") head = head " " line
                if (head ~ /;[ ]*$|^#/) head = ""
                if (head ~ /\) *\{$/ && match(head, /[a-z_0-9A-Z]+\(/)) {
                    name = substr(head, RSTART, RLENGTH - 1)
                    key = file ":" name
                    if (head !~ /^(GSIM_APART )?static/) global[name] = key
                    known[key] = 1
                    takes_job[key] = has_form(head)
                }
                if (line ~ /^\}/) head = ""
                next
            }
            if (line ~ /^\}/) { key = ""; head = ""; next }
            while (match(line, /[A-Za-z_][A-Za-z_0-9]* *\(/)) {
                name = substr(line, RSTART, RLENGTH - 1)
                sub(/ *$/, "", name)
                called[key, ++n_called[key]] = name
                line = substr(line, RSTART + RLENGTH)
            }
        }
        # Reads the function and all that it uses in its file.
        function read(key, file,    i, name, other) {
            if (key in seen) return
            seen[key] = 1
            n_read++
            if (text == "") { text = key; sub(/.*:/, "", text) }
            for (i = 1; i <= n_called[key]; i++) {
                name = called[key, i]
                other = (file ":" name) in known ? file ":" name : name in global ? global[name] : ""
                if (other == "" || other in seen) continue
                if (index(other, file ":") == 1) read(other, file)
                else noted_now[++n_now] = other
            }
        }
        # Reads the function and follows each call in it before the next one.
        function follow(key,    i, name, other, file) {
            file = key
            sub(/:.*/, "", file)
            seen[key] = 1
            if (file != here) {
                if (here != "") story = story here " " n_read " " text "\n"
                here = file
                n_read = 0
                text = key
                sub(/.*:/, "", text)
                stays++
                if (++met[file] == 1) files++
                if (met[file] > most) most = met[file]
            }
            n_read++
            for (i = 1; i <= n_called[key]; i++) {
                name = called[key, i]
                other = (file ":" name) in known ? file ":" name : name in global ? global[name] : ""
                if (other == "" || other in seen || (how == "job" && !takes_job[other])) continue
                follow(other)
            }
        }
        function deep() {
            follow(first_file ":" first_name)
            story = story here " " n_read " " text "\n"
            print stays + 0, files + 0, stays - files, most + 0
            printf "%s", story
        }
        END {
            if (how != "") {
                deep()
                exit
            }
            noted[n = 1] = first_file ":" first_name
            while (n > 0) {
                best = 0
                for (i = 1; i <= n; i++) {
                    where = noted[i]
                    sub(/:.*/, "", where)
                    if (!(noted[i] in seen) && (!best || floor(where) < best)) { best = floor(where); file = where }
                }
                if (!best) break
                n_now = n_read = rest = 0
                text = ""
                for (i = 1; i <= n; i++) {
                    if (index(noted[i], file ":") == 1) read(noted[i], file)
                    else later[++rest] = noted[i]
                }
                n = 0
                for (i = 1; i <= n_now; i++) if (!(noted_now[i] in seen)) noted[++n] = noted_now[i]
                for (i = 1; i <= rest; i++) noted[++n] = later[i]
                stays++
                if (++met[file] == 1) files++
                if (met[file] > most) most = met[file]
                story = story file " " n_read " " text "\n"
            }
            print stays + 0, files + 0, stays - files, most + 0
            printf "%s", story
        }')
}
if [ $# -ge 3 ]; then
    walk . "$2" "$3" "${4:-}"
    exit
fi
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
walk . models/jobs/model admit >"$tmp/walk"
read -r stays files returns most <"$tmp/walk"
if [ "$files" -ge 30 ] && [ "$most" -le 2 ] && [ "$returns" -le 11 ]; then
    echo "ok the walk of a job onto a GPU meets each file once or twice"
else
    echo "not ok the walk of a job onto a GPU meets each file once or twice"
    echo "# $stays stays in $files files, $returns returns; at most $most stays in one file:"
    sed 's/^/# /' "$tmp/walk"
fi
walk . models/jobs/model admit deep >"$tmp/walk"
read -r stays files returns most <"$tmp/walk"
if [ "$returns" -le 194 ]; then
    echo "ok and returns at most 194 times when each call is followed at once"
else
    echo "not ok and returns at most 194 times when each call is followed at once: $returns"
    sed 's/^/# /' "$tmp/walk"
fi
walk . models/jobs/model admit job >"$tmp/walk"
read -r stays files returns most <"$tmp/walk"
if [ "$files" -ge 15 ] && [ "$returns" -le 15 ] && [ "$most" -le 3 ]; then
    echo "ok and at most 15 times on the calls that hand the job on, to no file more than three times"
else
    echo "not ok and at most 15 times on the calls that hand the job on, to no file more than three times"
    echo "# $stays stays in $files files, $returns returns; at most $most stays in one file:"
    sed 's/^/# /' "$tmp/walk"
fi
# the rule can fail
mkdir -p "$tmp/tree/models/jobs" "$tmp/tree/models/gpu"
printf 'void admit(void) {\n    b();\n    c(); /* d(); */\n}\n' >"$tmp/tree/models/jobs/a.c"
printf 'static void h(void) {\n}\nvoid b(void) {\n    e();\n    h();\n}\nvoid d(void) {\n}\n' >"$tmp/tree/models/gpu/b.c"
printf 'void c(void) {\n    e();\n    d();\n}\n' >"$tmp/tree/models/gpu/c.c"
printf 'void e(void) {\n    f();\n}\nvoid f(int a,\n       int b) {\n}\n' >"$tmp/tree/models/gpu/e.c"
expected="5 4 1 2
models/jobs/a 1 admit
models/gpu/b 2 b
models/gpu/e 2 e
models/gpu/c 1 c
models/gpu/b 1 d"
if [ "$(walk "$tmp/tree" models/jobs/a admit)" = "$expected" ]; then
    echo "ok the rule of the walk counts returns"
else
    echo "not ok the rule of the walk counts returns"
    walk "$tmp/tree" models/jobs/a admit | sed 's/^/# /'
fi
deep="6 4 2 3
models/jobs/a 1 admit
models/gpu/b 1 b
models/gpu/e 2 e
models/gpu/b 1 h
models/gpu/c 1 c
models/gpu/b 1 d"
if [ "$(walk "$tmp/tree" models/jobs/a admit deep)" = "$deep" ]; then
    echo "ok and so it does call by call"
else
    echo "not ok and so it does call by call"
    walk "$tmp/tree" models/jobs/a admit deep | sed 's/^/# /'
fi
mkdir -p "$tmp/job/models/jobs"
printf 'void admit(gsim_slot slot) {\n    b();\n    c(&rows[slot]);\n}\n' >"$tmp/job/models/jobs/a.c"
printf 'void b(int gpu) {\n}\n' >"$tmp/job/models/jobs/b.c"
printf 'void c(const struct gsim_member *member) {\n}\n' >"$tmp/job/models/jobs/c.c"
if [ "$(walk "$tmp/job" models/jobs/a admit job | head -n 1)" = "2 2 0 1" ]; then
    echo "ok and by the calls that hand the job on"
else
    echo "not ok and by the calls that hand the job on"
    walk "$tmp/job" models/jobs/a admit job | sed 's/^/# /'
fi
