#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# lib_header.sh: the headers of policies/lib, each after those that it includes, as the one header
# that is installed as gsim/lib.h.
set -eu
cat <<'C'
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What policies share: settings, queues, ranks, slices of time, EASY's reservations, shared GPUs. */
#ifndef GSIM_LIB_H
#define GSIM_LIB_H

C
awk '
    function section(header,    line, own, n, i) {
        if (header in done) return
        done[header]
        while ((getline line <header) > 0)
            if (line ~ /^#include "(sim\/base|policies\/lib)\//) section(substr(line, 11, length(line) - 11))
            else if (line !~ /SPDX-License-Identifier/) own[++n] = line
        close(header)
        for (i = 1; i <= n; i++) print own[i]
        print ""
    }
    BEGIN { for (i = 1; i < ARGC; i++) section(ARGV[i]) }' policies/lib/*.h
echo '#endif'
