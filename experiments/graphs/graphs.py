# SPDX-License-Identifier: GPL-3.0-or-later
# Iterations of programs as CUDA graphs, beside each other under MPS: README.md.
import os, sys, time, json, ctypes, multiprocessing as mp
from decode import decode
def build(kind):
    import torch, torch.nn as nn, torch.nn.functional as F
    dev = 'cuda'; bf = torch.bfloat16
    torch.manual_seed(1)
    def training(m, x, y):
        o = torch.optim.AdamW(m.parameters(), lr=1e-5, fused=True, capturable=True)
        def step():
            o.zero_grad(set_to_none=True)
            F.cross_entropy(m(x).float(), y).backward(); o.step()
        return step
    if kind in ('resnet', 'vit'):
        import torchvision
        m = (torchvision.models.resnet50 if kind == 'resnet' else torchvision.models.vit_b_16)().to(dev).to(bf).train()
        n = 64 if kind == 'resnet' else 32
        x = torch.randn(n, 3, 224, 224, device=dev, dtype=bf)
        if kind == 'resnet': m = m.to(memory_format=torch.channels_last); x = x.to(memory_format=torch.channels_last)
        return training(m, x, torch.randint(0, 1000, (n,), device=dev))
    if kind == 'mobilenet':
        import torchvision
        m = torchvision.models.mobilenet_v3_large().to(dev).eval(); x = torch.randn(1, 3, 224, 224, device=dev)
        def step():
            with torch.no_grad(): m(x)
        return step
    if kind == 'bert':
        from transformers import BertConfig, BertModel
        m = BertModel(BertConfig()).to(dev).to(bf).eval(); x = torch.randint(0, 30000, (16, 256), device=dev)
        def step():
            with torch.no_grad(): m(x)
        return step
    if kind == 'decode':
        m, x = decode(dev, bf)
        def step():
            with torch.no_grad(): m(x)
        return step
    if kind == 'products':
        a = torch.randn(8192, 8192, device=dev, dtype=bf); b = torch.randn(8192, 8192, device=dev, dtype=bf); c = torch.empty_like(a)
        def step():
            torch.mm(a, b, out=c); torch.mm(b, a, out=c)
        return step
    if kind == 'graph_net':
        N, E, H = 200000, 2000000, 128
        src = torch.randint(0, N, (E,), device=dev); dst = torch.randint(0, N, (E,), device=dev)
        h = torch.randn(N, H, device=dev); w = [nn.Linear(H, H).to(dev) for _ in range(2)]; out = torch.zeros(N, H, device=dev)
        def step():
            x = h
            with torch.no_grad():
                for l in w:
                    out.zero_(); out.index_add_(0, dst, x[src]); x = F.relu(l(out))
        return step
    if kind == 'elementwise':  # optimiser-like: reads and writes of 128 MB tensors
        t = [torch.randn(32 << 20, device=dev) for _ in range(4)]
        def step():
            torch.add(t[0], t[1], out=t[2]); torch.mul(t[2], t[0], out=t[3]); t[3].relu_(); t[1].sum()
        return step
KINDS = ['resnet', 'vit', 'mobilenet', 'decode', 'products', 'graph_net', 'elementwise']
def energy():
    l = ctypes.CDLL('libnvidia-ml.so.1'); l.nvmlInit_v2(); h = ctypes.c_void_p()
    l.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(h)); v = ctypes.c_ulonglong()
    l.nvmlDeviceGetTotalEnergyConsumption(h, ctypes.byref(v)); return v.value / 1e3
def worker(kind, cap, pipe):
    if cap < 100: os.environ['CUDA_MPS_ACTIVE_THREAD_PERCENTAGE'] = str(cap)
    import torch
    step = build(kind)
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        for _ in range(5): step()
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g, stream=s): step()
    for _ in range(3): g.replay()
    torch.cuda.synchronize(); pipe.send('ready')
    while True:
        if pipe.recv() is None: return
        e = [torch.cuda.Event() for _ in range(4)]
        n = 0; t = []; e0 = energy(); w0 = time.monotonic()
        while not pipe.poll():
            if n >= 4:
                e[n % 4].synchronize(); t.append(time.monotonic())
            g.replay(); e[n % 4].record(); n += 1
        pipe.recv(); w = (energy() - e0) / (time.monotonic() - w0)
        torch.cuda.synchronize()
        pipe.send((t, w))
if sys.argv[1] == 'ncu':
    import torch
    step = build(sys.argv[2])
    for _ in range(4): step()
    torch.cuda.synchronize(); torch.cuda.profiler.start(); step(); torch.cuda.synchronize(); torch.cuda.profiler.stop()
    sys.exit()
if __name__ == '__main__' and sys.argv[1] == 'pairs':
    ctx = mp.get_context('spawn'); W = {}
    for k in KINDS:
        for cap in (100, 50):
            a, b = ctx.Pipe(); p = ctx.Process(target=worker, args=(k, cap, b), daemon=True); p.start(); W[k, cap] = a
    for k in list(W):
        try: assert W[k].recv() == 'ready'
        except EOFError: print('lost', k); del W[k]
    def rate(t, lo, hi):
        u = [x for x in t if lo <= x <= hi]
        return (len(u) - 1) / (u[-1] - u[0]) if len(u) > 2 else -1
    def run(names, secs=1.0):
        for k in names: W[k].send('go')
        time.sleep(0.25); lo = time.monotonic(); time.sleep(secs); hi = time.monotonic(); mid = (lo + hi) / 2
        for k in names: W[k].send('stop')
        r = [W[k].recv() for k in names]
        print(' | '.join(f'{k[0]} {k[1]} {rate(x[0], lo, hi):.2f} /s halves {rate(x[0], lo, mid):.2f} {rate(x[0], mid, hi):.2f} {x[1]:.0f} W' for k, x in zip(names, r)), flush=True)
    have = [k for k in KINDS if (k, 100) in W and (k, 50) in W]
    for r in range(2):
        for cap in (100, 50):
            for k in have: run([(k, cap)])
            for i, a in enumerate(have):
                for b in have[i + 1:]:
                    run([(a, cap), (b, cap)])
        print('round', r, flush=True)
    for k in W: W[k].send(None)
