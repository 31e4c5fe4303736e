#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Comments name what they speak of: the words below stand in for a noun that only the author knows.
set -u
# Folders with sources; tests are read by their names.
rooms='examples include/gsim sim models traces policies python tools'
# Prints FILE:LINE: WORD for every comment of a C file with such a word. Strings are no comments.
stand_ins() {
    awk '
        BEGIN {
            words = "who|whoever|whom|whose|somebody|nobody|anybody|everybody|someone|anyone|everyone"
            words = "(" words "|so many|so much|what is)"
            follows = "(as|at|but|by|for|if|in|is|are|of|on|or|and|to|when|where|with)"
            same = "the same( *[.,;:)]| " follows "[^a-z]| *$)"
        }
        function check(    found) {
            text = tolower(text)
            gsub(/[ \t]+/, " ", text)
            if (match(text, "(^|[^a-z])" words "([^a-z]|$)") || match(text, same)) {
                found = substr(text, RSTART, RLENGTH)
                gsub(/^[^a-z]+|[^a-z]+$/, "", found)
                print FILENAME ":" start ": " found
            }
            text = ""
        }
        FNR == 1 { inside = 0; text = "" }
        {
            line = $0
            if (inside)
                sub(/^ *\*( |$)/, "", line)
            while (line != "") {
                if (inside) {
                    end = index(line, "*/")
                    text = text " " (end ? substr(line, 1, end - 1) : line)
                    line = end ? substr(line, end + 2) : ""
                    if (end) {
                        inside = 0
                        check()
                    }
                } else if (!match(line, /["\047]|\/\*|\/\//)) {
                    line = ""
                } else if (substr(line, RSTART, 2) == "/*") {
                    inside = 1
                    start = FNR
                    line = substr(line, RSTART + 2)
                } else if (substr(line, RSTART, 2) == "//") {
                    start = FNR
                    text = substr(line, RSTART + 2)
                    line = ""
                    check()
                } else {
                    quote = substr(line, RSTART, 1)
                    line = substr(line, RSTART + 1)
                    while (line != "" && substr(line, 1, 1) != quote)
                        line = substr(line, substr(line, 1, 1) == "\\" ? 3 : 2)
                    line = substr(line, 2)
                }
            }
        }' "$@"
}
files=$(git ls-files --cached --others --exclude-standard -- $rooms 2>/dev/null | grep '\.\([ch]\|def\)$')
[ -n "$files" ] || files=$(find $rooms -name '*.[ch]' -o -name '*.def')
# shellcheck disable=SC2086
found=$(stand_ins $files)
if [ -z "$found" ]; then
    echo "ok comments name what they speak of"
else
    printf 'not ok comments name what they speak of\n%s\n' "$found"
fi
# the rule can fail
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/bad.c" <<'EOF'
int a; /* who waits */
/* The link carries so
 * much at a time. */
int b; // the same, later
/* The same for gangs. */
EOF
cat >"$tmp/good.c" <<'EOF'
static const char text[] = "who /* somebody \" nobody"; /* a job of the same node; wholly free */
/* The jobs of the same
 * user run at the same time. */
EOF
expected="$tmp/bad.c:1: who
$tmp/bad.c:2: so much
$tmp/bad.c:4: the same
$tmp/bad.c:5: the same for"
if [ "$(stand_ins "$tmp/bad.c" "$tmp/good.c")" = "$expected" ]; then
    echo "ok the rule of words finds breaches, and no more"
else
    echo "not ok the rule of words finds breaches, and no more"
fi
