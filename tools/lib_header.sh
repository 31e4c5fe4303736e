#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# lib_header.sh: the headers of policies/lib, each after those that it includes, as the one header
# that is installed as gsim/lib.h.
set -eu
done=' '
section() { # header
    case $done in *" $1 "*) return ;; esac
    done="$done$1 "
    for included in $(sed -n 's/^#include "\(sim\/base\/[^"]*\|policies\/lib\/[^"]*\)"$/\1/p' "$1"); do
        section "$included"
    done
    grep -v -e '^#include "sim/base/' -e '^#include "policies/lib/' -e 'SPDX-License-Identifier' "$1"
    echo
}
cat <<'C'
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What policies share: settings, queues, ranks, slices of time, EASY's reservations, shared GPUs. */
#ifndef GSIM_LIB_H
#define GSIM_LIB_H

C
for header in policies/lib/*.h; do section "$header"; done
echo '#endif'
