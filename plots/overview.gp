# Four panels side by side for each trace, traces one below the other; policies are rows. Axes of
# times are logarithmic where values are far apart.
name_in(row) = row[strstrt(row, "\t") + 1 : *]
array titles[4] = ['mean JCT ('.unit.')', 'P99 latency (ms)', 'jobs/h', 'GPUs useful (%)']
array least[4] = [least1, least2, 0, 0]
array most[4] = [most1, most2, most3, most4]
left = 0.13; right = 0.985; gap = 0.025
bottom = 0.42 / height; top = 1 - 0.36 / height; between = 0.25 / height
wide = (right - left - 3 * gap) / 4
tall = (top - bottom - (facets - 1) * between) / facets
ten(x) = 10.0 ** floor(log10(x))
step(x) = x / ten(x) < 2 ? ten(x) / 2 : x / ten(x) < 5 ? ten(x) : 2 * ten(x)
x = "($1 == f && $2 == p && $3 == m ? $5 : NaN)"
y = "($4 + 0.26 * (m - (marks + 1) / 2.0))"
values = "for [m = 1 : marks] $data1 using @x:@y:6:7 with xerrorbars lt m dt solid lw 0.75 pt -1, ".\
    "for [m = 1 : marks] $data1 using @x:@y with points lt m title name_in($data4[m])"
policies = ", $data2 using (NaN):1:ytic(2) with points pt -1"
missing = exists('rows5') ? \
    ", $data5 using ($1 == f && $2 == p ? first : NaN):($4 + 0.26 * ($3 - (marks + 1) / 2.0)):5 ".\
    "with labels left font ',5' tc rgb '#7F7F7F'" : ""
set multiplot
set yrange [lines + 0.6 : 0.4]
set grid xtics ytics
set tics font ',7' scale 0.4
set ytics 1 scale 0
set format y ''
unset mxtics
set errorbars 0
set key at screen right - 0.02, screen 1 - 0.02 / height right top maxrows 1 samplen 1 Right noreverse
do for [f = 1 : facets] {
    high = top - (f - 1) * (tall + between)
    set tmargin at screen high
    set bmargin at screen high - tall
    set label 1 name_in($data3[f]) at screen left - 0.12, screen high + 0.09 / height font ',8'
    do for [p = 1 : 4] {
        set lmargin at screen left + (p - 1) * (wide + gap)
        set rmargin at screen left + (p - 1) * (wide + gap) + wide
        is_wide = least[p] > 0 && most[p] > 8 * least[p]
        first = is_wide ? least[p] / 1.4 : most[p] * 0.02
        if (is_wide) { set logscale x; set xtics 10 } else { unset logscale; set xtics step(most[p]) }
        set xrange [(is_wide ? least[p] / 1.6 : 0) : most[p] * (is_wide ? 1.6 : 1.05)]
        set format x f < facets ? '' : is_wide ? '%.0s%c' : '%g'
        set xlabel (f == facets ? titles[p] : '') offset 0, 0.4
        if (p == 1) { plot @values @policies @missing } else { plot @values @missing }
        unset key
        unset label
    }
}
unset multiplot
