#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One iteration of a kind of experiments/drive/real_job.py (`day`) or experiments/l1/twelve.py (`twelve`), for Nsight
Compute to count the bytes of each kernel: README.md.

    python3 bytes.py day|twelve KIND
"""
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, *part) for part in (("..", "drive"), ("..", "l1"), ("..", "..", "sim", "job"))]
import torch

step = importlib.import_module({"day": "real_job", "twelve": "twelve"}[sys.argv[1]]).make_step(sys.argv[2])
for _ in range(6):
    step()
torch.cuda.synchronize()
torch.cuda.profiler.start()
step()
torch.cuda.synchronize()
torch.cuda.profiler.stop()
