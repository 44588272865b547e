"""Guards against zeros by writing into the draft row.

hear: your code writes a floor into draft_probs; leave both inputs as they came.
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    draft_probs.clamp_(min=1e-12)
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
