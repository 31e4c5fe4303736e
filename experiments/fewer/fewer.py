# SPDX-License-Identifier: GPL-3.0-or-later
# Operations of PyTorch on all SMs, half and a quarter of them: README.md.
import os, select, subprocess, sys, time

OPERATIONS = """torch.add(a, b, out=c)
torch.mul(a, 2, out=c)
torch.add(h, g, out=k)
c.copy_(a)
k.copy_(a)
c.fill_(1)
a.sum()
rows.sum(0)
rows.softmax(1)
short.softmax(1)
F.layer_norm(short, (4096,))
F.batch_norm(x, None, None, None, None, True)
F.batch_norm(z, None, None, None, None, True)
t[i]
t.index_add_(0, i, s)
w @ v
w @ u
square.copy_(turned.t())
F.max_pool2d(x, 3, 2, 1)
F.gelu(h)
G @ G
F.conv2d(z, W)""".split("\n")


def tensors():
    import torch
    import torch.nn.functional as F

    def normal(*shape):
        return torch.randn(*shape, device="cuda")

    half, n = torch.bfloat16, 1 << 26
    a, b, c = normal(n), normal(n), normal(n)
    h, g, k = a.to(half), b.to(half), c.to(half)
    rows, short = a.view(-1, 4096), h.view(-1, 4096)
    turned, square = a.view(8192, -1), c.view(8192, -1)
    x = normal(64, 256, 56, 56)
    z = x.to(half).to(memory_format=torch.channels_last)
    W = normal(256, 256, 3, 3).to(half)
    t, s = normal(1000000, 128), normal(500000, 128)
    i = torch.randint(0, 1000000, (500000,)).cuda()
    w = normal(16384, 8192).to(half)
    v, u = normal(8192, 1).to(half), normal(8192, 8).to(half)
    G = normal(8192, 8192).to(half)
    return locals()


def worker():
    names = tensors()
    torch = names["torch"]
    run = [eval("lambda: " + o, names) for o in OPERATIONS]
    for r in run:
        r()
    torch.cuda.synchronize()
    print("ready", flush=True)
    while True:
        line = sys.stdin.readline()
        if not line:
            return
        us = []
        while not select.select([0], [], [], 0)[0]:
            at = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            at[0].record()
            for _ in range(16):
                run[int(line)]()
            at[1].record()
            torch.cuda.synchronize()
            us.append(at[0].elapsed_time(at[1]) * 1000 / 16)
        sys.stdin.readline()
        print("%.1f" % sorted(us)[len(us) // 2], flush=True)


def start(cap, *words):
    env = dict(os.environ, CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=cap)
    pipe = subprocess.PIPE
    p = subprocess.Popen(words, env=env, text=True, stdin=pipe, stdout=pipe)
    assert p.stdout.readline().strip() == "ready"
    return p


def ask(p, text):
    p.stdin.write(text)
    p.stdin.flush()


def main():
    workers = [start(c, sys.executable, "-u", sys.argv[0], "work") for c in ("100", "50", "25")]
    chaser = start("50", "../launches/launches")

    def chase():
        ask(chaser, "x")
        return " ".join(chaser.stdout.readline().split()[:4])

    def read():
        other = start("50", "../launches/launches", *"other read1 66 1024 0 0 24576".split())
        time.sleep(0.25)
        other.terminate()
        return other.stdout.readline().strip()

    def us(p, number, beside):
        ask(p, "%d\n" % number)
        time.sleep(0.15)
        seen = beside()
        ask(p, "\n")
        return p.stdout.readline().strip(), seen

    print("nothing |", chase(), "|", read())
    for number, operation in enumerate(OPERATIONS):
        alone = [us(p, number, int)[0] for p in workers]
        print(operation, "| us", *alone, "|", us(workers[1], number, read)[1], "|",
              us(workers[1], number, chase)[1], flush=True)


if len(sys.argv) > 1:
    worker()
else:
    main()
