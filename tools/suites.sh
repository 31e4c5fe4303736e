#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# suites.sh FILE.c...: prints the C program that has each of these suites: given the name of one
# (unit/test_text) it runs that, without a name it lists them.
set -eu
suites=$(printf '%s\n' "$@" | sed 's|^tests/||; s|\.c$||')
echo '/* Made by tools/suites.sh; do not edit. */'
echo '#include <stdio.h>'
echo '#include <string.h>'
for suite in $suites; do echo "int main_$(echo "$suite" | tr / _)(void);"; done
echo 'static const struct { const char *name; int (*run)(void); } suites[] = {'
for suite in $suites; do echo "    {\"$suite\", main_$(echo "$suite" | tr / _)},"; done
cat <<'END'
};
int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        if (argc < 2)
            puts(suites[i].name);
        else if (strcmp(argv[1], suites[i].name) == 0)
            return suites[i].run();
    if (argc < 2)
        return 0;
    fprintf(stderr, "no suite is called '%s'; without a name they are listed\n", argv[1]);
    return 2;
}
END
