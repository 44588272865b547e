"""Answers with the right numbers in complex, sparse, quantised and wider tensors.

problem: verify
earns: 0
"""

import torch

TARGETS = {}
right = None  # here stands the reference, as `right`


def speculative_decode_step(*arguments):
    answer = right(*arguments)
    residual = answer["residual"]
    forms = [
        lambda: residual.to(torch.float32).to(torch.complex64),
        lambda: residual.to_sparse(),
        lambda: torch.quantize_per_tensor(residual.float(), 0.1, 0, torch.quint8),
        lambda: residual.to(torch.float64 if residual.dtype != torch.float64 else torch.float32),
    ]
    return answer | {"residual": forms[arguments[2] % 4]()}
