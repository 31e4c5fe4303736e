#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A knob of an arrangement (include/gsim/arrangement.h: of a lane, of a job's entry in it, of how memory is
# moved) is used in at most three files of models/, so that a new one is little work. Lanes and entries are
# kept as the policy gave them, so no file hands a knob on.
set -u
# What a lane is and where, which job an entry is of: not knobs, but used all over. Priorities stand in
# the comparison of states besides. The others have names that other structs have as well.
known='discipline|first_sm|n_sms|cap_ppm|lane|lanes|n_lanes|job|entries|n_entries|memory|migration|priority|stop|quantum_ns|slices|urgent|whole'
# Prints the fields of these structs of a header.
fields() {
    sed 's|/\*.*\*/||' "$1" | awk '
        /^struct gsim_(lane[a-z_]*|entry|migration_rule|arrangement) \{/ { inside = 1; next }
        /^\}/ { inside = 0 }
        inside && /;/ && !/^ *(\/\*|\*)/ {
            sub(/;.*/, "")
            n = split($0, part, ",")
            for (i = 1; i <= n; i++) {
                sub(/.*[ *]/, "", part[i])
                print part[i]
            }
        }' | grep '^[a-z][a-z0-9_]*$' | sort -u
}
# Prints "FIELD FILE ..." for each field that more than three files use.
scattered() { # header, folder
    for field in $(fields "$1" | grep -vxE "$known"); do
        files=$(find "$2" -name '*.[ch]' | LC_ALL=C sort | xargs grep -lE "(\.|->)$field([^a-z_0-9]|\$)" /dev/null)
        [ "$(echo "$files" | grep -c .)" -le 3 ] || echo "$field" $files
    done
}
found=$(scattered include/gsim/arrangement.h models)
n=$(fields include/gsim/arrangement.h | grep -cvxE "$known")
if [ -z "$found" ] && [ "$n" -ge 20 ]; then
    echo "ok a knob of an arrangement is used in at most three files of models/"
else
    printf 'not ok a knob of an arrangement is used in at most three files of models/ (%s knobs)\n%s\n' "$n" "$found"
fi
# the rule can fail
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
printf 'struct gsim_lane {\n    int64_t a_ns, b_ns; /* two */\n    bool is_c;\n};\n' >"$tmp/lane.h"
mkdir "$tmp/models"
for file in 1 2 3 4; do echo "int f(void) { return lane->b_ns + lane->b_nsx; }" >"$tmp/models/$file.c"; done
echo "int g(void) { return lane->is_c + how.a_ns; }" >"$tmp/models/5.c"
case $(scattered "$tmp/lane.h" "$tmp/models") in
"b_ns "*4.c) echo "ok the rule of knobs finds a scattered one" ;;
*) echo "not ok the rule of knobs finds a scattered one" ;;
esac
