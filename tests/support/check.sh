# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of the command line begin with `. tests/support/check.sh`, after gsim=$1. It makes a folder
# $tmp that is removed when the script ends, and a function that compares.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

check() { # name, expected, actual
    if [ "$2" = "$3" ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        echo "# expected: $2"
        echo "# got: $3"
    fi
}
