set logscale x
set format x '%g'
set xlabel 'latency (ms)'
set ylabel 'share of requests'
set yrange [0:1]
# Some of the points are marked, as dashes do not show where steps are short.
far = ceil(rows1 / (6.0 * series1))
plot for [i = 0 : series1 - 1] $data1 index i using 2:3 with steps lt i + 1 dt solid, \
     for [i = 0 : series1 - 1] $data1 index i every far::(far * i) / series1 using 2:3 with points lt i + 1, \
     for [i = 0 : series1 - 1] $data1 index i every ::0::0 using 2:3 with linespoints lt i + 1 dt solid title columnheader(2)
