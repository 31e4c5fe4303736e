#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# public_names.sh list|map|dynamic HEADER...: the names that the installed headers mention, which are
# those that others may link with: one a line, as a version script of a shared library, or as the
# list of what a program shows to the libraries that it loads.
set -eu
form=$1
shift
names() { grep -oh 'gsim_[a-z0-9_]*' "$@" | LC_ALL=C sort -u; }
case $form in
list) names "$@" ;;
map) printf '{\nglobal:\n%s\nlocal:\n    *;\n};\n' "$(names "$@" | sed 's/.*/    &;/')" ;;
dynamic) printf '{\n%s\n};\n' "$(names "$@" | sed 's/.*/    &;/')" ;;
esac
