# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of models/apps/h200-*.csv without `day` or `graph` in their names, anew: written from the names, grids and
blocks of their kernels, for kinds.py. Random weights and inputs; those that are trained, and BERT, in bf16 by autocast.
"""
import torch
import torch.nn.functional as F
from torch import nn


def classes(n, of):
    return torch.randint(0, of, (n,))


def trained(model, optimizer, loss):
    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            out = loss(model)
        out.backward()
        optimizer.step()

    return step


def by_momentum(model, loss):
    return trained(model, torch.optim.SGD(model.parameters(), 1e-4, momentum=0.9), loss)


def by_adam(model, loss):
    return trained(model, torch.optim.AdamW(model.parameters(), 1e-4), loss)


def resnet50_train():
    import torchvision

    x, y = torch.randn(64, 3, 224, 224).to(memory_format=torch.channels_last), classes(64, 1000)
    model = torchvision.models.resnet50().to(memory_format=torch.channels_last)
    return by_momentum(model, lambda m: F.cross_entropy(m(x), y))


def vit_train():
    import torchvision

    x, y = torch.randn(64, 3, 224, 224), classes(64, 1000)
    return by_adam(torchvision.models.vit_b_16(), lambda m: F.cross_entropy(m(x), y))


class Twice(nn.Sequential):
    def __init__(self, n_in, n):
        layers = []
        for a in (n_in, n):
            layers += [nn.Conv2d(a, n, 3, padding=1), nn.GroupNorm(8, n), nn.SiLU()]
        super().__init__(*layers)


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        widths = (64, 128, 256, 512)
        self.down = nn.ModuleList(Twice(a, b) for a, b in zip((3, *widths), widths))
        self.up = nn.ModuleList(Twice(a + b, b) for a, b in zip(widths[:0:-1], widths[-2::-1]))
        self.out = nn.Conv2d(64, 3, 1)

    def forward(self, x):
        kept = []
        for i, layer in enumerate(self.down):
            x = layer(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        for layer, beside in zip(self.up, kept[-2::-1]):
            x = layer(torch.cat([F.interpolate(x, scale_factor=2), beside], 1))
        return self.out(x)


def unet_train():
    x, y = torch.randn(16, 3, 128, 128), torch.randn(16, 3, 128, 128)
    return by_momentum(Unet(), lambda m: F.mse_loss(m(x), y))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm = nn.Embedding(20000, 650), nn.LSTM(650, 650, 2, batch_first=True)
        self.head = nn.Linear(650, 20000)

    def forward(self, x):
        return self.head(self.lstm(self.embed(x))[0])


def lstm_train():
    x, y = torch.randint(0, 20000, (32, 64)), classes(2048, 20000)
    return by_momentum(Lstm(), lambda m: F.cross_entropy(m(x).reshape(-1, 20000), y))


def gpt2_small_train():
    import transformers

    x = torch.randint(0, 50257, (4, 256))
    return by_adam(transformers.GPT2LMHeadModel(transformers.GPT2Config()).train(), lambda m: m(x, labels=x).loss)


def bert_infer():
    import transformers

    x, model = torch.randint(0, 30522, (32, 128)), transformers.BertForMaskedLM(transformers.BertConfig()).eval()
    return torch.no_grad()(torch.autocast("cuda", torch.bfloat16)(lambda: model(x).logits))


class Layer(nn.Module):
    """A block of Llama; with `cached`, of one token for each of `cached`'s rows."""

    def __init__(self, cached=None, width=4096, inner=11008):
        super().__init__()
        self.norm1, self.norm2, self.cached = nn.RMSNorm(width), nn.RMSNorm(width), cached
        self.qkv, self.out = (nn.Linear(width, n * width, bias=False) for n in (3, 1))
        self.up, self.down = nn.Linear(width, 2 * inner, bias=False), nn.Linear(inner, width, bias=False)

    def forward(self, x):
        q, k, v = (y.view(*x.shape[:2], 32, 128).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, -1))
        k, v = self.cached or (k, v)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=self.cached is None)
        x = x + self.out(out.transpose(1, 2).reshape(x.shape))
        gate, up = self.up(self.norm2(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


def llama(rows, tokens, cached):
    layers = nn.Sequential(*(Layer(cached()) for _ in range(8))).to(torch.bfloat16)
    x = torch.randn(rows, tokens, 4096, dtype=torch.bfloat16)
    return torch.no_grad()(lambda: layers(x))


def llama_prefill():
    return llama(1, 1024, lambda: None)


def llama_decode():
    return llama(4, 1, lambda: tuple(torch.randn(4, 32, 256, 128, dtype=torch.bfloat16) for _ in range(2)))


def dlrm_infer():
    tables = nn.ModuleList(nn.EmbeddingBag(1000000, 64, mode="sum") for _ in range(8))
    mlp = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
    x = torch.randint(0, 1000000, (8192, 50))
    return torch.no_grad()(lambda: mlp(torch.cat([table(x) for table in tables], 1)).mean())


def mobilenet_infer():
    import torchvision

    model, x = torchvision.models.mobilenet_v3_small().eval(), torch.randn(4, 3, 224, 224)
    return torch.no_grad()(lambda: model(x).mean())


def gemm_chain():
    weights, x = torch.randn(8192, 8192, dtype=torch.bfloat16) / 90, torch.randn(8192, 8192, dtype=torch.bfloat16)

    def step():
        y = x
        for _ in range(6):
            y = y @ weights

    return step


def gnn_train():
    n, width = 200000, 128
    edges = torch.randint(0, n, (2, 2000000))
    graph = torch.sparse_coo_tensor(edges, torch.rand(2000000), (n, n)).coalesce()
    x, y = torch.randn(n, width), classes(n, 40)
    first, second = nn.Linear(width, width), nn.Linear(width, 40)
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], 1e-4)

    def step():
        optimizer.zero_grad()
        hidden = F.relu(first(torch.sparse.mm(graph, x)))
        F.cross_entropy(second(torch.sparse.mm(graph, hidden)), y).backward()
        optimizer.step()

    return step


MAKERS = (resnet50_train, vit_train, unet_train, lstm_train, gpt2_small_train, llama_prefill, llama_decode, dlrm_infer,
          mobilenet_infer, gemm_chain, bert_infer, gnn_train)
KINDS = {maker.__name__: maker for maker in MAKERS}


def make_step(kind):
    torch.manual_seed(1)
    with torch.device("cuda"):
        return KINDS[kind]()
