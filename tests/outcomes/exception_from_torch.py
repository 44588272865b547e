"""Raises from inside PyTorch on 13."""

import torch


def plus_one(number):
    if number == 13:
        torch.ones(2, 3) @ torch.ones(2, 3)
    return number + 1
