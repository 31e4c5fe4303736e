#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# deb_test.sh FOLDER: installs the Debian packages of the folder (make deb) in a bare system of its own, and
# uses each of them there, as Debian's autopkgtest would. Prints TAP. Needs root, mmdebstrap and a mirror;
# without one of them it skips. Variables: SUITE, the Debian release (default: this system's), and SOURCES,
# a file of apt's sources (default: this system's).
set -u
debs=$(realpath "${1:-build/deb}")
skip() {
    echo "# skipped: $1"
    exit 0
}
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v mmdebstrap >/dev/null || skip "needs mmdebstrap"
ls "$debs"/gsim_*.deb >/dev/null 2>&1 || skip "no packages in $debs: make deb"
suite=${SUITE:-$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")}
tmp=$(mktemp -d)
root=$tmp/root
trap 'umount "$root/proc" 2>/dev/null; rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
say() { # name, status
    [ "$2" -eq 0 ] && echo "ok $1" && return
    echo "not ok $1"
    sed 's/^/# /' "$tmp/log" | tail -20
    failed=1
}
failed=0
# The packages and what they depend on, and nothing else beyond apt's own needs.
mmdebstrap --variant=apt --quiet "$suite" "$root" ${SOURCES:+"$SOURCES"} >"$tmp/log" 2>&1 ||
    skip "no bare system: $(tail -1 "$tmp/log")"
cp -r "$debs" "$root/debs"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" >"$tmp/log" 2>&1; }
mount -t proc proc "$root/proc"
inside apt-get install -y --no-install-recommends /debs/gsim_*.deb
say "gsim installs with what it depends on" $?
inside sh -c 'cd /tmp && printf "job_id,submit_s,duration_s,gpus\na,0,10,1\nb,1,20,1\n" >t.csv && gsim run --policy fifo t.csv && gsim --version'
say "gsim runs a trace" $?
inside apt-get install -y --no-install-recommends /debs/libgsim-dev_*.deb gcc pkg-config
say "libgsim-dev installs" $?
cat >"$root/tmp/mine.c" <<'C'
#include <gsim/policy.h>
static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    for (uint32_t i = 0; i < ctx->view->jobs.n_active; i++) {
        gsim_slot slot = ctx->view->jobs.active[i];
        struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_CONSOLIDATE);
        if (ctx->view->jobs.state[slot] == GSIM_QUEUED)
            (void)gsim_plan_place(plan, slot, &shape);
    }
}
static const struct gsim_policy mine = {.name = "mine", .summary = "a test", .paper = "none", .deviations = "none known", .decide = decide};
GSIM_POLICY_EXPORT(mine)
C
inside sh -c 'cd /tmp && gcc -shared -fPIC $(pkg-config --cflags gsim) mine.c -o mine.so && gsim run --policy ./mine.so t.csv'
say "a policy is built against libgsim-dev, and runs" $?
inside sh -c 'cd /tmp && printf "#include <stdio.h>\n#include <gsim/policy.h>\nint main(void) {struct gsim_log log = {0}; return !gsim_policies_find(\"srtf\", &log);}\n" >use.c && gcc use.c -o use $(pkg-config --cflags --libs gsim) && ./use'
say "a program is linked with libgsim" $?
inside apt-get install -y --no-install-recommends /debs/python3-gsim_*.deb
say "python3-gsim installs" $?
inside sh -c 'cd /tmp && python3 -c "import gsim; print(gsim.run(\"t.csv\", policy=\"srtf\"))"'
say "and runs a trace" $?
inside apt-get purge -y gsim libgsim-dev python3-gsim && [ -z "$(find "$root/usr" -iname '*gsim*')" ]
say "nothing is left after they are removed" $?
exit $failed
