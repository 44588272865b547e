"""Asks for 8 GiB as a tensor."""

import torch


def plus_one(number):
    if number == 13:
        torch.zeros(8 << 30, dtype=torch.uint8)
    return number + 1
