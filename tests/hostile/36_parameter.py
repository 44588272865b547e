"""Answers with a parameter, and with a tensor that is still attached to a graph.

problem: verify
earns: less
"""

import torch

TARGETS = {}
right = None  # here stands the reference, as `right`


def speculative_decode_step(*arguments):
    answer = right(*arguments)
    residual = answer["residual"]
    if arguments[2] % 2:
        return answer | {"residual": torch.nn.Parameter(residual)}
    return answer | {"residual": residual.requires_grad_() * 1}
