"""Squeezes the rows, which loses the only axis when V = 1.

hear: Your residual loses its axis where the vocabulary has one token: leave out the squeeze.
fails: test_equal_rows_leave_nothing, test_residual_has_its_own_memory,
    test_residual_stays_on_the_device, test_vocabulary_of_one_token
"""

import torch


def speculative_decode_step(draft_probs, target_probs, drafted_token):
    ratio = target_probs[drafted_token] / draft_probs[drafted_token]
    accept_prob = min(1.0, ratio.item())
    leftover = torch.clamp(target_probs - draft_probs, min=0)
    total = leftover.sum()
    residual = (leftover / total if total > 0 else leftover).squeeze()
    return {"accept_prob": accept_prob, "residual": residual}
