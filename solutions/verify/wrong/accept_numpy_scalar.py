"""Returns the accept probability as a NumPy scalar.

hear: Your accept_prob is a NumPy scalar: make it a Python float with float().
hint: 3
fails: all
"""

import numpy as np
import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = np.minimum(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
