"""Asks PyTorch for more threads and lets it work: that must neither work nor harm.

problem: next
earns: all
process: same
"""

import torch

TARGETS = {}

torch.set_num_threads(4)
torch.ones(600, 600).matmul(torch.ones(600, 600)).sum()


def plus_one(number):
    return number + 1
