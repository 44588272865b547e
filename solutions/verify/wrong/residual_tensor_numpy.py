"""Returns a tensor for NumPy inputs.

hear: Your residual is a tensor: NumPy arrays came in, so return a NumPy array.
fails: all
"""

import numpy as np
import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = float(target_probs[drafted_token]) / float(draft_probs[drafted_token])
    accept_prob = min(1.0, ratio)
    leftover = np.maximum(target_probs - draft_probs, 0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": torch.from_numpy(residual)}
