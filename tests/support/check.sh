# SPDX-License-Identifier: GPL-3.0-or-later
# What scripts of tests begin with: `. tests/support/check.sh`. A folder in $tmp that goes with the script,
# and three ways to judge: what came against what was expected, a status, with $tmp/log shown where it is
# bad, and a command by its exit code and output.
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

say() { # name, status
    if [ "$2" -eq 0 ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        sed 's/^/# /' "$tmp/log" | head -40
    fi
}

# expect NAME CODE PATTERN COMMAND...: exit code, and a pattern somewhere in the output
expect() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$tmp/log" 2>&1
    got=$?
    [ $got -eq "$code" ] && grep -q -e "$pattern" "$tmp/log"
    say "$name (exit $got)" $?
}
# Options with which a policy runs in each of a loop over all: a whole search of pollux in each minute takes longer
# than all other policies together.
quick() { # policy
    case $1 in pollux) echo "--set pollux.generations=3" ;; esac
}
# Whether $gsim has sanitizers, and not all cases are asked for: then cases that repeat numbers are left to the first
# build, and the others reach the code.
leaves_numbers() {
    case ${CASES-}$gsim in
    all*) return 1 ;;
    *-san-*) return 0 ;;
    *) return 1 ;;
    esac
}
