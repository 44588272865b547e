"""Computes the difference through logarithms.

hear: Your residual loses its digits where the rows nearly agree: subtract them as they are, without
    logarithms.
hint: 4
fails: test_fresh_nearly_equal_rows, test_fresh_softmax_rows, test_nearly_equal_rows,
    test_softmax_rows
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    log_p, log_q = target_probs.log(), draft_probs.log()
    log_leftover = log_p + torch.log1p(-torch.exp(log_q - log_p))
    leftover = torch.where(target_probs > draft_probs, log_leftover.exp(), 0.0)
    total = leftover.sum()
    residual = leftover / total if total > 0 else leftover
    return {"accept_prob": accept_prob, "residual": residual}
