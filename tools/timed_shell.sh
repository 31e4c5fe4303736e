#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# timed_shell.sh -c COMMAND: the shell of `make TIMES=1`. Runs the command as sh does, and adds a line
# "BUILD KIND SECONDS OUTPUT" to build/times: the processor time of what was made. tools/times.sh sums
# them.
log=build/times
/bin/sh "$@"
code=$?
command=${2-}
kind=other
case $command in
*make\ * | *tests/run.sh* | *tools/times.sh*) exit $code ;; # whatever they start is counted by itself
*' -c -o '*) kind=compile ;;
*' -o '* | 'ar '*) kind=link ;;
esac
output=$(printf '%s\n' "$command" | sed -n 's/.* -o  *\([^ ]*\).*/\1/p; s/^ar rcs \([^ ]*\) .*/\1/p; 1q')
mkdir -p build
times >"$log.$$" # in this shell itself: in a pipe it would be the pipe's
{
    read -r _ && read -r user system
} <"$log.$$"
rm -f "$log.$$"
echo "$kind $user $system ${output:-$(printf '%s\n' "$command" | cut -d' ' -f1-3 | head -1)}" >>"$log"
exit $code
