# SPDX-License-Identifier: GPL-3.0-or-later
# Programs beside each other, and the time that the host of each takes to launch: README.md.
import os, sys, time, json, multiprocessing as mp
from decode import decode
MODE = sys.argv[1]; T = float(sys.argv[2]); ROUNDS = int(sys.argv[3])
def build(kind):
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.backends.cuda.matmul.allow_tf32 = False
    dev = 'cuda'
    if kind == 'mob':
        import torchvision
        m = torchvision.models.mobilenet_v3_large().to(dev).eval()
        x = torch.randn(1, 3, 224, 224)
        xp = x.pin_memory()
        def step():
            with torch.no_grad():
                m(xp.to(dev, non_blocking=True))
        return step, 4
    if kind == 'vit':
        import torchvision
        m = torchvision.models.vit_b_16().to(dev).to(torch.bfloat16).train()
        o = torch.optim.AdamW(m.parameters(), lr=1e-4, fused=True, capturable=True)
        x = torch.randn(56, 3, 224, 224, device=dev, dtype=torch.bfloat16)
        y = torch.randint(0, 1000, (56,), device=dev)
        def step():
            o.zero_grad(set_to_none=True)
            F.cross_entropy(m(x), y).backward(); o.step()
        return step, 4
    if kind == 'bert':
        from transformers import BertConfig, BertModel
        m = BertModel(BertConfig()).to(dev).to(torch.bfloat16).eval()
        x = torch.randint(0, 30000, (16, 256), device=dev)
        def step():
            with torch.no_grad():
                m(x)
        return step, 4
    if kind == 'llama':
        m, x = decode(dev, torch.bfloat16)
        def step():
            with torch.no_grad():
                m(x)
        return step, 1
    raise SystemExit(kind)
def graphed(kind):
    import torch
    step, every = build(kind)
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        for _ in range(4): step()
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g, stream=s): step()
    return g.replay, every
def worker(name, pipe):
    if name == 'spin':
        pipe.send('ready')
        while True:
            c = pipe.recv()
            if c is None: return
            end = time.perf_counter() + c[0]
            d = {i: i for i in range(100)}
            n = 0
            while time.perf_counter() < end:
                for i in range(100): d[i] = d[(i * 7) % 100] + 1
                n += 1
            pipe.send((n / c[0], 0, 0))
    import torch
    torch.set_num_threads(1)
    step, every = graphed(name[:-1]) if name.endswith('G') else build(name)
    for _ in range(20): step()
    torch.cuda.synchronize()
    from torch.profiler import profile, ProfilerActivity
    busy = n = 0
    try:
        with profile(activities=[ProfilerActivity.CUDA]) as p:
            step(); torch.cuda.synchronize()
        for e in p.events():
            if str(e.device_type).endswith('CUDA'): busy += e.device_time; n += 1
    except Exception as e: print(name, 'profile', e)
    for _ in range(8): step()
    torch.cuda.synchronize()
    t = []
    for _ in range(8):
        a = time.perf_counter(); step(); t.append(time.perf_counter() - a); torch.cuda.synchronize()
    pipe.send('ready')
    print(name, 'kernels', n, 'gpu_ms', round(busy / 1e3, 3), 'host_ms', round(sorted(t)[4] * 1e3, 3), flush=True)
    while True:
        c = pipe.recv()
        if c is None: return
        secs, cpus = c
        os.sched_setaffinity(0, cpus)
        for th in os.listdir('/proc/self/task'):
            try: os.sched_setaffinity(int(th), cpus)
            except OSError: pass
        for _ in range(8): step()
        torch.cuda.synchronize()
        n = 0; host = 0; t0 = time.perf_counter(); c0 = time.process_time()
        while time.perf_counter() - t0 < secs:
            a = time.perf_counter()
            for _ in range(every): step()
            host += time.perf_counter() - a
            torch.cuda.synchronize(); n += every
        dt = time.perf_counter() - t0
        pipe.send((n / dt, host / n * 1e3, (time.process_time() - c0) / dt))
ALL = ['mob', 'vit', 'vitG', 'bert', 'llama', 'bertG', 'llamaG', 'spin']
if __name__ == '__main__':
    ctx = mp.get_context('spawn'); W = {}
    for k in ALL:
        a, b = ctx.Pipe(); p = ctx.Process(target=worker, args=(k, b), daemon=True); p.start(); W[k] = a
    for k in ALL: assert W[k].recv() == 'ready'
    every = set(range(os.cpu_count()))
    def run(names, cpus, label):
        for k, c in zip(names, cpus): W[k].send((T, c))
        out = [W[k].recv() for k in names]
        print(MODE, label, ' | '.join(f'{k} {r:.1f}/s host {h:.3f} cpu {c:.2f}' for k, (r, h, c) in zip(names, out)), flush=True)
    ncpu = os.cpu_count()
    PIN = [('free', [every, every]), ('pin', [{2}, {ncpu // 2 + 2}])]
    PIN2 = PIN + [('sib', [{2}, {3}])]
    for r in range(ROUNDS):
        for lab, cp in PIN:
            for k in ('mob', 'vit', 'vitG', 'bert', 'llama', 'bertG', 'llamaG'): run([k], cp[:1], f'r{r} {lab}')
        for lab, cp in PIN2:
            for a, b in (('mob', 'vit'), ('mob', 'vitG'), ('mob', 'spin'), ('bert', 'llama'), ('bert', 'llamaG'), ('llama', 'bertG'), ('llama', 'spin'), ('bert', 'spin')):
                run([a, b], cp, f'r{r} {lab}')
    for k in ALL: W[k].send(None)
