#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# times.sh: what `make check TIMES=1` has compiled and linked, by build and room, in seconds of processor
# time, which hardly depend on what else is running; then what took longest. The suites follow from
# tests/run.sh.
set -u
[ -s build/times ] || {
    echo "times: nothing was compiled or linked"
    exit 0
}
awk '
    function seconds(text,    part) { split(text, part, "[ms]"); return 60 * part[1] + part[2] }
    {
        s = seconds($2) + seconds($3)
        build = "beside builds"
        room = "other"
        if (match($4, /^build\/[^\/]*\//)) {
            build = substr($4, 7, RLENGTH - 7)
            n = split(substr($4, RLENGTH + 1), part, "/")
            room = n > 1 ? part[1] : "built-in files and archives"
            if (room == "sim" && n > 2) room = part[1] "/" part[2]
        }
        if ($1 == "link") room = ""
        sum[build " " $1 " " room] += s
        files[build " " $1 " " room]++
        of_build[build] += s
        all += s
    }
    END {
        for (key in sum) { split(key, part, " "); printf "%s\t1%08.1f\t%8.1f s  %4d  %s\n", key, sum[key], sum[key], files[key], key }
        for (build in of_build) printf "%s\t2\t%8.1f s        %s, all\n", build, of_build[build], build
        printf "~\t3\t%8.1f s        compiled and linked, all\n", all
    }' build/times | LC_ALL=C sort -t "$(printf '\t')" -k1,1 | cut -f3-
echo "what took longest:"
awk '
    function seconds(text,    part) { split(text, part, "[ms]"); return 60 * part[1] + part[2] }
    { s = seconds($2) + seconds($3); printf "%8.1f s  %s %s\n", s, $1, $4 }' build/times | sort -rn | head -n 20
