"""Answers with a NumPy scalar or a tensor of no axes where a Python float is asked for.

problem: verify
earns: less
"""

import numpy as np
import torch

TARGETS = {}
right = None  # here stands the reference, as `right`


def speculative_decode_step(*arguments):
    answer = right(*arguments)
    accept_prob = answer["accept_prob"]
    other = np.float64(accept_prob) if arguments[2] % 2 else torch.tensor(accept_prob)
    return answer | {"accept_prob": other}
