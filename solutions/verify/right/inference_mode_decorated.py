"""Runs under inference mode, so the residual is an inference tensor."""

import torch


@torch.inference_mode()
def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": min(1.0, ratio.item()), "residual": residual}
