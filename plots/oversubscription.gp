set xlabel x
set ylabel value
set format xy '%g'
set yrange [0:*]
if (is_wide) set logscale x; set xrange [first / 1.2 : last * 1.2]; unset mxtics
if (is_tall) set logscale y; set yrange [least / 1.5 : most * 2]
set offsets graph 0.02, graph 0.02, graph (is_tall ? 0 : 0.1), 0
bars = "for [i = 0 : series1 - 1] $data1 index i using 2:3:4:5 with yerrorbars lt i + 1 dt solid lw 0.75 pt -1"
lines = "for [i = 0 : series1 - 1] $data1 index i using 2:3 with linespoints lt i + 1 title columnheader(2)"
if (exists('rows2')) {
    plot @bars, @lines, $data2 using 1:(NaN):xtic(2) with points pt -1
} else {
    plot @bars, @lines
}
