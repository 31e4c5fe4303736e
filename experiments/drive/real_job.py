# SPDX-License-Identifier: GPL-3.0-or-later
"""A job of experiments/validate/drive/real*.csv: training or inference of one kind, in plain PyTorch with random
weights and inputs, which tells `gsim drive` of its iterations.

    python3 real_job.py KIND ITERATIONS              as a job of gsim drive, or alone
    python3 real_job.py KIND ITERATIONS TRACE.json   alone, with six iterations under PyTorch's profiler

The process waits for its GPU after each iteration, as a loop does that prints its loss. sim/job/gsim_job.py is to be
beside it, or in PYTHONPATH. Alone it prints its kind, iterations, ms of one, seconds until the first, and GiB: rows of
real_jobs.csv have as many iterations as 60 of a kind (200 of mobilenet_infer and dlrm_infer) beforehand said.
"""
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

import gsim_job

WARM_UP = 3  # iterations before the job says that it is ready: libraries load kernels when these are first used


class Block(nn.Module):
    """A block of a transformer, before-norm."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, is_causal=False):
        b, n, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=is_causal).transpose(1, 2).reshape(b, n, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, embed, width, heads, depth, n_out, is_causal=False):
        super().__init__()
        self.embed, self.is_causal = embed, is_causal
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, n_out)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x, self.is_causal)
        return self.head(x)


class Patches(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 16, 16)

    def forward(self, x):
        return self.conv(x).flatten(2).transpose(1, 2)


class Bottleneck(nn.Module):
    """A block of ResNet-50."""

    def __init__(self, n_in, n, stride):
        super().__init__()
        layers = []
        for i, (a, b, size, step) in enumerate(((n_in, n, 1, 1), (n, n, 3, stride), (n, 4 * n, 1, 1))):
            layers += [nn.Conv2d(a, b, size, step, size // 2, bias=False), nn.BatchNorm2d(b)]
            layers += [nn.ReLU(inplace=True)] if i < 2 else []
        self.body = nn.Sequential(*layers)
        self.skip = nn.Identity() if n_in == 4 * n and stride == 1 else nn.Conv2d(n_in, 4 * n, 1, stride, bias=False)

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x))


def resnet():
    layers, n_in = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for n, depth, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(depth):
            layers.append(Bottleneck(n_in, n, stride if i == 0 else 1))
            n_in = 4 * n
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(n_in, 1000))


def mobilenet():
    layers, n_in = [nn.Conv2d(3, 32, 3, 2, 1), nn.ReLU6()], 32
    for n, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (1024, 2)):
        layers += [nn.Conv2d(n_in, n_in, 3, stride, 1, groups=n_in, bias=False), nn.BatchNorm2d(n_in), nn.ReLU6()]
        layers += [nn.Conv2d(n_in, n, 1, bias=False), nn.BatchNorm2d(n), nn.ReLU6()]
        n_in = n
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(n_in, 1000))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.head = nn.Embedding(10000, 1024), nn.LSTM(1024, 1024, 2), nn.Linear(1024, 10000)

    def forward(self, x):
        return self.head(self.lstm(self.embed(x))[0])


class Dlrm(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(200000, 64, mode="sum") for _ in range(8))
        self.mlp = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))

    def forward(self, x):
        return self.mlp(torch.cat([table(x) for table in self.tables], 1))


def image(n):
    return torch.randn(n, 3, 224, 224)


def words(n, length, vocabulary):
    return torch.randint(0, vocabulary, (n, length))


def gemm_chain(x):
    for _ in range(12):
        x = x @ x
        x = x / x.abs().amax()
    return x


# kind: the model, an input, and whether it is trained
KINDS = {
    "vit_train": lambda: (Transformer(Patches(768), 768, 12, 8, 1000), image(64), True),
    "gpt2_train": lambda: (Transformer(nn.Embedding(50257, 768), 768, 12, 6, 50257, True), words(8, 512, 50257), True),
    "bert_infer": lambda: (Transformer(nn.Embedding(30522, 1024), 1024, 16, 12, 2), words(64, 128, 30522), False),
    "llama_prefill": lambda: (Transformer(nn.Embedding(32000, 2048), 2048, 16, 12, 32000, True), words(1, 1024, 32000), False),
    "resnet50_train": lambda: (resnet(), image(48), True),
    "mobilenet_infer": lambda: (mobilenet(), image(4), False),
    "lstm_train": lambda: (Lstm(), words(64, 64, 10000), True),
    "dlrm_infer": lambda: (Dlrm(), words(8192, 16, 200000), False),
    "gemm_chain": lambda: (gemm_chain, torch.randn(6144, 6144), False),
}


def make_step(kind):
    """A function that does one iteration, without waiting for the GPU."""
    torch.manual_seed(1)
    with torch.device("cuda"):
        model, x, is_trained = KINDS[kind]()
    if isinstance(model, nn.Module):
        model = model.to(torch.bfloat16)
    x = x if x.dtype == torch.int64 else x.to(torch.bfloat16)
    if not is_trained:
        with torch.no_grad():
            return torch.no_grad()(lambda: model(x))
    weights = list(model.parameters())
    pace = [torch.zeros_like(weight) for weight in weights]

    def train():  # with momentum; an optimizer of torch.optim imports for some seconds at its first step
        out = model(x)
        out.view(-1, out.shape[-1]).float().logsumexp(1).mean().backward()
        with torch.no_grad():
            torch._foreach_mul_(pace, 0.9)
            torch._foreach_add_(pace, [weight.grad for weight in weights])
            torch._foreach_add_(weights, pace, alpha=-1e-3)
        for weight in weights:
            weight.grad = None

    return train


def profile(step, path):
    plan = torch.profiler.schedule(wait=0, warmup=2, active=6, repeat=1)
    with torch.profiler.profile(schedule=plan, on_trace_ready=lambda profiler: profiler.export_chrome_trace(path)) as profiler:
        for _ in range(8):
            step()
            torch.cuda.synchronize()
            profiler.step()


def main():
    kind, n = sys.argv[1], int(sys.argv[2])
    began_s = time.monotonic()
    step = make_step(kind)
    for _ in range(WARM_UP):
        step()
        torch.cuda.synchronize()
    is_resumed = gsim_job.begin(n)
    done = int(open(gsim_job.state()).read()) if is_resumed else 0
    ready_s = time.monotonic()
    while done < n:
        step()
        torch.cuda.synchronize()
        done += 1
        if gsim_job.iteration(done):
            with open(gsim_job.state(), "w") as state:
                state.write(str(done))
            gsim_job.saved()
            return
    gsim_job.end()
    took_s = time.monotonic() - ready_s
    memory = torch.cuda.max_memory_reserved() / 2**30
    print(f"{kind} {n} {1e3 * took_s / n:.4f} {ready_s - began_s:.3f} {memory:.3f}", flush=True)
    if len(sys.argv) > 3:
        profile(step, sys.argv[3])


if __name__ == "__main__":
    main()
