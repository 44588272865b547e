"""Computes in NumPy and converts back.

hear: your tensors go through NumPy, which knows neither bfloat16 nor accelerators; stay in PyTorch.
"""

import numpy as np
import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    q, p = draft_probs.numpy(), target_probs.numpy()
    accept_prob = min(1.0, float(p[drafted_token]) / float(q[drafted_token]))
    leftover = np.maximum(p - q, 0)
    total = leftover.sum()
    residual = torch.from_numpy(leftover / total if total > 0 else leftover)
    return {"accept_prob": accept_prob, "residual": residual}
