#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# deb_test.sh FOLDER: installs the Debian packages of the folder (make deb) in a bare system of its own,
# uses each of them there and takes them away again, as Debian's autopkgtest and piuparts do. Prints TAP.
# Needs root, mmdebstrap and a mirror; without one of them it skips. Variables: SUITE, the Debian release
# (default: this system's), and SOURCES, a file of apt's sources (default: the release's own).
set -u
debs=$(realpath "${1:-build/deb}")
skip() {
    echo "# skipped: $1"
    exit 0
}
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v mmdebstrap >/dev/null || skip "needs mmdebstrap"
for package in gsim libgsim-dev python3-gsim; do
    ls "$debs/$package"_*.deb >/dev/null 2>&1 || skip "no $package in $debs: make deb"
done
suite=${SUITE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")}
tmp=$(mktemp -d)
root=$tmp/root
trap 'umount "$root/proc" 2>/dev/null; rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
failed=0
say() { # name, status
    [ "$2" -eq 0 ] && echo "ok $1" && return
    echo "not ok $1"
    sed 's/^/# /' "$tmp/log" | tail -20
    failed=1
}
inside() { # command...: in the bare system, in a folder where anything may be written
    chroot "$root" env -i -C /tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@" >"$tmp/log" 2>&1
}
apt() { # apt's words...: what is only recommended stays away
    inside apt-get "$@" -y --no-install-recommends
}

# --- a bare system: apt and what it needs, and nothing else ----------------------------------------
mmdebstrap --variant=apt --quiet "$suite" "$root" ${SOURCES:+"$SOURCES"} >"$tmp/log" 2>&1 ||
    skip "no bare system: $(tail -1 "$tmp/log")"
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/"
mkdir "$root/debs"
cp "$debs"/*.deb "$root/debs"
apt update || skip "no mirror: $(tail -1 "$tmp/log")"
listing() { # file: what the system has beside apt's own records and caches
    (cd "$root" && find . -path ./proc -prune -o -path ./tmp -prune -o -path ./debs -prune -o -path ./var -prune \
        -o -iname '*gsim*' -print | sort) >"$1"
}
listing "$tmp/before"

# --- the program -----------------------------------------------------------------------------------
deb() { # package: its file in the bare system
    echo "/debs/$(basename "$debs/$1"_*.deb)"
}
apt install "$(deb gsim)"
say "gsim installs with what it depends on" $?
printf 'job_id,submit_s,duration_s,gpus\na,0,10,1\nb,1,20,1\n' >"$root/tmp/t.csv"
inside gsim run --policy fifo --device ideal t.csv && grep -q '^fifo on t.csv' "$tmp/log"
say "gsim runs a trace" $?
printf 'trace = t.csv\npolicy = fifo, srtf\n' >"$root/tmp/g.ini"
inside sh -c 'gsim sweep g.ini -o r.db --quiet && gsim table r.db && gsim help compare'
say "a sweep, a table and the manual" $?

# --- the library -----------------------------------------------------------------------------------
apt install "$(deb libgsim-dev)" gcc pkg-config
say "libgsim-dev installs" $?
cp -r examples "$root/tmp"
inside sh -ec 'flags=$(pkg-config --cflags gsim)
    for source in policy/narrow_first.c themis/themis.c; do
        gcc -std=c11 -O2 -Wall -Werror -shared -fPIC $flags -o mine.so examples/$source
        gsim run --policy ./mine.so t.csv
    done'
say "policies are built against libgsim-dev, and run" $?
inside sh -ec 'flags=$(pkg-config --cflags --libs gsim)
    gcc -std=c11 -o embedded examples/embed/main.c examples/policy/narrow_first.c $flags
    ./embedded t.csv 1'
say "a program is linked with libgsim.so" $?
apt install libgsl-dev zlib1g-dev libzstd-dev libinih-dev libcsv-dev libyajl-dev &&
    inside sh -ec 'flags=$(pkg-config --static --cflags --libs gsim | sed s/-lgsim/-l:libgsim.a/)
        gcc -std=c11 -o embedded examples/embed/main.c examples/policy/narrow_first.c $flags
        ./embedded t.csv 1'
say "and with libgsim.a, by the packages that libgsim-dev recommends" $?

# --- Python ----------------------------------------------------------------------------------------
apt install "$(deb python3-gsim)"
say "python3-gsim installs" $?
inside env PYTHONPATH=examples/python python3 -c 'import gsim, srtf
assert gsim.run("t.csv", "srtf", device="ideal")["jct_mean_s"] == gsim.run("t.csv", srtf.Srtf, device="ideal")["jct_mean_s"]'
say "a run, and a policy in Python" $?

# --- and away again --------------------------------------------------------------------------------
apt purge gsim libgsim-dev python3-gsim
say "the packages are removed" $?
listing "$tmp/after"
diff "$tmp/before" "$tmp/after" >"$tmp/log"
say "and leave nothing" $?
exit $failed
