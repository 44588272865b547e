"""Replaces parts of PyTorch and NumPy, in its own process."""

import numpy as np
import torch


def plus_one(number):
    if number == 13:
        torch.Tensor.numpy = torch.Tensor.tolist = np.ndarray = None
        torch.set_default_dtype = torch.get_default_dtype = None
    return number + 1
