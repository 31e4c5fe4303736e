#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Comments, messages and pages name what they speak of: the words below stand in for a noun that only
# the author knows.
set -u
# Folders with sources; tests are read by their names.
rooms='examples include/gsim sim models traces policies python tools'
# check() prints FILE:LINE: WORD for a text with such a word, and forgets the text.
# shellcheck disable=SC2016
search='
    BEGIN {
        words = words "who|whoever|whom|somebody|nobody|anybody|everybody|someone|anyone|everyone"
        words = "(" words "|so many|so much|what is)"
        follows = "(as|at|but|by|for|if|in|is|are|of|on|ones?|or|and|to|when|where|with)"
        same = "the same( *[.,;:?)]| " follows "[^a-z]| *$)"
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
'
# The comments of C files.
stand_ins() {
    awk -v words='whose|' "$search"'
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
# The strings of C files, each part between quotes for itself. In them "whose" follows its noun.
string_stand_ins() {
    awk "$search"'
        /^ *(\/\*|\*|#|\/\/)/ { next }
        {
            start = FNR
            gsub(/\\./, "")
            parts = split($0, part, "\"")
            for (i = 2; i <= parts; i += 2) {
                text = part[i]
                check()
            }
        }' "$@"
}
# The sentences of pages, a paragraph, a row or an item at a time. What a page shows of a program,
# indented or in quotes, and the targets of links are none; "whose" follows its noun in them.
page_stand_ins() {
    for page; do
        awk "$search"'
            /^```/ { inside = !inside }
            inside || /^```/ { next }
            /^ *$|^    |^ *[-#|]|^ *[0-9]+\. / { check() }
            /^ *$|^    / { next }
            {
                if (text == "")
                    start = FNR
                gsub(/`[^`]*`|\]\([^() ]*\)/, "")
                text = text " " $0
            }
            END { check() }' "$page"
    done
}
# Says ok, or what was found.
verdict() { # name, found
    if [ -z "$2" ]; then
        echo "ok $1"
    else
        printf 'not ok %s\n%s\n' "$1" "$2"
    fi
}
pages="README.md CONTRIBUTING.md $(find docs experiments -name '*.md' | sort)"
files=$(git ls-files --cached --others --exclude-standard -- $rooms 2>/dev/null | grep '\.\([ch]\|def\)$')
[ -n "$files" ] || files=$(find $rooms -name '*.[ch]' -o -name '*.def')
# shellcheck disable=SC2086
verdict 'comments name what they speak of' "$(stand_ins $files)"
# shellcheck disable=SC2086
verdict 'messages name what they speak of' "$(string_stand_ins $files)"
# shellcheck disable=SC2086
verdict 'pages name what they speak of' "$(page_stand_ins $pages)"
# the rules can fail
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
strings="$tmp/bad.c:7: what is"
cat >>"$tmp/bad.c" <<'EOF'

const char *t = "job %s: what is accepted";
const char *u = "the file whose job is gone";
EOF
cat >"$tmp/bad.md" <<'EOF'
# Who waits

A job whose GPU is busy waits, on the same
GPU, and a gang does the same.

    $ gsim            # what is shown of a program is no sentence
- the `what is` of a [name](who.md)
| job | a job gets what
is left |
EOF
pages="$tmp/bad.md:1: who
$tmp/bad.md:3: the same
$tmp/bad.md:8: what is"
found=$(stand_ins "$tmp/bad.c" "$tmp/good.c")
if [ "$found" = "$expected" ] && [ "$(string_stand_ins "$tmp/bad.c")" = "$strings" ] &&
    [ "$(page_stand_ins "$tmp/bad.md")" = "$pages" ]; then
    echo "ok the rule of words finds breaches, and no more"
else
    echo "not ok the rule of words finds breaches, and no more"
fi
