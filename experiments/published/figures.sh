#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Published and measured figures beside what gsim says, from the tables of gsim validate:
#   figures.sh GSIM FOLDER [pdf|svg|png] [NAME ...]
# Each NAME.gp here is one figure. It finds a file SUITE-TABLE.tsv for each table: scenario, what,
# simulated, reference, use. What this version cannot run is NaN and is not drawn.
# Variable: ROWS, a file of --rows-csv with these tables, when they have been computed.
set -eu
gsim=$1 out=$2/published format=${3:-pdf}
here=$(cd "$(dirname "$0")" && pwd)
[ $# -le 3 ] && set -- "$here"/*.gp || shift 3
case $format in
svg) terminal="svg noenhanced font 'Helvetica,10.5'" wide="size 662,230" narrow="size 320,230" ;;
pdf) terminal="pdfcairo noenhanced font 'Helvetica,8' fontscale 0.75" wide="size 6.9in,2.4in" narrow="size 3.33in,2.4in" ;;
png) terminal="pngcairo noenhanced font 'Helvetica,8' fontscale 3.1 linewidth 3 pointscale 3" wide="size 2070,720" narrow="size 1000,720" ;;
*)
    echo "figures.sh: '$format' is not one of pdf, svg, png" >&2
    exit 2
    ;;
esac
rows=$(mktemp -d)
trap 'rm -rf "$rows"' EXIT
mkdir -p "$out"
# A row that misses its bound is shown as any other: the exit code is that of the last command. Commas
# in quotes are no separators.
{
    if [ -n "${ROWS-}" ]; then
        grep -E '^(suite|h200|msched|nvshare|preemption),' "$ROWS"
    else
        "$gsim" validate --format csv h200 msched nvshare preemption
    fi
} |
    sed -e ':again' -e 's/^\(\([^"]*"[^"]*"\)*[^"]*"[^",]*\),/\1;/' -e 'tagain' -e 's/"//g' |
    awk -F, -v OFS='\t' -v folder="$rows" 'NR > 1 {
        print $3, $4, $5 == "" ? "NaN" : $5, $6, $11 >(folder "/" $1 "-" $2 ".tsv") }'
for figure; do
    name=$(basename "$figure" .gp)
    size=$narrow
    grep -q '^# wide' "$here/$name.gp" && size=$wide
    {
        echo "set encoding utf8"
        echo "set terminal $terminal $size"
        cat "$here/../../plots/common.gp"
        echo "rows = '$rows/'"
        echo "set output '$out/$name.$format'"
        cat "$here/$name.gp"
    } >"$rows/script.gp"
    gnuplot -d "$rows/script.gp"
    echo "$out/$name.$format"
done
