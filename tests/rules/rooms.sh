#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Files of a folder that the Makefile compiles as one (TOGETHER, without those in ALONE) give no name to two
# things of their own: functions, variables, types, constants, and macros of two texts. The released build and those of a
# check are compiled so; in a build for short ways each file is compiled by itself, and such names do not meet.
set -u
. tests/support/check.sh
cat >"$tmp/rooms.py" <<'P'
import re, sys
COMMENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
NAME = r'[A-Za-z_]\w*'

def own(path):
    """What the file's own things are called: {(kind, name): text}."""
    text = COMMENT.sub(lambda m: '""' if m[0][0] == '"' else ' ', open(path).read())
    text = text.replace('\\\n', ' ')
    found = {}
    # A list (.def) undoes the macros that it asks for; what asks libc for more has to be in each file.
    for name, body in re.findall(rf'^#define ((?!_|GSIM_){NAME})(.*)', text, re.M):
        found['macro', name] = ' '.join(body.split())
    text = re.sub(r'^#.*', '', text, flags=re.M)
    depth, head, outside = 0, '', []
    for piece in re.split(r'(?<=[{};])', text):
        end = piece[-1:]
        if depth == 0 or (depth == 1 and re.search(r'\benum\b[^(;]*\{', head)):
            head += piece if depth == 0 or end != '{' else ''  # the constants of an enumeration, too
        elif depth == 1 and end == '}':
            head += '}'
        depth += (end == '{') - (end == '}')
        # a type goes on behind its brace with the name of a variable
        if depth == 0 and end in ';}' and not re.match(r'\s*(static|const|struct|union|enum|typedef|extern)\b[^()]*\}$', head):
            outside.append(' '.join(head.split()))
            head = ''
    for said in outside:
        for kind, name in re.findall(rf'\b(struct|union|enum) ({NAME}) \{{', said):
            found[kind, name] = said
        for constants in re.findall(r'\benum(?: \w+)? \{([^}]*)\}', said):
            for constant in constants.split(','):
                if constant.strip():
                    found['name', constant.split('=')[0].strip()] = said
        said = re.sub(r'__attribute__ ?\(\(.*?\)\)\)?', '', said)
        said = re.sub(r'\b(?:struct|union|enum)(?: \w+)? \{[^}]*\}', 'int', said)
        if re.match(r'(GSIM_\w+ )?static\b', said):
            name = re.search(rf'({NAME}) ?[(\[=;,{{]', said)
            found['name', name[1]] = said
            if not said[name.end() - 1:].startswith('('):  # of variables there may be several
                for other in re.findall(rf', \*?({NAME})(?= ?[\[=;,])', said[name.end():]):
                    found['name', other] = said
        elif said.startswith('typedef'):
            found['name', re.findall(NAME, said)[-1]] = said
    return found

for line in open(sys.argv[1]):
    where = {}
    for path in line.split()[1:]:
        for thing, said in own(path).items():
            where.setdefault(thing, []).append((path, said))
    for (kind, name), places in sorted(where.items()):
        if len(places) > 1 and not (kind == 'macro' and len({said for _, said in places}) == 1):
            print(f'{name}: ' + ' '.join(path for path, _ in places))
P
shared() { python3 "$tmp/rooms.py" "$1"; }
make -s rooms >"$tmp/rooms"
shared "$tmp/rooms" >"$tmp/log"
[ "$(wc -l <"$tmp/rooms")" -gt 30 ] && [ ! -s "$tmp/log" ]
say "files of a folder that is compiled as one share no name of their own" $?
# the rule can fail: each pair of lines gives one name to two things
mkdir "$tmp/room"
while IFS='|' read -r name one other; do
    printf '#include "x.h"\n%s\n' "$one" >"$tmp/room/a.c"
    printf 'void b(int a) {\n    static int n;\n    n += a;\n}\n%s\n' "$other" >"$tmp/room/b.c"
    echo "room $tmp/room/a.c $tmp/room/b.c" >"$tmp/room/list"
    [ "$(shared "$tmp/room/list")" = "${name:+$name: $tmp/room/a.c $tmp/room/b.c}" ] || echo "$name: $one $other"
done >"$tmp/log" <<'C'
grow|static bool grow(int n) { return n; }|GSIM_COLD static struct x *grow(const struct y *y, int n) { return 0; }
limit|static const int limit = 3;|static int limit(void) { return 3; }
LONGEST|static const double SHORTEST = 0.01, LONGEST = 100;|static int LONGEST;
units|static const struct { int n; } units[] = {{1}};|static const char *const units[] = {"a"};
MOST|enum { LEAST = 1, MOST = 3 };|enum { MOST = 4 };
END|enum kind { BEGIN = 0, END };|enum { OTHER, END };
row|struct row { int n; };|struct row { int m; };
NONE|#define NONE 1|#define NONE 2
|#define NONE 1|#define NONE 1
|static int other(void) { return 0; } /* static int b; */|int n; struct row *row_of(int n) { struct row *row = 0; return row; }
C
[ ! -s "$tmp/log" ]
say "the rule of folders compiled as one can fail" $?
