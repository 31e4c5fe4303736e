# A panel a measure for each trace, traces one below the other; policies are rows. Axes of times are
# logarithmic where values are far apart.
text_in(row) = row[strstrt(row, "\t") + 1 : *]
array least[4]
array most[4]
do for [p = 1 : panels] { least[p] = real(word($data6[p], 2)); most[p] = real(word($data6[p], 3)) }
# In parts of the picture: margins beside the panels, and the heights that are in inches.
left = (0.12 + 0.055 * longest) / width; right = 1 - 0.08 / width; gap = 0.22 / width
wide = (right - left - (across - 1) * gap) / across
tall = (height - key_in - facets * name_in - foot_in - (facets * rows - 1) * between_in) / (facets * rows) / height
ten(x) = 10.0 ** floor(log10(x))
step(x) = x / ten(x) < 2 ? ten(x) / 2 : x / ten(x) < 5 ? ten(x) : 2 * ten(x)
x = "($1 == f && $2 == p && $3 == m ? $5 : NaN)"
y = "($4 + 0.26 * (m - (marks + 1) / 2.0))"
values = "for [m = 1 : marks] $data1 using @x:@y:6:7 with xerrorbars lt m dt solid lw 0.75 pt -1, ".\
    "for [m = 1 : marks] $data1 using @x:@y with points lt m title text_in($data4[m])"
policies = ", $data2 using (NaN):1:ytic(2) with points pt -1"
missing = exists('rows7') ? \
    ", $data7 using ($1 == f && $2 == p ? first : NaN):($4 + 0.26 * ($3 - (marks + 1) / 2.0)):5 ".\
    "with labels left font ',5' tc rgb '#7F7F7F'" : ""
set multiplot
set yrange [lines + 0.6 : 0.4]
set grid xtics ytics
set tics font ',7' scale 0.4
set ytics 1 scale 0
set format y ''
unset mxtics
set errorbars 0
set key at screen right, screen 1 - 0.02 / height right top samplen 1 Right noreverse
if (is_double) { set key horizontal maxrows 1 } else { set key vertical maxcols 1 }
do for [f = 1 : facets] {
    do for [p = 1 : panels] {
        row = (p - 1) / across
        column = (p - 1) % across
        above = (f - 1) * rows + row
        high = 1 - (key_in + f * name_in + above * between_in) / height - above * tall
        if (p == 1) { set label 1 text_in($data3[f]) at screen 0.07 / width, screen high + 0.09 / height font ',8' }
        set tmargin at screen high
        set bmargin at screen high - tall
        set lmargin at screen left + column * (wide + gap)
        set rmargin at screen left + column * (wide + gap) + wide
        is_wide = least[p] > 0 && most[p] > 8 * least[p]
        first = is_wide ? least[p] / 1.4 : most[p] * 0.02
        if (is_wide) {
            set logscale x
            set xtics ()
            # Of more than five decades every other one has a label: there is no room for all.
            labelled = log10(most[p] / least[p]) > 5 ? 2 : 1
            do for [k = floor(log10(least[p] / 1.6)) : ceil(log10(1.6 * most[p]))] {
                if (k % labelled == 0) { set xtics add (10.0 ** k) } else { set xtics add ('' 10.0 ** k) }
                if (most[p] < 50 * least[p]) { set xtics add (3 * 10.0 ** k) } # 200 would touch 100
            }
        } else {
            unset logscale
            apart = most[p] > 0 ? step(most[p]) : 1
            set xtics auto
            set xtics apart
        }
        set xrange [(is_wide ? least[p] / 1.6 : 0) : most[p] > 0 ? most[p] * (is_wide ? 1.6 : 1.05) : 1]
        has_foot = !is_double || f == facets
        set format x (has_foot ? (is_wide ? '%.0s%c' : '%g') : '')
        set xlabel (has_foot ? text_in($data5[p]) : '') offset 0, 0.4
        set ytics 1 scale 0
        if (column == 0) { plot @values @policies @missing } else { plot @values @missing }
        unset key
        unset label
    }
}
unset multiplot
