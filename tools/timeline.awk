# SPDX-License-Identifier: GPL-3.0-or-later
# A part of a timeline (gsim run --timeline, uncompressed) as an SVG.
# awk -v rows='LABEL=PID/CATEGORY/JOB;...' -v from=MS -v to=MS -v title=TEXT -f timeline.awk run.json
# A row shows the spans that it names; '*' is any; of kernels, those of a job. Jobs have colours in the order of `jobs` (a;b;...).
# Spans closer to each other than a third of a pixel are drawn as one.
BEGIN {
    LEFT = 110; WIDTH = 640; ROW = 24; TOP = 34
    n_rows = split(rows, row, ";")
    for (r = 1; r <= n_rows; r++) {
        label[r] = row[r]; sub(/=.*/, "", label[r])
        rest = row[r]; sub(/^[^=]*=/, "", rest)
        split(rest, part, "/")
        pid[r] = part[1]; category[r] = part[2]; job[r] = part[3]
    }
    n_jobs = split(jobs, name_of, ";")
    split("#0072B2;#E69F00;#009E73;#CC79A7;#D55E00", colour, ";")
    for (j = 1; j <= n_jobs; j++) colour_of[name_of[j]] = colour[j]
    scale = WIDTH / (to - from)
}
function text_of(key,    s) {
    if (!match($0, "\"" key "\":\"[^\"]*\"")) return ""
    s = substr($0, RSTART, RLENGTH)
    return substr(s, length(key) + 5, length(s) - length(key) - 5)
}
function number_of(key) {
    if (!match($0, "\"" key "\":[0-9.]+")) return -1
    return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0
}
function is(pattern, value) { return pattern == "*" || pattern == value }
function draw(r,    x, width, fill, y) {
    if (!(r in begin)) return
    x = LEFT + (begin[r] - from) * scale
    width = (end[r] - begin[r]) * scale
    if (width < 0.4) width = 0.4
    fill = last[r] in colour_of ? colour_of[last[r]] : "#888888"
    y = TOP + (r - 1) * ROW
    bars = bars sprintf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"%s/>\n",
        x, y + 3, width, ROW - 6, fill, is_pale[r] ? " fill-opacity=\"0.45\"" : "")
    if (job[r] == "*" && width > 9 * (length(last[r]) + 1))
        bars = bars sprintf("<text x=\"%.1f\" y=\"%d\" fill=\"%s\" text-anchor=\"middle\">%s</text>\n",
            x + width / 2, y + 16, is_pale[r] ? "#222222" : "#ffffff", last[r])
    delete begin[r]
}
/"ph":"X"/ {
    ts = number_of("ts") / 1000; done = ts + number_of("dur") / 1000
    if (done <= from || ts >= to) next
    if (ts < from) ts = from
    if (done > to) done = to
    p = number_of("pid"); c = text_of("cat"); j = text_of(c == "kernel" ? "job" : "name")
    for (r = 1; r <= n_rows; r++) {
        if (!is(pid[r], p) || !is(category[r], c) || !is(job[r], j)) continue
        # Pale: the GPU does not compute for the job.
        pale = c != "slice" && c != "running" && c != "kernel"
        if (r in begin && last[r] == j && pale == is_pale[r] && (ts - end[r]) * scale < 0.33 && ts >= begin[r]) {
            if (done > end[r]) end[r] = done
            continue
        }
        draw(r)
        begin[r] = ts; end[r] = done; last[r] = j; is_pale[r] = pale
    }
}
function step(range,    s, m) {
    s = 1
    while (s * 10 < range / 4) s *= 10
    while (s > range / 4) s /= 10
    m = range / s
    return m > 40 ? s * 10 : m > 20 ? s * 5 : m > 8 ? s * 2 : s
}
END {
    for (r = 1; r <= n_rows; r++) draw(r)
    height = TOP + n_rows * ROW
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" ",
        LEFT + WIDTH + 20, height + 44, LEFT + WIDTH + 20, height + 44
    print "font-family=\"sans-serif\" font-size=\"12\">"
    printf "<!-- made by docs/figures/draw.sh from gsim's timeline; do not edit -->\n"
    print "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    printf "<text x=\"%d\" y=\"20\" font-size=\"13\">%s</text>\n", LEFT, title
    for (r = 1; r <= n_rows; r++) {
        printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 8, TOP + (r - 1) * ROW + 16, label[r]
        printf "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#dddddd\"/>\n", LEFT, TOP + r * ROW, LEFT + WIDTH, TOP + r * ROW
    }
    by = step(to - from)
    unit = to - from > 3000 ? "s" : "ms"
    for (t = 0; from + t * by <= to + by / 1000; t++) {
        x = LEFT + t * by * scale
        printf "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#999999\"/>", x, height, x, height + 5
        printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", x, height + 18, (from + t * by) / (unit == "s" ? 1000 : 1)
    }
    printf "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">time (%s)</text>\n", LEFT + WIDTH / 2, height + 36, unit
    printf "%s</svg>\n", bars
}
