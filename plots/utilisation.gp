# Two panels of a height in inches, below a key that takes a line a series at most.
# With less than half an inch below it gnuplot leaves out the name of the axis in SVG.
foot_in = 0.5; panel_in = 1.05; between_in = 0.2
set multiplot
set lmargin 9
set rmargin at screen 0.96
set xrange [first : last]
set ylabel 'GPUs in use'
set yrange [0 : gpus]
set format x ''
set bmargin at screen (foot_in + panel_in + between_in) / height
plot for [i = 0 : series1 - 1] $data1 index i using 2:3 with steps lt i + 1 lw 1 title columnheader(2)
set ylabel 'jobs waiting'
set yrange [0 : *]
set format x '%g'
set xlabel 'time ('.unit.')'
set tmargin at screen (foot_in + panel_in) / height
set bmargin at screen foot_in / height
plot for [i = 0 : series2 - 1] $data2 index i using 2:3 with steps lt i + 1 lw 1
unset multiplot
