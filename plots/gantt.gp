set xlabel 'time ('.unit.')'
set ylabel 'GPU'
set yrange [gpus - 0.4 : -0.6]
set ytics ceil(gpus / 16.0) scale 0
unset grid
array tone[8] = [0x56B4E9, 0xE69F00, 0x009E73, 0xF0E442, 0x0072B2, 0xD55E00, 0xCC79A7, 0xB0B0B0]
set style fill solid 0.8 border lc rgb '#FFFFFF'
boxes = "using 2:4:2:3:4:5:(tone[int($1) % 8 + 1]) with boxxyerror lc rgb variable lw 0.3"
if (exists('rows2')) {
    plot $data1 @boxes, $data2 using 2:3:4 with labels font ',6'
} else {
    plot $data1 @boxes
}
