#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# SPDX line in every source, short functions and files, lines of at most 100 columns, comments in
# headers, and every policy and trace format listed.
set -u
# Files that git tracks or does not ignore: the rules hold for a new file before it is added.
sources_here() {
    git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.def' '*.sh' '*.py' '*.pyi' '*.in' Makefile .ci/run 2>/dev/null |
        while read -r f; do [ ! -e "$f" ] || echo "$f"; done
}
sources=$(sources_here)
[ -n "$sources" ] || sources=$(find sim policies traces models tests tools -name '*.[ch]' -o -name '*.def' -o -name '*.sh')
# Prints the files that have no such line among their first three.
without_licence() {
    awk 'FNR <= 3 && /SPDX-License-Identifier: GPL-3.0-or-later/ { has[FILENAME] = 1 }
        END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] }' "$@"
}
# shellcheck disable=SC2086
missing=$(without_licence $sources)
if [ -z "$missing" ]; then echo "ok SPDX lines"; else echo "not ok SPDX lines:" $missing; fi
# Prints "LINES FILE:LINE: NAME" of each function. A function starts at a line that ends with ") {",
# also where its parameters take several lines.
functions() {
    awk 'FNR == 1 { inside = 0 }
        !inside && /\{$/ { inside = 1; is_function = /\) \{$/; start = FNR; name = $0 }
        inside && /^\}/ {
            if (is_function) print FNR - start - 1, FILENAME ":" start ": " name
            inside = 0
        }' "$@"
}
long_functions() { # most lines, file...
    most=$1
    shift
    functions "$@" | awk -v most="$most" '$1 > most'
}
in_c=$(printf '%s\n' $sources | grep '\.[ch]$')
rooms=$(printf '%s\n' $in_c | grep -v -e '^tests/')
# shellcheck disable=SC2086
long=$(long_functions 70 $in_c; long_functions 51 $rooms)
if [ -z "$long" ]; then echo "ok functions of at most 51 lines, of tests 70"; else printf 'not ok functions of at most 51 lines, of tests 70\n%s\n' "$long"; fi
# shellcheck disable=SC2086
usual=$(functions $rooms | sort -n | awk '{ n[NR] = $1 } END { print n[int((NR + 1) / 2)], n[int(NR * 0.95)] }')
if [ "${usual% *}" -le 9 ] && [ "${usual#* }" -le 24 ]; then
    echo "ok half of the functions have at most 9 lines, 19 of 20 at most 24"
else
    echo "not ok half of the functions have at most 9 lines, 19 of 20 at most 24: $usual"
