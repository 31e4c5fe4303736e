# A run of gsim drive beside its simulation: JCTs by job with the ranges of the simulation, and the parts
# of the error. $jobs: row, name, real, simulated, least, most; $parts: a block for each part, headed by
# its name: row, from, to. In two panels, which stand side by side where the figure is two columns wide.
if (is_double) {
    set multiplot layout 1,2 margins 0.175,0.98,0.42 / height,1 - 0.5 / height spacing 0.04,0
} else {
    set multiplot layout 2,1 margins 0.33,0.965,0.4 / height,1 - 0.5 / height spacing 0,0.95 / height
}
left = is_double ? 0.175 : 0.33
set yrange [rows + 1.7 : 0.3]
set ytics scale 0
set grid noytics xtics
set style fill solid noborder
set offsets 0, graph 0.03, 0, 0
set xrange [0:*]
set xlabel (rows < jobs ? sprintf('JCT (s): the %d of %d jobs that are furthest off', rows, jobs) : 'JCT (s)') offset 0, 0.4
set key vertical maxrows 3 at screen left, screen 1 - 0.02 / height left top samplen 1.5 width 0
plot $jobs using 3:1 with points pt 6 ps 0.6 lc rgb '#000000' title 'real', \
     $jobs using 4:1 with points lt 2 title 'simulated', \
     $jobs using 5:1:5:6:($1 - 0.3):($1 + 0.3):ytic(2) with boxxyerror lc rgb '#BBD9EA' \
         title sprintf('with lengths off by %g %%', off), \
     $jobs using 4:1 with points lt 2, \
     $jobs using 3:1 with points pt 6 ps 0.6 lc rgb '#000000'
set xrange [*:*]
set offsets graph 0.03, graph 0.03, 0, 0
set xlabel 'real less simulated JCT (s)' offset 0, 0.4
array tone[4] = [0x009E73, 0xD55E00, 0x56B4E9, 0x000000]
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#7F7F7F' lw 0.75
set key at screen (is_double ? 0.597 : left), screen (is_double ? 1 - 0.02 / height : 0.5)
names = is_double ? "using (0):1:ytic('')" : "using (0):1:ytic(2)"
plot for [p = 0 : parts - 1] $parts index p using 2:1:2:3:($1 - 0.3):($1 + 0.3) with boxxyerror lc rgb tone[p + 1] \
         title columnheader(1), \
     $jobs @names with points pt -1
unset multiplot
