set xlabel x
set ylabel value
set format xy '%g'
set yrange [0:*]
if (is_wide) set logscale x
if (is_tall) set logscale y; set yrange [least / 1.5 : most * 2]
set offsets graph 0.02, graph 0.02, graph (is_tall ? 0 : 0.1), 0
plot for [i = 0 : series1 - 1] $data1 index i using 2:3:4:5 with yerrorbars lt i + 1 dt solid lw 0.75 pt -1, \
     for [i = 0 : series1 - 1] $data1 index i using 2:3 with linespoints lt i + 1 title columnheader(2)