fi
wide_lines() { awk 'length > 100 { print FILENAME ":" FNR }' "$@"; }
# shellcheck disable=SC2086
wide=$(wide_lines $rooms)
if [ -z "$wide" ]; then echo "ok lines of at most 100 columns"; else printf 'not ok lines of at most 100 columns\n%s\n' "$wide"; fi
# Lines of headers that hold a comment alone, in thousandths of all lines; SPDX lines are none.
comment_permille() {
    awk 'FNR == 1 { inside = 0 }
        { lines++ }
        /SPDX/ { next }
        !inside && /^ *\/\*/ { inside = 1; comments++; if (/\*\//) inside = 0; next }
        inside { comments++; if (/\*\//) inside = 0 }
        END { printf "%d\n", 1000 * comments / lines }' "$@"
}
# shellcheck disable=SC2046
permille=$(comment_permille $(printf '%s\n' $rooms | grep '\.h$'))
if [ "$permille" -ge 150 ] && [ "$permille" -le 250 ]; then
    echo "ok comments are 15 to 25 % of the headers"
else
    echo "not ok comments are 15 to 25 % of the headers, in thousandths: $permille"
fi
# Prints "ROOM PERCENT" for each room with more than that part of the lines: a folder at the root, or one
# of sim.
large_rooms() { # most percent, file...
    most=$1
    shift
    wc -l "$@" | awk -v most="$most" '$2 != "total" {
            room = $2
            if (!sub(/\/[^\/]*\.[a-z]*$/, "", room)) next
            n = split(room, part, "/")
            lines[part[1] (part[1] == "sim" && n > 1 ? "/" part[2] : "")] += $1
            all += $1
        }
        END { for (room in lines) if (100 * lines[room] > most * all) print room, int(100 * lines[room] / all) }'
}
# shellcheck disable=SC2086
large=$(large_rooms 30 $rooms)
if [ -z "$large" ]; then echo "ok no room has more than 30 % of the code"; else printf 'not ok no room has more than 30 %% of the code\n%s\n' "$large"; fi
# Prints the names that two structs have. Each model of devices has a gsim_model of its own.
twice() { grep -hoE '^struct gsim_[a-z_0-9]+ \{' "$@" | sort | uniq -d | sed 's/ {//' | grep -v ' gsim_model$'; }
# shellcheck disable=SC2086
names=$(twice $rooms)
if [ -z "$names" ]; then echo "ok a name stands for one struct"; else printf 'not ok a name stands for one struct\n%s\n' "$names"; fi
# shellcheck disable=SC2086
big=$(wc -l $sources | awk '$2 != "total" && $1 > 800 { print $2 ": " $1 }')
if [ -z "$big" ]; then echo "ok files of bearable length"; else printf 'not ok files of bearable length\n%s\n' "$big"; fi
# Prints the length that 19 of 20 files keep to, and that of the longest.
lengths() { wc -l "$@" | awk '$2 != "total" { print $1 }' | sort -n | awk '{ n[NR] = $1 } END { print n[int(NR * 0.95 + 0.5)], n[NR] }'; }
# shellcheck disable=SC2046
files=$(lengths $(printf '%s\n' $rooms | grep -E '^(sim|models|traces|policies)/.*\.c$'))
if [ "${files% *}" -le 496 ] && [ "${files#* }" -le 728 ]; then
    echo "ok 19 of 20 files of the program have at most 496 lines, none above 728"
else
    echo "not ok 19 of 20 files of the program have at most 496 lines, none above 728: $files"
fi
unlisted() { # folder, kind, macro: prints the names that a file defines and list.def of the folder lacks
    find "$1" -maxdepth 2 -name '*.c' | xargs sed -n "s/^const struct gsim_$2 gsim_$2_\([a-z_0-9]*\) = .*/\1/p" | while read -r name; do
        [ "$name" = skeleton ] || grep -q "^$3($name)" "$1/list.def" || echo "$1: $name"
    done
}
missing=$(unlisted policies policy GSIM_POLICY && unlisted traces trace_format GSIM_TRACE_FORMAT)
if [ -z "$missing" ]; then
    echo "ok every policy and trace format is listed"
else
    printf 'not ok every policy and trace format is listed\n%s\n' "$missing"
fi
# the rules can fail
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
printf '1\n2\n3\nSPDX-License-Identifier: GPL-3.0-or-later\n' >"$tmp/late.sh"
: >"$tmp/none.sh"
if [ "$(without_licence "$tmp/late.sh" "$0" "$tmp/none.sh" | tr '\n' ' ')" = "$tmp/late.sh $tmp/none.sh " ]; then
    echo "ok the rule of SPDX lines finds files without one"
else
    echo "not ok the rule of SPDX lines finds files without one"
fi
{ printf 'static void f(int a,\n              int b) {\n'; seq 1 71; echo '}'; } >"$tmp/long.c"
{ echo 'void g(void) {'; seq 1 70; echo '}'; } >"$tmp/short.c"
case $(long_functions 70 "$tmp/long.c" "$tmp/short.c") in
*short.c*) echo "not ok the length rule lets 70 lines pass" ;;
*long.c:2:*) echo "ok the length rule finds breaches" ;;
*) echo "not ok the length rule finds breaches" ;;
esac
for n in 1 2 3; do seq 1 $n >"$tmp/$n.c"; done
if [ "$(lengths $(seq 18 | sed "s|.*|$tmp/1.c|") "$tmp/2.c" "$tmp/3.c")" = "2 3" ]; then
    echo "ok the rule of files' lengths can fail"
else
    echo "not ok the rule of files' lengths can fail"
fi
printf '%0101d\n' 0 >"$tmp/wide.txt"
printf '/* one\n * two */\nint a;\n\n' >"$tmp/half.h"
mkdir -p "$tmp/rooms/sim/a/b" "$tmp/rooms/sim/c"
seq 1 40 >"$tmp/rooms/sim/a/b/x.c"
seq 1 60 >"$tmp/rooms/sim/c/y.c"
if [ "$(cd "$tmp/rooms" && large_rooms 40 sim/a/b/x.c sim/c/y.c)" = "sim/c 60" ]; then
    echo "ok the rule of rooms finds a large one"
else
    echo "not ok the rule of rooms finds a large one"
fi
if [ "$(wide_lines "$tmp/wide.txt" "$tmp/short.c")" = "$tmp/wide.txt:1" ] && [ "$(comment_permille "$tmp/half.h")" = 500 ]; then
    echo "ok the rules of width and of comments can fail"
else
    echo "not ok the rules of width and of comments can fail"
fi
echo 'struct gsim_grid {' | tee "$tmp/one.h" >"$tmp/other.h"
if [ "$(twice "$tmp/one.h" "$tmp/other.h")" = "struct gsim_grid" ]; then
    echo "ok the rule of names can fail"
else
    echo "not ok the rule of names can fail"
fi
echo 'const struct gsim_policy gsim_policy_lost = {' >"$tmp/lost.c"
echo 'GSIM_POLICY(found)' >"$tmp/list.def"
if [ "$(unlisted "$tmp" policy GSIM_POLICY)" = "$tmp: lost" ]; then
    echo "ok the listing rule finds breaches"
else
    echo "not ok the listing rule finds breaches"
fi
if (cd "$tmp" && git init -q . && sources_here | grep -q '^lost.c$'); then
    echo "ok the rules see files that are not added yet"
else
    echo "not ok the rules see files that are not added yet"
fi
