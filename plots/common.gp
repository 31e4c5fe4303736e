# The style of all figures. Colours are those of Okabe and Ito, ordered so that neighbours differ in
# lightness too; dashes and point shapes tell them apart in grey.
set datafile separator "\t"
set datafile commentschars ""
set datafile missing "NaN"
set linetype 1 lc rgb '#0072B2' lw 1.5 dt solid pt 7 ps 0.5
set linetype 2 lc rgb '#E69F00' lw 1.5 dt (8,3) pt 5 ps 0.5
set linetype 3 lc rgb '#000000' lw 1.5 dt (3,2) pt 9 ps 0.6
set linetype 4 lc rgb '#D55E00' lw 1.5 dt (10,3,2,3) pt 11 ps 0.6
set linetype 5 lc rgb '#56B4E9' lw 1.5 dt (1.5,1.5) pt 13 ps 0.6
set linetype 6 lc rgb '#009E73' lw 1.5 dt (12,3) pt 6 ps 0.5
set linetype 7 lc rgb '#CC79A7' lw 1.5 dt (6,2,1.5,2,1.5,2) pt 4 ps 0.5
set linetype 8 lc rgb '#7F7F7F' lw 1.5 dt (2,4) pt 8 ps 0.6
set linetype cycle 8
set border 3 lw 0.75
set tics nomirror out scale 0.6
# Without the blank in place of a sign, which shifts labels from their tics.
set format '%h'
set grid ytics back lc rgb '#D9D9D9' lw 0.5 dt solid
# The key stands above the plot, where it covers no data.
set key noautotitle outside above left horizontal Left reverse samplen 2.5 spacing 1.1 width 1
set style fill solid 0.85 border lc rgb '#000000'
set errorbars 0.8
# Curves in steps, with some points marked: dashes do not show where steps are short. Use: plot @curves.
some = "every ceil(rows1 / (6.0 * series1))::(ceil(rows1 / (6.0 * series1)) * i) / series1"
marked(style) = "for [i = 0 : series1 - 1] $data1 index i using 2:3 with ".style." lt i + 1 dt solid, ".\
    "for [i = 0 : series1 - 1] $data1 index i ".some." using 2:3 with points lt i + 1, ".\
    "for [i = 0 : series1 - 1] $data1 index i every ::0::0 using 2:3 with linespoints lt i + 1 dt solid title columnheader(2)"
