set multiplot
set lmargin 9
set rmargin at screen 0.96
set xrange [first : last]
set ylabel 'GPUs in use' offset 1
set yrange [0 : gpus]
set format x ''
set bmargin at screen 0.54
plot for [i = 0 : series1 - 1] $data1 index i using 2:3 with steps lt i + 1 lw 1 title columnheader(2)
set ylabel 'jobs waiting' offset 1
set yrange [0 : *]
set format x '%g'
set xlabel 'time ('.unit.')'
set tmargin at screen 0.48
set bmargin at screen 0.15
plot for [i = 0 : series2 - 1] $data2 index i using 2:3 with steps lt i + 1 lw 1
unset multiplot
