bars = has_copies ? ', range over copies of the trace' : ', 95 percent interval'
set xlabel 'mean JCT ('.unit.')'.(has_intervals ? bars : '')
set xrange [0:*]
set yrange [rows1 + 0.6 : 0.4]
set ytics scale 0
set grid noytics xtics
# Beside long names there is room for few tics.
name_of(row) = row[strstrt(row, "\t") + 1 : *]
longest = 0
most = 0
do for [k = 1 : rows1] {
    name = name_of($data1[k])
    longest = strstrt(name, "\t") > longest ? strstrt(name, "\t") : longest
    mean = real(word(name_of(name), 1))
    most = mean > most ? mean : most
}
# Beside long names the axis lies at the right, where its label would leave the page.
if (longest > 16 && has_intervals) { set xlabel offset screen -0.2, 0 }
ten(x) = 10.0 ** floor(log10(x))
if (longest > 16 && most > 0) {
    apart = most / ten(most) < 2 ? ten(most) : most / ten(most) < 5 ? 2 * ten(most) : 5 * ten(most)
    set xtics apart
}
set offsets 0, graph 0.05, 0, 0
plot $data1 using 3:1:(0):3:($1 - 0.35):($1 + 0.35):ytic(2) with boxxyerror lc rgb '#56B4E9' dt solid lw 0.75, \
     $data1 using 3:1:4:5 with xerrorbars lc rgb '#000000' lw 1 dt solid pt -1
