# SPDX-License-Identifier: GPL-3.0-or-later
# What tests of the command line begin with: `. tests/support/check.sh`, after gsim=$1. A folder in $tmp
# that goes with the script, and one way to compare.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

check() { # name, expected, what came
    if [ "$2" = "$3" ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        echo "# expected: $2"
        echo "# got: $3"
    fi
}
