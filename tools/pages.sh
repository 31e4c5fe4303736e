#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# pages.sh GSIM FOLDER PAGE...: writes each page to FOLDER with the output of this build:
# - in a block of code, a line "$ COMMAND" (lines "> ..." go on with it) is run, in one empty folder per
#   page that has the tree's traces and experiments; what it prints stands below it;
# - between "<!-- validate: SUITE/TABLE ... -->" and "<!-- end -->" stands a row for each table of
#   gsim validate;
# - between "<!-- rows: SUITE/TABLE ... -->" and "<!-- end -->" stands each of their rows;
# - between "<!-- file: FILE -->" and "<!-- end -->" stands that file of C or Python.
# Variable: ROWS, a file of --rows-csv with the tables of this build, when they have been computed. Of a
# table that it has not, the page keeps its row.
set -eu
gsim=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
out=$2
shift 2
root=$(pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin"
ln -s "$gsim" "$tmp/bin/gsim"
PATH=$tmp/bin:$PATH
LC_ALL=C
export PATH LC_ALL

# --- gsim validate -------------------------------------------------------------------------------
# Sets the fields of a line of CSV as suite, table, ... by their order; texts may stand in quotes.
cells='
    function split_csv(line, cell,    n, text) {
        n = 0
        while (line != "" || n == 0) {
            if (line ~ /^"/) {
                match(line, /^"([^"]|"")*"/)
                text = substr(line, 2, RLENGTH - 2)
                gsub(/""/, "\"", text)
                line = substr(line, RLENGTH + 2)
            } else {
                match(line "," , /,/)
                text = substr(line, 1, RSTART - 1)
                line = substr(line, RSTART + 1)
            }
            cell[++n] = text
        }
        return n
    }
    function bar(text) { gsub(/\|/, "\\|", text); return text }'
# The tables that pages show, once; others may take long.
shown=$(sed -n 's/^<!-- \(validate\|rows\): \(.*\) -->$/\2/p' "$@" | tr ' ' '\n' | sort -u)
validated() {
    # shellcheck disable=SC2086
    [ -z "${ROWS-}" ] || [ -e "$tmp/validate.csv" ] || cp "$ROWS" "$tmp/validate.csv"
    [ -s "$tmp/validate.csv" ] || gsim validate --quiet --format csv $shown >"$tmp/validate.csv" || [ -s "$tmp/validate.csv" ]
}
# A row with a bound counts in the mean unless a constant was fitted to it.
summary() { # SUITE/TABLE...
    validated
    echo '| table | rows | with a bound | within | mean error | worst | fitted | shown |'
    echo '|---|---:|---:|---:|---:|---:|---:|---:|'
    for table in "$@"; do
        [ -z "${ROWS-}" ] || grep -q "^$(echo "$table" | tr / ,)," "$ROWS" || {
            grep -F "| \`$table\` |" "$page"
            continue
        }
        awk -v table="$table" "$cells"'
            { split_csv($0, c) }
            c[1] "/" c[2] != table { next }
            { rows++ }
            c[11] == "fitted" { fitted++; next }
            c[11] == "shown" { shown++; next }
            c[12] == "within" || c[12] == "missed" {
                e = c[8] + 0
                if (e < 0) e = -e
                bounded++; within += c[12] == "within"; sum += e
                if (e > worst) worst = e
            }
            END {
                if (!rows) { print "pages: no table " table >"/dev/stderr"; exit 1 }
                printf "| `%s` | %d | %d | %d | ", table, rows, bounded, within
                if (bounded) printf "%.2f %% | %.2f %%", sum / bounded, worst
                else printf " | "
                printf " | %d | %d |\n", fitted, shown
            }' "$tmp/validate.csv"
    done
}
rows() { # SUITE/TABLE...
    validated
    echo '| row | gsim | held against | error | bound |'
    echo '|---|---:|---:|---:|---|'
    for table in "$@"; do
        awk -v table="$table" "$cells"'
            { split_csv($0, c) }
            c[1] "/" c[2] != table { next }
            {
                printf "| %s%s%s | ", bar(c[3]), c[3] == "" ? "" : ": ", bar(c[4])
                printf "%.4g %s | %.4g %s | ", c[5], c[7], c[6], c[7]
                # A number that rounds to zero has no sign.
                is_nothing = c[8] + 0 < 0.005 && c[8] + 0 > -0.005
                if (c[8] != "") printf "%s %%", is_nothing ? "0.00" : sprintf("%+.2f", c[8])
                printf " | %s%s |\n", c[10], c[11] == "" || c[11] == "test" ? "" : (c[10] == "" ? "" : ", ") c[11]
            }' "$tmp/validate.csv"
    done
}

# --- pages ---------------------------------------------------------------------------------------
# Prints a command's output, indented. A page shows failures too, so an exit code is no error.
run() { # command
    (cd "$tmp/folder" && sh -c "$1" 2>&1 </dev/null) | sed 's/^\(.\)/    \1/'
}
fresh_folder() {
    rm -rf "$tmp/folder"
    mkdir "$tmp/folder"
    for name in traces experiments models docs; do ln -s "$root/$name" "$tmp/folder/$name"; done
}
made() { # kind, tables
    echo
    # shellcheck disable=SC2086
    case $1 in
    validate) summary $2 ;;
    rows) rows $2 ;;
    file) echo "\`\`\`$(echo "${2##*.}" | sed 's/^py$/python/')" && cat "$2" && echo '```' ;;
    esac
    echo
}
# mode: text; command, while further lines of it come; output and made, which are replaced.
remake() { # page on standard input
    fresh_folder
    mode=text command=
    while IFS= read -r line; do
        if [ "$mode" = command ]; then
            case $line in
            "    > "*)
                printf '%s\n' "$line"
                command="$command
${line#    > }"
                continue
                ;;
            esac
            run "$command"
            mode=output
        fi
        case $mode,$line in
        made,"<!-- end -->") mode=text ;;
        made,*) continue ;;
        *,"    \$ "*)
            [ "$mode" = text ] || [ -z "${blank-}" ] || echo
            printf '%s\n' "$line"
            command=${line#    \$ } mode=command blank=
            continue
            ;;
        output,"    "*) continue ;;
        output,"") blank=1 && continue ;;
        output,*) mode=text && echo ;;
        esac
        blank=
        printf '%s\n' "$line"
        case $line in
        "<!-- validate: "* | "<!-- rows: "* | "<!-- file: "*)
            kind=${line#<!-- } tables=${line#*: }
            made "${kind%%:*}" "${tables% -->}"
            mode=made
            ;;
        esac
    done
    [ "$mode" != command ] || run "$command"
}
for page in "$@"; do
    mkdir -p "$out/$(dirname "$page")"
    remake <"$page" >"$out/$page"
done
