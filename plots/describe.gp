# Six views of traces, a colour each: $durations, $widths, $days, $hours, $weekdays and $likeness have a
# block for each trace, headed by its name; n is the number of traces. A part
# of a cycle that a trace has not is NaN, which is not drawn. Widths and days have points, since a trace may
# have one of them.
set multiplot layout 2,3 margins 0.085,0.975,0.135,0.88 spacing 0.11,0.185
set key noautotitle outside above left horizontal Left reverse samplen 2 spacing 1 width 1

set logscale x
set xlabel 'duration (s)' offset 0,0.4
set ylabel 'share of jobs (%)' offset 0.2
set yrange [0:100]
set format x '%h'
set xtics 1,100
plot for [i = 0 : n - 1] $durations index i using 1:2 with lines lt i + 1 dt solid title columnheader(1)

set logscale x 2
set format x '%h'
set xtics auto
set xlabel 'GPUs of a job'
set ylabel 'share of jobs (%)'
plot for [i = 0 : n - 1] $widths index i using 1:2 with linespoints lt i + 1 dt solid pt 7 ps 0.3
unset logscale x

set xlabel 'day'
set xrange [0:*]
set ylabel 'jobs a day' offset 0.2
set yrange [0:*]
plot for [i = 0 : n - 1] $days index i using 1:2 with linespoints lt i + 1 dt solid pt 7 ps 0.3

set ytics 0.5
set xlabel 'hour of day, from the first job on'
set ylabel 'jobs (mean = 1)' offset 0.8
set xrange [0:24]
set xtics 6
plot 1 with lines lc rgb '#D9D9D9', for [i = 0 : n - 1] $hours index i using 1:2 with steps lt i + 1 dt solid

set xlabel 'day of week, from the first job on'
set ylabel 'jobs (mean = 1)'
set xrange [0:7]
set xtics 1
plot 1 with lines lc rgb '#D9D9D9', for [i = 0 : n - 1] $weekdays index i using 1:2 with steps lt i + 1 dt solid

set xlabel 'log durations of jobs so far apart'
set ylabel 'correlation' offset 1.2
set ytics 0.1
set xrange [1:*]
set yrange [*:*]
set logscale x
set xtics auto
# Jobs that are all equal have no correlation: the axes then reach from here to there.
$axis << EOD
1	-0.1
1	0.1

1	0
10	0
EOD
plot 0 with lines lc rgb '#D9D9D9', $axis using 1:2 with lines lc rgb '#D9D9D9', \
    for [i = 0 : n - 1] $likeness index i using 1:2 with lines lt i + 1 dt solid
unset multiplot
