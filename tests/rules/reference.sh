#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Texts made from the program's lists are those of this build: the man page, the tables of
# docs/sweeps.md and docs/reference (make man docs-reference). Links between pages lead to a file
# and a heading. $1 is a build.
set -u
gsim=$1/gsim
. tests/support/check.sh
"$gsim" man >"$tmp/made" 2>&1 && diff man/gsim.1 "$tmp/made" >"$tmp/log"
say "the man page (make man)" $?
sh tools/tables.sh "$gsim" >"$tmp/made" 2>&1 && diff docs/sweeps.md "$tmp/made" >"$tmp/log"
say "tables in docs/sweeps.md (make man)" $?
for page in docs/reference/*.md; do
    kind=$(basename "$page" .md)
    "$gsim" list "$kind" --format md >"$tmp/made" 2>&1 && diff "$page" "$tmp/made" >"$tmp/log"
    say "$page (make docs-reference)" $?
done

# Links to files and to headings, as a page writes them: [text](path), [text](path#heading).
# shellcheck disable=SC2016
links() { # page...: "PAGE LINK"
    LC_ALL=C awk '{ gsub(/`[^`]*`/, "") }
        !/^    / {
            while (match($0, /\]\([^)]*\)/)) {
                link = substr($0, RSTART + 2, RLENGTH - 3)
                if (link !~ /^(https?|mailto):/) print FILENAME, link
                $0 = substr($0, RSTART + RLENGTH)
            }
        }' "$@"
}
headings() { # page: as GitHub names them
    grep '^#' "$1" | sed 's/^#* //' | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9\n_-'
}
dead_links() { # page...
    links "$@" | while read -r page link; do
        file=${link%%#*} heading= folder=.
        case $link in *#*) heading=${link#*#} ;; esac
        case $page in */*) folder=${page%/*} ;; esac
        target=$page
        [ -z "$file" ] || target=$folder/$file
        if [ ! -e "$target" ]; then
            echo "$page: $link"
        elif [ -n "$heading" ] && ! headings "$target" | grep -q -x -e "$heading"; then
            echo "$page: $link: no such heading"
        fi
    done
}
# shellcheck disable=SC2046
dead_links $(git ls-files --cached --others --exclude-standard '*.md' 2>/dev/null || find . -name '*.md') >"$tmp/log"
[ ! -s "$tmp/log" ]
say "links lead somewhere" $?
# Files of the tree that pages name in code marks: those with a folder and an ending. A page's own
# policy is not in the tree, and gsim/lib.h is made when it is installed.
# shellcheck disable=SC2016
lost_files() { # page...
    grep -o '`[^` ]*`' "$@" | tr -d '`' | sed -n 's/^\(.*\.md\):\([a-z_]*\/[A-Za-z0-9_./-]*\.\([chs]\|sh\|def\|ini\|csv\|md\|sql\|gp\|ptx\|txt\)\)$/\1 \2/p' |
        while read -r page file; do [ -e "$file" ] || [ -e "include/$file" ] || echo "$page: $file"; done | sort -u
}
# shellcheck disable=SC2046
lost_files CONTRIBUTING.md README.md docs/*.md docs/*/*.md | grep -v -e NAME -e policies/slf.c -e gsim/lib.h >"$tmp/log"
[ ! -s "$tmp/log" ]
say "files that pages name are there" $?
# Files of the tree that comments of sources name, with their way from the root.
lost_sources() { # file...
    grep -noE '(^|[^a-zA-Z_/.])(sim|models|traces|policies|include|experiments|tools|plots)/[a-zA-Z_0-9/-]+\.(c|h|def|sh|md|py|ini|csv|sql|gp)' /dev/null "$@" |
        sed 's/^\([^:]*:[0-9]*\):[^a-z]*/\1 /' | while read -r place file; do [ -e "$file" ] || [ -e "include/$file" ] || echo "$place: $file"; done
}
# shellcheck disable=SC2046
lost_sources $(git ls-files --cached --others --exclude-standard 'include/*' 'sim/*.[ch]' 'models/*.[ch]' 'models/*.def' 'models/*.ini' 'policies/*' 'traces/*.[ch]' 2>/dev/null) |
    grep -v NAME >"$tmp/log"
[ ! -s "$tmp/log" ]
say "files that comments name are there" $?
# the rules can fail
mkdir "$tmp/docs"
# shellcheck disable=SC2016
printf '# A page\n\n[x](b.md) [y](a.md#a-page) [z](a.md#no) `[c](code.md)`\n' >"$tmp/docs/a.md"
[ "$(dead_links "$tmp/docs/a.md" | wc -l)" -eq 2 ]
say "the rule finds dead links" $?
# shellcheck disable=SC2016
printf 'See `sim/core/engine.c` and `sim/core/enigne.c`.\n' >"$tmp/docs/a.md"
[ "$(lost_files "$tmp/docs/a.md" README.md | grep -c enigne)" -eq 1 ]
say "and files that are not there" $?
printf '/* As models/gpu/lane.c does it, and models/gpu/lame.c. */\n' >"$tmp/docs/a.c"
[ "$(lost_sources "$tmp/docs/a.c")" = "$tmp/docs/a.c:1: models/gpu/lame.c" ]
say "and files that comments name and that are not there" $?
