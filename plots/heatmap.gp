unset grid
unset key
set border 0
set style fill solid 1
set xlabel x
set ylabel y
set title value offset 0, -0.7
set tmargin 1.6
set xrange [0.5 : columns + 0.5]
set yrange [0.5 : rows + 0.5]
set xtics scale 0
if (is_crowded) set xtics rotate by 30 right
set ytics scale 0
is_log = least > 0 && most > 20 * least
# Colours over decades are drawn over exponents: tics show the values.
scaled(v) = is_log ? log10(v) : v
set cbrange [scaled(least) : most > least ? scaled(most) : scaled(least) + 1]
set format cb '%g'
if (is_log) {
    set cbtics ()
    do for [k = floor(log10(least)) : ceil(log10(most))] { set cbtics add (sprintf('%g', 10.0**k) k) }
}
# Dark is little, light is much: the order holds in grey as well.
set palette maxcolors 256 defined (0 '#00204C', 0.25 '#414D6B', 0.5 '#7C7B78', 0.75 '#BCAF6F', 1 '#FFE945')
# Three digits, thousands and millions by their letter.
short(v) = abs(v) >= 1000 ? gprintf('%.3s%c', v) : abs(v) >= 100 ? sprintf('%.0f', v) : sprintf('%.3g', v)
fits = columns <= 10 && rows <= 12
dark(v) = scaled(v) < 0.5 * (scaled(least) + scaled(most))
plot $data1 using 1:2:(scaled($3)) with image pixels, \
     $data2 using 1:(0.5):xtic(2) with points pt -1, \
     $data3 using (0.5):1:ytic(2) with points pt -1, \
     $data1 using 1:2:(fits ? short($3) : ''):(dark($3) ? 0xFFFFFF : 0x000000) with labels tc rgb variable font ',7'
