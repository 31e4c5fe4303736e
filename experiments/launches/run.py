# SPDX-License-Identifier: GPL-3.0-or-later
# Runs ./launches beside other clients of MPS on half of the SMs each: README.md.
import os, signal, subprocess, sys, time

SMALL, LARGE = 240, 24 << 10  # KiB a block: 16 MB of 66 blocks stay in L2
OTHERS = [("fma", 66, 1024, 0, 0, SMALL)]
OTHERS += [("read1", 66, t, 0, 0, LARGE) for t in (64, 128, 256, 512, 1024)]
OTHERS += [("read4", 66, t, 0, 0, LARGE) for t in (256, 512, 1024)]
OTHERS += [("read4", b, 1024, 0, 0, LARGE) for b in (8, 16, 33)]
OTHERS += [("copy1", 66, t, 0, 0, LARGE) for t in (64, 128, 256, 512, 1024)]
OTHERS += [("copy4", 66, t, 0, 0, LARGE) for t in (256, 512, 1024)]
OTHERS += [("copy4", b, 1024, 0, 0, LARGE) for b in (8, 16, 33)]
OTHERS += [(k, 66, 1024, 100000, 50000, LARGE) for k in ("read4", "copy4")]
OTHERS += [(k, 66, 1024, 0, 0, SMALL) for k in ("read1", "read4", "copy1")]
OTHERS += [("read1", 66, 64, 0, 0, SMALL)]


def start(*words):
    env = dict(os.environ, CUDA_MPS_ACTIVE_THREAD_PERCENTAGE="50")
    p = subprocess.Popen(["./launches", *map(str, words)], env=env, text=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert p.stdout.readline().strip() == "ready"
    return p


def main():
    subject = start()

    def ask(name):
        other = start("other", *name) if name else None
        time.sleep(0.12 if name else 0)
        subject.stdin.write("x")
        subject.stdin.flush()
        line = subject.stdout.readline().strip()
        if other:
            other.send_signal(signal.SIGTERM)
        drawn = other.stdout.readline().strip() if other else "other 0 GB/s"
        print(" ".join(map(str, name)) if name else "none", "|", drawn, "|", line, flush=True)

    for turn in range(2):
        print("round", turn)
        ask(None)
        for name in OTHERS if turn == 0 else reversed(OTHERS):
            ask(name)
        ask(None)
    subject.stdin.close()


main()
